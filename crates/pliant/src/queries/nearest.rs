//! The point of all bodies that is nearest to another.

use super::hit::{Hit, NearestHit};
use super::query_body::QueryBody;
use super::{BodySearch, Queries};
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, distance_squared};
use pliant_geometry::nearest_on_triangle;

/// Squares of distances are off by less than this, relatively: boxes that are as near as what was found are still
/// looked into.
const SLACK: f64 = 1.0 + 1e-14;

impl Queries {
    /// The point of a shown surface, or of a cloud's balls, nearest to `point` and at most `within` metres (which may be
    /// infinite) from it. In a ball it is the point itself. With numbers that are none there is no nearest point.
    pub fn nearest(&self, point: impl Into<DVec3>, within: f64) -> Option<Hit> {
        let point = point.into();
        if !(point.is_finite() && within >= 0.0) {
            return None;
        }
        let mut aim = Nearest { point, first: NearestHit { within, hit: None } };
        self.search(&mut aim);
        aim.first.hit
    }
}

/// The nearest point of one triangle or ball.
pub(super) fn nearest_on(body: &QueryBody, item: u32, p: DVec3) -> Hit {
    if body.is_cloud() {
        let (center, radius) = (body.particles[item as usize], body.radius(item));
        let away = p - center;
        let distance = (away.length() - radius).max(0.0);
        let point = if distance > 0.0 { center + away * (radius / away.length()) } else { p };
        return Hit::on_particle(body, item, distance, point, DVec3::Y);
    }
    let weights = nearest_on_triangle(body.corners(item), p);
    let hit = Hit::on_triangle(body, item, 0.0, weights);
    Hit { distance: hit.point.distance(p), ..hit }
}

struct Nearest {
    point: DVec3,
    first: NearestHit,
}

impl BodySearch for Nearest {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.point)
    }
    fn limit(&self) -> f64 {
        self.first.limit().powi(2) * SLACK
    }
    fn meet(&mut self, body: &QueryBody, item: u32) {
        self.first.offer(nearest_on(body, item, self.point));
    }
}
