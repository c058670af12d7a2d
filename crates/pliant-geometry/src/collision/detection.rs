//! The work of finding what is near what, cut into tasks that may run side by side, and what they found.

use super::search::{Found, run_item};
use super::{CollisionSurface, MotionEnd, SweptBoxes};
use std::ops::Range;

/// Leaves of a task: enough that starting one costs nothing, and few enough that threads end together.
const TASK: u32 = 64;

/// A body as others meet it in a substep.
#[derive(Clone, Copy, Debug)]
pub struct CollisionBody<'a> {
    /// What it is made of.
    pub surface: &'a CollisionSurface,
    /// Where it goes, from [`SweptBoxes::fit`] with this surface.
    pub boxes: &'a SweptBoxes,
}

/// What to look for between two bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Only the nearest triangle to each vertex, with a sign where its surface is closed; vertices deep inside find the
    /// nearest of all. Else all that is near. Of a body with itself always all.
    pub nearest: bool,
    /// Edges with edges, too.
    pub edges: bool,
    /// Where distances are measured.
    pub moment: MotionEnd,
}

/// What is near what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairKind {
    /// A vertex of the first body, a triangle of the second.
    VertexTriangle,
    /// An edge of the first body and one of the second.
    EdgeEdge,
    /// A vertex of each: balls of clouds.
    VertexVertex,
}

/// Two primitives that are near each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The vertex or edge of the first body.
    pub first: u32,
    /// The triangle, edge or vertex of the second.
    pub second: u32,
    /// Weights of a triangle's second and third corner, or how far along the first and the second edge.
    pub at: [f64; 2],
    /// Between the closest points (between the surfaces of balls); negative inside of a closed surface where the nearest was asked for.
    pub distance: f64,
}

impl Near {
    /// Weights of the corners of a vertex's triangle.
    #[inline(always)]
    pub fn triangle_weights(&self) -> [f64; 3] {
        [(1.0 - self.at[0] - self.at[1]).max(0.0), self.at[0], self.at[1]]
    }
}

/// What a group of [`Near`]s has in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of the body that vertices, or first edges, are of.
    pub first: u32,
    /// Number of the other; the same for a body with itself.
    pub second: u32,
    /// What they are.
    pub kind: PairKind,
}

/// A range of leaves of the first body's tree against all of the second's.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub group: Group,
    pub search: Search,
    pub leaves: Range<u32>,
}

/// The search for pairs in a step. All memory is kept for the next.
///
/// Add pairs of bodies, run all tasks in whatever order and on whatever threads, and read the groups: their order only depends
/// on the pairs and on the surfaces.
#[derive(Debug, Default)]
pub struct Detection {
    items: Vec<Item>,
    /// Where the items of each task end.
    ends: Vec<u32>,
    /// Leaves of the last task so far.
    filled: u32,
    found: Vec<Found>,
}

/// The tasks of a [`Detection`], each to be run once with its own memory.
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    items: &'a [Item],
    ends: &'a [u32],
}

impl Detection {
    /// Forgets all pairs.
    pub fn clear(&mut self) {
        self.items.clear();
        self.ends.clear();
        self.filled = 0;
    }

    /// Adds a pair of bodies with their numbers, or a body and itself, to what is searched. Their boxes must have been seen from
    /// the same origin.
    pub fn add(&mut self, first: (u32, CollisionBody<'_>), second: (u32, CollisionBody<'_>), search: Search) {
        use PairKind::{EdgeEdge, VertexTriangle, VertexVertex};
        let balls = |body: &CollisionBody<'_>| body.surface.triangles().is_empty();
        let search = Search { nearest: search.nearest && first.0 != second.0, ..search };
        if balls(&first.1) && balls(&second.1) {
            self.cut(first, second, VertexVertex, search);
            return;
        }
        self.cut(first, second, VertexTriangle, search);
        if first.0 != second.0 {
            self.cut(second, first, VertexTriangle, search);
        }
        if search.edges {
            self.cut(first, second, EdgeEdge, search);
        }
    }

