//! Contact: particles against half-spaces, what each solver does about it, and what a bounce gives back.

mod half_space;
mod response;
mod touches;
mod watch;

pub use half_space::{Arrival, Surface, lowest_gap, push_out, release};
pub use response::bounce;
pub use touches::Touch;
pub use watch::{ContactChange, ContactEvent, ContactWatch};

use glam::DVec3;

/// One contact: a weighted point of up to four particles against a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The particles that make up the touching point; unused entries repeat the first with weight 0.
    pub stencil: [u32; 4],
    /// Their weights: positive on this side, negative on a particle surface it touches.
    pub weights: [f64; 4],
    /// Unit normal, away from the obstacle.
    pub normal: DVec3,
    /// Signed distance at detection; negative inside.
    pub gap: f64,
    /// Where the point may be at the end of the substep: n·x ≥ offset. The obstacle's surface and the point's radius,
    /// less what it is still allowed to be inside if it began there.
    pub offset: f64,
    /// Combined Coulomb friction coefficient.
    pub friction: f64,
    /// Combined restitution.
    pub restitution: f64,
    /// The same for the same pair in every step: obstacle, then particle.
    pub id: (u32, u32),
}

/// The contacts of a substep, body by body and within a body by id, then those found on the way, so that everything
/// computed from them is the same for every run and number of threads.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactSet {
    /// The contacts.
    pub list: Vec<Contact>,
}

impl ContactSet {
    /// Room for `count` contacts.
    pub fn with_capacity(count: usize) -> ContactSet {
        ContactSet { list: Vec::with_capacity(count) }
    }
}
