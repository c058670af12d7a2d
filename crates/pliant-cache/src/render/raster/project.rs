//! Where triangles and balls are on the picture, and which bands of rows they touch.

use super::{BAND, RasterJob};
use crate::render::camera::NEAR;
use glam::Vec3;

/// A triangle on the picture, in samples.
pub(in crate::render) struct ProjectedTriangle {
    pub x: [f32; 3],
    pub y: [f32; 3],
    /// Inverse depth at the first corner, and its change per sample.
    pub inverse: [f32; 3],
    pub low: f32,
    pub high: f32,
    /// Index of the triangle in the scene.
    pub triangle: u32,
    /// Whether it is turned away from the eye.
    pub back: bool,
}

/// A ball's box on the picture, in samples.
pub(super) struct ProjectedBall {
    pub left: usize,
    pub right: usize,
    pub top: usize,
    pub bottom: usize,
    /// Centre as seen from the eye.
    pub center: Vec3,
    pub radius: f32,
}

/// How much further away than they are surfaces turned away from the eye are taken to be, in scene radii. The two layers
/// of a membrane that has collapsed lie in one place, and would show in turn from pixel to pixel and frame to frame.
pub(in crate::render) const LINING: f32 = 4e-3;

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

    pub(super) fn place_triangles(&mut self) {
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

    pub(super) fn place_balls(&mut self) {
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
}
