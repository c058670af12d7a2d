//! What solvers of an implicit step share around their rounds: the prediction before, velocities after.
//!
//! Contact speaks of where particles are at the end of the substep, for θ < 1 too: with q the position at θ h, that is
//! x₀ + (q − x₀)/θ. A force that holds a particle there never does work on it; one that held it at θ h would, as
//! prolonging the step carries the particle on.

use super::bounces::Bounces;
use super::damping::{RigidVelocity, decay};
use super::energy::ElasticEnergy;
use super::objective::Objective;
use super::prolongation::Prolongation;
use super::{FinishReport, Outside, SolverKind, Stage, Subject};
use crate::contact::{Contact, MovingPoint, SubstepStart, release};
use crate::controls::LiveControls;
use crate::couplings::Pull;
use crate::dofs::{Dof, DofMap};
use crate::memory::Section;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;
use glam::DVec3;

/// Where particles are while a substep is being solved.
pub(super) trait SolverPositions {
    fn position(&self, particle: usize) -> DVec3;
    fn put(&mut self, particle: usize, at: DVec3);
    /// The displacement from the prediction; zero for prescribed particles.
    fn displacement(&self, particle: usize) -> DVec3;
}

impl SolverPositions for Objective {
    fn position(&self, particle: usize) -> DVec3 {
        Objective::position(self, particle)
    }

    fn put(&mut self, particle: usize, at: DVec3) {
        Objective::put(self, particle, at);
    }

    fn displacement(&self, particle: usize) -> DVec3 {
        Objective::displacement(self, particle)
    }
}

/// θ of a body: position based solvers know no other than 1.
fn theta(model: &BodyModel) -> f64 {
    match model.solver() {
        SolverKind::Pbd | SolverKind::Xpbd => 1.0,
        _ => model.params.implicit.implicitness,
    }
}

/// Seconds from the start of a substep to where its forces are taken: θ h.
pub(super) fn reach(model: &BodyModel) -> f64 {
    theta(model) * model.params.substep()
}

/// What a body touches and is tied to in a substep, as far as its energy is concerned: seen from obstacles that move evenly,
/// contact does no work.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExternalWork {
    /// Whether there is anything.
    pub any: bool,
    /// The velocity of what carries the body, on average.
    pub velocity: DVec3,
    /// The work that obstacles and couplings do on it nevertheless, seen from there.
    pub work: f64,
}

impl ExternalWork {
    /// Of a body of so many times the mass it was built with, in a substep of `h` seconds.
    pub fn of<'a>(
        contacts: impl Iterator<Item = &'a Contact> + Clone,
        pull: Pull,
        (mass_ratio, h): (f64, f64),
    ) -> ExternalWork {
        let mean = |loaded: bool| {
            let counted = contacts.clone().filter(|c| !loaded || c.force != DVec3::ZERO);
            let (sum, count) = counted.fold((DVec3::ZERO, 0), |(s, n), c| (s + c.moves(), n + 1));
            (count > 0).then(|| sum / f64::from(count))
        };
        let touched = mean(true).or_else(|| mean(false));
        let moves = touched.unwrap_or(DVec3::ZERO);
        let by_contacts: f64 = contacts.map(|c| c.force.dot(c.moves() - moves)).sum();
        let work = by_contacts / mass_ratio + pull.work - pull.force.dot(moves);
        ExternalWork { any: touched.is_some() || pull.any, velocity: moves / h, work }
    }
}

/// A substep that is coming to its end.
#[derive(Clone, Copy)]
pub(super) struct SubstepEnd<'a> {
    /// The body, when the substep ends.
    pub end: Subject<'a>,
    pub dofs: &'a DofMap,
    /// Where the particles began, and the velocities they were predicted with.
    pub start: &'a Points,
    pub arriving: &'a Points,
    pub theta: f64,
    pub touching: ExternalWork,
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
    /// Where the particles came from, the size of the body, and what of it is free.
    pub beginning: SubstepStart,
    /// Velocities of arrival, kept once they are overwritten.
    arriving: Points,
    /// The prediction.
    pub s: Points,
    bounces: Bounces,
    energy: ElasticEnergy,
    prolongation: Prolongation,
    /// θ: forces are taken at θ h.
    theta: f64,
}

