//! MDD point caches: f32 positions of all frames, as LightWave, Maya, Houdini and Blender read them.
//!
//! ```text
//! frames i32  points i32  times f32 × frames  frames × points × (x y z) f32, all big-endian
//! ```
//!
//! Points are the render mesh vertices of the bodies one after the other, in the order of the OBJ
//! and USD exports. Times are in seconds.

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
    let [samples, points] = stream.counts_as_i32(path, "an MDD file")?;
    let mut file = AtomicFile::create(path)?;
    file.put(&samples.to_be_bytes())?;
    file.put(&points.to_be_bytes())?;
    for &k in &stream.frames {
        let time = reader.frame_time(k).unwrap_or(0.0) as f32;
        file.put(&time.to_be_bytes())?;
    }
    stream.put_all_points(&mut file, f32::to_be_bytes, progress)?;
    Ok(stream.summary(path, file.commit()?))
}
