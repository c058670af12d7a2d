//! A step of all bodies: every island moves through all its substeps, small ones side by side, large ones one after the
//! other with all threads.
//!
//! What stops, falls back or is shared out to threads is decided for an island alone (`island.rs`): its bodies have the bits
//! they would have without the others.

use crate::contact::{ColliderTrajectory, Obstacles};
use crate::controls::Controls;
use crate::forces::FaceImpulses;
use crate::island::{Island, Islands};
use crate::model::{BodyModel, Model};
use crate::simulation::Clock;
use crate::solver_pool::SolverPools;
use crate::solvers::rigid;
use crate::solvers::trace::Tracer;
use crate::solvers::{Convergence, Observer, SolverError, SolverKind, Subject, SubstepReport};
use crate::state::State;
use crate::team::Team;

/// Bodies a thread takes at a time that are moved without an island.
const BALLS: usize = 64;

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
    pub pushes: FaceImpulses,
}

impl Default for Slot {
    fn default() -> Slot {
        Slot { observer: None, outcome: Ok(Outcome::default()), pushes: FaceImpulses::new() }
    }
}

impl Slot {
    pub fn new(model: &BodyModel) -> Slot {
        Slot { pushes: Vec::with_capacity(model.topology().faces.len()), ..Slot::default() }
    }
}

/// What a step reads.
#[derive(Clone, Copy)]
pub(crate) struct StepContext<'a> {
    pub model: &'a Model,
    pub controls: &'a Controls,
    pub pools: &'a SolverPools,
    pub team: &'a Team,
    /// The colliders in every substep.
    pub course: &'a ColliderTrajectory,
    /// Steps done before it.
    pub step: u64,
}

/// A substep of a step.
#[derive(Clone, Copy)]
pub(crate) struct SubstepContext<'a> {
    pub of: StepContext<'a>,
    /// Its number, from 0.
    pub substep: u32,
    /// When it begins.
    pub time: f64,
    /// The colliders in it.
    pub obstacles: Obstacles<'a>,
    /// Whether couplings hold the bodies of the island, or others may touch them.
    pub tied: bool,
    /// Whether others may touch them.
    pub crowded: bool,
}

impl<'a> SubstepContext<'a> {
    /// The body of a place in the model.
    pub fn subject(self, place: usize) -> Subject<'a> {
        Subject {
            model: &self.of.model.bodies()[place].parts,
            controls: self.of.controls.live(place),
            time: self.time,
            obstacles: self.obstacles,
        }
    }
}

impl<'a> StepContext<'a> {
    /// A substep of it.
    pub fn at(self, substep: u32, (tied, crowded): (bool, bool)) -> SubstepContext<'a> {
        let (step, substeps) = (self.model.params.step, self.model.params.substeps);
        // Time is counted, not summed: no drift, and the same bits after a resume.
        let time = self.step as f64 * step + step * (f64::from(substep) / f64::from(substeps));
        SubstepContext { of: self, substep, time, obstacles: self.course.substep(substep), tied, crowded }
    }

    /// Moves all bodies by a step; what was is in `backup` afterwards, also if some fail. Returns the seconds spent with
    /// the bodies of each solver; those of an island of several are shared out by their particles. What couplings have put
    /// in is added to `put_in`.
    pub fn take(
        self,
        (state, backup): (&mut State, &mut State),
        slots: &mut [Slot],
        islands: &mut Islands,
        clock: Option<&Clock>,
        mut tracer: Option<&mut Tracer>,
        put_in: &mut f64,
    ) -> [f64; SolverKind::ALL.len()] {
        let mut seconds = [0.0; SolverKind::ALL.len()];
        let model = self.model;
        islands.of(model, state, self.controls);
        let since = clock.map(|c| c());
        self.roll(islands.rolling(), state, backup, slots);
        if let (Some(clock), Some(since)) = (clock, since) {
            seconds[SolverKind::Rigid as usize] += clock() - since;
        }
        islands.find_sleepers(self, state);
        let islands = islands.list_mut();
        exchange(islands, state, backup, slots);
        islands.iter_mut().filter(|i| i.asleep).for_each(Island::stay);
        let total: usize = model.particle_count();
        // An island that is a small part of the work is one task; threads share the work of the others.
        let is_task = |i: &Island| i.work(model) * 2 * self.team.size() <= total && !i.stays(model);
        let tracing = tracer.is_some();
        for kind in SolverKind::ALL.map(Some).into_iter().chain([None]) {
            let of_kind = |i: &Island| !i.asleep && i.kind(model) == kind;
            if !islands.iter().any(of_kind) {
                continue;
            }
            let since = clock.map(|c| c());
            for island in islands.iter_mut().filter(|i| of_kind(i) && (tracing || !is_task(i))) {
                island.run(self, tracer.as_deref_mut());
            }
            if !tracing && islands.iter().any(|i| of_kind(i) && is_task(i)) {
                self.team.split(&mut islands[..], 1, |_, islands| {
                    islands.iter_mut().filter(|i| of_kind(i) && is_task(i)).for_each(|i| i.run(self, None));
                });
            }
            if let (Some(clock), Some(since)) = (clock, since) {
                let spent = clock() - since;
                let of = |k: SolverKind| -> usize {
                    islands.iter().filter(|i| of_kind(i)).map(|i| i.work_of(k, model)).sum()
                };
                let all: usize = SolverKind::ALL.into_iter().map(of).sum();
                for k in SolverKind::ALL {
                    seconds[k as usize] += spent * of(k) as f64 / all as f64;
                }
            }
        }
        exchange(islands, state, backup, slots);
        *put_in += islands.iter().flat_map(|i| &i.ties).map(|t| t.put_in).sum::<f64>();
        seconds
    }
}

impl StepContext<'_> {
    /// Moves the balls that need no island.
    fn roll(self, rolling: &[bool], state: &mut State, backup: &mut State, slots: &mut [Slot]) {
        if !rolling.contains(&true) {
            return;
        }
        let bodies = (&mut state.bodies[..], &mut backup.bodies[..]);
        self.team.split((bodies, slots), BALLS, |range, ((states, before), slots)| {
            for (k, place) in range.enumerate().filter(|(_, place)| rolling[*place]) {
                rigid::roll(self, place, &mut states[k], &mut before[k], &mut slots[k]);
            }
        });
    }
}

/// Gives the islands the states of their bodies and couplings, or takes them back.
fn exchange(islands: &mut [Island], state: &mut State, backup: &mut State, slots: &mut [Slot]) {
    for member in islands.iter_mut().flat_map(|i| &mut i.members) {
        let k = member.place;
        std::mem::swap(&mut member.state, &mut state.bodies[k]);
        std::mem::swap(&mut member.before, &mut backup.bodies[k]);
        std::mem::swap(&mut member.slot, &mut slots[k]);
    }
    for tie in islands.iter_mut().flat_map(|i| &mut i.ties) {
        std::mem::swap(&mut tie.memory, &mut state.couplings[tie.place]);
    }
}
