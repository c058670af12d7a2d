//! Particles against solid half-spaces: detection, and pushing out with Coulomb friction.

use super::{Contact, ContactSet};
use crate::model::HalfSpace;
use crate::points::Points;
use glam::DVec3;
use std::ops::Range;

/// What a body's surface adds to a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// Its friction, combined with the plane's as √(a b); `None` takes the plane's.
    pub friction: Option<f64>,
    /// Its restitution; the larger one counts.
    pub restitution: f64,
}

impl Surface {
    /// Friction against a plane.
    #[inline(always)]
    pub fn friction(&self, plane: &HalfSpace) -> f64 {
        self.friction.map_or(plane.friction, |f| (f * plane.friction).sqrt())
    }
}

impl Contact {
    /// Particle `i` at a distance of `gap` from plane number `k`.
    pub fn with_plane(plane: &HalfSpace, k: usize, i: u32, gap: f64, surface: Surface) -> Contact {
        Contact {
            stencil: [i; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            normal: plane.normal,
            gap,
            offset: plane.offset,
            friction: surface.friction(plane),
            restitution: surface.restitution.max(plane.restitution),
            id: (k as u32, i),
        }
    }
}

/// Adds a contact for each particle of `range` nearer than `margin` to a half-space.
pub fn detect_half_spaces(
    planes: &[HalfSpace],
    x: &Points,
    range: Range<usize>,
    margin: f64,
    surface: Surface,
    set: &mut ContactSet,
) {
    for (k, plane) in planes.iter().enumerate() {
        for i in range.clone() {
            let gap = plane.gap(x.get(i));
            if gap < margin {
                set.list.push(Contact::with_plane(plane, k, i as u32, gap, surface));
            }
        }
    }
}

/// A particle that came from `start` and is at `x`, moved out of every half-space it is in. A push of
/// d along the normal takes back up to μ d of the tangential way since `start`: Coulomb's law on
/// displacements, which holds a body on a slope instead of letting it creep.
#[inline(always)]
pub fn push_out(planes: &[HalfSpace], surface: Surface, start: DVec3, mut x: DVec3) -> DVec3 {
    for plane in planes {
        let gap = plane.gap(x);
        if gap < 0.0 {
            x -= plane.normal * gap;
            let way = x - start;
            let slide = way - plane.normal * plane.normal.dot(way);
            let length = slide.length();
            let held = surface.friction(plane) * -gap;
            x -= if length <= held { slide } else { slide * (held / length) };
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMOOTH: Surface = Surface { friction: None, restitution: 0.0 };

    #[test]
    fn friction_holds_inside_its_cone_and_slides_outside() {
        let plane = HalfSpace { friction: 0.5, ..HalfSpace::ground() };
        // Pushed out by 1, moved sideways by 0.4 < 0.5: comes back entirely.
        let held = push_out(&[plane], SMOOTH, DVec3::ZERO, DVec3::new(0.4, -1.0, 0.0));
        assert_eq!(held, DVec3::ZERO);
        // Moved sideways by 2: 0.5 of it is taken back.
        let slides = push_out(&[plane], SMOOTH, DVec3::ZERO, DVec3::new(2.0, -1.0, 0.0));
        assert!((slides - DVec3::new(1.5, 0.0, 0.0)).length() < 1e-15);
        // Outside nothing happens.
        let free = DVec3::new(1.0, 0.1, 1.0);
        assert_eq!(push_out(&[plane], SMOOTH, DVec3::ZERO, free), free);
    }

    #[test]
    fn rough_body_and_plane_combine() {
        let plane = HalfSpace { friction: 0.5, ..HalfSpace::ground() };
        let body = Surface { friction: Some(0.02), restitution: 0.0 };
        assert!((body.friction(&plane) - 0.1).abs() < 1e-15);
    }
}
