//! MDD point caches: f32 positions of all frames, as LightWave, Maya, Houdini and Blender read them.
//!
//! ```text
//! frames i32  points i32  times f32 × frames  frames × points × (x y z) f32, all big-endian
//! ```
//!
//! Points are the render mesh vertices of the bodies one after the other, in the order of the OBJ
//! and USD exports. Times are in seconds.

use super::point_cache::{PointEncoder, PointWriter};
use super::sink::{ExportOrder, Sink};
use crate::CacheError;
use crate::atomic::AtomicFile;

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let stream = order.stream;
    let [samples, points] = stream.counts_as_i32(&order.path, "an MDD file")?;
    let mut file = AtomicFile::create(order.folder, &order.path)?;
    file.put(&samples.to_be_bytes())?;
    file.put(&points.to_be_bytes())?;
    for &k in &stream.frames {
        let time = order.reader.frame_time(k).unwrap_or(0.0) as f32;
        file.put(&time.to_be_bytes())?;
    }
    let make = Box::new(PointEncoder::new(&order, f32::to_be_bytes)?);
    Ok(Sink { make, put: Box::new(PointWriter { stream, path: order.path, file }) })
}
