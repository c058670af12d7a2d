//! The team of threads a simulation runs on: fixed chunks, no allocation, the same bits for any size.
//!
//! Work is cut into chunks whose boundaries depend on the data only, never on the number of threads.
//! Each chunk owns the part of the output it writes, so whichever thread takes it, the result is the
//! same. Waiting threads spin for a moment before they sleep: the phases of a step last tens of
//! microseconds, too short for a general fork-join pool.
//!
//! This is the engine's one module with `unsafe` code. The invariants it rests on:
//! 1. `run` does not return before every thread that joined has left the job, and nobody joins after
//!    that, so a job may borrow from the stack.
//! 2. There is one job at a time: `running` turns a second or nested `run` into plain serial work.
//! 3. `Parts` hands out each chunk index to exactly one call, so parts of a slice are disjoint.
#![allow(unsafe_code)]

use crate::points::{Points, PointsMut};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;

/// How often a waiting thread looks before it goes to sleep. Miri takes a while for each look.
const SPINS: u32 = if cfg!(miri) { 4 } else { 4_000 };

/// Threads that take chunks of work together with the caller.
pub struct Team {
    shared: Option<Arc<Shared>>,
    workers: Vec<JoinHandle<()>>,
}

/// A team was asked for that is larger than [`Team::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyThreads {
    /// How many were asked for.
    pub threads: usize,
}

impl std::fmt::Display for TooManyThreads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} threads are more than the {} there may be", self.threads, Team::MOST)
    }
}

impl std::error::Error for TooManyThreads {}

#[derive(Clone, Copy)]
struct Job {
    work: *const (dyn Fn(usize) + Sync),
    chunks: usize,
}

// SAFETY: the pointee is Sync, and `run` keeps it alive until all threads are done with it.
unsafe impl Send for Job {}

/// Set in `Shared::gate` while a job may be joined.
const OPEN: usize = 1 << 31;

struct Shared {
    /// Counts jobs; a change of it is the signal to start.
    round: AtomicUsize,
    /// Chunks taken from the front (low 32 bits) and from the back (high ones).
    taken: AtomicU64,
    /// Workers inside the present job, and the [`OPEN`] bit. A worker that comes too late, because the
    /// machine had other things to do, finds the gate closed and nobody has waited for it.
    gate: AtomicUsize,
    sleepers: AtomicUsize,
    /// Whether a `run` is under way: there is one job at a time.
    running: AtomicBool,
    quit: AtomicBool,
    panicked: AtomicBool,
    job: Mutex<Option<Job>>,
    wake: Condvar,
}

impl std::fmt::Debug for Team {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Team of {}", self.size())
    }
}

impl Team {
    /// The caller alone: starts no thread.
    pub fn serial() -> Team {
        Team { shared: None, workers: Vec::new() }
    }

    /// The largest team. Results do not depend on its size, and no machine gains from more.
    pub const MOST: usize = 1024;

    /// The caller and `threads − 1` more; `threads` of 0 or 1 is [`Team::serial`], more than [`Team::MOST`]
    /// are refused. Threads the system refuses to start are done without.
    pub fn new(threads: usize) -> Result<Team, TooManyThreads> {
        Team::check(threads)?;
        if threads <= 1 {
            return Ok(Team::serial());
        }
        let shared = Arc::new(Shared {
            round: AtomicUsize::new(0),
            taken: AtomicU64::new(0),
            gate: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            running: AtomicBool::new(false),
            quit: AtomicBool::new(false),
            panicked: AtomicBool::new(false),
            job: Mutex::new(None),
            wake: Condvar::new(),
        });
        let workers: Vec<_> = (1..threads)
            .map_while(|i| {
                let shared = shared.clone();
                std::thread::Builder::new().name(format!("pliant-{i}")).spawn(move || worker(&shared)).ok()
            })
            .collect();
        if workers.is_empty() {
            return Ok(Team::serial());
        }
        Ok(Team { shared: Some(shared), workers })
    }

    /// Whether a team may be this large.
    pub(crate) fn check(threads: usize) -> Result<(), TooManyThreads> {
        if threads > Team::MOST { Err(TooManyThreads { threads }) } else { Ok(()) }
    }

