//! A running simulation: model, state and controls, with the caches of the solvers.

mod driver;
mod measure;
mod report;
mod step;

use crate::advance::Slot;
use crate::builder::{self, Assembler, BuildErrors};
use crate::checkpoint::{self, Checkpoint};
use crate::contact::ColliderTrajectory;
use crate::controls::{Control, ControlError, Controls, Cost, Value};
use crate::couplings::Mishap;
use crate::forces;
use crate::island::Islands;
use crate::keyframes::Keyframes;
use crate::model::{BodyId, BodyPoint, CouplingId, Model, Params};
use crate::notes;
use crate::points::Points;
use crate::solver_pool::SolverPools;
use crate::solvers::trace::Tracer;
use crate::solvers::{Observer, SolverError};
use crate::state::{State, StateError};
use crate::team::Team;
use crate::tearing::Tearing;
use glam::{DAffine3, DVec3};
use pliant_math::lanes::{Bits, Isa};

pub use driver::Driver;
pub use report::{StepError, StepReport};

/// Reads seconds from wherever the host keeps time; the engine itself reads no clock.
pub type Clock = Box<dyn Fn() -> f64 + Send>;

/// Model, state, controls, and the solvers with their caches.
pub struct Simulation {
    pub(crate) model: Model,
    pub(crate) state: State,
    pub(crate) controls: Controls,
    pools: SolverPools,
    /// What puts bodies together that come later.
    pub(crate) assembler: Assembler,
    team: Team,
    clock: Option<Clock>,
    /// Looks at every iteration of a step that is traced.
    tracer: Option<Box<Tracer>>,
    tracing: bool,
    /// The state before the step, to return to if it fails.
    pub(crate) backup: State,
    /// Whether the present state is what a step made of the one before.
    pub(crate) stepped: bool,
    /// What else each body has, in the model's order.
    pub(crate) slots: Vec<Slot>,
    /// The bodies that move together, with their scratch.
    islands: Islands,
    /// The colliders in the course of a step.
    course: ColliderTrajectory,
    /// What it takes to tear bodies.
    pub(crate) tearing: Tearing,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("bodies", &self.model.bodies().len())
            .field("particles", &self.model.particle_count())
            .field("step", &self.state.step)
            .field("team", &self.team)
            .finish()
    }
}

impl Simulation {
    /// Puts the parts together and prepares the solvers. [`Builder`](crate::Builder) makes the parts. A state
    /// or controls of another model are refused, as are numbers that are not finite or out of range.
    pub fn new(model: Model, state: State, controls: Controls, team: Team) -> Result<Simulation, StepError> {
        let mut tearing = Tearing::default();
        let model = model.torn_by(&state, &mut tearing.shapes)?;
        state.check(&model)?;
        controls.check(&model)?;
        let mut simulation = Simulation {
            tearing,
            slots: model.bodies().iter().map(|b| Slot::new(&b.parts)).collect(),
            backup: state.clone(),
            model,
            state,
            controls,
            pools: SolverPools::new(Isa::best()),
            assembler: Assembler::default(),
            team,
            clock: None,
            tracer: None,
            tracing: false,
            stepped: false,
            islands: Islands::default(),
            course: ColliderTrajectory::default(),
        };
        simulation.apply_keyframes();
        simulation.assign_pools()?;
        simulation.reserve();
        Ok(simulation)
    }

    /// Sees to it that every body has a pool of solvers that fits.
    fn assign_pools(&mut self) -> Result<(), SolverError> {
        let Simulation { model, state, controls, pools, islands, team, .. } = self;
        islands.of(model, state, controls);
        pools.assign(model, controls, islands, team.size())
    }

    /// Makes room for some bodies more, so that the first that comes does not wait for all lists to be copied.
    fn reserve(&mut self) {
        let more = self.model.bodies().len() / 4 + 16;
        self.state.bodies.reserve(more);
        self.backup.bodies.reserve(more);
        self.controls.bodies.reserve(more);
        self.slots.reserve(more);
        self.model.reserve(more);
    }

