//! Islands that have come to rest sleep: nothing of them is computed until something they would feel has changed.
//!
//! Asleep is what the state says: how many steps in a row no particle of an island has moved faster than
//! [`Params::sleep_speed`](crate::model::Params), and what the island then felt, as a digest: its bodies and whom they may touch, their
//! live values, the world's. Before every step that is told again; if it is the same, and no collider moves nearby, the step
//! leaves the island as it is. So a step stays a function of model, state and controls. An edit of the model wakes everybody.

use crate::advance::StepContext;
use crate::bytes::Digest;
use crate::contact::ColliderTrajectory;
use crate::forces;
use crate::island::Island;
use crate::memory::Section;
use crate::model::{Model, Motion};
use crate::state::{BodyState, State};
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, NOWHERE, join, overlap};

/// How long an island is at rest before it sleeps, s.
const AT_REST: f64 = 0.5;

/// How near a moving collider comes to an island before it wakes it, in terms of the size of its bodies.
const NEARBY: f64 = 0.05;

/// Colliders that move in a step.
#[derive(Debug, Default)]
pub(crate) struct Stirring {
    /// Whether a plane does: it is near everything.
    everywhere: bool,
    boxes: Vec<Bounds>,
}

impl Stirring {
    /// Finds those of the step to come.
    pub fn find(&mut self, of: StepContext<'_>, state: &State) {
        self.everywhere = false;
        self.boxes.clear();
        let moved = |k: usize| {
            let collider = &of.model.colliders()[k].collider;
            let led = of.controls.colliders[k].is_some_and(|at| at != state.colliders[k]);
            let deforms = !of.controls.vertices[k].is_empty() || collider.input.is_some();
            led || deforms || collider.motion != Motion::REST
        };
        let substeps = of.model.params.substeps;
        let moving = of.model.colliders().iter().enumerate().filter(|(k, _)| moved(*k));
        for (_, collider) in moving {
            let number = collider.id.number();
            self.everywhere |= ColliderTrajectory::is_plane(&collider.collider);
            for substep in 0..substeps {
                let solids = of.course.substep(substep).solids;
                self.boxes.extend(solids.iter().filter(|s| s.collider == number).map(|s| s.bounds()));
            }
        }
    }

    fn reaches(&self, around: Bounds) -> bool {
        self.everywhere || self.boxes.iter().any(|b| overlap(*b, around))
    }
}

impl Island {
    /// Whether a step leaves it as it is.
    pub fn sleeps(&self, of: StepContext<'_>, state: &State, stirring: &Stirring) -> bool {
        let Some(least) = steps_at_rest(of.model) else { return false };
        let asleep = |place: usize| state.bodies[place].memory[Section::Sleep][0] >= least;
        if !self.members.iter().all(|m| asleep(m.place)) || !self.may_sleep(of) {
            return false;
        }
        let key = self.felt(of);
        let same = |place: usize| state.bodies[place].memory[Section::Sleep][1..] == key;
        self.members.iter().all(|m| same(m.place)) && !stirring.reaches(self.bounds(of, state))
    }

    /// Counts the steps at rest of an island that was moved, and lets it fall asleep.
    pub fn tire(&mut self, of: StepContext<'_>) {
        let (Some(least), speed) = (steps_at_rest(of.model), of.model.params.sleep_speed) else { return };
        let most = speed * of.model.params.step;
        let still = |now: &BodyState, before: &BodyState| {
            now.x.iter().zip(before.x.iter()).all(|(p, q)| p.distance_squared(q) <= most * most)
        };
        let rests = self.may_sleep(of) && self.members.iter().all(|m| still(&m.state, &m.before));
        let key = if rests { self.felt(of) } else { [0.0; 2] };
        let count = self.members.iter().map(|m| m.state.memory[Section::Sleep][0]).fold(least, f64::min);
        let count = if rests { (count + 1.0).min(least) } else { 0.0 };
        for member in &mut self.members {
            member.state.memory[Section::Sleep].copy_from_slice(&[count, key[0], key[1]]);
            if count >= least {
                member.state.v.clear();
            }
        }
    }

    /// Whether nothing leads its bodies and no air or load changes from moment to moment.
    fn may_sleep(&self, of: StepContext<'_>) -> bool {
        self.members.iter().all(|m| {
            let (parts, live) = (&of.model.bodies()[m.place].parts, of.controls.live(m.place));
            let led = parts.pins().iter().any(|p| p.motion != Motion::REST)
                || live.pins.iter().any(Option::is_some);
            !led && parts.input().is_none() && !forces::act(parts, live)
        })
    }

    /// A digest of all that it feels, as two numbers.
    fn felt(&self, of: StepContext<'_>) -> [f64; 2] {
        let mut hash = Digest::default();
        let id = of.model.id();
        [id.revision, id.fingerprint].into_iter().for_each(|v| hash.word(v));
        of.controls.digest_world(&mut hash);
        self.members.iter().for_each(|m| of.controls.digest_body(m.place, &mut hash));
        self.ties.iter().for_each(|t| of.controls.digest_coupling(t.place, &mut hash));
        let word = hash.finish();
        [(word >> 32) as f64, (word & u64::from(u32::MAX)) as f64]
    }

    /// The box around all of it, and some room.
    fn bounds(&self, of: StepContext<'_>, state: &State) -> Bounds {
        self.members.iter().fold(NOWHERE, |around, m| {
            let shape = of.model.bodies()[m.place].parts.collision();
            let room = DVec3::splat(shape.overhang + NEARBY * shape.size);
            let own = state.bodies[m.place].x.iter().fold(NOWHERE, |b, p| (b.0.min(p), b.1.max(p)));
            join(around, (own.0 - room, own.1 + room))
        })
    }
}

/// After how many steps at rest an island sleeps; nothing where none does.
fn steps_at_rest(model: &Model) -> Option<f64> {
    (model.params.sleep_speed > 0.0).then(|| (AT_REST / model.params.step).ceil())
}
