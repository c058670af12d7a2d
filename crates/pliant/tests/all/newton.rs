//! Newton's method and projective dynamics minimise the same objective: they agree where they arrive.

use crate::common::*;
use pliant::constraints::Limits;
use pliant::{
    Body, Builder, Clustering, ConstraintKind, DQuat, DVec3, Material, Simulation, SolverKind, shapes,
};

/// A bar of tetrahedra, three times as long as thick.
fn bar(solver: SolverKind, iterations: u32) -> Body {
    let size = DVec3::new(0.6, 0.2, 0.2);
    let shape = shapes::tet_box([9, 3, 3], size, shapes::TetStyle::Five).unwrap();
    let mut body = Body::new("bar", shape).elastic(Material::named("jelly").unwrap()).solved_by(solver);
    body.constraints = vec![ConstraintKind::Strain.into()];
    body.controls.iterations = iterations;
    body
}

/// Turns the bar about its axis, by `angle` radians from end to end, and stretches it a little.
fn twist(simulation: &mut Simulation, angle: f64) {
    let mut state = simulation.state().clone();
    let turned = |p: DVec3| DQuat::from_rotation_x(angle * (p.x / 0.6)) * (p * DVec3::new(1.1, 1.0, 1.0));
    let x: Vec<DVec3> = state.bodies()[0].positions().iter().map(turned).collect();
    place(&mut state, x);
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

/// Both come to rest at the same value of the same function, with nothing left of its gradient.
#[test]
fn both_reach_the_same_objective_and_a_gradient_of_rounding() {
    let last = |solver, iterations| {
        let mut s = weightless(bar(solver, iterations)).build().unwrap();
        twist(&mut s, 1.5);
        let points = s.trace_step(Box::new(|| 0.0)).unwrap().1;
        (points[0], *points.last().unwrap(), points)
    };
    let (newton_first, newton, seen) = last(SolverKind::Newton, 100);
    let (first, projective, _) = last(SolverKind::Projective, 3000);
    assert_eq!(newton_first.objective, first.objective, "both begin at the prediction");
    assert!((newton.objective - projective.objective).abs() < 1e-12 * first.objective);
    for (p, name) in [(newton, "newton"), (projective, "projective")] {
        assert!(p.gradient < 1e-9 * first.gradient, "{name}: {} of {}", p.gradient, first.gradient);
        assert!(p.relative_error.unwrap() < 1e-12, "{name}: {:?}", p.relative_error);
    }
    // The line search: never uphill but for rounding.
    assert!(seen.windows(2).all(|w| w[1].objective <= w[0].objective * (1.0 + 1e-12)));
}

/// From hopeless starts too the objective only decreases, and ends where its gradient vanishes.
#[test]
fn newton_only_goes_downhill_from_anywhere() {
    let mut random = Random::new(3);
    for kind in ["scrambled", "mirrored", "collapsed"] {
        let mut body = bar(SolverKind::Newton, 150);
        body.clusters = Clustering::Count(4);
        let mut s = weightless(body).build().unwrap();
        let mut state = s.state().clone();
        let deformed = |p: DVec3| match kind {
            "mirrored" => p * DVec3::new(-1.0, 1.0, 1.0),
            "collapsed" => DVec3::ZERO,
            _ => random.vector() * 0.3,
        };
        let x: Vec<DVec3> = state.bodies()[0].positions().iter().map(deformed).collect();
        place(&mut state, x);
        s.set_state(state).unwrap();
        let points = s.trace_step(Box::new(|| 0.0)).unwrap().1;
        assert!(points.len() > 2, "{kind}");
        for w in points.windows(2) {
            assert!(w[1].objective <= w[0].objective * (1.0 + 1e-10), "{kind}: {w:?}");
        }
        let (first, last) = (points[0], points[points.len() - 1]);
        assert!(last.objective < 0.5 * first.objective, "{kind}: {last:?}");
    }
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
    let mut random = Random::new(5);
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
                let x: Vec<DVec3> = state.bodies()[0].positions().iter().map(deformed).collect();
                place(&mut state, x);
                s.set_state(state).unwrap();
                run(&mut s, 5);
                assert!(s.state().bodies()[0].positions().first_non_finite().is_none(), "{kind}, {solver:?}");
            }
        }
    }
}

/// A step of a body that was pulled out of shape, seen iteration by iteration.
fn traced(body: Body, deform: impl Fn(DVec3) -> DVec3) -> Vec<pliant::TracePoint> {
    let mut s = weightless(body).build().unwrap();
    let mut state = s.state().clone();
    let x: Vec<DVec3> = state.bodies()[0].positions().iter().map(deform).collect();
    place(&mut state, x);
    s.set_state(state).unwrap();
    s.trace_step(Box::new(|| 0.0)).unwrap().1
}

fn cotton(solver: SolverKind, iterations: u32) -> Body {
    let shape = shapes::sheet(1.0, 1.0, 12, 12).unwrap();
    let mut body = Body::new("cloth", shape).elastic(Material::named("cotton").unwrap()).solved_by(solver);
    body.controls.iterations = iterations;
    body
}

fn wave(p: DVec3) -> DVec3 {
    DVec3::new(1.02 * p.x, p.y + 0.03 * (4.0 * p.x + 2.0 * p.z).sin(), 1.01 * p.z)
}

