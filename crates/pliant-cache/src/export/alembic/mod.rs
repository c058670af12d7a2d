//! Alembic archives (Ogawa): a polygon mesh or points per body, with positions, normals and bounds per frame.
//!
//! Written from the published format: [`ogawa`] is the container, [`property`] and [`archive`] are what
//! Alembic keeps in it, [`schema`] is which properties a mesh has. Samples go to the file frame by frame
//! and only their positions in it are kept, so memory stays at about one frame.
//!
//! Times are frame numbers over frames per second; a program with the same rate shows frame 7 of the
//! log in its frame 7.

mod archive;
mod bounds;
mod bytes;
mod digest;
mod names;
mod ogawa;
mod property;
mod schema;

use std::path::Path;

use pliant_geometry::TriMesh;

use super::{ExportOptions, ExportSummary, Progress, chosen_bodies, to_f32};
use crate::{CacheError, LogBody, LogReader};
use archive::{Object, Times};
use bounds::Bounds;
use ogawa::Ogawa;
use schema::{Motion, body_object, bounds_samples, child_bounds};

pub(super) fn write(
    reader: &LogReader,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let frames = options.frames.positions(reader)?;
    let bodies = chosen_bodies(reader, options)?;
    check_counts(path, &bodies, frames.len())?;

    let mut out = Ogawa::create(path)?;
    let mut motions: Vec<Motion> = bodies.iter().map(|_| Motion::new()).collect();
    let mut whole = bounds_samples();
    let mut numbers = Vec::with_capacity(frames.len());
    let (mut mesh, mut points, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
    let (mut normals, mut normals32) = (Vec::new(), Vec::new());
    for (done, &k) in frames.iter().enumerate() {
        let frame = reader.frame(k)?;
        let mut all = Bounds::EMPTY;
        for (body, motion) in bodies.iter().zip(&mut motions) {
            body.vertices(&frame, &mut mesh);
            to_f32(body, frame.index, &mesh, &mut points)?;
            let bounds = Bounds::of(&points);
            all = all.union(&bounds);
            let has_surface = !body.is_point_cloud();
            if has_surface {
                TriMesh::vertex_normals(&mesh, &body.mesh.triangles, &mut normals);
                normals32.clear();
                normals32.extend(normals.iter().map(|n| n.as_vec3().to_array()));
            }
            motion.push(&mut out, &points, has_surface.then_some(&normals32[..]), &bounds, &mut buffer)?;
        }
        whole.push(&mut out, &all.to_bytes())?;
        numbers.push(frame.index);
        progress(done + 1, frames.len());
    }

    let mut children = Vec::with_capacity(bodies.len());
    for ((body, name), motion) in bodies.iter().zip(names::of_bodies(&bodies)).zip(motions) {
        children.push(body_object(body, name, motion, frames.len() as u32, &mut out)?);
    }
    let top = Object { name: String::new(), metadata: "", properties: vec![child_bounds(whole)], children };
    let header = reader.header();
    let times = Times::of_frames(&numbers, header.frames_per_second);
    let bytes = archive::finish(out, &top, &about(&header.program, header.frames_per_second), &times)?;
    Ok(ExportSummary {
        path: path.to_path_buf(),
        files: 1,
        frames: frames.len(),
        vertices: bodies.iter().map(|b| b.mesh.positions.len()).sum(),
        bytes,
    })
}

/// What the archive says of itself. No date: the same log gives the same file.
fn about(program: &str, frames_per_second: f64) -> String {
    let program: String =
        program.chars().map(|c| if c.is_control() || ";=".contains(c) { ' ' } else { c }).collect();
    format!(
        "FramesPerTimeUnit={frames_per_second};_ai_AlembicVersion=Alembic 1.8.3;_ai_Application={program};\
         _ai_Description=metres, y up"
    )
}

/// Alembic counts samples in 32 bits, and vertices and corners of a mesh in 31.
fn check_counts(path: &Path, bodies: &[&LogBody], frames: usize) -> Result<(), CacheError> {
    let refuse = |what: String| {
        let why = format!("{what} are more than an Alembic file can count");
        Err(CacheError::invalid(path.display().to_string(), why, "export fewer, or to .usda"))
    };
    if u32::try_from(frames).is_err() {
        return refuse(format!("{frames} frames"));
    }
    for body in bodies {
        let (vertices, corners) = (body.mesh.positions.len(), 3 * body.mesh.triangles.len());
        for (count, what) in [(vertices, "vertices"), (corners, "corners of faces")] {
            if i32::try_from(count).is_err() {
                return refuse(format!("{count} {what} of body \"{}\"", body.name));
            }
        }
    }
    Ok(())
}
