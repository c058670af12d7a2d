//! One item of a detection: leaves of one body against the tree of another, boxes first, then distances.

use super::MotionEnd;
use super::closest::{edge_edge, vertex_triangle};
use super::detection::{CollisionBody, Group, Item, Near, PairKind};
use super::rest_tree::{LEAF, RestTree};
use super::side::{NearestTriangle, nearest_from, pseudo_normal};
use super::swept_boxes::{Corner, Leaf, Swept, TreeBoxes};
use crate::triangle::weighted;
use glam::DVec3;
use pliant_math::lanes::{Isa, Kernel, Lanes};
use std::ops::Range;

/// What a task found, and the memory it needs.
#[derive(Debug, Default)]
pub struct Found {
    pub(super) nears: Vec<Near>,
    /// Where the pairs of each group end.
    pub(super) parts: Vec<(Group, usize)>,
    pub(super) visits: u64,
    hits: Vec<Hit>,
    around: Around,
}

impl Found {
    pub(super) fn clear(&mut self) {
        self.nears.clear();
        self.parts.clear();
        self.visits = 0;
    }

    pub(super) fn end_part(&mut self, group: Group) {
        self.parts.push((group, self.nears.len()));
    }
}

/// Two whose boxes overlap, and the place of the first in its leaf.
#[derive(Clone, Copy, Debug)]
struct Hit {
    first: u32,
    second: u32,
    slot: u32,
}

/// A tree of a body and its boxes.
#[derive(Clone, Copy)]
struct Boxed<'a> {
    tree: &'a RestTree,
    boxes: &'a TreeBoxes,
}

impl Boxed<'_> {
    /// The box of a leaf.
    #[inline(always)]
    fn leaf(&self, leaf: u32) -> &Corner {
        &self.boxes.nodes[self.boxes.leaf_nodes[leaf as usize] as usize]
    }
}

/// Leaves that walk down the other tree together.
const TOGETHER: u32 = 8;

/// The leaves of another tree that some neighbouring ones overlap together.
#[derive(Debug, Default)]
struct Around {
    leaves: Vec<u32>,
    /// Their boxes.
    boxes: Vec<Leaf>,
}

impl Around {
    /// Finds those of `b` that overlap some leaves of `a`, in the order of the tree. Where `once`, both trees are the same, and those
    /// before the first are left out.
    #[inline(always)]
    fn fill(&mut self, a: Boxed<'_>, leaves: Range<u32>, b: Boxed<'_>, once: bool, visits: &mut u64) {
        let mut whole = Corner::NOWHERE;
        for leaf in leaves.clone() {
            whole = whole.join(a.leaf(leaf));
        }
        self.leaves.clear();
        self.boxes.clear();
        let nodes = &b.tree.nodes[..b.boxes.nodes.len()];
        let mut k = 0;
        while k < nodes.len() {
            let (node, there) = (nodes[k], &b.boxes.nodes[k]);
            *visits += 1;
            // The first leaf behind this node.
            let end = nodes.get(node.skip as usize).map_or(u32::MAX, |next| next.leaf);
            if (once && end <= leaves.start) || !whole.overlaps(there) {
                k = node.skip as usize;
                continue;
            }
            k += 1;
            if node.skip as usize == k {
                let slot = self.leaves.len() % LEAF;
                if slot == 0 {
                    self.boxes.push(Leaf::NOWHERE);
                }
                if let Some(last) = self.boxes.last_mut() {
                    last.set(slot, there);
                }
                self.leaves.push(node.leaf);
            }
        }
    }
}

/// Fills `hits` with every item of a leaf of `a` and item of `b` whose boxes overlap and that have no vertex in common, as
/// `apart` tells; `around` are the leaves of `b` that come into question. Where `once`, both trees are the same, and each pair
/// is found from the one that comes first. Returns whether any leaf of `b` overlapped.
#[inline(always)]
fn overlapping(
    a: Boxed<'_>,
    leaf: u32,
    b: Boxed<'_>,
    once: bool,
    apart: impl Fn(u32, u32) -> bool,
    (around, hits, visits): (&Around, &mut Vec<Hit>, &mut u64),
) -> bool {
    let own = &a.boxes.leaves[leaf as usize];
    let whole = a.leaf(leaf);
    let items = a.tree.items(leaf);
    hits.clear();
    let mut any = false;
    for (boxes, leaves) in around.boxes.iter().zip(around.leaves.chunks(LEAF)) {
        *visits += 1;
        let mut near = boxes.overlaps(whole);
        while near != 0 {
            let other = leaves[near.trailing_zeros() as usize];
            near &= near - 1;
            if once && other < leaf {
                continue;
            }
            any = true;
            *visits += LEAF as u64;
            let others = b.tree.items(other);
            let mut pairs = own.pairs(&b.boxes.leaves[other as usize]);
            if once && other == leaf {
                pairs &= AFTER;
            }
            while pairs != 0 {
                let bit = pairs.trailing_zeros() as usize;
                pairs &= pairs - 1;
                let (i, j) = (bit / LEAF, bit % LEAF);
                let (first, second) = (items[i], others[j]);
                if apart(first, second) {
                    hits.push(Hit { first, second, slot: i as u32 });
                }
            }
        }
    }
    any
}