/// At the end the gradient squares in each iteration: triangles with bending, and tetrahedra with volume.
#[test]
fn convergence_is_quadratic_at_the_end() {
    let volume = || {
        let mut body = bar(SolverKind::Newton, 60);
        body.constraints =
            vec![ConstraintKind::Strain.into(), ConstraintKind::Volume(Limits::new([1.0, 1.0])).into()];
        body
    };
    let turned = |p: DVec3| DQuat::from_rotation_x(p.x / 0.6) * (p * DVec3::new(1.1, 0.95, 1.0));
    for (name, points) in
        [("cloth", traced(cotton(SolverKind::Newton, 60), wave)), ("volume", traced(volume(), turned))]
    {
        let relative: Vec<f64> = points.iter().map(|p| p.gradient / points[0].gradient).collect();
        println!("{name}: {relative:?}");
        let near = relative.iter().position(|g| *g < 1e-3).unwrap();
        let after = relative[(near + 2).min(relative.len() - 1)];
        assert!(after < 1e-8, "{name}: {after} two iterations after {}", relative[near]);
    }
}

/// Newton's steps on cotton are its own, not those of projective dynamics.
#[test]
fn cotton_takes_other_steps_than_under_projective_dynamics() {
    let newton = traced(cotton(SolverKind::Newton, 10), wave);
    let projective = traced(cotton(SolverKind::Projective, 10), wave);
    assert_eq!(newton[0].objective, projective[0].objective, "both begin at the prediction");
    for (n, p) in newton.iter().zip(&projective).skip(1) {
        let apart = (n.objective - p.objective).abs() / p.objective;
        assert!(apart > 1e-6, "iteration {}: {} and {}", n.iteration, n.objective, p.objective);
    }
    assert!(newton[5].gradient < 1e-2 * projective[5].gradient, "{newton:?} {projective:?}");
}

/// The error after 30 iterations is what it is, however many follow.
#[test]
fn the_error_of_an_iteration_does_not_depend_on_how_many_follow() {
    for solver in [SolverKind::Projective, SolverKind::Newton] {
        let hung = |n: u32| Builder::new().substeps(1).body(cotton(solver, n).pin([0, 12])).build().unwrap();
        let mut start = hung(30);
        run(&mut start, 3);
        let traces = [30, 45, 100, 300].map(|iterations| {
            let mut s = hung(iterations);
            let mut state = s.state().clone();
            state.bodies_mut()[0] = start.state().bodies()[0].clone();
            s.set_state(state).unwrap();
            s.trace_step(Box::new(|| 0.0)).unwrap().1
        });
        // Newton's method may be done before.
        let at = 30.min(traces[0].len() - 1);
        let error = |k: usize| traces[k][at].relative_error.unwrap();
        println!("{solver:?}, iteration {at}: {} {} {} {}", error(0), error(1), error(2), error(3));
        for k in 1..4 {
            assert!((error(k) - error(0)).abs() <= 1e-9 * error(0) + 1e-12, "{} and {}", error(k), error(0));
        }
    }
}

/// Five steps a second: each falls by more than the body is thick. Planes carry the load all the same, and nothing is
/// pressed flat.
#[test]
fn a_stiff_body_rests_on_the_ground_at_five_steps_a_second() {
    let size = DVec3::new(0.5, 0.16, 0.16);
    let shape = shapes::tet_box([6, 2, 2], size, shapes::TetStyle::Five).unwrap();
    let mut body = Body::new("bar", shape)
        .elastic(Material::named("leather").unwrap())
        .solved_by(SolverKind::Newton)
        .at(0.0, 0.5, 0.0);
    body.controls.iterations = 40;
    let mut builder = Builder::new().substeps(1).ground().body(body);
    builder.step = 0.2;
    let mut s = builder.build().unwrap();
    for _ in 0..30 {
        let report = s.step().unwrap();
        let newton = report.convergence[SolverKind::Newton as usize];
        assert_eq!(newton.unconverged, 0, "step {}: {newton:?}", report.step);
    }
    let now = s.statistics();
    println!("{now:?}");
    assert!(now.max_strain < 1e-3, "{now:?}");
    assert!(now.elastic < 1.0 && now.kinetic < 1e-3, "{now:?}");
}

/// On a slope of less than the friction angle a body stays; on a steeper one it slides as Coulomb says.
#[test]
fn friction_holds_and_lets_slide() {
    let slid = |angle: f64| {
        let shape = shapes::tet_box([3, 2, 3], DVec3::new(0.3, 0.1, 0.3), shapes::TetStyle::Five).unwrap();
        let mut body = Body::new("block", shape)
            .elastic(Material::named("rubber").unwrap())
            .solved_by(SolverKind::Newton)
            .at(0.0, 0.05, 0.0);
        body.controls.iterations = 40;
        let mut builder = Builder::new().substeps(2).ground().body(body);
        builder.colliders[0].friction = 0.5;
        builder.gravity = DVec3::new(angle.sin(), -angle.cos(), 0.0) * 9.81;
        let mut s = builder.build().unwrap();
        let middle = |s: &Simulation| s.positions(0).sum::<DVec3>() / s.positions(0).count() as f64;
        run(&mut s, 10);
        let from = middle(&s).x;
        run(&mut s, 30);
        middle(&s).x - from
    };
    // tan 0.3 < 0.5 < tan 0.8.
    let (held, free) = (slid(0.3), slid(0.8));
    println!("held {held}, free {free}");
    assert!(held.abs() < 1e-3, "{held}");
    // a = g (sin α − μ cos α), for 0.5 s after 1/6 s.
    let a = 9.81 * (0.8_f64.sin() - 0.5 * 0.8_f64.cos());
    let expected = 0.5 * a * ((40.0_f64 / 60.0).powi(2) - (10.0_f64 / 60.0).powi(2));
    assert!((free / expected - 1.0).abs() < 0.1, "{free} instead of {expected}");
}
