//! Hinges that are limited and driven: against closed forms, and between bodies of every solver.

use crate::common::*;
use pliant::shapes::SolidShape;
use pliant::{
    Attachment, Body, Builder, Control, Coupling, CouplingId, DMat3, DVec3, Glue, Material, Simulation,
    SolverKind, WorldFrame, shapes,
};
use std::f64::consts::PI;

/// A plate of 1 kg, 0.4 m along x from its hinge at the origin, which is about z and held by the world.
fn door(coupling: impl Fn(Coupling) -> Coupling, gravity: f64) -> Simulation {
    let size = DVec3::new(0.4, 0.1, 0.3);
    let mut plate = Body::rigid("plate", SolidShape::Cuboid { size }.build_rigid().unwrap());
    plate.position = DVec3::X * 0.2;
    let mut builder = Builder::new().body(plate);
    builder.gravity = DVec3::NEG_Y * gravity;
    let mut s = builder.build().unwrap();
    hang(&mut s, 0, coupling);
    s
}

/// Hinges the world and a body at the origin, about z.
fn hang(s: &mut Simulation, body: usize, coupling: impl Fn(Coupling) -> Coupling) -> CouplingId {
    let frame = s.frame_near(body, DVec3::ZERO, DMat3::IDENTITY, &Glue::default()).unwrap();
    let world = WorldFrame { at: DVec3::ZERO, axes: DMat3::IDENTITY };
    s.couple(coupling(Coupling::hinge(world, frame))).unwrap()
}

/// Its moment of inertia about the hinge.
const INERTIA: f64 = (0.4 * 0.4 + 0.1 * 0.1) / 12.0 + 0.2 * 0.2;

/// The angle of the plate.
fn angle(s: &Simulation) -> f64 {
    let turn = s.placement(0).unwrap().matrix3;
    turn.x_axis.y.atan2(turn.x_axis.x)
}

fn spin(s: &mut Simulation, speed: f64) {
    // Two pushes of half each, at the ends of a lever through the middle, and one that moves the middle along.
    let omega = DVec3::Z * speed;
    let mut state = s.state().clone();
    let x: Vec<DVec3> = s.positions(0).collect();
    let mut v = state.bodies_mut()[0].velocities_mut();
    x.iter().enumerate().for_each(|(i, x)| v.set(i, omega.cross(*x)));
    s.set_state(state).unwrap();
}

#[test]
fn a_limit_stops_a_door_and_gives_nothing() {
    for speed in [0.5, 6.0, -20.0] {
        let mut s = door(|c| c.limited(-0.7, 1.1), 0.0);
        spin(&mut s, speed);
        let mut energy = s.statistics().kinetic;
        let (mut least, mut most) = (0.0_f64, 0.0_f64);
        for _ in 0..240 {
            s.step().unwrap();
            (least, most) = (least.min(angle(&s)), most.max(angle(&s)));
            let now = s.statistics().kinetic;
            assert!(now <= energy * (1.0 + 1e-9) + 1e-12, "{speed}: {now} after {energy}");
            energy = now;
        }
        assert!(least > -0.7 - 1e-6 && most < 1.1 + 1e-6, "{speed}: {least} to {most}");
        let reached = if speed > 0.0 { most - 1.1 } else { least + 0.7 };
        assert!(reached.abs() < 1e-6, "{speed}: it stops {reached} rad from its limit");
    }
}

#[test]
fn an_arm_comes_to_rest_on_its_limit() {
    let mut s = door(|c| c.limited(-0.5, 2.0), 9.81);
    run(&mut s, 240);
    assert!((angle(&s) + 0.5).abs() < 1e-6, "{}", angle(&s));
    assert!(s.statistics().kinetic < 1e-10, "{}", s.statistics().kinetic);
}

