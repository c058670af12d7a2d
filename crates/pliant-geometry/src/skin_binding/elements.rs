//! Binding to elements: through tetrahedra, and on cloth.
//!
//! A vertex X stands on corners i with continuous weights wᵢ and anchor f = Σ wᵢ Xᵢ (see `anchor.rs`). It goes to
//!
//! x = Σ wᵢ (xᵢ + ½ Fᵢ (f − Xᵢ)) + Σ wᵢ Fᵢ (X − f)
//!
//! with the frames Fᵢ of the corners (`frames.rs`). The first sum is the Phong deformation of James 2020 ("Phong
//! deformation: a better C⁰ interpolant for embedded deformation", eq. 6): it bends with the elements, so that
//! facets of coarse ones do not show. The second carries what lies outside the elements or off the cloth. Each
//! frame is the identity at rest and A under an affine motion, so those are followed exactly; and all of it
//! is linear in particles and normals, so nothing can pop.
//!
//! What lies farther outside tetrahedra than these frames carry calmly goes with rotations instead (`turning.rs`), blended
//! where the one begins and the other ends: rigid motions are followed exactly however far it is, and no vertex flies
//! off where elements are squashed, sheared or collapse.

use super::anchor::{EnclosingTets, NearestTriangles};
use super::frames::DeformationFrames;
use super::turning::TurningFrames;
use crate::mesh::TriMesh;
use crate::rows::{self, SparseRows};
use crate::skin::{NormalOffsets, Skin};
use crate::skin_binding::particles::MovingLeastSquares;
use crate::tet_mesh::TetMesh;
use glam::DVec3;
use std::ops::Range;

/// How much the bending within an element may swing before it is held back. Well-shaped elements stay below.
const BEND_SWING: f64 = 2.0;
/// How far a vertex may swing on frames of its corners before it follows how particles around it turn, on cloth where more of them
/// are, and when it does so alone: thin features far outside coarse elements.
const FAR_SWING: Range<f64> = 2.0..4.0;

impl Skin {
    /// Binds `vertices` to tetrahedra: inside by their corners, outside by the nearest boundary. Affine motions
    /// are followed exactly inside and up to about half an element outside, rigid ones anywhere: what is far outside turns with the
    /// particles near it, and keeps its distance. Weights vary continuously. All positions must be finite;
    /// elements that name points that are not there are passed over.
    pub fn bind_tets(points: &[DVec3], tetrahedra: &[[u32; 4]], vertices: &[DVec3]) -> Skin {
        let sound = |t: &[u32; 4]| t.iter().all(|&i| (i as usize) < points.len());
        let tetrahedra = tetrahedra.iter().copied().filter(sound).collect();
        let mesh = TetMesh { points: points.to_vec(), tetrahedra, regions: Vec::new() };
        let inside = EnclosingTets::new(points, &mesh.tetrahedra);
        let ground = NearestTriangles::new(points, mesh.boundary());
        let mut binder = SkinBinder {
            points,
            frames: DeformationFrames::of_tets(points, &mesh.tetrahedra),
            particles_around: MovingLeastSquares::new(points, Some(&mesh.edges())),
            turning: Some(TurningFrames::new(points, &mesh.edges())),
            skin: SkinParts::new(),
        };
        let mut anchor = Vec::new();
        for &vertex in vertices {
            let held = inside.anchor(vertex, &mut anchor);
            if !held {
                ground.anchor(vertex, &mut anchor);
            }
            binder.carry(vertex, &anchor, held);
        }
        binder.finish(None)
    }

    /// Binds `vertices` to a cloth of triangles between particles: on it by the corners, off it along its smooth
    /// normals, beyond its borders along its tangents. Rigid motions are followed exactly, and so are affine ones
    /// but for heights, which stay what they are: stretching a cloth does not make it thicker.
    pub fn bind_cloth(points: &[DVec3], triangles: &[[u32; 3]], vertices: &[DVec3]) -> Skin {
        let sound = |t: &[u32; 3]| t.iter().all(|&i| (i as usize) < points.len());
        let triangles: Vec<[u32; 3]> = triangles.iter().copied().filter(sound).collect();
        let ground = NearestTriangles::new(points, triangles.clone());
        let edges = TriMesh { positions: Vec::new(), triangles: triangles.clone() }.edges();
        let mut binder = SkinBinder {
            points,
            frames: DeformationFrames::of_cloth(points, &triangles),
            particles_around: MovingLeastSquares::new(points, Some(&edges)),
            turning: None,
            skin: SkinParts::new(),
        };
        let mut anchor = Vec::new();
        for &vertex in vertices {
            ground.anchor(vertex, &mut anchor);
            binder.carry(vertex, &anchor, false);
        }
        binder.finish(Some(triangles))
    }
}

/// The parts of a skin in the making.
struct SkinParts {
    particles: SparseRows,
    handles: SparseRows,
    normals: SparseRows,
    rigid: SparseRows,
}

impl SkinParts {
    fn new() -> SkinParts {
        let rows = SparseRows::new;
        SkinParts { particles: rows(), handles: rows(), normals: rows(), rigid: rows() }
    }
}

struct SkinBinder<'a> {
    points: &'a [DVec3],
    frames: DeformationFrames,
    particles_around: MovingLeastSquares<'a>,
    /// Of solids.
    turning: Option<TurningFrames<'a>>,
    skin: SkinParts,
}

