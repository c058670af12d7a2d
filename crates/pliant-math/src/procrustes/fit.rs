//! The best-fit rigid transform of a cloud whose points have moved, and how well it is determined.

use super::Cloud;
use crate::rotation::nearest_rotation;
use crate::svd::{Svd3, svd3};
use crate::symmetric::eigen_symmetric;
use glam::{DMat3, DVec3};

/// Eigenvalues of K below this share of the smallest at rest fade: the points have come that much nearer to a line.
const LOST: f64 = 1e-6;

/// And those below this share of the largest singular value, ten times what [`nearest_rotation`] takes for a tie.
const UNCLEAR: f64 = 1e-9;

/// Where a cloud is, as a rigid body would be: see the [module](super).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// R, from rest to world.
    pub rotation: DMat3,
    /// t, the weighted mean of the points.
    pub translation: DVec3,
    /// Singular values of A = Σ wᵢ (xᵢ − t) vᵢᵀ, largest first, the last with the sign of det A.
    pub sigma: DVec3,
    /// The condition number κ = (size at rest · size now) / (smallest eigenvalue of K), sizes being the root mean square
    /// distance from the mean: points moved by a share δ of the size now (in the root mean square) turn R by at most κδ. At
    /// least 1.5; infinite where the rotation is not determined at all.
    pub condition: f64,
    /// K⁻¹, symmetric, in the world's frame: torque to the rotation vector it is answered with. What is not determined has
    /// been faded to nothing.
    pub compliance: DMat3,
    /// How many axes of rotation are determined: three, two for points on a line, none for a point.
    pub determined: usize,
    pub(super) rest_mean: DVec3,
}

impl Cloud {
    /// The best-fit rotation and translation of the points where they are now.
    ///
    /// Where several rotations fit equally well, the one nearest to `previous` (a rotation) is taken. Finite positions
    /// up to 10¹⁴⁰ give a finite fit, however degenerate; others keep the previous rotation.
    pub fn fit(&self, position: impl Fn(usize) -> DVec3, previous: DMat3) -> Fit {
        let translation = self.average(&position);
        let (mut a, mut spread) = (DMat3::ZERO, 0.0);
        for (i, (&w, &v)) in self.weights().iter().zip(self.offsets()).enumerate() {
            let p = position(i) - translation;
            let q = p * w;
            a.x_axis += q * v.x;
            a.y_axis += q * v.y;
            a.z_axis += q * v.z;
            spread += q.dot(p);
        }
        self.fit_to(a, spread.sqrt(), translation, previous)
    }

    /// The fit to a covariance A of points whose size is now `size`.
    pub(super) fn fit_to(&self, a: DMat3, size: f64, translation: DVec3, previous: DMat3) -> Fit {
        let Polar { rotation, axes, sigma } = polar(a, previous);
        // The smallest sum of two, as σ is sorted; below zero only by rounding.
        let weakest = (sigma.y + sigma.z).max(0.0);
        let condition = if weakest > 0.0 { self.size() * size / weakest } else { f64::INFINITY };
        let limit = (LOST * self.stiffness()).max(UNCLEAR * sigma.x);
        let eigenvalues = [sigma.y + sigma.z, sigma.z + sigma.x, sigma.x + sigma.y];
        let mut compliance = DMat3::ZERO;
        for (value, axis) in eigenvalues.into_iter().zip([axes.x_axis, axes.y_axis, axes.z_axis]) {
            let scaled = axis * faded_inverse(value, limit);
            compliance += DMat3::from_cols(scaled * axis.x, scaled * axis.y, scaled * axis.z);
        }
        let determined = eigenvalues.iter().filter(|value| **value >= limit).count();
        Fit { rotation, translation, sigma, condition, compliance, determined, rest_mean: self.mean() }
    }
}

impl Fit {
    /// Whether the rotation, and so the derivative, is determined in all directions.
    pub fn is_determined(&self) -> bool {
        self.determined == 3
    }

    /// Whether the points are mirrored: the best orthogonal matrix would be a reflection, and the best rotation turns
    /// the direction that matters least the other way (the paper's Z).
    pub fn is_mirrored(&self) -> bool {
        self.sigma.z < 0.0
    }

    /// r_b = R v_b: from the mean to a bound point, which is told by its place at rest.
    pub fn arm(&self, rest_point: DVec3) -> DVec3 {
        self.rotation * (rest_point - self.rest_mean)
    }

    /// φ: where a point bound to the cloud is now, told by its place at rest (eq. 4).
    pub fn place(&self, rest_point: DVec3) -> DVec3 {
        self.arm(rest_point) + self.translation
    }
}

/// The inverse from the limit on; below a cubic that has its value and slope there, and none of either at zero.
fn faded_inverse(value: f64, limit: f64) -> f64 {
    if value >= limit {
        return value.recip();
    }
    let share = value.max(0.0) / limit;
    share * share * (4.0 - 3.0 * share) / limit
}

/// The rotation R of A = P R, and P by its eigenvectors and eigenvalues.
struct Polar {
    rotation: DMat3,
    axes: DMat3,
    sigma: DVec3,
}

fn polar(a: DMat3, previous: DMat3) -> Polar {
    let Svd3 { u, sigma, v } = svd3(a);
    let hand = (u.determinant() * v.determinant()).signum();
    let signed = DVec3::new(sigma.x, sigma.y, sigma.z * hand);
    if signed.y + signed.z > UNCLEAR * signed.x {
        // A reflection is undone in the direction that matters least.
        let axes = DMat3::from_cols(u.x_axis, u.y_axis, u.z_axis * hand);
        return Polar { rotation: axes * v.transpose(), axes, sigma: signed };
    }
    let rotation = nearest_rotation(a, previous);
    if !a.is_finite() {
        return Polar { rotation, axes: DMat3::IDENTITY, sigma: DVec3::ZERO };
    }
    // A tie was broken: the axes are those of P = A Rᵀ, symmetric but for what that took.
    let p = a * rotation.transpose();
    let p = ((p + p.transpose()) * 0.5).to_cols_array_2d();
    let (values, vectors) = eigen_symmetric(p);
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| values[j].total_cmp(&values[i]));
    let [first, second, third] = order.map(|i| DVec3::from_array(vectors[i]));
    let sigma = DVec3::from_array(order.map(|i| values[i]));
    Polar { rotation, axes: DMat3::from_cols(first, second, third), sigma }
}
