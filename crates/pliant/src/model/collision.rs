//! What of a body touches other bodies: a surface that follows its particles, and the points of it that touch.
//!
//! Of bodies of elements that is the boundary of the elements; of clustered ones the surface that is shown, each vertex bound to
//! four particles near it, exact at rest and under every affine motion; of bodies that never deform the mesh of the solid over its
//! four particles. Bodies without any surface, clouds and threads, touch as balls around their particles.

use super::touch_surface::TouchSurface;
use super::{Rest, RigidRest, Topology};
use crate::body::Body;
use glam::{DMat3, DVec3};
use pliant_geometry::colliders::ColliderMesh;
use pliant_geometry::{ContactPoint, KdTree, TriMesh, unit_normal};
use std::sync::OnceLock;

/// How thick half of a sheet is beside its edges, and at most, m.
const SHEET: (f64, f64) = (0.1, 2.5e-3);
/// How far what touches keeps from what it touches at least, on each side, relative to the size of a body: directions would be
/// rounding where surfaces lie in each other.
const SKIN: f64 = 5e-4;
/// How far apart places on the edges of a solid are that touch, relative to its size, and the cosine of how far its faces turn there
/// at least.
const ALONG: f64 = 0.08;
const SHARP: f64 = 0.95;
/// Particles that are looked at for the four that a vertex is bound to; more where the nearest all lie in a plane.
const CANDIDATES: [usize; 3] = [10, 20, 40];
/// Tetrahedra that are flatter, relative to the cube of their size, bind nothing.
const FLAT: f64 = 1e-3;

/// Which bodies a body touches: two do if each is in a group that the other touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ContactFilter {
    /// The groups it is in, one per bit.
    pub groups: u32,
    /// The groups it touches.
    pub touches: u32,
    /// Whether it touches itself. `None`: sheets of elements do, all else does not.
    pub itself: Option<bool>,
}

impl ContactFilter {
    /// In every group, touching all.
    pub const ALL: ContactFilter = ContactFilter { groups: u32::MAX, touches: u32::MAX, itself: None };
    /// Touches no body, not itself either; colliders it touches all the same.
    pub const NONE: ContactFilter = ContactFilter { groups: 0, touches: 0, itself: Some(false) };

    /// Whether two bodies touch.
    pub fn allows(self, other: ContactFilter) -> bool {
        self.groups & other.touches != 0 && other.groups & self.touches != 0
    }
}

impl Default for ContactFilter {
    fn default() -> ContactFilter {
        ContactFilter::ALL
    }
}

/// A point as the mean of four particles, by weights that sum to 1 and may be negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stencil {
    pub particles: [u32; 4],
    pub weights: [f64; 4],
}

impl Stencil {
    pub fn of(particle: u32) -> Stencil {
        Stencil { particles: [particle; 4], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// Where it is.
    #[inline]
    pub fn at(&self, particle: impl Fn(u32) -> DVec3) -> DVec3 {
        let mut sum = particle(self.particles[0]) * self.weights[0];
        for k in 1..4 {
            if self.weights[k] != 0.0 {
                sum += particle(self.particles[k]) * self.weights[k];
            }
        }
        sum
    }
}

/// A point that touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TouchPoint {
    /// A vertex of the surface, or a place on its edges: numbered after those.
    Vertex(u32),
    /// A ball around a point of contact of a body that never deforms, by its number among the points of the body.
    Ball(u32),
}

/// How vertices follow particles.
#[derive(Debug)]
enum Vertices {
    /// They are these.
    Particles(Vec<u32>),
    /// They are means of some, and so are the corners of each triangle, by four particles that it has for itself.
    Bound { vertices: Vec<Stencil>, faces: Vec<([u32; 4], [[f64; 4]; 3])> },
}

/// The shape by which a body touches others, in its own numbering and shared by its copies.
#[derive(Debug)]
pub(crate) struct CollisionShape {
    mesh: Option<ColliderMesh>,
    vertices: Vertices,
    /// How far what is touched lies beyond each vertex.
    thickness: Vec<f64>,
    /// The points that touch, with their radii.
    points: Vec<(TouchPoint, f64)>,
    /// Triangles between particles before what is in one place was joined; of those whose vertices are particles.
    triangles: Vec<[u32; 3]>,
    /// What thin bodies touch of it, made when it is first asked for.
    touched: OnceLock<Option<TouchSurface>>,
    /// How far it may lie beyond its particles, and how large these are together.
    pub overhang: f64,
    pub size: f64,
}

impl CollisionShape {
    /// Of a body at rest; `body` is what it was made of, if that is known.
    pub fn new(topology: &Topology, rest: &Rest, body: Option<&Body>) -> CollisionShape {
        let particles: Vec<DVec3> = rest.positions.iter().collect();
        let shown = body.map(|b| &b.shape.surface).filter(|s| !s.triangles.is_empty());
        let mut shape = match (&rest.rigid, shown) {
            (Some(solid), Some(surface)) => CollisionShape::solid(solid, surface, particles.len()),
            _ if !topology.faces.is_empty() => CollisionShape::elements(topology, rest, &particles),
            (None, Some(surface)) => CollisionShape::bound(surface, &particles),
            _ => None,
        }
        .unwrap_or_else(|| CollisionShape::cloud(topology, rest, &particles));
        let skin = shape.mesh.as_ref().map_or(0.0, |m| SKIN * m.size());
        shape.thickness.iter_mut().for_each(|t| *t = t.max(skin));
        shape.points.iter_mut().for_each(|(_, radius)| *radius = radius.max(skin));
        shape.size = TriMesh::bounds(&particles).map_or(0.0, |(lo, hi)| (hi - lo).length());
        let beyond = shape.vertices_at(|i| particles[i as usize]);
        let tree = KdTree::new(&particles);
        let mut near = Vec::new();
        for (p, thickness) in beyond.iter().zip(&shape.thickness) {
            tree.nearest(*p, 1, &mut near);
            let far = near.first().map_or(0.0, |(_, i)| p.distance(particles[*i as usize]));
            shape.overhang = shape.overhang.max(far + thickness);
        }
        shape
    }

