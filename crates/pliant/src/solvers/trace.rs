//! How fast a solver approaches the solution of a step: the objective after each of its iterations.
//!
//! One function computes E (eq. 8 of projective-dynamics) for all solvers, from positions alone and with the
//! same prediction s, so that their curves can be compared (figure 12). E* is the least of what Newton's
//! method reaches from s and from the solver's last positions. Planes have no part in E: with contacts the
//! error does not go to zero.

use super::implicit::{diameters, reach, scale_of};
use super::newton::Minimiser;
use super::objective::{Hands, Surroundings};
use super::{Observer, SolverError, SolverKind};
use crate::controls::Controls;
use crate::dofs::DofMap;
use crate::model::Model;
use crate::points::Points;
use crate::simulation::Clock;
use glam::DAffine3;
use std::sync::{Arc, Mutex, PoisonError};

/// Newton iterations that make a solution, unless nothing is left to gain before.
const MOST: usize = 300;

/// Where a solver was after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePoint {
    /// The step it belongs to, counted from 1 as in [`StepReport`](crate::StepReport).
    pub step: u64,
    /// The substep, from 0.
    pub substep: u32,
    /// Whose iteration.
    pub solver: SolverKind,
    /// Its number; 0 is the prediction.
    pub iteration: u32,
    /// Time since the prediction, without what measuring took.
    pub seconds: f64,
    /// E at these positions, auxiliary unknowns at their best.
    pub objective: f64,
    /// ‖∇E‖ there.
    pub gradient: f64,
    /// (E − E*)/(E₀ − E*): 1 at the prediction, 0 at the solution.
    pub relative_error: f64,
}

/// What is seen of a solver during a substep.
#[derive(Default)]
struct Seen {
    list: Vec<(u32, f64, Points)>,
    begin: f64,
    /// Time taken by looking.
    lost: f64,
}

/// Collects the iterations of a step and evaluates them.
pub(crate) struct Tracer {
    clock: Arc<Mutex<Clock>>,
    seen: Arc<Mutex<Seen>>,
    memory: Vec<f64>,
    pub points: Vec<TracePoint>,
    /// What evaluates, by kind of solver; kept for as long as the model stays.
    evaluators: Vec<Evaluator>,
}

impl Tracer {
    pub fn new() -> Tracer {
        Tracer {
            clock: Arc::new(Mutex::new(Box::new(|| 0.0))),
            seen: Arc::default(),
            memory: Vec::new(),
            points: Vec::new(),
            evaluators: Vec::new(),
        }
    }

    /// Begins a step.
    pub fn begin(&mut self, clock: Clock) {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
        self.points.clear();
    }

    /// Begins a substep, of which the observer returned is to be shown every iteration. `memory` is what the
    /// batches remember.
    pub fn watch(&mut self, memory: &[f64]) -> Observer {
        self.memory.clear();
        self.memory.extend_from_slice(memory);
        let (seen, clock) = (self.seen.clone(), self.clock.clone());
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
        Box::new(move |iteration, q| {
            let clock = clock.lock().unwrap_or_else(PoisonError::into_inner);
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            let now = clock();
            if iteration == 0 {
                seen.begin = now;
            }
            let seconds = now - seen.begin - seen.lost;
            seen.list.push((iteration, seconds, q.clone()));
            seen.lost += clock() - now;
        })
    }

    /// Evaluates what was seen in a substep of `kind` that began at `time`.
    pub fn evaluate(
        &mut self,
        kind: SolverKind,
        (model, controls): (&Model, &Controls),
        (step, substep, time): (u64, u32, f64),
        hands: Hands<'_>,
    ) -> Result<(), SolverError> {
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let (Some((_, _, s)), Some((_, _, last))) = (seen.list.first(), seen.list.last()) else {
            return Ok(());
        };
        self.evaluators.retain(|e| e.model.same_parts(model));
        let known = self.evaluators.iter_mut().position(|e| e.kind == kind && e.follows(controls));
        let known = match known {
            Some(known) => known,
            None => {
                self.evaluators.retain(|e| e.kind != kind);
                self.evaluators.push(Evaluator::new(kind, model, controls)?);
                self.evaluators.len() - 1
            }
        };
        let evaluator = &mut self.evaluators[known];
        controls.placements(model, time + reach(kind, model), &mut evaluator.placements);
        evaluator.begin(s, &self.memory, hands);
        let values: Vec<(f64, f64)> =
            seen.list.iter().map(|(_, _, q)| evaluator.value(q, &self.memory, hands)).collect();
        let mut best = values.iter().map(|(e, _)| *e).fold(f64::INFINITY, f64::min);
        for start in [s, last] {
            best = best.min(evaluator.minimum(start, &self.memory, hands)?);
        }
        let range = values[0].0 - best;
        for ((iteration, seconds, _), (objective, gradient)) in seen.list.iter().zip(values) {
            self.points.push(TracePoint {
                step,
                substep,
                solver: kind,
                iteration: *iteration,
                seconds: *seconds,
                objective,
                gradient,
                relative_error: if range > 0.0 { (objective - best) / range } else { 0.0 },
            });
        }
        Ok(())
    }
}

/// E of the bodies of one solver, and its minimum.
struct Evaluator {
    kind: SolverKind,
    model: Model,
    scales: Vec<f64>,
    minimiser: Minimiser,
    offsets: Vec<usize>,
    placements: Vec<DAffine3>,
}

impl Evaluator {
    fn new(kind: SolverKind, model: &Model, controls: &Controls) -> Result<Evaluator, SolverError> {
        let scales: Vec<f64> = (0..model.batches.len()).map(|b| scale_of(kind, model, controls, b)).collect();
        let dofs = DofMap::of_solver(model, kind);
        Ok(Evaluator {
            kind,
            minimiser: Minimiser::new(model, dofs, &scales, reach(kind, model), &diameters(model))?,
            offsets: model.auxiliary_offsets(),
            placements: Vec::new(),
            model: model.clone(),
            scales,
        })
    }

    /// Whether the stiffnesses are the ones it was made for.
    fn follows(&self, controls: &Controls) -> bool {
        let now = |b| scale_of(self.kind, &self.model, controls, b);
        self.scales.iter().enumerate().all(|(b, scale)| *scale == now(b))
    }

    fn begin(&mut self, s: &Points, memory: &[f64], hands: Hands<'_>) {
        let around = Surroundings { memory, offsets: &self.offsets, placements: &self.placements };
        self.minimiser.begin(&self.model, &mut s.clone(), around, hands);
    }

    /// E and ‖∇E‖ at `q`.
    fn value(&mut self, q: &Points, memory: &[f64], hands: Hands<'_>) -> (f64, f64) {
        let around = Surroundings { memory, offsets: &self.offsets, placements: &self.placements };
        self.minimiser.objective.start_at(q);
        self.minimiser.objective.settle_auxiliary(&self.model);
        self.minimiser.evaluate(&self.model, around, hands);
        (self.minimiser.energy, self.minimiser.objective.gradient_squared().sqrt())
    }

    /// The least E Newton's method finds from `q`.
    fn minimum(&mut self, q: &Points, memory: &[f64], hands: Hands<'_>) -> Result<f64, SolverError> {
        self.value(q, memory, hands);
        let around = Surroundings { memory, offsets: &self.offsets, placements: &self.placements };
        for _ in 0..MOST {
            if self.minimiser.iterate(&self.model, around, hands)?.settled {
                break;
            }
        }
        Ok(self.minimiser.energy)
    }
}
