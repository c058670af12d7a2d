//! From sums over a cluster to its goals: the best rigid, linear or quadratic motion of the rest shape.
//!
//! All goals have the form g = M q + c plus, if quadratic, Q q̃, with q the offset from the rest centre.
//! What a cluster remembers (its permanent stretch P) and how far it may deform (β) only enter M and Q,
//! so the passes over particles are the same for all of them.

use crate::controls::BodyControls;
use crate::model::{ClusterBasis, ClusterRest, Goals, quadratic_terms};
use glam::{DMat3, DVec3};
use pliant_math::{nearest_rotation, svd3};

/// Volume preservation may stretch a shape to this much of its rest size and no further. Without a
/// bound, a flattened cluster (det A → 0) would be blown up in its plane without end.
const LARGEST_STRETCH: f64 = 2.0;

/// Below this a shape is a point, and its directions are rounding.
const SMALLEST_STRETCH: f64 = 1e-9;

/// Σ m x, Σ m x qᵀ, and Σ m x tᵀ over the six quadratic terms t (in widths, not centred).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sums {
    pub first: DVec3,
    pub covariance: DMat3,
    pub quadratic: [DVec3; 6],
}

impl Sums {
    pub const ZERO: Sums = Sums { first: DVec3::ZERO, covariance: DMat3::ZERO, quadratic: [DVec3::ZERO; 6] };
}

/// A cluster's goals g = `linear` q + `center` + `quadratic` t − `offset`, where t are the quadratic
/// terms in widths and the offset centres them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fit {
    /// Best rigid rotation of the (permanently stretched) rest shape.
    pub rotation: DMat3,
    /// Present centre of mass.
    pub center: DVec3,
    pub linear: DMat3,
    pub quadratic: [DVec3; 6],
    /// Σ quadratic · mean.
    pub offset: DVec3,
}

impl Default for Fit {
    fn default() -> Self {
        Fit {
            rotation: DMat3::IDENTITY,
            center: DVec3::ZERO,
            linear: DMat3::IDENTITY,
            quadratic: [DVec3::ZERO; 6],
            offset: DVec3::ZERO,
        }
    }
}

impl Fit {
    /// Goal of a member, relative to what `center` is relative to.
    pub fn goal(&self, cluster: &ClusterRest, basis: &ClusterBasis, rest: DVec3) -> DVec3 {
        let q = rest - cluster.center;
        let mut goal = self.linear * q + self.center;
        if basis.goals == Goals::Quadratic {
            let terms = quadratic_terms(q / cluster.width);
            goal -= self.offset;
            goal += self.quadratic.iter().zip(terms).map(|(c, t)| *c * t).sum::<DVec3>();
        }
        goal
    }
}

/// The matrix whose nearest rotation is the cluster's: Σ m x (P q)ᵀ.
#[inline(always)]
pub(super) fn to_rotate(sums: &Sums, plastic: &DMat3) -> DMat3 {
    if *plastic == DMat3::IDENTITY { sums.covariance } else { sums.covariance * plastic.transpose() }
}

/// The best linear map from rest offsets to present ones, Σ m x qᵀ (Σ m q qᵀ)⁻¹ (deformer, eq. 5); in
/// directions without extent it turns with the rest.
pub(super) fn best_linear(sums: &Sums, basis: &ClusterBasis, rotation: DMat3) -> DMat3 {
    sums.covariance * basis.inverse + rotation * basis.null
}