/// Of the pairs of a leaf with itself, those whose second comes after the first.
const AFTER: u64 = 0x0080_C0E0_F0F8_FCFE;

/// Compiled for each instruction set; it has the same bits with all of them, as nothing is fused.
struct Run<'a> {
    item: &'a Item,
    a: CollisionBody<'a>,
    b: CollisionBody<'a>,
    found: &'a mut Found,
}

impl Kernel for Run<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Run { item, a, b, found } = self;
        let same = item.group.first == item.group.second;
        match item.group.kind {
            PairKind::EdgeEdge => edges(item, a, b, same, found),
            PairKind::VertexVertex => balls(item, a, b, same, found),
            PairKind::VertexTriangle if item.search.nearest => nearest(item, a, b, found),
            PairKind::VertexTriangle => triangles(item, a, b, same, found),
        }
    }
}

pub(super) fn run_item(item: &Item, a: CollisionBody<'_>, b: CollisionBody<'_>, found: &mut Found) {
    Isa::best().run(Run { item, a, b, found });
}

/// Looks around anew where a group of leaves of an item begins.
#[inline(always)]
fn walk(
    item: &Item,
    leaf: u32,
    a: Boxed<'_>,
    b: Boxed<'_>,
    once: bool,
    around: &mut Around,
    visits: &mut u64,
) {
    if (leaf - item.leaves.start).is_multiple_of(TOGETHER) {
        around.fill(a, leaf..item.leaves.end.min(leaf + TOGETHER), b, once, visits);
    }
}

#[inline(always)]
fn edges(item: &Item, a: CollisionBody<'_>, b: CollisionBody<'_>, same: bool, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, hits, around, .. } = found;
    let (of_a, of_b) = (edges_of(a), edges_of(b));
    for leaf in item.leaves.clone() {
        walk(item, leaf, of_a, of_b, same, around, visits);
        let apart = |first, second| !(same && a.surface.edges_meet(first, second));
        overlapping(of_a, leaf, of_b, same, apart, (&*around, &mut *hits, &mut *visits));
        measure_edges(hits, a, b, moment, reach, nears);
    }
}

/// Eight numbers.
type Eight = [f64; LEAF];

/// Puts a vertex into a lane, and how far it goes.
#[inline(always)]
fn put(to: &mut [Eight; 3], path: &mut f64, lane: usize, [x, y, z, long]: Swept) {
    to[0][lane] = x;
    to[1][lane] = y;
    to[2][lane] = z;
    *path = if long > *path { long } else { *path };
}

#[inline(always)]
fn lane(of: &[Eight; 3], k: usize) -> DVec3 {
    DVec3::new(of[0][k], of[1][k], of[2][k])
}

/// Lists the pairs of edges that are near enough, measured eight at a time.
#[inline(always)]
fn measure_edges(
    hits: &[Hit],
    a: CollisionBody<'_>,
    b: CollisionBody<'_>,
    moment: MotionEnd,
    reach: f64,
    nears: &mut Vec<Near>,
) {
    let (of_a, of_b) = (a.boxes.swept(moment), b.boxes.swept(moment));
    let (edges_a, edges_b) = (a.surface.edges(), b.surface.edges());
    let mut points = [[[0.0; LEAF]; 3]; 4];
    for hits in hits.chunks(LEAF) {
        let mut limit = [0.0; LEAF];
        for (k, hit) in hits.iter().enumerate() {
            let (mut path_a, mut path_b) = (0.0, 0.0);
            let (p, q) = (edges_a[hit.first as usize], edges_b[hit.second as usize]);
            put(&mut points[0], &mut path_a, k, of_a[p[0] as usize]);
            put(&mut points[1], &mut path_a, k, of_a[p[1] as usize]);
            put(&mut points[2], &mut path_b, k, of_b[q[0] as usize]);
            put(&mut points[3], &mut path_b, k, of_b[q[1] as usize]);
            limit[k] = reach + path_a + path_b;
        }
        let (mut s, mut t, mut squared) = ([0.0; LEAF], [0.0; LEAF], [0.0; LEAF]);
        for k in 0..LEAF {
            let (p0, p1) = (lane(&points[0], k), lane(&points[1], k));
            let (q0, q1) = (lane(&points[2], k), lane(&points[3], k));
            [s[k], t[k]] = edge_edge([p0, p1], [q0, q1]);
            squared[k] = ((p0 - q0) + s[k] * (p1 - p0) - t[k] * (q1 - q0)).length_squared();
        }
        for (k, hit) in hits.iter().enumerate() {
            if squared[k] <= limit[k] * limit[k] {
                let distance = squared[k].sqrt();
                nears.push(Near { first: hit.first, second: hit.second, at: [s[k], t[k]], distance });
            }
        }
    }
}

