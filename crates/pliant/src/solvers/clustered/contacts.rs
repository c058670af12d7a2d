//! Planes and blocks: lanes find what is inside, the few that are get handled one by one.

use super::kernels::{Inside, Octet};
use super::layout::WIDTH;
use crate::contact::{Contact, Surface, bounce, push_out};
use crate::controls::BodyControls;
use crate::model::HalfSpace;
use glam::DVec3;
use pliant_math::lanes::Isa;

fn lanes(mask: u8) -> impl Iterator<Item = usize> {
    (0..WIDTH).filter(move |lane| mask & (1 << lane) != 0)
}

/// Moves the given lanes out of all half-spaces, with friction against the way from `start`; returns
/// how many contacts there were.
pub(super) fn push_out_lanes(
    planes: &[HalfSpace],
    surface: Surface,
    mask: u8,
    start: &Octet,
    x: &mut Octet,
    isa: Isa,
) -> usize {
    let mut contacts = 0;
    for lane in lanes(mask & isa.run(Inside { planes, x })) {
        let at = x.get(lane);
        contacts += planes.iter().filter(|p| p.gap(at) < 0.0).count();
        x.set(lane, push_out(planes, surface, start.get(lane), at));
    }
    contacts
}

/// The deformer's impulses (eq. 2 and 3) for lanes that the Euler step took into a plane, or that
/// their new velocity would: the normal velocity is turned around with the elasticity, the sliding
/// velocity loses its viscous share. Returns how many contacts there were.
///
/// Velocities are those after the forces of the step. With those before, as the report has it, gravity
/// would press a resting particle h² g deeper in each step.
#[allow(clippy::too_many_arguments)]
pub(super) fn impulses(
    planes: &[HalfSpace],
    controls: &BodyControls,
    mask: u8,
    h: f64,
    resting: f64,
    start: &Octet,
    x: &mut Octet,
    v: &mut Octet,
    isa: Isa,
) -> usize {
    let mut ahead = *start;
    for (to, v) in ahead.0.iter_mut().flatten().zip(v.0.iter().flatten()) {
        *to += h * v;
    }
    let inside = isa.run(Inside { planes, x }) | isa.run(Inside { planes, x: &ahead });
    let mut contacts = 0;
    for lane in lanes(mask & inside) {
        let (mut at, mut velocity) = (x.get(lane), v.get(lane));
        for plane in planes {
            if plane.gap(at) >= 0.0 && plane.gap(ahead.get(lane)) >= 0.0 {
                continue;
            }
            contacts += 1;
            at -= plane.normal * plane.gap(at).min(0.0);
            velocity += impulse(plane, controls, resting, velocity);
        }
        x.set(lane, at);
        v.set(lane, velocity);
    }
    contacts
}

/// (j_c + j_f)/m of equation 2, for a velocity into the plane; nothing for one out of it. Arrivals
/// slower than `resting` do not bounce, or gravity alone would keep particles hopping.
fn impulse(plane: &HalfSpace, controls: &BodyControls, resting: f64, v: DVec3) -> DVec3 {
    let speed = plane.normal.dot(v);
    if speed >= 0.0 {
        return DVec3::ZERO;
    }
    let elasticity = if -speed > resting { controls.restitution.max(plane.restitution) } else { 0.0 };
    let slide = v - plane.normal * speed;
    plane.normal * (-(elasticity + 1.0) * speed) - slide * controls.viscous_friction
}

/// Restitution for lanes that arrived inside a plane.
pub(super) fn bounces(
    planes: &[HalfSpace],
    surface: Surface,
    mask: u8,
    predicted: &Octet,
    arriving: &Octet,
    resting: f64,
    v: &mut Octet,
) {
    for (k, plane) in planes.iter().enumerate() {
        let restitution = surface.restitution.max(plane.restitution);
        if restitution == 0.0 {
            continue;
        }
        for lane in lanes(mask) {
            let gap = plane.gap(predicted.get(lane));
            if gap < 0.0 {
                let contact = Contact::with_plane(plane, k, lane as u32, gap, surface);
                v.set(lane, bounce(&contact, arriving.get(lane), v.get(lane), resting));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let (mut x, mut v) = (Octet::default(), Octet::default());
            let before = DVec3::new(1.0, -2.0, 0.5);
            v.set(3, before);
            let start = x;
            let found = impulses(&[plane], &controls, 1 << 3, 0.01, 0.0, &start, &mut x, &mut v, Isa::best());
            let n = plane.normal;
            let j_c = -(elasticity + 1.0) * n * n.dot(before);
            let j_f = -friction * (before - n * n.dot(before));
            assert_eq!(found, 1);
            assert!((v.get(3) - (before + j_c + j_f)).length() < 1e-14);
            // Leaving the plane nothing happens.
            v.set(3, -before);
            impulses(&[plane], &controls, 1 << 3, 0.01, 0.0, &start, &mut x, &mut v, Isa::best());
            assert_eq!(v.get(3), -before);
        }
    }
}
