//! The derivative against differences, against its own transpose, and on velocities it must take exactly.

use super::{cases, random_vector};
use crate::SplitMix64;
use crate::rotation::tests::{random, random_rotation};
use glam::{DMat3, DQuat, DVec3};

fn norm(m: &DMat3) -> f64 {
    m.to_cols_array().iter().map(|e| e * e).sum::<f64>().sqrt()
}

#[test]
fn agrees_with_central_differences() {
    let mut worst = [0.0_f64; 2];
    for c in cases(300) {
        let fit = c.fit();
        assert!(fit.condition >= 1.5 * (1.0 - 1e-12), "{}: {}", c.kind, fit.condition);
        // Small beside the cloud and beside what turns it by one radian.
        let step = 3e-5 * c.size / fit.condition.sqrt();
        let (mut error, mut size) = (0.0, 0.0);
        let mut blocks = vec![DMat3::ZERO; c.cloud.len()];
        fit.blocks(&c.cloud, c.bound, &mut blocks);
        for (i, block) in blocks.iter().enumerate() {
            let moved = |by: DVec3| {
                let place = |j: usize| if i == j { c.now[j] + by } else { c.now[j] };
                c.cloud.fit(place, fit.rotation).place(c.bound)
            };
            let slope = |axis: DVec3| (moved(axis * step) - moved(-axis * step)) / (2.0 * step);
            let differences = DMat3::from_cols(slope(DVec3::X), slope(DVec3::Y), slope(DVec3::Z));
            error += norm(&(differences - *block)).powi(2);
            size += norm(block).powi(2);
            assert_eq!(*block, fit.block(&c.cloud, i, c.bound));
        }
        let relative = (error / size).sqrt();
        let k = fit.condition;
        assert!(relative <= 1e-7 * (1.0 + k * k), "{}: {relative:e} with condition {k}", c.kind);
        // The bound above says little of ill-conditioned ones; this one holds too.
        assert!(relative <= 2e-8 * (1.0 + k), "{}: {relative:e} with condition {k}", c.kind);
        worst = [worst[0].max(relative / (1.0 + k * k)), worst[1].max(relative / (1.0 + k))];
    }
    println!("relative error over 1 + κ²: {:e}, over 1 + κ: {:e}", worst[0], worst[1]);
}

#[test]
fn shares_are_the_transposed_blocks_and_velocities_their_product() {
    let mut rng = SplitMix64::new(5);
    for c in cases(40) {
        let fit = c.fit();
        let force = random_vector(&mut rng);
        let velocities: Vec<DVec3> = c.now.iter().map(|_| random_vector(&mut rng)).collect();
        let load = fit.load(c.bound, force);
        let mut shares = vec![DVec3::ZERO; c.cloud.len()];
        fit.shares(&c.cloud, &load, &mut shares);
        let (mut velocity, mut size) = (DVec3::ZERO, 0.0);
        for (i, share) in shares.iter().enumerate() {
            let block = fit.block(&c.cloud, i, c.bound);
            let want = block.transpose() * force;
            let gap = (want - *share).length() / (c.cloud.weights()[i] * force.length());
            assert!(gap <= 1e-14 * (1.0 + fit.condition), "{}: {gap:e}", c.kind);
            velocity += block * velocities[i];
            size += norm(&block);
        }
        let got = fit.velocity(&c.cloud, c.bound, |i| velocities[i]);
        assert!((got - velocity).length() <= 1e-13 * size, "{}: {got} {velocity}", c.kind);
        // The angular velocity and the torque are each other's transpose: τ·ω = Σ fᵢ·uᵢ.
        let torque = random_vector(&mut rng);
        let turned = fit.torque(torque);
        let power: f64 = (0..c.now.len()).map(|i| fit.share(&c.cloud, i, &turned).dot(velocities[i])).sum();
        let spin = fit.angular_velocity(&c.cloud, |i| velocities[i]);
        let scale: f64 = (0..c.now.len()).map(|i| fit.share(&c.cloud, i, &turned).length()).sum();
        assert!((power - torque.dot(spin)).abs() <= 1e-13 * scale, "{}", c.kind);
    }
}

#[test]
fn rigid_motion_is_followed_exactly() {
    let mut rng = SplitMix64::new(6);
    for c in cases(60) {
        let (turn, shift) = (random_rotation(&mut rng), random_vector(&mut rng) * c.size * 10.0);
        let rest: Vec<DVec3> = c.cloud.offsets().iter().map(|v| c.cloud.mean() + *v).collect();
        let fit = c.cloud.fit(|i| turn * rest[i] + shift, c.previous);
        let want = turn * c.bound + shift;
        let k = c.cloud.condition();
        assert!((fit.condition / k - 1.0).abs() < 1e-9, "{}: {} {k}", c.kind, fit.condition);
        // What thin clouds say of the spin about themselves is as good as their positions.
        assert!((fit.place(c.bound) - want).length() < 1e-14 * (1.0 + k) * c.size, "{}", c.kind);
        assert!(!fit.is_mirrored() || fit.sigma.z > -1e-15 * fit.sigma.x);
    }
}

