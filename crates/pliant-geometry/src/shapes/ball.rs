//! A ball.

use super::field::{DistanceField, visual_cell};
use super::{Shape, revolve::steps};
use crate::error::positive;
use crate::{GeometryError, TriMesh, sdf};
use glam::DVec3;

/// A ball of the given radius.
pub fn ball(radius: f64, spacing: f64) -> Result<Shape, GeometryError> {
    field(radius)?.shape(spacing)
}

pub(super) fn field(radius: f64) -> Result<DistanceField, GeometryError> {
    positive("radius", radius)?;
    let distance = move |p| sdf::sphere(p, DVec3::ZERO, radius);
    Ok(DistanceField {
        distance: Box::new(distance),
        surface: Box::new(move |spacing| surface(radius, visual_cell(spacing, 2.0 * radius))),
        lo: DVec3::splat(-radius),
        hi: DVec3::splat(radius),
    })
}

/// A cube's six grids pushed out to the sphere: even triangles without poles, and no sines.
fn surface(radius: f64, cell: f64) -> TriMesh {
    let n = steps(radius * std::f64::consts::FRAC_PI_2, cell).max(4);
    let mut mesh = super::cuboid::box_surface([n + 1; 3]);
    for p in &mut mesh.positions {
        let unit = *p * (2.0 / n as f64) - DVec3::ONE;
        // Spreads the grid lines by nearly equal angles (a cheap stand-in for the tangent).
        let spread = unit * (0.7 + 0.3 * unit * unit);
        *p = spread.normalize_or_zero() * radius;
    }
    mesh
}
