//! Particles against obstacles, where each moves by itself: contact forces in closed form.
//!
//! A particle of mass m that answers to forces alone moves by f h²/m. The forces in friction cones that keep it out of a
//! plane are then known at once, and what they do is a push out of the plane with friction. It is how the explicit
//! clustered solver meets planes; bodies whose particles answer together need the iteration of [`super::dual`].

use super::{MovingPoint, Obstacle, Obstacles};
use crate::controls::LiveControls;
use glam::DVec3;

/// What a body's surface adds to a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactMaterial {
    /// Its friction, combined with the plane's as √(a b); `None` takes the plane's.
    pub friction: Option<f64>,
    /// Its restitution; the larger one counts.
    pub restitution: f64,
}

impl ContactMaterial {
    /// That of a body at present.
    pub(crate) fn of(controls: LiveControls<'_>) -> ContactMaterial {
        ContactMaterial { friction: controls.body.friction, restitution: controls.body.restitution }
    }

    /// Friction against what has this friction.
    #[inline(always)]
    pub fn friction(&self, other: f64) -> f64 {
        self.friction.map_or(other, |f| (f * other).sqrt())
    }

    /// Restitution against what has this restitution.
    #[inline(always)]
    pub fn restitution(&self, other: f64) -> f64 {
        self.restitution.max(other)
    }
}

/// How a particle came to where contact finds it in a substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Where it was when the substep began.
    pub start: DVec3,
    /// How far its velocity at the start would have taken it in the substep; zero if it is not to bounce.
    pub displacement: DVec3,
    /// The furthest a particle that began inside is pushed out in this substep: see [`release`].
    pub release: f64,
    /// Ways into a plane longer than this end in a bounce, where there is restitution.
    pub resting: f64,
    /// The share of its restitution that a bounce returns.
    pub share: f64,
    /// How far it keeps from a plane: what is shown around it reaches that far.
    pub radius: f64,
}

/// How far what began inside an obstacle is pushed out of it in `h` seconds: at one size of its body per second, and
/// at five centimetres per second if it is tiny. A push of the whole depth in one substep would shoot it out at
/// depth over substep.
pub fn release(diameter: f64, h: f64) -> f64 {
    diameter.max(0.05) * h
}

/// The lowest gap allowed at the end of a substep to a point whose gap was `began`: zero, or still below it for a point
/// that began deep inside.
#[inline(always)]
pub fn lowest_gap(began: f64, release: f64) -> f64 {
    (began + release).min(0.0)
}

/// A particle that is at `x`, moved out of every obstacle it is in. A push of
/// d along the normal takes back up to μ d of the tangential movement since the start, seen from the obstacle: Coulomb's law on
/// displacements, which holds a body on a slope instead of letting it creep.
///
/// With restitution e a particle that arrives with velocity v leaves with −e v, from where the substep began. Seen from
/// there no bounce adds energy, however stiff what it belongs to: with v₀ before and v after the forces f of the
/// substep, symplectic Euler conserves ½ m v·v₀ + V, and a contact that makes v′ of v adds ½ m (v′ − v)·(v′ + v₀) to
/// it, nothing for v′ = −v₀.
#[inline(always)]
pub fn push_out(planes: &[Obstacle], surface: ContactMaterial, arrival: Arrival, mut x: DVec3) -> DVec3 {
    let Arrival { start, release, radius, .. } = arrival;
    for obstacle in planes {
        let plane = &obstacle.end;
        let gap = plane.gap(x) - radius;
        if gap >= 0.0 {
            continue;
        }
        let push = lowest_gap(obstacle.start.gap(start) - radius, release) - gap;
        let face = Face {
            normal: plane.normal,
            moves: obstacle.moves(x - plane.normal * plane.gap(x)),
            friction: surface.friction(plane.friction),
            restitution: surface.restitution(plane.restitution),
        };
        x = face.push(push, arrival, x);
    }
    x
}

/// The same for all other colliders: pushed out of what it is in, and in the end not in anything. Also tells how many
/// contacts there were.
pub(crate) fn push_out_of_solids(
    obstacles: Obstacles<'_>,
    surface: ContactMaterial,
    arrival: Arrival,
    mut x: DVec3,
) -> (DVec3, usize) {
    let Arrival { start, release, radius, .. } = arrival;
    let mut contacts = 0;
    for (solid, form) in obstacles.formed() {
        let meets = solid.meets(form, MovingPoint { start, at: x, radius }, 0.0);
        if meets.iter().next().is_none() {
            continue;
        }
        for meet in meets.iter() {
            let gap = meet.gap(x) - radius;
            if gap >= 0.0 {
                continue;
            }
            contacts += 1;
            let face = Face {
                normal: meet.normal,
                moves: meet.moves,
                friction: surface.friction(solid.friction),
                restitution: surface.restitution(solid.restitution),
            };
            x = face.push(lowest_gap(meet.began - radius, release) - gap, arrival, x);
        }
        x = solid.keep_out(form, MovingPoint { start, at: x, radius }, release);
    }
    (x, contacts)
}

