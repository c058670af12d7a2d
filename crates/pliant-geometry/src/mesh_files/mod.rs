//! Mesh files in and out: one file of code per format, all giving the same [`MeshFile`].

mod animation;
mod color;
mod gltf;
mod merge;
mod mtl;
mod notes;
pub(crate) mod obj;
mod obj_pieces;
mod off;
mod ply;
mod ply_body;
mod ply_header;
mod point_list;
mod sniff;
mod stl;
mod words;
mod write;
mod write_obj;
mod write_off;
mod write_ply;
mod write_stl;

pub use animation::read_animation;
pub use write::{CompanionFile, write_mesh};

pub use gltf::{Glb, GlbNormals, GlbSurface, write_glb};

use crate::error::{GeometryError, read_regular};
use crate::poly::PolyMesh;
use std::path::{Path, PathBuf};

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

impl MeshFile {
    /// Pictures that the materials of the file at `path` name, as paths; they are not read here.
    pub fn textures(&self, path: &Path) -> Vec<PathBuf> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let materials = self.meshes.iter().flat_map(|m| &m.attributes.materials);
        let mut names: Vec<&str> = materials.filter_map(|m| m.texture.as_deref()).collect();
        names.sort_unstable();
        names.dedup();
        names.iter().map(|name| folder.join(name.replace('\\', "/"))).collect()
    }
}

/// How a reader gets at the bytes of a file, also of those that it names (material libraries, buffers).
pub type Fetch<'a> = &'a mut dyn FnMut(&Path) -> std::io::Result<Vec<u8>>;

/// Reads a mesh file, the format by its extension and content; every error at once, up to a cap.
pub fn read_mesh(path: &Path) -> Result<MeshFile, Vec<GeometryError>> {
    read_mesh_through(path, &mut read_regular)
}

/// As [`read_mesh`], but every file it needs (the mesh, its materials, its buffers) comes through `fetch`: from an
/// archive, from memory, from a server.
pub fn read_mesh_through(path: &Path, fetch: Fetch<'_>) -> Result<MeshFile, Vec<GeometryError>> {
    let bytes = fetch(path).map_err(|why| vec![GeometryError::unreadable(path, &why)])?;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (format, note) = sniff::format(&extension, &bytes).map_err(|e| vec![e.in_file(path)])?;
    let read = match format {
        "obj" => read_obj_file(&bytes, path, fetch),
        "ply" => ply::read(&bytes),
        "stl" => stl::read(bytes),
        "off" => off::read(&bytes),
        points if sniff::POINTS.contains(&points) => point_list::read(&bytes),
        "gltf" | "glb" => gltf::parse_gltf(&bytes, path, fetch),
        other => Err(vec![GeometryError::new(
            format!("`.{other}` is not a mesh format that can be read"),
            "convert it to .obj, .ply, .stl or .off",
        )]),
    };
    match read {
        Ok(mut file) => {
            file.notes.splice(0..0, note);
            Ok(file)
        }
        Err(errors) => Err(errors.into_iter().map(|e| e.in_file(path)).collect()),
    }
}

fn read_obj_file(bytes: &[u8], path: &Path, fetch: Fetch<'_>) -> Result<MeshFile, Vec<GeometryError>> {
    let mut draft = obj::draft(bytes)?;
    let library = match draft.materials.is_empty() {
        true => Default::default(),
        false => mtl::libraries(path, &draft.libraries, fetch, &mut draft.notes),
    };
    let meshes = obj_pieces::meshes(&mut draft, &library);
    Ok(MeshFile { format: "OBJ".into(), meshes, notes: draft.notes.finish() })
}
