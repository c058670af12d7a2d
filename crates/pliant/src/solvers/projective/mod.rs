//! Projective dynamics (Bouaziz et al., projective-dynamics.txt): implicit Euler by local and global
//! steps.
//!
//! A substep minimises ‖M^½ (q − s)‖²/2h² + Σ ½ w ‖A q − p‖² over positions q and projections p, with
//! s = x + h v + h² f/m (algorithm 1). The local step projects every constraint on its own; the
//! global step is one linear solve with a matrix that stays the same until a stiffness changes. Both
//! can only lower the objective, so nothing can blow up, whatever the step.
//!
//! Linear momentum is conserved to rounding in every iteration (rows of A vanish on translations).
//! Angular momentum drifts: implicit Euler damps rotation by O(h), and stopping after a few
//! iterations adds to it.

mod contacts;
mod system;

use super::damping::{RigidVelocity, decay};
use super::objective::{Hands, Surroundings};
use super::{Before, Observer, Solver, SolverError, SolverKind, SubstepReport};
use crate::contact::{Surface, bounce, push_out};
use crate::controls::Controls;
use crate::dofs::{Dof, DofMap};
use crate::model::{Model, ModelBatch};
use crate::points::Points;
use crate::state::State;
use crate::team::Team;
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
    b.scale.value(&controls.bodies[b.body], model.params.substep(), model.heavier(controls, b.body))
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
        let system = System::new(model, &scales, dofs, model.params.substep(), &diameters)?;
        Ok(Cache {
            contacts: ContactSolver::new(model, system.objective.len()),
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
        let h = model.params.substep();
        let hands = (team, self.isa.unwrap_or(Isa::best()));
        controls.placements(model, state.time + h, &mut cache.placements);
        cache.start.copy_from(&state.x);
        cache.predict(controls, state, h);
        cache.contacts.detect(model, controls, &cache.system, &cache.s, &cache.diameters);

        let iterations = mine(model).map(|b| controls.bodies[b].iterations).max().unwrap_or(0);
        let mut residual = 0.0;
        if let Some(observer) = &mut self.observer {
            observer(0, cache.system.objective.read());
        }
        for iteration in 1..=iterations {
            residual = cache.iterate(iteration, controls, state, hands);
            if let Some(observer) = &mut self.observer {
                observer(iteration, cache.system.objective.read());
            }
        }
        cache.finish(controls, state, h);
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
    fn predict(&mut self, controls: &Controls, state: &mut State, h: f64) {
        let model = &self.model;
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
                v = v * keep + acceleration * h;
                state.v.set(i, v);
                self.s.set(i, x + v * h);
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

    /// One local and one global step; returns the largest movement relative to the body's size. The
    /// system is shared, but a body that has had its own number of iterations stays where it is.
    fn iterate(&mut self, iteration: u32, controls: &Controls, state: &State, hands: Hands<'_>) -> f64 {
        let around = Surroundings {
            memory: &state.auxiliary,
            offsets: &self.auxiliary_offsets,
            placements: &self.placements,
        };
        self.system.objective.evaluate(&self.model, around, hands);
        self.system.solve(hands);
        if self.contacts.is_exact() {
            self.contacts.resolve(&mut self.system, &self.start, hands);
        }
        let frozen = self.freeze(iteration, controls);
        let moved = self.system.take_step(if frozen { &self.frozen } else { &[] }, hands);
        if !self.contacts.is_exact() {
            self.push_out(controls);
        }
        moved
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
    fn finish(&mut self, controls: &Controls, state: &mut State, h: f64) {
        self.push_out(controls);
        let resting = 2.0 * h * controls.gravity.length();
        for b in mine(&self.model) {
            for i in self.model.topology.bodies[b].particles.clone() {
                let to = self.system.objective.position(i);
                let fixed = self.system.dofs().get(i) == &Dof::Fixed;
                // As v* + (q − s)/h, which is exact where nothing but inertia acts.
                let predicted = if fixed { (self.s.get(i) - self.start.get(i)) / h } else { state.v.get(i) };
                let after = predicted + self.system.objective.way(i) / h;
                self.start.set(i, predicted);
                state.v.set(i, after);
                state.x.set(i, to);
            }
        }
        // `start` now holds the velocities of arrival.
        for contact in self.contacts.list().iter().filter(|c| c.restitution > 0.0 && c.gap < 0.0) {
            let i = contact.stencil[0] as usize;
            let after = bounce(contact, self.start.get(i), state.v.get(i), resting);
            state.v.set(i, after);
        }
        let moved = |b: &ModelBatch| self.model.params.bodies[b.body].solver == SolverKind::Projective;
        for (k, batch) in self.model.batches.iter().enumerate().filter(|(_, b)| moved(b)) {
            let range = self.auxiliary_offsets[k]..self.auxiliary_offsets[k + 1];
            batch.batch.end_step(&state.x, &mut state.auxiliary[range]);
        }
    }
}
