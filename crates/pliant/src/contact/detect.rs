//! The contacts of an island in a substep: which there are, and their forces.

use super::dual::{Bodies, Dual, Touching};
use super::nodes::Nodes;
use super::ties::{Pull, Tie, Ties};
use super::{Contact, Endpoint, Obstacle, Surface, lowest_gap, release};
use crate::points::Points;
use crate::solvers::Subject;
use crate::team::Team;
use glam::DVec3;

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
    /// Makes room for all contacts that bodies of so many particles can have with so many obstacles, and for couplings, so
    /// that finding them allocates nothing.
    pub fn reserve(
        &mut self,
        particles: impl ExactSizeIterator<Item = usize> + Clone,
        obstacles: usize,
        ties: usize,
    ) {
        let most = particles.clone().sum::<usize>() * obstacles;
        self.list.clear();
        self.list.reserve(most);
        self.listed.clear();
        self.listed.reserve(most);
        self.ends.resize(particles.clone().max().unwrap_or(0));
        self.dual.reserve(particles, most, ties);
    }

    /// Forgets all contacts, and ties the bodies that couplings hold.
    pub fn begin(&mut self, ties: &[Tie], bodies: &mut dyn Bodies) {
        let count = bodies.len();
        self.list.clear();
        let particles = |k: usize| bodies.get(k).map_or(0, |b| b.body.model.particle_count());
        self.dual.begin((0..count).map(particles));
        ties.iter().for_each(|tie| self.dual.tie(tie, bodies));
    }

    /// Forgets all contacts and couplings.
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

    /// What couplings do to a body of the island.
    pub fn pull_on(&self, place: usize, bodies: &mut dyn Bodies) -> Pull {
        self.dual.pull_on(place, bodies)
    }

    /// The couplings, and the nodes they hold.
    pub fn ties(&mut self) -> (&mut Ties, &[Nodes]) {
        self.dual.ties()
    }

    /// Lists what the bodies will touch by where they end now, their prediction, or come near.
    pub fn detect(&mut self, bodies: &mut dyn Bodies) {
        self.listed.clear();
        let mut places = 0;
        for k in 0..bodies.len() {
            places += bodies.get(k).map_or(0, |b| meetings(&b).1);
        }
        self.listed.resize(places, false);
        self.find(bodies, |body, size| {
            let h = body.model.params.substep();
            1e-3 * size + 2.0 * h * h * body.controls.world.gravity.length()
        });
    }

    /// Lists what is inside something by where the bodies end now, and was not listed before: whether a particle touches
    /// is not for the prediction alone to say. Tells whether there was any.
    pub fn join(&mut self, bodies: &mut dyn Bodies) -> bool {
        let before = self.list.len();
        self.find(bodies, |_, _| 0.0);
        self.list.len() > before
    }

    fn find(&mut self, bodies: &mut dyn Bodies, margin: impl Fn(&Subject<'_>, f64) -> f64) {
        let mut first = 0;
        for place in 0..bodies.len() {
            let Some(touching) = bodies.get(place) else { continue };
            let (obstacles, _) = meetings(&touching);
            let Touching { body, side, .. } = touching;
            let (model, size) = (body.model, side.beginning().size);
            let (n, radius) = (model.particle_count(), &model.rest().radius);
            let margin = margin(&body, size);
            if !obstacles.is_empty() {
                self.ends.resize(n);
                side.ends(&mut self.ends);
            }
            let surface = Surface::of(body.controls);
            let release = release(size, model.params.substep());
            for obstacle in obstacles {
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
    pub fn answer(&mut self, bodies: &mut dyn Bodies, team: &Team) {
        for contact in &self.list[self.dual.len()..] {
            self.dual.add(contact, bodies);
        }
        self.dual.answer(bodies, team);
    }
}

/// The obstacles that contacts keep a body out of, and how many meetings of its particles with them there can be.
fn meetings<'a>(of: &Touching<'a>) -> (&'a [Obstacle], usize) {
    let obstacles = if of.meets_obstacles { &[][..] } else { of.body.obstacles };
    (obstacles, obstacles.len() * of.body.model.particle_count())
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
