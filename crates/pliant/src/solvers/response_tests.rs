//! What contacts rely on, for every solver that they answer to: responses are linear and symmetric, their bound is one,
//! and forces that are pushed with do what the response says.

use super::{Round, Solver, SolverKind, Stage, Subject, solver};
use crate::contact::Nodes;
use crate::{Body, Builder, Implicit, Material, Points, Simulation, Team, shapes};
use glam::DVec3;
use pliant_math::lanes::Isa;

/// Those of bodies that deform; `rigid` has tests of its own.
const KINDS: [SolverKind; 5] =
    [SolverKind::Clustered, SolverKind::Projective, SolverKind::Newton, SolverKind::Xpbd, SolverKind::Pbd];

/// A bent bar in the air, one end held.
fn bar(kind: SolverKind, implicitness: f64) -> Simulation {
    let shape = shapes::tet_box([4, 2, 2], DVec3::new(0.4, 0.2, 0.2), shapes::TetStyle::Five).expect("a box");
    let rubber = Material { young: 1e5, ..Material::named("rubber").expect("a material") };
    let body = Body::new("bar", shape);
    let body = match kind {
        SolverKind::Clustered => body,
        _ => body.elastic(rubber).solved_by(kind),
    };
    let body = body.pin([0, 1]);
    let mut builder = Builder::new().ground().body(body);
    builder.implicit = Implicit { implicitness, ..builder.implicit };
    let mut simulation = builder.build().expect("a bar");
    let mut state = simulation.state().clone();
    let x = state.bodies[0].positions_mut();
    for i in 0..x.x.len() {
        x.y[i] += 0.5 + 0.3 * x.x[i] * x.x[i];
        x.z[i] += 0.05 * (7.0 * x.x[i]).sin();
    }
    simulation.set_state(state).expect("a bent bar");
    simulation
}

