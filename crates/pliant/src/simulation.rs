//! A running simulation: model, state and controls, and the step that moves them on.

use crate::advance::{Slot, StepContext};
use crate::builder::{self, Assembler, BuildErrors};
use crate::checkpoint::{self, Checkpoint};
use crate::contact::ColliderTrajectory;
use crate::controls::{Control, ControlError, Controls, Cost, Value};
use crate::edits::EditError;
use crate::forces;
use crate::island::Islands;
use crate::keyframes::Keyframes;
use crate::model::{BodyId, BodyPoint, ColliderId, Model, Params};
use crate::notes;
use crate::points::Points;
use crate::solver_pool::SolverPools;
use crate::solvers::trace::{TracePoint, Tracer};
use crate::solvers::{Convergence, Observer, SolverError, SolverKind};
use crate::state::{State, StateError};
use crate::statistics::{Present, Statistics};
use crate::team::Team;
use crate::tearing::Tearing;
use glam::{DAffine3, DVec3};
use pliant_math::lanes::{Bits, Isa};

/// Reads seconds from wherever the host keeps time; the engine itself reads no clock.
pub type Clock = Box<dyn Fn() -> f64 + Send>;

/// What a step reports.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct StepReport {
    /// Steps done since the start.
    pub step: u64,
    /// Simulated seconds since the start.
    pub time: f64,
    /// Particles in contact in the last substep.
    pub contacts: usize,
    /// Iterations in the last substep, the most of any body.
    pub iterations: u32,
    /// How far the last iteration was from consensus, the largest of all solvers: see
    /// [`SubstepReport`](crate::solvers::SubstepReport).
    pub residual: f64,
    /// How the bodies of each solver converged, in the order of [`SolverKind::ALL`].
    pub convergence: [Convergence; SolverKind::ALL.len()],
    /// Seconds spent in each solver, in the order of [`SolverKind::ALL`]; zero without a clock.
    pub seconds: [f64; SolverKind::ALL.len()],
}

/// Why a step could not be taken; the state is the last good one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StepError {
    /// A position or velocity left the range of numbers.
    NonFinite {
        /// The step that failed.
        step: u64,
        /// The body it happened in.
        body: String,
        /// The particle within the body.
        particle: usize,
        /// What most likely caused it.
        likely: String,
    },
    /// A solver gave up.
    Solver(String),
    /// A value that drives the step was refused.
    Control(ControlError),
    /// The state does not fit the model.
    State(StateError),
    /// An edit that was to be made before it was refused.
    Edit(EditError),
    /// Steps can be counted no further.
    TooManySteps,
}

impl std::fmt::Display for StepError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StepError::NonFinite { step, body, particle, likely } => write!(
                f,
                "the simulation became non-finite in step {step}, body \"{body}\", particle {particle}; \
                 likely cause: {likely}"
            ),
            StepError::Solver(reason) => f.write_str(reason),
            StepError::Control(refused) => refused.fmt(f),
            StepError::State(refused) => refused.fmt(f),
            StepError::Edit(refused) => refused.fmt(f),
            StepError::TooManySteps => {
                write!(f, "there is no step after number {}: the time would stand still", State::LAST_STEP)
            }
        }
    }
}

impl std::error::Error for StepError {}

impl From<SolverError> for StepError {
    fn from(e: SolverError) -> Self {
        StepError::Solver(e.to_string())
    }
}

impl From<ControlError> for StepError {
    fn from(e: ControlError) -> Self {
        StepError::Control(e)
    }
}

