//! Colliders that move, come and go: what rests on one moves with it, friction and bounces feel its velocity, and edits,
//! timelines and checkpoints know where it is.

use crate::common::*;
use pliant::{
    Builder, Collider, ColliderId, DAffine3, DQuat, DVec3, Edit, EditError, HalfSpace, Integrator, Motion,
    Simulation, SolverKind, Timeline,
};

/// The block on a floor with this motion, moving at this velocity itself.
fn on_floor(solver: SolverKind, theta: f64, friction: f64, motion: Motion, velocity: DVec3) -> Simulation {
    describe(solver, theta, friction, motion, velocity).build().unwrap()
}

fn describe(solver: SolverKind, theta: f64, friction: f64, motion: Motion, velocity: DVec3) -> Builder {
    let floor = Collider::from(HalfSpace { friction, ..HalfSpace::ground() }).moving(motion);
    let mut body = block(solver);
    body.velocity = velocity;
    let mut builder = Builder::new().collider(floor).body(body).substeps(2);
    builder.implicit.implicitness = theta;
    builder
}

fn steady(velocity: DVec3) -> Motion {
    Motion { velocity, ..Motion::REST }
}

fn middle(s: &Simulation) -> DVec3 {
    s.positions(0).sum::<DVec3>() / s.positions(0).len() as f64
}

fn speed(s: &Simulation) -> DVec3 {
    s.velocities(0).sum::<DVec3>() / s.velocities(0).len() as f64
}

/// How far the particles of two runs are apart at most, if one has moved on by so much.
fn apart(a: &Simulation, b: &Simulation, by: DVec3) -> f64 {
    a.positions(0).zip(b.positions(0)).map(|(a, b)| (a + by - b).length()).fold(0.0, f64::max)
}

const SOLVERS: [(SolverKind, f64); 7] = [
    (SolverKind::Clustered, 1.0),
    (SolverKind::Projective, 1.0),
    (SolverKind::Projective, 0.5),
    (SolverKind::Newton, 1.0),
    (SolverKind::Newton, 0.5),
    (SolverKind::Xpbd, 1.0),
    (SolverKind::Pbd, 1.0),
];

/// Physics is the same in a train that rides at a steady speed, and in a lift: however it falls, slides and bounces there.
#[test]
fn what_moves_along_with_its_floor_moves_as_on_one_that_rests() {
    let train = DVec3::new(0.7, 0.4, -0.3);
    let throw = DVec3::new(0.4, -0.5, 0.1);
    for ((solver, theta), restitution) in SOLVERS.into_iter().flat_map(|s| [(s, 0.0), (s, 0.8)]) {
        let scene = |motion: Motion, velocity: DVec3| {
            let floor = HalfSpace { friction: 0.4, restitution, ..HalfSpace::ground() };
            let mut body = block(solver);
            (body.velocity, body.position.y) = (velocity, 0.2);
            body.rotation = DQuat::from_rotation_x(0.3);
            let floor = Collider::from(floor).moving(motion);
            let mut builder = Builder::new().collider(floor).body(body).substeps(2);
            builder.implicit.implicitness = theta;
            builder.build().unwrap()
        };
        let (mut still, mut riding) = (scene(Motion::REST, throw), scene(steady(train), throw + train));
        // Rounding grows where contacts come and go: as it does in a run that begins with some.
        let mut nudged = scene(Motion::REST, throw + DVec3::X * 1e-14);
        let mut rounding = 1e-9_f64;
        for step in 1..=60 {
            [&mut still, &mut riding, &mut nudged].into_iter().for_each(|s| run(s, 1));
            rounding = rounding.max(apart(&still, &nudged, DVec3::ZERO));
            let off = apart(&still, &riding, train * (f64::from(step) / 60.0));
            assert!(
                off < 30.0 * rounding,
                "{solver:?}, θ {theta}, e {restitution}, step {step}: {off} m off, rounding {rounding}"
            );
        }
    }
}

