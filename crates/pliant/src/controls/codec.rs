//! Controls as bytes: part of checkpoints, and kept beside every frame of a log.

use super::{BodyControls, BodyEntry, Controls, CouplingControls, CouplingEntry, Stiffness, WorldControls};
use crate::bytes::{Digest, Reader, Truncated, Writer};
use crate::model::{BodyId, CouplingId, Model};
use crate::state::StateError;
use glam::{DAffine3, DVec3};

const MAGIC: u64 = u64::from_le_bytes(*b"PLIANTCT");
const VERSION: u64 = 8;

/// What numbers are written to.
trait Words {
    fn word(&mut self, value: u64);

    fn number(&mut self, value: f64) {
        self.word(value.to_bits());
    }
}

impl Words for Writer {
    fn word(&mut self, value: u64) {
        Writer::word(self, value);
    }
}

impl Words for Digest {
    fn word(&mut self, value: u64) {
        Digest::word(self, value);
    }
}

fn write_world(w: &mut impl Words, world: &WorldControls) {
    let vectors = [world.gravity, world.gravity_direction, world.wind];
    vectors.iter().flat_map(|v| v.to_array()).for_each(|v| w.number(v));
    w.number(world.gravity_magnitude);
    w.number(world.gusts);
}

fn write_coupling(w: &mut impl Words, CouplingEntry { id, values }: &CouplingEntry) {
    w.word(id.number());
    CouplingControls::numbers().for_each(|field| w.number(*field(&mut { *values })));
}

fn write_body(w: &mut impl Words, BodyEntry { id, values: c, pins, forces }: &BodyEntry) {
    let (kind, stiffness) = match c.stiffness {
        Stiffness::Alpha(v) => (0, v),
        Stiffness::Frequency(v) => (1, v),
    };
    w.word(id.number());
    w.word(kind);
    w.number(stiffness);
    w.word(c.conserve_momentum.into());
    w.word(c.iterations.into());
    w.word(c.friction.is_some().into());
    w.number(c.friction.unwrap_or(0.0));
    BodyControls::numbers().for_each(|field| w.number(*field(&mut { *c })));
    c.force.to_array().into_iter().for_each(|v| w.number(v));
    w.word(pins.len() as u64);
    pins.iter().for_each(|p| write_placement(w, p));
    w.word(forces.len() as u64);
    forces.iter().flat_map(|f| f.to_array()).for_each(|v| w.number(v));
}

impl Controls {
    /// What tells the world's values apart.
    pub(crate) fn digest_world(&self, hash: &mut Digest) {
        write_world(hash, &self.world);
    }

    /// What tells the values of the body of a place in the model apart.
    pub(crate) fn digest_body(&self, place: usize, hash: &mut Digest) {
        write_body(hash, &self.bodies[place]);
    }

    /// The same of a coupling.
    pub(crate) fn digest_coupling(&self, place: usize, hash: &mut Digest) {
        write_coupling(hash, &self.couplings[place]);
    }

    /// All values as bytes, to be kept beside a frame.
    pub fn encode(&self) -> Vec<u8> {
        let pins: usize = self.bodies.iter().map(|b| b.pins.len()).sum();
        let mut w = Writer(Vec::with_capacity(8 * (14 + 32 * self.bodies.len() + 13 * pins)));
        w.word(MAGIC);
        w.word(VERSION);
        write_world(&mut w, &self.world);
        w.word(self.colliders.len() as u64);
        self.colliders.iter().for_each(|p| write_placement(&mut w, p));
        self.vertices.iter().for_each(|v| w.vectors(v));
        w.word(self.couplings.len() as u64);
        self.couplings.iter().for_each(|c| write_coupling(&mut w, c));
        w.word(self.bodies.len() as u64);
        self.bodies.iter().for_each(|b| write_body(&mut w, b));
        w.0
    }

