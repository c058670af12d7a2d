//! What a ball overlaps: bodies, and particles.

use super::Queries;
use super::nearest::nearest_on;
use super::query_body::QueryBody;
use crate::model::BodyId;
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, BoxSearch, distance_squared};

/// See `nearest.rs`.
const SLACK: f64 = 1.0 + 1e-14;

impl Queries {
    /// Bodies of which the shown surface or a particle (as a ball of its contact radius) comes into a ball, by id. `bodies`
    /// is cleared first. A ball deep in a solid body that reaches neither its surface nor a particle overlaps nothing.
    pub fn bodies_in_ball(&self, center: impl Into<DVec3>, radius: f64, bodies: &mut Vec<BodyId>) {
        let center = center.into();
        bodies.clear();
        for body in self.around(center, radius) {
            let mut any = AnyWithin { body, center, radius, found: false };
            body.search(&mut any);
            if any.found || particles(body, center, radius).next().is_some() {
                bodies.push(body.id);
            }
        }
    }

    /// Particles that come into a ball, each as a ball of its contact radius, by body and number. `found` is cleared first.
    pub fn particles_in_ball(&self, center: impl Into<DVec3>, radius: f64, found: &mut Vec<(BodyId, u32)>) {
        let center = center.into();
        found.clear();
        for body in self.around(center, radius) {
            found.extend(particles(body, center, radius).map(|i| (body.id, i)));
        }
    }

    /// Bodies that may come into a ball; none if it is none.
    fn around(&self, center: DVec3, radius: f64) -> impl Iterator<Item = &QueryBody> {
        let sound = center.is_finite() && radius >= 0.0;
        self.bodies.iter().filter(move |body| {
            let far = (radius + body.reach) * SLACK;
            sound && distance_squared(body.bounds, center) <= far * far
        })
    }
}

fn particles(body: &QueryBody, center: DVec3, radius: f64) -> impl Iterator<Item = u32> + '_ {
    let within = move |i: u32| body.particles[i as usize].distance(center) <= radius + body.radius(i);
    (0..body.particles.len() as u32).filter(move |&i| within(i))
}

struct AnyWithin<'a> {
    body: &'a QueryBody,
    center: DVec3,
    radius: f64,
    found: bool,
}

impl BoxSearch for AnyWithin<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.center)
    }
    fn limit(&self) -> f64 {
        // One is enough.
        if self.found { -1.0 } else { self.radius * self.radius * SLACK }
    }
    fn look(&mut self, item: u32) {
        self.found |= nearest_on(self.body, item, self.center).distance <= self.radius;
    }
}
