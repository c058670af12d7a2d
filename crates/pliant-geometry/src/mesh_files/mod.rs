//! Mesh files in: one file of code per format, all giving the same [`MeshFile`].

mod gltf;

pub use gltf::{Glb, GlbNormals, GlbSurface, write_glb};

use crate::error::{GeometryError, read_regular};
use crate::obj::parse_obj;
use crate::poly::{Coat, PolyMesh, Polygons};
use std::path::Path;

/// What a mesh file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshFile {
    /// The format, such as "OBJ" or "PLY, binary little-endian".
    pub format: String,
    /// Its objects in file order, with all transforms applied.
    pub meshes: Vec<PolyMesh>,
    /// What was passed over, dropped or mended, and why.
    pub notes: Vec<String>,
}

/// How a reader gets at the bytes of a file, also of those that it names (material libraries, buffers).
pub type Fetch<'a> = &'a mut dyn FnMut(&Path) -> std::io::Result<Vec<u8>>;

/// Reads a mesh file, the format by its extension; every error at once, up to a cap.
pub fn read_mesh(path: &Path) -> Result<MeshFile, Vec<GeometryError>> {
    read_mesh_through(path, &mut read_regular)
}

/// The same with all file access through `fetch`.
pub fn read_mesh_through(path: &Path, fetch: Fetch<'_>) -> Result<MeshFile, Vec<GeometryError>> {
    let bytes = fetch(path).map_err(|why| vec![GeometryError::unreadable(path, &why)])?;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let read = match extension.as_str() {
        "obj" => parse_obj(&bytes).map(|found| MeshFile {
            format: "OBJ".into(),
            meshes: vec![PolyMesh {
                coat: Coat { faces: Polygons::of_triangles(&found.mesh.triangles), ..Coat::default() },
                positions: found.mesh.positions,
                ..PolyMesh::default()
            }],
            notes: Vec::new(),
        }),
        "gltf" | "glb" => gltf::parse_gltf(&bytes, path, fetch),
        other => Err(vec![GeometryError::new(
            format!("`.{other}` is not a mesh format that can be read"),
            "convert it to .obj",
        )]),
    };
    read.map_err(|errors| errors.into_iter().map(|e| e.in_file(path)).collect())
}
