//! Checks of meshes against each other that share no code with what finds contacts: slow, simple and exact where it counts.

use robust::{Coord3D, orient3d};

/// A point.
pub type Point = [f64; 3];

/// A mesh to be checked: vertices and the triangles between them.
#[derive(Clone, Copy, Debug)]
pub struct Mesh<'a> {
    /// Where the vertices are.
    pub positions: &'a [Point],
    /// Triangles between them.
    pub triangles: &'a [[u32; 3]],
}

/// How often edges of one mesh pass through triangles of the other, both ways around. Touching counts; edges in the plane of a
/// triangle do not.
pub fn crossings(a: Mesh<'_>, b: Mesh<'_>) -> usize {
    edges_through(a, b, false) + edges_through(b, a, false)
}

/// How often edges of a mesh pass through triangles of its own that have no vertex in common with them.
pub fn self_crossings(mesh: Mesh<'_>) -> usize {
    edges_through(mesh, mesh, true)
}

/// Edges of `a` through triangles of `b`, both sorted along x so that only what overlaps there is compared.
fn edges_through(a: Mesh<'_>, b: Mesh<'_>, same: bool) -> usize {
    let span = |points: &[Point]| {
        let x = points.iter().map(|p| p[0]);
        (x.clone().fold(f64::INFINITY, f64::min), x.fold(f64::NEG_INFINITY, f64::max))
    };
    let mut edges: Vec<_> =
        edges(a.triangles).into_iter().map(|e| (span(&e.map(|v| a.positions[v as usize])), e)).collect();
    let mut triangles: Vec<_> =
        b.triangles.iter().map(|t| (span(&t.map(|v| b.positions[v as usize])), *t)).collect();
    edges.sort_by(|e, f| e.0.0.total_cmp(&f.0.0));
    triangles.sort_by(|t, u| t.0.0.total_cmp(&u.0.0));
    let widest = triangles.iter().map(|((lo, hi), _)| hi - lo).fold(0.0, f64::max);
    let mut count = 0;
    for ((lo, hi), edge) in edges {
        let first = triangles.partition_point(|t| t.0.0 < lo - 1.0001 * widest);
        for ((_, end), triangle) in triangles[first..].iter().take_while(|t| t.0.0 <= hi) {
            let own = same && triangle.iter().any(|v| edge.contains(v));
            let through =
                || passes(edge.map(|v| a.positions[v as usize]), triangle.map(|v| b.positions[v as usize]));
            count += usize::from(*end >= lo && !own && through());
        }
    }
    count
}

/// Every edge once, the lower vertex first.
fn edges(triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    let mut edges: Vec<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// Whether an edge passes through a triangle, by exact signs of volumes.
pub fn passes([p, q]: [Point; 2], [a, b, c]: [Point; 3]) -> bool {
    let beside = |k: usize| {
        let (lo, hi) = (p[k].min(q[k]), p[k].max(q[k]));
        a[k].max(b[k]).max(c[k]) < lo || a[k].min(b[k]).min(c[k]) > hi
    };
    if (0..3).any(beside) {
        return false;
    }
    let coord = |[x, y, z]: Point| Coord3D { x, y, z };
    let volume = |a, b, c, d| orient3d(coord(a), coord(b), coord(c), coord(d));
    let (below, above) = (volume(a, b, c, p), volume(a, b, c, q));
    if (below > 0.0 && above > 0.0) || (below < 0.0 && above < 0.0) || (below == 0.0 && above == 0.0) {
        return false;
    }
    let around = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    around.iter().all(|v| *v >= 0.0) || around.iter().all(|v| *v <= 0.0)
}

fn sub(a: Point, b: Point) -> Point {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn dot(a: Point, b: Point) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Point, b: Point) -> Point {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: Point) -> f64 {
    dot(a, a).sqrt()
}

/// The point at a part of the way.
fn between(a: Point, b: Point, part: f64) -> Point {
    [a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2])]
}

/// How far a point is from a segment.
pub fn point_segment(p: Point, [a, b]: [Point; 2]) -> f64 {
    let (along, from) = (sub(b, a), sub(p, a));
    let squared = dot(along, along);
    let part = if squared > 0.0 { (dot(from, along) / squared).clamp(0.0, 1.0) } else { 0.0 };
    length(sub(p, between(a, b, part)))
}

/// How far a point is from a triangle: from its edges, or from its plane where it stands above the inside.
pub fn point_triangle(p: Point, [a, b, c]: [Point; 3]) -> f64 {
    let rim = [[a, b], [b, c], [c, a]].map(|s| point_segment(p, s)).into_iter().fold(f64::INFINITY, f64::min);
    let normal = cross(sub(b, a), sub(c, a));
    let size = length(normal);
    // A triangle that thin is its edges.
    if size <= 1e-10 * length(sub(b, a)) * length(sub(c, a)) {
        return rim;
    }
    let inner = |a, b| dot(cross(sub(b, a), sub(p, a)), normal) >= 0.0;
    if inner(a, b) && inner(b, c) && inner(c, a) {
        rim.min((dot(sub(p, a), normal) / size).abs())
    } else {
        rim
    }
}

