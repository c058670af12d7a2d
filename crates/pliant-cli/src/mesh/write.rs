//! What came of a mesh, as files: surfaces, points or tetrahedra by extension.

use crate::failure::Failure;
use crate::outputs;
use glam::DVec3;
use pliant_cache::replace_file;
use pliant_geometry::{PolyMesh, TetMesh, write_mesh, write_tetgen, write_tets};
use std::path::{Path, PathBuf};

/// What is to be written.
#[derive(Default)]
pub struct Product {
    pub meshes: Vec<PolyMesh>,
    /// Whether each mesh goes into a file of its own.
    pub split: bool,
    pub points: Option<Vec<DVec3>>,
    pub tets: Option<TetMesh>,
}

/// What a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Surface,
    Points,
    Tets,
}

const SURFACES: [&str; 6] = ["obj", "ply", "stl", "off", "glb", "gltf"];
const POINTS: [&str; 4] = ["xyz", "txt", "csv", "pts"];
const TETS: [&str; 6] = ["msh", "vtu", "mesh", "node", "ele", "vtk"];
/// Read but not written.
const ONLY_READ: [&str; 3] = ["gltf", "pts", "vtk"];

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What a file of this name holds.
pub fn kind_of(path: &Path) -> Option<Kind> {
    let extension = extension(path);
    let has = |list: &[&str]| list.contains(&extension.as_str());
    match () {
        () if has(&SURFACES) => Some(Kind::Surface),
        () if has(&POINTS) => Some(Kind::Points),
        () if has(&TETS) => Some(Kind::Tets),
        () => None,
    }
}

/// What the outputs hold; refuses those that cannot be written, all at once.
pub fn check(outputs: &[PathBuf], input: &Path) -> Result<Vec<Kind>, Failure> {
    let mut messages = Vec::new();
    let mut kinds = Vec::new();
    for (k, path) in outputs.iter().enumerate() {
        let same =
            path == input || matches!((path.canonicalize(), input.canonicalize()), (Ok(a), Ok(b)) if a == b);
        match kind_of(path) {
            _ if same => messages.push(format!("{}: this would replace the mesh that is read", path.display())),
            _ if outputs[..k].contains(path) => messages.push(format!("{}: named twice", path.display())),
            Some(kind) if !ONLY_READ.contains(&extension(path).as_str()) => kinds.push(kind),
            _ => messages.push(format!(
                "{}: unknown format; surfaces are written as .obj .ply .stl .off .glb, points as .xyz .txt .csv, \
                 tetrahedra as .msh .vtu .mesh .node",
                path.display()
            )),
        }
    }
    if messages.is_empty() { Ok(kinds) } else { Err(Failure::all(Failure::USAGE, messages)) }
}

/// Writes a product in the format of the extension; gives the files with what is in them.
pub fn write(path: &Path, product: &Product) -> Result<Vec<(String, String)>, Failure> {
    match (kind_of(path), &product.tets, &product.points) {
        (Some(Kind::Tets), Some(tets), _) => tetrahedra(path, tets),
        (_, _, Some(points)) => {
            let cloud = PolyMesh { positions: points.clone(), ..PolyMesh::default() };
            surface(path, &[cloud])
        }
        _ if product.split => {
            let mut written = Vec::new();
            for (k, mesh) in product.meshes.iter().enumerate() {
                written.extend(surface(&numbered(path, k), std::slice::from_ref(mesh))?);
            }
            Ok(written)
        }
        _ => surface(path, &product.meshes),
    }
}

fn numbered(path: &Path, k: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_{k:02}.{}", extension(path)))
}

fn surface(path: &Path, meshes: &[PolyMesh]) -> Result<Vec<(String, String)>, Failure> {
    let mut bytes = Vec::new();
    let companions = write_mesh(path, meshes, &mut bytes)
        .map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
    let (vertices, faces) =
        meshes.iter().fold((0, 0), |(v, f), m| (v + m.positions.len(), f + m.coat.faces.len()));
    let what = match faces {
        0 => format!("{vertices} points"),
        _ => format!("{vertices} vertices, {faces} faces"),
    };
    let mut written = vec![put(path, &bytes, &what)?];
    for companion in companions {
        written.push(put(&path.with_file_name(&companion.name), &companion.bytes, "materials")?);
    }
    Ok(written)
}

fn tetrahedra(path: &Path, tets: &TetMesh) -> Result<Vec<(String, String)>, Failure> {
    let what = format!("{} tetrahedra, {} points", tets.tetrahedra.len(), tets.points.len());
    let wrong = |e: pliant_geometry::GeometryError| Failure::usage(format!("{}: {e}", path.display()));
    let extension = extension(path);
    if extension == "node" || extension == "ele" {
        let (mut node, mut ele) = (Vec::new(), Vec::new());
        write_tetgen(tets, &mut node, &mut ele).map_err(wrong)?;
        return Ok(vec![
            put(&path.with_extension("node"), &node, &format!("{} points", tets.points.len()))?,
            put(&path.with_extension("ele"), &ele, &format!("{} tetrahedra", tets.tetrahedra.len()))?,
        ]);
    }
    let mut bytes = Vec::new();
    write_tets(&extension, tets, &mut bytes).map_err(wrong)?;
    Ok(vec![put(path, &bytes, &what)?])
}

fn put(path: &Path, bytes: &[u8], what: &str) -> Result<(String, String), Failure> {
    replace_file(path, bytes)?;
    Ok((path.display().to_string(), format!("{what}, {}", outputs::size(bytes.len() as u64))))
}
