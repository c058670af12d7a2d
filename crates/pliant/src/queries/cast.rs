//! Rays: what they meet first, and all they meet.

use super::hit::{Hit, NearestHit};
use super::query_body::QueryBody;
use super::{BodySearch, Queries};
use glam::DVec3;
use pliant_geometry::Ray;
use pliant_geometry::box_tree::Bounds;

impl Queries {
    /// What a ray meets first, at most `distance` metres (which may be infinite) from its origin. The direction may have
    /// any length. Triangles are met from both sides; clouds are met as balls, at once if the ray begins in one. Without a
    /// direction, or with numbers that are none, nothing is met.
    pub fn cast(&self, origin: impl Into<DVec3>, direction: impl Into<DVec3>, distance: f64) -> Option<Hit> {
        let (ray, within) = sound(origin.into(), direction.into(), distance)?;
        let mut aim = FirstHitSearch { ray, first: NearestHit { within, hit: None } };
        self.search(&mut aim);
        aim.first.hit
    }

    /// All that a ray meets, nearest first; see [`Queries::cast`]. `hits` is cleared first. A ray through an edge may meet
    /// both triangles at it.
    pub fn cast_all(
        &self,
        origin: impl Into<DVec3>,
        direction: impl Into<DVec3>,
        distance: f64,
        hits: &mut Vec<Hit>,
    ) {
        hits.clear();
        let Some((ray, within)) = sound(origin.into(), direction.into(), distance) else { return };
        self.search(&mut AllHitsSearch { ray, within, hits });
        // In place; no two are equal in this order.
        hits.sort_unstable_by(Hit::order);
    }
}

/// A ray and how far it reaches, if they are any. What a ray passes by is infinitely far, so it reaches less far.
fn sound(origin: DVec3, direction: DVec3, distance: f64) -> Option<(Ray, f64)> {
    let ray = Ray::new(origin, direction)?;
    (distance >= 0.0).then_some((ray, distance.min(f64::MAX)))
}

/// Where a ray meets one triangle or ball.
fn meet(ray: &Ray, body: &QueryBody, item: u32) -> Option<Hit> {
    if body.is_cloud() {
        let distance = ray.ball(body.particles[item as usize], body.radius(item))?;
        return Some(Hit::on_particle(body, item, distance, ray.at(distance), -ray.direction()));
    }
    let (distance, weights) = ray.triangle(body.corners(item))?;
    Some(Hit::on_triangle(body, item, distance, weights))
}

struct FirstHitSearch {
    ray: Ray,
    first: NearestHit,
}

impl BodySearch for FirstHitSearch {
    fn near(&self, bounds: Bounds) -> f64 {
        self.ray.enters(bounds)
    }
    fn limit(&self) -> f64 {
        self.first.limit()
    }
    fn meet(&mut self, body: &QueryBody, item: u32) {
        if let Some(hit) = meet(&self.ray, body, item) {
            self.first.offer(hit);
        }
    }
}

struct AllHitsSearch<'a> {
    ray: Ray,
    within: f64,
    hits: &'a mut Vec<Hit>,
}

impl BodySearch for AllHitsSearch<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        self.ray.enters(bounds)
    }
    fn limit(&self) -> f64 {
        self.within
    }
    fn meet(&mut self, body: &QueryBody, item: u32) {
        self.hits.extend(meet(&self.ray, body, item).filter(|hit| hit.distance <= self.within));
    }
}
