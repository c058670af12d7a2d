//! Islands: bodies that couplings hold together or that may touch, and a substep of theirs in phases.
//!
//! > every solver predicts, contacts are found, rounds { every solver iterates, contacts and couplings answer, every solver
//! > advances }, every solver finishes.
//!
//! Contacts and couplings are no part of any solver. After the solvers have made a step as if nothing were touched or tied,
//! they answer with forces (`contact::dual`), and the solvers take the step with these; so bodies of different solvers hold
//! together like any others. Everything that stops or falls back is decided for an island alone: a body that is tied to
//! nothing is one by itself, and has the bits it has without the others.

use crate::advance::{Outcome, Slot, StepContext, SubstepContext};
use crate::contact::{Bodies, Contacts, Cut, Ended, NearPairs, Nodes, Touching, When, WithNodes};
use crate::controls::Controls;
use crate::couplings::{Tie, TieLayout, Velocities};
use crate::forces;
use crate::model::{Model, ModelCoupling, ModelId, Motor};
use crate::points::Points;
use crate::sleep::Stirring;
use crate::solvers::rigid;
use crate::solvers::trace::Tracer;
use crate::solvers::{Outside, Progress, Round, Solver, SolverError, SolverKind, Stage, SubstepReport};
use crate::state::{BodyState, State};
use crate::team::{Pieces, Team};
use glam::DVec3;
use std::sync::Arc;

/// Most rounds after the last, for what came inside an obstacle in that.
const MORE_ROUNDS: u32 = 3;
/// And for frames that have turned so far in it that what they hold is not in its place yet.
const MORE_ROUNDS_OF_TIES: u32 = 8;
/// Most answers to the last round, for what of frames one does not bring together.
const ANSWERS: usize = 8;
/// Most rounds that solids ask for where they are tied to soft bodies, for which each is dear.
const ROUNDS_OF_SOLIDS: u32 = 4;

/// A body of an island. State and slot are there during a step only.
pub(crate) struct Member {
    /// Its place in the model.
    pub place: usize,
    pub state: BodyState,
    /// What the state was when the step began.
    pub before: BodyState,
    pub slot: Slot,
    solver: Option<Box<dyn Solver>>,
    /// Whether forces change its velocities before it moves.
    forced: bool,
    /// Whether it is so large a part of its island that all threads share its work, or must not leave the calling thread.
    large: bool,
    /// Rounds it asks for, and whether it had anything to do in the present one.
    rounds: u32,
    busy: bool,
    progress: Progress,
    report: SubstepReport,
    fault: Option<SolverError>,
}

impl Member {
    fn new(place: usize) -> Member {
        Member {
            place,
            state: BodyState::empty(),
            before: BodyState::empty(),
            slot: Slot::default(),
            solver: None,
            forced: false,
            large: false,
            rounds: 0,
            busy: true,
            progress: Progress::default(),
            report: SubstepReport::default(),
            fault: None,
        }
    }

    /// It as contacts see it, if it has anything that responds.
    fn touching<'a>(&'a mut self, at: SubstepContext<'a>) -> Option<Touching<'a>> {
        let solver = self.solver.as_deref_mut()?;
        let meets_obstacles = solver.meets_obstacles();
        let (body, id) = (at.subject(self.place), at.of.model.bodies()[self.place].id.number());
        Some(Touching { body, side: solver.responding()?, id, meets_obstacles })
    }

