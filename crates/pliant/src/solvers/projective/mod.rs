//! Projective dynamics (Bouaziz et al., projective-dynamics.txt): implicit Euler by local and global
//! steps.
//!
//! A substep minimises ‖M^½ (q − s)‖²/2h² + Σ ½ w ‖A q − p‖² over positions q and projections p, with
//! s = x + h v + h² f/m (algorithm 1). The local step projects every constraint on its own; the
//! global step is one linear solve with a matrix that stays the same until a stiffness changes. Both
//! can only lower the objective, so nothing can blow up, whatever the step.
//!
//! With θ below 1 ([`Implicit::implicitness`](crate::Implicit::implicitness)) the implicit step goes to θ h only and is prolonged to h.
//! θ = ½ is the implicit midpoint rule: second order, no damping of its own, and, converged, linear and
//! angular momentum conserved exactly; energy is then not bounded by construction, so a value a little above
//! ½ is wise where things are stiff.
//!
//! Linear momentum is conserved to rounding in every iteration (rows of A vanish on translations).
//! Angular momentum drifts: implicit Euler damps rotation by O(h), and stopping after a few
//! iterations adds to it.

mod acceleration;
mod contacts;
mod global;
mod system;

use super::damping::{RigidVelocity, decay};
use super::objective::{Hands, Surroundings};
use super::{Before, Observer, Solver, SolverError, SolverKind, SubstepReport};
use crate::contact::{Surface, bounce, push_out};
use crate::controls::Controls;
use crate::dofs::{Dof, DofMap};
use crate::model::{Acceleration, Implicit, Model, WarmStart};
use crate::points::Points;
use crate::state::State;
use crate::team::Team;
use acceleration::{Accelerator, Verdict};
use contacts::ContactSolver;
use glam::{DAffine3, DVec3};
use pliant_math::lanes::Isa;
use system::System;

/// The solver; all but the observer is a cache.
#[derive(Default)]
pub struct Projective {
    cache: Option<Cache>,
    observer: Option<Observer>,
    isa: Option<Isa>,
}

impl std::fmt::Debug for Projective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Projective").field("prepared", &self.cache.is_some()).finish()
    }
}

#[derive(Debug)]
struct Cache {
    model: Model,
    system: System,
    /// Stiffness of each batch the matrix was made with.
    scales: Vec<f64>,
    contacts: ContactSolver,
    accelerator: Accelerator,
    placements: Vec<DAffine3>,
    auxiliary_offsets: Vec<usize>,
    start: Points,
    /// The prediction.
    s: Points,
    /// Iterations after which each unknown stays where it is; empty if all bodies have the same.
    frozen: Vec<bool>,
    /// Size of each body, the length its residuals and margins are measured by.
    diameters: Vec<f64>,
}

/// The stiffness each batch is scaled by at present.
fn scale_of(model: &Model, controls: &Controls, batch: usize) -> f64 {
    let b = &model.batches[batch];
    if model.params.bodies[b.body].solver != SolverKind::Projective {
        return 0.0;
    }
    model.batch_scale(controls, batch)
}

impl Cache {
    fn new(model: &Model, controls: &Controls) -> Result<Cache, SolverError> {
        let scales: Vec<f64> = (0..model.batches.len()).map(|b| scale_of(model, controls, b)).collect();
        let n = model.particle_count();
        let diameters: Vec<f64> = model
            .topology
            .bodies
            .iter()
            .map(|b| {
                let points: Vec<DVec3> = b.particles.clone().map(|i| model.rest.positions.get(i)).collect();
                let box_of = pliant_geometry::TriMesh::bounds(&points);
                box_of.map_or(0.0, |(lo, hi)| (hi - lo).length()).max(f64::MIN_POSITIVE)
            })
            .collect();
        let dofs = DofMap::of_solver(model, SolverKind::Projective);
        let system = System::new(model, &scales, dofs, reach(model), &diameters)?;
        let places = system.objective.ways().len();
        Ok(Cache {
            contacts: ContactSolver::new(model, system.objective.len()),
            accelerator: Accelerator::new(model.params.implicit.acceleration, system.objective.len(), places),
            placements: Vec::with_capacity(model.params.pins.len()),
            frozen: vec![false; system.objective.len()],
            auxiliary_offsets: model.auxiliary_offsets(),
            start: Points::zeros(n),
            s: Points::zeros(n),
            model: model.clone(),
            system,
            scales,
            diameters,
        })
    }

