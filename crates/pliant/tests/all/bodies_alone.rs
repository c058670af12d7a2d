//! A body has the bits it has alone, whatever other bodies there are, in whatever order they came.

use crate::common::*;
use pliant::{Body, Builder, Clustering, DQuat, DVec3, HalfSpace, Material, SolverKind, shapes};
use std::sync::Arc;

/// One of each way to hold a body together, moved by one solver, on a slope and the ground.
fn bodies(solver: SolverKind) -> Vec<Body> {
    let mut bear =
        Body::new("bear", shapes::gummy_bear(0.6, 0.1).unwrap()).solved_by(solver).at(0.0, 0.4, 0.0);
    bear.clusters = Clustering::Count(6);
    bear.velocity = DVec3::new(0.5, -3.0, 0.0);
    bear.controls.stiffness = pliant::Stiffness::Frequency(12.0);
    bear.controls.restitution = 0.3;
    if solver == SolverKind::Clustered {
        let mut soft = bear.clone().at(0.3, 0.5, 0.2).goals(pliant::Goals::Linear);
        soft.name = "soft".into();
        return vec![bear, soft];
    }
    let mut cloth =
        Body::new("cloth", shapes::sheet(0.8, 0.8, 8, 8).unwrap()).solved_by(solver).at(-1.0, 0.3, 0.0);
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 500.0;
    let cloth = cloth.pin([0, 8]);
    let box_of = shapes::tet_box([4, 3, 3], DVec3::new(0.4, 0.3, 0.3), shapes::TetStyle::Five).unwrap();
    let mut bar = Body::new("bar", box_of).elastic(Material::named("jelly").unwrap()).solved_by(solver);
    bar.controls.iterations = 7;
    vec![bear, cloth, bar.at(1.0, 0.2, 0.0)]
}

fn world(bodies: impl IntoIterator<Item = Body>, threads: usize) -> pliant::Simulation {
    let slope =
        HalfSpace { normal: DVec3::new(0.6, 0.8, 0.0), offset: -0.9, friction: 0.3, restitution: 0.2 };
    let mut builder = Builder::new().ground().collider(slope).substeps(2);
    builder.bodies.extend(bodies);
    builder.threads = threads;
    builder.build().unwrap()
}

/// Bits of every body by its name after a while.
fn moved(bodies: Vec<Body>, threads: usize) -> Vec<(String, Vec<u64>)> {
    let mut s = world(bodies, threads);
    run(&mut s, 40);
    let named = s.model().bodies().iter().zip(s.state().bodies());
    let mut list: Vec<_> = named.map(|(body, state)| (body.name.to_string(), body_bits(state))).collect();
    list.sort();
    list
}

#[test]
fn others_do_not_change_a_bit() {
    let mut all: Vec<Body> = Vec::new();
    let mut alone = Vec::new();
    for solver in SolverKind::SOFT {
        for mut body in bodies(solver) {
            body.name = format!("{} by {}", body.name, solver.name());
            alone.extend(moved(vec![body.clone()], 1));
            all.push(body);
        }
    }
    alone.sort();
    for threads in [1, 2, 7] {
        assert!(moved(all.clone(), threads) == alone, "{threads} threads");
    }
    all.reverse();
    assert!(moved(all, 2) == alone, "in another order");
}

#[test]
fn copies_share_what_is_theirs_and_move_as_if_alone() {
    for solver in SolverKind::SOFT {
        let copies: Vec<Body> = (0..12)
            .map(|k| {
                let mut body = bodies(solver).pop().unwrap().at(0.3 * f64::from(k), 0.2, 0.1 * f64::from(k));
                body.name = format!("copy {k}");
                body.rotation = DQuat::from_rotation_y(f64::from(k));
                body
            })
            .collect();
        let s = world(copies.clone(), 2);
        let first = s.model().bodies()[0].parts.prototype();
        assert!(s.model().bodies().iter().all(|b| Arc::ptr_eq(b.parts.prototype(), first)), "{solver:?}");
        let together = moved(copies.clone(), 2);
        for copy in [0, 5, 11] {
            let alone = moved(vec![copies[copy].clone()], 1);
            let name = &copies[copy].name;
            assert!(together.iter().any(|t| &t.0 == name && t.1 == alone[0].1), "{solver:?}, {name}");
        }
    }
}

/// Copies that differ in stiffness, at the start or later, do not take one another's matrices.
#[test]
fn copies_of_another_stiffness_are_moved_by_it() {
    let make = |k: usize, young: f64| {
        let mut body = bodies(SolverKind::Projective).pop().unwrap().at(k as f64, 0.2, 0.0);
        (body.name, body.controls.young) = (format!("copy {k}"), young);
        body
    };
    let stiff = [1e4, 3e4, 1e4, 9e4];
    let mut together = world(stiff.iter().enumerate().map(|(k, y)| make(k, *y)), 2);
    let mut alone: Vec<_> = stiff.iter().enumerate().map(|(k, y)| world([make(k, *y)], 1)).collect();
    for round in 0..3 {
        run(&mut together, 8);
        for (k, alone) in alone.iter_mut().enumerate() {
            run(alone, 8);
            let state = |s: &pliant::Simulation, b: usize| body_bits(&s.state().bodies()[b]);
            assert!(state(&together, k) == state(alone, 0), "round {round}, copy {k}");
        }
        // Two become alike, one of two that were alike becomes another.
        for (k, young) in [(0, 2e4), (3, 3e4 + f64::from(round) * 1e3)] {
            together.set(pliant::Control::Young(k.into()), young).unwrap();
            alone[k].set(pliant::Control::Young(0.into()), young).unwrap();
        }
    }
}
