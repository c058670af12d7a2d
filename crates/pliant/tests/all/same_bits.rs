//! The same bits: for any number of threads, with and without caches, after saving and loading.

use crate::common::*;
use pliant::{Body, Builder, Clustering, Control, DVec3, HalfSpace, Simulation, SolverKind, Team, shapes};

/// Both solvers, contacts, pins, damping and several bodies in one scene.
fn busy_scene() -> Builder {
    let mut bear = Body::new("bear", shapes::gummy_bear(0.6, 0.05).unwrap()).at(0.0, 0.5, 0.0);
    bear.clusters = Clustering::Radius(0.2);
    bear = bear.frequency(12.0);
    bear.velocity = DVec3::new(0.5, -3.0, 0.0);
    bear.controls.restitution = 0.3;
    let mut twin = bear.clone().projective().at(1.0, 0.45, 0.0);
    twin.name = "twin".into();
    twin.controls.edge_stiffness = 1e3;
    let mut cloth =
        Body::new("cloth", shapes::sheet(1.0, 1.0, 20, 20).unwrap()).projective().at(-1.5, 1.0, 0.0);
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 500.0;
    let cloth = cloth.pin([0, 20]);
    Builder::new()
        .ground()
        .collider(HalfSpace {
            normal: DVec3::new(0.6, 0.8, 0.0),
            offset: -1.0,
            friction: 0.3,
            restitution: 0.2,
        })
        .body(bear)
        .body(twin)
        .body(cloth)
        .substeps(2)
}

fn with_threads(threads: usize) -> Simulation {
    built(busy_scene(), threads)
}

fn built(mut b: Builder, threads: usize) -> Simulation {
    b.threads = threads;
    b.build().unwrap()
}

/// One of each way to hold a body together, moved by one solver.
fn scene_of(solver: SolverKind) -> Builder {
    let mut bear =
        Body::new("bear", shapes::gummy_bear(0.6, 0.08).unwrap()).solved_by(solver).at(0.0, 0.5, 0.0);
    bear.clusters = Clustering::Radius(0.2);
    bear.velocity = DVec3::new(0.5, -3.0, 0.0);
    (bear.controls.restitution, bear.controls.edge_stiffness) = (0.3, 1e3);
    let mut cloth =
        Body::new("cloth", shapes::sheet(1.0, 1.0, 20, 20).unwrap()).solved_by(solver).at(-1.5, 1.0, 0.0);
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 500.0;
    let box_of = shapes::tet_box([6, 4, 4], DVec3::new(0.6, 0.4, 0.4), shapes::TetStyle::Five).unwrap();
    let jelly = pliant::Material::named("jelly").unwrap();
    let bar = Body::new("bar", box_of).elastic(jelly).solved_by(solver).at(1.0, 0.5, 0.0);
    let mut builder = Builder::new().ground().body(bear).body(cloth.pin([0, 12])).body(bar).substeps(2);
    builder.bodies.iter_mut().for_each(|b| b.controls.iterations = 6);
    builder
}

#[test]
fn every_solver_of_constraints_for_any_threads_and_with_dropped_caches() {
    for solver in SolverKind::SOFT.into_iter().filter(|s| s.uses_constraints()) {
        let mut reference = built(scene_of(solver), 1);
        run(&mut reference, 8);
        for threads in [2, 7] {
            let mut s = built(scene_of(solver), threads);
            for _ in 0..8 {
                s.drop_caches();
                run(&mut s, 1);
            }
            assert_eq!(bits(&reference), bits(&s), "{solver:?}, {threads} threads");
        }
        // Looking on changes nothing.
        let (mut traced, mut reference) = (built(scene_of(solver), 2), built(scene_of(solver), 1));
        for _ in 0..2 {
            run(&mut reference, 1);
            let (_, points) = traced.trace_step(Box::new(|| 0.0)).unwrap();
            assert!(
                points.iter().all(|p| p.relative_error.is_none_or(|e| e >= 0.0) && p.objective.is_finite())
            );
            assert!(points.len() > 4, "{}", points.len());
            assert_eq!(bits(&reference), bits(&traced), "{solver:?}, traced");
        }
    }
}

