//! The changing side of a simulation: with the controls, exactly what a checkpoint stores.

use crate::bytes::{Reader, Truncated, Writer};
use crate::model::{Model, ModelId};
use crate::points::Points;
use glam::DMat3;

/// Positions, velocities and everything else history leaves behind. A step is a pure function of
/// model, state and controls, so these saved and loaded continue with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Seconds since the start.
    pub time: f64,
    /// Steps since the start.
    pub step: u64,
    /// Positions.
    pub x: Points,
    /// Velocities.
    pub v: Points,
    /// Last rotation of every cluster: breaks ties where several rotations fit equally well.
    pub frames: Vec<DMat3>,
    /// Permanent stretch of every cluster's rest shape.
    pub plastic: Vec<DMat3>,
    /// What the constraint batches remember, one after the other.
    pub auxiliary: Vec<f64>,
    /// Source of random numbers for whatever needs them while running.
    pub random: u64,
    /// The model this state belongs to.
    pub model: ModelId,
}

/// Why a checkpoint cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// The bytes are not a checkpoint, or are damaged.
    Damaged(&'static str),
    /// Written by another version of the format.
    Version {
        /// The version found.
        found: u64,
        /// The version this program writes.
        expected: u64,
    },
    /// It belongs to another model.
    OtherModel,
}

impl std::fmt::Display for StateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StateError::Damaged(what) => write!(f, "the checkpoint is damaged: {what}"),
            StateError::Version { found, expected } => write!(
                f,
                "the checkpoint has format version {found}, this program reads version {expected}; \
                 run again from the start, or with the program that wrote it"
            ),
            StateError::OtherModel => f.write_str(
                "the checkpoint belongs to another model: the scene was changed since; \
                 run again from the start",
            ),
        }
    }
}

impl std::error::Error for StateError {}

impl From<Truncated> for StateError {
    fn from(_: Truncated) -> Self {
        StateError::Damaged("it ends early")
    }
}

impl State {
    /// Bodies at `x` with velocities `v`, at time zero.
    pub fn new(model: &Model, x: Points, v: Points) -> State {
        let mut auxiliary = Vec::new();
        for b in model.batches.iter() {
            b.batch.initial_state(&mut auxiliary);
        }
        auxiliary.resize(auxiliary.len() + model.topology.bodies.len(), 0.0);
        State {
            time: 0.0,
            step: 0,
            x,
            v,
            frames: vec![DMat3::IDENTITY; model.topology.clusters.len()],
            plastic: vec![DMat3::IDENTITY; model.topology.clusters.len()],
            auxiliary,
            random: 0x5EED,
            model: model.id(),
        }
    }

    /// The last step that can be counted to: beyond it a step is no longer a time of its own.
    pub const LAST_STEP: u64 = 1 << 53;

    /// Why this cannot be a state of `model`: of another model, of other sizes, or with numbers that are none.
    pub fn check(&self, model: &Model) -> Result<(), StateError> {
        let (n, clusters) = (model.particle_count(), model.topology.clusters.len());
        let fits = self.model == model.id()
            && [self.x.len(), self.v.len()] == [n; 2]
            && [self.frames.len(), self.plastic.len()] == [clusters; 2]
            && self.auxiliary.len() == model.auxiliary_offsets().last().copied().unwrap_or(0);
        if !fits {
            return Err(StateError::OtherModel);
        }
        let matrices = self.frames.iter().chain(&self.plastic);
        let finite = self.x.first_non_finite().or(self.v.first_non_finite()).is_none()
            && matrices.into_iter().all(DMat3::is_finite)
            && self.auxiliary.iter().all(|v| v.is_finite())
            && self.time.is_finite();
        if !finite {
            return Err(StateError::Damaged("it has numbers that are not finite"));
        }
        if self.step > State::LAST_STEP {
            return Err(StateError::Damaged("it counts more steps than there can be (2^53)"));
        }
        Ok(())
    }

    /// Appends all of it to a checkpoint.
    pub(crate) fn write(&self, w: &mut Writer) {
        w.word(self.model.revision);
        w.word(self.model.fingerprint);
        w.number(self.time);
        w.word(self.step);
        w.word(self.random);
        for column in self.x.columns().into_iter().chain(self.v.columns()) {
            w.numbers(column);
        }
        w.word(self.frames.len() as u64);
        let matrices = self.frames.iter().chain(&self.plastic);
        matrices.flat_map(|r| r.to_cols_array()).for_each(|e| w.number(e));
        w.numbers(&self.auxiliary);
    }

    /// Reads back what [`State::write`] wrote of a state of `model`, and checks it.
    pub(crate) fn read(r: &mut Reader<'_>, model: &Model) -> Result<State, StateError> {
        let id = ModelId { revision: r.word()?, fingerprint: r.word()? };
        if id != model.id() {
            return Err(StateError::OtherModel);
        }
        let (time, step, random) = (r.number()?, r.word()?, r.word()?);
        let (x, v) = (r.points()?, r.points()?);
        let count = r.word()? as usize;
        if count != model.topology.clusters.len() {
            return Err(StateError::Damaged("the number of clusters does not fit the model"));
        }
        let mut matrices = || -> Result<Vec<DMat3>, Truncated> {
            let mut list = Vec::with_capacity(count);
            for _ in 0..count {
                let mut e = [0.0; 9];
                for v in &mut e {
                    *v = r.number()?;
                }
                list.push(DMat3::from_cols_array(&e));
            }
            Ok(list)
        };
        let (frames, plastic) = (matrices()?, matrices()?);
        let auxiliary = r.numbers()?;
        let state = State { time, step, x, v, frames, plastic, auxiliary, random, model: id };
        match state.check(model) {
            // It names the model, so it was changed since it was written.
            Err(StateError::OtherModel) => Err(StateError::Damaged("its sizes do not fit the model")),
            checked => checked.map(|()| state),
        }
    }
}