    /// Refactors if a stiffness has changed since the matrix was made; rebuilds if one came from or
    /// went to zero.
    fn follow_controls(&mut self, controls: &Controls) -> Result<(), SolverError> {
        let mut changed = false;
        for (b, scale) in self.scales.iter_mut().enumerate() {
            let now = scale_of(&self.model, controls, b);
            changed |= now != *scale;
            *scale = now;
        }
        if !changed {
            return Ok(());
        }
        if !self.system.fits(&self.scales) {
            *self = Cache::new(&self.model.clone(), controls)?;
            return Ok(());
        }
        self.contacts.forget_columns();
        self.system.rescale(&self.model, &self.scales)
    }
}

impl Solver for Projective {
    fn kind(&self) -> SolverKind {
        SolverKind::Projective
    }

    fn prepare(&mut self, model: &Model, controls: &Controls) -> Result<(), SolverError> {
        // Taken out, so that a cache that could not follow is not used again.
        let cache = match self.cache.take() {
            Some(mut cache) if cache.model.same_parts(model) => {
                cache.follow_controls(controls)?;
                cache
            }
            _ => Cache::new(model, controls)?,
        };
        self.cache = Some(cache);
        Ok(())
    }

    fn substep(
        &mut self,
        model: &Model,
        controls: &Controls,
        before: Option<Before<'_>>,
        state: &mut State,
        team: &Team,
    ) -> Result<SubstepReport, SolverError> {
        if let Some((x, v)) = before {
            state.x.copy_from(x);
            state.v.copy_from(v);
        }
        self.prepare(model, controls)?;
        let Some(cache) = &mut self.cache else {
            return Ok(SubstepReport::default());
        };
        let hands = (team, self.isa.unwrap_or(Isa::best()));
        controls.placements(model, state.time + reach(model), &mut cache.placements);
        cache.start.copy_from(&state.x);
        cache.predict(controls, state);
        cache.contacts.detect(model, controls, &cache.system, &cache.s, &cache.diameters);
        let (iterations, residual) = cache.converge(controls, state, hands, &mut self.observer);
        cache.finish(controls, state);
        let finite = state.x.first_non_finite().or(state.v.first_non_finite()).is_none();
        Ok(SubstepReport { contacts: cache.contacts.touching(&state.x), iterations, residual, finite })
    }

    fn drop_caches(&mut self) {
        self.cache = None;
    }

    fn set_isa(&mut self, isa: Isa) {
        self.isa = Some(isa);
    }

    fn observe(&mut self, observer: Option<Observer>) -> Option<Observer> {
        std::mem::replace(&mut self.observer, observer)
    }

    fn factor_len(&self) -> usize {
        self.cache.as_ref().map_or(0, |c| c.system.factor_len())
    }
}

/// Seconds from the start of a substep to where its forces are taken: θ h.
fn reach(model: &Model) -> f64 {
    model.params.implicit.implicitness * model.params.substep()
}

/// The bodies this solver moves.
fn mine(model: &Model) -> impl Iterator<Item = usize> + '_ {
    let bodies = model.params.bodies.iter().enumerate();
    bodies.filter(|(_, s)| s.solver == SolverKind::Projective).map(|(b, _)| b)
}

fn surface_of(controls: &Controls, body: usize) -> Surface {
    let c = &controls.bodies[body];
    Surface { friction: c.friction, restitution: c.restitution }
}

