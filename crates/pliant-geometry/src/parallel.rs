//! Independent work shared out to threads; neither their number nor who does what shows in the results.

use std::sync::Mutex;

/// Items of [`map`] below which starting threads costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// Threads to use where `wanted` are asked for: 0 is as many as the machine runs at once. One on WebAssembly, where there
/// are none to start.
pub fn thread_count(wanted: usize) -> usize {
    match wanted {
        _ if cfg!(target_family = "wasm") => 1,
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        threads => threads,
    }
}

/// Runs `work` on every slot with its index, on up to `threads` threads, this one among them. `scratch` makes the memory
/// that a thread uses again from slot to slot; `work` must not leave anything in it that matters to the next.
pub fn for_each<T: Send, S>(
    slots: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(usize, T, &mut S) + Sync,
) {
    let threads = threads.min(slots.len());
    if threads <= 1 {
        let mut memory = scratch();
        slots.enumerate().for_each(|(i, slot)| work(i, slot, &mut memory));
        return;
    }
    let queue = Mutex::new(slots.enumerate());
    let worker = || {
        let mut memory = scratch();
        // A poisoned lock means another thread panicked; the scope passes that panic on.
        while let Some((i, slot)) = queue.lock().ok().and_then(|mut queue| queue.next()) {
            work(i, slot, &mut memory);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(worker);
        }
        worker();
    });
}

/// `work` of every item, in order.
pub fn map<T: Sync, R: Send + Clone + Default>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let mut results = vec![R::default(); items.len()];
    let threads = threads.clamp(1, items.len() / WORTH_A_THREAD + 1);
    // Several chunks for each thread, taken in turn: neighbours cost alike, and parts of a list often differ.
    let size = items.len().div_ceil(8 * threads).max(1);
    let chunks = items.chunks(size).zip(results.chunks_mut(size));
    for_each(
        chunks,
        threads,
        || (),
        |_, (items, results), ()| {
            results.iter_mut().zip(items).for_each(|(result, item)| *result = work(item));
        },
    );
    results
}

/// `work` of every task from 0 on, in order; for tasks that are large each.
pub fn map_tasks<R: Send>(tasks: usize, threads: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let mut results: Vec<Option<R>> = (0..tasks).map(|_| None).collect();
    for_each(results.iter_mut(), threads, || (), |task, result, ()| *result = Some(work(task)));
    results.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_has_its_own_result_for_any_number_of_threads() {
        for count in [0, 1, 7, 1000, 5003] {
            let items: Vec<usize> = (0..count).collect();
            let want: Vec<usize> = items.iter().map(|i| i * i).collect();
            for threads in [0, 1, 2, 3, 64] {
                assert_eq!(map(&items, threads, |i| i * i), want);
                assert_eq!(map_tasks(count, threads, |i| i * i), want);
            }
        }
    }
}
