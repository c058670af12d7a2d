//! The same work on every item of a slice, shared out to threads; the result does not depend on how many.

/// Items below which starting threads costs more than it saves.
const WORTH_A_THREAD: usize = 256;

/// How many threads this machine runs at once.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// `work` of every item, in order.
pub(crate) fn map<T: Sync, R: Send + Clone + Default>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let mut results = vec![R::default(); items.len()];
    let threads = threads.clamp(1, items.len() / WORTH_A_THREAD + 1);
    let fill = |items: &[T], results: &mut [R]| {
        results.iter_mut().zip(items).for_each(|(result, item)| *result = work(item));
    };
    if threads == 1 {
        fill(items, &mut results);
        return results;
    }
    // Several chunks for each thread, taken in turn: neighbours cost alike, and parts of a list often differ.
    let size = items.len().div_ceil(8 * threads);
    std::thread::scope(|scope| {
        let mut shares: Vec<Vec<(&[T], &mut [R])>> = (0..threads).map(|_| Vec::new()).collect();
        for (i, pair) in items.chunks(size).zip(results.chunks_mut(size)).enumerate() {
            shares[i % threads].push(pair);
        }
        let fill = &fill;
        for share in shares {
            scope.spawn(move || share.into_iter().for_each(|(items, results)| fill(items, results)));
        }
    });
    results
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
            }
        }
    }
}