/// A belt takes what lies on it along: by μ g until both are equally fast.
#[test]
fn a_belt_takes_along_by_friction() {
    for (solver, theta) in SOLVERS {
        let (friction, belt) = (0.3, 2.0);
        let mut s = on_floor(solver, theta, friction, steady(DVec3::X * belt), DVec3::ZERO);
        run(&mut s, 6);
        let before = speed(&s).x;
        run(&mut s, 30);
        let gained = (speed(&s).x - before) * 2.0;
        let expected = friction * 9.81;
        // What swings without damping presses more and less.
        let swings = theta < 1.0 || matches!(solver, SolverKind::Xpbd | SolverKind::Pbd);
        let loose = if swings { 0.1 } else { 0.02 };
        assert!(
            (gained - expected).abs() < loose * expected,
            "{solver:?}, θ {theta}: {gained} m/s², not {expected}"
        );
        run(&mut s, 60);
        let end = speed(&s);
        assert!((end.x - belt).abs() < 0.02, "{solver:?}, θ {theta}: rides at {end}");
    }
}

/// The deformer's impulses with full viscous friction leave no sliding velocity.
#[test]
fn the_deformers_impulses_feel_the_belt() {
    let floor = Collider::ground().moving(steady(DVec3::X * 0.5));
    let mut body = block(SolverKind::Clustered);
    body.integrator = Integrator::Deformer;
    body.controls.viscous_friction = 1.0;
    let mut s = Builder::new().collider(floor).body(body).substeps(2).build().unwrap();
    run(&mut s, 90);
    let from = middle(&s).x;
    run(&mut s, 60);
    let along = middle(&s).x - from;
    assert!((along - 0.5).abs() < 0.02, "carried {along} m in a second");
}

/// A table that a host tips: below the angle of friction nothing slips, above it slides.
#[test]
fn a_table_that_is_tipped_holds_and_lets_slide() {
    for solver in [SolverKind::Clustered, SolverKind::Projective, SolverKind::Newton] {
        let mut s = on_floor(solver, 1.0, 0.5, Motion::REST, DVec3::ZERO);
        run(&mut s, 30);
        let seen = |s: &Simulation| s.state().colliders()[0].inverse().transform_point3(middle(s));
        let from = seen(&s);
        let tip = |angle: f64| Some(DAffine3::from_quat(DQuat::from_rotation_z(angle.to_radians())));
        for step in 1..=60 {
            s.place_collider(0.into(), tip(20.0 * f64::from(step) / 60.0)).unwrap();
            run(&mut s, 1);
        }
        run(&mut s, 60);
        let crept = (seen(&s) - from).length();
        assert!(crept < 4e-3, "{solver:?}: moved {crept} m on a table it should rest on");
        for step in 1..=30 {
            s.place_collider(0.into(), tip(20.0 + 15.0 * f64::from(step) / 30.0)).unwrap();
            run(&mut s, 1);
        }
        let from = seen(&s);
        run(&mut s, 45);
        assert!(seen(&s).x < from.x - 0.1, "{solver:?}: sticks at 35°");
        assert!(s.statistics().max_penetration < 2e-3, "{:?}", s.statistics());
    }
}

/// Placed by a host at every step, a collider does what it does by a motion of its own; to the bit, where times and
/// places have no rounding.
#[test]
fn a_host_leads_as_a_motion_does() {
    let motion = Motion { velocity: DVec3::new(0.25, 0.5, 0.0), end: 0.5, ..Motion::REST };
    for (solver, theta) in SOLVERS {
        let scene = |motion: Motion| {
            let mut builder = describe(solver, theta, 0.6, motion, DVec3::ZERO);
            builder.step = 1.0 / 64.0;
            builder.build().unwrap()
        };
        let (mut moving, mut led) = (scene(motion), scene(Motion::REST));
        for step in 1..=45 {
            run(&mut moving, 1);
            let to = motion.placement(f64::from(step) / 64.0);
            led.step_with(|_, _, c| c.place_collider(0.into(), Some(to)).map(|_| ())).unwrap();
            assert_eq!(bits(&moving), bits(&led), "{solver:?}, θ {theta}, step {step}");
        }
    }
}