    /// Cuts what of the first body overlaps the second as a whole into items.
    fn cut(
        &mut self,
        first: (u32, CollisionBody<'_>),
        second: (u32, CollisionBody<'_>),
        kind: PairKind,
        search: Search,
    ) {
        debug_assert_eq!(first.1.boxes.origin(), second.1.boxes.origin());
        let (a, b) = (first.1, second.1);
        let (tree, boxes, other) = match kind {
            PairKind::VertexTriangle => (&a.surface.vertex_tree, &a.boxes.vertices, &b.boxes.triangles),
            PairKind::EdgeEdge => (&a.surface.edge_tree, &a.boxes.edges, &b.boxes.edges),
            PairKind::VertexVertex => (&a.surface.vertex_tree, &a.boxes.vertices, &b.boxes.vertices),
        };
        let Some(whole) = other.nodes.first() else { return };
        let group = Group { first: first.0, second: second.0, kind };
        let mut k = 0;
        while k < tree.nodes.len() {
            let node = tree.nodes[k];
            if !boxes.nodes[k].overlaps(whole) {
                k = node.skip as usize;
                continue;
            }
            k += 1;
            if node.skip as usize == k {
                self.push_leaf(node.leaf, group, search);
            }
        }
    }

    fn push_leaf(&mut self, leaf: u32, group: Group, search: Search) {
        if self.ends.is_empty() || self.filled == TASK {
            self.ends.push(self.items.len() as u32);
            self.filled = 0;
        } else if let Some(last) = self.items.last_mut()
            && last.group == group
            && last.leaves.end == leaf
        {
            last.leaves.end += 1;
            self.filled += 1;
            return;
        }
        self.items.push(Item { group, search, leaves: leaf..leaf + 1 });
        self.filled += 1;
        if let Some(end) = self.ends.last_mut() {
            *end = self.items.len() as u32;
        }
    }

    /// The tasks, and as many memories: task `i` is to be run with the `i`-th, all of them once.
    pub fn tasks(&mut self) -> (Tasks<'_>, &mut [Found]) {
        let count = self.ends.len();
        if self.found.len() < count {
            self.found.resize_with(count, Found::default);
        }
        (Tasks { items: &self.items, ends: &self.ends }, &mut self.found[..count])
    }

    /// Runs all tasks, one after the other.
    pub fn run_all<'b>(&mut self, body: &impl Fn(u32) -> CollisionBody<'b>) {
        let (tasks, found) = self.tasks();
        found.iter_mut().enumerate().for_each(|(task, found)| tasks.run(task, body, found));
    }

    /// What was found, in an order that is the same however the tasks were run: as pairs were added, and for each as leaves of the
    /// first body come. A group may come in several parts, one after the other.
    pub fn groups(&self) -> impl Iterator<Item = (Group, &[Near])> {
        self.found[..self.ends.len()].iter().flat_map(|found| {
            let mut begin = 0;
            found.parts.iter().map(move |&(group, end)| {
                let part = &found.nears[begin..end];
                begin = end;
                (group, part)
            })
        })
    }

    /// How many boxes were compared with others, eight at a time counting as one: a measure of the work.
    pub fn visits(&self) -> u64 {
        self.found[..self.ends.len()].iter().map(|found| found.visits).sum()
    }
}

impl Tasks<'_> {
    /// Number of tasks.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Does a task; what was in `found` is forgotten. `body` tells the bodies by the numbers they were added with.
    pub fn run<'b>(&self, task: usize, body: &impl Fn(u32) -> CollisionBody<'b>, found: &mut Found) {
        // Its own for the time being: memories stand side by side, and threads would wait for each other's writes.
        let mut own = std::mem::take(found);
        own.clear();
        let first = if task == 0 { 0 } else { self.ends[task - 1] };
        for item in &self.items[first as usize..self.ends[task] as usize] {
            run_item(item, body(item.group.first), body(item.group.second), &mut own);
            own.end_part(item.group);
        }
        *found = own;
    }
}
