//! What changes the world while it runs: values, planes and keys; bodies that come and go; particles that are held and let
//! go, pushed and moved.
//!
//! An edit acts in two parts. The first makes the next revision of model and controls: it needs no state, so a timeline can
//! check edits at frames that were never computed, and a run that was broken off gets its model back from its edits
//! alone. The second is what happens to the state. Everything is checked as when building; a refusal says why and changes
//! nothing. Only what an edit touched is prepared anew.

mod change;

use crate::body::Body;
use crate::builder::{self, Assembler, BuildErrors};
use crate::controls::{BodyEntry, Control, ControlError, Controls, Value, no_such_body};
use crate::keyframes::Keyframes;
use crate::memory::Section;
use crate::model::{BodyId, BodyModel, HalfSpace, Model, Motion, Params, PinGroup};
use crate::simulation::Simulation;
use crate::solvers::{Feature, Support, support};
use crate::state::{BodyState, State};
use crate::tearing;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::ops::Range;

/// A change of the world.
#[derive(Clone, Debug)]
pub enum Edit {
    /// A control gets a value.
    Set(Control, Value),
    /// A pin group of a body is held somewhere, or let go to follow its own motion.
    Pins(BodyId, usize, Option<DAffine3>),
    /// Other substeps and planes.
    World(u32, Vec<HalfSpace>),
    /// Other keyframes.
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
            (Edit::World(..), Edit::World(..))
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
            (Edit::World(a, v), Edit::World(b, w)) => a == b && v == w,
            (Edit::Keyframes(a), Edit::Keyframes(b)) => a == b,
            (Edit::Model(a), Edit::Model(b)) => a.same_parts(b),
            _ => false,
        }
    }
}

/// What an edit has made.
#[derive(Clone, Debug)]
pub enum Edited {
    /// Nothing that has a name.
    Done,
    /// A body came.
    Body(BodyId),
    /// A body went.
    Removed(Box<Removed>),
    /// A pin group came.
    Group(usize),
}

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
    /// A body, or the world, cannot be built as described.
    Build(BuildErrors),
    /// A value was refused.
    Control(ControlError),
    /// A model of other bodies.
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

/// Model and controls, to be edited without a state.
pub(crate) struct Editing<'a> {
    pub model: &'a mut Model,
    pub controls: &'a mut Controls,
    pub assembler: &'a mut Assembler,
    /// When the edit acts.
    pub time: f64,
}

/// What an edit does to the state, once model and controls are edited. Bodies by their place in the model.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    None,
    /// A body comes last.
    Added(Box<BodyState>),
    Removed {
        place: usize,
        name: String,
        tracks: usize,
    },
    /// A body has other parts.
    Changed {
        place: usize,
        parts: BodyModel,
    },
    /// A pin group comes last; its particles are held where they are.
    Held {
        place: usize,
        group: usize,
        particles: Vec<u32>,
        motion: Motion,
    },
    /// A pin group goes, by its place, with its anchors; a torn body's state knows better which these are.
    Released {
        place: usize,
        group: usize,
        anchors: Range<usize>,
    },
    /// Velocities change: an impulse is shared by weights, of a body of so many times the mass it was built with.
    Pushed {
        place: usize,
        at: Vec<(u32, f64)>,
        impulse: DVec3,
        mass_ratio: f64,
        whole: BodyModel,
    },
    /// Facets break.
    Torn {
        place: usize,
        facets: Vec<u32>,
        whole: BodyModel,
    },
    Moved {
        place: usize,
        turn: DMat3,
        by: DVec3,
    },
}

