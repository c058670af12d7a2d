//! Position based dynamics: what it conserves, where it agrees with an implicit step, and where it cannot.

use crate::common::*;
use pliant::{
    Body, Builder, Clustering, ConstraintKind, DVec3, Material, Points, Simulation, SolverKind, shapes,
};
use std::sync::{Arc, Mutex};

const POSITION_BASED: [SolverKind; 2] = [SolverKind::Xpbd, SolverKind::Pbd];

/// Particles along x, one apart, each joined to the next.
fn row(n: usize, measure: Vec<f64>, solver: SolverKind) -> Body {
    let shape = shapes::Shape {
        points: (0..n).map(|i| DVec3::X * i as f64).collect(),
        measure,
        edges: (1..n as u32).map(|i| [i - 1, i]).collect(),
        ..Default::default()
    };
    let mut body = Body::new("row", shape).solved_by(solver);
    body.clusters = Clustering::None;
    body.controls.damping = 0.0;
    body
}

/// The positions after the prediction and after each iteration of one step.
fn iterates(simulation: &mut Simulation) -> Vec<Points> {
    let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
    let sink = seen.clone();
    simulation.observe_iterations(0, Box::new(move |_, q| sink.lock().unwrap().push(q.clone())));
    simulation.step().unwrap();
    std::mem::take(&mut *seen.lock().unwrap())
}

#[test]
fn one_spring_takes_an_implicit_euler_step() {
    let (h, k) = (1.0 / 60.0, 7000.0);
    // The first particle has a quarter of the mass.
    let mut body = row(2, vec![1.0, 3.0], SolverKind::Xpbd);
    body.mass = 4.0;
    body.stretch = DVec3::new(1.4, 1.0, 1.0);
    (body.controls.edge_stiffness, body.controls.iterations) = (k, 3);
    let mut s = weightless(body).build().unwrap();
    run(&mut s, 1);
    // ½ μ/h² δ² + ½ w (1.4 + δ − 1)², with the edge's measure of 4 in w.
    let (reduced, w) = (0.75, 4.0 * k);
    let change = -w * 0.4 / (reduced / (h * h) + w);
    let length =
        (s.state().bodies()[0].positions().get(1) - s.state().bodies()[0].positions().get(0)).length();
    assert!((length - (1.4 + change)).abs() < 1e-13, "{length}, {}", 1.4 + change);
}

#[test]
fn a_straight_chain_converges_to_newtons_step() {
    let step = |solver, iterations| {
        let mut body = row(12, vec![1.0; 12], solver).pin([0]);
        body.mass = 1.0;
        (body.controls.edge_stiffness, body.controls.iterations) = (30.0, iterations);
        let mut builder = Builder::new().substeps(1).body(body);
        builder.gravity = DVec3::X * 9.81;
        let mut s = builder.build().unwrap();
        run(&mut s, 3);
        s.state().bodies()[0].positions().clone()
    };
    let (newton, xpbd) = (step(SolverKind::Newton, 50), step(SolverKind::Xpbd, 2000));
    let off = newton.iter().zip(xpbd.iter()).map(|(a, b)| (a - b).length()).fold(0.0, f64::max);
    assert!(off < 1e-9, "{off}");
    assert!((newton.get(11).x - 11.0).abs() > 0.01, "it must stretch");
}

/// Each correction moves no centre of mass and turns nothing: Σ m Δx = 0 and Σ m x × Δx = 0. One element makes one
/// correction an iteration.
#[test]
fn corrections_conserve_linear_and_angular_momentum() {
    let style = shapes::TetStyle::Five;
    let mut tetrahedron = shapes::tet_box([1, 1, 1], DVec3::ONE, style).unwrap();
    tetrahedron.tetrahedra.truncate(1);
    let edge = row(2, vec![1.0, 2.0], SolverKind::Xpbd).shape;
    let mut random = Random::new(11);
    for solver in POSITION_BASED {
        for which in ["tetrahedron", "edge", "cluster"] {
            let shape = if which == "edge" { edge.clone() } else { tetrahedron.clone() };
            let mut body = Body::new(which, shape).solved_by(solver);
            body.clusters = Clustering::None;
            match which {
                "tetrahedron" => body.constraints = vec![ConstraintKind::Strain.of_stiffness(1e4)],
                "edge" => body.controls.edge_stiffness = 1e4,
                _ => (body.clusters, body.shape.edges) = (Clustering::Whole, Vec::new()),
            }
            body.controls.iterations = 4;
            let mut s = weightless(body).build().unwrap();
            let mut state = s.state().clone();
            let x: Vec<DVec3> = state.bodies()[0]
                .positions()
                .iter()
                .map(|p| p * DVec3::new(1.5, 0.8, 1.2) + random.vector() * 0.3)
                .collect();
            place(&mut state, x);
            s.set_state(state).unwrap();
            let list = iterates(&mut s);
            let mass = &s.model().bodies()[0].parts.rest().mass;
            for pair in list.windows(2) {
                let displacement = |i: usize| pair[1].get(i) - pair[0].get(i);
                let each = || (0..mass.len()).map(|i| (mass[i], pair[0].get(i), displacement(i)));
                let linear: DVec3 = each().map(|(m, _, d)| d * m).sum();
                let angular: DVec3 = each().map(|(m, x, d)| x.cross(d) * m).sum();
                let scale: f64 = each().map(|(m, x, _)| m * x.length()).sum();
                assert!(linear.length() < 1e-14 * scale, "{which}, {solver:?}: {linear}");
                assert!(angular.length() < 1e-13 * scale, "{which}, {solver:?}: {angular}");
            }
            assert!((list[1].get(0) - list[0].get(0)).length() > 1e-3, "{which} must be corrected");
        }
    }
}

