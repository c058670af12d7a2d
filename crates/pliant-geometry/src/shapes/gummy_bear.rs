//! A gummy bear, sitting with its paws on its belly, as the sweet shop sells it.

use super::Shape;
use super::field::{Field, center, visual_cell};
use crate::GeometryError;
use crate::contour::contour;
use crate::error::positive;
use crate::sdf::{Frame, ellipsoid, round_cone, smooth_subtraction, smooth_union, sphere};
use glam::DVec3;

/// A gummy bear of the given height, looking along +z, centred on its centre of mass.
pub fn gummy_bear(height: f64, spacing: f64) -> Result<Shape, GeometryError> {
    let field = field(height)?;
    let cell = visual_cell(spacing, height).min(height / 64.0);
    Ok(center(field.shape(spacing, || {
        contour(&field.distance, field.lo, field.hi, cell)
    })?))
}

pub(super) fn field(height: f64) -> Result<Field, GeometryError> {
    positive("height", height)?;
    Ok(Field {
        distance: Box::new(move |p| bear(p * (TALL / height)) * (height / TALL)),
        lo: DVec3::new(-0.36, 0.0, -0.26) * height,
        hi: DVec3::new(0.36, 1.0, 0.42) * height,
    })
}

/// Height of the figure below, as drawn.
const TALL: f64 = 0.9923;

/// A bear of height [`TALL`] with its soles at y = 0.
fn bear(p: DVec3) -> f64 {
    let p = DVec3::new(p.x.abs(), p.y, p.z);
    let v = DVec3::new;
    let chest = ellipsoid(p, v(0.0, 0.38, -0.005), v(0.235, 0.235, 0.185));
    let belly = ellipsoid(p, v(0.0, 0.27, 0.035), v(0.262, 0.235, 0.215));
    let body = smooth_union(chest, belly, 0.1);
    let skull = ellipsoid(p, v(0.0, 0.735, 0.02), v(0.22, 0.19, 0.185));
    let muzzle = ellipsoid(p, v(0.0, 0.682, 0.185), v(0.108, 0.082, 0.085));
    let nose = ellipsoid(p, v(0.0, 0.722, 0.262), v(0.042, 0.03, 0.028));
    let head = smooth_union(smooth_union(skull, muzzle, 0.05), nose, 0.015);
    let turned = Frame::new(v(0.168, 0.9, 0.0), v(0.5, 1.0, 0.0), v(0.25, 0.1, 1.0));
    let ear = ellipsoid(turned.local(p), DVec3::ZERO, v(0.09, 0.095, 0.066));
    let bowl = sphere(p, v(0.184, 0.91, 0.087), 0.055);
    let head = smooth_union(head, smooth_subtraction(ear, bowl, 0.03), 0.035);
    let eye = sphere(p, v(0.085, 0.788, 0.198), 0.026);
    let head = smooth_subtraction(head, eye, 0.012);
    let arm = round_cone(p, v(0.21, 0.5, 0.06), v(0.165, 0.4, 0.24), 0.09, 0.08);
    let leg = round_cone(p, v(0.16, 0.135, 0.08), v(0.2, 0.115, 0.28), 0.13, 0.115);
    let sole = sphere(p, v(0.21, 0.125, 0.452), 0.075);
    let leg = smooth_subtraction(leg, sole, 0.02);
    let navel = sphere(p, v(0.0, 0.27, 0.268), 0.03);
    let figure = smooth_subtraction(smooth_union(body, head, 0.06), navel, 0.025);
    let figure = smooth_union(figure, leg, 0.045);
    smooth_union(figure, arm, 0.05)
}
