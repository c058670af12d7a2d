//! Solids at obstacles: friction, bounces, rolling, and what contact may do to the energy.

use super::*;
use crate::common::*;
use pliant::{Builder, Collider, HalfSpace, Primitive, Statistics};
use pliant_geometry::SplitMix64;
use std::f64::consts::{FRAC_PI_2, TAU};

fn ball(radius: f64) -> Body {
    Body::rigid("ball", SolidShape::Ball { radius }.build_rigid().unwrap())
}

fn ground(friction: f64, restitution: f64) -> HalfSpace {
    HalfSpace { friction, restitution, ..HalfSpace::ground() }
}

/// What the step keeps in free flight: ½ m v·(v + h g) in place of ½ m v², beside what the height is worth.
fn kept(s: &Statistics, substeps: u32) -> f64 {
    s.kinetic + s.gravity - 0.5 * 9.81 / 60.0 / f64::from(substeps) * s.momentum.y
}

/// How far what the step keeps is above both what it was and the energy there was.
fn rise(before: &Statistics, after: &Statistics, substeps: u32) -> f64 {
    kept(after, substeps) - kept(before, substeps).max(before.kinetic + before.gravity)
}

fn velocity(s: &Simulation) -> DVec3 {
    s.velocities(0).sum::<DVec3>() / 4.0
}

/// A flat box on a slope of so many degrees.
fn on_slope(degrees: f64, friction: f64) -> (Simulation, DVec3) {
    let angle = degrees.to_radians();
    let normal = DVec3::new(angle.sin(), angle.cos(), 0.0);
    let mut body = cuboid(DVec3::new(0.4, 0.2, 0.3));
    body.rotation = DQuat::from_rotation_z(-angle);
    body.position = normal * 0.1;
    let plane = HalfSpace { normal, offset: 0.0, friction, restitution: 0.0 };
    let s = Builder::new().collider(plane).body(body).build().unwrap();
    (s, DVec3::new(angle.cos(), -angle.sin(), 0.0))
}

#[test]
fn friction_holds_a_degree_below_its_angle_and_lets_slide_a_degree_above() {
    for friction in [0.2_f64, 0.5, 0.9] {
        let angle = friction.atan().to_degrees();
        let (mut s, _) = on_slope(angle - 1.0, friction);
        run(&mut s, 60);
        let before = center(&s, 0);
        run(&mut s, 300);
        let crept = center(&s, 0).distance(before) / 5.0;
        assert!(crept < 1e-5, "μ {friction}: creeps at {crept} m/s");

        let (mut s, down) = on_slope(angle + 1.0, friction);
        run(&mut s, 60);
        let before = velocity(&s).dot(down);
        run(&mut s, 120);
        let gained = (velocity(&s).dot(down) - before) / 2.0;
        let (sine, cosine) = (angle + 1.0).to_radians().sin_cos();
        let wanted = 9.81 * (sine - friction * cosine);
        println!("μ {friction}: creeps at {crept:.1e} m/s, slides with {gained:.6} m/s² of {wanted:.6}");
        assert!((gained / wanted - 1.0).abs() < 0.01, "μ {friction}: {gained} m/s² instead of {wanted}");
    }
}

#[test]
fn a_sliding_box_stops_after_the_way_that_friction_says() {
    for (friction, speed) in [(0.3, 2.0), (0.6, 3.0)] {
        let mut body = cuboid(DVec3::new(0.4, 0.1, 0.4)).at(0.0, 0.05, 0.0);
        body.velocity = DVec3::new(speed, 0.0, 0.0);
        let mut s = Builder::new().collider(ground(friction, 0.0)).body(body).build().unwrap();
        run(&mut s, 120);
        let (distance, wanted) = (center(&s, 0).x, speed * speed / (2.0 * friction * 9.81));
        println!("μ {friction}: stops after {distance:.5} m of {wanted:.5}");
        assert!((distance / wanted - 1.0).abs() < 0.02, "{distance} m instead of {wanted}");
        assert!(velocity(&s).length() < 1e-9 && center(&s, 0).z.abs() < 1e-9);
    }
}

