//! What may change while a simulation runs, what each change costs, and which values are allowed.

use crate::bytes::{Reader, Truncated, Writer};
use crate::material::{Elasticity, LARGEST_POISSON};
use crate::memory::Memory;
use crate::model::{BodyId, BodyModel, Model};
use crate::solvers::SolverKind;
use crate::state::StateError;
use glam::{DAffine3, DVec3};
use std::f64::consts::{PI, TAU};
use std::fmt;

/// How strongly a cluster pulls toward its rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stiffness {
    /// The papers' α = h² k / m in [0, 1]: the share of the way to the goal covered in one step.
    /// Depends on the step.
    Alpha(f64),
    /// Oscillations per second of the springs; does not depend on step, substeps or resolution.
    Frequency(f64),
}

impl Stiffness {
    /// α for a substep of `h` seconds. For a frequency f this is 4 sin²(π f h), with which the
    /// symplectic Euler step oscillates at exactly f; to first order it is h² k/m.
    pub fn alpha(self, h: f64) -> f64 {
        match self {
            Stiffness::Alpha(a) => a,
            Stiffness::Frequency(f) => 4.0 * (PI * f * h).sin().powi(2),
        }
    }

    /// The spring constant over mass, k/m in 1/s², for integrators that are implicit.
    pub fn per_mass(self, h: f64) -> f64 {
        match self {
            Stiffness::Alpha(a) => a / (h * h),
            Stiffness::Frequency(f) => (TAU * f).powi(2),
        }
    }
}

/// The live values of one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyControls {
    /// Pull of the clusters toward their rest shape.
    pub stiffness: Stiffness,
    /// γ: allowed distance from the goal, over the cluster width; infinite for no limit.
    pub strain_limit: f64,
    /// ω: under- or over-relaxation of the strain limiting; in PBD the part of each correction that is made.
    pub relaxation: f64,
    /// Whether limiting takes back the momentum it introduced, cluster by cluster. Off is the paper to
    /// the letter: limits then give way where planes hold particles, and may set bodies spinning.
    pub conserve_momentum: bool,
    /// Iterations per substep: of strain limiting, or of local and global steps.
    pub iterations: u32,
    /// Decay rate (1/s) of all motion that is not rigid; keeps momentum.
    pub damping: f64,
    /// Decay rate (1/s) of all motion, as by air.
    pub drag: f64,
    /// A force (N) on the whole body, shared by mass.
    pub force: DVec3,
    /// Stiffness of the edges (projective): Pa for solids, N/m for sheets. A body of elements built with 0 has no
    /// edges to stiffen later.
    pub edge_stiffness: f64,
    /// Friction of the body's surface; combined with the plane's as √(a b). `None`: the plane's.
    pub friction: Option<f64>,
    /// Restitution of the body's surface; the larger of it and the plane's counts. It is the
    /// deformer's elasticity too (eq. 2).
    pub restitution: f64,
    /// The deformer's friction f (eq. 2): the share of the sliding velocity an impact takes away.
    /// Viscous, unlike [`BodyControls::friction`], which is Coulomb's.
    pub viscous_friction: f64,
    /// The deformer's α_f (eq. 7): the share of the matching step that becomes velocity. Low values
    /// creep to the goal, high ones overshoot and oscillate.
    pub flappiness: f64,
    /// β: how much of the best-fit linear or quadratic deformation the goals follow.
    pub deformation: f64,
    /// How much of its volume a linear or quadratic goal keeps: 0 none, 1 all, within bounds.
    pub volume: f64,
    /// Stretch of a cluster beyond which it deforms for good; infinite for elastic bodies.
    pub yield_strain: f64,
    /// Rate (1/s) at which what is beyond the yield strain becomes permanent.
    pub creep: f64,
    /// Largest permanent stretch.
    pub plastic_limit: f64,
    /// How much the yield strain grows per permanent stretch.
    pub hardening: f64,
    /// How strongly painted particles are drawn to an animated input: oscillations per second at weight 1.
    pub follow: f64,
    /// Rate (1/s) at which their motion relative to the input decays, at weight 1.
    pub follow_damping: f64,
    /// Mass of the whole body, kg; [`Body::mass`](crate::Body::mass) when it is built.
    pub mass: f64,
    /// Young's modulus of its elements, Pa.
    pub young: f64,
    /// Poisson's ratio of its elements.
    pub poisson: f64,
    /// Thickness of its triangles, diameter of its edges where they are the elements, m.
    pub thickness: f64,
    /// How strongly air pushes its faces: density times drag coefficient, kg/m³; about 1.2 for cloth in air,
    /// 0 for none.
    pub air: f64,
}

