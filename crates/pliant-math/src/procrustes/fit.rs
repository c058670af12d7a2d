//! The best-fit rigid transform of a cloud whose points have moved, and how well it is determined.

use super::Cloud;
use crate::rotation::{nearest_rotation, polar_newton};
use crate::svd::{Svd3, svd3};
use crate::symmetric::eigen_symmetric;
use glam::{DMat3, DVec3};

/// Eigenvalues of K below this share of the smallest at rest fade: the points have come that much nearer to a line.
pub(super) const LOST: f64 = 1e-6;

/// Above this share of the largest singular value nothing is lost by going without a decomposition.
const CLEAR: f64 = 0.1;

/// And those below this share of the largest singular value, ten times what [`nearest_rotation`] takes for a tie.
pub(super) const UNCLEAR: f64 = 1e-9;

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
    fn fit_to(&self, a: DMat3, size: f64, translation: DVec3, previous: DMat3) -> Fit {
        let solution = solve(a, self.stiffness(), previous);
        Fit::of(&solution, [self.size(), size], self.stiffness(), translation, self.mean())
    }
}

/// What follows from the covariance of a cloud.
pub(super) struct Solution {
    pub rotation: DMat3,
    pub sigma: DVec3,
    pub compliance: DMat3,
}

/// The rotation nearest to A, and K⁻¹ faded by the stiffness at rest.
pub(super) fn solve(a: DMat3, stiffness: f64, previous: DMat3) -> Solution {
    if let Some(found) = clear(a, 10.0 * LOST * stiffness) {
        return found;
    }
    let Polar { rotation, axes, sigma } = polar(a, previous);
    let limit = limit(sigma, stiffness);
    let mut compliance = DMat3::ZERO;
    for (value, axis) in eigenvalues(sigma).into_iter().zip([axes.x_axis, axes.y_axis, axes.z_axis]) {
        let scaled = axis * faded_inverse(value, limit);
        compliance += DMat3::from_cols(scaled * axis.x, scaled * axis.y, scaled * axis.z);
    }
    Solution { rotation, sigma, compliance }
}

/// Those of K, the smallest first.
fn eigenvalues(sigma: DVec3) -> [f64; 3] {
    [sigma.y + sigma.z, sigma.z + sigma.x, sigma.x + sigma.y]
}

/// Below this eigenvalues of K fade.
fn limit(sigma: DVec3, stiffness: f64) -> f64 {
    (LOST * stiffness).max(UNCLEAR * sigma.x)
}

impl Fit {
    /// With the sizes of the cloud at rest and now, and its stiffness at rest.
    pub(super) fn of(
        solution: &Solution,
        sizes: [f64; 2],
        stiffness: f64,
        translation: DVec3,
        rest_mean: DVec3,
    ) -> Fit {
        let Solution { rotation, sigma, compliance } = *solution;
        let eigenvalues = eigenvalues(sigma);
        // Below zero only by rounding.
        let weakest = eigenvalues[0].max(0.0);
        let condition = if weakest > 0.0 { sizes[0] * sizes[1] / weakest } else { f64::INFINITY };
        let limit = limit(sigma, stiffness);
        let determined = eigenvalues.iter().filter(|value| **value >= limit).count();
        Fit { rotation, translation, sigma, condition, compliance, determined, rest_mean }
    }

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

/// R, σ and K⁻¹ where nothing is near to being undetermined, which they nearly always are: without a singular value decomposition.
///
/// cof A has the singular vectors of A, with the sign of det A. So A + τ cof A has the polar factor that is sought, also where A is
/// flat, and where it is mirrored by less than that adds; whether it is the best rotation K tells, which is then positive.
fn clear(a: DMat3, limit: f64) -> Option<Solution> {
    let norm = (a.x_axis.length_squared() + a.y_axis.length_squared() + a.z_axis.length_squared()).sqrt();
    // Where squares would over- or underflow, the long way is taken.
    if !(1e-60..1e60).contains(&norm) {
        return None;
    }
    let b = a * norm.recip();
    let [x, y, z] = [b.x_axis, b.y_axis, b.z_axis];
    let rotation = polar_newton(b + DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)))?;
    let p = a * rotation.transpose();
    // Symmetric but for rounding.
    let [xy, yz, zx] =
        [p.x_axis.y.midpoint(p.y_axis.x), p.y_axis.z.midpoint(p.z_axis.y), p.z_axis.x.midpoint(p.x_axis.z)];
    let [xx, yy, zz] = [p.x_axis.x, p.y_axis.y, p.z_axis.z];
    let mut sigma = symmetric_eigenvalues([xx, yy, zz], [xy, yz, zx]);
    // The last by the determinant, whose sign it has to rounding also where the cloud is flat.
    sigma.z = a.determinant() / (sigma.x * sigma.y);
    let weakest = sigma.y + sigma.z;
    if !(sigma.y > CLEAR * sigma.x && weakest > limit && sigma.z > -CLEAR * sigma.y) {
        return None;
    }
    let k = [yy + zz, zz + xx, xx + yy];
    // The cofactors of K, whose entries off the diagonal are those of −P.
    let diagonal = DVec3::new(k[1] * k[2] - yz * yz, k[2] * k[0] - zx * zx, k[0] * k[1] - xy * xy);
    let (cxy, cyz, czx) = (xy * k[2] + yz * zx, yz * k[0] + zx * xy, zx * k[1] + xy * yz);
    let inverse = (k[0] * diagonal.x - xy * cxy - zx * czx).recip();
    let compliance = DMat3::from_cols(
        DVec3::new(diagonal.x, cxy, czx) * inverse,
        DVec3::new(cxy, diagonal.y, cyz) * inverse,
        DVec3::new(czx, cyz, diagonal.z) * inverse,
    );
    compliance.is_finite().then_some(Solution { rotation, sigma, compliance })
}

/// The eigenvalues of a symmetric matrix, largest first, from the angle of its characteristic polynomial.
fn symmetric_eigenvalues([xx, yy, zz]: [f64; 3], [xy, yz, zx]: [f64; 3]) -> DVec3 {
    let mean = (xx + yy + zz) / 3.0;
    let [a, b, c] = [xx - mean, yy - mean, zz - mean];
    let spread = ((a * a + b * b + c * c + 2.0 * (xy * xy + yz * yz + zx * zx)) / 6.0).sqrt();
    if spread == 0.0 {
        return DVec3::splat(mean);
    }
    let determinant = a * (b * c - yz * yz) - xy * (xy * c - yz * zx) + zx * (xy * yz - b * zx);
    let angle = (determinant / (2.0 * spread * spread * spread)).clamp(-1.0, 1.0).acos() / 3.0;
    let first = mean + 2.0 * spread * angle.cos();
    let third = mean + 2.0 * spread * (angle + std::f64::consts::TAU / 3.0).cos();
    DVec3::new(first, 3.0 * mean - first - third, third)
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
