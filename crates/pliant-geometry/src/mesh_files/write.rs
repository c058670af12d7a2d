//! Mesh files out: one call for all formats, with the files that go beside.

use super::{write_glb, write_obj, write_off, write_ply, write_stl};
use crate::poly::PolyMesh;
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// A file that another one names and that must lie beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompanionFile {
    /// File name, without a folder.
    pub name: String,
    /// What to write to that path, whole.
    pub bytes: Vec<u8>,
}

/// Writes meshes in the format of the extension of `file`; gives the files that must go beside it.
///
/// What a format cannot hold is left out: only OBJ and GLB have materials, names and several meshes; PLY holds all
/// meshes in one, with texture coordinates per corner where they need it; STL and point lists have positions only.
/// Numbers come back as they are, but for STL, which has f32. Nothing is written to disk here: `file` only names
/// the format and the material library. Give a buffered writer.
pub fn write_mesh(file: &Path, meshes: &[PolyMesh], out: &mut dyn Write) -> Result<Vec<CompanionFile>> {
    let extension = file.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    for mesh in meshes {
        mesh.check().map_err(|e| Error::new(ErrorKind::InvalidInput, e.to_string()))?;
    }
    match extension.as_str() {
        "obj" => return write_obj::write(file, meshes, out),
        "ply" => write_ply::write(meshes, out)?,
        "stl" => write_stl::write(meshes, out)?,
        "off" => write_off::write(meshes, out)?,
        "glb" => {
            write_glb(out, meshes).map_err(|e| Error::new(ErrorKind::InvalidInput, e.to_string()))?;
        }
        "txt" | "xyz" | "csv" => write_points(meshes, if extension == "csv" { ',' } else { ' ' }, out)?,
        other => {
            return Err(Error::new(
                ErrorKind::InvalidInput,
                format!(
                    "`.{other}` is not a mesh format that can be written: use .obj, .ply, .stl, .off, .glb, .xyz, .txt or .csv"
                ),
            ));
        }
    }
    Ok(Vec::new())
}

fn write_points(meshes: &[PolyMesh], between: char, out: &mut dyn Write) -> Result<()> {
    if between == ',' {
        writeln!(out, "x,y,z")?;
    }
    meshes
        .iter()
        .flat_map(|m| &m.positions)
        .try_for_each(|p| writeln!(out, "{}{between}{}{between}{}", p.x, p.y, p.z))
}

/// The meshes' vertices one after the other, and how many come before each mesh; refused if they are too many.
pub(super) fn first_vertices(meshes: &[PolyMesh]) -> Result<Vec<u32>> {
    let mut before = 0_usize;
    meshes
        .iter()
        .map(|mesh| {
            let first = before as u32;
            before += mesh.positions.len();
            match u32::try_from(before) {
                Ok(_) => Ok(first),
                Err(_) => Err(Error::new(
                    ErrorKind::InvalidInput,
                    "more than 4,294,967,295 vertices: write several files",
                )),
            }
        })
        .collect()
}
