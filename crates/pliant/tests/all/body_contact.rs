//! Bodies that touch each other, whoever moves them.

use crate::common::{bits, run};
use pliant::shapes::{SolidShape, TetStyle};
use pliant::{Body, Builder, DVec3, Material, SolverKind, shapes};

fn rubber(young: f64) -> Material {
    Material { young, density: 1000.0, ..Material::named("rubber").unwrap() }
}

/// A cube of a solver, of 1 kg.
fn cube(name: &str, solver: SolverKind, edge: f64, young: f64) -> Body {
    let size = DVec3::splat(edge);
    let mut body = match solver {
        SolverKind::Rigid => Body::rigid(name, SolidShape::Cuboid { size }.build_rigid().unwrap()),
        SolverKind::Clustered => {
            let mut body = Body::new(name, SolidShape::Cuboid { size }.build(edge / 6.0).unwrap());
            body.controls.stiffness = pliant::Stiffness::Frequency(40.0);
            (body.controls.iterations, body.controls.strain_limit) = (3, 0.1);
            body.cluster_style.symmetric = true;
            body
        }
        _ => {
            let shape = shapes::tet_box([3, 3, 3], size, TetStyle::Five).unwrap();
            let body = Body::new(name, shape).elastic(rubber(young));
            if solver == SolverKind::Projective { body } else { body.solved_by(solver) }
        }
    };
    body.mass = 1.0;
    body
}

/// Without outside forces two bodies that meet keep their momentum, and do not pass through each other.
#[test]
fn any_two_solvers_meet_in_the_air() {
    for (k, a) in SolverKind::ALL.into_iter().enumerate() {
        for b in SolverKind::ALL.into_iter().skip(k) {
            let mut builder = Builder::new().body_contact();
            builder.gravity = DVec3::ZERO;
            let mut left = cube("left", a, 0.1, 1e5).at(-0.1, 0.0, 0.0);
            let mut right = cube("right", b, 0.1, 1e5).at(0.1, 0.013, 0.007);
            left.velocity = DVec3::X;
            right.velocity = -DVec3::X;
            let mut s = builder.body(left).body(right).build().unwrap();
            let before = s.statistics().momentum;
            run(&mut s, 20);
            let after = s.statistics().momentum;
            let most = if a == SolverKind::Newton || b == SolverKind::Newton { 1e-6 } else { 1e-9 };
            assert!((after - before).length() < most, "{a:?} {b:?}: {}", (after - before).length());
            let [p, q] = [0, 1].map(|k| {
                let list: Vec<DVec3> = s.positions(k).collect();
                list.iter().sum::<DVec3>() / list.len() as f64
            });
            println!("{a:?} {b:?}: {:.4} apart, momentum {:.1e}", q.x - p.x, (after - before).length());
            // Edges of rigid cubes may cross by as much as the places on them are apart.
            assert!(q.x - p.x > 0.09, "{a:?} {b:?}: {}", q.x - p.x);
        }
    }
}

/// What lies on another rests on it, and presses on the ground with the weight of both.
#[test]
fn a_cube_rests_on_another() {
    let mut bad = false;
    for solver in SolverKind::ALL {
        let mut builder = Builder::new().body_contact().ground();
        for k in 0..2 {
            let mut body =
                cube(&format!("cube {k}"), solver, 0.1, 1e6).at(0.0, 0.051 + 0.102 * k as f64, 0.0);
            body.controls.damping = 20.0;
            builder = builder.body(body);
        }
        let mut s = builder.build().unwrap();
        run(&mut s, 120);
        let height = |b: usize| s.positions(b).map(|p| p.y).sum::<f64>() / s.positions(b).len() as f64;
        let fastest = (0..2).flat_map(|b| s.velocities(b).map(|v| v.length()).collect::<Vec<_>>());
        let fastest = fastest.fold(0.0, f64::max);
        println!("{solver:?}: {:.5} and {:.5}, fastest {fastest:.2e}", height(0), height(1));
        // Clusters of 40 Hz give way, and swing for a while.
        let (far, fast) = if solver == SolverKind::Clustered { (0.01, 0.2) } else { (1e-3, 1e-4) };
        bad |= (height(1) - 0.15).abs() > far || fastest > fast;
    }
    assert!(!bad);
}

