//! Flappiness and deformation set high: what the report calls unstable, with its two-step goals and with the
//! blend.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, mean};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, deformer, grounded};
use pliant::{Clustering, DQuat, DVec3, Goals, Simulation};

const FLAPPINESS: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
const BETAS: [f64; 4] = [0.0, 0.5, 0.9, 0.98];
const SECONDS: usize = 10;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "deformer_stability",
        about: "Size and late motion of a dropped cube over flappiness and deformation, blend and two steps",
    },
    run,
    metrics: &[
        ("two_step_restless", |p| restless(p, 1.0)),
        ("two_step_calmed", |p| restless(p, 0.2)),
        ("two_step_worst_restless", |p| worst(p, 2, flappiest)),
        ("blend_worst_restless", |p| worst(p, 1, flappiest)),
        ("blend_extent", |p| worst(p, 0, largest)),
    ],
};

/// Of all goals and deformations.
fn worst(plot: &Plot, panel: usize, of: fn(&[f64]) -> f64) -> f64 {
    let grid = [Goals::Linear, Goals::Quadratic].into_iter().flat_map(|g| BETAS.map(|b| (g, b)));
    largest(&grid.map(|(g, b)| of(&plot.values(panel, &label(g, b)))).collect::<Vec<_>>())
}

/// The value at α_f = 1.
fn flappiest(values: &[f64]) -> f64 {
    values.last().copied().unwrap_or(f64::NAN)
}

fn label(goals: Goals, beta: f64) -> String {
    format!("{}, β = {beta}", goals.name())
}

fn restless(plot: &Plot, flappiness: f64) -> f64 {
    let line = plot.points(2, &label(Goals::Linear, 0.98));
    line.iter().find(|p| p.0 == flappiness).map_or(f64::NAN, |p| p.1)
}

fn run() -> Result<Plot, Failure> {
    let size = "largest extent over the diagonal";
    let late = "kinetic over the fall's energy";
    let mut panels = [
        Panel::new("Blend: size", "flappiness α_f", size),
        Panel::new("Blend: motion in the last second", "flappiness α_f", late).y_log(),
        Panel::new("Two steps: motion in the last second", "flappiness α_f", late).y_log(),
        Panel::new("Two steps: size", "flappiness α_f", size),
    ];
    for (two_step, [sizes, motions]) in [(false, [0, 1]), (true, [3, 2])] {
        for goals in [Goals::Linear, Goals::Quadratic] {
            for beta in BETAS {
                let (mut extents, mut kinetic) = (Vec::new(), Vec::new());
                for flappiness in FLAPPINESS {
                    let (extent, motion) = run_one(two_step, goals, beta, flappiness)?;
                    extents.push((flappiness, extent));
                    // A logarithmic axis has no zero.
                    kinetic.push((flappiness, motion.max(1e-12)));
                }
                let style = if goals == Goals::Linear { Style::Marked } else { Style::Dashed };
                panels[sizes] = std::mem::take(&mut panels[sizes]).line(label(goals, beta), style, extents);
                panels[motions] =
                    std::mem::take(&mut panels[motions]).line(label(goals, beta), style, kinetic);
            }
        }
    }
    let title = "A cube dropped on its edge for ten seconds, α_s = 0.5, volume kept";
    Ok(Plot { panels: panels.to_vec(), ..Plot::new(title) })
}

/// Largest extent over the rest diagonal, and mean kinetic energy in the last second over the fall's. A run
/// that ends with numbers that are none counts as infinite.
fn run_one(two_step: bool, goals: Goals, beta: f64, flappiness: f64) -> Result<(f64, f64), Failure> {
    let mut body = deformer(cube(Clustering::Whole, 0.0)?.goals(goals), 0.5, flappiness);
    body.controls.deformation = beta;
    body.two_step = two_step;
    body.position = DVec3::Y * 2.0;
    body.rotation = DQuat::from_rotation_z(0.6) * DQuat::from_rotation_x(0.3);
    let mut simulation = grounded(body)?;
    let fall = 9.81;
    let (mut extent, mut late, mut before) = (0.0_f64, Vec::new(), Vec::new());
    for step in 0..SECONDS * RATE as usize {
        if simulation.step().is_err() {
            return Ok((f64::INFINITY, f64::INFINITY));
        }
        extent = extent.max(diagonal(&simulation));
        if step >= (SECONDS - 1) * RATE as usize {
            // Of the ways really made: at rest the scheme keeps velocities that the matching step undoes.
            let squares = simulation.positions(0).zip(&before).map(|(now, then)| now.distance_squared(*then));
            late.push(0.5 * squares.sum::<f64>() / before.len() as f64 * RATE * RATE / fall);
        }
        before.clear();
        before.extend(simulation.positions(0));
    }
    Ok((extent / 3f64.sqrt(), mean(&late)))
}

/// Twice the largest distance from the middle.
fn diagonal(s: &Simulation) -> f64 {
    let n = s.positions(0).len() as f64;
    let middle = s.positions(0).sum::<DVec3>() / n;
    2.0 * s.positions(0).map(|p| p.distance(middle)).fold(0.0, f64::max)
}
