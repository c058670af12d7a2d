//! PC2 point caches: f32 positions of all frames, for Blender's Mesh Cache modifier and others.
//!
//! ```text
//! "POINTCACHE2\0"  version i32 = 1  points i32  start f32  sample_rate f32  samples i32
//! samples × points × (x y z) f32, little-endian
//! ```
//!
//! Points are the render mesh vertices of the bodies one after the other, in the order of the OBJ
//! and USD exports. Start and rate are in frames.

use super::point_cache::{PointEncoder, PointWriter};
use super::sink::{ExportOrder, Sink};
use crate::CacheError;
use crate::atomic::AtomicFile;

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let stream = order.stream;
    let [samples, points] = stream.counts_as_i32(&order.path, "a PC2 file")?;
    let start = order.reader.frame_index(stream.frames[0]).unwrap_or(0);
    let mut file = AtomicFile::create(order.folder, &order.path)?;
    file.put(b"POINTCACHE2\0")?;
    file.put(&1i32.to_le_bytes())?;
    file.put(&points.to_le_bytes())?;
    file.put(&(start as f32).to_le_bytes())?;
    file.put(&(order.options.frames.step as f32).to_le_bytes())?;
    file.put(&samples.to_le_bytes())?;
    let make = Box::new(PointEncoder::new(&order, f32::to_le_bytes)?);
    Ok(Sink { make, put: Box::new(PointWriter { stream, path: order.path, file }) })
}