impl Substep {
    pub fn new(model: &BodyModel) -> Substep {
        let n = model.particle_count();
        let dofs = DofMap::of_body(model);
        let free = (0..n).map(|i| dofs.get(i) != &Dof::Fixed).collect();
        Substep {
            beginning: SubstepStart { size: model.diameter(), start: Points::zeros(n), free },
            dofs,
            memory_offsets: model.memory_offsets(),
            targets: Vec::with_capacity(model.pins.iter().map(|g| g.particles.len()).sum()),
            arriving: Points::zeros(n),
            s: Points::zeros(n),
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

    /// θ: forces are taken at θ h.
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// Where particle `i` will be at the end of the substep if it is at `q` at θ h.
    pub fn end(&self, i: usize, q: DVec3) -> DVec3 {
        let from = self.beginning.start.get(i);
        if self.theta < 1.0 { from + (q - from) / self.theta } else { q }
    }

    /// Lines 1 and 2 of algorithm 1 (projective-dynamics): damped velocities, left in the state, lead to s.
    /// Prescribed particles go to their places. With θ < 1 the implicit step goes to θ h, and [`Substep::finish`]
    /// prolongs it.
    pub fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) {
        let Stage { body, before, .. } = stage;
        if let Some((x, v)) = before {
            state.x.copy_from(x);
            state.v.copy_from(v);
        }
        let Subject { model, controls, time, .. } = body;
        let (h, reach) = (model.params.substep(), self.reach());
        controls.targets(model, &state.memory, time + reach, &mut self.targets);
        self.beginning.start.copy_from(&state.x);
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
    }

    /// Line 9 of algorithm 1: the velocities, after the last word of what was touched.
    pub fn finish(
        &mut self,
        body: Subject<'_>,
        outside: Outside<'_>,
        state: &mut BodyState,
        q: &mut impl SolverPositions,
    ) -> FinishReport {
        let Subject { model, controls, time, .. } = body;
        let Outside { contacts, place, pull } = outside;
        let touched = || contacts.iter().filter_map(|c| Some((c, c.particle_at_obstacle(place)?)));
        let pushed = self.settle_on(touched(), q).max(self.keep_out(body, q));
        self.bounces.expect(
            (touched(), &state.v, resting(model, controls)),
            &mut self.energy,
            (body, &self.beginning.start, &state.memory),
        );
        let h = model.params.substep();
        for i in 0..model.particle_count() {
            if !self.beginning.free[i] {
                continue;
            }
            // As v* + (q − s)/θ²h, which is exact where nothing but inertia acts.
            let predicted = state.v.get(i);
            let middle = q.position(i);
            let to = self.end(i, middle);
            let after = predicted + q.displacement(i) / (self.theta * self.theta * h);
            if self.theta < 1.0 {
                self.prolongation.middle.set(i, middle);
            }
            state.x.set(i, to);
            state.v.set(i, after);
            self.arriving.set(i, predicted);
        }
        if self.theta < 1.0 {
            for (contact, i) in touched() {
                state.v.set(i, self.settled(contact, i, state.x.get(i), state.v.get(i)));
            }
        }
        controls.targets(model, &state.memory, time + h, &mut self.targets);
        for (i, to) in model.prescribed(&self.targets) {
            state.v.set(i, (to - self.beginning.start.get(i)) / h);
            state.x.set(i, to);
        }
        let Substep { dofs, beginning, arriving, theta, .. } = self;
        let start = &beginning.start;
        let theta = *theta;
        let end = Subject { time: time + h, ..body };
        let mass_ratio = model.mass_ratio(controls.body);
        let touching = ExternalWork::of(touched().map(|(c, _)| c), pull, (mass_ratio, h));
        let passage = SubstepEnd { end, dofs, start, arriving, theta, touching };
        if theta < 1.0 {
            self.prolongation.limit(&mut self.energy, passage, state);
            // What lies between two places outside may be inside of what is round.
            for i in (0..model.particle_count()).filter(|i| beginning.free[*i]) {
                let at = state.x.get(i);
                let to = out_of_solids(body, (beginning, i), at);
                if to != at {
                    state.x.set(i, to);
                }
            }
        }
        let arrivals = (touched(), resting(model, controls));
        self.bounces.apply(arrivals, &mut self.energy, passage, state);
        let BodyState { x, memory, .. } = state;
        for (k, batch) in model.batches.iter().enumerate() {
            let range = self.memory_offsets[k]..self.memory_offsets[k + 1];
            batch.batch.end_step(x, &mut memory[Section::Batches][range]);
        }
        FinishReport { contacts: 0, pushed, finite: state.is_finite() }
    }

    /// Takes out of obstacles what the last iterations of the forces have left inside: less than they could tell, or
    /// points that came in at the very end.
    fn settle_on<'a>(
        &self,
        touched: impl Iterator<Item = (&'a Contact, usize)>,
        q: &mut impl SolverPositions,
    ) -> f64 {
        let mut furthest = 0.0_f64;
        for (contact, i) in touched {
            let at = q.position(i);
            let gap = contact.normal.dot(self.end(i, at)) - contact.offset;
            if gap < 0.0 {
                q.put(i, at - contact.normal * (gap * self.theta));
                furthest = furthest.max(-gap / self.beginning.size);
            }
        }
        furthest
    }

    /// The last word of what is not flat: whatever was found on the way, no particle ends inside of it or has passed
    /// through. Returns how far that moved one, relative to the size of the body.
    fn keep_out(&self, body: Subject<'_>, q: &mut impl SolverPositions) -> f64 {
        let mut furthest = 0.0_f64;
        for i in (0..self.beginning.free.len()).filter(|i| self.beginning.free[*i]) {
            let at = q.position(i);
            let end = self.end(i, at);
            let to = out_of_solids(body, (&self.beginning, i), end);
            if to != end {
                q.put(i, at + (to - end) * self.theta);
                furthest = furthest.max(to.distance(end) / self.beginning.size);
            }
        }
        furthest
    }

    /// The velocity `v` of a particle that ends at `to`, less what leads away from an obstacle it is held by, and what
    /// turns a slide around that friction stopped: prolonged from θ h to h, the forces of contact overshoot, by as much
    /// as the particle was braked where θ is a half.
    fn settled(&self, contact: &Contact, i: usize, to: DVec3, mut v: DVec3) -> DVec3 {
        let n = contact.normal;
        if n.dot(to) - contact.offset > 1e-6 * self.beginning.size {
            return v;
        }
        // All seen from the obstacle.
        let moves = contact.moves();
        let surface = moves / self.model.params.substep();
        v -= surface;
        v -= n * n.dot(v).max(0.0);
        let displacement = to - self.beginning.start.get(i) - moves;
        let slide = displacement - n * n.dot(displacement);
        let (length, along) = (slide.length(), v.dot(slide));
        if length <= 1e-12 * self.beginning.size {
            v = n * n.dot(v);
        } else if along < 0.0 {
            v -= slide * (along / (length * length));
        }
        v + surface
    }
}

/// Where a particle may be that would end at `at`.
pub(super) fn out_of_solids(
    body: Subject<'_>,
    (beginning, i): (&SubstepStart, usize),
    mut at: DVec3,
) -> DVec3 {
    let (start, radius) = (beginning.start.get(i), body.model.rest().radius[i]);
    for (solid, form) in body.obstacles.formed() {
        let moving = MovingPoint { start, at, radius };
        if solid.may_meet(moving, 0.0) {
            at = solid.keep_out(form, moving, release(beginning.size, body.model.params.substep()));
        }
    }
    at
}

/// Arrivals slower than this do not bounce.
pub(super) fn resting(model: &BodyModel, controls: LiveControls<'_>) -> f64 {
    2.0 * model.params.substep() * controls.world.gravity.length()
}