#[test]
fn the_same_bits_for_any_threads() {
    let build = |threads: usize| {
        let mut builder = Builder::new().body_contact().ground();
        builder.threads = threads;
        for (k, solver) in SolverKind::ALL.into_iter().enumerate() {
            builder = builder.body(cube(&format!("cube {k}"), solver, 0.1, 3e5).at(
                0.01 * k as f64,
                0.06 + 0.12 * k as f64,
                0.0,
            ));
        }
        let mut s = builder.build().unwrap();
        run(&mut s, 60);
        bits(&s)
    };
    let one = build(1);
    assert!(one == build(2) && one == build(7));
}

/// Bodies of no common group pass through each other, and so do all where bodies do not touch.
#[test]
fn filters_let_bodies_pass() {
    use pliant::ContactFilter;
    for (on, filter, touch) in [
        (true, ContactFilter::ALL, true),
        (false, ContactFilter::ALL, false),
        (true, ContactFilter::NONE, false),
        (true, ContactFilter { groups: 2, touches: 2, ..ContactFilter::ALL }, false),
        (true, ContactFilter { groups: 3, touches: 1, ..ContactFilter::ALL }, true),
    ] {
        let mut builder = Builder::new();
        builder.body_contact = on;
        builder.gravity = DVec3::ZERO;
        let mut left = cube("left", SolverKind::Projective, 0.1, 1e5).at(-0.1, 0.0, 0.0);
        left.contact_filter = ContactFilter { groups: 1, touches: 1, ..ContactFilter::ALL };
        left.velocity = DVec3::X * 2.0;
        let mut right = cube("right", SolverKind::Projective, 0.1, 1e5).at(0.1, 0.0, 0.0);
        right.contact_filter = filter;
        let mut s = builder.body(left).body(right).build().unwrap();
        run(&mut s, 15);
        let moved = s.state().bodies()[1].velocities().iter().any(|v| v.length() > 0.1);
        assert_eq!(moved, touch, "{on} {filter:?}");
    }
}

/// A bounce of equal masses, head on: they part as fast as their restitution says, and what was at rest takes the motion.
#[test]
fn balls_bounce_as_their_restitution_says() {
    for e in [0.0, 0.5, 1.0] {
        let mut builder = Builder::new().body_contact();
        builder.gravity = DVec3::ZERO;
        for k in 0..2 {
            let shape = SolidShape::Ball { radius: 0.05 }.build_rigid().unwrap();
            let mut ball = Body::rigid(format!("ball {k}"), shape).at(0.3 * k as f64, 0.0, 0.0);
            ball.controls.restitution = e;
            ball.velocity = DVec3::X * (1.0 - k as f64);
            builder = builder.body(ball);
        }
        let mut s = builder.build().unwrap();
        run(&mut s, 40);
        let speed = |b: usize| s.velocities(b).map(|v| v.x).sum::<f64>() / 4.0;
        println!("{e}: {:.4} {:.4}", speed(0), speed(1));
        assert!((speed(1) - speed(0) - e).abs() < 0.01, "{e}: {} {}", speed(0), speed(1));
        assert!((speed(0) + speed(1) - 1.0).abs() < 1e-12);
    }
}

/// What is thrown at a sheet does not pass through it, however fast.
#[test]
fn a_fast_ball_is_caught_by_a_sheet() {
    let sheet = shapes::sheet(0.6, 0.6, 12, 12).unwrap();
    let edge = |p: &DVec3| p.x.abs() > 0.29 || p.z.abs() > 0.29;
    let held: Vec<u32> =
        (0..sheet.points.len() as u32).filter(|i| edge(&sheet.points[*i as usize])).collect();
    for solver in [SolverKind::Rigid, SolverKind::Projective, SolverKind::Clustered] {
        let cloth = Body::new("cloth", sheet.clone()).elastic(Material::named("cotton").unwrap());
        let mut ball = cube("ball", solver, 0.1, 1e5).at(0.01, 0.2, 0.007);
        ball.velocity = -DVec3::Y * 10.0;
        let mut s = Builder::new().body_contact().body(cloth.pin(held.clone())).body(ball).build().unwrap();
        let mut lowest = f64::INFINITY;
        for _ in 0..40 {
            run(&mut s, 1);
            let middle = s.positions(1).map(|p| p.y).sum::<f64>() / s.positions(1).len() as f64;
            let cloth = s.positions(0).map(|p| p.y).fold(f64::INFINITY, f64::min);
            lowest = lowest.min(middle - cloth);
        }
        println!("{solver:?}: {lowest:.4}");
        assert!(lowest > -0.05, "{solver:?}: {lowest}");
    }
}