impl SkinBinder<'_> {
    /// Appends a vertex that stands on `anchor`, and is there exactly if it is `held`.
    fn carry(&mut self, vertex: DVec3, anchor: &[(u32, f64)], held: bool) {
        let points = self.points;
        let point = |i: u32| points[i as usize];
        let middle: DVec3 = anchor.iter().map(|&(i, w)| w * point(i)).sum();
        let off = if held { DVec3::ZERO } else { vertex - middle };
        let bend = 0.5 * (BEND_SWING / self.swing(anchor, |i| 0.5 * (middle - point(i)))).min(1.0);
        let swing = self.swing(anchor, |_| off);
        let far = smooth_step((swing - FAR_SWING.start) / (FAR_SWING.end - FAR_SWING.start));
        let far = if anchor.is_empty() { 1.0 } else { far };

        let (mut particles, mut handles, mut normals) = (Vec::new(), Vec::new(), Vec::new());
        let mut rigid = if far > 0.0 { self.turn(anchor, far, off) } else { Some(Vec::new()) };
        // What only turns hangs on the same anchor.
        let rigidly = rigid.as_ref().map_or(0.0, |_| far);
        let far = if rigid.is_some() { 0.0 } else { far };
        for &(i, w) in anchor.iter().filter(|_| far < 1.0) {
            let w = (1.0 - far) * w;
            let carried = w * (bend * (middle - point(i)) + (1.0 - rigidly) * off);
            rows::add(&mut particles, i, w);
            let first = self.frames.first[i as usize];
            for (k, axis) in self.frames.axes[i as usize].iter().enumerate() {
                handles.push((first + k as u32, carried.dot(*axis)));
            }
            normals.push((i, carried.dot(self.frames.normal_axis[i as usize])));
        }
        if far > 0.0 {
            let normal: DVec3 = anchor.iter().map(|&(i, w)| w * self.frames.normal_axis[i as usize]).sum();
            let followed = self.particles_around.follow(vertex, Some(normal), &mut self.frames.handles);
            // What the particles around a cloth do not know: the height above it.
            let height =
                self.particles_around.left(vertex, &followed.particles).dot(normal) / normal.length_squared();
            if height.is_finite() {
                normals.extend(anchor.iter().map(|&(i, w)| (i, far * w * height)));
            }
            followed.particles.into_iter().for_each(|(i, w)| rows::add(&mut particles, i, far * w));
            handles.extend(followed.handles.into_iter().map(|(h, w)| (h, far * w)));
        }
        handles.retain(|e: &(u32, f64)| e.1 != 0.0);
        normals.retain(|e| e.1 != 0.0);
        let rigid_row = rigid.get_or_insert_default();
        rigid_row.retain(|e| e.1 != 0.0);
        if ![&particles, &handles, &normals, &*rigid_row].into_iter().flatten().all(|e| e.1.is_finite()) {
            // Numbers beyond computing with.
            particles = anchor.first().map(|e| (e.0, 1.0)).into_iter().collect();
            handles.clear();
            normals.clear();
            rigid_row.clear();
        }
        self.skin.particles.push(particles);
        self.skin.handles.push(handles);
        self.skin.normals.push(normals);
        self.skin.rigid.push(rigid.unwrap_or_default());
    }

    /// Entries that carry a share of an offset along with how the particles around its anchor turn; `None` where that cannot
    /// be told.
    fn turn(&mut self, anchor: &[(u32, f64)], share: f64, off: DVec3) -> Option<Vec<(u32, f64)>> {
        let turning = self.turning.as_mut()?;
        let mut row = Vec::new();
        for &(corner, w) in anchor {
            let carried = turning.carry(corner, off, &mut self.frames.handles)?;
            carried.into_iter().for_each(|(axis, o)| rows::add(&mut row, axis, share * w * o));
        }
        (!anchor.is_empty()).then_some(row)
    }

    /// How far a vertex with these offsets from its corners may swing when particles move by one.
    fn swing(&self, anchor: &[(u32, f64)], off: impl Fn(u32) -> DVec3) -> f64 {
        let part = |&(i, w): &(u32, f64)| {
            let off = off(i);
            let along: DVec3 = self.frames.axes[i as usize].iter().map(|a| *a * a.dot(off)).sum();
            // Where there is no frame nothing can be carried.
            let frameless = self.frames.axes[i as usize].is_empty() && w * off.length() > 0.0;
            let size = w * along.length();
            if frameless {
                f64::INFINITY
            } else if size > 0.0 {
                size * self.frames.swing[i as usize]
            } else {
                0.0
            }
        };
        anchor.iter().map(part).sum()
    }

    fn finish(self, triangles: Option<Vec<[u32; 3]>>) -> Skin {
        let SkinParts { particles, handles, normals, rigid } = self.skin;
        let rigid = self.turning.and_then(|turning| turning.finish(rigid));
        let normal_offsets = triangles
            .filter(|_| !normals.columns.is_empty())
            .map(|triangles| Box::new(NormalOffsets { triangles, vertices: normals }));
        Skin { normal_offsets, ..Skin::assemble(particles, self.frames.handles, handles, rigid) }
    }
}

fn smooth_step(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
