//! Names of bodies, written over them where they find a place.

use super::body::PictureBody;
use crate::export::stream::{PosedBody, PosedFrame};
use crate::render::{Camera, RenderSettings, text_size};
use glam::DVec3;
use std::ops::RangeInclusive;

/// Bodies of which each is named in the picture: one needs no name, and many names would hide what they name.
const NAMED: RangeInclusive<usize> = 2..=8;

/// Pixels for a dot of a name's letters.
pub(super) fn label_scale(settings: &RenderSettings) -> u32 {
    ((settings.height + 60) / 180).max(1)
}

/// Whether there are bodies to name, and none of their names begins on top of another.
pub(super) fn names_fit(
    bodies: &[PictureBody],
    posed: &PosedFrame,
    camera: &Camera,
    settings: &RenderSettings,
) -> bool {
    let bodies = bodies.iter().zip(&posed.bodies).filter(|(body, _)| !body.is_prop());
    let label = |(body, own): (&PictureBody, &PosedBody)| body.label(&own.vertices, camera, settings);
    let places: Vec<[i64; 4]> = bodies.clone().filter_map(label).collect();
    let apart =
        |[x, y, w, h]: [i64; 4], [u, v, a, b]: [i64; 4]| x + w < u || u + a < x || y + h < v || v + b < y;
    NAMED.contains(&bodies.count())
        && places.iter().enumerate().all(|(k, one)| places[..k].iter().all(|other| apart(*one, *other)))
}

impl PictureBody<'_> {
    /// Where the body's name stands, over the body as it appears in the picture: left, top, width and height.
    pub fn label(&self, vertices: &[DVec3], camera: &Camera, settings: &RenderSettings) -> Option<[i64; 4]> {
        if vertices.is_empty() {
            return None;
        }
        let (low, high) = Camera::bounds(vertices);
        let top = DVec3::new(0.5 * (low.x + high.x), high.y, 0.5 * (low.z + high.z));
        let project = camera.projection(settings);
        let (x, mut y) = project(top)?;
        for vertex in vertices {
            y = project(*vertex).map_or(y, |p| y.min(p.1));
        }
        let (width, height) = text_size(&self.body.name, label_scale(settings));
        let left = (x - 0.5 * f64::from(width)).round() as i64;
        let top = (y - 1.6 * f64::from(height)).round() as i64;
        // Inside the picture as far as it fits.
        let left = left.min(i64::from(settings.width) - i64::from(width) - 2).max(2);
        let top = top.min(i64::from(settings.height) - i64::from(height) - 2).max(2);
        Some([left, top, i64::from(width), i64::from(height)])
    }
}
