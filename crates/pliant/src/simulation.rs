//! A running simulation: model, state and controls, and the step that moves them on.

use crate::builder::{self, BuildErrors};
use crate::controls::{Control, ControlError, Controls, Cost, Value};
use crate::model::{HalfSpace, Model, Params};
use crate::notes;
use crate::solvers::clustered::Clustered;
use crate::solvers::projective::{Observer, Projective};
use crate::solvers::{Solver, SolverError, SolverKind};
use crate::state::{State, StateError};
use crate::statistics::{self, Statistics};
use crate::team::Team;
use glam::DVec3;
use pliant_math::lanes::Isa;

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
    /// Seconds spent in each solver, in the order of [`SolverKind::ALL`]; zero without a clock.
    pub seconds: [f64; 2],
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
        }
    }
}

impl std::error::Error for StepError {}

impl From<SolverError> for StepError {
    fn from(e: SolverError) -> Self {
        StepError::Solver(e.to_string())
    }
}

/// Model, state, controls, and the solvers with their caches.
pub struct Simulation {
    model: Model,
    state: State,
    controls: Controls,
    clustered: Clustered,
    projective: Projective,
    team: Team,
    clock: Option<Clock>,
    /// The state before the step, to return to if it fails.
    backup: State,
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
    /// Puts the parts together and prepares the solvers. [`Builder`](crate::Builder) makes the parts.
    pub fn new(model: Model, state: State, controls: Controls, team: Team) -> Result<Simulation, StepError> {
        let backup = state.clone();
        let mut simulation = Simulation {
            model,
            state,
            controls,
            clustered: Clustered::default(),
            projective: Projective::default(),
            team,
            clock: None,
            backup,
        };
        simulation.prepare()?;
        Ok(simulation)
    }

    fn prepare(&mut self) -> Result<(), StepError> {
        let Simulation { model, controls, clustered, projective, .. } = self;
        for solver in solvers(model, clustered, projective).into_iter().flatten() {
            solver.prepare(model, controls)?;
        }
        Ok(())
    }

