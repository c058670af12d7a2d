//! What a contact takes hold of: points of bodies, or the world.

use crate::model::Stencil;
use glam::DVec3;

/// One side of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endpoint {
    /// A point of a body: up to four of its particles with weights that sum to 1; unused entries repeat the first with
    /// weight 0.
    Point {
        /// The body, by its place in the island.
        body: usize,
        /// Its particles.
        particles: [u32; 4],
        /// Their weights.
        weights: [f64; 4],
    },
    /// An obstacle that nothing moves, and how far it moves by itself in the substep: friction acts on what slides
    /// relative to it.
    World {
        /// How its surface moves there in the substep.
        moves: DVec3,
    },
}

impl Endpoint {
    /// What stands still.
    #[cfg(test)]
    pub const FIXED: Endpoint = Endpoint::World { moves: DVec3::ZERO };

    /// A particle of a body.
    pub fn particle(body: usize, particle: u32) -> Endpoint {
        Endpoint::Point { body, particles: [particle; 4], weights: [1.0, 0.0, 0.0, 0.0] }
    }

    /// A mean of particles of a body.
    pub(crate) fn of(body: usize, Stencil { particles, weights }: Stencil) -> Endpoint {
        Endpoint::Point { body, particles, weights }
    }

    /// The body and its particles that count, with their weights.
    pub fn particles(&self) -> impl Iterator<Item = (usize, u32, f64)> + '_ {
        let (body, particles, weights) = match self {
            Endpoint::Point { body, particles, weights } => (*body, particles, weights),
            Endpoint::World { .. } => (0, &[0; 4], &[0.0; 4]),
        };
        particles.iter().zip(weights).filter(|(_, w)| **w != 0.0).map(move |(i, w)| (body, *i, *w))
    }
}

/// One contact: two points that are kept apart along a normal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The sides; the first is pushed along the normal, the second against it.
    pub sides: [Endpoint; 2],
    /// Unit normal, from the second side to the first.
    pub normal: DVec3,
    /// Signed distance at detection; negative inside.
    pub gap: f64,
    /// How far apart along the normal the sides are to be at the end of the substep, at least: n·(a − b) ≥ offset, for
    /// an obstacle measured from the world's origin. ContactMaterial and radius, less what is still allowed to what began inside.
    pub offset: f64,
    /// Combined Coulomb friction coefficient.
    pub friction: f64,
    /// Combined restitution.
    pub restitution: f64,
    /// The same for the same pair in every step: collider, then particle.
    pub id: (u64, u32),
    /// The force on the first side, N; the second has the opposite. Known at the end of the substep.
    pub force: DVec3,
    /// How much of `offset` is what is still allowed to what began inside.
    pub(crate) lowest: f64,
    /// Whether it was taken anew since forces were last found.
    pub(crate) renewed: bool,
}

impl Contact {
    /// How far what is touched moves by itself in the substep: nothing, unless it is an obstacle.
    pub fn moves(&self) -> DVec3 {
        match self.sides[1] {
            Endpoint::World { moves } => moves,
            Endpoint::Point { .. } => DVec3::ZERO,
        }
    }

    /// The node of the body at `place` that touches an obstacle, which is a particle of bodies that deform; `None` if it is
    /// another contact.
    pub fn particle_at_obstacle(&self, place: usize) -> Option<usize> {
        match self.sides {
            [Endpoint::Point { body, particles, weights }, Endpoint::World { .. }]
                if body == place && weights[0] == 1.0 =>
            {
                Some(particles[0] as usize)
            }
            _ => None,
        }
    }
}