impl BodyControls {
    /// Largest β. At 1 the fitted deformations would have no restoring force at all.
    pub const LARGEST_DEFORMATION: f64 = 0.98;

    /// Largest ω that is stable with a number of iterations.
    ///
    /// Where the limit is active, k iterations multiply a particle's distance from its goal by
    /// f = (1 − ω)ᵏ, and the velocity follows. One step then has the characteristic polynomial
    /// λ² − f (2 − α) λ + f, stable exactly for −1/(3 − α) < f < 1. Requiring |f| ≤ 1/3 holds for every α.
    pub fn largest_relaxation(iterations: u32) -> f64 {
        1.0 + 3f64.powf(-1.0 / f64::from(iterations.max(1)))
    }

    /// The values that are plain numbers, in the order they are stored in.
    fn numbers(&mut self) -> [&mut f64; 21] {
        [
            &mut self.strain_limit,
            &mut self.relaxation,
            &mut self.damping,
            &mut self.drag,
            &mut self.edge_stiffness,
            &mut self.restitution,
            &mut self.viscous_friction,
            &mut self.flappiness,
            &mut self.deformation,
            &mut self.volume,
            &mut self.yield_strain,
            &mut self.creep,
            &mut self.plastic_limit,
            &mut self.hardening,
            &mut self.follow,
            &mut self.follow_damping,
            &mut self.mass,
            &mut self.young,
            &mut self.poisson,
            &mut self.thickness,
            &mut self.air,
        ]
    }

    /// The elastic numbers of its elements.
    pub fn elasticity(&self) -> Elasticity {
        Elasticity { young: self.young, poisson: self.poisson, thickness: self.thickness }
    }

    /// Refuses an over-relaxation that the number of iterations does not calm down again.
    pub(crate) fn check_relaxation(&self) -> Result<(), ControlError> {
        let most = BodyControls::largest_relaxation(self.iterations);
        if self.iterations == 0 || self.relaxation <= most {
            return Ok(());
        }
        Err(ControlError {
            control: "relaxation",
            value: self.relaxation.to_string(),
            allowed: format!(
                "with {} iterations it overshoots and grows; give at most {most:.3}, or more iterations",
                self.iterations
            ),
        })
    }
}

impl Default for BodyControls {
    fn default() -> Self {
        BodyControls {
            stiffness: Stiffness::Frequency(25.0),
            strain_limit: 0.3,
            relaxation: 1.0,
            conserve_momentum: true,
            iterations: 5,
            damping: 2.0,
            drag: 0.0,
            force: DVec3::ZERO,
            edge_stiffness: 0.0,
            friction: None,
            restitution: 0.0,
            viscous_friction: 0.2,
            flappiness: 1.0,
            deformation: 0.5,
            volume: 1.0,
            yield_strain: f64::INFINITY,
            creep: 10.0,
            plastic_limit: 0.5,
            hardening: 0.0,
            follow: 4.0,
            follow_damping: 3.0,
            mass: 1.0,
            young: 1e5,
            poisson: 0.3,
            thickness: 1e-3,
            air: 0.0,
        }
    }
}

/// What may change of the world around the bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorldControls {
    /// Gravity, m/s²; kept beside its size and direction, so that either can be changed alone and the
    /// direction survives a time without gravity.
    pub(crate) gravity: DVec3,
    pub(crate) gravity_direction: DVec3,
    pub(crate) gravity_magnitude: f64,
    pub(crate) wind: DVec3,
    pub(crate) gusts: f64,
}

/// What may change of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BodyEntry {
    pub id: BodyId,
    pub values: BodyControls,
    /// Where a host holds a pin group; `None` follows the group's own motion.
    pub pins: Vec<Option<DAffine3>>,
}

/// Everything that may change between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    pub(crate) world: WorldControls,
    /// The bodies, in the model's order.
    pub(crate) bodies: Vec<BodyEntry>,
}

/// What one body is moved by at present.
#[derive(Clone, Copy, Debug)]
pub struct LiveControls<'a> {
    /// Of the world.
    pub world: &'a WorldControls,
    /// Its own.
    pub body: &'a BodyControls,
    pub(crate) pins: &'a [Option<DAffine3>],
}

