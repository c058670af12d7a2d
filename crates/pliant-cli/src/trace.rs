//! `--trace`: the objective of the first steps after each iteration of their solvers, as CSV.

use crate::failure::Failure;
use pliant::{Clock, Simulation, StepError, StepReport, TracePoint};
use pliant_cache::CacheError;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

const HEADER: &str = "step,substep,solver,iteration,milliseconds,objective,gradient,relative_error\n";

/// The file, and how many steps are still to be traced.
pub struct TraceFile {
    path: PathBuf,
    file: File,
    steps: u32,
}

impl TraceFile {
    /// Begins the file anew, for the first `steps` steps of this run.
    pub fn create(path: &Path, steps: u32) -> Result<TraceFile, Failure> {
        let io = |e| Failure::from(CacheError::io(path, "write the trace", e));
        let mut file = File::create(path).map_err(io)?;
        file.write_all(HEADER.as_bytes()).map_err(io)?;
        Ok(TraceFile { path: path.to_path_buf(), file, steps })
    }

    /// Takes a step, and writes its trace if it is one of the first.
    pub fn step(
        &mut self,
        simulation: &mut Simulation,
        clock: Clock,
    ) -> Result<Result<StepReport, StepError>, Failure> {
        let Some(left) = self.steps.checked_sub(1) else {
            return Ok(simulation.step());
        };
        self.steps = left;
        let (report, points) = match simulation.trace_step(clock) {
            Ok(done) => done,
            Err(e) => return Ok(Err(e)),
        };
        let lines: String = points.iter().map(line).collect();
        let written = self.file.write_all(lines.as_bytes());
        written.map_err(|e| Failure::from(CacheError::io(&self.path, "write the trace", e)))?;
        Ok(Ok(report))
    }
}

fn line(p: &TracePoint) -> String {
    let (solver, ms) = (p.solver.name(), 1e3 * p.seconds);
    format!(
        "{},{},{solver},{},{ms:.4},{:e},{:e},{:e}\n",
        p.step, p.substep, p.iteration, p.objective, p.gradient, p.relative_error
    )
}
