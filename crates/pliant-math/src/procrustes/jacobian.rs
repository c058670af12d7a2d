//! The derivative of bound points by their parents, and its transpose: velocities one way, forces the other.

use super::{Cloud, Fit};
use crate::svd::svd3;
use glam::{DMat3, DVec3};
use std::ops::{Add, AddAssign};

/// What the parents of a cloud are to take together: a force, and a torque about their mean as K⁻¹τ. Loads of any number
/// of bound points may be added before they are shared out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// The sum of the forces on bound points, N.
    pub force: DVec3,
    /// y = K⁻¹τ, see the [module](super).
    pub spin: DVec3,
}

impl Add for Load {
    type Output = Load;
    fn add(self, other: Load) -> Load {
        Load { force: self.force + other.force, spin: self.spin + other.spin }
    }
}

impl AddAssign for Load {
    fn add_assign(&mut self, other: Load) {
        *self = *self + other;
    }
}

/// Clouds given to these must be those that were fitted.
impl Fit {
    /// A force on a bound point, as its parents feel it.
    pub fn load(&self, rest_point: DVec3, force: DVec3) -> Load {
        Load { force, spin: self.compliance * self.arm(rest_point).cross(force) }
    }

    /// A torque on the cloud, as the points feel it: forces without a sum. The transpose of [`Fit::angular_velocity`].
    pub fn torque(&self, torque: DVec3) -> Load {
        Load { force: DVec3::ZERO, spin: self.compliance * torque }
    }

    /// fᵢ = wᵢ (f + y × rᵢ): the share of one parent in a load, without any block formed.
    pub fn share(&self, cloud: &Cloud, parent: usize, load: &Load) -> DVec3 {
        let arm = self.rotation * cloud.offsets()[parent];
        (load.force + load.spin.cross(arm)) * cloud.weights()[parent]
    }

    /// The shares of all parents.
    ///
    /// # Panics
    /// If `to` has not one place for each parent.
    pub fn shares(&self, cloud: &Cloud, load: &Load, to: &mut [DVec3]) {
        assert_eq!(to.len(), cloud.len(), "one share for each parent");
        for (i, share) in to.iter_mut().enumerate() {
            *share = self.share(cloud, i, load);
        }
    }

    /// ω with dR/dt = \[ω\]ₓ R for points of these velocities: K⁻¹ Σ wᵢ rᵢ × uᵢ.
    pub fn angular_velocity(&self, cloud: &Cloud, velocity: impl Fn(usize) -> DVec3) -> DVec3 {
        // What all have in common turns nothing, and need not be rounded.
        let first = velocity(0);
        let mut sum = DVec3::ZERO;
        for (i, (&w, &v)) in cloud.weights().iter().zip(cloud.offsets()).enumerate() {
            sum += (self.rotation * v).cross(velocity(i) - first) * w;
        }
        self.compliance * sum
    }

    /// Σ ∂φ/∂xᵢ uᵢ: the velocity of a bound point whose parents have these (eq. 1).
    pub fn velocity(&self, cloud: &Cloud, rest_point: DVec3, velocity: impl Fn(usize) -> DVec3) -> DVec3 {
        let spin = self.angular_velocity(cloud, &velocity);
        cloud.average(velocity) + spin.cross(self.arm(rest_point))
    }

    /// ∂φ/∂xᵢ = wᵢ (I − \[r_b\]ₓ K⁻¹ \[rᵢ\]ₓ)
    pub fn block(&self, cloud: &Cloud, parent: usize, rest_point: DVec3) -> DMat3 {
        self.block_by(cloud, parent, &self.lever(rest_point))
    }

    /// The blocks of all parents.
    ///
    /// # Panics
    /// If `to` has not one place for each parent.
    pub fn blocks(&self, cloud: &Cloud, rest_point: DVec3, to: &mut [DMat3]) {
        assert_eq!(to.len(), cloud.len(), "one block for each parent");
        let lever = self.lever(rest_point);
        for (i, block) in to.iter_mut().enumerate() {
            *block = self.block_by(cloud, i, &lever);
        }
    }

    /// At most this much is added to a bound point's acceleration per unit of force, 1/m_e ≤ Σ ‖∂φ/∂xᵢ‖²/mᵢ (eq. 3): what
    /// limits the step of explicit solvers. Parents that are held have an inverse mass of zero.
    pub fn inverse_mass_bound(
        &self,
        cloud: &Cloud,
        rest_point: DVec3,
        inverse_mass: impl Fn(usize) -> f64,
    ) -> f64 {
        let lever = self.lever(rest_point);
        let norm = |i| svd3(self.block_by(cloud, i, &lever)).sigma.x;
        (0..cloud.len()).map(|i| norm(i) * norm(i) * inverse_mass(i)).sum()
    }

    /// −\[r_b\]ₓ K⁻¹: torque on the cloud to movement of a bound point.
    fn lever(&self, rest_point: DVec3) -> DMat3 {
        let arm = self.arm(rest_point);
        let k = self.compliance;
        DMat3::from_cols(k.x_axis.cross(arm), k.y_axis.cross(arm), k.z_axis.cross(arm))
    }

    fn block_by(&self, cloud: &Cloud, parent: usize, lever: &DMat3) -> DMat3 {
        let r = self.rotation * cloud.offsets()[parent];
        // Lever times [r]ₓ, whose columns are r × x, r × y, r × z.
        let [x, y, z] = [lever.x_axis, lever.y_axis, lever.z_axis];
        let turned = DMat3::from_cols(y * r.z - z * r.y, z * r.x - x * r.z, x * r.y - y * r.x);
        (DMat3::IDENTITY + turned) * cloud.weights()[parent]
    }
}
