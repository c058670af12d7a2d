//! All pairs of items whose boxes overlap: each once, in an order that only the tree decides.

use super::{Bounds, BoxTree, DEPTH, overlap};
use std::ops::Range;

/// Items that are compared as one with the rest of the tree. Larger groups walk down the tree less often and compare
/// more boxes for nothing; eight is where a mesh's triangles take the least time.
const GROUP: usize = 8;

/// A tree prepared for its pairs, which may be asked for in parts: parts one after the other, or side by side.
pub struct Pairs<'a> {
    tree: &'a BoxTree,
    fitted: &'a [Bounds],
    /// The largest nodes of no more than [`GROUP`] items, in the order of their items.
    groups: Vec<u32>,
}

impl<'a> Pairs<'a> {
    /// Of a tree and what [`BoxTree::fit`] of it gave; there are no pairs if that is of another tree.
    pub fn new(tree: &'a BoxTree, fitted: &'a [Bounds]) -> Pairs<'a> {
        let mut groups = Vec::new();
        let mut k = 0;
        while k < tree.nodes.len() && fitted.len() == tree.nodes.len() {
            if tree.of(&tree.nodes[k]).len() > GROUP {
                k += 1;
                continue;
            }
            groups.push(k as u32);
            // A group has no more than a few nodes, all behind its first.
            let end = tree.nodes[k].range.1;
            while tree.nodes.get(k).is_some_and(|node| node.range.1 <= end) {
                k += 1;
            }
        }
        Pairs { tree, fitted, groups }
    }

    /// How many parts of one group there are.
    pub fn parts(&self) -> usize {
        self.groups.len()
    }

    /// Calls `found` with every pair that begins in one of `parts`. `left` is the work that may still be done, in
    /// comparisons of boxes; `found` tells what looking at the pair was worth in them. False if that was not enough:
    /// then pairs are missing.
    pub fn find(
        &self,
        parts: Range<usize>,
        bounds: impl Fn(u32) -> Bounds,
        left: &mut u64,
        mut found: impl FnMut(u32, u32) -> u64,
    ) -> bool {
        let nodes = &self.tree.nodes;
        let mut boxes = [super::NOWHERE; GROUP];
        let mut open = [0_u32; DEPTH];
        for &group in self.groups.get(parts).unwrap_or_default() {
            let own = self.tree.of(&nodes[group as usize]);
            boxes.iter_mut().zip(own).for_each(|(b, &i)| *b = bounds(i));
            let (here, first) = (self.fitted[group as usize], nodes[group as usize].range.0);
            open[0] = 0;
            let mut count = 1;
            while count > 0 {
                count -= 1;
                let index = open[count];
                let node = &nodes[index as usize];
                *left = left.saturating_sub(1);
                // What is before the group has found its pairs with it already.
                if node.range.1 <= first || !overlap(here, self.fitted[index as usize]) {
                    continue;
                }
                let others = self.tree.of(node);
                if others.len() > GROUP {
                    open[count..count + 2].copy_from_slice(&[node.second, index + 1]);
                    count += 2;
                    continue;
                }
                for (k, &other) in others.iter().enumerate() {
                    let own = if index == group { &own[..k] } else { own };
                    let there = bounds(other);
                    let mut cost = own.len() as u64;
                    for (&b, &i) in boxes.iter().zip(own) {
                        if overlap(b, there) {
                            cost += found(i, other);
                        }
                    }
                    *left = left.saturating_sub(cost);
                }
                if *left == 0 {
                    return false;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use pliant_math::SplitMix64;

    /// The pairs in parts of a few groups, and the work they took.
    fn pairs(boxes: &[Bounds], step: usize) -> (Vec<(u32, u32)>, u64) {
        let (tree, mut fitted) = (BoxTree::new(boxes), Vec::new());
        tree.fit(|i| boxes[i as usize], &mut fitted);
        let pairs = Pairs::new(&tree, &fitted);
        let (mut all, mut left) = (Vec::new(), u64::MAX);
        for first in (0..pairs.parts()).step_by(step) {
            let parts = first..pairs.parts().min(first + step);
            assert!(pairs.find(
                parts,
                |i| boxes[i as usize],
                &mut left,
                |a, b| {
                    all.push((a, b));
                    0
                }
            ));
        }
        (all, u64::MAX - left)
    }

    fn brute(boxes: &[Bounds]) -> Vec<(u32, u32)> {
        let before = |b: usize| (0..b).filter(move |&a| overlap(boxes[a], boxes[b]));
        let mut all: Vec<(u32, u32)> =
            (0..boxes.len()).flat_map(|b| before(b).map(move |a| (a as u32, b as u32))).collect();
        all.sort_unstable();
        all
    }

    fn check(boxes: &[Bounds]) {
        let (found, _) = pairs(boxes, usize::MAX >> 1);
        for step in [1, 3] {
            assert_eq!(pairs(boxes, step).0, found, "the order is the same in parts of {step}");
        }
        let mut sorted: Vec<(u32, u32)> = found.into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();
        sorted.sort_unstable();
        assert_eq!(sorted, brute(boxes));
    }

    #[test]
    fn pairs_are_those_that_comparing_all_finds() {
        let mut rng = SplitMix64::new(5);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        for count in [0, 1, 2, 7, 8, 9, 16, 17, 33, 100, 777] {
            for size in [0.0, 0.01, 0.2, 2.0] {
                let mut boxes: Vec<Bounds> =
                    (0..count).map(|_| (random(), random())).map(|(p, d)| (p, p + size * d)).collect();
                check(&boxes);
                // Sheets and rods, many of them in one place and touching at whole numbers.
                boxes.iter_mut().for_each(|b| *b = ((b.0 * 4.0).round(), (b.1 * 4.0).round()));
                check(&boxes);
                boxes.iter_mut().step_by(3).for_each(|b| *b = (DVec3::ONE, DVec3::ONE));
                check(&boxes);
            }
        }
    }

    #[test]
    fn empty_and_endless_boxes_hide_none() {
        let mut rng = SplitMix64::new(6);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        let mut boxes: Vec<Bounds> =
            (0..200).map(|_| (random(), random())).map(|(p, d)| (p, p + 0.3 * d)).collect();
        boxes.iter_mut().step_by(7).for_each(|b| *b = super::super::NOWHERE);
        boxes.iter_mut().skip(1).step_by(7).for_each(|b| *b = (DVec3::NEG_INFINITY, DVec3::INFINITY));
        boxes
            .iter_mut()
            .skip(3)
            .step_by(7)
            .for_each(|b| *b = (DVec3::splat(f64::MAX), DVec3::splat(f64::MAX)));
        check(&boxes);
    }

    /// Work grows with the pairs there are, not with those there might be.
    #[test]
    fn work_is_that_of_the_pairs() {
        let count = 10_000_u64;
        let at_one_point = vec![(DVec3::ONE, DVec3::ONE); count as usize];
        let (found, work) = pairs(&at_one_point, 64);
        assert_eq!(found.len() as u64, count * (count - 1) / 2);
        assert!(work < count * count, "{work} for {} pairs", found.len());
        // A rod for each, side by side: no pairs, though every box but one axis is everyone's.
        let rods: Vec<Bounds> = (0..count)
            .map(|i| DVec3::new(2.0 * i as f64, 0.0, 0.0))
            .map(|p| (p, p + DVec3::new(1.0, 1e6, 1e6)))
            .collect();
        let (found, work) = pairs(&rods, 64);
        assert_eq!(found.len(), 0);
        assert!(work < 100 * count, "{work}");
        // One around all, and points that are nowhere the same.
        let mut rng = SplitMix64::new(2);
        let mut points: Vec<Bounds> =
            (0..count).map(|_| DVec3::new(rng.unit(), rng.unit(), rng.unit())).map(|p| (p, p)).collect();
        points[4321] = (DVec3::ZERO, DVec3::ONE);
        let (found, work) = pairs(&points, 64);
        assert_eq!(found.len() as u64, count - 1);
        assert!(work < 200 * count, "{work}");
    }

    #[test]
    fn work_that_is_too_much_is_stopped_and_said() {
        let boxes = vec![(DVec3::ZERO, DVec3::ONE); 1000];
        let (tree, mut fitted) = (BoxTree::new(&boxes), Vec::new());
        tree.fit(|i| boxes[i as usize], &mut fitted);
        let pairs = Pairs::new(&tree, &fitted);
        let mut count = 0;
        let mut left = 10_000;
        let mut look = |_, _| {
            count += 1;
            9
        };
        assert!(!pairs.find(0..pairs.parts(), |i| boxes[i as usize], &mut left, &mut look));
        assert_eq!(left, 0);
        assert!((900..1100).contains(&count), "{count}");
        // Boxes of another tree, and parts that are none.
        assert_eq!(Pairs::new(&tree, &fitted[1..]).parts(), 0);
        assert!(pairs.find(0..usize::MAX, |i| boxes[i as usize], &mut 1, |_, _| panic!("a pair")));
    }
}
