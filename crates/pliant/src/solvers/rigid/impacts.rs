//! Bounces of solids: impulses after the step at the points that arrived faster than what is at rest.
//!
//! The step itself stops what would come into an obstacle. Where there is restitution e, impulses in the friction cones then make
//! every point leave with e times the speed it arrived with, and let no other point that touches go in again. What a point
//! arrived with is told where it met the obstacle: v² = v₀² + 2 a g by the acceleration a of the forces over what was left of
//! the way, g. The impulses are taken by the largest share at which the energy is not above what there was.

use super::RigidCache;
use crate::contact::{Contact, Respond};
use crate::solvers::implicit::{ExternalWork, resting};
use crate::solvers::rigid::pose::Momentum;
use crate::solvers::{Outside, Subject};
use glam::{DMat3, DVec3};

/// How often all impulses are found anew from each other, at most.
const SWEEPS: usize = 40;
/// Changes of velocity, relative to the fastest arrival, that end this.
const SETTLED: f64 = 1e-9;

/// A point that touches, when the substep ends.
#[derive(Clone, Copy, Debug)]
struct Impact {
    normal: DVec3,
    friction: f64,
    /// From the centre to what touches.
    arm: DVec3,
    /// How the surface moves, m/s.
    surface: DVec3,
    /// The speed it is to leave with, at least.
    target: f64,
    /// From impulses there to the velocity there, and back.
    inverse_mass: DMat3,
    mass: DMat3,
    impulse: DVec3,
}

/// Room for what touches.
#[derive(Clone, Debug)]
pub(super) struct Impacts {
    list: Vec<Impact>,
}

impl Impacts {
    pub fn with_room(points: usize) -> Impacts {
        Impacts { list: Vec::with_capacity(points) }
    }
}

impl RigidCache {
    /// Gives what arrives its velocity back, and takes away what contact has added to the energy.
    pub(super) fn bounce(&mut self, body: Subject<'_>, outside: Outside<'_>) {
        let Outside { contacts, place, pull } = outside;
        let touched = || contacts.iter().filter_map(|c| Some((c, c.particle_at_obstacle(place)?)));
        let loaded = touched().any(|(c, _)| c.force != DVec3::ZERO);
        if !loaded {
            return;
        }
        let was = self.now;
        let bounces = touched().any(|(c, _)| c.restitution > 0.0) && self.meet(body, touched());
        if bounces {
            self.solve(body);
        }
        let mass_ratio = body.model.mass_ratio(body.controls.body);
        let touching = ExternalWork::of(touched().map(|(c, _)| c), pull, (mass_ratio, self.h));
        let ride = touching.velocity;
        let lifted = self.to.center - self.from.center - ride * self.h;
        let room = self.before.energy(&self.rest, &self.from, ride)
            + self.rest.mass * body.controls.pull().dot(lifted)
            + touching.work;
        let share = if bounces { self.share(&was, ride, room) } else { 0.0 };
        self.now.velocity = was.velocity.lerp(self.now.velocity, share);
        self.now.turning = was.turning.lerp(self.now.turning, share);
        let energy = self.now.energy(&self.rest, &self.to, ride);
        if energy > room && !pull.any {
            let keep = (room.max(0.0) / energy).sqrt();
            self.now.velocity = ride + (self.now.velocity - ride) * keep;
            self.now.turning *= keep;
        }
    }

    /// Lists what touches; tells whether any of it is to bounce.
    fn meet<'a>(
        &mut self,
        body: Subject<'_>,
        touched: impl Iterator<Item = (&'a Contact, usize)>,
    ) -> bool {
        let resting = resting(body.model, body.controls);
        let inverse = self.to.inverse_inertia(&self.rest);
        let spin = self.inverse * self.before.turning;
        let mut list = std::mem::take(&mut self.impacts.list);
        list.clear();
        for (contact, i) in touched {
            let n = contact.normal;
            let touches = n.dot(self.end(i)) - contact.offset <= 1e-9 * self.beginning.size;
            if !(touches || contact.force != DVec3::ZERO) {
                continue;
            }
            let surface = contact.moves() / self.h;
            let start = self.beginning.start.get(i);
            let seen = self.before.velocity + spin.cross(self.arm(i)) - surface;
            let (into, faster) = (-n.dot(seen), -n.dot(body.controls.pull()));
            let left = (n.dot(start + contact.moves()) - contact.offset).max(0.0);
            let arrived = (into * into.abs() + 2.0 * faster * left).max(0.0).sqrt();
            let target = if arrived > resting { contact.restitution * arrived } else { 0.0 };
            let arm = self.arm_at_end(i);
            let across = |axis: DVec3| (inverse * arm.cross(axis)).cross(arm) + axis / self.rest.mass;
            let [x, y, z] = DVec3::AXES.map(across);
            let inverse_mass = DMat3::from_cols(x, y, z);
            let (mass, friction) = (inverse_mass.inverse(), contact.friction);
            let impulse = DVec3::ZERO;
            list.push(Impact { normal: n, friction, arm, surface, target, inverse_mass, mass, impulse });
        }
        let any = list.iter().any(|i| i.target > 0.0);
        self.impacts.list = list;
        any
    }

