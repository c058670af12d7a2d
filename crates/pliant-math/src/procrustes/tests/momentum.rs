//! What parents take is what the bound point was given: the same force, the same torque.

use super::{Case, cases, random_vector};
use crate::SplitMix64;
use crate::procrustes::{Fit, Load};
use crate::rotation::tests::random;
use glam::DVec3;

/// How much of the force and the torque is missing, as shares of Σ|fᵢ| and Σ|xᵢ||fᵢ|.
fn missing(c: &Case, now: &[DVec3], fit: &Fit, load: &Load, force: DVec3, torque: DVec3) -> [f64; 2] {
    let mut sums = (-force, -torque, 0.0, 0.0);
    for (i, x) in now.iter().enumerate() {
        let f = fit.share(&c.cloud, i, load);
        sums.0 += f;
        sums.1 += x.cross(f);
        sums.2 += f.length();
        sums.3 += x.length() * f.length();
    }
    [sums.0.length() / sums.2, sums.1.length() / sums.3]
}

#[test]
fn forces_and_torques_are_passed_on_whole() {
    let mut rng = SplitMix64::new(3);
    for c in cases(200) {
        for distance in [0.0, 1.0, 1e3] {
            // Also far from the origin, where all arms are long.
            let shift = random_vector(&mut rng) * distance * c.size;
            let now: Vec<DVec3> = c.now.iter().map(|x| *x + shift).collect();
            let fit = c.cloud.fit(|i| now[i], c.previous);
            let force = random_vector(&mut rng) * 10f64.powf(6.0 * random(&mut rng));
            let load = fit.load(c.bound, force);
            let torque = fit.place(c.bound).cross(force);
            let gap = missing(&c, &now, &fit, &load, force, torque);
            assert!(gap[0] <= 1e-12 && gap[1] <= 1e-12, "{}: {gap:?} at {distance}", c.kind);

            let couple = random_vector(&mut rng);
            let gap = missing(&c, &now, &fit, &fit.torque(couple), DVec3::ZERO, couple);
            assert!(gap[0] <= 1e-12 && gap[1] <= 1e-12, "torque, {}: {gap:?} at {distance}", c.kind);
        }
    }
}

#[test]
fn loads_of_several_points_add_up() {
    let mut rng = SplitMix64::new(4);
    for c in cases(20) {
        let fit = c.fit();
        let (mut together, mut force, mut torque) = (Load::default(), DVec3::ZERO, DVec3::ZERO);
        for _ in 0..5 {
            let (point, f) = (random_vector(&mut rng) * c.size, random_vector(&mut rng));
            together += fit.load(point, f);
            force += f;
            torque += fit.place(point).cross(f);
        }
        let gap = missing(&c, &c.now, &fit, &together, force, torque);
        assert!(gap[0] <= 1e-12 && gap[1] <= 1e-12, "{}: {gap:?}", c.kind);
    }
}

#[test]
fn a_force_along_the_arm_pushes_all_parents_alike() {
    // The paper's figure 4a, and b: across the arm, a windmill.
    for c in cases(20) {
        let fit = c.fit();
        let arm = fit.place(c.bound) - fit.translation;
        let load = fit.load(c.bound, arm);
        for (i, w) in c.cloud.weights().iter().enumerate() {
            let share = fit.share(&c.cloud, i, &load);
            assert!((share - arm * *w).length() <= 1e-14 * fit.condition * arm.length(), "{}", c.kind);
        }
    }
}