/// How far two segments are from each other: from end to segment, or between their lines where both come nearest within.
pub fn segment_segment([a, b]: [Point; 2], [c, d]: [Point; 2]) -> f64 {
    let ends = [
        point_segment(a, [c, d]),
        point_segment(b, [c, d]),
        point_segment(c, [a, b]),
        point_segment(d, [a, b]),
    ];
    let least = ends.into_iter().fold(f64::INFINITY, f64::min);
    let (u, v, w) = (sub(b, a), sub(d, c), sub(c, a));
    let normal = cross(u, v);
    let squared = dot(normal, normal);
    if squared <= 1e-20 * dot(u, u) * dot(v, v) {
        return least;
    }
    let (s, t) = (dot(cross(w, v), normal) / squared, dot(cross(w, u), normal) / squared);
    let within = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    if within { least.min(dot(w, normal).abs() / squared.sqrt()) } else { least }
}

/// How far a point is from a closed mesh, negative inside: all triangles, and the sum of the angles they are seen under.
pub fn signed_distance(mesh: Mesh<'_>, p: Point) -> f64 {
    let (mut least, mut angle) = (f64::INFINITY, 0.0);
    for t in mesh.triangles {
        let corners = t.map(|v| mesh.positions[v as usize]);
        least = least.min(point_triangle(p, corners));
        // Van Oosterom and Strackee 1983, "The solid angle of a plane triangle".
        let [a, b, c] = corners.map(|c| sub(c, p));
        let (la, lb, lc) = (length(a), length(b), length(c));
        let below = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb;
        angle += 2.0 * dot(a, cross(b, c)).atan2(below);
    }
    // Once around is 4π.
    if angle > 2.0 * std::f64::consts::PI { -least } else { least }
}

/// How deep a mesh is inside a closed one at its worst, of its vertices, middles of edges and centres of triangles; 0 if none is
/// inside.
pub fn deepest(mesh: Mesh<'_>, inside: Mesh<'_>) -> f64 {
    let bounds = |k: usize| {
        let all = inside.positions.iter().map(|p| p[k]);
        (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max))
    };
    let bounds = [bounds(0), bounds(1), bounds(2)];
    let near = |p: &Point| (0..3).all(|k| bounds[k].0 <= p[k] && p[k] <= bounds[k].1);
    let at = |v: u32| mesh.positions[v as usize];
    let middles = edges(mesh.triangles).into_iter().map(|[a, b]| between(at(a), at(b), 0.5));
    let centres =
        mesh.triangles.iter().map(|&[a, b, c]| between(between(at(a), at(b), 0.5), at(c), 1.0 / 3.0));
    let samples = mesh.positions.iter().copied().chain(middles).chain(centres).filter(near);
    samples.map(|p| -signed_distance(inside, p)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube from 0 to 1 in a place, turned outward.
    fn cube(at: Point) -> (Vec<Point>, Vec<[u32; 3]>) {
        let corner =
            |i: usize| [at[0] + (i & 1) as f64, at[1] + (i >> 1 & 1) as f64, at[2] + (i >> 2) as f64];
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles = sides.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
        ((0..8).map(corner).collect(), triangles)
    }

    #[test]
    fn a_cube_knows_its_inside_and_what_passes_through_it() {
        let (positions, triangles) = cube([0.0; 3]);
        let mesh = Mesh { positions: &positions, triangles: &triangles };
        assert_eq!(signed_distance(mesh, [0.5, 0.5, 0.9]), -(1.0 - 0.9));
        assert!((signed_distance(mesh, [2.0, 2.0, 0.5]) - 2.0_f64.sqrt()).abs() < 1e-15);
        assert_eq!(self_crossings(mesh), 0);
        for (shift, crossing, deep) in [
            ([0.5, 0.25, 0.75], true, 0.25),
            ([1.5, 0.0, 0.0], false, 0.0),
            ([0.0, 0.1, 1.000001], false, 0.0),
        ] {
            let (positions, triangles) = cube(shift);
            let other = Mesh { positions: &positions, triangles: &triangles };
            assert_eq!(crossings(mesh, other) > 0, crossing, "{shift:?}");
            assert!((deepest(other, mesh) - deep).abs() < 1e-12, "{shift:?}");
        }
    }

    #[test]
    fn exact_signs_see_what_rounding_does_not() {
        let t = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert!(passes([[0.25, 0.25, -1.0], [0.25, 0.25, 1e-300]], t));
        assert!(!passes([[0.25, 0.25, 1e-300], [0.25, 0.25, 1.0]], t));
        assert!(passes([[0.5, 0.5, -1.0], [0.5, 0.5, 1.0]], t), "at an edge");
        assert!(!passes([[0.5, 0.5 + 1e-16 * 2.0, -1.0], [0.5, 0.5 + 1e-16 * 2.0, 1.0]], t));
        assert!(!passes([[0.2, 0.2, 0.0], [0.4, 0.4, 0.0]], t), "in the plane");
    }

    #[test]
    fn segments_that_cross_and_those_that_are_parallel() {
        let a = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]];
        assert_eq!(segment_segment(a, [[0.5, -1.0, 0.25], [0.5, 1.0, 0.25]]), 0.25);
        assert_eq!(segment_segment(a, [[0.5, 2.0, 0.0], [3.0, 2.0, 0.0]]), 2.0);
        assert_eq!(segment_segment(a, [[1.0, 2.0, 0.0], [1.0, 2.0, 0.0]]), 2.0);
        assert_eq!(point_triangle([0.5, -3.0, 0.0], [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]), 3.0);
    }
}
