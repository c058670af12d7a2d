//! What PC2 and MDD share: the points of all frames, body after body, in the topology of the last.

use super::bytes::put_words;
use super::sink::{ExportOrder, FrameEncoder, FrameNeeds, FrameOutput, FrameWriter};
use super::stream::{ExportStream, NormalPrecision, PosedFrame, StreamBody, SurfaceOptions};
use super::{Conversion, ExportSummary};
use crate::CacheError;
use crate::atomic::AtomicFile;

/// The points of a frame as bytes. Every body is there in all frames, in its last version: before it comes it waits where it
/// will be, and when it is gone it stays where it was.
pub(super) struct PointEncoder<'a, B> {
    stream: &'a ExportStream<'a>,
    conversion: Conversion,
    /// The bytes of a number.
    bytes: B,
    /// Of bodies that come later, and of those that go: where they wait, and where they are left.
    waiting: Vec<Vec<[f32; 3]>>,
    left: Vec<Vec<[f32; 3]>>,
}

impl<'a, B: Fn(f32) -> [u8; 4] + Sync> PointEncoder<'a, B> {
    pub fn new(order: &ExportOrder<'a>, bytes: B) -> Result<PointEncoder<'a, B>, CacheError> {
        let (stream, conversion) = (order.stream, order.conversion);
        let end = stream.frames.len();
        let waiting = points_at(stream, conversion, |b| (b.lifetime.start > 0).then_some(b.lifetime.start))?;
        let left = points_at(stream, conversion, |b| (b.lifetime.end < end).then_some(b.lifetime.end - 1))?;
        Ok(PointEncoder { stream, conversion, bytes, waiting, left })
    }
}

impl<B: Fn(f32) -> [u8; 4] + Sync> FrameEncoder for PointEncoder<'_, B> {
    fn needs(&self) -> FrameNeeds {
        FrameNeeds { skin: true, normals: false, rigid: true }
    }

    fn make(&self, frame: &PosedFrame) -> Result<FrameOutput, CacheError> {
        let loaded = self
            .stream
            .convert(frame, SurfaceOptions::baked(self.conversion, NormalPrecision::None, true))?;
        let mut out = Vec::with_capacity(12 * self.stream.vertex_count());
        let mut there = loaded.bodies.iter().peekable();
        for (b, body) in self.stream.bodies.iter().enumerate() {
            let points = match there.next_if(|surface| surface.body == b) {
                Some(surface) => &surface.points,
                None if loaded.place < body.lifetime.start => &self.waiting[b],
                None => &self.left[b],
            };
            put_words(&mut out, points.as_flattened(), &self.bytes);
        }
        Ok(FrameOutput::Bytes(out))
    }
}

/// The points of bodies in the chosen frame that `frame` names for each; empty where it names none.
fn points_at(
    stream: &ExportStream<'_>,
    conversion: Conversion,
    frame: impl Fn(&StreamBody<'_>) -> Option<usize>,
) -> Result<Vec<Vec<[f32; 3]>>, CacheError> {
    let mut points = vec![Vec::new(); stream.bodies.len()];
    let mut frames: Vec<usize> = stream.bodies.iter().filter_map(&frame).collect();
    frames.sort_unstable();
    frames.dedup();
    let baked = SurfaceOptions::baked(conversion, NormalPrecision::None, true);
    for k in frames {
        let posed = stream.pose(stream.frames[k], FrameNeeds { skin: true, normals: false, rigid: true })?;
        for surface in stream.convert(&posed, baked)?.bodies {
            if frame(&stream.bodies[surface.body]) == Some(k) {
                points[surface.body] = surface.points;
            }
        }
    }
    Ok(points)
}

/// Appends what was made.
pub(super) struct PointWriter<'a> {
    pub stream: &'a ExportStream<'a>,
    pub path: std::path::PathBuf,
    pub file: AtomicFile,
}

impl FrameWriter for PointWriter<'_> {
    fn put(&mut self, _: usize, made: FrameOutput) -> Result<(), CacheError> {
        self.file.put(&made.bytes()?)
    }

    fn finish(self: Box<Self>, _: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        Ok(self.stream.summary(&self.path, self.file.commit()?))
    }
}