    fn elements(topology: &Topology, rest: &Rest, particles: &[DVec3]) -> Option<CollisionShape> {
        let mut number = vec![u32::MAX; particles.len()];
        let mut used = Vec::new();
        let triangles: Vec<[u32; 3]> = topology
            .faces
            .iter()
            .map(|t| {
                t.map(|i| {
                    let n = &mut number[i as usize];
                    if *n == u32::MAX {
                        *n = used.len() as u32;
                        used.push(i);
                    }
                    *n
                })
            })
            .collect();
        let positions: Vec<DVec3> = used.iter().map(|i| particles[*i as usize]).collect();
        let own = triangles.clone();
        let mesh = prepared(TriMesh { positions, triangles })?;
        let half = if mesh.is_closed() { 0.0 } else { sheet(&mesh) };
        let thickness: Vec<f64> = used.iter().map(|i| rest.radius[*i as usize].max(half)).collect();
        let points = thickness.iter().enumerate().map(|(v, r)| (TouchPoint::Vertex(v as u32), *r)).collect();
        let vertices = Vertices::Particles(used);
        let made = CollisionShape::of(Some(mesh), vertices, thickness, points);
        Some(CollisionShape { triangles: own, ..made })
    }

    fn bound(surface: &TriMesh, particles: &[DVec3]) -> Option<CollisionShape> {
        let mesh = prepared(surface.clone())?;
        let tree = KdTree::new(particles);
        let mut scratch = Vec::new();
        let mut frame = |at: DVec3| {
            let mut found = Frame { particles: [0; 4], inverse: None };
            for count in CANDIDATES {
                tree.nearest(at, count, &mut scratch);
                found = frame_near(at, particles, scratch.iter().map(|(_, i)| *i));
                if found.inverse.is_some() {
                    break;
                }
            }
            found
        };
        let positions = &mesh.mesh().positions;
        let vertices: Vec<Stencil> = positions.iter().map(|p| frame(*p).stencil(*p, particles)).collect();
        let faces = mesh.mesh().triangles.iter().map(|t| {
            let corners = t.map(|i| positions[i as usize]);
            let frame = frame((corners[0] + corners[1] + corners[2]) / 3.0);
            (frame.particles, corners.map(|p| frame.weights(p, particles)))
        });
        let faces = faces.collect();
        let half = if mesh.is_closed() { 0.0 } else { sheet(&mesh) };
        let used = in_use(&mesh);
        let points = used.map(|v| (TouchPoint::Vertex(v), half)).collect();
        let thickness = vec![half; vertices.len()];
        Some(CollisionShape::of(Some(mesh), Vertices::Bound { vertices, faces }, thickness, points))
    }

