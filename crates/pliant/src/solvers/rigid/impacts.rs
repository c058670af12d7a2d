//! Bounces of solids: impulses after the step at the points that arrived faster than what is at rest.
//!
//! The step itself stops what would come into an obstacle. Where there is restitution e, impulses in the friction cones then make
//! every point leave with e times the speed it arrived with, and let no other point that touches go in again.
//!
//! The step, symplectic Euler, does not keep ½ m v² − m a·x by the acceleration a of even forces, but H = ½ m v·(v + h a) − m a·x.
//! So H is what speeds and energies are told by here: a point that came with v₀ into an obstacle that was g away had w² = v₀² +
//! h v₀ a + 2 a g there, and leaves with the v whose v² − h a v is e² w². A ball then bounces to e² of its height, however large
//! the step. All impulses are taken by the largest share at which H is not above what there was.

use super::RigidCache;
use crate::contact::{Contact, PointContact, Respond};
use crate::solvers::energy_share::{affordable, leaving};
use crate::solvers::implicit::{ExternalWork, resting};
use crate::solvers::rigid::pose::{Momentum, Pose};
use crate::solvers::{Outside, Subject};
use glam::{DMat3, DVec3};

/// How often all impulses are found anew from each other, at most.
const SWEEPS: usize = 100;
/// Changes of velocity, relative to the fastest arrival, that end this.
const SETTLED: f64 = 1e-12;

/// A point that touches, when the substep ends.
#[derive(Clone, Copy, Debug)]
struct Impact {
    contact: PointContact,
    /// From the centre to what touches.
    arm: DVec3,
    /// The velocity it is to leave with at least, if it does not slide.
    target: DVec3,
    impulse: DVec3,
}

/// Room for what touches.
#[derive(Clone, Debug)]
pub(super) struct Impacts {
    list: Vec<Impact>,
}

impl Impacts {
    pub fn with_capacity(points: usize) -> Impacts {
        Impacts { list: Vec::with_capacity(points) }
    }
}

impl RigidCache {
    /// Gives what arrives its velocity back, and takes away what contact has added to the energy.
    pub(super) fn bounce(&mut self, body: Subject<'_>, outside: Outside<'_>) {
        let Outside { contacts, place, pull } = outside;
        let touched = || contacts.iter().filter_map(|c| Some((c, c.particle_at_obstacle(place)?)));
        let was = self.now;
        let bounces = touched().any(|(c, _)| c.restitution > 0.0) && self.meet(body, touched());
        if bounces {
            self.solve();
        }
        let mass_ratio = body.model.mass_ratio(body.controls.body);
        let touching = ExternalWork::of(touched().map(|(c, _)| c), pull, (mass_ratio, self.h));
        let carrier_velocity = touching.velocity;
        let lifted = self.to.center - self.from.center - carrier_velocity * self.h;
        let kinetic = self.before.energy(&self.rest, &self.from, carrier_velocity) + touching.work;
        let forces = (self.rest.mass, body.controls.pull(), self.h);
        let budget = Budget::new(kinetic, (carrier_velocity, self.before.velocity, lifted), forces);
        if let Some(part) = budget.part.filter(|_| !pull.any) {
            return self.stop_where_it_can_get(carrier_velocity, part);
        }
        let energy = |motion: &Momentum, carrier_velocity: DVec3| {
            motion.energy(&self.rest, &self.to, carrier_velocity)
        };
        self.now = afford(&was, bounces.then_some(&self.now), !pull.any, budget, energy);
    }

    /// Ends a part of the way it would go, and stops there: more it has no energy for, as when it rocks up on an edge.
    fn stop_where_it_can_get(&mut self, carrier_velocity: DVec3, part: f64) {
        let still = self.from.center + carrier_velocity * self.h;
        let turn = self.from.turn.lerp(self.to.turn, part).normalize();
        self.to = Pose::new(still.lerp(self.to.center, part), turn);
        self.now = Momentum { velocity: carrier_velocity, angular_momentum: DVec3::ZERO };
    }

