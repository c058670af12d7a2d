//! Figure 10 of the projective-dynamics paper: a flag under extreme forces; the objective never increases.

use super::{Definition, Failure, Figure};
use crate::elements::places;
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::view::seen;
use pliant::{Body, Builder, Clustering, Control, DQuat, DVec3, Simulation, shapes};
use std::f64::consts::FRAC_PI_2;

const CELLS: [usize; 2] = [30, 20];
const STEPS: usize = 60;
const ITERATIONS: u32 = 10;
/// Accelerations of the storm, m/s²: a hundred and a thousand times gravity, and calm for comparison.
const STORMS: [(&str, f64); 3] = [("calm", 0.0), ("100 g", 981.0), ("1000 g", 9810.0)];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "extreme_wind",
        about: "A flag in an extreme storm: objective per iteration of every step (figure 10)",
    },
    run,
    metrics: &[("worst_ratio", |p| largest(&STORMS.map(|s| largest(&p.values(0, s.0)))))],
};

fn flag() -> Result<Simulation, Failure> {
    let mut body = Body::new("flag", shapes::sheet(1.5, 1.0, CELLS[0], CELLS[1])?).projective();
    body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
    body.mass = 0.2;
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = 1e4;
    body.controls.iterations = ITERATIONS;
    body.controls.damping = 0.0;
    let pole: Vec<u32> = (0..=CELLS[1] as u32).map(|j| j * (CELLS[0] as u32 + 1)).collect();
    Ok(Builder::new().substeps(1).body(body.pin(pole)).build()?)
}

/// The storm turns about the pole and comes from above and below in turn, without warning.
fn storm(step: usize, size: f64) -> DVec3 {
    let gust = (step / 6) as f64;
    DVec3::new((2.4 * gust).cos(), 0.6 * (1.7 * gust).sin(), (2.4 * gust).sin()) * size
}

fn run() -> Result<Plot, Failure> {
    let mut ratios = Panel::new("Objective over the one before", "iteration, over all steps", "ratio");
    let mut values = Panel::new("Objective at the end of each step", "step", "objective (J)").y_log();
    let mut errors = Panel::new("Within the worst step", "iterations", "objective over its start").y_log();
    let triangles = shapes::sheet(1.5, 1.0, CELLS[0], CELLS[1])?.triangles;
    let mut pictures = Vec::new();
    for (k, (name, size)) in STORMS.into_iter().enumerate() {
        let mut simulation = flag()?;
        let (mut ratio, mut value) = (Vec::new(), Vec::new());
        let (mut worst, mut curve) = (f64::NEG_INFINITY, Vec::new());
        for step in 0..STEPS {
            let mass = simulation.controls().body(0).mass;
            simulation.set(Control::Force(0), storm(step, size) * mass)?;
            let seen = simulation.trace_step(Box::new(|| 0.0))?.1;
            for w in seen.windows(2) {
                ratio.push((ratio.len() as f64, w[1].objective / w[0].objective));
                if ratio[ratio.len() - 1].1 > worst {
                    worst = ratio[ratio.len() - 1].1;
                    curve = seen
                        .iter()
                        .map(|p| (f64::from(p.iteration), p.objective / seen[0].objective))
                        .collect();
                }
            }
            value.push(((step + 1) as f64, seen.last().map_or(f64::NAN, |p| p.objective)));
        }
        ratios = ratios.line(name, Style::Solid, ratio);
        values = values.line(name, Style::Solid, value);
        errors = errors.line(name, Style::Solid, curve);
        let faces = seen(DVec3::new(0.4, 0.3, 1.0), &places(&simulation), &triangles, k);
        pictures.push(Panel::faces(format!("After a second: {name}"), "", faces));
    }
    let mut panels = vec![ratios, values, errors];
    panels.extend(pictures);
    let title =
        "A flag of 1,910 edges held by its pole under a force that turns about every tenth of a second";
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_in_the_storm_only_goes_downhill() {
        let mut simulation = flag().unwrap();
        simulation.set(Control::Force(0), storm(3, 981.0)).unwrap();
        let seen = simulation.trace_step(Box::new(|| 0.0)).unwrap().1;
        assert_eq!(seen.len(), ITERATIONS as usize + 1);
        assert!(seen.windows(2).all(|w| w[1].objective <= w[0].objective * (1.0 + 1e-12)));
    }
}
