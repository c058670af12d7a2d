//! From a point on a body to the particles that carry it, to be pushed and held.

use super::Queries;
use super::hit::{Hit, Place};
use pliant_geometry::merge_weights;

/// Particles with at least this part of the largest weight are worth holding.
const WORTH: f64 = 0.25;

impl Queries {
    /// The particles whose mean by weights is the point of a hit, by number, as
    /// [`Simulation::push`](crate::Simulation::push) takes them; the weights sum to one and some may be negative.
    /// `weights` is cleared first. Tells whether the body is still there, and the place on it.
    ///
    /// Of cloth and the surface of tetrahedra they are corners; through a skin they are all particles its three vertices
    /// follow, through handles too, so that the mean is the point to rounding. A skin that stands off a cloth is carried
    /// by the cloth below it: the mean is the foot of the point there, as no weights on a cloth reach off it. Of vertices
    /// that follow nothing it is the nearest particle.
    pub fn weights(&self, hit: &Hit, weights: &mut Vec<(u32, f64)>) -> bool {
        weights.clear();
        let Some(body) = self.body(hit.body) else { return false };
        match hit.place {
            Place::Particle(i) if (i as usize) < body.particles.len() => weights.push((i, 1.0)),
            Place::Triangle { index, weights: at } => {
                let Some(triangle) = body.shown.triangles().get(index as usize) else { return false };
                for (&v, w) in triangle.iter().zip(at) {
                    match body.shown.skin() {
                        Some(skin) => skin.add_weights(v as usize, w, weights),
                        None => weights.push((v, w)),
                    }
                }
                merge_weights(weights);
                weights.retain(|e| e.1 != 0.0);
                let sum: f64 = weights.iter().map(|e| e.1).sum();
                if (sum - 1.0).abs() < 1e-6 {
                    weights.iter_mut().for_each(|e| e.1 /= sum);
                } else {
                    let distances = body.particles.iter().map(|p| p.distance_squared(hit.point));
                    let nearest = distances.zip(0..).min_by(|a, b| a.0.total_cmp(&b.0));
                    weights.clear();
                    weights.extend(nearest.map(|(_, i)| (i, 1.0)));
                }
            }
            Place::Particle(_) => return false,
        }
        true
    }

    /// The particles that carry most of the point of a hit, by number: what to hold with
    /// [`Simulation::hold`](crate::Simulation::hold). `particles` is cleared first, `weights` is room for work. Tells
    /// whether there are any.
    pub fn grip(&self, hit: &Hit, weights: &mut Vec<(u32, f64)>, particles: &mut Vec<u32>) -> bool {
        particles.clear();
        self.weights(hit, weights);
        let most = weights.iter().map(|e| e.1).fold(0.0, f64::max);
        particles.extend(weights.iter().filter(|e| e.1 > 0.0 && e.1 >= WORTH * most).map(|e| e.0));
        !particles.is_empty()
    }
}
