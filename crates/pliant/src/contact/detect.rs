//! The contacts of an island in a substep: which there are, and their forces.

use super::dual::{Bodies, Dual, Respond, SubstepStart, Touching, When};
use super::looked_at::LookedAt;
use super::nodes::Nodes;
use super::pairs::BodyContacts;
use super::ridges::{Faces, Scratch};
use super::thin::ThinContacts;
use super::{
    Apart, ColliderGeometry, Contact, ContactMaterial, ContactPlane, ContactPlanes, Cut, Ended, Endpoint,
    MovingPoint, Obstacle, Obstacles, Solid, lowest_gap, release,
};
use crate::couplings::{Pull, Tie, TieLayout, Ties};
use crate::points::Points;
use crate::team::Team;
use glam::DVec3;
use std::sync::Arc;

/// Half-spaces of a mesh whose normals are nearer than this cosine are one that a particle has moved along.
const ALIKE: f64 = 0.8;

/// What touches in an island. All of it is made anew in every substep; what is kept is memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contacts {
    /// In the order of bodies, obstacles and particles, then those found on the way, so that everything computed from them
    /// is the same for every run and number of threads.
    list: Vec<Contact>,
    /// Whether a contact of (body, plane, particle) is listed.
    listed: Vec<bool>,
    /// The contacts of (body, solid, particle), counted from 1; 0 for none.
    slots: Vec<[u32; ContactPlanes::MOST]>,
    ends: Points,
    /// Which of these are looked at.
    near: LookedAt,
    /// For what sticks out of solids.
    scratch: Scratch,
    /// What bodies touch of each other.
    between: BodyContacts,
    /// What thin ones touch, and bodies of themselves.
    thin: ThinContacts,
    /// Keeps these apart whatever forces do.
    apart: Apart,
    dual: Dual,
}

/// How many points a body touches by, and how many forces may be on it at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointCounts {
    pub points: usize,
    pub nodes: usize,
}

/// A point of a body, by its place in the island, and the node it touches with.
#[derive(Clone, Copy)]
struct PointOf {
    place: usize,
    point: u32,
    node: u32,
}

/// How a search for contacts goes.
#[derive(Clone, Copy)]
struct Finding {
    /// What is nearer than this is listed.
    margin: f64,
    /// Contacts with solids that are listed are taken anew if they are within this.
    reach: f64,
    release: f64,
    surface: ContactMaterial,
}

impl Contacts {
    /// Makes room for all contacts that bodies of so many particles can have with so many obstacles, and for couplings, so
    /// that finding them allocates nothing. Particles in the corners of meshes have more than one with each; there is room
    /// for a quarter of them.
    pub fn reserve(
        &mut self,
        sizes: impl ExactSizeIterator<Item = PointCounts> + Clone,
        obstacles: usize,
        ties: (&[Tie], &Arc<TieLayout>),
    ) {
        let particles = sizes.clone().map(|s| s.points);
        let places = particles.clone().sum::<usize>() * obstacles;
        let most = places + places / 4 + if places > 0 { Scratch::CAPACITY } else { 0 };
        self.scratch.reserve(particles.clone().max().unwrap_or(0), places > 0);
        self.slots.clear();
        self.slots.reserve(places);
        self.list.clear();
        self.list.reserve(most);
        self.listed.clear();
        self.listed.reserve(most);
        let most_points = particles.max().unwrap_or(0);
        self.ends.resize(most_points);
        self.near.reserve(most_points);
        self.dual.reserve(sizes.map(|s| s.nodes), most, ties);
    }

    /// Forgets all contacts, and ties the bodies that couplings hold; of these pairs, by places in the island, bodies may touch.
    pub fn begin(
        &mut self,
        (ties, layout): (&[Tie], &Arc<TieLayout>),
        pairs: &[[usize; 2]],
        bodies: &mut dyn Bodies,
    ) {
        let count = bodies.len();
        self.list.clear();
        let nodes = |k: usize| bodies.get(k).map_or(0, |b| b.body.model.node_count());
        self.dual.begin((0..count).map(nodes), layout);
        self.dual.tie(ties, bodies);
        self.between.begin(pairs, bodies);
        self.thin.begin(pairs, bodies);
        self.apart.begin(pairs, bodies);
    }