#[test]
fn the_momentum_of_a_body_stays() {
    for solver in POSITION_BASED {
        let shape = shapes::tet_box([4, 2, 2], DVec3::new(2.0, 1.0, 1.0), shapes::TetStyle::Five).unwrap();
        let mut body = Body::new("bar", shape).elastic(Material::named("jelly").unwrap()).solved_by(solver);
        body.velocity = DVec3::new(1.0, -2.0, 0.5);
        body.stretch = DVec3::new(1.3, 0.7, 1.0);
        let mut s = weightless(body).build().unwrap();
        let before = s.statistics().momentum;
        run(&mut s, 50);
        let drift = (s.statistics().momentum - before).length() / momentum_scale(&s);
        assert!(drift < 1e-12, "{solver:?}: {drift}");
    }
}

/// How much longer a hanging chain is than at rest, once it hangs still.
fn stretch_of_chain(solver: SolverKind, iterations: u32) -> f64 {
    let n = 16;
    let mut body = row(n, vec![1.0; n], solver).pin([0]);
    body.mass = 1.0;
    (body.controls.edge_stiffness, body.controls.iterations) = (60.0, iterations);
    (body.controls.damping, body.controls.drag) = (10.0, 5.0);
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::X * 9.81;
    let mut s = builder.build().unwrap();
    run(&mut s, 600);
    s.state().bodies()[0].positions().get(n - 1).x / (n - 1) as f64 - 1.0
}

/// The mean stretch of the edges of a cloth held at two corners, once it hangs still.
fn stretch_of_cloth(solver: SolverKind, iterations: u32) -> f64 {
    let mut body = Body::new("cloth", shapes::sheet(1.0, 1.0, 10, 10).unwrap()).solved_by(solver);
    body.clusters = Clustering::None;
    body.mass = 0.3;
    (body.controls.edge_stiffness, body.controls.iterations) = (30.0, iterations);
    (body.controls.damping, body.controls.drag) = (10.0, 5.0);
    let mut s = Builder::new().substeps(1).body(body.pin([0, 10])).build().unwrap();
    run(&mut s, 400);
    let length = |p: &Points, [i, j]: [u32; 2]| (p.get(i as usize) - p.get(j as usize)).length();
    let edges = &s.model().bodies()[0].parts.topology().edges;
    let rest = &s.model().bodies()[0].parts.rest().positions;
    let stretch = edges
        .iter()
        .map(|&e| (length(s.state().bodies()[0].positions(), e) / length(rest, e) - 1.0).max(0.0));
    stretch.sum::<f64>() / edges.len() as f64
}

/// Section 4.1: "PBD exhibits different material stiffness depending on the number of iterations".
#[test]
fn iterations_are_the_stiffness_of_pbd_and_of_nobody_else() {
    for (stretch, what) in
        [(stretch_of_chain as fn(SolverKind, u32) -> f64, "chain"), (stretch_of_cloth, "cloth")]
    {
        let ratio = |solver| stretch(solver, 5) / stretch(solver, 80);
        let (pbd, xpbd) = (ratio(SolverKind::Pbd), ratio(SolverKind::Xpbd));
        let (projective, newton) = (ratio(SolverKind::Projective), ratio(SolverKind::Newton));
        println!("{what}: pbd {pbd}, xpbd {xpbd}, projective {projective}, newton {newton}");
        assert!(pbd > 3.0, "{what}: {pbd}");
        assert!((projective - 1.0).abs() < 0.02, "{what}: {projective}");
        assert!((newton - 1.0).abs() < 0.02, "{what}: {newton}");
    }
}

/// Two edges whose lengths cannot both be had: PBD ends on whichever comes last, by as much as the two
/// disagree; projective dynamics ends in the middle, in whatever order (figure 3).
#[test]
fn where_constraints_contradict_each_other_the_order_decides_in_pbd_only() {
    let ends = |solver: SolverKind, edges: Vec<[u32; 2]>| {
        let mut body = row(3, vec![1.0; 3], solver).pin([0, 2]);
        body.shape.edges = edges;
        // Held twice as far apart as the lengths allow.
        body.stretch = DVec3::new(2.0, 1.0, 1.0);
        (body.controls.edge_stiffness, body.controls.iterations) = (1e5, 4000);
        let mut s = weightless(body).build().unwrap();
        run(&mut s, 1);
        s.state().bodies()[0].positions().get(1).x
    };
    let apart = |solver| ends(solver, vec![[0, 1], [1, 2]]) - ends(solver, vec![[1, 2], [0, 1]]);
    // The sets are 1 and 3, a distance of 2.
    assert!((apart(SolverKind::Pbd) - 2.0).abs() < 1e-9, "{}", apart(SolverKind::Pbd));
    assert!(apart(SolverKind::Projective).abs() < 1e-9);
    assert!(apart(SolverKind::Xpbd).abs() < 1e-3, "{}", apart(SolverKind::Xpbd));
}
