//! What changes the world while it runs: values and keys; bodies, colliders and couplings that come and go; particles that are held and let
//! go, pushed and moved.
//!
//! An edit acts in two parts. The first makes the next revision of model and controls: it needs no state, so a timeline can
//! check edits at frames that were never computed, and a run that was broken off gets its model back from its edits
//! alone. The second is what happens to the state. Everything is checked as when building; a refusal says why and changes
//! nothing. Only what an edit touched is prepared anew.

mod change;
mod colliders;
mod couplings;
mod effect;
mod model_part;

pub(crate) use effect::Effect;
pub(crate) use model_part::Editing;

use crate::body::Body;
use crate::builder::BuildErrors;
use crate::controls::{Control, ControlError, Value, no_such_body};
use crate::keyframes::Keyframes;
use crate::model::{BodyId, Collider, ColliderId, Coupling, CouplingId, Model, Motion};
use crate::simulation::Simulation;
use crate::state::BodyState;
use glam::{DAffine3, DVec3};

/// A change of the world.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Edit {
    /// A control gets a value.
    Set(Control, Value),
    /// A pin group of a body is held somewhere, or let go to follow its own motion.
    Pins(BodyId, usize, Option<DAffine3>),
    /// Another number of substeps.
    Substeps(u32),
    /// A collider comes; see [`Simulation::add_collider`].
    AddCollider(Box<Collider>),
    /// A collider goes; see [`Simulation::remove_collider`].
    RemoveCollider(ColliderId),
    /// A collider becomes another; see [`Simulation::change_collider`].
    ChangeCollider(ColliderId, Box<Collider>),
    /// A collider is led somewhere, or let go to follow its own motion; see [`Simulation::place_collider`].
    PlaceCollider(ColliderId, Option<DAffine3>),
    /// The vertices of a collider's mesh are led somewhere, or let go; see [`Simulation::deform_collider`].
    DeformCollider(ColliderId, Option<Vec<DVec3>>),
    /// Bodies are tied together; see [`Simulation::couple`].
    Couple(Box<Coupling>),
    /// A coupling goes; see [`Simulation::uncouple`].
    Uncouple(CouplingId),
    /// Other keyframes in place of all there are; controls they no longer drive keep their values.
    Keyframes(Keyframes),
    /// Another model of the same bodies: the same particles, clusters, pin groups and memory, with rest
    /// shapes, masses or constraints of its own. What is animated upstream comes in this way.
    Model(Model),
    /// A body comes; see [`Simulation::add`].
    Add(Box<Body>),
    /// A body goes; see [`Simulation::remove`].
    Remove(BodyId),
    /// A body becomes another of the same particles; see [`Simulation::change`].
    Change(BodyId, Box<Body>),
    /// Forces on the particles of a body, N, in all steps to come; see [`Simulation::load`].
    Forces(BodyId, Vec<DVec3>),
    /// Particles of a body are held; see [`Simulation::hold`].
    Hold(BodyId, Hold),
    /// A pin group of a body is let go; see [`Simulation::release`].
    Release(BodyId, usize),
    /// A point of a body is pushed; see [`Simulation::push`].
    Push(BodyId, Vec<(u32, f64)>, DVec3),
    /// A body is moved as it is; see [`Simulation::teleport`].
    Teleport(BodyId, DAffine3),
    /// Facets of a body break; see [`Simulation::tear`].
    Tear(BodyId, Vec<u32>),
}

impl Edit {
    /// Whether two edits at one time change the same thing, so that the later replaces the earlier.
    pub(crate) fn replaces(&self, other: &Edit) -> bool {
        match (self, other) {
            (Edit::Set(a, _), Edit::Set(b, _)) => a == b,
            (Edit::Pins(a, g, _), Edit::Pins(b, h, _)) => (a, g) == (b, h),
            (Edit::Forces(a, _), Edit::Forces(b, _)) => a == b,
            (Edit::PlaceCollider(a, _), Edit::PlaceCollider(b, _)) => a == b,
            (Edit::DeformCollider(a, _), Edit::DeformCollider(b, _)) => a == b,
            (Edit::ChangeCollider(a, _), Edit::ChangeCollider(b, _)) => a == b,
            (Edit::Substeps(_), Edit::Substeps(_))
            | (Edit::Keyframes(_), Edit::Keyframes(_))
            | (Edit::Model(_), Edit::Model(_)) => true,
            _ => false,
        }
    }

    pub(crate) fn same(&self, other: &Edit) -> bool {
        match (self, other) {
            (Edit::Set(a, v), Edit::Set(b, w)) => a == b && v == w,
            (Edit::Pins(a, g, v), Edit::Pins(b, h, w)) => (a, g, v) == (b, h, w),
            (Edit::Forces(a, v), Edit::Forces(b, w)) => a == b && v == w,
            (Edit::Substeps(a), Edit::Substeps(b)) => a == b,
            (Edit::PlaceCollider(a, v), Edit::PlaceCollider(b, w)) => a == b && v == w,
            (Edit::DeformCollider(a, v), Edit::DeformCollider(b, w)) => a == b && v == w,
            (Edit::ChangeCollider(a, v), Edit::ChangeCollider(b, w)) => a == b && v == w,
            (Edit::Keyframes(a), Edit::Keyframes(b)) => a == b,
            (Edit::Model(a), Edit::Model(b)) => a.same_parts(b),
            _ => false,
        }
    }
}

