//! What touches what, as data: told from a state, so that stepping costs nothing for it.

use crate::model::{BodyId, ColliderId, HalfSpace};
use crate::simulation::Simulation;
use crate::state::BodyState;
use glam::DVec3;

/// A particle that touches a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// The particle, by index within its body.
    pub particle: u32,
    /// The collider.
    pub collider: ColliderId,
    /// Unit normal, away from the collider.
    pub normal: DVec3,
    /// The point of the collider that is touched.
    pub point: DVec3,
    /// How far the ball of the particle's contact radius is from the collider; negative inside, else about zero.
    pub gap: f64,
}

impl HalfSpace {
    /// Whether a particle of this radius at `x` touches the plane. What was pushed out of one lies on it to rounding.
    #[inline]
    pub fn touches(&self, x: DVec3, radius: f64) -> bool {
        self.gap(x) <= radius + 1e-9 * (1.0 + x.abs().max_element())
    }
}

impl Simulation {
    /// What touches colliders of a body's particles at present, by particle and then by collider; nothing if the body is gone.
    pub fn touches(&self, body: impl Into<BodyId>) -> impl Iterator<Item = Touch> + '_ {
        let body = self.model.index(body).map(|k| (&self.model.bodies()[k].parts, &self.state.bodies[k]));
        let planes = self.state.half_spaces(&self.model).zip(self.model.colliders());
        body.into_iter().flat_map(move |(parts, state)| {
            let radius = &parts.rest().radius;
            let planes = planes.clone();
            state.positions().iter().enumerate().flat_map(move |(i, x)| {
                let touched = planes.clone().filter(move |(p, _)| p.touches(x, radius[i]));
                touched.map(move |(plane, of)| Touch {
                    particle: i as u32,
                    collider: of.id,
                    normal: plane.normal,
                    point: x - plane.normal * plane.gap(x),
                    gap: plane.gap(x) - radius[i],
                })
            })
        })
    }

    /// Velocities of a body's particles, as [`Simulation::velocity`] tells them; none if the body is gone.
    pub fn velocities(&self, body: impl Into<BodyId>) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        let k = self.model.index(body);
        let count = k.map_or(0, |k| self.state.bodies[k].x.len());
        // With no body there is nothing to go through.
        let present = k.map(|k| self.present(k));
        (0..count).map(move |i| present.map_or(DVec3::ZERO, |p| p.velocity(i)))
    }
}

/// How many particles of a body touch a plane.
pub(super) fn count(plane: &HalfSpace, state: &BodyState, radius: &[f64]) -> usize {
    state.positions().iter().zip(radius).filter(|(x, r)| plane.touches(*x, **r)).count()
}
