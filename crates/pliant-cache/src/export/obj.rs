//! OBJ sequences: `name.obj` becomes `name_0000.obj`, `name_0001.obj`, … by frame number.
//!
//! One object per body, vertex order as in the other exports. Numbers are printed with as many
//! digits as it takes to get the same f32 back.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use pliant_geometry::TriMesh;

use super::{ExportOptions, ExportSummary, Progress, chosen_bodies, short_normal, to_f32};
use crate::atomic::AtomicFile;
use crate::{CacheError, LogReader};

/// The file of a frame; at least four digits so that files sort by name.
fn numbered(path: &Path, frame: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("_{frame:04}."));
    name.push(path.extension().unwrap_or_default());
    path.with_file_name(name)
}

/// Object names end at white space in many readers.
fn object_name(name: &str) -> String {
    if name.is_empty() {
        return "body".into();
    }
    name.chars().map(|c| if c.is_whitespace() || c.is_control() { '_' } else { c }).collect()
}

pub(super) fn write(
    reader: &LogReader,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let frames = options.frames.positions(reader)?;
    let bodies = chosen_bodies(reader, options)?;
    let mut summary = ExportSummary {
        path: numbered(path, reader.frame_index(frames[0]).unwrap_or(0)),
        files: 0,
        frames: frames.len(),
        vertices: bodies.iter().map(|b| b.mesh.positions.len()).sum(),
        bytes: 0,
    };
    let (mut mesh, mut floats, mut normals) = (Vec::new(), Vec::new(), Vec::new());
    let mut text = String::new();
    for &k in &frames {
        let frame = reader.frame(k)?;
        let mut file = AtomicFile::create(&numbered(path, frame.index))?;
        file.put(
            format!(
                "# {}, frame {}, time {} s\n",
                object_name(&reader.header().program).replace('_', " "),
                frame.index,
                frame.time
            )
            .as_bytes(),
        )?;
        // OBJ counts from 1 through the whole file; point clouds have no normals.
        let (mut first_vertex, mut first_normal) = (1, 1);
        for body in &bodies {
            body.vertices(&frame, &mut mesh);
            to_f32(body, frame.index, &mesh, &mut floats)?;
            text.clear();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "o {}", object_name(&body.name));
            for [x, y, z] in &floats {
                let _ = writeln!(text, "v {x} {y} {z}");
            }
            if body.is_point_cloud() {
                // Several to a line: readers without point elements warn once per line. Not too
                // many either, since some have a limit on the length of lines.
                for v in 0..floats.len() {
                    text.push_str(if v % 64 == 0 { "p" } else { "" });
                    let _ = write!(text, " {}", first_vertex + v);
                    text.push_str(if v % 64 == 63 || v + 1 == floats.len() { "\n" } else { "" });
                }
            } else {
                TriMesh::vertex_normals(&mesh, &body.mesh.triangles, &mut normals);
                for n in &normals {
                    let [x, y, z] = short_normal(*n);
                    let _ = writeln!(text, "vn {x} {y} {z}");
                }
                for t in &body.mesh.triangles {
                    text.push('f');
                    for &v in t {
                        let v = v as usize;
                        let _ = write!(text, " {}//{}", first_vertex + v, first_normal + v);
                    }
                    text.push('\n');
                }
                first_normal += normals.len();
            }
            first_vertex += floats.len();
            file.put(text.as_bytes())?;
        }
        summary.bytes += file.commit()?;
        summary.files += 1;
        progress(summary.files, frames.len());
    }
    Ok(summary)
}
