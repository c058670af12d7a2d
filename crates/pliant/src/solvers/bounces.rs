//! Bounces of implicit steps: restitution that adds no energy.
//!
//! A bounce turns the velocity of a particle around after the step has already turned some of its motion into
//! deformation, so that both together may be more than there was. Per body the turns are therefore scaled by the
//! largest share of them at which kinetic, elastic and potential energy are not above those at the start of the
//! substep. A particle on its own always gets all of its restitution.

use super::Subject;
use super::energy::ElasticEnergy;
use super::energy_share::affordable;
use super::implicit::SubstepEnd;
use crate::contact::{Contact, bounce};
use crate::memory::Memory;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;
use glam::DVec3;

/// What is known of the bounces of a substep.
#[derive(Clone, Debug)]
pub(super) struct Bounces {
    /// Whether any may happen.
    expected: bool,
    /// Elastic energy at the start and at the end of the substep.
    before: f64,
    after: f64,
    /// Particles that bounce, with their velocities before.
    turned: Vec<(u32, DVec3)>,
    is_turned: Vec<bool>,
}

impl Bounces {
    pub fn new(model: &BodyModel) -> Bounces {
        Bounces {
            expected: false,
            before: 0.0,
            after: 0.0,
            turned: Vec::with_capacity(model.particle_count()),
            is_turned: vec![false; model.particle_count()],
        }
    }

    /// Looks at how particles are about to arrive, with `velocities`; if any will bounce, at the energy there is before.
    pub fn expect<'a>(
        &mut self,
        (mut contacts, velocities, resting): (impl Iterator<Item = (&'a Contact, usize)>, &Points, f64),
        energy: &mut ElasticEnergy,
        (body, start, memory): (Subject<'_>, &Points, &Memory),
    ) {
        self.expected = contacts.any(|(c, i)| {
            let surface = c.moves() / body.model.params.substep();
            let speed = -c.normal.dot(velocities.get(i) - surface);
            c.restitution > 0.0 && c.gap < 0.0 && speed > resting
        });
        if self.expected {
            self.before = energy.measure(body, start, memory);
        }
    }

    /// Gives bouncing particles their velocities, if any were expected.
    pub fn apply<'a>(
        &mut self,
        (contacts, resting): (impl Iterator<Item = (&'a Contact, usize)>, f64),
        energy: &mut ElasticEnergy,
        passage: SubstepEnd<'_>,
        state: &mut BodyState,
    ) {
        if !self.expected {
            return;
        }
        self.after = energy.measure(passage.end, &state.x, &state.memory);
        self.turned.clear();
        let h = passage.end.model.params.substep();
        for (c, i) in contacts.filter(|(c, _)| c.restitution > 0.0 && c.gap < 0.0) {
            let v = state.v.get(i);
            let surface = c.moves() / h;
            let seen = v - surface;
            let to = bounce(c, passage.arriving.get(i) - surface, seen, resting);
            if to != seen {
                // In a corner a particle may bounce off several obstacles; it came with one velocity.
                if !self.is_turned[i] {
                    self.is_turned[i] = true;
                    self.turned.push((i as u32, v));
                }
                state.v.set(i, to + surface);
            }
        }
        if !self.turned.is_empty() {
            let share = self.share(passage, state);
            self.scale(share, state);
        }
    }

    /// The largest share of the turns that adds no energy.
    fn share(&self, passage: SubstepEnd<'_>, state: &BodyState) -> f64 {
        let SubstepEnd { end: Subject { model, controls, .. }, start, arriving, touching, .. } = passage;
        let (pull, h, mass) = (controls.pull(), model.params.substep(), &model.rest().mass);
        // All of it seen from what carries the body. K at the end is `turned` with all of the turns; what was there, less what has become deformation and height.
        let (mut available, mut turned) = (self.before - self.after + touching.work, 0.0);
        let carry = touching.velocity;
        for (i, &m) in mass.iter().enumerate() {
            let began = arriving.get(i) - pull * h - carry;
            let moved = state.x.get(i) - start.get(i) - carry * h;
            available += m * (0.5 * began.length_squared() + pull.dot(moved));
            turned += 0.5 * m * (state.v.get(i) - carry).length_squared();
        }
        if turned <= available {
            return 1.0;
        }
        let (mut linear, mut square) = (0.0, 0.0);
        for &(i, was) in &self.turned {
            let (m, turn) = (mass[i as usize], state.v.get(i as usize) - was);
            linear += m * (was - carry).dot(turn);
            square += 0.5 * m * turn.length_squared();
        }
        // still + linear s + square s² = available
        let still = turned - linear - square;
        affordable(available - still, linear, square)
    }

    fn scale(&mut self, share: f64, state: &mut BodyState) {
        for &(i, was) in &self.turned {
            let i = i as usize;
            self.is_turned[i] = false;
            if share < 1.0 {
                state.v.set(i, was + (state.v.get(i) - was) * share);
            }
        }
    }
}
