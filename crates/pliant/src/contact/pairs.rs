//! Where bodies of an island touch each other: points of one on the surface of the other.
//!
//! The surface of each is posed where it was when the substep began and where it ends now, and every point of the other asks it
//! as it would ask a collider that moves (`mesh_meets.rs`): on which walls it is, or where its path led in. Bodies without a
//! surface are balls around their particles. What is found is two endpoints on particles, kept apart along a normal.

use super::mesh_meets::{MeshMeet, MeshMeets, meet_surface};
use super::thin::is_thin_pair;
use super::{Bodies, Contact, ContactMaterial, Endpoint, release};
use crate::model::{CollisionShape, Stencil, TouchPoint};
use crate::points::Points;
use crate::team::Team;
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, NOWHERE, around, join};
use pliant_geometry::colliders::MovingMesh;
use std::sync::Arc;

/// Normals nearer than this cosine are of one wall.
const ALIKE: f64 = 0.8;
/// Coulomb friction where neither body says.
const FRICTION: f64 = 0.5;
/// Marks ids of contacts between bodies.
pub(super) const OF_BODIES: u64 = 1 << 63;

/// The surface of a body of the island in the present substep.
#[derive(Clone, Debug, Default)]
struct PosedSurface {
    shape: Option<Arc<CollisionShape>>,
    /// The number of the body.
    id: u64,
    /// Its vertices when the substep begins, and where it ends now.
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    /// Boxes of its tree; of balls one box around all.
    boxes: Vec<Bounds>,
    /// Its points, both ways, and whether forces move them.
    start: Vec<DVec3>,
    end: Vec<DVec3>,
    free: Vec<bool>,
    /// Where vertices were when boxes were fitted: these are again once one has moved by more than [`STIR`] since.
    looked: Vec<DVec3>,
    /// How far any of it has moved, at most, from round to round since the substep began.
    travelled: f64,
    /// How its vertices move in the substep on the average, and by how much any does otherwise.
    shift: DVec3,
    strays: f64,
    size: f64,
    h: f64,
    reach: f64,
    /// A way into another in a substep that is no arrival.
    resting: f64,
    surface: ContactMaterial,
}

/// What bodies touch of each other.
#[derive(Clone, Debug, Default)]
pub(super) struct BodyContacts {
    /// Pairs of places in the island.
    pairs: Vec<[usize; 2]>,
    surfaces: Vec<PosedSurface>,
    ends: Points,
    /// The contacts of (pair, side, point), counted from 1; 0 for none.
    slots: Vec<[u32; MeshMeets::MOST]>,
    /// How far both bodies of (pair, side, point) have travelled when it is to be looked at again: before that it cannot have come
    /// to touch anything new.
    due: Vec<f64>,
    queries: Vec<Query>,
    /// Contacts with triangles, which hold only beside these.
    on_faces: Vec<OnFace>,
}

/// A point that is to be looked at.
#[derive(Clone, Copy, Debug)]
struct Query {
    /// Its place among all of (pair, side, point), and its body, its number there and the other body.
    slot: usize,
    place: usize,
    point: usize,
    other: usize,
    /// Where it meets that.
    meets: MeshMeets,
}

/// A contact of a point with a triangle.
#[derive(Clone, Copy, Debug)]
struct OnFace {
    contact: u32,
    /// The places of the bodies, the number of the point in its list, and the triangle.
    place: usize,
    point: usize,
    other: usize,
    triangle: u32,
    /// The offset while it holds.
    offset: f64,
}

/// The part of the reach by which a surface may move before its boxes are fitted again.
const STIR: f64 = 0.4;
/// The part of the reach by which what touches may have moved before it is looked at again for other walls.
const AGAIN: f64 = 0.1;
/// Points that are looked at together, and per piece of work.
const TOGETHER: usize = 4096;
const PIECE: usize = 64;
/// How far beside its triangle, in terms of that, a point still touches it.
const BESIDE: f64 = 0.3;
/// The offset of what does not touch at present.
const NOWHERE_NEAR: f64 = -1e30;