/// The goals of a cluster whose rotation is known.
pub(super) fn fit(
    sums: &Sums,
    cluster: &ClusterRest,
    basis: &ClusterBasis,
    rotation: DMat3,
    plastic: &DMat3,
    two_step: bool,
    controls: &BodyControls,
) -> Fit {
    let center = sums.first / cluster.mass;
    let stretched = if *plastic == DMat3::IDENTITY { rotation } else { rotation * *plastic };
    let rigid = Fit { rotation, center, linear: stretched, ..Fit::default() };
    let beta = controls.deformation;
    if basis.goals == Goals::Rigid || (beta == 0.0 && !two_step) {
        return rigid;
    }
    let mut linear = best_linear(sums, basis, rotation);
    let mut quadratic = [DVec3::ZERO; 6];
    if let (Goals::Quadratic, Some(q)) = (basis.goals, &basis.quadratic) {
        // Columns of Ã_pq, in widths and with the quadratic terms centred, times the inverse.
        let w = cluster.width.recip();
        let c = sums.covariance;
        let mut columns = [DVec3::ZERO; 9];
        columns[..3].copy_from_slice(&[c.x_axis * w, c.y_axis * w, c.z_axis * w]);
        for k in 0..6 {
            columns[3 + k] = sums.quadratic[k] - sums.first * q.mean[k];
        }
        let column = |j: usize| {
            let sum: DVec3 = columns.iter().zip(&q.inverse).map(|(c, row)| *c * row[j]).sum();
            sum / cluster.mass
        };
        let fitted = DMat3::from_cols(column(0), column(1), column(2)) * w;
        linear = fitted + rotation * basis.null;
        quadratic = std::array::from_fn(|k| column(3 + k));
    }
    // Volume is that of the linear part. Where it is flat, what gives it back would blow the rest up.
    let scale = beta * volume_scale(linear, controls.volume);
    quadratic.iter_mut().for_each(|q| *q *= beta);
    let mut fit = rigid;
    if two_step {
        // Deform first, then turn the result onto the points (deformer, §3.3). With P folded in, the
        // undeformed shape is P q.
        let deformed = linear * scale + *plastic * (1.0 - beta);
        let mut cross = sums.covariance * deformed.transpose();
        if let Some(basis) = &basis.quadratic {
            for k in 0..6 {
                let x = sums.quadratic[k] - sums.first * basis.mean[k];
                let g = quadratic[k];
                cross += DMat3::from_cols(x * g.x, x * g.y, x * g.z);
            }
        }
        let turn = nearest_rotation(cross, rotation);
        fit.linear = turn * deformed;
        fit.quadratic = quadratic.map(|q| turn * q);
    } else {
        fit.linear = linear * scale + stretched * (1.0 - beta);
        fit.quadratic = quadratic;
    }
    if let Some(basis) = &basis.quadratic {
        fit.offset = fit.quadratic.iter().zip(basis.mean).map(|(q, m)| *q * m).sum();
    }
    fit
}

/// The factor that gives a deformation `share` of its volume back, bounded so that nothing grows
/// beyond [`LARGEST_STRETCH`]. A shape turned inside out keeps its size as one that is not: that is
/// continuous where it is flat, and leaves it to the rotation to turn it back.
pub(super) fn volume_scale(a: DMat3, share: f64) -> f64 {
    if share == 0.0 {
        return 1.0;
    }
    let columns = [a.x_axis, a.y_axis, a.z_axis];
    let stretch = (columns.iter().map(|c| c.length_squared()).sum::<f64>() / 3.0).sqrt();
    // What has shrunk to a point has no shape to give a volume to.
    if !(SMALLEST_STRETCH..=f64::MAX).contains(&stretch) {
        return 1.0;
    }
    let most = (LARGEST_STRETCH / stretch).max(1.0);
    // In units of the stretch, where the determinant of anything is a number of its own size.
    let unit = (a * stretch.recip()).determinant().abs().cbrt() * stretch;
    unit.recip().min(most).powf(share)
}

/// What remains of a cluster's stretch: the part beyond the yield strain flows into the permanent
/// stretch P at the creep rate (`flow` of it in this substep), with volume and maximum kept
/// (Müller 2005, §4.3, with the excess flowing instead of all of it).
pub(super) fn flow(
    plastic: &DMat3,
    sums: &Sums,
    basis: &ClusterBasis,
    fit: &Fit,
    c: &BodyControls,
    flow: f64,
) -> DMat3 {
    let linear = best_linear(sums, basis, fit.rotation);
    // Stretch of the permanently deformed shape: A P⁻¹ = R S.
    let elastic = fit.rotation.transpose() * linear * plastic.inverse() - DMat3::IDENTITY;
    let strain = svd3(elastic).sigma.x;
    let hardened = c.yield_strain + c.hardening * svd3(*plastic - DMat3::IDENTITY).sigma.x;
    if !strain.is_finite() || strain <= hardened {
        return *plastic;
    }
    let share = flow * (1.0 - hardened / strain);
    bounded((DMat3::IDENTITY + elastic * share) * *plastic, c.plastic_limit)
}

/// The nearest stretch that keeps volume and stretches no direction beyond 1 + `most` or below its
/// inverse.
fn bounded(p: DMat3, most: f64) -> DMat3 {
    let s = svd3(p);
    // Logarithms: keeping volume is a sum of zero, and scaling all three keeps it so.
    let logs = s.sigma.max(DVec3::splat(1e-6)).map(f64::ln);
    let logs = logs - DVec3::splat(logs.element_sum() / 3.0);
    let largest = logs.abs().max_element();
    let limit = most.ln_1p();
    let logs = if largest > limit { logs * (limit / largest) } else { logs };
    // Only the stretch: what rotation it has picked up is no deformation.
    s.v * DMat3::from_diagonal(logs.map(f64::exp)) * s.v.transpose()
}
