//! Who stands beside whom in the rest shape: eight items to a leaf, and nodes in the order in which they are walked.

use crate::box_tree::{Bounds, BoxTree};
use std::ops::Range;

/// Items of a leaf.
pub(super) const LEAF: usize = 8;

/// The order of items and nodes of a tree, without boxes. Leaf `l` holds `order[8 l..8 l + 8]`, the last maybe fewer.
#[derive(Clone, Debug, Default)]
pub(super) struct RestTree {
    pub order: Vec<u32>,
    /// Parents first, each with where the walk goes on that does not look into it, and the first leaf of it.
    pub nodes: Vec<RestNode>,
}

/// A node whose leaves are those from `leaf` to the next's that is not in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RestNode {
    pub skip: u32,
    pub leaf: u32,
}

impl RestTree {
    pub fn new(boxes: &[Bounds]) -> RestTree {
        let tree = BoxTree::of_full_leaves(boxes, LEAF);
        let (order, nodes) = tree.layout();
        let count = nodes.len() as u32;
        let second: Vec<(Range<u32>, u32)> = nodes.collect();
        let mut nodes: Vec<RestNode> = second
            .iter()
            .map(|(range, _)| RestNode { skip: count, leaf: range.start / LEAF as u32 })
            .collect();
        for (k, (_, second)) in second.iter().enumerate() {
            let after = nodes[k].skip;
            match second {
                0 => nodes[k].skip = k as u32 + 1,
                &second => {
                    nodes[k + 1].skip = second;
                    nodes[second as usize].skip = after;
                }
            }
        }
        RestTree { order: order.to_vec(), nodes }
    }

    pub fn leaves(&self) -> usize {
        self.order.len().div_ceil(LEAF)
    }

    /// Items of a leaf.
    #[inline(always)]
    pub fn items(&self, leaf: u32) -> &[u32] {
        let first = leaf as usize * LEAF;
        &self.order[first..self.order.len().min(first + LEAF)]
    }
}