    /// Number of threads, the caller included.
    pub fn size(&self) -> usize {
        self.workers.len() + 1
    }

    /// Calls `work(chunk)` once for every chunk below `chunks`, and returns when all are done. A call
    /// while another is under way does its chunks alone.
    pub(crate) fn run(&self, chunks: usize, work: &(dyn Fn(usize) + Sync)) {
        // Chunks are counted in 32 bits.
        let free = |shared: &&Arc<Shared>| {
            (2..=u32::MAX as usize).contains(&chunks) && !shared.running.swap(true, Ordering::Acquire)
        };
        let Some(shared) = self.shared.as_ref().filter(free) else {
            (0..chunks).for_each(work);
            return;
        };
        // SAFETY: only the lifetime is erased; see invariant 1.
        let work: *const (dyn Fn(usize) + Sync + 'static) =
            unsafe { std::mem::transmute(work as *const (dyn Fn(usize) + Sync)) };
        let job = Job { work, chunks };
        // Nobody is inside: the last job was left before `run` returned.
        shared.taken.store(0, Ordering::Relaxed);
        if let Ok(mut slot) = shared.job.lock() {
            *slot = Some(job);
            shared.gate.store(OPEN, Ordering::Release);
            shared.round.fetch_add(1, Ordering::Release);
            if shared.sleepers.load(Ordering::Relaxed) > 0 {
                shared.wake.notify_all();
            }
        }
        // The caller must wait for the workers even if its own share panics.
        let outcome =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take_chunks(shared, job, End::Front)));
        shared.gate.fetch_and(!OPEN, Ordering::AcqRel);
        let mut spins = 0;
        while shared.gate.load(Ordering::Acquire) != 0 {
            pause(&mut spins);
        }
        let panicked = shared.panicked.swap(false, Ordering::Relaxed);
        shared.running.store(false, Ordering::Release);
        if let Err(panic) = outcome {
            std::panic::resume_unwind(panic);
        }
        assert!(!panicked, "a chunk of parallel work panicked");
    }

    /// Cuts `data` at multiples of `chunk` and calls `work(range, part)` for each piece.
    pub(crate) fn split<S: Split>(
        &self,
        data: S,
        chunk: usize,
        work: impl Fn(Range<usize>, S::Part<'_>) + Sync,
    ) {
        let (len, chunk) = (data.len(), chunk.max(1));
        let parts = Parts::new(data);
        self.run(len.div_ceil(chunk), &|c| {
            let range = c * chunk..((c + 1) * chunk).min(len);
            // SAFETY: invariant 3; ranges of different chunks do not overlap.
            work(range.clone(), unsafe { parts.part(range) });
        });
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        if let Some(shared) = &self.shared {
            shared.quit.store(true, Ordering::Release);
            let guard = shared.job.lock();
            shared.wake.notify_all();
            drop(guard);
        }
        for worker in self.workers.drain(..) {
            // A worker's panic was reported by `run`.
            let _ = worker.join();
        }
    }
}

/// Where a thread takes its chunks.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Front,
    Back,
}

/// Takes chunks until there are none left: the caller from the front, workers from the back. In phase after phase a
/// thread so meets the same part of the data, which its own cache still holds.
fn take_chunks(shared: &Shared, job: Job, end: End) {
    let mut taken = shared.taken.load(Ordering::Relaxed);
    loop {
        let (front, back) = (taken as u32 as usize, (taken >> 32) as usize);
        if front + back >= job.chunks {
            return;
        }
        let (chunk, with) = match end {
            End::Front => (front, taken + 1),
            End::Back => (job.chunks - 1 - back, taken + (1 << 32)),
        };
        match shared.taken.compare_exchange_weak(taken, with, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                // SAFETY: invariant 1: the job outlives this call.
                unsafe { (*job.work)(chunk) };
                taken = shared.taken.load(Ordering::Relaxed);
            }
            Err(now) => taken = now,
        }
    }
}

fn pause(spins: &mut u32) {
    *spins += 1;
    if *spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
}

