//! Newton's method with a line search on the objective of a step.

use super::hessian::{Hessian, Matrix};
use crate::constraints::Place;
use crate::dofs::DofMap;
use crate::model::Model;
use crate::points::Points;
use crate::solvers::SolverError;
use crate::solvers::objective::{Hands, Objective, Surroundings};
use crate::solvers::unknowns::Unknowns;

/// Part of the decrease the slope promises that a step must bring (Armijo), and how often it is halved.
const ARMIJO: f64 = 1e-4;
const HALVINGS: usize = 40;
/// A decrease below this part of the energy cannot be told from rounding.
const ROUNDING: f64 = 1e-13;

/// Minimises the objective of one solver's bodies.
#[derive(Debug)]
pub(crate) struct Minimiser {
    pub objective: Objective,
    hessian: Hessian,
    step: Vec<f64>,
    kept: Vec<Place>,
    /// E at the present positions.
    pub energy: f64,
}

/// What an iteration did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    /// The largest movement relative to the bodies' sizes.
    pub moved: f64,
    /// Whether nothing is left to gain: no step lowers the objective, or its gradient, any more.
    pub settled: bool,
    /// Whether what the last step tried could gain cannot be told from rounding.
    pub small: bool,
    /// Whether a whole step with the true Hessian was taken.
    pub whole: bool,
    /// What the whole step promised to gain: half of gᵀH⁻¹g.
    pub gain: f64,
}

impl Minimiser {
    pub fn new(
        model: &Model,
        dofs: DofMap,
        scales: &[f64],
        h: f64,
        diameters: &[f64],
    ) -> Result<Minimiser, SolverError> {
        let unknowns = Unknowns::new(model, dofs, scales);
        let hessian = Hessian::new(model, unknowns.clone(), scales, h)?;
        let objective = Objective::new(model, unknowns, scales, h, diameters);
        Ok(Minimiser {
            step: vec![0.0; 3 * objective.len()],
            kept: objective.ways().to_vec(),
            hessian,
            objective,
            energy: 0.0,
        })
    }

    /// Other stiffnesses of the same batches.
    pub fn rescale(&mut self, model: &Model, scales: &[f64]) {
        self.objective.rescale(scales);
        self.hessian.rescale(model, scales);
    }

    /// Begins at the prediction.
    pub fn begin(&mut self, model: &Model, s: &mut Points, around: Surroundings<'_>, hands: Hands<'_>) {
        self.objective.begin(model, s);
        self.evaluate(model, around, hands);
    }

    /// Computes energy and gradient anew, after positions were changed from outside.
    pub fn evaluate(&mut self, model: &Model, around: Surroundings<'_>, hands: Hands<'_>) {
        self.energy = self.objective.evaluate(model, around, hands);
    }

    /// One Newton step, halved until it lowers the energy as its slope promises. Where the promise is below
    /// rounding a smaller gradient counts instead. If neither is found, with the Hessian or without its negative
    /// curvature, the positions stay as they are.
    pub fn iterate(
        &mut self,
        model: &Model,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<Progress, SolverError> {
        let mut wanted = Matrix::True;
        loop {
            let (progress, used) = self.step(wanted, model, around, hands)?;
            match used {
                Matrix::True if progress.settled && !progress.small => wanted = Matrix::Clamped,
                _ => return Ok(progress),
            }
        }
    }

    /// One step of projective dynamics, with the constant matrix: it never raises the energy but for rounding.
    pub fn projective_step(
        &mut self,
        model: &Model,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<(), SolverError> {
        self.hessian.update(model, Matrix::Bound, hands, self.objective.views(around))?;
        self.hessian.solve(self.objective.descent(), &mut self.step);
        self.objective.move_by(&self.step, &[], hands.0);
        self.evaluate(model, around, hands);
        Ok(())
    }

    fn step(
        &mut self,
        wanted: Matrix,
        model: &Model,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<(Progress, Matrix), SolverError> {
        let mut progress = Progress { moved: 0.0, settled: true, small: true, whole: false, gain: 0.0 };
        let gradient = self.objective.gradient_squared();
        if gradient == 0.0 || !gradient.is_finite() {
            return Ok((progress, Matrix::Bound));
        }
        let used = self.hessian.update(model, wanted, hands, self.objective.views(around))?;
        self.hessian.solve(self.objective.descent(), &mut self.step);
        let mut slope: f64 = self.step.iter().zip(self.objective.descent()).map(|(p, g)| p * g).sum();
        progress.small = false;
        if !(slope > 0.0 && slope.is_finite()) {
            return Ok((progress, used));
        }
        progress.gain = 0.5 * slope;
        let before = self.energy;
        self.kept.copy_from_slice(self.objective.ways());
        for halvings in 0..HALVINGS {
            let moved = self.objective.move_by(&self.step, &[], hands.0);
            self.evaluate(model, around, hands);
            let promised = slope * ARMIJO;
            progress.small = slope <= ROUNDING * before;
            let enough = match progress.small {
                false => self.energy <= before - promised,
                true => {
                    self.energy <= before * (1.0 + ROUNDING) && self.objective.gradient_squared() < gradient
                }
            };
            if enough {
                (progress.moved, progress.settled) = (moved, false);
                progress.whole = used == Matrix::True && halvings == 0;
                return Ok((progress, used));
            }
            self.objective.set_ways(&self.kept);
            if progress.small {
                break;
            }
            self.step.iter_mut().for_each(|p| *p *= 0.5);
            slope *= 0.5;
        }
        self.evaluate(model, around, hands);
        Ok((progress, used))
    }

    pub fn factor_len(&self) -> usize {
        self.hessian.factor_len()
    }
}