#[test]
fn one_two_and_seven_threads() {
    let mut reference = with_threads(1);
    run(&mut reference, 40);
    for threads in [2, 7] {
        let mut s = with_threads(threads);
        run(&mut s, 40);
        assert_eq!(bits(&reference), bits(&s), "{threads} threads");
    }
    assert!(reference.statistics().max_penetration < 1e-12);
}

#[test]
fn dropping_all_caches_between_steps() {
    let mut kept = with_threads(1);
    let mut dropped = with_threads(1);
    for _ in 0..40 {
        run(&mut kept, 1);
        dropped.drop_caches();
        run(&mut dropped, 1);
        assert_eq!(bits(&kept), bits(&dropped));
    }
}

#[test]
fn changing_stiffness_back_and_forth_leaves_no_trace_in_caches() {
    let change = |s: &mut Simulation, k: f64| s.set(Control::EdgeStiffness(1.into()), k).unwrap();
    let mut kept = with_threads(1);
    let mut dropped = with_threads(1);
    for step in 0..20 {
        let k = [1e3, 1e4, 0.0][step % 3];
        change(&mut kept, k);
        change(&mut dropped, k);
        dropped.drop_caches();
        run(&mut kept, 1);
        run(&mut dropped, 1);
        assert_eq!(bits(&kept), bits(&dropped));
    }
}

#[test]
fn saving_and_loading_at_any_step() {
    let mut reference = with_threads(1);
    run(&mut reference, 30);
    for at in [0, 1, 13, 29] {
        let mut first = with_threads(1);
        run(&mut first, at);
        let bytes = first.checkpoint();
        let mut second = with_threads(2);
        second.restore(&bytes).unwrap();
        assert_eq!(second.state(), first.state());
        run(&mut second, 30 - at);
        assert_eq!(bits(&reference), bits(&second), "resumed at step {at}");
    }
}

#[test]
fn a_new_revision_takes_up_the_state_and_old_checkpoints_lead_back() {
    let mut s = with_threads(1);
    run(&mut s, 5);
    let old = s.checkpoint();
    let revision = s.model().id();
    // The ground rises to where the bodies are now; refused first with a plane that is none.
    let bad = HalfSpace { normal: DVec3::ZERO, ..HalfSpace::ground() };
    assert!(s.change_collider(0.into(), bad).is_err());
    assert!(s.set_substeps(0).is_err());
    assert!(s.set_substeps(1).is_err(), "12 Hz is too stiff for one substep");
    assert_eq!(s.model().id(), revision, "a refusal changes nothing");
    let raised = HalfSpace { offset: 0.1, ..HalfSpace::ground() };
    s.set_substeps(3).unwrap();
    s.change_collider(0.into(), raised).unwrap();
    assert_eq!(s.model().id().revision, revision.revision + 2);
    let mut dropped = with_threads(1);
    run(&mut dropped, 5);
    dropped.set_substeps(3).unwrap();
    dropped.change_collider(0.into(), raised).unwrap();
    for _ in 0..10 {
        run(&mut s, 1);
        dropped.drop_caches();
        run(&mut dropped, 1);
        assert_eq!(bits(&s), bits(&dropped));
    }
    let lowest = s.state().bodies()[0].positions().columns()[1].iter().copied().fold(f64::MAX, f64::min);
    assert!(lowest > 0.1 - 1e-12, "{lowest}");
    s.restore(&old).unwrap();
    assert_eq!(s.model().id(), revision);
    let mut never = with_threads(1);
    run(&mut s, 10);
    run(&mut never, 15);
    assert_eq!(bits(&s), bits(&never));
}

#[test]
fn a_failed_step_leaves_no_trace() {
    let (mut spoiled, mut other) = (with_threads(1), with_threads(1));
    run(&mut spoiled, 8);
    run(&mut other, 8);
    for body in 0..2_usize {
        let before = spoiled.controls().clone();
        spoiled.set(Control::Force(body.into()), DVec3::splat(1e12)).unwrap();
        spoiled.set(Control::Mass(body.into()), 1e-300).unwrap();
        assert!(spoiled.step().is_err(), "body {body}");
        spoiled.set_controls(before).unwrap();
        run(&mut spoiled, 3);
        run(&mut other, 3);
        assert_eq!(bits(&spoiled), bits(&other), "body {body}");
    }
}