fn worker(shared: &Shared) {
    let mut seen = 0;
    loop {
        let mut spins = 0;
        while shared.round.load(Ordering::Acquire) == seen && spins < SPINS {
            if shared.quit.load(Ordering::Acquire) {
                return;
            }
            spins += 1;
            std::hint::spin_loop();
        }
        let Ok(mut slot) = shared.job.lock() else { return };
        while shared.round.load(Ordering::Acquire) == seen {
            if shared.quit.load(Ordering::Acquire) {
                return;
            }
            shared.sleepers.fetch_add(1, Ordering::Relaxed);
            let woken = shared.wake.wait(slot);
            shared.sleepers.fetch_sub(1, Ordering::Relaxed);
            slot = match woken {
                Ok(slot) => slot,
                Err(_) => return,
            };
        }
        seen = shared.round.load(Ordering::Acquire);
        drop(slot);
        if !enter(shared) {
            continue;
        }
        // Inside, the job cannot be replaced.
        let job = shared.job.lock().ok().and_then(|slot| *slot);
        if let Some(job) = job
            && std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| take_chunks(shared, job, End::Back)))
                .is_err()
        {
            shared.panicked.store(true, Ordering::Relaxed);
        }
        shared.gate.fetch_sub(1, Ordering::Release);
    }
}

/// Joins the present job if it is still open.
fn enter(shared: &Shared) -> bool {
    let join = |gate: usize| (gate & OPEN != 0).then_some(gate + 1);
    shared.gate.fetch_update(Ordering::AcqRel, Ordering::Acquire, join).is_ok()
}

/// Data of `Send` elements that can be cut into disjoint writable parts.
pub(crate) trait Split {
    /// A part of it.
    type Part<'p>;
    /// Raw access shared between threads.
    type Raw: Copy;
    /// Length in elements.
    fn len(&self) -> usize;
    /// Gives up the borrow for pointers.
    fn raw(self) -> Self::Raw;
    /// # Safety
    /// `range` lies within the data, and no other part that is alive overlaps it.
    unsafe fn part<'p>(raw: Self::Raw, range: Range<usize>) -> Self::Part<'p>;
}

impl<T: Send + 'static> Split for &mut [T] {
    type Part<'p> = &'p mut [T];
    type Raw = *mut T;
    fn len(&self) -> usize {
        (**self).len()
    }
    fn raw(self) -> *mut T {
        self.as_mut_ptr()
    }
    unsafe fn part<'p>(raw: *mut T, range: Range<usize>) -> &'p mut [T] {
        // SAFETY: promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(raw.add(range.start), range.len()) }
    }
}

impl Split for &mut Points {
    type Part<'p> = PointsMut<'p>;
    type Raw = [*mut f64; 3];
    fn len(&self) -> usize {
        Points::len(self)
    }
    fn raw(self) -> [*mut f64; 3] {
        let m = self.columns_mut();
        [m.x.as_mut_ptr(), m.y.as_mut_ptr(), m.z.as_mut_ptr()]
    }
    unsafe fn part<'p>(raw: [*mut f64; 3], range: Range<usize>) -> PointsMut<'p> {
        // SAFETY: promised by the caller; the three columns have the same length.
        let [x, y, z] = raw.map(|c| unsafe { <&mut [f64]>::part(c, range.clone()) });
        PointsMut { x, y, z }
    }
}

impl<A: Split, B: Split> Split for (A, B) {
    type Part<'p> = (A::Part<'p>, B::Part<'p>);
    type Raw = (A::Raw, B::Raw);
    fn len(&self) -> usize {
        self.0.len().min(self.1.len())
    }
    fn raw(self) -> Self::Raw {
        (self.0.raw(), self.1.raw())
    }
    unsafe fn part<'p>(raw: Self::Raw, range: Range<usize>) -> Self::Part<'p> {
        // SAFETY: promised by the caller.
        unsafe { (A::part(raw.0, range.clone()), B::part(raw.1, range)) }
    }
}

/// Data to be cut into pieces of different lengths, each of them one element: piece `c` is
/// `ends[c − 1]..ends[c]` (the first begins at 0). Boundaries must not decrease nor pass the end.
pub(crate) struct Pieces<'e, S>(pub S, pub &'e [usize]);

