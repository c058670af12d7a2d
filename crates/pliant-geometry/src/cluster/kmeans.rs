//! Compact cells by Lloyd's algorithm (k-means), and balls around them that overlap.
//!
//! The cells start from farthest points, not from a random draw: the start is then already even, needs no
//! seed, and few iterations are left to do. A cluster is a ball about a cell's mean that holds the cell, and the
//! balls overlap because cells bulge to their corners. The other usual choice, to take a particle into every
//! cluster at most (1 + ε) times as far as its nearest, gives bands along the faces between cells instead: one
//! cluster in the middle of a cell, four or more at its corners. At the same mean overlap the number of
//! clusters per particle deviates by 0.41 of its mean with balls and by 0.67 with the ratio (paper's bunny,
//! 26 clusters, and a random cloud). Balls also are what smooth weights need.

use super::cloud::{SymmetricCloud, just_beyond};
use super::farthest::FarthestCenters;
use super::gather::ClusterBall;
use crate::kdtree::KdTree;
use glam::DVec3;

/// Iterations at most. Evenness gains little after the first few.
const ITERATIONS: usize = 10;
/// Enough when the sum of squares falls by less than this part in an iteration.
const GAIN: f64 = 2e-3;

/// As many balls as `start` has centres, one about each cell.
pub(super) fn kmeans(cloud: &SymmetricCloud<'_>, start: &FarthestCenters) -> Vec<ClusterBall> {
    let mut cells = KMeansCells { middles: start.middles.clone(), cell: vec![0; cloud.points.len()] };
    let mut last = f64::INFINITY;
    for _ in 0..ITERATIONS {
        let (sum, _) = cells.assign(cloud);
        if sum >= (1.0 - GAIN) * last {
            break;
        }
        last = sum;
        cells.move_to_means(cloud);
        cells.symmetrize(cloud, start);
    }
    let (_, mut reach) = cells.assign(cloud);
    for orbit in &start.orbits {
        let largest = orbit.iter().map(|&c| reach[c as usize]).fold(0.0, f64::max);
        orbit.iter().for_each(|&c| reach[c as usize] = largest);
    }
    // A cell may have lost all its particles; its ball then holds the nearest.
    cells.middles.iter().zip(reach).map(|(&middle, reach)| cloud.ball(middle, just_beyond(reach))).collect()
}

struct KMeansCells {
    middles: Vec<DVec3>,
    /// Per particle, in the tree's order.
    cell: Vec<u32>,
}

impl KMeansCells {
    /// Gives each particle to the nearest middle, ties to the lower number. Returns the sum of squared
    /// distances and, per cell, the largest.
    fn assign(&mut self, cloud: &SymmetricCloud<'_>) -> (f64, Vec<f64>) {
        let tree = KdTree::new(&self.middles);
        let mut near = Vec::new();
        // Who is nearer to its middle than half the way to the next middle can have no nearer one.
        let safe: Vec<f64> = self
            .middles
            .iter()
            .map(|&m| {
                tree.nearest(m, 2, &mut near);
                near.get(1).map_or(f64::INFINITY, |second| 0.25 * second.0)
            })
            .collect();
        let mut sum = 0.0;
        let mut reach = vec![0.0_f64; self.middles.len()];
        // In tree order the particle before is near: its cell is a guess nearly as good as one's own.
        let mut before = 0;
        for (&at, cell) in cloud.tree.ordered_points().iter().zip(&mut self.cell) {
            let known = |c: u32| (at.distance_squared(self.middles[c as usize]), c);
            let (own, other) = (known(*cell), known(before));
            let guess = if other.0 < own.0 || (other.0 == own.0 && other.1 < own.1) { other } else { own };
            let found = if guess.0 < safe[guess.1 as usize] { guess } else { tree.nearest_from(at, guess) };
            sum += found.0;
            reach[found.1 as usize] = reach[found.1 as usize].max(found.0);
            *cell = found.1;
            before = found.1;
        }
        (sum, reach)
    }

    /// Moves each middle to the mean of its cell; one whose cell is empty stays.
    fn move_to_means(&mut self, cloud: &SymmetricCloud<'_>) {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.middles.len()];
        for (&at, &cell) in cloud.tree.ordered_points().iter().zip(&self.cell) {
            // Offsets from the present middle: no digits are lost far from the origin.
            let sum = &mut sums[cell as usize];
            *sum = (sum.0 + (at - self.middles[cell as usize]), sum.1 + 1.0);
        }
        for (middle, (sum, count)) in self.middles.iter_mut().zip(sums) {
            if count > 0.0 {
                *middle += sum / count;
            }
        }
    }

    /// Puts the middles of each orbit where their mirror images say they should be on average. Particles
    /// equally far from two middles went to one of them, which mirrored cells need not have agreed on.
    fn symmetrize(&mut self, cloud: &SymmetricCloud<'_>, start: &FarthestCenters) {
        if cloud.images.len() == 1 {
            return;
        }
        for orbit in &start.orbits {
            let back = |(map, &c): (&glam::DAffine3, &u32)| map.transform_point3(self.middles[c as usize]);
            // A reflection undoes itself, and so does a product of perpendicular ones.
            let sum: DVec3 = cloud.images.iter().zip(orbit).map(back).sum();
            let first = sum / orbit.len() as f64;
            for (map, &c) in cloud.images.iter().zip(orbit) {
                self.middles[c as usize] = map.transform_point3(first);
            }
        }
    }
}
