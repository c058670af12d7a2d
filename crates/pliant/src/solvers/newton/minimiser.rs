//! Newton's method with a line search on the objective of a step.

use super::contacts::Contacts;
use super::hessian::{Hessian, Matrix};
use crate::constraints::Place;
use crate::dofs::DofMap;
use crate::model::BodyModel;
use crate::points::Points;
use crate::solvers::SolverError;
use crate::solvers::objective::{Hands, Objective, Surroundings};
use crate::solvers::unknowns::Unknowns;
use glam::{DMat3, DVec3};

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
    kept: Vec<Place>,
    /// −∇E with what planes hold and friction, and the held unknowns as the matrix wants them.
    pull: Vec<f64>,
    held: Vec<(usize, DVec3, DMat3)>,
    /// E at the present positions.
    pub energy: f64,
}

/// What an iteration did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
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
            kept: objective.ways().to_vec(),
            pull: vec![0.0; 3 * objective.len()],
            held: Vec::new(),
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
    pub fn begin(&mut self, model: &BodyModel, s: &mut Points, around: Surroundings<'_>, hands: Hands<'_>) {
        self.objective.begin(model, s);
        self.evaluate(model, around, hands);
    }

    /// Computes energy and gradient anew, after positions were changed from outside.
    pub fn evaluate(&mut self, model: &BodyModel, around: Surroundings<'_>, hands: Hands<'_>) {
        self.energy = self.objective.evaluate(model, around, hands);
    }

    /// Room for as many held particles.
    pub fn reserve(&mut self, held: usize) {
        self.held.reserve(held);
    }

    /// One Newton step, halved until it lowers the energy as its slope promises. Where the promise is below
    /// rounding a smaller gradient counts instead. If neither is found, with the Hessian or without its negative
    /// curvature, the positions stay as they are.
    pub fn iterate(
        &mut self,
        model: &BodyModel,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<Progress, SolverError> {
        self.iterate_on(None, model, around, hands)
    }

    /// The same with planes, whose contacts were found for the present positions: the step keeps to them, and what
    /// would end below one ends on it.
    pub(super) fn iterate_on(
        &mut self,
        contacts: Option<&Contacts>,
        model: &BodyModel,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<Progress, SolverError> {
        let mut wanted = Matrix::True;
        loop {
            let (progress, used) = self.step(wanted, contacts, model, around, hands)?;
            match used {
                Matrix::True if progress.settled && !progress.small => wanted = Matrix::Clamped,
                _ => return Ok(progress),
            }
        }
    }

    /// One step of projective dynamics, with the constant matrix: it never raises the energy but for rounding.
    pub fn projective_step(
        &mut self,
        model: &BodyModel,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<(), SolverError> {
        self.hessian.update(model, Matrix::Bound, hands, &[], self.objective.views(around))?;
        self.hessian.solve(self.objective.descent(), &mut self.step);
        self.objective.move_by(&self.step, hands.0);
        self.evaluate(model, around, hands);
        Ok(())
    }

    fn step(
        &mut self,
        wanted: Matrix,
        contacts: Option<&Contacts>,
        model: &BodyModel,
        around: Surroundings<'_>,
        hands: Hands<'_>,
    ) -> Result<(Progress, Matrix), SolverError> {
        let mut progress = Progress { moved: 0.0, settled: true, small: true, whole: false };
        self.pull.copy_from_slice(self.objective.descent());
        self.held.clear();
        let mut friction = 0.0;
        if let Some(contacts) = contacts {
            contacts.resist(&self.objective, &mut self.pull);
            friction = contacts.energy(&self.objective);
            let held = contacts.held().iter();
            self.held.extend(held.map(|h| (h.unknown, h.normal, h.curvature(&self.objective))));
        }
        let gradient: f64 = self.pull.iter().map(|g| g * g).sum();
        if gradient == 0.0 || !gradient.is_finite() {
            return Ok((progress, Matrix::Bound));
        }
        let used = self.hessian.update(model, wanted, hands, &self.held, self.objective.views(around))?;
        self.hessian.solve(&self.pull, &mut self.step);
        if let Some(contacts) = contacts {
            contacts.keep_on(&mut self.step);
        }
        let mut slope: f64 = self.step.iter().zip(&self.pull).map(|(p, g)| p * g).sum();
        progress.small = false;
        if !(slope > 0.0 && slope.is_finite()) {
            return Ok((progress, used));
        }
        let (before, alone) = (self.energy + friction, contacts.is_none());
        self.kept.copy_from_slice(self.objective.ways());
        for halvings in 0..HALVINGS {
            progress.small = slope <= ROUNDING * before;
            if progress.small && !alone {
                break;
            }
            let moved = self.objective.move_by(&self.step, hands.0);
            let landed = contacts.is_some_and(|c| c.land(&mut self.objective));
            self.evaluate(model, around, hands);
            let energy = self.energy + contacts.map_or(0.0, |c| c.energy(&self.objective));
            // What has landed has not gone where the slope promised: less will do.
            let promised = if landed { 0.0 } else { slope * ARMIJO };
            let enough = match progress.small {
                false => energy < before - promised,
                true => energy <= before * (1.0 + ROUNDING) && self.objective.gradient_squared() < gradient,
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