/// What a particle is pushed out of.
struct Face {
    normal: DVec3,
    /// How far it moves in the substep.
    moves: DVec3,
    friction: f64,
    restitution: f64,
}

impl Face {
    /// Moves a particle at `x` out by `push`, or as far as it bounces, with friction.
    #[inline(always)]
    fn push(&self, mut push: f64, arrival: Arrival, mut x: DVec3) -> DVec3 {
        let Face { normal, moves, .. } = *self;
        let Arrival { start, displacement, resting, share, .. } = arrival;
        let into = -normal.dot(displacement - moves);
        let restitution = share * self.restitution;
        if into > resting && restitution > 0.0 {
            push = push.max(restitution * into - normal.dot(x - start - moves));
        }
        if push <= 0.0 {
            return x;
        }
        x += normal * push;
        let displacement = x - start - moves;
        let slide = displacement - normal * normal.dot(displacement);
        let length = slide.length();
        let held = self.friction * push;
        x -= if length <= held { slide } else { slide * (held / length) };
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::HalfSpace;

    const SMOOTH: ContactMaterial = ContactMaterial { friction: None, restitution: 0.0 };

    /// From the origin, at any speed, without bouncing.
    const PLAIN: Arrival = Arrival {
        start: DVec3::ZERO,
        displacement: DVec3::ZERO,
        release: 1e-3,
        resting: 0.0,
        share: 1.0,
        radius: 0.0,
    };

    #[test]
    fn friction_holds_inside_its_cone_and_slides_outside() {
        let plane = HalfSpace { friction: 0.5, ..HalfSpace::ground() };
        // Pushed out by 1, moved sideways by 0.4 < 0.5: comes back entirely.
        let held = push_out(&[Obstacle::still(plane)], SMOOTH, PLAIN, DVec3::new(0.4, -1.0, 0.0));
        assert_eq!(held, DVec3::ZERO);
        // Moved sideways by 2: 0.5 of it is taken back.
        let slides = push_out(&[Obstacle::still(plane)], SMOOTH, PLAIN, DVec3::new(2.0, -1.0, 0.0));
        assert!((slides - DVec3::new(1.5, 0.0, 0.0)).length() < 1e-15);
        // Outside nothing happens.
        let free = DVec3::new(1.0, 0.1, 1.0);
        assert_eq!(push_out(&[Obstacle::still(plane)], SMOOTH, PLAIN, free), free);
    }

    #[test]
    fn what_began_inside_comes_out_slowly() {
        let deep = Arrival { start: DVec3::Y * -0.5, ..PLAIN };
        let plane = HalfSpace { friction: 0.0, ..HalfSpace::ground() };
        let at = push_out(&[Obstacle::still(plane)], SMOOTH, deep, DVec3::new(0.0, -0.6, 0.0));
        assert!((at.y + 0.499).abs() < 1e-15, "{at}");
        // On its way out by itself it is not held back.
        let leaving = DVec3::new(0.0, -0.1, 0.0);
        assert_eq!(push_out(&[Obstacle::still(plane)], SMOOTH, deep, leaving), leaving);
    }

    #[test]
    fn a_bounce_returns_its_part_of_the_arriving_way() {
        let plane = HalfSpace { friction: 0.0, ..HalfSpace::ground() };
        // Came with a movement of 0.9, and forces of the substep made it 1.
        let from = Arrival { start: DVec3::Y * 0.25, displacement: DVec3::Y * -0.9, resting: 0.01, ..PLAIN };
        for (restitution, end) in [(1.0, 1.15), (0.5, 0.7), (0.0, 0.0)] {
            let surface = ContactMaterial { friction: None, restitution };
            let at = push_out(&[Obstacle::still(plane)], surface, from, DVec3::Y * -0.75);
            assert!((at.y - end).abs() < 1e-15, "restitution {restitution}: {at}");
            // Slower than what counts as resting it does not bounce.
            let slow = Arrival { resting: 1.0, ..from };
            assert_eq!(push_out(&[Obstacle::still(plane)], surface, slow, DVec3::Y * -0.75).y, 0.0);
        }
    }

    #[test]
    fn rough_body_and_plane_combine() {
        let plane = HalfSpace { friction: 0.5, ..HalfSpace::ground() };
        let body = ContactMaterial { friction: Some(0.02), restitution: 0.0 };
        assert!((body.friction(plane.friction) - 0.1).abs() < 1e-15);
    }
}
