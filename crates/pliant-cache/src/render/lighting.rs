//! Soft light: an area light and a sky dome, each as many depth maps, gathered at vertices and on planes.
//!
//! Summing hard shadows from many directions gives what large lamps give: shadows sharp at the contact and soft
//! further away, darkening in creases and under bodies, and a tint of the body on the ground. All of it is smooth
//! and without noise, so animations do not flicker.

use super::camera::CameraView;
use super::light_map::LightMap;
use super::scene::RenderScene;
use super::shadow::{Blockers, DepthMap};
use glam::Vec3;
use pliant_geometry::parallel;

/// Light that arrives at a point, relative to the same point without anything in the way.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceivedLight {
    /// From the key light, tinted by what it passed through.
    pub key: Vec3,
    /// From the sky dome, including what blockers reflect; 1 for an open surface facing up.
    pub sky: Vec3,
}

/// All soft light of a scene.
pub(super) struct Lighting {
    pub(super) key: Vec<DepthMap>,
    pub(super) dome: Vec<DepthMap>,
    /// For each vertex of the scene.
    pub vertices: Vec<[ReceivedLight; 2]>,
    /// For each plane.
    pub sheets: Vec<LightMap>,
}

pub(super) const KEY_LIGHTS: usize = 22;
const KEY_TEXELS: usize = 96;
/// Radius of the key light as an angle (its tangent): a large softbox.
pub(super) const KEY_SPREAD: f32 = 0.17;
pub(super) const DOME_LIGHTS: usize = 34;
const DOME_TEXELS: usize = 52;
const GOLDEN: f32 = 2.399_963_2;
/// Share of the key light a blocker lets through, in its own colour.
pub(super) const THROUGH: f32 = 0.30;
/// Share of the sky a blocker sends back, in its own colour.
pub(super) const BOUNCE: f32 = 0.45;

impl Lighting {
    pub fn new(scene: &RenderScene, view: &CameraView, threads: usize) -> Lighting {
        let mut light =
            Lighting { key: Vec::new(), dome: Vec::new(), vertices: Vec::new(), sheets: Vec::new() };
        let Some((center, radius)) = scene.extent() else {
            light.sheets = scene.sheets.iter().map(|s| LightMap::empty(s, view)).collect();
            light.vertices =
                vec![[ReceivedLight { key: Vec3::ONE, sky: Vec3::ONE }; 2]; scene.positions.len()];
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
        let mut maps =
            parallel::map_tasks(lights.len(), threads, |i| DepthMap::new(lights[i].1, lights[i].0));
        light.dome = maps.split_off(KEY_LIGHTS.min(maps.len()));
        light.key = maps;
        light.gather_vertices(scene, view, threads);
        let sheets =
            scene.sheets.iter().map(|s| LightMap::new(&light, s, view, (center, radius), threads)).collect();
        light.sheets = sheets;
        light
    }

    /// Light at a point of a surface with the given normal.
    pub fn gather(&self, p: Vec3, normal: Vec3) -> ReceivedLight {
        let mut out = ReceivedLight { key: Vec3::ZERO, sky: Vec3::ZERO };
        for map in &self.key {
            add_key(&mut out.key, map, p, normal);
        }
        for map in &self.dome {
            add_dome(&mut out.sky, map, p, normal);
        }
        if self.key.is_empty() { ReceivedLight { key: Vec3::ONE, sky: Vec3::ONE } } else { out }
    }

    fn gather_vertices(&mut self, scene: &RenderScene, view: &CameraView, threads: usize) {
        // Which sides of the vertices the eye may see: a sheet folded over an edge shows both around one vertex, and what
        // lies on top of the fold must not get the light below it.
        let mut seen = [vec![false; scene.positions.len()], vec![false; scene.positions.len()]];
        for t in &scene.triangles {
            let corners = t.corners.map(|v| v as usize);
            let to_eye = view.eye - scene.positions[corners[0]];
            let (front, hair) = (t.normal.dot(to_eye), 0.05 * to_eye.length());
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
        let dark = ReceivedLight { key: Vec3::ZERO, sky: Vec3::ZERO };
        let mut got = vec![dark; asked.len()];
        parallel::for_each(
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
        let even = ReceivedLight { key: Vec3::splat(0.3), sky: Vec3::splat(0.4) };
        self.vertices = vec![[even; 2]; scene.positions.len()];
        for ((v, side), light) in asked.iter().zip(got) {
            self.vertices[*v as usize][*side] = light;
        }
    }
}

fn add_key(sum: &mut Vec3, map: &DepthMap, p: Vec3, normal: Vec3) {
    let texel = map.texel();
    let (lit, color) = map.reach(p + 1.2 * texel * normal, 0.6 * texel);
    *sum += (Vec3::splat(lit) + (0.4 * THROUGH * (1.0 - lit)) * color) / KEY_LIGHTS as f32;
}

pub(super) fn add_dome(sum: &mut Vec3, map: &DepthMap, p: Vec3, normal: Vec3) {
    let weight = map.direction.dot(normal);
    if weight > 0.0 {
        let texel = map.texel();
        let (lit, color) = map.reach(p + 1.1 * texel * normal, 0.4 * texel);
        let light = Vec3::splat(lit) + (BOUNCE * (1.0 - lit)) * color;
        *sum += (2.0 / DOME_LIGHTS as f32) * weight * light;
    }
}