#[test]
fn a_ball_bounces_to_the_height_of_its_restitution() {
    for restitution in [0.3, 0.6, 0.9, 1.0] {
        let mut body = ball(0.1).at(0.0, 1.1, 0.0);
        body.controls.restitution = restitution;
        let mut s = Builder::new().collider(ground(0.5, 0.0)).substeps(1).body(body).build().unwrap();
        let (mut heights, mut rising, mut highest) = (Vec::new(), false, 0.0);
        for _ in 0..240 {
            s.step().unwrap();
            let (y, v) = (center(&s, 0).y - 0.1, velocity(&s).y);
            if v > 0.0 {
                // By the energy that the step keeps.
                (rising, highest) = (true, y + 0.5 * v * (v - 9.81 / 60.0) / 9.81);
            } else if rising {
                heights.push(highest);
                rising = false;
            }
        }
        let e2: f64 = restitution * restitution;
        println!("e {restitution}: {heights:?}");
        for (k, height) in heights.iter().take(3).enumerate() {
            let wanted = e2.powi(k as i32 + 1);
            assert!((height / wanted - 1.0).abs() < 0.03, "e {restitution}: {height} m instead of {wanted}");
        }
        assert!(!heights.is_empty());
    }
}

/// Sliding, it is braked until it rolls: with 5/7 of its speed if it did not turn, and with 2/7 of that of its surface if it
/// only turned.
#[test]
fn a_sliding_ball_ends_rolling_at_five_sevenths_of_its_speed() {
    let radius = 0.1;
    for (speed, turning, wanted) in [(2.0, 0.0, 2.0 * 5.0 / 7.0), (0.0, -30.0, 30.0 * radius * 2.0 / 7.0)] {
        let mut body = ball(radius).at(0.0, radius, 0.0);
        (body.velocity, body.spin) = (DVec3::X * speed, DVec3::Z * turning);
        let mut s = Builder::new().collider(ground(0.3, 0.0)).body(body).build().unwrap();
        run(&mut s, 120);
        let (v, w) = (velocity(&s), spin(&s, 0));
        println!("rolls at {:.6} m/s of {wanted:.6}, turns at {:.6} of {:.6}", v.x, w.z, -wanted / radius);
        assert!((v.x / wanted - 1.0).abs() < 1e-3, "{v} instead of {wanted}");
        assert!((v.x + w.z * radius).abs() < 1e-6 && (v.y.abs() + v.z.abs()) < 1e-9);
        // On a plane a rolling ball is not slowed.
        run(&mut s, 600);
        assert!((velocity(&s).x / v.x - 1.0).abs() < 1e-6, "{} after {}", velocity(&s).x, v.x);
    }
}

/// Down a slope it rolls with 5/7 of what it would slide with.
#[test]
fn a_ball_rolls_down_a_slope() {
    let angle = 20_f64.to_radians();
    let normal = DVec3::new(angle.sin(), angle.cos(), 0.0);
    let plane = HalfSpace { normal, offset: 0.0, friction: 0.5, restitution: 0.0 };
    let mut body = ball(0.2);
    body.position = normal * 0.2;
    let mut s = Builder::new().collider(plane).body(body).build().unwrap();
    run(&mut s, 120);
    let gained = velocity(&s).length() / 2.0;
    let wanted = 9.81 * angle.sin() * 5.0 / 7.0;
    assert!((gained / wanted - 1.0).abs() < 1e-3, "{gained} m/s² instead of {wanted}");
}

