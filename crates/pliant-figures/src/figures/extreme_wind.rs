//! Figure 10 of the projective-dynamics paper: a flag under extreme forces; the objective never increases.

use super::{Definition, Failure, Figure};
use crate::elements::places;
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::scenes::RATE;
use crate::view::seen;
use pliant::{Body, Builder, Clustering, Control, DQuat, DVec3, Points, Simulation, SolverKind, shapes};
use std::f64::consts::FRAC_PI_2;
use std::sync::{Arc, Mutex, PoisonError};

const CELLS: [usize; 2] = [30, 20];
const STEPS: usize = 60;
/// N/m.
const EDGE_STIFFNESS: f64 = 1e4;
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
    body.controls.edge_stiffness = EDGE_STIFFNESS;
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

/// The objective (equation 8) of a flag of edges, written down plainly and sharing no code with the engine.
struct Objective {
    mass: Vec<f64>,
    /// Ends, rest length and weight.
    edges: Vec<(usize, usize, f64, f64)>,
}

impl Objective {
    fn new(simulation: &Simulation) -> Objective {
        let model = simulation.model();
        let (rest, edges) = (model.rest(), &model.topology().edges);
        let mut degree = vec![0.0; model.particle_count()];
        edges.iter().flatten().for_each(|&i| degree[i as usize] += 1.0);
        let share = |i: usize| rest.measure[i] / degree[i];
        let edge = |&[i, j]: &[u32; 2]| {
            let (i, j) = (i as usize, j as usize);
            let length = (rest.positions.get(i) - rest.positions.get(j)).length();
            (i, j, length, EDGE_STIFFNESS * (share(i) + share(j)))
        };
        Objective { mass: rest.mass.clone(), edges: edges.iter().map(edge).collect() }
    }

    /// Its value at `q`, with the prediction `s`.
    fn value(&self, q: &Points, s: &Points) -> f64 {
        let inertia = |(i, m): (usize, &f64)| 0.5 * RATE * RATE * m * (q.get(i) - s.get(i)).length_squared();
        let stretch = |&(i, j, length, weight): &(usize, usize, f64, f64)| {
            0.5 * weight * ((q.get(i) - q.get(j)).length() / length - 1.0).powi(2)
        };
        self.mass.iter().enumerate().map(inertia).sum::<f64>() + self.edges.iter().map(stretch).sum::<f64>()
    }
}

/// Takes a step and gives the objective at the prediction and after each iteration.
fn objectives(
    simulation: &mut Simulation,
    objective: &Objective,
    seen: &Mutex<Vec<Points>>,
) -> Result<Vec<f64>, Failure> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    simulation.step()?;
    let list = seen.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(list.iter().map(|q| objective.value(q, &list[0])).collect())
}

/// Lets every iteration be seen.
fn watched(simulation: &mut Simulation) -> Arc<Mutex<Vec<Points>>> {
    let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
    let sink = seen.clone();
    simulation.observe_iterations(
        SolverKind::Projective,
        Box::new(move |_, q| sink.lock().unwrap_or_else(PoisonError::into_inner).push(q.clone())),
    );
    seen
}

fn run() -> Result<Plot, Failure> {
    let mut ratios =
        Panel::new("Largest objective over the one before", "step", "largest ratio of all iterations");
    let mut values = Panel::new("Objective at the end of each step", "step", "objective (J)").y_log();
    let mut errors = Panel::new("Within the worst step", "iterations", "objective over its start").y_log();
    let triangles = shapes::sheet(1.5, 1.0, CELLS[0], CELLS[1])?.triangles;
    let mut pictures = Vec::new();
    for (k, (name, size)) in STORMS.into_iter().enumerate() {
        let mut simulation = flag()?;
        let (objective, watched) = (Objective::new(&simulation), watched(&mut simulation));
        let (mut ratio, mut value) = (Vec::new(), Vec::new());
        let (mut worst, mut curve) = (f64::NEG_INFINITY, Vec::new());
        for step in 0..STEPS {
            let mass = simulation.controls().body(0).map_or(1.0, |c| c.mass);
            simulation.set(Control::Force(0.into()), storm(step, size) * mass)?;
            let list = objectives(&mut simulation, &objective, &watched)?;
            let largest_now = largest(&list.windows(2).map(|w| w[1] / w[0]).collect::<Vec<_>>());
            ratio.push(((step + 1) as f64, largest_now));
            if largest_now > worst {
                worst = largest_now;
                curve = list.iter().enumerate().map(|(k, e)| (k as f64, e / list[0])).collect();
            }
            value.push(((step + 1) as f64, list.last().copied().unwrap_or(f64::NAN)));
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
        let (objective, seen) = (Objective::new(&simulation), watched(&mut simulation));
        simulation.set(Control::Force(0.into()), storm(3, 981.0)).unwrap();
        let list = objectives(&mut simulation, &objective, &seen).unwrap();
        assert_eq!(list.len(), ITERATIONS as usize + 1);
        assert!(list.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-12)), "{list:?}");
        // The engine's own objective is the same function.
        let mut other = flag().unwrap();
        other.set(Control::Force(0.into()), storm(3, 981.0)).unwrap();
        let theirs = other.trace_step(Box::new(|| 0.0)).unwrap().1;
        assert!((theirs[3].objective / list[3] - 1.0).abs() < 1e-9);
    }
}
