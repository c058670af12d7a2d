//! How far points are from their best rigid and affine fits, by Horn's rotation: the engine has no part in it.

use pliant::{DMat3, DQuat, DVec3};
use pliant_math::horn_rotation;
use pliant_math::outer;

/// Angle of a rotation in radians, exact for small ones too (an arc cosine is not).
pub fn angle(q: DQuat) -> f64 {
    2.0 * q.xyz().length().atan2(q.w.abs())
}

fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len() as f64
}

/// Angle (radians) of the rotation that best takes `rest` to `now`, both of equal masses.
pub fn turned(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let (rc, xc) = (mean(rest), mean(now));
    angle(horn_rotation(rest.iter().zip(now).map(|(r, x)| (*r - rc, *x - xc))))
}

/// The best affine map's linear part from `rest` to `now`.
pub fn best_linear(rest: &[DVec3], now: &[DVec3]) -> DMat3 {
    let (rc, xc) = (mean(rest), mean(now));
    let (mut qq, mut pq) = (DMat3::ZERO, DMat3::ZERO);
    for (r, x) in rest.iter().zip(now) {
        qq += outer(*r - rc, *r - rc);
        pq += outer(*x - xc, *r - rc);
    }
    pq * qq.inverse()
}

/// Where the points of `now` are off their rest shape, seen from the best rigid fit.
pub fn displacements(rest: &[DVec3], now: &[DVec3]) -> Vec<DVec3> {
    let (rc, xc) = (mean(rest), mean(now));
    let turn = horn_rotation(rest.iter().zip(now).map(|(r, x)| (*r - rc, *x - xc))).inverse();
    rest.iter().zip(now).map(|(r, x)| turn * (*x - xc) - (*r - rc)).collect()
}

/// Root mean square of the distance from the best rigid fit.
pub fn beyond_rigid(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let all = displacements(rest, now);
    (all.iter().map(|d| d.length_squared()).sum::<f64>() / all.len() as f64).sqrt()
}

/// Root mean square of what the best affine map from `rest` to `now` leaves.
pub fn beyond_affine(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let (rc, xc) = (mean(rest), mean(now));
    let map = best_linear(rest, now);
    let sum: f64 = rest.iter().zip(now).map(|(r, x)| (map * (*r - rc) - (*x - xc)).length_squared()).sum();
    (sum / rest.len() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud() -> Vec<DVec3> {
        (0..30)
            .map(f64::from)
            .map(|t| DVec3::new((t * 1.3).sin(), (t * 2.1).cos(), (t * 0.7).sin()))
            .collect()
    }

    #[test]
    fn known_rotations_are_found() {
        for size in [0.0, 1e-9, 0.3, 3.0] {
            let q = DQuat::from_scaled_axis(DVec3::new(2.0, -1.0, 2.0) / 3.0 * size);
            let now: Vec<DVec3> = cloud().iter().map(|p| q * *p + DVec3::X).collect();
            let found = turned(&cloud(), &now);
            assert!((found - size).abs() < 1e-13 + 1e-12 * size, "{size}: {found}");
        }
    }

    #[test]
    fn affine_maps_leave_nothing() {
        let m = DMat3::from_cols(DVec3::new(1.5, 0.2, 0.0), DVec3::Y, DVec3::new(0.0, 0.1, 0.7));
        let now: Vec<DVec3> = cloud().iter().map(|p| m * *p).collect();
        assert!(beyond_affine(&cloud(), &now) < 1e-14);
        let bent: Vec<DVec3> = cloud().iter().map(|p| *p + DVec3::Y * p.x * p.x).collect();
        assert!(beyond_affine(&cloud(), &bent) > 0.1);
    }
}
