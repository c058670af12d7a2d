//! A collider that is no plane, as bodies meet it in a substep: where a point may not go, and how that moves.
//!
//! What a point meets is told as half-spaces that are taken anew wherever it comes to: of a convex shape the one at its
//! nearest point, of a mesh one for each place that is locally nearest, so that a corner holds what is in it by all its
//! walls. Where its path since the substep began leads through the shape, seen from it, the half-space is that where it
//! entered: a fast point does not come out on the other side.

use super::mesh_meets::{meet_mesh, outward};
use super::ridges::{RidgePoint, along};
use crate::model::{Collider, ColliderShape, ModelCollider};
use glam::{DAffine3, DVec3};
use pliant_geometry::box_tree::{Bounds, NOWHERE, around, overlap};
use pliant_geometry::colliders::{ColliderMesh, MovingMesh, NearestPoint, Primitive};

/// How far inside what lies on a surface may be by rounding, relative to the shape.
const ROUNDING: f64 = 1e-7;
/// Directions that are no further apart than this cosine are of the same side of a shape.
pub(super) const SAME_SIDE: f64 = 0.5;
/// How far inside a point may be left, relative to the shape.
const SETTLED: f64 = 1e-11;
/// How often a point is moved out of what it is still in.
const PUSHES: usize = 12;

/// What a collider is made of in the course of a step.
#[derive(Clone, Debug, Default)]
pub struct ColliderGeometry {
    shape: Option<ColliderShape>,
    /// Where the vertices of a mesh that changes its shape are at the beginning and the end of the step, and the boxes of
    /// its tree around that; empty if it does not.
    from: Vec<DVec3>,
    to: Vec<DVec3>,
    boxes: Vec<Bounds>,
    /// Whether its shape is another one than that of the mesh even after the step.
    stays: bool,
}

impl ColliderGeometry {
    /// Takes up a step: vertices go from where they are to where a host wants them, or an animation has them at `end`, or
    /// back to where the mesh has them.
    pub(super) fn take(&mut self, of: &Collider, now: &[DVec3], wanted: &[DVec3], end: f64) {
        self.shape = Some(of.shape.clone());
        self.from.clear();
        self.to.clear();
        let Some(mesh) = of.as_mesh() else { return };
        self.stays = !wanted.is_empty() || of.input.is_some();
        if now.is_empty() && !self.stays {
            return;
        }
        let rest = &mesh.mesh().positions;
        self.from.extend_from_slice(if now.is_empty() { rest } else { now });
        match (&of.input, wanted.is_empty()) {
            (_, false) => self.to.extend_from_slice(wanted),
            (Some(input), true) => {
                let moment = input.at(end);
                self.to.extend((0..input.points()).map(|i| moment.get(i)));
            }
            (None, true) => self.to.extend_from_slice(rest),
        }
        mesh.fit(&self.from, &self.to, &mut self.boxes);
    }

    /// Takes up where it is now.
    pub(super) fn hold(&mut self, of: &Collider, now: &[DVec3]) {
        self.shape = Some(of.shape.clone());
        self.from.clear();
        self.to.clear();
        let Some(mesh) = of.as_mesh().filter(|_| !now.is_empty()) else { return };
        self.from.extend_from_slice(now);
        self.to.extend_from_slice(now);
        mesh.fit(&self.from, &self.to, &mut self.boxes);
    }

    /// Tells where its vertices are after the step.
    pub(super) fn arrive(&self, vertices: &mut Vec<DVec3>) {
        vertices.clear();
        if self.stays {
            vertices.extend_from_slice(&self.to);
        }
    }

