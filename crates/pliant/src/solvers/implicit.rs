//! What solvers of an implicit step share around it: the prediction before, planes during, velocities after.
//!
//! Contact speaks of where particles are at the end of the substep, for θ < 1 too: with q the position at θ h, that is
//! x₀ + (q − x₀)/θ. A force that holds a particle there never does work on it; one that held it at θ h would, as
//! prolonging the step carries the particle on.

use super::bounces::Bounces;
use super::damping::{RigidVelocity, decay};
use super::energy::ElasticEnergy;
use super::objective::Objective;
use super::prolongation::Prolongation;
use super::{Before, SolverKind, Subject};
use crate::contact::{Arrival, Contact, ContactSet, Surface, lowest_gap, push_out, release};
use crate::controls::LiveControls;
use crate::dofs::{Dof, DofMap};
use crate::memory::Section;
use crate::model::{BodyModel, HalfSpace};
use crate::points::Points;
use crate::state::BodyState;
use glam::DVec3;

/// Where particles are while a substep is being solved.
pub(super) trait Moving {
    fn position(&self, particle: usize) -> DVec3;
    fn put(&mut self, particle: usize, at: DVec3);
    /// The way from the prediction; zero for prescribed particles.
    fn way(&self, particle: usize) -> DVec3;
}

impl Moving for Objective {
    fn position(&self, particle: usize) -> DVec3 {
        Objective::position(self, particle)
    }

    fn put(&mut self, particle: usize, at: DVec3) {
        Objective::put(self, particle, at);
    }

    fn way(&self, particle: usize) -> DVec3 {
        Objective::way(self, particle)
    }
}

/// θ of a body: position based solvers know no other than 1.
fn theta(model: &BodyModel) -> f64 {
    match model.settings.solver {
        SolverKind::Pbd | SolverKind::Xpbd => 1.0,
        _ => model.params.implicit.implicitness,
    }
}

/// Seconds from the start of a substep to where its forces are taken: θ h.
pub(super) fn reach(model: &BodyModel) -> f64 {
    theta(model) * model.params.substep()
}

/// A substep that is coming to its end.
#[derive(Clone, Copy)]
pub(super) struct Passage<'a> {
    /// The body, when the substep ends.
    pub end: Subject<'a>,
    pub dofs: &'a DofMap,
    /// Where the particles began, and the velocities they were predicted with.
    pub start: &'a Points,
    pub arriving: &'a Points,
    pub theta: f64,
}

/// A substep of a body, apart from its minimisation.
#[derive(Clone, Debug)]
pub(super) struct Substep {
    pub model: BodyModel,
    pub dofs: DofMap,
    /// Where the memory of each batch begins.
    pub memory_offsets: Vec<usize>,
    /// Where pinned particles are wanted.
    pub targets: Vec<DVec3>,
    /// Where the particles came from, and their velocities of arrival, kept once these are overwritten.
    start: Points,
    arriving: Points,
    /// The prediction.
    pub s: Points,
    pub diameter: f64,
    contacts: ContactSet,
    /// Whether a contact of (plane, particle) is listed; particles of one plane after the other.
    listed: Vec<bool>,
    bounces: Bounces,
    energy: ElasticEnergy,
    prolongation: Prolongation,
    /// θ: forces are taken at θ h.
    theta: f64,
}

impl Substep {
    pub fn new(model: &BodyModel) -> Substep {
        let n = model.particle_count();
        Substep {
            dofs: DofMap::of_body(model),
            memory_offsets: model.memory_offsets(),
            targets: Vec::with_capacity(model.pins.iter().map(|g| g.particles.len()).sum()),
            start: Points::zeros(n),
            arriving: Points::zeros(n),
            s: Points::zeros(n),
            diameter: model.diameter(),
            contacts: ContactSet::with_capacity(n * model.params.planes.len()),
            listed: vec![false; n * model.params.planes.len()],
            bounces: Bounces::new(model),
            energy: ElasticEnergy::new(model),
            prolongation: Prolongation::new(n),
            theta: theta(model),
            model: model.clone(),
        }
    }

    /// Seconds from the start of the substep to where its forces are taken.
    pub fn reach(&self) -> f64 {
        reach(&self.model)
    }

