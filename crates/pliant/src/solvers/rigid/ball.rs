//! Balls that roll by themselves: solids of one radius and one moment of inertia that meet planes alone.
//!
//! How a ball is turned changes nothing of how it touches, and a force f at its surface moves what is there by h² f/m along the
//! normal and by h² (1/m + r²/I) f along the plane, whatever came before. What the rounds of `response.rs` find for any solid is
//! known here at once for one plane, and plane by plane for several. So a ball needs none of what contacts of bodies are kept in: it is
//! taken up from its particles, goes through all substeps of a step, and is written back. What it does is what any solid does, to
//! rounding (`tests/all/rigid/balls.rs`).
//!
//! Whether a body moves in this way is said by itself and the colliders alone, so that it has the bits it has without others.

use super::impacts::{Budget, afford};
use super::pose::{Momentum, Pose, write};
use super::turning::turn_by;
use super::{PUSHES, ROUNDS};
use crate::advance::{Outcome, Slot, StepContext, SubstepContext};
use crate::contact::{ContactMaterial, Obstacle, lowest_gap, release};
use crate::forces;
use crate::model::{BodyModel, Model, ModelCollider, RigidRest};
use crate::points::Points;
use crate::solvers::damping::decay;
use crate::solvers::energy_share::leaving;
use crate::solvers::implicit::resting;
use crate::solvers::{SolverKind, SubstepReport};
use crate::state::BodyState;
use glam::{DAffine3, DQuat, DVec3};

/// Most planes a ball may have around it.
const MOST_PLANES: usize = 8;
/// How often the forces of several planes are found anew in a round, and the impulses of bounces.
const SWEEPS: usize = 60;
/// Changes of a force, as movements relative to the size of the ball, that end this.
const SETTLED: f64 = 1e-13;
/// What counts as nothing, relative to size and inertia.
const ROUNDING: f64 = 1e-12;

/// Whether a body that is tied to nothing moves in this way. Where bodies touch each other none does, so that none changes its
/// ways, and last bits, as others come near.
pub(crate) fn rolls(model: &Model, body: &BodyModel) -> bool {
    let is_plane = |c: &ModelCollider| c.collider.half_space(&DAffine3::IDENTITY).is_some();
    let planes = model.colliders().len() <= MOST_PLANES && model.colliders().iter().all(is_plane);
    planes
        && !model.params.body_contact
        && body.solver() == SolverKind::Rigid
        && body.pins().is_empty()
        && body.input().is_none()
        && is_ball(body)
}

fn is_ball(body: &BodyModel) -> bool {
    let Some(rest) = body.rigid() else { return false };
    let even =
        rest.inertia.max_element() - rest.inertia.min_element() <= ROUNDING * rest.inertia.max_element();
    let [only] = rest.contact[..] else { return false };
    even && only.radius > 0.0 && only.at.length() <= ROUNDING * only.radius
}

/// Moves a ball through all substeps of a step; what was is in `before` afterwards.
pub(crate) fn roll(
    of: StepContext<'_>,
    place: usize,
    state: &mut BodyState,
    before: &mut BodyState,
    slot: &mut Slot,
) {
    let (model, controls) = (&of.model.bodies()[place].parts, of.controls.live(place));
    let Some(rest) = model.rigid() else { return };
    before.copy_from(state);
    let forced = forces::act(model, controls);
    let h = model.params.substep();
    let world = World {
        rest,
        radius: rest.contact[0].radius,
        h,
        keep: 1.0 - decay(controls.body.drag, h),
        pull: controls.pull(),
        per_mass: rest.mass.recip(),
        per_inertia: rest.inertia.x.recip(),
        resting: resting(model, controls),
        margin: 1e-3 * rest.size + 2.0 * h * h * controls.world.gravity.length(),
        surface: ContactMaterial::of(controls),
    };
    let mut outcome = Outcome { finite: true, ..Default::default() };
    let mut ball = Ball::told(rest, state);
    let mut scratch = [TouchedPlane::NONE; MOST_PLANES];
    for substep in 0..model.params.substeps {
        let at = of.at(substep, (false, false));
        if forced {
            forces::apply(model, controls, state, (at.time, h), &mut slot.pushes, of.team);
            ball = Ball::told(rest, state);
        }
        outcome.last = ball.substep(&world, at, &mut scratch, slot);
        outcome.convergence.add(SolverKind::Rigid, &outcome.last);
        if forced || substep + 1 == model.params.substeps {
            ball.write(rest, state);
        }
    }
    outcome.finite = state.is_finite();
    outcome.last.finite = outcome.finite;
    slot.outcome = Ok(outcome);
}

