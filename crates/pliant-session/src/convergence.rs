//! What is said of solvers whose iterations did not come to an end.

use pliant::{SolverKind, StepReport};

/// What is wrong with a substep of soft bodies that has not converged.
const OF_MATERIAL: &str = "so shape and energy there are not the material's";

/// Counts, over a run, the frames in which solvers did not converge.
#[derive(Debug, Default)]
pub struct ConvergenceWatch {
    frames: u32,
    solvers: [SolverRecord; SolverKind::ALL.len()],
}

#[derive(Debug, Default)]
struct SolverRecord {
    first: Option<u64>,
    frames: u32,
    residual: f64,
}

impl ConvergenceWatch {
    /// Takes up the report of a frame.
    pub fn frame(&mut self, number: u64, report: &StepReport) {
        self.frames += 1;
        for (seen, c) in self.solvers.iter_mut().zip(&report.convergence).filter(|(_, c)| c.unconverged > 0) {
            seen.first.get_or_insert(number);
            seen.frames += 1;
            seen.residual = seen.residual.max(c.residual);
        }
    }

    /// One note for each solver that did not always converge.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        let all = SolverKind::ALL.into_iter().zip(&self.solvers);
        all.filter_map(|(kind, seen)| {
            let first = seen.first?;
            let (what, help) = match kind {
                SolverKind::Projective => (OF_MATERIAL, "lower the stiffness, or take solver = \"newton\""),
                SolverKind::Rigid => ("so contacts and joints there are not exact", "slow down what turns fast"),
                _ => (OF_MATERIAL, "lower the stiffness, or take solver = \"projective\""),
            };
            let raise = if kind == SolverKind::Rigid { "`substeps`" } else { "`iterations` or `substeps`" };
            Some(format!(
                "note: solver {} did not converge in {} of {} frames, the first of them {first}: its last iteration still \
                 moved a particle by {:.0} % of its body's size, {what}\n  help: raise {raise}, {help}",
                kind.name(),
                seen.frames,
                self.frames,
                100.0 * seen.residual
            ))
        })
    }
}
