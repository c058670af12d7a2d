//! The drawing of `pliant bench --plot`, with what `pliant figures` draws with.

use crate::failure::Failure;
use pliant_bench::FrameTime;
use std::path::Path;

/// Whether this build can draw.
pub fn available() -> Result<(), Failure> {
    match cfg!(feature = "figures") {
        true => Ok(()),
        false => Err(crate::left_out::failure("pliant bench --plot", "figures")),
    }
}

#[cfg(not(feature = "figures"))]
pub fn speed(_: &[FrameTime], _: &Path) -> Result<(), Failure> {
    available()
}

/// Time per frame against particles, with the line on which time grows as the memberships do.
#[cfg(feature = "figures")]
pub fn speed(frames: &[FrameTime], path: &Path) -> Result<(), Failure> {
    use pliant_figures::{FigureError, Panel, Plot, Style};
    let each = frames.iter().map(|f| f.seconds / f.memberships as f64).fold(f64::INFINITY, f64::min);
    let points = |ms: &dyn Fn(&FrameTime) -> f64| {
        frames.iter().map(|f| (f.particles as f64, 1e3 * ms(f))).collect::<Vec<_>>()
    };
    let panel = Panel::new("", "particles", "time per frame (ms)")
        .x_log()
        .y_log()
        .line("measured, one frame of 6 goal passes", Style::Marked, points(&|f| f.seconds))
        .line(
            "linear in memberships, from the best size",
            Style::Guide,
            points(&|f| each * f.memberships as f64),
        );
    let mut plot = Plot::new("Clustered shape matching: time and size");
    plot.panels.push(panel);
    pliant_figures::write_plot(&plot, path).map_err(|e| {
        let code = if matches!(e, FigureError::Io { .. }) { Failure::IO } else { Failure::USAGE };
        Failure::new(code, e.to_string())
    })
}
