//! A body as pictures draw it: mesh, balls or lines, in the colours asked for.

use crate::export::stream::ExportStream;
use crate::export::{ExportOptions, is_selected};
use crate::render::{
    ColorMap, Colors, Look, RenderItem, categorical, map_colors, neighbour_colors, sheet_frames,
};
use crate::{ColorBy, LogBody, LogFrame, srgb};
use glam::DVec3;
use std::borrow::Cow;

/// Radius of the balls of a point cloud and of a thread, in distances between particles.
const BALL: f64 = 0.45;
const THREAD: f64 = 0.15;

/// A body and what is needed to draw it.
pub(super) struct PictureBody<'a> {
    pub body: &'a LogBody,
    /// Radius of the balls of a point cloud.
    pub radius: f64,
    /// Colour of each vertex where it does not change over time.
    fixed: Vec<[f32; 3]>,
    colors: Vec<[f32; 3]>,
}

/// The bodies of a frame; what was prepared for those that were there before is kept.
pub(super) fn picture_bodies<'a>(
    stream: &'a ExportStream<'a>,
    options: &ExportOptions,
    place: usize,
    by: ColorBy,
    before: Vec<PictureBody<'a>>,
) -> Vec<PictureBody<'a>> {
    let mut before = before.into_iter().peekable();
    let one = |body: &'a LogBody| {
        while before.next_if(|old| old.body.id < body.id).is_some() {}
        let known = before.next_if(|old| (old.body.id, old.body.version) == (body.id, body.version));
        match known {
            Some(known) => PictureBody { body, ..known },
            None => PictureBody::new(body, by),
        }
    };
    let bodies = stream.bodies_at(place).into_iter().map(|(_, body)| body);
    bodies.filter(|b| is_selected(b, options)).map(one).collect()
}

impl<'a> PictureBody<'a> {
    fn new(body: &'a LogBody, by: ColorBy) -> PictureBody<'a> {
        let thick = if is_thread(body) { THREAD } else { BALL };
        PictureBody {
            radius: if body.is_point_cloud() { thick * spacing(&body.mesh.positions) } else { 0.0 },
            fixed: if by == ColorBy::Cluster { cluster_colors(body) } else { Vec::new() },
            colors: Vec::new(),
            body,
        }
    }

    fn is_thread(&self) -> bool {
        is_thread(self.body)
    }

    pub fn is_prop(&self) -> bool {
        self.body.look == Look::Prop
    }

    /// The values shown, one for each particle of the body; empty where there is nothing to show.
    pub fn particle_values<'f>(&self, frame: &'f LogFrame, by: ColorBy) -> Cow<'f, [f32]> {
        let range = self.body.particles.start as usize..self.body.particles.end as usize;
        match by {
            ColorBy::Strain => Cow::Borrowed(frame.strain.get(range).unwrap_or(&[])),
            ColorBy::Speed => frame.speeds(range),
            ColorBy::Body | ColorBy::Cluster => Cow::Borrowed(&[]),
        }
    }

    pub fn paint(&mut self, frame: &LogFrame, by: ColorBy, range: (f64, f64), map: ColorMap) {
        let values = self.particle_values(frame, by);
        if values.is_empty() {
            return;
        }
        let mixed = self.body.skin.mix(&values);
        self.colors = map_colors(&mixed, range, map);
    }

    pub fn item<'i>(&'i self, positions: &'i [DVec3], by: ColorBy) -> RenderItem<'i> {
        let own = self.body.color.map(srgb::encode);
        let colors = match by {
            ColorBy::Cluster if !self.fixed.is_empty() => Colors::PerVertex(&self.fixed),
            ColorBy::Strain | ColorBy::Speed if !self.colors.is_empty() => Colors::PerVertex(&self.colors),
            _ => Colors::Uniform(own),
        };
        if self.is_thread() {
            let segments = &self.body.simulated.elements.edges;
            return RenderItem::Lines { positions, segments, radius: self.radius, colors };
        }
        if self.body.is_point_cloud() {
            return RenderItem::Points { positions, radius: self.radius, colors };
        }
        RenderItem::Mesh {
            positions,
            triangles: &self.body.mesh.triangles,
            colors,
            // Gelatine mixes its colour with what is behind: wrong for colours that are to be read off.
            look: match (by, self.body.look) {
                (ColorBy::Body, look) => look,
                (_, Look::Cloth) => Look::Cloth,
                _ => Look::Matte,
            },
        }
    }
}

/// Whether a body without a surface is lines of particles, each with two neighbours at most.
fn is_thread(body: &LogBody) -> bool {
    let count = body.mesh.positions.len();
    let mut neighbours = vec![0; count];
    for i in body.simulated.elements.edges.iter().flatten() {
        match neighbours.get_mut(*i as usize) {
            Some(n) => *n += 1,
            None => return false,
        }
    }
    body.is_point_cloud() && !body.simulated.elements.edges.is_empty() && neighbours.iter().all(|n| *n <= 2)
}

/// Typical distance between neighbours of a point cloud, from a sample.
fn spacing(points: &[DVec3]) -> f64 {
    let sample = sheet_frames(points.len(), 64);
    let mut nearest: Vec<f64> = sample
        .into_iter()
        .map(|i| {
            let others = points.iter().enumerate().filter(|(j, _)| *j != i);
            others.map(|(_, p)| p.distance(points[i])).fold(f64::INFINITY, f64::min)
        })
        .filter(|d| d.is_finite() && *d > 0.0)
        .collect();
    nearest.sort_unstable_by(f64::total_cmp);
    nearest.get(nearest.len() / 2).copied().unwrap_or(0.05)
}

/// The colour of each vertex's nearest cluster; clusters that meet on the surface get different ones.
fn cluster_colors(body: &LogBody) -> Vec<[f32; 3]> {
    if body.cluster.is_empty() {
        return Vec::new();
    }
    let cluster_of = |i: Option<u32>| i.map_or(0, |i| body.cluster[i as usize]);
    let of: Vec<u32> = body.skin.strongest().into_iter().map(cluster_of).collect();
    // Numbered anew: the log may count clusters through all bodies.
    let mut used = of.clone();
    used.sort_unstable();
    used.dedup();
    let of: Vec<u32> = of.iter().map(|c| used.partition_point(|u| u < c) as u32).collect();
    let mut borders: Vec<[u32; 2]> = body
        .mesh
        .triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|e| e.map(|v| of[v as usize]))
        .filter(|[a, b]| a != b)
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    borders.sort_unstable();
    borders.dedup();
    let colors = neighbour_colors(used.len(), &borders);
    of.iter().map(|&c| categorical(colors[c as usize])).collect()
}
