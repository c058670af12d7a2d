//! Ridges of a collider (its edges, corners and thin parts) against the faces of bodies: they would go in between
//! particles, and impale what they meet.
//!
//! Each point of a ridge that is near the body keeps the face it would come through on its side: a contact of three
//! weighted particles with the world. Faces, sides and weights are those of where the prediction leads, for the whole
//! substep; which particles touch is looked at again in every round.

use super::solid::{ColliderGeometry, Solid};
use super::{Contact, ContactMaterial, Endpoint, lowest_gap};
use crate::model::BodyModel;
use crate::points::Points;
use glam::DVec3;
use pliant_geometry::box_tree::{Bounds, NOWHERE, around, overlap};
use pliant_geometry::nearest_on_triangle;

/// Relative to a face: nearer than that it is too near to tell a side, deeper inside than that it is not to be met.
const NEAR: f64 = 1e-3;
const DEEP: f64 = 0.2;
/// Most points of a ridge that are looked at.
const MOST: usize = 64;

/// A point of an edge, a corner or the axis of something thin, on its path through a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct RidgePoint {
    /// Where it is when the substep begins and ends.
    pub from: DVec3,
    pub to: DVec3,
    /// How far the collider reaches around it.
    pub radius: f64,
    /// From the middle of the collider to it.
    pub out: DVec3,
}

/// A body as ridges meet it.
#[derive(Clone, Copy)]
pub(super) struct Faces<'a> {
    pub place: usize,
    pub model: &'a BodyModel,
    pub start: &'a Points,
    pub ends: &'a Points,
    pub free: &'a [bool],
    pub surface: ContactMaterial,
    /// What is nearer than this is a contact.
    pub reach: f64,
    pub release: f64,
}

/// Room for looking, kept so that it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    points: Vec<RidgePoint>,
    /// Faces near the collider, with their boxes.
    faces: Vec<(u32, Bounds)>,
}

impl Scratch {
    /// Contacts of ridges there is room for from the start.
    pub const CAPACITY: usize = 512;

    /// Makes room for a body of so many particles, if there is anything to meet.
    pub fn reserve(&mut self, particles: usize, any: bool) {
        if any {
            // Closed surfaces have twice as many faces as vertices.
            self.faces.reserve(2 * particles + 64);
            self.points.reserve(8 * Self::CAPACITY);
        }
    }

    /// Lists the contacts of a solid's ridges with the faces of a body.
    pub fn find(
        &mut self,
        (solid, form): (&Solid, &ColliderGeometry),
        body: Faces<'_>,
        list: &mut Vec<Contact>,
    ) {
        let Faces { model, start, ends, reach, .. } = body;
        let near = solid.bounds_within(reach + model.rest().radius.iter().copied().fold(0.0, f64::max));
        self.faces.clear();
        let (mut whole, mut edges) = (NOWHERE, 0.0);
        for (k, face) in model.topology().faces.iter().enumerate() {
            let [a, b, c] = face.map(|i| i as usize);
            let bounds =
                around([start.get(a), start.get(b), start.get(c), ends.get(a), ends.get(b), ends.get(c)]);
            if overlap(bounds, near) {
                whole = pliant_geometry::box_tree::join(whole, bounds);
                edges += start.get(a).distance(start.get(b));
                self.faces.push((k as u32, bounds));
            }
        }
        if self.faces.is_empty() {
            return;
        }
        let spacing = 0.5 * edges / self.faces.len() as f64;
        let (lo, hi) = whole;
        self.points.clear();
        solid.ridge_points(form, (lo - reach, hi + reach), spacing, &mut self.points);
        for (number, point) in self.points.iter().enumerate() {
            list.extend(self.nearest(point, body).map(|found| found.contact(solid, number as u32, body)));
        }
    }

    /// The face a point comes through first, or else is nearest to.
    fn nearest(&self, point: &RidgePoint, body: Faces<'_>) -> Option<FaceHit> {
        let wide = point.radius + body.reach;
        let path = (point.from.min(point.to) - wide, point.from.max(point.to) + wide);
        let near = self.faces.iter().filter(|(_, bounds)| overlap(*bounds, path));
        let found = near.filter_map(|(k, _)| FaceHit::at(point, *k, body));
        found.min_by(|a, b| {
            a.order.0.total_cmp(&b.order.0).then(a.order.1.total_cmp(&b.order.1)).then(a.face.cmp(&b.face))
        })
    }
}