    fn kind(&self, shares: [f64; 2]) -> Kind<'_> {
        match &self.shape {
            Some(ColliderShape::Solid(shape)) => Kind::Primitive(*shape),
            Some(ColliderShape::Mesh { mesh, thickness }) => Kind::Mesh(self.pose(mesh, shares), *thickness),
            Some(ColliderShape::Plane { .. }) | None => Kind::Nothing,
        }
    }

    fn pose<'a>(&'a self, mesh: &'a ColliderMesh, shares: [f64; 2]) -> MovingMesh<'a> {
        let rest = &mesh.mesh().positions[..];
        match self.from.is_empty() {
            true => MovingMesh { mesh, from: rest, to: rest, boxes: mesh.boxes(), shares },
            false => MovingMesh { mesh, from: &self.from, to: &self.to, boxes: &self.boxes, shares },
        }
    }

    /// Its box, in its own coordinates.
    fn bounds(&self) -> Bounds {
        match self.kind([0.0, 1.0]) {
            Kind::Primitive(shape) => shape.bounds(),
            Kind::Mesh(pose, thickness) => {
                let (lo, hi) = pose.bounds();
                (lo - thickness, hi + thickness)
            }
            Kind::Nothing => NOWHERE,
        }
    }

    /// How many half-spaces a point may meet at once.
    pub(super) fn most_at_once(&self) -> usize {
        match self.shape {
            Some(ColliderShape::Mesh { .. }) => ContactPlanes::MOST,
            _ => 1,
        }
    }
}

enum Kind<'a> {
    Primitive(Primitive),
    Mesh(MovingMesh<'a>, f64),
    Nothing,
}

/// A collider that is no plane, in a substep.
#[derive(Clone, Copy, Debug)]
pub struct Solid {
    /// The collider's number.
    pub collider: u64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Normal velocity kept by a bounce.
    pub restitution: f64,
    pub(super) form: usize,
    /// Where its own coordinates are when the substep begins and ends, and the transforms back.
    from: DAffine3,
    to: DAffine3,
    back: [DAffine3; 2],
    /// Where in the step the substep begins and ends.
    shares: [f64; 2],
    /// The box around it at both ends.
    bounds: Bounds,
}

/// A half-space that a point may not enter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactPlane {
    /// Unit normal, to where the point may be.
    pub normal: DVec3,
    /// n·x is to be no less, for a point without radius.
    pub offset: f64,
    /// How far what is touched moves in the substep.
    pub moves: DVec3,
    /// How far the point was when the substep began, if it may have been nearer than its radius; else infinite.
    pub began: f64,
}

impl ContactPlane {
    /// How far a point is from it.
    #[inline]
    pub fn gap(&self, x: DVec3) -> f64 {
        self.normal.dot(x) - self.offset
    }
}

/// What a point meets of one solid.
#[derive(Clone, Copy, Debug, Default)]
pub struct ContactPlanes {
    list: [Option<ContactPlane>; ContactPlanes::MOST],
}

impl ContactPlanes {
    pub(super) const MOST: usize = pliant_geometry::colliders::Minima::MOST;

    /// The half-spaces, the nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &ContactPlane> + '_ {
        self.list.iter().flatten()
    }

    fn one(meet: ContactPlane) -> ContactPlanes {
        let mut list = [None; ContactPlanes::MOST];
        list[0] = Some(meet);
        ContactPlanes { list }
    }
}

/// A point in a substep, as a solid meets it.
#[derive(Clone, Copy, Debug)]
pub struct MovingPoint {
    /// Where it was when the substep began.
    pub start: DVec3,
    /// Where it is now.
    pub at: DVec3,
    /// How far it keeps from what it meets.
    pub radius: f64,
}

impl Solid {
    pub(super) fn moving(
        of: &ModelCollider,
        form: usize,
        made: &ColliderGeometry,
        (from, to): (DAffine3, DAffine3),
        shares: [f64; 2],
    ) -> Solid {
        let (lo, hi) = made.bounds();
        let corner = |k: u32| {
            DVec3::new(
                if k & 1 == 0 { lo.x } else { hi.x },
                if k & 2 == 0 { lo.y } else { hi.y },
                if k & 4 == 0 { lo.z } else { hi.z },
            )
        };
        let corners: [DVec3; 16] = std::array::from_fn(|k| {
            let at = if k < 8 { from } else { to };
            at.transform_point3(corner(k as u32 & 7))
        });
        Solid {
            collider: of.id.number(),
            friction: of.collider.friction,
            restitution: of.collider.restitution,
            form,
            back: [from.inverse(), to.inverse()],
            from,
            to,
            shares,
            bounds: if lo.cmple(hi).all() { around(corners) } else { NOWHERE },
        }
    }

