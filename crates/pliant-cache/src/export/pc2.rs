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

use super::stream::Stream;
use super::{ExportOptions, ExportSummary, Progress};
use crate::CacheError;
use crate::atomic::AtomicFile;
use crate::export::Footage;

pub(super) fn write(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let stream = Stream::new(reader, options)?;
    let [samples, points] = stream.counts_as_i32(path, "a PC2 file")?;
    let start = reader.frame_index(stream.frames[0]).unwrap_or(0);
    let mut file = AtomicFile::create(path)?;
    file.put(b"POINTCACHE2\0")?;
    file.put(&1i32.to_le_bytes())?;
    file.put(&points.to_le_bytes())?;
    file.put(&(start as f32).to_le_bytes())?;
    file.put(&(options.frames.step as f32).to_le_bytes())?;
    file.put(&samples.to_le_bytes())?;
    stream.put_all_points(&mut file, f32::to_le_bytes, progress)?;
    Ok(stream.summary(path, file.commit()?))
}
