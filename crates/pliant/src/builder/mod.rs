//! From descriptions of bodies to a simulation.

mod assembly;
mod checks;

pub(crate) use checks::{check_colliders, check_couplings, check_world};

use crate::body::Body;
use crate::constraints::ConstraintBatch;
use crate::controls::{BodyEntry, Control, Controls};
use crate::fields::Field;
use crate::keyframes::{Keyframes, Track};
use crate::model::{BodyId, BodyModel, Collider, Coupling, Implicit, Model, Params};
use crate::points::Points;
use crate::simulation::Simulation;
use crate::state::{BodyState, State};
use crate::team::Team;
use assembly::Extras;
use checks::Faults;
use glam::DVec3;
use std::sync::Arc;

pub(crate) use assembly::{Assembled, Assembler};

/// One fault of a description, with where it is and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BuildError {
    /// Index of the body, if it is one's.
    pub body: Option<usize>,
    /// The setting at fault, as in scene files.
    pub field: &'static str,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.body {
            Some(b) => write!(f, "body {b}, {}: {}; {}", self.field, self.message, self.help),
            None => write!(f, "{}: {}; {}", self.field, self.message, self.help),
        }
    }
}

/// Every fault found.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildErrors(pub Vec<BuildError>);

impl std::fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (k, e) in self.0.iter().enumerate() {
            write!(f, "{}{e}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for BuildErrors {}

/// A constraint of the user's own, added to a body.
#[derive(Debug)]
struct Custom {
    /// `None` if it was added before any body.
    body: Option<usize>,
    batch: CustomBatch,
}

type MakeBatch = Box<dyn FnOnce(&Points) -> Arc<dyn ConstraintBatch>>;

struct CustomBatch(MakeBatch);

impl std::fmt::Debug for CustomBatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CustomBatch")
    }
}

/// Collects bodies, colliders and settings of a simulation.
#[derive(Debug)]
pub struct Builder {
    /// Gravity, m/s².
    pub gravity: DVec3,
    /// Velocity of the air, m/s; see [`Control::Wind`].
    pub wind: DVec3,
    /// How much of it comes and goes; see [`Control::Gusts`].
    pub gusts: f64,
    /// Seconds per step.
    pub step: f64,
    /// Equal parts a step is taken in.
    pub substeps: u32,
    /// What bodies cannot enter.
    pub colliders: Vec<Collider>,
    /// What ties bodies together; bodies by their index.
    pub couplings: Vec<Coupling>,
    /// What is simulated; ids are given in this order, from 0.
    pub bodies: Vec<Body>,
    /// Controls that follow keys; bodies by their index.
    pub keyframes: Keyframes,
    /// Fields of force that act on all bodies, beside gravity.
    pub fields: Vec<Field>,
    /// Threads that steps may use; 0 for as many as the machine has. It changes no bit of the result.
    pub threads: usize,
    /// How the implicit solvers take a step.
    pub implicit: Implicit,
    /// Whether bodies touch each other; which do, [`Body::contact_filter`] says.
    pub body_contact: bool,
    /// Bodies that touch or hold each other and of which no particle has been faster for half a second sleep, m/s: they cost nothing until
    /// something wakes them. 0, the default: none does.
    pub sleep_speed: f64,
    customs: Vec<Custom>,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// Earth's gravity, 60 steps a second of 4 substeps each, no ground, one thread.
    pub fn new() -> Builder {
        Builder {
            gravity: DVec3::new(0.0, -9.81, 0.0),
            wind: DVec3::ZERO,
            gusts: 0.0,
            step: 1.0 / 60.0,
            substeps: 4,
            colliders: Vec::new(),
            couplings: Vec::new(),
            bodies: Vec::new(),
            keyframes: Keyframes::default(),
            fields: Vec::new(),
            threads: 1,
            implicit: Implicit::default(),
            body_contact: false,
            sleep_speed: 0.0,
            customs: Vec::new(),
        }
    }

    /// Lets bodies touch each other.
    pub fn body_contact(mut self) -> Builder {
        self.body_contact = true;
        self
    }

    /// Lets bodies that come to rest sleep: see [`Builder::sleep_speed`]. 5 mm/s suit things of the size of a hand.
    pub fn sleeping_below(mut self, speed: f64) -> Builder {
        self.sleep_speed = speed;
        self
    }

    /// Adds the ground y = 0.
    pub fn ground(self) -> Builder {
        self.collider(Collider::ground())
    }

    /// Adds what bodies cannot enter: a [`Collider`], or a [`HalfSpace`](crate::HalfSpace) that stands still.
    pub fn collider(mut self, collider: impl Into<Collider>) -> Builder {
        self.colliders.push(collider.into());
        self
    }

    /// Ties bodies together; these by their index.
    pub fn coupling(mut self, coupling: Coupling) -> Builder {
        self.couplings.push(coupling);
        self
    }

    /// Adds a body after those there are: it has the next index and id.
    pub fn body(mut self, body: Body) -> Builder {
        self.bodies.push(body);
        self
    }

    /// Lets a control follow keys.
    pub fn track(mut self, track: Track) -> Builder {
        self.keyframes.tracks.push(track);
        self
    }

    /// Adds a field of force.
    pub fn field(mut self, field: Field) -> Builder {
        self.fields.push(field);
        self
    }

    /// Lets the air move at this velocity, m/s.
    pub fn wind(mut self, x: f64, y: f64, z: f64) -> Builder {
        self.wind = DVec3::new(x, y, z);
        self
    }

