//! A body many times over: on a grid, each shifted and turned at random as far as wanted.
//!
//! Copies are ordinary bodies with names of their own; only their shape is made once.

use crate::body::BodyPlan;
use crate::color;
use crate::record::Record;
use crate::source::Check;
use glam::{DQuat, DVec3};
use pliant_geometry::SplitMix64;
use std::f64::consts::TAU;

/// The most copies of all bodies together: what caches, pictures and files still bear.
pub(crate) const MOST: usize = 10_000;

/// Replaces each body by its copies.
pub(crate) fn expand(check: &mut Check<'_>, plans: Vec<BodyPlan>) -> Vec<BodyPlan> {
    let mut bodies: Vec<BodyPlan> = Vec::with_capacity(plans.len());
    for plan in plans {
        match plan.record.record("copies").cloned() {
            Some(copies) => copy(check, plan, &copies, &mut bodies),
            None => bodies.push(plan),
        }
    }
    bodies
}

fn copy(check: &mut Check<'_>, plan: BodyPlan, copies: &Record, bodies: &mut Vec<BodyPlan>) {
    for key in ["pin", "group", "paint"] {
        if let Some(given) = plan.record.given(key) {
            let text = format!("`{key}` stands for places in the world and cannot be copied");
            check.add(&given.at, text, "remove it, or write each body by itself");
        }
    }
    // Absent only where that is a fault, which was told.
    let Some(grid) = copies.given("grid") else { return };
    let grid: Vec<usize> = grid.it.list().iter().map(|v| v.it.whole() as usize).collect();
    let count: usize = grid.iter().product();
    if bodies.len() + count > MOST {
        let text = format!("with {count} copies of body `{}` there are more than {MOST} bodies", plan.name);
        check.add(copies.place("grid"), text, "make fewer copies");
        return;
    }
    let (apart, shift) = (copies.vector("apart"), copies.number("shift"));
    let turn = copies.truth("turn");
    let mut random = SplitMix64::new(copies.whole("seed"));
    for k in 0..count {
        let cell = [k % grid[0], k / (grid[0] * grid[2]), k / grid[0] % grid[2]];
        let mut place = DVec3::from_array(cell.map(|c| c as f64)) * apart;
        // Centred above the position: the one height that matters is the lowest.
        place.x -= 0.5 * apart.x * (grid[0] - 1) as f64;
        place.z -= 0.5 * apart.z * (grid[2] - 1) as f64;
        // Drawn even where not wanted, so that one setting does not change what another gives.
        let moved = DVec3::from_array([(); 3].map(|()| 2.0 * random.unit() - 1.0)) * shift;
        let turned = any_rotation(&mut random);
        let mut body = plan.clone();
        body.name = format!("{}_{:04}", plan.name, k + 1);
        if bodies.iter().any(|b| b.copy == 0 && b.name == body.name) {
            let text = format!("there is a body named `{}` already", body.name);
            check.add(plan.record.place("name"), text, "give the copies another name");
        }
        body.copy = k;
        body.position += place + moved;
        if turn {
            body.rotation = turned * body.rotation;
        }
        let given = plan.record.given("color").map(|c| &c.it);
        body.color = color::linear(given, bodies.len());
        bodies.push(body);
    }
}

/// A rotation, all alike likely (Shoemake 1992).
fn any_rotation(random: &mut SplitMix64) -> DQuat {
    let [u, a, b] = [(); 3].map(|()| random.unit());
    let ((sa, ca), (sb, cb)) = ((TAU * a).sin_cos(), (TAU * b).sin_cos());
    let (r, s) = ((1.0 - u).sqrt(), u.sqrt());
    DQuat::from_xyzw(r * sa, r * ca, s * sb, s * cb)
}