#[inline(always)]
fn triangles(item: &Item, a: CollisionBody<'_>, b: CollisionBody<'_>, same: bool, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, hits, around, .. } = found;
    let (of_a, of_b) = (vertices_of(a), triangles_of(b));
    for leaf in item.leaves.clone() {
        walk(item, leaf, of_a, of_b, false, around, visits);
        let apart = |first, second| !(same && a.surface.has_vertex(second, first));
        overlapping(of_a, leaf, of_b, false, apart, (&*around, &mut *hits, &mut *visits));
        measure_triangles(hits, a, b, moment, reach, |near, _| {
            nears.push(Near { distance: near.distance - a.surface.radius(near.first), ..near });
        });
    }
}

/// Hands out the vertices and triangles that are near enough, centres of balls counting, measured eight at a time.
#[inline(always)]
fn measure_triangles(
    hits: &[Hit],
    a: CollisionBody<'_>,
    b: CollisionBody<'_>,
    moment: MotionEnd,
    reach: f64,
    mut near: impl FnMut(Near, usize),
) {
    let (of_a, of_b) = (a.boxes.swept(moment), b.boxes.swept(moment));
    let triangles = b.surface.triangles();
    let mut points = [[[0.0; LEAF]; 3]; 4];
    for hits in hits.chunks(LEAF) {
        let mut limit = [0.0; LEAF];
        for (k, hit) in hits.iter().enumerate() {
            let (mut path_a, mut path_b) = (0.0, 0.0);
            let corners = triangles[hit.second as usize];
            put(&mut points[0], &mut path_a, k, of_a[hit.first as usize]);
            put(&mut points[1], &mut path_b, k, of_b[corners[0] as usize]);
            put(&mut points[2], &mut path_b, k, of_b[corners[1] as usize]);
            put(&mut points[3], &mut path_b, k, of_b[corners[2] as usize]);
            limit[k] = reach + a.surface.radius(hit.first) + path_a + path_b;
        }
        let (mut v, mut w, mut squared) = ([0.0; LEAF], [0.0; LEAF], [0.0; LEAF]);
        for k in 0..LEAF {
            let p = lane(&points[0], k);
            let corners = [lane(&points[1], k), lane(&points[2], k), lane(&points[3], k)];
            let weights = vertex_triangle(p, corners);
            let [a, b, c] = corners;
            (v[k], w[k]) = (weights[1], weights[2]);
            // Of differences, so that little is lost far from the origin.
            squared[k] = weighted([a - p, b - p, c - p], weights).length_squared();
        }
        for (k, hit) in hits.iter().enumerate() {
            if squared[k] <= limit[k] * limit[k] {
                let distance = squared[k].sqrt();
                let found = Near { first: hit.first, second: hit.second, at: [v[k], w[k]], distance };
                near(found, hit.slot as usize);
            }
        }
    }
}

#[inline(always)]
fn balls(item: &Item, a: CollisionBody<'_>, b: CollisionBody<'_>, same: bool, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, hits, around, .. } = found;
    let (of_a, of_b) = (vertices_of(a), vertices_of(b));
    for leaf in item.leaves.clone() {
        walk(item, leaf, of_a, of_b, same, around, visits);
        overlapping(of_a, leaf, of_b, same, |_, _| true, (&*around, &mut *hits, &mut *visits));
        for &Hit { first, second, .. } in hits.iter() {
            let between = a.boxes.point(first, moment).distance(b.boxes.point(second, moment));
            let distance = between - a.surface.radius(first) - b.surface.radius(second);
            if distance <= reach + a.boxes.path(first) + b.boxes.path(second) {
                nears.push(Near { first, second, at: [0.0; 2], distance });
            }
        }
    }
}