impl BodyContacts {
    /// Takes up which bodies may touch in the substep; thin ones have contacts of their own.
    pub fn begin(&mut self, all: &[[usize; 2]], bodies: &mut dyn Bodies) {
        self.pairs.clear();
        for &[a, b] in all {
            let mut shape = |k: usize| Some(bodies.get(k)?.body.model.collision().clone());
            let thin = shape(a).zip(shape(b)).is_some_and(|(one, other)| is_thin_pair(&one, &other, a == b));
            if a != b && !thin {
                self.pairs.push([a, b]);
            }
        }
        self.slots.clear();
        self.on_faces.clear();
        if self.pairs.is_empty() {
            return;
        }
        let pairs = &self.pairs;
        let count = bodies.len();
        if self.surfaces.len() < count {
            self.surfaces.resize_with(count, PosedSurface::default);
        }
        // Also those of an island before, which was larger.
        self.surfaces.iter_mut().for_each(|s| s.shape = None);
        for (place, posed) in self.surfaces[..count].iter_mut().enumerate() {
            if pairs.iter().flatten().any(|p| *p == place) {
                posed.take(place, bodies);
            }
        }
        let points = |place: usize| self.surfaces[place].points().len();
        let slots = pairs.iter().flatten().map(|place| points(*place)).sum();
        self.slots.resize(slots, [0; MeshMeets::MOST]);
        self.due.clear();
        self.due.resize(slots, f64::NEG_INFINITY);
        self.queries.clear();
        self.queries.reserve(slots.min(TOGETHER));
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Adds what touches and is not listed yet: what is nearer than a margin when contacts are first looked for, later what
    /// is inside.
    pub fn find(&mut self, first: bool, bodies: &mut dyn Bodies, team: &Team, list: &mut Vec<Contact>) {
        if self.pairs.is_empty() {
            return;
        }
        let BodyContacts { pairs, surfaces, ends, slots, due, queries, on_faces } = self;
        for (place, posed) in surfaces.iter_mut().enumerate().filter(|(_, s)| s.shape.is_some()) {
            posed.pose(place, first, bodies, ends);
        }
        on_faces.iter().for_each(|on| on.look(surfaces, &mut list[on.contact as usize]));
        queries.clear();
        let mut slot = 0;
        for pair in pairs.iter() {
            for [place, other] in [*pair, [pair[1], pair[0]]] {
                let travelled = surfaces[place].travelled + surfaces[other].travelled;
                let side = Side { place, points: &surfaces[place], other, surface: &surfaces[other] };
                let bounds = side.surface.bounds();
                for point in 0..side.points.points().len() {
                    if travelled >= due[slot] {
                        let away = side.away(bounds, side.moving(point));
                        if away > 0.0 {
                            due[slot] = travelled + away + side.reach();
                        } else {
                            let meets = MeshMeets::default();
                            queries.push(Query { slot, place, point, other, meets });
                        }
                    }
                    slot += 1;
                    if queries.len() == TOGETHER {
                        look_at(queries, surfaces, first, (bodies, team), (slots, due), (list, on_faces));
                    }
                }
            }
        }
        look_at(queries, surfaces, first, (bodies, team), (slots, due), (list, on_faces));
    }

    /// The contacts between bodies that act on that of a place, with the side it is on: on both, if it touches itself.
    pub fn touch(list: &[Contact], place: usize) -> impl Iterator<Item = (&Contact, usize)> {
        let on = move |s: &Endpoint| matches!(s, Endpoint::Point { body, .. } if *body == place);
        let between = |c: &&Contact| c.sides.iter().all(|s| matches!(s, Endpoint::Point { .. }));
        list.iter()
            .filter(between)
            .flat_map(move |c| (0..2).filter(move |side| on(&c.sides[*side])).map(move |side| (c, side)))
    }
}

impl PosedSurface {
    fn points(&self) -> &[(TouchPoint, f64)] {
        self.shape.as_ref().map_or(&[], |s| s.points())
    }