    /// Takes each step in `substeps` parts.
    pub fn substeps(mut self, substeps: u32) -> Builder {
        self.substeps = substeps;
        self
    }

    /// Adds a constraint of your own to the body added last (projective solver). `make` is given the rest positions
    /// of the body's particles, which it refers to by their indices.
    pub fn constraint<B: ConstraintBatch + 'static>(
        mut self,
        make: impl FnOnce(&Points) -> B + 'static,
    ) -> Builder {
        let body = self.bodies.len().checked_sub(1);
        let batch = CustomBatch(Box::new(move |rest| Arc::new(make(rest))));
        self.customs.push(Custom { body, batch });
        self
    }

    /// Checks everything and builds the simulation, ready to step.
    pub fn build(self) -> Result<Simulation, BuildErrors> {
        let refuse = |field, message: String, help: String| {
            BuildErrors(vec![BuildError { body: None, field, message, help }])
        };
        // Before the work: it is refused without it.
        if let Err(e) = Team::check(self.threads) {
            return Err(refuse("threads", e.to_string(), format!("give 0 to {}", Team::MOST)));
        }
        let (model, state, controls, threads, assembler) = self.parts()?;
        let team = Team::new(threads)
            .map_err(|e| refuse("threads", e.to_string(), format!("give 0 to {}", Team::MOST)))?;
        let mut simulation = Simulation::new(model, state, controls, team).map_err(|e| {
            let help = "lower the largest stiffness or take a smaller step".into();
            refuse("stiffness", e.to_string(), help)
        })?;
        simulation.assembler = assembler;
        Ok(simulation)
    }

    fn parts(self) -> Result<(Model, State, Controls, usize, Assembler), BuildErrors> {
        let mut faults = Faults::default();
        self.check(&mut faults);
        // Shapes with faults cannot be put together.
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let Builder {
            keyframes,
            implicit,
            body_contact,
            sleep_speed,
            fields,
            colliders,
            couplings,
            step,
            substeps,
            bodies,
            customs,
            ..
        } = self;
        let params =
            Arc::new(Params { step, substeps, keyframes, implicit, fields, body_contact, sleep_speed });
        let mut extras: Vec<Extras> = bodies.iter().map(|_| Extras::default()).collect();
        for (b, extras) in extras.iter_mut().enumerate() {
            let springs = Control::EdgeStiffness(b.into());
            extras.sprung = params.keyframes.tracks.iter().any(|t| t.control == springs);
        }
        for Custom { body, batch } in customs {
            if let Some(b) = body {
                extras[b].custom.push(batch.0);
            }
        }
        let mut assembler = Assembler::default();
        let mut made = Vec::with_capacity(bodies.len());
        for (b, (body, extras)) in bodies.iter().zip(extras).enumerate() {
            made.extend(assembler.assemble(b, body, extras, &params, &mut faults));
        }
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let (mut parts, mut states, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for (b, (body, made)) in bodies.iter().zip(made).enumerate() {
            let id = BodyId::from(b);
            let Assembled { parts: own, x, v } = made;
            states.push(BodyState::new(id, &own, x, v));
            entries.push(BodyEntry::new(id, body.live_values(), &own));
            parts.push((body.name.as_str().into(), own));
        }
        let model = Model::new(parts, colliders, couplings, params);
        faults.effects(&model.params.keyframes, &model);
        faults.couplings(model.couplings().iter().map(|c| &c.coupling), model.bodies());
        if !faults.0.is_empty() {
            return Err(BuildErrors(faults.0));
        }
        let state = State::new(&model, states);
        let mut controls = Controls::new(self.gravity, entries, model.couplings(), model.colliders().len());
        controls.put(Control::Wind, self.wind.into());
        controls.put(Control::Gusts, self.gusts.into());
        Ok((model, state, controls, self.threads, assembler))
    }
}

/// Checks a body that comes while a simulation runs, and puts it together.
pub(crate) fn assemble_one(
    body: &Body,
    model: &Model,
    in_place_of: Option<BodyId>,
    assembler: &mut Assembler,
) -> Result<Assembled, BuildErrors> {
    let mut faults = Faults::default();
    if model.body(&body.name).is_some_and(|other| in_place_of != Some(other)) {
        let text = format!("there is a body named \"{}\" already", body.name);
        faults.add(None, "name", text, "give each body a name of its own");
    }
    faults.body(0, body, model.params.substep());
    let made = match faults.0.is_empty() {
        true => assembler.assemble(0, body, Extras::default(), &model.params, &mut faults),
        false => None,
    };
    // It has no number yet.
    faults.0.iter_mut().for_each(|f| f.body = None);
    made.filter(|_| faults.0.is_empty()).ok_or(BuildErrors(faults.0))
}

/// Puts a body together that a checkpoint describes, if it is sound; without pins and input, wherever it is.
pub(crate) fn assemble_described(
    body: &Body,
    sprung: bool,
    params: &Arc<Params>,
    assembler: &mut Assembler,
) -> Option<BodyModel> {
    let mut faults = Faults::default();
    faults.body(0, body, params.substep());
    if !faults.0.is_empty() {
        return None;
    }
    let extras = Extras { sprung, ..Extras::default() };
    assembler.assemble(0, body, extras, params, &mut faults).map(|made| made.parts)
}

/// Whether settings of a world are sound by themselves; keyframes are checked with the bodies they drive.
pub(crate) fn is_sound(params: &Params) -> bool {
    let mut faults = Faults::default();
    faults.world(params);
    faults.0.is_empty() && params.fields.iter().all(|f| f.fault().is_none())
}
