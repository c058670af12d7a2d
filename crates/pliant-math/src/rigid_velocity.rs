//! The rigid motion nearest to a set of velocities: what damping must leave alone.

use crate::svd::svd3;
use glam::{DMat3, DVec3};

/// The share m (|r|² I − r rᵀ) of one particle at offset `r` in an inertia tensor.
pub fn inertia_tensor_term(mass: f64, r: DVec3) -> DMat3 {
    let d = r.length_squared();
    DMat3::from_cols(DVec3::X * d - r * r.x, DVec3::Y * d - r * r.y, DVec3::Z * d - r * r.z) * mass
}

/// The angular velocity ω with I ω = L; directions without inertia (a line, a point) get none.
pub fn angular_velocity(inertia: DMat3, angular_momentum: DVec3) -> DVec3 {
    let s = svd3(inertia);
    let limit = 1e-12 * s.sigma.x;
    let y = s.u.transpose() * angular_momentum;
    let inv = |y: f64, sigma: f64| {
        if sigma > limit && sigma > 0.0 { y / sigma } else { 0.0 }
    };
    s.v * DVec3::new(inv(y.x, s.sigma.x), inv(y.y, s.sigma.y), inv(y.z, s.sigma.z))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_spin_of_a_rigid_set_and_ignores_spin_about_a_line() {
        let omega = DVec3::new(0.3, -1.0, 2.0);
        let points = [DVec3::X, DVec3::Y * 2.0, DVec3::new(-1.0, -2.0, 0.5), DVec3::NEG_Z * 0.5];
        let inertia = points.iter().fold(DMat3::ZERO, |i, &r| i + inertia_tensor_term(1.0, r));
        let momentum = points.iter().fold(DVec3::ZERO, |l, &r| l + r.cross(omega.cross(r)));
        assert!((angular_velocity(inertia, momentum) - omega).length() < 1e-12);

        let line = inertia_tensor_term(1.0, DVec3::X) + inertia_tensor_term(1.0, DVec3::NEG_X);
        let w = angular_velocity(line, DVec3::new(0.0, 2.0, 0.0));
        assert!((w - DVec3::Y).length() < 1e-12);
        assert_eq!(angular_velocity(DMat3::ZERO, DVec3::ONE), DVec3::ZERO);
    }
}