    /// Takes up the body of a place as it begins the substep.
    fn take(&mut self, place: usize, bodies: &mut dyn Bodies) {
        let Some(touching) = bodies.get(place) else { return };
        let (model, controls) = (touching.body.model, touching.body.controls);
        let beginning = touching.side.beginning();
        let shape = model.collision().clone();
        let solid = touching.side.is_solid();
        let at = |i: u32| beginning.start.get(i as usize);
        self.from.clear();
        self.from.extend((0..shape.vertex_count() as u32).map(|v| shape.vertex(v).at(at)));
        self.start.clear();
        self.free.clear();
        for (point, _) in shape.points() {
            let (start, free) = match *point {
                TouchPoint::Ball(i) => (at(i), beginning.free[i as usize]),
                TouchPoint::Vertex(v) => {
                    let free = |i: &u32| beginning.free[*i as usize];
                    (self.from[v as usize], solid || shape.vertex(v).particles.iter().any(free))
                }
            };
            self.start.push(start);
            self.free.push(free);
        }
        self.h = model.params.substep();
        self.size = beginning.size;
        let h = self.h;
        self.resting = 2.0 * h * h * controls.world.gravity.length();
        self.reach = 1e-3 * self.size + self.resting;
        self.surface = ContactMaterial::of(controls);
        self.id = touching.id;
        self.shape = Some(shape);
    }

    /// Takes up where it ends now.
    fn pose(&mut self, place: usize, first: bool, bodies: &mut dyn Bodies, ends: &mut Points) {
        let PosedSurface {
            shape: Some(shape),
            from,
            to,
            boxes,
            start,
            end,
            looked,
            reach,
            travelled,
            shift,
            strays,
            ..
        } = self
        else {
            return;
        };
        let Some(touching) = bodies.get(place) else { return };
        ends.resize(touching.body.model.point_count());
        touching.side.ends(ends);
        let at = |i: u32| ends.get(i as usize);
        if first {
            to.clone_from(from);
            end.clone_from(start);
        }
        let mut furthest = 0.0_f64;
        for (v, to) in to.iter_mut().enumerate() {
            let now = shape.vertex(v as u32).at(at);
            furthest = furthest.max(now.distance_squared(*to));
            *to = now;
        }
        for ((point, _), end) in shape.points().iter().zip(end.iter_mut()) {
            let now = match *point {
                TouchPoint::Ball(i) => at(i),
                TouchPoint::Vertex(v) => to[v as usize],
            };
            furthest = furthest.max(now.distance_squared(*end));
            *end = now;
        }
        *travelled = if first { 0.0 } else { *travelled + furthest.sqrt() };
        let ways = || from.iter().zip(to.iter()).map(|(p, q)| q - p);
        *shift = ways().sum::<DVec3>() / from.len().max(1) as f64;
        *strays = ways().map(|way| way.distance_squared(*shift)).fold(0.0, f64::max).sqrt();
        let stir = STIR * *reach;
        let still = || to.iter().zip(looked.iter()).all(|(p, q)| p.distance_squared(*q) <= stir * stir);
        if !first && still() {
            return;
        }
        looked.clone_from(to);
        match shape.mesh() {
            Some(mesh) => {
                mesh.fit(from, to, boxes);
                // They stay around it until it has stirred.
                let stir = DVec3::splat(stir);
                boxes.iter_mut().for_each(|b| *b = (b.0 - stir, b.1 + stir));
            }
            None => {
                boxes.clear();
                let paths = start.iter().zip(end.iter()).zip(shape.points());
                let boxed = paths.map(|((p, q), (_, r))| {
                    let (lo, hi) = around([*p, *q]);
                    (lo - DVec3::splat(*r + stir), hi + DVec3::splat(*r + stir))
                });
                boxes.push(boxed.fold(NOWHERE, join));
            }
        }
    }

