//! Mirror planes of a cloud of points.
//!
//! Planes through the centroid are guessed, then proved point by point. Guesses are the coordinate planes,
//! the planes across the principal axes (a mirror plane is always across one of them or contains all that
//! is distinct about the cloud), and the planes between any two of the points farthest out, which finds those
//! of a turned cube or star, whose principal axes are arbitrary.

use super::cloud::centroid;
use crate::eigen::symmetric_eigen;
use crate::kdtree::KdTree;
use glam::{DAffine3, DMat3, DVec3};

/// Mirrored points of an exact symmetry meet points within this, relative to the size of the cloud.
const EXACT: f64 = 1e-9;
/// And within this, relative to the distance of neighbours: one point far out must not make all others one.
const EXACT_IN_SPACINGS: f64 = 1e-3;
/// Outermost points from which planes are guessed, at most.
const OUTERMOST: usize = 24;
/// Points by which a near symmetry is judged, at most.
const SAMPLE: usize = 2048;
/// The part of the particles that a near symmetry maps onto the body.
const NEAR: f64 = 0.98;

/// A plane a cloud is mirrored by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MirrorPlane {
    /// Its normal, of length one; which of the two makes no difference.
    pub normal: DVec3,
    /// A point of the plane: the centroid of the cloud.
    pub point: DVec3,
    /// Largest distance of a mirrored particle from the nearest particle.
    pub error: f64,
    /// The part of the particles whose mirror image is within a particle spacing of a particle; 1 for an
    /// exact symmetry.
    pub matched: f64,
}

impl MirrorPlane {
    /// The map that takes a point to its mirror image.
    pub fn reflection(&self) -> DAffine3 {
        let n = self.normal;
        let matrix =
            DMat3::from_cols(DVec3::X - 2.0 * n.x * n, DVec3::Y - 2.0 * n.y * n, DVec3::Z - 2.0 * n.z * n);
        DAffine3::from_mat3_translation(matrix, 2.0 * n.dot(self.point) * n)
    }
}

/// The mirror planes found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symmetry {
    /// Planes that map every particle onto a particle, within 1e-9 of the size of the cloud.
    pub planes: Vec<MirrorPlane>,
    /// Coordinate and principal planes that map nearly all particles to within a spacing of a particle: the
    /// body is symmetric, its sampling is not.
    pub near: Vec<MirrorPlane>,
}

impl Symmetry {
    /// Finds the mirror planes of a cloud of finite points. Exact ones cost a search per particle each.
    pub fn detect(points: &[DVec3]) -> Symmetry {
        match points.is_empty() {
            true => Symmetry::default(),
            false => Symmetry::of(points, &KdTree::new(points)),
        }
    }

    fn of(points: &[DVec3], tree: &KdTree) -> Symmetry {
        let search = MirrorSearch::new(points, tree);
        let mut found = Symmetry { planes: search.planes(|known, n| !parallel(known, n)), near: Vec::new() };
        for normal in search.axes() {
            let known = found.planes.iter().chain(&found.near);
            if !known.into_iter().any(|p| parallel(p, normal)) {
                found.near.extend(search.near(normal));
            }
        }
        found
    }

    /// The planes clusters should keep: exact ones perpendicular to each other, the first found first. More
    /// would do harm: the 9 of a cube make a group of 48, and no number of clusters but orbits of 48 would be
    /// left, while two are enough to keep a body from turning.
    pub(super) fn perpendicular(points: &[DVec3], tree: &KdTree) -> Vec<MirrorPlane> {
        MirrorSearch::new(points, tree).planes(|known, n| known.normal.dot(n).abs() < 1e-9)
    }
}

fn parallel(plane: &MirrorPlane, normal: DVec3) -> bool {
    plane.normal.cross(normal).length_squared() < 1e-12
}

fn principal(points: &[DVec3], middle: DVec3) -> [DVec3; 3] {
    let covariance = points.iter().fold(DMat3::ZERO, |sum, p| {
        let d = *p - middle;
        sum + DMat3::from_cols(d * d.x, d * d.y, d * d.z)
    });
    symmetric_eigen(covariance).1
}

struct MirrorSearch<'a> {
    points: &'a [DVec3],
    tree: &'a KdTree,
    middle: DVec3,
    /// Largest distance of a point from the middle.
    size: f64,
    /// The median distance of a particle to its nearest neighbour elsewhere; infinite if there is none.
    spacing: f64,
    tolerance: f64,
}

