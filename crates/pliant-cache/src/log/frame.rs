//! One frame of a log: where every particle is, and what is worth colouring by.

use super::channel::{find, need, parse, put};
use super::collider::ColliderPlace;
use super::header::{LogBody, planes_of, put_planes};
use super::packed::{PackedLayout, Reference};
use super::pose::{BodyPose, poses_of, put_poses, with_rigid, without_rigid};
use crate::render::Plane;
use glam::DVec3;
use std::borrow::Cow;
use std::ops::Range;

/// What a frame is packed by.
#[derive(Clone, Debug)]
pub(super) struct PackingContext {
    pub(super) layout: PackedLayout,
    /// The last controls that were stored, and with which frame.
    pub(super) controls: Vec<u8>,
    pub(super) controls_of: u32,
}

/// The state of all particles at one moment, as far as pictures and exports need it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogFrame {
    /// Frame number; rises from frame to frame.
    pub index: u32,
    /// Simulated time in seconds.
    pub time: f64,
    /// Particle positions, one array per coordinate.
    pub positions: [Vec<f64>; 3],
    /// Where each of the bodies is that never deform, in their order. What positions say of their particles is not kept.
    pub poses: Vec<BodyPose>,
    /// Velocity of each particle, one array per coordinate; may be empty.
    pub velocity: [Vec<f32>; 3],
    /// Speed of each particle, in logs without velocities; may be empty. See [`LogFrame::speeds`].
    pub speed: Vec<f32>,
    /// Strain of each particle; may be empty.
    pub strain: Vec<f32>,
    /// Non-zero where a particle touches something; may be empty.
    pub contact: Vec<u8>,
    /// The planes there are in this frame; `None` if they are those of the header.
    pub planes: Option<Vec<Plane>>,
    /// Where the other colliders are.
    pub colliders: Vec<ColliderPlace>,
    /// Statistics of the frame as one JSON object; may be empty.
    pub stats_json: String,
    /// Controls in force, opaque to the log; may be empty.
    pub controls: Vec<u8>,
}

impl LogFrame {
    /// Checks the arrays against the bodies of the log.
    pub(super) fn check(&self, bodies: &[LogBody]) -> Result<(), String> {
        let particles = bodies.last().map_or(0, |b| b.particles.end as usize);
        let rigid = bodies.iter().filter(|b| b.rigid.is_some()).count();
        if self.poses.len() != rigid {
            return Err(format!("it has {} poses for {rigid} rigid bodies", self.poses.len()));
        }
        let [x, y, z] = &self.positions;
        if x.len() != y.len() || x.len() != z.len() || x.len() < particles {
            return Err(format!(
                "positions hold {}, {} and {} coordinates for {particles} particles",
                x.len(),
                y.len(),
                z.len()
            ));
        }
        let [u, v, w] = &self.velocity;
        for (name, length) in [
            ("velocity", u.len()),
            ("velocity along y", v.len()),
            ("velocity along z", w.len()),
            ("speed", self.speed.len()),
            ("strain", self.strain.len()),
            ("contact", self.contact.len()),
        ] {
            if length != 0 && length != x.len() {
                return Err(format!("{name} holds {length} values for {} particles", x.len()));
            }
        }
        if u.len() != v.len() || u.len() != w.len() {
            return Err(format!("velocity holds {}, {} and {} coordinates", u.len(), v.len(), w.len()));
        }
        Ok(())
    }

