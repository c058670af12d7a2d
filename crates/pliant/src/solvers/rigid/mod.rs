//! Solids that never deform: four particles each, which move as one.
//!
//! A substep is symplectic Euler: forces change the momenta, these move the solid, whose axes go around its angular momentum as
//! exactly as `turning.rs` can. Contacts and couplings answer with impulses at points of the solid, which are taken where it
//! began, as in SHAKE: two solids that are tied there get opposite impulses in one place, and so no angular momentum. The whole
//! motion is then found anew from there (`response.rs`), in as many rounds as it takes until the answers no longer change.
//! Bounces turn velocities afterwards (`impacts.rs`).
//!
//! A solid whose particles are all held goes where these are wanted, whatever touches or pulls it.

mod ball;
mod impacts;
mod pose;
mod response;
mod turning;

pub(crate) use ball::{roll, rolls};
pub(crate) use pose::Pose;

use super::damping::decay;
use super::{FinishReport, Outside, Progress, Round, Solver, SolverError, Stage, Subject};
use crate::contact::{Contact, MovingPoint, Respond, SubstepStart, release};
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::{BodyModel, RigidRest};
use crate::points::Points;
use crate::state::BodyState;
use glam::{DMat3, DVec3};
use impacts::Impacts;
use pose::{Momentum, write};
use std::sync::Arc;

/// Most rounds of a substep.
const ROUNDS: u32 = 12;
/// Movements of a round, relative to the size of the solid, that change nothing any more.
const SETTLED: f64 = 1e-11;
/// How often a solid is moved out of what it is still in.
const PUSHES: usize = 4;

/// The solver; all of it is a cache.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rigid {
    cache: Option<Box<RigidCache>>,
}

/// A point that touches beside a point of contact with a radius: where on its ball.
#[derive(Clone, Copy, Debug)]
struct Touch {
    /// The number of the point of contact among the points of the body.
    point: u32,
    /// From there to what is touched.
    arm: DVec3,
}

/// A solid in a substep.
#[derive(Clone, Debug)]
struct RigidCache {
    model: BodyModel,
    rest: Arc<RigidRest>,
    /// Where all of its points are when the substep begins, and which of them touch: particles do not, points of contact do, and
    /// last come the points of `touches`.
    beginning: SubstepStart,
    touches: Vec<Touch>,
    /// Points but for `touches`.
    points: usize,
    /// Whether it goes where its particles are held.
    led: bool,
    targets: Vec<DVec3>,
    h: f64,
    from: Pose,
    /// How it moved when the substep began; that after the forces on all of it; and that after the impulses there are.
    before: Momentum,
    free: Momentum,
    now: Momentum,
    to: Pose,
    /// How the axes turn in the substep as a vector, for what touches beside its point.
    rotation_vector: DVec3,
    /// The forces on its nodes, and their sum and moment by arms in the middle of the substep.
    loads: Vec<DVec3>,
    held: (DVec3, DVec3),
    /// The inverse of the inertia tensor, the mean of that at both ends of the substep.
    inverse: DMat3,
    /// From the centre to the nodes that respond, where the substep begins and where it ends.
    arms: Vec<[DVec3; 2]>,
    /// How far the last round moved a point, relative to the size.
    moved: f64,
    impacts: Impacts,
    /// The particles, for whoever looks on.
    shown: Points,
}