/// A face that a point of a ridge meets.
struct FaceHit {
    face: u32,
    weights: [f64; 3],
    /// Away from the ridge.
    normal: DVec3,
    point: RidgePoint,
    /// How far the point was from the face at first.
    began: f64,
    /// Who comes first: the share of its path before it comes through, then the distance.
    order: (f64, f64),
}

impl FaceHit {
    fn at(point: &RidgePoint, face: u32, body: Faces<'_>) -> Option<FaceHit> {
        let corners = body.model.topology().faces[face as usize].map(|i| i as usize);
        if corners.iter().all(|i| !body.free[*i]) {
            return None;
        }
        let [first, last] = [body.start, body.ends].map(|x| corners.map(|i| x.get(i)));
        let normal = |[a, b, c]: [DVec3; 3]| (b - a).cross(c - a).try_normalize();
        let (before, after) = (normal(first)?, normal(last)?);
        // What is round and larger than the face is met by its particles.
        if point.radius > first[0].distance(first[1]).max(first[1].distance(first[2])) {
            return None;
        }
        let (h0, h1) = (before.dot(point.from - first[0]), after.dot(point.to - last[0]));
        let size = first[0].distance(first[1]);
        let side = match body.model.topology().solid {
            // Solids are met from outside.
            true => 1.0,
            // On a sheet it may be on either side, by where it was; if that is too near to tell, the sheet is outside of
            // the collider.
            false if h0.abs() > NEAR * size => h0.signum(),
            false => -after.dot(point.out).signum(),
        };
        let (from, to) = (side * h0, side * h1);
        // Deeper than that it has come in elsewhere.
        if from < -DEEP * size {
            return None;
        }
        let through = to < 0.0;
        let share = match through {
            true if from > 0.0 => from / (from - to),
            true => 0.0,
            false => 1.0,
        };
        let at = point.from.lerp(point.to, share);
        let then: [DVec3; 3] = std::array::from_fn(|k| first[k].lerp(last[k], share));
        let weights = nearest_on_triangle(then, at);
        let away = (then[0] * weights[0] + then[1] * weights[1] + then[2] * weights[2]).distance(at);
        let within = if through { 1e-6 * size - from.min(0.0) } else { point.radius + body.reach };
        if away > within {
            return None;
        }
        let order = if through { (share, away) } else { (2.0, away) };
        Some(FaceHit { face, weights, normal: -side * after, point: *point, began: from, order })
    }

    fn contact(&self, solid: &Solid, number: u32, body: Faces<'_>) -> Contact {
        let [a, b, c] = body.model.topology().faces[self.face as usize];
        let [u, v, w] = self.weights;
        let of = |f: &dyn Fn(usize) -> f64| u * f(a as usize) + v * f(b as usize) + w * f(c as usize);
        let radius = of(&|i| body.model.rest().radius[i]) + self.point.radius;
        let lowest = lowest_gap(self.began - radius, body.release);
        let n = self.normal;
        let at = |k: u32| body.ends.get(k as usize);
        let point = at(a) * u + at(b) * v + at(c) * w;
        let offset = n.dot(self.point.to) + radius;
        Contact {
            sides: [
                Endpoint::Point { body: body.place, particles: [a, b, c, a], weights: [u, v, w, 0.0] },
                Endpoint::World { moves: self.point.to - self.point.from },
            ],
            normal: n,
            gap: n.dot(point) - offset,
            offset: offset + lowest,
            friction: body.surface.friction(solid.friction),
            restitution: body.surface.restitution(solid.restitution),
            id: (solid.collider, number),
            force: DVec3::ZERO,
            lowest,
            renewed: false,
        }
    }
}

/// Points of a line, `spacing` apart and always the same ones, as far as they are near a box.
pub(super) fn along(from: DVec3, to: DVec3, spacing: f64, mut each: impl FnMut(f64)) {
    let length = from.distance(to);
    let parts = ((length / spacing).ceil().clamp(1.0, MOST as f64)) as usize;
    let last = if length > 0.0 { parts } else { 0 };
    (0..=last).for_each(|k| each(k as f64 / parts as f64));
}