    /// Lets its solver do something in a substep.
    fn act<R>(
        &mut self,
        at: SubstepContext<'_>,
        act: impl FnOnce(&mut dyn Solver, Stage<'_>, &mut BodyState) -> R,
    ) -> Option<R> {
        let Member { place, state, before, solver, forced, .. } = self;
        let before = (!*forced && at.substep == 0).then_some((&before.x, &before.v));
        let stage =
            Stage { body: at.subject(*place), before, team: at.of.team, tied: at.tied, crowded: at.crowded };
        solver.as_deref_mut().map(|solver| act(solver, stage, state))
    }

    /// The same where it may fail.
    fn attempt<R: Default>(
        &mut self,
        at: SubstepContext<'_>,
        act: impl FnOnce(&mut dyn Solver, Stage<'_>, &mut BodyState) -> Result<R, SolverError>,
    ) -> R {
        match self.act(at, act) {
            Some(Ok(done)) => done,
            Some(Err(fault)) => {
                self.fault = Some(fault);
                R::default()
            }
            None => R::default(),
        }
    }

    /// Takes what it needs for a step.
    fn begin_step(&mut self, of: StepContext<'_>) {
        self.solver = Some(of.pools.of(self.place).take());
        self.slot.outcome = Ok(Outcome { finite: true, ..Default::default() });
        let Member { state, before, .. } = self;
        // The first substep reads what was and writes what will be: nothing need be copied for that, unless
        // forces change velocities before it.
        self.forced = forces::act(&of.model.bodies()[self.place].parts, of.controls.live(self.place));
        if self.forced {
            before.copy_from(state);
        } else {
            std::mem::swap(&mut before.x, &mut state.x);
            std::mem::swap(&mut before.v, &mut state.v);
            before.memory.copy_from(&state.memory);
        }
    }

    /// Gives back what it took.
    fn end_step(&mut self, of: StepContext<'_>) {
        let good = self.slot.outcome.as_ref().is_ok_and(|o| o.finite);
        // One that failed may hold numbers that are none.
        if let Some(solver) = self.solver.take().filter(|_| good) {
            of.pools.of(self.place).put(solver);
        }
    }

    fn predict(&mut self, at: SubstepContext<'_>) {
        let model = &at.of.model.bodies()[self.place].parts;
        if self.forced {
            let (controls, when) = (at.of.controls.live(self.place), (at.time, model.params.substep()));
            let Member { state, slot, .. } = self;
            forces::apply(model, controls, state, when, &mut slot.pushes, at.of.team);
        }
        self.report = SubstepReport::default();
        self.rounds = self.attempt(at, |solver, stage, state| solver.predict(stage, state));
        self.show(0);
    }

    fn iterate(&mut self, round: Round, at: SubstepContext<'_>) {
        self.busy = self.attempt(at, |solver, stage, state| solver.iterate(round, stage, state));
    }

    /// Takes the forces that were found for its nodes.
    fn push(&mut self, nodes: &Nodes, team: &Team) {
        let side = self.solver.as_deref_mut().and_then(Solver::responding);
        if let Some(side) = side.filter(|_| !nodes.is_empty()) {
            side.push(nodes, team);
        }
    }

    /// Gives them up again.
    fn retract(&mut self, team: &Team) {
        if let Some(side) = self.solver.as_deref_mut().and_then(Solver::responding) {
            side.retract(team);
        }
    }

    fn advance(&mut self, number: u32, at: SubstepContext<'_>) {
        self.progress = self.act(at, |solver, stage, state| solver.advance(stage, state)).unwrap_or_default();
        if self.progress.settled {
            self.report.residual = 0.0;
        } else {
            (self.report.iterations, self.report.residual) = (number, self.progress.moved);
        }
    }

    fn finish(&mut self, round: Round, outside: Outside<'_>, at: SubstepContext<'_>) {
        let round = Round { number: self.report.iterations, ..round };
        if self.act(at, |solver, stage, state| solver.conclude(round, stage, state)) == Some(true) {
            self.show(round.number);
        }
        let end = self.act(at, |solver, stage, state| solver.finish(stage, outside, state));
        let end = end.unwrap_or_default();
        self.report.residual = self.report.residual.max(end.pushed);
        self.report.contacts += end.contacts;
        self.report.finite = end.finite;
    }

    /// Takes the end of a substep into what the step reports.
    fn count(&mut self, kind: SolverKind) {
        if let Ok(outcome) = &mut self.slot.outcome {
            outcome.finite &= self.report.finite;
            outcome.convergence.add(kind, &self.report);
            outcome.last = self.report;
        }
    }

    fn show(&mut self, number: u32) {
        if let (Some(observer), Some(solver)) = (&mut self.slot.observer, self.solver.as_deref_mut())
            && let Some(x) = solver.positions()
        {
            observer(number, x);
        }
    }
}

/// Bodies that couplings hold together or that come near each other, directly or by others; most are one body alone.
pub(crate) struct Island {
    /// In the model's order.
    pub members: Vec<Member>,
    /// What holds them together, in the model's order.
    pub ties: Vec<Tie>,
    layout: Arc<TieLayout>,
    /// How many of their frames were fitted in the last step, each as often as it was.
    pub fits: usize,
    /// Which of them may touch each other, by their places in the island.
    pairs: Vec<[usize; 2]>,
    /// What was cut from the ways of thin ones in the step.
    pub cut: Cut,
    /// Whether the step leaves it as it is.
    pub asleep: bool,
}

impl Island {
    /// What holds them together, and how that is laid out.
    pub fn ties(&self) -> (&[Tie], &Arc<TieLayout>) {
        (&self.ties, &self.layout)
    }

    /// Particles of its bodies: how much work it is.
    pub fn work(&self, model: &Model) -> usize {
        self.members.iter().map(|m| model.bodies()[m.place].parts.particle_count()).sum()
    }

    /// Who moves its bodies; `None` if these are several solvers.
    pub fn kind(&self, model: &Model) -> Option<SolverKind> {
        let mut kinds = self.members.iter().map(|m| model.bodies()[m.place].parts.solver());
        let first = kinds.next();
        first.filter(|first| kinds.all(|k| k == *first))
    }

    /// The work of the bodies of a solver.
    pub fn work_of(&self, kind: SolverKind, model: &Model) -> usize {
        let parts = self.members.iter().map(|m| &model.bodies()[m.place].parts);
        parts.filter(|p| p.solver() == kind).map(|p| p.particle_count()).sum()
    }

    /// Whether one of its bodies must stay on the calling thread: the linear algebra of Newton's method allocates room for
    /// every thread that ever factors.
    pub fn stays(&self, model: &Model) -> bool {
        self.work_of(SolverKind::Newton, model) > 0
    }

    /// Takes up the present values of what ties its bodies together.
    fn drive(&mut self, of: StepContext<'_>) {
        for tie in &mut self.ties {
            let live = &of.controls.couplings[tie.place].values;
            tie.stiffness = live.stiffness.is_finite().then_some(live.stiffness);
            if let Some(motor) = &mut tie.motor {
                *motor = Motor { speed: live.motor_speed, torque: live.motor_torque };
            }
            tie.put_in = 0.0;
            (tie.broke, tie.collapsed, tie.let_go) = (false, false, false);
        }
    }

    /// Moves its bodies through all substeps of a step. Islands of one body are shown to the tracer, if there is one.
    pub fn run(&mut self, of: StepContext<'_>, mut tracer: Option<&mut Tracer>) {
        self.share_out(of);
        self.fits = 0;
        self.drive(of);
        self.members.iter_mut().for_each(|m| m.begin_step(of));
        self.cut = Cut::default();
        let mut contacts = of.pools.take_contacts();
        let tied = self.members.len() > 1 || !self.ties.is_empty();
        for substep in 0..of.model.params.substeps {
            let at = of.at(substep, (tied, !self.pairs.is_empty()));
            let traced = tracer.as_deref_mut().filter(|_| self.members.len() == 1 && !tied);
            let watched = traced.map(|tracer| {
                let member = &mut self.members[0];
                let other = member.slot.observer.replace(tracer.watch(&member.state.memory));
                (tracer, other)
            });
            self.substep(at, &mut contacts);
            if let Some((tracer, other)) = watched {
                let member = &mut self.members[0];
                member.slot.observer = other;
                let (body, isa) = (&of.model.bodies()[member.place], of.pools.of(member.place).isa());
                let subject = at.subject(member.place);
                let when = (of.step + 1, substep);
                if member.fault.is_none() {
                    member.fault = tracer.evaluate(body.id, subject, when, (of.team, isa)).err();
                }
            }
            let mut failed = false;
            for member in &mut self.members {
                if let Some(fault) = member.fault.take() {
                    member.slot.outcome = Err(fault);
                    failed = true;
                }
            }
            if failed {
                break;
            }
            self.members.iter_mut().for_each(|m| m.count(of.model.bodies()[m.place].parts.solver()));
        }
        of.pools.put_contacts(contacts);
        self.members.iter_mut().for_each(|m| m.end_step(of));
        self.tire(of);
    }

    /// Leaves its bodies as they are.
    pub fn stay(&mut self) {
        self.cut = Cut::default();
        for Member { state, before, slot, .. } in &mut self.members {
            before.copy_from(state);
            slot.outcome = Ok(Outcome { finite: true, ..Default::default() });
        }
        self.ties.iter_mut().for_each(|t| {
            (t.put_in, t.collapsed, t.broke, t.let_go) = (0.0, false, false, false);
        });
    }

    /// Decides who moves with all threads; no bit depends on it.
    fn share_out(&mut self, of: StepContext<'_>) {
        let total = self.work(of.model);
        for member in &mut self.members {
            let parts = &of.model.bodies()[member.place].parts;
            let small = parts.particle_count() * 2 * of.team.size() <= total;
            member.large = !small || parts.solver() == SolverKind::Newton;
        }
    }

    /// Does something to each body: large ones with all threads one after the other, small ones side by side.
    fn each(&mut self, at: SubstepContext<'_>, act: impl Fn(usize, &mut Member) + Sync) {
        if let [only] = &mut self.members[..] {
            return act(0, only);
        }
        for (k, member) in self.members.iter_mut().enumerate().filter(|(_, m)| m.large) {
            act(k, member);
        }
        at.of.team.split(&mut self.members[..], 1, |range, members| {
            members.iter_mut().filter(|m| !m.large).for_each(|m| act(range.start, m));
        });
    }

    fn failed(&self) -> bool {
        self.members.iter().any(|m| m.fault.is_some())
    }

    /// A substep. If a solver fails its member says so, and the state is not to be used.
    fn substep(&mut self, at: SubstepContext<'_>, contacts: &mut Contacts) {
        self.each(at, |_, m| m.predict(at));
        if self.failed() {
            return;
        }
        let by_contacts = |m: &Member| m.solver.as_deref().is_some_and(|s| !s.meets_obstacles());
        let touches =
            !at.obstacles.is_empty() && self.members.iter().any(by_contacts) || !self.pairs.is_empty();
        let answers = touches || at.tied;
        if answers {
            let Island { members, ties, layout, pairs, .. } = self;
            contacts.ties().0.run_with(at.of.pools.of(members[0].place).isa());
            contacts.begin((ties, layout), pairs, &mut InSubstep { members, at });
        } else {
            contacts.clear(&self.layout);
        }
        if touches {
            contacts.detect(&mut InSubstep { members: &mut self.members, at }, at.of.team);
        }
        let rounds = self.rounds(at);
        let mut round = Round { number: 0, touched: at.tied || !contacts.list().is_empty() };
        let (mut joined, mut settled, mut begun) = (false, true, false);
        let nonlinear = self.ties.iter().any(Tie::is_nonlinear);
        let at_once = at.tied && !touches && self.goes_on(at);
        while round.number < rounds
            || (joined && round.number < rounds + MORE_ROUNDS)
            || (!settled && round.number < rounds + MORE_ROUNDS_OF_TIES)
        {
            round.number += 1;
            if !std::mem::take(&mut begun) {
                self.each(at, |_, m| m.iterate(round, at));
            }
            if self.failed() {
                return;
            }
            if !self.members.iter().any(|m| m.busy) && (settled || self.hold_together(contacts, at)) {
                break;
            }
            let mut pushed = false;
            if answers {
                let Island { members, ties, .. } = self;
                let closing = round.number >= rounds;
                contacts.answer(ties, closing, &mut InSubstep { members, at }, at.of.team);
                if nonlinear && round.number == rounds {
                    self.come_to_terms(contacts, at);
                    pushed = true;
                }
            }
            // A body takes its forces, moves and begins the next round while its numbers are at hand.
            begun = at_once && round.number < rounds;
            let next = Round { number: round.number + 1, ..round };
            let found: &Contacts = contacts;
            self.each(at, |place, m| {
                if answers && !pushed {
                    m.push(found.nodes_of(place), at.of.team);
                }
                m.advance(round.number, at);
                if begun {
                    m.show(round.number);
                    m.iterate(next, at);
                }
            });
            if begun {
                settled = !nonlinear;
                continue;
            }
            let all_settled = self.members.iter().all(|m| m.progress.settled);
            if nonlinear {
                // Before the last round it is asked for only where that decides whether there is another.
                settled = (round.number >= rounds || all_settled) && self.hold_together(contacts, at);
                if !settled && round.number + 1 == rounds + MORE_ROUNDS_OF_TIES {
                    let Island { members, ties, .. } = self;
                    contacts.slacken_ties(ties, &mut InSubstep { members, at });
                }
            }
            if settled && all_settled {
                break;
            }
            if touches {
                joined = contacts.join(&mut InSubstep { members: &mut self.members, at }, at.of.team);
                round.touched |= joined;
            }
            self.members.iter_mut().for_each(|m| m.show(round.number));
        }
        contacts.conclude();
        if at.tied {
            let Island { members, ties, .. } = self;
            contacts.conclude_ties(ties, &mut InSubstep { members, at });
            self.fits += contacts.ties().0.take_fits();
        }
        self.finish(round, at, contacts);
        if !self.pairs.is_empty() {
            let Island { members, cut, .. } = self;
            cut.add(contacts.keep_apart(&mut InSubstep { members, at }, at.of.team));
        }
    }

    /// Whether all of its bodies go through all rounds: bodies of projective dynamics, and solids beside them.
    fn goes_on(&self, at: SubstepContext<'_>) -> bool {
        let kinds = || self.members.iter().map(|m| at.of.model.bodies()[m.place].parts.solver());
        kinds().any(|k| k == SolverKind::Projective)
            && kinds().all(|k| matches!(k, SolverKind::Projective | SolverKind::Rigid))
    }

    /// Whether frames hold what they are to hold, where the bodies are.
    fn hold_together(&mut self, contacts: &mut Contacts, at: SubstepContext<'_>) -> bool {
        let Island { members, ties, .. } = self;
        contacts.ties_settled(When::End, ties, &mut InSubstep { members, at })
    }

    /// Gives bodies the forces that were found, and finds others for the same round as long as frames turn otherwise than these
    /// expected. That is much less work than another round of all.
    fn come_to_terms(&mut self, contacts: &mut Contacts, at: SubstepContext<'_>) {
        for answer in 1..=ANSWERS {
            let found: &Contacts = contacts;
            self.each(at, |place, m| m.push(found.nodes_of(place), at.of.team));
            let Island { members, ties, .. } = self;
            let together = |contacts: &mut Contacts, members: &mut [Member]| {
                contacts.ties_settled(When::Ahead, ties, &mut InSubstep { members, at })
            };
            if answer == ANSWERS || together(contacts, members) {
                break;
            }
            self.each(at, |_, m| m.retract(at.of.team));
            let Island { members, ties, .. } = self;
            contacts.answer(ties, true, &mut InSubstep { members, at }, at.of.team);
        }
    }

    /// How many rounds a substep has, unless it takes more: as many as its most patient body asks for.
    fn rounds(&self, at: SubstepContext<'_>) -> u32 {
        let (mut of_soft, mut of_solids, mut soft) = (u32::from(at.tied), 0, false);
        for member in &self.members {
            match at.of.model.bodies()[member.place].parts.rigid() {
                Some(_) => of_solids = of_solids.max(member.rounds),
                None => (of_soft, soft) = (of_soft.max(member.rounds), true),
            }
        }
        let few = soft && !self.ties.is_empty();
        of_soft.max(if few { of_solids.min(ROUNDS_OF_SOLIDS) } else { of_solids })
    }

    fn finish(&mut self, round: Round, at: SubstepContext<'_>, contacts: &mut Contacts) {
        let loaded = contacts.loaded();
        // Counted once for the island, with its first body.
        self.members[0].report.contacts = loaded;
        if at.tied {
            for k in 0..self.members.len() {
                let pull = contacts.pull_on(k, &mut InSubstep { members: &mut self.members, at });
                let outside = Outside { contacts: contacts.list(), place: k, pull };
                self.members[k].finish(round, outside, at);
            }
            self.calm(at, contacts);
        } else {
            let list = contacts.list();
            self.each(at, |place, m| {
                m.finish(round, Outside { contacts: list, place, pull: Default::default() }, at);
            });
        }
    }

    /// Where forces are not taken at the end of the substep, velocities of tied points may come apart though they do not.
    fn calm(&mut self, at: SubstepContext<'_>, contacts: &mut Contacts) {
        let (ties, nodes) = contacts.ties();
        if at.of.model.params.implicit.implicitness >= 1.0 || !ties.any_exact() {
            return;
        }
        ties.calm(nodes, &mut InSubstep { members: &mut self.members, at });
    }
}

/// The bodies of an island in a substep, as contacts and couplings see them.
struct InSubstep<'a> {
    members: &'a mut [Member],
    at: SubstepContext<'a>,
}

impl Bodies for InSubstep<'_> {
    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&mut self, place: usize) -> Option<Touching<'_>> {
        self.members[place].touching(self.at)
    }

    fn each_with(
        &mut self,
        nodes: &mut [Nodes],
        (list, ends): (&mut [DVec3], &[usize]),
        team: &Team,
        act: WithNodes<'_>,
    ) {
        let at = self.at;
        let count = self.members.len().min(nodes.len());
        let only = count == 1;
        for (place, member) in self.members[..count].iter_mut().enumerate().filter(|(_, m)| m.large || only) {
            let begin = if place == 0 { 0 } else { ends[place - 1] };
            if let Some(body) = member.touching(at) {
                act(place, body, &mut nodes[place], &mut list[begin..ends[place]], team);
            }
        }
        if only {
            return;
        }
        let small = (&mut self.members[..count], (&mut nodes[..count], Pieces(list, &ends[..count])));
        team.split(small, 1, |range, (members, (nodes, list))| {
            let ([member], [nodes]) = (members, nodes) else { return };
            if let Some(body) = Some(member).filter(|m| !m.large).and_then(|m| m.touching(at)) {
                act(range.start, body, nodes, list, team);
            }
        });
    }
}

