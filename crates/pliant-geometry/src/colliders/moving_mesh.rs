//! A collision mesh as it moves through a substep: nearest points, where they are locally nearest, and what crosses it.

use super::ColliderMesh;
use crate::box_tree::{Bounds, BoxSearch, distance_squared, overlap};
use crate::triangle::{unit_normal, weighted};
use crate::{Ray, nearest_on_triangle};
use glam::DVec3;

/// A mesh whose vertices go straight from one place to another.
#[derive(Clone, Copy, Debug)]
pub struct MovingMesh<'a> {
    /// What moves, with its tree and its vertices at rest.
    pub mesh: &'a ColliderMesh,
    /// Where its vertices are when it begins to move.
    pub from: &'a [DVec3],
    /// Where they are at the end.
    pub to: &'a [DVec3],
    /// Boxes of its tree around all of their paths.
    pub boxes: &'a [Bounds],
    /// Which part of the movement is looked at: the shares of it (0 at `from`, 1 at `to`) at its beginning and end.
    pub shares: [f64; 2],
}

/// A point of the surface of a mesh, by the triangle it is in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint {
    /// Index of the triangle it lies on.
    pub triangle: u32,
    /// Weights of the triangle's corners that make the point, in sum one.
    pub weights: [f64; 3],
    /// Where it is at the end.
    pub point: DVec3,
    /// How far from what was asked for.
    pub distance: f64,
}

/// Places of a surface that are nearer to a point than what is around them, the nearest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Minima {
    list: [Option<SurfacePoint>; Minima::MOST],
}

impl Minima {
    /// The most that are told.
    pub const MOST: usize = 4;

    /// The places.
    pub fn iter(&self) -> impl Iterator<Item = &SurfacePoint> + '_ {
        self.list.iter().flatten()
    }

    /// Takes up a place, unless it is one that is known or further than all there is room for.
    fn offer(&mut self, new: SurfacePoint, same: f64) {
        if self.iter().any(|f| f.point.distance(new.point) <= same) {
            return;
        }
        let nearer = |f: &Option<SurfacePoint>| {
            f.is_some_and(|f| (f.distance, f.triangle) <= (new.distance, new.triangle))
        };
        let place = self.list.iter().take_while(|f| nearer(f)).count();
        if place < Self::MOST {
            self.list[place..].rotate_right(1);
            self.list[place] = Some(new);
        }
    }
}

/// Where the path of a point crosses a mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The share of the path that comes before it.
    pub share: f64,
    /// Where on the mesh; its distance is nothing.
    pub foot: SurfacePoint,
    /// The unit normal there at the end, to the side that the path comes from.
    pub normal: DVec3,
}

/// How far beside a triangle what crosses its plane still crosses it, relative to the mesh: nothing passes between two.
const BESIDE: f64 = 1e-9;
/// How far behind a triangle what begins on it may be by rounding, relative to the mesh.
const BEHIND: f64 = 1e-7;

