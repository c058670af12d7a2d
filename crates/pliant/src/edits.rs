//! What changes the world while it runs: bodies come and go, particles are held and let go, pushed and moved.
//!
//! An edit is checked as when building; a refusal says why and changes nothing. Each makes a revision of the model in
//! which everything it did not touch is the same as before, so that only what it touched is prepared anew.

use crate::body::Body;
use crate::builder::BuildErrors;
use crate::controls::{BodyEntry, no_such_body};
use crate::keyframes::Keyframes;
use crate::model::{BodyId, Model, Motion, Params, PinGroup};
use crate::simulation::Simulation;
use crate::solvers::{Feature, Support, support};
use crate::state::BodyState;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Why an edit was refused; nothing has changed.
#[derive(Clone, Debug, PartialEq)]
pub enum EditError {
    /// There is no such body, or it was removed.
    NoBody {
        /// The body asked for.
        body: BodyId,
        /// What there is.
        help: String,
    },
    /// A body cannot be built as described.
    Body(BuildErrors),
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
            EditError::Body(errors) => errors.fmt(f),
            EditError::Refused { body, message, help } => write!(f, "body \"{body}\": {message}; {help}"),
        }
    }
}

impl std::error::Error for EditError {}

impl From<BuildErrors> for EditError {
    fn from(e: BuildErrors) -> Self {
        EditError::Body(e)
    }
}

/// A body that was removed, as it was.
#[derive(Clone, Debug)]
pub struct Removed {
    /// Its name.
    pub name: String,
    /// Its last state.
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
    /// Adds a body. Equal to one that is or was there, it shares what was prepared for that one.
    pub fn add(&mut self, body: Body) -> Result<BodyId, EditError> {
        let made = self.assemble(&body)?;
        let id = self.model.add(body.name.as_str().into(), made.parts);
        let parts = &self.model.bodies()[self.model.bodies().len() - 1].parts;
        let state = BodyState::new(id, parts, made.x, made.v);
        self.controls.bodies.push(BodyEntry::new(id, body.live_values(), parts));
        self.slots.push(crate::advance::Slot::new(parts));
        self.backup.bodies.push(state.clone());
        self.state.bodies.push(state);
        self.edited();
        Ok(id)
    }

    /// Removes a body, with the keyframes that drive it, and gives its last state back. Its id names nothing ever after.
    pub fn remove(&mut self, body: impl Into<BodyId>) -> Result<Removed, EditError> {
        let k = self.place_of(body.into())?;
        let gone = self.model.remove(k);
        let state = self.state.bodies.remove(k);
        self.backup.bodies.remove(k);
        self.controls.bodies.remove(k);
        self.slots.remove(k);
        let all = &self.model.params.keyframes.tracks;
        let kept: Vec<_> = all.iter().filter(|t| t.control.body() != Some(gone.id)).cloned().collect();
        let tracks = all.len() - kept.len();
        if tracks > 0 {
            let keyframes = Keyframes { tracks: kept };
            let params = Params { keyframes, ..(*self.model.params).clone() };
            self.model = self.model.with_params(params);
        }
        self.edited();
        Ok(Removed { name: gone.name.to_string(), state, tracks })
    }

    /// Holds particles of a body where they are; returns the number of the new pin group, which
    /// [`Driver::place_pins`](crate::Driver::place_pins) moves and [`Simulation::release`] lets go.
    pub fn hold(&mut self, body: impl Into<BodyId>, hold: Hold) -> Result<usize, EditError> {
        let k = self.place_of(body.into())?;
        let Hold { name, mut particles, stiffness, motion } = hold;
        particles.sort_unstable();
        particles.dedup();
        self.check_hold(k, &particles, stiffness, &motion)?;
        let parts = &self.model.bodies()[k].parts;
        let id = parts.next_pin;
        // Anchors are relative to the group's own motion, which goes on as it would have.
        let undo = motion.placement(self.state.time).inverse();
        let at = |&i: &u32| undo.transform_point3(self.state.bodies[k].x.get(i as usize));
        let anchors = particles.iter().map(at).collect();
        let mut pins = parts.pins.to_vec();
        pins.push(PinGroup { id, name, particles, anchors, motion, stiffness });
        let parts = parts.pinned(pins, id + 1);
        self.model.replace(k, parts);
        self.controls.bodies[k].pins.push(None);
        self.edited();
        Ok(id)
    }

    /// Lets a pin group of a body go: its particles move on with the velocity they have.
    pub fn release(&mut self, body: impl Into<BodyId>, group: usize) -> Result<(), EditError> {
        let k = self.place_of(body.into())?;
        let parts = &self.model.bodies()[k].parts;
        let Some(place) = parts.pins.iter().position(|g| g.id == group) else {
            let known: Vec<String> = parts.pins.iter().map(|g| g.id.to_string()).collect();
            let help = match known.is_empty() {
                true => "nothing of the body is held".into(),
                false => format!("there are groups {}", known.join(", ")),
            };
            return Err(self.refuse(k, format!("there is no pin group {group}"), help));
        };
        let mut pins = parts.pins.to_vec();
        pins.remove(place);
        let parts = parts.pinned(pins, parts.next_pin);
        self.model.replace(k, parts);
        self.controls.bodies[k].pins.remove(place);
        self.edited();
        Ok(())
    }

