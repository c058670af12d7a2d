//! What no caller should pass is answered with an error: never undefined behaviour, a panic or an endless step.

use crate::common::checksum;
use pliant::{
    Body, Builder, Clustering, Control, DAffine3, DVec3, Input, Material, Points, Section, Sequence,
    Simulation, SolverKind, State, StateError, StepError, Team, shapes,
};

fn ball() -> Body {
    let mut body = Body::new("ball", shapes::ball(0.2, 0.05).unwrap());
    body.clusters = Clustering::Count(4);
    body
}

fn parts(simulation: &Simulation) -> (pliant::model::Model, State, pliant::Controls) {
    (simulation.model().clone(), simulation.state().clone(), simulation.controls().clone())
}

/// A simulation of these parts on two threads.
fn assemble(simulation: &Simulation, change: impl FnOnce(&mut State)) -> Result<Simulation, StepError> {
    let (model, mut state, controls) = parts(simulation);
    change(&mut state);
    Simulation::new(model, state, controls, Team::new(2).unwrap())
}

#[test]
fn points_cannot_have_columns_of_different_lengths() {
    let error = Points::from_columns(vec![0.0; 100], vec![0.0; 1], vec![0.0; 100]).unwrap_err();
    assert_eq!(error.lengths, [100, 1, 100]);
    assert!(error.to_string().contains("100 x, 1 y and 100 z"), "{error}");
}

#[test]
fn a_state_that_does_not_fit_makes_no_simulation() {
    for body in [ball(), ball().projective()] {
        let s = Builder::new().ground().body(body).build().unwrap();
        let n = s.model().particle_count();
        let mut stepped = assemble(&s, |_| {}).unwrap();
        stepped.step().unwrap();
        let coarse = Body::new("ball", shapes::ball(0.2, 0.07).unwrap());
        let other = Builder::new().ground().body(coarse).build().unwrap();
        let bad = DVec3::new(0.0, f64::NAN, 0.0);
        type Change<'a> = Box<dyn Fn(&mut State) + 'a>;
        let changes: Vec<(&str, Change<'_>)> = vec![
            ("another model", Box::new(|s| *s = other.state().clone())),
            ("another body", Box::new(|s| s.bodies_mut()[0] = other.state().bodies()[0].clone())),
            ("positions", Box::new(|s| s.bodies_mut()[0].positions_mut().set(n / 2, bad))),
            ("velocities", Box::new(|s| s.bodies_mut()[0].velocities_mut().set(0, bad))),
            ("rotations", Box::new(|s| s.bodies_mut()[0].memory_mut()[Section::Rotations][0] = f64::NAN)),
            ("stretches", Box::new(|s| s.bodies_mut()[0].memory_mut()[Section::Plastic][0] = f64::INFINITY)),
        ];
        for (what, change) in changes {
            let made = assemble(&s, &change);
            assert!(matches!(made, Err(StepError::State(_))), "{what}: {made:?}");
            let mut state = s.state().clone();
            change(&mut state);
            assert!(stepped.set_state(state).is_err(), "{what}");
        }
        stepped.step().unwrap();
    }
}

#[test]
fn controls_of_another_model_are_refused() {
    let one = Builder::new().body(ball()).build().unwrap();
    let mut second = ball().at(1.0, 0.0, 0.0).pin([0]);
    second.name = "second".into();
    let mut two = Builder::new().body(ball()).body(second).build().unwrap();
    let (model, state, _) = parts(&two);
    let made = Simulation::new(model, state, one.controls().clone(), Team::serial());
    let error = made.unwrap_err().to_string();
    assert!(error.contains("the model has 2"), "{error}");
    assert!(two.set_controls(one.controls().clone()).is_err());
    // Controls of one body, asked through a model of two.
    let mut foreign = one.controls().clone();
    assert!(foreign.set(two.model(), Control::Drag(1.into()), 1.0).is_err());
    assert!(two.controls().clone().set(one.model(), Control::Drag(1.into()), 1.0).is_err());
    assert_eq!(one.controls().body(7), None);
    assert!(two.set(Control::Drag(7.into()), 1.0).unwrap_err().to_string().contains("there are 2 bodies"));
    let nowhere = DAffine3::from_translation(DVec3::NAN);
    assert!(two.controls_mut().place_pins(1, 0, Some(nowhere)).is_err());
    assert!(two.controls_mut().place_pins(0, 9, None).is_err());
    two.step().unwrap();
    // Values that the substeps of one model allow and those of another do not.
    let mut fine = Builder::new().substeps(60).body(ball()).build().unwrap();
    fine.set(Control::Frequency(0.into()), 500.0).unwrap();
    let coarse = Builder::new().body(ball()).build().unwrap();
    let (model, state, _) = parts(&coarse);
    let made = Simulation::new(model, state, fine.controls().clone(), Team::serial());
    assert!(matches!(made, Err(StepError::Control(_))), "{made:?}");
}

