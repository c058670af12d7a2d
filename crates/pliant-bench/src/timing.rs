//! How things are timed: the best of many short rounds, which other work on the machine disturbs least.

use std::time::{Duration, Instant};

/// Seconds of the fastest of many calls, trying for about `budget` and at least five times.
pub(crate) fn best_of(budget: Duration, mut f: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let mut best = f64::INFINITY;
    let mut rounds = 0;
    while rounds < 5 || begin.elapsed() < budget {
        let start = Instant::now();
        f();
        best = best.min(start.elapsed().as_secs_f64());
        rounds += 1;
    }
    best
}
