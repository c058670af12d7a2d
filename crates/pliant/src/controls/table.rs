//! The table of controls: one row holds everything known of each. Names and keys of scenes, ranges, refusals, bytes and
//! whatever shows sliders follow from it.

use super::{BodyControls, Cost, CouplingControls, Stiffness, Value};
use crate::effect;
use crate::material::LARGEST_POISSON;
use crate::model::{BodyId, BodyModel, CouplingId};
use crate::solvers::{SolverKind, Support};
use glam::DVec3;

/// Which values are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Allowed {
    /// Vectors.
    Vector,
    /// Vectors that have a direction.
    Direction,
    /// Numbers from the first to the last.
    Number(f64, f64),
    /// Whole numbers from the first to the last.
    Whole(f64, f64),
    /// Oscillations per second: numbers up to the first, and under an explicit solver no more than its steps resolve.
    Frequency(f64),
}

/// Where the value of a control is kept.
#[derive(Clone, Copy)]
pub(super) enum Kept {
    /// Among the world's.
    World,
    /// As a plain number of a body.
    Number(fn(&mut BodyControls) -> &mut f64),
    /// As a plain number of a coupling.
    Coupling(fn(&mut CouplingControls) -> &mut f64),
    /// In some other way.
    Own { get: fn(&BodyControls) -> Option<Value>, put: fn(&mut BodyControls, Value) },
}

/// What is known of a control.
pub struct Descriptor {
    /// Its name, as in scene files.
    pub name: &'static str,
    /// The unit of its value; empty for none.
    pub unit: &'static str,
    /// Which values are allowed.
    pub allowed: Allowed,
    /// What a change costs under the solvers that factor a matrix; under others it is free. A stiffness that comes from
    /// or goes to zero costs a rebuild.
    pub cost: Cost,
    doc: &'static str,
    pub(super) kept: Kept,
    /// Whether a body reads it, and if not, what has the effect.
    pub(crate) reader: fn(&BodyModel) -> Support,
}

impl Descriptor {
    /// What it does, in a sentence or two.
    pub fn doc(&self) -> &'static str {
        self.doc.trim()
    }
}

impl std::fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Descriptor").field("name", &self.name).field("allowed", &self.allowed).finish()
    }
}

