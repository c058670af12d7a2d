//! Edits that are known beforehand, by the frame they act at: the events of a scene.

use crate::builder::Assembler;
use crate::checkpoint::Checkpoint;
use crate::edits::{Edit, EditError, Editing};
use crate::model::Model;
use crate::simulation::{Simulation, StepError, StepReport};
use crate::state::StateError;
use pliant_math::lanes::Bits;

/// Edits by frame. Those of one frame act in the order they were given, before the step that leaves it.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Ascending by frame.
    edits: Vec<(u64, Edit)>,
}

/// Why an edit of a schedule cannot be made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ScheduleError {
    /// Which edit, in the order they act.
    pub edit: usize,
    /// The frame it is to act at.
    pub frame: u64,
    /// Why it is refused in that frame.
    pub reason: EditError,
}

impl std::fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "at frame {}: {}", self.frame, self.reason)
    }
}

impl std::error::Error for ScheduleError {}

impl Schedule {
    /// These edits; those of one frame stay in their order.
    pub fn new(edits: impl IntoIterator<Item = (u64, Edit)>) -> Schedule {
        let mut edits: Vec<_> = edits.into_iter().collect();
        edits.sort_by_key(|(frame, _)| *frame);
        Schedule { edits }
    }

    /// Every edit with its frame, in the order they act.
    pub fn edits(&self) -> &[(u64, Edit)] {
        &self.edits
    }

    /// The edits of a frame.
    pub fn at(&self, frame: u64) -> &[(u64, Edit)] {
        let first = self.edits.partition_point(|(at, _)| *at < frame);
        let last = self.edits.partition_point(|(at, _)| *at <= frame);
        &self.edits[first..last]
    }

    /// Whether all of it can be done to a simulation, from the frame it is at on; the first that cannot is told.
    pub fn check(&self, simulation: &Simulation) -> Result<(), ScheduleError> {
        let from = self.edits.partition_point(|(at, _)| *at < simulation.state().step());
        self.replay(simulation, from..self.edits.len()).map(|_| ())
    }

    /// The model after some of the edits, which need no state for that, and what put it together.
    fn replay(
        &self,
        simulation: &Simulation,
        range: std::ops::Range<usize>,
    ) -> Result<(Model, Assembler), ScheduleError> {
        let (mut model, mut controls) = (simulation.model.clone(), simulation.controls.clone());
        let mut assembler = simulation.assembler.clone();
        for edit in range {
            let (frame, action) = &self.edits[edit];
            let time = *frame as f64 * model.params().step;
            let (model, controls, assembler) = (&mut model, &mut controls, &mut assembler);
            let made = Editing { model, controls, assembler, time }.make(action);
            made.map_err(|reason| ScheduleError { edit, frame: *frame, reason })?;
        }
        Ok((model, assembler))
    }
}

impl Simulation {
    /// Makes the edits a schedule has for the present frame, and takes a step. If an edit is refused, those before it were
    /// made and no step was taken; [`Schedule::check`] tells beforehand.
    pub fn step_by(&mut self, schedule: &Schedule) -> Result<StepReport, StepError> {
        self.make_scheduled(schedule)?;
        self.step()
    }

    /// Makes the edits a schedule has for the present frame.
    pub fn make_scheduled(&mut self, schedule: &Schedule) -> Result<(), StepError> {
        for (_, edit) in schedule.at(self.state.step()) {
            self.edit(edit).map_err(StepError::Edit)?;
        }
        Ok(())
    }

    /// Goes on from a checkpoint of frame `frame` of a run by a schedule: to be called on a simulation as it was built. The
    /// model is what the edits before that frame make of it. A refusal changes nothing.
    pub fn restore_by(
        &mut self,
        schedule: &Schedule,
        frame: u64,
        checkpoint: &[u8],
    ) -> Result<Bits, StateError> {
        let done = schedule.edits.partition_point(|(at, _)| *at < frame);
        let (model, assembler) = schedule.replay(self, 0..done).map_err(|_| StateError::OtherModel)?;
        let Checkpoint { state, controls, bits } = Checkpoint::decode(checkpoint, &model)?;
        self.take_up(&model, &controls, Some(&state));
        self.assembler = assembler;
        self.follow_model(None);
        Ok(bits)
    }
}
