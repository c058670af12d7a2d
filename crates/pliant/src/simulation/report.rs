//! What a step tells: numbers if it was taken, and if not, why.

use crate::controls::ControlError;
use crate::edits::EditError;
use crate::solvers::{Convergence, SolverError, SolverKind};
use crate::state::{State, StateError};

/// What a step took and met: for statistics, and to see whether its iterations were enough.
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
    /// How far the last iteration was from consensus, the largest of all solvers; one hundredth counts as converged: see
    /// [`Convergence`](crate::Convergence).
    pub residual: f64,
    /// How the bodies of each solver converged, in the order of [`SolverKind::ALL`].
    pub convergence: [Convergence; SolverKind::ALL.len()],
    /// Energy that couplings have put into the bodies and their own springs, J: by becoming stiffer, by drawing together what began
    /// apart, by their motors. Negative where springs have been let go or made softer.
    pub coupling_energy: f64,
    /// Couplings one of whose frames collapsed in this step: the particles that carry it came to lie on a line or in one place, so
    /// that nothing tells how it is turned. Told once; such a coupling holds what it can until they are apart again.
    pub collapsed: usize,
    /// Couplings that broke in this step.
    pub broken: usize,
    /// Couplings that held nothing in the rest of a substep, as no forces brought their points together. [`Simulation::mishaps`]
    /// tells which these are, of this and of the two above.
    ///
    /// [`Simulation::mishaps`]: crate::Simulation::mishaps
    pub let_go: usize,
    /// How many frames of couplings were fitted to their particles, each as often as it was.
    pub fits: usize,
    /// Vertices of sheets that were held back short of crossing another surface, summed over the substeps; the contact forces of a step
    /// that needs many of these were not enough.
    pub held_back: usize,
    /// What that took of momentum, the sum over its particles whatever their directions, kg m/s.
    pub held_back_momentum: f64,
    /// Pairs of a vertex and a triangle or of two edges, summed over the substeps, for which it could not be promised that they do not
    /// cross: what is prescribed took one through the other, or they were in each other when the step began.
    pub unkept: usize,
    /// Bodies that slept through it: see [`Builder::sleep_speed`](crate::Builder::sleep_speed).
    pub asleep: usize,
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
