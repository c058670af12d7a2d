//! What solvers of an implicit step share around it: the prediction before, planes during, velocities after.

use super::damping::{RigidVelocity, decay};
use super::objective::Objective;
use super::{Before, SolverKind};
use crate::contact::{Contact, ContactSet, Surface, bounce, detect_half_spaces, push_out};
use crate::controls::Controls;
use crate::dofs::{Dof, DofMap};
use crate::model::Model;
use crate::points::Points;
use crate::state::State;
use glam::{DAffine3, DVec3};
use std::ops::Range;

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

/// The stiffness each batch of a solver's bodies is scaled by at present; zero for those of others.
pub(super) fn scale_of(kind: SolverKind, model: &Model, controls: &Controls, batch: usize) -> f64 {
    let b = &model.batches[batch];
    if model.params.bodies[b.body].solver != kind {
        return 0.0;
    }
    model.batch_scale(controls, batch)
}

/// θ of a solver: position based ones know no other than 1.
fn theta(kind: SolverKind, model: &Model) -> f64 {
    match kind {
        SolverKind::Pbd | SolverKind::Xpbd => 1.0,
        _ => model.params.implicit.implicitness,
    }
}

/// Seconds from the start of a substep to where its forces are taken: θ h.
pub(super) fn reach(kind: SolverKind, model: &Model) -> f64 {
    theta(kind, model) * model.params.substep()
}

/// The size of each body.
pub(super) fn diameters(model: &Model) -> Vec<f64> {
    let size = |particles: Range<usize>| {
        let points: Vec<DVec3> = particles.map(|i| model.rest.positions.get(i)).collect();
        let bounds = pliant_geometry::TriMesh::bounds(&points);
        bounds.map_or(0.0, |(lo, hi)| (hi - lo).length()).max(f64::MIN_POSITIVE)
    };
    model.topology.bodies.iter().map(|b| size(b.particles.clone())).collect()
}

/// A substep of the bodies of one solver, apart from its minimisation.
#[derive(Debug)]
pub(super) struct Substep {
    kind: SolverKind,
    pub model: Model,
    pub dofs: DofMap,
    /// Where the memory of each batch begins.
    pub memory_offsets: Vec<usize>,
    pub placements: Vec<DAffine3>,
    /// Where the particles came from; after the substep, their velocities of arrival.
    start: Points,
    /// The prediction.
    pub s: Points,
    pub diameters: Vec<f64>,
    contacts: ContactSet,
    /// θ: forces are taken at θ h.
    theta: f64,
}

impl Substep {
    pub fn new(kind: SolverKind, model: &Model) -> Substep {
        let n = model.particle_count();
        Substep {
            kind,
            dofs: DofMap::of_solver(model, kind),
            memory_offsets: model.auxiliary_offsets(),
            placements: Vec::with_capacity(model.params.pins.len()),
            start: Points::zeros(n),
            s: Points::zeros(n),
            diameters: diameters(model),
            contacts: ContactSet::with_capacity(n * model.params.planes.len()),
            theta: theta(kind, model),
            model: model.clone(),
        }
    }

    /// Seconds from the start of the substep to where its forces are taken.
    pub fn reach(&self) -> f64 {
        reach(self.kind, &self.model)
    }

