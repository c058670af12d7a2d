//! How far strain exceeds its limit after one step, against iterations, for several relaxations.

use super::{Definition, Failure, Figure};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{cube, limited, weightless};
use pliant::{BodyControls, Clustering, DVec3};

const GAMMA: f64 = 0.1;
const COUNTS: [u32; 11] = [1, 2, 3, 5, 7, 10, 15, 20, 35, 60, 100];
const OMEGAS: [(&str, f64); 3] = [("ω = 0.5", 0.5), ("ω = 1", 1.0), ("ω = 1.5", 1.5)];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "limit_excess",
        about: "Excess of the peak strain over its limit against solver iterations",
    },
    run,
    metrics: &[
        ("excess_left", |p| at(p, "ω = 1", 100) / at(p, "ω = 1", 1)),
        ("over_relaxed_share", |p| at(p, "ω = 1.5", 20) / at(p, "ω = 1", 20)),
    ],
};

/// The excess after so many iterations.
fn at(plot: &Plot, name: &str, iterations: u32) -> f64 {
    let found = plot.points(0, name).iter().find(|p| p.0 == f64::from(iterations));
    found.map_or(f64::NAN, |p| p.1)
}

fn run() -> Result<Plot, Failure> {
    let title = "Cube of 29 clusters stretched by 200 %, γ = 0.1, α = 1, first step";
    let mut panel = Panel::new(title, "iterations", "peak strain − γ").x_log();
    for (name, omega) in OMEGAS {
        let mut points = Vec::new();
        // Too few over-relaxed iterations leave an overshoot; the engine refuses them.
        for iterations in COUNTS.into_iter().filter(|k| omega <= BodyControls::largest_relaxation(*k)) {
            let mut body = limited(cube(Clustering::Count(29), 1.0)?, GAMMA, iterations);
            body.stretch = DVec3::new(3.0, 1.0, 1.0);
            body.controls.relaxation = omega;
            let mut simulation = weightless(body)?;
            simulation.step()?;
            points.push((f64::from(iterations), (simulation.statistics().max_strain - GAMMA).max(0.0)));
        }
        panel = panel.line(name, Style::Marked, points);
    }
    let panel = panel.line("the limit itself", Style::Guide, vec![(1.0, 0.0), (100.0, 0.0)]);
    Ok(Plot { panels: vec![panel], ..Plot::new("Excess over the strain limit against iterations") })
}