/// What an edit has made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Edited {
    /// Nothing that has a name.
    Done,
    /// A body was added; this is its id, which no other ever has.
    Body(BodyId),
    /// A body went.
    Removed(Box<Removed>),
    /// A pin group came.
    Group(usize),
    /// A collider was added; this is its id, which no other ever has.
    Collider(ColliderId),
    /// A coupling was added; this is its id, which no other ever has.
    Coupling(CouplingId),
}

/// Why an edit was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EditError {
    /// There is no such body, or it was removed.
    NoBody {
        /// The body asked for.
        body: BodyId,
        /// What there is.
        help: String,
    },
    /// There is no such collider, or it was removed.
    NoCollider {
        /// The collider asked for.
        collider: ColliderId,
        /// What there is.
        help: String,
    },
    /// There is no such coupling, or it was removed.
    NoCoupling {
        /// The coupling asked for.
        coupling: CouplingId,
        /// What there is.
        help: String,
    },
    /// A body, or the world, cannot be built as described.
    Build(BuildErrors),
    /// A value was refused.
    Control(ControlError),
    /// The model it would give has other bodies than the present one.
    OtherBodies,
    /// Something of an existing body was refused.
    Refused {
        /// Name of the body.
        body: String,
        /// What is wrong, with the value.
        message: String,
        /// What to do.
        help: String,
    },
}

impl std::fmt::Display for EditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            EditError::NoBody { body, help } => write!(f, "there is no body {body}: {help}"),
            EditError::NoCollider { collider, help } => write!(f, "there is no collider {collider}: {help}"),
            EditError::NoCoupling { coupling, help } => write!(f, "there is no coupling {coupling}: {help}"),
            EditError::Build(errors) => errors.fmt(f),
            EditError::Control(refused) => refused.fmt(f),
            EditError::OtherBodies => {
                f.write_str("the model has other particles, clusters, pins or bodies; begin anew with it")
            }
            EditError::Refused { body, message, help } => write!(f, "body \"{body}\": {message}; {help}"),
        }
    }
}

impl std::error::Error for EditError {}

impl From<BuildErrors> for EditError {
    fn from(e: BuildErrors) -> Self {
        EditError::Build(e)
    }
}

impl From<ControlError> for EditError {
    fn from(e: ControlError) -> Self {
        EditError::Control(e)
    }
}

/// A body that was removed, as it was.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Removed {
    /// The name it was built with.
    pub name: String,
    /// Its positions, velocities and memory when it was removed.
    pub state: BodyState,
    /// Tracks of keyframes that drove its controls and went with it.
    pub tracks: usize,
}

/// Particles to hold, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    /// Name of the group, for messages; may be empty.
    pub name: String,
    /// The particles, by index within the body.
    pub particles: Vec<u32>,
    /// Spring stiffness, N/m per particle; `None` holds exactly.
    pub stiffness: Option<f64>,
    /// How the group moves from now on, as if it had been there from the start.
    pub motion: Motion,
}

impl Hold {
    /// Particles that stay exactly where they are.
    pub fn exactly(particles: impl IntoIterator<Item = u32>) -> Hold {
        let particles = particles.into_iter().collect();
        Hold { name: String::new(), particles, stiffness: None, motion: Motion::REST }
    }

    /// Particles drawn to where they are by springs of so many N/m each: a handle to pull with.
    pub fn by_springs(particles: impl IntoIterator<Item = u32>, stiffness: f64) -> Hold {
        Hold { stiffness: Some(stiffness), ..Hold::exactly(particles) }
    }
}

impl Simulation {
    /// Makes an edit, now.
    pub fn edit(&mut self, edit: &Edit) -> Result<Edited, EditError> {
        let time = self.state.step as f64 * self.model.params.step;
        let before = matches!(edit, Edit::Tear(..)).then(|| self.model.clone());
        let Simulation { model, controls, assembler, .. } = self;
        let effect = Editing { model, controls, assembler, time }.make(edit)?;
        let edited = effect.act(&mut self.state);
        let input = matches!(
            edit,
            Edit::Set(..)
                | Edit::Pins(..)
                | Edit::Forces(..)
                | Edit::PlaceCollider(..)
                | Edit::DeformCollider(..)
        );
        if !input {
            self.follow_model(before.as_ref());
        }
        Ok(edited)
    }

    /// Adds a body. Equal to one that is or was there, it shares what was prepared for that one.
    pub fn add(&mut self, body: Body) -> Result<BodyId, EditError> {
        let id = BodyId::from_number(self.model.next_id());
        self.edit(&Edit::Add(Box::new(body))).map(|_| id)
    }

