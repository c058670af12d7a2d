//! Points that have collapsed, are mirrored until two directions cannot be told apart, or are nowhere.

use super::{cases, random_vector};
use crate::SplitMix64;
use crate::procrustes::{Cloud, Fit};
use crate::rotation::tests::random_rotation;
use glam::{DMat3, DVec3};

fn is_finite(fit: &Fit, cloud: &Cloud, bound: DVec3) -> bool {
    let blocks = (0..cloud.len()).all(|i| fit.block(cloud, i, bound).is_finite());
    let whole = fit.rotation.is_finite() && fit.translation.is_finite() && fit.sigma.is_finite();
    blocks && whole && fit.compliance.is_finite() && !fit.condition.is_nan()
}

fn is_rotation(r: DMat3) -> bool {
    let e = r * r.transpose() - DMat3::IDENTITY;
    e.to_cols_array().iter().all(|e| e.abs() < 1e-13) && r.determinant() > 0.9
}

#[test]
fn a_line_keeps_its_direction_and_the_spin_of_the_frame_before() {
    let mut rng = SplitMix64::new(21);
    for c in cases(20) {
        let (previous, line) = (random_rotation(&mut rng), random_vector(&mut rng).normalize());
        // All parents on a line through their mean, as far along it as the frame before had them.
        let now = |i: usize| line * line.dot(previous * c.cloud.offsets()[i]);
        let fit = c.cloud.fit(now, previous);
        assert!(is_finite(&fit, &c.cloud, c.bound) && is_rotation(fit.rotation), "{}", c.kind);
        assert!(!fit.is_determined() && fit.determined == 2, "{}: {fit:?}", c.kind);
        assert!(fit.condition > 1e8);
        // Turned back on itself no spin is left: among best fits none is nearer to the frame before.
        let along = c.cloud.offsets().iter().zip(c.cloud.weights());
        let strongest =
            along.fold(DVec3::ZERO, |s, (v, w)| s + *v * line.dot(previous * *v) * *w).normalize();
        assert!((fit.rotation * strongest - line).length() < 1e-9, "{}", c.kind);
        let swing = glam::DQuat::from_rotation_arc(previous * strongest, line);
        let nearest = DMat3::from_quat(swing) * previous;
        let gap = (fit.rotation - nearest).abs().to_cols_array().into_iter().fold(0.0, f64::max);
        assert!(gap < 1e-6, "{}: {gap:e}", c.kind);
        // A torque about the line has no forces that would carry it; one across has.
        assert!(fit.torque(line).spin.length() * c.size * c.size < 1e-3, "{}", c.kind);
        let across = fit.torque(line.any_orthonormal_vector());
        let torque =
            (0..c.now.len()).fold(DVec3::ZERO, |t, i| t + now(i).cross(fit.share(&c.cloud, i, &across)));
        assert!((torque - line.any_orthonormal_vector()).length() < 1e-6, "{}: {torque}", c.kind);
    }
}

#[test]
fn a_point_keeps_the_rotation_and_passes_forces_on_without_torque() {
    let mut rng = SplitMix64::new(22);
    for c in cases(5) {
        let fit = c.cloud.fit(|_| DVec3::ONE, c.previous);
        assert!(is_finite(&fit, &c.cloud, c.bound));
        assert_eq!((fit.rotation, fit.translation, fit.determined), (c.previous, DVec3::ONE, 0));
        assert_eq!(fit.condition, f64::INFINITY);
        let force = random_vector(&mut rng);
        let load = fit.load(c.bound, force);
        assert_eq!(load.spin, DVec3::ZERO);
        let sum: DVec3 = (0..c.now.len()).map(|i| fit.share(&c.cloud, i, &load)).sum();
        assert!((sum - force).length() < 1e-14);
    }
}

/// The corners of a cube, and the same mirrored: any of three directions may be turned to undo it.
#[test]
fn mirrored_ties_go_to_the_frame_before() {
    let corners: Vec<DVec3> = (0..8)
        .map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2 & 1)) * 2.0 - 1.0)
        .collect();
    let cloud = Cloud::new(&corners, &[1.0; 8]).unwrap();
    let mut rng = SplitMix64::new(23);
    for _ in 0..50 {
        let previous = random_rotation(&mut rng);
        let mirror = DMat3::from_diagonal(DVec3::new(1.0, -1.0, 1.0));
        let fit = cloud.fit(|i| previous * (mirror * corners[i]), previous);
        assert!(is_finite(&fit, &cloud, DVec3::ONE) && is_rotation(fit.rotation) && fit.is_mirrored());
        assert!((fit.rotation - previous).to_cols_array().iter().all(|e| e.abs() < 1e-6));
        assert_eq!(fit.determined, 1);
    }
}

/// On the way to a line the derivative grows as the points come together, and fades at the end.
#[test]
fn the_way_to_a_line_is_bounded_and_has_no_jumps() {
    for c in cases(3) {
        let start = c.fit();
        let axis = c.previous.x_axis;
        let mut last: Option<(f64, f64)> = None;
        let mut largest = 0.0_f64;
        for k in 0..1500 {
            let share = if k == 1499 { 0.0 } else { 10f64.powf(-f64::from(k) / 100.0) };
            let now = |i: usize| {
                let x = c.now[i];
                axis * axis.dot(x) + (x - axis * axis.dot(x)) * share
            };
            let fit = c.cloud.fit(now, start.rotation);
            assert!(is_finite(&fit, &c.cloud, c.bound));
            let gain =
                fit.block(&c.cloud, 0, c.bound).to_cols_array().iter().map(|e| e * e).sum::<f64>().sqrt();
            largest = largest.max(gain);
            let stiffest = fit.compliance.to_cols_array().iter().fold(0.0, |m: f64, e| m.max(e.abs()));
            let scaled = stiffest * c.size * c.size;
            if let Some((before, at)) = last {
                // By a factor of 10^(1/100) nothing more than doubles or halves until it has faded.
                assert!(scaled < 1.2 * before + 1e-3, "{}: {before} {scaled} at {share:e}", c.kind);
                assert!(scaled > 0.5 * before || scaled < 1e6, "{}: {before} {scaled} after {at:e}", c.kind);
            }
            last = Some((scaled, share));
        }
        let limit = 1.2e6 * c.cloud.condition() * 10.0;
        assert!(largest < limit, "{}: {largest:e}", c.kind);
    }
}

#[test]
fn extreme_sizes_are_finite() {
    let corners = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    for rest in [1e-130, 1.0, 1e130] {
        let points = corners.map(|x| x * rest);
        let cloud = Cloud::new(&points, &[1.0; 4]).unwrap();
        assert!((cloud.condition() - 1.5).abs() < 0.5);
        for now in [0.0, 1e-140, 1e-130, 1.0, 1e130, 1e140] {
            let fit = cloud.fit(|i| corners[i] * now, DMat3::IDENTITY);
            assert!(is_finite(&fit, &cloud, points[3]), "{rest:e} {now:e} {fit:?}");
            assert!(is_rotation(fit.rotation));
        }
    }
}

#[test]
fn what_is_no_number_keeps_the_rotation() {
    let c = &cases(1)[0];
    for bad in [f64::NAN, f64::INFINITY] {
        let fit = c.cloud.fit(|i| if i == 1 { DVec3::splat(bad) } else { c.now[i] }, c.previous);
        assert_eq!(fit.rotation, c.previous);
        assert_eq!((fit.compliance, fit.determined), (DMat3::ZERO, 0));
    }
}