#[test]
fn endless_steps_and_armies_of_threads_are_refused() {
    let mut s = Builder::new().body(ball()).build().unwrap();
    let error = s.set_substeps(u32::MAX).unwrap_err().to_string();
    assert!(error.contains("substeps") && error.contains("10000"), "{error}");
    assert!(Builder::new().substeps(u32::MAX).body(ball()).build().is_err());
    let mut many = Builder::new().body(ball());
    many.threads = 100_000;
    let error = many.build().unwrap_err().to_string();
    assert!(error.contains("threads") && error.contains("1024"), "{error}");
    for step in [1e300, f64::INFINITY, f64::NAN, 0.0, -1.0] {
        let mut builder = Builder::new().body(ball());
        builder.step = step;
        assert!(builder.build().is_err(), "a step of {step} s");
    }
}

#[test]
fn shapes_that_refer_to_what_is_not_there_are_refused() {
    let thread = || {
        let mut shape = shapes::sheet(0.3, 0.1, 3, 1).unwrap();
        shape.triangles.clear();
        shape.surface.triangles.clear();
        shape
    };
    let refused = |what: &str, body: Body| {
        let error = Builder::new().body(body).build().unwrap_err().to_string();
        assert!(error.contains("not there") || error.contains("there are"), "{what}: {error}");
    };
    let mut bad = thread();
    bad.edges.push([0, 4_000_000_000]);
    refused(
        "an edge of an elastic thread",
        Body::new("thread", bad).elastic(Material::named("rubber").unwrap()),
    );
    for solver in SolverKind::SOFT {
        let mut body = ball();
        if solver.uses_constraints() {
            body = body.solved_by(solver);
        }
        let mut edge = body.clone();
        edge.shape.edges.push([0, u32::MAX]);
        refused("an edge", edge);
        let mut triangle = body.clone();
        triangle.shape.triangles.push([0, 1, u32::MAX]);
        refused("a triangle", triangle);
        let mut tetrahedron = body.clone();
        tetrahedron.shape.tetrahedra.push([0, 1, 2, u32::MAX]);
        refused("a tetrahedron", tetrahedron);
        refused("a pin", body.pin([u32::MAX]));
    }
}

#[test]
fn animated_frames_that_are_not_numbers_or_run_away_are_refused() {
    let rest = ball().shape.points;
    let mut broken = rest.clone();
    broken[3].y = f64::NAN;
    assert!(Sequence::new(vec![rest.clone(), broken], 60.0).is_err());
    // So many frames a second that their count overflows.
    assert!(Sequence::new(vec![rest.clone(), rest.clone()], 1e308).is_err());
    let far: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::splat(f64::MAX)).collect();
    let sequence = Sequence::new(vec![rest, far], 60.0);
    if let Ok(sequence) = sequence {
        let mut body = ball().at(f64::MAX, 0.0, 0.0);
        body.input = Some(Input::new(sequence));
        let error = Builder::new().body(body).build().map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("finite"), "{error}");
    }
}

#[test]
fn a_checkpoint_with_numbers_that_are_none_is_refused() {
    let mut s = Builder::new().body(ball()).build().unwrap();
    let good = s.checkpoint();
    // Any eight bytes replaced by NaN, with the checksum made to fit again.
    for at in (16..good.len() - 8).step_by(8) {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&f64::NAN.to_le_bytes());
        let end = bytes.len() - 8;
        let sum = checksum(&bytes[..end]);
        bytes[end..].copy_from_slice(&sum.to_le_bytes());
        if s.restore(&bytes).is_ok() {
            s.state().check(s.model()).unwrap();
            s.controls().check(s.model()).unwrap();
            s.step().unwrap();
        }
    }
    assert!(matches!(s.restore(&[]), Err(StateError::Damaged(_))));
}