    fn has_mesh(&self) -> bool {
        self.shape.as_ref().is_some_and(|s| s.mesh().is_some())
    }

    /// The box around all of its path, with what lies beyond its vertices.
    fn bounds(&self) -> Bounds {
        let (lo, hi) = self.boxes.first().copied().unwrap_or(NOWHERE);
        let beyond = DVec3::splat(self.shape.as_ref().map_or(0.0, |s| s.most_beyond()));
        (lo - beyond, hi + beyond)
    }
}

impl OnFace {
    /// Lets a point go that has come beside the triangle it touches, and holds it when it comes back: a half-space that the
    /// triangle lies on says nothing of what is further away.
    fn look(&self, surfaces: &[PosedSurface], contact: &mut Contact) {
        let (points, surface) = (&surfaces[self.place], &surfaces[self.other]);
        let Some(mesh) = surface.shape.as_ref().and_then(|s| s.mesh()) else { return };
        let [a, b, c] = mesh.triangle(self.triangle).map(|v| surface.to[v as usize]);
        let at = points.end[self.point];
        let (u, v, w) = (b - a, c - a, at - a);
        let (uu, uv, vv) = (u.length_squared(), u.dot(v), v.length_squared());
        let (wu, wv) = (w.dot(u), w.dot(v));
        let area = uu * vv - uv * uv;
        let (s, t) = ((vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area);
        // Written so that a triangle without area holds whom it has.
        let beside = s < -BESIDE || t < -BESIDE || s + t > 1.0 + BESIDE;
        let offset = if beside { NOWHERE_NEAR } else { self.offset };
        if contact.offset != offset {
            (contact.offset, contact.renewed) = (offset, true);
        }
    }
}

/// The points of one body and the surface of another.
struct Side<'a> {
    place: usize,
    points: &'a PosedSurface,
    other: usize,
    surface: &'a PosedSurface,
}

/// A point in a substep: its number in the list, its radius, and its path.
#[derive(Clone, Copy)]
struct Moving {
    k: usize,
    radius: f64,
    start: DVec3,
    at: DVec3,
}

/// What a point touches.
struct Found {
    normal: DVec3,
    /// Where it is touched, by particles of the other body, and where that is.
    stencil: Stencil,
    place: DVec3,
    /// How far the other body reaches beyond that.
    beyond: f64,
}

/// Looks at points, any number of threads side by side, and lists what touches in their order.
fn look_at(
    queries: &mut Vec<Query>,
    surfaces: &[PosedSurface],
    first: bool,
    (bodies, team): (&mut dyn Bodies, &Team),
    (slots, due): (&mut [[u32; MeshMeets::MOST]], &mut [f64]),
    (list, on_faces): (&mut Vec<Contact>, &mut Vec<OnFace>),
) {
    let side = |q: &Query| Side {
        place: q.place,
        points: &surfaces[q.place],
        other: q.other,
        surface: &surfaces[q.other],
    };
    let list_of = &mut queries[..];
    team.split(list_of, PIECE, |_, queries| queries.iter_mut().for_each(|q| side(q).meet(q)));
    for query in queries.iter() {
        let side = side(query);
        let travelled = side.points.travelled + side.surface.travelled;
        let idle = side.take_all(query, first, &mut slots[query.slot], bodies, (list, on_faces));
        due[query.slot] = travelled + idle;
    }
    queries.clear();
}

impl Side<'_> {
    fn reach(&self) -> f64 {
        self.points.reach.max(self.surface.reach)
    }

    fn moving(&self, k: usize) -> Moving {
        let (_, radius) = self.points.points()[k];
        Moving { k, radius, start: self.points.start[k], at: self.points.end[k] }
    }

