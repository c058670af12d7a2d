//! Forces from outside on all bodies, whoever moves them: air on faces, fields, and what a host gives per particle.
//!
//! They act at the start of each substep as changes of velocity. A face of area A and unit normal n that moves
//! with v̄ is pushed by F = ½ air A |u·n| (u·n) n, where u = wind − v̄ is how air moves past it and `air` is density
//! times drag coefficient; sheets from both sides, the boundary of a solid only from outside, where air comes
//! against it. Every particle's mass is shared equally among its faces. For the mass m of a face the equation
//! m dw/dt = −½ air A |w| w of w = u·n has the solution w/(1 + k|w|h), k = ½ air A/m, which is taken whole: the
//! impulse is ∫F dt, and no wind or step, however large, pushes a face beyond the wind.

use crate::controls::{Controls, LiveControls, WorldControls};
use crate::fields::DRIFT;
use crate::model::BodyModel;
use crate::noise::noise;
use crate::state::BodyState;
use crate::team::Team;
use glam::DVec3;

/// Faces and particles a thread takes at a time.
const CHUNK: usize = 512;
/// Size of gusts, m: larger than most bodies, which so move as a whole.
const GUST_SIZE: f64 = 3.0;
/// How many pass in a second.
const GUST_RATE: f64 = 0.9;
/// What gusts blow across the wind, as a part of what they blow along it.
const SIDEWAYS: f64 = 0.4;

/// The change of velocity of every face, between the two passes.
pub(crate) type FaceImpulses = Vec<DVec3>;

/// Whether anything acts on a body with these controls.
pub(crate) fn act(model: &BodyModel, controls: LiveControls<'_>) -> bool {
    !model.params.fields.is_empty() || !controls.forces.is_empty() || has_air(model, controls)
}

/// Whether air pushes a body.
pub(crate) fn has_air(model: &BodyModel, controls: LiveControls<'_>) -> bool {
    controls.body.air > 0.0 && !model.topology().faces.is_empty()
}

/// The velocity of the air at a place and time: a smooth function without memory. Gusts add up to `gusts` times
/// the wind along it, and 0.4 times that in any direction across.
pub fn wind(controls: &Controls, x: impl Into<DVec3>, time: f64) -> DVec3 {
    wind_at(&controls.world, x.into(), time)
}

fn wind_at(world: &WorldControls, x: DVec3, time: f64) -> DVec3 {
    let (wind, gusts) = (world.wind, world.gusts);
    let speed = wind.length();
    if gusts == 0.0 || speed == 0.0 {
        return wind;
    }
    let place = x / GUST_SIZE + DRIFT * (GUST_RATE * time);
    // Large and slow ones, and some of a third of the size on top.
    let shape = (noise(place).0 + 0.5 * noise(3.0 * place).0) / 1.5;
    let along = wind * (shape.dot(wind / speed) / speed);
    wind + gusts * speed * (along + SIDEWAYS * (shape - along))
}

/// Lets wind and fields act on the velocities of a body for `h` seconds from `time` on.
pub(crate) fn apply(
    model: &BodyModel,
    controls: LiveControls<'_>,
    state: &mut BodyState,
    (time, h): (f64, f64),
    pushes: &mut FaceImpulses,
    team: &Team,
) {
    if has_air(model, controls) {
        blow(model, controls, state, (time, h), pushes, team);
    }
    // What a host gives, of the particles the body was built with.
    let mass_ratio = model.mass_ratio(controls.body);
    for (i, force) in controls.forces.iter().enumerate() {
        state.v.set(i, state.v.get(i) + *force * (h / (mass_ratio * model.rest().mass[i])));
    }
    let (x, fields) = (&state.x, &model.params.fields);
    if fields.is_empty() {
        return;
    }
    team.split(&mut state.v, CHUNK, |range, mut v| {
        for (k, i) in range.enumerate() {
            let sum: DVec3 = fields.iter().map(|f| f.acceleration(x.get(i), time)).sum();
            v.set(k, v.get(k) + h * sum);
        }
    });
}

fn blow(
    model: &BodyModel,
    controls: LiveControls<'_>,
    state: &mut BodyState,
    (time, h): (f64, f64),
    pushes: &mut FaceImpulses,
    team: &Team,
) {
    let (topology, rest) = (model.topology(), model.rest());
    pushes.resize(topology.faces.len(), DVec3::ZERO);
    let (air, mass_ratio) = (controls.body.air, model.mass_ratio(controls.body));
    let now = &*state;
    team.split(&mut pushes[..], CHUNK, |range, part| {
        for (push, f) in part.iter_mut().zip(range) {
            let corners = topology.faces[f].map(|i| i as usize);
            let mass = corners.map(|i| mass_ratio * rest.mass[i] * topology.face_share[i]);
            *push = change(controls.world, now, corners, mass, (air, topology.solid), (time, h));
        }
    });
    // One thread and one order: the sums are the same for any number of threads.
    for (corners, push) in topology.faces.iter().zip(&*pushes) {
        for i in corners.map(|i| i as usize) {
            state.v.set(i, state.v.get(i) + *push * topology.face_share[i]);
        }
    }
}

/// How air changes the velocity of a face of these corners and masses in `h` seconds.
fn change(
    world: &WorldControls,
    state: &BodyState,
    corners: [usize; 3],
    mass: [f64; 3],
    (air, solid): (f64, bool),
    (time, h): (f64, f64),
) -> DVec3 {
    let [a, b, c] = corners.map(|i| state.x.get(i));
    let double = (b - a).cross(c - a);
    let area = 0.5 * double.length();
    if !(area > 0.0 && area.is_finite()) {
        return DVec3::ZERO;
    }
    let normal = double / (2.0 * area);
    let total: f64 = mass.iter().sum();
    let velocity: DVec3 = corners.iter().zip(mass).map(|(&i, m)| state.v.get(i) * (m / total)).sum();
    let past = wind_at(world, (a + b + c) / 3.0, time) - velocity;
    let w = past.dot(normal);
    if solid && w > 0.0 {
        return DVec3::ZERO;
    }
    // w − w/(1 + k|w|h), in a form that is defined for every k from nothing to infinity.
    let k = 0.5 * air * area / total;
    normal * (w / (1.0 + 1.0 / (k * w.abs() * h)))
}
