//! What may change while a simulation runs, what each change costs, and which values are allowed.

use crate::bytes::{Reader, Truncated, Writer};
use crate::material::{Elasticity, LARGEST_POISSON};
use crate::model::Model;
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

/// Everything that may change between two steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Controls {
    /// Gravity, m/s²; kept beside its size and direction, so that either can be changed alone and the
    /// direction survives a time without gravity.
    pub(crate) gravity: DVec3,
    pub(crate) gravity_direction: DVec3,
    pub(crate) gravity_magnitude: f64,
    pub(crate) wind: DVec3,
    pub(crate) gusts: f64,
    pub(crate) bodies: Vec<BodyControls>,
    /// Where a host holds a pin group; `None` follows the group's own motion.
    pub(crate) pins: Vec<Option<DAffine3>>,
}

const MAGIC: u64 = u64::from_le_bytes(*b"PLIANTCT");
const VERSION: u64 = 2;

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
    Alpha(usize),
    /// [`BodyControls::stiffness`] as a frequency.
    Frequency(usize),
    /// [`BodyControls::strain_limit`].
    StrainLimit(usize),
    /// [`BodyControls::relaxation`].
    Relaxation(usize),
    /// [`BodyControls::iterations`].
    Iterations(usize),
    /// [`BodyControls::damping`].
    Damping(usize),
    /// [`BodyControls::drag`].
    Drag(usize),
    /// [`BodyControls::force`].
    Force(usize),
    /// [`BodyControls::edge_stiffness`].
    EdgeStiffness(usize),
    /// [`BodyControls::friction`].
    Friction(usize),
    /// [`BodyControls::restitution`].
    Restitution(usize),
    /// [`BodyControls::viscous_friction`].
    ViscousFriction(usize),
    /// [`BodyControls::flappiness`].
    Flappiness(usize),
    /// [`BodyControls::deformation`].
    Deformation(usize),
    /// [`BodyControls::volume`].
    Volume(usize),
    /// [`BodyControls::yield_strain`].
    YieldStrain(usize),
    /// [`BodyControls::creep`].
    Creep(usize),
    /// [`BodyControls::plastic_limit`].
    PlasticLimit(usize),
    /// [`BodyControls::hardening`].
    Hardening(usize),
    /// [`BodyControls::follow`].
    Follow(usize),
    /// [`BodyControls::follow_damping`].
    FollowDamping(usize),
    /// [`BodyControls::mass`].
    Mass(usize),
    /// [`BodyControls::young`].
    Young(usize),
    /// [`BodyControls::poisson`].
    Poisson(usize),
    /// [`BodyControls::thickness`].
    Thickness(usize),
    /// [`BodyControls::air`].
    Air(usize),
}