    /// Finds the impulses, one after the other and again.
    fn solve(&mut self, body: Subject<'_>) {
        let mut list = std::mem::take(&mut self.impacts.list);
        let inverse = self.to.inverse_inertia(&self.rest);
        let fastest = list.iter().map(|i| i.target).fold(0.0, f64::max);
        let _ = body;
        let mut spin = inverse * self.now.turning;
        let mut velocity = self.now.velocity;
        for _ in 0..SWEEPS {
            let mut changed = 0.0_f64;
            for impact in &mut list {
                let seen = velocity + spin.cross(impact.arm) - impact.surface;
                let next = impact.next(seen);
                let change = next - impact.impulse;
                impact.impulse = next;
                velocity += change / self.rest.mass;
                spin += inverse * impact.arm.cross(change);
                changed = changed.max((impact.inverse_mass * change).length());
            }
            if changed <= SETTLED * fastest {
                break;
            }
        }
        for impact in &list {
            self.now.velocity += impact.impulse / self.rest.mass;
            self.now.turning += impact.arm.cross(impact.impulse);
        }
        self.impacts.list = list;
    }

    /// The largest share of the change since `was` that leaves no more energy than there is room for.
    fn share(&self, was: &Momentum, ride: DVec3, room: f64) -> f64 {
        let change = Momentum {
            velocity: self.now.velocity - was.velocity,
            turning: self.now.turning - was.turning,
        };
        // still + linear s + square s² = room
        let still = was.energy(&self.rest, &self.to, ride);
        let square = change.energy(&self.rest, &self.to, DVec3::ZERO);
        let linear = self.now.energy(&self.rest, &self.to, ride) - still - square;
        if still + linear + square <= room {
            return 1.0;
        }
        let spare = room - still;
        if spare.is_nan() || spare <= 0.0 || square <= 0.0 {
            return 0.0;
        }
        let root = (linear * linear + 4.0 * square * spare).sqrt();
        let share =
            if linear > 0.0 { 2.0 * spare / (linear + root) } else { (root - linear) / (2.0 * square) };
        share.clamp(0.0, 1.0)
    }

    /// From the centre to a point, when the substep ends.
    fn arm_at_end(&self, point: usize) -> DVec3 {
        match point.checked_sub(self.points) {
            Some(k) => {
                let touch = &self.touches[k];
                self.to.axes * self.rest.contact[touch.point as usize - 4].at + touch.arm
            }
            None => self.to.axes * self.rest.contact[point - 4].at,
        }
    }
}

impl Impact {
    /// The impulse in its cone that makes the point leave as it is to and slide as little as friction can, for a point that
    /// has this velocity with the impulse there is.
    fn next(&self, seen: DVec3) -> DVec3 {
        let n = self.normal;
        let still = self.impulse + self.mass * (n * self.target - seen);
        let push = n.dot(still);
        let slide = still - n * push;
        if push > 0.0 && slide.length() <= self.friction * push {
            return still;
        }
        // Slides: as far along as that leads, with the push that then makes it leave.
        let along = slide.try_normalize().unwrap_or(DVec3::ZERO) * if push > 0.0 { self.friction } else { 0.0 };
        let free = seen - self.inverse_mass * self.impulse;
        let direction = n + along;
        let by = n.dot(self.inverse_mass * direction);
        let push = if by > 0.0 { (self.target - n.dot(free)) / by } else { 0.0 };
        direction * push.max(0.0)
    }
}
