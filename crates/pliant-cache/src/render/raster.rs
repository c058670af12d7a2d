//! From triangles and balls to pixels: a scan-line rasteriser over bands of rows, at several samples a pixel.
//!
//! Visibility is found for every sample, but a pixel is shaded once for each surface it shows: smooth inside, with
//! all samples counting at the edges.

mod pixel;
mod project;

use super::backdrop::LinearBackdrop;
use super::camera::CameraView;
use super::lighting::Lighting;
use super::scene::RenderScene;
use super::thickness::Thickness;
use super::tone::{threshold, to_byte};
use super::{Image, Look, RenderSettings};
use glam::Vec3;
use pliant_geometry::parallel;
use project::ProjectedBall;

pub(super) use project::{LINING, ProjectedTriangle};

/// Rows of pixels in a band: small enough for its samples to stay in the cache.
const BAND: usize = 16;

/// What lies below every sample: nothing, then planes, triangles and balls, numbered through.
struct SampleBuffer {
    inverse: Vec<f32>,
    id: Vec<u32>,
}

struct RasterJob<'a> {
    scene: &'a RenderScene,
    light: &'a Lighting,
    view: &'a CameraView,
    settings: &'a RenderSettings,
    backdrop: LinearBackdrop,
    /// Planes that can be seen.
    sheets: Vec<(usize, [f32; 3])>,
    flats: Vec<ProjectedTriangle>,
    discs: Vec<Option<ProjectedBall>>,
    /// For each item that is gelatine.
    thickness: Vec<Option<Thickness>>,
    /// For each band, which triangles and discs touch it.
    flat_bins: Vec<Vec<u32>>,
    disc_bins: Vec<Vec<u32>>,
    first_triangle: u32,
    first_ball: u32,
}

/// Draws the scene.
pub(super) fn draw(
    scene: &RenderScene,
    light: &Lighting,
    view: &CameraView,
    settings: &RenderSettings,
    threads: usize,
) -> Image {
    let (width, height) = (settings.width as usize, settings.height as usize);
    let mut image = Image::filled(settings.width, settings.height, [0; 3]);
    let sheets = scene.sheets.iter().enumerate();
    let first_triangle = 1 + scene.sheets.len() as u32;
    let mut job = RasterJob {
        scene,
        light,
        view,
        settings,
        backdrop: LinearBackdrop::new(&settings.backdrop, settings.grid, view),
        sheets: sheets.filter_map(|(i, s)| LinearBackdrop::inverse_depth(s, view).map(|d| (i, d))).collect(),
        flats: Vec::with_capacity(scene.triangles.len()),
        discs: Vec::new(),
        thickness: Vec::new(),
        flat_bins: vec![Vec::new(); height.div_ceil(BAND)],
        disc_bins: vec![Vec::new(); height.div_ceil(BAND)],
        first_triangle,
        first_ball: first_triangle + scene.triangles.len() as u32,
    };
    job.place_triangles();
    job.place_balls();
    job.thickness = job.measure_thickness(threads);
    parallel::for_each(
        image.rgb.chunks_mut(3 * width * BAND),
        threads,
        SampleBuffer::new,
        |band, rows, samples| {
            job.band(band, rows, samples);
        },
    );
    image
}

impl SampleBuffer {
    fn new() -> SampleBuffer {
        SampleBuffer { inverse: Vec::new(), id: Vec::new() }
    }
}

