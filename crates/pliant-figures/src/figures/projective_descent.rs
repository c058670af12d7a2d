//! Projective dynamics' objective, recomputed by other code: it decreases in every half step, and the
//! error falls linearly (figure 12).

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, line_fit, worst_ratio};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube};
use pliant::{Body, Builder, Clustering, DVec3, Points, Simulation, Stiffness};
use pliant_math::horn_rotation;
use std::f64::consts::TAU;
use std::sync::{Arc, Mutex, PoisonError};

/// Iterations shown.
const SHOWN: usize = 40;
/// Iterations after which the solution counts as converged.
const CONVERGED: usize = 1500;
/// Relative errors below this are rounding.
const ROUNDING: f64 = 1e-11;
const FREQUENCY: f64 = 10.0;
const EDGE_STIFFNESS: f64 = 1e4;
const STARTS: [&str; 3] = ["stretched by 50 %", "scrambled", "mirrored"];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "projective_descent",
        about: "Objective of projective dynamics per half step, and its convergence (figure 12)",
    },
    run,
    metrics: &[
        ("worst_ratio", |p| largest(&STARTS.map(|s| worst_ratio(&p.values(0, s), ROUNDING)))),
        // The figure of the paper is of an ordinary deformation, as is the stretched cube.
        ("straightness", |p| {
            let error = p.points(1, STARTS[0]).iter().filter(|e| e.1 > ROUNDING);
            line_fit(&error.map(|e| (e.0, e.1.ln())).collect::<Vec<_>>()).1
        }),
        ("distance_after_ten", |p| {
            p.points(2, STARTS[0]).iter().find(|d| d.0 == 10.0).map_or(f64::NAN, |d| d.1)
        }),
    ],
};

fn deformed(start: &str, i: usize, p: DVec3) -> DVec3 {
    match start {
        "scrambled" => {
            let t = i as f64;
            DVec3::new((t * 12.9898).sin(), (t * 78.233).sin(), (t * 37.719).sin())
        }
        "mirrored" => p * DVec3::new(-1.0, 1.0, 1.0),
        _ => p * DVec3::new(1.5, 1.0, 1.0),
    }
}

fn body() -> Result<Body, Failure> {
    let mut body = cube(Clustering::Count(10), 0.0)?.projective();
    body.controls.stiffness = Stiffness::Frequency(FREQUENCY);
    body.controls.edge_stiffness = EDGE_STIFFNESS;
    body.controls.iterations = CONVERGED as u32;
    Ok(body)
}

fn run() -> Result<Plot, Failure> {
    let mut halves =
        Panel::new("Objective after each half step", "iterations", "objective over its start").y_log();
    let mut errors = Panel::new("Error of the objective", "iterations", "(ε − ε*) / (ε₀ − ε*)").y_log();
    let mut distances =
        Panel::new("Distance from the converged positions", "iterations", "RMS distance / diameter").y_log();
    for start in STARTS {
        let mut simulation = Builder::new().substeps(1).body(body()?).build()?;
        let mut state = simulation.state().clone();
        let rest = simulation.model().bodies()[0].parts.rest().positions.clone();
        let mut x = state.bodies_mut()[0].positions_mut();
        (0..x.len()).for_each(|i| x.set(i, deformed(start, i, rest.get(i))));
        simulation.set_state(state)?;
        let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
        let sink = seen.clone();
        simulation.observe_iterations(
            0,
            Box::new(move |_, q| {
                sink.lock().unwrap_or_else(PoisonError::into_inner).push(q.clone());
            }),
        );
        simulation.step()?;
        let list = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let objective = Objective::new(&simulation, list[0].clone());

        // Global half step: new q, old p. Local half step: same q, new p.
        let mut p = objective.project(&list[0]);
        let first = objective.value(&list[0], &p);
        let mut half = vec![(0.0, 1.0)];
        for (k, q) in list.iter().enumerate().skip(1).take(SHOWN) {
            half.push((k as f64 - 0.5, objective.value(q, &p) / first));
            p = objective.project(q);
            half.push((k as f64, objective.value(q, &p) / first));
        }
        halves = halves.line(start, Style::Solid, half);

        let last = &list[list.len() - 1];
        let best = objective.value(last, &objective.project(last));
        let error = |q: &Points| (objective.value(q, &objective.project(q)) - best) / (first - best);
        let shown = || list.iter().enumerate().take(5 * SHOWN + 1);
        errors = errors.line(start, Style::Solid, shown().map(|(k, q)| (k as f64, error(q))).collect());
        let distance = |q: &Points| {
            let sum: f64 = q.iter().zip(last.iter()).map(|(a, b)| (a - b).length_squared()).sum();
            // The cube's diameter is √3.
            (sum / q.len() as f64 / 3.0).sqrt()
        };
        distances =
            distances.line(start, Style::Solid, shown().map(|(k, q)| (k as f64, distance(q))).collect());
    }
    let title =
        "Local and global steps on a cube of 6³ particles with edges and 10 clusters, one step of 1/60 s";
    Ok(Plot { panels: vec![halves, errors, distances], ..Plot::new(title) })
}

