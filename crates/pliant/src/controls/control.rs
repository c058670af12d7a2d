//! What can be changed: every control by name, with its range, its cost, and where it is kept.

use super::BodyControls;
use crate::material::LARGEST_POISSON;
use crate::model::BodyId;
use crate::solvers::SolverKind;
use glam::DVec3;
use std::fmt;

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
    /// [`BodyControls::tear_strain`].
    TearStrain(BodyId),
}

/// The controls of a body, made for its index.
pub(super) const OF_BODY: [fn(BodyId) -> Control; 27] = [
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
    Control::TearStrain,
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
            Control::TearStrain(_) => "tear_strain",
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
            | Control::Air(b)
            | Control::TearStrain(b) => Some(b),
        }
    }

    /// Where a control that is a plain number is kept.
    pub(super) fn slot(self, c: &mut BodyControls) -> Option<&mut f64> {
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
            Control::TearStrain(_) => &mut c.tear_strain,
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
            // At nothing at all everything would fall to single elements.
            Control::TearStrain(_) => (1e-3, f64::INFINITY),
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
