//! One item of a detection: leaves of one body against the tree of another, boxes first, then distances.

use glam::DVec3;

use super::closest::{edge_edge, point, vertex_triangle};
use super::detection::{Body, Group, Item, Near, PairKind};
use super::rest_tree::{LEAF, RestTree};
use super::side::{NearestTriangle, nearest_triangle, pseudo_normal};
use super::swept_boxes::TreeBoxes;
use super::{Moment, SweptBoxes};

/// What a task found, and the memory it needs.
#[derive(Debug, Default)]
pub struct Found {
    pub(super) nears: Vec<Near>,
    /// Where the pairs of each group end.
    pub(super) parts: Vec<(Group, usize)>,
    pub(super) visits: u64,
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

/// A tree of a body and its boxes.
#[derive(Clone, Copy)]
struct Boxed<'a> {
    tree: &'a RestTree,
    boxes: &'a TreeBoxes,
}

/// Calls `hit` with every item of a leaf of `a` and item of `b` whose boxes overlap. Where `once`, both are the same, and
/// each pair is found from the one that comes first. Returns whether any leaf of `b` overlapped.
#[inline(always)]
fn overlapping(
    a: Boxed<'_>,
    leaf: u32,
    b: Boxed<'_>,
    once: bool,
    visits: &mut u64,
    mut hit: impl FnMut(usize, u32, u32),
) -> bool {
    let own = &a.boxes.leaves[leaf as usize];
    let whole = a.boxes.nodes[a.boxes.leaf_nodes[leaf as usize] as usize];
    let items = a.tree.items(leaf);
    let mut any = false;
    let nodes = &b.tree.nodes[..b.boxes.nodes.len()];
    let mut k = 0;
    while k < nodes.len() {
        let (node, there) = (nodes[k], &b.boxes.nodes[k]);
        *visits += 1;
        // The first leaf behind this node.
        let end = nodes.get(node.skip as usize).map_or(u32::MAX, |next| next.leaf);
        if (once && end <= leaf) || !whole.overlaps(there) {
            k = node.skip as usize;
            continue;
        }
        k += 1;
        if node.skip as usize != k {
            continue;
        }
        any = true;
        let others = b.tree.items(node.leaf);
        let leaf_there = &b.boxes.leaves[node.leaf as usize];
        let mut rows = own.overlaps(there);
        while rows != 0 {
            let i = rows.trailing_zeros() as usize;
            rows &= rows - 1;
            *visits += 1;
            let mut columns = leaf_there.overlaps(&own.item(i));
            if once && node.leaf == leaf {
                columns &= !1 << i;
            }
            while columns != 0 {
                let j = columns.trailing_zeros() as usize;
                columns &= columns - 1;
                hit(i, items[i], others[j]);
            }
        }
    }
    any
}

pub(super) fn run_item(item: &Item, a: Body<'_>, b: Body<'_>, found: &mut Found) {
    let same = item.group.first == item.group.second;
    match item.group.kind {
        PairKind::EdgeEdge => edges(item, a, b, same, found),
        PairKind::VertexVertex => balls(item, a, b, same, found),
        PairKind::VertexTriangle if item.search.nearest => nearest(item, a, b, found),
        PairKind::VertexTriangle => triangles(item, a, b, same, found),
    }
}

/// How far a primitive may come from where it is measured.
#[inline(always)]
fn way<const N: usize>(boxes: &SweptBoxes, vertices: [u32; N]) -> f64 {
    vertices.iter().fold(0.0, |most, &v| boxes.way(v).max(most))
}

fn edges(item: &Item, a: Body<'_>, b: Body<'_>, same: bool, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, .. } = found;
    let (of_a, of_b) = (edges_of(a), edges_of(b));
    for leaf in item.leaves.clone() {
        overlapping(of_a, leaf, of_b, same, visits, |_, first, second| {
            if same && a.surface.edges_meet(first, second) {
                return;
            }
            let (p, q) = (a.surface.edges()[first as usize], b.surface.edges()[second as usize]);
            let [p0, p1] = p.map(|v| a.boxes.point(v, moment));
            let [q0, q1] = q.map(|v| b.boxes.point(v, moment));
            let at = edge_edge([p0, p1], [q0, q1]);
            let squared = ((p0 - q0) + at[0] * (p1 - p0) - at[1] * (q1 - q0)).length_squared();
            let limit = reach + way(a.boxes, p) + way(b.boxes, q);
            if squared <= limit * limit {
                nears.push(Near { first, second, at, distance: squared.sqrt() });
            }
        });
    }
}

fn triangles(item: &Item, a: Body<'_>, b: Body<'_>, same: bool, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, .. } = found;
    let (of_a, of_b) = (vertices_of(a), triangles_of(b));
    for leaf in item.leaves.clone() {
        overlapping(of_a, leaf, of_b, false, visits, |_, first, second| {
            if same && a.surface.has_vertex(second, first) {
                return;
            }
            let near = measure(a, first, b, second, moment);
            let corners = b.surface.triangles()[second as usize];
            let limit = reach + a.surface.radius(first) + a.boxes.way(first) + way(b.boxes, corners);
            if near.distance <= limit {
                nears.push(Near { distance: near.distance - a.surface.radius(first), ..near });
            }
        });
    }
}

