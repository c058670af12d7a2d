//! Wrong input is refused at the door: all faults at once, each with its range or alternative.

use crate::common::*;
use pliant::solvers::{Feature, Support, support, support_table};
use pliant::{
    Body, Builder, Clustering, Control, Cost, DVec3, Goals, HalfSpace, Integrator, Key, Pins, Selection,
    SolverKind, StepError, Stiffness, Track, shapes,
};

#[test]
fn the_support_table_in_the_docs_is_the_one_in_the_code() {
    assert_eq!(support_table(), include_str!("../../support.md"));
}

#[test]
fn unsupported_pairs_are_refused_with_the_alternative_and_supported_ones_build() {
    for solver in SolverKind::SOFT {
        for feature in Feature::ALL {
            let mut body = cube(Clustering::Count(4), 0.5);
            if solver.uses_constraints() {
                body = body.solved_by(solver);
            }
            let mut builder = Builder::new().substeps(1);
            match feature {
                Feature::Clusters => {}
                Feature::StrainLimit => body.controls.strain_limit = 0.2,
                Feature::Edges => body.controls.edge_stiffness = 10.0,
                Feature::Pins => body = body.pin([0]),
                Feature::SoftPins => {
                    body = body.pin([0]);
                    body.pins[0].stiffness = Some(10.0);
                }
                Feature::Colliders => builder = builder.ground(),
                Feature::CustomConstraint => {}
                Feature::AnimatedInput => {
                    let sequence = pliant::Sequence::new(vec![body.shape.points.clone()], 60.0).unwrap();
                    body.input = Some(pliant::Input::new(sequence));
                }
                Feature::LinearGoals => body.goals = Goals::Linear,
                Feature::QuadraticGoals => body.goals = Goals::Quadratic,
                Feature::Deformer => body.integrator = Integrator::Deformer,
                Feature::Plasticity => body.controls.yield_strain = 0.1,
                Feature::PaintedStiffness => body.painted_stiffness = vec![0.5; body.shape.points.len()],
                Feature::Elements => {
                    let style = pliant::shapes::TetStyle::Five;
                    body.shape = pliant::shapes::tet_box([2, 2, 2], DVec3::ONE, style).unwrap();
                    body.constraints = vec![pliant::ConstraintKind::Strain.into()];
                }
                Feature::Tearing => {
                    if solver.uses_constraints() {
                        let style = pliant::shapes::TetStyle::Five;
                        body.shape = pliant::shapes::tet_box([2, 2, 2], DVec3::ONE, style).unwrap();
                        body.constraints = vec![pliant::ConstraintKind::Strain.into()];
                        body.clusters = Clustering::None;
                    }
                    body.controls.tear_strain = 0.5;
                }
                Feature::Couplings => {
                    let world = pliant::WorldFrame { at: DVec3::Y, axes: pliant::DMat3::IDENTITY };
                    let point = pliant::BodyPoint::particle(0, 1);
                    builder.couplings.push(pliant::Coupling::joint(world, point));
                }
                Feature::BodyContact => {
                    let other = Body { name: "other".into(), position: DVec3::X * 3.0, ..body.clone() };
                    builder = builder.body_contact().body(other);
                }
                Feature::Fields => {
                    builder.fields.push(pliant::Field::Attractor {
                        center: DVec3::ZERO,
                        strength: 1.0,
                        radius: 1.0,
                    });
                }
                Feature::Tracing => {}
                other => panic!("no scene for {other:?}"),
            }
            builder = builder.body(body);
            if feature == Feature::CustomConstraint {
                builder = builder.constraint(|rest| {
                    let measure = [1.0];
                    pliant::constraints::EdgeStrain::lengths(&[[0, 1]], rest, &measure)
                });
            }
            let result = builder.build();
            if feature == Feature::Tracing {
                let points = result.unwrap().trace_step(Box::new(|| 0.0)).unwrap().1;
                assert_eq!(points.is_empty(), support(solver, feature) != Support::Yes, "{solver:?}");
                continue;
            }
            match support(solver, feature) {
                Support::Yes => {
                    let mut s = result.unwrap();
                    s.step().unwrap();
                }
                Support::No(instead) => {
                    let errors = result.unwrap_err();
                    assert!(errors.to_string().contains(instead), "{errors}");
                }
            }
        }
    }
}

