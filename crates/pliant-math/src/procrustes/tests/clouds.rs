//! What makes a cloud and what does not, and what is said of it.

use super::random_vector;
use crate::SplitMix64;
use crate::procrustes::{Cloud, CloudFault};
use glam::DVec3;

fn faults(points: &[DVec3], weights: &[f64]) -> Vec<CloudFault> {
    Cloud::new(points, weights).unwrap_err().faults
}

#[test]
fn weights_are_normalised_and_offsets_are_about_the_mean() {
    let mut rng = SplitMix64::new(31);
    for (scale, distance) in [(1.0, 0.0), (1e-300, 0.0), (1e308, 0.0), (1.0, 1e6)] {
        let points: Vec<DVec3> = (0..9).map(|_| random_vector(&mut rng) + distance).collect();
        let weights: Vec<f64> = (0..9).map(|i| scale * (f64::from(i % 4) / 3.0)).collect();
        let cloud = Cloud::new(&points, &weights).unwrap();
        assert_eq!((cloud.len(), cloud.is_empty()), (9, false));
        assert!((cloud.weights().iter().sum::<f64>() - 1.0).abs() < 1e-15);
        assert!((cloud.weights()[1] / cloud.weights()[3] - 1.0 / 3.0).abs() < 1e-15);
        let sum = cloud.average(|i| cloud.offsets()[i]);
        assert!(sum.length() < 1e-15, "{sum}");
        for (p, v) in points.iter().zip(cloud.offsets()) {
            assert!((cloud.mean() + *v - *p).length() < 1e-15 * (1.0 + distance));
        }
        let square: f64 =
            cloud.weights().iter().zip(cloud.offsets()).map(|(w, v)| w * v.length_squared()).sum();
        assert!((cloud.size() - square.sqrt()).abs() < 1e-14);
    }
}

#[test]
fn the_condition_at_rest_is_that_of_the_shape() {
    let octahedron = [DVec3::X, DVec3::Y, DVec3::Z, -DVec3::X, -DVec3::Y, -DVec3::Z];
    assert!((Cloud::new(&octahedron, &[1.0; 6]).unwrap().condition() - 1.5).abs() < 1e-14);
    let square = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y];
    assert!((Cloud::new(&square, &[1.0; 4]).unwrap().condition() - 2.0).abs() < 1e-14);
    let thin = square.map(|x| x * DVec3::new(1.0, 0.1, 1.0));
    assert!((Cloud::new(&thin, &[1.0; 4]).unwrap().condition() - 101.0).abs() < 1e-11);
}

#[test]
fn every_fault_is_named_with_index_and_value() {
    let corner = [DVec3::ZERO, DVec3::X, DVec3::Y];
    assert_eq!(faults(&corner, &[1.0; 2]), [CloudFault::Counts { points: 3, weights: 2 }]);
    assert_eq!(faults(&[], &[]), [CloudFault::TooFew { count: 0 }]);
    assert_eq!(faults(&corner[..2], &[1.0; 2]), [CloudFault::TooFew { count: 2 }]);
    assert_eq!(faults(&corner, &[1.0, 0.0, 1.0]), [CloudFault::TooFew { count: 2 }]);
    assert_eq!(faults(&corner, &[0.0; 3]), [CloudFault::NoWeight]);

    // All at once, in the order of the points.
    let wrong = [DVec3::ZERO, DVec3::splat(f64::INFINITY), DVec3::Y, DVec3::X * 1e200];
    let error = Cloud::new(&wrong, &[1.0, -2.0, f64::INFINITY, 1.0]).unwrap_err();
    let text = error.to_string();
    assert_eq!(error.faults.len(), 4, "{text}");
    for part in ["point 1 is at", "point 3 is at", "weight of point 1 is -2", "weight of point 2 is inf"] {
        assert!(text.contains(part), "{text}");
    }
    let nan = [DVec3::ZERO, DVec3::new(0.0, f64::NAN, 0.0), DVec3::Y];
    assert!(matches!(faults(&nan, &[1.0; 3])[..], [CloudFault::Point { index: 1, .. }]));
    assert!(matches!(
        faults(&corner, &[1.0, 1.0, f64::NAN])[..],
        [CloudFault::Weight { index: 2, weight }] if weight.is_nan()
    ));
}

#[test]
fn lines_and_points_are_refused_at_every_size_and_place() {
    let mut rng = SplitMix64::new(32);
    for size in [1e-6, 1.0, 1e6] {
        for distance in [0.0, 1e3] {
            for _ in 0..50 {
                let (at, along) = (random_vector(&mut rng) * size * distance, random_vector(&mut rng) * size);
                let line: Vec<DVec3> = (0..7).map(|k| at + along * f64::from(k * k - 2) / 9.0).collect();
                let found = faults(&line, &[1.0; 7]);
                let [CloudFault::Collinear { index: 6, point, length, width }] = found[..] else {
                    panic!("{found:?}");
                };
                assert_eq!(point, line[6]);
                assert!(length > along.length() && length < 2.0 * along.length() && width < 1e-4 * length);
                assert!(matches!(
                    faults(&[at; 5], &[0.0, 1.0, 1.0, 2.0, 1.0])[..],
                    [CloudFault::Coincident { index: 1, .. }]
                ));
                // A thousandth of its length beside the line is enough, and a flat cloud is none.
                let mut bent = line.clone();
                bent[3] += along.any_orthogonal_vector().normalize() * along.length() * 1e-2;
                let k = Cloud::new(&bent, &[1.0; 7]).unwrap().condition();
                assert!(k > 1e4 && k < 1e7, "{k}");
            }
        }
    }
    // Only what has weight counts.
    let corner = [DVec3::ZERO, DVec3::X, DVec3::X * 2.0, DVec3::Y];
    assert!(matches!(faults(&corner, &[1.0, 1.0, 1.0, 0.0])[..], [CloudFault::Collinear { .. }]));
    assert!(Cloud::new(&corner, &[1.0, 0.0, 1.0, 1.0]).is_ok());
}
