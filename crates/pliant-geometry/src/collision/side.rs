//! Inside or outside of a closed surface: the nearest triangle of all, and the normal that tells the side.

use super::closest::vertex_triangle;
use super::{CollisionSurface, MotionEnd, SweptBoxes};
use crate::triangle::weighted;
use glam::DVec3;

/// Levels of a tree of as many items as an index can number.
const DEPTH: usize = 64;

/// The point of a surface nearest to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NearestTriangle {
    /// The triangle; of several in the same distance the first.
    pub triangle: u32,
    /// Weights of its corners that make the point, in sum one.
    pub weights: [f64; 3],
    /// How far away it is.
    pub distance: f64,
}

/// The nearest point of a surface as it is at one end of its motion, beginning with a triangle that may be near; none if it
/// has no triangles, or none that are anywhere.
pub(super) fn nearest_from(
    surface: &CollisionSurface,
    boxes: &SweptBoxes,
    p: DVec3,
    moment: MotionEnd,
    near: Option<u32>,
) -> Option<NearestTriangle> {
    let (nodes, tree) = (&boxes.triangles.nodes, &surface.triangle_tree);
    let seen = p - boxes.origin();
    let away = |k: u32| {
        let (lo, hi) = (nodes[k as usize].lo, nodes[k as usize].hi);
        let axis = |k: usize| (f64::from(lo[k]) - seen[k]).max(seen[k] - f64::from(hi[k])).max(0.0);
        let (x, y, z) = (axis(0), axis(1), axis(2));
        x * x + y * y + z * z
    };
    let mut best: Option<(f64, NearestTriangle)> = None;
    let look = |triangle: u32, best: &mut Option<(f64, NearestTriangle)>| {
        let corners = surface.triangles()[triangle as usize].map(|v| boxes.point(v, moment));
        let weights = vertex_triangle(p, corners);
        let squared = weighted(corners.map(|c| c - p), weights).length_squared();
        let nearer = match *best {
            Some((least, there)) => squared < least || (squared == least && triangle < there.triangle),
            None => squared.is_finite(),
        };
        if nearer {
            *best = Some((squared, NearestTriangle { triangle, weights, distance: squared.sqrt() }));
        }
    };
    if let Some(triangle) = near {
        look(triangle, &mut best);
    }
    let mut open = [(0.0, 0_u32); DEPTH];
    let mut count = usize::from(!nodes.is_empty());
    while count > 0 {
        count -= 1;
        let (near, k) = open[count];
        if best.is_some_and(|(limit, _)| near > limit) {
            continue;
        }
        let first = k + 1;
        let node = tree.nodes[k as usize];
        if node.skip != first {
            let mut children = [first, tree.nodes[first as usize].skip].map(|c| (away(c), c));
            // The nearer one is on top, so that the other can mostly be passed over.
            if children[0].0 < children[1].0 {
                children.swap(0, 1);
            }
            open[count..count + 2].copy_from_slice(&children);
            count += 2;
            continue;
        }
        let limit = best.map_or(f64::INFINITY, |(limit, _)| limit);
        let mut near = boxes.triangles.leaves[node.leaf as usize].within(seen, limit);
        let items = tree.items(node.leaf);
        while near != 0 {
            let k = near.trailing_zeros() as usize;
            near &= near - 1;
            if let Some(&triangle) = items.get(k) {
                look(triangle, &mut best);
            }
        }
    }
    best.map(|(_, nearest)| nearest)
}

/// The normal at a point of a triangle, not of length one: of the face, of both faces at an edge, or of all around a vertex by
/// their angles (Bærentzen and Aanæs 2005, "Signed distance computation using the angle weighted pseudonormal"). What is nearest
/// to a point there is on the outside of a closed surface where the way to it goes along this. Zero where there is no area.
pub(super) fn pseudo_normal(
    surface: &CollisionSurface,
    boxes: &SweptBoxes,
    triangle: u32,
    weights: [f64; 3],
    moment: MotionEnd,
) -> DVec3 {
    let corners = |t: u32| surface.triangles()[t as usize].map(|v| boxes.point(v, moment));
    let face = |t: u32| {
        let [a, b, c] = corners(t);
        unit((b - a).cross(c - a))
    };
    let own = surface.triangles()[triangle as usize];
    let on: [bool; 3] = weights.map(|w| w > 0.0);
    match on {
        [true, true, true] => face(triangle),
        [true, false, false] => around_vertex(surface, own[0], &corners),
        [false, true, false] => around_vertex(surface, own[1], &corners),
        [false, false, true] => around_vertex(surface, own[2], &corners),
        _ => {
            let off = on.iter().position(|on| !on).unwrap_or(0);
            let (a, b) = (own[(off + 1) % 3], own[(off + 2) % 3]);
            surface.around(a).iter().filter(|t| surface.has_vertex(**t, b)).map(|&t| face(t)).sum()
        }
    }
}

fn around_vertex(surface: &CollisionSurface, vertex: u32, corners: &impl Fn(u32) -> [DVec3; 3]) -> DVec3 {
    let weighted = |&t: &u32| {
        let [a, b, c] = corners(t);
        let normal = unit((b - a).cross(c - a));
        let own = surface.triangles()[t as usize];
        let (u, v) = match own.iter().position(|v| *v == vertex) {
            Some(0) => (b - a, c - a),
            Some(1) => (c - b, a - b),
            _ => (a - c, b - c),
        };
        normal * u.cross(v).length().atan2(u.dot(v))
    };
    surface.around(vertex).iter().map(weighted).sum()
}

/// Of length one, or zero; also of what is too small or large to be squared.
fn unit(v: DVec3) -> DVec3 {
    let largest = v.abs().max_element();
    if largest > 0.0 && largest.is_finite() { (v / largest).normalize_or_zero() } else { DVec3::ZERO }
}