impl RigidCache {
    /// `None` of a body that is no solid, which the builder refuses.
    fn new(model: &BodyModel) -> Option<RigidCache> {
        let rest = model.rest().rigid.clone()?;
        let (points, particles) = (model.point_count(), model.particle_count());
        let led = (0..particles as u32).all(|i| model.prescribes(i));
        let free = (0..points).map(|i| i >= particles && !led).collect();
        let pose = Pose::new(DVec3::ZERO, glam::DQuat::IDENTITY);
        let nodes = model.node_count();
        let mut start = Points::zeros(nodes);
        start.resize(points);
        Some(RigidCache {
            beginning: SubstepStart { size: rest.size, start, free },
            touches: Vec::with_capacity(nodes - points),
            points,
            led,
            targets: Vec::with_capacity(particles),
            h: 0.0,
            from: pose,
            before: Momentum::default(),
            free: Momentum::default(),
            now: Momentum::default(),
            to: pose,
            rotation_vector: DVec3::ZERO,
            loads: Vec::with_capacity(nodes),
            held: (DVec3::ZERO, DVec3::ZERO),
            inverse: DMat3::IDENTITY,
            arms: Vec::with_capacity(nodes),
            moved: 0.0,
            impacts: Impacts::with_capacity(nodes),
            shown: Points::zeros(particles),
            model: model.clone(),
            rest,
        })
    }

    /// Takes up a state, and where forces and inertia lead from there.
    fn begin(&mut self, stage: Stage<'_>, state: &BodyState) {
        let Stage { body: Subject { model, controls, time, .. }, before, .. } = stage;
        let (x, v) = before.unwrap_or((&state.x, &state.v));
        let (h, rest) = (model.params.substep(), &self.rest);
        self.h = h;
        self.from = Pose::told(x, state.memory.turning());
        let keep = 1.0 - decay(controls.body.drag, h);
        let Momentum { velocity, angular_momentum } = Momentum::told(rest, &self.from, v);
        self.before = Momentum { velocity: velocity * keep, angular_momentum: angular_momentum * keep };
        self.free = Momentum { velocity: self.before.velocity + controls.pull() * h, ..self.before };
        self.now = self.free;
        self.moved = 0.0;
        self.loads.clear();
        self.touches.clear();
        let start = &mut self.beginning.start;
        start.resize(self.points);
        (0..4).for_each(|i| start.set(i, x.get(i)));
        for (k, point) in rest.contact.iter().enumerate() {
            start.set(4 + k, self.from.place(point.at));
        }
        self.to = match self.led {
            true => self.wanted(controls, state, time + h),
            false => self.moved_by(&self.now),
        };
        self.rotation_vector = self.rotation_vector();
    }

    /// Where it is after the substep with this momentum.
    fn moved_by(&self, momentum: &Momentum) -> Pose {
        let turn = turning::turned(&self.rest, self.from.turn, momentum.angular_momentum, self.h);
        Pose::new(self.from.center + momentum.velocity * self.h, turn)
    }

    /// Where it is held at a time: nearest to where its particles are wanted.
    fn wanted(&mut self, controls: LiveControls<'_>, state: &BodyState, time: f64) -> Pose {
        controls.targets(&self.model, &state.memory, time, &mut self.targets);
        if let (true, Some(input)) = (self.targets.is_empty(), &self.model.input) {
            let moment = input.sequence.at(time);
            self.targets.extend((0..4).map(|i| moment.get(i)));
        }
        let at = std::array::from_fn(|i| self.targets.get(i).copied().unwrap_or(self.from.center));
        Pose::fitted(&self.rest, at, self.from.turn)
    }

    /// How the axes turn in the substep as a vector, by the mean of how they turn when it begins and when it ends.
    fn rotation_vector(&self) -> DVec3 {
        let spins =
            [&self.from, &self.to].map(|pose| pose.per_inertia(&self.rest, self.now.angular_momentum));
        (spins[0] + spins[1]) * (0.5 * self.h)
    }