    fn solid(solid: &RigidRest, surface: &TriMesh, particles: usize) -> Option<CollisionShape> {
        let mesh = prepared(surface.clone())?;
        let all = [0, 1, 2, 3];
        let stencil = |p: &DVec3| Stencil { particles: all, weights: solid.weights(*p) };
        let mut vertices: Vec<Stencil> = mesh.mesh().positions.iter().map(stencil).collect();
        let corners = |t: &[u32; 3]| (all, t.map(|i| vertices[i as usize].weights));
        let faces = mesh.mesh().triangles.iter().map(corners).collect();
        let balls = solid.contact.iter().enumerate().filter(|(_, c)| c.radius > 0.0);
        let ball = |(k, c): (usize, &ContactPoint)| (TouchPoint::Ball((particles + k) as u32), c.radius);
        let mut points: Vec<(TouchPoint, f64)> = balls.map(ball).collect();
        // What is round touches by its balls, what has edges by places on these: they cross those of others.
        if points.is_empty() {
            points.extend(mesh.sharp().iter().map(|v| (TouchPoint::Vertex(*v), 0.0)));
            for p in along_edges(&mesh) {
                points.push((TouchPoint::Vertex(vertices.len() as u32), 0.0));
                vertices.push(stencil(&p));
            }
        }
        let thickness = vec![0.0; vertices.len()];
        let made = CollisionShape::of(Some(mesh), Vertices::Bound { vertices, faces }, thickness, points);
        Some(CollisionShape { overhang: solid.size, ..made })
    }

    /// Balls around particles that touch each other at rest.
    fn cloud(topology: &Topology, rest: &Rest, particles: &[DVec3]) -> CollisionShape {
        let tree = KdTree::new(particles);
        let mut near = Vec::new();
        let radius = |i: usize| {
            let p = particles[i];
            tree.nearest(p, 2, &mut near);
            let gap = near.iter().map(|(_, j)| p.distance(particles[*j as usize])).fold(0.0, f64::max);
            if rest.radius[i] > 0.0 { rest.radius[i] } else { 0.5 * gap }
        };
        let rigid = rest.rigid.as_ref();
        let thickness: Vec<f64> = (0..particles.len()).map(radius).collect();
        let points = match rigid {
            Some(solid) => {
                let of_contact = solid.contact.iter().enumerate();
                of_contact.map(|(k, c)| (TouchPoint::Ball((particles.len() + k) as u32), c.radius)).collect()
            }
            None => thickness.iter().enumerate().map(|(i, r)| (TouchPoint::Vertex(i as u32), *r)).collect(),
        };
        debug_assert!(topology.faces.is_empty() || rigid.is_some());
        let vertices = Vertices::Particles((0..particles.len() as u32).collect());
        let made = CollisionShape::of(None, vertices, thickness, points);
        CollisionShape { overhang: rigid.map_or(0.0, |r| r.size), ..made }
    }

    fn of(
        mesh: Option<ColliderMesh>,
        vertices: Vertices,
        thickness: Vec<f64>,
        points: Vec<(TouchPoint, f64)>,
    ) -> CollisionShape {
        let (triangles, touched) = (Vec::new(), OnceLock::new());
        CollisionShape { mesh, vertices, thickness, points, triangles, touched, overhang: 0.0, size: 0.0 }
    }

    /// Whether it is a sheet of elements: it has no inside, and its vertices are particles.
    pub fn is_thin(&self) -> bool {
        matches!(self.vertices, Vertices::Particles(_)) && self.mesh.as_ref().is_some_and(|m| !m.is_closed())
    }

    /// What thin bodies touch of it; nothing of what has no surface.
    pub fn touch_surface(&self) -> Option<&TouchSurface> {
        let make = || match (&self.vertices, &self.mesh) {
            (Vertices::Particles(particles), Some(mesh)) => {
                TouchSurface::of_particles(&mesh.mesh().positions, &self.triangles, particles)
            }
            (Vertices::Bound { .. }, Some(mesh)) => TouchSurface::of_faces(mesh),
            (_, None) => None,
        };
        self.touched.get_or_init(make).as_ref()
    }

    /// How far what is touched lies beyond a vertex.
    pub fn beyond_vertex(&self, v: u32) -> f64 {
        self.thickness[v as usize]
    }

    /// The triangles, over its vertices; none of what touches as balls.
    pub fn mesh(&self) -> Option<&ColliderMesh> {
        self.mesh.as_ref()
    }

