//! Newton's method on the objective of projective dynamics: the classical way to take an implicit step, and
//! what the paper compares with (projective-dynamics, §6 and figures 8 and 12).
//!
//! A substep minimises the same E(q) = ½ ‖M^½ (q − s)‖²/h² + Σ ½ w ‖A q − p(q)‖² (eq. 8). The projective solver
//! steps with the constant matrix M/h² + Σ w AᵀA; this one with the true Hessian, in which turning is cheaper.
//! Its steps lead further, and each costs a new factor of three times the unknowns: x, y and z are
//! coupled. Where it is not positive definite, elements are taken without their negative curvature, and a line
//! search makes sure that E decreases: precautions that the constant matrix, an upper bound, does without.
//!
//! It stops before its iterations are done once nothing is left to gain. Planes hold the particles that press on them (`contacts.rs`).

mod borders;
mod contacts;
mod hessian;
mod minimiser;

use contacts::Contacts;
pub(crate) use minimiser::Minimiser;

use super::implicit::Substep;
use super::objective::{Hands, Objective, Surroundings};
use super::{Before, Observer, Solver, SolverError, Subject, SubstepReport};
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::BodyModel;
use crate::state::BodyState;
use crate::team::Team;
use pliant_math::lanes::Isa;

/// The solver; all but the instruction set is a cache.
pub struct Newton {
    cache: Option<Cache>,
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
struct Cache {
    substep: Substep,
    minimiser: Minimiser,
    contacts: Contacts,
    scales: Vec<f64>,
}

impl Cache {
    fn new(model: &BodyModel, controls: LiveControls<'_>) -> Result<Cache, SolverError> {
        let scales: Vec<f64> = model.batch_scales(controls.body).collect();
        let substep = Substep::new(model);
        let mut minimiser =
            Minimiser::new(model, substep.dofs.clone(), &scales, substep.reach(), substep.diameter)?;
        let contacts = Contacts::new(&substep);
        minimiser.reserve(contacts.most());
        Ok(Cache { substep, minimiser, contacts, scales })
    }

    /// Takes up other stiffnesses; begins anew if one came from or went to zero.
    fn follow(self, model: &BodyModel, controls: LiveControls<'_>) -> Result<Cache, SolverError> {
        let Cache { substep, mut minimiser, contacts, mut scales } = self;
        let (mut changed, mut fits) = (false, true);
        for (scale, now) in scales.iter_mut().zip(model.batch_scales(controls.body)) {
            changed |= now != *scale;
            fits &= (now > 0.0) == (*scale > 0.0);
            *scale = now;
        }
        if !fits {
            return Cache::new(model, controls);
        }
        if changed {
            minimiser.rescale(model, &scales);
        }
        Ok(Cache { substep, minimiser, contacts, scales })
    }
}

/// Where a substep begins whose prediction is below a plane.
#[derive(Clone, Copy)]
enum Way {
    /// At the prediction, with whole bodies moved out.
    Lifted,
    /// At the prediction, with particles moved out.
    Landed,
    /// Where the substep before has ended.
    Start,
}

impl Way {
    fn take(self, substep: &Substep, contacts: &Contacts, q: &mut Objective) {
        match self {
            Way::Lifted | Way::Landed => q.go_to_prediction(),
            Way::Start => q.start_at(substep.start()),
        }
        if matches!(self, Way::Lifted) {
            contacts.lift(q);
        }
        contacts.land(q);
    }
}

impl Solver for Newton {
    fn prepare(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<(), SolverError> {
        // Taken out, so that a cache that could not follow is not used again.
        let cache = match self.cache.take() {
            Some(cache) if cache.substep.model.same(model) => cache.follow(model, controls)?,
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
        mut observer: Option<&mut Observer>,
    ) -> Result<SubstepReport, SolverError> {
        let Subject { model, controls, .. } = body;
        self.prepare(model, controls)?;
        let Some(Cache { substep, minimiser, contacts, .. }) = &mut self.cache else {
            return Ok(SubstepReport::default());
        };
        let hands: Hands<'_> = (team, self.isa);
        substep.predict(body, before, state);
        let mut s = std::mem::take(&mut substep.s);
        let around = Surroundings {
            memory: &state.memory[Section::Batches],
            offsets: &substep.memory_offsets,
            targets: &substep.targets,
        };
        minimiser.begin(model, &mut s, around, hands);
        let mut report = SubstepReport::default();
        let mut show = |iteration, minimiser: &mut Minimiser| {
            if let Some(observer) = &mut observer {
                observer(iteration, minimiser.objective.read());
            }
        };
        show(0, minimiser);
        contacts.begin(substep);
        // Nothing begins below a plane: of three ways out, the one with the least energy is taken,
        // friction included: what sticks begins where it was, what slides where it would be.
        if contacts.land(&mut minimiser.objective) {
            let mut best = (f64::INFINITY, Way::Lifted);
            for way in [Way::Lifted, Way::Landed, Way::Start] {
                way.take(substep, contacts, &mut minimiser.objective);
                minimiser.evaluate(model, around, hands);
                let friction = contacts.estimated_friction(substep, controls, &minimiser.objective);
                if minimiser.energy + friction < best.0 {
                    best = (minimiser.energy + friction, way);
                }
            }
            best.1.take(substep, contacts, &mut minimiser.objective);
            minimiser.evaluate(model, around, hands);
        }
        for iteration in 1..=controls.body.iterations {
            contacts.find(iteration, substep, controls, &minimiser.objective);
            let bounds = Some(&*contacts).filter(|c| !c.is_empty());
            let progress = minimiser.iterate_on(bounds, model, around, hands)?;
            if progress.settled {
                report.residual = 0.0;
                break;
            }
            show(iteration, minimiser);
            (report.iterations, report.residual) = (iteration, progress.moved);
        }
        substep.s = s;
        substep.finish(body, state, &mut minimiser.objective);
        report.contacts = substep.touching(&state.x);
        report.finite = state.x.first_non_finite().or(state.v.first_non_finite()).is_none();
        Ok(report)
    }

    /// Prepares itself when it is first used: a factor belongs to one place of its iterations.
    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(Newton::new(self.isa))
    }

    fn factor_len(&self) -> usize {
        self.cache.as_ref().map_or(0, |c| c.minimiser.factor_len())
    }
}
