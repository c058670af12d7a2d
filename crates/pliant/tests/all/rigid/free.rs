//! Free motion: parabolas, momenta, and turning as Euler's equations say.

use super::*;
use crate::common::*;
use pliant::{Builder, Control, Edit, Section};

const PLATE: DVec3 = DVec3::new(0.01, 0.02, 0.0295);

/// The arithmetic-geometric mean, by which complete elliptic integrals of the first kind are told: K(m) = π/2 agm(1, √(1 − m)).
fn agm(mut a: f64, mut b: f64) -> f64 {
    while (a - b).abs() > 1e-15 * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// The time between two flips of a solid that turns nearly about its middle axis: half a period of the elliptic solution
/// (Landau and Lifshitz, Mechanics, §37).
fn flip_time([i1, i2, i3]: [f64; 3], spin: DVec3) -> f64 {
    let (energy, square) = (
        i1 * spin.x * spin.x + i2 * spin.y * spin.y + i3 * spin.z * spin.z,
        (i1 * spin.x).powi(2) + (i2 * spin.y).powi(2) + (i3 * spin.z).powi(2),
    );
    // As given there for square > energy i2, else with 1 and 3 exchanged.
    let (i1, i3) = if square > energy * i2 { (i1, i3) } else { (i3, i1) };
    let rate = ((i3 - i2) * (square - energy * i1) / (i1 * i2 * i3)).sqrt();
    let m = (i2 - i1) * (energy * i3 - square) / ((i3 - i2) * (square - energy * i1));
    let quarter = std::f64::consts::FRAC_PI_2 / agm(1.0, (1.0 - m).sqrt());
    2.0 * quarter / rate
}

#[test]
fn a_solid_flips_when_the_elliptic_solution_says_and_keeps_its_angular_momentum() {
    // 1 : 2 : 3 is a plate without thickness; this one has one.
    let inertia = DVec3::new(1.0, 2.0, 2.9999);
    let start = DVec3::new(0.01, 10.0, 0.01);
    let mut body = with_inertia(0.01 * inertia);
    body.spin = start;
    let mut s = weightless(body).build().unwrap();
    let wanted = flip_time(inertia.to_array(), start);
    let first = s.statistics();
    let (mut flips, mut before, mut worst, mut drift) = (Vec::new(), start.y, 0.0_f64, 0.0_f64);
    for k in 1..=3600 {
        s.step().unwrap();
        // About its own middle axis.
        let own = (turn_of(&s, 0).conjugate() * spin(&s, 0)).y;
        if own * before < 0.0 {
            flips.push((f64::from(k) - own / (own - before)) / 60.0);
        }
        before = own;
        let now = s.statistics();
        worst = worst.max((now.kinetic / first.kinetic - 1.0).abs());
        drift = drift
            .max((now.angular_momentum - first.angular_momentum).length() / first.angular_momentum.length());
    }
    assert!(flips.len() as f64 > 60.0 / wanted - 2.0 && flips.len() > 10, "{flips:?}, every {wanted} s");
    // The first one begins a quarter of the way on or back, the others follow evenly.
    let between: Vec<f64> = flips.windows(2).map(|w| w[1] - w[0]).collect();
    for time in &between {
        assert!((time / wanted - 1.0).abs() < 0.01, "{time} s instead of {wanted}: {between:?}");
    }
    let all = (flips[flips.len() - 1] - flips[0]) / between.len() as f64;
    println!(
        "{} flips, every {all:.6} s (elliptic {wanted:.6}), energy within {worst:.1e}, momentum within {drift:.1e}",
        flips.len()
    );
    assert!((all / wanted - 1.0).abs() < 0.002, "{all} s instead of {wanted}");
    assert!(drift < 1e-12, "{drift}");
    assert!(worst < 1e-3, "{worst}");
}

#[test]
fn it_falls_on_the_parabola_of_an_explicit_step_and_stays_rigid() {
    let mut body = with_inertia(PLATE).at(1.0, 50.0, -2.0);
    body.rotation = DQuat::from_scaled_axis(DVec3::new(0.4, 0.2, -0.7));
    body.velocity = DVec3::new(3.0, 4.0, -1.0);
    body.spin = DVec3::new(5.0, -7.0, 9.0);
    let rest = body.shape.points.clone();
    let mut s = Builder::new().substeps(3).body(body).build().unwrap();
    let h: f64 = 1.0 / 180.0;
    for frame in 1..=180_u32 {
        s.step().unwrap();
        let n = f64::from(3 * frame);
        let fallen = DVec3::new(0.0, -9.81, 0.0) * (h * h * 0.5 * n * (n + 1.0));
        let wanted = DVec3::new(1.0, 50.0, -2.0) + DVec3::new(3.0, 4.0, -1.0) * (n * h) + fallen;
        assert!((center(&s, 0) - wanted).length() < 1e-12, "{}", center(&s, 0) - wanted);
        let x: Vec<DVec3> = s.positions(0).collect();
        for i in 0..4 {
            for j in 0..i {
                assert!((x[i].distance(x[j]) - rest[i].distance(rest[j])).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn drag_slows_all_of_its_motion_and_forces_move_its_mass() {
    let mut body = cuboid(DVec3::new(0.1, 0.2, 0.3)).mass(2.0);
    (body.velocity, body.spin) = (DVec3::new(1.0, 0.0, 0.0), DVec3::new(0.0, 6.0, 0.0));
    body.controls.drag = 0.7;
    let mut s = weightless(body).build().unwrap();
    run(&mut s, 60);
    let keep = (-0.7_f64).exp();
    assert!((s.velocities(0).sum::<DVec3>() / 4.0 - DVec3::X * keep).length() < 1e-12);
    assert!((spin(&s, 0) - DVec3::Y * 6.0 * keep).length() < 1e-12);
    let mut s = weightless(cuboid(DVec3::new(0.1, 0.2, 0.3)).mass(2.0)).build().unwrap();
    s.set(Control::Force(0.into()), DVec3::new(0.0, 0.0, 3.0)).unwrap();
    run(&mut s, 60);
    assert!((s.statistics().momentum - DVec3::Z * 3.0).length() < 1e-12);
    // Four times as heavy, it gains a quarter of the speed.
    s.set(Control::Mass(0.into()), 8.0).unwrap();
    run(&mut s, 60);
    assert!((s.velocities(0).sum::<DVec3>() / 4.0 - DVec3::Z * (1.5 + 0.375)).length() < 1e-12);
}

/// An impulse at a point of it is exactly its momentum and its moment.
#[test]
fn a_push_at_a_point_gives_its_impulse_and_its_moment() {
    let mut body = with_inertia(PLATE).at(2.0, 1.0, -3.0);
    body.rotation = DQuat::from_scaled_axis(DVec3::new(0.4, 0.2, -0.7));
    let mut s = weightless(body).build().unwrap();
    let (at, impulse) = (DVec3::new(2.3, 1.1, -2.6), DVec3::new(0.2, -0.4, 0.3));
    let point = s.point_of(0, at).unwrap();
    let there: Vec<(u32, f64)> = point.parts().collect();
    s.push(0, &there, impulse).unwrap();
    let check = |s: &Simulation| {
        let now = s.statistics();
        assert!((now.momentum - impulse).length() < 1e-14);
        assert!((now.angular_momentum - at.cross(impulse)).length() < 1e-13);
    };
    check(&s);
    run(&mut s, 120);
    check(&s);
    let x: DVec3 = point.parts().map(|(i, w)| s.positions(0).nth(i as usize).unwrap() * w).sum();
    let own = s
        .placement(0)
        .unwrap()
        .transform_point3(s.model().get(0).unwrap().parts.rigid().map(|r| r.center).unwrap());
    assert!((own - center(&s, 0)).length() < 1e-14 && x.distance(own) > 0.1);
}

#[test]
fn it_goes_on_from_a_checkpoint_in_the_middle_of_tumbling() {
    let build = || {
        let mut body = with_inertia(PLATE).at(0.0, 3.0, 0.0);
        body.spin = DVec3::new(0.01, 10.0, 0.01);
        Builder::new().ground().body(body).build().unwrap()
    };
    let mut s = build();
    run(&mut s, 40);
    let checkpoint = s.checkpoint();
    let mut other = build();
    other.restore(&checkpoint).unwrap();
    // Also where the body came by an edit.
    let mut edited = build();
    let added = cuboid(DVec3::new(0.1, 0.2, 0.3)).at(2.0, 1.0, 0.0);
    edited.add(Body { name: "late".into(), ..added }).unwrap();
    run(&mut edited, 10);
    let mut again = build();
    again.restore(&edited.checkpoint()).unwrap();
    for _ in 0..60 {
        run(&mut s, 1);
        other.drop_caches();
        run(&mut other, 1);
        run(&mut edited, 1);
        run(&mut again, 1);
    }
    assert_eq!(bits(&s), bits(&other));
    assert_eq!(bits(&edited), bits(&again));
    assert_eq!(edited.checkpoint(), again.checkpoint());
}

#[test]
fn teleports_turn_its_axes_with_it() {
    let mut body = with_inertia(PLATE);
    body.spin = DVec3::new(1.0, 10.0, 3.0);
    let mut s = weightless(body).build().unwrap();
    run(&mut s, 7);
    let mut moved = weightless(with_inertia(PLATE)).build().unwrap();
    let to = pliant::DAffine3::from_rotation_translation(
        DQuat::from_scaled_axis(DVec3::new(0.3, -1.2, 0.5)),
        DVec3::new(4.0, 5.0, 6.0),
    );
    moved.set_state(s.state().clone()).unwrap();
    moved.teleport(0, to).unwrap();
    run(&mut s, 50);
    run(&mut moved, 50);
    for (a, b) in s.positions(0).zip(moved.positions(0)) {
        assert!((to.transform_point3(a) - b).length() < 1e-12);
    }
    let axes = &s.state().bodies()[0].memory()[Section::Orientation];
    assert!((axes.iter().map(|v| v * v).sum::<f64>() - 1.0).abs() < 1e-15);
    // What it is at rest can change, of the same four particles.
    let heavier = with_inertia(DVec3::new(0.03, 0.02, 0.03)).mass(2.0);
    s.edit(&Edit::Change(0.into(), Box::new(heavier))).unwrap();
    let before = s.statistics().angular_momentum;
    run(&mut s, 50);
    assert!((s.statistics().angular_momentum - before).length() < 0.5 * before.length());
}