/// Objective (8) of the paper, written down plainly and sharing no code with the engine.
struct Objective<'a> {
    simulation: &'a Simulation,
    s: Points,
    /// Members of each cluster with their share of mass, and the rest centre.
    clusters: Vec<(Vec<(usize, f64)>, DVec3)>,
    edge_weight: Vec<f64>,
}

struct Projections {
    edges: Vec<DVec3>,
    /// R (r − r_cm) per membership.
    clusters: Vec<DVec3>,
}

fn center(members: &[(usize, f64)], p: &Points) -> DVec3 {
    let total: f64 = members.iter().map(|m| m.1).sum();
    members.iter().map(|&(i, m)| p.get(i) * m).sum::<DVec3>() / total
}

impl<'a> Objective<'a> {
    fn new(simulation: &'a Simulation, s: Points) -> Objective<'a> {
        let model = &simulation.model().bodies()[0].parts;
        let mut count = vec![0.0; model.particle_count()];
        model.topology().clusters.members.iter().for_each(|&i| count[i as usize] += 1.0);
        let clusters = (0..model.topology().clusters.len())
            .map(|c| {
                let members = model.topology().clusters.particles(c).iter().map(|&i| i as usize);
                let members: Vec<_> = members.map(|i| (i, model.rest().mass[i] / count[i])).collect();
                let rc = center(&members, &model.rest().positions);
                (members, rc)
            })
            .collect();
        let mut degree = vec![0.0; model.particle_count()];
        model.topology().edges.iter().flatten().for_each(|&i| degree[i as usize] += 1.0);
        let share = |i: u32| model.rest().measure[i as usize] / degree[i as usize];
        let edge_weight = model.topology().edges.iter().map(|&[i, j]| share(i) + share(j)).collect();
        Objective { simulation, s, clusters, edge_weight }
    }

    fn project(&self, q: &Points) -> Projections {
        let model = &self.simulation.model().bodies()[0].parts;
        let rest = &model.rest().positions;
        let edges = model.topology().edges.iter().map(|&[i, j]| {
            let r = rest.get(i as usize) - rest.get(j as usize);
            let d = q.get(i as usize) - q.get(j as usize);
            (if d.length() > 0.0 { d.normalize() } else { r.normalize() }) * r.length()
        });
        let mut clusters = Vec::new();
        for (members, rc) in &self.clusters {
            let qc = center(members, q);
            let r = horn_rotation(members.iter().map(|&(i, m)| ((rest.get(i) - *rc) * m, q.get(i) - qc)));
            clusters.extend(members.iter().map(|&(i, _)| r * (rest.get(i) - *rc)));
        }
        Projections { edges: edges.collect(), clusters }
    }

    fn value(&self, q: &Points, p: &Projections) -> f64 {
        let model = &self.simulation.model().bodies()[0].parts;
        let h = 1.0 / RATE;
        let mut sum = 0.0;
        for (i, m) in model.rest().mass.iter().enumerate() {
            sum += m / (2.0 * h * h) * (q.get(i) - self.s.get(i)).length_squared();
        }
        for ((&[i, j], p), w) in model.topology().edges.iter().zip(&p.edges).zip(&self.edge_weight) {
            let d = q.get(i as usize) - q.get(j as usize) - *p;
            sum += 0.5 * EDGE_STIFFNESS * w * d.length_squared() / p.length_squared();
        }
        let mut goals = p.clusters.iter();
        for (members, _) in &self.clusters {
            let qc = center(members, q);
            for (&(i, m), goal) in members.iter().zip(&mut goals) {
                sum += 0.5 * (TAU * FREQUENCY).powi(2) * m * (q.get(i) - qc - *goal).length_squared();
            }
        }
        sum
    }
}