    /// Cuts the ways of bodies whose substep has ended, so that thin ones never cross.
    pub fn keep_apart(&mut self, bodies: &mut (impl Ended + ?Sized), team: &Team) -> Cut {
        self.apart.keep(bodies, team)
    }

    /// Forgets all contacts and couplings.
    pub fn clear(&mut self, layout: &Arc<TieLayout>) {
        self.list.clear();
        self.dual.begin([].into_iter(), layout);
    }

    /// The contacts.
    pub fn list(&self) -> &[Contact] {
        &self.list
    }

    /// Contacts that carry a force.
    pub fn loaded(&self) -> usize {
        self.dual.loaded()
    }

    /// What couplings and other bodies do to a body of the island.
    pub fn pull_on(&self, place: usize, bodies: &mut dyn Bodies) -> Pull {
        let mut pull = self.dual.pull_on(place);
        if self.between.is_empty() && self.thin.is_empty() {
            return pull;
        }
        for (contact, side) in BodyContacts::touch(&self.list, place) {
            let sign = if side == 0 { 1.0 } else { -1.0 };
            let Some(body) = bodies.get(place) else { continue };
            let share = sign / body.mass_ratio();
            for (_, i, weight) in contact.sides[side].particles() {
                let displacement = body.side.end(i as usize) - body.side.beginning().start.get(i as usize);
                pull.work += contact.force.dot(displacement) * weight * share;
            }
            pull.any = true;
            pull.force += contact.force * share;
        }
        pull
    }

    /// Whether couplings hold as they are to: see [`Dual::ties_settled`].
    pub fn ties_settled(&mut self, when: When, ties: &[Tie], bodies: &mut dyn Bodies) -> bool {
        self.dual.ties_settled(when, ties, bodies)
    }

    /// The nodes of a body, with the forces that were found for it.
    pub fn nodes_of(&self, place: usize) -> &Nodes {
        self.dual.nodes_of(place)
    }

    /// Lets couplings go for the rest of the substep that no round has brought together.
    pub fn slacken_ties(&mut self, ties: &[Tie], bodies: &mut dyn Bodies) {
        self.dual.slacken_ties(ties, bodies);
    }

    /// Tells couplings what the substep has left.
    pub fn conclude_ties(&mut self, ties: &mut [Tie], bodies: &mut dyn Bodies) {
        self.dual.conclude_ties(ties, bodies);
    }

    /// The couplings, and the nodes they hold.
    pub fn ties(&mut self) -> (&mut Ties, &[Nodes]) {
        self.dual.ties()
    }

    /// Lists what the bodies will touch by where they end now, their prediction, or come near.
    pub fn detect(&mut self, bodies: &mut dyn Bodies, team: &Team) {
        self.listed.clear();
        self.slots.clear();
        let (mut planes, mut solids) = (0, 0);
        for k in 0..bodies.len() {
            let Some(body) = bodies.get(k) else { continue };
            let (obstacles, points) = (met(&body), body.body.model.point_count());
            planes += obstacles.planes.len() * points;
            solids += obstacles.solids.len() * points;
        }
        self.listed.resize(planes, false);
        self.slots.resize(solids, [0; ContactPlanes::MOST]);
        self.find(bodies, true);
        self.between.find(true, bodies, team, &mut self.list);
        self.thin.find(true, bodies, team, &mut self.list);
    }

