//! The changing side of a simulation: exactly what a checkpoint stores.

use crate::bytes::{Digest, Reader, Truncated, Writer};
use crate::model::{Model, ModelId};
use crate::points::Points;
use glam::DMat3;

/// Positions, velocities and everything else history leaves behind. A step is a pure function of
/// model, state and controls, so a state saved and loaded continues with the same bits.
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

const MAGIC: u64 = u64::from_le_bytes(*b"PLIANTST");
const VERSION: u64 = 2;

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

    /// The checkpoint.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer(Vec::with_capacity(48 * self.x.len() + 144 * self.frames.len() + 128));
        w.word(MAGIC);
        w.word(VERSION);
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
        let mut digest = Digest::default();
        digest.bytes(&w.0);
        w.word(digest.finish());
        w.0
    }

    /// Reads a checkpoint of `model` back.
    pub fn decode(bytes: &[u8], model: &Model) -> Result<State, StateError> {
        let (body, tail) = bytes.split_last_chunk::<8>().ok_or(StateError::Damaged("it is too short"))?;
        let mut r = Reader(body);
        if r.word()? != MAGIC {
            return Err(StateError::Damaged("it does not begin like one"));
        }
        let found = r.word()?;
        if found != VERSION {
            return Err(StateError::Version { found, expected: VERSION });
        }
        let mut digest = Digest::default();
        digest.bytes(body);
        if digest.finish() != u64::from_le_bytes(*tail) {
            return Err(StateError::Damaged("its checksum does not match"));
        }
        let id = ModelId { revision: r.word()?, fingerprint: r.word()? };
        if id != model.id() {
            return Err(StateError::OtherModel);
        }
        let (time, step, random) = (r.number()?, r.word()?, r.word()?);
        let mut points = || -> Result<Points, Truncated> {
            Ok(Points { x: r.numbers()?, y: r.numbers()?, z: r.numbers()? })
        };
        let (x, v) = (points()?, points()?);
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
        let n = model.particle_count();
        let sizes = x.columns().into_iter().chain(v.columns()).all(|c| c.len() == n);
        if !sizes || auxiliary.len() != model.auxiliary_offsets().last().copied().unwrap_or(0) {
            return Err(StateError::Damaged("its sizes do not fit the model"));
        }
        Ok(State { time, step, x, v, frames, plastic, auxiliary, random, model: id })
    }
}
