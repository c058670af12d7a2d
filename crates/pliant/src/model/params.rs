//! Settings of the world and of bodies that hold for a whole run: step, substeps, pins, goals.

use super::ModelCollider;
use crate::bytes::Digest;
use crate::fields::Field;
use crate::keyframes::Keyframes;
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
    pub fn gap(&self, x: impl Into<DVec3>) -> f64 {
        self.normal.dot(x.into()) - self.offset
    }
}

/// How a group of pinned particles, or a collider, moves: a steady screw motion plus an oscillation, from
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

    /// Whether all its numbers are finite; it may go on for ever.
    pub fn is_finite(&self) -> bool {
        let vectors = [self.velocity, self.spin, self.pivot, self.sway];
        let finite = vectors.iter().all(|v| v.is_finite()) && self.frequency.is_finite();
        finite && !self.start.is_nan() && !self.end.is_nan()
    }

    pub(crate) fn digest(&self, hash: &mut Digest) {
        for v in [self.velocity, self.spin, self.pivot, self.sway] {
            v.to_array().into_iter().for_each(|v| hash.number(v));
        }
        [self.frequency, self.start, self.end].into_iter().for_each(|v| hash.number(v));
    }

    /// Where what moves is at `time`, relative to its initial place.
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
    /// What it is known by: groups of a body are numbered in the order they come, and no number is given twice.
    pub id: usize,
    /// Name, for messages and live control.
    pub name: String,
    /// Particles of the body, ascending.
    pub particles: Vec<u32>,
    /// How the group moves.
    pub motion: Motion,
    /// Spring stiffness in N/m per particle of a soft pin; `None` holds exactly.
    pub stiffness: Option<f64>,
}

impl PinGroup {
    pub(crate) fn digest(&self, hash: &mut Digest) {
        hash.word(self.id as u64);
        hash.bytes(self.name.as_bytes());
        self.particles.iter().for_each(|&i| hash.word(i.into()));
        self.motion.digest(hash);
        hash.number(self.stiffness.unwrap_or(-1.0));
    }
}

/// Which deformations of its rest shape a cluster's goals may show (shape-matching-deformer, §3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goals {
    /// The best-fit rigid motion.
    #[default]
    Rigid,
    /// Stretch and shear too: β A + (1 − β) R.
    Linear,
    /// Twist and bending too: the 3×9 transform of equation 6.
    Quadratic,
}

impl Goals {
    /// Every mode, each containing the one before.
    pub const ALL: [Goals; 3] = [Goals::Rigid, Goals::Linear, Goals::Quadratic];

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Goals::Rigid => "rigid",
            Goals::Linear => "linear",
            Goals::Quadratic => "quadratic",
        }
    }

    /// Particles a cluster must have for it: one more than the transform has columns.
    pub fn points(self) -> usize {
        match self {
            Goals::Rigid => 1,
            Goals::Linear => 4,
            Goals::Quadratic => 10,
        }
    }
}

/// How the clustered solver moves a body on in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Integrator {
    /// Springs in symplectic Euler, then strain limiting (strain-limiting, algorithm 1).
    #[default]
    StrainLimited,
    /// Impulses, Euler, matching step (shape-matching-deformer, equations 2 to 4 and 7).
    Deformer,
}

impl Integrator {
    /// Every integrator there is, in the order of the documentation.
    pub const ALL: [Integrator; 2] = [Integrator::StrainLimited, Integrator::Deformer];

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Integrator::StrainLimited => "strain_limited",
            Integrator::Deformer => "deformer",
        }
    }
}

/// What kind of body it is, with the settings that only that kind has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// A cloud of particles in clusters, moved by shape matching.
    Clustered(Matching),
    /// Held together by constraints, moved by one of the solvers of an implicit step.
    Elastic(SolverKind),
    /// A solid that never deforms.
    Rigid,
}

impl BodyKind {
    /// Who moves it.
    pub fn solver(self) -> SolverKind {
        match self {
            BodyKind::Clustered(_) => SolverKind::Clustered,
            BodyKind::Elastic(solver) => solver,
            BodyKind::Rigid => SolverKind::Rigid,
        }
    }