impl Cache {
    /// Lines 1 and 2 of algorithm 1: damped velocities (left in the state) lead to s, where the
    /// iteration starts. Prescribed particles go to their places.
    ///
    /// With θ < 1 forces are taken at θ h: an implicit Euler step to there, which [`Cache::finish`] prolongs.
    fn predict(&mut self, controls: &Controls, state: &mut State) {
        let model = &self.model;
        let (h, reach) = (model.params.substep(), reach(model));
        let bodies = model.topology.bodies.iter().zip(&controls.bodies);
        for (body, c) in bodies
            .zip(&model.params.bodies)
            .filter(|(_, s)| s.solver == SolverKind::Projective)
            .map(|(b, _)| b)
        {
            let range = body.particles.clone();
            let points = || range.clone().map(|i| (i, model.rest.mass[i]));
            let damping = decay(c.damping, h);
            let rigid = if damping > 0.0 {
                RigidVelocity::fit(points, &state.x, &state.v)
            } else {
                RigidVelocity::REST
            };
            let keep = 1.0 - decay(c.drag, h);
            let acceleration = controls.gravity + c.force / c.mass;
            for i in range.clone() {
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
            if group.stiffness.is_none() {
                for (&i, &anchor) in group.particles.iter().zip(&group.anchors) {
                    if self.system.dofs().get(i as usize) == &Dof::Fixed {
                        self.s.set(i as usize, placement.transform_point3(anchor));
                    }
                }
            }
        }
        self.system.objective.begin(model, &mut self.s);
    }

    /// Lines 3 to 8 of algorithm 1: local and global steps until there have been enough. Returns their number
    /// and the largest movement in the last one, relative to the size of its body. The system is shared,
    /// but a body that has had its own number of iterations stays where it is.
    fn converge(
        &mut self,
        controls: &Controls,
        state: &State,
        hands: Hands<'_>,
        observer: &mut Option<Observer>,
    ) -> (u32, f64) {
        let Implicit { warm_start, acceleration, tolerance, .. } = self.model.params.implicit;
        let most = mine(&self.model).map(|b| controls.bodies[b].iterations).max().unwrap_or(0);
        let same = mine(&self.model).all(|b| controls.bodies[b].iterations == most);
        // What contacts do between iterations is not in the objective: no decrease to keep there.
        let alone = self.contacts.list().is_empty();
        let accelerated = acceleration != Acceleration::None && same && alone;
        if warm_start == WarmStart::Last {
            self.system.objective.start_at(&self.start);
        }
        if let Some(observer) = observer {
            observer(0, self.system.objective.read());
        }
        self.accelerator.begin();
        let (mut first, mut last) = (0.0, f64::INFINITY);
        let mut residual = 0.0;
        for iteration in 1..=most {
            let energy = self.evaluate(state, hands);
            if iteration == 1 {
                first = energy;
            } else if tolerance > 0.0 && alone && last - energy <= tolerance * (first - energy) {
                return (iteration - 1, residual);
            }
            last = energy;
            if accelerated {
                residual = self.venture(energy, hands);
            } else {
                self.system.solve(hands);
                if self.contacts.is_exact() {
                    self.contacts.resolve(&mut self.system, &self.start, hands);
                }
                let frozen = self.freeze(iteration, controls);
                residual = self.system.take_step(if frozen { &self.frozen } else { &[] }, hands);
                if !self.contacts.is_exact() {
                    self.push_out(controls);
                }
            }
            if let Some(observer) = observer {
                observer(iteration, self.system.objective.read());
            }
        }
        if accelerated && most > 0 {
            let energy = self.evaluate(state, hands);
            if self.accelerator.judge(energy) == Verdict::Return {
                self.go_back(hands);
                if let Some(observer) = observer {
                    observer(most, self.system.objective.read());
                }
            }
        }
        (most, residual)
    }

    /// The objective and its gradient at the present positions.
    fn evaluate(&mut self, state: &State, hands: Hands<'_>) -> f64 {
        let around = Surroundings {
            memory: &state.auxiliary,
            offsets: &self.auxiliary_offsets,
            placements: &self.placements,
        };
        self.system.objective.evaluate(&self.model, around, hands)
    }

    /// An accelerated step, or the plain one after a failed attempt.
    fn venture(&mut self, energy: f64, hands: Hands<'_>) -> f64 {
        if self.accelerator.judge(energy) == Verdict::Return {
            return self.go_back(hands);
        }
        let system = &mut self.system;
        let n = system.objective.len();
        let plain = self.accelerator.needs_plain();
        if plain {
            system.solve(hands);
        }
        let objective = &system.objective;
        self.accelerator.learn(energy, objective.ways(), objective.descent(), system.step(), n);
        system.improve(plain, &mut self.accelerator, hands);
        system.take_step(&[], hands)
    }

    /// Returns to the last iterate that was kept and takes the plain step from there.
    fn go_back(&mut self, hands: Hands<'_>) -> f64 {
        let (ways, descent) = self.accelerator.last();
        self.system.objective.set_ways(ways);
        self.system.solve_from(descent, hands);
        self.system.take_step(&[], hands)
    }

    /// Marks the unknowns of bodies that have had their iterations; tells whether there are any.
    fn freeze(&mut self, iteration: u32, controls: &Controls) -> bool {
        let done = |b: usize| iteration > controls.bodies[b].iterations;
        if !mine(&self.model).any(done) {
            return false;
        }
        for b in mine(&self.model) {
            for i in self.model.topology.bodies[b].particles.clone() {
                self.system.dofs().expand(i, |u, _| self.frozen[u as usize] = done(b));
            }
        }
        true
    }

    fn push_out(&mut self, controls: &Controls) {
        if self.model.params.planes.is_empty() {
            return;
        }
        for b in mine(&self.model) {
            let surface = surface_of(controls, b);
            for i in self.model.topology.bodies[b].particles.clone() {
                if self.system.dofs().get(i) != &Dof::Fixed {
                    let at = self.system.objective.position(i);
                    let to = push_out(&self.model.params.planes, surface, self.start.get(i), at);
                    if to != at {
                        self.system.objective.put(i, to);
                    }
                }
            }
        }
    }

    /// Line 9 of algorithm 1, after the last word of the planes, and the bounces.
    fn finish(&mut self, controls: &Controls, state: &mut State) {
        self.push_out(controls);
        let (h, theta) = (self.model.params.substep(), self.model.params.implicit.implicitness);
        let resting = 2.0 * h * controls.gravity.length();
        controls.placements(&self.model, state.time + h, &mut self.placements);
        for b in mine(&self.model) {
            let surface = surface_of(controls, b);
            for i in self.model.topology.bodies[b].particles.clone() {
                if self.system.dofs().get(i) == &Dof::Fixed {
                    continue;
                }
                let (from, way) = (self.start.get(i), self.system.objective.way(i));
                let mut to = self.system.objective.position(i);
                // As v* + (q − s)/θ²h, which is exact where nothing but inertia acts.
                let predicted = state.v.get(i);
                let mut after = predicted + way / (theta * theta * h);
                if theta < 1.0 {
                    let there = from + (to - from) / theta;
                    to = push_out(&self.model.params.planes, surface, from, there);
                    after += (to - there) / h;
                }
                self.start.set(i, predicted);
                state.v.set(i, after);
                state.x.set(i, to);
            }
        }
        for (group, placement) in self.model.params.pins.iter().zip(&self.placements) {
            for (&i, &anchor) in group.particles.iter().zip(&group.anchors) {
                let i = i as usize;
                if group.stiffness.is_none() && self.system.dofs().get(i) == &Dof::Fixed {
                    let to = placement.transform_point3(anchor);
                    state.v.set(i, (to - self.start.get(i)) / h);
                    state.x.set(i, to);
                }
            }
        }
        // `start` now holds the velocities of arrival.
        for contact in self.contacts.list().iter().filter(|c| c.restitution > 0.0 && c.gap < 0.0) {
            let i = contact.stencil[0] as usize;
            let after = bounce(contact, self.start.get(i), state.v.get(i), resting);
            state.v.set(i, after);
        }
        for (k, batch) in self.model.batches.iter().enumerate() {
            if self.model.params.bodies[batch.body].solver == SolverKind::Projective {
                let range = self.auxiliary_offsets[k]..self.auxiliary_offsets[k + 1];
                batch.batch.end_step(&state.x, &mut state.auxiliary[range]);
            }
        }
    }
}