impl Ended for InSubstep<'_> {
    fn positions(&self, place: usize) -> &Points {
        &self.members[place].state.x
    }

    fn put(&mut self, place: usize, particle: usize, at: DVec3) -> f64 {
        let parts = &self.at.of.model.bodies()[self.members[place].place].parts;
        let state = &mut self.members[place].state;
        let by = (at - state.x.get(particle)) / parts.params.substep();
        state.x.set(particle, at);
        state.v.set(particle, state.v.get(particle) + by);
        parts.rest().mass[particle] * by.length()
    }
}

impl Velocities for InSubstep<'_> {
    fn softness(&self, place: usize, particle: usize) -> f64 {
        let parts = &self.at.of.model.bodies()[self.members[place].place].parts;
        if parts.prescribes(particle as u32) { 0.0 } else { parts.rest().mass[particle].recip() }
    }

    fn velocity(&self, place: usize, particle: usize) -> DVec3 {
        self.members[place].state.v.get(particle)
    }

    fn add(&mut self, place: usize, particle: usize, by: DVec3) {
        let v = &mut self.members[place].state.v;
        v.set(particle, v.get(particle) + by);
    }
}

/// In place of the island of a body that needs none.
const NO_ISLAND: usize = usize::MAX;

/// The islands of a model.
#[derive(Default)]
pub(crate) struct Islands {
    list: Vec<Island>,
    of: Option<ModelId>,
    /// The couplings of it that are broken or open: they hold nothing together.
    loose: Vec<bool>,
    /// Bodies that come near each other, now and when the islands were found.
    near: NearPairs,
    met: Vec<(u32, u32)>,
    /// How often the islands were found.
    pub revision: u64,
    /// Scratch: for each body one that it is held together with, itself if it is the first of its island.
    joined: Vec<usize>,
    /// And its island; [`NO_ISLAND`] if it rolls.
    island: Vec<usize>,
    /// Of each body: whether it rolls by itself, and so needs no island.
    rolling: Vec<bool>,
    /// Colliders that move in the present step.
    stirring: Stirring,
}

