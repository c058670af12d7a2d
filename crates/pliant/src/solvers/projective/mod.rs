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
mod inherited;
mod system;

use super::implicit::Substep;
use super::objective::{Hands, Surroundings};
use super::{Before, Observer, Solver, SolverError, Subject, SubstepReport};
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::{Acceleration, BodyModel, Implicit, WarmStart};
use crate::state::BodyState;
use crate::team::Team;
use acceleration::{Accelerator, Verdict};
use contacts::ContactSolver;
use pliant_math::lanes::Isa;
use system::System;

/// The solver; all but the instruction set is a cache.
pub struct Projective {
    cache: Option<Cache>,
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
struct Cache {
    substep: Substep,
    system: System,
    /// Stiffness of each batch the matrix was made with.
    scales: Vec<f64>,
    contacts: ContactSolver,
    accelerator: Accelerator,
}

impl Cache {
    fn new(model: &BodyModel, controls: LiveControls<'_>) -> Result<Cache, SolverError> {
        if controls.body.tear_strain.is_finite() {
            inherited::prepare(model);
        }
        let scales: Vec<f64> = model.batch_scales(controls.body).collect();
        let substep = Substep::new(model);
        let system = System::new(model, &scales, substep.dofs.clone(), substep.reach(), substep.diameter)?;
        let (unknowns, places) = (system.objective.len(), system.objective.ways().len());
        Ok(Cache {
            contacts: ContactSolver::new(&substep),
            accelerator: Accelerator::new(model.params.implicit.acceleration, unknowns, places),
            substep,
            system,
            scales,
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
            *self = Cache::new(&self.substep.model.clone(), controls)?;
            return Ok(());
        }
        self.contacts.forget_columns();
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
            _ => Cache::new(model, controls)?,
        };
        self.cache = Some(cache);
        Ok(())
    }

    fn substep(
        &mut self,
        body: Subject<'_>,
        before: Option<Before<'_>>,
        state: &mut BodyState,
        team: &Team,
        observer: Option<&mut Observer>,
    ) -> Result<SubstepReport, SolverError> {
        self.prepare(body.model, body.controls)?;
        let Some(cache) = &mut self.cache else {
            return Ok(SubstepReport::default());
        };
        let hands = (team, self.isa);
        let Cache { substep, system, contacts, .. } = cache;
        substep.predict(body, before, state);
        system.objective.begin(body.model, &mut substep.s);
        contacts.clear();
        let (iterations, residual) = cache.converge(body.controls, state, hands, observer);
        let pushed = cache.substep.finish(body, state, &mut cache.system.objective);
        let residual = residual.max(pushed);
        let finite = state.x.first_non_finite().or(state.v.first_non_finite()).is_none();
        Ok(SubstepReport { contacts: cache.contacts.touching(), iterations, residual, finite })
    }

    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(Projective { cache: self.cache.clone(), isa: self.isa })
    }

    fn factor_len(&self) -> usize {
        self.cache.as_ref().map_or(0, |c| c.system.factor_len())
    }
}

impl Cache {
    /// Lines 3 to 8 of algorithm 1: local and global steps until there have been enough. Returns their number
    /// and the largest movement in the last one, relative to the size of the body.
    fn converge(
        &mut self,
        controls: LiveControls<'_>,
        state: &BodyState,
        hands: Hands<'_>,
        mut observer: Option<&mut Observer>,
    ) -> (u32, f64) {
        let Implicit { warm_start, acceleration, tolerance, .. } = self.substep.model.params.implicit;
        let most = controls.body.iterations;
        // What contacts do between iterations is not in the objective: no decrease to keep there.
        let mut alone = self.substep.contacts().is_empty();
        let accelerates = acceleration != Acceleration::None;
        if let Some(observer) = &mut observer {
            observer(0, self.system.objective.read());
        }
        if warm_start == WarmStart::Last {
            self.system.objective.start_at(self.substep.start());
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
            if accelerates && alone {
                residual = self.accelerate(energy, hands);
            } else {
                self.system.solve(hands);
                self.contacts.resolve(&self.substep, &mut self.system, hands);
                residual = self.system.take_step(hands);
            }
            let objective = &self.system.objective;
            if self.substep.join(controls, |i| objective.position(i)) {
                alone = false;
            }
            if let Some(observer) = &mut observer {
                observer(iteration, self.system.objective.read());
            }
        }
        if accelerates && alone && most > 0 {
            let energy = self.evaluate(state, hands);
            if self.accelerator.judge(energy) == Verdict::Return {
                self.go_back(hands);
                if let Some(observer) = &mut observer {
                    observer(most, self.system.objective.read());
                }
            }
        }
        (most, residual)
    }

    /// The objective and its gradient at the present positions.
    fn evaluate(&mut self, state: &BodyState, hands: Hands<'_>) -> f64 {
        let around = Surroundings {
            memory: &state.memory[Section::Batches],
            offsets: &self.substep.memory_offsets,
            targets: &self.substep.targets,
        };
        self.system.objective.evaluate(&self.substep.model, around, hands)
    }

    /// An accelerated step, or the plain one after a failed attempt.
    fn accelerate(&mut self, energy: f64, hands: Hands<'_>) -> f64 {
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
        system.take_step(hands)
    }

    /// Returns to the last iterate that was kept and takes the plain step from there.
    fn go_back(&mut self, hands: Hands<'_>) -> f64 {
        let (ways, descent) = self.accelerator.last();
        self.system.objective.set_ways(ways);
        self.system.solve_from(descent, hands);
        self.system.take_step(hands)
    }
}
