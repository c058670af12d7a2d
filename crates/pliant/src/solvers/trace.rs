//! How fast a solver approaches the solution of a step: the objective after each of its iterations.
//!
//! One function computes E (eq. 8 of projective-dynamics) for all solvers, from positions alone and with the
//! same prediction s, so that their curves can be compared (figure 12). Planes have no part in E: with contacts the
//! error does not go to zero.
//!
//! E may have many minima (a cloth can buckle this way or that). E* is that of the basin in which the solver's last
//! positions are: projective steps, which go downhill slowly and jump nowhere, lead on from there until whole Newton
//! steps converge; for Newton's own runs its steps do. It counts if its gradient is at rounding. If no
//! such place is found there is no relative error to tell.

use super::implicit::reach;
use super::newton::Minimiser;
use super::objective::{Executor, ProjectionInputs};
use super::{Observer, SolverError, SolverKind, Subject};
use crate::controls::LiveControls;
use crate::dofs::DofMap;
use crate::memory::{Memory, Section};
use crate::model::{BodyId, BodyModel};
use crate::points::Points;
use crate::simulation::Clock;
use glam::DVec3;
use std::sync::{Arc, Mutex, PoisonError};

/// Newton iterations with a line search that make a solution, unless nothing is left to gain before.
const MOST: usize = 300;
/// Whole Newton steps that do, from a place near enough.
const WHOLE: usize = 30;
/// Projective steps before the first attempt at whole Newton steps, and in all; their number doubles each time.
const FEWEST: usize = 16;
const STEPS: usize = 8192;
/// A gradient of this part of the prediction's is rounding.
const GRADIENT: f64 = 1e-12;
/// An iterate that is lower than E* by this part of the range is in another basin.
const BELOW: f64 = 1e-9;

/// Where a solver was after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TracePoint {
    /// The step it belongs to, counted from 1 as in [`StepReport`](crate::StepReport).
    pub step: u64,
    /// Number of the substep within its step, from 0.
    pub substep: u32,
    /// Whose iteration.
    pub body: BodyId,
    /// Who moves that body.
    pub solver: SolverKind,
    /// Its number; 0 is the prediction.
    pub iteration: u32,
    /// Time since the prediction, without what measuring took.
    pub seconds: f64,
    /// E at these positions, auxiliary unknowns at their best.
    pub objective: f64,
    /// ‖∇E‖ there.
    pub gradient: f64,
    /// (E − E*)/(E₀ − E*): 1 at the prediction, 0 at the solution the run was on its way to. `None` if no solution with a
    /// gradient at rounding was found from its last positions, or an iterate was below it, in another basin.
    pub relative_error: Option<f64>,
}

/// What is seen of a solver during a substep.
#[derive(Default)]
struct IterationLog {
    list: Vec<(u32, f64, Points)>,
    begin: f64,
    /// Time taken by looking.
    lost: f64,
}

/// Collects the iterations of a step and evaluates them.
pub(crate) struct Tracer {
    clock: Arc<Mutex<Clock>>,
    seen: Arc<Mutex<IterationLog>>,
    memory: Memory,
    pub points: Vec<TracePoint>,
    /// What evaluates, for as long as bodies stay as they are.
    evaluators: Vec<(BodyId, Evaluator)>,
}

