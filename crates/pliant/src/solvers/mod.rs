//! Ways to reach consensus: the solvers, what they have in common, and what each supports.

mod assembly;
mod bounces;
pub mod clustered;
mod damping;
mod energy;
mod implicit;
pub mod newton;
mod objective;
pub mod position_based;
pub mod projective;
mod prolongation;
mod support;
pub(crate) mod trace;
mod unknowns;

pub use support::{Feature, Support, support, support_table};
pub use trace::TracePoint;

use crate::controls::LiveControls;
use crate::model::BodyModel;
use crate::points::Points;
use crate::state::BodyState;
use crate::team::Team;
use pliant_math::lanes::Isa;

/// The solvers by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SolverKind {
    /// Clustered shape matching with strain limiting.
    Clustered,
    /// Projective dynamics.
    Projective,
    /// Newton's method on the same objective.
    Newton,
    /// Position based dynamics with compliance.
    Xpbd,
    /// Position based dynamics.
    Pbd,
}

impl SolverKind {
    /// Every solver.
    pub const ALL: [SolverKind; 5] = [
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
        }
    }

    /// Whether it moves bodies by constraint batches: all but shape matching do, and mean the same scene.
    pub fn uses_constraints(self) -> bool {
        self != SolverKind::Clustered
    }
}

/// Positions and velocities to start from.
pub type Before<'a> = (&'a Points, &'a Points);

/// What a substep of a body reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubstepReport {
    /// Contacts found.
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
/// [`SubstepReport::CONVERGED`] times the size of its body; *Newton* also if no step lowers the objective any more. The
/// *clustered* solver is explicit: its iterations limit strain and lead to no solution, so it has always converged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Convergence {
    /// The largest residual of any substep.
    pub residual: f64,
    /// Substeps taken, of all its bodies; 0 if it has none.
    pub substeps: u32,
    /// Those of them that have not converged.
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
pub enum SolverError {
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
pub struct Subject<'a> {
    /// What it is.
    pub model: &'a BodyModel,
    /// What moves it at present.
    pub controls: LiveControls<'a>,
    /// When the substep begins.
    pub time: f64,
}

/// Moves a body, and any other that is of the same parts and as stiff. All a solver keeps between calls is a cache: one
/// that was made anew, or that has just moved another body, gives the same bits.
pub trait Solver: std::fmt::Debug + Send {
    /// Makes whatever can be computed before the first step, so that stepping allocates nothing.
    fn prepare(&mut self, model: &BodyModel, controls: LiveControls<'_>) -> Result<(), SolverError>;

    /// Advances a body by one substep. If `before` is given, positions and velocities are to be read there, and those in
    /// `state` are old and only to be written. Every iteration is shown to `observer`.
    fn substep(
        &mut self,
        body: Subject<'_>,
        before: Option<Before<'_>>,
        state: &mut BodyState,
        team: &Team,
        observer: Option<&mut Observer>,
    ) -> Result<SubstepReport, SolverError>;

    /// Another of the same, with copies of all that was prepared.
    fn duplicate(&self) -> Box<dyn Solver>;

    /// Numbers in the factor of the system matrix; 0 if there is none.
    fn factor_len(&self) -> usize {
        0
    }
}

/// Sees the positions after the prediction (iteration 0) and after every iteration of every substep.
pub type Observer = Box<dyn FnMut(u32, &Points) + Send>;

/// A solver of a kind whose kernels run with an instruction set.
pub(crate) fn solver(kind: SolverKind, isa: Isa) -> Box<dyn Solver> {
    match kind {
        SolverKind::Clustered => Box::new(clustered::Clustered::new(isa)),
        SolverKind::Projective => Box::new(projective::Projective::new(isa)),
        SolverKind::Newton => Box::new(newton::Newton::new(isa)),
        SolverKind::Xpbd | SolverKind::Pbd => Box::new(position_based::PositionBased::new(kind)),
    }
}
