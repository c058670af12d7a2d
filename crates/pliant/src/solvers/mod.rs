//! Ways to reach consensus: the solvers, what they have in common, and what each supports.

mod assembly;
mod bounces;
pub mod clustered;
mod damping;
mod energy;
mod energy_share;
mod implicit;
pub mod newton;
mod objective;
pub mod position_based;
pub mod projective;
mod prolongation;
#[cfg(test)]
mod response_tests;
pub mod rigid;
mod support;
pub(crate) mod trace;
mod unknowns;

pub use support::{Feature, Support, support, support_table};
pub use trace::TracePoint;

use crate::contact::{Contact, Obstacles, Respond};
use crate::controls::LiveControls;
use crate::couplings::Pull;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;
use crate::team::Team;
use pliant_math::lanes::Isa;

/// The solvers there are. What each supports: [`support_table`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum SolverKind {
    /// Clustered shape matching with strain limiting.
    Clustered,
    /// Projective dynamics: a matrix factored once, for elements of any stiffness.
    Projective,
    /// Newton's method on the same objective.
    Newton,
    /// Position based dynamics with compliance.
    Xpbd,
    /// Position based dynamics.
    Pbd,
    /// Solids that never deform.
    Rigid,
}

impl SolverKind {
    /// Every solver.
    pub const ALL: [SolverKind; 6] = [
        SolverKind::Clustered,
        SolverKind::Projective,
        SolverKind::Newton,
        SolverKind::Xpbd,
        SolverKind::Pbd,
        SolverKind::Rigid,
    ];

    /// All solvers of bodies that deform: every one but [`Rigid`](SolverKind::Rigid).
    pub const SOFT: [SolverKind; 5] = [
        SolverKind::Clustered,
        SolverKind::Projective,
        SolverKind::Newton,
        SolverKind::Xpbd,
        SolverKind::Pbd,
    ];

    /// The name as in scene files.
    pub fn name(self) -> &'static str {
        match self {
            SolverKind::Clustered => "clustered",
            SolverKind::Projective => "projective",
            SolverKind::Newton => "newton",
            SolverKind::Xpbd => "xpbd",
            SolverKind::Pbd => "pbd",
            SolverKind::Rigid => "rigid",
        }
    }

    /// Whether its bodies answer to forces alike, and apart, along x, y and z.
    pub(crate) fn answers_alike(self) -> bool {
        !matches!(self, SolverKind::Clustered | SolverKind::Newton | SolverKind::Rigid)
    }

    /// Whether it moves bodies by constraint batches: those that do mean the same scene.
    pub fn uses_constraints(self) -> bool {
        !matches!(self, SolverKind::Clustered | SolverKind::Rigid)
    }
}

/// Positions and velocities to start from.
pub(crate) type Before<'a> = (&'a Points, &'a Points);

/// What a substep of a body reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SubstepReport {
    /// Particles that touched something in the substep.
    pub contacts: usize,
    /// Iterations done, the most of any body.
    pub iterations: u32,
    /// How far the last iteration still was from consensus: relative movement in it.
    pub residual: f64,
    /// Whether all positions and velocities are numbers.
    pub finite: bool,
}

impl SubstepReport {
    /// Where a solver's last iteration moves a particle by more than this part of its body's size, the substep has not
    /// converged: what the iterations still had to do would be seen.
    pub const CONVERGED: f64 = 0.01;
}

/// How near the iterations of a solver came to an end in the substeps of its bodies in a step.
///
/// *Projective, XPBD and PBD* have converged if their last iteration moved no particle by more than
/// a hundredth of the size of its body; *Newton* also if no step lowers the objective any more. The
/// *clustered* solver is explicit: its iterations limit strain and lead to no solution, so it has always converged. *Rigid*
/// bodies have converged if the last round of contacts and couplings moved none by more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Convergence {
    /// The largest residual of any substep.
    pub residual: f64,
    /// Substeps taken, of all its bodies; 0 if it has none.
    pub substeps: u32,
    /// How many of these substeps ended before they had converged, as said above.
    pub unconverged: u32,
}

impl Convergence {
    /// Takes up a substep.
    pub(crate) fn add(&mut self, kind: SolverKind, report: &SubstepReport) {
        self.residual = self.residual.max(report.residual);
        self.substeps += 1;
        // Written so that a residual that is not a number has not converged.
        let converged = kind == SolverKind::Clustered || report.residual <= SubstepReport::CONVERGED;
        self.unconverged += u32::from(!converged);
    }
}

impl Convergence {
    /// Takes up another body of the same solver.
    pub(crate) fn join(&mut self, other: &Convergence) {
        self.residual = self.residual.max(other.residual);
        self.substeps += other.substeps;
        self.unconverged += other.unconverged;
    }
}

impl Default for SubstepReport {
    fn default() -> Self {
        SubstepReport { contacts: 0, iterations: 0, residual: 0.0, finite: true }
    }
}

