//! What constraints on surfaces need of a mesh at rest: cotangents, areas of vertices, edges with two triangles.

use crate::points::Points;
use glam::DVec3;

/// Cotangents are kept within this, that of an angle of half a degree: thinner triangles would make rows
/// so large that nothing else in the system counts.
const STEEPEST: f64 = 115.0;

/// Cotangents of a triangle's angles at its corners. Obtuse angles have negative ones, without which flat
/// meshes would seem curved.
pub(super) fn cotangents([a, b, c]: [DVec3; 3]) -> [f64; 3] {
    let doubled = (b - a).cross(c - a).length();
    let at = |p: DVec3, q: DVec3, r: DVec3| {
        let dot = (q - p).dot(r - p);
        let cot = dot / doubled;
        if cot.is_finite() { cot.clamp(-STEEPEST, STEEPEST) } else { STEEPEST * dot.signum() }
    };
    [at(a, b, c), at(b, c, a), at(c, a, b)]
}

/// The corners of a triangle.
pub(super) fn corners(triangle: [u32; 3], x: &Points) -> [DVec3; 3] {
    triangle.map(|i| x.get(i as usize))
}

/// Area of a triangle.
pub(super) fn area([a, b, c]: [DVec3; 3]) -> f64 {
    0.5 * (b - a).cross(c - a).length()
}

/// Mixed Voronoi areas of all vertices (Meyer et al. 2003, figure 4): Voronoi cells, cut off at obtuse
/// triangles. They are positive and sum to the area of the mesh.
pub(super) fn mixed_areas(triangles: &[[u32; 3]], x: &Points) -> Vec<f64> {
    let mut areas = vec![0.0; x.len()];
    for &t in triangles {
        let points = corners(t, x);
        let (whole, cot) = (area(points), cotangents(points));
        let obtuse = cot.iter().position(|c| *c < 0.0);
        for k in 0..3 {
            let (next, last) = ((k + 1) % 3, (k + 2) % 3);
            areas[t[k] as usize] += match obtuse {
                Some(corner) if corner == k => whole / 2.0,
                Some(_) => whole / 4.0,
                // The edge to the next corner is opposite the last, and the other way round.
                None => {
                    (cot[last] * (points[next] - points[k]).length_squared()
                        + cot[next] * (points[last] - points[k]).length_squared())
                        / 8.0
                }
            };
        }
    }
    areas
}

/// An edge of a surface: it leads from `edge[0]` to `edge[1]` in the triangle with the corner `left`, the
/// other way in the triangle with `right`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hinge {
    pub edge: [u32; 2],
    pub left: u32,
    pub right: u32,
}

/// The edges of a mesh.
#[derive(Debug, Default)]
pub(super) struct Edges {
    /// Edges between two triangles of one orientation, sorted.
    pub hinges: Vec<Hinge>,
    /// All others: borders, edges of three triangles, and where neighbours are turned against each other.
    pub others: Vec<[u32; 2]>,
}

/// Sorts the edges of a mesh.
pub(super) fn edges(triangles: &[[u32; 3]]) -> Edges {
    // (smaller, larger, whether it leads that way, opposite corner)
    let mut sides: Vec<([u32; 2], bool, u32)> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [(a, b, c), (b, c, a), (c, a, b)])
        .map(|(i, j, opposite)| ([i.min(j), i.max(j)], j < i, opposite))
        .collect();
    sides.sort_unstable();
    let mut all = Edges::default();
    for same in sides.chunk_by(|a, b| a.0 == b.0) {
        match same {
            [(edge, false, left), (_, true, right)] => {
                all.hinges.push(Hinge { edge: *edge, left: *left, right: *right });
            }
            _ => all.others.push(same[0].0),
        }
    }
    all
}