impl<'a> MirrorSearch<'a> {
    fn new(points: &'a [DVec3], tree: &'a KdTree) -> MirrorSearch<'a> {
        let middle = centroid(points);
        let size = points.iter().map(|p| p.distance_squared(middle)).fold(0.0, f64::max).sqrt();
        let mut search = MirrorSearch { points, tree, middle, size, spacing: 0.0, tolerance: 0.0 };
        search.spacing = search.spacing();
        search.tolerance = (EXACT * size).min(EXACT_IN_SPACINGS * search.spacing);
        search
    }

    /// The coordinate axes, then the principal axes.
    fn axes(&self) -> Vec<DVec3> {
        let coordinate = [DVec3::X, DVec3::Y, DVec3::Z];
        coordinate.into_iter().chain(principal(self.points, self.middle)).collect()
    }

    /// All exact planes among the guesses that `wanted` lets stand beside each found before.
    fn planes(&self, wanted: impl Fn(&MirrorPlane, DVec3) -> bool) -> Vec<MirrorPlane> {
        let mut found: Vec<MirrorPlane> = Vec::new();
        let mut counts = None;
        for normal in self.axes().into_iter().chain(self.outermost()) {
            if found.iter().all(|p| wanted(p, normal)) {
                found.extend(self.exact(normal, &mut counts));
            }
        }
        found
    }

    /// Directions from one to another of the points farthest from the middle: a mirror plane swaps two of them
    /// or contains them all.
    fn outermost(&self) -> Vec<DVec3> {
        let rim = (self.size - self.tolerance).max(0.0).powi(2);
        let far = self.points.iter().filter(|p| p.distance_squared(self.middle) >= rim);
        let far: Vec<DVec3> = far.take(OUTERMOST).copied().collect();
        let pairs = far.iter().enumerate().flat_map(|(k, a)| far[..k].iter().map(move |b| *a - *b));
        pairs.filter(|d| d.length() > self.tolerance).filter_map(DVec3::try_normalize).collect()
    }

    /// The plane, if every mirrored particle meets as many particles as there are at its own place.
    fn exact(&self, normal: DVec3, counts: &mut Option<Vec<u32>>) -> Option<MirrorPlane> {
        let mut plane = MirrorPlane { normal, point: self.middle, error: 0.0, matched: 1.0 };
        let mirror = plane.reflection();
        let none = (f64::INFINITY, 0);
        // Most guesses are wrong, and a few points all over the cloud show it.
        let step = (self.points.len() / 64).max(1);
        for p in self.points.iter().step_by(step) {
            let image = mirror.transform_point3(*p);
            if self.tree.nearest_from(image, none).0 > self.tolerance * self.tolerance {
                return None;
            }
        }
        let count_at = |at: DVec3, nearest: &mut f64| {
            let mut count = 0;
            self.tree.measured_within(at, self.tolerance, |_, distance| {
                count += 1;
                *nearest = nearest.min(distance);
            });
            count
        };
        let own = counts.get_or_insert_with(|| self.points.iter().map(|p| count_at(*p, &mut 0.0)).collect());
        for &i in self.tree.order() {
            let mut nearest = f64::INFINITY;
            let image = mirror.transform_point3(self.points[i as usize]);
            if count_at(image, &mut nearest) != own[i as usize] {
                return None;
            }
            plane.error = plane.error.max(nearest.sqrt());
        }
        Some(plane)
    }

    /// The plane, if the body itself looks symmetric about it as far as its particles can tell.
    fn near(&self, normal: DVec3) -> Option<MirrorPlane> {
        let mut plane = MirrorPlane { normal, point: self.middle, error: 0.0, matched: 0.0 };
        let mirror = plane.reflection();
        let step = self.points.len().div_ceil(SAMPLE);
        let mut count = 0.0;
        for p in self.points.iter().step_by(step) {
            let distance = self.tree.nearest_from(mirror.transform_point3(*p), (f64::INFINITY, 0)).0.sqrt();
            plane.error = plane.error.max(distance);
            plane.matched += f64::from(u8::from(distance <= self.spacing));
            count += 1.0;
        }
        plane.matched /= count;
        (plane.matched >= NEAR).then_some(plane)
    }

    fn spacing(&self) -> f64 {
        let step = self.points.len().div_ceil(SAMPLE);
        let mut near = Vec::new();
        let mut distances: Vec<f64> = Vec::new();
        for p in self.points.iter().step_by(step) {
            self.tree.nearest(*p, 2, &mut near);
            distances.extend(near.get(1).map(|n| n.0.sqrt()).filter(|d| *d > 0.0));
        }
        distances.sort_by(f64::total_cmp);
        distances.get(distances.len() / 2).copied().unwrap_or(f64::INFINITY)
    }
}
