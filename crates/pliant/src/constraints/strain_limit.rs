//! Limits on strain: tetrahedra and triangles want all their stretches between two bounds.
//!
//! The set of gradients whose singular values are in [σmin, σmax] (projective-dynamics, eqs. 15 and 23). Within
//! the bounds there is no force at all; a stiff limit over soft strain is the material that stiffens when
//! stretched, which the paper describes in §7.1.

use super::limits::limited_set;
use super::simplex::GradientSet;
use super::strain::stretches;
use super::stretches::{curvature2, curvature3, limit_slopes};
use super::{Limits, Properties};
use crate::bytes::{Reader, Truncated, Writer};
use glam::{DMat3, DVec3};
use pliant_math::lanes::projections::limit_strain;
use pliant_math::lanes::projections32::limit_strain32;
use pliant_math::lanes::{Lanes, V3};

/// Stretches between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimits(pub Limits);

limited_set!(
    StrainLimits,
    ["tetrahedron_limits", "triangle_limits"],
    limit_strain,
    limit_strain32,
    limit_slopes,
    |stretches: &[f64]| stretches.iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max)
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conform() {
        crate::constraints::limits::tests::conform(StrainLimits);
    }
}
