//! A step of all bodies: keyframes, solvers, tears, and the way back if anything fails.

use super::{Clock, Driver, Simulation, StepError, StepReport};
use crate::advance::StepContext;
use crate::controls::{ControlError, Controls};
use crate::couplings::CouplingMemory;
use crate::model::Model;
use crate::solvers::trace::{TracePoint, Tracer};
use crate::state::State;

impl Simulation {
    /// Advances by one step, with keyframed controls at their values of the moment it begins. If it
    /// fails, the state is as before.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        if self.state.step >= State::LAST_STEP {
            return Err(StepError::TooManySteps);
        }
        self.apply_keyframes();
        self.assign_pools()?;
        (self.backup.time, self.backup.step) = (self.state.time, self.state.step);
        self.backup.model = self.state.model;
        let result = self.advance();
        self.stepped = result.is_ok();
        match result {
            Ok(_) => {
                self.tearing.begin_step();
                self.tear_apart();
                self.tearing.end_step();
                self.apply_keyframes();
            }
            Err(_) => {
                std::mem::swap(&mut self.state, &mut self.backup);
                // Numbers that are none may have got into scratch that later steps read.
                self.drop_caches();
            }
        }
        result
    }

    /// Lets a host drive any control and then takes a step: `drive` is given the number of steps done,
    /// the time, and the controls to set. If it or the step fails, state and controls are as before.
    ///
    /// ```
    /// # use pliant::{Body, Builder, Control, shapes};
    /// # let body = Body::new("ball", shapes::ball(0.2, 0.05).unwrap());
    /// # let mut simulation = Builder::new().body(body).build().unwrap();
    /// let ball = simulation.model().body("ball").unwrap();
    /// simulation.step_with(|_step, time, controls| {
    ///     controls.set(Control::Frequency(ball), 20.0 + 5.0 * time.sin())?;
    ///     Ok(())
    /// })?;
    /// # Ok::<(), pliant::StepError>(())
    /// ```
    pub fn step_with(
        &mut self,
        drive: impl FnOnce(u64, f64, &mut Driver<'_>) -> Result<(), ControlError>,
    ) -> Result<StepReport, StepError> {
        let before = self.controls.clone();
        let mut driver = Driver { model: &self.model, controls: &mut self.controls };
        let driven = drive(self.state.step, self.state.time, &mut driver);
        let result = driven.map_err(StepError::from).and_then(|()| self.step());
        if result.is_err() {
            self.controls = before;
        }
        result
    }

    /// Takes a step as [`Simulation::step`] does, to the same bits, and returns the objective after each
    /// iteration of the solvers that have one (all but the clustered). Times are read from `clock`. Costs
    /// as much as solving every substep to the last digit.
    pub fn trace_step(&mut self, clock: Clock) -> Result<(StepReport, Vec<TracePoint>), StepError> {
        let tracer = self.tracer.get_or_insert_with(|| Box::new(Tracer::new()));
        tracer.begin(clock);
        self.tracing = true;
        let report = self.step();
        self.tracing = false;
        let mut points = self.tracer.as_mut().map(|t| std::mem::take(&mut t.points)).unwrap_or_default();
        points.sort_by_key(|p| p.substep);
        Ok((report?, points))
    }

    fn advance(&mut self) -> Result<StepReport, StepError> {
        let Simulation { model, state, controls, pools, team, clock, backup, tracer, slots, .. } = self;
        let course = &mut self.course;
        course.plan(model, state, controls);
        backup.colliders.clone_from(&state.colliders);
        backup.vertices.clone_from(&state.vertices);
        backup.couplings.clone_from(&state.couplings);
        let tracer = tracer.as_deref_mut().filter(|_| self.tracing);
        let mut coupling_energy = let_go(model, controls, state);
        let stepping = StepContext { model, controls, pools, team, course, step: state.step };
        let islands = &mut self.islands;
        let states = (&mut *state, backup);
        let seconds = stepping.take(states, slots, islands, clock.as_ref(), tracer, &mut coupling_energy);
        let mut report = StepReport { seconds, coupling_energy, ..Default::default() };
        for tie in islands.list().iter().flat_map(|i| i.ties().0) {
            report.collapsed += usize::from(tie.collapsed);
            report.broken += usize::from(tie.broke);
            report.let_go += usize::from(tie.let_go);
        }
        report.fits = islands.list().iter().filter(|i| !i.asleep).map(|i| i.fits).sum();
        report.asleep = islands.list().iter().filter(|i| i.asleep).map(|i| i.members.len()).sum();
        for cut in islands.list().iter().map(|i| i.cut) {
            report.held_back += cut.vertices;
            report.held_back_momentum += cut.momentum;
            report.unkept += cut.through;
        }
        let mut finite = true;
        for (slot, body) in slots.iter_mut().zip(model.bodies()) {
            let outcome = std::mem::replace(&mut slot.outcome, Ok(Default::default()))?;
            let kind = body.parts.solver();
            let last = &outcome.last;
            finite &= outcome.finite;
            report.contacts += last.contacts;
            report.iterations = report.iterations.max(last.iterations);
            report.residual = report.residual.max(last.residual);
            report.convergence[kind as usize].join(&outcome.convergence);
        }
        course.arrive(state);
        state.step += 1;
        state.time = state.step as f64 * model.params.step;
        (report.step, report.time) = (state.step, state.time);
        if !finite {
            self.check_finite()?;
        }
        Ok(report)
    }

    fn check_finite(&self) -> Result<(), StepError> {
        for (k, body) in self.state.bodies.iter().enumerate() {
            let bad = body.x.first_non_finite().or_else(|| body.v.first_non_finite());
            let Some(particle) = bad else { continue };
            let live = self.controls.live(k);
            let likely =
                if live.world.gravity.length() > 1e6 || (live.body.force / live.body.mass).length() > 1e6 {
                    "gravity, or force over mass, is enormous"
                } else if self.backup.bodies[k].v.iter().any(|v| v.length() > 1e100) {
                    "velocities are enormous; lower the initial velocity, spin or stretch"
                } else {
                    "the stiffness is too large for the step; lower it or take more substeps"
                };
            return Err(StepError::NonFinite {
                step: self.state.step,
                body: self.model.bodies()[k].name.to_string(),
                particle,
                likely: likely.into(),
            });
        }
        Ok(())
    }
}