    /// Gives a point of a body an impulse, N s. The point is a mean of particles by weights that sum to 1: (particle,
    /// weight); each takes its share of the impulse, so that all of it goes into the body's momentum.
    pub fn push(
        &mut self,
        body: impl Into<BodyId>,
        at: &[(u32, f64)],
        impulse: DVec3,
    ) -> Result<(), EditError> {
        let k = self.place_of(body.into())?;
        let parts = &self.model.bodies()[k].parts;
        let n = parts.particle_count();
        if let Some((i, _)) = at.iter().find(|(i, _)| *i as usize >= n) {
            let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
            return Err(self.refuse(k, text, "push particles that exist".into()));
        }
        let sum: f64 = at.iter().map(|(_, w)| w).sum();
        if !((sum - 1.0).abs() < 1e-9 && at.iter().all(|(_, w)| w.is_finite())) {
            let help = "give weights that are numbers and sum to 1".into();
            return Err(self.refuse(k, format!("the weights of the point sum to {sum}"), help));
        }
        if !(impulse.is_finite() && impulse.abs().max_element() <= 1e12) {
            let help = "its components must be numbers from -1e12 to 1e12".into();
            return Err(self.refuse(k, format!("the impulse is {impulse}"), help));
        }
        let mass_ratio = parts.mass_ratio(&self.controls.bodies[k].values);
        let v = &mut self.state.bodies[k].v;
        for &(i, w) in at {
            let i = i as usize;
            v.set(i, v.get(i) + impulse * (w / (mass_ratio * parts.rest().mass[i])));
        }
        self.stepped = false;
        Ok(())
    }

    /// Moves a body as it is to another place: `to` is applied to its positions, its rotation to the velocities. A body
    /// with pins is refused: let them go first, and hold again.
    pub fn teleport(&mut self, body: impl Into<BodyId>, to: DAffine3) -> Result<(), EditError> {
        let k = self.place_of(body.into())?;
        let turn = to.matrix3;
        let off = (turn * turn.transpose() - DMat3::IDENTITY).to_cols_array();
        let rigid = off.iter().all(|e| e.abs() < 1e-9) && turn.determinant() > 0.0;
        if !(to.is_finite() && rigid) {
            let help = "give a finite translation and a rotation without scale or mirror".into();
            return Err(self.refuse(k, "the placement is no rigid motion".into(), help));
        }
        if !self.model.bodies()[k].parts.pins.is_empty() {
            let help = "release its pins, move it, and hold it again".into();
            return Err(self.refuse(k, "it is held by pins".into(), help));
        }
        // To the nearest rotation: what is applied many times must not grow.
        let turn = DMat3::from_quat(DQuat::from_mat3(&turn).normalize());
        let state = &mut self.state.bodies[k];
        for i in 0..state.x.len() {
            state.x.set(i, turn * state.x.get(i) + to.translation);
            state.v.set(i, turn * state.v.get(i));
        }
        state.memory.turn(turn);
        self.stepped = false;
        Ok(())
    }

    /// Where a body stands in the model.
    fn place_of(&self, body: BodyId) -> Result<usize, EditError> {
        let found = self.model.index(body);
        found.ok_or_else(|| EditError::NoBody { body, help: no_such_body(&self.model, body) })
    }

    fn refuse(&self, k: usize, message: String, help: String) -> EditError {
        EditError::Refused { body: self.model.bodies()[k].name.to_string(), message, help }
    }

    fn check_hold(
        &self,
        k: usize,
        particles: &[u32],
        stiffness: Option<f64>,
        motion: &Motion,
    ) -> Result<(), EditError> {
        let parts = &self.model.bodies()[k].parts;
        let n = parts.particle_count();
        if particles.is_empty() {
            return Err(self.refuse(k, "no particles to hold were given".into(), "give at least one".into()));
        }
        if let Some(i) = particles.iter().find(|i| **i as usize >= n) {
            let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
            return Err(self.refuse(k, text, "hold particles that exist".into()));
        }
        let held = |i: &&u32| parts.pins.iter().find(|g| g.particles.binary_search(i).is_ok());
        if let Some((i, group)) = particles.iter().find_map(|i| Some((i, held(&i)?))) {
            let text = format!("particle {i} is held by group {} already", group.id);
            return Err(self.refuse(k, text, "release that group first, or hold others".into()));
        }
        if stiffness.is_some_and(|k| !(k > 0.0 && k.is_finite())) {
            let help = "give a number above 0, or `None` to hold exactly".into();
            return Err(self.refuse(k, format!("pin stiffness {stiffness:?}"), help));
        }
        let solver = parts.settings.solver;
        if let (true, Support::No(instead)) = (stiffness.is_some(), support(solver, Feature::SoftPins)) {
            let text = format!("the {} solver does not support {}", solver.name(), Feature::SoftPins.name());
            return Err(self.refuse(k, text, instead.into()));
        }
        if !motion.is_finite() {
            let text = "the motion has numbers that are not finite".into();
            return Err(self.refuse(k, text, "give finite numbers".into()));
        }
        Ok(())
    }

    /// Follows up on a new revision of the model.
    fn edited(&mut self) {
        self.state.model = self.model.id();
        self.backup.model = self.model.id();
    }
}

/// Bodies of a model by name and id.
impl Model {
    /// What can be asked for: every body's id, in the order they came.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = BodyId> + '_ {
        self.bodies().iter().map(|b| b.id)
    }
}
