//! What a query finds, and which of two findings comes first.

use super::query_body::QueryBody;
use crate::model::BodyId;
use glam::DVec3;
use pliant_geometry::weighted;
use std::cmp::Ordering;

/// A point on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Hit {
    /// The body that was hit, or is nearest.
    pub body: BodyId,
    /// Where on it.
    pub place: Place,
    /// Where in the world.
    pub point: DVec3,
    /// Unit normal there: of the triangle, on its outer side, whichever side was met; of a ball, away from its centre. Of
    /// a triangle without area it is +y.
    pub normal: DVec3,
    /// How far away it is, m.
    pub distance: f64,
}

/// A place on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// On the shown surface.
    Triangle {
        /// The triangle, as [`Shown::triangles`](crate::model::Shown::triangles) and
        /// [`Simulation::surface`](crate::Simulation::surface) number them.
        index: u32,
        /// Weights of its corners: not negative, and in sum one.
        weights: [f64; 3],
    },
    /// On the ball around this particle of a cloud.
    Particle(u32),
}

impl Place {
    /// Number of the triangle or particle.
    pub fn index(&self) -> u32 {
        match self {
            Place::Triangle { index, .. } => *index,
            Place::Particle(index) => *index,
        }
    }
}

impl Hit {
    pub(super) fn on_triangle(body: &QueryBody, index: u32, distance: f64, weights: [f64; 3]) -> Hit {
        let [a, b, c] = body.corners(index);
        let point = weighted([a, b, c], weights);
        let normal = (b - a).cross(c - a).try_normalize().unwrap_or(DVec3::Y);
        Hit { body: body.id, place: Place::Triangle { index, weights }, point, normal, distance }
    }

    /// `away` is the normal where the point is the centre.
    pub(super) fn on_particle(body: &QueryBody, index: u32, distance: f64, point: DVec3, away: DVec3) -> Hit {
        let normal = (point - body.particles[index as usize]).try_normalize().unwrap_or(away);
        Hit { body: body.id, place: Place::Particle(index), point, normal, distance }
    }

    /// Nearer first, then by body and place.
    pub(super) fn order(&self, other: &Hit) -> Ordering {
        let key = |hit: &Hit| (hit.body, hit.place.index());
        self.distance.total_cmp(&other.distance).then_with(|| key(self).cmp(&key(other)))
    }
}

/// The first of all that was found so far.
#[derive(Debug)]
pub(super) struct NearestHit {
    /// Nothing further away counts.
    pub within: f64,
    pub hit: Option<Hit>,
}

impl NearestHit {
    pub fn limit(&self) -> f64 {
        self.hit.map_or(self.within, |hit| hit.distance)
    }

    pub fn offer(&mut self, hit: Hit) {
        let first = self.hit.is_none_or(|held| hit.order(&held) == Ordering::Less);
        if hit.distance <= self.within && first {
            self.hit = Some(hit);
        }
    }
}
