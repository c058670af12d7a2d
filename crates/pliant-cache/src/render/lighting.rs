//! Soft light: an area light and a sky dome, each as many depth maps, gathered at vertices and on planes.
//!
//! Summing hard shadows from many directions gives what a studio gives: shadows sharp at the contact and soft
//! further away, darkening in creases and under bodies, and a tint of the body on the ground. All of it is smooth
//! and without noise, so animations do not flicker.

use super::camera::View;
use super::parallel::spread;
use super::scene::{Scene, Sheet};
use super::shadow::{Blockers, DepthMap};
use super::thickness::spline;
use glam::{Vec3, Vec4};

/// Light that arrives at a point, relative to the same point without anything in the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gathered {
    /// From the key light, tinted by what it passed through.
    pub key: Vec3,
    /// From the sky dome, including what blockers reflect; 1 for an open surface facing up.
    pub sky: Vec3,
}

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

/// All soft light of a scene.
pub(super) struct Lighting {
    key: Vec<DepthMap>,
    dome: Vec<DepthMap>,
    /// For each vertex of the scene.
    pub vertices: Vec<[Gathered; 2]>,
    /// For each plane.
    pub sheets: Vec<LightMap>,
}

const KEY_LIGHTS: usize = 22;
const KEY_TEXELS: usize = 96;
/// Radius of the key light as an angle (its tangent): a large softbox.
const KEY_SPREAD: f32 = 0.17;
const DOME_LIGHTS: usize = 34;
const DOME_TEXELS: usize = 52;
const GOLDEN: f32 = 2.399_963_2;
/// Share of the key light a blocker lets through, in its own colour.
const THROUGH: f32 = 0.30;
/// Share of the sky a blocker sends back, in its own colour.
const BOUNCE: f32 = 0.45;

impl Lighting {
    pub fn new(scene: &Scene, view: &View, threads: usize) -> Lighting {
        let mut light =
            Lighting { key: Vec::new(), dome: Vec::new(), vertices: Vec::new(), sheets: Vec::new() };
        let Some((center, radius)) = scene.extent() else {
            light.sheets = scene.sheets.iter().map(|s| LightMap::empty(s, view)).collect();
            light.vertices = vec![[Gathered { key: Vec3::ONE, sky: Vec3::ONE }; 2]; scene.positions.len()];
            return light;
        };
        // Steps of a quarter octave: the size of texels stays put while a body breathes.
        let radius = (radius.log2() * 4.0 + 0.05).ceil() / 4.0;
        let radius = radius.exp2();
        let key_blockers = Blockers::new(scene, center, radius, KEY_TEXELS);
        let dome_blockers = Blockers::new(scene, center, radius, DOME_TEXELS);
        let mut lights: Vec<(Vec3, &Blockers)> = Vec::new();
        let (u, v) = view.key.any_orthonormal_pair();
        for i in 0..KEY_LIGHTS {
            let r = KEY_SPREAD * ((i as f32 + 0.5) / KEY_LIGHTS as f32).sqrt();
            let angle = i as f32 * GOLDEN;
            let direction = view.key + r * (angle.cos() * u + angle.sin() * v);
            lights.push((direction.normalize(), &key_blockers));
        }
        let (u, v) = view.sky.any_orthonormal_pair();
        for i in 0..DOME_LIGHTS {
            let height = (i as f32 + 0.5) / DOME_LIGHTS as f32;
            let angle = i as f32 * GOLDEN;
            let side = (1.0 - height * height).sqrt();
            lights.push((height * view.sky + side * (angle.cos() * u + angle.sin() * v), &dome_blockers));
        }
        let mut maps: Vec<Option<DepthMap>> = lights.iter().map(|_| None).collect();
        spread(
            maps.iter_mut(),
            threads,
            || (),
            |i, slot, ()| {
                *slot = Some(DepthMap::new(lights[i].1, lights[i].0));
            },
        );
        let mut maps: Vec<DepthMap> = maps.into_iter().flatten().collect();
        light.dome = maps.split_off(KEY_LIGHTS.min(maps.len()));
        light.key = maps;
        light.gather_vertices(scene, view, threads);
        let sheets = scene.sheets.iter().map(|s| light.light_map(s, view, center, radius, threads)).collect();
        light.sheets = sheets;
        light
    }

