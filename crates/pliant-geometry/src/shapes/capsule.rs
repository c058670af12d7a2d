//! An upright capsule: a cylinder with round ends.

use super::Shape;
use super::field::{DistanceField, visual_cell};
use super::revolve::{revolve, segments, steps};
use crate::circle::turn;
use crate::error::positive;
use crate::{GeometryError, TriMesh, sdf};
use glam::DVec3;

/// A capsule along the y axis; `height` is from tip to tip and must be at least twice the radius.
pub fn capsule(radius: f64, height: f64, spacing: f64) -> Result<Shape, GeometryError> {
    field(radius, height)?.shape(spacing)
}

pub(super) fn field(radius: f64, height: f64) -> Result<DistanceField, GeometryError> {
    positive("radius", radius)?;
    positive("height", height)?;
    if height < 2.0 * radius {
        return Err(GeometryError::new(
            format!("a capsule of height {height} has no room for its ends of radius {radius}"),
            format!("make it at least {} m high (twice the radius), or use a ball", 2.0 * radius),
        ));
    }
    let tip = DVec3::Y * (0.5 * height - radius);
    let hi = DVec3::new(radius, 0.5 * height, radius);
    Ok(DistanceField {
        distance: Box::new(move |p| sdf::capsule(p, -tip, tip, radius)),
        surface: Box::new(move |spacing| surface(radius, height, visual_cell(spacing, height))),
        lo: -hi,
        hi,
    })
}

fn surface(radius: f64, height: f64, cell: f64) -> TriMesh {
    let around = segments(radius, cell.min(radius / 3.0));
    let quarter = around / 4;
    let straight = height - 2.0 * radius;
    // A length of zero still gets its one ring twice apart by nothing; leave it out.
    let rows = if straight > 1e-9 * height { steps(straight, cell.min(radius / 3.0)) } else { 0 };
    let mut profile = Vec::new();
    for i in 0..=quarter {
        let (c, s) = turn(i, around);
        profile.push((radius * s, -0.5 * straight - radius * c));
    }
    profile.extend((1..rows).map(|i| (radius, -0.5 * straight + straight * i as f64 / rows as f64)));
    for i in usize::from(rows == 0)..=quarter {
        let (c, s) = turn(i, around);
        profile.push((radius * c, 0.5 * straight + radius * s));
    }
    revolve(&profile, around)
}