    /// The same in coordinates relative to a point.
    pub(crate) fn seen_from(&self, origin: DVec3) -> Solid {
        let shifted = |at: DAffine3| DAffine3 { translation: at.translation - origin, ..at };
        let (from, to) = (shifted(self.from), shifted(self.to));
        let (lo, hi) = self.bounds;
        Solid { from, to, back: [from.inverse(), to.inverse()], bounds: (lo - origin, hi - origin), ..*self }
    }

    /// The box around it, wider by so much.
    pub(super) fn bounds_within(&self, reach: f64) -> Bounds {
        (self.bounds.0 - reach, self.bounds.1 + reach)
    }

    /// Points of its ridges within a box, about `spacing` apart.
    pub(super) fn ridge_points(
        &self,
        form: &ColliderGeometry,
        within: Bounds,
        spacing: f64,
        out: &mut Vec<RidgePoint>,
    ) {
        let middle = 0.5 * (self.bounds.0 + self.bounds.1);
        let mut offer = |before: DVec3, after: DVec3, radius: f64| {
            let (from, to) = (self.from.transform_point3(before), self.to.transform_point3(after));
            let wide = DVec3::splat(radius);
            if overlap(within, (from.min(to) - wide, from.max(to) + wide)) {
                out.push(RidgePoint { from, to, radius, out: to - middle });
            }
        };
        match form.kind(self.shares) {
            Kind::Primitive(shape) => shape.ridges(&mut |a, b, radius| {
                along(a, b, spacing, |share| offer(a.lerp(b, share), a.lerp(b, share), radius));
            }),
            Kind::Mesh(pose, thickness) => {
                for &v in pose.mesh.sharp() {
                    let [before, after] = self.shares.map(|share| pose.vertex(v, share));
                    offer(before, after, thickness);
                }
            }
            Kind::Nothing => {}
        }
    }

    /// Whether a point comes anywhere on its path as near as `reach` to the box around it.
    #[inline]
    pub fn may_meet(&self, moving: MovingPoint, reach: f64) -> bool {
        let reach = DVec3::splat(reach + moving.radius);
        let MovingPoint { start, at, .. } = moving;
        overlap(self.bounds, (start.min(at) - reach, start.max(at) + reach))
    }

    /// The box around it at both ends.
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// What a point may not enter where it is now: all that is nearer than `reach`.
    pub fn meets(&self, form: &ColliderGeometry, moving: MovingPoint, reach: f64) -> ContactPlanes {
        if !self.may_meet(moving, reach) {
            return ContactPlanes::default();
        }
        let (start, at) =
            (self.back[0].transform_point3(moving.start), self.back[1].transform_point3(moving.at));
        match form.kind(self.shares) {
            Kind::Primitive(shape) => {
                let (face, began) = meet_primitive(shape, start, at);
                let meet = self.meet(face.normal, face.point, face.point, began);
                let near = meet.gap(moving.at) - moving.radius < reach;
                if near { ContactPlanes::one(meet) } else { ContactPlanes::default() }
            }
            Kind::Mesh(pose, thickness) => self.meet_mesh(
                &pose,
                thickness,
                (start, at),
                moving.radius,
                reach + moving.radius + thickness,
            ),
            Kind::Nothing => ContactPlanes::default(),
        }
    }

    /// A half-space in the world, from a normal and a point at the end of the substep in coordinates of its own, and where
    /// that point was when it began.
    fn meet(&self, normal: DVec3, point: DVec3, before: DVec3, began: f64) -> ContactPlane {
        let normal = self.to.transform_vector3(normal);
        let end = self.to.transform_point3(point);
        let moves = match self.from == self.to && point == before {
            true => DVec3::ZERO,
            false => end - self.from.transform_point3(before),
        };
        ContactPlane { normal, offset: normal.dot(end), moves, began }
    }