/// A cylinder touches by the corners of its rims, and what is struck by a corner loses what a prism loses: 1 − (½ + cos θ)/(3/2) of
/// its speed at each of n corners θ = 2π/n apart. So it rolls by v̇ = ⅔ g sin α − v² θ/3R, which is 2/3 of sliding at first. Which
/// corner is below when it begins is worth a hundredth of the way.
#[test]
fn a_cylinder_rolls_as_the_prism_that_its_rims_are() {
    let (angle, radius) = (20_f64.to_radians(), 0.07);
    let normal = DVec3::new(angle.sin(), angle.cos(), 0.0);
    let plane = HalfSpace { normal, offset: 0.0, friction: 0.5, restitution: 0.0 };
    let shape = SolidShape::Cylinder { radius, height: 0.16 }.build_rigid().unwrap();
    let corners = shape.contact.len() / 2;
    let gained = 9.81 * angle.sin() * 2.0 / 3.0;
    let steady = (gained * 3.0 * radius * corners as f64 / TAU).sqrt();
    let wanted = steady * steady / gained * (gained / steady / 3.0).cosh().ln();
    let off = [32, 4].map(|substeps| {
        let mut body = Body::rigid("roller", shape.clone());
        body.position = normal * radius;
        body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
        let mut s = Builder::new().collider(plane).body(body).substeps(substeps).build().unwrap();
        let start = center(&s, 0);
        run(&mut s, 20);
        let distance = center(&s, 0).distance(start);
        println!("{corners} corners, {substeps} substeps: {distance:.5} m of {wanted:.5}");
        (distance / wanted - 1.0).abs()
    });
    assert!(off[0] < 0.01 && off[1] < 0.03, "{off:?}");
}

#[test]
fn a_box_dropped_on_a_corner_lands_flat_and_gains_nothing() {
    for (k, turn) in
        [DVec3::new(0.4, 0.2, 0.7), DVec3::new(1.1, -0.3, 0.4), DVec3::ZERO].into_iter().enumerate()
    {
        let mut body = cuboid(DVec3::new(0.3, 0.2, 0.4)).at(0.0, 1.0, 0.0);
        body.rotation = DQuat::from_scaled_axis(turn);
        let mut s = Builder::new().collider(ground(0.5, 0.0)).body(body).build().unwrap();
        let mut last = s.statistics();
        for _ in 0..300 {
            s.step().unwrap();
            let now = s.statistics();
            assert!(rise(&last, &now, 4) < 1e-8, "case {k}: gains {} J", rise(&last, &now, 4));
            assert!(now.max_penetration < 1e-10, "case {k}: {}", now.max_penetration);
            last = now;
        }
        let end = s.statistics();
        let up = (turn_of(&s, 0).conjugate() * DVec3::Y).abs();
        let flat = up.max_element();
        println!("case {k}: kinetic {:.1e} J, {up}, at {}", end.kinetic, center(&s, 0).y);
        assert!(end.kinetic < 1e-12, "case {k}: still moving, {} J", end.kinetic);
        assert!(flat > 1.0 - 1e-9, "case {k}: {up}");
    }
}

/// What a throw of a solid at obstacles does to its energy, relative to what it had.
fn throw(seed: u64, restitution: f64, friction: f64) -> (f64, f64) {
    let mut rng = SplitMix64::new(seed);
    let mut number = |lo: f64, hi: f64| lo + (hi - lo) * rng.unit();
    let size = |number: &mut dyn FnMut(f64, f64) -> f64| {
        DVec3::new(number(0.05, 0.5), number(0.05, 0.5), number(0.05, 0.5))
    };
    let shape = match seed % 5 {
        0 => SolidShape::Ball { radius: number(0.05, 0.3) },
        1 => SolidShape::Capsule { radius: number(0.05, 0.1), height: number(0.2, 0.6) },
        2 => SolidShape::Cylinder { radius: number(0.05, 0.2), height: number(0.05, 0.6) },
        _ => SolidShape::Cuboid { size: size(&mut number) },
    };
    let mut body = Body::rigid("thrown", shape.build_rigid().unwrap()).at(0.0, 1.0, 0.0);
    let mut vector = |most: f64| DVec3::new(number(-most, most), number(-most, most), number(-most, most));
    body.rotation = DQuat::from_scaled_axis(vector(3.0));
    (body.velocity, body.spin) = (vector(5.0), vector(20.0));
    body.controls.restitution = restitution;
    let substeps = 1 + (seed % 4) as u32;
    let wall = |x: f64, z: f64| HalfSpace {
        normal: DVec3::new(x, 0.3, z).normalize(),
        offset: -1.0,
        friction,
        restitution: 0.0,
    };
    let mut s = Builder::new()
        .collider(ground(friction, 0.0))
        .collider(wall(1.0, 0.2))
        .collider(wall(-1.0, 0.1))
        .collider(wall(0.1, 1.0))
        .collider(wall(0.0, -1.0))
        .substeps(substeps)
        .body(body)
        .build()
        .unwrap();
    let first = s.statistics();
    let scale = first.kinetic + first.gravity + 9.81;
    let (mut last, mut rises, mut deepest) = (first, 0.0_f64, 0.0_f64);
    for _ in 0..180 {
        s.step().unwrap();
        let now = s.statistics();
        rises = rises.max(rise(&last, &now, substeps) / scale);
        deepest = deepest.max(now.max_penetration);
        last = now;
    }
    (rises, deepest)
}

