//! How things are timed: the best of many short rounds, which other work on the machine disturbs least.

use pliant::Simulation;
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

/// Which frames of a simulation are timed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// Frames before the first that counts.
    pub warm: usize,
    /// Frames that count.
    pub timed: usize,
    /// How long to repeat the whole; it is done at least once.
    pub budget: Duration,
}

impl Window {
    /// For scenes whose frames take a few milliseconds at most.
    pub const SHORT: Window = Window { warm: 30, timed: 90, budget: Duration::from_millis(1000) };
    /// For the largest scenes, where a frame is long enough to be timed well.
    pub const LONG: Window = Window { warm: 10, timed: 10, budget: Duration::from_millis(2500) };

    /// Seconds of the median frame, taken back to back, in the quietest of several rounds.
    ///
    /// A frame costs what its state demands: limits that are not active are passed over. So all rounds
    /// begin with the state the simulation is in, which makes them the same work to the bit, and the
    /// typical frame counts, not the cheapest. Among rounds only what else the machine does differs, and
    /// there the least is nearest the truth.
    pub fn median_frame(self, simulation: &mut Simulation) -> Result<f64, String> {
        let step = |s: &mut Simulation| {
            let start = Instant::now();
            s.step().map_err(|e| e.to_string())?;
            Ok(start.elapsed().as_secs_f64())
        };
        self.median(simulation, step)
    }

    /// The same of anything that takes one step and says how long that took.
    pub fn median(
        self,
        simulation: &mut Simulation,
        mut timed_step: impl FnMut(&mut Simulation) -> Result<f64, String>,
    ) -> Result<f64, String> {
        let begin = Instant::now();
        let start = simulation.state().clone();
        let mut best = f64::INFINITY;
        let mut seconds = Vec::with_capacity(self.timed);
        loop {
            for _ in 0..self.warm {
                simulation.step().map_err(|e| e.to_string())?;
            }
            seconds.clear();
            for _ in 0..self.timed {
                seconds.push(timed_step(simulation)?);
            }
            best = best.min(median(&mut seconds));
            simulation.set_state(start.clone()).map_err(|e| e.to_string())?;
            if begin.elapsed() >= self.budget {
                return Ok(best);
            }
        }
    }
}

/// The middle value, the upper one of two; not a number if there are none.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one() {
        assert_eq!(median(&mut [9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&mut [4.0, 1.0]), 4.0);
        assert!(median(&mut []).is_nan());
    }
}