/// A checkpoint in the middle of a fall goes on with the same bits.
#[test]
fn a_checkpoint_while_bodies_touch() {
    let build = || {
        let mut builder = Builder::new().body_contact().ground();
        for (k, solver) in
            [SolverKind::Clustered, SolverKind::Rigid, SolverKind::Projective].into_iter().enumerate()
        {
            let at = (0.01 * k as f64, 0.06 + 0.12 * k as f64);
            builder = builder.body(cube(&format!("cube {k}"), solver, 0.1, 3e5).at(at.0, at.1, 0.0));
        }
        builder.build().unwrap()
    };
    let mut s = build();
    run(&mut s, 25);
    let saved = s.checkpoint();
    run(&mut s, 15);
    let mut again = build();
    again.restore(&saved).unwrap();
    for _ in 0..15 {
        again.drop_caches();
        run(&mut again, 1);
    }
    assert!(bits(&s) == bits(&again));
}

/// Bodies without a surface touch as balls around their particles, each other and what has one.
#[test]
fn clouds_touch_by_their_particles() {
    let lattice = |n: i32| {
        let place =
            |k: i32| DVec3::new(f64::from(k / (n * n)), f64::from(k / n % n), f64::from(k % n)) * 0.03;
        (0..n * n * n).map(place).collect::<Vec<DVec3>>()
    };
    for other in [None, Some(SolverKind::Projective), Some(SolverKind::Rigid)] {
        let mut builder = Builder::new().body_contact();
        builder.gravity = DVec3::ZERO;
        let cloud = |seed: u64| {
            let mut body = crate::common::cloud(lattice(4), seed);
            body.name = format!("cloud {seed}");
            (body.mass, body.controls.stiffness) = (1.0, pliant::Stiffness::Frequency(40.0));
            body
        };
        let mut left = cloud(1).at(-0.15, 0.0, 0.0);
        left.velocity = DVec3::X;
        let right = match other {
            None => cloud(2).at(0.0, 0.01, 0.004),
            Some(solver) => cube("cube", solver, 0.1, 1e5).at(0.05, 0.05, 0.05),
        };
        let mut s = builder.body(left).body(right).build().unwrap();
        let before = s.statistics().momentum;
        run(&mut s, 30);
        let after = s.statistics().momentum;
        let middle = |b: usize| s.positions(b).map(|p| p.x).sum::<f64>() / s.positions(b).len() as f64;
        println!(
            "{other:?}: {:.4} and {:.4}, momentum {:.1e}",
            middle(0),
            middle(1),
            (after - before).length()
        );
        assert!((after - before).length() < 1e-9, "{other:?}");
        assert!(middle(1) - middle(0) > 0.08, "{other:?}: {} {}", middle(0), middle(1));
    }
}

/// A heap of thin bodies that begin in each other and fall on the ground: what contacts ask for never contradicts itself without end, so
/// there is never more energy than the fall gives.
#[test]
fn a_heap_that_begins_tangled_gains_no_energy() {
    let (bear, _) = SolidShape::GummyBear { height: 0.18 }.build_tets(0.022).unwrap();
    let mut builder = Builder::new().body_contact().ground();
    for k in 0..4 {
        let (i, level) = (f64::from(k % 2), f64::from(k / 2));
        let mut body = Body::new(format!("bear {k}"), bear.clone()).elastic(rubber(3e4));
        body.rotation = pliant::DQuat::from_scaled_axis(DVec3::new(0.9, 1.7, -0.6) * f64::from(k + 1));
        body.controls.damping = 2.0;
        builder = builder.body(body.at(0.11 * i, 0.2 + 0.13 * level, 0.02 * level));
    }
    let mut s = builder.build().unwrap();
    let before = s.statistics();
    let had = before.kinetic + before.elastic + before.gravity;
    let mut most = 0.0_f64;
    for _ in 0..60 {
        run(&mut s, 1);
        let now = s.statistics();
        most = most.max(now.kinetic + now.elastic + now.gravity);
        assert!(most < 1.05 * had, "{had} J became {most} J");
    }
    println!("{had:.3} J, at most {most:.3} J");
}