/// What stays the same of a ball and the world around it during a step.
struct World<'a> {
    rest: &'a RigidRest,
    radius: f64,
    h: f64,
    /// What drag leaves of its motion in a substep.
    keep: f64,
    pull: DVec3,
    per_mass: f64,
    per_inertia: f64,
    /// Arrivals slower than this do not bounce.
    resting: f64,
    /// What is nearer than this counts as touched.
    margin: f64,
    surface: ContactMaterial,
}

/// Where a ball is and how it moves.
#[derive(Clone, Copy)]
struct Ball {
    center: DVec3,
    turn: DQuat,
    motion: Momentum,
}

/// A plane that a ball is near to.
#[derive(Clone, Copy)]
struct TouchedPlane {
    normal: DVec3,
    /// How far along the normal its centre is to be at least.
    offset: f64,
    friction: f64,
    restitution: f64,
    /// How far what is touched moves.
    moves: DVec3,
    /// The force there, or the impulse, felt by a ball of the mass it was built with.
    force: DVec3,
}

/// How what touches moves by a force: along the normal, and along the plane.
#[derive(Clone, Copy)]
struct Mobility {
    across: f64,
    along: f64,
}

impl TouchedPlane {
    const NONE: TouchedPlane = TouchedPlane {
        normal: DVec3::Y,
        offset: 0.0,
        friction: 0.0,
        restitution: 0.0,
        moves: DVec3::ZERO,
        force: DVec3::ZERO,
    };

    fn new(plane: &Obstacle, start: DVec3, end: DVec3, world: &World<'_>) -> TouchedPlane {
        let normal = plane.end.normal;
        let began = plane.start.gap(start) - world.radius;
        TouchedPlane {
            normal,
            offset: plane.end.offset + world.radius + lowest_gap(began, release(world.rest.size, world.h)),
            friction: world.surface.friction(plane.end.friction),
            restitution: world.surface.restitution(plane.end.restitution),
            moves: plane.moves(end - normal * plane.end.gap(end)),
            force: DVec3::ZERO,
        }
    }

    /// How far inside the ball is with its centre there; negative.
    fn gap(&self, center: DVec3) -> f64 {
        self.normal.dot(center) - self.offset
    }

    /// The force in place of the present one, with which what touches is `off` from where it is to be: as `PointContact::next`.
    fn next(&self, off: DVec3, Mobility { across, along }: Mobility) -> DVec3 {
        let n = self.normal;
        let out = n.dot(off);
        let push = (n.dot(self.force) - out / across).max(0.0);
        let holds = (self.force - n * n.dot(self.force)) - (off - n * out) / along;
        let (length, most) = (holds.length(), self.friction * push);
        if length <= most { n * push + holds } else { n * push + holds * (most / length) }
    }
}

impl Ball {
    /// As particles tell it.
    fn told(rest: &RigidRest, state: &BodyState) -> Ball {
        let pose = Pose::told(&state.x, state.memory.turning());
        Ball { center: pose.center, turn: pose.turn, motion: Momentum::told(rest, &pose, &state.v) }
    }

    fn write(&self, rest: &RigidRest, state: &mut BodyState) {
        write(rest, &Pose::new(self.center, self.turn.normalize()), &self.motion, state);
    }

    fn show(&self, rest: &RigidRest, number: u32, slot: &mut Slot) {
        if let Some(observer) = &mut slot.observer {
            let at: Points = Pose::new(self.center, self.turn).particles(rest).into_iter().collect();
            observer(number, &at);
        }
    }