impl Tracer {
    pub fn new() -> Tracer {
        Tracer {
            clock: Arc::new(Mutex::new(Box::new(|| 0.0))),
            seen: Arc::default(),
            memory: Memory::empty(),
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
    pub fn watch(&mut self, memory: &Memory) -> Observer {
        self.memory.clone_from(memory);
        let (seen, clock) = (self.seen.clone(), self.clock.clone());
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = IterationLog::default();
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

    /// Evaluates what was seen in a substep of a body.
    pub fn evaluate(
        &mut self,
        id: BodyId,
        body: Subject<'_>,
        (step, substep): (u64, u32),
        executor: Executor<'_>,
    ) -> Result<(), SolverError> {
        let Subject { model, controls, time, .. } = body;
        let seen = std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        let (Some((_, _, s)), Some((_, _, last))) = (seen.list.first(), seen.list.last()) else {
            return Ok(());
        };
        let fits = |(of, e): &(BodyId, Evaluator)| *of == id && e.model.same(model) && e.follows(controls);
        let known = match self.evaluators.iter().position(fits) {
            Some(known) => known,
            None => {
                self.evaluators.retain(|(of, _)| *of != id);
                self.evaluators.push((id, Evaluator::new(model, controls)?));
                self.evaluators.len() - 1
            }
        };
        let evaluator = &mut self.evaluators[known].1;
        controls.targets(model, &self.memory, time + reach(model), &mut evaluator.targets);
        let memory = &self.memory[Section::Batches];
        evaluator.begin(s, memory, executor);
        let values: Vec<(f64, f64)> =
            seen.list.iter().map(|(_, _, q)| evaluator.value(q, memory, executor)).collect();
        let (first, slope) = values[0];
        let lowest = values.iter().map(|(e, _)| *e).fold(f64::INFINITY, f64::min);
        let solution = evaluator.solution(last, slope, memory, executor)?;
        let best = solution.filter(|best| best - lowest <= BELOW * (first - best).abs());
        let error = |e: f64| {
            // Rounding may leave an iterate a digit below the solution.
            best.map(|best| if first > best { ((e - best) / (first - best)).max(0.0) } else { 0.0 })
        };
        for ((iteration, seconds, _), (objective, gradient)) in seen.list.iter().zip(values) {
            self.points.push(TracePoint {
                step,
                substep,
                body: id,
                solver: model.solver(),
                iteration: *iteration,
                seconds: *seconds,
                objective,
                gradient,
                relative_error: error(objective),
            });
        }
        Ok(())
    }
}

/// E of a body, and its minimum.
struct Evaluator {
    model: BodyModel,
    scales: Vec<f64>,
    minimiser: Minimiser,
    offsets: Vec<usize>,
    targets: Vec<DVec3>,
}

impl Evaluator {
    fn new(model: &BodyModel, controls: LiveControls<'_>) -> Result<Evaluator, SolverError> {
        let scales: Vec<f64> = model.batch_scales(controls.body).collect();
        let dofs = DofMap::of_body(model);
        Ok(Evaluator {
            minimiser: Minimiser::new(model, dofs, &scales, reach(model), model.diameter())?,
            offsets: model.memory_offsets(),
            targets: Vec::new(),
            model: model.clone(),
            scales,
        })
    }

    /// Whether the stiffnesses are the ones it was made for.
    fn follows(&self, controls: LiveControls<'_>) -> bool {
        self.model.batch_scales(controls.body).zip(&self.scales).all(|(now, was)| now == *was)
    }

    fn begin(&mut self, s: &Points, memory: &[f64], executor: Executor<'_>) {
        let around = ProjectionInputs { memory, offsets: &self.offsets, targets: &self.targets };
        self.minimiser.begin(&self.model, &mut s.clone(), around, executor);
    }

    /// E and ‖∇E‖ at `q`.
    fn value(&mut self, q: &Points, memory: &[f64], executor: Executor<'_>) -> (f64, f64) {
        let around = ProjectionInputs { memory, offsets: &self.offsets, targets: &self.targets };
        self.minimiser.objective.start_at(q);
        self.minimiser.objective.settle_auxiliary(&self.model);
        self.minimiser.evaluate(&self.model, around, executor);
        (self.minimiser.energy, self.minimiser.objective.gradient_squared().sqrt())
    }

    /// E* of the basin `q` is in; `None` if no place with a gradient at rounding is found. `slope` is ‖∇E‖ at the
    /// prediction.
    fn solution(
        &mut self,
        q: &Points,
        slope: f64,
        memory: &[f64],
        executor: Executor<'_>,
    ) -> Result<Option<f64>, SolverError> {
        self.value(q, memory, executor);
        let around = ProjectionInputs { memory, offsets: &self.offsets, targets: &self.targets };
        let Evaluator { minimiser, model, .. } = self;
        let flat = (GRADIENT * slope).powi(2);
        let done = |m: &Minimiser| m.objective.gradient_squared() <= flat;
        if model.solver() != SolverKind::Newton {
            let (mut count, mut total) = (FEWEST, 0);
            while total < STEPS {
                let kept = minimiser.objective.displacements().to_vec();
                if minimise(minimiser, model, around, executor, WHOLE, true)? || done(minimiser) {
                    return Ok(Some(minimiser.energy));
                }
                minimiser.objective.set_displacements(&kept);
                minimiser.evaluate(model, around, executor);
                for _ in 0..count {
                    minimiser.projective_step(model, around, executor)?;
                    if done(minimiser) {
                        return Ok(Some(minimiser.energy));
                    }
                }
                total += count;
                count *= 2;
            }
        }
        let found = minimise(minimiser, model, around, executor, MOST, false)? || done(minimiser);
        Ok(found.then_some(minimiser.energy))
    }
}

/// Newton's method until nothing is left to gain; tells whether that is rounding. With `whole`, no other steps than whole
/// ones with the true Hessian that lower the gradient.
fn minimise(
    minimiser: &mut Minimiser,
    model: &BodyModel,
    around: ProjectionInputs<'_>,
    executor: Executor<'_>,
    most: usize,
    whole: bool,
) -> Result<bool, SolverError> {
    let mut gradient = minimiser.objective.gradient_squared();
    for _ in 0..most {
        let progress = minimiser.iterate(model, around, executor)?;
        if progress.settled {
            return Ok(progress.small);
        }
        let now = minimiser.objective.gradient_squared();
        if whole && !(progress.whole && now < gradient) {
            return Ok(false);
        }
        gradient = now;
    }
    Ok(false)
}
