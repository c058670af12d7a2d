//! Cylinders, spheres, limits and examples of bending.

use super::super::test_meshes::{energy, random, roll, sheet, sphere};
use super::*;
use crate::constraints::conformance;
use crate::constraints::conformance::Stream;

const RADIUS: f64 = 0.5;

fn jittered(n: u32, by: f64) -> (Vec<[u32; 3]>, Points) {
    let mut rng = Stream::new(3);
    let h = by / f64::from(n);
    sheet([n, n], [1.0, 1.0], |inside, p| {
        let d = DVec3::new(random(&mut rng), random(&mut rng), 0.0);
        if inside { p + d * h } else { p }
    })
}

#[test]
fn every_kind_conforms() {
    let (triangles, flat) = jittered(4, 0.25);
    let rolled = roll(&flat, RADIUS);
    let (ball_triangles, ball) = sphere(1);
    conformance::check(&Bending::new(&triangles, &flat), &flat).unwrap();
    conformance::check(&Bending::new(&triangles, &rolled), &rolled).unwrap();
    conformance::check(&Bending::new(&ball_triangles, &ball), &ball).unwrap();
    let limits = CurvatureLimits { relative: [0.5, 2.0], absolute: 1.0 };
    conformance::check(&Bending::limited(&triangles, &rolled, limits), &rolled).unwrap();
    let examples = [roll(&flat, 0.3), roll(&flat, 2.0)];
    conformance::check(&Bending::with_examples(&triangles, &flat, &examples).unwrap(), &flat).unwrap();
    let common = Bending::with_common_examples(&triangles, &rolled, &examples).unwrap();
    conformance::check(&common, &rolled).unwrap();
}

#[test]
fn a_cylinder_has_the_energy_of_its_curvature() {
    // ½ A / R² over the interior, for regular sheets and for smoothly irregular ones.
    let expected = 0.5 / (RADIUS * RADIUS);
    for irregular in [0.0, 0.08] {
        let error = |n: u32| {
            let wave = |v: f64| v + irregular * (std::f64::consts::TAU * v).sin();
            let (triangles, flat) = sheet([n, n], [1.0, 1.0], |_, p| DVec3::new(wave(p.x), wave(p.y), 0.0));
            let batch = Bending::new(&triangles, &flat);
            let area: f64 = batch.rows().weights().iter().sum();
            let rolled = energy(&batch, &roll(&flat, RADIUS));
            ((rolled / (expected * area) - 1.0).abs(), (rolled / expected - 1.0).abs())
        };
        let errors: Vec<(f64, f64)> = [8, 16, 32, 64].map(error).to_vec();
        println!("irregular {irregular}: {errors:?}");
        assert!(errors.windows(2).all(|e| e[1].1 < 0.6 * e[0].1), "converges to the whole: {errors:?}");
        assert!(errors[3].0 < 2e-3, "and faster over the interior: {errors:?}");
    }
    // Jittered meshes keep a bias, as the Laplacian of a jittered ring is not exact for quadratics.
    let bias = |n: u32| {
        let (triangles, flat) = jittered(n, 0.2);
        let batch = Bending::new(&triangles, &flat);
        let area: f64 = batch.rows().weights().iter().sum();
        energy(&batch, &roll(&flat, RADIUS)) / (expected * area) - 1.0
    };
    let biases = [16, 32, 64].map(bias);
    println!("jittered: {biases:?}");
    assert!(biases.iter().all(|b| b.abs() < 0.1), "{biases:?}");
}

#[test]
fn flat_sheets_do_not_mind_their_plane_nor_their_border() {
    let (triangles, flat) = jittered(8, 0.3);
    let batch = Bending::new(&triangles, &flat);
    let sheared: Points = flat.iter().map(|p| DVec3::new(2.0 * p.x + p.y, 0.3 * p.y - p.x, p.x)).collect();
    assert!(energy(&batch, &flat) < 1e-20 && energy(&batch, &sheared) < 1e-18);
    assert_eq!(batch.rows().elements(), 49, "interior vertices only");
}

#[test]
fn obtuse_and_thin_triangles_have_bounded_rows() {
    let points: Points = [
        DVec3::ZERO,
        DVec3::X,
        DVec3::new(0.5, 1e-9, 0.0),
        DVec3::new(0.5, 1.0, 0.0),
        DVec3::new(0.5, -1.0, 0.0),
    ]
    .into_iter()
    .collect();
    let triangles = [[0, 1, 2], [2, 1, 3], [0, 2, 3], [1, 0, 4]];
    let areas = mixed_areas(&triangles, &points);
    assert!((areas.iter().sum::<f64>() - 1.0).abs() < 1e-12 && areas.iter().all(|a| *a > 0.0));
    let batch = Bending::new(&triangles, &points);
    assert!(batch.rows().row(0).all(|(_, c)| c.abs() * batch.rows().weights()[0] < 250.0));
    conformance::check(&batch, &points).unwrap();
}

#[test]
fn limits_are_free_within_and_examples_between() {
    let (triangles, flat) = sheet([8, 8], [1.0, 1.0], |_, p| p);
    let limits = CurvatureLimits { relative: [1.0, 1.0], absolute: 1.0 };
    let limited = Bending::limited(&triangles, &flat, limits);
    assert!(energy(&limited, &roll(&flat, 1.01)) < 1e-20);
    let area: f64 = limited.rows().weights().iter().sum();
    let beyond = energy(&limited, &roll(&flat, 0.5)) / (0.5 * area * (2.0 - 1.0_f64).powi(2));
    assert!((beyond - 1.0).abs() < 0.03, "{beyond}");
    let examples = [roll(&flat, 0.5)];
    let each = Bending::with_examples(&triangles, &flat, &examples).unwrap();
    let common = Bending::with_common_examples(&triangles, &flat, &examples).unwrap();
    for batch in [&each, &common] {
        assert!(energy(batch, &examples[0]) < 1e-4, "{}", energy(batch, &examples[0]));
        assert!(energy(batch, &roll(&flat, 0.8)) < 1e-4, "between rest and example");
        assert!(energy(batch, &roll(&flat, 0.3)) > 0.1, "beyond the example");
    }
    // Half bent: free where every vertex may choose, not with weights common to all.
    let half: Points = flat
        .iter()
        .zip(examples[0].iter())
        .map(|(f, e)| {
            if f.x < 0.5 {
                e
            } else {
                let (s, c) = (0.5_f64 / 0.5).sin_cos();
                DVec3::new(0.5 * s + (f.x - 0.5) * c, f.y, 0.5 * c - 0.5 - (f.x - 0.5) * s)
            }
        })
        .collect();
    assert!(energy(&each, &half) < 1e-3 && energy(&common, &half) > 0.1);
    let short: Points = flat.iter().take(5).collect();
    assert_eq!(Bending::with_examples(&triangles, &flat, &[flat.clone(), short]).unwrap_err().example, 1);
}
