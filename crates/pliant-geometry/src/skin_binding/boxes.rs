//! Elements by the boxes around them: which may hold a point, and which is nearest to it.

use crate::box_tree::{Bounds, BoxSearch, BoxTree, distance_squared};
use glam::DVec3;

/// Elements that do not move.
pub(super) struct Boxes {
    tree: BoxTree,
    fitted: Vec<Bounds>,
}

impl Boxes {
    /// Over boxes given by their lowest and highest corners.
    pub fn new(boxes: &[Bounds]) -> Boxes {
        let (tree, mut fitted) = (BoxTree::new(boxes), Vec::new());
        tree.fit(|i| boxes[i as usize], &mut fitted);
        Boxes { tree, fitted }
    }

    /// Calls `found` with every element whose leaf is at most `distance` from `p`, and so with each that is.
    pub fn around(&self, p: DVec3, distance: f64, found: impl FnMut(u32)) {
        self.tree.search(&self.fitted, &mut WithinDistance { p, limit: distance * distance, found });
    }

    /// The least distance from `p`, with `distance` telling that of an element; infinite without elements.
    pub fn least_distance(&self, p: DVec3, distance: impl Fn(u32) -> f64) -> f64 {
        let mut search = LeastDistance { p, least: f64::INFINITY, distance };
        self.tree.search(&self.fitted, &mut search);
        search.least
    }
}

struct WithinDistance<F> {
    p: DVec3,
    limit: f64,
    found: F,
}

impl<F: FnMut(u32)> BoxSearch for WithinDistance<F> {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.p)
    }
    fn limit(&self) -> f64 {
        self.limit
    }
    fn look(&mut self, item: u32) {
        (self.found)(item);
    }
}

struct LeastDistance<F> {
    p: DVec3,
    least: f64,
    distance: F,
}

impl<F: Fn(u32) -> f64> BoxSearch for LeastDistance<F> {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.p)
    }
    fn limit(&self) -> f64 {
        self.least * self.least
    }
    fn look(&mut self, item: u32) {
        self.least = self.least.min((self.distance)(item));
    }
}
