//! `pliant mesh`: looks a mesh over, mends it, fills it, cuts it into tetrahedra, and writes what came of it.

mod report;
mod write;

use crate::args::{self, Mend, MeshArgs, Sampling};
use crate::failure::Failure;
use crate::{outputs, terminal};
use glam::{DAffine3, DMat3, DVec3};
use pliant_geometry::{
    FillDensity, FillOptions, FillPattern, GeometryError, Holes, MeshFile, PolyMesh, RepairOptions,
    StuffingOptions, TetMesh, TriMesh, files_of_tets, guess_units, inspect, join, normalising,
    read_mesh_through, read_regular, read_tets, repair, shapes, split_pieces, stuff, transform,
};
use report::{FileReport, MeshPart, TetReport};
use std::path::Path;
use write::{MeshOutput, OutputKind, kind_of};

/// Cells along the longest side if nothing is said.
const CELLS: f64 = 30.0;
/// Pieces smaller than this share of the whole are dropped by `--repair=tiny`.
const TINY: f64 = 0.01;
/// Objects of a file up to which each is looked over by itself.
const MOST_OBJECTS: usize = 1000;

/// `pliant mesh`
pub fn command(args: &MeshArgs) -> Result<(), Failure> {
    let kinds = write::check(&args.output, &args.file)?;
    outputs::prepare_folders(args.output.iter().map(|o| o.as_path()), false)?;
    let threads = args::threads(args.threads);
    let mut report = FileReport { file: args.file.display().to_string(), ..FileReport::default() };
    let mut output = match kind_of(&args.file) {
        Some(OutputKind::Tets) => tetrahedra_of_file(args, &mut report)?,
        _ => surfaces(args, threads, &mut report)?,
    };
    if args.particles.is_some() || args.spacing.is_some() {
        output.points = Some(fill(args, &output.meshes, &mut report)?);
    }
    let wants_tets = kinds.contains(&OutputKind::Tets) || args.cell.is_some();
    if wants_tets && output.tets.is_none() {
        output.tets = Some(cut(args, &output.meshes, threads, &mut report)?);
    }
    write::write_all(args, &output, &mut report)?;
    let text = if args.json { format!("{:#}\n", report.json()) } else { report.text() };
    terminal::result(&text)
}

/// The surfaces of the file: picked, placed, looked over, mended, and apart or as one.
fn surfaces(args: &MeshArgs, threads: usize, report: &mut FileReport) -> Result<MeshOutput, Failure> {
    let mut inputs = Vec::new();
    let file = read_mesh_through(&args.file, &mut |path| {
        inputs.push(path.to_path_buf());
        read_regular(path)
    })
    .map_err(failure)?;
    inputs.extend(file.textures(&args.file));
    let MeshFile { format, meshes, notes } = file;
    report.format = format;
    report.notes = notes;
    let mut meshes = pick(args, meshes)?;
    if !args.join && meshes.len() > MOST_OBJECTS {
        // A report of each would be longer than anyone reads, and take more memory than the meshes.
        let note = "its {} objects are taken as one: more than {} are not looked over one by one; pick one with \
                    --object NAME, or take what hangs together apart with --split";
        let [count, most] = [meshes.len(), MOST_OBJECTS].map(|n| n.to_string());
        report.notes.push(note.replacen("{}", &count, 1).replacen("{}", &most, 1));
        meshes = vec![join(&meshes)];
    } else if args.join {
        meshes = vec![join(&meshes)];
    }
    let all: Vec<DVec3> = meshes.iter().flat_map(|m| m.positions.iter().copied()).collect();
    let placement = placement(args, &all);
    if placement != DAffine3::IDENTITY {
        meshes = meshes.iter().map(|m| transform(m, placement)).collect();
    }
    let usual = RepairOptions::default();
    let options = args.repair.as_deref().map_or(usual, repairs);
    let mut products = Vec::new();
    for mesh in meshes {
        let mut found = inspect(&mesh, threads);
        // Formats know their unit better than sizes do; what was scaled is in metres.
        found.units = found
            .bounds
            .filter(|_| placement == DAffine3::IDENTITY)
            .map(|[lo, hi]| guess_units(hi - lo, &report.format));
        let (mended, repairs) = repair(&mesh, &options);
        let wanted = args.repair.is_some();
        let after = (wanted && !repairs.is_empty()).then(|| inspect(&mended, threads));
        report.parts.push(MeshPart { found, repairs, repaired: wanted, after });
        products.push(if wanted { mended } else { mesh });
    }
    if args.split {
        products = products.iter().flat_map(split_pieces).collect();
    }
    Ok(MeshOutput { meshes: products, split: args.split, inputs, ..MeshOutput::default() })
}

