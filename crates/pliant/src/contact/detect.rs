//! The contacts of an island in a substep: which there are, and their forces.

use super::dual::{Dual, Respond};
use super::{Contact, Endpoint, Obstacle, Surface, lowest_gap, release};
use crate::points::Points;
use crate::solvers::Subject;
use crate::team::Team;
use glam::DVec3;

/// A body of an island while its contacts are being found.
pub(crate) struct Touching<'a, 'b> {
    pub body: Subject<'a>,
    pub side: &'b mut dyn Respond,
}

/// What touches in an island. All of it is made anew in every substep; what is kept is memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    /// In the order of bodies, obstacles and particles, then those found on the way, so that everything computed from them
    /// is the same for every run and number of threads.
    list: Vec<Contact>,
    /// Whether a contact of (body, obstacle, particle) is listed.
    listed: Vec<bool>,
    ends: Points,
    dual: Dual,
}

impl Contacts {
    /// Makes room for all contacts that a body can have with so many obstacles, so that finding them allocates nothing.
    pub fn reserve(&mut self, particles: usize, obstacles: usize) {
        let most = particles * obstacles;
        self.list.clear();
        self.list.reserve(most);
        self.listed.clear();
        self.listed.reserve(most);
        self.ends.resize(particles);
        self.dual.reserve(particles, most);
    }

    /// Forgets all contacts.
    pub fn clear(&mut self) {
        self.list.clear();
        self.dual.begin([].into_iter());
    }

    /// The contacts.
    pub fn list(&self) -> &[Contact] {
        &self.list
    }

    /// Contacts that carry a force.
    pub fn loaded(&self) -> usize {
        self.dual.loaded()
    }

    /// Lists what the bodies will touch by where they end now, their prediction, or come near.
    pub fn detect(&mut self, bodies: &mut [Touching<'_, '_>]) {
        self.list.clear();
        self.listed.clear();
        let places = |b: &Touching<'_, '_>| b.body.model.particle_count() * b.body.obstacles.len();
        self.listed.resize(bodies.iter().map(places).sum(), false);
        self.dual.begin(bodies.iter().map(|b| b.body.model.particle_count()));
        self.find(bodies, |body, size| {
            let h = body.model.params.substep();
            1e-3 * size + 2.0 * h * h * body.controls.world.gravity.length()
        });
    }

    /// Lists what is inside something by where the bodies end now, and was not listed before: whether a particle touches
    /// is not for the prediction alone to say. Tells whether there was any.
    pub fn join(&mut self, bodies: &mut [Touching<'_, '_>]) -> bool {
        let before = self.list.len();
        self.find(bodies, |_, _| 0.0);
        self.list.len() > before
    }

    fn find(&mut self, bodies: &mut [Touching<'_, '_>], margin: impl Fn(&Subject<'_>, f64) -> f64) {
        let mut first = 0;
        for (place, Touching { body, side }) in bodies.iter_mut().enumerate() {
            let (model, size) = (body.model, side.beginning().size);
            let (n, radius) = (model.particle_count(), &model.rest().radius);
            let margin = margin(body, size);
            if !body.obstacles.is_empty() {
                self.ends.resize(n);
                side.ends(&mut self.ends);
            }
            let surface = Surface::of(body.controls);
            let release = release(size, model.params.substep());
            for obstacle in body.obstacles {
                let listed = &mut self.listed[first..first + n];
                for (i, at) in self.ends.iter().enumerate() {
                    let gap = obstacle.end.gap(at) - radius[i];
                    if gap >= margin || listed[i] || !side.beginning().free[i] {
                        continue;
                    }
                    listed[i] = true;
                    let began = obstacle.start.gap(side.beginning().start.get(i)) - radius[i];
                    let contact = Contact::with_obstacle(obstacle, (place, i as u32), (at, gap), surface);
                    let offset = contact.offset + radius[i] + lowest_gap(began, release);
                    self.list.push(Contact { offset, ..contact });
                }
                first += n;
            }
        }
    }

    /// Tells each contact the force it ends with.
    pub fn conclude(&mut self) {
        for (contact, force) in self.list.iter_mut().zip(self.dual.forces()) {
            contact.force = force;
        }
    }

    /// Answers a round of the bodies with forces.
    pub fn answer(&mut self, bodies: &mut [Touching<'_, '_>], team: &Team) {
        for contact in &self.list[self.dual.len()..] {
            self.dual.add(contact, bodies);
        }
        self.dual.answer(bodies, team);
    }
}

impl Contact {
    /// A particle (body by its place in the island, then its number) that ends at a place, `gap` away from touching an
    /// obstacle.
    fn with_obstacle(
        obstacle: &Obstacle,
        (body, particle): (usize, u32),
        (at, gap): (DVec3, f64),
        surface: Surface,
    ) -> Contact {
        let plane = &obstacle.end;
        let touched = at - plane.normal * plane.gap(at);
        Contact {
            sides: [Endpoint::particle(body, particle), Endpoint::World { moves: obstacle.moves(touched) }],
            normal: plane.normal,
            gap,
            offset: plane.offset,
            friction: surface.friction(plane),
            restitution: surface.restitution(plane),
            id: (obstacle.collider, particle),
            force: DVec3::ZERO,
        }
    }
}
