//! Contacts of thin bodies: of sheets with themselves and with others, and of any body with itself.
//!
//! A point inside of a sheet has no meaning, so what touches is told by what is near: vertices by triangles and edges by edges, from
//! where the substep began, when nothing had crossed (`apart.rs` sees to that). Each pair that comes nearer than the bodies
//! are thick is a contact. Which points of the two are nearest, and along which direction, is asked again in every round of the
//! solvers; what has passed through the other in between is held on the side it came from.

use super::pairs::{OF_BODIES, friction, start_of};
use super::{Bodies, Contact, ContactMaterial, Endpoint, release};
use crate::model::{CollisionShape, Stencil, TouchSurface};
use crate::points::Points;
use crate::team::Team;
use glam::DVec3;
use pliant_geometry::collision::{
    CollisionBody, Detection, Group, MotionEnd, Near, PairKind, Search, SweptBoxes, edge_edge,
    vertex_triangle,
};
use std::sync::Arc;

/// How much nearer than touching things may be predicted to come before they are listed, in terms of how far they are to stay apart.
const SOON: f64 = 0.02;
/// Room around where bodies are predicted to go, in the same terms: further away than that nothing is looked at.
const AROUND: f64 = 1.5;
/// What is nearer at rest than bodies are thick keeps this part of that distance.
const OF_REST: f64 = 0.5;
/// Below this, in terms of how far things are to stay apart, a direction between them is rounding.
const NO_DIRECTION: f64 = 1e-6;
/// The offset of what does not touch at present.
const NOWHERE_NEAR: f64 = -1e30;

/// A body in the present substep.
#[derive(Debug, Default)]
struct Posed {
    shape: Option<Arc<CollisionShape>>,
    id: u64,
    /// Its vertices when the substep begins, and where it ends now.
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    /// Where that was when pairs were last looked for.
    seen: Vec<DVec3>,
    boxes: SweptBoxes,
    /// Particles that forces move, and whether it moves as a solid.
    free: Vec<bool>,
    solid: bool,
    size: f64,
    h: f64,
    /// How far at most its surface lies beyond its vertices.
    beyond: f64,
    surface: ContactMaterial,
}

/// Two that may touch in this substep: what `near` tells, and the contact they have, counted from 1.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    group: Group,
    first: u32,
    second: u32,
    contact: u32,
}

/// Where two are nearest.
#[derive(Clone, Copy, Debug)]
struct Nearest {
    /// Weights of the triangle's corners, or the shares along both edges.
    at: [f64; 3],
    /// Unit normal, from the second to the first.
    normal: DVec3,
    distance: f64,
}

/// Contacts of thin bodies in an island.
#[derive(Debug, Default)]
pub(super) struct ThinContacts {
    pairs: Vec<[usize; 2]>,
    posed: Vec<Posed>,
    detection: Detection,
    candidates: Vec<Candidate>,
    /// Of the search before, by their keys, with the contacts they have.
    known: Vec<([u32; 4], u32)>,
    ends: Points,
}

impl Clone for ThinContacts {
    /// All of it is found anew in every substep.
    fn clone(&self) -> ThinContacts {
        ThinContacts::default()
    }
}

/// Whether two bodies touch as thin ones do; the same body twice is one with itself.
pub(super) fn is_thin_pair(a: &CollisionShape, b: &CollisionShape, same: bool) -> bool {
    let sheet = same || a.is_thin() || b.is_thin();
    sheet && [a, b].into_iter().all(|s| !s.is_round() && s.touch_surface().is_some())
}

