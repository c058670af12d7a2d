//! Peak strain of an overstretched cube over 5,000 steps, without and with strain limiting.

use super::{Definition, Failure, Figure};
use crate::metrics::{growth, largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, limited, sample, scale_x, weightless};
use pliant::{Clustering, DVec3};

const GAMMA: f64 = 0.3;
const STEPS: usize = 5000;
const FREE: &str = "no limiting";
const LIMITED: &str = "γ = 0.3, 5 iterations";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "peak_strain",
        about: "Peak strain of a cube stretched by 200 %, without and with strain limiting",
    },
    run,
    metrics: &[
        ("unlimited_growth", |p| growth(&p.values(0, FREE))),
        ("limited_growth", |p| growth(&p.values(0, LIMITED))),
        ("settled_over_gamma", |p| largest(tail(&p.values(0, LIMITED), STEPS / 10)) / GAMMA),
    ],
};

fn run() -> Result<Plot, Failure> {
    let mut panel =
        Panel::new("6³ particles, 29 clusters, α = 1, no damping", "step", "peak strain β").y_log();
    for (name, gamma, iterations) in [(FREE, f64::INFINITY, 0), (LIMITED, GAMMA, 5)] {
        let mut body = limited(cube(Clustering::Count(29), 1.0)?, gamma, iterations);
        body.stretch = DVec3::new(3.0, 1.0, 1.0);
        let mut simulation = weightless(body)?;
        let points = sample(&mut simulation, STEPS, |s| s.statistics().max_strain)?;
        panel = panel.line(name, Style::Solid, scale_x(points, RATE));
    }
    let panel = panel.line("γ", Style::Guide, vec![(0.0, GAMMA), (STEPS as f64, GAMMA)]);
    Ok(Plot { panels: vec![panel], ..Plot::new("Peak strain of a cube stretched by 200 %") })
}
