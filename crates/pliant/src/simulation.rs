//! A running simulation: model, state and controls, and the step that moves them on.

use crate::builder::{self, BuildErrors};
use crate::checkpoint::{self, Checkpoint};
use crate::controls::{Control, ControlError, Controls, Cost, Value};
use crate::forces;
use crate::keyframes::Keyframes;
use crate::model::{HalfSpace, Model, Params};
use crate::notes;
use crate::solvers::trace::{TracePoint, Tracer};
use crate::solvers::{self, Convergence, Observer, Solver, SolverError, SolverKind};
use crate::state::{State, StateError};
use crate::statistics::{self, Motion, Statistics};
use crate::team::Team;
use glam::{DAffine3, DVec3};
use pliant_math::lanes::{Bits, Isa};

/// Reads seconds from wherever the host keeps time; the engine itself reads no clock.
pub type Clock = Box<dyn Fn() -> f64 + Send>;

/// What a step reports.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// How each solver converged, in the order of [`SolverKind::ALL`].
    pub convergence: [Convergence; SolverKind::ALL.len()],
    /// Seconds spent in each solver, in the order of [`SolverKind::ALL`]; zero without a clock.
    pub seconds: [f64; SolverKind::ALL.len()],
}

/// Why a step could not be taken; the state is the last good one.
#[derive(Clone, Debug, PartialEq)]
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
    model: Model,
    state: State,
    controls: Controls,
    /// One of each kind.
    solvers: Vec<Box<dyn Solver>>,
    isa: Isa,
    team: Team,
    clock: Option<Clock>,
    /// Looks at every iteration of a step that is traced.
    tracer: Option<Box<Tracer>>,
    tracing: bool,
    /// The state before the step, to return to if it fails.
    backup: State,
    /// Whether the present state is what a step made of the one before.
    stepped: bool,
    /// Scratch of the forces.
    pushes: forces::Pushes,
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("bodies", &self.model.topology.bodies.len())
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
        state.check(&model)?;
        controls.check(&model)?;
        let backup = state.clone();
        let mut simulation = Simulation {
            model,
            state,
            controls,
            solvers: solvers::one_of_each(),
            isa: Isa::best(),
            team,
            clock: None,
            tracer: None,
            tracing: false,
            backup,
            stepped: false,
            pushes: forces::Pushes::new(),
        };
        simulation.pushes.reserve(simulation.model.topology.faces.len());
        simulation.apply_keyframes();
        simulation.prepare()?;
        Ok(simulation)
    }

    /// Gives keyframed controls their values at the present time: those of the step to come.
    fn apply_keyframes(&mut self) {
        let time = self.state.step as f64 * self.model.params.step;
        self.model.params.keyframes.apply(time, &mut self.controls);
    }

    fn prepare(&mut self) -> Result<(), StepError> {
        let Simulation { model, controls, solvers, .. } = self;
        for solver in used(model, solvers) {
            solver.prepare(model, controls)?;
        }
        Ok(())
    }

    /// Advances by one step, with keyframed controls at their values of the moment it begins. If it
    /// fails, the state is as before.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        if self.state.step >= State::LAST_STEP {
            return Err(StepError::TooManySteps);
        }
        self.apply_keyframes();
        // The first substep reads what was and writes what will be: nothing need be copied for that, unless
        // forces change velocities before it.
        let forced = forces::act(&self.model, &self.controls);
        let single = self.single_solver() && !forced;
        if single {
            std::mem::swap(&mut self.backup.x, &mut self.state.x);
            std::mem::swap(&mut self.backup.v, &mut self.state.v);
        } else {
            self.backup.x.copy_from(&self.state.x);
            self.backup.v.copy_from(&self.state.v);
        }
        self.backup.frames.copy_from_slice(&self.state.frames);
        self.backup.plastic.copy_from_slice(&self.state.plastic);
        self.backup.auxiliary.copy_from_slice(&self.state.auxiliary);
        (self.backup.time, self.backup.step) = (self.state.time, self.state.step);
        (self.backup.random, self.backup.model) = (self.state.random, self.state.model);
        let result = self.advance(single, forced);
        self.stepped = result.is_ok();
        match result {
            Ok(_) => self.apply_keyframes(),
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
    /// simulation.step_with(|_step, time, controls| {
    ///     controls.set(Control::Frequency(0), 20.0 + 5.0 * time.sin())?;
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
        let points = self.tracer.as_mut().map(|t| std::mem::take(&mut t.points));
        Ok((report?, points.unwrap_or_default()))
    }

    /// Whether one solver moves all bodies, and so writes all positions and velocities.
    fn single_solver(&self) -> bool {
        let mut kinds = self.model.params.bodies.iter().map(|b| b.solver);
        kinds.next().is_some_and(|first| kinds.all(|k| k == first))
    }

    fn advance(&mut self, single: bool, forced: bool) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        let mut finite = true;
        let Simulation { model, state, controls, solvers, team, clock, backup, tracer, isa, pushes, .. } =
            self;
        let mut tracer = tracer.as_mut().filter(|_| self.tracing);
        // Time is counted, not summed: no drift, and the same bits after a resume.
        let begin = state.step as f64 * model.params.step;
        let substeps = model.params.substeps;
        for k in 0..substeps {
            state.time = begin + model.params.step * (f64::from(k) / f64::from(substeps));
            (report.contacts, report.iterations, report.residual) = (0, 0, 0.0);
            if forced {
                forces::apply(model, controls, state, model.params.substep(), pushes, team);
            }
            for solver in used(model, solvers) {
                let since = clock.as_ref().map(|c| c());
                let before = (single && k == 0).then_some((&backup.x, &backup.v));
                let observer = tracer.as_mut().map(|t| t.watch(&state.auxiliary));
                let usual = observer.and_then(|o| solver.observe(Some(o)));
                let part = solver.substep(model, controls, before, state, team);
                if tracer.is_some() {
                    solver.observe(usual);
                }
                let part = part?;
                if let (Some(clock), Some(since)) = (clock.as_ref(), since) {
                    report.seconds[solver.kind() as usize] += clock() - since;
                }
                if let Some(tracer) = tracer.as_mut() {
                    let now = (state.step + 1, k, state.time);
                    tracer.evaluate(solver.kind(), (model, controls), now, (team, *isa))?;
                }
                finite &= part.finite;
                report.contacts += part.contacts;
                report.iterations = report.iterations.max(part.iterations);
                report.residual = report.residual.max(part.residual);
                report.convergence[solver.kind() as usize].add(solver.kind(), &part);
            }
        }
        state.step += 1;
        state.time = state.step as f64 * model.params.step;
        (report.step, report.time) = (state.step, state.time);
        if !finite {
            self.check_finite()?;
        }
        Ok(report)
    }

    fn check_finite(&self) -> Result<(), StepError> {
        let bad = self.state.x.first_non_finite().or_else(|| self.state.v.first_non_finite());
        let Some(i) = bad else { return Ok(()) };
        let bodies = &self.model.topology.bodies;
        let b = bodies.iter().position(|b| b.particles.contains(&i)).unwrap_or(0);
        let c = &self.controls.bodies[b];
        let likely = if self.controls.gravity.length() > 1e6 || (c.force / c.mass).length() > 1e6 {
            "gravity, or force over mass, is enormous"
        } else if self.backup.v.iter().any(|v| v.length() > 1e100) {
            "velocities are enormous; lower the initial velocity, spin or stretch"
        } else {
            "the stiffness is too large for the step; lower it or take more substeps"
        };
        Err(StepError::NonFinite {
            step: self.state.step,
            body: bodies[b].name.clone(),
            particle: i - bodies[b].particles.start,
            likely: likely.into(),
        })
    }

    /// The constant side.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What is no fault but may be unexpected: clusters whose points do not determine the goals asked
    /// for and fall back to simpler ones, bodies that fall apart, and wind that blows on nothing.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = notes::about(&self.model);
        let pushed = |b| forces::has_air(&self.model, &self.controls, b);
        if self.controls.wind != DVec3::ZERO && !(0..self.controls.bodies.len()).any(pushed) {
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

    /// Positions of a body's particles, in the order of its shape.
    pub fn positions(&self, body: usize) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        let range = self.model.topology.bodies.get(body).map_or(0..0, |b| b.particles.clone());
        range.map(|i| self.state.x.get(i))
    }

    /// The checkpoint of the present state and controls.
    pub fn checkpoint(&self) -> Vec<u8> {
        checkpoint::encode(&self.state, &self.controls, self.bits())
    }

    /// Continues from a checkpoint of the same model, with the controls it was saved with. Gives the set of
    /// bits it was computed with: with the same as [`Simulation::bits`] it goes on as if never interrupted,
    /// else it differs by rounding. A refusal changes nothing.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<Bits, StateError> {
        let Checkpoint { state, controls, bits } = Checkpoint::decode(checkpoint, &self.model)?;
        (self.state, self.controls, self.stepped) = (state, controls, false);
        self.apply_keyframes();
        Ok(bits)
    }

    /// Replaces the state by one of the same model.
    pub fn set_state(&mut self, state: State) -> Result<(), StateError> {
        state.check(&self.model)?;
        (self.state, self.stepped) = (state, false);
        self.apply_keyframes();
        Ok(())
    }

    /// Goes on with other substeps and planes: the next revision of the model, with all caches made
    /// anew. Bodies, solvers and pins stay. Everything is checked as when building, and a refusal
    /// changes nothing. Checkpoints of the earlier revision no longer fit.
    pub fn set_world(&mut self, substeps: u32, planes: Vec<HalfSpace>) -> Result<(), BuildErrors> {
        self.set_params(Params { substeps, planes, ..(*self.model.params).clone() })
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

    /// Goes on under a model of the same sizes and with other controls, from a state if one is given.
    pub(crate) fn take_up(&mut self, model: &Model, controls: &Controls, state: Option<&State>) {
        if let Some(state) = state {
            self.state.clone_from(state);
            self.stepped = false;
        }
        self.model = model.clone();
        self.state.model = model.id();
        self.controls.clone_from(controls);
        self.apply_keyframes();
    }

    /// How fast particle `i` moves. For all but the deformer's bodies this is its velocity in the state. The
    /// deformer's matching step moves particles beside their velocities, which hold what gravity adds until
    /// the next one takes it back (h g / flappiness where a body lies still): there it is the way of the last
    /// step over its time, or the velocity where none was taken, as after a restore.
    pub fn velocity(&self, i: usize) -> DVec3 {
        self.motion().of(&self.model, &self.state, i)
    }

    /// Positions before the last step, if the present ones came of it.
    fn motion(&self) -> Motion<'_> {
        Motion { before: self.stepped.then_some(&self.backup.x) }
    }

    /// Energies, momenta, strain and penetration of the present state; of the motion there is, see
    /// [`Simulation::velocity`].
    pub fn statistics(&self) -> Statistics {
        self.statistics_and_strain(&mut Vec::new())
    }

    /// [`Simulation::statistics`] and [`Simulation::strain`] at the price of one.
    pub fn statistics_and_strain(&self, strain: &mut Vec<f64>) -> Statistics {
        statistics::measure(&self.model, &self.controls, &self.state, self.motion(), strain)
    }

    /// Relative deformation of every particle.
    pub fn strain(&self, strain: &mut Vec<f64>) {
        statistics::strain(&self.model, &self.controls, &self.state, strain);
    }

    /// Lets the report say how long each solver took.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// Shows the iterations of one solver's bodies to `observer`.
    pub fn observe_iterations(&mut self, solver: SolverKind, observer: Observer) {
        self.solvers[solver as usize].observe(Some(observer));
    }

    /// Numbers in the matrix factors of the solvers that have one: what each of their solves reads twice.
    pub fn factor_len(&self) -> usize {
        self.solvers.iter().map(|s| s.factor_len()).sum()
    }

    /// Runs the kernels with another instruction set, or the next best that the processor has: slower, and
    /// with the same bits if it is of the same [`Bits`].
    pub fn set_isa(&mut self, isa: Isa) {
        let isa = isa.min(Isa::best());
        self.isa = isa;
        self.solvers.iter_mut().for_each(|s| s.set_isa(isa));
    }

    /// The instruction set the kernels run with.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// The set of bits the kernels compute with.
    pub fn bits(&self) -> Bits {
        self.isa.bits()
    }

    /// Forgets everything that is only there for speed. The next step gives the same bits.
    pub fn drop_caches(&mut self) {
        self.tracer = None;
        self.solvers.iter_mut().for_each(|s| s.drop_caches());
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

    /// Holds a pin group; see [`Controls::place_pins`].
    pub fn place_pins(&mut self, group: usize, placement: Option<DAffine3>) -> Result<Cost, ControlError> {
        self.controls.place_pins(group, placement)
    }
}

/// The solvers that have bodies to move.
fn used<'a>(
    model: &Model,
    solvers: &'a mut [Box<dyn Solver>],
) -> impl Iterator<Item = &'a mut Box<dyn Solver>> {
    let bodies = model.params.clone();
    solvers.iter_mut().filter(move |s| bodies.bodies.iter().any(|b| b.solver == s.kind()))
}
