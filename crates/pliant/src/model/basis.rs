//! What least-squares fits of a cluster's deformation need of its rest shape.

use super::{ClusterRest, Goals};
use glam::{DMat3, DVec3};
use pliant_math::pseudo_inverse;

/// Eigenvalues below this part of the largest count as zero: the shape is flat or a line there. Goals
/// are only ever evaluated at the points that were fitted, where a least-squares fit is a projection
/// and cannot amplify anything, so the bound need only keep rounding out.
const FLAT: f64 = 1e-10;

/// The inverses of equations 5 and 6 of the deformer's report, for one cluster.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterBasis {
    /// What the body asks for, or the most the cluster's points determine.
    pub goals: Goals,
    /// (Σ m q qᵀ)⁺ over offsets q from the rest centre.
    pub inverse: DMat3,
    /// Projector onto the directions in which the shape has no extent.
    pub null: DMat3,
    /// What quadratic goals need beside the linear ones; `None` for others.
    pub quadratic: Option<Box<QuadraticBasis>>,
}

/// The 9×9 inverse of equation 6, in widths of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct QuadraticBasis {
    /// (Σ m q̃ q̃ᵀ)⁺ with the six quadratic terms centred.
    pub inverse: [[f64; 9]; 9],
    /// Their mass-weighted means. Left in, they would push the cluster along (Σ m q̃ ≠ 0).
    pub mean: [f64; 6],
}

/// The six quadratic terms x², y², z², xy, yz, zx.
#[inline(always)]
pub(crate) fn quadratic_terms(q: DVec3) -> [f64; 6] {
    [q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x]
}

impl ClusterBasis {
    /// Becomes the basis of members given as (mass, rest position), for the goals asked for, without
    /// allocating if it was one of the same goals.
    pub fn become_of<I: Iterator<Item = (f64, DVec3)>>(
        &mut self,
        members: impl Fn() -> I,
        cluster: &ClusterRest,
        wanted: Goals,
    ) {
        // In widths, so that linear and quadratic terms are of one size.
        let scale = if cluster.width > 0.0 { cluster.width.recip() } else { 0.0 };
        let offsets = || members().map(|(m, r)| (m / cluster.mass, (r - cluster.center) * scale));
        let mut gram = [[0.0; 3]; 3];
        for (m, q) in offsets() {
            let q = q.to_array();
            for (row, a) in gram.iter_mut().zip(q) {
                row.iter_mut().zip(q).for_each(|(e, b)| *e += m * a * b);
            }
        }
        let linear = pseudo_inverse(gram, FLAT);
        let inverse = DMat3::from_cols_array_2d(&linear.inverse) * (scale * scale / cluster.mass);
        let null = DMat3::from_cols_array_2d(&linear.null);
        let count = members().count();
        let quadratic = match wanted == Goals::Quadratic && count >= Goals::Quadratic.points() {
            true => quadratic_basis(offsets, linear.rank),
            false => None,
        };
        self.goals = match wanted {
            Goals::Quadratic if quadratic.is_some() => Goals::Quadratic,
            Goals::Quadratic | Goals::Linear if count >= Goals::Linear.points() && linear.rank > 0 => {
                Goals::Linear
            }
            _ => Goals::Rigid,
        };
        (self.inverse, self.null) = (inverse, null);
        match (&mut self.quadratic, quadratic) {
            (Some(old), Some(new)) => **old = new,
            (to, new) => *to = new.map(Box::new),
        }
    }
}

/// `None` where the points determine no quadratic term at all. Some they may well leave open, as a body
/// of two layers does with the square across them: of all fits that serve the points equally, the
/// pseudo-inverse takes the smallest.
fn quadratic_basis<I: Iterator<Item = (f64, DVec3)>>(
    offsets: impl Fn() -> I,
    dimensions: usize,
) -> Option<QuadraticBasis> {
    let mut mean = [0.0; 6];
    for (m, q) in offsets() {
        mean.iter_mut().zip(quadratic_terms(q)).for_each(|(e, t)| *e += m * t);
    }
    let mut gram = [[0.0; 9]; 9];
    for (m, q) in offsets() {
        let terms = quadratic_terms(q);
        let all: [f64; 9] =
            std::array::from_fn(|k| if k < 3 { q.to_array()[k] } else { terms[k - 3] - mean[k - 3] });
        for (row, a) in gram.iter_mut().zip(all) {
            row.iter_mut().zip(all).for_each(|(e, b)| *e += m * a * b);
        }
    }
    let p = pseudo_inverse(gram, FLAT);
    (dimensions > 0 && p.rank > dimensions).then_some(QuadraticBasis { inverse: p.inverse, mean })
}
