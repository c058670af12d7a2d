//! From triangles and balls to pixels: a scan-line rasteriser over bands of rows, at several samples a pixel.
//!
//! Visibility is found for every sample, but a pixel is shaded once for each surface it shows: smooth inside, with
//! all samples counting at the edges.

use glam::Vec3;
use pliant_geometry::parallel;

use super::backdrop::LinearBackdrop;
use super::camera::{CameraView, NEAR};
use super::lighting::Lighting;
use super::scene::RenderScene;
use super::shade::{ShadingPoint, shade};
use super::thickness::Thickness;
use super::tone::{filmic, threshold, to_byte};
use super::{Image, Look, RenderSettings};

/// Rows of pixels in a band: small enough for its samples to stay in the cache.
const BAND: usize = 16;

/// A triangle on the picture, in samples.
pub(super) struct ProjectedTriangle {
    pub x: [f32; 3],
    pub y: [f32; 3],
    /// Inverse depth at the first corner, and its change per sample.
    pub inverse: [f32; 3],
    pub low: f32,
    pub high: f32,
    /// Index of the triangle in the scene.
    triangle: u32,
    /// Whether it is turned away from the eye.
    pub back: bool,
}

/// A ball's box on the picture, in samples.
struct ProjectedBall {
    left: usize,
    right: usize,
    top: usize,
    bottom: usize,
    /// Centre as seen from the eye.
    center: Vec3,
    radius: f32,
}

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

/// How much further away than they are surfaces turned away from the eye are taken to be, in scene radii. The two layers
/// of a membrane that has collapsed lie in one place, and would show in turn from pixel to pixel and frame to frame.
pub(super) const LINING: f32 = 4e-3;

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

impl ProjectedTriangle {
    fn new(corners: [Vec3; 3], triangle: u32, back: bool) -> Option<ProjectedTriangle> {
        let [a, b, c] = corners;
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        let span = (a - b).abs().max((a - c).abs());
        if !area.is_finite() || area.abs() <= 1e-7 * (span.x * span.y).max(1e-3) {
            return None;
        }
        let (db, dc) = (b.z - a.z, c.z - a.z);
        let per_x = (db * (c.y - a.y) - dc * (b.y - a.y)) / area;
        let per_y = (dc * (b.x - a.x) - db * (c.x - a.x)) / area;
        Some(ProjectedTriangle {
            x: [a.x, b.x, c.x],
            y: [a.y, b.y, c.y],
            inverse: [a.z, per_x, per_y],
            low: a.z.min(b.z).min(c.z),
            high: a.z.max(b.z).max(c.z),
            triangle,
            back,
        })
    }

    /// Calls `span(row, left, right, inverse depth at left, its change per column)` for the rows `first..last` of a
    /// grid with `scale` cells a sample. Edges are walked from their upper end, so that neighbours, which see the
    /// same edge, agree to the bit on which cell belongs to whom.
    pub fn spans(
        &self,
        scale: f32,
        rows: [usize; 2],
        width: usize,
        mut span: impl FnMut(usize, usize, usize, f32, f32),
    ) {
        let mut p = [0, 1, 2].map(|k| (self.x[k] * scale, self.y[k] * scale));
        let (x0, y0) = p[0];
        p.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.total_cmp(&b.0)));
        // First cell whose middle is not before `v`. Not `ceil`, which is a function call on plain x86-64.
        let cell = |v: f32, limit: usize| {
            let v = (v - 0.5).clamp(0.0, limit as f32);
            let whole = v as usize;
            whole + usize::from(v > whole as f32)
        };
        let (first, last) = (cell(p[0].1, rows[1]).max(rows[0]), cell(p[2].1, rows[1]));
        let slope = |a: (f32, f32), b: (f32, f32)| if b.1 > a.1 { (b.0 - a.0) / (b.1 - a.1) } else { 0.0 };
        let slopes = [slope(p[0], p[2]), slope(p[0], p[1]), slope(p[1], p[2])];
        let (per_x, per_y) = (self.inverse[1] / scale, self.inverse[2] / scale);
        for row in first..last {
            let y = row as f32 + 0.5;
            let long = p[0].0 + (y - p[0].1) * slopes[0];
            let short = if y < p[1].1 {
                p[0].0 + (y - p[0].1) * slopes[1]
            } else {
                p[1].0 + (y - p[1].1) * slopes[2]
            };
            let (left, right) = (cell(long.min(short), width), cell(long.max(short), width));
            if left < right {
                let start = self.inverse[0] + (left as f32 + 0.5 - x0) * per_x + (y - y0) * per_y;
                span(row, left, right, start, per_x);
            }
        }
    }
}

