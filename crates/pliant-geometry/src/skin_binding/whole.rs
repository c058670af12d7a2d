//! The body as a whole: it carries what the particles around a vertex cannot reach.
//!
//! A whisker that stands far out of its body would either swing wildly on the few particles at its root or, held
//! back, shrink into the body. What is left after holding back moves with the best affine fit of all particles
//! that are joined together: smooth, hardly felt by any single particle, and exact for affine motions.

use crate::disjoint_sets::DisjointSets;
use crate::eigen::symmetric_eigen;
use crate::rows::SparseRows;
use glam::{DMat3, DVec3};

/// A left-over smaller than this share of the body is rounding.
const ROUNDING: f64 = 1e-9;
/// A direction in which a piece spreads less than this share (squared) of its widest has none.
const FLAT: f64 = 1e-6;

/// The pieces of a body and their best affine fits.
pub(crate) struct WholeBody<'a> {
    points: &'a [DVec3],
    /// The piece of each particle.
    piece: Vec<u32>,
    /// Particles by piece.
    order: Vec<u32>,
    /// The first handle of each piece: the images of x, y and z.
    first: Vec<Option<u32>>,
    size: f64,
}

impl<'a> WholeBody<'a> {
    /// Pieces are held together by `edges`; without any, all is one.
    pub fn new(points: &'a [DVec3], edges: Option<&[[u32; 2]]>) -> WholeBody<'a> {
        let piece = match edges {
            Some(edges) => pieces(points.len(), edges),
            None => vec![0; points.len()],
        };
        let (lo, hi) = crate::TriMesh::bounds(points).unwrap_or_default();
        let count = piece.iter().max().map_or(0, |&p| p as usize + 1);
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.sort_by_key(|&i| piece[i as usize]);
        WholeBody { points, piece, order, first: vec![None; count], size: lo.distance(hi) }
    }

    /// Entries that carry `left` along with the piece of a particle; handles not there yet are appended.
    pub fn carry(&mut self, particle: u32, left: DVec3, handles: &mut SparseRows) -> Vec<(u32, f64)> {
        if left.length() <= ROUNDING * self.size || !left.is_finite() {
            return Vec::new();
        }
        let piece = self.piece[particle as usize];
        let first = match self.first[piece as usize] {
            Some(first) => first,
            None => self.fit(piece, handles),
        };
        [0, 1, 2].map(|k| (first + k, left[k as usize])).into()
    }

    fn fit(&mut self, piece: u32, handles: &mut SparseRows) -> u32 {
        let first = handles.len() as u32;
        self.first[piece as usize] = Some(first);
        let before = |piece: u32| self.order.partition_point(|&i| self.piece[i as usize] < piece);
        let members = &self.order[before(piece)..before(piece + 1)];
        // From the first, so that particles all in one place are exactly so.
        let origin = self.points[members[0] as usize];
        let at = |i: u32| self.points[i as usize] - origin;
        let share = 1.0 / members.len() as f64;
        let middle: DVec3 = members.iter().map(|&i| share * at(i)).sum();
        let mut scatter = DMat3::ZERO;
        for &i in members {
            let d = at(i) - middle;
            scatter += DMat3::from_cols(share * d * d.x, share * d * d.y, share * d * d.z);
        }
        let (values, vectors) = symmetric_eigen(scatter);
        let mut inverse = DMat3::ZERO;
        for (k, v) in vectors.iter().enumerate() {
            if values[k] > FLAT * values.max_element() {
                inverse += DMat3::from_cols(v * v.x, v * v.y, v * v.z) * (1.0 / values[k]);
            }
        }
        for k in 0..3 {
            let slope = |&i: &u32| share * (inverse * (at(i) - middle))[k];
            handles.push(members.iter().map(|i| (*i, slope(i))).filter(|e| e.1.is_finite()));
        }
        first
    }
}

/// Which particles are joined, numbered by their first particle.
fn pieces(count: usize, edges: &[[u32; 2]]) -> Vec<u32> {
    let mut sets = DisjointSets::new(count);
    for &[a, b] in edges {
        sets.join(a, b);
    }
    sets.numbers()
}