    /// Lists what touches; tells whether any of it is to bounce.
    fn meet<'a>(&mut self, body: Subject<'_>, touched: impl Iterator<Item = (&'a Contact, usize)>) -> bool {
        let resting = resting(body.model, body.controls);
        let inverse = self.to.inverse_inertia(&self.rest);
        let spin = self.before.spin(&self.rest, &self.from);
        let mut any = false;
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
            let seen = self.before.velocity + spin.cross(self.arm(&self.from, i)) - surface;
            let (into, faster) = (-n.dot(seen), -n.dot(body.controls.pull()));
            let left = (n.dot(start + contact.moves()) - contact.offset).max(0.0);
            let target = leaving((into, faster, left), self.h, (contact.restitution, resting));
            any |= target > 0.0;
            let arm = self.arm(&self.to, i);
            let across = |axis: DVec3| (inverse * arm.cross(axis)).cross(arm) + axis / self.rest.mass;
            let [x, y, z] = DVec3::AXES.map(across);
            let contact = PointContact::new(n, contact.friction, DMat3::from_cols(x, y, z));
            list.push(Impact { contact, arm, target: surface + n * target, impulse: DVec3::ZERO });
        }
        self.impacts.list = list;
        any
    }

    /// Finds the impulses, one after the other and again.
    fn solve(&mut self) {
        let mut list = std::mem::take(&mut self.impacts.list);
        let inverse = self.to.inverse_inertia(&self.rest);
        let fastest = list.iter().map(|i| i.target.length()).fold(0.0, f64::max);
        let mut spin = inverse * self.now.angular_momentum;
        let mut velocity = self.now.velocity;
        for _ in 0..SWEEPS {
            let mut changed = 0.0_f64;
            for impact in &mut list {
                let off = velocity + spin.cross(impact.arm) - impact.target;
                let next = impact.contact.next(impact.impulse, off);
                let change = next - impact.impulse;
                impact.impulse = next;
                velocity += change / self.rest.mass;
                spin += inverse * impact.arm.cross(change);
                changed = changed.max(impact.contact.moves(change).length());
            }
            if changed <= SETTLED * fastest {
                break;
            }
        }
        for impact in &list {
            self.now.velocity += impact.impulse / self.rest.mass;
            self.now.angular_momentum += impact.arm.cross(impact.impulse);
        }
        self.impacts.list = list;
    }
}

/// What there is to move by at the end of a substep.
#[derive(Clone, Copy)]
pub(super) struct Budget {
    /// The velocity from which it is seen.
    pub carrier_velocity: DVec3,
    /// What velocities count beside their squares: see above.
    pub falling: DVec3,
    /// The energy there is.
    pub available: f64,
    /// The part of its way it can get, where it has not the energy for all of it.
    pub part: Option<f64>,
}

impl Budget {
    /// Of a solid that began with a kinetic energy and a velocity, and was lifted so far, both seen from what carries it with
    /// the velocity `carrier_velocity`.
    pub fn new(
        kinetic: f64,
        (carrier_velocity, began, lifted): (DVec3, DVec3, DVec3),
        (mass, pull, h): (f64, DVec3, f64),
    ) -> Budget {
        let falling = pull * (0.5 * h * mass);
        let slow = falling.dot(began - carrier_velocity);
        let lifting = -mass * pull.dot(lifted);
        let most = kinetic + slow.max(0.0);
        let part = (lifting > most).then(|| (most / lifting).clamp(0.0, 1.0));
        Budget { carrier_velocity, falling, available: kinetic + slow - lifting, part }
    }
}

/// How a solid moves on that moved as it `was` when the substep ended, and as it `bounced` if it did, as far as there is energy
/// for it. The step itself may have gained some: where its motion is its own, less of all of it, then.
pub(super) fn afford(
    was: &Momentum,
    bounced: Option<&Momentum>,
    own: bool,
    budget: Budget,
    energy: impl Fn(&Momentum, DVec3) -> f64,
) -> Momentum {
    let toward = |from: &Momentum, to: &Momentum, share: f64| Momentum {
        velocity: from.velocity.lerp(to.velocity, share),
        angular_momentum: from.angular_momentum.lerp(to.angular_momentum, share),
    };
    let mut now = *was;
    if let Some(bounced) = bounced {
        let share = share_of_change(was, bounced, budget, &energy);
        now = toward(was, bounced, share);
        if share == 1.0 {
            return now;
        }
    }
    if own {
        let still = Momentum { velocity: budget.carrier_velocity, angular_momentum: DVec3::ZERO };
        let share = share_of_change(&still, &now, budget, &energy);
        now = toward(&still, &now, share);
    }
    now
}

/// The largest share of the change from one motion to another that leaves no more energy than there is room for.
fn share_of_change(
    from: &Momentum,
    to: &Momentum,
    Budget { carrier_velocity, falling, available, .. }: Budget,
    energy: &impl Fn(&Momentum, DVec3) -> f64,
) -> f64 {
    let change = Momentum {
        velocity: to.velocity - from.velocity,
        angular_momentum: to.angular_momentum - from.angular_momentum,
    };
    // still + linear s + square s² = available
    let still = energy(from, carrier_velocity);
    let square = energy(&change, DVec3::ZERO);
    let linear = energy(to, carrier_velocity) - still - square + falling.dot(change.velocity);
    let still = still + falling.dot(from.velocity - carrier_velocity);
    affordable(available - still, linear, square)
}