    /// What is at this arm moves so far in a time.
    fn moves(motion: &Momentum, world: &World<'_>, arm: DVec3) -> DVec3 {
        motion.velocity + (motion.angular_momentum * world.per_inertia).cross(arm)
    }

    fn substep(
        &mut self,
        world: &World<'_>,
        at: SubstepContext<'_>,
        scratch: &mut [TouchedPlane; MOST_PLANES],
        slot: &mut Slot,
    ) -> SubstepReport {
        let (h, from) = (world.h, *self);
        let before = Momentum {
            velocity: from.motion.velocity * world.keep,
            angular_momentum: from.motion.angular_momentum * world.keep,
        };
        self.motion = Momentum { velocity: before.velocity + world.pull * h, ..before };
        if slot.observer.is_some() {
            self.going(world).show(world.rest, 0, slot);
        }
        let (count, rounds) = self.touch(world, at.obstacles.planes, scratch);
        let touched = &mut scratch[..count];
        *self = self.going(world);
        let pushed = self.keep_out(touched) / world.rest.size;
        let loaded = touched.iter().filter(|t| t.force != DVec3::ZERO).count();
        if pushed > 0.0 || loaded > 0 {
            self.bounce(world, (from, before), touched);
        }
        self.show(world.rest, rounds, slot);
        SubstepReport { contacts: loaded, iterations: rounds, residual: pushed, finite: true }
    }

    /// After a substep with the motion it has.
    fn going(&self, world: &World<'_>) -> Ball {
        let center = self.center + self.motion.velocity * world.h;
        let rotation = self.motion.angular_momentum * (world.h * world.per_inertia);
        Ball { center, turn: turn_by(rotation) * self.turn, ..*self }
    }

    /// Finds what it touches on its way, and lets that change its motion; returns how many planes that are, and rounds.
    fn touch(
        &mut self,
        world: &World<'_>,
        planes: &[Obstacle],
        touched: &mut [TouchedPlane; MOST_PLANES],
    ) -> (usize, u32) {
        let (mut listed, mut count, mut margin) = (0_u32, 0, world.margin);
        for round in 0..ROUNDS {
            let (end, known) = (self.center + self.motion.velocity * world.h, count);
            for (k, plane) in planes.iter().enumerate().take(MOST_PLANES) {
                if listed >> k & 1 == 0 && plane.end.gap(end) - world.radius < margin {
                    listed |= 1 << k;
                    touched[count] = TouchedPlane::new(plane, self.center, end, world);
                    count += 1;
                }
            }
            if count == known {
                return (count, round);
            }
            self.answer(world, &mut touched[..count]);
            margin = 0.0;
        }
        (count, ROUNDS)
    }

    /// Forces that keep it out of planes.
    fn answer(&mut self, world: &World<'_>, touched: &mut [TouchedPlane]) {
        let h = world.h;
        let lever = world.radius * world.radius * world.per_inertia;
        let mobility = Mobility { across: h * h * world.per_mass, along: h * h * (world.per_mass + lever) };
        let once = touched.len() == 1;
        for _ in 0..SWEEPS {
            let mut changed = 0.0_f64;
            for plane in touched.iter_mut() {
                let (n, arm) = (plane.normal, plane.normal * -world.radius);
                let moved = Ball::moves(&self.motion, world, arm) * h - plane.moves;
                let off = moved + n * (plane.gap(self.center) + n.dot(plane.moves));
                let next = plane.next(off, mobility);
                let change = next - plane.force;
                plane.force = next;
                self.motion.velocity += change * (h * world.per_mass);
                self.motion.angular_momentum += arm.cross(change) * h;
                changed = changed.max(change.length() * mobility.across);
            }
            if once || changed <= SETTLED * world.rest.size {
                break;
            }
        }
    }

    /// Takes it out of what the rounds have left it in; returns how far.
    fn keep_out(&mut self, touched: &[TouchedPlane]) -> f64 {
        let began = self.center;
        for _ in 0..PUSHES {
            let before = self.center;
            for plane in touched {
                self.center -= plane.normal * plane.gap(self.center).min(0.0);
            }
            if self.center == before {
                break;
            }
        }
        self.center.distance(began)
    }

