//! A substep of an island, in phases: its solver predicts, contacts are found, rounds of solver and contacts follow, and
//! the solver finishes.
//!
//! Contacts are no part of any solver. After a solver has made its step as if nothing were touched, they answer with
//! forces (`contact::dual`), and the solver takes the step with them. An island is what touches or is tied together;
//! everything that stops or falls back is decided for it alone. As long as nothing couples bodies it is one body.

use crate::contact::{Contacts, Respond, Touching};
use crate::solvers::{Observer, Round, Solver, SolverError, Stage, Subject, SubstepReport};
use crate::state::BodyState;

/// Most rounds after the last, for what came inside an obstacle in that.
const MORE_ROUNDS: u32 = 3;

/// Takes a substep. Every round is shown to `observer`.
pub(crate) fn substep(
    stage: Stage<'_>,
    solver: &mut dyn Solver,
    contacts: &mut Contacts,
    state: &mut BodyState,
    mut observer: Option<&mut Observer>,
) -> Result<SubstepReport, SolverError> {
    let rounds = solver.predict(stage, state)?;
    let mut show = |number: u32, solver: &mut dyn Solver| {
        if let (Some(observer), Some(x)) = (&mut observer, solver.positions()) {
            observer(number, x);
        }
    };
    show(0, solver);
    contacts.clear();
    let touches = !stage.body.obstacles.is_empty();
    if touches {
        with(stage.body, solver, |bodies| contacts.detect(bodies));
    }
    let mut report = SubstepReport::default();
    let mut round = Round { number: 0, touched: !contacts.list().is_empty() };
    let mut joined = false;
    while round.number < rounds || (joined && round.number < rounds + MORE_ROUNDS) {
        round.number += 1;
        if !solver.iterate(round, stage, state)? {
            break;
        }
        with(stage.body, solver, |bodies| contacts.answer(bodies, stage.team));
        let progress = solver.advance(stage, state);
        if progress.settled {
            report.residual = 0.0;
            break;
        }
        (report.iterations, report.residual) = (round.number, progress.moved);
        if touches {
            joined = with(stage.body, solver, |bodies| contacts.join(bodies)).unwrap_or(false);
            round.touched |= joined;
        }
        show(round.number, solver);
    }
    if solver.conclude(Round { number: report.iterations, ..round }, stage, state) {
        show(report.iterations, solver);
    }
    contacts.conclude();
    let end = solver.finish(stage, (contacts.list(), 0), state);
    report.residual = report.residual.max(end.pushed);
    report.contacts = contacts.loaded() + end.contacts;
    report.finite = end.finite;
    Ok(report)
}

/// Does something with the bodies of the island that contacts see.
fn with<R>(
    body: Subject<'_>,
    solver: &mut dyn Solver,
    act: impl FnOnce(&mut [Touching<'_, '_>]) -> R,
) -> Option<R> {
    let side: &mut dyn Respond = solver.touching()?;
    Some(act(&mut [Touching { body, side }]))
}
