//! Strain of edges: each edge wants its rest length, or a length within limits (projective-dynamics §5.1, curves).
//!
//! The potential of an edge of rest length L is ½ w ‖(xᵢ − xⱼ)/L − d‖² with d a vector of allowed length, so the
//! nearest point is along the edge's own direction. The weight w is the volume (solids), area (cloth) or
//! length (curves) the edge stands for: stiffness is then per volume, area or length and does not
//! change with resolution as a plain spring constant would. Lengths alone cannot tell a shape from
//! its mirror image.

use super::Properties;
use super::hessian::{full_hessian, length_hessian};
use super::simplex::{GradientSet, Simplices};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::Points;
use glam::{DMat3, DVec3};
use pliant_math::lanes::{Lanes, V3};

/// Edges that resist stretching and compression.
pub type EdgeStrain = Simplices<1, Lengths>;

/// Lengths, relative to the rest length, that edges may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Lengths {
    min: f64,
    max: f64,
    /// Directions at rest in packs of eight, for edges that have collapsed and show none; zero for two
    /// particles that rest on the same spot and simply want to be together.
    directions: Vec<[[f64; 8]; 3]>,
}

impl Lengths {
    fn new(min: f64, max: f64, directions: impl Iterator<Item = DVec3>) -> Lengths {
        let mut packs: Vec<[[f64; 8]; 3]> = Vec::new();
        for (e, d) in directions.enumerate() {
            if e % 8 == 0 {
                packs.push([[0.0; 8]; 3]);
            }
            (0..3).for_each(|axis| packs[e / 8][axis][e % 8] = d[axis]);
        }
        Lengths { min, max, directions: packs }
    }
}

impl EdgeStrain {
    /// Edges between particles at their rest positions, that want exactly their rest length; `measure` is
    /// what each edge stands for.
    pub fn lengths(edges: &[[u32; 2]], positions: &Points, measure: &[f64]) -> EdgeStrain {
        EdgeStrain::limited(edges, positions, measure, [1.0, 1.0])
    }

    /// Edges that may have `min` to `max` times their rest length.
    pub fn limited(
        edges: &[[u32; 2]],
        positions: &Points,
        measure: &[f64],
        [min, max]: [f64; 2],
    ) -> EdgeStrain {
        let edge = |&[i, j]: &[u32; 2]| positions.get(j as usize) - positions.get(i as usize);
        let set = Lengths::new(min, max, edges.iter().map(|e| edge(e).normalize_or_zero()));
        // An edge without length is measured in metres.
        let inverses: Vec<[[f64; 1]; 1]> = edges
            .iter()
            .map(|e| edge(e).length())
            .map(|length| [[if length > 0.0 { length.recip() } else { 1.0 }]])
            .collect();
        Simplices::from_parts(set, edges.as_flattened().to_vec(), &inverses, measure)
    }

    /// Shares the measure of each particle equally among its edges, so that the edges' measures sum
    /// to the body's.
    pub fn share_measure(edges: &[[u32; 2]], measure: &[f64]) -> Vec<f64> {
        let mut degree = vec![0u32; measure.len()];
        edges.iter().flatten().for_each(|&i| degree[i as usize] += 1);
        let part = |i: u32| measure[i as usize] / f64::from(degree[i as usize]);
        edges.iter().map(|&[i, j]| part(i) + part(j)).collect()
    }
}

/// Squared lengths below this count as collapsed: the direction would be mostly rounding.
const COLLAPSED: f64 = 1e-28;

impl Lengths {
    #[inline(always)]
    fn nearest<L: Lanes>(&self, l: L, pack: usize, f: V3<L>) -> V3<L> {
        let squared = l.dot(f, f);
        let collapsed = l.le(squared, l.splat(COLLAPSED));
        let inverse = l.rsqrt_wide(l.select(collapsed, l.splat(1.0), squared));
        let length = l.mul(squared, inverse);
        let wanted = l.min(l.max(length, l.splat(self.min)), l.splat(self.max));
        let mut t = l.scale(l.mul(inverse, wanted), f);
        if l.bits(collapsed) != 0 {
            // Any direction is nearest; the rest direction is one.
            let (wanted, rest) = (l.splat(self.min), &self.directions[pack]);
            for axis in 0..3 {
                t[axis] = l.select(collapsed, l.mul(wanted, l.load(&rest[axis])), t[axis]);
            }
        }
        t
    }
}

impl GradientSet<1> for Lengths {
    fn kind(&self) -> &'static str {
        "edge_strain"
    }

    fn properties(&self) -> Properties {
        let rest_is_free = self.min <= 1.0 && self.max >= 1.0;
        Properties { rigid_invariant: true, exact_nearest: true, rest_is_free, sees_reflection: false }
    }

    #[inline(always)]
    fn project<L: Lanes, const N: usize>(&self, l: L, first: usize, f: &[[V3<L>; 1]; N]) -> [[V3<L>; 1]; N] {
        let mut t = *f;
        for k in 0..N {
            t[k][0] = self.nearest(l, first + k, f[k][0]);
        }
        t
    }

    fn has_hessian(&self) -> bool {
        true
    }

    /// Along the edge the full curvature, across it what tension adds; none while the length is allowed.
    fn curvature(&self, _element: usize, f: [DVec3; 1], _t: [DVec3; 1], clamped: bool) -> [[DMat3; 1]; 1] {
        if f[0].length_squared() <= COLLAPSED {
            return full_hessian();
        }
        [[length_hessian(f[0], self.min, self.max, clamped)]]
    }

    fn subset(&self, elements: &[u32]) -> Option<Lengths> {
        let direction = |e: usize| self.directions[e / 8].map(|lanes| lanes[e % 8]);
        let each = elements.iter().map(|&e| DVec3::from_array(direction(e as usize)));
        Some(Lengths::new(self.min, self.max, each))
    }

    fn encode(&self, w: &mut Writer) {
        w.number(self.min);
        w.number(self.max);
        w.numbers(self.directions.as_flattened().as_flattened());
    }

    fn decode(r: &mut Reader<'_>, elements: usize) -> Result<Lengths, Truncated> {
        let (min, max, numbers) = (r.number()?, r.number()?, r.numbers()?);
        let directions: Vec<[[f64; 8]; 3]> = numbers.as_chunks::<8>().0.as_chunks::<3>().0.to_vec();
        let fits = directions.len() == elements.div_ceil(8) && numbers.len() == 24 * directions.len();
        if fits { Ok(Lengths { min, max, directions }) } else { Err(Truncated) }
    }

    fn strain(&self, f: [DVec3; 1]) -> f64 {
        (f[0].length() - 1.0).abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;

    fn points() -> Points {
        [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.5, 0.0), DVec3::new(0.1, 0.2, 2.0)].into_iter().collect()
    }

    #[test]
    fn conforms() {
        let (rest, edges) = (points(), [[0, 1], [1, 2], [0, 2], [0, 3], [2, 3]]);
        let measure = [1.0, 0.5, 2.0, 1.0, 3.0];
        conformance::check(&EdgeStrain::lengths(&edges, &rest, &measure), &rest).unwrap();
        conformance::check(&EdgeStrain::limited(&edges, &rest, &measure, [0.9, 1.2]), &rest).unwrap();
    }

    #[test]
    fn measures_add_up_to_the_body() {
        let edges = [[0, 1], [1, 2], [2, 0], [2, 3]];
        let shares = EdgeStrain::share_measure(&edges, &[1.0, 2.0, 3.0, 4.0]);
        assert!((shares.iter().sum::<f64>() - 10.0).abs() < 1e-12);
    }
}
