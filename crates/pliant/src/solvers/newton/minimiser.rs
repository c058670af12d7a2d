//! Newton's method with a line search on the objective of a step.

use super::hessian::{Hessian, Matrix};
use crate::constraints::PaddedVector;
use crate::dofs::DofMap;
use crate::model::BodyModel;
use crate::points::Points;
use crate::solvers::SolverError;
use crate::solvers::objective::{Executor, Objective, ProjectionInputs, columns};
use crate::solvers::unknowns::Unknowns;
use glam::DVec3;

/// Part of the decrease the slope promises that a step must bring (Armijo), and how often it is halved.
const ARMIJO: f64 = 1e-4;
const HALVINGS: usize = 40;
/// A decrease below this part of the energy cannot be told from rounding.
const ROUNDING: f64 = 1e-13;

/// Minimises the objective of a body.
#[derive(Debug)]
pub(crate) struct Minimiser {
    pub objective: Objective,
    hessian: Hessian,
    step: Vec<f64>,
    kept: Vec<PaddedVector>,
    /// −∇E and the forces of contacts; movements that follow from forces alone.
    pull: Vec<f64>,
    response: Vec<f64>,
    /// What the forces of contacts do in the whole step, and which matrix it was made with.
    work: f64,
    used: Matrix,
    /// E at the present positions.
    pub energy: f64,
}

/// What an iteration did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct IterationOutcome {
    /// The largest movement relative to the body's size.
    pub moved: f64,
    /// Whether nothing is left to gain: no step lowers the objective, or its gradient, any more.
    pub settled: bool,
    /// Whether what the last step tried could gain cannot be told from rounding.
    pub small: bool,
    /// Whether a whole step with the true Hessian was taken.
    pub whole: bool,
}

impl Minimiser {
    pub fn new(
        model: &BodyModel,
        dofs: DofMap,
        scales: &[f64],
        h: f64,
        diameter: f64,
    ) -> Result<Minimiser, SolverError> {
        let unknowns = Unknowns::new(model, dofs, scales);
        let hessian = Hessian::new(model, unknowns.clone(), scales, h)?;
        let objective = Objective::new(model, unknowns, scales, h, diameter);
        Ok(Minimiser {
            step: vec![0.0; 3 * objective.len()],
            kept: objective.displacements().to_vec(),
            pull: vec![0.0; 3 * objective.len()],
            response: vec![0.0; 3 * objective.len()],
            work: 0.0,
            used: Matrix::Bound,
            hessian,
            objective,
            energy: 0.0,
        })
    }

    /// Other stiffnesses of the same batches.
    pub fn rescale(&mut self, model: &BodyModel, scales: &[f64]) {
        self.objective.rescale(scales);
        self.hessian.rescale(model, scales);
    }

    /// Begins at the prediction.
    pub fn begin(
        &mut self,
        model: &BodyModel,
        s: &mut Points,
        around: ProjectionInputs<'_>,
        executor: Executor<'_>,
    ) {
        self.objective.begin(model, s);
        self.evaluate(model, around, executor);
    }

    /// Computes energy and gradient anew, after positions were changed from outside.
    pub fn evaluate(&mut self, model: &BodyModel, around: ProjectionInputs<'_>, executor: Executor<'_>) {
        self.energy = self.objective.evaluate(model, around, executor);
    }

    /// One Newton step, halved until it lowers the energy as its slope promises. Where the promise is below
    /// rounding a smaller gradient counts instead. If neither is found, with the Hessian or without its negative
    /// curvature, the positions stay as they are.
    pub fn iterate(
        &mut self,
        model: &BodyModel,
        around: ProjectionInputs<'_>,
        executor: Executor<'_>,
    ) -> Result<IterationOutcome, SolverError> {
        let mut wanted = Matrix::True;
        loop {
            self.solve(wanted, model, around, executor)?;
            let progress = self.search(false, model, around, executor);
            match self.used {
                Matrix::True if progress.settled && !progress.small => wanted = Matrix::Clamped,
                _ => return Ok(progress),
            }
        }
    }

    /// One step of projective dynamics, with the constant matrix: it never raises the energy but for rounding.
    pub fn projective_step(
        &mut self,
        model: &BodyModel,
        around: ProjectionInputs<'_>,
        executor: Executor<'_>,
    ) -> Result<(), SolverError> {
        self.hessian.update(model, Matrix::Bound, executor, self.objective.views(around))?;
        self.hessian.solve(self.objective.descent(), &mut self.step);
        self.objective.move_by(&self.step, executor.0);
        self.evaluate(model, around, executor);
        Ok(())
    }

