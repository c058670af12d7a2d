//! Shells: closed, consistently oriented pieces with their volumes, and which lie inside which.

use super::sides::{EdgeSides, WeldedFaces};
use super::topology::PieceNumbers;
use glam::DVec3;
use std::f64::consts::PI;

/// Work spent on what lies inside what, in comparisons of boxes: about a second.
const WORK: u64 = 600_000_000;
/// How many of these a solid angle is worth.
const ANGLE: u64 = 20;
/// Volumes below this share of the sum of all their parts' sizes are rounding.
const ROUNDING: f64 = 1e-9;

/// A closed piece.
pub(crate) struct Shell {
    pub piece: u32,
    /// Whether its volume is negative: its faces look inwards.
    pub inward: bool,
    lo: DVec3,
    hi: DVec3,
    /// A vertex of it.
    point: DVec3,
    triangles: std::ops::Range<usize>,
}

/// All closed pieces.
pub(crate) struct Shells {
    pub list: Vec<Shell>,
    /// The piece of each vertex.
    pub piece_of: Vec<u32>,
    /// Triangles, by shell.
    triangles: Vec<[u32; 3]>,
}

impl Shells {
    /// `triangles` name vertices as `around` does.
    pub fn new(around: &WeldedFaces<'_>, positions: &[DVec3], triangles: &[[u32; 3]]) -> Shells {
        let pieces = PieceNumbers::new(around, positions.len());
        let mut closed = vec![true; pieces.list.len()];
        for edge in EdgeSides::new(around, positions.len()).edges() {
            if edge.sides.len() != 2 || edge.inconsistent(around) {
                closed[pieces.of_vertices[edge.a as usize] as usize] = false;
            }
        }
        let piece_of = pieces.of_vertices;
        let mut own: Vec<(u32, u32)> = (0..triangles.len() as u32)
            .map(|t| (piece_of[triangles[t as usize][0] as usize], t))
            .filter(|&(piece, _)| closed.get(piece as usize).is_some_and(|&c| c))
            .collect();
        own.sort_unstable();
        let triangles: Vec<[u32; 3]> = own.iter().map(|&(_, t)| triangles[t as usize]).collect();
        let mut list = Vec::new();
        let mut start = 0;
        for group in own.chunk_by(|a, b| a.0 == b.0) {
            let range = start..start + group.len();
            start = range.end;
            let point = positions[triangles[range.start][0] as usize];
            let (mut lo, mut hi, mut six, mut size) = (point, point, 0.0, 0.0);
            for t in &triangles[range.clone()] {
                let corners = t.map(|v| positions[v as usize]);
                let [a, b, c] = corners.map(|p| p - point);
                let part = a.dot(b.cross(c));
                six += part;
                size += part.abs();
                lo = corners.into_iter().fold(lo, DVec3::min);
                hi = corners.into_iter().fold(hi, DVec3::max);
            }
            list.push(Shell {
                piece: group[0].0,
                inward: six < -ROUNDING * size,
                lo,
                hi,
                point,
                triangles: range,
            });
        }
        Shells { list, piece_of, triangles }
    }

    /// The shells that look inwards and lie in no other: inside-out, and no cavities.
    pub fn inside_out(&self, positions: &[DVec3]) -> Vec<usize> {
        let mut left = WORK;
        (0..self.list.len())
            .filter(|&i| self.list[i].inward)
            .filter(|&i| !(0..self.list.len()).any(|j| self.inside(i, j, positions, &mut left)))
            .collect()
    }

    /// The shells inside any of `outer`.
    pub fn within(&self, outer: &[usize], positions: &[DVec3]) -> Vec<usize> {
        let mut left = WORK;
        (0..self.list.len())
            .filter(|&i| outer.iter().any(|&j| self.inside(i, j, positions, &mut left)))
            .collect()
    }

    /// Whether shell i lies inside shell j; false once all work allowed is done.
    fn inside(&self, i: usize, j: usize, positions: &[DVec3], left: &mut u64) -> bool {
        let (inner, outer) = (&self.list[i], &self.list[j]);
        *left = left.saturating_sub(1);
        let fits = inner.lo.cmpge(outer.lo).all() && inner.hi.cmple(outer.hi).all();
        let triangles = &self.triangles[outer.triangles.clone()];
        if i == j || !fits || *left < ANGLE * triangles.len() as u64 {
            return false;
        }
        *left -= ANGLE * triangles.len() as u64;
        winding(positions, triangles, inner.point).abs() > 0.5
    }
}

/// How often triangles wind about a point.
pub(crate) fn winding(positions: &[DVec3], triangles: &[[u32; 3]], p: DVec3) -> f64 {
    triangles.iter().map(|t| solid_angle(t.map(|v| positions[v as usize] - p))).sum::<f64>() / (4.0 * PI)
}

/// Solid angle of a triangle seen from the origin (van Oosterom and Strackee 1983).
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let above = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    // In the plane of the triangle there is no telling; zero is half way between the two sides.
    if above == 0.0 { 0.0 } else { 2.0 * above.atan2(below) }
}
