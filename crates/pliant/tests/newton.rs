//! Newton's method and projective dynamics minimise the same objective: they agree where they arrive.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use pliant::{Body, Builder, Clustering, Constraint, DQuat, DVec3, Material, Simulation, SolverKind, shapes};

/// A bar of tetrahedra, three times as long as thick.
fn bar(solver: SolverKind, iterations: u32) -> Body {
    let size = DVec3::new(0.6, 0.2, 0.2);
    let shape = shapes::tet_box([9, 3, 3], size, shapes::TetStyle::Five).unwrap();
    let mut body = Body::new("bar", shape).elastic(Material::named("jelly").unwrap()).solved_by(solver);
    body.constraints = vec![Constraint::Strain { stiffness: None }];
    body.controls.iterations = iterations;
    body
}

/// Turns the bar about its axis, by `angle` radians from end to end, and stretches it a little.
fn twist(simulation: &mut Simulation, angle: f64) {
    let mut state = simulation.state().clone();
    let turned = |p: DVec3| DQuat::from_rotation_x(angle * (p.x / 0.6)) * (p * DVec3::new(1.1, 1.0, 1.0));
    state.x = state.x.iter().map(turned).collect();
    simulation.set_state(state).unwrap();
}

fn cloth(solver: SolverKind, iterations: u32) -> Body {
    let mut body = Body::new("cloth", shapes::sheet(1.0, 1.0, 8, 8).unwrap()).solved_by(solver);
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = 200.0;
    body.controls.iterations = iterations;
    body.pin([0, 8])
}

fn farthest_apart(a: &Simulation, b: &Simulation) -> f64 {
    a.positions(0).zip(b.positions(0)).map(|(p, q)| (p - q).length()).fold(0.0, f64::max)
}

#[test]
fn a_twisted_bar_ends_where_projective_dynamics_ends() {
    let step = |solver, iterations| {
        let mut s = weightless(bar(solver, iterations)).build().unwrap();
        twist(&mut s, 1.5);
        let report = s.step().unwrap();
        (s, report.iterations)
    };
    let (newton, iterations) = step(SolverKind::Newton, 100);
    let (projective, _) = step(SolverKind::Projective, 3000);
    let off = farthest_apart(&newton, &projective);
    assert!(off < 1e-8, "{off}");
    assert!(iterations < 30, "{iterations} iterations");
}

#[test]
fn a_hanging_cloth_hangs_as_under_projective_dynamics() {
    let hang = |solver, iterations| {
        let mut s = Builder::new().substeps(1).body(cloth(solver, iterations)).build().unwrap();
        run(&mut s, 5);
        s
    };
    let off = farthest_apart(&hang(SolverKind::Newton, 100), &hang(SolverKind::Projective, 4000));
    assert!(off < 1e-8, "{off}");
}

/// Whatever the shape, iterations and stiffness: numbers stay numbers.
#[test]
fn mirrored_collapsed_and_scrambled_bodies_stay_numbers() {
    let mut random = Random(5);
    for kind in ["mirrored", "flat", "collapsed", "scrambled", "far"] {
        for solver in [SolverKind::Newton, SolverKind::Xpbd, SolverKind::Pbd] {
            for clustered in [false, true] {
                let mut body = bar(solver, 8);
                if clustered {
                    body.clusters = Clustering::Count(6);
                    body.controls.edge_stiffness = 1e4;
                }
                let mut s = Builder::new().substeps(1).ground().body(body).build().unwrap();
                let mut state = s.state().clone();
                let deformed = |p: DVec3| match kind {
                    "mirrored" => p * DVec3::new(-1.0, 1.0, 1.0),
                    "flat" => p * DVec3::new(1.0, 0.0, 1.0),
                    "collapsed" => DVec3::ZERO,
                    "far" => p * 1e6,
                    _ => random.vector(),
                };
                state.x = state.x.iter().map(deformed).collect();
                s.set_state(state).unwrap();
                run(&mut s, 5);
                assert!(s.state().x.first_non_finite().is_none(), "{kind}, {solver:?}");
            }
        }
    }
}
