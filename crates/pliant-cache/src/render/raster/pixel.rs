//! The colour of a pixel: one shading for each surface its samples show.

use super::{RasterJob, SampleBuffer};
use crate::render::Look;
use crate::render::lighting::ReceivedLight;
use crate::render::shade::{ShadingPoint, shade};
use crate::render::tone::filmic;
use glam::Vec3;

impl RasterJob<'_> {
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

    pub(super) fn pixel(&self, samples: &SampleBuffer, x: usize, y: usize, row: usize) -> Vec3 {
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
                light: ReceivedLight {
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