/// The end of the first round, where contacts answer.
fn in_a_round(simulation: &Simulation, kind: SolverKind, check: impl FnOnce(&mut dyn Solver, Stage<'_>)) {
    let parts = &simulation.model().bodies()[0].parts;
    let controls = simulation.controls().live(0);
    let team = Team::serial();
    let stage = Stage {
        body: Subject { model: parts, controls, time: 0.0, obstacles: crate::contact::Obstacles::NONE },
        before: None,
        team: &team,
        tied: true,
        crowded: false,
    };
    let mut state = simulation.state().bodies[0].clone();
    let mut solver = solver(kind, Isa::best());
    solver.predict(stage, &mut state).expect("a prediction");
    let round = Round { number: 1, touched: true };
    assert!(solver.iterate(round, stage, &state).expect("a round"));
    check(&mut *solver, stage);
}

fn nodes_of(particles: &[u32], count: usize) -> Nodes {
    let mut nodes = Nodes::default();
    nodes.begin(count);
    particles.iter().for_each(|i| {
        nodes.of(*i);
    });
    nodes.unload();
    nodes
}

/// Forces that have no pattern.
fn force(seed: usize, node: usize) -> DVec3 {
    let value = |k: usize| ((seed * 37 + node * 101 + k * 57) as f64 * 0.731).sin();
    DVec3::new(value(0), value(1), value(2))
}

fn load(nodes: &mut Nodes, seed: usize) {
    nodes.unload();
    (0..nodes.len()).for_each(|k| nodes.load(k, force(seed, k)));
}

#[test]
fn responses_are_linear_symmetric_and_bounded() {
    for (kind, theta) in KINDS.into_iter().flat_map(|k| [(k, 1.0), (k, 0.5)]) {
        let simulation = bar(kind, theta);
        let count = simulation.positions(0).len();
        in_a_round(&simulation, kind, |solver, stage| {
            let side = solver.responding().expect("contacts answer to it");
            let mut nodes = nodes_of(&[3, 9, 14, 20, 30, 41, 17, 28, 44], count);
            side.prepare(&nodes, stage.team);
            let mut moved = Vec::new();
            for seed in [1, 2] {
                load(&mut nodes, seed);
                side.respond(&mut nodes, stage.team);
                moved.push((0..nodes.len()).map(|k| nodes.movement(k)).collect::<Vec<_>>());
            }
            let work = |seed: usize, moved: &[DVec3]| -> f64 {
                moved.iter().enumerate().map(|(k, m)| force(seed, k).dot(*m)).sum()
            };
            let (ab, ba) = (work(1, &moved[1]), work(2, &moved[0]));
            assert!((ab - ba).abs() <= 1e-9 * work(1, &moved[0]), "{kind:?} θ {theta}: {ab} and {ba}");
            assert!(work(1, &moved[0]) > 0.0 && work(2, &moved[1]) > 0.0);
            // Both at once are their sum.
            nodes.unload();
            (0..nodes.len()).for_each(|k| nodes.load(k, force(1, k) + force(2, k)));
            side.respond(&mut nodes, stage.team);
            for (k, (a, b)) in moved[0].iter().zip(&moved[1]).enumerate() {
                assert!((nodes.movement(k) - (*a + *b)).length() <= 1e-9 * (a.length() + 1e-9));
            }
            // With D = reach / weight, D − G has no negative direction.
            nodes.unload();
            // The last node is one of couplings only, which counts nothing.
            nodes.weights.iter_mut().enumerate().for_each(|(k, w)| *w = if k % 3 == 0 { 0.03 } else { 1.0 });
            let last = nodes.len() - 1;
            nodes.weights[last] = 0.0;
            side.reach(&mut nodes, stage.team);
            let metric: Vec<f64> = (0..nodes.len()).map(|k| nodes.movement(k).x / nodes.weights[k]).collect();
            for seed in 0..50 {
                // The first ones all the same way, which moves most.
                let trial = |k: usize| match seed {
                    _ if k == last => DVec3::ZERO,
                    0..3 => DVec3::AXES[seed],
                    _ => force(seed, k),
                };
                nodes.unload();
                (0..nodes.len()).for_each(|k| nodes.load(k, trial(k)));
                side.respond(&mut nodes, stage.team);
                let by_g: f64 = (0..nodes.len()).map(|k| trial(k).dot(nodes.movement(k))).sum();
                let by_d: f64 = (0..last).map(|k| metric[k] * trial(k).length_squared()).sum();
                assert!(by_g <= by_d * (1.0 + 1e-9), "{kind:?} θ {theta}: {by_g} above its bound {by_d}");
            }
        });
    }
}

#[test]
fn what_is_pushed_ends_where_the_response_says() {
    for (kind, theta) in KINDS.into_iter().flat_map(|k| [(k, 1.0), (k, 0.5)]) {
        let simulation = bar(kind, theta);
        let count = simulation.positions(0).len();
        in_a_round(&simulation, kind, |solver, stage| {
            let state = simulation.state().bodies[0].clone();
            let mut nodes = nodes_of(&[3, 20, 41], count);
            // Small enough that a whole step of Newton's method is taken.
            (0..nodes.len()).for_each(|k| nodes.load(k, force(1, k) * 1e-3));
            let side = solver.responding().expect("contacts answer to it");
            side.prepare(&nodes, stage.team);
            side.respond(&mut nodes, stage.team);
            let free: Vec<DVec3> = nodes.particles().iter().map(|i| side.free_end(*i as usize)).collect();
            // Twice, as forces of another round replace those of the one before.
            side.push(&nodes, stage.team);
            side.push(&nodes, stage.team);
            solver.advance(stage, &state);
            let mut ends = Points::zeros(count);
            let side = solver.responding().expect("contacts answer to it");
            side.ends(&mut ends);
            for (k, free) in free.iter().enumerate() {
                let (is, wanted) = (ends.get(nodes.particles()[k] as usize), *free + nodes.movement(k));
                assert!((is - wanted).length() < 1e-12, "{kind:?} θ {theta}: {is} instead of {wanted}");
                assert!(nodes.movement(k).length() > 1e-9);
            }
        });
    }
}