/// The controls of a body, made for its index.
const OF_BODY: [fn(usize) -> Control; 26] = [
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
    /// Every control of a scene of `bodies` bodies, in a fixed order.
    pub fn all(bodies: usize) -> impl Iterator<Item = Control> {
        let world = [
            Control::Gravity,
            Control::GravityMagnitude,
            Control::GravityDirection,
            Control::Wind,
            Control::Gusts,
        ];
        world.into_iter().chain((0..bodies).flat_map(|b| OF_BODY.into_iter().map(move |make| make(b))))
    }

    /// The control of this name: of body `body`, or of the world.
    pub fn named(name: &str, body: Option<usize>) -> Option<Control> {
        Control::all(1).map(|c| c.of(body.unwrap_or(0))).find(|c| c.name() == name && c.body() == body)
    }

    /// The same control of body `b`; the world's stay the world's.
    pub fn of(self, b: usize) -> Control {
        let index = |c: &&fn(usize) -> Control| self.body().is_some_and(|own| c(own) == self);
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
    pub fn body(self) -> Option<usize> {
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

impl Controls {
    /// Controls of a model, every pin group following its own motion. Values are taken as checked.
    pub(crate) fn new(gravity: DVec3, bodies: Vec<BodyControls>, pins: usize) -> Controls {
        let mut controls = Controls {
            gravity,
            gravity_direction: DVec3::NEG_Y,
            gravity_magnitude: 0.0,
            wind: DVec3::ZERO,
            gusts: 0.0,
            bodies,
            pins: vec![None; pins],
        };
        controls.set_gravity(gravity);
        controls
    }

    fn set_gravity(&mut self, gravity: DVec3) {
        (self.gravity, self.gravity_magnitude) = (gravity, gravity.length());
        self.gravity_direction = unit(gravity).unwrap_or(self.gravity_direction);
    }

    /// The present value of a control; nothing for a body that is not there.
    pub fn get(&self, control: Control) -> Option<Value> {
        let Some(b) = control.body() else {
            return Some(match control {
                Control::GravityMagnitude => self.gravity_magnitude.into(),
                Control::GravityDirection => self.gravity_direction.into(),
                Control::Wind => self.wind.into(),
                Control::Gusts => self.gusts.into(),
                _ => self.gravity.into(),
            });
        };
        let c = self.bodies.get(b)?;
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
        self.gravity
    }

    /// Direction of gravity, of length 1; kept while there is none.
    pub fn gravity_direction(&self) -> DVec3 {
        self.gravity_direction
    }

    /// Velocity of the air, m/s.
    pub fn wind(&self) -> DVec3 {
        self.wind
    }

    /// How much of the wind comes and goes.
    pub fn gusts(&self) -> f64 {
        self.gusts
    }

    /// The live values of body `b`; nothing for a body that is not there.
    pub fn body(&self, b: usize) -> Option<&BodyControls> {
        self.bodies.get(b)
    }

    /// Why these cannot be controls of `model`: of other bodies or pin groups, or with values that are not
    /// allowed there.
    pub fn check(&self, model: &Model) -> Result<(), ControlError> {
        let params = &model.params;
        let counts = [("bodies", self.bodies.len(), params.bodies.len())];
        let counts = counts.into_iter().chain([("pins", self.pins.len(), params.pins.len())]);
        for (control, found, wanted) in counts {
            if found != wanted {
                let value = format!("controls of {found}");
                let allowed = format!("the model has {wanted}: take controls made for it");
                return Err(ControlError { control, value, allowed });
            }
        }
        for control in Control::all(params.bodies.len()) {
            let solver = control.body().map_or(SolverKind::Clustered, |b| params.bodies[b].solver);
            if let Some(value) = self.get(control) {
                control.check(value, solver, params.substep())?;
            }
        }
        for (settings, c) in params.bodies.iter().zip(&self.bodies) {
            if settings.solver == SolverKind::Clustered {
                c.check_relaxation()?;
            }
        }
        match self.pins.iter().flatten().all(DAffine3::is_finite) {
            true => Ok(()),
            false => Err(not_finite_placement()),
        }
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
        let solver = match control.body() {
            None => SolverKind::Clustered,
            Some(b) => match model.params.bodies.get(b) {
                Some(settings) if b < self.bodies.len() => settings.solver,
                _ => {
                    let count = self.bodies.len().min(model.params.bodies.len());
                    let value = format!("(body {b})");
                    let allowed = format!("there are {count} bodies, numbered from 0");
                    return Err(ControlError { control: control.name(), value, allowed });
                }
            },
        };
        control.check(value, solver, model.params.substep())?;
        control.check_effect(value, model)?;
        model.params.keyframes.allow(control, value, self)?;
        let before = control.body().map(|b| self.bodies[b]);
        // Relaxation and iterations are only sound together.
        match (control, value) {
            (Control::Relaxation(b), Value::Number(v)) => {
                BodyControls { relaxation: v, ..self.bodies[b] }.check_relaxation()?;
            }
            (Control::Iterations(b), Value::Number(v)) if solver == SolverKind::Clustered => {
                BodyControls { iterations: v as u32, ..self.bodies[b] }.check_relaxation()?;
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
        let rebuild =
            before.zip(control.body()).is_some_and(|(old, b)| vanishes(&old) != vanishes(&self.bodies[b]));
        Ok(if cost == Cost::Refactor && rebuild { Cost::Rebuild } else { cost })
    }

    /// Changes a value that was checked.
    pub(crate) fn put(&mut self, control: Control, value: Value) {
        match (control, value) {
            (Control::Gravity, Value::Vector(v)) => self.set_gravity(v),
            (Control::GravityMagnitude, Value::Number(v)) => {
                (self.gravity, self.gravity_magnitude) = (self.gravity_direction * v, v);
            }
            (Control::GravityDirection, Value::Vector(v)) => {
                self.gravity_direction = unit(v).unwrap_or(self.gravity_direction);
                self.gravity = self.gravity_direction * self.gravity_magnitude;
            }
            (Control::Force(b), Value::Vector(v)) => self.bodies[b].force = v,
            (Control::Alpha(b), Value::Number(v)) => self.bodies[b].stiffness = Stiffness::Alpha(v),
            (Control::Frequency(b), Value::Number(v)) => self.bodies[b].stiffness = Stiffness::Frequency(v),
            (Control::Iterations(b), Value::Number(v)) => self.bodies[b].iterations = v as u32,
            (Control::Friction(b), Value::Number(v)) => self.bodies[b].friction = Some(v),
            (Control::Wind, Value::Vector(v)) => self.wind = v,
            (Control::Gusts, Value::Number(v)) => self.gusts = v,
            (_, Value::Number(v)) => {
                let body = control.body().and_then(|b| self.bodies.get_mut(b));
                if let Some(slot) = body.and_then(|body| control.slot(body)) {
                    *slot = v;
                }
            }
            // `check` has refused every other pairing.
            _ => {}
        }
    }

    /// Holds pin group `group` at `placement` relative to its initial place, or lets it follow its
    /// own motion again.
    pub fn place_pins(&mut self, group: usize, placement: Option<DAffine3>) -> Result<Cost, ControlError> {
        let refuse = |value: String, allowed: &str| {
            Err(ControlError { control: "pins", value, allowed: allowed.into() })
        };
        if placement.is_some_and(|p| !p.is_finite()) {
            return Err(not_finite_placement());
        }
        match self.pins.get_mut(group) {
            Some(slot) => {
                *slot = placement;
                Ok(Cost::Free)
            }
            None => refuse(format!("(group {group})"), "there is no such pin group"),
        }
    }

    /// All values as bytes, to be kept beside a frame.
    pub fn encode(&self) -> Vec<u8> {
        let mut w = Writer(Vec::with_capacity(8 * (14 + 30 * self.bodies.len() + 13 * self.pins.len())));
        w.word(MAGIC);
        w.word(VERSION);
        let world = [self.gravity, self.gravity_direction, self.wind];
        world.iter().flat_map(|v| v.to_array()).for_each(|v| w.number(v));
        w.number(self.gravity_magnitude);
        w.number(self.gusts);
        w.word(self.bodies.len() as u64);
        for c in &self.bodies {
            let (kind, stiffness) = match c.stiffness {
                Stiffness::Alpha(v) => (0, v),
                Stiffness::Frequency(v) => (1, v),
            };
            w.word(kind);
            w.number(stiffness);
            w.word(c.conserve_momentum.into());
            w.word(c.iterations.into());
            w.word(c.friction.is_some().into());
            w.number(c.friction.unwrap_or(0.0));
            { *c }.numbers().into_iter().for_each(|v| w.number(*v));
            c.force.to_array().into_iter().for_each(|v| w.number(v));
        }
        w.word(self.pins.len() as u64);
        for pins in &self.pins {
            w.word(pins.is_some().into());
            let placement = pins.unwrap_or(DAffine3::IDENTITY);
            placement.to_cols_array().into_iter().for_each(|v| w.number(v));
        }
        w.0
    }

    /// Reads the values back for a model of as many bodies and pin groups.
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
        let params = &model.params;
        if r.word()? != params.bodies.len() as u64 {
            return Err(StateError::Damaged("the number of bodies does not fit the model"));
        }
        let mut bodies = Vec::with_capacity(params.bodies.len());
        for _ in &params.bodies {
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
            bodies.push(c);
        }
        if r.word()? != params.pins.len() as u64 {
            return Err(StateError::Damaged("the number of pin groups does not fit the model"));
        }
        let mut pins = Vec::with_capacity(params.pins.len());
        for _ in &params.pins {
            let held = r.word()? != 0;
            let mut e = [0.0; 12];
            for v in &mut e {
                *v = r.number()?;
            }
            pins.push(held.then(|| DAffine3::from_cols_array(&e)));
        }
        let controls = Controls { gravity, gravity_direction, gravity_magnitude, wind, gusts, bodies, pins };
        match r.0.is_empty() && controls.check(model).is_ok() {
            true => Ok(controls),
            false => Err(StateError::Damaged("it has values that are not allowed")),
        }
    }

    /// Where every pin group is at `time`.
    pub(crate) fn placements(&self, model: &Model, time: f64, out: &mut Vec<DAffine3>) {
        out.clear();
        let groups = model.params.pins.iter().zip(&self.pins);
        out.extend(groups.map(|(group, held)| held.unwrap_or_else(|| group.motion.placement(time))));
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
