//! A gummy bear, sitting with its paws on its belly, as the sweet shop sells it.

use super::Shape;
use super::field::{DistanceField, center, visual_cell};
use crate::GeometryError;
use crate::contour::contour;
use crate::error::positive;
use crate::sdf::{Frame, ellipsoid, round_cone, smooth_subtraction, smooth_union, sphere};
use glam::DVec3;

/// A gummy bear of the given height, looking along +z, centred on its centre of mass.
pub fn gummy_bear(height: f64, spacing: f64) -> Result<Shape, GeometryError> {
    Ok(center(field(height)?.shape(spacing)?))
}

pub(super) fn field(height: f64) -> Result<DistanceField, GeometryError> {
    positive("height", height)?;
    let distance = move |p: DVec3| bear(p * (TALL / height)) * (height / TALL);
    let (lo, hi) = (DVec3::new(-0.36, 0.0, -0.26) * height, DVec3::new(0.36, 1.0, 0.42) * height);
    let surface = move |spacing| contour(&distance, lo, hi, visual_cell(spacing, height).min(height / 48.0));
    Ok(DistanceField { distance: Box::new(distance), surface: Box::new(surface), lo, hi })
}

/// Height of the figure below, as drawn.
const TALL: f64 = 0.9923;

/// A bear of height [`TALL`] with its soles at y = 0.
fn bear(p: DVec3) -> f64 {
    let p = DVec3::new(p.x.abs(), p.y, p.z);
    let v = DVec3::new;
    let chest = ellipsoid(p, v(0.0, 0.39, 0.0), v(0.215, 0.22, 0.18));
    let belly = ellipsoid(p, v(0.0, 0.27, 0.045), v(0.255, 0.235, 0.235));
    // What it sits on: without it the legs end before the centre of mass, and it falls on its back.
    let seat = ellipsoid(p, v(0.0, 0.123, -0.095), v(0.2, 0.12, 0.15));
    let body = smooth_union(smooth_union(chest, belly, 0.1), seat, 0.06);
    let skull = ellipsoid(p, v(0.0, 0.735, 0.02), v(0.225, 0.195, 0.19));
    let muzzle = ellipsoid(p, v(0.0, 0.678, 0.19), v(0.115, 0.088, 0.092));
    let nose = ellipsoid(p, v(0.0, 0.728, 0.258), v(0.05, 0.036, 0.034));
    let head = smooth_union(smooth_union(skull, muzzle, 0.045), nose, 0.018);
    let turned = Frame::new(v(0.17, 0.895, 0.0), v(0.5, 1.0, 0.0), v(0.25, 0.1, 1.0));
    let ear = ellipsoid(turned.local(p), DVec3::ZERO, v(0.092, 0.1, 0.068));
    let bowl = sphere(p, v(0.186, 0.91, 0.088), 0.056);
    let head = smooth_union(head, smooth_subtraction(ear, bowl, 0.03), 0.035);
    let eye = sphere(p, v(0.092, 0.79, 0.202), 0.028);
    let head = smooth_subtraction(head, eye, 0.012);
    let arm = round_cone(p, v(0.205, 0.475, 0.07), v(0.15, 0.395, 0.235), 0.082, 0.082);
    let leg = round_cone(p, v(0.16, 0.135, 0.08), v(0.205, 0.12, 0.28), 0.13, 0.12);
    let sole = sphere(p, v(0.215, 0.13, 0.455), 0.075);
    let leg = smooth_subtraction(leg, sole, 0.02);
    let navel = sphere(p, v(0.0, 0.265, 0.293), 0.03);
    let figure = smooth_subtraction(smooth_union(body, head, 0.06), navel, 0.025);
    let figure = smooth_union(figure, leg, 0.045);
    smooth_union(figure, arm, 0.05)
}
