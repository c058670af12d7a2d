//! Soft light on a plane: shadows that the bodies throw on the ground, as a grid of factors.

use super::camera::CameraView;
use super::lighting::{
    BOUNCE, DOME_LIGHTS, KEY_LIGHTS, KEY_SPREAD, Lighting, ReceivedLight, THROUGH, add_dome,
};
use super::scene::RenderPlane;
use super::thickness::spline;
use glam::{Vec3, Vec4};
use pliant_geometry::parallel;

/// Texels along the longer side, at most.
const MOST_TEXELS: f32 = 260.0;
/// Key light that differs by less around a texel is interpolated.
const EVEN: f32 = 0.02;
const DARK: ReceivedLight = ReceivedLight { key: Vec3::ZERO, sky: Vec3::ZERO };

/// Light on a plane, on a grid in the plane's axes.
pub(super) struct LightMap {
    origin: [f32; 2],
    per_unit: f32,
    size: [usize; 2],
    /// Factors on the open plane's light, fading to one at the rim; empty where nothing is near.
    texels: Vec<Vec4>,
    /// Light on the open plane, relative to level ground.
    pub open: f32,
}

/// Share of the light on open level ground that comes from the sky dome; the rest is the key light.
const SKY_SHARE: f32 = 0.46;

/// Light of the sky and of the key light on an open plane, relative to all light on level ground.
fn shares(sheet: &RenderPlane, view: &CameraView) -> [f32; 2] {
    let level = view.key.dot(view.sky).max(0.2);
    let tilt = (view.key.dot(sheet.normal).max(0.0) / level).min(1.12);
    let up = 0.5 + 0.5 * view.sky.dot(sheet.normal);
    [SKY_SHARE * up, (1.0 - SKY_SHARE) * tilt]
}

impl LightMap {
    /// Light on a plane around bodies that lie within a ball of `extent`.
    pub fn new(
        light: &Lighting,
        sheet: &RenderPlane,
        view: &CameraView,
        extent: (Vec3, f32),
        threads: usize,
    ) -> LightMap {
        let (center, radius) = extent;
        let height = center.dot(sheet.normal) - sheet.offset;
        if height < -radius || height > 40.0 * radius {
            return LightMap::empty(sheet, view);
        }
        let grid = PlaneGrid::around(sheet, view, extent);
        let mut texels = grid.gather(&PlaneLight::new(light, sheet), threads);
        soften(&mut texels, grid.size);
        let shares = shares(sheet, view);
        let mixed = texels.iter().enumerate().map(|(i, light)| grid.factor(i, light, shares)).collect();
        LightMap {
            origin: grid.origin,
            per_unit: 1.0 / grid.texel,
            size: grid.size,
            texels: mixed,
            open: shares[0] + shares[1],
        }
    }

    pub fn empty(sheet: &RenderPlane, view: &CameraView) -> LightMap {
        let [sky, key] = shares(sheet, view);
        LightMap { origin: [0.0; 2], per_unit: 0.0, size: [0; 2], texels: Vec::new(), open: sky + key }
    }

    /// Factor on the light at a point given in the plane's axes; one everywhere outside the grid.
    pub fn at(&self, p: [f32; 2]) -> Vec3 {
        if self.texels.is_empty() {
            return Vec3::ONE;
        }
        let f = [0, 1].map(|k| (p[k] - self.origin[k]) * self.per_unit);
        let last = [0, 1].map(|k| self.size[k] as f32 - 3.0);
        if !(f[0] >= 1.0 && f[1] >= 1.0 && f[0] < last[0] && f[1] < last[1]) {
            return Vec3::ONE;
        }
        let (x, y) = (f[0] as usize, f[1] as usize);
        let (wx, wy) = (spline(f[0] - x as f32), spline(f[1] - y as f32));
        let mut sum = Vec4::ZERO;
        for (j, wy) in wy.to_array().into_iter().enumerate() {
            let start = (y + j - 1) * self.size[0] + x - 1;
            let row = &self.texels[start..start + 4];
            sum += wy * (wx[0] * row[0] + wx[1] * row[1] + wx[2] * row[2] + wx[3] * row[3]);
        }
        sum.truncate()
    }
}

/// The points of a plane that light is gathered at.
struct PlaneGrid<'a> {
    sheet: &'a RenderPlane,
    origin: [f32; 2],
    texel: f32,
    size: [usize; 2],
}

