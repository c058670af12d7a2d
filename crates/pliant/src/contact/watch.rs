//! Contacts that begin and end, as events between two looks at a simulation.

use super::touches::count;
use crate::model::BodyId;
use crate::simulation::Simulation;
use std::cmp::Ordering;

/// What happened to a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactChange {
    /// The body did not touch the plane at the last look, and does now.
    Began,
    /// It did, and does no longer, or is gone.
    Ended,
}

/// A body begins or ceases to touch a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactEvent {
    /// The body; one that ended may be gone.
    pub body: BodyId,
    /// The plane, by index in [`Params::planes`](crate::model::Params::planes).
    pub plane: u32,
    /// What happened.
    pub change: ContactChange,
    /// How many particles touch now, or did at the last look.
    pub particles: usize,
}

/// Remembers which bodies touched which planes; look after every step. Kept by the host, so that stepping costs nothing
/// for it, and allocates only to grow.
///
/// ```
/// # use pliant::{Body, Builder, ContactChange, ContactWatch, shapes};
/// # let body = Body::new("ball", shapes::ball(0.2, 0.05)?).at(0.0, 0.3, 0.0);
/// # let mut simulation = Builder::new().ground().body(body).build()?;
/// let mut watch = ContactWatch::new();
/// for _ in 0..60 {
///     simulation.step()?;
///     for event in watch.look(&simulation) {
///         if event.change == ContactChange::Began { /* play a sound */ }
///     }
/// }
/// # assert!(watch.touching().next().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContactWatch {
    now: Vec<Touching>,
    before: Vec<Touching>,
    events: Vec<ContactEvent>,
}

/// Body, plane, number of particles.
type Touching = (BodyId, u32, usize);

impl ContactWatch {
    /// That saw nothing touch yet.
    pub fn new() -> ContactWatch {
        ContactWatch::default()
    }

    /// Compares what touches now with the last look; events by body, then by plane.
    pub fn look(&mut self, simulation: &Simulation) -> &[ContactEvent] {
        let ContactWatch { now, before, events } = self;
        std::mem::swap(now, before);
        now.clear();
        let model = simulation.model();
        for (body, state) in model.bodies().iter().zip(simulation.state().bodies()) {
            for (k, plane) in model.params().planes.iter().enumerate() {
                let particles = count(plane, state, &body.parts.rest().radius);
                if particles > 0 {
                    now.push((body.id, k as u32, particles));
                }
            }
        }
        events.clear();
        let (mut old, mut new) = (before.iter().peekable(), now.iter().peekable());
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => (a.0, a.1).cmp(&(b.0, b.1)),
            };
            let (found, change) = match order {
                Ordering::Less => (old.next(), ContactChange::Ended),
                Ordering::Greater => (new.next(), ContactChange::Began),
                Ordering::Equal => {
                    old.next();
                    new.next();
                    continue;
                }
            };
            events.extend(found.map(|&(body, plane, particles)| ContactEvent {
                body,
                plane,
                change,
                particles,
            }));
        }
        events
    }

    /// What touched at the last look: body, plane and how many particles, by body and plane.
    pub fn touching(&self) -> impl ExactSizeIterator<Item = (BodyId, u32, usize)> + '_ {
        self.now.iter().copied()
    }
}