impl LiveControls<'_> {
    /// Where the particles of every pin group of the body are wanted at `time`, one group after the other.
    pub(crate) fn targets(&self, model: &BodyModel, memory: &Memory, time: f64, out: &mut Vec<DVec3>) {
        out.clear();
        let mut anchors = memory.anchors();
        for (group, held) in model.pins.iter().zip(self.pins) {
            let placement = held.unwrap_or_else(|| group.motion.placement(time));
            let own = anchors.by_ref().take(group.particles.len());
            out.extend(own.map(|anchor| placement.transform_point3(anchor)));
        }
    }

    /// The acceleration of gravity and the force on the whole body.
    pub(crate) fn pull(&self) -> DVec3 {
        self.world.gravity + self.body.force / self.body.mass
    }
}

const MAGIC: u64 = u64::from_le_bytes(*b"PLIANTCT");
const VERSION: u64 = 3;

/// What a change costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// Nothing: it is read anew in each step.
    Free,
    /// A new numerical factorisation at the next step.
    Refactor,
    /// All caches are made anew at the next step.
    Rebuild,
}

/// A value that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Control {
    /// Gravity vector.
    Gravity,
    /// Size of gravity, m/s²; its direction stays.
    GravityMagnitude,
    /// Direction of gravity, a vector of any length but 0; its size stays.
    GravityDirection,
    /// Velocity of the air, m/s.
    Wind,
    /// How much of it comes and goes: 0 for a steady wind, 1 for one that now and then stands still.
    Gusts,
    /// [`BodyControls::stiffness`] as α.
    Alpha(BodyId),
    /// [`BodyControls::stiffness`] as a frequency.
    Frequency(BodyId),
    /// [`BodyControls::strain_limit`].
    StrainLimit(BodyId),
    /// [`BodyControls::relaxation`].
    Relaxation(BodyId),
    /// [`BodyControls::iterations`].
    Iterations(BodyId),
    /// [`BodyControls::damping`].
    Damping(BodyId),
    /// [`BodyControls::drag`].
    Drag(BodyId),
    /// [`BodyControls::force`].
    Force(BodyId),
    /// [`BodyControls::edge_stiffness`].
    EdgeStiffness(BodyId),
    /// [`BodyControls::friction`].
    Friction(BodyId),
    /// [`BodyControls::restitution`].
    Restitution(BodyId),
    /// [`BodyControls::viscous_friction`].
    ViscousFriction(BodyId),
    /// [`BodyControls::flappiness`].
    Flappiness(BodyId),
    /// [`BodyControls::deformation`].
    Deformation(BodyId),
    /// [`BodyControls::volume`].
    Volume(BodyId),
    /// [`BodyControls::yield_strain`].
    YieldStrain(BodyId),
    /// [`BodyControls::creep`].
    Creep(BodyId),
    /// [`BodyControls::plastic_limit`].
    PlasticLimit(BodyId),
    /// [`BodyControls::hardening`].
    Hardening(BodyId),
    /// [`BodyControls::follow`].
    Follow(BodyId),
    /// [`BodyControls::follow_damping`].
    FollowDamping(BodyId),
    /// [`BodyControls::mass`].
    Mass(BodyId),
    /// [`BodyControls::young`].
    Young(BodyId),
    /// [`BodyControls::poisson`].
    Poisson(BodyId),
    /// [`BodyControls::thickness`].
    Thickness(BodyId),
    /// [`BodyControls::air`].
    Air(BodyId),
}

/// The controls of a body, made for its index.
const OF_BODY: [fn(BodyId) -> Control; 26] = [
    Control::Alpha,
    Control::Frequency,
    Control::StrainLimit,
    Control::Relaxation,
    Control::Iterations,
    Control::Damping,
    Control::Drag,
    Control::Force,
    Control::EdgeStiffness,
    Control::Friction,
    Control::Restitution,
    Control::ViscousFriction,
    Control::Flappiness,
    Control::Deformation,
    Control::Volume,
    Control::YieldStrain,
    Control::Creep,
    Control::PlasticLimit,
    Control::Hardening,
    Control::Follow,
    Control::FollowDamping,
    Control::Mass,
    Control::Young,
    Control::Poisson,
    Control::Thickness,
    Control::Air,
];

/// A new value: a number or a vector.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A vector.
    Vector(DVec3),
}

impl From<f64> for Value {
    fn from(v: f64) -> Value {
        Value::Number(v)
    }
}

impl From<DVec3> for Value {
    fn from(v: DVec3) -> Value {
        Value::Vector(v)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(v) => write!(f, "{v:?}"),
            Value::Vector(v) => write!(f, "{v}"),
        }
    }
}

/// A refused value: nothing was changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlError {
    /// Name of the control.
    pub control: &'static str,
    /// The refused value.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {} is not allowed: {}", self.control, self.value, self.allowed)
    }
}

impl std::error::Error for ControlError {}

