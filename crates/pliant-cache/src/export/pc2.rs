//! PC2 point caches: f32 positions of all frames, for Blender's Mesh Cache modifier and others.
//!
//! ```text
//! "POINTCACHE2\0"  version i32 = 1  points i32  start f32  sample_rate f32  samples i32
//! samples × points × (x y z) f32, little-endian
//! ```
//!
//! Points are the render mesh vertices of the bodies one after the other, in the order of the OBJ
//! and USD exports. Start and rate are in frames.

use std::path::Path;

use super::{ExportOptions, ExportSummary, Progress, chosen_bodies, to_f32};
use crate::atomic::AtomicFile;
use crate::{CacheError, LogReader};

pub(super) fn write(
    reader: &LogReader,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let frames = options.frames.positions(reader)?;
    let bodies = chosen_bodies(reader, options)?;
    let vertices: usize = bodies.iter().map(|b| b.mesh.positions.len()).sum();
    let too_many = |what: &str, count: usize| {
        CacheError::invalid(
            path.display().to_string(),
            format!("{count} {what} are more than a PC2 file can count"),
            "export fewer, or to .usda",
        )
    };
    let points = i32::try_from(vertices).map_err(|_| too_many("vertices", vertices))?;
    let samples = i32::try_from(frames.len()).map_err(|_| too_many("frames", frames.len()))?;
    let start = reader.frame_index(frames[0]).unwrap_or(0);

    let mut file = AtomicFile::create(path)?;
    file.put(b"POINTCACHE2\0")?;
    file.put(&1i32.to_le_bytes())?;
    file.put(&points.to_le_bytes())?;
    file.put(&(start as f32).to_le_bytes())?;
    file.put(&(options.frames.step as f32).to_le_bytes())?;
    file.put(&samples.to_le_bytes())?;

    let (mut mesh, mut floats) = (Vec::new(), Vec::new());
    for (done, &k) in frames.iter().enumerate() {
        let frame = reader.frame(k)?;
        for body in &bodies {
            body.vertices(&frame, &mut mesh);
            to_f32(body, frame.index, &mesh, &mut floats)?;
            for value in floats.as_flattened() {
                file.put(&value.to_le_bytes())?;
            }
        }
        progress(done + 1, frames.len());
    }
    Ok(ExportSummary {
        path: path.to_path_buf(),
        files: 1,
        frames: frames.len(),
        vertices,
        bytes: file.commit()?,
    })
}