/// A vertex and a triangle, centres of balls counting.
#[inline(always)]
fn measure(a: Body<'_>, first: u32, b: Body<'_>, second: u32, moment: Moment) -> Near {
    let p = a.boxes.point(first, moment);
    let corners = b.surface.triangles()[second as usize].map(|v| b.boxes.point(v, moment));
    let weights = vertex_triangle(p, corners);
    Near { first, second, at: [weights[1], weights[2]], distance: apart(p, corners, weights) }
}

/// Between a point and a point of a triangle; of differences, so that little is lost far from the origin.
#[inline(always)]
fn apart(p: DVec3, corners: [DVec3; 3], weights: [f64; 3]) -> f64 {
    point(corners.map(|c| c - p), weights).length()
}

fn balls(item: &Item, a: Body<'_>, b: Body<'_>, same: bool, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, .. } = found;
    let (of_a, of_b) = (vertices_of(a), vertices_of(b));
    for leaf in item.leaves.clone() {
        overlapping(of_a, leaf, of_b, same, visits, |_, first, second| {
            let between = a.boxes.point(first, moment).distance(b.boxes.point(second, moment));
            let distance = between - a.surface.radius(first) - b.surface.radius(second);
            if distance <= reach + a.boxes.way(first) + b.boxes.way(second) {
                nears.push(Near { first, second, at: [0.0; 2], distance });
            }
        });
    }
}

/// For each vertex the nearest triangle, if there is one in reach, or if it is inside.
fn nearest(item: &Item, a: Body<'_>, b: Body<'_>, found: &mut Found) {
    let moment = item.search.moment;
    let reach = a.boxes.margin() + b.boxes.margin();
    let Found { nears, visits, .. } = found;
    let (of_a, of_b) = (vertices_of(a), triangles_of(b));
    for leaf in item.leaves.clone() {
        let mut best: [Option<Near>; LEAF] = [None; LEAF];
        let touched = overlapping(of_a, leaf, of_b, false, visits, |slot, first, second| {
            let near = measure(a, first, b, second, moment);
            let corners = b.surface.triangles()[second as usize];
            let limit = reach + a.surface.radius(first) + a.boxes.way(first) + way(b.boxes, corners);
            let better = best[slot].is_none_or(|best| {
                near.distance < best.distance || (near.distance == best.distance && second < best.second)
            });
            if near.distance <= limit && better {
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
        if !touched && side(a, vertices[0], b, moment).is_none_or(|(_, inside)| !inside) {
            continue;
        }
        for (&vertex, best) in vertices.iter().zip(best) {
            nears.extend(signed(a, vertex, b, best, reach, moment));
        }
    }
}

/// The nearest triangle of all, and whether the vertex is inside.
fn side(a: Body<'_>, vertex: u32, b: Body<'_>, moment: Moment) -> Option<(NearestTriangle, bool)> {
    let p = a.boxes.point(vertex, moment);
    let nearest = nearest_triangle(b.surface, b.boxes, p, moment)?;
    Some((nearest, is_inside(b, p, nearest.triangle, nearest.weights, moment)))
}

fn is_inside(b: Body<'_>, p: DVec3, triangle: u32, weights: [f64; 3], moment: Moment) -> bool {
    let corners = b.surface.triangles()[triangle as usize].map(|v| b.boxes.point(v, moment) - p);
    pseudo_normal(b.surface, b.boxes, triangle, weights, moment).dot(point(corners, weights)) > 0.0
}

/// The nearest triangle of a closed surface with a sign, given the best of those whose boxes overlap.
fn signed(
    a: Body<'_>,
    vertex: u32,
    b: Body<'_>,
    best: Option<Near>,
    reach: f64,
    moment: Moment,
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
    match side(a, vertex, b, moment) {
        Some((nearest, true)) => {
            let NearestTriangle { triangle, weights, distance } = nearest;
            found(Near { first: vertex, second: triangle, at: [weights[1], weights[2]], distance }, true)
        }
        _ => best.and_then(|near| found(near, false)),
    }
}

fn vertices_of<'a>(body: Body<'a>) -> Boxed<'a> {
    Boxed { tree: &body.surface.vertex_tree, boxes: &body.boxes.vertices }
}

fn triangles_of<'a>(body: Body<'a>) -> Boxed<'a> {
    Boxed { tree: &body.surface.triangle_tree, boxes: &body.boxes.triangles }
}

fn edges_of<'a>(body: Body<'a>) -> Boxed<'a> {
    Boxed { tree: &body.surface.edge_tree, boxes: &body.boxes.edges }
}