    /// How far a point stays at least from coming within reach of the box around the other body: nothing if it does.
    fn away(&self, bounds: Bounds, Moving { radius, start, at, .. }: Moving) -> f64 {
        let wide = DVec3::splat(radius + self.reach());
        let (lo, hi) = (start.min(at) - wide, start.max(at) + wide);
        (bounds.0 - hi).max(lo - bounds.1).max_element()
    }

    /// Finds where a point meets the surface of the other body.
    fn meet(&self, query: &mut Query) {
        let Some(shape) = &self.surface.shape else { return };
        let moving = self.moving(query.point);
        if let Some(mesh) = shape.mesh() {
            let touches = moving.radius + shape.most_beyond();
            let PosedSurface { from, to, boxes, .. } = self.surface;
            let pose = MovingMesh { mesh, from, to, boxes, shares: [0.0, 1.0] };
            // Rounding of places takes no part.
            let passes = (moving.at - moving.start).distance(self.surface.shift) + self.surface.strays;
            let passes = passes + 1e-6 * self.surface.size;
            let path = (moving.start, moving.at);
            query.meets = meet_surface(&pose, path, (touches, passes), touches + self.reach());
        }
    }

    /// Lists what a point touches. Tells how far it and the other body may travel before it is to be looked at again.
    fn take_all(
        &self,
        query: &Query,
        first: bool,
        slots: &mut [u32; MeshMeets::MOST],
        bodies: &mut dyn Bodies,
        (list, on_faces): (&mut Vec<Contact>, &mut Vec<OnFace>),
    ) -> f64 {
        let Some(shape) = &self.surface.shape else { return f64::INFINITY };
        let (moving, reach) = (self.moving(query.point), self.reach());
        let margin = if first { reach } else { 0.0 };
        // What is within a box is not further from it than the box has been made wider.
        let mut idle = reach;
        if shape.mesh().is_some() {
            for meet in query.meets.iter() {
                let found = on_mesh(shape, meet);
                let gap = meet.normal.dot(moving.at - found.place) - moving.radius - found.beyond;
                let known = list.len();
                self.take(moving, found, margin, slots, bodies, list);
                if let Some(contact) = list.get(known) {
                    let (place, other, triangle) = (self.place, self.other, meet.foot.triangle);
                    let (contact, offset) = (known as u32, contact.offset);
                    on_faces.push(OnFace { contact, place, point: moving.k, other, triangle, offset });
                }
                // Other walls may touch when this does.
                let is_listed = |s: &u32| *s > 0 && list[*s as usize - 1].normal.dot(meet.normal) > ALIKE;
                let least = if slots.iter().any(is_listed) { AGAIN * reach } else { 0.0 };
                idle = idle.min(gap.max(least));
            }
        } else if self.place < self.other && !self.points.has_mesh() {
            // Of two clouds each pair is looked at from one side only.
            self.find_balls(moving, (margin, reach), slots, bodies, list);
            idle = 0.0;
        }
        idle
    }