impl Control {
    /// Every control of a scene of these bodies, in a fixed order.
    pub fn all(bodies: impl IntoIterator<Item = BodyId>) -> impl Iterator<Item = Control> {
        let world = [
            Control::Gravity,
            Control::GravityMagnitude,
            Control::GravityDirection,
            Control::Wind,
            Control::Gusts,
        ];
        let of_bodies = bodies.into_iter().flat_map(|b| OF_BODY.into_iter().map(move |make| make(b)));
        world.into_iter().chain(of_bodies)
    }

    /// The control of this name: of body `body`, or of the world.
    pub fn named(name: &str, body: Option<BodyId>) -> Option<Control> {
        Control::all([body.unwrap_or(0.into())]).find(|c| c.name() == name && c.body() == body)
    }

    /// The same control of body `b`; the world's stay the world's.
    pub fn of(self, b: BodyId) -> Control {
        let index = |c: &&fn(BodyId) -> Control| self.body().is_some_and(|own| c(own) == self);
        OF_BODY.iter().find(index).map_or(self, |make| make(b))
    }

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Control::Gravity => "gravity",
            Control::GravityMagnitude => "gravity_magnitude",
            Control::GravityDirection => "gravity_direction",
            Control::Alpha(_) => "alpha",
            Control::Frequency(_) => "frequency",
            Control::StrainLimit(_) => "strain_limit",
            Control::Relaxation(_) => "relaxation",
            Control::Iterations(_) => "iterations",
            Control::Damping(_) => "damping",
            Control::Drag(_) => "drag",
            Control::Force(_) => "force",
            Control::EdgeStiffness(_) => "edge_stiffness",
            Control::Friction(_) => "friction",
            Control::Restitution(_) => "restitution",
            Control::ViscousFriction(_) => "viscous_friction",
            Control::Flappiness(_) => "flappiness",
            Control::Deformation(_) => "deformation",
            Control::Volume(_) => "volume",
            Control::YieldStrain(_) => "yield_strain",
            Control::Creep(_) => "creep",
            Control::PlasticLimit(_) => "plastic_limit",
            Control::Hardening(_) => "hardening",
            Control::Follow(_) => "follow",
            Control::FollowDamping(_) => "follow_damping",
            Control::Mass(_) => "mass",
            Control::Young(_) => "young",
            Control::Poisson(_) => "poisson",
            Control::Thickness(_) => "thickness",
            Control::Air(_) => "air",
            Control::Wind => "wind",
            Control::Gusts => "gusts",
        }
    }

    /// The body it belongs to, if any.
    pub fn body(self) -> Option<BodyId> {
        match self {
            Control::Gravity
            | Control::GravityMagnitude
            | Control::GravityDirection
            | Control::Wind
            | Control::Gusts => None,
            Control::Alpha(b)
            | Control::Frequency(b)
            | Control::StrainLimit(b)
            | Control::Relaxation(b)
            | Control::Iterations(b)
            | Control::Damping(b)
            | Control::Drag(b)
            | Control::Force(b)
            | Control::EdgeStiffness(b)
            | Control::Friction(b)
            | Control::Restitution(b)
            | Control::ViscousFriction(b)
            | Control::Flappiness(b)
            | Control::Deformation(b)
            | Control::Volume(b)
            | Control::YieldStrain(b)
            | Control::Creep(b)
            | Control::PlasticLimit(b)
            | Control::Hardening(b)
            | Control::Follow(b)
            | Control::FollowDamping(b)
            | Control::Mass(b)
            | Control::Young(b)
            | Control::Poisson(b)
            | Control::Thickness(b)
            | Control::Air(b) => Some(b),
        }
    }

    /// Where a control that is a plain number is kept.
    fn slot(self, c: &mut BodyControls) -> Option<&mut f64> {
        Some(match self {
            Control::StrainLimit(_) => &mut c.strain_limit,
            Control::Relaxation(_) => &mut c.relaxation,
            Control::Damping(_) => &mut c.damping,
            Control::Drag(_) => &mut c.drag,
            Control::EdgeStiffness(_) => &mut c.edge_stiffness,
            Control::Restitution(_) => &mut c.restitution,
            Control::ViscousFriction(_) => &mut c.viscous_friction,
            Control::Flappiness(_) => &mut c.flappiness,
            Control::Deformation(_) => &mut c.deformation,
            Control::Volume(_) => &mut c.volume,
            Control::YieldStrain(_) => &mut c.yield_strain,
            Control::Creep(_) => &mut c.creep,
            Control::PlasticLimit(_) => &mut c.plastic_limit,
            Control::Hardening(_) => &mut c.hardening,
            Control::Follow(_) => &mut c.follow,
            Control::FollowDamping(_) => &mut c.follow_damping,
            Control::Mass(_) => &mut c.mass,
            Control::Young(_) => &mut c.young,
            Control::Poisson(_) => &mut c.poisson,
            Control::Thickness(_) => &mut c.thickness,
            Control::Air(_) => &mut c.air,
            _ => return None,
        })
    }

    /// What a change costs under a solver. A stiffness that comes from or goes to zero costs a rebuild.
    pub fn cost(self, solver: SolverKind) -> Cost {
        match (self, solver) {
            (
                Control::Alpha(_)
                | Control::Frequency(_)
                | Control::EdgeStiffness(_)
                | Control::Mass(_)
                | Control::Young(_)
                | Control::Poisson(_)
                | Control::Thickness(_),
                SolverKind::Projective | SolverKind::Newton,
            ) => Cost::Refactor,
            _ => Cost::Free,
        }
    }

    /// Smallest and largest number allowed with substeps of `h` seconds; `None` for vectors.
    pub fn range(self, solver: SolverKind, h: f64) -> Option<(f64, f64)> {
        Some(match self {
            Control::Gravity | Control::GravityDirection | Control::Wind | Control::Force(_) => return None,
            Control::Gusts => (0.0, 10.0),
            Control::GravityMagnitude => (0.0, 1e12),
            Control::Alpha(_) => (0.0, 1.0),
            // The explicit integrator resolves at most six steps an oscillation (α = 1).
            Control::Frequency(_) if solver == SolverKind::Clustered => (0.0, 1.0 / (6.0 * h)),
            Control::StrainLimit(_) => (0.0, f64::INFINITY),
            Control::Relaxation(_) => (0.0, 2.0),
            Control::Iterations(_) => (0.0, 10_000.0),
            // Beyond these nothing gets stiffer, calmer or rougher, only the numbers get worse.
            Control::Frequency(_) | Control::Follow(_) => (0.0, 1e6),
            Control::Damping(_) | Control::Drag(_) => (0.0, 1e9),
            Control::EdgeStiffness(_) => (0.0, 1e15),
            Control::Friction(_) => (0.0, 1e6),
            Control::Restitution(_)
            | Control::ViscousFriction(_)
            | Control::Flappiness(_)
            | Control::Volume(_) => (0.0, 1.0),
            Control::Deformation(_) => (0.0, BodyControls::LARGEST_DEFORMATION),
            Control::YieldStrain(_) => (0.0, f64::INFINITY),
            Control::Creep(_) | Control::Hardening(_) | Control::FollowDamping(_) => (0.0, 1e9),
            // A permanent stretch of nine, and its inverse, are still far from flat.
            Control::PlasticLimit(_) => (0.0, 9.0),
            // Anything smaller is a number without precision, and so would be all that is made of it.
            Control::Mass(_) => (1e-300, 1e12),
            Control::Young(_) => (0.0, 1e15),
            Control::Poisson(_) => (0.0, LARGEST_POISSON),
            Control::Thickness(_) => (1e-9, 1e3),
            Control::Air(_) => (0.0, 1e6),
        })
    }

    /// Why a value is refused, or nothing.
    pub fn check(self, value: Value, solver: SolverKind, h: f64) -> Result<(), ControlError> {
        let refuse =
            |allowed: String| Err(ControlError { control: self.name(), value: value.to_string(), allowed });
        match (self.range(solver, h), value) {
            (None, Value::Vector(v)) if self == Control::GravityDirection && v == DVec3::ZERO => {
                refuse("it must have a length; set gravity_magnitude to 0 for no gravity".into())
            }
            (None, Value::Vector(v)) if v.is_finite() && v.abs().max_element() <= 1e12 => Ok(()),
            (None, Value::Vector(_)) => refuse("its components must be numbers from -1e12 to 1e12".into()),
            (None, Value::Number(_)) => refuse("it must be a vector of three numbers".into()),
            (Some(_), Value::Vector(_)) => refuse("it must be a single number".into()),
            (Some((lo, hi)), Value::Number(v)) if !(lo..=hi).contains(&v) => {
                let hint = match self {
                    Control::Frequency(_) if v > hi => {
                        let substeps = (v / hi).ceil();
                        format!("; take {substeps} times the substeps for this frequency, or lower it")
                    }
                    _ => String::new(),
                };
                let range =
                    if hi >= f64::MAX { format!("at least {lo}") } else { format!("from {lo} to {hi:?}") };
                refuse(format!("it must be a number {range}{hint}"))
            }
            (Some(_), Value::Number(v)) if matches!(self, Control::Iterations(_)) && v.fract() != 0.0 => {
                refuse("it must be a whole number".into())
            }
            _ => Ok(()),
        }
    }
}