impl ThinContacts {
    /// Takes up which of the pairs touch as thin ones do.
    pub fn begin(&mut self, pairs: &[[usize; 2]], bodies: &mut dyn Bodies) {
        self.pairs.clear();
        self.candidates.clear();
        self.known.clear();
        self.posed.iter_mut().for_each(|p| p.shape = None);
        for &[a, b] in pairs {
            let shape =
                |k: usize, bodies: &mut dyn Bodies| Some(bodies.get(k)?.body.model.collision().clone());
            let (Some(one), Some(other)) = (shape(a, bodies), shape(b, bodies)) else { continue };
            if is_thin_pair(&one, &other, a == b) {
                self.pairs.push([a, b]);
            }
        }
        if self.posed.len() < bodies.len() {
            self.posed.resize_with(bodies.len(), Posed::default);
        }
        for k in 0..bodies.len() {
            if self.pairs.iter().flatten().any(|p| *p == k) {
                self.posed[k].take(k, bodies);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Lists what touches, or soon will, and was not listed, and takes what was listed where it touches now.
    pub fn find(&mut self, first: bool, bodies: &mut dyn Bodies, team: &Team, list: &mut Vec<Contact>) {
        if self.pairs.is_empty() {
            return;
        }
        for (k, posed) in self.posed.iter_mut().enumerate().filter(|(_, p)| p.shape.is_some()) {
            posed.pose(k, bodies, &mut self.ends);
        }
        if first || self.posed.iter().any(Posed::has_left) {
            self.search(team);
        }
        let ThinContacts { posed, candidates, .. } = self;
        for candidate in candidates {
            look(candidate, posed, bodies, list);
        }
    }

    /// Looks for all pairs that may touch by where the bodies end now.
    fn search(&mut self, team: &Team) {
        let ThinContacts { pairs, posed, detection, candidates, known, .. } = self;
        let origin =
            posed.iter().find_map(|p| p.shape.as_ref().and(p.from.first())).copied().unwrap_or_default();
        for posed in posed.iter_mut().filter(|p| p.shape.is_some()) {
            posed.fit(origin);
        }
        let body = |k: u32| posed[k as usize].as_body();
        detection.clear();
        for &[a, b] in pairs.iter() {
            let search = Search { nearest: false, edges: true, moment: MotionEnd::End };
            let (Some(first), Some(second)) = (body(a as u32), body(b as u32)) else { continue };
            detection.add((a as u32, first), (b as u32, second), search);
        }
        run(detection, &body, team);
        known.clear();
        known.extend(candidates.iter().filter(|c| c.contact > 0).map(|c| (c.key(), c.contact)));
        known.sort_unstable();
        // What has a contact stays, whether it is found again or not.
        candidates.retain(|c| c.contact > 0);
        for (group, nears) in detection.groups() {
            for &Near { first, second, .. } in nears {
                let found = Candidate { group, first, second, contact: 0 };
                if known.binary_search_by_key(&found.key(), |(key, _)| *key).is_err() {
                    candidates.push(found);
                }
            }
        }
    }
}

/// Runs all tasks of a detection; the order of what is found does not depend on how.
pub(super) fn run<'b>(
    detection: &mut Detection,
    body: &(impl Fn(u32) -> Option<CollisionBody<'b>> + Sync),
    team: &Team,
) {
    let (tasks, found) = detection.tasks();
    team.split(found, 1, |range, found| {
        for (task, found) in range.zip(found) {
            // Bodies that have no surface are in no task.
            let body = |k: u32| body(k).unwrap_or_else(|| unreachable!("body {k} has a surface"));
            tasks.run(task, &body, found);
        }
    });
}

impl Candidate {
    fn key(&self) -> [u32; 4] {
        let Group { first, second, kind } = self.group;
        let bodies = (first << 16 | second) << 2 | kind as u32;
        [bodies, first, self.first, self.second]
    }
}

impl Posed {
    /// Takes up the body of a place as it begins the substep.
    fn take(&mut self, place: usize, bodies: &mut dyn Bodies) {
        let Some(touching) = bodies.get(place) else { return };
        let model = touching.body.model;
        let shape = model.collision().clone();
        let Some(touch) = shape.touch_surface() else { return };
        let beginning = touching.side.beginning();
        let at = |i: u32| beginning.start.get(i as usize);
        let count = touch.surface().places().len() as u32;
        self.from.clear();
        self.from.extend((0..count).map(|v| touch.vertex(&shape, v).at(at)));
        self.free.clone_from(&beginning.free);
        self.solid = touching.side.is_solid();
        (self.size, self.h, self.id) = (beginning.size, model.params.substep(), touching.id);
        self.beyond = shape.most_beyond();
        self.surface = ContactMaterial::of(touching.body.controls);
        self.seen.clear();
        self.shape = Some(shape);
    }

    fn touch(&self) -> Option<(&CollisionShape, &TouchSurface)> {
        let shape = self.shape.as_deref()?;
        Some((shape, shape.touch_surface()?))
    }

    fn as_body(&self) -> Option<CollisionBody<'_>> {
        Some(CollisionBody { surface: self.touch()?.1.surface(), boxes: &self.boxes })
    }

    /// Takes up where it ends now.
    fn pose(&mut self, place: usize, bodies: &mut dyn Bodies, ends: &mut Points) {
        let Posed { shape: Some(shape), to, .. } = self else { return };
        let (Some(touching), Some(touch)) = (bodies.get(place), shape.touch_surface()) else { return };
        ends.resize(touching.body.model.point_count());
        touching.side.ends(ends);
        to.clear();
        let count = touch.surface().places().len() as u32;
        to.extend((0..count).map(|v| touch.vertex(shape, v).at(|i| ends.get(i as usize))));
    }

    /// Room around where it goes that is looked at.
    fn room(&self) -> f64 {
        AROUND * self.beyond
    }

    fn fit(&mut self, origin: DVec3) {
        let Posed { shape: Some(shape), from, to, boxes, seen, beyond, .. } = self else { return };
        let Some(touch) = shape.touch_surface() else { return };
        boxes.fit_ways(touch.surface(), |v| [from[v], to[v]], AROUND * *beyond, origin);
        seen.clone_from(to);
    }

    /// Whether it goes elsewhere than where pairs were looked for.
    fn has_left(&self) -> bool {
        // What was looked at reaches as far beyond touching.
        let most = 0.5 * (self.room() - self.beyond);
        self.shape.is_some()
            && (self.seen.len() != self.to.len()
                || self.seen.iter().zip(&self.to).any(|(p, q)| p.distance_squared(*q) > most * most))
    }

    /// Whether forces move any of these particles.
    fn yields(&self, stencil: &Stencil) -> bool {
        self.solid || stencil.particles.iter().any(|i| self.free.get(*i as usize).is_some_and(|f| *f))
    }
}

/// The places of a vertex and a triangle, or of two edges, at one end of the substep.
fn places(candidate: &Candidate, [a, b]: [&Posed; 2], end: bool) -> Option<[DVec3; 4]> {
    let at = |posed: &Posed, v: u32| if end { posed.to[v as usize] } else { posed.from[v as usize] };
    let (one, other) = (a.touch()?.1.surface(), b.touch()?.1.surface());
    Some(match candidate.group.kind {
        PairKind::EdgeEdge => {
            let [p, q] = one.edges()[candidate.first as usize];
            let [r, s] = other.edges()[candidate.second as usize];
            [at(a, p), at(a, q), at(b, r), at(b, s)]
        }
        _ => {
            let [p, q, r] = other.triangles()[candidate.second as usize];
            [at(a, candidate.first), at(b, p), at(b, q), at(b, r)]
        }
    })
}

/// Where a vertex and a triangle, or two edges, are nearest, from the second to the first, and the direction that both lie across.
fn nearest(kind: PairKind, [p, q, r, s]: [DVec3; 4]) -> ([f64; 3], DVec3, DVec3, bool) {
    if kind == PairKind::EdgeEdge {
        let [t, u] = edge_edge([p, q], [r, s]);
        let inner = t > 0.0 && t < 1.0 && u > 0.0 && u < 1.0;
        ([t, u, 0.0], p.lerp(q, t) - r.lerp(s, u), (q - p).cross(s - r), inner)
    } else {
        let w = vertex_triangle(p, [q, r, s]);
        let inner = w.iter().all(|w| *w > 0.0);
        (w, p - (q * w[0] + r * w[1] + s * w[2]), (r - q).cross(s - q), inner)
    }
}

/// Where two are nearest at the end of the substep, on the side where they were when it began; nothing if they say nothing to each
/// other: others are nearer.
fn meet(kind: PairKind, from: [DVec3; 4], to: [DVec3; 4], thick: f64) -> Option<Nearest> {
    let (began_at, began, across_then, _) = nearest(kind, from);
    let (at, apart, across, inner) = nearest(kind, to);
    let distance = apart.length();
    let side = if began.dot(across_then) >= 0.0 { 1.0 } else { -1.0 };
    if inner {
        // Across both, on the side they came from, however they have turned together since.
        let normal = (across * side).try_normalize()?;
        return Some(Nearest { at, normal, distance: normal.dot(apart) });
    }
    if kind == PairKind::EdgeEdge && distance < thick {
        // Their ends are told by vertices.
        return None;
    }
    if apart.dot(began) > 0.0 && distance > NO_DIRECTION * thick {
        return Some(Nearest { at, normal: apart / distance, distance });
    }
    // Past each other: held where they were.
    let normal = began.try_normalize()?;
    let apart = match kind {
        PairKind::EdgeEdge => to[0].lerp(to[1], began_at[0]) - to[2].lerp(to[3], began_at[1]),
        _ => to[0] - (to[1] * began_at[0] + to[2] * began_at[1] + to[3] * began_at[2]),
    };
    Some(Nearest { at: began_at, normal, distance: normal.dot(apart) })
}

/// How far two are to stay apart: as thick as both are there, but not much more than they are at rest.
fn thickness(candidate: &Candidate, [a, b]: [&Posed; 2], at: [f64; 3]) -> Option<f64> {
    let ((of_a, one), (of_b, other)) = (a.touch()?, b.touch()?);
    let Candidate { group, first, second, .. } = *candidate;
    let same = group.first == group.second;
    Some(match group.kind {
        PairKind::EdgeEdge => {
            let beyond = |of: &CollisionShape, t: &TouchSurface, edge: u32, share: f64| {
                let [p, q] = t.surface().edges()[edge as usize].map(|v| t.beyond(of, v));
                p + (q - p) * share
            };
            let thick = beyond(of_a, one, first, at[0]) + beyond(of_b, other, second, at[1]);
            let rest = if same { one.surface().rest_edge_edge(first, second) } else { f64::INFINITY };
            thick.min(OF_REST * rest)
        }
        _ => {
            let corners = other.surface().triangles()[second as usize];
            let of_face: f64 = corners.iter().zip(at).map(|(v, w)| w * other.beyond(of_b, *v)).sum();
            let thick = one.beyond(of_a, first) + of_face;
            let rest = if same { one.surface().rest_vertex_triangle(first, second) } else { f64::INFINITY };
            thick.min(OF_REST * rest)
        }
    })
}

/// Whether a pair is to be left to another that has the same nearest points: of the triangles around an edge or vertex the first.
fn told_by_another(candidate: &Candidate, b: &TouchSurface, at: [f64; 3]) -> bool {
    if candidate.group.kind == PairKind::EdgeEdge || at.iter().all(|w| *w > 0.0) {
        return false;
    }
    let surface = b.surface();
    let corners = surface.triangles()[candidate.second as usize];
    let held = |t: &u32| {
        corners.iter().zip(at).all(|(v, w)| w == 0.0 || surface.triangles()[*t as usize].contains(v))
    };
    let one = corners.iter().zip(at).find(|(_, w)| *w > 0.0).map(|(v, _)| *v);
    one.is_some_and(|v| surface.around(v).iter().filter(|t| held(t)).min() != Some(&candidate.second))
}

/// Looks at a pair where its bodies end now.
fn look(candidate: &mut Candidate, posed: &[Posed], bodies: &mut dyn Bodies, list: &mut Vec<Contact>) {
    let Candidate { group, first, second, contact } = *candidate;
    let places_of = [group.first as usize, group.second as usize];
    let [a, b] = places_of.map(|k| &posed[k]);
    let both = [a, b];
    let (Some((of_a, one)), Some((of_b, other))) = (a.touch(), b.touch()) else { return };
    let (Some(from), Some(to)) = (places(candidate, both, false), places(candidate, both, true)) else {
        return;
    };
    let thickest = a.beyond + b.beyond;
    let met = meet(group.kind, from, to, thickest);
    let known = (contact > 0).then(|| &mut list[contact as usize - 1]);
    let Some(Nearest { at, normal, distance }) = met else {
        if let Some(known) = known.filter(|c| c.offset != NOWHERE_NEAR) {
            (known.offset, known.renewed) = (NOWHERE_NEAR, true);
        }
        return;
    };
    let listed = known.is_some();
    if !listed && distance > thickest * (1.0 + SOON) {
        return;
    }
    let Some(thick) = thickness(candidate, both, at) else { return };
    let gap = distance - thick;
    if !listed && (gap > SOON * thick || thick <= 0.0 || told_by_another(candidate, other, at)) {
        return;
    }
    let stencils = match group.kind {
        PairKind::EdgeEdge => [one.on_edge(of_a, first, at[0]), other.on_edge(of_b, second, at[1])],
        _ => [one.vertex(of_a, first), other.on_triangle(of_b, second, at)],
    };
    if !listed && !a.yields(&stencils[0]) && !b.yields(&stencils[1]) {
        return;
    }
    let [before, after] = [0, 1].map(|side| (stencils[side], places_of[side]));
    let began = normal.dot(start_of(&before.0, before.1, bodies) - start_of(&after.0, after.1, bodies));
    // What particles tell of a point of a surface that is bound to them is exact at rest only.
    let told = |(stencil, place): (Stencil, usize), bodies: &mut dyn Bodies| {
        bodies.get(place).map_or(DVec3::ZERO, |b| stencil.at(|i| b.side.end(i as usize)))
    };
    let apart = normal.dot(told(before, bodies) - told(after, bodies));
    // No more is asked than that they stay to each other where they were, beside a slow release: as for all bodies (`pairs.rs`).
    let wanted = thick + (apart - distance);
    let allowed = began + release(a.size.min(b.size), a.h);
    let sides = [Endpoint::of(places_of[0], stencils[0]), Endpoint::of(places_of[1], stencils[1])];
    let offset = wanted.min(allowed);
    if let Some(known) = (contact > 0).then(|| &mut list[contact as usize - 1]) {
        let offset = offset.max(known.lowest);
        if (known.normal, known.offset, known.sides) != (normal, offset, sides) {
            (known.normal, known.offset, known.sides, known.renewed) = (normal, offset, sides, true);
        }
        return;
    }
    let restitution =
        if group.first == group.second { 0.0 } else { a.surface.restitution.max(b.surface.restitution) };
    let into = began - apart;
    let resting =
        2.0 * a.h * a.h * bodies.get(places_of[0]).map_or(0.0, |b| b.body.controls.world.gravity.length());
    let bounces = gap < 0.0 && restitution > 0.0 && into > resting;
    let lowest = if bounces { began + restitution * into } else { NOWHERE_NEAR };
    list.push(Contact {
        sides,
        normal,
        gap,
        offset: offset.max(lowest),
        friction: friction(a.surface, b.surface),
        restitution,
        id: (OF_BODIES | b.id, first),
        force: DVec3::ZERO,
        lowest,
        renewed: false,
    });
    candidate.contact = list.len() as u32;
}