/// Springs that hold nothing any more keep no energy: tells what that takes away.
fn let_go(model: &Model, controls: &Controls, state: &mut State) -> f64 {
    let mut energy = 0.0;
    for (k, live) in controls.couplings.iter().enumerate().filter(|(_, c)| c.values.stiffness == 0.0) {
        let memory = state.couplings[k];
        if !memory.broken && memory.stiffness > 0.0 {
            let coupling = &model.couplings()[k].coupling;
            energy -= coupling.energy(state, &memory);
            let fresh = CouplingMemory::new(coupling, |body| state.body(body));
            state.couplings[k] = fresh;
        }
        debug_assert_eq!(live.id, model.couplings()[k].id);
    }
    energy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Builder, Timeline, TimelineError, shapes};

    #[test]
    fn the_last_step_that_can_be_counted_is_the_last() {
        let build =
            || Builder::new().body(Body::new("ball", shapes::ball(0.2, 0.08).unwrap())).build().unwrap();
        let mut late = build();
        late.state.step = State::LAST_STEP - 1;
        late.step().unwrap();
        let before = late.state().clone();
        assert_eq!(late.step().unwrap_err(), StepError::TooManySteps);
        assert_eq!(late.state(), &before);
        assert_eq!(before.step(), State::LAST_STEP);
        let mut timeline = Timeline::new(late);
        assert!(timeline.frame(State::LAST_STEP).is_ok());
        assert!(matches!(timeline.frame(u64::MAX), Err(TimelineError::Step { .. })));
        let mut early = Timeline::new(build());
        assert!(matches!(early.frame(u64::MAX), Err(TimelineError::Step { .. })));
    }
}
