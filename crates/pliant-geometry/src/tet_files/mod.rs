//! Files of tetrahedra in and out: TetGen, Gmsh, Medit and VTK; in with every fault at once and its place.
//!
//! A format is one file here that fills a [`TetDraft`]; what all formats share is checked there. Nothing is set aside
//! for a count that a header claims before the bytes are there, so that a lying header costs nothing.

mod draft;
mod gmsh;
mod gmsh2;
mod gmsh4;
mod medit;
mod scan;
mod tetgen;
mod vtk;
mod vtk_cells;
mod vtu;
mod vtu_arrays;
mod write;
mod write_binary;
mod xml;

pub use gmsh::parse_gmsh;
pub use medit::parse_medit;
pub use tetgen::parse_tetgen;
pub use vtk::parse_vtk;
pub use vtu::parse_vtu;
pub use write::{save_tets, write_tetgen, write_tets};

use crate::{Fetch, GeometryError, TetMesh, read_regular};
use std::path::{Path, PathBuf};

/// What a file of tetrahedra held.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TetFile {
    /// Its points and tetrahedra in file order, all positively oriented, every point used.
    pub mesh: TetMesh,
    /// What was put right or passed over, in words for the user.
    pub notes: Vec<String>,
}

/// The files that [`read_tets`] reads for this one: TetGen's are two.
pub fn files_of_tets(path: &Path) -> Vec<PathBuf> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "node" | "ele" => tetgen_pair(path).into(),
        _ => vec![path.to_path_buf()],
    }
}

/// The `.node` and `.ele` file of either, in its own case.
fn tetgen_pair(path: &Path) -> [PathBuf; 2] {
    let upper = path.extension().is_some_and(|e| e.to_str().is_some_and(|e| e == e.to_uppercase()));
    ["node", "ele"].map(|lower| path.with_extension(if upper { lower.to_uppercase() } else { lower.into() }))
}

/// Reads a tetrahedral mesh; the extension says which format: `.node`/`.ele` (either finds the other), `.msh`,
/// `.mesh`, `.vtk` or `.vtu`.
pub fn read_tets(path: &Path) -> Result<TetFile, GeometryError> {
    read_tets_through(path, &mut read_regular)
}

/// As [`read_tets`], but every file it needs comes through `fetch`: TetGen's `.node` beside the `.ele`, for one.
pub fn read_tets_through(path: &Path, fetch: Fetch<'_>) -> Result<TetFile, GeometryError> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let mut read = |path: &Path| fetch(path).map_err(|why| GeometryError::unreadable(path, &why));
    let parse = match extension.as_str() {
        "node" | "ele" => {
            let [node, ele] = &tetgen_pair(path);
            return parse_tetgen(&read(node)?, &read(ele)?, [node, ele]);
        }
        "msh" => parse_gmsh,
        "mesh" | "meshb" => parse_medit,
        "vtk" => parse_vtk,
        "vtu" => parse_vtu,
        _ => {
            return Err(GeometryError::new(
                format!("`.{extension}` is not a format of tetrahedra that is read"),
                "give a .node/.ele (TetGen), .msh (Gmsh 2 or 4.1), .mesh (Medit), .vtk or .vtu file",
            )
            .in_file(path));
        }
    };
    parse(&read(path)?).map_err(|error| error.in_file(path))
}
