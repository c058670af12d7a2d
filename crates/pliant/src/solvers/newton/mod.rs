//! Newton's method on the objective of projective dynamics: the classical way to take an implicit step, and
//! what the paper compares with (projective-dynamics, §6 and figures 8 and 12).
//!
//! A substep minimises the same E(q) = ½ ‖M^½ (q − s)‖²/h² + Σ ½ w ‖A q − p(q)‖² (eq. 8). The projective solver
//! steps with the constant matrix M/h² + Σ w AᵀA; this one with the true Hessian, in which turning is cheaper.
//! Its steps lead further, and each costs a new factor of three times the unknowns: x, y and z are
//! coupled. Where it is not positive definite, elements are taken without their negative curvature, and a line
//! search makes sure that E decreases: precautions that the constant matrix, an upper bound, does without.
//!
//! It stops before its iterations are done once nothing is left to gain. Contact forces are found through the factor
//! of each iteration, before its line search, which counts their work (`response.rs`).

mod borders;
mod hessian;
mod minimiser;
mod response;

use super::implicit::Substep;
use super::objective::ProjectionInputs;
use super::{FinishReport, Outside, Progress, Round, Solver, SolverError, Stage};
use crate::contact::Respond;
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;
use hessian::Matrix;
use pliant_math::lanes::Isa;

pub(crate) use minimiser::Minimiser;

/// The solver; all but the instruction set is a cache.
pub(crate) struct Newton {
    cache: Option<NewtonCache>,
    isa: Isa,
}

impl Newton {
    /// A solver whose kernels run with an instruction set.
    pub fn new(isa: Isa) -> Newton {
        Newton { cache: None, isa }
    }
}

impl std::fmt::Debug for Newton {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Newton").field("prepared", &self.cache.is_some()).finish()
    }
}

#[derive(Debug)]
struct NewtonCache {
    substep: Substep,
    minimiser: Minimiser,
    scales: Vec<f64>,
    /// The matrix the next iteration begins with: after one with the true Hessian that led nowhere, not that.
    wanted: Matrix,
    touched: bool,
    /// Scratch of the response's bound.
    bounds: Vec<f64>,
}

impl NewtonCache {
    fn new(model: &BodyModel, controls: LiveControls<'_>) -> Result<NewtonCache, SolverError> {
        let scales: Vec<f64> = model.batch_scales(controls.body).collect();
        let substep = Substep::new(model);
        let bounds = Vec::with_capacity(model.particle_count());
        let minimiser =
            Minimiser::new(model, substep.dofs.clone(), &scales, substep.reach(), substep.beginning.size)?;
        Ok(NewtonCache { substep, minimiser, scales, wanted: Matrix::True, touched: false, bounds })
    }

    /// Takes up other stiffnesses; begins anew if one came from or went to zero.
    fn follow(mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<NewtonCache, SolverError> {
        let (mut changed, mut fits) = (false, true);
        for (scale, now) in self.scales.iter_mut().zip(model.batch_scales(controls.body)) {
            changed |= now != *scale;
            fits &= (now > 0.0) == (*scale > 0.0);
            *scale = now;
        }
        if !fits {
            return NewtonCache::new(model, controls);
        }
        if changed {
            self.minimiser.rescale(model, &self.scales);
        }
        Ok(self)
    }
}

impl Solver for Newton {
    fn prepare(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<(), SolverError> {
        // Taken out, so that a cache that could not follow is not used again.
        let cache = match self.cache.take() {
            Some(cache) if cache.substep.model.same(model) => cache.follow(model, controls)?,
            _ => NewtonCache::new(model, controls)?,
        };
        self.cache = Some(cache);
        Ok(())
    }

    fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) -> Result<u32, SolverError> {
        let body = stage.body;
        self.prepare(body.model, body.controls)?;
        let Some(cache) = &mut self.cache else {
            return Ok(0);
        };
        cache.substep.predict(stage, state);
        let mut s = std::mem::take(&mut cache.substep.s);
        let around = around(&cache.substep, state);
        cache.minimiser.begin(body.model, &mut s, around, (stage.team, self.isa));
        cache.substep.s = s;
        cache.wanted = Matrix::True;
        Ok(body.controls.body.iterations)
    }

    fn iterate(&mut self, round: Round, stage: Stage<'_>, state: &BodyState) -> Result<bool, SolverError> {
        let Some(NewtonCache { substep, minimiser, wanted, touched, .. }) = &mut self.cache else {
            return Ok(false);
        };
        *touched = round.touched;
        minimiser.solve(*wanted, stage.body.model, around(substep, state), (stage.team, self.isa))?;
        Ok(true)
    }

    fn responding(&mut self) -> Option<&mut dyn Respond> {
        self.cache.as_mut().map(|c| c as &mut dyn Respond)
    }

    fn advance(&mut self, stage: Stage<'_>, state: &BodyState) -> Progress {
        let Some(NewtonCache { substep, minimiser, wanted, touched, .. }) = &mut self.cache else {
            return Progress::default();
        };
        let around = around(substep, state);
        let found = minimiser.search(*touched, stage.body.model, around, (stage.team, self.isa));
        let again = minimiser.used() == Matrix::True && found.settled && !found.small;
        *wanted = if again { Matrix::Clamped } else { Matrix::True };
        Progress { moved: found.moved, settled: found.settled && !again }
    }

    fn finish(&mut self, stage: Stage<'_>, outside: Outside<'_>, state: &mut BodyState) -> FinishReport {
        let Some(cache) = &mut self.cache else { return FinishReport::default() };
        cache.substep.finish(stage.body, outside, state, &mut cache.minimiser.objective)
    }

    fn positions(&mut self) -> Option<&Points> {
        self.cache.as_mut().map(|c| c.minimiser.objective.read())
    }

    /// Prepares itself when it is first used: a factor belongs to one place of its iterations.
    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(Newton::new(self.isa))
    }

    fn factor_len(&self) -> usize {
        self.cache.as_ref().map_or(0, |c| c.minimiser.factor_len())
    }
}

/// What projections may look at besides positions.
fn around<'a>(substep: &'a Substep, state: &'a BodyState) -> ProjectionInputs<'a> {
    ProjectionInputs {
        memory: &state.memory[Section::Batches],
        offsets: &substep.memory_offsets,
        targets: &substep.targets,
    }
}
