//! The fast local step: eight elements at a time, over the few particles of a chunk.

use pliant_math::lanes::{Isa, Lanes, V3};
use std::ops::Range;

/// Three coordinates and a pad: one aligned load, and a chunk of them stays in the first cache.
pub type PaddedVector = [f64; 4];

/// A chunk of elements as the local step sees it: its own short list of places.
#[derive(Debug)]
pub struct Neighbourhood<'a> {
    /// For each pack, one entry a corner: the corner's eight places, as indices into `x` and `forces`.
    pub corners: &'a [[u32; 8]],
    /// Where the places are.
    pub x: &'a [PaddedVector],
    /// The forces on them; the kernel adds to these.
    pub forces: &'a mut [PaddedVector],
    /// What the batch's weights are multiplied by at present.
    pub scale: f64,
}

/// A local step in packs of eight elements. Batches that have one are moved by it, all others row by row.
pub trait ElementKernel: Send + Sync {
    /// Number of elements; the last pack may have empty lanes.
    fn elements(&self) -> usize;

    /// The particles of an element, its corners in order.
    fn stencil(&self, element: usize) -> &[u32];

    /// Adds the forces w Aᵀ (p − A q) of some packs to the corners, and returns their energy. Must give
    /// the same bits for every instruction set.
    fn add_forces(&self, packs: Range<usize>, near: Neighbourhood<'_>, isa: Isa) -> f64;
}

/// Adds eight forces to their places, lane after lane, since elements of a pack may share corners.
#[inline(always)]
pub(crate) fn add_corner<L: Lanes>(l: L, forces: &mut [PaddedVector], at: &[u32; 8], f: V3<L>) {
    let mut rows = [[0.0; 4]; 8];
    l.store_transposed(f, &mut rows);
    for (row, &i) in rows.iter().zip(at) {
        let place = &mut forces[i as usize];
        for axis in 0..4 {
            place[axis] += row[axis];
        }
    }
}