    /// Takes out of obstacles what the rounds have left inside: less than they could tell, or points that came in at the very
    /// end. Returns how far that moved it, relative to its size.
    fn keep_out(&mut self, body: Subject<'_>, outside: Outside<'_>) -> f64 {
        let began = self.to.center;
        let touched =
            || outside.contacts.iter().filter_map(|c| Some((c, c.particle_at_obstacle(outside.place)?)));
        for _ in 0..PUSHES {
            let before = self.to.center;
            for (contact, i) in touched() {
                let gap = contact.normal.dot(self.end(i)) - contact.offset;
                self.to.center -= contact.normal * gap.min(0.0);
            }
            for (solid, form) in body.obstacles.formed() {
                for i in (0..self.points).filter(|i| self.beginning.free[*i]) {
                    let (start, at) = (self.beginning.start.get(i), self.end(i));
                    let moving = MovingPoint { start, at, radius: self.model.rest().radius[i] };
                    if solid.may_meet(moving, 0.0) {
                        let out = solid.keep_out(form, moving, release(self.beginning.size, self.h));
                        self.to.center += out - at;
                    }
                }
            }
            if self.to.center == before {
                break;
            }
        }
        self.to.center.distance(began) / self.beginning.size
    }
}

impl Solver for Rigid {
    fn prepare(&mut self, model: &BodyModel, _: LiveControls<'_>) -> Result<(), SolverError> {
        if !self.cache.as_ref().is_some_and(|c| c.model.same(model)) {
            self.cache = RigidCache::new(model).map(Box::new);
        }
        Ok(())
    }

    fn predict(&mut self, stage: Stage<'_>, state: &mut BodyState) -> Result<u32, SolverError> {
        self.prepare(stage.body.model, stage.body.controls)?;
        let Some(cache) = &mut self.cache else { return Ok(0) };
        cache.begin(stage, state);
        Ok(if cache.led { 0 } else { ROUNDS })
    }

    fn iterate(&mut self, round: Round, _: Stage<'_>, _: &BodyState) -> Result<bool, SolverError> {
        let Some(cache) = &mut self.cache else { return Ok(false) };
        cache.moved = 0.0;
        Ok(round.touched && !cache.led)
    }

    fn responding(&mut self) -> Option<&mut dyn Respond> {
        self.cache.as_deref_mut().map(|c| c as &mut dyn Respond)
    }

    fn advance(&mut self, _: Stage<'_>, _: &BodyState) -> Progress {
        let moved = self.cache.as_ref().map_or(0.0, |c| c.moved);
        Progress { moved, settled: moved <= SETTLED }
    }

    fn finish(&mut self, stage: Stage<'_>, outside: Outside<'_>, state: &mut BodyState) -> FinishReport {
        let Some(cache) = &mut self.cache else { return FinishReport::default() };
        let mut pushed = 0.0;
        if cache.led {
            cache.arrive(state);
        } else {
            if !stage.body.obstacles.is_empty() {
                pushed = cache.keep_out(stage.body, outside);
                let own =
                    |c: &&Contact| c.force != DVec3::ZERO && c.particle_at_obstacle(outside.place).is_some();
                if pushed > 0.0 || outside.contacts.iter().any(|c| own(&c)) {
                    cache.bounce(stage.body, outside);
                }
            }
            write(&cache.rest, &cache.to, &cache.now, state);
        }
        FinishReport { contacts: 0, pushed, finite: state.is_finite() }
    }

    fn positions(&mut self) -> Option<&Points> {
        let cache = self.cache.as_deref_mut()?;
        for (i, at) in cache.to.particles(&cache.rest).into_iter().enumerate() {
            cache.shown.set(i, at);
        }
        Some(&cache.shown)
    }

    fn duplicate(&self) -> Box<dyn Solver> {
        Box::new(self.clone())
    }
}

impl RigidCache {
    /// The end of a substep of one that is led: its particles have gone from where they were to where it is.
    fn arrive(&self, state: &mut BodyState) {
        let start = &self.beginning.start;
        for (i, at) in self.to.particles(&self.rest).into_iter().enumerate() {
            state.v.set(i, (at - start.get(i)) / self.h);
            state.x.set(i, at);
        }
        state.memory[Section::Orientation].copy_from_slice(&self.to.turn.to_array());
    }
}
