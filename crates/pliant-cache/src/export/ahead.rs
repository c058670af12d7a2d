//! Frames made ready ahead on several threads and handed over in order: skins and normals cost more than writing does.

use crate::CacheError;
use pliant_geometry::parallel::thread_count;
use std::sync::mpsc::sync_channel;
use std::thread;

/// More would wait for the disk, and each keeps a frame or two.
const MOST_THREADS: usize = 4;

/// Calls `each` with what `make` gives for each of `places`, in their order. `make` has something of its own on
/// every thread (0 is as many as the machine has); how many there are does not show.
pub(super) fn in_order<S: Default, T: Send>(
    threads: usize,
    places: &[usize],
    make: impl Fn(&mut S, usize) -> Result<T, CacheError> + Sync,
    mut each: impl FnMut(usize, T) -> Result<(), CacheError>,
) -> Result<(), CacheError> {
    let wanted = thread_count(threads);
    if wanted == 1 {
        let mut own = S::default();
        return places.iter().enumerate().try_for_each(|(k, &place)| each(k, make(&mut own, place)?));
    }
    let workers = wanted.min(MOST_THREADS).min(places.len()).max(1);
    let make = &make;
    thread::scope(|scope| {
        let begin = |first: usize| {
            let (send, receive) = sync_channel(1);
            scope.spawn(move || {
                let mut own = S::default();
                for &place in places.iter().skip(first).step_by(workers) {
                    // Sending fails once nobody waits any more, because another frame failed.
                    if send.send(make(&mut own, place)).is_err() {
                        return;
                    }
                }
            });
            receive
        };
        let ready: Vec<_> = (0..workers).map(begin).collect();
        for k in 0..places.len() {
            // A thread that ends early has panicked, and the scope passes that on.
            let Ok(made) = ready[k % workers].recv() else { break };
            each(k, made?)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_in_order_until_one_fails() {
        let places: Vec<usize> = (0..20).map(|k| 3 * k).collect();
        for threads in [1, 2, 3, 7] {
            let mut got = Vec::new();
            let make = |made: &mut usize, place: usize| {
                *made += 1;
                if place == 45 { Err(CacheError::invalid("here", "why", "help")) } else { Ok(place) }
            };
            let put = |k, place| {
                assert_eq!(place, places[k]);
                got.push(place);
                Ok(())
            };
            assert!(in_order(threads, &places, make, put).is_err());
            assert_eq!(got, places[..15]);
        }
    }
}
