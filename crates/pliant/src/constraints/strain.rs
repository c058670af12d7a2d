//! Strain of tetrahedra and triangles: each wants to be a rigidly moved copy of its rest shape.
//!
//! The set is SO(3), for triangles the 3×2 matrices with orthonormal columns (projective-dynamics, eq. 15
//! with M = SO(3): the deformation model of Chao et al. 2010). With weights of 2μ times volume it agrees
//! with linear elasticity of λ = 0 for small strain.

use super::Properties;
use super::simplex::{GradientSet, Simplices};
use super::stretches::{curvature2, curvature3, rigid_slopes};
use crate::bytes::{Reader, Truncated, Writer};
use glam::{DMat3, DVec3};
use pliant_math::lanes::projections::rotation;
use pliant_math::lanes::projections32::rotation32;
use pliant_math::lanes::{Lanes, V3};
use pliant_math::svd3;

/// Tetrahedra that resist every deformation.
pub type TetrahedronStrain = Simplices<3, Rotations>;
/// The gradients of rigid motions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rotations;

impl GradientSet<3> for Rotations {
    fn kind(&self) -> &'static str {
        "tetrahedron_strain"
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: true, exact_nearest: true, rest_is_free: true, sees_reflection: true }
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 3]; N]) -> [[V3<L>; 3]; N] {
        rotation(l, f)
    }

    fn has_hessian(&self) -> bool {
        true
    }

    /// 1 − dR/dF: turning a pair of axes against each other is the only thing R follows, and it follows
    /// 2/(σᵢ + σⱼ) of it (Chao et al. 2010; the twist modes of Smith et al. 2019).
    fn curvature(&self, _element: usize, f: [DVec3; 3], t: [DVec3; 3], clamped: bool) -> [[DMat3; 3]; 3] {
        curvature3(f, t, (rigid_slopes, true), clamped)
    }

    fn subset(&self, _elements: &[u32]) -> Option<Rotations> {
        Some(Rotations)
    }

    fn encode(&self, _w: &mut Writer) {}

    fn decode(_r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Ok(Rotations)
    }

    fn strain(&self, f: [DVec3; 3]) -> f64 {
        stretches(f).into_iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max)
    }
}

impl GradientSet<2> for Rotations {
    fn kind(&self) -> &'static str {
        "triangle_strain"
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: true, exact_nearest: true, rest_is_free: true, sees_reflection: false }
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 2]; N]) -> [[V3<L>; 2]; N] {
        let mut t = *f;
        for k in 0..N {
            t[k] = rotation32(l, &f[k]);
        }
        t
    }

    fn has_hessian(&self) -> bool {
        true
    }

    /// As of tetrahedra, and R follows 1/σᵢ of a tilt out of the plane.
    fn curvature(&self, _element: usize, f: [DVec3; 2], t: [DVec3; 2], clamped: bool) -> [[DMat3; 2]; 2] {
        curvature2(f, t, (rigid_slopes, true), clamped)
    }

    fn encode(&self, _w: &mut Writer) {}

    fn decode(_r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Ok(Rotations)
    }

    fn strain(&self, f: [DVec3; 2]) -> f64 {
        stretches(f).into_iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max)
    }
}

/// The singular values of a gradient, the largest first.
pub(super) fn stretches<const D: usize>(f: [DVec3; D]) -> [f64; D] {
    let mut columns = [DVec3::ZERO; 3];
    columns[..D].copy_from_slice(&f);
    let sigma = svd3(DMat3::from_cols(columns[0], columns[1], columns[2])).sigma.to_array();
    std::array::from_fn(|k| sigma[k])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;
    use crate::constraints::simplex::tests::{tetrahedra, triangles};
    use crate::points::Points;

    #[test]
    fn tetrahedra_conform() {
        let (rest, elements) = tetrahedra();
        let batch = TetrahedronStrain::new(Rotations, &elements, &rest, &[0.5, 0.3], None).unwrap();
        conformance::check(&batch, &rest).unwrap();
    }

    #[test]
    fn triangles_conform() {
        let (rest, elements) = triangles();
        let batch = Simplices::<2, Rotations>::new(Rotations, &elements, &rest, &[0.5, 0.3], None).unwrap();
        conformance::check(&batch, &rest).unwrap();
    }

    #[test]
    fn flat_and_inverted_tetrahedra_are_named() {
        let rest: Points =
            [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, DVec3::ONE - DVec3::Z].into_iter().collect();
        let elements = [[0, 1, 2, 3], [0, 2, 1, 3], [0, 1, 2, 4]];
        let refused = TetrahedronStrain::new(Rotations, &elements, &rest, &[1.0; 3], None);
        assert_eq!(refused.unwrap_err(), [1, 2]);
    }
}
