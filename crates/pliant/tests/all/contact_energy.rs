//! What contact may not do: lose the load, add energy, or shoot out what began inside.

use crate::common::*;
use pliant::{Body, Builder, Clustering, DVec3, Implicit, Material, Simulation, SolverKind, shapes};

/// A jelly cube of 4 cm with `cells`³ cells of tetrahedra, just above the ground.
fn jelly_cube(cells: usize, k: usize) -> Body {
    let shape = shapes::tet_box([cells; 3], DVec3::splat(0.04), shapes::TetStyle::Five).unwrap();
    let name = format!("jelly {k}");
    Body::new(name, shape).elastic(Material::named("jelly").unwrap()).at(0.1 * k as f64, 0.021, 0.0)
}

fn height(s: &Simulation, body: usize) -> f64 {
    let y = |fold: fn(f64, f64) -> f64, from| s.positions(body).map(|p| p.y).fold(from, fold);
    y(f64::max, f64::NEG_INFINITY) - y(f64::min, f64::INFINITY)
}

fn energy(s: &Simulation) -> f64 {
    let e = s.statistics();
    e.kinetic + e.elastic + e.gravity
}

/// However many other bodies lie beside it, a body rests as high as it does alone.
#[test]
fn the_rest_height_does_not_depend_on_how_many_others_there_are() {
    let rest = |count: usize| {
        let mut builder = Builder::new().ground().substeps(2);
        for k in 0..count {
            builder = builder.body(jelly_cube(6, k));
        }
        let mut s = builder.build().unwrap();
        run(&mut s, 60);
        s
    };
    let (alone, eight) = (rest(1), rest(8));
    let expected = height(&alone, 0);
    assert!(expected > 0.0385, "{expected} m of 0.04 left");
    for b in 0..8 {
        let h = height(&eight, b);
        assert!((h - expected).abs() < 1e-7, "body {b} of eight is {h} m high, alone {expected}");
    }
}

/// Steps with forces at θ h are carried on to h; contact and unfinished iterations must not make energy of that.
#[test]
fn the_midpoint_rule_on_the_ground_adds_no_energy() {
    no_energy_is_added(0.04, 150, 45);
}

#[test]
#[ignore = "a minute: finer, and for five seconds"]
fn the_midpoint_rule_on_the_ground_adds_no_energy_for_long() {
    no_energy_is_added(0.03, 300, 60);
}

/// A ball of tetrahedra `spacing` apart bounces for so many frames; Newton's method, which costs most, for fewer.
fn no_energy_is_added(spacing: f64, frames: usize, newtons: usize) {
    let (shape, _) = shapes::SolidShape::Ball { radius: 0.1 }.build_tets(spacing).unwrap();
    for (restitution, implicitness, solver) in [
        (0.0, 0.5, SolverKind::Projective),
        (0.5, 0.5, SolverKind::Projective),
        (1.0, 0.5, SolverKind::Projective),
        (1.0, 0.55, SolverKind::Projective),
        (0.5, 0.75, SolverKind::Projective),
        (0.5, 0.5, SolverKind::Newton),
        (0.0, 1.0, SolverKind::Newton),
    ] {
        let rubber = Material::named("rubber").unwrap();
        let mut ball = Body::new("ball", shape.clone()).elastic(rubber).solved_by(solver).at(0.0, 0.6, 0.0);
        ball.controls.restitution = restitution;
        ball.controls.damping = 0.0;
        let mut builder = Builder::new().ground().body(ball);
        builder.implicit = Implicit { implicitness, ..builder.implicit };
        let mut s = builder.build().unwrap();
        let mut before = energy(&s);
        let (first, mut lowest) = (before, before);
        let frames = if solver == SolverKind::Newton { newtons } else { frames };
        for k in 0..frames {
            s.step().unwrap();
            let now = energy(&s);
            let what = format!("{solver:?}, θ {implicitness}, e {restitution}, step {k}");
            assert!(now <= first * (1.0 + 1e-6), "{what}: {before} to {now} J");
            (before, lowest) = (now, lowest.min(now));
        }
        assert!(lowest < 0.9 * first, "it never touched the ground");
    }
}

