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
mod global;
mod inherited;
mod response;
mod system;

use super::implicit::Substep;
use super::objective::{Executor, ProjectionInputs};
use super::{FinishReport, Outside, Progress, Round, Solver, SolverError, Stage};
use crate::contact::{Nodes, PairResponse, Respond, SubstepStart, When};
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::{Acceleration, BodyModel, Implicit, WarmStart};
use crate::points::Points;
use crate::state::BodyState;
use crate::team::Team;
use acceleration::{Accelerator, Acceptance};
use glam::DVec3;
use pliant_math::lanes::Isa;
use response::{Response, scatter};
use system::System;

/// The solver; all but the instruction set is a cache.
pub(crate) struct Projective {
    cache: Option<ProjectiveCache>,
    isa: Isa,
}

impl Projective {
    /// A solver whose kernels run with an instruction set.
    pub fn new(isa: Isa) -> Projective {
        Projective { cache: None, isa }
    }
}

impl std::fmt::Debug for Projective {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Projective").field("prepared", &self.cache.is_some()).finish()
    }
}

#[derive(Clone, Debug)]
struct ProjectiveCache {
    substep: Substep,
    system: System,
    /// Stiffness of each batch the matrix was made with.
    scales: Vec<f64>,
    response: Response,
    accelerator: Accelerator,
    isa: Isa,
    /// The objective before the first round and before the last.
    first: f64,
    last: f64,
    /// How far an accelerated round went, which takes its step by itself.
    taken: Option<f64>,
}

impl ProjectiveCache {
    fn new(model: &BodyModel, controls: LiveControls<'_>, isa: Isa) -> Result<ProjectiveCache, SolverError> {
        if controls.body.tear_strain.is_finite() {
            inherited::prepare(model);
        }
        let scales: Vec<f64> = model.batch_scales(controls.body).collect();
        let substep = Substep::new(model);
        let system =
            System::new(model, &scales, substep.dofs.clone(), substep.reach(), substep.beginning.size)?;
        let (unknowns, places) = (system.objective.len(), system.objective.displacements().len());
        Ok(ProjectiveCache {
            response: Response::new(model.particle_count()),
            accelerator: Accelerator::new(model.params.implicit.acceleration, unknowns, places),
            substep,
            system,
            scales,
            isa,
            first: 0.0,
            last: f64::INFINITY,
            taken: None,
        })
    }

    /// Refactors if a stiffness has changed since the matrix was made; rebuilds if one came from or
    /// went to zero.
    fn follow_controls(&mut self, controls: LiveControls<'_>) -> Result<(), SolverError> {
        let mut changed = false;
        for (scale, now) in self.scales.iter_mut().zip(self.substep.model.batch_scales(controls.body)) {
            changed |= now != *scale;
            *scale = now;
        }
        if !changed {
            return Ok(());
        }
        if !self.system.fits(&self.scales) {
            *self = ProjectiveCache::new(&self.substep.model.clone(), controls, self.isa)?;
            return Ok(());
        }
        self.response.forget_columns();
        self.system.rescale(&self.substep.model, &self.scales)
    }
}

impl Solver for Projective {
    fn prepare(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<(), SolverError> {
        // Taken out, so that a cache that could not follow is not used again.
        let cache = match self.cache.take() {
            Some(mut cache) if cache.substep.model.same(model) => {
                cache.follow_controls(controls)?;
                cache
            }
            _ => ProjectiveCache::new(model, controls, self.isa)?,
        };
        self.cache = Some(cache);
        Ok(())
    }

    fn expect_contacts(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.response.reserve();
        }
    }

    fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) -> Result<u32, SolverError> {
        let body = stage.body;
        self.prepare(body.model, body.controls)?;
        let Some(cache) = &mut self.cache else {
            return Ok(0);
        };
        cache.substep.predict(stage, state);
        cache.system.objective.begin(body.model, &mut cache.substep.s);
        cache.accelerator.begin();
        cache.last = f64::INFINITY;
        Ok(body.controls.body.iterations)
    }

    /// Lines 4 to 7 of algorithm 1: a local step, and the global one solved for.
    fn iterate(&mut self, round: Round, stage: Stage<'_>, state: &BodyState) -> Result<bool, SolverError> {
        Ok(self.cache.as_mut().is_some_and(|c| c.iterate(round, (stage.team, c.isa), state)))
    }

    fn responding(&mut self) -> Option<&mut dyn Respond> {
        self.cache.as_mut().map(|c| c as &mut dyn Respond)
    }

    fn advance(&mut self, stage: Stage<'_>, _: &BodyState) -> Progress {
        let Some(cache) = &mut self.cache else {
            return Progress::default();
        };
        let moved = match cache.taken.take() {
            Some(moved) => moved,
            None => cache.system.take_step((stage.team, cache.isa)),
        };
        Progress { moved, settled: false }
    }

    fn conclude(&mut self, round: Round, stage: Stage<'_>, state: &BodyState) -> bool {
        let Some(cache) = &mut self.cache else {
            return false;
        };
        if !cache.accelerates(round) || round.number == 0 {
            return false;
        }
        let executor = (stage.team, cache.isa);
        let energy = cache.evaluate(state, executor);
        let back = cache.accelerator.judge(energy) == Acceptance::Return;
        if back {
            cache.go_back(executor);
        }
        back
    }

    fn finish(&mut self, stage: Stage<'_>, outside: Outside<'_>, state: &mut BodyState) -> FinishReport {
        let Some(cache) = &mut self.cache else { return FinishReport::default() };
        cache.substep.finish(stage.body, outside, state, &mut cache.system.objective)
    }

    fn positions(&mut self) -> Option<&Points> {
        self.cache.as_mut().map(|c| c.system.objective.read())
    }

    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(Projective { cache: self.cache.clone(), isa: self.isa })
    }

    fn factor_len(&self) -> usize {
        self.cache.as_ref().map_or(0, |c| c.system.factor_len())
    }
}

