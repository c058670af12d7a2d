//! The backdrop: a gradient behind everything, and planes that catch shadows and melt into it.

use super::camera::CameraView;
use super::light_map::LightMap;
use super::scene::RenderPlane;
use super::tone::to_linear;
use glam::Vec3;

/// Colours of the backdrop as sRGB values in 0..=1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backdrop {
    /// At the upper rim.
    pub top: [f32; 3],
    /// In the middle, where a horizon would be.
    pub middle: [f32; 3],
    /// At the lower rim.
    pub bottom: [f32; 3],
}

impl Backdrop {
    /// Bright and cool; the default.
    pub fn light() -> Backdrop {
        Backdrop { top: [0.80, 0.84, 0.89], middle: [0.935, 0.945, 0.955], bottom: [0.885, 0.895, 0.91] }
    }

    /// Dark, for slides and for bright colour maps.
    pub fn dark() -> Backdrop {
        Backdrop { top: [0.09, 0.10, 0.13], middle: [0.27, 0.29, 0.34], bottom: [0.19, 0.205, 0.24] }
    }

    /// One colour behind and below everything, linear, each channel from 0 to 1; bodies cast no shadow on it.
    pub fn plain(color: [f32; 3]) -> Backdrop {
        Backdrop { top: color, middle: color, bottom: color }
    }
}

/// The backdrop in linear light.
pub(super) struct LinearBackdrop {
    top: Vec3,
    middle: Vec3,
    bottom: Vec3,
    size: [f32; 2],
    /// Working units between grid lines; zero for none.
    grid: f32,
}

/// How much further below than they are planes are taken to be when something lies on them, in scene radii.
const LIES_ON: f32 = 2e-3;

fn smooth(low: f32, high: f32, x: f32) -> f32 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// A spacing of 1, 2 or 5 times a power of ten that puts a handful of lines below the subject.
pub(crate) fn round_spacing(radius: f64) -> f64 {
    let wanted = 0.32 * radius;
    let decade = 10f64.powf(wanted.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().min_by(|a, b| {
        let off = |s: f64| (s * decade / wanted).ln().abs();
        off(*a).total_cmp(&off(*b))
    });
    step.unwrap_or(1.0) * decade
}

impl LinearBackdrop {
    pub fn new(backdrop: &Backdrop, grid: Option<f64>, view: &CameraView) -> LinearBackdrop {
        let spacing = grid.unwrap_or_else(|| round_spacing(1.0 / view.scale)) * view.scale;
        LinearBackdrop {
            top: to_linear(backdrop.top),
            middle: to_linear(backdrop.middle),
            bottom: to_linear(backdrop.bottom),
            size: view.size.map(|s| s as f32),
            grid: if spacing.is_finite() && spacing > 1e-3 { spacing as f32 } else { 0.0 },
        }
    }

    /// Light behind a point of the picture, given in pixels.
    pub fn behind(&self, x: f32, y: f32) -> Vec3 {
        let (u, v) = (x / self.size[0], y / self.size[1]);
        let sky = self.middle.lerp(self.top, smooth(0.50, -0.05, v));
        let color = sky.lerp(self.bottom, smooth(0.55, 1.08, v));
        let (dx, dy) = (u - 0.5, 0.8 * (v - 0.52));
        color * (1.02 - 0.30 * (dx * dx + dy * dy))
    }

    /// Inverse depth of a plane as a linear function of the pixel: `[constant, per x, per y]`. `None` if the eye is
    /// not in the free half.
    pub fn inverse_depth(sheet: &RenderPlane, view: &CameraView) -> Option<[f32; 3]> {
        // A hair further away than it is, so that cloth that lies on it hides it everywhere and does not flicker.
        let height = view.eye.dot(sheet.normal) - sheet.offset + LIES_ON;
        if height <= 1e-4 {
            return None;
        }
        let per_x = -view.right.dot(sheet.normal) / view.focal / height;
        let per_y = view.up.dot(sheet.normal) / view.focal / height;
        let middle = -view.forward.dot(sheet.normal) / height;
        Some([middle - per_x * view.center[0] - per_y * view.center[1], per_x, per_y])
    }

    /// Light from a plane through a pixel.
    pub fn plane(&self, sheet: &RenderPlane, light: &LightMap, view: &CameraView, x: f32, y: f32) -> Vec3 {
        let behind = self.behind(x, y);
        let ray = view.ray(x, y);
        let slant = ray.dot(sheet.normal);
        let depth = (sheet.offset - view.eye.dot(sheet.normal)) / slant;
        if !(slant < -1e-6 && depth > 0.0 && depth < 1e5) {
            return behind;
        }
        let p = view.eye + depth * ray;
        let near = 1.0 - smooth(2.0, 7.0, p.length());
        if near <= 0.0 {
            return behind;
        }
        let at = sheet.axes.map(|axis| p.dot(axis));
        // Level ground in the open is exactly the backdrop, so that it has no end; slopes are lit by their tilt. But
        // before a bright backdrop walls are lit from all sides: only a part of the tilt shows.
        let mut factor = light.at(at) * (1.0 + 0.45 * (light.open - 1.0));
        if self.grid > 0.0 {
            let mut lines = 1.0;
            for (k, axis) in sheet.axes.into_iter().enumerate() {
                let step = |d: Vec3| (depth * (d - ray * (d.dot(sheet.normal) / slant)).dot(axis)).abs();
                let footprint = step(view.right / view.focal) + step(view.up / view.focal);
                lines *= 1.0 - self.line(at[k] + sheet.origin[k] as f32, footprint);
            }
            factor *= 1.0 - (0.085 * near * near) * (1.0 - lines);
        }
        behind * Vec3::ONE.lerp(factor, near)
    }

    /// How much of a pixel with the given footprint is covered by a grid line: the exact average, so that distant
    /// lines fade instead of flickering.
    fn line(&self, at: f32, footprint: f32) -> f32 {
        let width = 0.028 * self.grid;
        // Not `round`, which is a function call on plain x86-64.
        let lines = (at / self.grid + 65536.5) as i32 - 65536;
        let away = (at - lines as f32 * self.grid).abs();
        let blur = footprint.max(1e-6) * 1.25;
        let cover = ((0.5 * (width + blur) - away) / blur).clamp(0.0, (width / blur).min(1.0));
        let dense = smooth(0.15, 0.6, blur / self.grid);
        cover * (1.0 - dense) + (width / self.grid) * dense
    }
}
