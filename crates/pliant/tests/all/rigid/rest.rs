//! Solids left on the ground stay where they are.

use super::*;
use crate::common::*;
use pliant::Builder;
use pliant::shapes::{Shape, rigid_from_mesh};

/// How fast a solid is at most in 30 seconds, and how far it gets, once it has had `before` seconds to come to rest.
fn rest(shape: Shape, height: f64, turn: DQuat, before: usize) -> (f64, f64) {
    let mut body = Body::rigid("solid", shape).at(0.3, height, -0.2);
    body.rotation = DQuat::from_rotation_y(0.7) * turn;
    let mut s = Builder::new().ground().body(body).build().unwrap();
    run(&mut s, 60 * before);
    let began: Vec<DVec3> = s.positions(0).collect();
    let (mut fastest, mut furthest) = (0.0_f64, 0.0_f64);
    for _ in 0..1800 {
        s.step().unwrap();
        fastest = s.velocities(0).map(DVec3::length).fold(fastest, f64::max);
        furthest = s.positions(0).zip(&began).map(|(a, b)| a.distance(*b)).fold(furthest, f64::max);
    }
    (fastest, furthest)
}

#[test]
fn solids_left_on_the_ground_neither_tremble_nor_creep() {
    let lying = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let upright = DQuat::IDENTITY;
    let cuboid = SolidShape::Cuboid { size: DVec3::new(0.3, 0.2, 0.4) };
    let cylinder = SolidShape::Cylinder { radius: 0.2, height: 0.3 };
    let capsule = SolidShape::Capsule { radius: 0.1, height: 0.5 };
    let bear = SolidShape::GummyBear { height: 1.0 }.build(0.04).unwrap().surface;
    let solids = [
        ("box", cuboid.build_rigid().unwrap(), 0.1, upright, 0),
        ("cylinder", cylinder.build_rigid().unwrap(), 0.15, upright, 0),
        ("cylinder on its side", cylinder.build_rigid().unwrap(), 0.2, lying, 0),
        ("capsule", capsule.build_rigid().unwrap(), 0.1, lying, 0),
        ("box that fell", cuboid.build_rigid().unwrap(), 0.3, DQuat::from_rotation_x(0.4), 5),
        ("mesh", rigid_from_mesh(bear).unwrap(), 0.7, upright, 15),
    ];
    for (name, shape, height, turn, before) in solids {
        let contact = shape.contact.len();
        let (fastest, furthest) = rest(shape, height, turn, before);
        println!("{name}, {contact} points: at most {fastest:.1e} m/s, {furthest:.1e} m away");
        assert!(fastest < 1e-3 && furthest < 1e-4, "{name}: {fastest} m/s, {furthest} m away");
    }
}
