//! Volume of tetrahedra and area of triangles, between two bounds.
//!
//! The set of gradients whose determinant (product of stretches) is in [σmin, σmax] (projective-dynamics §5.2,
//! eqs. 24 and 25). With both bounds one and a weight of 3λ it is the volumetric part of linear elasticity.

use super::simplex::{GradientSet, Simplices};
use super::strain::stretches;
use super::{Limits, Properties};
use crate::bytes::{Reader, Truncated, Writer};
use glam::DVec3;
use pliant_math::lanes::projections::limit_volume;
use pliant_math::lanes::projections32::limit_area32;
use pliant_math::lanes::{Lanes, V3};

/// Tetrahedra with bounded volume.
pub type TetrahedronVolume = Simplices<3, VolumeLimits>;
/// Triangles with bounded area.
pub type TriangleArea = Simplices<2, VolumeLimits>;

/// Volume or area, relative to that at rest, between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeLimits(pub Limits);

impl GradientSet<3> for VolumeLimits {
    fn kind(&self) -> &'static str {
        "tetrahedron_volume"
    }

    fn properties(&self) -> Properties {
        Properties { sees_reflection: true, ..self.0.properties() }
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 3]; N]) -> [[V3<L>; 3]; N] {
        limit_volume(l, f, &[l.splat(self.0.min); N], &[l.splat(self.0.max); N])
    }

    fn encode(&self, w: &mut Writer) {
        self.0.encode(w);
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Limits::decode(r).map(VolumeLimits)
    }

    fn strain(&self, f: [DVec3; 3]) -> f64 {
        (stretches(f).into_iter().product::<f64>() - 1.0).abs()
    }
}

impl GradientSet<2> for VolumeLimits {
    fn kind(&self) -> &'static str {
        "triangle_area"
    }

    fn properties(&self) -> Properties {
        self.0.properties()
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 2]; N]) -> [[V3<L>; 2]; N] {
        let (min, max) = (l.splat(self.0.min), l.splat(self.0.max));
        let mut t = *f;
        for k in 0..N {
            t[k] = limit_area32(l, &f[k], min, max);
        }
        t
    }

    fn encode(&self, w: &mut Writer) {
        self.0.encode(w);
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Limits::decode(r).map(VolumeLimits)
    }

    fn strain(&self, f: [DVec3; 2]) -> f64 {
        (stretches(f).into_iter().product::<f64>() - 1.0).abs()
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
            let set = VolumeLimits(Limits::new(limits));
            let (rest, elements) = tetrahedra();
            let batch = Simplices::<3, _>::new(set, &elements, &rest, &[0.5, 0.3], None).unwrap();
            conformance::check(&batch, &rest).unwrap_or_else(|e| panic!("tetrahedra, {limits:?}: {e:?}"));
            let (rest, elements) = triangles();
            let batch = Simplices::<2, _>::new(set, &elements, &rest, &[0.5, 0.3], None).unwrap();
            conformance::check(&batch, &rest).unwrap_or_else(|e| panic!("triangles, {limits:?}: {e:?}"));
        }
    }
}