fn throws(count: u64) {
    let (mut rises, mut deepest) = (0.0_f64, 0.0_f64);
    for seed in 1..=count {
        let restitution = [0.0, 0.5, 1.0][(seed / 5 % 3) as usize];
        let friction = [0.0, 0.3, 0.8, 1.5][(seed / 15 % 4) as usize];
        let (rise, deep) = throw(seed, restitution, friction);
        if rise > 1e-6 || deep > 1e-6 {
            println!("throw {seed}, e {restitution}, μ {friction}: gains {rise:.1e}, {deep:.1e} m inside");
        }
        (rises, deepest) = (rises.max(rise), deepest.max(deep));
    }
    println!("{count} throws: energy rises by {rises:.1e} of what there is, {deepest:.1e} m inside");
    assert!(rises < 1e-6 && deepest < 1e-6);
}

#[test]
fn no_impact_adds_energy() {
    throws(300);
}

#[test]
#[ignore = "three minutes"]
fn no_impact_of_many_adds_energy() {
    throws(10_000);
}

#[test]
fn solids_rest_on_what_they_touch_by() {
    let down = [
        (SolidShape::Ball { radius: 0.2 }, DQuat::IDENTITY, 0.2),
        (SolidShape::Capsule { radius: 0.1, height: 0.5 }, DQuat::from_rotation_z(FRAC_PI_2), 0.1),
        (SolidShape::Cylinder { radius: 0.2, height: 0.1 }, DQuat::IDENTITY, 0.05),
        (SolidShape::Cuboid { size: DVec3::new(0.3, 0.2, 0.1) }, DQuat::from_rotation_x(FRAC_PI_2), 0.05),
        (SolidShape::Torus { major: 0.2, minor: 0.05 }, DQuat::IDENTITY, 0.05),
    ];
    for (shape, rotation, height) in down {
        let mut body = Body::rigid("solid", shape.build_rigid().unwrap()).at(0.0, height + 0.05, 0.0);
        body.rotation = rotation;
        let mut s = Builder::new().collider(ground(0.5, 0.0)).body(body).build().unwrap();
        run(&mut s, 180);
        let (y, now) = (center(&s, 0).y, s.statistics());
        assert!((y - height).abs() < 2e-3 * height, "{shape:?}: {y} instead of {height}");
        assert!(now.kinetic < 1e-9 && now.max_penetration < 1e-10, "{shape:?}: {now:?}");
        assert!(s.touches(0).len() > 0);
    }
}

#[test]
fn nothing_enters_colliders_of_other_shapes() {
    let solids = [Primitive::Ball { radius: 0.6 }, Primitive::Cuboid { half: DVec3::new(0.5, 0.3, 0.5) }];
    for (k, solid) in solids.into_iter().enumerate() {
        for shape in [
            SolidShape::Ball { radius: 0.15 },
            SolidShape::Cuboid { size: DVec3::splat(0.2) },
            SolidShape::Capsule { radius: 0.08, height: 0.4 },
        ] {
            let mut body = Body::rigid("solid", shape.build_rigid().unwrap()).at(0.1, 1.5, 0.05);
            body.spin = DVec3::new(1.0, 2.0, 3.0);
            let collider = Collider::solid(solid, pliant::DAffine3::IDENTITY);
            let mut s = Builder::new().ground().collider(collider).body(body).build().unwrap();
            let mut deepest = 0.0_f64;
            for _ in 0..240 {
                s.step().unwrap();
                deepest = deepest.max(s.statistics().max_penetration);
            }
            println!("collider {k}, {shape:?}: {deepest:.1e} m inside");
            assert!(deepest < 1e-5, "collider {k}, {shape:?}: {deepest} m inside");
        }
    }
}
