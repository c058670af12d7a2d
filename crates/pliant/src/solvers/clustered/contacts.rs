//! Obstacles and blocks: lanes find what is inside, the few that are get handled one by one.

use super::kernels::{Inside, Points8};
use super::layout::WIDTH;
use crate::contact::{
    Arrival, ColliderGeometry, ContactMaterial, MovingPoint, Obstacles, Solid, lowest_gap, push_out,
    push_out_of_solids,
};
use crate::controls::BodyControls;
use glam::DVec3;
use pliant_math::lanes::Isa;

fn lanes(mask: u8) -> impl Iterator<Item = usize> {
    (0..WIDTH).filter(move |lane| mask & (1 << lane) != 0)
}

/// What decides how the particles of a block meet obstacles in a substep: see [`Arrival`].
#[derive(Clone, Copy)]
pub(super) struct BlockContact<'a> {
    pub obstacles: Obstacles<'a>,
    pub surface: ContactMaterial,
    pub release: f64,
    pub resting: f64,
    pub radii: &'a [f64; WIDTH],
    /// Where the particles were when the substep began.
    pub start: &'a Points8,
    /// Their velocities then, if they may bounce, and the length of the substep.
    pub arriving: Option<&'a Points8>,
    pub h: f64,
    /// The share of its restitution that a bounce returns.
    pub share: f64,
}

impl BlockContact<'_> {
    fn inside(&self, x: &Points8, isa: Isa) -> u8 {
        isa.run(Inside { planes: self.obstacles.planes, radii: self.radii, x }) | self.near_solids(x)
    }

    /// Lanes whose way leads past the box of a solid.
    #[inline]
    fn near_solids(&self, x: &Points8) -> u8 {
        let mut near = 0;
        for solid in self.obstacles.solids {
            for lane in 0..WIDTH {
                near |= u8::from(solid.may_meet(self.moving_point(lane, x.get(lane)), 0.0)) << lane;
            }
        }
        near
    }

    fn moving_point(&self, lane: usize, at: DVec3) -> MovingPoint {
        MovingPoint { start: self.start.get(lane), at, radius: self.radii[lane] }
    }
}

/// Moves the given lanes out of all obstacles, with friction against the way they came; returns how many
/// contacts there were.
pub(super) fn push_out_lanes(meeting: BlockContact<'_>, mask: u8, x: &mut Points8, isa: Isa) -> usize {
    let BlockContact { obstacles, surface, release, resting, radii, start, arriving, h, share } = meeting;
    let mut contacts = 0;
    for lane in lanes(mask & meeting.inside(x, isa)) {
        let (at, radius) = (x.get(lane), radii[lane]);
        contacts += obstacles.planes.iter().filter(|o| o.end.gap(at) < radius).count();
        let displacement = arriving.map_or(DVec3::ZERO, |v| v.get(lane) * h);
        let arrival = Arrival { start: start.get(lane), displacement, release, resting, share, radius };
        let mut to = push_out(obstacles.planes, surface, arrival, at);
        if !obstacles.solids.is_empty() {
            let (out, met) = push_out_of_solids(obstacles, surface, arrival, to);
            (to, contacts) = (out, contacts + met);
        }
        x.set(lane, to);
    }
    contacts
}

/// The deformer's impulses (eq. 2 and 3) for lanes that the Euler step took into an obstacle, or that
/// their new velocity would: the normal velocity is turned around with the elasticity, the sliding
/// velocity loses its viscous share. Returns how many contacts there were.
///
/// Velocities are those after the forces of the step. With those before, as the report has it, gravity
/// would press a resting particle h² g deeper in each step.
pub(super) fn impulses(
    meeting: BlockContact<'_>,
    controls: &BodyControls,
    mask: u8,
    x: &mut Points8,
    v: &mut Points8,
    isa: Isa,
) -> usize {
    let BlockContact { obstacles, release, resting, radii, start, h, .. } = meeting;
    let mut ahead = *start;
    for (to, v) in ahead.0.iter_mut().flatten().zip(v.0.iter().flatten()) {
        *to += h * v;
    }
    let inside = meeting.inside(x, isa) | meeting.inside(&ahead, isa);
    let mut contacts = 0;
    for lane in lanes(mask & inside) {
        let (mut at, mut velocity) = (x.get(lane), v.get(lane));
        for obstacle in obstacles.planes {
            let plane = &obstacle.end;
            let gap = |p: DVec3| plane.gap(p) - radii[lane];
            if gap(at) >= 0.0 && gap(ahead.get(lane)) >= 0.0 {
                continue;
            }
            contacts += 1;
            let began = obstacle.start.gap(start.get(lane)) - radii[lane];
            at -= plane.normal * (gap(at) - lowest_gap(began, release)).min(0.0);
            let surface = obstacle.moves(at - plane.normal * plane.gap(at)) / h;
            let face = (plane.normal, plane.restitution);
            velocity += impulse(face, controls, resting / h, velocity - surface);
        }
        for (solid, form) in obstacles.formed() {
            // Where it is, or else where its velocity takes it.
            let met = [at, ahead.get(lane)].map(|p| solid.meets(form, meeting.moving_point(lane, p), 0.0));
            let Some(meets) = met.iter().find(|m| m.iter().next().is_some()) else { continue };
            for meet in meets.iter() {
                contacts += 1;
                let lowest = lowest_gap(meet.began - radii[lane], release);
                at -= meet.normal * (meet.gap(at) - radii[lane] - lowest).min(0.0);
                let face = (meet.normal, solid.restitution);
                velocity += impulse(face, controls, resting / h, velocity - meet.moves / h);
            }
            at = solid.keep_out(form, meeting.moving_point(lane, at), release);
        }
        x.set(lane, at);
        v.set(lane, velocity);
    }
    contacts
}