#[test]
fn a_motor_reaches_its_speed_as_fast_as_its_torque_allows() {
    let (torque, speed) = (0.2, 3.0);
    let mut s = door(|c| c.driven(speed, torque), 0.0);
    let mut turned = 0.0;
    for k in 1..=120 {
        let before = angle(&s);
        s.step().unwrap();
        turned += (angle(&s) - before + PI).rem_euclid(2.0 * PI) - PI;
        let t = f64::from(k) / 60.0;
        // θ = τ t (t + h)/2I until the speed is reached: substeps of h take the velocity of their end.
        let (h, reached) = (1.0 / 240.0, speed * INERTIA / torque);
        let wanted = match t < reached {
            true => 0.5 * torque / INERTIA * t * (t + h),
            false => speed * (t - 0.5 * (reached - h)),
        };
        assert!((turned - wanted).abs() < 2e-3 * wanted.max(0.3), "at {t} s: {turned} instead of {wanted}");
    }
    // The motor's work is all the energy there is, and is told.
    let kinetic = s.statistics().kinetic;
    assert!((kinetic - 0.5 * INERTIA * speed * speed).abs() < 0.01 * kinetic, "{kinetic}");
}

#[test]
fn a_motor_of_any_torque_keeps_its_speed_under_load_and_tells_its_work() {
    let mut s = door(|c| c.driven(1.5, f64::INFINITY), 9.81);
    let before = s.statistics();
    let mut put_in = 0.0;
    for k in 1..=60 {
        put_in += s.step().unwrap().coupling_energy;
        let wanted = 1.5 * f64::from(k) / 60.0;
        assert!((angle(&s) - wanted).abs() < 1e-6, "step {k}: {} instead of {wanted}", angle(&s));
    }
    let after = s.statistics();
    let gained = after.kinetic + after.gravity - before.kinetic - before.gravity;
    assert!((put_in - gained).abs() < 0.03 * gained, "{put_in} J put in, {gained} J gained");
}

#[test]
fn a_motor_too_weak_lets_go_and_a_brake_slows() {
    // It takes 1.96 N m to hold the plate.
    let mut s = door(|c| c.driven(0.0, 3.0), 9.81);
    run(&mut s, 60);
    assert!(angle(&s).abs() < 1e-6, "a strong brake holds: {}", angle(&s));
    let hinge = s.model().couplings()[0].id;
    s.set(Control::MotorTorque(hinge), 1.0).unwrap();
    run(&mut s, 15);
    assert!(angle(&s) < -0.05, "a weak one slips: {}", angle(&s));
    let mut s = door(|c| c.driven(0.0, 0.05), 0.0);
    spin(&mut s, 2.0);
    run(&mut s, 30);
    let speed = 2.0 - 0.05 / INERTIA * 0.5;
    let found = (2.0 * s.statistics().kinetic / INERTIA).sqrt();
    assert!((found - speed).abs() < 0.01, "{found} instead of {speed} rad/s");
    run(&mut s, 240);
    assert!(s.statistics().kinetic < 1e-12, "it stops, and stays");
}

#[test]
fn a_motor_stops_at_a_limit_and_turns_back_when_told() {
    let mut s = door(|c| c.driven(4.0, 5.0).limited(-0.3, 0.8), 9.81);
    run(&mut s, 60);
    assert!((angle(&s) - 0.8).abs() < 1e-6, "{}", angle(&s));
    let hinge = s.model().couplings()[0].id;
    s.set(Control::MotorSpeed(hinge), -4.0).unwrap();
    run(&mut s, 60);
    assert!((angle(&s) + 0.3).abs() < 1e-6, "{}", angle(&s));
    assert!(s.set(Control::MotorSpeed(CouplingId::from(9)), 1.0).is_err());
}

/// A bar of 2×1×1 cells with one end at the origin.
fn bar(name: &str, solver: SolverKind, side: f64) -> Body {
    let shape = shapes::tet_box([2, 1, 1], DVec3::new(0.1, 0.05, 0.05), shapes::TetStyle::Five).unwrap();
    let mut body = match solver {
        SolverKind::Rigid => {
            let size = DVec3::new(0.1, 0.05, 0.05);
            let mut body = Body::rigid(name, SolidShape::Cuboid { size }.build_rigid().unwrap());
            body.mass = 0.25;
            body
        }
        SolverKind::Clustered => {
            let mut body = Body::new(name, shape).mass(0.25);
            body.clusters = pliant::Clustering::Count(1);
            body.controls.stiffness = pliant::Stiffness::Frequency(20.0);
            body
        }
        _ => {
            let stiff = Material { young: 1e6, ..Material::named("rubber").unwrap() };
            Body::new(name, shape).elastic(stiff).solved_by(solver)
        }
    };
    body.controls.iterations = 20;
    body.at(side * 0.05, 0.0, 0.0)
}

