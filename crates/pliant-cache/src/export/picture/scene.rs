//! The scene of a frame, drawn.

use super::body::{PictureBody, picture_bodies};
use super::labels::label_scale;
use super::plan::PicturePlan;
use super::{PictureJob, SKIN};
use crate::render::{
    ColorMap, Colors, Image, Look, RenderItem, RenderSettings, draw_legend, draw_text, render,
};
use crate::{CacheError, ColorBy, LogCollider, srgb};
use glam::DVec3;
use std::sync::Arc;

/// Everything that stays the same from picture to picture.
pub(super) struct PictureScene<'a> {
    pub job: &'a PictureJob<'a>,
    plan: &'a PicturePlan,
    /// The bodies of the epoch that was last drawn.
    epoch: Option<usize>,
    bodies: Vec<PictureBody<'a>>,
    settings: RenderSettings,
}

impl<'a> PictureScene<'a> {
    pub fn new(job: &'a PictureJob<'a>, plan: &'a PicturePlan, dither: bool) -> PictureScene<'a> {
        let settings = RenderSettings { dither, threads: job.options.threads, ..plan.settings };
        PictureScene { job, plan, epoch: None, bodies: Vec::new(), settings }
    }

    /// Draws the frame of this place in the log.
    pub fn draw(&mut self, place: usize) -> Result<Image, CacheError> {
        let PictureJob { reader, stream, options, kept, .. } = *self.job;
        let posed = match kept.get(&place) {
            Some(posed) => posed.clone(),
            None => Arc::new(stream.pose(place, SKIN)?),
        };
        let frame = &posed.frame;
        let (by, range) = (self.plan.picture.color_by, self.plan.range);
        if self.epoch.replace(reader.epoch_of(place)) != Some(reader.epoch_of(place)) {
            let before = std::mem::take(&mut self.bodies);
            self.bodies = picture_bodies(stream, options, place, by, before);
        }
        let (map, label) = match by {
            ColorBy::Speed => (ColorMap::Plasma, "speed, m/s"),
            _ => (ColorMap::Viridis, "strain"),
        };
        for body in &mut self.bodies {
            body.paint(frame, by, range, map);
        }
        let shown = || self.bodies.iter().zip(posed.bodies.iter().map(|b| &b.vertices[..]));
        let mut items: Vec<RenderItem> = shown().map(|(s, vertices)| s.item(vertices, by)).collect();
        let header = reader.header();
        let colliders: Vec<(&LogCollider, Vec<DVec3>)> = frame
            .colliders
            .iter()
            .filter_map(|place| {
                let collider = header.colliders.iter().find(|s| s.id == place.id)?;
                Some((collider, place.shown(&collider.mesh)))
            })
            .collect();
        items.extend(colliders.iter().map(|(collider, vertices)| RenderItem::Mesh {
            positions: vertices,
            triangles: &collider.mesh.triangles,
            colors: Colors::Uniform(collider.color.map(srgb::encode)),
            look: Look::Prop,
        }));
        let camera = self.plan.path.at(frame.time);
        let planes = frame.planes.as_deref().unwrap_or(&reader.header().planes);
        let mut image = render(&items, planes, &camera, &self.settings);
        if self.plan.named {
            for (body, vertices) in shown().filter(|(body, _)| !body.is_prop()) {
                if let Some([left, top, ..]) = body.label(vertices, &camera, &self.settings) {
                    let scale = label_scale(&self.settings);
                    draw_text(&mut image, left, top, &body.body.name, scale, [60, 66, 80], 0.85);
                }
            }
        }
        if matches!(by, ColorBy::Speed | ColorBy::Strain) {
            draw_legend(&mut image, map, range, label);
        }
        Ok(image)
    }
}