    /// Reads the values back for a model of the same bodies and pin groups.
    pub fn decode(bytes: &[u8], model: &Model) -> Result<Controls, StateError> {
        let mut r = Reader(bytes);
        if r.word()? != MAGIC {
            return Err(StateError::Damaged("it does not begin like controls"));
        }
        let found = r.word()?;
        // Version 5 knew no colliders that a host leads, version 6 none whose vertices it gives, version 7 no couplings that change.
        let (led, deformed, coupled) = (found > 5, found > 6, found > 7);
        if !(5..=VERSION).contains(&found) {
            return Err(StateError::Version { found, expected: VERSION });
        }
        let mut vector =
            || -> Result<DVec3, Truncated> { Ok(DVec3::new(r.number()?, r.number()?, r.number()?)) };
        let (gravity, gravity_direction, wind) = (vector()?, vector()?, vector()?);
        let (gravity_magnitude, gusts) = (r.number()?, r.number()?);
        let world = WorldControls { gravity, gravity_direction, gravity_magnitude, wind, gusts };
        if led && r.word()? != model.colliders().len() as u64 {
            return Err(StateError::Damaged("the number of colliders does not fit the model"));
        }
        let colliders = match led {
            true => model.colliders().iter().map(|_| read_placement(&mut r)).collect::<Result<_, _>>()?,
            false => vec![None; model.colliders().len()],
        };
        let vertices = match deformed {
            true => model.colliders().iter().map(|_| r.vectors()).collect::<Result<_, _>>()?,
            false => vec![Vec::new(); model.colliders().len()],
        };
        let couplings = match coupled {
            true => read_couplings(&mut r, model)?,
            false => model.couplings().iter().map(|c| CouplingEntry::new(c.id, &c.coupling)).collect(),
        };
        if r.word()? != model.bodies().len() as u64 {
            return Err(StateError::Damaged("the number of bodies does not fit the model"));
        }
        let mut bodies = Vec::with_capacity(model.bodies().len());
        for body in model.bodies() {
            let id = BodyId::from_number(r.word()?);
            let values = read_body(&mut r)?;
            if r.word()? != body.parts.pins.len() as u64 {
                return Err(StateError::Damaged("the number of pin groups does not fit the model"));
            }
            let mut pins = Vec::with_capacity(body.parts.pins.len());
            for _ in body.parts.pins.iter() {
                pins.push(read_placement(&mut r)?);
            }
            let count = r.word()? as usize;
            if count != 0 && count != body.parts.whole().particle_count() {
                return Err(StateError::Damaged("the number of forces does not fit the model"));
            }
            let mut forces = Vec::with_capacity(count);
            for _ in 0..count {
                forces.push(DVec3::new(r.number()?, r.number()?, r.number()?));
            }
            bodies.push(BodyEntry { id, values, pins, forces });
        }
        let controls = Controls { world, bodies, couplings, colliders, vertices };
        match r.0.is_empty() && controls.check(model).is_ok() {
            true => Ok(controls),
            false => Err(StateError::Damaged("it has values that are not allowed")),
        }
    }
}

fn read_couplings(r: &mut Reader<'_>, model: &Model) -> Result<Vec<CouplingEntry>, StateError> {
    if r.word()? != model.couplings().len() as u64 {
        return Err(StateError::Damaged("the number of couplings does not fit the model"));
    }
    let entry = |_| {
        let id = CouplingId::from_number(r.word()?);
        let mut values = CouplingControls { stiffness: 0.0, motor_speed: 0.0, motor_torque: 0.0 };
        for field in CouplingControls::numbers() {
            *field(&mut values) = r.number()?;
        }
        Ok(CouplingEntry { id, values })
    };
    model.couplings().iter().map(entry).collect()
}

/// Where a host holds something, or that it does not.
fn write_placement(w: &mut impl Words, placement: &Option<DAffine3>) {
    w.word(placement.is_some().into());
    placement.unwrap_or(DAffine3::IDENTITY).to_cols_array().into_iter().for_each(|v| w.number(v));
}

fn read_placement(r: &mut Reader<'_>) -> Result<Option<DAffine3>, Truncated> {
    let (held, placement) = (r.word()? != 0, r.placement()?);
    Ok(held.then_some(placement))
}

fn read_body(r: &mut Reader<'_>) -> Result<BodyControls, StateError> {
    let stiffness = match (r.word()?, r.number()?) {
        (0, v) => Stiffness::Alpha(v),
        (1, v) => Stiffness::Frequency(v),
        _ => return Err(StateError::Damaged("it has a stiffness of an unknown kind")),
    };
    let conserve_momentum = r.word()? != 0;
    let iterations = r.word()? as u32;
    let rough = r.word()? != 0;
    let mut c = BodyControls { stiffness, conserve_momentum, iterations, ..Default::default() };
    let friction = r.number()?;
    c.friction = rough.then_some(friction);
    for field in BodyControls::numbers() {
        *field(&mut c) = r.number()?;
    }
    c.force = DVec3::new(r.number()?, r.number()?, r.number()?);
    Ok(c)
}