/// Two bars in a row, hinged about z where they meet.
fn pair(solvers: [SolverKind; 2], coupling: impl Fn(Coupling) -> Coupling) -> Simulation {
    let mut builder = Builder::new().body(bar("a", solvers[0], -1.0)).body(bar("b", solvers[1], 1.0));
    builder.gravity = DVec3::ZERO;
    let mut s = builder.build().unwrap();
    let [a, b] = [0, 1].map(|k| s.frame_near(k, DVec3::ZERO, DMat3::IDENTITY, &Glue::default()).unwrap());
    s.couple(coupling(Coupling::hinge(a, b))).unwrap();
    s
}

/// The angle of the hinge of a pair, as its frames are turned.
fn angle_of_frames(s: &Simulation) -> f64 {
    let axes = [0, 1].map(|k| {
        let coupling = &s.model().couplings()[0].coupling;
        let Attachment::Frame(frame) = &coupling.sides[k] else { panic!("a frame") };
        let x = s.state().body(frame.body()).unwrap().positions();
        frame.fit(|i| x.get(i as usize), s.state().couplings()[0].rotations[k]).rotation * frame.axes()
    });
    let turn = axes[0].transpose() * axes[1];
    (turn.x_axis.y - turn.y_axis.x).atan2(turn.x_axis.x + turn.y_axis.y)
}

#[test]
fn motors_and_limits_work_between_any_two_solvers() {
    for a in SolverKind::ALL {
        for b in SolverKind::ALL.into_iter().filter(|b| *b as usize >= a as usize) {
            let limits = [-0.3, 0.5];
            let mut s = pair([a, b], |c| c.driven(3.0, 0.02).limited(limits[0], limits[1]));
            let (mut most, mut put_in) = (0.0_f64, 0.0);
            for _ in 0..40 {
                put_in += s.step().unwrap().coupling_energy;
                most = most.max(angle_of_frames(&s));
            }
            let (found, stats) = (angle_of_frames(&s), s.statistics());
            assert!(most < limits[1] + 1e-6, "{a:?} {b:?}: it turned to {most}");
            // What is soft still swings about it.
            assert!((found - limits[1]).abs() < 0.05, "{a:?} {b:?}: it stands at {found}");
            // A motor between two bodies moves neither as a whole, nor turns both.
            let speed = 0.25 * 0.1;
            assert!(stats.momentum.length() < 1e-6 * speed, "{a:?} {b:?}: {}", stats.momentum);
            let energy = stats.kinetic + stats.elastic;
            assert!(energy < 1.05 * put_in + 1e-6, "{a:?} {b:?}: {energy} J of {put_in}");
        }
    }
}

#[test]
fn what_is_no_angle_is_refused() {
    let hinge = |coupling: Coupling| {
        let mut s = door(|c| c, 0.0);
        s.couple(coupling).unwrap_err().to_string()
    };
    let frame = |s: &Simulation| s.frame_near(0, DVec3::ZERO, DMat3::IDENTITY, &Glue::default()).unwrap();
    let s = door(|c| c, 0.0);
    let world = WorldFrame { at: DVec3::ZERO, axes: DMat3::IDENTITY };
    for (coupling, wanted) in [
        (Coupling::weld(world, frame(&s)).limited(0.0, 1.0), "no angle"),
        (Coupling::joint(world, frame(&s)).driven(0.0, 1.0), "no angle"),
        (Coupling::hinge(world, frame(&s)).limited(1.0, 0.0), "from 1 to 0"),
        (Coupling::hinge(world, frame(&s)).limited(-4.0, 0.0), "from -4 to 0"),
        (Coupling::hinge(world, frame(&s)).driven(f64::NAN, 1.0), "NaN rad/s"),
        (Coupling::hinge(world, frame(&s)).driven(1.0, -1.0), "-1 N m"),
    ] {
        let text = hinge(coupling);
        assert!(text.contains(wanted), "{text}");
    }
    let id = s.model().couplings()[0].id;
    let mut s = s;
    let text = s.set(Control::MotorSpeed(id), 1.0).unwrap_err().to_string();
    assert!(text.contains("no motor"), "{text}");
}