impl Editing<'_> {
    /// Edits model and controls; tells what is to be done to the state.
    pub fn make(&mut self, edit: &Edit) -> Result<Effect, EditError> {
        match edit {
            Edit::Set(control, value) => {
                // Relaxation and iterations are checked against each other as they are then.
                self.apply_keyframes();
                self.controls.set(self.model, *control, *value)?;
            }
            Edit::Pins(body, group, placement) => {
                self.controls.place_pins(self.model, *body, *group, *placement)?;
            }
            Edit::World(substeps, planes) => {
                let (substeps, planes) = (*substeps, planes.clone());
                self.set_params(Params { substeps, planes, ..(*self.model.params).clone() })?;
            }
            Edit::Keyframes(keyframes) => {
                let keyframes = keyframes.clone();
                self.set_params(Params { keyframes, ..(*self.model.params).clone() })?;
            }
            Edit::Model(model) => {
                // What is torn is told by the state.
                let model = model.whole();
                if !model.same_sizes(&self.model.whole()) {
                    return Err(EditError::OtherBodies);
                }
                builder::check_world(&model, &model.params, self.controls)?;
                *self.model = model;
            }
            Edit::Add(body) => return self.add(body),
            Edit::Remove(body) => return self.remove(*body),
            Edit::Change(body, to) => return self.change(*body, to),
            Edit::Forces(body, forces) => self.load(*body, forces)?,
            Edit::Hold(body, hold) => return self.hold(*body, hold),
            Edit::Release(body, group) => return self.release(*body, *group),
            Edit::Push(body, at, impulse) => return self.push(*body, at, *impulse),
            Edit::Teleport(body, to) => return self.teleport(*body, to),
            Edit::Tear(body, facets) => return self.tear(*body, facets),
        }
        Ok(Effect::None)
    }

    fn apply_keyframes(&mut self) {
        self.model.params.keyframes.apply(self.time, self.controls);
    }

    fn set_params(&mut self, params: Params) -> Result<(), EditError> {
        // What was keyframed keeps the value it has now.
        self.apply_keyframes();
        builder::check_world(self.model, &params, self.controls)?;
        *self.model = self.model.with_params(params);
        Ok(())
    }

    fn add(&mut self, body: &Body) -> Result<Effect, EditError> {
        let made = builder::assemble_one(body, self.model, None, self.assembler)?;
        let entry = |id| BodyEntry::new(id, body.live_values(), &made.parts);
        let id = BodyId::from_number(self.model.next_id());
        self.controls.bodies.push(entry(id));
        let state = BodyState::new(id, &made.parts, made.x, made.v);
        self.model.add(body.name.as_str().into(), made.parts);
        Ok(Effect::Added(Box::new(state)))
    }

    fn remove(&mut self, body: BodyId) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let gone = self.model.remove(place);
        self.controls.bodies.remove(place);
        let all = &self.model.params.keyframes.tracks;
        let kept: Vec<_> = all.iter().filter(|t| t.control.body() != Some(gone.id)).cloned().collect();
        let tracks = all.len() - kept.len();
        if tracks > 0 {
            let keyframes = Keyframes { tracks: kept };
            let params = Params { keyframes, ..(*self.model.params).clone() };
            *self.model = self.model.with_params(params);
        }
        Ok(Effect::Removed { place, name: gone.name.to_string(), tracks })
    }

    fn load(&mut self, body: BodyId, forces: &[DVec3]) -> Result<(), EditError> {
        let place = self.place_of(body)?;
        let n = self.model.bodies()[place].parts.whole().particle_count();
        if !forces.is_empty() && forces.len() != n {
            let text = format!("{} forces were given, and it was built with {n} particles", forces.len());
            return Err(self.refuse(place, text, "give one for each particle, or none at all".into()));
        }
        let allowed = |f: &DVec3| f.is_finite() && f.abs().max_element() <= 1e12;
        if let Some(i) = forces.iter().position(|f| !allowed(f)) {
            let help = "its components must be numbers from -1e12 to 1e12".into();
            return Err(self.refuse(place, format!("the force on particle {i} is {}", forces[i]), help));
        }
        let kept = &mut self.controls.bodies[place].forces;
        kept.clear();
        kept.extend_from_slice(forces);
        Ok(())
    }

    fn hold(&mut self, body: BodyId, hold: &Hold) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let Hold { name, mut particles, stiffness, motion } = hold.clone();
        particles.sort_unstable();
        particles.dedup();
        self.check_hold(place, &particles, stiffness, &motion)?;
        let parts = &self.model.bodies()[place].parts;
        let group = parts.next_pin;
        let mut pins = parts.whole().pins.to_vec();
        pins.push(PinGroup { id: group, name, particles: particles.clone(), motion, stiffness });
        let parts = parts.pinned(pins, group + 1);
        self.model.replace(place, parts);
        self.controls.bodies[place].pins.push(None);
        Ok(Effect::Held { place, group, particles, motion })
    }

    fn release(&mut self, body: BodyId, group: usize) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let parts = &self.model.bodies()[place].parts;
        let Some(k) = parts.pins.iter().position(|g| g.id == group) else {
            let known: Vec<String> = parts.pins.iter().map(|g| g.id.to_string()).collect();
            let help = match known.is_empty() {
                true => "nothing of the body is held".into(),
                false => format!("there are groups {}", known.join(", ")),
            };
            return Err(self.refuse(place, format!("there is no pin group {group}"), help));
        };
        let before: usize = parts.pins[..k].iter().map(|g| g.particles.len()).sum();
        let anchors = before..before + parts.pins[k].particles.len();
        let mut pins = parts.whole().pins.to_vec();
        pins.remove(k);
        let parts = parts.pinned(pins, parts.next_pin);
        self.model.replace(place, parts);
        self.controls.bodies[place].pins.remove(k);
        Ok(Effect::Released { place, group: k, anchors })
    }

    fn push(&mut self, body: BodyId, at: &[(u32, f64)], impulse: DVec3) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let parts = &self.model.bodies()[place].parts;
        let n = parts.particle_count();
        if let Some((i, _)) = at.iter().find(|(i, _)| *i as usize >= n) {
            let text = format!("particle {i} is not there (there are {n}, numbered from 0)");
            return Err(self.refuse(place, text, "push particles that exist".into()));
        }
        let sum: f64 = at.iter().map(|(_, w)| w).sum();
        if !((sum - 1.0).abs() < 1e-9 && at.iter().all(|(_, w)| w.is_finite())) {
            let help = "give weights that are numbers and sum to 1".into();
            return Err(self.refuse(place, format!("the weights of the point sum to {sum}"), help));
        }
        if !(impulse.is_finite() && impulse.abs().max_element() <= 1e12) {
            let help = "its components must be numbers from -1e12 to 1e12".into();
            return Err(self.refuse(place, format!("the impulse is {impulse}"), help));
        }
        let mass_ratio = parts.mass_ratio(&self.controls.bodies[place].values);
        let (at, whole) = (at.to_vec(), parts.whole().clone());
        Ok(Effect::Pushed { place, at, impulse, mass_ratio, whole })
    }

    fn tear(&mut self, body: BodyId, facets: &[u32]) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let whole = self.model.bodies()[place].parts.whole().clone();
        let solver = whole.solver();
        if let Support::No(instead) = support(solver, Feature::Tearing) {
            let text = format!("the {} solver does not support {}", solver.name(), Feature::Tearing.name());
            return Err(self.refuse(place, text, instead.into()));
        }
        if let Some(help) = tearing::obstacle(whole.prototype()) {
            return Err(self.refuse(place, "the body cannot tear".into(), help.into()));
        }
        let n = whole.facets().map_or(0, |f| f.len());
        if let Some(f) = facets.iter().find(|f| **f as usize >= n) {
            let text = format!("facet {f} is not there (there are {n}, numbered from 0)");
            let help = "take numbers from `BodyModel::facets`, as by `Facets::find`".into();
            return Err(self.refuse(place, text, help));
        }
        Ok(Effect::Torn { place, facets: facets.to_vec(), whole })
    }

    fn teleport(&mut self, body: BodyId, to: &DAffine3) -> Result<Effect, EditError> {
        let place = self.place_of(body)?;
        let turn = to.matrix3;
        let off = (turn * turn.transpose() - DMat3::IDENTITY).to_cols_array();
        let rigid = off.iter().all(|e| e.abs() < 1e-9) && turn.determinant() > 0.0;
        if !(to.is_finite() && rigid) {
            let help = "give a finite translation and a rotation without scale or mirror".into();
            return Err(self.refuse(place, "the placement is no rigid motion".into(), help));
        }
        if !self.model.bodies()[place].parts.pins.is_empty() {
            let help = "release its pins, move it, and hold it again".into();
            return Err(self.refuse(place, "it is held by pins".into(), help));
        }
        // To the nearest rotation: what is applied many times must not grow.
        let turn = DMat3::from_quat(DQuat::from_mat3(&turn).normalize());
        Ok(Effect::Moved { place, turn, by: to.translation })
    }

    /// Where a body stands in the model.
    fn place_of(&self, body: BodyId) -> Result<usize, EditError> {
        let found = self.model.index(body);
        found.ok_or_else(|| EditError::NoBody { body, help: no_such_body(self.model, body) })
    }

    fn refuse(&self, place: usize, message: String, help: String) -> EditError {
        EditError::Refused { body: self.model.bodies()[place].name.to_string(), message, help }
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
        let solver = parts.solver();
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
}