impl RasterJob<'_> {
    fn band(&self, band: usize, rows: &mut [u8], samples: &mut SampleBuffer) {
        let width = self.settings.width as usize;
        let s = self.view.samples as usize;
        let height = rows.len() / (3 * width);
        let wide = width * s;
        let first = band * BAND * s;
        let range = [first, first + height * s];
        self.planes(samples, wide, range);
        for index in &self.flat_bins[band] {
            let flat = &self.flats[*index as usize];
            let id = self.first_triangle + flat.triangle;
            flat.spans(1.0, range, wide, |row, left, right, start, per_x| {
                let at = (row - first) * wide;
                let depths = samples.inverse[at + left..at + right].iter_mut();
                for (k, (depth, slot)) in depths.zip(&mut samples.id[at + left..at + right]).enumerate() {
                    let inverse = (start + k as f32 * per_x).clamp(flat.low, flat.high);
                    if inverse > *depth {
                        *depth = inverse;
                        *slot = id;
                    }
                }
            });
        }
        for index in &self.disc_bins[band] {
            self.ball(*index, samples, wide, range);
        }
        for y in 0..height {
            for x in 0..width {
                let color = self.pixel(samples, x, y, band * BAND + y);
                let (px, py) = (x as u32, (band * BAND + y) as u32);
                for (channel, value) in color.to_array().into_iter().enumerate() {
                    let round = if self.settings.dither { threshold(px, py, channel as u32) } else { 0.5 };
                    rows[3 * (y * width + x) + channel] = to_byte(value, round);
                }
            }
        }
    }

    fn planes(&self, samples: &mut SampleBuffer, wide: usize, range: [usize; 2]) {
        let count = wide * (range[1] - range[0]);
        samples.inverse.clear();
        samples.inverse.resize(count, 0.0);
        samples.id.clear();
        samples.id.resize(count, 0);
        let s = self.view.samples as f32;
        for (index, [base, per_x, per_y]) in &self.sheets {
            for row in range[0]..range[1] {
                let start = base + per_y * (row as f32 + 0.5) / s + 0.5 * per_x / s;
                let at = (row - range[0]) * wide;
                let depths = samples.inverse[at..at + wide].iter_mut();
                for (k, (depth, id)) in depths.zip(&mut samples.id[at..at + wide]).enumerate() {
                    let inverse = start + k as f32 * (per_x / s);
                    if inverse > *depth {
                        *depth = inverse;
                        *id = 1 + *index as u32;
                    }
                }
            }
        }
    }

    fn ball(&self, index: u32, samples: &mut SampleBuffer, wide: usize, range: [usize; 2]) {
        let Some(disc) = &self.discs[index as usize] else {
            return;
        };
        let s = self.view.samples as f32;
        let rest = disc.center.length_squared() - disc.radius * disc.radius;
        for row in disc.top.max(range[0])..disc.bottom.min(range[1]) {
            let at = (row - range[0]) * wide;
            let dy = (self.view.center[1] - (row as f32 + 0.5) / s) / self.view.focal;
            for column in disc.left..disc.right {
                let dx = ((column as f32 + 0.5) / s - self.view.center[0]) / self.view.focal;
                let ray = Vec3::new(dx, dy, 1.0);
                let (a, b) = (ray.length_squared(), ray.dot(disc.center));
                let root = b * b - a * rest;
                if root <= 0.0 {
                    continue;
                }
                // The depth is (b − √root) / a; this form of its inverse does not cancel.
                let inverse = (b + root.sqrt()) / rest;
                if inverse > samples.inverse[at + column] {
                    samples.inverse[at + column] = inverse;
                    samples.id[at + column] = self.first_ball + index;
                }
            }
        }
    }

    /// How thick each gelatine body is, wherever it may be seen.
    fn measure_thickness(&self, threads: usize) -> Vec<Option<Thickness>> {
        let mut all: Vec<Option<Thickness>> = self.scene.bodies.iter().map(|_| None).collect();
        let item = |flat: &ProjectedTriangle| self.scene.triangles[flat.triangle as usize].item;
        parallel::for_each(
            all.iter_mut(),
            threads,
            || (),
            |i, slot, ()| {
                let body = &self.scene.bodies[i];
                // Triangles stand in the order of their items.
                let first = self.flats.partition_point(|flat| (item(flat) as usize) < i);
                let flats = &self.flats[first..];
                let flats = &flats[..flats.partition_point(|flat| item(flat) as usize == i)];
                if body.look == Look::Jelly && !flats.is_empty() {
                    let CameraView { focal, samples, size, .. } = *self.view;
                    *slot = Some(Thickness::new(flats, body.size, focal, samples as f32, size));
                }
            },
        );
        all
    }
}
