//! Fibres: tetrahedra and triangles that resist stretch along one direction only.
//!
//! The set of gradients that stretch the unit vector d to a length within limits, and do anything else they
//! like: muscle fibres, or warp and weft of a weave as two batches (the anisotropic extension
//! projective-dynamics §5.1 points to).

use super::hessian::length_hessian;
use super::simplex::GradientSet;
use super::{Limits, Properties};
use crate::bytes::{Reader, Truncated, Writer};
use glam::{DMat3, DVec3};
use pliant_math::lanes::projections::limit_fibre;
use pliant_math::lanes::projections32::limit_fibre32;
use pliant_math::lanes::{Lanes, V3};

/// Stretch along a direction between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fibres {
    direction: DVec3,
    limits: Limits,
}

impl Fibres {
    /// Fibres along a direction of the rest shape.
    pub fn new(direction: impl Into<DVec3>, limits: Limits) -> Fibres {
        Fibres { direction: direction.into().normalize_or(DVec3::X), limits }
    }

    fn to_bytes(self, w: &mut Writer) {
        self.direction.to_array().into_iter().for_each(|v| w.number(v));
        self.limits.encode(w);
    }

    fn from_bytes(r: &mut Reader<'_>) -> Result<Fibres, Truncated> {
        let direction = DVec3::new(r.number()?, r.number()?, r.number()?);
        Ok(Fibres { direction, limits: Limits::decode(r)? })
    }
}

/// The curvature of a fibre F·d, as one of F.
fn along<const D: usize>(fibre: DVec3, d: [f64; D], limits: Limits, clamped: bool) -> [[DMat3; D]; D] {
    let h = length_hessian(fibre, limits.min, limits.max, clamped);
    d.map(|a| d.map(|b| h * (a * b)))
}

impl GradientSet<3> for Fibres {
    fn kind(&self) -> &'static str {
        "tetrahedron_fibres"
    }

    fn properties(&self) -> Properties {
        self.limits.properties()
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 3]; N]) -> [[V3<L>; 3]; N] {
        let d = [l.splat(self.direction.x), l.splat(self.direction.y), l.splat(self.direction.z)];
        let mut t = *f;
        for k in 0..N {
            t[k] = limit_fibre(l, &f[k], d, l.splat(self.limits.min), l.splat(self.limits.max));
        }
        t
    }

    fn has_hessian(&self) -> bool {
        true
    }

    fn curvature(&self, _element: usize, f: [DVec3; 3], _t: [DVec3; 3], clamped: bool) -> [[DMat3; 3]; 3] {
        let d = self.direction.to_array();
        along(f[0] * d[0] + f[1] * d[1] + f[2] * d[2], d, self.limits, clamped)
    }

    fn encode(&self, w: &mut Writer) {
        self.to_bytes(w);
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Fibres::from_bytes(r)
    }

    fn strain(&self, f: [DVec3; 3]) -> f64 {
        let d = self.direction;
        ((f[0] * d.x + f[1] * d.y + f[2] * d.z).length() - 1.0).abs()
    }
}

impl GradientSet<2> for Fibres {
    fn kind(&self) -> &'static str {
        "triangle_fibres"
    }

    fn properties(&self) -> Properties {
        self.limits.properties()
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, _: usize, f: &[[V3<L>; 2]; N]) -> [[V3<L>; 2]; N] {
        let d = [l.splat(1.0), l.splat(0.0)];
        let mut t = *f;
        for k in 0..N {
            t[k] = limit_fibre32(l, &f[k], d, l.splat(self.limits.min), l.splat(self.limits.max));
        }
        t
    }

    fn has_hessian(&self) -> bool {
        true
    }

    fn curvature(&self, _element: usize, f: [DVec3; 2], _t: [DVec3; 2], clamped: bool) -> [[DMat3; 2]; 2] {
        let d = [1.0, 0.0];
        along(f[0], d, self.limits, clamped)
    }

    fn encode(&self, w: &mut Writer) {
        self.to_bytes(w);
    }

    fn decode(r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Fibres::from_bytes(r)
    }

    fn strain(&self, f: [DVec3; 2]) -> f64 {
        (f[0].length() - 1.0).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::Simplices;
    use crate::constraints::conformance;
    use crate::constraints::simplex::tests::{tetrahedra, triangles};

    #[test]
    fn conform() {
        let set = Fibres::new(DVec3::new(1.0, 2.0, 0.5), Limits::new([0.9, 1.1]));
        let (rest, elements) = tetrahedra();
        let batch = Simplices::<3, Fibres>::new(set, &elements, &rest, &[0.5, 0.3], None).unwrap();
        conformance::check(&batch, &rest).unwrap();
        let (rest, elements) = triangles();
        let batch =
            Simplices::<2, Fibres>::new(set, &elements, &rest, &[0.5, 0.3], Some(set.direction)).unwrap();
        conformance::check(&batch, &rest).unwrap();
    }

    #[test]
    fn only_the_fibre_resists() {
        let (rest, elements) = triangles();
        let set = Fibres::new(DVec3::X, Limits::new([1.0, 1.0]));
        let batch = Simplices::<2, Fibres>::new(set, &elements[..1], &rest, &[1.0], Some(DVec3::X)).unwrap();
        let energy = |scale: DVec3| {
            let x = rest.iter().map(|p| p * scale).collect();
            let view = crate::constraints::View { x: &x, state: &[], shared: &[], targets: &[] };
            crate::constraints::ConstraintBatch::energy(&batch, view)
        };
        assert!(energy(DVec3::new(1.0, 2.0, 1.0)) < 1e-20);
        assert!((energy(DVec3::new(1.5, 1.0, 1.0)) - 0.125).abs() < 1e-12);
    }
}
