//! The contacts of an island in a substep: which there are, and their forces.

use super::dual::{Dual, Respond};
use super::{Contact, Endpoint, Surface, lowest_gap, release};
use crate::model::HalfSpace;
use crate::points::Points;
use crate::solvers::Subject;
use crate::team::Team;

/// A body of an island while its contacts are being found.
pub(crate) struct Touching<'a, 'b> {
    pub body: Subject<'a>,
    pub side: &'b mut dyn Respond,
}

/// What touches in an island. All of it is made anew in every substep; what is kept is memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    /// In the order of bodies, planes and particles, then those found on the way, so that everything computed from them
    /// is the same for every run and number of threads.
    list: Vec<Contact>,
    /// Whether a contact of (body, plane, particle) is listed.
    listed: Vec<bool>,
    ends: Points,
    dual: Dual,
}

impl Contacts {
    /// Makes room for all contacts that a body can have with planes, so that finding them allocates nothing.
    pub fn reserve(&mut self, particles: usize, planes: usize) {
        let most = particles * planes;
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
        let places = |b: &Touching<'_, '_>| b.body.model.particle_count() * b.body.model.params.planes.len();
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
            if !model.params.planes.is_empty() {
                self.ends.resize(n);
                side.ends(&mut self.ends);
            }
            let surface = Surface::of(body.controls);
            let release = release(size, model.params.substep());
            for (k, plane) in model.params.planes.iter().enumerate() {
                let listed = &mut self.listed[first..first + n];
                for (i, at) in self.ends.iter().enumerate() {
                    let gap = plane.gap(at) - radius[i];
                    if gap >= margin || listed[i] || !side.beginning().free[i] {
                        continue;
                    }
                    listed[i] = true;
                    let began = plane.gap(side.beginning().start.get(i)) - radius[i];
                    let contact = Contact::with_plane((plane, k), (place, i as u32), gap, surface);
                    let offset = contact.offset + radius[i] + lowest_gap(began, release);
                    self.list.push(Contact { offset, ..contact });
                }
                first += n;
            }
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
    /// A particle (body by its place in the island, then its number) against a plane with its number, `gap` away from
    /// touching it.
    fn with_plane(
        (plane, number): (&HalfSpace, usize),
        (body, particle): (usize, u32),
        gap: f64,
        surface: Surface,
    ) -> Contact {
        Contact {
            sides: [Endpoint::particle(body, particle), Endpoint::FIXED],
            normal: plane.normal,
            gap,
            offset: plane.offset,
            friction: surface.friction(plane),
            restitution: surface.restitution(plane),
            id: (number as u32, particle),
        }
    }
}