impl<S: Split> Split for Pieces<'_, S> {
    type Part<'p> = S::Part<'p>;
    type Raw = (S::Raw, *const usize);
    fn len(&self) -> usize {
        self.1.len()
    }
    fn raw(self) -> Self::Raw {
        let len = self.0.len();
        assert!(self.1.is_sorted() && self.1.last().is_none_or(|&e| e <= len), "boundaries out of order");
        (self.0.raw(), self.1.as_ptr())
    }
    unsafe fn part<'p>(raw: Self::Raw, range: Range<usize>) -> Self::Part<'p> {
        // SAFETY: `range` is within the boundaries, which the borrow of `Pieces` keeps alive for as long as
        // parts are made; sorted boundaries within the data give disjoint parts for disjoint ranges.
        unsafe {
            let end = |c: usize| if c == 0 { 0 } else { *raw.1.add(c - 1) };
            S::part(raw.0, end(range.start)..end(range.end))
        }
    }
}

struct Parts<S: Split>(S::Raw, PhantomData<S>);

// SAFETY: threads only get disjoint parts (invariant 3), of elements that are `Send`.
unsafe impl<S: Split> Sync for Parts<S> {}

impl<S: Split> Parts<S> {
    fn new(data: S) -> Self {
        Parts(data.raw(), PhantomData)
    }

    /// # Safety
    /// As [`Split::part`].
    unsafe fn part<'p>(&self, range: Range<usize>) -> S::Part<'p> {
        // SAFETY: passed on.
        unsafe { S::part(self.0, range) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a test repeats what threads might do in another order; Miri finds orders by itself.
    const ROUNDS: usize = if cfg!(miri) { 3 } else { 50 };

    #[test]
    fn every_chunk_is_done_exactly_once_for_any_team() {
        for threads in [1, 2, 3, 7] {
            let team = Team::new(threads).unwrap();
            for len in [0, 1, 5, 64, 1000] {
                let mut hits = vec![0; len];
                for _ in 0..ROUNDS {
                    team.split(&mut hits[..], 7, |range, part| {
                        assert_eq!(range.len(), part.len());
                        part.iter_mut().for_each(|h| *h += 1);
                    });
                }
                assert!(hits.iter().all(|&h| h == ROUNDS));
            }
        }
    }

    #[test]
    fn nested_and_concurrent_runs_do_all_their_chunks() {
        let team = Team::new(3).unwrap();
        let count = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..4 * ROUNDS {
                        team.run(8, &|_| {
                            team.run(4, &|_| {
                                count.fetch_add(1, Ordering::Relaxed);
                            });
                        });
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 3 * 4 * ROUNDS * 8 * 4);
    }

    #[test]
    fn a_panic_in_a_chunk_reaches_the_caller_and_the_team_lives_on() {
        let team = Team::new(3).unwrap();
        let run = || team.run(64, &|c| assert!(c != 40, "chunk 40"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
        let count = AtomicUsize::new(0);
        team.run(64, &|_| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.into_inner(), 64);
    }
    #[test]
    fn points_and_pieces_are_cut_without_overlap() {
        let team = Team::new(3).unwrap();
        let (mut points, mut list) = (Points::zeros(100), vec![0.0; 20]);
        let ends: Vec<usize> = (0..20).map(|k| (k * k) / 4).collect();
        for _ in 0..ROUNDS {
            team.split((&mut points, &mut list[..]), 3, |range, (mut points, list)| {
                list.iter_mut().for_each(|v| *v += range.len() as f64);
                (0..range.len()).for_each(|k| points.set(k, points.get(k) + glam::DVec3::ONE));
            });
            team.split(Pieces(&mut points, &ends), 2, |_, mut part| {
                (0..part.len()).for_each(|k| part.set(k, -part.get(k)));
            });
        }
        assert!(points.iter().skip(90).all(|p| p == glam::DVec3::ZERO));
        assert!(list.iter().all(|v| *v != 0.0));
    }

    #[test]
    fn more_threads_than_there_may_be_are_refused() {
        assert_eq!(Team::new(100_000).err(), Some(TooManyThreads { threads: 100_000 }));
        assert_eq!(Team::new(0).map(|t| t.size()), Ok(1));
    }
}
