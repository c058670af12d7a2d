//! A step of all bodies: each is moved through all its substeps, small ones side by side, large ones one after the
//! other with all threads.
//!
//! Nothing couples bodies yet, so each is an island of its own: what stops, falls back or is shared out to threads is
//! decided for it alone, and it has the bits it would have without the others. A substep of an island is taken in phases
//! (`island.rs`).

use crate::contact::{Contacts, Course};
use crate::controls::{Controls, LiveControls};
use crate::forces::{self, Pushes};
use crate::island;
use crate::model::{BodyModel, Model, ModelBody};
use crate::simulation::Clock;
use crate::solver_pool::{Pool, SolverPools};
use crate::solvers::trace::Tracer;
use crate::solvers::{Convergence, Observer, Solver, SolverError, SolverKind, Stage, Subject, SubstepReport};
use crate::state::{BodyState, State};
use crate::team::Team;

/// What a step of a body reports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    /// Of the last substep.
    pub last: SubstepReport,
    pub convergence: Convergence,
    pub finite: bool,
}

/// What a body has beside model, state and controls.
pub(crate) struct Slot {
    pub observer: Option<Observer>,
    pub outcome: Result<Outcome, SolverError>,
    /// Scratch of the forces.
    pushes: Pushes,
}

impl Slot {
    pub fn new(model: &BodyModel) -> Slot {
        let pushes = Vec::with_capacity(model.topology().faces.len());
        Slot { observer: None, outcome: Ok(Outcome::default()), pushes }
    }
}

/// What a step reads.
#[derive(Clone, Copy)]
pub(crate) struct Stepping<'a> {
    pub model: &'a Model,
    pub controls: &'a Controls,
    pub pools: &'a SolverPools,
    pub team: &'a Team,
    /// The colliders in every substep.
    pub course: &'a Course,
}

/// The state of a body, and where what it was is kept.
struct Moved<'a> {
    state: &'a mut BodyState,
    before: &'a mut BodyState,
    slot: &'a mut Slot,
}

impl Stepping<'_> {
    /// Moves all bodies by a step; what was is in `backup` afterwards, also if some fail. Returns the seconds spent with
    /// the bodies of each solver.
    pub fn take(
        self,
        (state, backup): (&mut State, &mut State),
        slots: &mut [Slot],
        clock: Option<&Clock>,
        mut tracer: Option<&mut Tracer>,
    ) -> [f64; SolverKind::ALL.len()] {
        let step = state.step;
        let mut seconds = [0.0; SolverKind::ALL.len()];
        let bodies = self.model.bodies();
        let work = |b: &ModelBody| b.parts.particle_count();
        let total: usize = bodies.iter().map(work).sum();
        // A body that is a small part of the work is one task; threads share the work of the others. Newton's method always
        // stays on the calling thread: the linear algebra allocates room for every thread that ever factors.
        let is_task =
            |b: &ModelBody| work(b) * 2 * self.team.size() <= total && b.parts.solver() != SolverKind::Newton;
        let tracing = tracer.is_some();
        for kind in SolverKind::ALL {
            let of_kind = |b: &ModelBody| b.parts.solver() == kind;
            if !bodies.iter().any(of_kind) {
                continue;
            }
            let since = clock.map(|c| c());
            for (k, body) in bodies.iter().enumerate() {
                if of_kind(body) && (tracing || !is_task(body)) {
                    let moved = Moved {
                        state: &mut state.bodies[k],
                        before: &mut backup.bodies[k],
                        slot: &mut slots[k],
                    };
                    self.run(self.body(k, step), moved, tracer.as_deref_mut());
                }
            }
            if !tracing && bodies.iter().any(|b| of_kind(b) && is_task(b)) {
                let data = ((&mut state.bodies[..], &mut backup.bodies[..]), &mut slots[..]);
                self.team.split(data, 1, |range, ((state, before), slot)| {
                    let k = range.start;
                    if of_kind(&bodies[k]) && is_task(&bodies[k]) {
                        let moved =
                            Moved { state: &mut state[0], before: &mut before[0], slot: &mut slot[0] };
                        self.run(self.body(k, step), moved, None);
                    }
                });
            }
            if let (Some(clock), Some(since)) = (clock, since) {
                seconds[kind as usize] += clock() - since;
            }
        }
        seconds
    }

    fn run(&self, body: Body<'_>, mut moved: Moved<'_>, tracer: Option<&mut Tracer>) {
        let mut solver = body.pool.take();
        let mut contacts = self.pools.take_contacts();
        moved.slot.outcome = body.advance(&mut *solver, &mut contacts, &mut moved, self.team, tracer);
        self.pools.put_contacts(contacts);
        // One that failed may hold numbers that are none.
        if moved.slot.outcome.as_ref().is_ok_and(|o| o.finite) {
            body.pool.put(solver);
        }
    }

    fn body(&self, k: usize, step: u64) -> Body<'_> {
        Body {
            body: &self.model.bodies()[k],
            controls: self.controls.live(k),
            pool: self.pools.of(k),
            step,
            course: self.course,
        }
    }
}

/// A body in a step.
struct Body<'a> {
    body: &'a ModelBody,
    controls: LiveControls<'a>,
    pool: &'a Pool,
    step: u64,
    course: &'a Course,
}

impl Body<'_> {
    fn advance(
        &self,
        solver: &mut dyn Solver,
        contacts: &mut Contacts,
        moved: &mut Moved<'_>,
        team: &Team,
        mut tracer: Option<&mut Tracer>,
    ) -> Result<Outcome, SolverError> {
        let Moved { state, before, slot } = moved;
        let (model, controls) = (&self.body.parts, self.controls);
        // The first substep reads what was and writes what will be: nothing need be copied for that, unless
        // forces change velocities before it.
        let forced = forces::act(model, controls);
        if forced {
            before.copy_from(state);
        } else {
            std::mem::swap(&mut before.x, &mut state.x);
            std::mem::swap(&mut before.v, &mut state.v);
            before.memory.copy_from(&state.memory);
        }
        let mut outcome = Outcome { finite: true, ..Default::default() };
        let (step, substeps) = (model.params.step, model.params.substeps);
        // Time is counted, not summed: no drift, and the same bits after a resume.
        let begin = self.step as f64 * step;
        for k in 0..substeps {
            let time = begin + step * (f64::from(k) / f64::from(substeps));
            if forced {
                let when = (time, model.params.substep());
                forces::apply(model, controls, state, when, &mut slot.pushes, team);
            }
            let before = (!forced && k == 0).then_some((&before.x, &before.v));
            let obstacles = self.course.substep(k);
            let body = Subject { model, controls, time, obstacles };
            let stage = Stage { body, before, team };
            let part = match &mut tracer {
                None => island::substep(stage, solver, contacts, state, slot.observer.as_mut())?,
                Some(tracer) => {
                    let mut watch = tracer.watch(&state.memory);
                    let part = island::substep(stage, solver, contacts, state, Some(&mut watch))?;
                    let when = (self.step + 1, k);
                    tracer.evaluate(self.body.id, body, when, (team, self.pool.isa()))?;
                    part
                }
            };
            outcome.finite &= part.finite;
            outcome.convergence.add(model.solver(), &part);
            outcome.last = part;
        }
        Ok(outcome)
    }
}