    /// Whether it touches as balls do: by what is round of it rather than by vertices and edges.
    pub fn is_round(&self) -> bool {
        self.points.iter().any(|(point, _)| matches!(point, TouchPoint::Ball(_)))
    }

    /// The points that touch, with their radii.
    pub fn points(&self) -> &[(TouchPoint, f64)] {
        &self.points
    }

    pub fn vertex_count(&self) -> usize {
        self.thickness.len()
    }

    /// How a vertex follows particles.
    pub fn vertex(&self, v: u32) -> Stencil {
        match &self.vertices {
            Vertices::Particles(list) => Stencil::of(list[v as usize]),
            Vertices::Bound { vertices, .. } => vertices[v as usize],
        }
    }

    /// A point of a triangle, by the weights of its corners.
    pub fn on_face(&self, t: u32, weights: [f64; 3]) -> Stencil {
        match &self.vertices {
            Vertices::Particles(list) => {
                let [a, b, c] =
                    self.mesh.as_ref().map_or([0; 3], |m| m.triangle(t)).map(|v| list[v as usize]);
                let [u, v, w] = weights;
                Stencil { particles: [a, b, c, a], weights: [u, v, w, 0.0] }
            }
            Vertices::Bound { faces, .. } => {
                let (particles, corners) = faces[t as usize];
                let sum = |k: usize| (0..3).map(|c| weights[c] * corners[c][k]).sum();
                Stencil { particles, weights: std::array::from_fn(sum) }
            }
        }
    }

    /// How far what is touched lies beyond a point of a triangle.
    pub fn beyond(&self, t: u32, weights: [f64; 3]) -> f64 {
        let corners = self.mesh.as_ref().map_or([0; 3], |m| m.triangle(t));
        corners.iter().zip(weights).map(|(v, w)| self.thickness[*v as usize] * w).sum()
    }

    /// The most of that.
    pub fn most_beyond(&self) -> f64 {
        self.thickness.iter().copied().fold(0.0, f64::max)
    }

    fn vertices_at(&self, particle: impl Fn(u32) -> DVec3) -> Vec<DVec3> {
        (0..self.vertex_count() as u32).map(|v| self.vertex(v).at(&particle)).collect()
    }
}

/// A mesh prepared for contact, turned around if it is inside out; `None` if nothing can touch it.
fn prepared(mesh: TriMesh) -> Option<ColliderMesh> {
    let turned = || {
        let triangles = mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect();
        ColliderMesh::new(TriMesh { positions: mesh.positions.clone(), triangles }).ok()
    };
    ColliderMesh::new(mesh.clone()).ok().or_else(turned)
}

/// Half of the thickness of an open mesh.
fn sheet(mesh: &ColliderMesh) -> f64 {
    let TriMesh { positions, triangles } = mesh.mesh();
    let at = |i: u32| positions[i as usize];
    let length =
        |&[a, b, c]: &[u32; 3]| (at(a).distance(at(b)) + at(b).distance(at(c)) + at(c).distance(at(a))) / 3.0;
    let mean = triangles.iter().map(length).sum::<f64>() / triangles.len().max(1) as f64;
    (SHEET.0 * mean).min(SHEET.1)
}

/// Places along the sharp edges of a mesh, between their ends.
fn along_edges(mesh: &ColliderMesh) -> Vec<DVec3> {
    let TriMesh { positions, triangles } = mesh.mesh();
    let at = |i: u32| positions[i as usize];
    let normal = |t: usize| unit_normal(triangles[t].map(at));
    let mut edges: Vec<([u32; 2], usize)> = Vec::new();
    for (t, &[a, b, c]) in triangles.iter().enumerate() {
        edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], t)));
    }
    edges.sort_unstable();
    let spacing = ALONG * mesh.size();
    let mut places = Vec::new();
    for both in edges.chunk_by(|a, b| a.0 == b.0) {
        let [a, b] = both[0].0;
        let sharp = both.len() != 2 || normal(both[0].1).dot(normal(both[1].1)) < SHARP;
        let parts = (at(a).distance(at(b)) / spacing).ceil().min(64.0) as u32;
        if sharp {
            places.extend((1..parts).map(|k| at(a).lerp(at(b), f64::from(k) / f64::from(parts))));
        }
    }
    places
}

