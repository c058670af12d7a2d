//! A torus lying flat.

use super::Shape;
use super::field::{DistanceField, visual_cell};
use super::revolve::segments;
use crate::circle::turn;
use crate::error::positive;
use crate::{GeometryError, TriMesh, sdf};
use glam::DVec3;

/// A torus around the y axis: a tube of radius `minor` whose middle is at distance `major` from the axis.
pub fn torus(major: f64, minor: f64, spacing: f64) -> Result<Shape, GeometryError> {
    field(major, minor)?.shape(spacing)
}

pub(super) fn field(major: f64, minor: f64) -> Result<DistanceField, GeometryError> {
    positive("major radius", major)?;
    positive("minor radius", minor)?;
    if minor >= major {
        return Err(GeometryError::new(
            format!("a torus with minor radius {minor} and major radius {major} runs into itself"),
            "make the minor radius smaller than the major radius",
        ));
    }
    let hi = DVec3::new(major + minor, minor, major + minor);
    let size = 2.0 * (major + minor);
    Ok(DistanceField {
        distance: Box::new(move |p| sdf::torus(p, major, minor)),
        surface: Box::new(move |spacing| surface(major, minor, visual_cell(spacing, size))),
        lo: -hi,
        hi,
    })
}

fn surface(major: f64, minor: f64, cell: f64) -> TriMesh {
    let (around, tube) = (segments(major + minor, cell), segments(minor, cell));
    let mut mesh = TriMesh::default();
    for i in 0..around {
        let (ci, si) = turn(i, around);
        for j in 0..tube {
            let (cj, sj) = turn(j, tube);
            let r = major + minor * cj;
            mesh.positions.push(DVec3::new(r * ci, minor * sj, r * si));
            let at = |i: usize, j: usize| (i % around * tube + j % tube) as u32;
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            mesh.triangles.extend([[a, d, c], [a, c, b]]);
        }
    }
    mesh
}
