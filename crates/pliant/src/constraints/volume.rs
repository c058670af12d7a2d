//! Volume of tetrahedra and area of triangles, between two bounds.
//!
//! The set of gradients whose determinant (product of stretches) is in [σmin, σmax] (projective-dynamics §5.2,
//! eqs. 24 and 25). With both bounds one and a weight of 3λ it is the volumetric part of linear elasticity.

use super::limits::limited_set;
use super::simplex::GradientSet;
use super::strain::stretches;
use super::stretches::{curvature2, curvature3, product_slopes};
use super::{Limits, Properties};
use crate::bytes::{Reader, Truncated, Writer};
use glam::{DMat3, DVec3};
use pliant_math::lanes::projections::limit_volume;
use pliant_math::lanes::projections32::limit_area32;
use pliant_math::lanes::{Lanes, V3};

/// Volume or area, relative to that at rest, between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeLimits(pub Limits);

limited_set!(
    VolumeLimits,
    ["tetrahedron_volume", "triangle_area"],
    limit_volume,
    limit_area32,
    product_slopes,
    |stretches: &[f64]| (stretches.iter().product::<f64>() - 1.0).abs()
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conform() {
        crate::constraints::limits::tests::conform(VolumeLimits);
    }
}