    /// How its clusters match their shapes; `None` if they do not.
    pub fn matching(self) -> Option<Matching> {
        match self {
            BodyKind::Clustered(matching) => Some(matching),
            BodyKind::Elastic(_) | BodyKind::Rigid => None,
        }
    }
}

/// How clusters match their shapes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// What its clusters' goals may show.
    pub goals: Goals,
    /// Whether goals are made in the report's two steps, deformation and then rotation, instead of as
    /// the blend of both; for comparison.
    pub two_step: bool,
    /// How it moves on in time.
    pub integrator: Integrator,
}

/// Where the iterations of an implicit step begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WarmStart {
    /// At the prediction s, where inertia leads (algorithm 1, line 2): less damped after few iterations.
    #[default]
    Prediction,
    /// At the last positions.
    Last,
}

/// How mass is spread over the particles of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MassMatrix {
    /// Each particle has its share.
    #[default]
    Lumped,
    /// The integral of the elements' shape functions, ∫ρ φᵢ φⱼ: neighbours are coupled.
    Consistent,
}

/// How the projective iteration is speeded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Acceleration {
    /// Not at all: the paper's iteration.
    #[default]
    None,
    /// Quasi-Newton steps from the last few gradients, on top of the constant matrix.
    LBfgs,
    /// Anderson's mixing of the last few iterates.
    Anderson,
}

/// How the projective solver takes a step, the same for all bodies. Newton's method
/// follows `mass` and `implicitness`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Implicit {
    /// Where iterations begin.
    pub warm_start: WarmStart,
    /// How mass is spread.
    pub mass: MassMatrix,
    /// How iterations are speeded up.
    pub acceleration: Acceleration,
    /// Iterations end when one lowers the objective by less than this part of what all have so far; 0 does
    /// as many as [`BodyControls::iterations`](crate::BodyControls::iterations) says.
    pub tolerance: f64,
    /// θ: 1 is implicit Euler, ½ the implicit midpoint rule, of second order and without damping of its own.
    pub implicitness: f64,
}

impl Default for Implicit {
    fn default() -> Implicit {
        Implicit {
            warm_start: WarmStart::default(),
            mass: MassMatrix::default(),
            acceleration: Acceleration::default(),
            tolerance: 0.0,
            implicitness: 1.0,
        }
    }
}

/// Settings of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    /// Seconds per step (a frame, usually).
    pub step: f64,
    /// Equal parts a step is taken in.
    pub substeps: u32,
    /// Controls that follow keys.
    pub keyframes: Keyframes,
    /// How the implicit solvers take a step.
    pub implicit: Implicit,
    /// Fields of force that act on all bodies, beside gravity.
    pub fields: Vec<Field>,
    /// Whether bodies touch each other.
    pub body_contact: bool,
    /// Islands of which no particle has been faster for half a second sleep until something wakes them, m/s; 0: none does.
    pub sleep_speed: f64,
}

impl Params {
    /// Seconds per substep, the h of the papers.
    pub fn substep(&self) -> f64 {
        self.step / f64::from(self.substeps)
    }

    /// Of the world, with what bodies cannot enter.
    pub(crate) fn digest(&self, hash: &mut Digest, colliders: &[ModelCollider]) {
        hash.number(self.step);
        hash.word(self.substeps.into());
        colliders.iter().enumerate().for_each(|(k, c)| c.digest(k, hash));
        let i = &self.implicit;
        [i.warm_start as u64, i.mass as u64, i.acceleration as u64].into_iter().for_each(|v| hash.word(v));
        [i.tolerance, i.implicitness].into_iter().for_each(|v| hash.number(v));
        self.keyframes.digest(hash);
        self.fields.iter().for_each(|f| f.digest(hash));
        // Worlds where they do not are what they were before bodies could touch.
        if self.body_contact {
            hash.word(1);
        }
        if self.sleep_speed > 0.0 {
            hash.number(self.sleep_speed);
        }
    }
}