impl<'a> PlaneGrid<'a> {
    /// Covers the ground below the bodies, and the place their shadow falls on.
    fn around(sheet: &'a RenderPlane, view: &CameraView, (center, radius): (Vec3, f32)) -> PlaneGrid<'a> {
        let height = center.dot(sheet.normal) - sheet.offset;
        let slope = view.key.dot(sheet.normal);
        let below = center - height * sheet.normal;
        let mut spots = vec![(below, 2.6 * radius + 0.5 * height.max(0.0))];
        if slope > 0.15 {
            let fall = center - (height / slope) * view.key;
            spots.push((fall, 1.3 * radius / slope + 1.5 * KEY_SPREAD * height.max(0.0) / slope));
        }
        let (mut low, mut high) = ([f32::MAX; 2], [f32::MIN; 2]);
        for (spot, reach) in spots {
            for axis in 0..2 {
                let at = spot.dot(sheet.axes[axis]);
                low[axis] = low[axis].min(at - reach);
                high[axis] = high[axis].max(at + reach);
            }
        }
        let mut texel = radius / 32.0;
        while (high[0] - low[0]) / texel > MOST_TEXELS || (high[1] - low[1]) / texel > MOST_TEXELS {
            texel *= 2.0;
        }
        let origin = [(low[0] / texel).floor() * texel, (low[1] / texel).floor() * texel];
        let size = [0, 1].map(|k| ((high[k] - origin[k]) / texel).ceil() as usize + 1);
        PlaneGrid { sheet, origin, texel, size }
    }

    fn point(&self, x: usize, y: usize) -> Vec3 {
        let PlaneGrid { sheet, origin, texel, .. } = self;
        sheet.offset * sheet.normal
            + (origin[0] + x as f32 * texel) * sheet.axes[0]
            + (origin[1] + y as f32 * texel) * sheet.axes[1]
    }

    /// Light at all points: every second one first, along both axes. In between the sky, which is smooth, is interpolated,
    /// and so is the key light where its neighbours agree: most of the plane is in full light.
    fn gather(&self, light: &PlaneLight<'_>, threads: usize) -> Vec<ReceivedLight> {
        let size = self.size;
        let half = [size[0].div_ceil(2), size[1].div_ceil(2)];
        let mut coarse = vec![DARK; half[0] * half[1]];
        let rows = coarse.chunks_mut(half[0]);
        parallel::for_each(
            rows,
            threads,
            || (),
            |y, row, ()| {
                for (x, slot) in row.iter_mut().enumerate() {
                    let p = self.point(2 * x, 2 * y);
                    *slot = ReceivedLight { key: light.key(p), sky: light.sky(p) };
                }
            },
        );
        let mut texels = vec![DARK; size[0] * size[1]];
        let rows = texels.chunks_mut(size[0]);
        parallel::for_each(
            rows,
            threads,
            || (),
            |y, row, ()| {
                for (x, slot) in row.iter_mut().enumerate() {
                    let right = x.div_ceil(2).min(half[0] - 1);
                    let below = y.div_ceil(2).min(half[1] - 1);
                    let near = [(x / 2, y / 2), (right, y / 2), (x / 2, below), (right, below)];
                    let near = near.map(|(x, y)| coarse[y * half[0] + x]);
                    let low = near.iter().fold(Vec3::INFINITY, |low, n| low.min(n.key));
                    let high = near.iter().fold(Vec3::NEG_INFINITY, |high, n| high.max(n.key));
                    slot.sky = 0.25 * (near[0].sky + near[1].sky + near[2].sky + near[3].sky);
                    slot.key = if (high - low).max_element() < EVEN {
                        0.25 * (near[0].key + near[1].key + near[2].key + near[3].key)
                    } else {
                        light.key(self.point(x, y))
                    };
                }
            },
        );
        texels
    }

    /// Factor on the open plane's light at texel `i`, fading to one at the rim.
    fn factor(&self, i: usize, light: &ReceivedLight, [sky_share, key_share]: [f32; 2]) -> Vec4 {
        let size = self.size;
        let rim = [i % size[0], i / size[0]];
        let rim = [0, 1]
            .map(|k| rim[k].min(size[k] - 1 - rim[k]).saturating_sub(2) as f32 / (0.25 * size[k] as f32));
        let fade = rim[0].min(rim[1]).clamp(0.0, 1.0);
        let fade = fade * fade * (3.0 - 2.0 * fade);
        // The sky's shadow is wide and weak and may end early, the key light's must not.
        let sky = sky_share * Vec3::ONE.lerp(light.sky, fade);
        let key = key_share * Vec3::ONE.lerp(light.key, fade.sqrt());
        ((sky + key) / (sky_share + key_share).max(0.05)).extend(1.0)
    }
}

/// The light of a scene at points of a plane, relative to the open plane.
struct PlaneLight<'a> {
    light: &'a Lighting,
    normal: Vec3,
    /// The sky's light where nothing is near.
    open: Vec3,
}

impl<'a> PlaneLight<'a> {
    fn new(light: &'a Lighting, sheet: &RenderPlane) -> PlaneLight<'a> {
        // The open plane as the measure, so that what stands free is exactly one.
        let mut open = Vec3::ZERO;
        let nowhere = sheet.normal * 1e5;
        for map in &light.dome {
            add_dome(&mut open, map, nowhere, sheet.normal);
        }
        PlaneLight { light, normal: sheet.normal, open: open.max(Vec3::splat(0.05)) }
    }

    fn key(&self, p: Vec3) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for map in &self.light.key {
            let (lit, color) = map.reach(p, 0.0);
            sum += Vec3::splat(lit) + (THROUGH * (1.0 - lit)) * color;
        }
        sum / KEY_LIGHTS as f32
    }

    fn sky(&self, p: Vec3) -> Vec3 {
        let mut sum = Vec3::ZERO;
        for map in &self.light.dome {
            let weight = map.direction.dot(self.normal);
            if weight > 0.0 {
                let (lit, color) = map.reach(p, 0.0);
                sum += weight * (Vec3::splat(lit) + (BOUNCE * (1.0 - lit)) * color);
            }
        }
        (2.0 / DOME_LIGHTS as f32) * sum / self.open
    }
}

/// Blurs the sky part a little: the separate directions of the dome would show as faint overlapping edges.
fn soften(texels: &mut [ReceivedLight], [w, h]: [usize; 2]) {
    const KERNEL: [f32; 7] = [0.03, 0.11, 0.22, 0.28, 0.22, 0.11, 0.03];
    for (stride, length, others, other_stride) in [(1, w, h, w), (w, h, w, 1)] {
        let mut line = vec![Vec3::ZERO; length];
        for other in 0..others {
            let start = other * other_stride;
            for (i, value) in line.iter_mut().enumerate() {
                *value = texels[start + i * stride].sky;
            }
            for i in 0..length {
                let mut sum = Vec3::ZERO;
                for (k, weight) in KERNEL.iter().enumerate() {
                    sum += *weight * line[(i + k).saturating_sub(3).min(length - 1)];
                }
                texels[start + i * stride].sky = sum;
            }
        }
    }
}