    fn meet_mesh(
        &self,
        pose: &MovingMesh<'_>,
        thickness: f64,
        path: (DVec3, DVec3),
        radius: f64,
        within: f64,
    ) -> ContactPlanes {
        let mut meets = ContactPlanes::default();
        for (to, found) in meets
            .list
            .iter_mut()
            .zip(meet_mesh(pose, thickness, path, (radius, f64::INFINITY), within).iter())
        {
            let meet = self.meet(found.normal, found.foot.point, pose.at_start(&found.foot), found.began);
            *to = Some(ContactPlane { offset: meet.offset + thickness, ..meet });
        }
        meets
    }

    /// How far a point is from it at the end of the substep, negative inside; the normal there and the nearest point.
    /// Nothing if it is further than `within`.
    pub fn nearest(&self, form: &ColliderGeometry, x: DVec3, within: f64) -> Option<NearestPoint> {
        let moving = MovingPoint { start: x, at: x, radius: 0.0 };
        if !self.may_meet(moving, within) {
            return None;
        }
        let at = self.back[1].transform_point3(x);
        let near = match form.kind(self.shares) {
            Kind::Primitive(shape) => shape.nearest(at),
            Kind::Mesh(pose, thickness) => {
                let limit = if pose.mesh.is_closed() { f64::INFINITY } else { within + thickness };
                let foot = pose.nearest(at, self.shares[1], limit)?;
                let (normal, outside) = outward(&pose, &foot, at);
                let distance = if outside || !pose.mesh.is_closed() { foot.distance } else { -foot.distance };
                NearestPoint { gap: distance - thickness, normal, point: foot.point }
            }
            Kind::Nothing => return None,
        };
        (near.gap <= within).then(|| NearestPoint {
            normal: self.to.transform_vector3(near.normal),
            point: self.to.transform_point3(near.point),
            ..near
        })
    }

    /// Where a point may be: where it is, or moved out of what it is in. Who began inside comes out no further than
    /// `release`. Whatever else happens, it does not pass through.
    pub fn keep_out(&self, form: &ColliderGeometry, moving: MovingPoint, release: f64) -> DVec3 {
        if !self.may_meet(moving, 0.0) {
            return moving.at;
        }
        let mut x = moving.at;
        // What rounding leaves is looked at again in the next substep, not pushed to and fro in this one.
        let enough = SETTLED * (self.bounds.1 - self.bounds.0).max_element();
        for _ in 0..PUSHES {
            let mut moved = false;
            for meet in self.meets(form, MovingPoint { at: x, ..moving }, 0.0).iter() {
                let lowest = super::lowest_gap(meet.began - moving.radius, release);
                let missing = lowest - (meet.gap(x) - moving.radius);
                if missing > enough {
                    x += meet.normal * missing;
                    moved = true;
                }
            }
            if !moved {
                return x;
            }
        }
        match form.kind(self.shares) {
            Kind::Mesh(pose, _) => {
                let [start, at] =
                    [self.back[0].transform_point3(moving.start), self.back[1].transform_point3(x)];
                // Seen from the mesh it stays where it was.
                if pose.crossing(start, at).is_some() { self.to.transform_point3(start) } else { x }
            }
            _ => x,
        }
    }
}

/// The half-space that a point that goes from `start` to `at` meets of a shape, and how far it was at first.
fn meet_primitive(shape: Primitive, start: DVec3, at: DVec3) -> (NearestPoint, f64) {
    let (lo, hi) = shape.bounds();
    let rounding = ROUNDING * (hi - lo).length();
    let (first, last) = (shape.nearest(start), shape.nearest(at));
    if first.gap < -rounding {
        // It began inside: the way out stays the same while it is one.
        let same = last.normal.dot(first.normal) > 0.0;
        return (if same { last } else { first }, first.gap);
    }
    if last.gap > start.distance(at) {
        return (last, first.gap);
    }
    let lifted = start + first.normal * (2.0 * rounding - first.gap).max(0.0);
    let entered = shape.enters(lifted, at, rounding);
    // What went around is held by where it is, what went through by where it entered.
    let face = entered.filter(|e| e.normal.dot(last.normal) <= SAME_SIDE).unwrap_or(last);
    (face, first.gap)
}
