//! What a group of triangles looks like from far away: the Taylor expansion of its solid angle to third order.
//!
//! The solid angle of a surface seen from p is ∫ n·G(x−p) dA with G(r) = r/|r|³. About a centre c, x = c + δ, it is
//! Gᵢ ∫nᵢ + Gᵢ,ⱼ ∫nᵢδⱼ + ½ Gᵢ,ⱼₖ ∫nᵢδⱼδₖ + … (Barill and others 2018, equation 11). Every derivative of G is
//! symmetric and without trace, so only those parts of the moments count, and with u = r/|r| what remains is
//! m·u/r² − 3 uᵀMu/r³ + 15 T(u,u,u)/r⁴.

use glam::{DMat3, DVec3};
use pliant_math::outer;

/// The moments in units of the group's radius, so that neither tiny nor huge meshes over- or underflow.
#[derive(Clone, Copy, Default)]
pub(super) struct Moments {
    first: DVec3,
    /// xx, yy, zz and 2 (xy, xz, yz), times −3.
    second: [DVec3; 2],
    /// Coefficients of x³, y³, z³; x²y, y²z, z²x; xy², yz², zx²; and xyz, times 15.
    third: [DVec3; 3],
    third_mixed: f64,
}

impl Moments {
    /// Of triangles about `center`, all within `radius`; nothing for a group too small to have an area.
    pub fn new(triangles: &[[DVec3; 3]], center: DVec3, radius: f64) -> Moments {
        if radius < 1e-140 {
            return Moments::default();
        }
        let mut first = DVec3::ZERO;
        let mut second = DMat3::ZERO;
        // Σ n × δδᵀ as three matrices, one for each component of n.
        let mut third = [DMat3::ZERO; 3];
        for t in triangles {
            let [a, b, c] = t.map(|q| (q - center) / radius);
            let normal = (b - a).cross(c - a) * 0.5;
            let sum = a + b + c;
            first += normal;
            second += outer(normal, sum / 3.0);
            // The mean of δδᵀ over a triangle, halved for the expansion.
            let mean = (outer(a, a) + outer(b, b) + outer(c, c) + outer(sum, sum)) * (1.0 / 24.0);
            for (axis, matrix) in third.iter_mut().enumerate() {
                *matrix += mean * normal[axis];
            }
        }
        let mut moments = Moments { first, ..Moments::default() };
        moments.set_second(second);
        moments.set_third(third);
        moments
    }

    fn set_second(&mut self, m: DMat3) {
        let at = |i: usize, j: usize| 0.5 * (m.col(j)[i] + m.col(i)[j]);
        let trace = (at(0, 0) + at(1, 1) + at(2, 2)) / 3.0;
        self.second = [
            DVec3::new(at(0, 0) - trace, at(1, 1) - trace, at(2, 2) - trace) * -3.0,
            DVec3::new(at(0, 1), at(0, 2), at(1, 2)) * -6.0,
        ];
    }

    fn set_third(&mut self, m: [DMat3; 3]) {
        let raw = |i: usize, j: usize, k: usize| m[i].col(j)[k];
        let symmetric = |i, j, k| (raw(i, j, k) + raw(j, i, k) + raw(k, i, j)) / 3.0;
        let trace = |k| symmetric(0, 0, k) + symmetric(1, 1, k) + symmetric(2, 2, k);
        // Without trace: T − (δᵢⱼ tₖ + δᵢₖ tⱼ + δⱼₖ tᵢ) / 5.
        let at = |i: usize, j: usize, k: usize| {
            let on = |same: bool, rest: usize| if same { trace(rest) } else { 0.0 };
            symmetric(i, j, k) - (on(i == j, k) + on(i == k, j) + on(j == k, i)) / 5.0
        };
        self.third = [
            DVec3::new(at(0, 0, 0), at(1, 1, 1), at(2, 2, 2)) * 15.0,
            DVec3::new(at(0, 0, 1), at(1, 1, 2), at(2, 2, 0)) * 45.0,
            DVec3::new(at(0, 1, 1), at(1, 2, 2), at(2, 0, 0)) * 45.0,
        ];
        self.third_mixed = at(0, 1, 2) * 90.0;
    }

    /// The solid angle seen from where the centre is in direction `u` (of length 1), at `s` radii to the distance.
    pub fn solid_angle(&self, u: DVec3, s: f64) -> f64 {
        let squares = u * u;
        let next = DVec3::new(u.y, u.z, u.x);
        let mixed = DVec3::new(u.x * u.y, u.x * u.z, u.y * u.z);
        let second = self.second[0].dot(squares) + self.second[1].dot(mixed);
        let third = self.third[0].dot(squares * u)
            + self.third[1].dot(squares * next)
            + self.third[2].dot(u * next * next)
            + self.third_mixed * u.x * mixed.z;
        s * s * (self.first.dot(u) + s * (second + s * third))
    }
}
