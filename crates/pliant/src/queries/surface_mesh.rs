//! The shown surface of a body as it is now, with normals, in one call: for further work or for drawing.

use crate::model::BodyId;
use crate::simulation::Simulation;
use glam::DVec3;
use pliant_geometry::{SkinScratch, TriMesh};

/// Positions and normals of a body's vertices. Keep one and fill it again: it allocates only to grow.
#[derive(Clone, Debug, Default)]
pub struct SurfaceMesh {
    positions: Vec<DVec3>,
    normals: Vec<DVec3>,
    particles: Vec<DVec3>,
    scratch: SkinScratch,
}

impl SurfaceMesh {
    /// Where the vertices are.
    pub fn positions(&self) -> &[DVec3] {
        &self.positions
    }

    /// Unit normals of the vertices, weighted by area; +y where there is none, as of all particles of a cloud.
    pub fn normals(&self) -> &[DVec3] {
        &self.normals
    }
}

/// A body's surface in the numbers that graphics cards take: f32 positions and normals beside u32 triangles.
#[derive(Clone, Debug, Default)]
pub struct RenderMesh {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    exact: SurfaceMesh,
}

impl RenderMesh {
    /// Where the vertices are, seen from the origin that was asked for.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// Unit normals of the vertices; see [`SurfaceMesh::normals`].
    pub fn normals(&self) -> &[[f32; 3]] {
        &self.normals
    }
}

impl Simulation {
    /// Fills `mesh` with the shown surface of a body as it is now, and returns its triangles, which stay the same for as
    /// long as the body lives. A body without triangles gives its particles. `None` and an empty mesh if the body is gone.
    pub fn surface(&self, body: impl Into<BodyId>, mesh: &mut SurfaceMesh) -> Option<&[[u32; 3]]> {
        let SurfaceMesh { positions, normals, particles, scratch } = mesh;
        positions.clear();
        normals.clear();
        let k = self.model.index(body)?;
        let shown = self.model.bodies()[k].parts.shown();
        particles.clear();
        particles.extend(self.state.bodies[k].x.iter());
        shown.vertices(particles, scratch, positions);
        TriMesh::vertex_normals(positions, shown.triangles(), normals);
        Some(shown.triangles())
    }

    /// Fills `mesh` with a body's surface in single precision, relative to `origin`: zero, or where the camera is if that
    /// is far from it, so that no digits are lost.
    pub fn render_mesh(
        &self,
        body: impl Into<BodyId>,
        origin: impl Into<DVec3>,
        mesh: &mut RenderMesh,
    ) -> Option<&[[u32; 3]]> {
        let origin = origin.into();
        let RenderMesh { positions, normals, exact } = mesh;
        let triangles = self.surface(body, exact);
        positions.clear();
        positions.extend(exact.positions.iter().map(|p| (*p - origin).as_vec3().to_array()));
        normals.clear();
        normals.extend(exact.normals.iter().map(|n| n.as_vec3().to_array()));
        triangles
    }
}