    /// Gives what arrives its velocity back, and takes away what contact has added to the energy: as of any solid in `impacts.rs`.
    fn bounce(&mut self, world: &World<'_>, (from, before): (Ball, Momentum), touched: &mut [TouchedPlane]) {
        let (h, was) = (world.h, self.motion);
        let (carrier_velocity, work) = carried(touched, h);
        let bounces =
            touched.iter().any(|t| t.restitution > 0.0) && self.spring(world, (from, before), touched);
        let energy = |motion: &Momentum, carrier_velocity: DVec3| {
            0.5 * world.rest.mass * (motion.velocity - carrier_velocity).length_squared()
                + 0.5 * world.per_inertia * motion.angular_momentum.length_squared()
        };
        let lifted = self.center - from.center - carrier_velocity * h;
        let forces = (world.rest.mass, world.pull, h);
        let budget = Budget::new(
            energy(&before, carrier_velocity) + work,
            (carrier_velocity, before.velocity, lifted),
            forces,
        );
        if let Some(part) = budget.part {
            let rotation = was.angular_momentum * (h * world.per_inertia * part);
            self.center = (from.center + carrier_velocity * h).lerp(self.center, part);
            self.turn = turn_by(rotation) * from.turn;
            self.motion = Momentum { velocity: carrier_velocity, angular_momentum: DVec3::ZERO };
            return;
        }
        self.motion = afford(&was, bounces.then_some(&self.motion), true, budget, energy);
    }

    /// Lets it leave with what restitution gives back, if it gives any.
    fn spring(
        &mut self,
        world: &World<'_>,
        (from, before): (Ball, Momentum),
        touched: &mut [TouchedPlane],
    ) -> bool {
        let (h, size) = (world.h, world.rest.size);
        let mut fastest = 0.0_f64;
        for plane in touched.iter_mut() {
            let n = plane.normal;
            let surface = plane.moves / h;
            let into = -n.dot(before.velocity - surface);
            let faster = -n.dot(world.pull);
            let left = plane.gap(from.center + plane.moves).max(0.0);
            let meets = plane.gap(self.center) <= 1e-9 * size || plane.force != DVec3::ZERO;
            let back = (plane.restitution, world.resting);
            let leaves = if meets { leaving((into, faster, left), h, back) } else { 0.0 };
            fastest = fastest.max(leaves);
            // From here on the velocity to leave with; what is not met has no say.
            plane.moves = surface + n * leaves;
            plane.force = DVec3::ZERO;
            plane.offset = if meets { 0.0 } else { f64::INFINITY };
        }
        if fastest == 0.0 {
            return false;
        }
        let along = world.per_mass + world.radius * world.radius * world.per_inertia;
        let mobility = Mobility { across: world.per_mass, along };
        for _ in 0..SWEEPS {
            let mut changed = 0.0_f64;
            for plane in touched.iter_mut().filter(|t| t.offset == 0.0) {
                let arm = plane.normal * -world.radius;
                let next = plane.next(Ball::moves(&self.motion, world, arm) - plane.moves, mobility);
                let change = next - plane.force;
                plane.force = next;
                self.motion.velocity += change * world.per_mass;
                self.motion.angular_momentum += arm.cross(change);
                changed = changed.max(change.length() * world.per_mass);
            }
            if changed <= SETTLED * fastest {
                break;
            }
        }
        true
    }
}

/// The velocity of what carries the ball, and the work that planes do on it nevertheless, seen from there.
fn carried(touched: &[TouchedPlane], h: f64) -> (DVec3, f64) {
    if touched.iter().all(|t| t.moves == DVec3::ZERO) {
        return (DVec3::ZERO, 0.0);
    }
    let loaded = touched.iter().any(|t| t.force != DVec3::ZERO);
    let (mut sum, mut count) = (DVec3::ZERO, 0.0);
    for plane in touched.iter().filter(|t| !loaded || t.force != DVec3::ZERO) {
        sum += plane.moves;
        count += 1.0;
    }
    let moves = sum / f64::max(count, 1.0);
    (moves / h, touched.iter().map(|t| t.force.dot(t.moves - moves)).sum())
}