/// The tetrahedra of the file, and their boundary as a surface.
fn tetrahedra_of_file(args: &MeshArgs, report: &mut FileReport) -> Result<MeshOutput, Failure> {
    let mut file = read_tets(&args.file).map_err(|e| failure(vec![e]))?;
    report.format = "tetrahedra".into();
    report.notes = file.notes;
    let placement = placement(args, &file.mesh.points);
    file.mesh.points.iter_mut().for_each(|p| *p = placement.transform_point3(*p));
    report.tets = Some(TetReport::of_file(&file.mesh));
    let surface = file.mesh.surface().0;
    let attributes = pliant_geometry::MeshAttributes {
        faces: pliant_geometry::Polygons::of_triangles(&surface.triangles),
        ..Default::default()
    };
    let mesh = PolyMesh { positions: surface.positions, attributes, ..PolyMesh::default() };
    let inputs = files_of_tets(&args.file);
    Ok(MeshOutput { meshes: vec![mesh], tets: Some(file.mesh), inputs, ..MeshOutput::default() })
}

fn pick(args: &MeshArgs, meshes: Vec<PolyMesh>) -> Result<Vec<PolyMesh>, Failure> {
    let Some(name) = &args.object else { return Ok(meshes) };
    let names: Vec<String> = meshes.iter().take(20).map(|m| format!("\"{}\"", m.name)).collect();
    let found: Vec<PolyMesh> = meshes.into_iter().filter(|m| m.name == *name).collect();
    if found.is_empty() {
        let text =
            format!("{}: there is no object \"{name}\"; there are {}", args.file.display(), names.join(", "));
        return Err(Failure::usage(text));
    }
    Ok(found)
}

/// Upright, scaled, and standing at the origin if it is to fit.
fn placement(args: &MeshArgs, positions: &[DVec3]) -> DAffine3 {
    let turn = if args.z_up { DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y) } else { DMat3::IDENTITY };
    let upright = DAffine3::from_mat3(turn * args.scale.unwrap_or(1.0));
    let Some(size) = args.fit else { return upright };
    let turned: Vec<DVec3> = positions.iter().map(|&p| upright.transform_point3(p)).collect();
    let (lo, hi) = TriMesh::bounds(&turned).unwrap_or_default();
    normalising([lo, hi], Some(size)) * upright
}

fn repairs(wanted: &[Mend]) -> RepairOptions {
    if wanted.is_empty() {
        return RepairOptions::default();
    }
    let has = |mend| wanted.contains(&mend);
    RepairOptions {
        weld: has(Mend::Weld).then_some(0.0),
        degenerate: has(Mend::Degenerate),
        duplicates: has(Mend::Duplicates) || has(Mend::Opposite),
        opposite_duplicates: has(Mend::Opposite),
        agree: has(Mend::Orient),
        outward: has(Mend::Orient),
        split: has(Mend::Split),
        holes: has(Mend::Holes).then(Holes::default),
        tiny_pieces: if has(Mend::Tiny) { TINY } else { 0.0 },
        unreferenced: has(Mend::Unreferenced),
    }
}

/// Particles inside.
fn fill(args: &MeshArgs, meshes: &[PolyMesh], report: &mut FileReport) -> Result<Vec<DVec3>, Failure> {
    let filling = FillOptions {
        pattern: match args.sampling {
            Sampling::Lattice => FillPattern::Lattice,
            Sampling::Jittered => FillPattern::Jittered,
            Sampling::BlueNoise => FillPattern::BlueNoise,
        },
        by: match (args.spacing, args.particles) {
            (Some(spacing), _) => FillDensity::Spacing(spacing),
            (None, count) => FillDensity::Count(count.unwrap_or(1) as usize),
        },
        seed: 1,
    };
    let shape = shapes::filled(join(meshes).triangulated(), &filling).map_err(|e| in_file(args, e))?;
    report.particles = Some(shape.points.len());
    Ok(shape.points)
}

/// Tetrahedra inside.
fn cut(
    args: &MeshArgs,
    meshes: &[PolyMesh],
    threads: usize,
    report: &mut FileReport,
) -> Result<TetMesh, Failure> {
    let mesh = join(meshes).triangulated();
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let cell = args.cell.unwrap_or((hi - lo).max_element() / CELLS);
    let options = StuffingOptions { graded: args.graded, threads };
    let (tets, found) = stuff(&mesh, cell, &options).map_err(|e| in_file(args, e))?;
    report.notes.extend(found.notes());
    report.tets = Some(TetReport::cut(cell, &found));
    Ok(tets)
}

fn in_file(args: &MeshArgs, e: GeometryError) -> Failure {
    failure(vec![if e.file.is_none() { e.in_file(Path::new(&args.file)) } else { e }])
}

fn failure(errors: Vec<GeometryError>) -> Failure {
    let io = !errors.is_empty() && errors.iter().all(|e| e.io);
    let messages = errors.iter().map(GeometryError::to_string).collect();
    Failure::all(if io { Failure::IO } else { Failure::USAGE }, messages)
}
