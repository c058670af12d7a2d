//! A crouching bunny, after the one from Stanford that every graphics paper knows.

use super::Shape;
use super::field::{DistanceField, center, visual_cell};
use crate::GeometryError;
use crate::contour::contour;
use crate::error::positive;
use crate::sdf::{Frame, ellipsoid, round_cone, smooth_subtraction, smooth_union, sphere};
use glam::DVec3;

/// A bunny of the given height, looking along +z, centred on its centre of mass.
pub fn bunny(height: f64, spacing: f64) -> Result<Shape, GeometryError> {
    Ok(center(field(height)?.shape(spacing)?))
}

pub(super) fn field(height: f64) -> Result<DistanceField, GeometryError> {
    positive("height", height)?;
    let distance = move |p: DVec3| figure(p * (TALL / height)) * (height / TALL);
    let (lo, hi) = (DVec3::new(-0.36, 0.0, -0.6) * height, DVec3::new(0.36, 1.0, 0.56) * height);
    let surface = move |spacing| contour(&distance, lo, hi, visual_cell(spacing, height).min(height / 48.0));
    Ok(DistanceField { distance: Box::new(distance), surface: Box::new(surface), lo, hi })
}

/// Height of the figure below, as drawn.
const TALL: f64 = 1.0047;

/// A bunny of height [`TALL`] with its paws at y = 0.
fn figure(p: DVec3) -> f64 {
    let p = DVec3::new(p.x.abs(), p.y, p.z);
    let v = DVec3::new;
    let back = ellipsoid(
        Frame::new(v(0.0, 0.3, -0.12), v(0.0, 1.0, -0.25), DVec3::Z).local(p),
        DVec3::ZERO,
        v(0.23, 0.26, 0.32),
    );
    let chest = ellipsoid(p, v(0.0, 0.32, 0.16), v(0.165, 0.22, 0.17));
    let body = smooth_union(back, chest, 0.12);
    let haunch = ellipsoid(
        Frame::new(v(0.185, 0.2, -0.13), v(0.0, 1.0, -0.35), DVec3::Z).local(p),
        DVec3::ZERO,
        v(0.1, 0.185, 0.19),
    );
    let foot = round_cone(p, v(0.2, 0.06, -0.12), v(0.2, 0.055, 0.1), 0.06, 0.055);
    let hind = smooth_union(haunch, foot, 0.05);
    let paw = round_cone(p, v(0.1, 0.24, 0.22), v(0.095, 0.055, 0.31), 0.07, 0.055);
    let tail = sphere(p, v(0.0, 0.17, -0.45), 0.095);
    let skull = ellipsoid(
        Frame::new(v(0.0, 0.585, 0.25), v(0.0, 1.0, 0.25), DVec3::Z).local(p),
        DVec3::ZERO,
        v(0.145, 0.145, 0.185),
    );
    let cheek = ellipsoid(p, v(0.065, 0.535, 0.335), v(0.085, 0.075, 0.095));
    let muzzle = ellipsoid(p, v(0.0, 0.545, 0.405), v(0.07, 0.062, 0.065));
    let head = smooth_union(smooth_union(skull, cheek, 0.06), muzzle, 0.05);
    let nose = ellipsoid(p, v(0.0, 0.575, 0.456), v(0.034, 0.024, 0.022));
    let head = smooth_union(head, nose, 0.012);
    let eye = sphere(p, v(0.128, 0.625, 0.345), 0.03);
    let head = smooth_subtraction(head, eye, 0.012);
    // The ears stand apart by more than they are thick, so that a coarse lattice does not weld them.
    let lean = v(0.38, 1.0, -0.38);
    let ear = ellipsoid(
        Frame::new(v(0.135, 0.82, 0.1), lean, v(0.45, 0.0, 1.0)).local(p),
        DVec3::ZERO,
        v(0.078, 0.2, 0.056),
    );
    let bowl = ellipsoid(
        Frame::new(v(0.17, 0.845, 0.165), lean, v(0.45, 0.0, 1.0)).local(p),
        DVec3::ZERO,
        v(0.042, 0.15, 0.04),
    );
    let ear = smooth_subtraction(ear, bowl, 0.03);
    let figure = smooth_union(body, hind, 0.05);
    let figure = smooth_union(figure, tail, 0.035);
    let figure = smooth_union(figure, paw, 0.04);
    let figure = smooth_union(figure, head, 0.1);
    smooth_union(figure, ear, 0.04)
}
