//! Wavefront OBJ as one mesh of triangles: positions and faces, nothing of what lies on them.

use crate::error::{GeometryError, read_bytes};
use crate::mesh::TriMesh;
use crate::mesh_files::obj::draft;
use std::path::Path;

/// What an OBJ file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjMesh {
    /// Vertices in file order, and faces cut into triangles. No triangles means a point cloud.
    pub mesh: TriMesh,
    /// Lines of faces that were left out because they name fewer than three different vertices.
    pub degenerate_faces: Vec<usize>,
}

/// Reads an OBJ file; every error at once, up to a cap.
pub fn read_obj(path: &Path) -> Result<ObjMesh, Vec<GeometryError>> {
    let bytes = read_bytes(path)?;
    parse_obj(&bytes).map_err(|errors| errors.into_iter().map(|e| e.in_file(path)).collect())
}

/// Reads OBJ text from memory; every error at once, up to a cap. Bytes, because comments and names in
/// real files are in any encoding.
pub fn parse_obj(bytes: &[u8]) -> Result<ObjMesh, Vec<GeometryError>> {
    let draft = draft(bytes)?;
    let (cut, faces) = draft.faces.corner_triangles_with_faces(&draft.positions);
    let corners = draft.faces.corners();
    let triangles = cut.into_iter().map(|t| t.map(|c| corners[c as usize])).collect();
    let mut kept = vec![false; draft.faces.len()];
    faces.iter().for_each(|&f| kept[f as usize] = true);
    let dropped = kept.iter().zip(&draft.face_lines).filter(|(kept, _)| !**kept);
    let degenerate_faces = dropped.map(|(_, &line)| line as usize).collect();
    Ok(ObjMesh { mesh: TriMesh { positions: draft.positions, triangles }, degenerate_faces })
}