/// For each vertex the nearest triangle, if there is one in reach, or if it is inside.
#[inline(always)]
fn nearest(item: &Item, a: CollisionBody<'_>, b: CollisionBody<'_>, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, hits, around, .. } = found;
    let (of_a, of_b) = (vertices_of(a), triangles_of(b));
    for leaf in item.leaves.clone() {
        walk(item, leaf, of_a, of_b, false, around, visits);
        let mut best: [Option<Near>; LEAF] = [None; LEAF];
        let touched = overlapping(of_a, leaf, of_b, false, |_, _| true, (&*around, &mut *hits, &mut *visits));
        measure_triangles(hits, a, b, moment, reach, |near, slot| {
            let better = best[slot].is_none_or(|best| {
                near.distance < best.distance || (near.distance == best.distance && near.second < best.second)
            });
            if better {
                best[slot] = Some(near);
            }
        });
        let vertices = a.surface.vertex_tree.items(leaf);
        if !b.surface.is_closed() {
            nears.extend(
                best.iter()
                    .flatten()
                    .map(|near| Near { distance: near.distance - a.surface.radius(near.first), ..*near }),
            );
            continue;
        }
        // Where no triangle comes near the leaf, all of it is on one side.
        let mut seed = None;
        if !touched && side(a, vertices[0], b, moment, &mut seed).is_none_or(|(_, inside)| !inside) {
            continue;
        }
        for (&vertex, best) in vertices.iter().zip(best) {
            nears.extend(signed(a, vertex, b, best, (reach, moment), &mut seed));
        }
    }
}

/// The nearest triangle of all, and whether the vertex is inside; none where it is outside of the box around all. `seed` is a
/// triangle that was nearest to a neighbour.
fn side(
    a: CollisionBody<'_>,
    vertex: u32,
    b: CollisionBody<'_>,
    moment: MotionEnd,
    seed: &mut Option<u32>,
) -> Option<(NearestTriangle, bool)> {
    let p = a.boxes.point(vertex, moment);
    let whole = b.boxes.triangles.nodes.first()?;
    if !whole.holds(p - b.boxes.origin()) {
        return None;
    }
    let nearest = nearest_from(b.surface, b.boxes, p, moment, *seed)?;
    *seed = Some(nearest.triangle);
    Some((nearest, is_inside(b, p, nearest.triangle, nearest.weights, moment)))
}

fn is_inside(b: CollisionBody<'_>, p: DVec3, triangle: u32, weights: [f64; 3], moment: MotionEnd) -> bool {
    let corners = b.surface.triangles()[triangle as usize].map(|v| b.boxes.point(v, moment) - p);
    pseudo_normal(b.surface, b.boxes, triangle, weights, moment).dot(weighted(corners, weights)) > 0.0
}

/// The nearest triangle of a closed surface with a sign, given the best of those whose boxes overlap.
fn signed(
    a: CollisionBody<'_>,
    vertex: u32,
    b: CollisionBody<'_>,
    best: Option<Near>,
    (reach, moment): (f64, MotionEnd),
    seed: &mut Option<u32>,
) -> Option<Near> {
    let radius = a.surface.radius(vertex);
    let found = |near: Near, inside: bool| {
        let distance = if inside { -near.distance } else { near.distance };
        Some(Near { distance: distance - radius, ..near })
    };
    // Boxes of all that is this near overlap, so it is the nearest of all.
    if let Some(near) = best.filter(|near| near.distance <= reach) {
        let p = a.boxes.point(vertex, moment);
        return found(near, is_inside(b, p, near.second, near.triangle_weights(), moment));
    }
    *seed = best.map(|near| near.second).or(*seed);
    match side(a, vertex, b, moment, seed) {
        Some((nearest, true)) => {
            let NearestTriangle { triangle, weights, distance } = nearest;
            found(Near { first: vertex, second: triangle, at: [weights[1], weights[2]], distance }, true)
        }
        _ => best.and_then(|near| found(near, false)),
    }
}

fn vertices_of<'a>(body: CollisionBody<'a>) -> Boxed<'a> {
    Boxed { tree: &body.surface.vertex_tree, boxes: &body.boxes.vertices }
}

fn triangles_of<'a>(body: CollisionBody<'a>) -> Boxed<'a> {
    Boxed { tree: &body.surface.triangle_tree, boxes: &body.boxes.triangles }
}

fn edges_of<'a>(body: CollisionBody<'a>) -> Boxed<'a> {
    Boxed { tree: &body.surface.edge_tree, boxes: &body.boxes.edges }
}
