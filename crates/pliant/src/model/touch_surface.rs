//! The vertices, edges and triangles of a collision shape, and how particles carry points of them: what thin bodies touch by.
//!
//! Other than the mesh of a [`CollisionShape`], nothing of it is joined that may come apart: the two sides of a tear are in one
//! place at rest and touch each other all the same.

use super::collision::{CollisionShape, Stencil};
use pliant_geometry::colliders::ColliderMesh;
use pliant_geometry::collision::CollisionSurface;

/// The least weight of a particle that carries a point of a triangle or an edge: next to nothing, but it keeps the particle among those
/// that a contact holds, as the point may be elsewhere in the next round.
const LEAST: f64 = 1e-30;

/// How points of it follow particles.
#[derive(Debug)]
enum Carried {
    /// Its vertices are these particles.
    Particles(Vec<u32>),
    /// Its triangles are those of the shape's mesh; of each edge one that has it, and the corners it has there.
    Faces(Vec<(u32, [usize; 2])>),
}

/// What of a body touches thin bodies.
#[derive(Debug)]
pub(crate) struct TouchSurface {
    surface: CollisionSurface,
    carried: Carried,
}

impl TouchSurface {
    /// Of triangles between particles, which are numbered as in the shape.
    pub fn of_particles(
        rest: &[glam::DVec3],
        triangles: &[[u32; 3]],
        particles: &[u32],
    ) -> Option<TouchSurface> {
        let surface = CollisionSurface::new(rest, triangles).ok()?;
        let particles = surface.places().iter().map(|v| particles[*v as usize]).collect();
        Some(TouchSurface { surface, carried: Carried::Particles(particles) })
    }

    /// Of a mesh whose vertices are bound to particles.
    pub fn of_faces(mesh: &ColliderMesh) -> Option<TouchSurface> {
        let surface = CollisionSurface::new(&mesh.mesh().positions, &mesh.mesh().triangles).ok()?;
        let mut faces = vec![(u32::MAX, [0; 2]); surface.edges().len()];
        for (t, corners) in surface.triangles().iter().enumerate() {
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                let edge = [corners[a].min(corners[b]), corners[a].max(corners[b])];
                let (low, high) = if corners[a] < corners[b] { (a, b) } else { (b, a) };
                if let Ok(k) = surface.edges().binary_search(&edge) {
                    faces[k] = (t as u32, [low, high]);
                }
            }
        }
        Some(TouchSurface { surface, carried: Carried::Faces(faces) })
    }

    /// Its vertices, edges and triangles, with their trees.
    pub fn surface(&self) -> &CollisionSurface {
        &self.surface
    }

    /// The particles that its vertices are, if they are.
    pub fn particles(&self) -> Option<&[u32]> {
        match &self.carried {
            Carried::Particles(list) => Some(list),
            Carried::Faces(_) => None,
        }
    }

    /// How particles carry a vertex.
    pub fn vertex(&self, of: &CollisionShape, v: u32) -> Stencil {
        match &self.carried {
            Carried::Particles(list) => Stencil::of(list[v as usize]),
            Carried::Faces(_) => of.vertex(self.surface.places()[v as usize]),
        }
    }

    /// How they carry a point of a triangle, by the weights of its corners: by the same particles wherever on it that is.
    pub fn on_triangle(&self, of: &CollisionShape, t: u32, weights: [f64; 3]) -> Stencil {
        match &self.carried {
            Carried::Particles(list) => {
                let [a, b, c] = self.surface.triangles()[t as usize].map(|v| list[v as usize]);
                let [u, v, w] = weights.map(kept);
                Stencil { particles: [a, b, c, a], weights: [u, v, w, 0.0] }
            }
            Carried::Faces(_) => all_kept(of.on_face(t, weights)),
        }
    }

    /// The same of a point of an edge, `share` of the way along it.
    pub fn on_edge(&self, of: &CollisionShape, edge: u32, share: f64) -> Stencil {
        match &self.carried {
            Carried::Particles(list) => {
                let [a, b] = self.surface.edges()[edge as usize].map(|v| list[v as usize]);
                let [u, v] = [1.0 - share, share].map(kept);
                Stencil { particles: [a, b, a, a], weights: [u, v, 0.0, 0.0] }
            }
            Carried::Faces(faces) => {
                let (t, [a, b]) = faces[edge as usize];
                let mut weights = [0.0; 3];
                (weights[a], weights[b]) = (1.0 - share, share);
                all_kept(of.on_face(t, weights))
            }
        }
    }

    /// How far what is touched lies beyond a vertex.
    pub fn beyond(&self, of: &CollisionShape, v: u32) -> f64 {
        of.beyond_vertex(self.surface.places()[v as usize])
    }
}

/// A weight that keeps its particle in the contact.
fn kept(weight: f64) -> f64 {
    if weight == 0.0 { LEAST } else { weight }
}

fn all_kept(stencil: Stencil) -> Stencil {
    Stencil { weights: stencil.weights.map(kept), ..stencil }
}
