//! What figures on bodies of elements share: rest by Newton's method, and measures of a shape.

use crate::figures::Failure;
use pliant::{Acceleration, Body, Builder, DVec3, Points, Simulation, SolverKind};

/// Seconds of a step so long that little of inertia is left: a few steps, each from a standstill, are the
/// balance of forces. Longer ones start too far away, since Newton's method begins where gravity leads.
const LONG: f64 = 1.0;
/// Steps at most.
const MOST: usize = 60;
/// Movement, as a part of all movement so far, that counts as none.
const STILL: f64 = 1e-4;

/// The balance of forces on a body, by Newton's method: long steps, each from a standstill, until nothing
/// moves.
pub fn balance(body: Body, gravity: DVec3) -> Result<Simulation, Failure> {
    let mut body = body.solved_by(SolverKind::Newton);
    body.controls.iterations = 200;
    body.controls.damping = 0.0;
    let mut builder = Builder::new().body(body);
    builder.gravity = gravity;
    builder.step = LONG;
    builder.substeps = 1;
    let mut simulation = builder.build()?;
    let start = simulation.state().bodies()[0].positions().clone();
    let farthest =
        |a: &Points, b: &Points| a.iter().zip(b.iter()).map(|(p, q)| (p - q).length()).fold(0.0, f64::max);
    let mut last = (f64::NAN, f64::NAN);
    for _ in 0..MOST {
        let before = simulation.state().bodies()[0].positions().clone();
        simulation.step()?;
        let mut state = simulation.state().clone();
        let x = state.bodies()[0].positions();
        let (moved, all) = (farthest(x, &before), farthest(x, &start));
        let mut v = state.bodies_mut()[0].velocities_mut();
        (0..v.len()).for_each(|i| v.set(i, DVec3::ZERO));
        simulation.set_state(state)?;
        last = (moved, all);
        if moved <= STILL * all {
            return Ok(simulation);
        }
    }
    let (moved, all) = last;
    Err(format!("forces found no balance: the last of {MOST} steps moved {moved:.1e} m, all {all:.1e} m")
        .into())
}

/// The bodies of a builder after some steps so long that implicit Euler brings everything to rest.
pub fn settled(mut builder: Builder, steps: usize) -> Result<Simulation, Failure> {
    builder.step = 0.1;
    builder.substeps = 1;
    builder.implicit.acceleration = Acceleration::LBfgs;
    let mut simulation = builder.build()?;
    for _ in 0..steps {
        simulation.step()?;
    }
    Ok(simulation)
}

/// Corners of the box around points.
pub fn bounds(points: impl Iterator<Item = DVec3>) -> (DVec3, DVec3) {
    points.fold((DVec3::MAX, DVec3::MIN), |(low, high), p| (low.min(p), high.max(p)))
}

/// Places of one body's particles.
pub fn places(simulation: &Simulation) -> Vec<DVec3> {
    simulation.positions(0).collect()
}

/// Replaces the places of all particles, at rest.
pub fn place(simulation: &mut Simulation, f: impl Fn(usize, DVec3) -> DVec3) -> Result<(), Failure> {
    let mut state = simulation.state().clone();
    let mut x = state.bodies_mut()[0].positions_mut();
    (0..x.len()).for_each(|i| x.set(i, f(i, x.get(i))));
    Ok(simulation.set_state(state)?)
}

/// Volume of tetrahedra, those turned inside out counted against it.
pub fn volume(points: &[DVec3], tetrahedra: &[[u32; 4]]) -> f64 {
    let one = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|i| points[i as usize]);
        (b - a).cross(c - a).dot(d - a) / 6.0
    };
    tetrahedra.iter().map(one).sum()
}

/// Root mean square distance of corresponding points.
pub fn apart(a: &[DVec3], b: &[DVec3]) -> f64 {
    (a.iter().zip(b).map(|(p, q)| (*p - *q).length_squared()).sum::<f64>() / a.len() as f64).sqrt()
}

/// A number from −1 to 1 that looks random and is the same in every run.
pub fn noise(i: usize) -> f64 {
    let wave = (i as f64 * 12.9898 + 4.1).sin() * 43758.5453;
    2.0 * (wave - wave.floor()) - 1.0
}