impl Islands {
    /// The islands of a model in a state, by their first bodies. They are found anew only if it, what holds or what comes near
    /// has changed.
    pub fn of(&mut self, model: &Model, state: &State, controls: &Controls) -> &mut [Island] {
        self.near.find(model, state, controls);
        let both = state.couplings.iter().zip(&controls.couplings);
        let loose = both.map(|(memory, live)| memory.broken || live.values.stiffness == 0.0);
        let same = self.loose.iter().copied().eq(loose.clone()) && self.met == self.near.list();
        if self.of != Some(model.id()) || !same {
            self.met.clear();
            self.met.extend_from_slice(self.near.list());
            self.loose.clear();
            self.loose.extend(loose);
            self.find(model);
            self.of = Some(model.id());
            self.revision += 1;
        }
        &mut self.list
    }

    /// Of each body whether it rolls by itself, as found last: such a ball is in no island.
    pub fn rolling(&self) -> &[bool] {
        &self.rolling
    }

    /// Finds out which islands sleep through a step.
    pub fn find_sleepers(&mut self, of: StepContext<'_>, state: &State) {
        let Islands { list, stirring, .. } = self;
        list.iter_mut().for_each(|i| i.asleep = false);
        if of.model.params.sleep_speed > 0.0 {
            stirring.find(of, state);
            list.iter_mut().for_each(|i| i.asleep = i.sleeps(of, state, stirring));
        }
    }