/// Where a collider is, is state: threads, dropped caches, checkpoints and timelines give the same bits.
#[test]
fn where_a_collider_is_is_part_of_the_state() {
    let scene = |threads: usize| {
        let mut builder = Builder::new().ground().substeps(2);
        for (k, solver) in SolverKind::SOFT.into_iter().enumerate() {
            let mut body = block(solver);
            body.name = format!("block {k}");
            body.position.z += k as f64;
            builder = builder.body(body);
        }
        builder.threads = threads;
        builder.build().unwrap()
    };
    let tip = |step: u64| {
        let turn = DQuat::from_rotation_x(0.02 * (step as f64).sin());
        DAffine3::from_rotation_translation(turn, DVec3::Y * 0.01 * (step % 3) as f64)
    };
    let drive = |s: &mut Simulation, steps: std::ops::Range<u64>, drop: bool| {
        for step in steps {
            if step == 5 {
                s.add_collider(HalfSpace { normal: DVec3::X, offset: -0.3, ..HalfSpace::ground() }).unwrap();
            }
            if step == 12 {
                s.remove_collider(1.into()).unwrap();
            }
            s.place_collider(0.into(), (step != 15).then(|| tip(step))).unwrap();
            if drop {
                s.drop_caches();
            }
            run(s, 1);
        }
    };
    let mut reference = scene(1);
    drive(&mut reference, 0..24, false);
    for threads in [2, 7] {
        let mut s = scene(threads);
        drive(&mut s, 0..24, threads == 2);
        assert_eq!(bits(&s), bits(&reference), "{threads} threads");
    }
    let mut s = scene(1);
    drive(&mut s, 0..14, false);
    let kept = s.checkpoint();
    let (state, controls) = (s.state().clone(), s.controls().clone());
    drive(&mut s, 14..20, false);
    s.restore(&kept).unwrap();
    assert_eq!((s.state(), s.controls()), (&state, &controls));
    drive(&mut s, 14..24, false);
    assert_eq!(bits(&s), bits(&reference), "restored");
    let mut timeline = Timeline::new(scene(1));
    for step in 0..24 {
        if step == 5 {
            let wall = HalfSpace { normal: DVec3::X, offset: -0.3, ..HalfSpace::ground() };
            timeline.edit(step, Edit::AddCollider(Box::new(wall.into()))).unwrap();
        }
        if step == 12 {
            timeline.edit(step, Edit::RemoveCollider(1.into())).unwrap();
        }
        let to = (step != 15).then(|| tip(step));
        timeline.edit(step, Edit::PlaceCollider(0.into(), to)).unwrap();
    }
    for frame in [24, 3, 13, 24] {
        timeline.frame(frame).unwrap();
    }
    assert_eq!(bits(timeline.simulation()), bits(&reference), "by a timeline");
}

/// A collider that jumps a metre in a frame moves what is in its way, and nothing becomes a number that is none.
#[test]
fn a_collider_that_jumps_takes_everything_with_it() {
    for (solver, theta) in SOLVERS {
        let mut s = on_floor(solver, theta, 0.5, Motion::REST, DVec3::ZERO);
        run(&mut s, 10);
        s.place_collider(0.into(), Some(DAffine3::from_translation(DVec3::Y))).unwrap();
        for _ in 0..120 {
            run(&mut s, 1);
        }
        let low = s.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
        assert!(low > 0.99, "{solver:?}, θ {theta}: lowest at {low}");
    }
}

#[test]
fn what_is_no_collider_is_refused_and_changes_nothing() {
    let mut s = on_floor(SolverKind::Clustered, 1.0, 0.5, Motion::REST, DVec3::ZERO);
    let floor: ColliderId = 0.into();
    let wall = s.add_collider(Collider::ground().named("wall")).unwrap();
    assert_eq!(s.model().collider("wall"), Some(wall));
    let before = s.checkpoint();
    let scaled = DAffine3::from_scale(DVec3::splat(2.0));
    let mirrored = DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0));
    let lost = DAffine3::from_translation(DVec3::X * f64::NAN);
    for placement in [scaled, mirrored, lost] {
        let error = s.place_collider(floor, Some(placement)).unwrap_err().to_string();
        assert!(error.contains("rotation without scale"), "{error}");
    }
    let twice = s.add_collider(Collider::ground().named("wall")).unwrap_err().to_string();
    assert!(twice.contains("two colliders named \"wall\""), "{twice}");
    let bad = Collider { friction: -1.0, motion: steady(DVec3::X * f64::INFINITY), ..Collider::ground() };
    let error = s.change_collider(floor, bad).unwrap_err().to_string();
    assert!(error.contains("friction -1") && error.contains("motion"), "both at once: {error}");
    let never = ColliderId::from(9);
    assert!(
        matches!(s.remove_collider(never), Err(EditError::NoCollider { collider, .. }) if collider == never)
    );
    assert_eq!(s.checkpoint(), before, "refusals change nothing");
    s.remove_collider(wall).unwrap();
    let error = s.place_collider(wall, None).unwrap_err().to_string();
    assert!(error.contains("that collider was removed"), "{error}");
    assert_eq!(s.add_collider(Collider::ground()).unwrap(), ColliderId::from(2), "no id is given twice");
}
