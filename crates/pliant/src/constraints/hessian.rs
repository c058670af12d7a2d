//! Second derivatives, for Newton's method.
//!
//! Where the nearest point moves with q, the Hessian of ½ w ‖A q − p(q)‖² is w Aᵀ(1 − ∂p/∂(Aq))A: less than the w AᵀA
//! that projective dynamics takes for it. Turning costs less than the matrix says, which is what makes its steps
//! short. Newton's method wants the difference. Compressed elements have negative curvature; the sum over all
//! elements with inertia is mostly positive definite all the same. Where it is not, Newton's method asks for
//! elements without negative curvature (as in Teran et al. 2005 and Smith et al. 2019).

use super::simplex::{GradientSet, Simplices};
use super::{ConstraintBatch, View};
use glam::{DMat3, DVec3};
use pliant_math::eigen_symmetric;
use pliant_math::lanes::Isa;
use pliant_math::{cross_matrix, outer};

/// Columns from this value on are inner unknowns of a batch's Hessian, counted from zero.
pub const INNER: u32 = 3 << 30;

/// Where a Hessian is wanted, and how.
#[derive(Clone, Copy, Debug)]
pub struct HessianAt<'a> {
    /// Positions, and what was computed from them.
    pub view: View<'a>,
    /// Without negative curvature.
    pub clamped: bool,
    /// What projections run on.
    pub isa: Isa,
}

/// A batch that knows the Hessian of its energy, as a sum over stencils. Batches without it are given w AᵀA, an upper
/// bound.
///
/// Where the nearest points y of many particles hang together the Hessian is a full matrix. It is sparse with y as
/// *inner* unknowns over which the energy is minimal: stencils may refer to them, and they are eliminated with the
/// rest of the system. A function of them that is held constant, or has an energy, is a border of the matrix.
pub trait ElementHessian: Send + Sync {
    /// Number of stencils.
    fn stencils(&self) -> usize;

    /// Columns of a stencil.
    fn width(&self, stencil: usize) -> usize;

    /// Column number k of a stencil: a particle, or from [`INNER`] on an inner unknown.
    fn column(&self, stencil: usize, k: usize) -> u32;

    /// The Hessian of a stencil's energy: the 3×3 blocks (a, b) of columns b ≤ a, row after row.
    fn hessian(&self, stencil: usize, at: HessianAt<'_>, blocks: &mut [DMat3]);

    /// Number of inner unknowns, of three coordinates each.
    fn inner(&self) -> usize {
        0
    }

    /// A function V of the inner unknowns: its gradient g is written, and s returned if the energy is steeper by
    /// g gᵀ/s than the stencils say; s = 0 holds V constant.
    fn border(&self, _at: HessianAt<'_>, _gradient: &mut [DVec3]) -> Option<f64> {
        None
    }

    /// Particles and weights a, if the batch has one auxiliary unknown c that the energy knows only as
    /// ½ Σa ‖c − mean‖². Stencils leave it out.
    fn mean(&self) -> Option<(&[u32], &[f64])> {
        None
    }
}

impl<const D: usize, S: GradientSet<D>> ElementHessian for Simplices<D, S> {
    fn stencils(&self) -> usize {
        self.rows().elements()
    }

    fn width(&self, _stencil: usize) -> usize {
        D + 1
    }

    fn column(&self, stencil: usize, k: usize) -> u32 {
        self.corners_of(stencil)[k]
    }

    fn hessian(&self, stencil: usize, at: HessianAt<'_>, blocks: &mut [DMat3]) {
        let f = self.gradient(stencil, at.view.x);
        let t = self.nearest(stencil, f, at.isa);
        let curvature = self.set().curvature(stencil, f, t, at.clamped);
        let rows = self.rows();
        let weight = rows.weights()[stencil * D];
        let mut c = [[0.0; 4]; D];
        for (d, c) in c.iter_mut().enumerate() {
            rows.row(stencil * D + d).zip(c).for_each(|((_, a), c)| *c = a);
        }
        let pairs = (0..=D).flat_map(|a| (0..=a).map(move |b| (a, b)));
        for (block, (a, b)) in blocks.iter_mut().zip(pairs) {
            *block = DMat3::ZERO;
            for (row, ca) in curvature.iter().zip(&c) {
                for (part, cb) in row.iter().zip(&c) {
                    *block += *part * (weight * ca[a] * cb[b]);
                }
            }
        }
    }
}

/// The second derivative of ½ ‖F‖², block by block of columns: what every curvature is at most.
pub fn full_hessian<const D: usize>() -> [[DMat3; D]; D] {
    std::array::from_fn(|d| std::array::from_fn(|e| if d == e { DMat3::IDENTITY } else { DMat3::ZERO }))
}

/// The second derivative of ½ ‖v − p‖² with p the nearest vector of a length within bounds: along v all of it,
/// across v what tension adds; nothing where v may have its length.
pub(super) fn length_hessian(v: DVec3, low: f64, high: f64, clamped: bool) -> DMat3 {
    let length = v.length();
    if high == 0.0 || length <= 1e-14 * low.max(1e-276) || !length.is_finite() {
        return DMat3::IDENTITY;
    }
    if low < length && length < high {
        return DMat3::ZERO;
    }
    let along = v / length;
    let tension = 1.0 - length.clamp(low, high) / length;
    let radial = outer(along, along);
    radial + (DMat3::IDENTITY - radial) * if clamped { tension.max(0.0) } else { tension }
}

/// The second derivative of ½ Σ ‖f_k − R r_k‖² with R the best-fit rotation of the rest vectors r.
///
/// R turns by ω = K⁻¹ Σ r × Rᵀδf with K = tr(S) − S, where R S is the covariance Σ f rᵀ; what it follows is lost.
pub(super) fn frame_hessian(f: [DVec3; 3], rest: [DVec3; 3], turn: DMat3, clamped: bool) -> [[DMat3; 3]; 3] {
    let covariance = outer(f[0], rest[0]) + outer(f[1], rest[1]) + outer(f[2], rest[2]);
    let s = turn.transpose() * covariance;
    let s = (s + s.transpose()) * 0.5;
    let trace = s.x_axis.x + s.y_axis.y + s.z_axis.z;
    let inverse = (DMat3::from_diagonal(DVec3::splat(trace)) - s).inverse();
    let mut h = full_hessian();
    if !inverse.is_finite() {
        return h;
    }
    let follow = rest.map(|r| cross_matrix(r) * turn.transpose());
    for (k, row) in h.iter_mut().enumerate() {
        for (l, block) in row.iter_mut().enumerate() {
            *block -= follow[k].transpose() * inverse * follow[l];
        }
    }
    if clamped { clamp(&h) } else { h }
}

/// The nearest matrix without negative eigenvalues.
fn clamp(h: &[[DMat3; 3]; 3]) -> [[DMat3; 3]; 3] {
    let entry = |i: usize, j: usize| h[i / 3][j / 3].col(j % 3)[i % 3];
    let (values, vectors) = eigen_symmetric::<9>(std::array::from_fn(|i| {
        std::array::from_fn(|j| 0.5 * (entry(i, j) + entry(j, i)))
    }));
    let mut out = [[DMat3::ZERO; 3]; 3];
    for (value, v) in values.iter().zip(&vectors).filter(|(value, _)| **value > 0.0) {
        let part = |k: usize| DVec3::new(v[3 * k], v[3 * k + 1], v[3 * k + 2]);
        for (k, row) in out.iter_mut().enumerate() {
            for (l, block) in row.iter_mut().enumerate() {
                *block += outer(part(k), part(l)) * *value;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests;