/// What contact adds, in all steps together and at most in one, to the energy that symplectic Euler conserves: with v₀
/// before, v after a step without and v′ after one with contact it is ½ m (v′ − v)·(v′ + v₀).
fn gains(body: &Body, restitution: f64, friction: f64, step: f64, steps: usize) -> (f64, f64) {
    let mut body = body.clone();
    (body.controls.restitution, body.controls.friction) = (restitution, Some(friction));
    let build = |ground: bool| {
        let mut b = Builder::new().substeps(1).body(body.clone());
        b = if ground { b.ground() } else { b };
        b.step = step;
        b.build().unwrap()
    };
    let (mut s, mut free) = (build(true), build(false));
    let first = energy(&s);
    let mass = s.model().bodies()[0].parts.rest().mass.clone();
    let (mut sum, mut most) = (0.0, 0.0_f64);
    for _ in 0..steps {
        let mut state = free.state().clone();
        state.bodies_mut().clone_from_slice(s.state().bodies());
        let before = state.bodies()[0].velocities().clone();
        free.set_state(state).unwrap();
        free.step().unwrap();
        s.step().unwrap();
        let (v, without) = (&s.state().bodies()[0].velocities(), &free.state().bodies()[0].velocities());
        let gain = |i: usize| 0.5 * mass[i] * (v.get(i) - without.get(i)).dot(v.get(i) + before.get(i));
        let gain: f64 = (0..mass.len()).map(gain).sum::<f64>() / first;
        (sum, most) = (sum + gain, most.max(gain));
    }
    (sum, most)
}

/// Whatever bounces, grips or is soft: the explicit solver's contact adds nothing to the energy it conserves.
#[test]
fn contact_of_clustered_bodies_adds_no_energy() {
    for clusters in [Clustering::Count(16), Clustering::Whole] {
        for frequency in [1.0, 5.0] {
            let mut bear = Body::new("bear", shapes::gummy_bear(0.3, 0.03).unwrap()).at(0.0, 0.5, 0.0);
            bear.clusters = clusters;
            bear.controls.damping = 0.0;
            bear.controls.strain_limit = f64::INFINITY;
            bear.spin = DVec3::new(1.0, 2.0, 3.0);
            let bear = bear.frequency(frequency);
            for (restitution, friction) in [(0.0, 0.5), (0.3, 1.0), (1.0, 0.0), (1.0, 0.5)] {
                let (sum, most) = gains(&bear, restitution, friction, 1.0 / 30.0, 400);
                let what = format!("{clusters:?}, {frequency} Hz, e {restitution}, μ {friction}");
                assert!(most < 1e-6 && sum < 1e-6, "{what}: {most} in a step, {sum} in all");
            }
        }
    }
}

/// An elastic bounce is exact: after a thousand of them a grain still comes up as high.
#[test]
fn a_grain_bounces_for_ever() {
    let grain = shapes::from_points(vec![DVec3::ZERO]).unwrap();
    let mut body = Body::new("grain", grain).at(0.0, 0.3, 0.0);
    body.clusters = Clustering::Whole;
    body.controls.restitution = 1.0;
    body.controls.damping = 0.0;
    let mut s = Builder::new().substeps(1).ground().body(body.frequency(5.0)).build().unwrap();
    let (mut highest, mut bounces, mut last) = (0.0_f64, 0, 0.0);
    for k in 0..30_000 {
        s.step().unwrap();
        let v = s.statistics().momentum.y;
        bounces += usize::from(last < 0.0 && v > 0.0);
        last = v;
        if k > 29_000 {
            highest = highest.max(s.positions(0).map(|p| p.y).sum());
        }
    }
    assert!(bounces > 900, "{bounces}");
    assert!((highest - 0.3).abs() < 0.01, "{highest}");
}

/// A body that starts deep in the ground is brought out of it, not shot.
#[test]
fn what_starts_inside_leaves_at_a_bounded_speed() {
    for solver in SolverKind::SOFT {
        let shape = shapes::tet_box([3; 3], DVec3::splat(0.3), shapes::TetStyle::Five).unwrap();
        let mut body = Body::new("box", shape).at(0.0, -0.43, 0.0);
        if solver.uses_constraints() {
            body = body.elastic(Material::named("rubber").unwrap()).solved_by(solver);
        }
        let mut s = Builder::new().ground().body(body).build().unwrap();
        let mut fastest = 0.0_f64;
        for _ in 0..180 {
            s.step().unwrap();
            fastest = fastest
                .max(s.state().bodies()[0].velocities().iter().map(|v| v.length()).fold(0.0, f64::max));
        }
        assert!(fastest < 2.0, "{solver:?}: {fastest} m/s");
        assert!(s.statistics().max_penetration < 1e-9, "{solver:?} is still inside");
    }
}
