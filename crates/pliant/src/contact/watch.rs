//! Contacts that begin and end, as events between two looks at a simulation.

use super::touches::PresentColliders;
use crate::model::{BodyId, ColliderId};
use crate::simulation::Simulation;
use std::cmp::Ordering;

/// What happened to a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactChange {
    /// The body did not touch the collider at the last look, and does now.
    Began,
    /// It did, and does no longer, or is gone.
    Ended,
}

/// A body begins or ceases to touch a collider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContactEvent {
    /// The body; one that ended may be gone.
    pub body: BodyId,
    /// The collider; one of a contact that ended may be gone.
    pub collider: ColliderId,
    /// What happened.
    pub change: ContactChange,
    /// How many particles touch now, or did at the last look.
    pub particles: usize,
}

/// Remembers which bodies touched which colliders; look after every step. Kept by the host, so that stepping costs nothing
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
    now: Vec<TouchCount>,
    before: Vec<TouchCount>,
    events: Vec<ContactEvent>,
    counts: Vec<(ColliderId, usize)>,
    around: PresentColliders,
}

/// Body, collider, number of particles.
type TouchCount = (BodyId, ColliderId, usize);

impl ContactWatch {
    /// That saw nothing touch yet.
    pub fn new() -> ContactWatch {
        ContactWatch::default()
    }

    /// Compares what touches now with the last look; events by body, then by collider.
    pub fn look(&mut self, simulation: &Simulation) -> &[ContactEvent] {
        let ContactWatch { now, before, events, counts, around } = self;
        std::mem::swap(now, before);
        now.clear();
        let model = simulation.model();
        around.refresh(model, simulation.state());
        for (body, state) in model.bodies().iter().zip(simulation.state().bodies()) {
            around.counts(&body.parts, state, counts);
            now.extend(counts.iter().map(|&(collider, particles)| (body.id, collider, particles)));
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
            events.extend(found.map(|&(body, collider, particles)| ContactEvent {
                body,
                collider,
                change,
                particles,
            }));
        }
        events
    }

    /// What touched at the last look: body, collider and how many particles, by body and collider.
    pub fn touching(&self) -> impl ExactSizeIterator<Item = (BodyId, ColliderId, usize)> + '_ {
        self.now.iter().copied()
    }
}
