//! Settings that hold for a whole run: step, solvers, planes, pins.

use crate::bytes::Digest;
use crate::solvers::SolverKind;
use glam::{DAffine3, DQuat, DVec3};

/// A solid half-space n·x < offset that bodies cannot enter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfSpace {
    /// Unit normal, pointing to where bodies are.
    pub normal: DVec3,
    /// The plane is n·x = offset.
    pub offset: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Normal velocity kept by a bounce, 0 to 1.
    pub restitution: f64,
}

impl HalfSpace {
    /// The ground y = 0.
    pub fn ground() -> HalfSpace {
        HalfSpace { normal: DVec3::Y, offset: 0.0, friction: 0.5, restitution: 0.0 }
    }

    /// Signed distance of a point from the plane.
    #[inline(always)]
    pub fn gap(&self, x: DVec3) -> f64 {
        self.normal.dot(x) - self.offset
    }
}

/// How a group of pinned particles moves: a steady screw motion plus an oscillation, from
/// `start` to `end`, resting before and after.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Metres per second.
    pub velocity: DVec3,
    /// Radians per second, about `pivot`.
    pub spin: DVec3,
    /// Centre of the spin.
    pub pivot: DVec3,
    /// Amplitude of a sine added to the position.
    pub sway: DVec3,
    /// Oscillations per second of the sway.
    pub frequency: f64,
    /// Seconds at which the motion begins.
    pub start: f64,
    /// Seconds at which it ends.
    pub end: f64,
}

impl Motion {
    /// No motion.
    pub const REST: Motion = Motion {
        velocity: DVec3::ZERO,
        spin: DVec3::ZERO,
        pivot: DVec3::ZERO,
        sway: DVec3::ZERO,
        frequency: 0.0,
        start: 0.0,
        end: f64::INFINITY,
    };

    /// Where the group is at `time`, relative to its initial place.
    pub fn placement(&self, time: f64) -> DAffine3 {
        let t = (time.min(self.end) - self.start).max(0.0);
        let rotation = DQuat::from_scaled_axis(self.spin * t);
        let sway = self.sway * (std::f64::consts::TAU * self.frequency * t).sin();
        let translation = self.pivot - rotation * self.pivot + self.velocity * t + sway;
        DAffine3::from_rotation_translation(rotation, translation)
    }
}

impl Default for Motion {
    fn default() -> Self {
        Motion::REST
    }
}

/// Particles whose positions are prescribed.
#[derive(Clone, Debug, PartialEq)]
pub struct PinGroup {
    /// Name, for messages and live control.
    pub name: String,
    /// The body the particles are of.
    pub body: usize,
    /// Global particle indices, ascending.
    pub particles: Vec<u32>,
    /// Where each was at time zero.
    pub anchors: Vec<DVec3>,
    /// How the group moves.
    pub motion: Motion,
    /// Spring stiffness in N/m per particle of a soft pin; `None` holds exactly.
    pub stiffness: Option<f64>,
}

/// Per-body settings that cannot change while running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BodySettings {
    /// Who moves it.
    pub solver: SolverKind,
}

/// Settings of a whole run.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Seconds per step (a frame, usually).
    pub step: f64,
    /// Equal parts a step is taken in.
    pub substeps: u32,
    /// Solid half-spaces.
    pub planes: Vec<HalfSpace>,
    /// Prescribed particles.
    pub pins: Vec<PinGroup>,
    /// Per body.
    pub bodies: Vec<BodySettings>,
}

impl Params {
    /// Seconds per substep, the h of the papers.
    pub fn substep(&self) -> f64 {
        self.step / f64::from(self.substeps)
    }

    pub(crate) fn digest(&self, hash: &mut Digest) {
        hash.number(self.step);
        hash.word(self.substeps.into());
        for p in &self.planes {
            [p.normal.x, p.normal.y, p.normal.z, p.offset, p.friction, p.restitution]
                .into_iter()
                .for_each(|v| hash.number(v));
        }
        for g in &self.pins {
            hash.bytes(g.name.as_bytes());
            g.particles.iter().for_each(|&i| hash.word(i.into()));
            let m = &g.motion;
            for v in g.anchors.iter().chain([&m.velocity, &m.spin, &m.pivot, &m.sway]) {
                v.to_array().into_iter().for_each(|v| hash.number(v));
            }
            [m.frequency, m.start, m.end, g.stiffness.unwrap_or(-1.0)]
                .into_iter()
                .for_each(|v| hash.number(v));
        }
        self.bodies.iter().for_each(|b| hash.word(b.solver as u64));
    }
}
