//! Limits on strain: tetrahedra and triangles want all their stretches between two bounds.
//!
//! The set of gradients whose singular values are in [σmin, σmax] (projective-dynamics, eqs. 15 and 23). Within
//! the bounds there is no force at all; a stiff limit over soft strain is the material that stiffens when
//! stretched, which the paper describes in §7.1.

use super::simplex::{GradientSet, Simplices};
use super::strain::stretches;
use super::{Limits, Properties};
use crate::bytes::{Reader, Truncated, Writer};
use glam::DVec3;
use pliant_math::lanes::projections::limit_strain;
use pliant_math::lanes::projections32::limit_strain32;
use pliant_math::lanes::{Lanes, V3};

/// Tetrahedra with bounded stretches.
pub type TetrahedronLimits = Simplices<3, StrainLimits>;
/// Triangles with bounded stretches.
pub type TriangleLimits = Simplices<2, StrainLimits>;

/// Stretches between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrainLimits(pub Limits);

impl GradientSet<3> for StrainLimits {
    fn kind(&self) -> &'static str {
        "tetrahedron_limits"
    }

    fn properties(&self) -> Properties {
        Properties { sees_reflection: true, ..self.0.properties() }
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 3]; N]) -> [[V3<L>; 3]; N] {
        limit_strain(l, f, &[l.splat(self.0.min); N], &[l.splat(self.0.max); N])
    }

    fn encode(&self, w: &mut Writer) {
        self.0.encode(w);
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Limits::decode(r).map(StrainLimits)
    }

    fn strain(&self, f: [DVec3; 3]) -> f64 {
        stretches(f).into_iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max)
    }
}

impl GradientSet<2> for StrainLimits {
    fn kind(&self) -> &'static str {
        "triangle_limits"
    }

    fn properties(&self) -> Properties {
        self.0.properties()
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 2]; N]) -> [[V3<L>; 2]; N] {
        let (min, max) = (l.splat(self.0.min), l.splat(self.0.max));
        let mut t = *f;
        for k in 0..N {
            t[k] = limit_strain32(l, &f[k], min, max);
        }
        t
    }

    fn encode(&self, w: &mut Writer) {
        self.0.encode(w);
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Limits::decode(r).map(StrainLimits)
    }

    fn strain(&self, f: [DVec3; 2]) -> f64 {
        stretches(f).into_iter().map(|s| (s - 1.0).abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;
    use crate::constraints::simplex::tests::{tetrahedra, triangles};

    #[test]
    fn conform() {
        for limits in [[1.0, 1.0], [0.9, 1.1], [0.0, 1.5], [1.0, f64::INFINITY], [1.2, 1.4]] {
            let set = StrainLimits(Limits::new(limits));
            let (rest, elements) = tetrahedra();
            let batch = Simplices::<3, _>::new(set, &elements, &rest, &[0.5, 0.3], None).unwrap();
            conformance::check(&batch, &rest).unwrap_or_else(|e| panic!("tetrahedra, {limits:?}: {e:?}"));
            let (rest, elements) = triangles();
            let batch = Simplices::<2, _>::new(set, &elements, &rest, &[0.5, 0.3], None).unwrap();
            conformance::check(&batch, &rest).unwrap_or_else(|e| panic!("triangles, {limits:?}: {e:?}"));
        }
    }
}