    /// Gives keyframed controls their values at the present time: those of the step to come.
    fn apply_keyframes(&mut self) {
        let time = self.state.step as f64 * self.model.params.step;
        self.model.params.keyframes.apply(time, &mut self.controls);
    }

    /// The constant side.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What is no fault but may be unexpected: clusters whose points do not determine the goals asked
    /// for and fall back to simpler ones, bodies that fall apart, and wind that blows on nothing.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = notes::about(&self.model);
        let mut bodies = self.model.bodies().iter().enumerate();
        let pushed = bodies.any(|(k, b)| forces::has_air(&b.parts, self.controls.live(k)));
        if self.controls.wind() != DVec3::ZERO && !pushed {
            notes.push("the wind blows on nothing: no body has both `air` and faces".into());
        }
        notes
    }

    /// The changing side.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What may change between steps.
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// Writable controls: every value is checked against the model.
    pub fn controls_mut(&mut self) -> Driver<'_> {
        Driver { model: &self.model, controls: &mut self.controls }
    }

    /// Replaces all controls by those of the same model; keyframed ones follow their keys all the same.
    pub fn set_controls(&mut self, controls: Controls) -> Result<(), ControlError> {
        controls.check(&self.model)?;
        self.controls = controls;
        self.apply_keyframes();
        Ok(())
    }

    /// Changes a value for the steps to come; see [`Controls::set`].
    pub fn set(&mut self, control: Control, value: impl Into<Value>) -> Result<Cost, ControlError> {
        self.controls.set(&self.model, control, value)
    }

    /// What happened to couplings in the last step, in no particular order: those that broke, collapsed or let go, the worst of each.
    /// Nothing if the world was changed since.
    pub fn mishaps(&self) -> impl Iterator<Item = (CouplingId, Mishap)> + '_ {
        let islands = self.islands.list().iter().filter(|_| self.stepped);
        let ties = islands.flat_map(|i| i.ties().0);
        ties.filter_map(|t| Some((self.model.couplings().get(t.place)?.id, t.mishap()?)))
    }

    /// Where a body that never deforms is: how its shape at rest lies in the world. `None` if it does deform or is gone.
    pub fn placement(&self, body: impl Into<BodyId>) -> Option<DAffine3> {
        let k = self.model.index(body)?;
        self.state.bodies[k].placement(&self.model.bodies()[k].parts)
    }

    /// The point of a body that never deforms that is at a place in the world at present, in or out of the solid: to be tied to
    /// others, or pushed. `None` if the body does deform or is gone.
    pub fn point_of(&self, body: impl Into<BodyId>, at: impl Into<DVec3>) -> Option<BodyPoint> {
        let (body, at) = (body.into(), at.into());
        let rest = self.model.get(body)?.parts.rigid()?;
        let own = self.placement(body)?.inverse().transform_point3(at);
        Some(BodyPoint { body, particles: [0, 1, 2, 3], weights: rest.weights(own) })
    }

    /// Positions of a body's particles, in the order of its shape; none if the body is gone.
    pub fn positions(&self, body: impl Into<BodyId>) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        const NONE: &Points = &Points::EMPTY;
        self.state.body(body).map_or(NONE, |b| b.positions()).iter()
    }

    /// The simulation as bytes: state, controls, which set of bits they were computed with, and what edits have made of
    /// the scene.
    pub fn checkpoint(&self) -> Vec<u8> {
        checkpoint::encode(&self.model, &self.state, &self.controls, self.bits())
    }

    /// Goes on from a checkpoint of a simulation that was built as this one was, whatever edits either has seen since:
    /// bodies come, go and change to what they were then, with the state and controls it was made with; keyframed
    /// controls follow their keys. Only bodies that [`Edit::Model`](crate::Edit::Model) gave constraints of a user's own
    /// must be there already. Tells how what led to it was rounded: if not as [`Simulation::bits`],
    /// what follows differs from an unbroken run by rounding. A refusal changes nothing.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<Bits, StateError> {
        let mut assembler = self.assembler.clone();
        let (model, Checkpoint { state, controls, bits }) =
            Checkpoint::decode_edited(checkpoint, &self.model, &mut assembler)?;
        (self.model, self.state, self.controls) = (model, state, controls);
        self.assembler = assembler;
        self.tearing.forget();
        self.follow_model(None);
        Ok(bits)
    }

    /// Replaces the state by one of the same model.
    pub fn set_state(&mut self, state: State) -> Result<(), StateError> {
        let model = self.model.torn_by(&state, &mut self.tearing.shapes)?;
        state.check(&model)?;
        (self.state, self.model) = (state, model);
        self.tearing.forget();
        self.follow_model(None);
        Ok(())
    }

    /// Goes on with other keyframes: the next revision of the model, checked as when building. Controls
    /// that are no longer keyframed keep their last values, and can be set again.
    pub fn set_keyframes(&mut self, keyframes: Keyframes) -> Result<(), BuildErrors> {
        self.set_params(Params { keyframes, ..(*self.model.params).clone() })
    }

    fn set_params(&mut self, params: Params) -> Result<(), BuildErrors> {
        builder::check_world(&self.model, &params, &self.controls)?;
        self.model = self.model.with_params(params);
        self.state.model = self.model.id();
        self.apply_keyframes();
        Ok(())
    }

    /// Goes on under a model and controls that were checked, from a state if one is given.
    pub(crate) fn take_up(&mut self, model: &Model, controls: &Controls, state: Option<&State>) {
        if let Some(state) = state {
            self.state.clone_from(state);
            self.tearing.forget();
        }
        self.model = model.clone();
        self.controls.clone_from(controls);
    }

    /// Follows up on a state and a model that have changed together. Bodies that are torn further than in the model `before`
    /// are told.
    pub(crate) fn follow_model(&mut self, before: Option<&Model>) {
        self.state.model = self.model.id();
        self.stepped = false;
        self.follow_tears(before);
        self.fit_backup();
        self.apply_keyframes();
    }

    /// Lets what is kept of the state before a step, and beside the bodies, have their sizes.
    pub(crate) fn fit_backup(&mut self) {
        let Simulation { model, state, backup, slots, .. } = self;
        let bodies = model.bodies();
        // What stays keeps its slot and its memory; mostly that is all but one body.
        let mut at = 0;
        for (body, state) in bodies.iter().zip(&state.bodies) {
            while backup.bodies.get(at).is_some_and(|b| b.id() < body.id) {
                backup.bodies.remove(at);
                slots.remove(at);
            }
            let known = backup.bodies.get_mut(at).filter(|b| b.id() == body.id);
            match known {
                Some(kept) if kept.has_sizes_of(state) => {}
                Some(kept) => kept.clone_from(state),
                None => {
                    backup.bodies.insert(at, state.clone());
                    slots.insert(at, Slot::new(&body.parts));
                }
            }
            at += 1;
        }
        backup.bodies.truncate(at);
        slots.truncate(at);
    }

    /// Lets the report say how long each solver took.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// Shows the iterations of a body to `observer`; tells whether there is such a body.
    pub fn observe_iterations(&mut self, body: impl Into<BodyId>, observer: Observer) -> bool {
        let slot = self.model.index(body).map(|k| &mut self.slots[k].observer);
        slot.map(|slot| *slot = Some(observer)).is_some()
    }

    /// Numbers in the matrix factors of all bodies that have one: what each of their solves reads twice.
    pub fn factor_len(&self) -> usize {
        self.pools.factor_len()
    }

    /// Runs the kernels with another instruction set, or the next best that the processor has: slower, and
    /// with the same bits if it is of the same [`Bits`].
    pub fn set_isa(&mut self, isa: Isa) {
        self.pools = SolverPools::new(isa.min(Isa::best()));
    }

    /// The instruction set the kernels run with.
    pub fn isa(&self) -> Isa {
        self.pools.isa
    }

    /// The set of bits the kernels compute with.
    pub fn bits(&self) -> Bits {
        self.isa().bits()
    }

    /// Forgets everything that is only there for speed. The next step gives the same bits.
    pub fn drop_caches(&mut self) {
        self.tracer = None;
        self.pools.clear();
    }
}
