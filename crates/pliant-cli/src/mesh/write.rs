//! What came of a mesh, as files: surfaces, points or tetrahedra by extension.

use super::report::FileReport;
use crate::args::MeshArgs;
use crate::failure::Failure;
use crate::files::{Files, Identity};
use crate::outputs;
use glam::DVec3;
use pliant_cache::replace_file;
use pliant_geometry::{PolyMesh, TetMesh, write_mesh, write_tetgen, write_tets};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What is to be written.
#[derive(Default)]
pub struct MeshOutput {
    pub meshes: Vec<PolyMesh>,
    /// Whether each mesh goes into a file of its own.
    pub split: bool,
    pub points: Option<Vec<DVec3>>,
    pub tets: Option<TetMesh>,
    /// Files it was made from, and textures they name.
    pub inputs: Vec<PathBuf>,
}

/// What a format holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputKind {
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
pub fn kind_of(path: &Path) -> Option<OutputKind> {
    let extension = extension(path);
    let has = |list: &[&str]| list.contains(&extension.as_str());
    match () {
        () if has(&SURFACES) => Some(OutputKind::Surface),
        () if has(&POINTS) => Some(OutputKind::Points),
        () if has(&TETS) => Some(OutputKind::Tets),
        () => None,
    }
}

/// What the outputs hold; refuses those that cannot be written, all at once.
pub fn check(outputs: &[PathBuf], input: &Path) -> Result<Vec<OutputKind>, Failure> {
    let mut messages = Vec::new();
    let mut kinds = Vec::new();
    let mut seen = HashSet::new();
    for path in outputs {
        match kind_of(path) {
            _ if Identity::of(path) == Identity::of(input) => {
                messages.push(format!("{}: this would replace the mesh that is read", path.display()));
            }
            _ if !seen.insert(Identity::of(path)) => {
                messages.push(format!("{}: named twice", path.display()));
            }
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

/// A file ready to be written, and what is in it.
struct PreparedFile {
    path: PathBuf,
    bytes: Vec<u8>,
    what: String,
}

/// Writes a output to every output, once it is known that no file of others is in the way.
pub fn write_all(args: &MeshArgs, output: &MeshOutput, report: &mut FileReport) -> Result<(), Failure> {
    let mut files = Files::new(args.force);
    output.inputs.iter().for_each(|path| files.reads(path, "a file of the mesh"));
    files.reads(&args.file, "the mesh");
    let mut ready = Vec::new();
    for path in &args.output {
        let made = make(path, output)?;
        let (named, beside): (Vec<&PreparedFile>, Vec<&PreparedFile>) =
            made.iter().partition(|r| r.path == *path);
        named.iter().for_each(|r| files.writes(&r.path, "this output"));
        let beside: Vec<PathBuf> = beside.iter().map(|r| r.path.clone()).collect();
        files.beside(path, &beside);
        ready.extend(made);
    }
    files.finish()?;
    for PreparedFile { path, bytes, what } in &ready {
        replace_file(path, bytes)?;
        let what = format!("{what}, {}", outputs::size(bytes.len() as u64));
        report.written.push((path.display().to_string(), what));
    }
    Ok(())
}

/// The files of a output in the format of the extension.
fn make(path: &Path, output: &MeshOutput) -> Result<Vec<PreparedFile>, Failure> {
    match (kind_of(path), &output.tets, &output.points) {
        (Some(OutputKind::Tets), Some(tets), _) => tetrahedra(path, tets),
        (_, _, Some(points)) => {
            let cloud = PolyMesh { positions: points.clone(), ..PolyMesh::default() };
            surface(path, &[cloud])
        }
        _ if output.split => {
            let mut written = Vec::new();
            for (k, mesh) in output.meshes.iter().enumerate() {
                written.extend(surface(&numbered(path, k), std::slice::from_ref(mesh))?);
            }
            Ok(written)
        }
        _ => surface(path, &output.meshes),
    }
}

fn numbered(path: &Path, k: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}_{k:02}.{}", extension(path)))
}

fn surface(path: &Path, meshes: &[PolyMesh]) -> Result<Vec<PreparedFile>, Failure> {
    let mut bytes = Vec::new();
    let companions = write_mesh(path, meshes, &mut bytes)
        .map_err(|e| Failure::usage(format!("{}: {e}", path.display())))?;
    let (vertices, faces) =
        meshes.iter().fold((0, 0), |(v, f), m| (v + m.positions.len(), f + m.attributes.faces.len()));
    let what = match faces {
        0 => format!("{vertices} points"),
        _ => format!("{vertices} vertices, {faces} faces"),
    };
    let mut ready = vec![PreparedFile { path: path.to_path_buf(), bytes, what }];
    for companion in companions {
        let mut bytes = mark("materials");
        bytes.extend(companion.bytes);
        ready.push(PreparedFile {
            path: path.with_file_name(&companion.name),
            bytes,
            what: "materials".into(),
        });
    }
    Ok(ready)
}

fn tetrahedra(path: &Path, tets: &TetMesh) -> Result<Vec<PreparedFile>, Failure> {
    let what = format!("{} tetrahedra, {} points", tets.tetrahedra.len(), tets.points.len());
    let wrong = |e: pliant_geometry::GeometryError| Failure::usage(format!("{}: {e}", path.display()));
    let extension = extension(path);
    if extension == "node" || extension == "ele" {
        let (mut node, mut ele) = (mark("points"), mark("tetrahedra"));
        write_tetgen(tets, &mut node, &mut ele).map_err(wrong)?;
        let points = format!("{} points", tets.points.len());
        let what = format!("{} tetrahedra", tets.tetrahedra.len());
        return Ok(vec![
            PreparedFile { path: path.with_extension("node"), bytes: node, what: points },
            PreparedFile { path: path.with_extension("ele"), bytes: ele, what },
        ]);
    }
    let mut bytes = Vec::new();
    write_tets(&extension, tets, &mut bytes).map_err(wrong)?;
    Ok(vec![PreparedFile { path: path.to_path_buf(), bytes, what }])
}

/// The first line of a file that the user did not name: whose it is, so that it may be made again.
fn mark(what: &str) -> Vec<u8> {
    format!("# pliant {}, {what}\n", env!("CARGO_PKG_VERSION")).into_bytes()
}