    /// Speeds of these particles, from their velocities if the log holds them; empty if it holds neither.
    pub fn speeds(&self, particles: Range<usize>) -> Cow<'_, [f32]> {
        let [u, v, w] = &self.velocity;
        if u.is_empty() {
            return Cow::Borrowed(self.speed.get(particles).unwrap_or(&[]));
        }
        let length = |i: usize| DVec3::new(u[i].into(), v[i].into(), w[i].into()).length() as f32;
        Cow::Owned(particles.map(length).collect())
    }

    /// Index of the first particle with a coordinate that is not a finite number.
    pub fn first_non_finite(&self) -> Option<usize> {
        self.positions.iter().filter_map(|axis| axis.iter().position(|v| !v.is_finite())).min()
    }

    /// As bytes: as it is, or packed if there is a frame before it to go by.
    pub(super) fn encode(&self, out: &mut Vec<u8>, bodies: &[LogBody], before: Option<&PackingContext>) {
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&self.time.to_le_bytes());
        put_poses(&self.poses, out);
        match before.and_then(|b| b.layout.pack_positions(&self.positions)) {
            Some(bytes) => put(out, "packed_position", &[&bytes[..]]),
            None if self.poses.is_empty() => {
                put(out, "position", &self.positions.each_ref().map(Vec::as_slice));
            }
            None => {
                let others = without_rigid(&self.positions, bodies);
                put(out, "position", &others.each_ref().map(Vec::as_slice));
            }
        }
        if !self.velocity[0].is_empty() {
            let [u, v, w] = &self.velocity;
            match before.and_then(|b| b.layout.pack_shown([&u[..], v, w])) {
                Some(bytes) => put(out, "packed_velocity", &[&bytes[..]]),
                None => put(out, "velocity", &[&u[..], v, w]),
            }
        }
        if !self.speed.is_empty() {
            put(out, "speed", &[&self.speed[..]]);
        }
        if !self.strain.is_empty() {
            match before.and_then(|b| b.layout.pack_shown([&self.strain[..]])) {
                Some(bytes) => put(out, "packed_strain", &[&bytes[..]]),
                None => put(out, "strain", &[&self.strain[..]]),
            }
        }
        if !self.contact.is_empty() {
            match before.filter(|_| self.contact.iter().all(|&c| c <= 1)) {
                Some(_) => {
                    let bits = |eight: &[u8]| eight.iter().rev().fold(0, |byte, bit| byte << 1 | bit);
                    put(out, "packed_contact", &[&self.contact.chunks(8).map(bits).collect::<Vec<u8>>()[..]]);
                }
                None => put(out, "contact", &[&self.contact[..]]),
            }
        }
        if let Some(planes) = &self.planes {
            put_planes(planes, out);
        }
        if !self.colliders.is_empty() {
            ColliderPlace::put(&self.colliders, out);
        }
        if !self.stats_json.is_empty() {
            put(out, "stats_json", &[self.stats_json.as_bytes()]);
        }
        if !self.controls.is_empty() {
            match before.filter(|b| b.controls == self.controls) {
                Some(b) => put(out, "controls_of_frame", &[&[b.controls_of][..]]),
                None => put(out, "controls", &[&self.controls[..]]),
            }
        }
    }

    /// Frame number and time, which the index needs without the rest.
    pub(super) fn decode_start(payload: &[u8]) -> Option<(u32, f64)> {
        let (index, rest) = payload.split_first_chunk()?;
        let (time, _) = rest.split_first_chunk()?;
        Some((u32::from_le_bytes(*index), f64::from_le_bytes(*time)))
    }

    /// Whether it can only be read with what its bodies are packed by.
    pub(super) fn is_packed(payload: &[u8]) -> Result<bool, String> {
        let channels = parse(payload.get(Self::START..).unwrap_or_default())?;
        Ok(channels.iter().any(|c| c.name.starts_with("packed_")))
    }

    /// The number of the frame that holds the controls of this one, if it does not itself.
    pub(super) fn controls_of(payload: &[u8]) -> Result<Option<u32>, String> {
        let channels = parse(payload.get(Self::START..).unwrap_or_default())?;
        find(&channels, "controls_of_frame").map(|c| c.value::<u32>()).transpose()
    }

    /// The controls that are stored with the frame itself.
    pub(super) fn own_controls(payload: &[u8]) -> Result<Option<Vec<u8>>, String> {
        let channels = parse(payload.get(Self::START..).unwrap_or_default())?;
        find(&channels, "controls").map(|c| c.values::<u8>()).transpose()
    }

    /// Of the bodies that are stored as they are, where they are; `layout` needs no references for that.
    pub(super) fn whole_positions(
        payload: &[u8],
        layout: &PackedLayout,
    ) -> Result<Vec<Option<Reference>>, String> {
        let channels = parse(payload.get(Self::START..).unwrap_or_default())?;
        match find(&channels, "packed_position") {
            Some(packed) => layout.whole_positions(&packed.values::<u8>()?),
            None => layout.parts_of(&need(&channels, "position")?.planes()?),
        }
    }

    /// From bytes; a packed one needs the layout of its bodies.
    pub(super) fn decode(
        payload: &[u8],
        bodies: &[LogBody],
        layout: Option<&PackedLayout>,
    ) -> Result<LogFrame, String> {
        let (index, time) = Self::decode_start(payload).ok_or("the frame record is too short")?;
        let channels = parse(&payload[Self::START..])?;
        let floats = |name| find(&channels, name).map_or(Ok(Vec::new()), |c| c.values::<f32>());
        let bytes = |name| find(&channels, name).map_or(Ok(Vec::new()), |c| c.values::<u8>());
        let packed = |name| find(&channels, name).map(|c| c.values::<u8>()).transpose();
        let layout = || layout.ok_or("it is packed, and there is nothing to go by");
        let others: [Vec<f64>; 3] = match packed("packed_position")? {
            Some(bytes) => layout()?.unpack_positions(&bytes)?,
            None => need(&channels, "position")?.planes()?,
        };
        let poses = poses_of(&channels, bodies)?;
        let positions = with_rigid(others, &poses, bodies)?;
        // Whoever says there are more particles than positions is not given room for them.
        let layout = || {
            layout().and_then(|l| {
                (l.particles() == positions[0].len())
                    .then_some(l)
                    .ok_or("it has not one position for each particle")
            })
        };
        Ok(LogFrame {
            index,
            time,
            velocity: match packed("packed_velocity")? {
                Some(bytes) => layout()?.unpack_shown(&bytes)?,
                None => find(&channels, "velocity").map_or(Ok(Default::default()), |c| c.planes())?,
            },
            speed: floats("speed")?,
            strain: match packed("packed_strain")? {
                Some(bytes) => {
                    let [strain] = layout()?.unpack_shown(&bytes)?;
                    strain
                }
                None => floats("strain")?,
            },
            contact: match packed("packed_contact")? {
                Some(bits) if bits.len() == positions[0].len().div_ceil(8) => {
                    (0..positions[0].len()).map(|i| bits[i / 8] >> (i % 8) & 1).collect()
                }
                Some(_) => return Err("the contacts are not those of all particles".into()),
                None => bytes("contact")?,
            },
            planes: find(&channels, "planes").map(planes_of).transpose()?,
            colliders: ColliderPlace::get(&channels)?,
            stats_json: find(&channels, "stats_json").map_or(Ok(String::new()), |c| c.text())?,
            controls: bytes("controls")?,
            poses,
            positions,
        })
    }

    /// Bytes of index and time at the start of the payload.
    pub(super) const START: usize = 12;
}
