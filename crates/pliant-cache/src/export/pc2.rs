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

use super::stream::{Stream, put_triples};
use super::{ExportOptions, ExportSummary, Progress};
use crate::atomic::AtomicFile;
use crate::{CacheError, LogReader};

pub(super) fn write(
    reader: &LogReader,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let mut stream = Stream::new(reader, options)?;
    let frames = stream.frames.clone();
    let vertices = stream.vertex_count();
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

    let mut bytes = Vec::new();
    for (done, &k) in frames.iter().enumerate() {
        stream.load(k, false)?;
        for body in &stream.bodies {
            bytes.clear();
            put_triples(&mut bytes, &body.points);
            file.put(&bytes)?;
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
