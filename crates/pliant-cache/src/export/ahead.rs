//! Frames loaded ahead on several threads and handed over in order: normals cost more than writing does.

use std::sync::mpsc::{Receiver, sync_channel};

use super::ExportOptions;
use super::stream::Stream;
use crate::{CacheError, LogReader};

/// More would wait for the disk, and each keeps a frame or two.
const MOST_THREADS: usize = 4;

/// Points and normals of a body in a frame.
pub(super) struct Loaded {
    pub points: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
}

/// Calls `each` with every frame of the stream, all bodies of it, in order. How many threads load does not show.
pub(super) fn in_order(
    reader: &LogReader,
    options: &ExportOptions,
    stream: Stream<'_>,
    normals: bool,
    mut each: impl FnMut(usize, &[Loaded]) -> Result<(), CacheError>,
) -> Result<(), CacheError> {
    let frames = stream.frames.clone();
    let wanted = match options.threads {
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        threads => threads,
    };
    let workers = wanted.min(MOST_THREADS).min(frames.len()).max(1);
    let mut first = Some(stream);
    std::thread::scope(|scope| {
        let waiting: Vec<Receiver<_>> = (0..workers)
            .map(|w| {
                let (sender, receiver) = sync_channel(1);
                let (mine, frames) = (first.take(), &frames);
                scope.spawn(move || {
                    let mut stream = match mine.map_or_else(|| Stream::new(reader, options), Ok) {
                        Ok(stream) => stream,
                        Err(e) => return drop(sender.send(Err(e))),
                    };
                    for &place in frames.iter().skip(w).step_by(workers) {
                        // Sending fails once nobody waits any more, because another frame failed.
                        if sender.send(load(&mut stream, place, normals)).is_err() {
                            return;
                        }
                    }
                });
                receiver
            })
            .collect();
        for k in 0..frames.len() {
            // A thread that ends early has panicked, and the scope passes that on.
            let Ok(loaded) = waiting[k % workers].recv() else { return Ok(()) };
            each(k, &loaded?)?;
        }
        Ok(())
    })
}

fn load(stream: &mut Stream<'_>, place: usize, normals: bool) -> Result<Vec<Loaded>, CacheError> {
    stream.load(place, normals)?;
    let take = std::mem::take::<Vec<[f32; 3]>>;
    Ok(stream
        .bodies
        .iter_mut()
        .map(|b| Loaded { points: take(&mut b.points), normals: take(&mut b.normals) })
        .collect())
}
