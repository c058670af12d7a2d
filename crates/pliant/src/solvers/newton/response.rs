//! How the particles of a body of Newton's method respond to forces on some of them: through the factor of the present
//! iteration, in blocks of 3×3, as the Hessian couples x, y and z.

use super::NewtonCache;
use crate::contact::{Nodes, Respond, SubstepStart};
use crate::team::Team;
use glam::DVec3;

/// Applications of the response that find its greatest ratio to the bound, and what that may still be short of.
const APPLICATIONS: usize = 6;
const SAFETY: f64 = 1.2;

impl Respond for NewtonCache {
    fn is_constant(&self) -> bool {
        false
    }

    fn beginning(&self) -> &SubstepStart {
        &self.substep.beginning
    }

    fn end(&self, particle: usize) -> DVec3 {
        self.substep.end(particle, self.minimiser.objective.position(particle))
    }

    fn free_end(&self, particle: usize) -> DVec3 {
        self.substep.end(particle, self.minimiser.ahead(particle))
    }

    fn ahead(&self, particle: usize) -> DVec3 {
        self.free_end(particle)
    }

    /// A response is a solve, but that is little beside the factor of the iteration.
    fn prepare(&mut self, _: &Nodes, _: &Team) -> bool {
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        self.minimiser.respond(nodes.loads());
        let theta = self.substep.theta();
        for k in 0..nodes.len() {
            nodes.set_movement(k, self.minimiser.responded(nodes.particles()[k] as usize) / theta);
        }
    }

    /// The norms of blocks cannot be had without all of them. What all weights at once do along the axes has the right
    /// proportions; how far the response is above or below that is found by applying it repeatedly (power iteration).
    fn reach(&mut self, nodes: &mut Nodes, team: &Team) {
        self.bounds.clear();
        self.bounds.resize(nodes.len(), 0.0);
        for axis in DVec3::AXES {
            nodes.load_weights(axis);
            self.respond(nodes, team);
            for (k, sum) in self.bounds.iter_mut().enumerate() {
                *sum += nodes.movement(k).length_squared();
            }
        }
        self.bounds.iter_mut().for_each(|sum| *sum = sum.sqrt());
        // G v against D v in turn, D being bound over weight: v converges to where G is largest compared to D.
        nodes.load_weights(DVec3::ONE);
        let mut ratio = 0.0;
        for _ in 0..APPLICATIONS {
            self.respond(nodes, team);
            let (mut work, mut size, mut largest) = (0.0, 0.0, 0.0_f64);
            // What counts nothing is a node of couplings only.
            let counted =
                |(k, bound): (usize, &f64)| (nodes.weights[k] > 0.0).then(|| (k, bound / nodes.weights[k]));
            for (k, d) in self.bounds.iter().enumerate().filter_map(counted) {
                work += nodes.force(k).dot(nodes.movement(k));
                size += d * nodes.force(k).length_squared();
                largest = largest.max(nodes.movement(k).length() / d.max(f64::MIN_POSITIVE));
            }
            if !(size > 0.0 && largest > 0.0 && largest.is_finite()) {
                break;
            }
            ratio = work / size;
            for (k, bound) in self.bounds.iter().enumerate() {
                if nodes.weights[k] > 0.0 {
                    let d = (bound / nodes.weights[k]).max(f64::MIN_POSITIVE);
                    nodes.set_force(k, nodes.movement(k) / (d * largest));
                }
            }
        }
        for (k, bound) in self.bounds.iter().enumerate() {
            nodes.set_movement(k, DVec3::X * (bound * ratio * SAFETY));
        }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        self.minimiser.load(nodes.loads());
    }

    fn retract(&mut self, _: &Team) {
        self.minimiser.load(std::iter::empty());
    }
}