    /// Removes a body, with the keyframes that drive it, and gives its last state back. Its id names nothing ever after. A body
    /// that is tied to something is refused: take its couplings away first.
    pub fn remove(&mut self, body: impl Into<BodyId>) -> Result<Removed, EditError> {
        let body = body.into();
        match self.edit(&Edit::Remove(body))? {
            Edited::Removed(removed) => Ok(*removed),
            _ => Err(EditError::NoBody { body, help: no_such_body(&self.model, body) }),
        }
    }

    /// Takes the steps to come in so many substeps.
    pub fn set_substeps(&mut self, substeps: u32) -> Result<(), EditError> {
        self.edit(&Edit::Substeps(substeps)).map(|_| ())
    }

    /// Adds a collider, where its motion has it at present.
    pub fn add_collider(&mut self, collider: impl Into<Collider>) -> Result<ColliderId, EditError> {
        let id = self.model.next_collider();
        self.edit(&Edit::AddCollider(Box::new(collider.into()))).map(|_| id)
    }

    /// Removes a collider. Its id names nothing ever after.
    pub fn remove_collider(&mut self, collider: ColliderId) -> Result<(), EditError> {
        self.edit(&Edit::RemoveCollider(collider)).map(|_| ())
    }

    /// Makes a collider another, at once: no velocity is felt. One that a host leads stays where it is led to.
    pub fn change_collider(
        &mut self,
        collider: ColliderId,
        to: impl Into<Collider>,
    ) -> Result<(), EditError> {
        self.edit(&Edit::ChangeCollider(collider, Box::new(to.into()))).map(|_| ())
    }

    /// Leads the vertices of a collider's mesh, in its own coordinates, to these places in the course of the next step:
    /// what it meets is pushed, and friction feels how each point of its surface moves. They stay there until led
    /// elsewhere; `None` lets them follow the collider's animation again, or be where the mesh has them.
    pub fn deform_collider(
        &mut self,
        collider: ColliderId,
        vertices: Option<&[DVec3]>,
    ) -> Result<(), EditError> {
        self.edit(&Edit::DeformCollider(collider, vertices.map(<[DVec3]>::to_vec))).map(|_| ())
    }

    /// Leads a collider to a placement, relative to where it was made, in the course of the next step: what it meets is
    /// pushed, and carried along by friction. It stays there until it is placed again; `None` lets it follow its own motion.
    pub fn place_collider(
        &mut self,
        collider: ColliderId,
        placement: Option<DAffine3>,
    ) -> Result<(), EditError> {
        self.edit(&Edit::PlaceCollider(collider, placement)).map(|_| ())
    }

    /// Ties points of bodies together. What is apart comes together at the pace of one body size a second.
    pub fn couple(&mut self, coupling: Coupling) -> Result<CouplingId, EditError> {
        let id = self.model.next_coupling();
        self.edit(&Edit::Couple(Box::new(coupling))).map(|_| id)
    }

    /// Takes a coupling away: the bodies move on with the velocities they have. Its id names nothing ever after.
    pub fn uncouple(&mut self, coupling: CouplingId) -> Result<(), EditError> {
        self.edit(&Edit::Uncouple(coupling)).map(|_| ())
    }

    /// Puts forces (N) on the particles of a body, in the order of its shape, for all steps until they are given again;
    /// none takes them away. What tears off a particle later has no force on it.
    pub fn load(&mut self, body: impl Into<BodyId>, forces: &[DVec3]) -> Result<(), EditError> {
        self.edit(&Edit::Forces(body.into(), forces.to_vec())).map(|_| ())
    }

    /// Holds particles of a body where they are; returns the number of the new pin group, which
    /// [`Driver::place_pins`](crate::Driver::place_pins) moves and [`Simulation::release`] lets go.
    pub fn hold(&mut self, body: impl Into<BodyId>, hold: Hold) -> Result<usize, EditError> {
        let body = body.into();
        let group = self.model.get(body).map_or(0, |b| b.parts.next_pin);
        self.edit(&Edit::Hold(body, hold)).map(|_| group)
    }

    /// Lets a pin group of a body go: its particles move on with the velocity they have.
    pub fn release(&mut self, body: impl Into<BodyId>, group: usize) -> Result<(), EditError> {
        self.edit(&Edit::Release(body.into(), group)).map(|_| ())
    }

    /// Gives a point of a body an impulse, N s. The point is a mean of particles by weights that sum to 1: (particle,
    /// weight); each takes its share of the impulse, so that all of it goes into the body's momentum.
    pub fn push(
        &mut self,
        body: impl Into<BodyId>,
        at: &[(u32, f64)],
        impulse: impl Into<DVec3>,
    ) -> Result<(), EditError> {
        self.edit(&Edit::Push(body.into(), at.to_vec(), impulse.into())).map(|_| ())
    }

    /// Moves a body as it is to another place: `to` is applied to its positions, its rotation to the velocities. A body
    /// with pins is refused: let them go first, and hold again.
    pub fn teleport(&mut self, body: impl Into<BodyId>, to: DAffine3) -> Result<(), EditError> {
        self.edit(&Edit::Teleport(body.into(), to)).map(|_| ())
    }
}