impl Effect {
    /// Does to the state what model and controls have already taken up.
    pub fn act(&self, state: &mut State) -> Edited {
        match self {
            Effect::None => {}
            Effect::Added(body) => {
                state.bodies.push((**body).clone());
                return Edited::Body(body.id());
            }
            Effect::Removed { place, name, tracks } => {
                let (name, tracks) = (name.clone(), *tracks);
                return Edited::Removed(Box::new(Removed {
                    name,
                    state: state.bodies.remove(*place),
                    tracks,
                }));
            }
            Effect::Changed { place, parts } => change::act(&mut state.bodies[*place], parts),
            Effect::Held { place, group, particles, motion } => {
                // Anchors are relative to the group's own motion, which goes on as it would have.
                let undo = motion.placement(state.time).inverse();
                let body = &mut state.bodies[*place];
                let at = |&i: &u32| undo.transform_point3(body.x.get(i as usize)).to_array();
                let mut anchors = body.memory[Section::Anchors].to_vec();
                anchors.extend(particles.iter().flat_map(at));
                body.memory.replace(Section::Anchors, anchors);
                tearing::hold(body, particles);
                return Edited::Group(*group);
            }
            Effect::Released { place, group, anchors } => {
                let own = tearing::release(&mut state.bodies[*place], *group);
                let own = own.unwrap_or_else(|| anchors.clone());
                let memory = &mut state.bodies[*place].memory;
                let mut anchors = memory[Section::Anchors].to_vec();
                anchors.drain(3 * own.start..3 * own.end);
                memory.replace(Section::Anchors, anchors);
            }
            Effect::Pushed { place, at, impulse, mass_ratio, whole } => {
                let body = &mut state.bodies[*place];
                for &(i, w) in at {
                    let i = i as usize;
                    let mass = mass_ratio * tearing::mass_of(whole, body, i);
                    body.v.set(i, body.v.get(i) + *impulse * (w / mass));
                }
            }
            Effect::Torn { place, facets, whole } => {
                tearing::split(whole, &mut state.bodies[*place], facets);
            }
            Effect::Moved { place, turn, by } => {
                let body = &mut state.bodies[*place];
                for i in 0..body.x.len() {
                    body.x.set(i, *turn * body.x.get(i) + *by);
                    body.v.set(i, *turn * body.v.get(i));
                }
                body.memory.turn(*turn);
            }
        }
        Edited::Done
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
        if !matches!(edit, Edit::Set(..) | Edit::Pins(..) | Edit::Forces(..)) {
            self.follow_model(before.as_ref());
        }
        Ok(edited)
    }

    /// Adds a body. Equal to one that is or was there, it shares what was prepared for that one.
    pub fn add(&mut self, body: Body) -> Result<BodyId, EditError> {
        let id = BodyId::from_number(self.model.next_id());
        self.edit(&Edit::Add(Box::new(body))).map(|_| id)
    }

    /// Removes a body, with the keyframes that drive it, and gives its last state back. Its id names nothing ever after.
    pub fn remove(&mut self, body: impl Into<BodyId>) -> Result<Removed, EditError> {
        let body = body.into();
        match self.edit(&Edit::Remove(body))? {
            Edited::Removed(removed) => Ok(*removed),
            _ => Err(EditError::NoBody { body, help: no_such_body(&self.model, body) }),
        }
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
        impulse: DVec3,
    ) -> Result<(), EditError> {
        self.edit(&Edit::Push(body.into(), at.to_vec(), impulse)).map(|_| ())
    }

    /// Moves a body as it is to another place: `to` is applied to its positions, its rotation to the velocities. A body
    /// with pins is refused: let them go first, and hold again.
    pub fn teleport(&mut self, body: impl Into<BodyId>, to: DAffine3) -> Result<(), EditError> {
        self.edit(&Edit::Teleport(body.into(), to)).map(|_| ())
    }
}
