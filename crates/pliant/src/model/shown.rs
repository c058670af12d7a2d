//! What is shown of a body: triangles, and how their corners follow its particles.
//!
//! It stands beside the prototype, not in it: solvers never read it, so bodies that only look different share their
//! prototype and everything solvers prepare for it.

use super::Rest;
use crate::points::Points;
use crate::tearing::{self, Corners, Facets, TornSurface};
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, BoxTree, around};
use pliant_geometry::{Shape, Skin, SkinScratch, nearest_on_triangle};
use std::sync::OnceLock;

/// The shown surface of a body, shared by its copies. A body without triangles (a cloud, a thread) shows its particles.
#[derive(Debug)]
pub struct Shown {
    triangles: Vec<[u32; 3]>,
    /// `None` where vertices are the particles.
    skin: Option<Skin>,
    /// Made from the rest shape when first asked for: who never asks pays nothing.
    tree: OnceLock<BoxTree>,
    /// The element each triangle goes with when the body tears, found when it first does.
    hosts: OnceLock<Vec<u32>>,
}

/// How a shape's surface follows its particles: `None` if the vertices are the particles. Says what keeps it from it.
fn follow(shape: &Shape) -> Result<Option<&Skin>, String> {
    let (vertices, particles) = (shape.surface.positions.len(), shape.points.len());
    if shape.surface.triangles.is_empty() {
        return Ok(None);
    }
    if let Some(i) = shape.surface.triangles.iter().flatten().find(|&&i| i as usize >= vertices) {
        return Err(format!("a triangle of the surface refers to vertex {i} (there are {vertices})"));
    }
    if shape.skin.is_empty() && vertices == particles || shape.skin.is_identity(particles) {
        return Ok(None);
    }
    shape.skin.check(vertices, particles).map(|()| Some(&shape.skin))
}

impl Shown {
    /// Says what is wrong with a surface that cannot be shown.
    pub(crate) fn check(shape: &Shape) -> Result<(), String> {
        follow(shape).map(|_| ())
    }

    /// Of a shape that was checked; of one that fits nothing, its particles.
    pub(crate) fn new(shape: &Shape) -> Shown {
        let (triangles, skin) = match follow(shape) {
            Ok(skin) => (shape.surface.triangles.clone(), skin.cloned()),
            Err(_) => (Vec::new(), None),
        };
        Shown { triangles, skin, tree: OnceLock::new(), hosts: OnceLock::new() }
    }

    /// Triangles over vertices that follow particles by a skin; `None` if they are the particles.
    pub(crate) fn of(triangles: Vec<[u32; 3]>, skin: Option<Skin>) -> Shown {
        Shown { triangles, skin, tree: OnceLock::new(), hosts: OnceLock::new() }
    }

    /// What becomes of it when the body tears.
    pub(crate) fn torn(&self, facets: &Facets, rest: &Points, corners: &Corners) -> TornSurface {
        let hosts = self.hosts.get_or_init(|| tearing::hosts(facets, &self.triangles, self.skin()));
        let mut vertices = Vec::new();
        let particles: Vec<DVec3> = rest.iter().collect();
        self.vertices(&particles, &mut SkinScratch::default(), &mut vertices);
        let (triangles, skin, vertices) = (&self.triangles[..], self.skin(), &vertices[..]);
        tearing::Whole { facets, rest, triangles, skin, hosts, vertices }.torn(corners)
    }

    /// Whether two surfaces are the same.
    pub(crate) fn same(&self, other: &Shown) -> bool {
        self.triangles == other.triangles && self.skin == other.skin
    }

    /// Whether it is what is shown of a shape of as many particles.
    pub(crate) fn is_of(&self, shape: &Shape) -> bool {
        self.triangles == shape.surface.triangles
            && follow(shape).is_ok_and(|skin| skin == self.skin.as_ref())
    }

    /// The triangles, by vertices, counter-clockwise seen from outside; none if the particles are shown.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How the vertices follow the particles; `None` if they are the particles.
    pub fn skin(&self) -> Option<&Skin> {
        self.skin.as_ref()
    }

    /// Where the vertices are for particles in these places, without allocating once the buffers were used.
    pub fn vertices(&self, particles: &[DVec3], scratch: &mut SkinScratch, vertices: &mut Vec<DVec3>) {
        match &self.skin {
            Some(skin) => skin.apply_within(particles, scratch, vertices),
            None => {
                vertices.clear();
                vertices.extend_from_slice(particles);
            }
        }
    }

    /// The vertices at rest.
    pub(crate) fn at_rest(&self, rest: &Rest) -> Vec<DVec3> {
        let particles: Vec<DVec3> = rest.positions.iter().collect();
        let mut vertices = Vec::new();
        self.vertices(&particles, &mut SkinScratch::default(), &mut vertices);
        vertices
    }

    /// The place on the triangles at rest that is nearest to `at`. Goes through all of them.
    pub(crate) fn nearest(&self, rest: &Rest, at: DVec3) -> Option<DVec3> {
        let vertices = self.at_rest(rest);
        let on = |t: &[u32; 3]| {
            let corners = t.map(|i| vertices[i as usize]);
            let weights = nearest_on_triangle(corners, at);
            corners.iter().zip(weights).map(|(p, w)| *p * w).sum::<DVec3>()
        };
        let far = |p: &DVec3| p.distance_squared(at);
        self.triangles.iter().map(on).min_by(|a, b| far(a).total_cmp(&far(b)))
    }

    /// A tree over the triangles, or over the particles if there are none, of the body at rest.
    pub(crate) fn tree(&self, rest: &Points) -> &BoxTree {
        self.tree.get_or_init(|| {
            let particles: Vec<DVec3> = rest.iter().collect();
            let mut vertices = Vec::new();
            self.vertices(&particles, &mut SkinScratch::default(), &mut vertices);
            let boxes: Vec<Bounds> = match self.triangles.is_empty() {
                true => vertices.iter().map(|&p| (p, p)).collect(),
                false => self.triangles.iter().map(|t| around(t.map(|i| vertices[i as usize]))).collect(),
            };
            BoxTree::new(&boxes)
        })
    }
}
