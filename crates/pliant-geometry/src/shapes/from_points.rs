//! A body from bare points.

use super::Shape;
use crate::error::all_finite;
use crate::{GeometryError, KdTree, Skin, TriMesh};
use glam::DVec3;

/// Springs reach this many times the usual distance to the nearest neighbour: on a lattice, edges, face
/// diagonals and space diagonals, but not two steps.
const REACH: f64 = 1.8;
/// Most neighbours a point is tied to; a dense clump in a sparse cloud would tie all its pairs.
const MOST: usize = 26;

/// The points as particles, without triangles. Each stands for a cube as wide as the usual distance between
/// neighbours, and is tied to the points within 1.8 times that distance.
pub fn from_points(points: Vec<DVec3>) -> Result<Shape, GeometryError> {
    if points.is_empty() {
        return Err(GeometryError::new("there are no points", "give at least one point"));
    }
    all_finite("point", &points)?;
    let tree = KdTree::new(&points);
    let usual = usual_distance(&points, &tree);
    let mut edges = Vec::new();
    let mut near = Vec::new();
    for (i, &p) in points.iter().enumerate() {
        tree.nearest(p, MOST + 1, &mut near);
        for &(d2, j) in near.iter().filter(|n| n.1 as usize != i) {
            if d2 <= (REACH * usual) * (REACH * usual) {
                edges.push([(i as u32).min(j), (i as u32).max(j)]);
            }
        }
    }
    // A pair is often found from both ends, and from one only where the other has nearer ones.
    edges.sort_unstable();
    edges.dedup();
    Ok(Shape {
        measure: vec![if usual > 0.0 { usual * usual * usual } else { 1.0 }; points.len()],
        surface: TriMesh { positions: points.clone(), triangles: Vec::new() },
        skin: Skin::identity(points.len()),
        edges,
        points,
        ..Shape::default()
    })
}

/// Median distance to the nearest point that is not in the same place; zero if there is none.
fn usual_distance(points: &[DVec3], tree: &KdTree) -> f64 {
    let mut near = Vec::new();
    let mut nearest: Vec<f64> = points
        .iter()
        .filter_map(|&p| {
            tree.nearest(p, 9, &mut near);
            near.iter().map(|n| n.0).find(|&d2| d2 > 0.0)
        })
        .collect();
    if nearest.is_empty() {
        return 0.0;
    }
    let middle = nearest.len() / 2;
    nearest.select_nth_unstable_by(middle, f64::total_cmp).1.sqrt()
}
