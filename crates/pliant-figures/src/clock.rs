//! Time as claims about cost need it: of the processor where there is such, since the clock on the wall also counts
//! what else the machine does; several runs, and how far they scatter.

use crate::metrics::{largest, median, smallest};
use crate::plot::Plot;
use std::time::Instant;

/// Runs of each thing that is timed.
const RUNS: usize = 7;

/// A stopwatch that runs while this thread does.
#[derive(Clone, Copy)]
pub struct Stopwatch {
    wall: Instant,
    processor: Option<f64>,
}

impl Stopwatch {
    pub fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), processor: processor_seconds() }
    }

    /// Seconds of processor time of this thread, or on the wall where the system does not tell.
    pub fn seconds(&self) -> f64 {
        match (self.processor, processor_seconds()) {
            (Some(from), Some(to)) => to - from,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// How often to run what is timed: once by the clock on the wall, which leaves claims unjudged.
pub fn runs() -> usize {
    if processor_seconds().is_some() { RUNS } else { 1 }
}

/// What the times are of, for people.
pub fn kind() -> &'static str {
    if processor_seconds().is_some() { "processor time" } else { "time on the wall" }
}

/// Seconds this thread has been run by a processor.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn processor_seconds() -> Option<f64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn processor_seconds() -> Option<f64> {
    None
}

/// One time over another, run by run: the lines have a point for each.
#[derive(Clone, Copy)]
pub struct Ratio<'a> {
    pub panel: usize,
    pub over: &'a str,
    pub under: &'a str,
}

impl Ratio<'_> {
    fn each(self, plot: &Plot) -> Vec<f64> {
        let (over, under) = (plot.values(self.panel, self.over), plot.values(self.panel, self.under));
        if over.len() != under.len() {
            return Vec::new();
        }
        over.iter().zip(under).map(|(a, b)| a / b).collect()
    }

    /// Of the runs in the middle.
    pub fn median(self, plot: &Plot) -> f64 {
        median(self.each(plot))
    }

    /// The least of all runs; NaN if there are too few to tell how they scatter.
    pub fn least(self, plot: &Plot) -> f64 {
        enough(self.each(plot), smallest)
    }

    /// The most of all runs, likewise.
    pub fn most(self, plot: &Plot) -> f64 {
        enough(self.each(plot), largest)
    }
}

fn enough(values: Vec<f64>, of: fn(&[f64]) -> f64) -> f64 {
    if values.len() < 3 { f64::NAN } else { of(&values) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Panel, Style};

    #[test]
    fn a_sleeping_thread_takes_no_processor_time() {
        let watch = Stopwatch::start();
        std::thread::sleep(std::time::Duration::from_millis(50));
        if runs() > 1 {
            // Not a measurement: sleeping is nothing, whatever else the machine does.
            assert!(watch.seconds() < 0.04 && watch.wall.elapsed().as_secs_f64() >= 0.05);
        }
        let mut x = 1.0_f64;
        while watch.seconds() < 0.05 {
            x = std::hint::black_box(x.sqrt() + 1.0);
        }
    }

    #[test]
    fn ratios_go_run_by_run_and_few_runs_tell_no_spread() {
        let line = |v: &[f64]| v.iter().enumerate().map(|(k, v)| (k as f64, *v)).collect::<Vec<_>>();
        let plot = |a: &[f64], b: &[f64]| Plot {
            title: String::new(),
            panels: vec![Panel::new("", "", "").line("a", Style::Marked, line(a)).line(
                "b",
                Style::Marked,
                line(b),
            )],
        };
        let ratio = Ratio { panel: 0, over: "a", under: "b" };
        let p = plot(&[2.0, 6.0, 4.0], &[1.0, 2.0, 4.0]);
        assert_eq!((ratio.least(&p), ratio.median(&p), ratio.most(&p)), (1.0, 2.0, 3.0));
        let p = plot(&[2.0], &[1.0]);
        assert!(ratio.median(&p) == 2.0 && ratio.least(&p).is_nan() && ratio.most(&p).is_nan());
        assert!(ratio.median(&plot(&[2.0, 3.0], &[1.0])).is_nan(), "runs that do not belong together");
    }
}
