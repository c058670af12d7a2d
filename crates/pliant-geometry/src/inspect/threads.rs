//! Tasks on several threads, results in the order of the tasks.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `work` for every task on up to `threads` threads. What a task does must not depend on others, so the
/// results are the same for any number of threads.
pub(crate) fn in_order<T: Send>(tasks: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.min(tasks);
    if threads <= 1 {
        return (0..tasks).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let task = next.fetch_add(1, Ordering::Relaxed);
            if task >= tasks {
                return done;
            }
            done.push((task, work(task)));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut all = worker();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|&(task, _)| task);
    all.into_iter().map(|(_, result)| result).collect()
}