    /// Advances by one step. If it fails, the state is as before.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.backup.x.copy_from(&self.state.x);
        self.backup.v.copy_from(&self.state.v);
        self.backup.frames.copy_from_slice(&self.state.frames);
        self.backup.plastic.copy_from_slice(&self.state.plastic);
        self.backup.auxiliary.copy_from_slice(&self.state.auxiliary);
        (self.backup.time, self.backup.step) = (self.state.time, self.state.step);
        (self.backup.random, self.backup.model) = (self.state.random, self.state.model);
        let result = self.advance();
        if result.is_err() {
            std::mem::swap(&mut self.state, &mut self.backup);
        }
        result
    }

    fn advance(&mut self) -> Result<StepReport, StepError> {
        let mut report = StepReport::default();
        let mut finite = true;
        let Simulation { model, state, controls, clustered, projective, team, clock, .. } = self;
        // Time is counted, not summed: no drift, and the same bits after a resume.
        let begin = state.step as f64 * model.params.step;
        let substeps = model.params.substeps;
        for k in 0..substeps {
            state.time = begin + model.params.step * (f64::from(k) / f64::from(substeps));
            (report.contacts, report.iterations, report.residual) = (0, 0, 0.0);
            for solver in solvers(model, clustered, projective).into_iter().flatten() {
                let before = clock.as_ref().map(|c| c());
                let part = solver.substep(model, controls, state, team)?;
                if let (Some(clock), Some(before)) = (clock.as_ref(), before) {
                    report.seconds[solver.kind() as usize] += clock() - before;
                }
                finite &= part.finite;
                report.contacts += part.contacts;
                report.iterations = report.iterations.max(part.iterations);
                report.residual = report.residual.max(part.residual);
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
    /// for and fall back to simpler ones, and bodies that fall apart.
    pub fn notes(&self) -> Vec<String> {
        notes::about(&self.model)
    }

    /// The changing side.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What may change between steps.
    pub fn controls(&self) -> &Controls {
        &self.controls
    }

    /// Writable controls, with the model their values are checked against.
    pub fn controls_mut(&mut self) -> (&mut Controls, &Model) {
        (&mut self.controls, &self.model)
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

    /// The checkpoint of the present state.
    pub fn checkpoint(&self) -> Vec<u8> {
        self.state.encode()
    }

    /// Continues from a checkpoint of the same model.
    pub fn restore(&mut self, checkpoint: &[u8]) -> Result<(), StateError> {
        self.state = State::decode(checkpoint, &self.model)?;
        Ok(())
    }

    /// Replaces the state by one of the same model.
    pub fn set_state(&mut self, state: State) -> Result<(), StateError> {
        let n = self.model.particle_count();
        let fits = state.model == self.model.id()
            && state.x.columns().iter().chain(&state.v.columns()).all(|c| c.len() == n)
            && state.frames.len() == self.state.frames.len()
            && state.plastic.len() == self.state.plastic.len()
            && state.auxiliary.len() == self.state.auxiliary.len();
        if !fits {
            return Err(StateError::OtherModel);
        }
        if state.x.first_non_finite().or(state.v.first_non_finite()).is_some() {
            return Err(StateError::Damaged("it has numbers that are not finite"));
        }
        self.state = state;
        Ok(())
    }

    /// Goes on with other substeps and planes: the next revision of the model, with all caches made
    /// anew. Bodies, solvers and pins stay. Everything is checked as when building, and a refusal
    /// changes nothing. Checkpoints of the earlier revision no longer fit.
    pub fn set_world(&mut self, substeps: u32, planes: Vec<HalfSpace>) -> Result<(), BuildErrors> {
        let params = Params { substeps, planes, ..(*self.model.params).clone() };
        builder::check_world(&params, &self.controls)?;
        self.model = self.model.with_params(params);
        self.state.model = self.model.id();
        Ok(())
    }

    /// Energies, momenta, strain and penetration of the present state.
    pub fn statistics(&self) -> Statistics {
        statistics::measure(&self.model, &self.controls, &self.state)
    }

    /// [`Simulation::statistics`] and [`Simulation::strain`] at the price of one.
    pub fn statistics_and_strain(&self, strain: &mut Vec<f64>) -> Statistics {
        statistics::measure_with_strain(&self.model, &self.controls, &self.state, strain)
    }

    /// Relative deformation of every particle.
    pub fn strain(&self, strain: &mut Vec<f64>) {
        statistics::strain(&self.model, &self.controls, &self.state, strain);
    }

    /// Lets the report say how long each solver took.
    pub fn set_clock(&mut self, clock: Clock) {
        self.clock = Some(clock);
    }

    /// Shows the projective solver's iterations to `observer`.
    pub fn observe_iterations(&mut self, observer: Observer) {
        self.projective.observe(observer);
    }

    /// Numbers in the projective solver's matrix factor: what each of its solves reads twice.
    pub fn factor_len(&self) -> usize {
        self.projective.factor_len()
    }

    /// Runs the kernels with another instruction set: slower, with the same bits.
    pub fn set_isa(&mut self, isa: Isa) {
        self.clustered.set_isa(isa);
    }

    /// The instruction set the kernels run with.
    pub fn isa(&self) -> Isa {
        self.clustered.isa()
    }

    /// Forgets everything that is only there for speed. The next step gives the same bits.
    pub fn drop_caches(&mut self) {
        self.clustered.drop_caches();
        self.projective.drop_caches();
    }
}

/// The solvers that have bodies to move.
fn solvers<'a>(
    model: &Model,
    clustered: &'a mut Clustered,
    projective: &'a mut Projective,
) -> [Option<&'a mut dyn Solver>; 2] {
    let used = |kind| model.params.bodies.iter().any(|b| b.solver == kind);
    [
        used(SolverKind::Clustered).then_some(clustered as &mut dyn Solver),
        used(SolverKind::Projective).then_some(projective as &mut dyn Solver),
    ]
}