/// Vertices that triangles use: of those in one place one.
fn in_use(mesh: &ColliderMesh) -> impl Iterator<Item = u32> {
    let mut used = vec![false; mesh.mesh().positions.len()];
    mesh.mesh().triangles.iter().flatten().for_each(|i| used[*i as usize] = true);
    used.into_iter().enumerate().filter(|(_, used)| *used).map(|(v, _)| v as u32)
}

/// Particles that points are told by: four that span space, or one where there are none.
struct Frame {
    particles: [u32; 4],
    /// From the last of them, the inverse of the edges to the others.
    inverse: Option<DMat3>,
}

impl Frame {
    fn weights(&self, at: DVec3, particles: &[DVec3]) -> [f64; 4] {
        let Some(inverse) = self.inverse else { return [1.0, 0.0, 0.0, 0.0] };
        let [a, b, c] = (inverse * (at - particles[self.particles[3] as usize])).to_array();
        [a, b, c, 1.0 - a - b - c]
    }

    fn stencil(&self, at: DVec3, particles: &[DVec3]) -> Stencil {
        Stencil { particles: self.particles, weights: self.weights(at, particles) }
    }
}

/// The tetrahedron of candidates in which a point has the least negative weights, so that forces on it pull least.
fn frame_near(at: DVec3, particles: &[DVec3], candidates: impl Iterator<Item = u32>) -> Frame {
    let list: Vec<u32> = candidates.collect();
    let p = |k: usize| particles[list[k] as usize];
    let mut best: Option<(f64, Frame)> = None;
    let n = list.len();
    for a in 0..n {
        for b in a + 1..n {
            for c in b + 1..n {
                for d in c + 1..n {
                    let edges = DMat3::from_cols(p(a) - p(d), p(b) - p(d), p(c) - p(d));
                    let size = edges.x_axis.length().max(edges.y_axis.length()).max(edges.z_axis.length());
                    if edges.determinant().abs() <= FLAT * size * size * size {
                        continue;
                    }
                    let frame = Frame {
                        particles: [list[a], list[b], list[c], list[d]],
                        inverse: Some(edges.inverse()),
                    };
                    let spread: f64 = frame.weights(at, particles).iter().map(|w| w.abs()).sum();
                    // Of those alike the nearest, which came first.
                    let key = spread + 0.02 * size / at.distance(p(0)).max(1e-3 * size).min(size);
                    if best.as_ref().is_none_or(|(least, _)| key < *least) {
                        best = Some((key, frame));
                    }
                }
            }
        }
    }
    let nearest = list.first().copied().unwrap_or(0);
    best.map_or(Frame { particles: [nearest; 4], inverse: None }, |(_, frame)| frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builder, shapes};

    /// Whatever affine motion the particles make, the surface makes it.
    #[test]
    fn surfaces_follow_affine_motions_exactly() {
        let map = DMat3::from_cols(
            DVec3::new(1.1, 0.2, 0.0),
            DVec3::new(-0.1, 0.9, 0.3),
            DVec3::new(0.0, 0.4, 1.2),
        );
        let go = |p: DVec3| map * p + DVec3::new(3.0, -1.0, 2.0);
        let shapes = [
            shapes::gummy_bear(0.3, 0.03).unwrap(),
            shapes::tet_box([3, 2, 2], DVec3::ONE, shapes::TetStyle::Five).unwrap(),
            shapes::sheet(1.0, 0.7, 4, 3).unwrap(),
        ];
        for shape in shapes {
            let body = Body::new("body", shape.clone());
            let s = Builder::new().body(body).build().unwrap();
            let parts = &s.model().bodies()[0].parts;
            let own = parts.collision();
            let particles: Vec<DVec3> = parts.rest().positions.iter().collect();
            let at = |i: u32| go(particles[i as usize]);
            let mesh = own.mesh().unwrap();
            for (v, p) in mesh.mesh().positions.iter().enumerate() {
                let stencil = own.vertex(v as u32);
                assert!(stencil.at(at).distance(go(*p)) < 1e-9);
                let pull: f64 = stencil.weights.iter().map(|w| w.abs()).sum();
                assert!(pull < 6.0, "{pull}");
            }
            for (t, corners) in mesh.mesh().triangles.iter().enumerate() {
                let [a, b, c] = corners.map(|i| mesh.mesh().positions[i as usize]);
                let weights = [0.5, 0.2, 0.3];
                let wanted = go(a * 0.5 + b * 0.2 + c * 0.3);
                assert!(own.on_face(t as u32, weights).at(at).distance(wanted) < 1e-9);
            }
        }
    }
}
