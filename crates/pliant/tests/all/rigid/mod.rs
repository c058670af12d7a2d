//! Bodies that never deform: free motion, contact, couplings.

mod balls;
mod contact;
mod coupled;
mod free;
mod rest;

use pliant::shapes::SolidShape;
use pliant::{Body, DQuat, DVec3, Simulation};

/// A box of these sides.
fn cuboid(size: DVec3) -> Body {
    Body::rigid("box", SolidShape::Cuboid { size }.build_rigid().unwrap())
}

/// A box of 1 kg with these principal moments of inertia.
fn with_inertia(inertia: DVec3) -> Body {
    let squares = (DVec3::splat(inertia.element_sum()) - 2.0 * inertia) * 6.0;
    cuboid(DVec3::from_array(squares.to_array().map(f64::sqrt)))
}

fn center(s: &Simulation, body: usize) -> DVec3 {
    s.positions(body).sum::<DVec3>() / 4.0
}

/// The angular velocity of a body, from how its particles move.
fn spin(s: &Simulation, body: usize) -> DVec3 {
    let x: Vec<DVec3> = s.positions(body).collect();
    let v: Vec<DVec3> = s.velocities(body).collect();
    let (c, u) = (x.iter().sum::<DVec3>() / 4.0, v.iter().sum::<DVec3>() / 4.0);
    let at = |k: usize| (x[k] - c, v[k] - u);
    let sum = |f: &dyn Fn(DVec3, DVec3) -> DVec3| (0..4).map(|k| f(at(k).0, at(k).1)).sum::<DVec3>();
    let momentum = sum(&|r, v| r.cross(v));
    let columns = DVec3::AXES.map(|axis| sum(&|r, _| r.cross(axis.cross(r))));
    pliant::DMat3::from_cols(columns[0], columns[1], columns[2]).inverse() * momentum
}

/// How a body is turned.
fn turn_of(s: &Simulation, body: usize) -> DQuat {
    DQuat::from_mat3(&s.placement(body).unwrap().matrix3)
}