#[test]
fn all_faults_are_reported_at_once() {
    let mut body = cube(Clustering::Radius(-1.0), 2.0);
    body.mass = 0.0;
    body.velocity.x = f64::NAN;
    body.controls.relaxation = 3.0;
    body.controls.damping = -1.0;
    body.controls.restitution = 1.5;
    body.pins.push(Pins {
        name: "far".into(),
        select: Selection::Particles(vec![9999]),
        motion: pliant::Motion::REST,
        stiffness: None,
    });
    let mut builder = Builder::new().substeps(1).body(body);
    builder.step = -1.0;
    builder.substeps = 0;
    builder.gravity.y = f64::INFINITY;
    builder.colliders.push(HalfSpace { normal: DVec3::ZERO, ..HalfSpace::ground() }.into());
    let errors = builder.build().unwrap_err();
    let fields: Vec<&str> = errors.0.iter().map(|e| e.field).collect();
    for field in [
        "step",
        "substeps",
        "gravity",
        "colliders",
        "radius",
        "alpha",
        "mass",
        "velocity",
        "relaxation",
        "damping",
        "restitution",
        "pins",
    ] {
        assert!(fields.contains(&field), "{field} is missing from {errors}");
    }
    assert!(errors.0.iter().all(|e| !e.help.is_empty()));
}

#[test]
fn painted_stiffness_is_refused_by_index_with_the_remedy() {
    let refusal = |paint: Vec<f64>| {
        let mut body = cube(Clustering::Count(4), 0.5);
        body.painted_stiffness = paint;
        Builder::new().substeps(1).body(body).build().unwrap_err()
    };
    let one = |errors: pliant::BuildErrors| {
        assert_eq!(errors.0.len(), 1, "{errors}");
        assert_eq!((errors.0[0].body, errors.0[0].field), (Some(0), "painted_stiffness"));
        errors.0[0].to_string()
    };
    let text = one(refusal(vec![1.0; 7]));
    assert!(text.contains("7 values for 216 particles") && text.contains("one per particle"), "{text}");
    for bad in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
        let mut paint = vec![1.0; 216];
        paint[42] = bad;
        let text = one(refusal(paint));
        assert!(text.contains(&format!("particle 42 has {bad:?}")) && text.contains("from 0"), "{text}");
    }
    // All faults at once: the length, the values, and who would have to move it.
    let mut body = cube(Clustering::Count(4), 0.5).projective();
    body.painted_stiffness = vec![0.5, 2.0, f64::NAN];
    body.goals = Goals::Quadratic;
    body.integrator = Integrator::Deformer;
    body.controls.yield_strain = 0.1;
    let errors = Builder::new().substeps(1).body(body).build().unwrap_err();
    let text = errors.to_string();
    assert_eq!(errors.0.len(), 6, "{text}");
    assert!(text.contains("particle 1 has 2.0, and 1 more"), "{text}");
    for field in ["goals", "integrator", "yield_strain", "painted_stiffness"] {
        let of = |e: &&pliant::BuildError| e.field == field && e.help.contains("solver = \"clustered\"");
        assert_eq!(errors.0.iter().filter(of).count(), 1, "{field}: {text}");
    }
}

#[test]
fn what_falls_back_or_falls_apart_is_said() {
    let notes = |points: Vec<DVec3>, goals: Goals, clusters: Clustering| {
        let mut body = Body::new("cloud", shapes::from_points(points).unwrap()).goals(goals);
        body.clusters = clusters;
        Builder::new().body(body).build().unwrap().notes()
    };
    let points = random_points(40, 3);
    assert_eq!(notes(points.clone(), Goals::Quadratic, Clustering::Whole), [""; 0]);
    let few = notes(points[..8].to_vec(), Goals::Quadratic, Clustering::Whole);
    let text = "1 of 1 clusters have linear instead of quadratic goals: fewer than the 10 particles it needs";
    assert_eq!(few, [format!("body `cloud`: {text}")]);
    let few = notes(points[..3].to_vec(), Goals::Linear, Clustering::Whole);
    assert!(few.len() == 1 && few[0].contains("rigid instead of linear"), "{few:?}");
    let same = notes(vec![DVec3::X; 12], Goals::Linear, Clustering::Whole);
    assert!(same.len() == 1 && same[0].contains("do not determine"), "{same:?}");
    let apart = notes(points.clone(), Goals::Rigid, Clustering::Radius(1e-3));
    assert!(apart.len() == 1 && apart[0].contains("nothing holds them together"), "{apart:?}");
    let two = points.iter().chain(&points).enumerate();
    let two = two.map(|(i, p)| *p + DVec3::X * if i < 40 { 0.0 } else { 100.0 }).collect();
    let two = notes(two, Goals::Rigid, Clustering::Radius(5.0));
    assert!(two.len() == 1 && two[0].contains("2 separate pieces"), "{two:?}");
}

