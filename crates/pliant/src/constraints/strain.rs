//! Strain of tetrahedra and triangles: each wants to be a rigidly moved copy of its rest shape.
//!
//! The set is SO(3), for triangles the 3×2 matrices with orthonormal columns (projective-dynamics, eq. 15
//! with M = SO(3): the deformation model of Chao et al. 2010). With weights of 2μ times volume it agrees
//! with linear elasticity of λ = 0 for small strain.

use super::Properties;
use super::hessian::{full_curvature, outer};
use super::simplex::{GradientSet, Simplices};
use crate::bytes::{Reader, Truncated, Writer};
use glam::{DMat3, DVec3};
use pliant_math::lanes::{Lanes, V3, rotations8};
use pliant_math::{nearest_rotation, svd3};

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
    fn project8<L: Lanes>(&self, l: L, _pack: usize, f: [V3<L>; 3]) -> [V3<L>; 3] {
        let (r, trusted) = rotations8(l, &f);
        if l.bits(trusted) == 0xff {
            return r;
        }
        by_hand(l, f, r, l.bits(trusted))
    }

    /// 1 − dR/dF: turning a pair of axes against each other is the only thing R follows, and it follows
    /// 2/(σᵢ + σⱼ) of it (Chao et al. 2010; the twist modes of Smith et al. 2019).
    fn curvature(&self, _element: usize, f: [DVec3; 3]) -> [[DMat3; 3]; 3] {
        let mut h = full_curvature();
        let s = svd3(DMat3::from_cols(f[0], f[1], f[2]));
        // A reflection is undone in the weakest direction, as the projection does.
        let hand = (s.u.determinant() * s.v.determinant()).signum();
        let sigma = [s.sigma.x, s.sigma.y, s.sigma.z * hand];
        let u = [s.u.x_axis, s.u.y_axis, s.u.z_axis * hand];
        let v = [s.v.x_axis, s.v.y_axis, s.v.z_axis];
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            let sum = sigma[i] + sigma[j];
            let follows = if sum > 2.0 { 2.0 / sum } else { 1.0 };
            let twist = (outer(u[i], v[j]) - outer(u[j], v[i])) * std::f64::consts::FRAC_1_SQRT_2;
            for (d, row) in h.iter_mut().enumerate() {
                for (e, block) in row.iter_mut().enumerate() {
                    *block -= outer(twist.col(d), twist.col(e)) * follows;
                }
            }
        }
        h
    }

    fn chosen(&self, _elements: &[u32]) -> Option<Rotations> {
        Some(Rotations)
    }

    fn encode(&self, _w: &mut Writer) {}

    fn decode(_r: &mut Reader<'_>, _elements: usize) -> Result<Self, Truncated> {
        Ok(Rotations)
    }

    fn strain(&self, f: [DVec3; 3]) -> f64 {
        let sigma = svd3(DMat3::from_cols(f[0], f[1], f[2])).sigma;
        (sigma - DVec3::ONE).abs().max_element()
    }
}

/// Rotations of the lanes that are not `trusted`: reflected, flat, collapsed.
#[inline(never)]
fn by_hand<L: Lanes>(l: L, f: [V3<L>; 3], r: [V3<L>; 3], trusted: u8) -> [V3<L>; 3] {
    let (mut from, mut to) = ([[[0.0; 8]; 3]; 3], [[[0.0; 8]; 3]; 3]);
    for column in 0..3 {
        for axis in 0..3 {
            l.store(f[column][axis], &mut from[column][axis]);
            l.store(r[column][axis], &mut to[column][axis]);
        }
    }
    for lane in (0..8).filter(|lane| trusted & (1 << lane) == 0) {
        let column =
            |m: &[[[f64; 8]; 3]; 3], c: usize| DVec3::new(m[c][0][lane], m[c][1][lane], m[c][2][lane]);
        let f = DMat3::from_cols(column(&from, 0), column(&from, 1), column(&from, 2));
        let r = nearest_rotation(f, DMat3::IDENTITY).to_cols_array_2d();
        for (to, r) in to.iter_mut().zip(r) {
            to.iter_mut().zip(r).for_each(|(lanes, v)| lanes[lane] = v);
        }
    }
    let mut all = r;
    for (all, to) in all.iter_mut().zip(&to) {
        for (lanes, v) in all.iter_mut().zip(to) {
            *lanes = l.load(v);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;
    use crate::points::Points;

    #[test]
    fn tetrahedra_conform() {
        let rest: Points = [
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(0.2, 1.5, 0.0),
            DVec3::new(0.1, 0.2, 2.0),
            DVec3::new(1.0, 1.0, 1.5),
        ]
        .into_iter()
        .collect();
        let batch =
            TetrahedronStrain::new(Rotations, &[[0, 1, 2, 3], [1, 2, 3, 4]], &rest, &[0.5, 0.3], None)
                .unwrap();
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
