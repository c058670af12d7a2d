//! A tree of boxes over whatever has boxes: made once, fitted again wherever its items move to, and
//! searched for what is near or for all pairs that overlap.
//!
//! The tree only says who stands beside whom. The boxes lie outside of it, so that bodies of one shape share the tree
//! and have boxes of their own. A fitted tree finds the same however its items have moved; it only gets slower.

mod pairs;

use glam::DVec3;
use std::ops::Range;

pub(crate) use pairs::Pairs;

/// Items in a leaf.
const LEAF: usize = 4;
/// Halves of halves: no more levels than an index has bits, and one entry waits at each.
const DEPTH: usize = 40;

/// Lowest and highest corner.
pub type Bounds = (DVec3, DVec3);

/// The box that nothing is in.
pub const NOWHERE: Bounds = (DVec3::INFINITY, DVec3::NEG_INFINITY);

/// The box around two.
#[inline]
pub fn join(a: Bounds, b: Bounds) -> Bounds {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The box around some points.
#[inline]
pub fn around<const N: usize>(corners: [DVec3; N]) -> Bounds {
    corners.iter().fold(NOWHERE, |(lo, hi), &p| (lo.min(p), hi.max(p)))
}

/// The square of the distance between a point and a box.
#[inline]
pub fn distance_squared((lo, hi): Bounds, p: DVec3) -> f64 {
    // Not `clamp`, which panics where a box is none.
    p.distance_squared(p.max(lo).min(hi))
}

/// Whether two boxes have a point in common; their surfaces are part of them.
#[inline]
pub fn overlap(a: Bounds, b: Bounds) -> bool {
    a.0.cmple(b.1).all() && b.0.cmple(a.1).all()
}

/// What a search wants of a tree.
pub trait BoxSearch {
    /// How far away the box is, in a measure of the search's own: what is in it is no nearer.
    fn near(&self, bounds: Bounds) -> f64;
    /// How near a box has to be to be looked into; may shrink as things are found.
    fn limit(&self) -> f64;
    /// Takes a look at an item whose leaf was near enough.
    fn look(&mut self, item: u32);
}

/// Who stands beside whom.
#[derive(Clone, Debug, Default)]
pub struct BoxTree {
    nodes: Vec<BoxNode>,
    /// Items in tree order.
    items: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct BoxNode {
    /// Its items.
    range: (u32, u32),
    /// Where the second child is; the first follows its parent. Zero for leaves.
    second: u32,
}

impl BoxTree {
    /// Over items with these boxes.
    pub fn new(boxes: &[Bounds]) -> BoxTree {
        let mut tree = BoxTree::default();
        tree.rebuild(boxes);
        tree
    }

    /// Makes the tree anew, in the memory it has.
    pub fn rebuild(&mut self, boxes: &[Bounds]) {
        self.rebuild_with(boxes, LEAF, 1);
    }

    /// A tree whose leaves all hold `leaf` items but the last, which may hold fewer.
    pub(crate) fn of_full_leaves(boxes: &[Bounds], leaf: usize) -> BoxTree {
        let mut tree = BoxTree::default();
        tree.rebuild_with(boxes, leaf, leaf);
        tree
    }

    /// Leaves of no more than `leaf` items; the first halves of groups hold a multiple of `grain`.
    fn rebuild_with(&mut self, boxes: &[Bounds], leaf: usize, grain: usize) {
        self.nodes.clear();
        self.items.clear();
        self.items.extend(0..boxes.len() as u32);
        if !boxes.is_empty() {
            self.build(boxes, 0..boxes.len(), leaf, grain);
        }
    }

    fn build(
        &mut self,
        boxes: &[Bounds],
        Range { start: first, end }: Range<usize>,
        leaf: usize,
        grain: usize,
    ) {
        let index = self.nodes.len();
        self.nodes.push(BoxNode { range: (first as u32, end as u32), second: 0 });
        if end - first > leaf {
            let group = &mut self.items[first..end];
            let middle = |i: u32| 0.5 * boxes[i as usize].0 + 0.5 * boxes[i as usize].1;
            let (low, high) =
                group.iter().fold(NOWHERE, |(lo, hi), &i| (lo.min(middle(i)), hi.max(middle(i))));
            let axis = (high - low).max_position();
            let half = ((end - first) / 2).next_multiple_of(grain);
            let key = |i: u32| middle(i)[axis];
            group.select_nth_unstable_by(half, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
            self.build(boxes, first..first + half, leaf, grain);
            self.nodes[index].second = self.nodes.len() as u32;
            self.build(boxes, first + half..end, leaf, grain);
        }
    }

    /// Items in tree order, and of every node, parents first, the range of its items and where its second child is (zero
    /// for leaves; the first follows its parent).
    pub(crate) fn layout(&self) -> (&[u32], impl ExactSizeIterator<Item = (Range<u32>, u32)>) {
        (&self.items, self.nodes.iter().map(|node| (node.range.0..node.range.1, node.second)))
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Puts the boxes of all groups around where the items are now. `fitted` is filled anew; its first is around all.
    /// Boxes may be empty or endless; one of no numbers may hide its neighbours from what asks later.
    pub fn fit(&self, bounds: impl Fn(u32) -> Bounds, fitted: &mut Vec<Bounds>) {
        fitted.clear();
        fitted.resize(self.nodes.len(), NOWHERE);
        // Children stand behind their parents.
        for (k, node) in self.nodes.iter().enumerate().rev() {
            fitted[k] = match node.second {
                0 => self.of(node).iter().fold(NOWHERE, |whole, &i| join(whole, bounds(i))),
                second => join(fitted[k + 1], fitted[second as usize]),
            };
        }
    }

    fn of(&self, node: &BoxNode) -> &[u32] {
        &self.items[node.range.0 as usize..node.range.1 as usize]
    }

    /// Shows `search` every item that is near enough, and some around it, nearer groups first. `fitted` is from
    /// [`BoxTree::fit`] of this tree.
    pub fn search(&self, fitted: &[Bounds], search: &mut impl BoxSearch) {
        let Some(&whole) = fitted.first().filter(|_| fitted.len() == self.nodes.len()) else { return };
        let mut open = [(0.0, 0_u32); DEPTH];
        open[0] = (search.near(whole), 0);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (near, index) = open[count];
            // A box whose distance is no number is passed over, too.
            let enough = near <= search.limit();
            if !enough {
                continue;
            }
            let node = &self.nodes[index as usize];
            if node.second == 0 {
                self.of(node).iter().for_each(|&i| search.look(i));
                continue;
            }
            // The nearer one is on top, so that the other can mostly be passed over.
            let mut children = [index + 1, node.second].map(|c| (search.near(fitted[c as usize]), c));
            if children[0].0 < children[1].0 {
                children.swap(0, 1);
            }
            open[count..count + 2].copy_from_slice(&children);
            count += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;

    struct Around {
        p: DVec3,
        limit: f64,
        found: Vec<u32>,
    }

    impl BoxSearch for Around {
        fn near(&self, bounds: Bounds) -> f64 {
            distance_squared(bounds, self.p)
        }
        fn limit(&self) -> f64 {
            self.limit
        }
        fn look(&mut self, item: u32) {
            self.found.push(item);
        }
    }

    #[test]
    fn a_fitted_tree_finds_what_has_moved() {
        let mut rng = SplitMix64::new(3);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        for count in [0, 1, 4, 5, 300, 1000] {
            let rest: Vec<Bounds> =
                (0..count).map(|_| (random(), random())).map(|(p, d)| (p, p + 0.05 * d)).collect();
            let tree = BoxTree::new(&rest);
            assert_eq!((tree.len(), tree.is_empty()), (count, count == 0));
            // Anywhere else, in no relation to where they were.
            let moved: Vec<Bounds> =
                (0..count).map(|_| (random(), random())).map(|(p, d)| (p, p + 0.1 * d)).collect();
            let mut fitted = Vec::new();
            tree.fit(|i| moved[i as usize], &mut fitted);
            for _ in 0..20 {
                let mut search = Around { p: random() * 1.5, limit: 0.01, found: Vec::new() };
                tree.search(&fitted, &mut search);
                search.found.sort_unstable();
                let near = |i: &u32| distance_squared(moved[*i as usize], search.p) <= search.limit;
                let expected: Vec<u32> = (0..count as u32).filter(near).collect();
                search.found.retain(near);
                assert_eq!(search.found, expected);
            }
        }
    }
}