    /// Lists what is inside something by where the bodies end now, and was not listed before: whether a particle touches
    /// is not for the prediction alone to say. What is not flat is met anew where it is met now. Tells whether there was
    /// any to list.
    pub fn join(&mut self, bodies: &mut dyn Bodies, team: &Team) -> bool {
        let before = self.list.len();
        self.find(bodies, false);
        self.between.find(false, bodies, team, &mut self.list);
        self.thin.find(false, bodies, team, &mut self.list);
        self.list.len() > before
    }

    fn find(&mut self, bodies: &mut dyn Bodies, first: bool) {
        let (mut listed, mut slots) = (0, 0);
        for place in 0..bodies.len() {
            let Some(touching) = bodies.get(place) else { continue };
            let obstacles = met(&touching);
            if obstacles.is_empty() {
                continue;
            }
            let Touching { body, side, .. } = touching;
            let (model, size) = (body.model, side.beginning().size);
            self.ends.resize(model.point_count());
            let h = model.params.substep();
            let reach = 1e-3 * size + 2.0 * h * h * body.controls.world.gravity.length();
            let finding = Finding {
                margin: if first { reach } else { 0.0 },
                reach,
                release: release(size, h),
                surface: ContactMaterial::of(body.controls),
            };
            side.look(obstacles, finding.margin, &mut self.ends, &mut self.near);
            let whose = (place, model.rest().radius.as_slice());
            for plane in obstacles.planes {
                self.find_at_plane(plane, whose, side, finding, listed);
                listed += self.ends.len();
            }
            for solid in obstacles.formed() {
                self.find_at_solid(solid, whose, side, finding, slots);
                slots += self.ends.len();
                if first {
                    let SubstepStart { start, free, .. } = side.beginning();
                    let Finding { reach, release, surface, .. } = finding;
                    let faces =
                        Faces { place, model, start, ends: &self.ends, free, surface, reach, release };
                    self.scratch.find(solid, faces, &mut self.list);
                }
            }
        }
    }

    fn find_at_plane(
        &mut self,
        obstacle: &Obstacle,
        (place, radius): (usize, &[f64]),
        side: &mut dyn Respond,
        finding: Finding,
        first: usize,
    ) {
        let listed = &mut self.listed[first..first + self.ends.len()];
        for k in 0..self.near.len() {
            let i = self.near.get(k);
            let at = self.ends.get(i);
            let gap = obstacle.end.gap(at) - radius[i];
            if gap >= finding.margin || listed[i] || !side.beginning().free[i] {
                continue;
            }
            listed[i] = true;
            let began = obstacle.start.gap(side.beginning().start.get(i)) - radius[i];
            let point = PointOf { place, point: i as u32, node: side.touch(i as u32, obstacle.end.normal) };
            let contact = Contact::with_plane(obstacle, point, (at, gap), finding.surface);
            let offset = contact.offset + radius[i] + lowest_gap(began, finding.release);
            self.list.push(Contact { offset, ..contact });
        }
    }

    fn find_at_solid(
        &mut self,
        (solid, form): (&Solid, &ColliderGeometry),
        (place, radius): (usize, &[f64]),
        side: &mut dyn Respond,
        finding: Finding,
        first: usize,
    ) {
        for k in 0..self.near.len() {
            let i = self.near.get(k);
            let at = self.ends.get(i);
            if !side.beginning().free[i] {
                continue;
            }
            let slots = &mut self.slots[first + i];
            let moving = MovingPoint { start: side.beginning().start.get(i), at, radius: radius[i] };
            // Of a convex shape the half-space a particle is at is known wherever it is.
            let reach = if slots[0] > 0 && form.most_at_once() == 1 { f64::INFINITY } else { finding.reach };
            for meet in solid.meets(form, moving, reach).iter() {
                let gap = meet.gap(at) - radius[i];
                let known = self.list.as_mut_slice();
                let normal_of = |slot: u32| known[slot as usize - 1].normal;
                let like = |slot: &&mut u32| {
                    **slot > 0 && (form.most_at_once() == 1 || normal_of(**slot).dot(meet.normal) > ALIKE)
                };
                if let Some(slot) = slots.iter_mut().find(like) {
                    let contact = &mut known[*slot as usize - 1];
                    contact.renew(meet, contact.lowest + radius[i]);
                    if let (true, Some(node)) = (contact.renewed, contact.particle_at_obstacle(place)) {
                        side.touch_elsewhere(node as u32, contact.normal);
                    }
                    continue;
                }
                let free = slots.iter_mut().find(|s| **s == 0).filter(|_| gap < finding.margin);
                if let Some(slot) = free {
                    let node = side.touch(i as u32, meet.normal);
                    let point = PointOf { place, point: i as u32, node };
                    let contact = Contact::with_solid(solid, point, (meet, gap), finding.surface);
                    let lowest = lowest_gap(meet.began - radius[i], finding.release);
                    let offset = contact.offset + radius[i] + lowest;
                    self.list.push(Contact { offset, lowest, ..contact });
                    *slot = self.list.len() as u32;
                }
            }
        }
    }