impl MovingMesh<'_> {
    /// Where a vertex is at a share of the movement.
    pub fn vertex(&self, i: u32, share: f64) -> DVec3 {
        let (a, b) = (self.from[i as usize], self.to[i as usize]);
        if a == b { b } else { a.lerp(b, share) }
    }

    /// The corners of a triangle at a share of the movement.
    pub fn corners(&self, t: u32, share: f64) -> [DVec3; 3] {
        self.mesh.triangle(t).map(|i| self.vertex(i, share))
    }

    /// Where a point of the mesh is at the beginning.
    pub fn at_start(&self, foot: &SurfacePoint) -> DVec3 {
        weighted(self.corners(foot.triangle, self.shares[0]), foot.weights)
    }

    /// Where a point of the mesh is at the end.
    pub fn at_end(&self, foot: &SurfacePoint) -> DVec3 {
        weighted(self.corners(foot.triangle, self.shares[1]), foot.weights)
    }

    /// The unit normal of a triangle at a share of the movement; nothing if it has no area.
    pub fn normal_of(&self, t: u32, share: f64) -> DVec3 {
        unit_normal(self.corners(t, share))
    }

    /// The box around it.
    pub fn bounds(&self) -> Bounds {
        self.boxes.first().copied().unwrap_or(crate::box_tree::NOWHERE)
    }

    fn foot(&self, t: u32, share: f64, p: DVec3) -> SurfacePoint {
        let corners = self.corners(t, share);
        let weights = nearest_on_triangle(corners, p);
        let point = weighted(corners, weights);
        SurfacePoint { triangle: t, weights, point, distance: point.distance(p) }
    }

    /// The point nearest to `p` at a share of the movement and no further than `within`.
    pub fn nearest(&self, p: DVec3, share: f64, within: f64) -> Option<SurfacePoint> {
        let mut search = NearestFoot { pose: self, p, share, within, found: None };
        self.mesh.tree.search(self.boxes, &mut search);
        search.found
    }

    /// The normal of the surface at a point of it: of a face, or where several meet, such that what it points to is outside
    /// (Bærentzen and Aanæs 2005, "Signed distance computation using the angle weighted pseudonormal").
    pub fn normal(&self, foot: &SurfacePoint, share: f64) -> DVec3 {
        let corners = self.mesh.triangle(foot.triangle);
        let used = || (0..3).filter(|k| foot.weights[*k] > 0.0);
        let sum = match used().count() {
            3 => unit_normal(self.corners(foot.triangle, share)),
            2 => {
                let [a, b] = [used().next(), used().next_back()].map(|k| corners[k.unwrap_or(0)]);
                let both = |t: &&u32| self.mesh.triangle(**t).contains(&b);
                let normal = |t: &u32| unit_normal(self.corners(*t, share));
                self.mesh.around(a).iter().filter(both).map(normal).sum()
            }
            _ => {
                let v = corners[used().next().unwrap_or(0)];
                let weighted = |t: &u32| {
                    let [a, b, c] = self.corners(*t, share);
                    let at = self.mesh.triangle(*t).iter().position(|i| *i == v).unwrap_or(0);
                    let (p, q, r) = [(a, b, c), (b, c, a), (c, a, b)][at];
                    let angle = (q - p).angle_between(r - p);
                    if angle.is_finite() { unit_normal([a, b, c]) * angle } else { DVec3::ZERO }
                };
                self.mesh.around(v).iter().map(weighted).sum()
            }
        };
        sum.try_normalize().unwrap_or_else(|| unit_normal(self.corners(foot.triangle, share)))
    }

    /// Every place of the surface at the end that is nearer to `p` than what is around it, within a distance: one for a
    /// flat place, one for each wall of a corner that is seen from inside it.
    pub fn minima(&self, p: DVec3, within: f64) -> Minima {
        let mut search = LocalMinima { pose: self, p, within, found: Minima::default() };
        self.mesh.tree.search(self.boxes, &mut search);
        search.found
    }

    /// Whether nothing around a foot is nearer to `p`.
    fn is_minimum(&self, foot: &SurfacePoint, p: DVec3) -> bool {
        let corners = self.mesh.triangle(foot.triangle);
        let at = |k: usize| foot.weights[k] > 0.0;
        let Some(first) = (0..3).find(|k| at(*k)) else { return true };
        if (0..3).all(at) {
            return true;
        }
        let second = (first + 1..3).find(|k| at(*k)).map(|k| corners[k]);
        let beside = |t: &&u32| {
            **t != foot.triangle && second.is_none_or(|other| self.mesh.triangle(**t).contains(&other))
        };
        let least = foot.distance * (1.0 - 1e-9) - BESIDE * 1e-3 * self.mesh.size();
        let mut others = self.mesh.around(corners[first]).iter().filter(beside);
        others.all(|t| self.foot(*t, self.shares[1], p).distance >= least)
    }

    /// Whether a point is inside of a closed mesh at the end, by what is seen of the surface from there: cheaper than the
    /// nearest point where that is far, and not to be asked near the surface.
    pub fn surrounds(&self, p: DVec3) -> bool {
        // Along no edge that a mesh is likely to have.
        let Some(ray) = Ray::new(p, DVec3::new(0.137_9, 0.973_1, 0.184_7)) else { return false };
        let mut search = FirstSeen { pose: self, ray, distance: f64::INFINITY, from_inside: false };
        self.mesh.tree.search(self.boxes, &mut search);
        search.from_inside
    }

    /// Where what is at `p` at the beginning and at `q` at the end first crosses it: into it if it is closed, from either
    /// side if not. What begins on it to rounding is outside.
    pub fn crossing(&self, p: DVec3, q: DVec3) -> Option<Crossing> {
        let slack = DVec3::splat(BESIDE * self.mesh.size());
        let swept = (p.min(q) - slack, p.max(q) + slack);
        let mut search = FirstCrossing { pose: self, p, q, swept, found: None };
        self.mesh.tree.search(self.boxes, &mut search);
        search.found
    }

    fn crosses(&self, t: u32, p: DVec3, q: DVec3) -> Option<Crossing> {
        let [begin, end] = self.shares;
        // Of a closed mesh only what ends behind a triangle goes in there: no need for its unit normal to tell.
        let [a, b, c] = self.corners(t, end);
        if self.mesh.is_closed() && (b - a).cross(c - a).dot(q - a) >= 0.0 {
            return None;
        }
        let height = |s: f64| {
            let corners = self.corners(t, begin + (end - begin) * s);
            unit_normal(corners).dot(p.lerp(q, s) - corners[0])
        };
        let (h0, h1) = (height(0.0), height(1.0));
        let behind = BEHIND * self.mesh.size();
        let front = h0 >= -behind;
        let through = match front {
            // On it already, only what leads further in crosses.
            true => h1 < 0.0 && h1 < h0,
            false => !self.mesh.is_closed() && h1 > 0.0,
        };
        if !through {
            return None;
        }
        let still = self.mesh.triangle(t).iter().all(|&i| self.from[i as usize] == self.to[i as usize]);
        let share = match (h0 > 0.0) == (h1 > 0.0) {
            true => 0.0,
            false if still => h0 / (h0 - h1),
            false => root(height, h0),
        };
        let at = p.lerp(q, share);
        let then = self.corners(t, begin + (end - begin) * share);
        let weights = nearest_on_triangle(then, at);
        let beside = weighted(then, weights).distance(at);
        if beside > BESIDE * self.mesh.size() + h0.min(0.0).abs() * f64::from(u8::from(front)) {
            return None;
        }
        let corners = self.corners(t, end);
        let normal = unit_normal(corners) * if front { 1.0 } else { -1.0 };
        let foot = SurfacePoint { triangle: t, weights, point: weighted(corners, weights), distance: 0.0 };
        (normal != DVec3::ZERO).then_some(Crossing { share, foot, normal })
    }
}

