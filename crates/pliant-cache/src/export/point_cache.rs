//! What PC2 and MDD share: the points of all frames, body after body, in the topology of the last.

use super::sink::{Made, Make, Needs, Order, Put};
use super::stream::{Normals, Posed, Stream, StreamBody, put_floats};
use super::{Conversion, ExportSummary};
use crate::CacheError;
use crate::atomic::AtomicFile;

/// The points of a frame as bytes. Every body is there in all frames, in its last version: before it comes it waits where it
/// will be, and when it is gone it stays where it was.
pub(super) struct Points<'a, B> {
    stream: &'a Stream<'a>,
    conversion: Conversion,
    /// The bytes of a number.
    bytes: B,
    /// Of bodies that come later, and of those that go: where they wait, and where they are left.
    waiting: Vec<Vec<[f32; 3]>>,
    left: Vec<Vec<[f32; 3]>>,
}

impl<'a, B: Fn(f32) -> [u8; 4] + Sync> Points<'a, B> {
    pub fn new(order: &Order<'a>, bytes: B) -> Result<Points<'a, B>, CacheError> {
        let (stream, conversion) = (order.stream, order.conversion);
        let end = stream.frames.len();
        let waiting = points_at(stream, conversion, |b| (b.life.start > 0).then_some(b.life.start))?;
        let left = points_at(stream, conversion, |b| (b.life.end < end).then_some(b.life.end - 1))?;
        Ok(Points { stream, conversion, bytes, waiting, left })
    }
}

impl<B: Fn(f32) -> [u8; 4] + Sync> Make for Points<'_, B> {
    fn needs(&self) -> Needs {
        Needs { skin: true, normals: false }
    }

    fn make(&self, frame: &Posed) -> Result<Made, CacheError> {
        let loaded = self.stream.convert(frame, self.conversion, Normals::None, true)?;
        let mut out = Vec::with_capacity(12 * self.stream.vertex_count());
        let mut there = loaded.bodies.iter().peekable();
        for (b, body) in self.stream.bodies.iter().enumerate() {
            let points = match there.next_if(|surface| surface.body == b) {
                Some(surface) => &surface.points,
                None if loaded.place < body.life.start => &self.waiting[b],
                None => &self.left[b],
            };
            put_floats(&mut out, points.as_flattened(), &self.bytes);
        }
        Ok(Made::Bytes(out))
    }
}

/// The points of bodies in the chosen frame that `frame` names for each; empty where it names none.
fn points_at(
    stream: &Stream<'_>,
    conversion: Conversion,
    frame: impl Fn(&StreamBody<'_>) -> Option<usize>,
) -> Result<Vec<Vec<[f32; 3]>>, CacheError> {
    let mut points = vec![Vec::new(); stream.bodies.len()];
    let mut frames: Vec<usize> = stream.bodies.iter().filter_map(&frame).collect();
    frames.sort_unstable();
    frames.dedup();
    for k in frames {
        let posed = stream.pose(stream.frames[k], Needs { skin: true, normals: false })?;
        for surface in stream.convert(&posed, conversion, Normals::None, true)?.bodies {
            if frame(&stream.bodies[surface.body]) == Some(k) {
                points[surface.body] = surface.points;
            }
        }
    }
    Ok(points)
}

/// Appends what was made.
pub(super) struct Append<'a> {
    pub stream: &'a Stream<'a>,
    pub path: std::path::PathBuf,
    pub file: AtomicFile,
}

impl Put for Append<'_> {
    fn put(&mut self, _: usize, made: Made) -> Result<(), CacheError> {
        self.file.put(&made.bytes()?)
    }

    fn finish(self: Box<Self>, _: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        Ok(self.stream.summary(&self.path, self.file.commit()?))
    }
}