    /// Tells each contact the force it ends with.
    pub fn conclude(&mut self) {
        for (contact, force) in self.list.iter_mut().zip(self.dual.forces()) {
            contact.force = force;
        }
    }

    /// Answers a round of the bodies with forces; `closing` is the one that is to be the last.
    pub fn answer(&mut self, ties: &[Tie], closing: bool, bodies: &mut dyn Bodies, team: &Team) {
        let known = self.dual.len();
        for (k, contact) in self.list[..known].iter_mut().enumerate().filter(|(_, c)| c.renewed) {
            self.dual.renew(k, contact, bodies);
            contact.renewed = false;
        }
        for contact in &self.list[known..] {
            self.dual.add(contact, bodies);
        }
        self.dual.answer(ties, closing, bodies, team);
    }
}

/// The obstacles that contacts keep a body out of.
fn met<'a>(of: &Touching<'a>) -> Obstacles<'a> {
    if of.meets_obstacles { Obstacles::NONE } else { of.body.obstacles }
}

impl Contact {
    /// A point that ends at a place, `gap` away from touching a plane.
    fn with_plane(
        obstacle: &Obstacle,
        PointOf { place, point, node }: PointOf,
        (at, gap): (DVec3, f64),
        surface: ContactMaterial,
    ) -> Contact {
        let plane = &obstacle.end;
        let touched = at - plane.normal * plane.gap(at);
        Contact {
            sides: [Endpoint::particle(place, node), Endpoint::World { moves: obstacle.moves(touched) }],
            normal: plane.normal,
            gap,
            offset: plane.offset,
            friction: surface.friction(plane.friction),
            restitution: surface.restitution(plane.restitution),
            id: (obstacle.collider, point),
            force: DVec3::ZERO,
            lowest: 0.0,
            renewed: false,
        }
    }

    /// The same with a half-space of another collider.
    fn with_solid(
        solid: &Solid,
        PointOf { place, point, node }: PointOf,
        (meet, gap): (&ContactPlane, f64),
        surface: ContactMaterial,
    ) -> Contact {
        Contact {
            sides: [Endpoint::particle(place, node), Endpoint::World { moves: meet.moves }],
            normal: meet.normal,
            gap,
            offset: meet.offset,
            friction: surface.friction(solid.friction),
            restitution: surface.restitution(solid.restitution),
            id: (solid.collider, point),
            force: DVec3::ZERO,
            lowest: 0.0,
            renewed: false,
        }
    }

    /// Touches where it is now; `apart` is what else keeps the sides apart.
    fn renew(&mut self, meet: &ContactPlane, apart: f64) {
        let (normal, offset) = (meet.normal, meet.offset + apart);
        let moves = Endpoint::World { moves: meet.moves };
        if (normal, offset, moves) != (self.normal, self.offset, self.sides[1]) {
            (self.normal, self.offset, self.sides[1]) = (normal, offset, moves);
            self.renewed = true;
        }
    }
}