impl RasterJob<'_> {
    fn project(&self, p: Vec3) -> Vec3 {
        let s = self.view.samples as f32;
        let inverse = 1.0 / p.z;
        Vec3::new(
            (self.view.center[0] + self.view.focal * p.x * inverse) * s,
            (self.view.center[1] - self.view.focal * p.y * inverse) * s,
            inverse,
        )
    }

    fn place_triangles(&mut self) {
        let scene = self.scene;
        let seen: Vec<Vec3> = scene.positions.iter().map(|p| self.view.see(*p)).collect();
        let behind = |corners: [Vec3; 3]| corners.map(|p| Vec3::new(p.x, p.y, p.z / (1.0 + LINING * p.z)));
        let placed: Vec<Vec3> = seen.iter().map(|p| self.project(*p)).collect();
        // f32 keeps sub-sample accuracy up to here; what reaches further is clipped to the picture first.
        const GUARD: f32 = 60_000.0;
        for (i, t) in scene.triangles.iter().enumerate() {
            let corners = t.corners.map(|v| seen[v as usize]);
            if corners.iter().all(|p| p.z < NEAR) {
                continue;
            }
            // Turned away from the eye: below what is turned to it in the same place.
            let back = t.normal.dot(self.view.eye - scene.positions[t.corners[0] as usize]) < 0.0;
            let flat = t.corners.map(|v| placed[v as usize]);
            let flat = if back { behind(flat) } else { flat };
            if corners.iter().all(|p| p.z >= NEAR)
                && flat.iter().all(|p| p.x.abs() < GUARD && p.y.abs() < GUARD)
            {
                self.add_flat(flat, i as u32, back);
            } else {
                let polygon = self.clip(&corners);
                for k in 2..polygon.len() {
                    let fan = [polygon[0], polygon[k - 1], polygon[k]].map(|p| self.project(p));
                    let fan = if back { behind(fan) } else { fan };
                    self.add_flat(fan, i as u32, back);
                }
            }
        }
    }

    fn add_flat(&mut self, corners: [Vec3; 3], triangle: u32, back: bool) {
        let Some(flat) = ProjectedTriangle::new(corners, triangle, back) else {
            return;
        };
        let s = self.view.samples as f32;
        let (width, height) = (self.view.size[0] as f32 * s, self.view.size[1] as f32 * s);
        let range = |v: [f32; 3]| (v[0].min(v[1]).min(v[2]), v[0].max(v[1]).max(v[2]));
        let ((left, right), (top, bottom)) = (range(flat.x), range(flat.y));
        if right < 0.0 || left > width || bottom < 0.0 || top > height {
            return;
        }
        let rows = BAND as f32 * s;
        let last = self.flat_bins.len() - 1;
        let first = (top.max(0.0) / rows) as usize;
        let index = self.flats.len() as u32;
        self.flats.push(flat);
        for bin in &mut self.flat_bins[first.min(last)..=((bottom.max(0.0) / rows) as usize).min(last)] {
            bin.push(index);
        }
    }

    /// The part of a triangle (seen from the eye) inside the picture and in front of the near limit.
    fn clip(&self, corners: &[Vec3; 3]) -> Vec<Vec3> {
        let wide = [0, 1].map(|k| (self.view.center[k] + 2.0) / self.view.focal);
        let walls = [
            (Vec3::Z, NEAR),
            (Vec3::new(1.0, 0.0, wide[0]), 0.0),
            (Vec3::new(-1.0, 0.0, wide[0]), 0.0),
            (Vec3::new(0.0, 1.0, wide[1]), 0.0),
            (Vec3::new(0.0, -1.0, wide[1]), 0.0),
        ];
        let mut polygon = corners.to_vec();
        for (normal, offset) in walls {
            let mut kept = Vec::with_capacity(polygon.len() + 2);
            for (k, b) in polygon.iter().enumerate() {
                let a = polygon[(k + polygon.len() - 1) % polygon.len()];
                let (da, db) = (a.dot(normal) - offset, b.dot(normal) - offset);
                if (da >= 0.0) != (db >= 0.0) {
                    kept.push(a.lerp(*b, da / (da - db)));
                }
                if db >= 0.0 {
                    kept.push(*b);
                }
            }
            polygon = kept;
        }
        // Rounding may leave a corner a hair in front of the near limit.
        polygon.iter_mut().for_each(|p| p.z = p.z.max(0.99 * NEAR));
        polygon
    }

    fn place_balls(&mut self) {
        let s = self.view.samples as f32;
        let size = self.view.size.map(|n| n as f32 * s);
        for (i, ball) in self.scene.balls.iter().enumerate() {
            let center = self.view.see(ball.center);
            let disc = (center.z - ball.radius > NEAR).then(|| {
                // Exact extent of the outline along each axis: tangents of the cone that touches the ball.
                let bound = |c: f32, sign: f32| {
                    let (d2, r2) = (c * c + center.z * center.z, ball.radius * ball.radius);
                    let root = ball.radius * (d2 - r2).max(0.0).sqrt();
                    (c * center.z + sign * root) / (center.z * center.z - r2)
                };
                let x = |t: f32| (self.view.center[0] + self.view.focal * t) * s;
                let y = |t: f32| (self.view.center[1] - self.view.focal * t) * s;
                let (l, r) = (x(bound(center.x, -1.0)), x(bound(center.x, 1.0)));
                let (t, b) = (y(bound(center.y, 1.0)), y(bound(center.y, -1.0)));
                let whole = |v: f32, limit: f32| v.clamp(0.0, limit) as usize;
                ProjectedBall {
                    left: whole(l - 1.0, size[0]),
                    right: whole(r + 2.0, size[0]),
                    top: whole(t - 1.0, size[1]),
                    bottom: whole(b + 2.0, size[1]),
                    center,
                    radius: ball.radius,
                }
            });
            if let Some(d) = disc.as_ref().filter(|d| d.left < d.right && d.top < d.bottom) {
                let rows = BAND * self.view.samples as usize;
                for bin in &mut self.disc_bins[d.top / rows..=(d.bottom - 1) / rows] {
                    bin.push(i as u32);
                }
            }
            self.discs.push(disc);
        }
    }

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

    /// Whether two samples show the same piece of surface, so that one shading serves both.
    fn alike(&self, a: (u32, f32), b: (u32, f32)) -> bool {
        if a.0 == b.0 {
            return true;
        }
        let triangles = self.first_triangle..self.first_ball;
        if !triangles.contains(&a.0) || !triangles.contains(&b.0) {
            return false;
        }
        let pick = |id: u32| &self.scene.triangles[(id - self.first_triangle) as usize];
        let (s, t) = (pick(a.0), pick(b.0));
        s.item == t.item && (a.1 - b.1).abs() < 0.012 * a.1 && s.normal.dot(t.normal) > 0.88
    }

    fn pixel(&self, samples: &SampleBuffer, x: usize, y: usize, row: usize) -> Vec3 {
        let s = self.view.samples as usize;
        let width = self.settings.width as usize;
        let corner = y * s * width * s + x * s;
        let at = |k: usize| corner + (k / s) * width * s + k % s;
        let middle = |k: usize| {
            let off = |v: usize| (v as f32 + 0.5) / s as f32 - 0.5;
            off(k % s).powi(2) + off(k / s).powi(2)
        };
        let lead = samples.id[corner];
        let rows = (0..s).map(|k| &samples.id[corner + k * width * s..][..s]);
        if rows.flatten().all(|id| *id == lead) {
            let center = [x as f32 + 0.5, row as f32 + 0.5];
            return self.color(lead, samples.inverse[at(s * s / 2)], center);
        }
        let mut left: u64 = u64::MAX >> (64 - s * s);
        let mut sum = Vec3::ZERO;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            let key = (samples.id[at(first)], samples.inverse[at(first)]);
            let (mut best, mut count) = (first, 0);
            for k in first..s * s {
                if left >> k & 1 == 1 && self.alike(key, (samples.id[at(k)], samples.inverse[at(k)])) {
                    left &= !(1 << k);
                    count += 1;
                    if middle(k) < middle(best) {
                        best = k;
                    }
                }
            }
            let whole = count == s * s;
            let px = x as f32 + if whole { 0.5 } else { ((best % s) as f32 + 0.5) / s as f32 };
            let py = row as f32 + if whole { 0.5 } else { ((best / s) as f32 + 0.5) / s as f32 };
            sum += count as f32 * self.color(samples.id[at(best)], samples.inverse[at(best)], [px, py]);
        }
        sum / (s * s) as f32
    }

    /// Display colour (linear, 0 to 1) of one surface at a point of the picture.
    fn color(&self, id: u32, inverse: f32, [px, py]: [f32; 2]) -> Vec3 {
        if id == 0 {
            return self.backdrop.behind(px, py);
        }
        if id < self.first_triangle {
            let index = id as usize - 1;
            return self.backdrop.plane(
                &self.scene.sheets[index],
                &self.light.sheets[index],
                self.view,
                px,
                py,
            );
        }
        let ray = self.view.ray(px, py);
        let eye = -ray.normalize();
        let spot = if id < self.first_ball {
            let t = &self.scene.triangles[(id - self.first_triangle) as usize];
            let v = t.corners.map(|v| v as usize);
            let w = self.weights(v, ray);
            let mix = |f: &dyn Fn(usize) -> Vec3| w[0] * f(v[0]) + w[1] * f(v[1]) + w[2] * f(v[2]);
            let mut normal = mix(&|v| self.scene.normals[v]).normalize_or(t.normal);
            let side = usize::from(t.normal.dot(eye) < 0.0);
            if side == 1 {
                normal = -normal;
            }
            let body = &self.scene.bodies[t.item as usize];
            let thickness = self.thickness[t.item as usize].as_ref();
            let thickness = thickness.map_or(0.0, |t| t.at(px, py) / body.size.max(1e-6));
            ShadingPoint {
                normal: bend(normal, eye),
                eye,
                color: mix(&|v| self.scene.colors[v]),
                light: super::lighting::ReceivedLight {
                    key: mix(&|v| self.light.vertices[v][side].key),
                    sky: mix(&|v| self.light.vertices[v][side].sky),
                },
                look: body.look,
                thickness,
            }
        } else {
            let ball = &self.scene.balls[(id - self.first_ball) as usize];
            let p = self.view.eye + ray / inverse;
            let normal = (p - ball.center).normalize_or(eye);
            let light = self.light.gather(p, normal);
            ShadingPoint { normal, eye, color: ball.color, light, look: Look::Matte, thickness: 0.0 }
        };
        filmic(shade(&spot, self.view) * self.settings.exposure.clamp(0.0, 100.0))
    }

    /// Barycentric weights of the point of a triangle's plane that the ray meets, kept inside the triangle.
    fn weights(&self, v: [usize; 3], ray: Vec3) -> [f32; 3] {
        let [a, b, c] = v.map(|v| self.scene.positions[v]);
        let (ab, ac, from) = (b - a, c - a, self.view.eye - a);
        let p = ray.cross(ac);
        let det = ab.dot(p);
        let q = from.cross(ab);
        let (wb, wc) = (from.dot(p) / det, ray.dot(q) / det);
        if !(wb.is_finite() && wc.is_finite()) {
            return [1.0 / 3.0; 3];
        }
        let (wb, wc) = (wb.clamp(0.0, 1.0), wc.clamp(0.0, 1.0));
        let sum = (wb + wc).max(1.0);
        let (wb, wc) = (wb / sum, wc / sum);
        [1.0 - wb - wc, wb, wc]
    }
}

/// Turns an interpolated normal that looks away from the eye just back to the outline.
fn bend(normal: Vec3, eye: Vec3) -> Vec3 {
    let facing = normal.dot(eye);
    if facing >= 0.02 { normal } else { (normal + (0.02 - facing) * eye).normalize() }
}
