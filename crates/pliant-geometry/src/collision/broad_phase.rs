//! Which bodies are near each other, by the boxes around them. For any boxes, through a tree: what the engine asks once a step of few bodies
//! that all move, it sweeps along one axis instead (`pliant/src/contact/near.rs`).

use crate::box_tree::{Bounds, BoxSearch, BoxTree, overlap};
use std::ops::ControlFlow;

/// Finds pairs of boxes that overlap, each once: ordered by the first, then by the second. It holds no pairs, only what
/// overlaps one box, and memory for that is kept.
#[derive(Clone, Debug, Default)]
pub struct BroadPhase {
    tree: BoxTree,
    boxes: Vec<Bounds>,
    fitted: Vec<Bounds>,
    with: Vec<u32>,
}

struct Overlapping<'a> {
    own: Bounds,
    after: u32,
    boxes: &'a [Bounds],
    with: &'a mut Vec<u32>,
}

impl BoxSearch for Overlapping<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        if overlap(self.own, bounds) { 0.0 } else { 1.0 }
    }
    fn limit(&self) -> f64 {
        0.0
    }
    fn look(&mut self, item: u32) {
        if item > self.after && overlap(self.own, self.boxes[item as usize]) {
            self.with.push(item);
        }
    }
}

impl BroadPhase {
    /// Calls `found` with every pair, the lower number first, until it has had enough; whether it got all.
    pub fn pairs(
        &mut self,
        boxes: impl IntoIterator<Item = Bounds>,
        mut found: impl FnMut(u32, u32) -> ControlFlow<()>,
    ) -> bool {
        self.boxes.clear();
        self.boxes.extend(boxes);
        self.tree.rebuild(&self.boxes);
        let boxes = &self.boxes;
        self.tree.fit(|i| boxes[i as usize], &mut self.fitted);
        for (first, &own) in boxes.iter().enumerate() {
            self.with.clear();
            let after = first as u32;
            self.tree.search(&self.fitted, &mut Overlapping { own, after, boxes, with: &mut self.with });
            self.with.sort_unstable();
            for &second in &self.with {
                if found(after, second).is_break() {
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
    use crate::SplitMix64;
    use glam::DVec3;

    #[test]
    fn all_pairs_in_order_and_no_more_than_are_wanted() {
        let mut rng = SplitMix64::new(8);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
        let mut broad = BroadPhase::default();
        for count in [0, 1, 2, 50, 300] {
            let boxes: Vec<Bounds> =
                (0..count).map(|_| (random(), random())).map(|(p, d)| (p, p + 0.3 * d)).collect();
            let mut found = Vec::new();
            assert!(broad.pairs(boxes.iter().copied(), |a, b| {
                found.push((a, b));
                ControlFlow::Continue(())
            }));
            let all = (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| (a, b)));
            let expected: Vec<_> =
                all.filter(|&(a, b)| overlap(boxes[a as usize], boxes[b as usize])).collect();
            assert_eq!(found, expected);
            let mut left = 7;
            let complete = broad.pairs(boxes.iter().copied(), |_, _| {
                left -= 1;
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(complete, expected.len() < 7);
        }
    }

    #[test]
    fn ten_thousand_in_one_place_take_no_memory_for_their_pairs() {
        let mut broad = BroadPhase::default();
        let mut pairs = 0_u64;
        let one = (DVec3::ZERO, DVec3::ONE);
        assert!(broad.pairs(std::iter::repeat_n(one, 10_000), |_, _| {
            pairs += 1;
            ControlFlow::Continue(())
        }));
        assert_eq!(pairs, 10_000 * 9_999 / 2);
        assert!(broad.with.capacity() < 20_000);
    }
}
