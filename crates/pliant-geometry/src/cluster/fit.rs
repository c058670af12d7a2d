//! From a wanted number of clusters to a radius.

use super::cloud::SymmetricCloud;
use super::scatter::{random_order, scatter};
use crate::error::GeometryError;
use glam::DVec3;

/// A radius for which [`super::random_covering`] gives about `wanted` clusters, found by bisection.
///
/// The number of clusters jumps where particles lie on a lattice, so the nearest number met is taken.
pub fn fit_radius_for_count(points: &[DVec3], wanted: usize, seed: u64) -> Result<f64, GeometryError> {
    let cloud = SymmetricCloud::new(points, false)?;
    if wanted == 0 || wanted > points.len() {
        return Err(GeometryError::new(
            format!("{wanted} clusters were asked for from {} particles", points.len()),
            format!("ask for 1 to {} clusters", points.len()),
        ));
    }
    Ok(fit_radius(&cloud, wanted, &random_order(points.len(), seed)))
}

/// The same for any order of the particles and with the cloud's symmetries.
pub(super) fn fit_radius(cloud: &SymmetricCloud<'_>, wanted: usize, order: &[u32]) -> f64 {
    let diagonal = cloud.diagonal();
    if wanted == 1 || diagonal == 0.0 {
        return if diagonal > 0.0 { diagonal } else { f64::INFINITY };
    }
    let mut near = Vec::new();
    let closest = cloud.points.iter().fold(f64::INFINITY, |closest, &p| {
        cloud.tree.nearest(p, 2, &mut near);
        let distance = near[1].0.sqrt();
        if distance > 0.0 { closest.min(distance) } else { closest }
    });
    let (mut lo, mut hi) = (0.5 * closest.min(diagonal), diagonal);
    let mut best = (usize::MAX, hi);
    for _ in 0..40 {
        // Halving the logarithm: the count goes with a power of the radius.
        let radius = (lo * hi).sqrt();
        let got = scatter(cloud, radius, order).len();
        if got.abs_diff(wanted) < best.0 {
            best = (got.abs_diff(wanted), radius);
        }
        match got.cmp(&wanted) {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Greater => lo = radius,
            std::cmp::Ordering::Less => hi = radius,
        }
    }
    best.1
}
