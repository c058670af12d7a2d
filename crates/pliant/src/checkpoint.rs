//! A simulation as bytes: state and controls, which with the model are all that a step depends on, and
//! which set of bits they were computed with.

use crate::bytes::{Digest, Reader, Writer};
use crate::controls::Controls;
use crate::model::Model;
use crate::state::{State, StateError};
use pliant_math::lanes::Bits;

const MAGIC: u64 = u64::from_le_bytes(*b"PLIANTST");

/// Version 3 had all bodies in one set of columns, version 4 did not say what is torn.
const VERSION: u64 = 5;

/// What a checkpoint holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// The state.
    pub state: State,
    /// The values in force.
    pub controls: Controls,
    /// How the kernels rounded that led here. Continued with the same set a run has the same bits as one
    /// that was never broken off, with the other it differs by rounding.
    pub bits: Bits,
}

impl Checkpoint {
    /// Reads and checks a checkpoint of `model`.
    pub fn decode(bytes: &[u8], model: &Model) -> Result<Checkpoint, StateError> {
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
        let bits = match r.word()? {
            0 => Bits::Unfused,
            1 => Bits::Fused,
            _ => return Err(StateError::Damaged("it was computed with unknown bits")),
        };
        // What is torn, it says itself.
        let model = &model.whole();
        let state = State::read(&mut r, model)?;
        // What is left are the controls, to the last byte.
        let controls = Controls::decode(r.0, model)?;
        Ok(Checkpoint { state, controls, bits })
    }
}

/// The checkpoint of a state and controls.
pub(crate) fn encode(state: &State, controls: &Controls, bits: Bits) -> Vec<u8> {
    let controls = controls.encode();
    let mut w = Writer(Vec::with_capacity(state.size() + controls.len() + 64));
    w.word(MAGIC);
    w.word(VERSION);
    w.word((bits == Bits::Fused).into());
    state.write(&mut w);
    w.0.extend_from_slice(&controls);
    let mut digest = Digest::default();
    digest.bytes(&w.0);
    w.word(digest.finish());
    w.0
}