#[test]
fn a_frequency_the_step_cannot_resolve_is_refused_with_the_substeps_it_needs() {
    let mut body = cube(Clustering::Whole, 0.5);
    body.controls.stiffness = Stiffness::Frequency(25.0);
    let error = Builder::new().substeps(1).body(body.clone()).build().unwrap_err().to_string();
    assert!(error.contains("3 times the substeps"), "{error}");
    assert!(Builder::new().body(body.clone()).substeps(3).build().is_ok());
    assert!(Builder::new().substeps(1).body(body.projective()).build().is_ok());
}

#[test]
fn live_values_are_checked_and_say_their_cost() {
    let mut s = Builder::new()
        .substeps(1)
        .body(cube(Clustering::Whole, 0.5))
        .body(Body { name: "other".into(), ..cube(Clustering::Whole, 0.5).projective() })
        .build()
        .unwrap();
    assert_eq!(s.set(Control::Alpha(0.into()), 0.7), Ok(Cost::Free));
    assert_eq!(s.set(Control::Frequency(1.into()), 30.0), Ok(Cost::Refactor));
    assert_eq!(s.set(Control::EdgeStiffness(1.into()), 10.0), Ok(Cost::Rebuild), "from zero");
    assert_eq!(s.set(Control::EdgeStiffness(1.into()), 20.0), Ok(Cost::Refactor));
    assert_eq!(s.set(Control::Gravity, DVec3::ZERO), Ok(Cost::Free));
    let before = s.controls().clone();
    for (control, value) in [
        (Control::Alpha(0.into()), 1.5),
        (Control::Alpha(0.into()), f64::NAN),
        (Control::Iterations(0.into()), 2.5),
        (Control::Restitution(1.into()), -0.1),
        (Control::Alpha(7.into()), 0.5),
        (Control::Gravity, 9.81),
    ] {
        let error = s.set(control, value).unwrap_err();
        assert!(!error.allowed.is_empty(), "{error}");
    }
    assert_eq!(s.controls(), &before, "a refused value changes nothing");
    s.step().unwrap();
}

#[test]
fn a_non_finite_state_stops_the_run_and_keeps_the_last_good_one() {
    let mut body = cube(Clustering::Whole, 0.5);
    body.velocity = DVec3::splat(1e308);
    let mut s = Builder::new().substeps(1).body(body).build().unwrap();
    let mut failed = None;
    for _ in 0..200 {
        let before = bits(&s);
        if let Err(e) = s.step() {
            assert_eq!(bits(&s), before, "the state is the one before the step");
            failed = Some(e);
            break;
        }
    }
    match failed {
        Some(StepError::NonFinite { body, likely, .. }) => {
            assert_eq!(body, "cube");
            assert!(!likely.is_empty());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn degenerate_bodies_are_defined() {
    // One particle, two, coincident ones, a line: whatever the solver, they fall and stay finite.
    let clouds: [Vec<DVec3>; 4] = [
        vec![DVec3::Y],
        vec![DVec3::Y, DVec3::Y * 2.0],
        vec![DVec3::Y; 5],
        (0..6).map(|i| DVec3::new(f64::from(i), 1.0, 0.0)).collect(),
    ];
    for points in clouds {
        for projective in [false, true] {
            let n = points.len();
            let shape = shapes::from_points(points.clone()).unwrap();
            let mut body = Body::new("cloud", shape);
            body.clusters = Clustering::Whole;
            if projective {
                body = body.projective();
            }
            let mut s = Builder::new().ground().body(body).build().unwrap_or_else(|e| panic!("{n}: {e}"));
            run(&mut s, 100);
            assert!(s.statistics().max_penetration < 1e-9);
            assert!(s.state().bodies()[0].positions().first_non_finite().is_none());
        }
    }
}

/// Controls of goals, of animated goals, and of clay: what only clustered bodies have.
const OF_CLUSTERED: [&str; 10] = [
    "viscous_friction",
    "flappiness",
    "deformation",
    "volume",
    "yield_strain",
    "creep",
    "plastic_limit",
    "hardening",
    "follow",
    "follow_damping",
];
/// What only bodies of elements have.
const OF_ELEMENTS: [&str; 4] = ["young", "poisson", "thickness", "air"];

/// Bodies of every kind, with the controls of a body that nothing of them reads.
fn kinds() -> Vec<(&'static str, Body, Vec<&'static str>)> {
    let jelly = pliant::Material::named("jelly").unwrap();
    let cotton = pliant::Material::named("cotton").unwrap();
    let tets = shapes::tet_box([2, 2, 2], DVec3::ONE, shapes::TetStyle::Five).unwrap();
    let mut thread = shapes::sheet(1.0, 0.1, 6, 1).unwrap();
    thread.triangles.clear();
    thread.surface.triangles.clear();
    let clusters = || cube(Clustering::Count(4), 0.5);
    let mut deformer = clusters();
    deformer.integrator = Integrator::Deformer;
    let mut follower = clusters().goals(Goals::Linear);
    let sequence = pliant::Sequence::new(vec![follower.shape.points.clone()], 60.0).unwrap();
    let mut input = pliant::Input::new(sequence);
    input.follow = vec![0.5; follower.shape.points.len()];
    follower.input = Some(input);
    let mut springs = clusters().projective();
    springs.clusters = Clustering::None;
    springs.controls.edge_stiffness = 100.0;
    let unread = |words: &'static str, more: &[&[&'static str]]| -> Vec<&'static str> {
        words.split_whitespace().chain(more.concat()).collect()
    };
    let still = "tear_strain edge_stiffness deformation volume follow follow_damping";
    let alike = "tear_strain edge_stiffness viscous_friction flappiness";
    let both = [&OF_CLUSTERED[..], &OF_ELEMENTS];
    let elements = "alpha frequency strain_limit relaxation edge_stiffness";
    vec![
        ("clustered", clusters(), unread(still, &[&["viscous_friction", "flappiness"], &OF_ELEMENTS])),
        ("deformer", deformer, unread(still, &[&OF_ELEMENTS])),
        ("follower", follower, unread(alike, &[&OF_ELEMENTS])),
        (
            "clusters, projective",
            clusters().projective(),
            unread("tear_strain strain_limit relaxation", &both),
        ),
        (
            "springs, newton",
            springs.clone().solved_by(SolverKind::Newton),
            unread("tear_strain alpha frequency strain_limit relaxation", &both),
        ),
        (
            "springs, pbd",
            springs.solved_by(SolverKind::Pbd),
            unread("tear_strain alpha frequency strain_limit edge_stiffness", &both),
        ),
        (
            "tetrahedra",
            Body::new("tetrahedra", tets).elastic(jelly),
            unread(elements, &[&OF_CLUSTERED, &["thickness"]]),
        ),
        (
            "cloth",
            Body::new("cloth", shapes::sheet(1.0, 1.0, 4, 4).unwrap()).elastic(cotton),
            unread(elements, &[&OF_CLUSTERED]),
        ),
        (
            "thread",
            Body::new("thread", thread).elastic(cotton),
            unread(elements, &[&OF_CLUSTERED, &["tear_strain", "poisson", "air"]]),
        ),
    ]
}

