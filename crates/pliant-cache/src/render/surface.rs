//! Meshes made ready for shading: smooth normals with soft creases, and coarse meshes cut finer.

use super::camera::{CameraView, NEAR};
use glam::Vec3;
use std::collections::HashMap;

/// A mesh with one normal and colour for each vertex; vertices at creases appear once for each side.
pub(super) struct Patch {
    pub positions: Vec<Vec3>,
    pub normals: Vec<Vec3>,
    pub colors: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    /// The triangles that were good, in the indices of the mesh as given.
    pub flat: Vec<[u32; 3]>,
}

/// Faces within the first cosine of each other share a normal fully, beyond the second not at all. In between the
/// share falls smoothly, so that an edge that bends during an animation does not change its look with a jump.
const SMOOTH: f32 = 0.72;
const SHARP: f32 = 0.35;

/// Builds normals; leaves out triangles with missing or bad vertices. `soft` smooths across all edges.
pub(super) fn build(local: &[Option<Vec3>], triangles: &[[u32; 3]], colors: &[Vec3], soft: bool) -> Patch {
    let faces = Faces::new(local, triangles);
    let mut normals = faces.vertex_normals(local.len());
    let creased = if soft { vec![false; local.len()] } else { faces.creases(&normals) };
    faces.smooth(&mut normals, &creased);
    let around = faces.around(&creased);
    let mut patch = Patch {
        positions: Vec::with_capacity(local.len()),
        normals: Vec::with_capacity(local.len()),
        colors: Vec::with_capacity(local.len()),
        triangles: Vec::with_capacity(faces.corners.len()),
        flat: Vec::new(),
    };
    const NONE: u32 = u32::MAX;
    let mut shared = vec![NONE; local.len()];
    for (f, t) in faces.corners.iter().enumerate() {
        let mut corners = [0; 3];
        for (corner, v) in corners.iter_mut().zip(t) {
            let index = *v as usize;
            if !creased[index] && shared[index] != NONE {
                *corner = shared[index];
                continue;
            }
            *corner = patch.positions.len() as u32;
            shared[index] = *corner;
            patch.positions.push(local.get(index).copied().flatten().unwrap_or(Vec3::ZERO));
            patch.colors.push(colors.get(index).copied().unwrap_or(Vec3::splat(0.5)));
            patch.normals.push(match creased[index] {
                true => faces.crease_normal(f, &around[v]).normalize_or(normals[index]),
                false => normals[index],
            });
        }
        patch.triangles.push(corners);
    }
    patch.flat = faces.corners;
    patch
}

/// The triangles of a mesh that have all their corners, and their normals, as long as twice their area.
struct Faces {
    corners: Vec<[u32; 3]>,
    areas: Vec<Vec3>,
}

impl Faces {
    fn new(local: &[Option<Vec3>], triangles: &[[u32; 3]]) -> Faces {
        let at = |v: u32| local.get(v as usize).copied().flatten();
        let mut faces = Faces {
            corners: Vec::with_capacity(triangles.len()),
            areas: Vec::with_capacity(triangles.len()),
        };
        for t in triangles {
            if let (Some(a), Some(b), Some(c)) = (at(t[0]), at(t[1]), at(t[2])) {
                faces.corners.push(*t);
                faces.areas.push((b - a).cross(c - a));
            }
        }
        faces
    }

    fn vertex_normals(&self, vertices: usize) -> Vec<Vec3> {
        let mut sums = vec![Vec3::ZERO; vertices];
        for (t, n) in self.corners.iter().zip(&self.areas) {
            for v in t {
                sums[*v as usize] += *n;
            }
        }
        for sum in &mut sums {
            *sum = sum.normalize_or(Vec3::Y);
        }
        sums
    }

    /// Which vertices have a face that turns far away from their normal.
    fn creases(&self, normals: &[Vec3]) -> Vec<bool> {
        let mut creased = vec![false; normals.len()];
        for (t, n) in self.corners.iter().zip(&self.areas) {
            let n = n.normalize_or_zero();
            for v in t {
                // A zero normal (degenerate face) says nothing about a crease.
                creased[*v as usize] |= n != Vec3::ZERO && n.dot(normals[*v as usize]) < SMOOTH;
            }
        }
        creased
    }

    /// Averages normals twice more over the neighbours: highlights show every unevenness of a mesh, and the eye takes it
    /// for facets.
    fn smooth(&self, normals: &mut [Vec3], creased: &[bool]) {
        for _ in 0..2 {
            let mut wide = normals.to_vec();
            for t in &self.corners {
                let [a, b, c] = t.map(|v| normals[v as usize]);
                let sum = 0.35 * (a + b + c);
                for v in t.iter().filter(|v| !creased[**v as usize]) {
                    wide[*v as usize] += sum;
                }
            }
            for (normal, wide) in normals.iter_mut().zip(wide) {
                *normal = wide.normalize_or(*normal);
            }
        }
    }

    /// The faces around each vertex at a crease.
    fn around(&self, creased: &[bool]) -> HashMap<u32, Vec<u32>> {
        let mut around: HashMap<u32, Vec<u32>> = HashMap::new();
        for (f, t) in self.corners.iter().enumerate() {
            for v in t.iter().filter(|v| creased[**v as usize]) {
                around.entry(*v).or_default().push(f as u32);
            }
        }
        around
    }

    /// The normal of a corner of face `f` at a crease, of any length: those of the faces around, by how much they agree.
    fn crease_normal(&self, f: usize, around: &[u32]) -> Vec3 {
        let own = self.areas[f].normalize_or_zero();
        let mut sum = Vec3::ZERO;
        for g in around {
            let n = self.areas[*g as usize];
            let share = ((own.dot(n.normalize_or_zero()) - SHARP) / (SMOOTH - SHARP)).clamp(0.0, 1.0);
            sum += share * share * (3.0 - 2.0 * share) * n;
        }
        sum
    }
}

/// Cuts each triangle in four until edges are a few pixels long, because light is gathered at vertices.
pub(super) fn refine(patch: &mut Patch, view: &CameraView) {
    const LONG: f32 = 7.0;
    const MOST: usize = 40_000;
    loop {
        let (mut total, mut count) = (0.0f64, 0usize);
        for t in &patch.triangles {
            let [a, b, c] = t.map(|v| view.see(patch.positions[v as usize]));
            let depth = a.z.min(b.z).min(c.z);
            if depth > NEAR {
                total += f64::from((a - b).length().max((b - c).length()) / depth * view.focal);
                count += 1;
            }
        }
        if count == 0 || total / count as f64 <= f64::from(LONG) || 4 * patch.triangles.len() > MOST {
            return;
        }
        split(patch);
    }
}

fn split(patch: &mut Patch) {
    let mut middles: HashMap<(u32, u32), u32> = HashMap::new();
    let old = std::mem::take(&mut patch.triangles);
    patch.triangles.reserve(4 * old.len());
    for [a, b, c] in old {
        let mut middle = |i: u32, j: u32| {
            *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                let (i, j) = (i.min(j) as usize, i.max(j) as usize);
                patch.positions.push(0.5 * (patch.positions[i] + patch.positions[j]));
                patch.colors.push(0.5 * (patch.colors[i] + patch.colors[j]));
                let normal = (patch.normals[i] + patch.normals[j]).normalize_or(patch.normals[i]);
                patch.normals.push(normal);
                patch.positions.len() as u32 - 1
            })
        };
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        patch.triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
    }
}
