//! The papers' figures redrawn from our own runs, and verdicts on their claims.
//!
//! A figure is one file in `figures/`: it runs simulations into a `Plot` (all numbers that are
//! drawn) and computes metrics from the plot alone. `claims.toml` says, from before the experiment,
//! which metric a claim of a paper hangs on and what is accepted. Because metrics are pure functions
//! of the data, tests can feed them sabotaged data and see the verdict say no.

mod claims;
mod clock;
mod draw;
mod elements;
mod embed;
mod error;
mod figures;
mod fit;
mod metrics;
mod plot;
mod rendered;
mod report;
mod scenes;
mod shirt;
mod view;
mod write;

pub use claims::{ClaimResult, Verdict, claims_text};
pub use error::FigureError;
pub use figures::{Figure, figures};
pub use plot::{Line, Panel, Plot, ShadedTriangle, Style};

use std::path::Path;

/// Writes a drawing of a plot as SVG, whole or not at all.
pub fn write_plot(plot: &Plot, path: &Path) -> Result<(), FigureError> {
    write::file(path, &draw::svg(plot).map_err(FigureError::Drawing)?)
}

/// Runs the figures named (all if none is), and writes into `out_dir`, for each, a drawing
/// (`NAME.svg`) and its data (`NAME.csv`), and for all, `index.html` and `verdicts.md`. Gives the
/// verdicts on their claims, in the order of `claims.toml`.
///
/// `progress` is told what is being done, a line at a time. Every file appears whole or not at all.
pub fn run(
    names: &[String],
    out_dir: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<ClaimResult>, FigureError> {
    let chosen = figures::choose(names)?;
    let claims = claims::all()?;
    write::directory(out_dir)?;
    let mut results = Vec::new();
    for (k, definition) in chosen.iter().enumerate() {
        let name = definition.figure.name;
        progress(&format!("[{}/{}] {name}: {}", k + 1, chosen.len(), definition.figure.about));
        let failed = |message: String| FigureError::Simulation { figure: name, message };
        let plot = (definition.run)().map_err(|e| failed(e.to_string()))?;
        write::file(&out_dir.join(format!("{name}.csv")), &plot.csv())?;
        write::file(&out_dir.join(format!("{name}.svg")), &draw::svg(&plot).map_err(failed)?)?;
        for claim in claims.iter().filter(|c| c.figure == name) {
            results.push(claim.judge(definition, &plot));
        }
    }
    // By claim, whatever the order the figures were asked for in.
    results.sort_by_key(|r| claims.iter().position(|c| c.id == r.id));
    let drawn: Vec<Figure> = chosen.iter().map(|d| d.figure).collect();
    write::file(&out_dir.join("verdicts.md"), &report::markdown(&results))?;
    write::file(&out_dir.join("index.html"), &report::html(&drawn, &claims, &results))?;
    Ok(results)
}

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
