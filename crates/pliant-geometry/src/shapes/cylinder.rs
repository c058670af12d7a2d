//! An upright cylinder.

use super::Shape;
use super::field::{DistanceField, visual_cell};
use super::revolve::{revolve, segments, steps};
use crate::error::positive;
use crate::{GeometryError, TriMesh, sdf};
use glam::DVec3;

/// A cylinder along the y axis.
pub fn cylinder(radius: f64, height: f64, spacing: f64) -> Result<Shape, GeometryError> {
    field(radius, height)?.shape(spacing)
}

pub(super) fn field(radius: f64, height: f64) -> Result<DistanceField, GeometryError> {
    positive("radius", radius)?;
    positive("height", height)?;
    let hi = DVec3::new(radius, 0.5 * height, radius);
    let size = (2.0 * radius).max(height);
    Ok(DistanceField {
        distance: Box::new(move |p| sdf::cylinder(p, radius, 0.5 * height)),
        surface: Box::new(move |spacing| surface(radius, height, visual_cell(spacing, size))),
        lo: -hi,
        hi,
    })
}

fn surface(radius: f64, height: f64, cell: f64) -> TriMesh {
    let cell = cell.min(radius / 3.0);
    let (rings, rows) = (steps(radius, cell), steps(height, cell));
    // A ring a little inside either side of the rim keeps smooth shading from rounding it off.
    let rim = 0.02 * radius.min(height);
    let y = 0.5 * height;
    let mut profile = vec![(0.0, -y)];
    profile.extend((1..rings).map(|i| (radius * i as f64 / rings as f64, -y)));
    profile.extend([(radius - rim, -y), (radius, -y), (radius, -y + rim)]);
    profile.extend((1..rows).map(|i| (radius, -y + height * i as f64 / rows as f64)));
    profile.extend([(radius, y - rim), (radius, y), (radius - rim, y)]);
    profile.extend((1..rings).rev().map(|i| (radius * i as f64 / rings as f64, y)));
    profile.push((0.0, y));
    revolve(&profile, segments(radius, cell))
}
