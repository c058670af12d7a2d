//! Solids left on the ground stay where they are.

use super::*;
use crate::common::*;
use pliant::shapes::{Shape, rigid_from_mesh};
use pliant::{Builder, Collider, DAffine3, HalfSpace, Primitive};

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

/// Of many points of contact those far from all planes are not looked at, and no bit says so: a collider that is no plane, far
/// away, has all of them looked at.
#[test]
fn points_that_are_not_looked_at_change_nothing() {
    let bear = SolidShape::GummyBear { height: 0.5 }.build(0.03).unwrap().surface;
    let shape = rigid_from_mesh(bear).unwrap();
    let build = |looked_at: bool| {
        let mut body = Body::rigid("bear", shape.clone()).at(0.0, 0.6, 0.0);
        (body.velocity, body.spin) = (DVec3::new(1.0, 0.0, 0.5), DVec3::new(3.0, 5.0, -4.0));
        body.controls.restitution = 0.4;
        let mut builder = Builder::new().ground().body(body);
        let wall = HalfSpace { normal: DVec3::NEG_X, offset: -0.8, friction: 0.3, restitution: 0.0 };
        builder = builder.collider(wall);
        if looked_at {
            let far = DAffine3::from_translation(DVec3::new(0.0, 500.0, 0.0));
            builder = builder.collider(Collider::solid(Primitive::Ball { radius: 0.1 }, far));
        }
        builder.build().unwrap()
    };
    let (mut some, mut all) = (build(false), build(true));
    let mut touched = 0;
    for frame in 0..180 {
        touched += usize::from(some.step().unwrap().contacts > 0);
        run(&mut all, 1);
        assert_eq!(bits(&some), bits(&all), "frame {frame}");
    }
    assert!(shape.contact.len() > 500 && touched > 30, "{} points, {touched} frames", shape.contact.len());
    assert!(some.statistics().max_penetration < 1e-9);
}