impl From<StateError> for StepError {
    fn from(e: StateError) -> Self {
        StepError::State(e)
    }
}

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
        simulation.make_room();
        Ok(simulation)
    }

    /// Sees to it that every body has a pool of solvers that fits.
    fn assign_pools(&mut self) -> Result<(), SolverError> {
        let Simulation { model, controls, pools, islands, team, .. } = self;
        pools.assign(model, controls, islands, team.size())
    }

    /// Makes room for some bodies more, so that the first that comes does not wait for all lists to be copied.
    fn make_room(&mut self) {
        let more = self.model.bodies().len() / 4 + 16;
        self.state.bodies.reserve(more);
        self.backup.bodies.reserve(more);
        self.controls.bodies.reserve(more);
        self.slots.reserve(more);
        self.model.make_room(more);
    }

    /// Gives keyframed controls their values at the present time: those of the step to come.
    fn apply_keyframes(&mut self) {
        let time = self.state.step as f64 * self.model.params.step;
        self.model.params.keyframes.apply(time, &mut self.controls);
    }

    /// Advances by one step, with keyframed controls at their values of the moment it begins. If it
    /// fails, the state is as before.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        if self.state.step >= State::LAST_STEP {
            return Err(StepError::TooManySteps);
        }
        self.apply_keyframes();
        self.assign_pools()?;
        (self.backup.time, self.backup.step) = (self.state.time, self.state.step);
        self.backup.model = self.state.model;
        let result = self.advance();
        self.stepped = result.is_ok();
        match result {
            Ok(_) => {
                self.tearing.begin_step();
                self.tear_apart();
                self.tearing.end_step();
                self.apply_keyframes();
            }
            Err(_) => {
                std::mem::swap(&mut self.state, &mut self.backup);
                // Numbers that are none may have got into scratch that later steps read.
                self.drop_caches();
            }
        }
        result
    }

    /// Lets a host drive any control and then takes a step: `drive` is given the number of steps done,
    /// the time, and the controls to set. If it or the step fails, state and controls are as before.
    ///
    /// ```
    /// # use pliant::{Body, Builder, Control, shapes};
    /// # let body = Body::new("ball", shapes::ball(0.2, 0.05).unwrap());
    /// # let mut simulation = Builder::new().body(body).build().unwrap();
    /// let ball = simulation.model().body("ball").unwrap();
    /// simulation.step_with(|_step, time, controls| {
    ///     controls.set(Control::Frequency(ball), 20.0 + 5.0 * time.sin())?;
    ///     Ok(())
    /// })?;
    /// # Ok::<(), pliant::StepError>(())
    /// ```
    pub fn step_with(
        &mut self,
        drive: impl FnOnce(u64, f64, &mut Driver<'_>) -> Result<(), ControlError>,
    ) -> Result<StepReport, StepError> {
        let before = self.controls.clone();
        let mut driver = Driver { model: &self.model, controls: &mut self.controls };
        let driven = drive(self.state.step, self.state.time, &mut driver);
        let result = driven.map_err(StepError::from).and_then(|()| self.step());
        if result.is_err() {
            self.controls = before;
        }
        result
    }

    /// Takes a step as [`Simulation::step`] does, to the same bits, and returns the objective after each
    /// iteration of the solvers that have one (all but the clustered). Times are read from `clock`. Costs
    /// as much as solving every substep to the last digit.
    pub fn trace_step(&mut self, clock: Clock) -> Result<(StepReport, Vec<TracePoint>), StepError> {
        let tracer = self.tracer.get_or_insert_with(|| Box::new(Tracer::new()));
        tracer.begin(clock);
        self.tracing = true;
        let report = self.step();
        self.tracing = false;
        let mut points = self.tracer.as_mut().map(|t| std::mem::take(&mut t.points)).unwrap_or_default();
        points.sort_by_key(|p| p.substep);
        Ok((report?, points))
    }

    fn advance(&mut self) -> Result<StepReport, StepError> {
        let Simulation { model, state, controls, pools, team, clock, backup, tracer, slots, .. } = self;
        let course = &mut self.course;
        course.plan(model, state, controls);
        backup.colliders.clone_from(&state.colliders);
        backup.vertices.clone_from(&state.vertices);
        let tracer = tracer.as_deref_mut().filter(|_| self.tracing);
        let stepping = StepContext { model, controls, pools, team, course, step: state.step };
        let seconds = stepping.take((state, backup), slots, &mut self.islands, clock.as_ref(), tracer);
        let mut report = StepReport { seconds, ..Default::default() };
        let mut finite = true;
        for (slot, body) in slots.iter_mut().zip(model.bodies()) {
            let outcome = std::mem::replace(&mut slot.outcome, Ok(Default::default()))?;
            let kind = body.parts.solver();
            let last = &outcome.last;
            finite &= outcome.finite;
            report.contacts += last.contacts;
            report.iterations = report.iterations.max(last.iterations);
            report.residual = report.residual.max(last.residual);
            report.convergence[kind as usize].join(&outcome.convergence);
        }
        course.arrive(state);
        state.step += 1;
        state.time = state.step as f64 * model.params.step;
        (report.step, report.time) = (state.step, state.time);
        if !finite {
            self.check_finite()?;
        }
        Ok(report)
    }

    fn check_finite(&self) -> Result<(), StepError> {
        for (k, body) in self.state.bodies.iter().enumerate() {
            let bad = body.x.first_non_finite().or_else(|| body.v.first_non_finite());
            let Some(particle) = bad else { continue };
            let live = self.controls.live(k);
            let likely =
                if live.world.gravity.length() > 1e6 || (live.body.force / live.body.mass).length() > 1e6 {
                    "gravity, or force over mass, is enormous"
                } else if self.backup.bodies[k].v.iter().any(|v| v.length() > 1e100) {
                    "velocities are enormous; lower the initial velocity, spin or stretch"
                } else {
                    "the stiffness is too large for the step; lower it or take more substeps"
                };
            return Err(StepError::NonFinite {
                step: self.state.step,
                body: self.model.bodies()[k].name.to_string(),
                particle,
                likely: likely.into(),
            });
        }
        Ok(())
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

    /// Where a body that never deforms is: how its shape at rest lies in the world. `None` if it does deform or is gone.
    pub fn placement(&self, body: impl Into<BodyId>) -> Option<DAffine3> {
        let k = self.model.index(body)?;
        self.state.bodies[k].placement(&self.model.bodies()[k].parts)
    }

    /// The point of a body that never deforms that is at a place in the world at present, in or out of the solid: to be tied to
    /// others, or pushed. `None` if the body does deform or is gone.
    pub fn point_of(&self, body: impl Into<BodyId>, at: DVec3) -> Option<BodyPoint> {
        let body = body.into();
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

    /// How fast particle `i` of a body moves; nothing if it is not there. For all but the deformer's bodies this is its
    /// velocity in the state. The deformer's matching step moves particles beside their velocities, which hold what
    /// gravity adds until the next one takes it back (h g / flappiness where a body lies still): there it is the way of
    /// the last step over its time, or the velocity where none was taken, as after a restore.
    pub fn velocity(&self, body: impl Into<BodyId>, i: usize) -> Option<DVec3> {
        let k = self.model.index(body)?;
        (i < self.state.bodies[k].x.len()).then(|| self.present(k).velocity(i))
    }

    pub(crate) fn present(&self, k: usize) -> Present<'_> {
        Present {
            model: &self.model.bodies()[k].parts,
            controls: self.controls.live(k),
            state: &self.state.bodies[k],
            time: self.state.time,
            before: self.stepped.then(|| &self.backup.bodies[k].x),
        }
    }

    /// Energies, momenta, strain and penetration of the present state; of the motion there is, see
    /// [`Simulation::velocity`]. Springs between bodies count as elastic energy.
    pub fn statistics(&self) -> Statistics {
        self.statistics_and_strain(&mut Vec::new())
    }

    /// The statistics of one body; nothing if it is gone.
    pub fn statistics_of(&self, body: impl Into<BodyId>) -> Option<Statistics> {
        let k = self.model.index(body)?;
        let mut strain = vec![0.0; self.model.bodies()[k].parts.particle_count()];
        Some(self.present(k).measure(&self.present_colliders(), &mut strain))
    }

    /// [`Simulation::statistics`] and [`Simulation::strain`] at the price of one.
    pub fn statistics_and_strain(&self, strain: &mut Vec<f64>) -> Statistics {
        let mut sum = Statistics::default();
        let around = self.present_colliders();
        self.for_each_body(strain, |body, strain| sum.add(&body.measure(&around, strain)));
        sum.elastic += self.model.couplings().iter().map(|c| c.coupling.energy(&self.state)).sum::<f64>();
        sum
    }

    /// Relative deformation of every particle, body after body.
    pub fn strain(&self, strain: &mut Vec<f64>) {
        self.for_each_body(strain, |body, strain| body.strain(strain));
    }

    fn for_each_body(&self, each: &mut Vec<f64>, mut f: impl FnMut(Present<'_>, &mut [f64])) {
        each.clear();
        each.resize(self.model.particle_count(), 0.0);
        let mut rest = &mut each[..];
        for (k, body) in self.model.bodies().iter().enumerate() {
            let (own, others) = rest.split_at_mut(body.parts.particle_count());
            f(self.present(k), own);
            rest = others;
        }
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

/// The controls as [`Simulation::step_with`] and [`Simulation::controls_mut`] hand them out: every value is
/// checked.
#[derive(Debug)]
pub struct Driver<'a> {
    model: &'a Model,
    controls: &'a mut Controls,
}

impl Driver<'_> {
    /// The values at present.
    pub fn controls(&self) -> &Controls {
        self.controls
    }

    /// What is simulated.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Changes a value; see [`Controls::set`].
    pub fn set(&mut self, control: Control, value: impl Into<Value>) -> Result<Cost, ControlError> {
        self.controls.set(self.model, control, value)
    }

    /// Holds a pin group of a body; see [`Controls::place_pins`].
    pub fn place_pins(
        &mut self,
        body: impl Into<BodyId>,
        group: usize,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        self.controls.place_pins(self.model, body, group, placement)
    }

    /// Leads the vertices of a collider; see [`Controls::deform_collider`].
    pub fn deform_collider(
        &mut self,
        collider: ColliderId,
        vertices: Option<&[DVec3]>,
    ) -> Result<Cost, ControlError> {
        self.controls.deform_collider(self.model, collider, vertices)
    }

    /// Leads a collider; see [`Controls::place_collider`].
    pub fn place_collider(
        &mut self,
        collider: ColliderId,
        placement: Option<DAffine3>,
    ) -> Result<Cost, ControlError> {
        self.controls.place_collider(self.model, collider, placement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, Timeline, TimelineError, shapes};

    #[test]
    fn the_last_step_that_can_be_counted_is_the_last() {
        let build =
            || Builder::new().body(Body::new("ball", shapes::ball(0.2, 0.08).unwrap())).build().unwrap();
        let mut late = build();
        late.state.step = State::LAST_STEP - 1;
        late.step().unwrap();
        let before = late.state().clone();
        assert_eq!(late.step().unwrap_err(), StepError::TooManySteps);
        assert_eq!(late.state(), &before);
        assert_eq!(before.step(), State::LAST_STEP);
        let mut timeline = Timeline::new(late);
        assert!(timeline.frame(State::LAST_STEP).is_ok());
        assert!(matches!(timeline.frame(u64::MAX), Err(TimelineError::Step { .. })));
        let mut early = Timeline::new(build());
        assert!(matches!(early.frame(u64::MAX), Err(TimelineError::Step { .. })));
    }
}
