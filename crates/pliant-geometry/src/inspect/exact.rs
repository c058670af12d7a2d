//! Exact answers about points, segments and triangles: which side, on one line, do they meet.
//!
//! All decisions are signs of determinants, computed exactly (Shewchuk 1997, "Adaptive precision floating-point
//! arithmetic and fast robust geometric predicates"), so touching and crossing are never confused by rounding.

use glam::DVec3;
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Which side of the plane through a, b and c the point d is on: the sign of the volume they span.
pub(crate) fn side(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> i8 {
    let at = |p: DVec3| Coord3D { x: p.x, y: p.y, z: p.z };
    sign(orient3d(at(a), at(b), at(c), at(d)))
}

fn sign(x: f64) -> i8 {
    i8::from(x > 0.0) - i8::from(x < 0.0)
}

/// The turn a → b → c seen along an axis.
fn turn(axis: usize, a: DVec3, b: DVec3, c: DVec3) -> i8 {
    let at = |p: DVec3| match axis {
        0 => Coord { x: p.y, y: p.z },
        1 => Coord { x: p.z, y: p.x },
        _ => Coord { x: p.x, y: p.y },
    };
    sign(orient2d(at(a), at(b), at(c)))
}

/// Whether three points lie on one line.
pub(crate) fn collinear(a: DVec3, b: DVec3, c: DVec3) -> bool {
    (0..3).all(|axis| turn(axis, a, b, c) == 0)
}

/// An axis along which a triangle is seen with area; `None` if it has none.
fn seen_along([a, b, c]: [DVec3; 3]) -> Option<usize> {
    (0..3).find(|&axis| turn(axis, a, b, c) != 0)
}

/// Whether a segment and a triangle with area have a point in common.
pub(crate) fn segment_meets([p, q]: [DVec3; 2], t: [DVec3; 3]) -> bool {
    let [a, b, c] = t;
    let (of_p, of_q) = (side(a, b, c, p), side(a, b, c, q));
    if of_p * of_q > 0 {
        return false;
    }
    if of_p == 0 && of_q == 0 {
        return segment_meets_in_plane([p, q], t);
    }
    // The line through p and q goes through the triangle if it passes all edges on the same side.
    let passed = [side(p, q, a, b), side(p, q, b, c), side(p, q, c, a)];
    passed.iter().all(|&s| s >= 0) || passed.iter().all(|&s| s <= 0)
}

fn segment_meets_in_plane([p, q]: [DVec3; 2], t: [DVec3; 3]) -> bool {
    let Some(axis) = seen_along(t) else { return false };
    let edges = [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let inside = edges.map(|[a, b]| turn(axis, a, b, p));
    if inside.iter().all(|&s| s >= 0) || inside.iter().all(|&s| s <= 0) {
        return true;
    }
    edges.iter().any(|&[a, b]| {
        let (of_a, of_b) = (turn(axis, p, q, a), turn(axis, p, q, b));
        let (of_p, of_q) = (turn(axis, a, b, p), turn(axis, a, b, q));
        if of_a == 0 && of_b == 0 && of_p == 0 && of_q == 0 {
            // On one line: they meet if they overlap along every axis.
            let (lo, hi) = (a.min(b), a.max(b));
            return p.min(q).cmple(hi).all() && p.max(q).cmpge(lo).all();
        }
        of_a * of_b <= 0 && of_p * of_q <= 0
    })
}

/// Whether two triangles with area have a point in common that is no vertex or edge they share by name.
pub(crate) fn triangles_meet(positions: &[DVec3], names: [[u32; 3]; 2]) -> bool {
    let [first, second] = names;
    let shared = first.map(|v| second.contains(&v));
    let at = |v: u32| positions[v as usize];
    match shared.iter().filter(|&&s| s).count() {
        0 => {
            let (t, u) = (first.map(at), second.map(at));
            let apart = |t: [DVec3; 3], u: [DVec3; 3]| {
                let of = u.map(|p| side(t[0], t[1], t[2], p));
                of == [1; 3] || of == [-1; 3]
            };
            // If they meet, an edge of one meets the other: where their common points end, one of them ends.
            let edges = |t: [DVec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
            !apart(t, u)
                && !apart(u, t)
                && (edges(t).into_iter().any(|e| segment_meets(e, u))
                    || edges(u).into_iter().any(|e| segment_meets(e, t)))
        }
        1 => {
            let v = first[shared.iter().position(|&s| s).unwrap_or(0)];
            let across = |t: [u32; 3]| {
                let k = t.iter().position(|&w| w == v).unwrap_or(0);
                [t[(k + 1) % 3], t[(k + 2) % 3]].map(at)
            };
            // Common points besides v lie on a ray from v, which leaves one of them first: across from v.
            segment_meets(across(first), second.map(at)) || segment_meets(across(second), first.map(at))
        }
        2 => {
            let lone = |t: [u32; 3], u: [u32; 3]| t.into_iter().find(|v| !u.contains(v));
            let (Some(a), Some(b)) = (lone(first, second), lone(second, first)) else { return false };
            let k = first.iter().position(|&v| v == a).unwrap_or(0);
            let [u, v] = [first[(k + 1) % 3], first[(k + 2) % 3]].map(at);
            let (a, b) = (at(a), at(b));
            // Folded flat onto one another.
            side(u, v, a, b) == 0
                && seen_along([u, v, a]).is_some_and(|axis| turn(axis, u, v, a) == turn(axis, u, v, b))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn meet(t: [[f64; 3]; 3], u: [[f64; 3]; 3]) -> bool {
        let points: Vec<DVec3> = t.into_iter().chain(u).map(DVec3::from_array).collect();
        // Equal points are one vertex.
        let name = |i: usize| points.iter().position(|&p| p == points[i]).unwrap_or(i) as u32;
        triangles_meet(&points, [[0, 1, 2], [3, 4, 5]].map(|t| t.map(name)))
    }

    #[test]
    fn triangles_that_cross_touch_or_miss() {
        let flat = [[0., 0., 0.], [4., 0., 0.], [0., 4., 0.]];
        // Through the middle, beside it, with one corner on it, above it.
        assert!(meet(flat, [[1., 1., -1.], [1., 1., 1.], [2., 1., 1.]]));
        assert!(!meet(flat, [[3., 3., -1.], [3., 3., 1.], [4., 3., 1.]]));
        assert!(meet(flat, [[1., 1., 0.], [1., 1., 1.], [2., 1., 1.]]));
        assert!(!meet(flat, [[1., 1., 1e-300], [1., 1., 1.], [2., 1., 1.]]));
        // In the same plane: inside, crossing, touching an edge, apart.
        assert!(meet(flat, [[1., 1., 0.], [2., 1., 0.], [1., 2., 0.]]));
        assert!(meet(flat, [[-1., 1., 0.], [2., 1., 0.], [-1., 2., 0.]]));
        assert!(meet(flat, [[1., 0., 0.], [2., 0., 0.], [1., -1., 0.]]));
        assert!(!meet(flat, [[3., 3., 0.], [5., 3., 0.], [3., 5., 0.]]));
        // One common vertex: only there, through one another, overlapping in the plane.
        assert!(!meet(flat, [[0., 0., 0.], [-1., 0., 1.], [-1., 1., 1.]]));
        assert!(meet(flat, [[0., 0., 0.], [2., 2., 1.], [1., 1., -1.]]));
        assert!(meet(flat, [[0., 0., 0.], [1., 2., 0.], [2., 1., 0.]]));
        // A common edge: hinged, flat side by side, folded flat.
        assert!(!meet(flat, [[0., 0., 0.], [4., 0., 0.], [0., 0., 4.]]));
        assert!(!meet(flat, [[0., 0., 0.], [4., 0., 0.], [0., -4., 0.]]));
        assert!(meet(flat, [[0., 0., 0.], [4., 0., 0.], [1., 1., 0.]]));
    }

    #[test]
    fn both_orders_and_all_walks_agree_with_points_sampled_on_small_grids() {
        let mut rng = SplitMix64::new(11);
        let mut met = 0;
        for _ in 0..4000 {
            let mut point = || [0; 3].map(|_| rng.below(4) as f64);
            let (t, u) = ([point(), point(), point()], [point(), point(), point()]);
            let area = |t: [[f64; 3]; 3]| !collinear(t[0].into(), t[1].into(), t[2].into());
            if !area(t) || !area(u) {
                continue;
            }
            let answer = meet(t, u);
            met += usize::from(answer);
            assert_eq!(answer, meet(u, t));
            assert_eq!(answer, meet([t[1], t[2], t[0]], [u[2], u[1], u[0]]));
            // If a fine sample of one lies exactly on the other, away from shared vertices, they meet.
            if t.iter().all(|p| !u.contains(p)) {
                let at = |i: u32, j: u32| {
                    let [a, b, c] = t.map(DVec3::from_array);
                    a + (b - a) * f64::from(i) / 8.0 + (c - a) * f64::from(j) / 8.0
                };
                let on = (0..=8)
                    .flat_map(|i| (0..=8 - i).map(move |j| (i, j)))
                    .any(|(i, j)| segment_meets([at(i, j), at(i, j)], u.map(DVec3::from_array)));
                assert!(answer || !on);
            }
        }
        assert!(met > 500);
    }
}