/// (j_c + j_f)/m of equation 2, for a velocity into the plane, seen from it; nothing for one out of it. Arrivals
/// slower than `resting` do not bounce, or gravity alone would keep particles hopping.
fn impulse((normal, restitution): (DVec3, f64), controls: &BodyControls, resting: f64, v: DVec3) -> DVec3 {
    let speed = normal.dot(v);
    if speed >= 0.0 {
        return DVec3::ZERO;
    }
    let elasticity = if -speed > resting { controls.restitution.max(restitution) } else { 0.0 };
    let slide = v - normal * speed;
    normal * (-(elasticity + 1.0) * speed) - slide * controls.viscous_friction
}

/// What contact adds to the energy that symplectic Euler conserves, ½ m v·v₀ + V with the velocities v₀ before and v
/// after the forces of a substep, by having moved the particles from `predicted` to `x`: see [`push_out`]. Seen from what
/// is touched, as that does no work then. Less than its rounding is nothing.
pub(super) fn energy_gained(
    meeting: BlockContact<'_>,
    masses: &[f64; WIDTH],
    (arriving, v): (&Points8, &Points8),
    (predicted, x): (&Points8, &Points8),
) -> f64 {
    let BlockContact { obstacles, radii, h, .. } = meeting;
    let surface = |lane: usize, at: DVec3| {
        let touched = obstacles.planes.iter().find(|o| o.end.gap(at) < radii[lane]);
        let plane = touched.map(|o| o.moves(at - o.end.normal * o.end.gap(at)) / h);
        let met = || {
            let of = |(solid, form): (&Solid, &ColliderGeometry)| {
                let meets = solid.meets(form, meeting.moving_point(lane, at), 0.0);
                meets.iter().next().map(|m| m.moves / h)
            };
            obstacles.formed().find_map(of)
        };
        plane.or_else(met).unwrap_or(DVec3::ZERO)
    };
    let (mut gain, mut size) = (0.0, 0.0);
    for (lane, mass) in masses.iter().enumerate() {
        let change = (x.get(lane) - predicted.get(lane)) / h;
        if change != DVec3::ZERO {
            let surface = surface(lane, predicted.get(lane));
            let sum = v.get(lane) + change + arriving.get(lane) - surface * 2.0;
            gain += 0.5 * mass * change.dot(sum);
            size += mass * change.length() * (v.get(lane).length() + change.length() + surface.length());
        }
    }
    if gain.abs() > 1e-12 * size { gain } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::Obstacle;
    use crate::model::HalfSpace;

    /// Equation 2 on a particle that lies on a plane.
    #[test]
    fn impulses_are_those_of_the_report() {
        let plane = HalfSpace { normal: DVec3::new(0.6, 0.8, 0.0), restitution: 0.0, ..HalfSpace::ground() };
        for (elasticity, friction) in [(0.0, 0.0), (0.3, 0.2), (1.0, 1.0)] {
            let controls = BodyControls {
                restitution: elasticity,
                viscous_friction: friction,
                ..BodyControls::default()
            };
            let (mut x, mut v) = (Points8::default(), Points8::default());
            let before = DVec3::new(1.0, -2.0, 0.5);
            v.set(3, before);
            let start = x;
            let meeting = BlockContact {
                obstacles: Obstacles { planes: &[Obstacle::still(plane)], ..Obstacles::NONE },
                surface: ContactMaterial { friction: None, restitution: 0.0 },
                release: 0.0,
                resting: 0.0,
                radii: &[0.0; WIDTH],
                start: &start,
                arriving: None,
                h: 0.01,
                share: 0.0,
            };
            let found = impulses(meeting, &controls, 1 << 3, &mut x, &mut v, Isa::best());
            let n = plane.normal;
            let j_c = -(elasticity + 1.0) * n * n.dot(before);
            let j_f = -friction * (before - n * n.dot(before));
            assert_eq!(found, 1);
            assert!((v.get(3) - (before + j_c + j_f)).length() < 1e-14);
            // Leaving the plane nothing happens.
            v.set(3, -before);
            impulses(meeting, &controls, 1 << 3, &mut x, &mut v, Isa::best());
            assert_eq!(v.get(3), -before);
        }
    }
}
