//! The stretched cube over a grid of α, γ and clusters: how strained it is after ten seconds.

use super::{Definition, Failure, Figure};
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, limited, weightless};
use pliant::{Clustering, DVec3};

const ALPHAS: [f64; 6] = [0.05, 0.1, 0.3, 0.5, 0.75, 1.0];
const GAMMAS: [f64; 3] = [0.1, 0.2, 0.3];
const FREE: &str = "no limit";
const SECONDS: usize = 10;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "stretched_cube_grid",
        about: "Strain of a stretched cube after ten seconds, over α, γ and clusters",
    },
    run,
    metrics: &[
        ("limited_over_gamma", |p| {
            let grid = (0..2).flat_map(|panel| GAMMAS.map(|gamma| (panel, gamma)));
            let each = grid.map(|(panel, gamma)| largest(&p.values(panel, &label(gamma))) / gamma);
            largest(&each.collect::<Vec<_>>())
        }),
        ("one_cluster_growth", |p| largest(&p.values(0, FREE)) / largest(&p.values(0, START))),
    ],
};

const START: &str = "at the start";

fn label(gamma: f64) -> String {
    format!("γ = {gamma}")
}

fn run() -> Result<Plot, Failure> {
    let mut panels = Vec::new();
    for (title, clusters) in [("One cluster", Clustering::Whole), ("29 clusters", Clustering::Count(29))] {
        let mut panel = Panel::new(title, "α", "largest strain in the last second");
        let mut start = 0.0;
        for gamma in GAMMAS.into_iter().chain([f64::INFINITY]) {
            let mut points = Vec::new();
            for alpha in ALPHAS {
                let mut body = limited(cube(clusters, alpha)?, gamma, 5);
                body.stretch = DVec3::new(1.5, 1.0, 1.0);
                let mut simulation = weightless(body)?;
                start = simulation.statistics().max_strain;
                let mut late = Vec::new();
                for step in 0..SECONDS * RATE as usize {
                    simulation.step()?;
                    if step >= (SECONDS - 1) * RATE as usize {
                        late.push(simulation.statistics().max_strain);
                    }
                }
                points.push((alpha, largest(&late)));
            }
            let name = if gamma.is_finite() { label(gamma) } else { FREE.to_string() };
            panel = panel.line(name, Style::Marked, points);
        }
        let ends = [ALPHAS[0], ALPHAS[ALPHAS.len() - 1]];
        panels.push(panel.line(START, Style::Guide, ends.map(|a| (a, start)).to_vec()));
    }
    Ok(Plot { panels, ..Plot::new("A cube stretched by 50 %, no damping, 5 iterations") })
}