    /// Light at a point of a surface with the given normal.
    pub fn gather(&self, p: Vec3, normal: Vec3) -> Gathered {
        let mut out = Gathered { key: Vec3::ZERO, sky: Vec3::ZERO };
        for map in &self.key {
            add_key(&mut out.key, map, p, normal);
        }
        for map in &self.dome {
            add_dome(&mut out.sky, map, p, normal);
        }
        if self.key.is_empty() { Gathered { key: Vec3::ONE, sky: Vec3::ONE } } else { out }
    }

    fn gather_vertices(&mut self, scene: &Scene, view: &View, threads: usize) {
        // Which sides of the vertices the eye may see: a sheet folded over an edge shows both around one vertex, and what
        // lies on top of the fold must not get the light below it.
        let mut seen = [vec![false; scene.positions.len()], vec![false; scene.positions.len()]];
        for t in &scene.triangles {
            let corners = t.corners.map(|v| v as usize);
            let way = view.eye - scene.positions[corners[0]];
            let (front, hair) = (t.normal.dot(way), 0.05 * way.length());
            // The far side of a closed body is never seen and needs no light.
            for (side, shown) in
                [front > -hair, front < hair && !scene.bodies[t.item as usize].closed].into_iter().enumerate()
            {
                corners.iter().for_each(|v| seen[side][*v] |= shown);
            }
        }
        let sides = |v: u32| [(v, 0), (v, 1)];
        let asked: Vec<(u32, usize)> = (0..scene.positions.len() as u32)
            .flat_map(sides)
            .filter(|(v, side)| seen[*side][*v as usize])
            .collect();
        let facing = |v: usize, side: usize| if side == 0 { scene.normals[v] } else { -scene.normals[v] };
        const CHUNK: usize = 512;
        let dark = Gathered { key: Vec3::ZERO, sky: Vec3::ZERO };
        let mut got = vec![dark; asked.len()];
        spread(
            got.chunks_mut(CHUNK),
            threads,
            || (),
            |c, chunk, ()| {
                // Map by map, so that each stays in the cache while many vertices read it.
                let vertices = &asked[c * CHUNK..c * CHUNK + chunk.len()];
                for map in &self.key {
                    for (slot, (v, side)) in chunk.iter_mut().zip(vertices) {
                        let (v, normal) = (*v as usize, facing(*v as usize, *side));
                        // Beyond this even wrapped light does not reach.
                        if normal.dot(view.key) > -0.5 {
                            add_key(&mut slot.key, map, scene.positions[v], normal);
                        }
                    }
                }
                for map in &self.dome {
                    for (slot, (v, side)) in chunk.iter_mut().zip(vertices) {
                        let (v, normal) = (*v as usize, facing(*v as usize, *side));
                        add_dome(&mut slot.sky, map, scene.positions[v], normal);
                    }
                }
            },
        );
        // Should an unseen vertex show after all, it is in even half-light.
        let even = Gathered { key: Vec3::splat(0.3), sky: Vec3::splat(0.4) };
        self.vertices = vec![[even; 2]; scene.positions.len()];
        for ((v, side), light) in asked.iter().zip(got) {
            self.vertices[*v as usize][*side] = light;
        }
    }