impl WorldControls {
    pub(crate) fn set_gravity(&mut self, gravity: DVec3) {
        (self.gravity, self.gravity_magnitude) = (gravity, gravity.length());
        self.gravity_direction = unit(gravity).unwrap_or(self.gravity_direction);
    }

    /// Gravity, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.gravity
    }
}

impl BodyEntry {
    /// Controls of a body whose pin groups follow their own motion.
    pub fn new(id: BodyId, values: BodyControls, model: &BodyModel) -> BodyEntry {
        BodyEntry { id, values, pins: vec![None; model.pins.len()] }
    }
}

impl Controls {
    /// Controls of a model. Values are taken as checked.
    pub(crate) fn new(gravity: DVec3, bodies: Vec<BodyEntry>) -> Controls {
        let mut world = WorldControls {
            gravity,
            gravity_direction: DVec3::NEG_Y,
            gravity_magnitude: 0.0,
            wind: DVec3::ZERO,
            gusts: 0.0,
        };
        world.set_gravity(gravity);
        Controls { world, bodies }
    }

    fn index(&self, id: BodyId) -> Option<usize> {
        self.bodies.binary_search_by_key(&id, |b| b.id).ok()
    }

    /// What moves the body of this place in the model.
    pub(crate) fn live(&self, index: usize) -> LiveControls<'_> {
        let BodyEntry { values, pins, .. } = &self.bodies[index];
        LiveControls { world: &self.world, body: values, pins }
    }

    fn values_mut(&mut self, id: BodyId) -> Option<&mut BodyControls> {
        self.index(id).map(|k| &mut self.bodies[k].values)
    }

    /// The present value of a control; nothing for a body that is not there.
    pub fn get(&self, control: Control) -> Option<Value> {
        let Some(b) = control.body() else {
            return Some(match control {
                Control::GravityMagnitude => self.world.gravity_magnitude.into(),
                Control::GravityDirection => self.world.gravity_direction.into(),
                Control::Wind => self.world.wind.into(),
                Control::Gusts => self.world.gusts.into(),
                _ => self.world.gravity.into(),
            });
        };
        let c = self.body(b)?;
        let number = match control {
            Control::Force(_) => return Some(c.force.into()),
            Control::Alpha(_) | Control::Frequency(_) => match (control, c.stiffness) {
                (Control::Alpha(_), Stiffness::Alpha(v))
                | (Control::Frequency(_), Stiffness::Frequency(v)) => v,
                _ => return None,
            },
            Control::Iterations(_) => c.iterations.into(),
            Control::Friction(_) => c.friction?,
            _ => *control.slot(&mut { *c })?,
        };
        Some(number.into())
    }

    /// Gravity, m/s².
    pub fn gravity(&self) -> DVec3 {
        self.world.gravity
    }

    /// Direction of gravity, of length 1; kept while there is none.
    pub fn gravity_direction(&self) -> DVec3 {
        self.world.gravity_direction
    }

    /// Velocity of the air, m/s.
    pub fn wind(&self) -> DVec3 {
        self.world.wind
    }

    /// How much of the wind comes and goes.
    pub fn gusts(&self) -> f64 {
        self.world.gusts
    }

    /// The live values of a body; nothing for a body that is not there.
    pub fn body(&self, b: impl Into<BodyId>) -> Option<&BodyControls> {
        self.index(b.into()).map(|k| &self.bodies[k].values)
    }

    /// Why these cannot be controls of `model`: of other bodies or pin groups, or with values that are not
    /// allowed there.
    pub fn check(&self, model: &Model) -> Result<(), ControlError> {
        let refuse = |control, found: usize, wanted: usize| {
            let value = format!("controls of {found}");
            let allowed = format!("the model has {wanted}: take controls made for it");
            Err(ControlError { control, value, allowed })
        };
        if self.bodies.len() != model.bodies().len() {
            return refuse("bodies", self.bodies.len(), model.bodies().len());
        }
        for (entry, body) in self.bodies.iter().zip(model.bodies()) {
            if entry.id != body.id {
                let allowed = "the model has others: take controls made for it".into();
                let value = format!("controls of body {}", entry.id);
                return Err(ControlError { control: "bodies", value, allowed });
            }
            if entry.pins.len() != body.parts.pins.len() {
                return refuse("pins", entry.pins.len(), body.parts.pins.len());
            }
        }
        let h = model.params.substep();
        for control in Control::all([]) {
            if let Some(value) = self.get(control) {
                control.check(value, SolverKind::Clustered, h)?;
            }
        }
        for (k, body) in model.bodies().iter().enumerate() {
            let entry = &self.bodies[k];
            let solver = body.parts.settings.solver;
            for control in OF_BODY.into_iter().map(|make| make(body.id)) {
                if let Some(value) = self.get(control) {
                    control.check(value, solver, h)?;
                }
            }
            if solver == SolverKind::Clustered {
                entry.values.check_relaxation()?;
            }
            if !entry.pins.iter().flatten().all(DAffine3::is_finite) {
                return Err(not_finite_placement());
            }
        }
        Ok(())
    }

    /// Changes a value for the steps to come, and says what that will cost. A value out of range, or one that
    /// nothing would read (see [`Control::effect`]), is refused and nothing changes.
    pub fn set(
        &mut self,
        model: &Model,
        control: Control,
        value: impl Into<Value>,
    ) -> Result<Cost, ControlError> {
        let value = value.into();
        let found = control.body().map(|b| (b, model.get(b), self.body(b).copied()));
        let (solver, before) = match found {
            None => (SolverKind::Clustered, None),
            Some((_, Some(body), Some(values))) => (body.parts.settings.solver, Some(values)),
            Some((b, ..)) => {
                let value = format!("(body {b})");
                let allowed = no_such_body(model, b);
                return Err(ControlError { control: control.name(), value, allowed });
            }
        };
        control.check(value, solver, model.params.substep())?;
        control.check_effect(value, model)?;
        model.params.keyframes.allow(control, value, self)?;
        // Relaxation and iterations are only sound together.
        match (control, value, before) {
            (Control::Relaxation(_), Value::Number(v), Some(before)) => {
                BodyControls { relaxation: v, ..before }.check_relaxation()?;
            }
            (Control::Iterations(_), Value::Number(v), Some(before)) if solver == SolverKind::Clustered => {
                BodyControls { iterations: v as u32, ..before }.check_relaxation()?;
            }
            _ => {}
        }
        self.put(control, value);
        let cost = control.cost(solver);
        let vanishes = |c: &BodyControls| {
            let elastic = c.elasticity();
            let zero = |v: f64| v == 0.0;
            [c.edge_stiffness, c.stiffness.per_mass(1.0), elastic.young, elastic.poisson].map(zero)
        };
        let now = control.body().and_then(|b| self.body(b));
        let rebuild = before.zip(now).is_some_and(|(old, now)| vanishes(&old) != vanishes(now));
        Ok(if cost == Cost::Refactor && rebuild { Cost::Rebuild } else { cost })
    }

    /// Changes a value that was checked.
    pub(crate) fn put(&mut self, control: Control, value: Value) {
        let world = &mut self.world;
        match (control, value) {
            (Control::Gravity, Value::Vector(v)) => return world.set_gravity(v),
            (Control::GravityMagnitude, Value::Number(v)) => {
                (world.gravity, world.gravity_magnitude) = (world.gravity_direction * v, v);
                return;
            }
            (Control::GravityDirection, Value::Vector(v)) => {
                world.gravity_direction = unit(v).unwrap_or(world.gravity_direction);
                world.gravity = world.gravity_direction * world.gravity_magnitude;
                return;
            }
            (Control::Wind, Value::Vector(v)) => return world.wind = v,
            (Control::Gusts, Value::Number(v)) => return world.gusts = v,
            _ => {}
        }
        let Some(body) = control.body().and_then(|b| self.values_mut(b)) else { return };
        match (control, value) {
            (Control::Force(_), Value::Vector(v)) => body.force = v,
            (Control::Alpha(_), Value::Number(v)) => body.stiffness = Stiffness::Alpha(v),
            (Control::Frequency(_), Value::Number(v)) => body.stiffness = Stiffness::Frequency(v),
            (Control::Iterations(_), Value::Number(v)) => body.iterations = v as u32,
            (Control::Friction(_), Value::Number(v)) => body.friction = Some(v),
            (_, Value::Number(v)) => {
                if let Some(slot) = control.slot(body) {
                    *slot = v;
                }
            }
            // `check` has refused every other pairing.
            _ => {}
        }
    }

    /// Holds a pin group of a body at `placement` relative to where it was made, or lets it follow its own motion
    /// again. `model` tells which groups there are.
    pub fn place_pins(
        &mut self,
        model: &Model,
        body: impl Into<BodyId>,
        group: usize,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        let body = body.into();
        if placement.is_some_and(|p| !p.is_finite()) {
            return Err(not_finite_placement());
        }
        let place = model.get(body).and_then(|b| b.parts.pins.iter().position(|g| g.id == group));
        let pins = self.index(body).map(|k| &mut self.bodies[k].pins);
        match pins.zip(place).and_then(|(pins, place)| pins.get_mut(place)) {
            Some(slot) => {
                *slot = placement;
                Ok(Cost::Free)
            }
            None => {
                let value = format!("(body {body}, group {group})");
                Err(ControlError { control: "pins", value, allowed: "there is no such pin group".into() })
            }
        }
    }

    /// All values as bytes, to be kept beside a frame.
    pub fn encode(&self) -> Vec<u8> {
        let pins: usize = self.bodies.iter().map(|b| b.pins.len()).sum();
        let mut w = Writer(Vec::with_capacity(8 * (14 + 32 * self.bodies.len() + 13 * pins)));
        w.word(MAGIC);
        w.word(VERSION);
        let world = &self.world;
        let vectors = [world.gravity, world.gravity_direction, world.wind];
        vectors.iter().flat_map(|v| v.to_array()).for_each(|v| w.number(v));
        w.number(world.gravity_magnitude);
        w.number(world.gusts);
        w.word(self.bodies.len() as u64);
        for BodyEntry { id, values: c, pins } in &self.bodies {
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
            { *c }.numbers().into_iter().for_each(|v| w.number(*v));
            c.force.to_array().into_iter().for_each(|v| w.number(v));
            w.word(pins.len() as u64);
            for pins in pins {
                w.word(pins.is_some().into());
                let placement = pins.unwrap_or(DAffine3::IDENTITY);
                placement.to_cols_array().into_iter().for_each(|v| w.number(v));
            }
        }
        w.0
    }

    /// Reads the values back for a model of the same bodies and pin groups.
    pub fn decode(bytes: &[u8], model: &Model) -> Result<Controls, StateError> {
        let mut r = Reader(bytes);
        if r.word()? != MAGIC {
            return Err(StateError::Damaged("it does not begin like controls"));
        }
        let found = r.word()?;
        if found != VERSION {
            return Err(StateError::Version { found, expected: VERSION });
        }
        let mut vector =
            || -> Result<DVec3, Truncated> { Ok(DVec3::new(r.number()?, r.number()?, r.number()?)) };
        let (gravity, gravity_direction, wind) = (vector()?, vector()?, vector()?);
        let (gravity_magnitude, gusts) = (r.number()?, r.number()?);
        let world = WorldControls { gravity, gravity_direction, gravity_magnitude, wind, gusts };
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
                let held = r.word()? != 0;
                let mut e = [0.0; 12];
                for v in &mut e {
                    *v = r.number()?;
                }
                pins.push(held.then(|| DAffine3::from_cols_array(&e)));
            }
            bodies.push(BodyEntry { id, values, pins });
        }
        let controls = Controls { world, bodies };
        match r.0.is_empty() && controls.check(model).is_ok() {
            true => Ok(controls),
            false => Err(StateError::Damaged("it has values that are not allowed")),
        }
    }
}

