//! Momentum taken back: strain limiting that obeys Newton's third law.
//!
//! The paper moves each particle beyond its limit by a factor of its own, so the corrections of a
//! cluster have a net momentum, and a particle that a plane holds back pushes nothing: limits give way
//! on the ground and set bodies spinning. Here each cluster answers its corrections c_i with the rigid
//! displacement a + b × (x_i − x̄) of the same momentum, taken away from all its members.
//!
//! Angular momentum after a step is Σ m x(t) × v(t + h), because x(t + h) = x(t) + h v(t + h). Lever arms
//! are therefore those of the positions at the *start* of the step, and conservation is exact. For the
//! deformer, which moves particles before it fits anything, they are those after its Euler step: arms
//! from one place and inertia from another would push harder than they are pushed.

use super::kernels::{BalanceSum, MotionSum, Screw};
use crate::model::ClusterRest;
use glam::{DMat3, DVec3};
use pliant_math::pseudo_inverse;

/// Directions with less than this part of the largest inertia (along a line) are not turned about.
const NO_INERTIA: f64 = 1e-12;

/// Nor is a cluster that has collapsed to this part of its width, where offsets are rounding.
const COLLAPSED: f64 = 1e-9;

/// What a cluster's corrections push against.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClusterInertia {
    pub center: DVec3,
    inverse_inertia: DMat3,
    inverse_mass: f64,
}

/// The anchor of a cluster, and its rigid velocity, from its sums about `center`.
pub(super) fn rigid_motion(sum: &MotionSum, center: DVec3, cluster: &ClusterRest) -> (ClusterInertia, Screw) {
    let [xx, yy, zz, xy, yz, zx] = [sum[3], sum[4], sum[5], sum[6], sum[7], sum[8]];
    let inertia = [[yy + zz, -xy, -zx], [-xy, xx + zz, -yz], [-zx, -yz, xx + yy]];
    let inverse_inertia = match cluster.width > 0.0 {
        true => inverse(inertia, cluster.mass * (COLLAPSED * cluster.width).powi(2)),
        false => DMat3::ZERO,
    };
    let anchor = ClusterInertia { center, inverse_inertia, inverse_mass: cluster.mass.recip() };
    let linear = DVec3::new(sum[0], sum[1], sum[2]) * anchor.inverse_mass;
    // Σ m d = 0 about the centre, so the mean velocity adds nothing to Σ m d × v.
    let turn = inverse_inertia * DVec3::new(sum[9], sum[10], sum[11]);
    (anchor, Screw { base: linear - turn.cross(center), turn })
}

impl ClusterInertia {
    /// The displacement that balances corrections of the given momentum.
    pub fn reaction(&self, sum: &BalanceSum) -> Screw {
        let shift = DVec3::new(sum[0], sum[1], sum[2]) * self.inverse_mass;
        let turn = self.inverse_inertia * DVec3::new(sum[3], sum[4], sum[5]);
        Screw { base: shift - turn.cross(self.center), turn }
    }
}

fn inverse(inertia: [[f64; 3]; 3], least: f64) -> DMat3 {
    let m = DMat3::from_cols_array_2d(&inertia);
    let (det, size) = (m.determinant(), inertia[0][0] + inertia[1][1] + inertia[2][2]);
    if size <= least {
        return DMat3::ZERO;
    }
    // Far from singular the plain inverse is as good, and much faster.
    if det > 1e-6 * size * size * size {
        return m.inverse();
    }
    DMat3::from_cols_array_2d(&pseudo_inverse(inertia, NO_INERTIA).inverse)
}