    /// What may touch a plane in this substep.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts.list
    }

    /// The most there can be.
    pub fn most_contacts(&self) -> usize {
        self.bodies().map(|b| self.particles(b).len()).sum::<usize>() * self.model.params.planes.len()
    }

    /// The size of the largest body.
    pub fn size(&self) -> f64 {
        self.bodies().map(|b| self.diameters[b]).fold(f64::MIN_POSITIVE, f64::max)
    }

    /// Where the particles came from, until the substep is finished.
    pub fn start(&self) -> &Points {
        &self.start
    }

    /// The bodies this solver moves.
    pub fn bodies(&self) -> impl Iterator<Item = usize> + '_ {
        let bodies = self.model.params.bodies.iter().enumerate();
        bodies.filter(|(_, s)| s.solver == self.kind).map(|(b, _)| b)
    }

    fn particles(&self, body: usize) -> Range<usize> {
        self.model.topology.bodies[body].particles.clone()
    }

    fn is_fixed(&self, particle: usize) -> bool {
        self.dofs.get(particle) == &Dof::Fixed
    }

    /// The most iterations any of the bodies asks for.
    pub fn iterations(&self, controls: &Controls) -> u32 {
        self.bodies().map(|b| controls.bodies[b].iterations).max().unwrap_or(0)
    }

    /// Lines 1 and 2 of algorithm 1 (projective-dynamics): damped velocities, left in the state, lead to s.
    /// Prescribed particles go to their places, and what may touch a plane is listed. With θ < 1 the implicit
    /// step goes to θ h, and [`Substep::finish`] prolongs it.
    pub fn predict(&mut self, controls: &Controls, before: Option<Before<'_>>, state: &mut State) {
        if let Some((x, v)) = before {
            state.x.copy_from(x);
            state.v.copy_from(v);
        }
        let model = self.model.clone();
        let (h, reach) = (model.params.substep(), self.reach());
        controls.placements(&model, state.time + reach, &mut self.placements);
        self.start.copy_from(&state.x);
        self.s.copy_from(&state.x);
        for (b, c) in controls.bodies.iter().enumerate() {
            if model.params.bodies[b].solver != self.kind {
                continue;
            }
            let points = || self.particles(b).map(|i| (i, model.rest.mass[i]));
            let damping = decay(c.damping, h);
            let rigid = match damping > 0.0 {
                true => RigidVelocity::fit(points, &state.x, &state.v),
                false => RigidVelocity::REST,
            };
            let keep = 1.0 - decay(c.drag, h);
            let acceleration = controls.gravity + c.force / c.mass;
            for i in self.particles(b) {
                let (x, mut v) = (state.x.get(i), state.v.get(i));
                if damping > 0.0 {
                    v += (rigid.at(x) - v) * damping;
                }
                v *= keep;
                state.v.set(i, v + acceleration * h);
                self.s.set(i, x + (v + acceleration * reach) * reach);
            }
        }
        for (group, placement) in model.params.pins.iter().zip(&self.placements) {
            for (&i, &anchor) in group.particles.iter().zip(&group.anchors) {
                if group.stiffness.is_none() && self.is_fixed(i as usize) {
                    self.s.set(i as usize, placement.transform_point3(anchor));
                }
            }
        }
        self.detect(controls, h);
    }

    fn detect(&mut self, controls: &Controls, h: f64) {
        let mut found = std::mem::take(&mut self.contacts);
        found.list.clear();
        for b in self.bodies() {
            let margin = 1e-3 * self.diameters[b] + 2.0 * h * h * controls.gravity.length();
            let planes = &self.model.params.planes;
            detect_half_spaces(planes, &self.s, self.particles(b), margin, surface(controls, b), &mut found);
        }
        found.list.retain(|c| !self.is_fixed(c.stencil[0] as usize));
        self.contacts = found;
    }

    /// Moves particles out of planes, with friction on the way they came; tells whether any had to move.
    pub fn push_out(&self, controls: &Controls, q: &mut impl Moving) -> bool {
        let mut pushed = false;
        if self.model.params.planes.is_empty() {
            return pushed;
        }
        for b in self.bodies() {
            let surface = surface(controls, b);
            for i in self.particles(b).filter(|i| !self.is_fixed(*i)) {
                let at = q.position(i);
                let to = push_out(&self.model.params.planes, surface, self.start.get(i), at);
                if to != at {
                    q.put(i, to);
                    pushed = true;
                }
            }
        }
        pushed
    }

    /// Line 9 of algorithm 1: the velocities, after the last word of the planes, and the bounces.
    pub fn finish(&mut self, controls: &Controls, state: &mut State, q: &mut impl Moving) {
        self.push_out(controls, q);
        let h = self.model.params.substep();
        for b in 0..controls.bodies.len() {
            if self.model.params.bodies[b].solver != self.kind {
                continue;
            }
            for i in self.particles(b) {
                if self.is_fixed(i) {
                    continue;
                }
                let (from, mut to) = (self.start.get(i), q.position(i));
                // As v* + (q − s)/θ²h, which is exact where nothing but inertia acts.
                let predicted = state.v.get(i);
                let mut after = predicted + q.way(i) / (self.theta * self.theta * h);
                if self.theta < 1.0 {
                    let there = from + (to - from) / self.theta;
                    to = push_out(&self.model.params.planes, surface(controls, b), from, there);
                    after += (to - there) / h;
                }
                self.start.set(i, predicted);
                state.v.set(i, after);
                state.x.set(i, to);
            }
        }
        controls.placements(&self.model, state.time + h, &mut self.placements);
        for (group, placement) in self.model.params.pins.iter().zip(&self.placements) {
            for (&i, &anchor) in group.particles.iter().zip(&group.anchors) {
                let i = i as usize;
                if group.stiffness.is_none() && self.is_fixed(i) {
                    let to = placement.transform_point3(anchor);
                    state.v.set(i, (to - self.start.get(i)) / h);
                    state.x.set(i, to);
                }
            }
        }
        let resting = 2.0 * h * controls.gravity.length();
        for contact in self.contacts.list.iter().filter(|c| c.restitution > 0.0 && c.gap < 0.0) {
            let i = contact.stencil[0] as usize;
            state.v.set(i, bounce(contact, self.start.get(i), state.v.get(i), resting));
        }
        for (k, batch) in self.model.batches.iter().enumerate() {
            if self.model.params.bodies[batch.body].solver == self.kind {
                let range = self.memory_offsets[k]..self.memory_offsets[k + 1];
                batch.batch.end_step(&state.x, &mut state.auxiliary[range]);
            }
        }
    }

    /// Points on or below a plane.
    pub fn touching(&self, q: &Points) -> usize {
        let size = self.size();
        let inside = |c: &&Contact| c.normal.dot(q.get(c.stencil[0] as usize)) - c.offset <= 1e-9 * size;
        self.contacts.list.iter().filter(inside).count()
    }
}

fn surface(controls: &Controls, body: usize) -> Surface {
    let c = &controls.bodies[body];
    Surface { friction: c.friction, restitution: c.restitution }
}
