//! Figure 3 of the projective-dynamics paper: two sets without a common point, projected on in turn and
//! in consensus.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use pliant::DVec3;
use pliant::solvers::position_based::projections::{consensus, one_after_the_other};
use std::f64::consts::TAU;

const ROUNDS: usize = 60;
/// Between the nearest points of the circles.
const GAP: f64 = 2.0;
const TURNS: &str = "in turn (Gauss–Seidel)";
const CONSENSUS: &str = "consensus (Jacobi)";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "infeasible_sets",
        about: "Two sets that do not meet: projections in turn oscillate, consensus settles (figure 3)",
    },
    run,
    metrics: &[
        // The smallest of the last ten: an oscillation never rests.
        ("oscillation", |p| -largest(&tail(&p.values(1, TURNS), 10).iter().map(|v| -v).collect::<Vec<_>>())),
        ("settled", |p| largest(tail(&p.values(1, CONSENSUS), 10))),
    ],
};

fn circle(center: DVec3) -> impl Fn(DVec3) -> DVec3 {
    move |p| center + (p - center).normalize_or(DVec3::X)
}

fn run() -> Result<Plot, Failure> {
    let centers = [DVec3::ZERO, DVec3::X * (GAP + 2.0)];
    let (a, b) = (circle(centers[0]), circle(centers[1]));
    let start = DVec3::new(1.6, 1.9, 0.0);
    let mut paths = Panel::new("Path of the estimate", "x", "y");
    for (name, center) in ["first set", "second set"].into_iter().zip(centers) {
        let round = (0..=64).map(|k| f64::from(k) / 64.0 * TAU);
        let points = round.map(|t| (center.x + t.cos(), center.y + t.sin())).collect();
        paths = paths.line(name, Style::Guide, points);
    }
    let mut lengths =
        Panel::new("Length of each step", "projections on all sets", "length / gap of the sets").y_log();
    for (name, path) in [
        (TURNS, one_after_the_other(&[&a, &b], start, ROUNDS)),
        (CONSENSUS, consensus(&[&a, &b], start, ROUNDS)),
    ] {
        let per_round = (path.len() - 1) / ROUNDS;
        paths = paths.line(name, Style::Marked, path.iter().take(24).map(|p| (p.x, p.y)).collect());
        let steps = path.windows(2).enumerate();
        let step =
            |(k, w): (usize, &[DVec3])| ((k + 1) as f64 / per_round as f64, (w[1] - w[0]).length() / GAP);
        lengths = lengths.line(name, Style::Solid, steps.map(step).collect());
    }
    Ok(Plot { panels: vec![paths, lengths], ..Plot::new("Projecting on two circles that do not meet") })
}