    /// Solves for the step from −∇E alone.
    pub(super) fn solve(
        &mut self,
        wanted: Matrix,
        model: &BodyModel,
        around: ProjectionInputs<'_>,
        executor: Executor<'_>,
    ) -> Result<(), SolverError> {
        self.pull.copy_from_slice(self.objective.descent());
        self.work = 0.0;
        self.used = self.hessian.update(model, wanted, executor, self.objective.views(around))?;
        self.hessian.solve(&self.pull, &mut self.step);
        Ok(())
    }

    /// Solves for the step from −∇E and forces on particles.
    pub(super) fn load(&mut self, loads: impl Iterator<Item = (u32, DVec3)> + Clone) {
        self.pull.copy_from_slice(self.objective.descent());
        scatter(self.objective.dofs(), &mut self.pull, loads.clone());
        self.hessian.solve(&self.pull, &mut self.step);
        self.work = loads.map(|(i, f)| f.dot(self.moved(i as usize, &self.step))).sum();
    }

    /// The movements that forces alone bring about: see [`Minimiser::responded`].
    pub(super) fn respond(&mut self, loads: impl Iterator<Item = (u32, DVec3)>) {
        self.pull.fill(0.0);
        scatter(self.objective.dofs(), &mut self.pull, loads);
        self.hessian.solve(&self.pull, &mut self.response);
    }

    /// How a particle responded.
    pub(super) fn responded(&self, particle: usize) -> DVec3 {
        self.moved(particle, &self.response)
    }

    /// Where a particle would be after the step.
    pub(super) fn ahead(&self, particle: usize) -> DVec3 {
        self.objective.position(particle) + self.moved(particle, &self.step)
    }

    /// Which matrix the step was made with.
    pub(super) fn used(&self) -> Matrix {
        self.used
    }

    fn moved(&self, particle: usize, by: &[f64]) -> DVec3 {
        let n = self.objective.len();
        let mut sum = DVec3::ZERO;
        self.objective.dofs().expand(particle, |u, w| {
            let u = u as usize;
            sum += DVec3::new(by[u], by[n + u], by[2 * n + u]) * w;
        });
        sum
    }

    /// Takes the step that was solved for, halved until E less the work of contacts decreases enough.
    pub(super) fn search(
        &mut self,
        touched: bool,
        model: &BodyModel,
        around: ProjectionInputs<'_>,
        executor: Executor<'_>,
    ) -> IterationOutcome {
        let mut progress = IterationOutcome { moved: 0.0, settled: true, small: true, whole: false };
        let gradient: f64 = self.pull.iter().map(|g| g * g).sum();
        if gradient == 0.0 || !gradient.is_finite() {
            return progress;
        }
        let mut slope: f64 = self.step.iter().zip(&self.pull).map(|(p, g)| p * g).sum();
        progress.small = false;
        if !(slope > 0.0 && slope.is_finite()) {
            return progress;
        }
        let (before, mut work) = (self.energy, self.work);
        let size = before + work.abs();
        self.kept.copy_from_slice(self.objective.displacements());
        for halvings in 0..HALVINGS {
            progress.small = slope <= ROUNDING * size;
            if progress.small && touched {
                // No energy tells what this is worth, but what forces hold in its place is brought there by it.
                progress.moved = self.objective.move_by(&self.step, executor.0);
                self.evaluate(model, around, executor);
                return progress;
            }
            let moved = self.objective.move_by(&self.step, executor.0);
            self.evaluate(model, around, executor);
            let energy = self.energy - work;
            let enough = match progress.small {
                false => energy < before - slope * ARMIJO,
                true => energy <= before * (1.0 + ROUNDING) && self.objective.gradient_squared() < gradient,
            };
            if enough {
                (progress.moved, progress.settled) = (moved, false);
                progress.whole = self.used == Matrix::True && halvings == 0;
                return progress;
            }
            self.objective.set_displacements(&self.kept);
            if progress.small {
                break;
            }
            self.step.iter_mut().for_each(|p| *p *= 0.5);
            (slope, work) = (slope * 0.5, work * 0.5);
        }
        self.evaluate(model, around, executor);
        progress
    }

    pub fn factor_len(&self) -> usize {
        self.hessian.factor_len()
    }
}

/// Adds forces on particles to a right-hand side of x, y and z columns.
fn scatter(dofs: &DofMap, rhs: &mut [f64], loads: impl Iterator<Item = (u32, DVec3)>) {
    let [x, y, z] = columns(rhs);
    for (particle, force) in loads {
        dofs.expand(particle as usize, |u, w| {
            let u = u as usize;
            (x[u], y[u], z[u]) = (x[u] + w * force.x, y[u] + w * force.y, z[u] + w * force.z);
        });
    }
}
