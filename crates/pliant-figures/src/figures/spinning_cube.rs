//! Figure 2 of the strain-limiting paper: kinetic energy and angular momentum of a rotating cube,
//! shape matching against position-based dynamics.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, mean, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, limited, position_based, sample_statistics, weightless};
use pliant::{Clustering, DVec3};
use std::f64::consts::TAU;

const STEPS: usize = 600;
const SECOND: usize = RATE as usize;
const ELASTIC: &str = "shape matching, one cluster";
const MANY: &str = "shape matching, 29 clusters";
const PBD: &str = "position-based, one cluster";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "spinning_cube",
        about: "Kinetic energy and angular momentum of a rotating cube (figure 2)",
    },
    run,
    metrics: &[
        ("elastic_kinetic_kept", |p| mean(tail(&p.values(0, ELASTIC), SECOND))),
        ("elastic_momentum_drift", |p| drift(&p.values(1, ELASTIC))),
        ("many_kinetic_kept", |p| mean(tail(&p.values(0, MANY), SECOND))),
        ("many_momentum_drift", |p| drift(&p.values(1, MANY))),
        ("pbd_kinetic_kept", |p| mean(tail(&p.values(0, PBD), SECOND))),
        ("pbd_momentum_kept", |p| mean(tail(&p.values(1, PBD), SECOND))),
    ],
};

/// Largest distance from the start, which is 1.
fn drift(values: &[f64]) -> f64 {
    largest(&values.iter().map(|v| (v - 1.0).abs()).collect::<Vec<_>>())
}

fn run() -> Result<Plot, Failure> {
    let mut kinetic = Panel::new("Kinetic energy", "time (s)", "share of the start");
    let mut momentum = Panel::new("Angular momentum", "time (s)", "share of the start");
    let (one, many) = (Clustering::Whole, Clustering::Count(29));
    for (name, clusters, gamma, style) in [
        (ELASTIC, one, 0.3, Style::Solid),
        (PBD, one, 0.0, Style::Solid),
        (MANY, many, 0.3, Style::Dashed),
        ("the same without strain limiting", many, f64::INFINITY, Style::Dashed),
        ("position-based, 29 clusters", many, 0.0, Style::Dashed),
    ] {
        let mut body = cube(clusters, 0.5)?;
        body.spin = DVec3::new(0.0, 0.0, TAU);
        let body = if gamma > 0.0 { limited(body, gamma, 5) } else { position_based(body, 5) };
        let mut simulation = weightless(body)?;
        let start = simulation.statistics();
        let [k, l] = sample_statistics(&mut simulation, STEPS, |_, s| {
            [s.kinetic / start.kinetic, s.angular_momentum.z / start.angular_momentum.z]
        })?;
        kinetic = kinetic.line(name, style, k);
        momentum = momentum.line(name, style, l);
    }
    let title =
        "A cube rotating once a second: shape matching (α = 0.5, γ = 0.3) and position-based (α = γ = 0)";
    Ok(Plot { panels: vec![kinetic, momentum], ..Plot::new(title) })
}
