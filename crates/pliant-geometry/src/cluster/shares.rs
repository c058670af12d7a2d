//! How a particle's mass is split among its clusters.
//!
//! Equal shares jump where a cluster ends: a particle just inside its rim belongs to it as much as one in its
//! middle. Weights that fall smoothly to zero at the rim lump mass less and make goals smooth in space.

use super::Clusters;
use crate::mesh::TriMesh;
use glam::DVec3;

/// The part of a particle that clusters of each level share, finest first: `coarse` is split evenly among
/// all levels but the finest.
pub(super) fn level_weights(levels: usize, coarse: f64) -> Vec<f64> {
    match levels {
        0 | 1 => vec![1.0; levels],
        _ => std::iter::once(1.0 - coarse).chain(vec![coarse / (levels - 1) as f64; levels - 1]).collect(),
    }
}

/// (1 − (d/r)²)², with the squared distance; one if the ball has no size. Within rounding of the rim it is zero:
/// what is left there is noise, which must not decide between clusters if it is all a particle has.
fn kernel(distance_squared: f64, radius: f64) -> f64 {
    match radius * radius {
        0.0 => 1.0,
        rr => Some(1.0 - distance_squared / rr).filter(|w| *w > 1e-8).map_or(0.0, |w| w * w),
    }
}

impl Clusters {
    /// Shares by a smooth kernel or equal within a level, and by `weights` between levels.
    ///
    /// Weights are divided by their sum, so the shares of a particle in n clusters sum to one within n units
    /// in the last place, as equal shares do. A particle on the rim of all its clusters, where all weights
    /// vanish, is split equally; and a cluster of nothing but such rims weighs its members equally, so
    /// that no cluster is without mass.
    pub(super) fn share_out(&mut self, points: &[DVec3], smooth: bool, weights: &[f64]) {
        let mut shares = vec![1.0; self.members.len()];
        if smooth {
            // The ball about a single particle has a radius of nothing but rounding.
            let least = 1e-9 * TriMesh::bounds(points).map_or(0.0, |(lo, hi)| lo.distance(hi));
            for c in 0..self.len() {
                let slots = self.slots(c);
                for slot in slots.clone() {
                    let at = points[self.members[slot] as usize];
                    shares[slot] = kernel(at.distance_squared(self.middles[c]), self.reach[c].max(least));
                }
                if shares[slots.clone()].iter().all(|w| *w == 0.0) {
                    shares[slots].fill(1.0);
                }
            }
        }
        let mut first = 0;
        for (level, weight) in weights.iter().enumerate() {
            let last = first + self.level[first..].iter().take_while(|l| usize::from(**l) == level).count();
            let slots = self.offsets[first] as usize..self.offsets[last] as usize;
            let members = &self.members[slots.clone()];
            // Per particle: the sum of its weights and how many there are.
            let mut sums = vec![(0.0, 0.0); points.len()];
            for (&i, share) in members.iter().zip(&shares[slots.clone()]) {
                let sum = &mut sums[i as usize];
                *sum = (sum.0 + share, sum.1 + 1.0);
            }
            for (&i, share) in members.iter().zip(&mut shares[slots]) {
                let (sum, count) = sums[i as usize];
                *share = weight * if sum > 0.0 { *share / sum } else { 1.0 / count };
            }
            first = last;
        }
        self.shares = Some(shares);
    }
}
