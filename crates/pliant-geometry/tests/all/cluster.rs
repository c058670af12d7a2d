//! The random covering: covers everything, keeps to its radius, and repeats.

use glam::DVec3;
use pliant_geometry::{SplitMix64, file_order_covering, fit_radius_for_count, random_covering};

fn cloud(n: usize) -> Vec<DVec3> {
    let mut rng = SplitMix64::new(11);
    (0..n).map(|_| DVec3::new(rng.unit(), rng.unit(), rng.unit())).collect()
}

#[test]
fn clusters_are_what_brute_force_finds_and_cover_everything() {
    let points = cloud(700);
    for radius in [1e-300, 0.05, 0.2, 0.7, 1e300, f64::INFINITY] {
        let clusters = random_covering(&points, radius, 5).expect("valid");
        assert_eq!(clusters.offsets.len(), clusters.len() + 1);
        let mut covered = vec![false; points.len()];
        for c in 0..clusters.len() {
            let center = clusters.centers[c] as usize;
            assert!(!covered[center], "centres are chosen among the uncovered");
            let want: Vec<u32> = (0..points.len() as u32)
                .filter(|&i| points[i as usize].distance_squared(points[center]) <= radius * radius)
                .collect();
            assert_eq!(clusters.members_of(c), want);
            clusters.members_of(c).iter().for_each(|&i| covered[i as usize] = true);
        }
        assert!(covered.iter().all(|&c| c));
    }
    assert_eq!(random_covering(&points, f64::INFINITY, 1).expect("valid").len(), 1);
    assert_eq!(random_covering(&points, 1e-300, 1).expect("valid").len(), 700);
}

#[test]
fn a_seed_decides_everything() {
    let points = cloud(300);
    assert_eq!(random_covering(&points, 0.2, 9), random_covering(&points, 0.2, 9));
    assert_ne!(random_covering(&points, 0.2, 9), random_covering(&points, 0.2, 10));
}

#[test]
fn the_first_choice_is_spread_evenly() {
    let points = cloud(10);
    let mut hits = [0; 10];
    for seed in 0..2000 {
        hits[random_covering(&points, f64::INFINITY, seed).expect("valid").centers[0] as usize] += 1;
    }
    assert!(hits.iter().all(|h| (140..260).contains(h)), "{hits:?}");
}

#[test]
fn bad_input_is_refused() {
    assert!(random_covering(&[], 1.0, 0).is_err());
    for radius in [0.0, -1.0, f64::NAN] {
        assert!(random_covering(&cloud(3), radius, 0).is_err());
    }
    let error = random_covering(&[DVec3::ZERO, DVec3::NAN], 1.0, 0).expect_err("not finite");
    assert!(error.message.contains("particle 1"));
    assert!(fit_radius_for_count(&cloud(3), 0, 0).is_err());
    assert!(fit_radius_for_count(&cloud(3), 4, 0).is_err());
}

#[test]
fn a_radius_can_be_fitted_to_a_count() {
    let points = cloud(800);
    for wanted in [1, 2, 26, 100, 800] {
        let radius = fit_radius_for_count(&points, wanted, 3).expect("valid");
        let got = random_covering(&points, radius, 3).expect("valid").len();
        assert!(got.abs_diff(wanted) <= 1 + wanted / 20, "wanted {wanted}, got {got}");
    }
    assert_eq!(fit_radius_for_count(&[DVec3::ONE; 4], 3, 0), Ok(f64::INFINITY));
}

/// The strain-limiting paper's own program: the last uncovered particle of the file, again and again.
#[test]
fn file_order_takes_the_last_uncovered_particle_each_time() {
    let points = cloud(500);
    for radius in [0.1, 0.4] {
        let clusters = file_order_covering(&points, radius).expect("valid");
        let mut covered = vec![false; points.len()];
        for &center in &clusters.centers {
            let last = (0..points.len()).rfind(|&i| !covered[i]).expect("no cluster too many");
            assert_eq!(center as usize, last);
            for (covered, p) in covered.iter_mut().zip(&points) {
                *covered |= p.distance_squared(points[last]) <= radius * radius;
            }
        }
        assert!(covered.iter().all(|&c| c));
    }
}