impl ProjectiveCache {
    /// Whether rounds like this are accelerated. What contacts do between rounds is not in the objective: no decrease to
    /// keep there.
    fn accelerates(&self, round: Round) -> bool {
        self.substep.model.params.implicit.acceleration != Acceleration::None && !round.touched
    }

    fn iterate(&mut self, round: Round, executor: Executor<'_>, state: &BodyState) -> bool {
        let Implicit { warm_start, tolerance, .. } = self.substep.model.params.implicit;
        if round.number == 1 && warm_start == WarmStart::Last {
            self.system.objective.start_at(&self.substep.beginning.start);
        }
        let energy = self.evaluate(state, executor);
        if round.number == 1 {
            self.first = energy;
        } else if tolerance > 0.0 && !round.touched && self.last - energy <= tolerance * (self.first - energy)
        {
            return false;
        }
        self.last = energy;
        if self.accelerates(round) {
            self.taken = Some(self.accelerate(energy, executor));
        } else {
            self.system.solve(executor);
        }
        true
    }

    /// The objective and its gradient at the present positions.
    fn evaluate(&mut self, state: &BodyState, executor: Executor<'_>) -> f64 {
        let around = ProjectionInputs {
            memory: &state.memory[Section::Batches],
            offsets: &self.substep.memory_offsets,
            targets: &self.substep.targets,
        };
        self.system.objective.evaluate(&self.substep.model, around, executor)
    }

    /// An accelerated step, or the plain one after a failed attempt.
    fn accelerate(&mut self, energy: f64, executor: Executor<'_>) -> f64 {
        if self.accelerator.judge(energy) == Acceptance::Return {
            return self.go_back(executor);
        }
        let system = &mut self.system;
        let n = system.objective.len();
        let plain = self.accelerator.needs_plain();
        if plain {
            system.solve(executor);
        }
        let objective = &system.objective;
        self.accelerator.learn(energy, objective.displacements(), objective.descent(), system.step(), n);
        system.improve(plain, &mut self.accelerator, executor);
        system.take_step(executor)
    }

    /// Returns to the last iterate that was kept and takes the plain step from there.
    fn go_back(&mut self, executor: Executor<'_>) -> f64 {
        let (displacements, descent) = self.accelerator.last();
        self.system.objective.set_displacements(displacements);
        self.system.solve_from(descent, executor);
        self.system.take_step(executor)
    }
}

impl Respond for ProjectiveCache {
    fn beginning(&self) -> &SubstepStart {
        &self.substep.beginning
    }

    fn end(&self, particle: usize) -> DVec3 {
        self.substep.end(particle, self.system.objective.position(particle))
    }

    fn free_end(&self, particle: usize) -> DVec3 {
        self.substep.end(particle, self.system.ahead(particle))
    }

    fn ahead(&self, particle: usize) -> DVec3 {
        self.free_end(particle)
    }

    /// Couplings look at hundreds of particles in every round.
    fn ends_of(&self, particles: &[u32], when: When, to: &mut Vec<DVec3>) {
        let places = particles.iter().map(|i| *i as usize);
        match when {
            When::Start => to.extend(places.map(|i| self.substep.beginning.start.get(i))),
            When::End => to.extend(places.map(|i| self.substep.end(i, self.system.objective.position(i)))),
            When::Free | When::Ahead => {
                to.extend(places.map(|i| self.substep.end(i, self.system.ahead(i))));
            }
        }
    }

    fn prepare(&mut self, nodes: &Nodes, team: &Team) -> bool {
        self.response.prepare(nodes, &mut self.system, (team, self.isa))
    }

    fn respond(&mut self, nodes: &mut Nodes, team: &Team) {
        self.response.respond(nodes, self.substep.theta(), &mut self.system, (team, self.isa));
    }

    fn pairs(&self) -> Option<PairResponse<'_>> {
        self.response.pairs(self.substep.theta())
    }

    fn reach(&mut self, nodes: &mut Nodes, team: &Team) {
        self.response.reach(nodes, self.substep.theta(), &mut self.system, (team, self.isa));
    }

    fn goes_on(&self) -> bool {
        true
    }

    fn push(&mut self, nodes: &Nodes, team: &Team) {
        if nodes.loads().any(|(_, f)| f != DVec3::ZERO) {
            self.system.solve_with((team, self.isa), |dofs, rhs| {
                nodes.loads().for_each(|(i, f)| scatter(dofs, rhs, i, f));
            });
        }
    }

    fn retract(&mut self, team: &Team) {
        self.system.solve((team, self.isa));
    }
}
