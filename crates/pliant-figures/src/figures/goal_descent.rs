//! Position-based iterations alone: the distance to the goals never increases, and over-relaxation
//! lowers it faster.

use super::{Definition, Failure, Figure};
use crate::metrics::worst_ratio;
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{cube, limited, weightless};
use pliant::{BodyControls, Clustering, Control, DVec3, Points, Simulation};
use pliant_math::horn_rotation;

const ITERATIONS: u32 = 200;
const PLAIN: &str = "ω = 1";
const OVER: &str = "ω = 1.5";
/// Sums below this share of the start are rounding.
const ROUNDING: f64 = 1e-24;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "goal_descent",
        about: "Distance to the goals against iterations, for several relaxations",
    },
    run,
    metrics: &[
        ("worst_ratio", |p| worst_ratio(&p.values(0, PLAIN), ROUNDING)),
        ("over_relaxed_share", |p| iterations_to(p, OVER) / iterations_to(p, PLAIN)),
    ],
};

/// Iterations until the sum is, and stays, below a thousandth of its start; NaN if never.
fn iterations_to(plot: &Plot, name: &str) -> f64 {
    let points = plot.points(0, name);
    let Some(first) = points.first() else { return f64::NAN };
    let above = points.iter().rposition(|p| p.1.is_nan() || p.1 > 1e-3 * first.1);
    above.and_then(|k| points.get(k + 1)).map_or(f64::NAN, |p| p.0)
}

fn run() -> Result<Plot, Failure> {
    let title = "Cube of 29 clusters stretched to (3, ½, 1), α = 0, γ = 0";
    let mut panel = Panel::new(title, "iterations", "Σ m ‖x − g‖² over its start").y_log();
    for (name, omega) in [("ω = 0.5", 0.5), (PLAIN, 1.0), (OVER, 1.5), ("ω = 1.9", 1.9)] {
        let mut body = limited(cube(Clustering::Count(29), 0.0)?, 0.0, ITERATIONS);
        body.stretch = DVec3::new(3.0, 0.5, 1.0);
        body.controls.relaxation = omega;
        let mut simulation = weightless(body)?;
        let start = simulation.state().clone();
        let first = goal_distance(&simulation);
        let mut points = vec![(0.0, 1.0)];
        // One step of k iterations from the same start, for the k the engine takes with this ω: too few
        // over-relaxed ones would leave the body with an overshoot.
        for k in (1..=ITERATIONS).filter(|k| omega <= BodyControls::largest_relaxation(*k)) {
            simulation.set_state(start.clone())?;
            simulation.set(Control::Iterations(0.into()), f64::from(k))?;
            simulation.step()?;
            points.push((f64::from(k), goal_distance(&simulation) / first));
        }
        panel = panel.line(name, Style::Solid, points);
    }
    Ok(Plot { panels: vec![panel], ..Plot::new("Distance to the goals in position-based iterations") })
}

/// Σ m_ic ‖x − g_ic‖², computed without the engine's own fit.
fn goal_distance(s: &Simulation) -> f64 {
    let (model, x) = (&s.model().bodies()[0].parts, s.state().bodies()[0].positions());
    let (set, rest) = (&model.topology().clusters, &model.rest().positions);
    let mut sum = 0.0;
    for c in 0..set.len() {
        let members: Vec<(usize, f64)> = set
            .particles(c)
            .iter()
            .map(|&i| i as usize)
            .map(|i| (i, model.rest().mass[i] / model.topology().memberships(i).len() as f64))
            .collect();
        let total: f64 = members.iter().map(|m| m.1).sum();
        let center = |p: &Points| members.iter().map(|&(i, m)| p.get(i) * m).sum::<DVec3>() / total;
        let (xc, rc) = (center(x), center(rest));
        let r = horn_rotation(members.iter().map(|&(i, m)| ((rest.get(i) - rc) * m, x.get(i) - xc)));
        let each =
            members.iter().map(|&(i, m)| m * (r * (rest.get(i) - rc) + xc - x.get(i)).length_squared());
        sum += each.sum::<f64>();
    }
    sum
}
