//! Independent pieces of work over threads.

use std::sync::Mutex;

/// Runs `work` on every slot with its index. Each slot is computed on its own, so neither the number of threads nor
/// which thread takes which slot can show in the result. `scratch` makes the memory a thread reuses.
pub(super) fn spread<T: Send, S>(
    slots: impl ExactSizeIterator<Item = T> + Send,
    threads: usize,
    scratch: impl Fn() -> S + Sync,
    work: impl Fn(usize, T, &mut S) + Sync,
) {
    let threads = threads.min(slots.len()).max(1);
    if threads == 1 {
        let mut memory = scratch();
        slots.enumerate().for_each(|(i, slot)| work(i, slot, &mut memory));
        return;
    }
    let queue = Mutex::new(slots.enumerate());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut memory = scratch();
                // A poisoned lock means another thread panicked; the scope passes that panic on.
                while let Some((i, slot)) = queue.lock().ok().and_then(|mut queue| queue.next()) {
                    work(i, slot, &mut memory);
                }
            });
        }
    });
}
