//! The points to be clustered with what every method asks of them: neighbours, and the images of a centre
//! under the symmetries to be kept.

use super::gather::ClusterBall;
use super::symmetry::{MirrorPlane, Symmetry};
use crate::error::{GeometryError, all_finite};
use crate::kdtree::KdTree;
use crate::mesh::TriMesh;
use glam::{DAffine3, DVec3};

/// Balls of a symmetric covering reach this much further, relative to their radius: particles of a lattice lie
/// on the rim of a ball by the dozen, and rounding must not take one in and leave its mirror image out.
const SLACK: f64 = 1e-9;

pub(super) struct SymmetricCloud<'a> {
    pub points: &'a [DVec3],
    pub tree: KdTree,
    /// The mirror planes to keep, perpendicular to each other.
    planes: Vec<MirrorPlane>,
    /// The group they generate: 1, 2, 4 or 8 elements. The planes an element mirrors by are the bits of its
    /// index, and elements combine like their bits, by exclusive or.
    pub images: Vec<DAffine3>,
    slack: (f64, f64),
}

impl<'a> SymmetricCloud<'a> {
    pub fn new(points: &'a [DVec3], symmetric: bool) -> Result<SymmetricCloud<'a>, GeometryError> {
        if points.is_empty() {
            return Err(GeometryError::new(
                "there are no particles to cluster",
                "give the body particles first",
            ));
        }
        all_finite("particle", points)?;
        let tree = KdTree::new(points);
        let planes = if symmetric { Symmetry::perpendicular(points, &tree) } else { Vec::new() };
        let mut images = vec![DAffine3::IDENTITY];
        for plane in &planes {
            let mirrored: Vec<DAffine3> = images.iter().map(|g| plane.reflection() * *g).collect();
            images.extend(mirrored);
        }
        let error = planes.iter().map(|p| p.error).fold(0.0, f64::max);
        let slack = if planes.is_empty() { (0.0, 0.0) } else { (SLACK, 4.0 * error) };
        Ok(SymmetricCloud { points, tree, planes, images, slack })
    }

    /// How far a ball of this radius takes particles in.
    pub fn reach(&self, radius: f64) -> f64 {
        // As a factor: zero times an infinite radius would be no number.
        radius * (1.0 + self.slack.0) + self.slack.1
    }

    /// The centres that come with particle `i`: itself and its mirror images. Images nearer to each other than
    /// `apart` become one between them, on the plane: no covering puts two centres so close, and without
    /// particles on its planes a body could have no centre there.
    pub fn orbit(&self, i: u32, apart: f64) -> MirrorOrbit {
        let mut middle = self.points[i as usize];
        let mut on = 0;
        for (k, plane) in self.planes.iter().enumerate() {
            let height = plane.normal.dot(middle - plane.point);
            if 2.0 * height.abs() <= apart {
                middle -= height * plane.normal;
                on |= 1 << k;
            }
        }
        let images = self.images.iter().map(|map| map.transform_point3(middle));
        let mut orbit = MirrorOrbit { middles: Vec::new(), entry: Vec::new() };
        for (mask, image) in images.enumerate() {
            // Mirroring by a plane the centre lies on changes nothing.
            if mask & on == 0 {
                orbit.entry.push(orbit.middles.len());
                orbit.middles.push(if mask == 0 { middle } else { image });
            } else {
                orbit.entry.push(orbit.entry[mask & !on]);
            }
        }
        orbit
    }

    /// The ball of this radius about `middle`, or a larger one that holds at least the nearest particle.
    pub fn ball(&self, middle: DVec3, radius: f64) -> ClusterBall {
        let (distance, center) = self.tree.nearest_from(middle, (f64::INFINITY, 0));
        ClusterBall { center, middle, radius: radius.max(just_beyond(distance)) }
    }

    /// Squared distance up to which particles count as one place: nothing in a plain cloud, in a symmetric one
    /// what tells a particle on a plane from one beside it.
    pub fn same_place(&self) -> f64 {
        self.slack.1.powi(2)
    }

    /// Length of the diagonal of the box around the cloud.
    pub fn diagonal(&self) -> f64 {
        TriMesh::bounds(self.points).map_or(0.0, |(lo, hi)| lo.distance(hi))
    }
}

/// A centre and its mirror images.
pub(super) struct MirrorOrbit {
    /// The different ones.
    pub middles: Vec<DVec3>,
    /// Per element of the group, which of them is the image of the first.
    pub entry: Vec<usize>,
}

/// The root of a squared distance, and some units in the last place more, so that its square does not leave out
/// whoever is at that distance.
pub(super) fn just_beyond(squared: f64) -> f64 {
    squared.sqrt() * (1.0 + 4.0 * f64::EPSILON)
}

/// Offsets from the first point, so that a cloud far from the origin keeps its digits.
pub(super) fn centroid(points: &[DVec3]) -> DVec3 {
    points[0] + points.iter().map(|p| *p - points[0]).sum::<DVec3>() / points.len() as f64
}