macro_rules! controls {
    (
        world { $($(#[doc = $world_doc:literal])+ $world:ident: $world_name:literal, $world_unit:literal, $world_allowed:expr;)+ }
        body { $($(#[doc = $doc:literal])+ $body:ident: $name:literal, $unit:literal, $allowed:expr, $cost:ident, $kept:expr, $reader:expr;)+ }
        coupling { $($(#[doc = $tie_doc:literal])+ $tie:ident: $tie_name:literal, $tie_unit:literal, $tie_allowed:expr, $field:ident;)+ }
    ) => {
        /// A value that can be changed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[non_exhaustive]
        pub enum Control {
            $($(#[doc = $world_doc])+ $world,)+
            $($(#[doc = $doc])+ $body(BodyId),)+
            $($(#[doc = $tie_doc])+ $tie(CouplingId),)+
        }

        /// The rows by number.
        enum Row { $($world,)+ $($body,)+ $($tie,)+ }

        static TABLE: &[Descriptor] = &[
            $(Descriptor {
                name: $world_name,
                unit: $world_unit,
                allowed: $world_allowed,
                cost: Cost::Free,
                doc: concat!($($world_doc),+),
                kept: Kept::World,
                reader: effect::always,
            },)+
            $(Descriptor {
                name: $name,
                unit: $unit,
                allowed: $allowed,
                cost: Cost::$cost,
                doc: concat!($($doc),+),
                kept: $kept,
                reader: $reader,
            },)+
            $(Descriptor {
                name: $tie_name,
                unit: $tie_unit,
                allowed: $tie_allowed,
                cost: Cost::Free,
                doc: concat!($($tie_doc),+),
                kept: Kept::Coupling(|c| &mut c.$field),
                reader: effect::always,
            },)+
        ];

        /// The controls of the world.
        const OF_WORLD: &[Control] = &[$(Control::$world),+];

        /// The controls of a body, made for its id.
        const OF_BODY: &[fn(BodyId) -> Control] = &[$(Control::$body),+];

        /// The controls of a coupling, made for its id.
        const OF_COUPLING: &[fn(CouplingId) -> Control] = &[$(Control::$tie),+];

        impl Control {
            /// Names of the controls of the world.
            pub const WORLD_NAMES: &[&str] = &[$($world_name),+];

            /// Names of the controls of a body.
            pub const BODY_NAMES: &[&str] = &[$($name),+];

            /// Names of the controls of a coupling.
            pub const COUPLING_NAMES: &[&str] = &[$($tie_name),+];

            /// What is known of it.
            pub fn descriptor(self) -> &'static Descriptor {
                let row = match self {
                    $(Control::$world => Row::$world,)+
                    $(Control::$body(_) => Row::$body,)+
                    $(Control::$tie(_) => Row::$tie,)+
                };
                &TABLE[row as usize]
            }

            /// What it belongs to.
            pub fn owner(self) -> ControlOwner {
                match self {
                    $(Control::$world => ControlOwner::World,)+
                    $(Control::$body(b) => ControlOwner::Body(b),)+
                    $(Control::$tie(c) => ControlOwner::Coupling(c),)+
                }
            }
        }
    };
}

/// What a control belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ControlOwner {
    /// All bodies.
    World,
    /// A body.
    Body(BodyId),
    /// A coupling.
    Coupling(CouplingId),
}

impl From<BodyId> for ControlOwner {
    fn from(body: BodyId) -> ControlOwner {
        ControlOwner::Body(body)
    }
}

impl From<CouplingId> for ControlOwner {
    fn from(coupling: CouplingId) -> ControlOwner {
        ControlOwner::Coupling(coupling)
    }
}

impl From<Option<BodyId>> for ControlOwner {
    fn from(body: Option<BodyId>) -> ControlOwner {
        body.map_or(ControlOwner::World, ControlOwner::Body)
    }
}

/// A plain number of a body.
macro_rules! number {
    ($field:ident) => {
        Kept::Number(|c| &mut c.$field)
    };
}

const ANY: Allowed = Allowed::Number(0.0, f64::INFINITY);
const SHARE: Allowed = Allowed::Number(0.0, 1.0);
// Beyond this nothing gets calmer, only the numbers get worse.
const RATE: Allowed = Allowed::Number(0.0, 1e9);
const STIFFNESS: Allowed = Allowed::Number(0.0, 1e15);

const ALPHA: Kept = Kept::Own {
    get: |c| match c.stiffness {
        Stiffness::Alpha(v) => Some(v.into()),
        Stiffness::Frequency(_) => None,
    },
    put: |c, value| c.stiffness = Stiffness::Alpha(value.number()),
};
const FREQUENCY: Kept = Kept::Own {
    get: |c| match c.stiffness {
        Stiffness::Frequency(v) => Some(v.into()),
        Stiffness::Alpha(_) => None,
    },
    put: |c, value| c.stiffness = Stiffness::Frequency(value.number()),
};
const ITERATIONS: Kept = Kept::Own {
    get: |c| Some(f64::from(c.iterations).into()),
    put: |c, value| c.iterations = value.number() as u32,
};
const FRICTION: Kept =
    Kept::Own { get: |c| c.friction.map(Value::from), put: |c, value| c.friction = Some(value.number()) };
const FORCE: Kept = Kept::Own { get: |c| Some(c.force.into()), put: |c, value| c.force = value.vector() };

controls! {
    world {
        /// Gravity.
        Gravity: "gravity", "m/s²", Allowed::Vector;
        /// Size of gravity; its direction stays.
        GravityMagnitude: "gravity_magnitude", "m/s²", Allowed::Number(0.0, 1e12);
        /// Direction of gravity, a vector of any length but 0; its size stays.
        GravityDirection: "gravity_direction", "", Allowed::Direction;
        /// Velocity of the air.
        Wind: "wind", "m/s", Allowed::Vector;
        /// How much of the wind comes and goes: 0 for a steady one, 1 for one that now and then stands still.
        Gusts: "gusts", "", Allowed::Number(0.0, 10.0);
    }
    body {
        /// Pull of the clusters toward their rest shape as the papers' α: the share of the way covered in a substep.
        /// Depends on the step.
        Alpha: "alpha", "", SHARE, Refactor, ALPHA, effect::cluster_stiffness;
        /// Pull of the clusters toward their rest shape, in oscillations per second.
        Frequency: "frequency", "Hz", Allowed::Frequency(1e6), Refactor, FREQUENCY, effect::cluster_stiffness;
        /// How far particles may be from their goals, in widths of the cluster; infinite for no limit.
        StrainLimit: "strain_limit", "", ANY, Free, number!(strain_limit), effect::strain_limit;
        /// Under- or over-relaxation of the strain limiting; in PBD the part of each correction that is made.
        Relaxation: "relaxation", "", Allowed::Number(0.0, 2.0), Free, number!(relaxation), effect::relaxation;
        /// Iterations per substep: of strain limiting, or toward the solution of the implicit step.
        Iterations: "iterations", "", Allowed::Whole(0.0, 10_000.0), Free, ITERATIONS, effect::iterates;
        /// Rate at which all motion decays that is not rigid; keeps momentum.
        Damping: "damping", "1/s", RATE, Free, number!(damping), effect::deforms;
        /// Rate at which all motion decays, as by air.
        Drag: "drag", "1/s", RATE, Free, number!(drag), effect::always;
        /// A force on the whole body, shared by mass.
        Force: "force", "N", Allowed::Vector, Free, FORCE, effect::always;
        /// Stiffness of the edges: Pa for solids, N/m for sheets.
        EdgeStiffness: "edge_stiffness", "Pa or N/m", STIFFNESS, Refactor, number!(edge_stiffness), effect::edges;
        /// Friction of the surface, combined with the obstacle's as √(a b).
        Friction: "friction", "", Allowed::Number(0.0, 1e6), Free, FRICTION, effect::always;
        /// Part of the speed that a bounce returns; the larger of it and the obstacle's counts.
        Restitution: "restitution", "", SHARE, Free, number!(restitution), effect::always;
        /// The deformer's friction: the share of the sliding velocity that an impact takes away.
        ViscousFriction: "viscous_friction", "", SHARE, Free, number!(viscous_friction), effect::viscous_friction;
        /// The share of the deformer's matching step that becomes velocity: low values creep, high ones overshoot.
        Flappiness: "flappiness", "", SHARE, Free, number!(flappiness), effect::flappiness;
        /// How much of the best-fit linear or quadratic deformation the goals follow.
        Deformation: "deformation", "", Allowed::Number(0.0, BodyControls::LARGEST_DEFORMATION), Free,
            number!(deformation), effect::deforming_goals;
        /// How much of its volume a linear or quadratic goal keeps.
        Volume: "volume", "", SHARE, Free, number!(volume), effect::deforming_goals;
        /// Stretch of a cluster beyond which it deforms for good; infinite for elastic bodies.
        YieldStrain: "yield_strain", "", ANY, Free, number!(yield_strain), effect::plasticity;
        /// Rate at which what is beyond the yield strain becomes permanent.
        Creep: "creep", "1/s", RATE, Free, number!(creep), effect::plasticity;
        /// Largest permanent stretch. One of nine, and its inverse, are still far from flat.
        PlasticLimit: "plastic_limit", "", Allowed::Number(0.0, 9.0), Free, number!(plastic_limit), effect::plasticity;
        /// How much the yield strain grows per permanent stretch.
        Hardening: "hardening", "", RATE, Free, number!(hardening), effect::plasticity;
        /// How strongly painted particles are drawn to an animated input, in oscillations per second.
        Follow: "follow", "Hz", Allowed::Number(0.0, 1e6), Free, number!(follow), effect::animated_input;
        /// Rate at which their motion relative to the input decays.
        FollowDamping: "follow_damping", "1/s", RATE, Free, number!(follow_damping), effect::animated_input;
        /// Mass of the whole body. Anything smaller than its range has no precision, nor has what is made of it.
        Mass: "mass", "kg", Allowed::Number(1e-300, 1e12), Refactor, number!(mass), effect::always;
        /// Young's modulus of the elements.
        Young: "young", "Pa", STIFFNESS, Refactor, number!(young), effect::young;
        /// Poisson's ratio of the elements.
        Poisson: "poisson", "", Allowed::Number(0.0, LARGEST_POISSON), Refactor, number!(poisson), effect::poisson;
        /// Thickness of triangles, diameter of threads.
        Thickness: "thickness", "m", Allowed::Number(1e-9, 1e3), Refactor, number!(thickness), effect::thickness;
        /// How strongly air pushes faces: density times drag coefficient, about 1.2 for cloth in air.
        Air: "air", "kg/m³", Allowed::Number(0.0, 1e6), Free, number!(air), effect::air;
        /// How far elements may be stretched before they come apart: 0.4 is 40 % longer; infinite for never. At nothing
        /// at all everything would fall to single elements.
        TearStrain: "tear_strain", "", Allowed::Number(1e-3, f64::INFINITY), Free, number!(tear_strain), effect::tearing;
    }
    coupling {
        /// How stiffly a joint or glue holds: infinite for exactly, 0 for not at all. What begins to hold draws its points together
        /// at the pace of one body size a second.
        CouplingStiffness: "stiffness", "N/m", ANY, stiffness;
        /// How fast the motor of a hinge turns the second side about the axis, seen from the first.
        MotorSpeed: "motor_speed", "rad/s", Allowed::Number(-1e6, 1e6), motor_speed;
        /// The torque a motor turns with at most; infinite for whatever it takes.
        MotorTorque: "motor_torque", "N m", ANY, motor_torque;
    }
}

impl Control {
    /// Every control of a scene of these bodies, in a fixed order; those of couplings are [`Control::of_coupling`].
    pub fn all(bodies: impl IntoIterator<Item = BodyId>) -> impl Iterator<Item = Control> {
        OF_WORLD.iter().copied().chain(bodies.into_iter().flat_map(Control::of_body))
    }

    /// Every control of a body.
    pub fn of_body(body: BodyId) -> impl Iterator<Item = Control> {
        OF_BODY.iter().map(move |make| make(body))
    }

    /// Every control of a coupling.
    pub fn of_coupling(coupling: CouplingId) -> impl Iterator<Item = Control> {
        OF_COUPLING.iter().map(move |make| make(coupling))
    }

    /// The control of this name of a body or a coupling, or of the world.
    pub fn named(name: &str, owner: impl Into<ControlOwner>) -> Option<Control> {
        let is = |c: &Control| c.name() == name;
        match owner.into() {
            ControlOwner::World => OF_WORLD.iter().copied().find(is),
            ControlOwner::Body(body) => Control::of_body(body).find(is),
            ControlOwner::Coupling(coupling) => Control::of_coupling(coupling).find(is),
        }
    }

    /// The body it belongs to, if any.
    pub fn body(self) -> Option<BodyId> {
        if let ControlOwner::Body(body) = self.owner() { Some(body) } else { None }
    }

    /// The coupling it belongs to, if any.
    pub fn coupling(self) -> Option<CouplingId> {
        if let ControlOwner::Coupling(coupling) = self.owner() { Some(coupling) } else { None }
    }

    /// The same control of another body or coupling; what is not a body's, or not a coupling's, stays what it is.
    pub fn of(self, owner: impl Into<ControlOwner>) -> Control {
        let owner = owner.into();
        let alike = matches!(
            (self.owner(), owner),
            (ControlOwner::Body(_), ControlOwner::Body(_))
                | (ControlOwner::Coupling(_), ControlOwner::Coupling(_))
        );
        Control::named(self.name(), owner).filter(|_| alike).unwrap_or(self)
    }

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        self.descriptor().name
    }

    /// What a change costs under a solver. A stiffness that comes from or goes to zero costs a rebuild.
    pub fn cost(self, solver: SolverKind) -> Cost {
        match solver {
            SolverKind::Projective | SolverKind::Newton => self.descriptor().cost,
            SolverKind::Clustered | SolverKind::Xpbd | SolverKind::Pbd | SolverKind::Rigid => Cost::Free,
        }
    }

    /// Smallest and largest number allowed with substeps of `h` seconds; `None` for vectors.
    pub fn range(self, solver: SolverKind, h: f64) -> Option<(f64, f64)> {
        match self.descriptor().allowed {
            Allowed::Vector | Allowed::Direction => None,
            Allowed::Number(least, most) | Allowed::Whole(least, most) => Some((least, most)),
            // The explicit integrator resolves at most six steps an oscillation (α = 1).
            Allowed::Frequency(_) if solver == SolverKind::Clustered => Some((0.0, 1.0 / (6.0 * h))),
            Allowed::Frequency(most) => Some((0.0, most)),
        }
    }
}

impl BodyControls {
    /// The value of a control of this body; nothing where there is none (a stiffness that is told as a frequency has no
    /// α).
    pub fn get(&self, control: Control) -> Option<Value> {
        match control.descriptor().kept {
            Kept::World | Kept::Coupling(_) => None,
            Kept::Number(field) => Some((*field(&mut { *self })).into()),
            Kept::Own { get, .. } => get(self),
        }
    }

    /// Gives a control a value that was checked.
    pub(super) fn put(&mut self, control: Control, value: Value) {
        match control.descriptor().kept {
            Kept::World | Kept::Coupling(_) => {}
            Kept::Number(field) => *field(self) = value.number(),
            Kept::Own { put, .. } => put(self, value),
        }
    }

    /// Where the values that are plain numbers are, in the order of the table.
    pub(super) fn numbers() -> impl Iterator<Item = fn(&mut BodyControls) -> &mut f64> {
        TABLE.iter().filter_map(|row| match row.kept {
            Kept::Number(field) => Some(field),
            _ => None,
        })
    }
}

impl CouplingControls {
    /// The value of a control of this coupling.
    pub fn get(&self, control: Control) -> Option<Value> {
        match control.descriptor().kept {
            Kept::Coupling(field) => Some((*field(&mut { *self })).into()),
            _ => None,
        }
    }

    /// Gives a control a value that was checked.
    pub(super) fn put(&mut self, control: Control, value: Value) {
        if let Kept::Coupling(field) = control.descriptor().kept {
            *field(self) = value.number();
        }
    }

    /// Where its values are, in the order of the table.
    pub(super) fn numbers() -> impl Iterator<Item = fn(&mut CouplingControls) -> &mut f64> {
        TABLE.iter().filter_map(|row| match row.kept {
            Kept::Coupling(field) => Some(field),
            _ => None,
        })
    }
}

impl Value {
    /// A number; that of a vector is none.
    fn number(self) -> f64 {
        match self {
            Value::Number(v) => v,
            Value::Vector(_) => f64::NAN,
        }
    }

    fn vector(self) -> DVec3 {
        match self {
            Value::Vector(v) => v,
            Value::Number(_) => DVec3::NAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every row is filled in, and what is put can be got, of itself alone.
    #[test]
    fn every_control_keeps_its_own_value() {
        let body = BodyId::from(3);
        let mut names: Vec<&str> = Control::all([body]).map(Control::name).collect();
        for control in Control::of_body(body) {
            let row = control.descriptor();
            assert!(!row.doc().is_empty() && row.doc().ends_with('.'), "{control:?}: {}", row.doc());
            assert_eq!(control.of(BodyId::from(7)).body(), Some(7.into()));
            assert_eq!(Control::named(row.name, Some(body)), Some(control));
            let (usual, mut changed) = (BodyControls::default(), BodyControls::default());
            let value = match row.allowed {
                Allowed::Vector | Allowed::Direction => Value::Vector(DVec3::new(1.0, 2.0, 3.0)),
                Allowed::Whole(..) => Value::Number(7.0),
                _ => Value::Number(0.123),
            };
            changed.put(control, value);
            assert_eq!(changed.get(control), Some(value), "{control:?}");
            let stiffness = |c: Control| matches!(c, Control::Alpha(_) | Control::Frequency(_));
            for other in Control::of_body(body).filter(|c| *c != control && !stiffness(*c)) {
                assert_eq!(changed.get(other), usual.get(other), "{control:?} changed {other:?}");
            }
        }
        names.sort_unstable();
        assert!(names.windows(2).all(|w| w[0] != w[1]), "two controls of one name");
    }
}
