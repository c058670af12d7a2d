//! The point of a body that is nearest to a place, as a mean of particles: where to tie it.

use crate::model::{BodyId, BodyPoint, Topology};
use crate::points::Points;
use crate::simulation::Simulation;
use glam::DVec3;
use pliant_geometry::{barycentric, nearest_on_triangle};

/// Weights of four particles of a cloud beyond this reach too far from between them.
pub(crate) const FAR: f64 = 0.25;

impl Simulation {
    /// The point of a body nearest to a place in the world, as a mean of up to four particles that it stays between as the
    /// body moves: within a tetrahedron, on a face or an edge, or between particles of a cloud. Goes through all elements.
    /// Of a body that never deforms it is on its surface; see [`Simulation::point_of`] for others of it.
    /// `None` if the body is gone or `at` is not a number.
    pub fn point_near(&self, body: impl Into<BodyId>, at: impl Into<DVec3>) -> Option<BodyPoint> {
        let (body, at) = (body.into(), at.into());
        let k = self.model.index(body).filter(|_| at.is_finite())?;
        let (model, x) = (&self.model.bodies()[k], &self.state.bodies[k].x);
        if let Some(rest) = model.parts.rigid() {
            let own = self.placement(body)?.inverse().transform_point3(at);
            let weights = rest.weights(model.parts.shown().nearest(model.parts.rest(), own)?);
            return Some(BodyPoint { body: model.id, particles: [0, 1, 2, 3], weights });
        }
        let mut best = Best { at, x, distance: f64::INFINITY, found: Vec::with_capacity(4) };
        let Topology { edges, faces, tetrahedra, .. } = model.parts.topology();
        tetrahedra.iter().for_each(|t| best.tetrahedron(t));
        faces.iter().for_each(|t| best.triangle(t));
        if tetrahedra.is_empty() && faces.is_empty() {
            match model.parts.topology().clusters.len() {
                0 => edges.iter().for_each(|e| best.edge(e)),
                _ => best.cloud(),
            }
        }
        (0..x.len() as u32).for_each(|i| best.offer(&[(i, 1.0)]));
        BodyPoint::mean(model.id, &best.found)
    }
}

/// The nearest point so far.
struct Best<'a> {
    at: DVec3,
    x: &'a Points,
    distance: f64,
    found: Vec<(u32, f64)>,
}

impl Best<'_> {
    fn corners<const N: usize>(&self, of: &[u32; N]) -> [DVec3; N] {
        of.map(|i| self.x.get(i as usize))
    }

    /// Takes a point if it is nearer.
    fn offer(&mut self, point: &[(u32, f64)]) {
        let place = point.iter().map(|&(i, w)| self.x.get(i as usize) * w).sum::<DVec3>();
        let distance = place.distance_squared(self.at);
        if distance < self.distance {
            self.distance = distance;
            self.found.clear();
            self.found.extend(point.iter().filter(|p| p.1 != 0.0));
        }
    }

    fn offer_all<const N: usize>(&mut self, of: &[u32; N], weights: [f64; N]) {
        let mut point = [(0, 0.0); N];
        for (to, from) in point.iter_mut().zip(of.iter().copied().zip(weights)) {
            *to = from;
        }
        self.offer(&point);
    }

    /// The place itself, if it is within.
    fn tetrahedron(&mut self, of: &[u32; 4]) {
        if let Some(weights) = barycentric(self.corners(of), self.at)
            && weights.iter().all(|w| *w >= 0.0)
        {
            self.offer_all(of, weights);
        }
    }

    fn triangle(&mut self, of: &[u32; 3]) {
        let weights = nearest_on_triangle(self.corners(of), self.at);
        self.offer_all(of, weights);
    }

    fn edge(&mut self, of: &[u32; 2]) {
        let [a, b] = self.corners(of);
        let along = b - a;
        let share = (self.at - a).dot(along) / along.length_squared();
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        self.offer_all(of, [1.0 - share, share]);
    }

    /// The place itself, if it lies between the four nearest particles.
    fn cloud(&mut self) {
        let mut near: Vec<u32> = (0..self.x.len() as u32).collect();
        let far = |i: &u32| self.x.get(*i as usize).distance_squared(self.at);
        near.sort_by(|a, b| far(a).total_cmp(&far(b)).then(a.cmp(b)));
        if let Some(of) = near.first_chunk::<4>()
            && let Some(weights) = barycentric(self.corners(of), self.at)
            && weights.iter().all(|w| (-FAR..=1.0 + FAR).contains(w))
        {
            self.offer_all(of, weights);
        }
    }
}