    /// What may touch a plane in this substep.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts.list
    }

    /// θ: forces are taken at θ h.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Where particle `i` will be at the end of the substep if it is at `q` at θ h.
    pub fn end(&self, i: usize, q: DVec3) -> DVec3 {
        let from = self.start.get(i);
        if self.theta < 1.0 { from + (q - from) / self.theta } else { q }
    }

    /// How low along the normal of a plane a particle may be at θ h to end the substep outside, or as far inside as what
    /// began there still is.
    pub fn lowest(&self, plane: &HalfSpace, i: usize) -> f64 {
        let Arrival { start, release, radius, .. } = self.arrival(i);
        let end = plane.offset + radius + lowest_gap(plane.gap(start) - radius, release);
        if self.theta < 1.0 { self.theta * end + (1.0 - self.theta) * plane.normal.dot(start) } else { end }
    }

    /// Where the particles came from, until the substep is finished.
    pub fn start(&self) -> &Points {
        &self.start
    }

    fn is_fixed(&self, particle: usize) -> bool {
        self.dofs.get(particle) == &Dof::Fixed
    }

    /// Lines 1 and 2 of algorithm 1 (projective-dynamics): damped velocities, left in the state, lead to s.
    /// Prescribed particles go to their places, and what may touch a plane is listed. With θ < 1 the implicit
    /// step goes to θ h, and [`Substep::finish`] prolongs it.
    pub fn predict(&mut self, body: Subject<'_>, before: Option<Before<'_>>, state: &mut BodyState) {
        if let Some((x, v)) = before {
            state.x.copy_from(x);
            state.v.copy_from(v);
        }
        let Subject { model, controls, time } = body;
        let (h, reach) = (model.params.substep(), self.reach());
        controls.targets(model, &state.memory, time + reach, &mut self.targets);
        self.start.copy_from(&state.x);
        let c = controls.body;
        let damping = decay(c.damping, h);
        let rigid = match damping > 0.0 {
            true => RigidVelocity::fit(|| model.rest().mass.iter().copied().enumerate(), &state.x, &state.v),
            false => RigidVelocity::REST,
        };
        let keep = 1.0 - decay(c.drag, h);
        let acceleration = controls.pull();
        for i in 0..model.particle_count() {
            let (x, mut v) = (state.x.get(i), state.v.get(i));
            if damping > 0.0 {
                v += (rigid.at(x) - v) * damping;
            }
            v *= keep;
            state.v.set(i, v + acceleration * h);
            self.s.set(i, x + (v + acceleration * reach) * reach);
        }
        for (i, target) in model.prescribed(&self.targets) {
            self.s.set(i, target);
        }
        self.detect(controls, h);
        let before = (body, &self.start, &state.memory);
        let arrivals = (&self.contacts.list[..], &state.v, resting(model, controls));
        self.bounces.expect(arrivals, &mut self.energy, before);
    }

    /// Lists what will be nearer to a plane than a margin, by the prediction.
    fn detect(&mut self, controls: LiveControls<'_>, h: f64) {
        for c in &self.contacts.list {
            self.listed[c.id.0 as usize * self.model.particle_count() + c.id.1 as usize] = false;
        }
        self.contacts.list.clear();
        let s = std::mem::take(&mut self.s);
        let margin = 1e-3 * self.diameter + 2.0 * h * h * controls.world.gravity.length();
        self.list(controls, margin, |i| s.get(i));
        self.s = s;
    }

    /// Lists what is inside a plane at the end of the substep with particles at `at` at θ h, and was not listed before:
    /// whether a particle touches is not for the prediction alone to say. Tells whether there was any.
    pub fn join(&mut self, controls: LiveControls<'_>, at: impl Fn(usize) -> DVec3) -> bool {
        let before = self.contacts.list.len();
        if !self.model.params.planes.is_empty() {
            self.list(controls, 0.0, &at);
        }
        self.contacts.list.len() > before
    }

    fn list(&mut self, controls: LiveControls<'_>, margin: f64, at: impl Fn(usize) -> DVec3) {
        let (surface, model) = (surface(controls), &self.model);
        let release = release(self.diameter, model.params.substep());
        for (k, plane) in model.params.planes.iter().enumerate() {
            for i in 0..model.particle_count() {
                let radius = model.rest().radius[i];
                let place = k * model.particle_count() + i;
                let gap = plane.gap(self.end(i, at(i))) - radius;
                if gap >= margin || self.listed[place] || self.is_fixed(i) {
                    continue;
                }
                self.listed[place] = true;
                let lowest = lowest_gap(plane.gap(self.start.get(i)) - radius, release);
                let contact = Contact::with_plane(plane, k, i as u32, gap, surface);
                self.contacts.list.push(Contact { offset: plane.offset + radius + lowest, ..contact });
            }
        }
    }

    fn arrival(&self, i: usize) -> Arrival {
        Arrival {
            start: self.start.get(i),
            release: release(self.diameter, self.model.params.substep()),
            // Bounces of an implicit step change velocities only.
            way: DVec3::ZERO,
            resting: 0.0,
            share: 0.0,
            radius: self.model.rest().radius[i],
        }
    }

    /// Moves particles to where they end outside of planes, with friction on the way they came; returns the longest
    /// such movement relative to the size of the body.
    pub fn push_out(&self, controls: LiveControls<'_>, q: &mut impl Moving) -> f64 {
        let mut furthest = 0.0_f64;
        if self.model.params.planes.is_empty() {
            return furthest;
        }
        let surface = surface(controls);
        for i in (0..self.model.particle_count()).filter(|i| !self.is_fixed(*i)) {
            let at = q.position(i);
            let end = self.end(i, at);
            let to = push_out(&self.model.params.planes, surface, self.arrival(i), end);
            if to != end {
                q.put(i, if self.theta < 1.0 { at + (to - end) * self.theta } else { to });
                furthest = furthest.max((to - end).length() / self.diameter);
            }
        }
        furthest
    }

    /// Line 9 of algorithm 1: the velocities, after the last word of the planes. Returns how far the
    /// planes' last word moved a particle, relative to the size of the body.
    pub fn finish(&mut self, body: Subject<'_>, state: &mut BodyState, q: &mut impl Moving) -> f64 {
        let Subject { model, controls, time } = body;
        let pushed = self.push_out(controls, q);
        let h = model.params.substep();
        for i in 0..model.particle_count() {
            if self.is_fixed(i) {
                continue;
            }
            // As v* + (q − s)/θ²h, which is exact where nothing but inertia acts.
            let predicted = state.v.get(i);
            let middle = q.position(i);
            let to = self.end(i, middle);
            let mut after = predicted + q.way(i) / (self.theta * self.theta * h);
            if self.theta < 1.0 {
                after = self.settled(i, to, after);
                self.prolongation.middle.set(i, middle);
            }
            state.x.set(i, to);
            state.v.set(i, after);
            self.arriving.set(i, predicted);
        }
        controls.targets(model, &state.memory, time + h, &mut self.targets);
        for (i, to) in model.prescribed(&self.targets) {
            state.v.set(i, (to - self.start.get(i)) / h);
            state.x.set(i, to);
        }
        let Substep { dofs, start, arriving, theta, contacts, .. } = self;
        let theta = *theta;
        let end = Subject { time: time + h, ..body };
        let passage = Passage { end, dofs, start, arriving, theta };
        if theta < 1.0 {
            let touches = !contacts.list.is_empty();
            self.prolongation.limit(&mut self.energy, passage, touches, state);
        }
        let arrivals = (&contacts.list[..], resting(model, controls));
        self.bounces.apply(arrivals, &mut self.energy, passage, state);
        let BodyState { x, memory, .. } = state;
        for (k, batch) in model.batches.iter().enumerate() {
            let range = self.memory_offsets[k]..self.memory_offsets[k + 1];
            batch.batch.end_step(x, &mut memory[Section::Batches][range]);
        }
        pushed
    }

    /// The velocity `v` of a particle that ends at `to`, less what leads away from a plane it is held by, and what turns a
    /// slide around that friction stopped: prolonged from θ h to h, the forces of contact overshoot, by as much as the
    /// particle was braked where θ is a half.
    fn settled(&self, i: usize, to: DVec3, mut v: DVec3) -> DVec3 {
        let near = self.model.rest().radius[i] + 1e-6 * self.diameter;
        for plane in self.model.params.planes.iter().filter(|p| p.gap(to) <= near) {
            let n = plane.normal;
            v -= n * n.dot(v).max(0.0);
            let way = to - self.start.get(i);
            let slide = way - n * n.dot(way);
            let (length, along) = (slide.length(), v.dot(slide));
            if length <= 1e-12 * self.diameter {
                v = n * n.dot(v);
            } else if along < 0.0 {
                v -= slide * (along / (length * length));
            }
        }
        v
    }

    /// Points within a millionth of the body's size of a plane, or still inside.
    pub fn touching(&self, q: &Points) -> usize {
        let (planes, radius) = (&self.model.params.planes, &self.model.rest().radius);
        let near = 1e-6 * self.diameter;
        let free = (0..self.model.particle_count()).filter(|i| !self.is_fixed(*i));
        free.map(|i| planes.iter().filter(|p| p.gap(q.get(i)) - radius[i] <= near).count()).sum()
    }
}

/// Arrivals slower than this do not bounce.
fn resting(model: &BodyModel, controls: LiveControls<'_>) -> f64 {
    2.0 * model.params.substep() * controls.world.gravity.length()
}

/// What the surface of a body adds to a contact.
pub(super) fn surface(controls: LiveControls<'_>) -> Surface {
    Surface { friction: controls.body.friction, restitution: controls.body.restitution }
}
