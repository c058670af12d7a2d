//! A simulation as bytes: state and controls, which with the model are all that a step depends on, which set of
//! bits they were computed with, and what edits have made of the model.

mod edited;
mod world;

use crate::builder::{self, Assembler};
use crate::bytes::{Digest, Reader, Writer};
use crate::controls::Controls;
use crate::memory::Section;
use crate::model::{Model, ModelBody};
use crate::state::{BodyState, State, StateError, Told};
use pliant_math::lanes::Bits;

const MAGIC: u64 = u64::from_le_bytes(*b"PLIANTST");

/// Version 3 had all bodies in one set of columns, version 4 did not say what is torn, version 5 did not tell what edits
/// had made of the model, nor where colliders are, version 6 knew no couplings, version 7 no colliders but planes, version 8 no
/// couplings but of points that never break, nor bodies that never deform, version 9 no couplings that change, nor limits and motors of
/// hinges, version 10 no skins of which parts only turn.
const VERSION: u64 = 11;

/// The oldest version that is read.
pub(crate) const OLDEST: u64 = 5;

/// What a checkpoint holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// What changes in a step, at the moment it was made.
    pub state: State,
    /// The values in force.
    pub controls: Controls,
    /// How the kernels rounded that led here. Continued with the same set a run has the same bits as one
    /// that was never broken off, with the other it differs by rounding.
    pub bits: Bits,
}

impl Checkpoint {
    /// Reads and checks a checkpoint of exactly this model.
    pub fn decode(bytes: &[u8], model: &Model) -> Result<Checkpoint, StateError> {
        // What is torn, it says itself.
        Parts::open(bytes)?.of_model(&model.whole())
    }

    /// Reads and checks a checkpoint of whatever edits have made of the scene that `present` was built from; returns that
    /// model, whole. One of version 5 does not say, and must be of the present model.
    pub(crate) fn decode_edited(
        bytes: &[u8],
        present: &Model,
        assembler: &mut Assembler,
    ) -> Result<(Model, Checkpoint), StateError> {
        let mut parts = Parts::open(bytes)?;
        let Some(section) = parts.edited.take() else {
            let model = present.whole();
            let checkpoint = parts.of_model(&model)?;
            return Ok((model, checkpoint));
        };
        let model = edited::read(section, present, assembler, parts.version)?;
        let checkpoint = parts.of_model(&model)?;
        let Checkpoint { state, controls, .. } = &checkpoint;
        // A torn body's state says what is held, and was checked with it.
        let held = |(body, state): (&ModelBody, &BodyState)| {
            let mut particles = body.parts.pins.iter().flat_map(|g| &g.particles);
            !state.memory()[Section::Broken].is_empty()
                || particles.all(|&i| (i as usize) < body.parts.particle_count())
        };
        if !model.bodies().iter().zip(state.bodies()).all(held) {
            return Err(StateError::Damaged("it holds particles that are not there"));
        }
        builder::check_world(&model, &model.params, controls)
            .map_err(|_| StateError::Damaged("its values do not fit its bodies"))?;
        Ok((model, checkpoint))
    }
}

/// A checkpoint, taken apart as far as that goes without its model.
struct Parts<'a> {
    bits: Bits,
    /// What edits have made of the model; not told by version 5.
    edited: Option<Reader<'a>>,
    /// Its format.
    version: u64,
    /// State and controls.
    rest: Reader<'a>,
}

impl<'a> Parts<'a> {
    fn open(bytes: &'a [u8]) -> Result<Parts<'a>, StateError> {
        let (body, tail) = bytes.split_last_chunk::<8>().ok_or(StateError::Damaged("it is too short"))?;
        let mut r = Reader(body);
        if r.word()? != MAGIC {
            return Err(StateError::Damaged("it does not begin like one"));
        }
        let found = r.word()?;
        if !(OLDEST..=VERSION).contains(&found) {
            return Err(StateError::Version { found, expected: VERSION });
        }
        if digest(body) != u64::from_le_bytes(*tail) {
            return Err(StateError::Damaged("its checksum does not match"));
        }
        let bits = match r.word()? {
            0 => Bits::Unfused,
            1 => Bits::Fused,
            _ => return Err(StateError::Damaged("it was computed with unknown bits")),
        };
        let edited = if found > 5 { Some(r.part()?) } else { None };
        Ok(Parts { bits, edited, version: found, rest: r })
    }

    /// State and controls of a whole model.
    fn of_model(mut self, model: &Model) -> Result<Checkpoint, StateError> {
        let told = match self.version {
            ..=5 => Told::Bodies,
            6 | 7 => Told::ColliderPlaces,
            8 => Told::ColliderShapes,
            9 => Told::Couplings,
            10 => Told::Stiffness,
            _ => Told::Sleep,
        };
        let state = State::read(&mut self.rest, model, told)?;
        // What is left are the controls, to the last byte.
        let controls = Controls::decode(self.rest.0, model)?;
        Ok(Checkpoint { state, controls, bits: self.bits })
    }
}

/// The checkpoint of a state and controls of a model.
pub(crate) fn encode(model: &Model, state: &State, controls: &Controls, bits: Bits) -> Vec<u8> {
    let controls = controls.encode();
    let mut w = Writer(Vec::with_capacity(state.size() + controls.len() + 96));
    w.word(MAGIC);
    w.word(VERSION);
    w.word((bits == Bits::Fused).into());
    edited::write(&mut w, model);
    state.write(&mut w);
    w.0.extend_from_slice(&controls);
    let digest = digest(&w.0);
    w.word(digest);
    w.0
}

fn digest(bytes: &[u8]) -> u64 {
    let mut digest = Digest::default();
    digest.bytes(bytes);
    digest.finish()
}

#[cfg(test)]
mod tests {
    use crate::memory::Section;
    use crate::model::{Motion, PinGroup};
    use crate::{Body, Builder, StateError, shapes};

    /// The fingerprint guards against accidents, not against someone who computes it: what is read is looked at.
    #[test]
    fn pins_of_particles_that_are_not_there_are_refused() {
        let build =
            || Builder::new().body(Body::new("ball", shapes::ball(0.2, 0.08).unwrap())).build().unwrap();
        for (particle, sound) in [(0, true), (1 << 20, false)] {
            let mut s = build();
            let (id, motion, particles) = (0, Motion::REST, vec![particle]);
            let group = PinGroup { id, name: String::new(), particles, motion, stiffness: None };
            let parts = s.model.bodies()[0].parts.pinned(vec![group], 1);
            s.model.replace(0, parts);
            s.state.model = s.model.id();
            s.state.bodies[0].memory.replace(Section::Anchors, vec![0.0; 3]);
            s.controls.bodies[0].pins.push(None);
            let restored = build().restore(&s.checkpoint());
            let damaged = matches!(restored, Err(StateError::Damaged(what)) if what.contains("not there"));
            assert_eq!((restored.is_ok(), damaged), (sound, !sound));
        }
    }
}
