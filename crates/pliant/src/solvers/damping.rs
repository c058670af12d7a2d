//! Damping of everything but rigid motion: momentum and spin stay as they are.

use crate::points::Points;
use glam::{DMat3, DVec3};
use pliant_math::{angular_velocity, inertia_tensor_term};

/// The rigid velocity field nearest to a weighted set of moving points: v + ω × (x − center).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RigidVelocity {
    pub center: DVec3,
    pub linear: DVec3,
    pub angular: DVec3,
}

impl RigidVelocity {
    pub const REST: RigidVelocity =
        RigidVelocity { center: DVec3::ZERO, linear: DVec3::ZERO, angular: DVec3::ZERO };

    /// Fits the (particle, mass) pairs given twice over by `points`.
    pub fn fit<I: Iterator<Item = (usize, f64)>>(points: impl Fn() -> I, x: &Points, v: &Points) -> Self {
        let Some((first, _)) = points().next() else {
            return Self::REST;
        };
        let origin = x.get(first);
        let (mut mass, mut center, mut linear) = (0.0, DVec3::ZERO, DVec3::ZERO);
        for (i, m) in points() {
            mass += m;
            center += m * (x.get(i) - origin);
            linear += m * v.get(i);
        }
        let (center, linear) = (origin + center / mass, linear / mass);
        let (mut inertia, mut spin) = (DMat3::ZERO, DVec3::ZERO);
        for (i, m) in points() {
            let r = x.get(i) - center;
            inertia += inertia_tensor_term(m, r);
            spin += m * r.cross(v.get(i) - linear);
        }
        RigidVelocity { center, linear, angular: angular_velocity(inertia, spin) }
    }

    #[inline(always)]
    pub fn at(&self, x: DVec3) -> DVec3 {
        self.linear + self.angular.cross(x - self.center)
    }
}

/// The part of a motion that decays at `rate` (1/s) within `h` seconds, whatever the number of steps.
pub(crate) fn decay(rate: f64, h: f64) -> f64 {
    -(-rate * h).exp_m1()
}
