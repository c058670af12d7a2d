//! `--trace`: the objective of the first steps after each iteration of their solvers, as CSV.

use crate::failure::Failure;
use crate::terminal;
use pliant::TracePoint;
use pliant_cache::CacheError;
use pliant_session::{FrameReport, Session, SessionError};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "step,substep,solver,iteration,milliseconds,objective,gradient,relative_error\n";

/// The file, and how many steps are still to be traced.
pub struct TraceFile {
    path: PathBuf,
    file: File,
    steps: u32,
    /// Whether it was said that a relative error is missing.
    told: bool,
}

impl TraceFile {
    /// Begins the file anew, for the first `steps` steps of this run.
    pub fn create(path: &Path, steps: u32) -> Result<TraceFile, Failure> {
        let io = |e| Failure::from(CacheError::io(path, "write the trace", e));
        let mut file = File::create(path).map_err(io)?;
        file.write_all(HEADER.as_bytes()).map_err(io)?;
        Ok(TraceFile { path: path.to_path_buf(), file, steps, told: false })
    }

    /// Takes a step, and writes its trace if it is one of the first.
    pub fn step(&mut self, session: &mut Session) -> Result<Result<FrameReport, SessionError>, Failure> {
        let Some(left) = self.steps.checked_sub(1) else {
            return Ok(session.step());
        };
        self.steps = left;
        let (report, points) = match session.trace_step() {
            Ok(done) => done,
            Err(e) => return Ok(Err(e)),
        };
        let lines: String = points.iter().map(line).collect();
        self.tell(&points);
        let written = self.file.write_all(lines.as_bytes());
        written.map_err(|e| Failure::from(CacheError::io(&self.path, "write the trace", e)))?;
        Ok(Ok(report))
    }

    /// Says once why rows have no relative error.
    fn tell(&mut self, points: &[TracePoint]) {
        let without = points.iter().find(|p| p.relative_error.is_none());
        if let Some(p) = without.filter(|_| !self.told) {
            self.told = true;
            terminal::problem(&format!(
                "note: {}: no relative error for step {}, substep {} of solver {}, and perhaps others: no solution with \
                 a gradient at rounding was found from where its iterations ended, or one of them was below it; \
                 compare objectives and gradients instead, or give it more iterations",
                self.path.display(),
                p.step,
                p.substep,
                p.solver.name()
            ));
        }
    }
}

/// A row; the relative error is empty where there is none.
fn line(p: &TracePoint) -> String {
    let (solver, ms) = (p.solver.name(), 1e3 * p.seconds);
    let error = p.relative_error.map_or(String::new(), |e| format!("{e:e}"));
    format!(
        "{},{},{solver},{},{ms:.4},{:e},{:e},{error}\n",
        p.step, p.substep, p.iteration, p.objective, p.gradient
    )
}