/// A value of a control that is allowed and not the present one.
fn another_value(s: &pliant::Simulation, control: Control) -> pliant::Value {
    let solver = s.model().bodies()[0].parts.solver();
    match control.range(solver, s.model().params().substep()) {
        None => DVec3::new(0.1, 0.2, 0.3).into(),
        Some(_) if matches!(control, Control::Iterations(_)) => 3.0.into(),
        Some((lo, hi)) => (lo + 0.37 * (hi - lo).min(1.0)).into(),
    }
}

#[test]
fn controls_that_nothing_reads_are_refused_live_and_keyframed() {
    for (kind, body, unread) in kinds() {
        let build = || Builder::new().ground().body(body.clone());
        let mut s = build().build().unwrap();
        for control in Control::all([0.into()]).filter(|c| c.body().is_some()) {
            let what = format!("{} of a body of {kind}", control.name());
            let value = another_value(&s, control);
            let expected = !unread.contains(&control.name());
            assert_eq!(control.effect(s.model()) == Support::Yes, expected, "{what}");
            let keyed = build().track(Track::new(control, [Key::new(0.0, value)])).build();
            let live = s.set(control, value);
            if expected {
                live.unwrap_or_else(|e| panic!("{what}: {e}"));
                keyed.unwrap_or_else(|e| panic!("{what}: {e}"));
                continue;
            }
            let error = live.expect_err(&what).to_string();
            assert!(error.contains("nothing reads it here; "), "{what}: {error}");
            // Keys of it give elements springs when they are built.
            let sprung = matches!(control, Control::EdgeStiffness(_)) && !body.constraints.is_empty();
            assert_eq!(keyed.is_ok(), sprung, "{what}");
            if let Err(error) = keyed {
                let error = error.to_string();
                assert!(error.contains("body 0, keyframes") && error.contains("; "), "{what}: {error}");
            }
            let mut timeline = pliant::Timeline::new(build().build().unwrap());
            assert!(timeline.set(0, control, value).is_err(), "{what} in a timeline");
            let keyframes = pliant::Keyframes { tracks: vec![Track::new(control, [Key::new(0.0, value)])] };
            assert!(s.set_keyframes(keyframes).is_err(), "{what}, keys set later");
        }
    }
}