fn read_body(r: &mut Reader<'_>) -> Result<BodyControls, Truncated> {
    let stiffness = match (r.word()?, r.number()?) {
        (0, v) => Stiffness::Alpha(v),
        (_, v) => Stiffness::Frequency(v),
    };
    let conserve_momentum = r.word()? != 0;
    let iterations = r.word()? as u32;
    let rough = r.word()? != 0;
    let mut c = BodyControls { stiffness, conserve_momentum, iterations, ..Default::default() };
    let friction = r.number()?;
    c.friction = rough.then_some(friction);
    for v in c.numbers() {
        *v = r.number()?;
    }
    c.force = DVec3::new(r.number()?, r.number()?, r.number()?);
    Ok(c)
}

/// What to say of a body that is not there.
pub(crate) fn no_such_body(model: &Model, id: BodyId) -> String {
    let count = model.bodies().len();
    match id.number() < model.next_id() {
        true => format!("that body was removed; there are {count} bodies"),
        false => format!("there are {count} bodies, numbered from 0"),
    }
}

fn not_finite_placement() -> ControlError {
    let allowed = "its components must be finite numbers".into();
    ControlError { control: "pins", value: "(placement)".into(), allowed }
}

/// The direction of a vector, also of one whose square would overflow or vanish.
fn unit(v: DVec3) -> Option<DVec3> {
    (v / v.abs().max_element()).try_normalize()
}