/// Where a function changes its sign between 0 and 1, by halving.
fn root(f: impl Fn(f64) -> f64, f0: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if (f(middle) > 0.0) == (f0 > 0.0) { low = middle } else { high = middle }
    }
    low
}

struct NearestFoot<'a> {
    pose: &'a MovingMesh<'a>,
    p: DVec3,
    share: f64,
    within: f64,
    found: Option<SurfacePoint>,
}

impl BoxSearch for NearestFoot<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.p)
    }
    fn limit(&self) -> f64 {
        let within = self.found.map_or(self.within, |f| f.distance);
        within * within * (1.0 + 1e-14)
    }
    fn look(&mut self, item: u32) {
        let foot = self.pose.foot(item, self.share, self.p);
        let key = |f: &SurfacePoint| (f.distance, f.triangle);
        if foot.distance <= self.within && self.found.is_none_or(|f| key(&foot) < key(&f)) {
            self.found = Some(foot);
        }
    }
}

struct LocalMinima<'a> {
    pose: &'a MovingMesh<'a>,
    p: DVec3,
    within: f64,
    found: Minima,
}

impl BoxSearch for LocalMinima<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        distance_squared(bounds, self.p)
    }
    fn limit(&self) -> f64 {
        self.within * self.within * (1.0 + 1e-14)
    }
    fn look(&mut self, item: u32) {
        let foot = self.pose.foot(item, self.pose.shares[1], self.p);
        if foot.distance <= self.within && self.pose.is_minimum(&foot, self.p) {
            self.found.offer(foot, BESIDE * self.pose.mesh.size());
        }
    }
}

struct FirstSeen<'a> {
    pose: &'a MovingMesh<'a>,
    ray: Ray,
    distance: f64,
    from_inside: bool,
}

impl BoxSearch for FirstSeen<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        self.ray.enters(bounds)
    }
    fn limit(&self) -> f64 {
        self.distance.min(f64::MAX)
    }
    fn look(&mut self, item: u32) {
        let corners = self.pose.corners(item, self.pose.shares[1]);
        if let Some((distance, _)) = self.ray.triangle(corners).filter(|hit| hit.0 < self.distance) {
            self.distance = distance;
            self.from_inside = unit_normal(corners).dot(self.ray.direction()) > 0.0;
        }
    }
}

struct FirstCrossing<'a> {
    pose: &'a MovingMesh<'a>,
    p: DVec3,
    q: DVec3,
    swept: Bounds,
    found: Option<Crossing>,
}

impl BoxSearch for FirstCrossing<'_> {
    fn near(&self, bounds: Bounds) -> f64 {
        if overlap(bounds, self.swept) { 0.0 } else { f64::INFINITY }
    }
    fn limit(&self) -> f64 {
        0.0
    }
    fn look(&mut self, item: u32) {
        let Some(new) = self.pose.crosses(item, self.p, self.q) else { return };
        let key = |c: &Crossing| (c.share, c.foot.triangle);
        if self.found.is_none_or(|c| key(&new) < key(&c)) {
            self.found = Some(new);
        }
    }
}
