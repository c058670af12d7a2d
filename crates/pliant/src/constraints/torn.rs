//! How batches go on when their body tears: elements follow their corners, what spanned a tear is gone.

use super::ConstraintBatch;
use crate::tearing::{Corners, Facets};
use std::sync::Arc;

/// The elements of a body that has torn.
#[derive(Clone, Copy, Debug)]
pub struct TornElements<'a> {
    /// The body as it was built, and where it may come apart.
    pub facets: &'a Facets,
    /// Which particle each corner uses now.
    pub corners: &'a Corners,
}

/// What becomes of a batch.
#[derive(Debug)]
pub enum TornBatch {
    /// It goes on as this one.
    Batch(Arc<dyn ConstraintBatch>),
    /// Nothing of it is left.
    Gone,
    /// It does not know how to follow: bodies with such a batch are not torn.
    Cannot,
}

impl TornBatch {
    pub(super) fn of(batch: impl ConstraintBatch + 'static) -> TornBatch {
        TornBatch::Batch(Arc::new(batch))
    }
}

/// An edge of a torn body: which of the whole body's it was, its ends, and its share of what that stood for.
pub(crate) struct TornEdge {
    pub of: u32,
    pub ends: [u32; 2],
    pub share: f64,
}

impl TornElements<'_> {
    /// Whether these are the corners of the body's elements, in their order.
    pub(super) fn are(&self, corners: &[u32]) -> bool {
        self.facets.cells() == corners
    }

    /// Whether nothing is broken around a particle of the whole body.
    pub(super) fn is_whole(&self, vertex: u32) -> bool {
        let star = self.facets.star(vertex as usize).iter().map(|&e| e as usize);
        let broken = |e: usize| {
            let corners = (0..self.facets.width()).filter(move |&k| self.facets.cell(e)[k] != vertex);
            corners.filter_map(move |k| self.facets.opposite(e, k)).any(|f| self.corners.is_broken(f))
        };
        !star.into_iter().any(broken)
    }

    /// The particle that elements around `vertex` use where the whole body has `near`; of those with both.
    pub(super) fn beside(&self, vertex: u32, near: u32) -> u32 {
        let with = self.facets.element_with(&[vertex, near]);
        with.map_or(near, |e| self.corners.at(self.facets, e as usize, near))
    }

    /// What edges of the whole body have become: one for each pair of particles that elements now have in its place. One that
    /// no element has goes on between its own ends until one of them is torn.
    pub(crate) fn edges<'e>(&'e self, edges: &'e [[u32; 2]]) -> impl Iterator<Item = TornEdge> + 'e {
        edges.iter().zip(0..).flat_map(|(&[i, j], of)| {
            let both = |e: &&u32| self.facets.corner_of(**e as usize, j).is_some();
            let star = self.facets.star(i as usize).iter().filter(both);
            let mut list: Vec<TornEdge> = Vec::new();
            let mut total = 0.0;
            for &e in star {
                let ends = [i, j].map(|v| self.corners.at(self.facets, e as usize, v));
                let measure = self.facets.measure(e as usize);
                total += measure;
                match list.iter_mut().find(|known| known.ends == ends) {
                    Some(known) => known.share += measure,
                    None => list.push(TornEdge { of, ends, share: measure }),
                }
            }
            if list.is_empty() && self.is_whole(i) && self.is_whole(j) {
                list.push(TornEdge { of, ends: [i, j], share: 1.0 });
            } else if list.len() == 1 {
                // Exactly what it was: a sum divided by itself.
                list[0].share = 1.0;
            } else {
                list.iter_mut().for_each(|edge| edge.share /= total);
            }
            list
        })
    }
}