/// Why a step could not be taken. The state is as it was before the step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SolverError {
    /// The system matrix cannot be factored.
    Factor(String),
}

impl std::fmt::Display for SolverError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SolverError::Factor(reason) => f.write_str(reason),
        }
    }
}

/// One body in a substep.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    /// What it is.
    pub model: &'a BodyModel,
    /// What moves it at present.
    pub controls: LiveControls<'a>,
    /// When the substep begins.
    pub time: f64,
    /// The colliders in this substep.
    pub obstacles: Obstacles<'a>,
}

/// A substep of a body that is under way.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub body: Subject<'a>,
    /// If given, positions and velocities at the start are to be read there; those in the state are old and only to be
    /// written.
    pub before: Option<Before<'a>>,
    pub team: &'a Team,
    /// Whether couplings hold it or others may touch it.
    pub tied: bool,
    /// Whether others may touch it.
    pub crowded: bool,
}

/// What has acted on a body in a substep beside its solver.
#[derive(Clone, Copy)]
pub(crate) struct Outside<'a> {
    /// The contacts of its island, and the place it has there.
    pub contacts: &'a [Contact],
    pub place: usize,
    /// What couplings do to it.
    pub pull: Pull,
}

/// A round of a substep.
#[derive(Clone, Copy)]
pub(crate) struct Round {
    /// Counted from 1.
    pub number: u32,
    /// Whether the body is tied or may touch something: what is done about that between rounds lowers no objective.
    pub touched: bool,
}

/// What a round has done to a body.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    /// How far from consensus the round still was: relative movement in it.
    pub moved: f64,
    /// Whether further rounds would change nothing.
    pub settled: bool,
}

/// Moves a body, and any other that is of the same parts and as stiff, in phases, between which contacts have their say:
///
/// > predict, rounds of { iterate, *contacts answer*, advance }, conclude, finish.
///
/// All a solver keeps between substeps is a cache: one that was made anew, or that has just moved another body, gives
/// the same bits.
pub(crate) trait Solver: std::fmt::Debug + Send {
    /// Makes whatever can be computed before the first step, so that stepping allocates nothing.
    fn prepare(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<(), SolverError>;

    /// Makes room for contacts, so that the first of them allocates nothing.
    fn expect_contacts(&mut self) {}

    /// Where the body goes by forces and inertia alone; returns how many rounds are to follow.
    fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) -> Result<u32, SolverError>;

    /// A round toward consensus as if nothing were touched, up to where contacts answer. Returns whether there was
    /// anything to do; if not, the rounds are over.
    fn iterate(&mut self, round: Round, stage: Stage<'_>, state: &BodyState) -> Result<bool, SolverError>;

    /// The body as contacts and couplings see it; `None` before the first prediction.
    fn responding(&mut self) -> Option<&mut dyn Respond>;

    /// Whether it meets obstacles by itself, in closed form within its rounds, as the clustered solver does.
    fn meets_obstacles(&self) -> bool {
        false
    }

    /// Takes the step that the round and the contacts have made.
    fn advance(&mut self, stage: Stage<'_>, state: &BodyState) -> Progress;

    /// After the last round: looks back at it, and tells whether positions have changed by that.
    fn conclude(&mut self, _round: Round, _stage: Stage<'_>, _state: &BodyState) -> bool {
        false
    }

    /// Writes the end of the substep into the state.
    fn finish(&mut self, stage: Stage<'_>, outside: Outside<'_>, state: &mut BodyState) -> FinishReport;

    /// The present positions, for whoever looks on.
    fn positions(&mut self) -> Option<&Points>;

    /// Another of the same, with copies of all that was prepared.
    fn duplicate(&self) -> Box<dyn Solver>;

    /// Numbers in the factor of the system matrix; 0 if there is none.
    fn factor_len(&self) -> usize {
        0
    }
}

/// What the end of a substep tells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FinishReport {
    /// Contacts that it met by itself.
    pub contacts: usize,
    /// How far the last word of obstacles moved a particle, relative to the size of the body.
    pub pushed: f64,
    /// Whether all positions and velocities are numbers.
    pub finite: bool,
}

/// Sees the positions after the prediction (iteration 0) and after every iteration of every substep.
pub(crate) type Observer = Box<dyn FnMut(u32, &Points) + Send>;

/// A solver of a kind whose kernels run with an instruction set.
pub(crate) fn solver(kind: SolverKind, isa: Isa) -> Box<dyn Solver> {
    match kind {
        SolverKind::Clustered => Box::new(clustered::Clustered::new(isa)),
        SolverKind::Projective => Box::new(projective::Projective::new(isa)),
        SolverKind::Newton => Box::new(newton::Newton::new(isa)),
        SolverKind::Xpbd | SolverKind::Pbd => Box::new(position_based::PositionBased::new(kind)),
        SolverKind::Rigid => Box::new(rigid::Rigid::default()),
    }
}