#[test]
fn bodies_that_do_not_touch_do_not_feel_each_other() {
    let build = |others: bool| {
        let mut a = Body::new("a", shapes::ball(0.3, 0.08).unwrap()).projective().at(0.0, 0.5, 0.0);
        a.controls.iterations = 2;
        let mut far = Body::new("far", shapes::cuboid(DVec3::splat(3.0), 0.5).unwrap()).projective();
        far.position = DVec3::new(0.0, 500.0, 0.0);
        far.controls.iterations = 40;
        let builder = Builder::new().ground().body(a);
        let builder = if others { builder.body(far) } else { builder };
        builder.build().unwrap()
    };
    let (mut alone, mut with) = (build(false), build(true));
    run(&mut alone, 40);
    run(&mut with, 40);
    let off = alone.positions(0).zip(with.positions(0)).map(|(p, q)| (p - q).length()).fold(0.0, f64::max);
    // The shared factor orders its columns differently: rounding only.
    assert!(off < 1e-9, "{off}");
}

#[test]
fn checkpoints_refuse_damage_and_other_models() {
    let mut s = with_threads(1);
    let bytes = s.checkpoint();
    for cut in [0, 7, 8, 100, bytes.len() - 1] {
        assert!(s.restore(&bytes[..cut]).is_err());
    }
    for at in [0, 8, 16, 24, 1000, bytes.len() - 4] {
        let mut bad = bytes.clone();
        bad[at] ^= 0x40;
        assert!(s.restore(&bad).is_err(), "byte {at}");
    }
    let mut other = busy_scene();
    other.substeps = 3;
    let error = other.build().unwrap().restore(&bytes).unwrap_err();
    assert!(error.to_string().contains("another model"), "{error}");
    let _ = Team::serial();
}

#[test]
fn a_checkpoint_carries_the_controls() {
    // Set by hand, as a host does: nothing in the model tells.
    let mut first = with_threads(1);
    run(&mut first, 3);
    first.set(Control::Frequency(0.into()), 7.0).unwrap();
    first.set(Control::EdgeStiffness(1.into()), 200.0).unwrap();
    first.set(Control::GravityMagnitude, 3.0).unwrap();
    let lifted = pliant::DAffine3::from_translation(DVec3::new(0.0, 0.1, 0.0));
    first.controls_mut().place_pins(2, 0, Some(lifted)).unwrap();
    run(&mut first, 3);
    let mut second = with_threads(2);
    assert_eq!(second.restore(&first.checkpoint()), Ok(first.bits()));
    assert_eq!(second.controls(), first.controls());
    let untouched = with_threads(1);
    assert_ne!(second.controls(), untouched.controls());
    run(&mut first, 10);
    run(&mut second, 10);
    assert_eq!(bits(&first), bits(&second));
}

#[test]
fn a_checkpoint_of_the_format_without_controls_is_refused_with_a_reason() {
    let mut s = with_threads(1);
    let mut bytes = s.checkpoint();
    bytes[8..16].copy_from_slice(&2u64.to_le_bytes());
    let error = s.restore(&bytes).unwrap_err();
    assert_eq!(error, pliant::StateError::Version { found: 2, expected: 11 });
    assert!(error.to_string().contains("run again from the start"), "{error}");
}

#[test]
fn a_refused_checkpoint_changes_neither_state_nor_controls() {
    let mut s = with_threads(1);
    s.set(Control::Frequency(0.into()), 9.0).unwrap();
    let (state, controls) = (s.state().clone(), s.controls().clone());
    let mut bytes = s.checkpoint();
    let end = bytes.len() - 20;
    bytes[end] ^= 1;
    assert!(s.restore(&bytes).is_err());
    assert_eq!((s.state(), s.controls()), (&state, &controls));
}