    /// The islands as they were found last, to be moved.
    pub fn list_mut(&mut self) -> &mut [Island] {
        &mut self.list
    }

    /// The islands as they were found last.
    pub fn list(&self) -> &[Island] {
        &self.list
    }

    /// How many bodies are in islands of several: all of these move at once.
    pub fn together(&self) -> usize {
        self.list.iter().map(|i| i.members.len()).filter(|n| *n > 1).sum()
    }

    fn find(&mut self, model: &Model) {
        self.share_out(model);
        self.fill(model);
    }

    /// Couplings that hold something together.
    fn whole<'a>(loose: &'a [bool], model: &'a Model) -> impl Iterator<Item = (usize, &'a ModelCoupling)> {
        model.couplings().iter().enumerate().filter(|(k, _)| !loose[*k])
    }

    /// Decides which island every body is in, and makes as many, empty.
    fn share_out(&mut self, model: &Model) {
        let Islands { list, joined, island, loose, met, rolling, .. } = self;
        joined.clear();
        joined.extend(0..model.bodies().len());
        let near = met.iter().map(|&(a, b)| [a as usize, b as usize]);
        rolling.clear();
        rolling.extend(model.bodies().iter().map(|b| rigid::rolls(model, &b.parts)));
        for [a, b] in Islands::whole(loose, model).filter_map(|(_, c)| ends(c, model)).chain(near) {
            (rolling[a], rolling[b]) = (false, false);
            let (a, b) = (first(joined, a), first(joined, b));
            joined[a.max(b)] = a.min(b);
        }
        // The first body of an island comes before all others.
        let mut count = 0;
        island.clear();
        for (k, rolls) in rolling.iter().enumerate() {
            if *rolls {
                island.push(NO_ISLAND);
                continue;
            }
            let first = first(joined, k);
            island.push(if first == k { count } else { island[first] });
            count += usize::from(first == k);
        }
        list.truncate(count);
        for of in list.iter_mut() {
            of.members.clear();
            of.ties.clear();
            of.pairs.clear();
        }
        list.resize_with(count, || Island {
            members: Vec::with_capacity(1),
            ties: Vec::new(),
            layout: Arc::default(),
            fits: 0,
            pairs: Vec::new(),
            cut: Cut::default(),
            asleep: false,
        });
    }

    /// Puts bodies, couplings and pairs that may touch into their islands.
    fn fill(&mut self, model: &Model) {
        let Islands { list, island, loose, met, .. } = self;
        for (k, island) in island.iter().enumerate().filter(|(_, i)| **i != NO_ISLAND) {
            list[*island].members.push(Member::new(k));
        }
        for &(a, b) in met.iter() {
            let Island { members, pairs, .. } = &mut list[island[a as usize]];
            let within = |place: u32| members.partition_point(|m| m.place < place as usize);
            pairs.push([within(a), within(b)]);
        }
        for (number, coupling) in Islands::whole(loose, model) {
            let Some([a, _]) = ends(coupling, model) else { continue };
            let Island { members, ties, .. } = &mut list[island[a]];
            let within =
                |body| model.index(body).map_or(0, |place| members.partition_point(|m| m.place < place));
            ties.push(Tie::new(&coupling.coupling, number, within));
        }
        for island in list.iter_mut() {
            let Island { members, ties, layout, .. } = island;
            let alike = |m: &Member| model.bodies()[m.place].parts.solver().answers_alike();
            *layout = match ties.is_empty() {
                true => Arc::default(),
                false => Arc::new(TieLayout::new(ties, members.len(), members.iter().all(alike))),
            };
        }
    }
}

/// The bodies of a coupling, by their places in the model; of one with the world its body twice.
fn ends(coupling: &ModelCoupling, model: &Model) -> Option<[usize; 2]> {
    let mut places = coupling.coupling.bodies().filter_map(|body| model.index(body));
    let first = places.next()?;
    Some([first, places.next().unwrap_or(first)])
}

/// The first body of the island that a body is in.
fn first(joined: &[usize], mut k: usize) -> usize {
    while joined[k] != k {
        k = joined[k];
    }
    k
}
