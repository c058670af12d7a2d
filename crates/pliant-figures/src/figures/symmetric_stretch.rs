//! The limitation the strain-limiting paper states: with random clusters, an axis-aligned stretch of a
//! cube turns it.

use super::{Definition, Failure, Figure};
use crate::fit::turned;
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, sample, scale_x, weightless};
use pliant::{Clustering, DVec3};

const STEPS: usize = 300;
const SEEDS: [u64; 4] = [1, 2, 3, 4];
const ONE: &str = "one cluster";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "symmetric_stretch",
        about: "Rotation of a cube after an axis-aligned stretch (the paper's limitation)",
    },
    run,
    metrics: &[
        ("turned", |p| {
            let all: Vec<f64> = SEEDS.iter().flat_map(|seed| p.values(0, &label(*seed))).collect();
            largest(&all)
        }),
        ("turned_by_one_cluster", |p| largest(&p.values(0, ONE))),
    ],
};

fn label(seed: u64) -> String {
    format!("29 clusters, seed {seed}")
}

fn run() -> Result<Plot, Failure> {
    let title = "Cube stretched by 50 % in x, α = 0.5, no limit, no damping";
    let mut panel = Panel::new(title, "step", "angle of the best rigid fit (rad)").y_log();
    let random = SEEDS.map(|seed| (label(seed), Clustering::Count(29), seed));
    for (name, clusters, seed) in random.into_iter().chain([(ONE.to_string(), Clustering::Whole, 1)]) {
        let mut body = cube(clusters, 0.5)?;
        body.seed = seed;
        body.stretch = DVec3::new(1.5, 1.0, 1.0);
        let mut simulation = weightless(body)?;
        let rest: Vec<DVec3> = simulation.model().rest().positions.iter().collect();
        let points = sample(&mut simulation, STEPS, |s| turned(&rest, &s.positions(0).collect::<Vec<_>>()))?;
        panel = panel.line(name, Style::Solid, scale_x(points, RATE));
    }
    Ok(Plot { panels: vec![panel], ..Plot::new("Rotation of a cube after an axis-aligned stretch") })
}
