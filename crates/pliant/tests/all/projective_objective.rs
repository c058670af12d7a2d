//! The projective objective, recomputed by other code, decreases in every half step.

use crate::common::*;
use pliant::{Body, Builder, Clustering, DVec3, Points, Simulation};
use std::sync::{Arc, Mutex};

/// Objective (8) of the paper, written down plainly: inertia, edges and clusters in one function of
/// positions q and projections p, the latter found by formulas that share no code with the engine.
struct Objective {
    h: f64,
    s: Points,
    edge_stiffness: f64,
    cluster_stiffness: f64,
}

#[derive(Clone)]
struct Projections {
    edges: Vec<DVec3>,
    /// R (r − r_cm) per membership.
    clusters: Vec<DVec3>,
}

impl Objective {
    fn project(&self, sim: &Simulation, q: &Points) -> Projections {
        let (model, set) =
            (&sim.model().bodies()[0].parts, &sim.model().bodies()[0].parts.topology().clusters);
        let edges = model.topology().edges.iter().map(|&[i, j]| {
            let rest = model.rest().positions.get(i as usize) - model.rest().positions.get(j as usize);
            let d = q.get(i as usize) - q.get(j as usize);
            (if d.length() > 0.0 { d.normalize() } else { rest.normalize() }) * rest.length()
        });
        let mut clusters = Vec::new();
        for c in 0..set.len() {
            let (members, _, rc) = self.centers(sim, c, q);
            let rest = &model.rest().positions;
            // About a member, so that a collapsed cluster is exactly so; the mean drops out.
            let about = q.get(members[0].0);
            let r = horn_rotation(members.iter().map(|&(i, m)| ((rest.get(i) - rc) * m, q.get(i) - about)));
            clusters.extend(members.iter().map(|&(i, _)| r * (rest.get(i) - rc)));
        }
        Projections { edges: edges.collect(), clusters }
    }

    fn centers(&self, sim: &Simulation, c: usize, q: &Points) -> (Vec<(usize, f64)>, DVec3, DVec3) {
        let model = &sim.model().bodies()[0].parts;
        let members: Vec<(usize, f64)> = model
            .topology()
            .clusters
            .particles(c)
            .iter()
            .map(|&i| {
                let count = model.topology().clusters.members.iter().filter(|&&j| j == i).count();
                (i as usize, model.rest().mass[i as usize] / count as f64)
            })
            .collect();
        let total: f64 = members.iter().map(|m| m.1).sum();
        let mean = |p: &Points| members.iter().map(|&(i, m)| p.get(i) * m).sum::<DVec3>() / total;
        let (qc, rc) = (mean(q), mean(&model.rest().positions));
        (members, qc, rc)
    }

    fn value(&self, sim: &Simulation, q: &Points, p: &Projections) -> f64 {
        let model = &sim.model().bodies()[0].parts;
        let mut sum = 0.0;
        for (i, m) in model.rest().mass.iter().enumerate() {
            sum += m / (2.0 * self.h * self.h) * (q.get(i) - self.s.get(i)).length_squared();
        }
        let mut degree = vec![0.0; model.particle_count()];
        model.topology().edges.iter().flatten().for_each(|&i| degree[i as usize] += 1.0);
        for (&[i, j], p) in model.topology().edges.iter().zip(&p.edges) {
            let (i, j) = (i as usize, j as usize);
            let w = model.rest().measure[i] / degree[i] + model.rest().measure[j] / degree[j];
            let length = p.length();
            sum += 0.5 * self.edge_stiffness * w * ((q.get(i) - q.get(j) - *p) / length).length_squared();
        }
        let mut k = 0;
        for c in 0..model.topology().clusters.len() {
            let (members, qc, _) = self.centers(sim, c, q);
            for &(i, m) in &members {
                sum += 0.5 * self.cluster_stiffness * m * (q.get(i) - qc - p.clusters[k]).length_squared();
                k += 1;
            }
        }
        sum
    }
}

fn check(mut body: Body, deform: impl Fn(usize, DVec3) -> DVec3, what: &str) {
    body.controls.iterations = 20;
    body.controls.stiffness = pliant::Stiffness::Frequency(10.0);
    let edge_stiffness = body.controls.edge_stiffness;
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::new(0.0, -9.81, 0.0);
    let mut sim = builder.build().unwrap();
    let mut state = sim.state().clone();
    let x: Vec<DVec3> = (0..state.bodies()[0].positions().len())
        .map(|i| deform(i, sim.model().bodies()[0].parts.rest().positions.get(i)))
        .collect();
    place(&mut state, x);
    sim.set_state(state).unwrap();
    for step in 0..5 {
        let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
        let sink = seen.clone();
        sim.observe_iterations(0, Box::new(move |_, q| sink.lock().unwrap().push(q.clone())));
        sim.step().unwrap();
        let list = seen.lock().unwrap();
        let objective = Objective {
            h: 1.0 / 60.0,
            s: list[0].clone(),
            edge_stiffness,
            cluster_stiffness: (std::f64::consts::TAU * 10.0).powi(2),
        };
        let mut last = f64::INFINITY;
        let mut p = objective.project(&sim, &list[0]);
        for (k, q) in list.iter().enumerate() {
            // Global half step: new q, old p. Local half step: same q, new p.
            for half in 0..2 {
                if half == 1 {
                    p = objective.project(&sim, q);
                }
                let now = objective.value(&sim, q, &p);
                assert!(
                    now <= last * (1.0 + 1e-10) + 1e-14,
                    "{what}, step {step}, iteration {k}.{half}: {now} after {last}"
                );
                last = now;
            }
        }
    }
}

fn cases(body: &Body, what: &str) {
    let noise = |i: usize| {
        let t = i as f64;
        DVec3::new((t * 12.9898).sin(), (t * 78.233).sin(), (t * 37.719).sin())
    };
    check(body.clone(), |_, p| p * DVec3::new(1.5, 0.8, 1.0), &format!("{what}, stretched"));
    check(body.clone(), |i, _| noise(i), &format!("{what}, scrambled"));
    check(body.clone(), |_, p| p * DVec3::new(-1.0, 1.0, 1.0), &format!("{what}, mirrored"));
    check(body.clone(), |_, p| p * DVec3::new(1.0, 0.0, 1.0), &format!("{what}, flat"));
    check(body.clone(), |_, _| DVec3::ZERO, &format!("{what}, collapsed"));
}

#[test]
fn edges_alone() {
    let mut body = cube(Clustering::None, 0.0).projective();
    body.controls.edge_stiffness = 1e5;
    cases(&body, "edges");
}

#[test]
fn clusters_alone() {
    let mut body = cube(Clustering::Count(10), 0.0).projective();
    body.controls.edge_stiffness = 0.0;
    body.shape.edges.clear();
    cases(&body, "clusters");
}

#[test]
fn edges_and_clusters() {
    let mut body = cube(Clustering::Count(10), 0.0).projective();
    body.controls.edge_stiffness = 1e4;
    cases(&body, "both");
}
