//! A body from a tetrahedral mesh: its points are the particles, its boundary is the surface.

use super::Shape;
use crate::tet_faults::fault_error;
use crate::{GeometryError, Skin, TetFault, TetMesh};

impl Shape {
    /// A body whose particles are the points of `mesh` and whose surface is its boundary. Each particle stands for
    /// a quarter of the tetrahedra at it. Inverted tetrahedra are turned and unused points dropped; the notes
    /// say so.
    pub fn from_tets(mesh: &TetMesh) -> Result<(Shape, Vec<String>), GeometryError> {
        if mesh.tetrahedra.is_empty() {
            return Err(GeometryError::new(
                "the mesh has no tetrahedra",
                "give at least one; a surface of triangles can be filled with particles instead",
            ));
        }
        if let Some(error) = fault_error(&mesh.faults(), &TetFault::to_string) {
            return Err(error);
        }
        let mut mesh = mesh.clone();
        let mut notes = Vec::new();
        let turned = mesh.orient();
        if turned > 0 {
            notes.push(format!(
                "{turned} of {} tetrahedra were inside out and were turned",
                mesh.tetrahedra.len()
            ));
        }
        let dropped = mesh.drop_unreferenced();
        if let Some(first) = dropped.first() {
            notes.push(format!(
                "{} points that no tetrahedron uses were left out, the first is {first}",
                dropped.len()
            ));
        }
        let (surface, particle_of) = mesh.surface();
        let shape = Shape {
            measure: mesh.nodal_volumes(),
            edges: mesh.edges(),
            skin: Skin { particles: particle_of, ..Skin::identity(surface.positions.len()) },
            surface,
            points: mesh.points,
            tetrahedra: mesh.tetrahedra,
            ..Shape::default()
        };
        Ok((shape, notes))
    }
}