    fn light_map(&self, sheet: &Sheet, view: &View, center: Vec3, radius: f32, threads: usize) -> LightMap {
        let height = center.dot(sheet.normal) - sheet.offset;
        let slope = view.key.dot(sheet.normal);
        let [sky_share, key_share] = shares(sheet, view);
        if height < -radius || height > 40.0 * radius {
            return LightMap::empty(sheet, view);
        }
        // The ground below the bodies, and the place their shadow falls on.
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
        while (high[0] - low[0]) / texel > 260.0 || (high[1] - low[1]) / texel > 260.0 {
            texel *= 2.0;
        }
        let origin = [(low[0] / texel).floor() * texel, (low[1] / texel).floor() * texel];
        let size = [0, 1].map(|k| ((high[k] - origin[k]) / texel).ceil() as usize + 1);
        let fill = Gathered { key: Vec3::ZERO, sky: Vec3::ZERO };
        let mut texels = vec![fill; size[0] * size[1]];
        // The open plane as the measure, so that what stands free is exactly one.
        let mut open = Vec3::ZERO;
        let nowhere = sheet.normal * 1e5;
        for map in &self.dome {
            add_dome(&mut open, map, nowhere, sheet.normal);
        }
        let open = open.max(Vec3::splat(0.05));
        let point = |x: usize, y: usize| {
            sheet.offset * sheet.normal
                + (origin[0] + x as f32 * texel) * sheet.axes[0]
                + (origin[1] + y as f32 * texel) * sheet.axes[1]
        };
        let key = |p: Vec3| {
            let mut sum = Vec3::ZERO;
            for map in &self.key {
                let (lit, color) = map.reach(p, 0.0);
                sum += Vec3::splat(lit) + (THROUGH * (1.0 - lit)) * color;
            }
            sum / KEY_LIGHTS as f32
        };
        let dome = |p: Vec3| {
            let mut sum = Vec3::ZERO;
            for map in &self.dome {
                let weight = map.direction.dot(sheet.normal);
                if weight > 0.0 {
                    let (lit, color) = map.reach(p, 0.0);
                    sum += weight * (Vec3::splat(lit) + (BOUNCE * (1.0 - lit)) * color);
                }
            }
            (2.0 / DOME_LIGHTS as f32) * sum / open
        };
        // Every second point first, along both axes. In between the sky, which is smooth, is interpolated, and so is
        // the key light where its neighbours agree: most of the plane is in full light.
        let half = [size[0].div_ceil(2), size[1].div_ceil(2)];
        let mut coarse = vec![fill; half[0] * half[1]];
        spread(
            coarse.chunks_mut(half[0]),
            threads,
            || (),
            |y, row, ()| {
                for (x, slot) in row.iter_mut().enumerate() {
                    let p = point(2 * x, 2 * y);
                    *slot = Gathered { key: key(p), sky: dome(p) };
                }
            },
        );
        spread(
            texels.chunks_mut(size[0]),
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
                    slot.key = if (high - low).max_element() < 0.02 {
                        0.25 * (near[0].key + near[1].key + near[2].key + near[3].key)
                    } else {
                        key(point(x, y))
                    };
                }
            },
        );
        soften(&mut texels, size);
        let mut mixed = Vec::with_capacity(texels.len());
        for (i, light) in texels.iter().enumerate() {
            let rim = [i % size[0], i / size[0]];
            let rim = [0, 1]
                .map(|k| rim[k].min(size[k] - 1 - rim[k]).saturating_sub(2) as f32 / (0.25 * size[k] as f32));
            let fade = rim[0].min(rim[1]).clamp(0.0, 1.0);
            let fade = fade * fade * (3.0 - 2.0 * fade);
            // The sky's shadow is wide and weak and may end early, the key light's must not.
            let sky = sky_share * Vec3::ONE.lerp(light.sky, fade);
            let key = key_share * Vec3::ONE.lerp(light.key, fade.sqrt());
            mixed.push(((sky + key) / (sky_share + key_share).max(0.05)).extend(1.0));
        }
        LightMap { origin, per_unit: 1.0 / texel, size, texels: mixed, open: sky_share + key_share }
    }
}

/// Share of the light on open level ground that comes from the sky dome; the rest is the key light.
const SKY_SHARE: f32 = 0.46;

/// Light of the sky and of the key light on an open plane, relative to all light on level ground.
fn shares(sheet: &Sheet, view: &View) -> [f32; 2] {
    let level = view.key.dot(view.sky).max(0.2);
    let tilt = (view.key.dot(sheet.normal).max(0.0) / level).min(1.12);
    let up = 0.5 + 0.5 * view.sky.dot(sheet.normal);
    [SKY_SHARE * up, (1.0 - SKY_SHARE) * tilt]
}

fn add_key(sum: &mut Vec3, map: &DepthMap, p: Vec3, normal: Vec3) {
    let texel = map.texel();
    let (lit, color) = map.reach(p + 1.2 * texel * normal, 0.6 * texel);
    *sum += (Vec3::splat(lit) + (0.4 * THROUGH * (1.0 - lit)) * color) / KEY_LIGHTS as f32;
}

fn add_dome(sum: &mut Vec3, map: &DepthMap, p: Vec3, normal: Vec3) {
    let weight = map.direction.dot(normal);
    if weight > 0.0 {
        let texel = map.texel();
        let (lit, color) = map.reach(p + 1.1 * texel * normal, 0.4 * texel);
        let light = Vec3::splat(lit) + (BOUNCE * (1.0 - lit)) * color;
        *sum += (2.0 / DOME_LIGHTS as f32) * weight * light;
    }
}

/// Blurs the sky part a little: the separate directions of the dome would show as faint overlapping edges.
fn soften(texels: &mut [Gathered], [w, h]: [usize; 2]) {
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

impl LightMap {
    fn empty(sheet: &Sheet, view: &View) -> LightMap {
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