#[test]
fn the_velocity_of_a_rigid_motion_is_exact_however_deformed_the_points_are() {
    let mut rng = SplitMix64::new(7);
    for c in cases(60) {
        let fit = c.fit();
        let (spin, drift) = (random_vector(&mut rng), random_vector(&mut rng) * c.size * 100.0);
        let velocity = |i: usize| drift + spin.cross(c.now[i]);
        let k = fit.condition;
        let got = fit.angular_velocity(&c.cloud, velocity);
        assert!((got - spin).length() < 1e-13 * (1.0 + k), "{}: {got} {spin}", c.kind);
        let got = fit.velocity(&c.cloud, c.bound, velocity);
        let want = drift + spin.cross(fit.place(c.bound));
        assert!((got - want).length() < 1e-13 * (1.0 + k) * c.size, "{}: {got} {want}", c.kind);
    }
}

#[test]
fn the_condition_bounds_how_far_the_rotation_turns() {
    let mut rng = SplitMix64::new(8);
    let mut tightest = 0.0_f64;
    for c in cases(60) {
        let fit = c.fit();
        let mean = fit.translation;
        let size = (0..c.now.len())
            .map(|i| c.cloud.weights()[i] * (c.now[i] - mean).length_squared())
            .sum::<f64>()
            .sqrt();
        for _ in 0..20 {
            let moves: Vec<DVec3> = c.now.iter().map(|_| random_vector(&mut rng) * size).collect();
            let square: f64 =
                (0..c.now.len()).map(|i| c.cloud.weights()[i] * moves[i].length_squared()).sum();
            let turned = fit.angular_velocity(&c.cloud, |i| moves[i]).length();
            let share = turned / (fit.condition * square.sqrt() / size);
            assert!(share <= 1.0 + 1e-12, "{}: {share}", c.kind);
            tightest = tightest.max(share);
        }
    }
    assert!(tightest > 0.3, "a bound that is never near is no bound: {tightest}");
}

#[test]
fn it_is_a_best_fit_with_the_singular_values_of_the_covariance() {
    let mut rng = SplitMix64::new(9);
    for c in cases(30) {
        let fit = c.fit();
        let cost = |r: DMat3| -> f64 {
            let gap = |i: usize| r * c.cloud.offsets()[i] + fit.translation - c.now[i];
            (0..c.now.len()).map(|i| c.cloud.weights()[i] * gap(i).length_squared()).sum()
        };
        let best = cost(fit.rotation);
        for size in [3.0, 0.1, 1e-4] {
            for _ in 0..20 {
                let turn = DQuat::from_scaled_axis(random_vector(&mut rng) * size);
                let other = cost(DMat3::from_quat(turn) * fit.rotation);
                assert!(other >= best - 1e-13 * c.size * c.size, "{}: {best} {other}", c.kind);
            }
        }
        let mut a = DMat3::ZERO;
        for i in 0..c.now.len() {
            let p = (c.now[i] - fit.translation) * c.cloud.weights()[i];
            let v = c.cloud.offsets()[i];
            a += DMat3::from_cols(p * v.x, p * v.y, p * v.z);
        }
        let want = crate::svd3(a).sigma;
        assert!((fit.sigma.abs() - want).abs().max_element() <= 1e-14 * want.x, "{}", c.kind);
        if a.determinant().abs() > 1e-12 * want.x.powi(3) {
            assert_eq!(fit.is_mirrored(), a.determinant() < 0.0, "{}", c.kind);
        }
    }
}

#[test]
fn the_effective_mass_is_no_less_than_its_bound() {
    let mut rng = SplitMix64::new(10);
    for c in cases(40) {
        let fit = c.fit();
        let inverse: Vec<f64> = c.now.iter().map(|_| random(&mut rng).abs()).collect();
        let bound = fit.inverse_mass_bound(&c.cloud, c.bound, |i| inverse[i]);
        let mut mobility = DMat3::ZERO;
        let mut frobenius = 0.0;
        for (i, m) in inverse.iter().enumerate() {
            let block = fit.block(&c.cloud, i, c.bound);
            mobility += block * block.transpose() * *m;
            frobenius += norm(&block).powi(2) * m;
        }
        // Σ JᵢJᵢᵀ/mᵢ is what a force on the bound point meets.
        let largest = crate::svd3(mobility).sigma.x;
        assert!(largest <= bound * (1.0 + 1e-12), "{}: {largest} {bound}", c.kind);
        assert!(bound <= frobenius * (1.0 + 1e-12));
    }
    // One force at the mean of equal masses meets all of them, and the bound is exact: Σ (wᵢ)²/m.
    let c = &cases(1)[0];
    let fit = c.fit();
    let bound = fit.inverse_mass_bound(&c.cloud, c.cloud.mean(), |_| 0.5);
    let want: f64 = c.cloud.weights().iter().map(|w| w * w * 0.5).sum();
    assert!((bound - want).abs() < 1e-13 * want);
}