    /// Balls of the other body that a ball touches.
    fn find_balls(
        &self,
        moving: Moving,
        (margin, reach): (f64, f64),
        slots: &mut [u32; MeshMeets::MOST],
        bodies: &mut dyn Bodies,
        list: &mut Vec<Contact>,
    ) {
        for (j, (point, radius)) in self.surface.points().iter().enumerate() {
            let (began, at) = (moving.start - self.surface.start[j], moving.at - self.surface.end[j]);
            let near = moving.radius + radius + reach;
            // The nearest of the path of one to the other.
            let path = at - began;
            let share = (-began.dot(path) / path.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
            if (began + path * share).length_squared() > near * near {
                continue;
            }
            // Who passes through another is held on the side it came from.
            let normal = if began.dot(at) > 0.0 { at } else { began };
            let normal = normal.try_normalize().unwrap_or(DVec3::Y);
            let Some(shape) = &self.surface.shape else { return };
            let TouchPoint::Vertex(v) = *point else { continue };
            let stencil = shape.vertex(v);
            let found = Found { normal, stencil, place: self.surface.end[j], beyond: *radius };
            self.take(moving, found, margin, slots, bodies, list);
        }
    }

    /// Lists a contact, unless it is listed or too far away.
    fn take(
        &self,
        Moving { k, radius, start, at }: Moving,
        found: Found,
        margin: f64,
        slots: &mut [u32; MeshMeets::MOST],
        bodies: &mut dyn Bodies,
        list: &mut Vec<Contact>,
    ) {
        let Found { normal, stencil, place, beyond } = found;
        let thick = radius + beyond;
        let gap = normal.dot(at - place) - thick;
        let known = slots.iter().any(|s| *s > 0 && list[*s as usize - 1].normal.dot(normal) > ALIKE);
        let Some(slot) = slots.iter_mut().find(|s| **s == 0).filter(|_| gap < margin && !known) else {
            return;
        };
        let other = Endpoint::of(self.other, stencil);
        let surface = bodies.get(self.other);
        let may_yield = surface.is_some_and(|b| {
            stencil.particles.iter().any(|i| b.side.beginning().free.get(*i as usize).is_some_and(|f| *f))
                || b.side.is_solid()
        });
        if !self.points.free[k] && !may_yield {
            return;
        }
        let (point, _) = self.points.points()[k];
        let (own, number) = match point {
            TouchPoint::Ball(i) => {
                let Some(touching) = bodies.get(self.place) else { return };
                (Endpoint::particle(self.place, touching.side.touch(i, normal)), i)
            }
            TouchPoint::Vertex(v) => {
                let Some(shape) = &self.points.shape else { return };
                (Endpoint::of(self.place, shape.vertex(v)), v)
            }
        };
        // What particles tell of the touched point is exact at rest only.
        let told = bodies.get(self.other).map_or(place, |b| stencil.at(|i| b.side.end(i as usize)));
        let [a, b] = [self.points.surface, self.surface.surface];
        let restitution = a.restitution.max(b.restitution);
        // A bounce returns its part of the way from where the substep began: no more than that is given back, whatever gives.
        let before = start_of(&stencil, self.other, bodies);
        let (began_at, apart) = (normal.dot(start - before), normal.dot(at - told));
        let into = began_at - apart;
        let bounces = gap < 0.0 && restitution > 0.0 && into > self.points.resting;
        let least = if bounces { began_at + restitution * into } else { f64::NEG_INFINITY };
        // No more is asked for than that the bodies stay to each other where they were, beside a release of what began inside: so
        // whatever else holds them there is a way to comply.
        let release = release(self.points.size.min(self.surface.size), self.points.h);
        let wanted = thick + normal.dot(place - told);
        let offset = wanted.min(began_at + release).max(least);
        list.push(Contact {
            sides: [own, other],
            normal,
            gap,
            offset,
            friction: friction(a, b),
            restitution,
            id: (OF_BODIES | self.surface.id, number),
            force: DVec3::ZERO,
            lowest: 0.0,
            renewed: false,
        });
        *slot = list.len() as u32;
    }
}

/// Where a point of a body was when the substep began.
pub(super) fn start_of(stencil: &Stencil, place: usize, bodies: &mut dyn Bodies) -> DVec3 {
    bodies.get(place).map_or(DVec3::ZERO, |b| stencil.at(|i| b.side.beginning().start.get(i as usize)))
}

fn on_mesh(shape: &CollisionShape, meet: &MeshMeet) -> Found {
    let MeshMeet { foot, normal, .. } = *meet;
    let stencil = shape.on_face(foot.triangle, foot.weights);
    Found { normal, stencil, place: foot.point, beyond: shape.beyond(foot.triangle, foot.weights) }
}

pub(super) fn friction(a: ContactMaterial, b: ContactMaterial) -> f64 {
    match (a.friction, b.friction) {
        (Some(a), Some(b)) => (a * b).sqrt(),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => FRICTION,
    }
}
