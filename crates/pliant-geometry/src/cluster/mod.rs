//! Overlapping clusters that cover all particles: the covering of the strain-limiting paper, section 2, and
//! what its section 4 leaves for later.
//!
//! The paper draws balls of one radius around particles chosen at random, and says what that costs: mass
//! is lumped unevenly, and symmetries of the body are lost, so that "an axis aligned scale of a cube can
//! induce rotations". It asks for better clusters and for clusters of several scales. Here are
//!
//! - how centres are chosen: at random or in file order (`scatter.rs`), where the cloud is farthest from all
//!   others (`farthest.rs`), or as the means of compact cells (`kmeans.rs`);
//! - several scales at once (`scales.rs`), and weights that fall to zero at a cluster's rim (`shares.rs`);
//! - centres that keep the mirror planes of the cloud (`symmetry.rs`, `cloud.rs`);
//! - numbers that tell a good covering from a bad one (`statistics.rs`).
//!
//! [`Covering`] ties them together. Everything is deterministic: the same points and options give the same
//! clusters on every run.

mod cloud;
mod covering;
mod distances;
mod farthest;
mod fit;
mod gather;
mod kmeans;
mod scales;
mod scatter;
mod shares;
mod statistics;
mod symmetry;

pub use covering::{ClusterMethod, ClusterSize, Covering};
pub use fit::fit_radius_for_count;
pub use scatter::{file_order_covering, random_covering};
pub use statistics::{ClusterStatistics, ValueSpread};
pub use symmetry::{MirrorPlane, Symmetry};

use glam::DVec3;

/// Which particles belong to which cluster (compressed sparse rows).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clusters {
    /// `offsets[c]..offsets[c + 1]` are the members of cluster `c`.
    pub offsets: Vec<u32>,
    /// Particle indices, ascending within a cluster.
    pub members: Vec<u32>,
    /// The particle each cluster was grown from, or the one nearest to its middle.
    pub centers: Vec<u32>,
    /// The middle of the ball each cluster is.
    pub middles: Vec<DVec3>,
    /// The radius of that ball; infinite for a cluster of everything.
    pub reach: Vec<f64>,
    /// The scale of each cluster: 0 is the finest, each next about twice as large. Ascending.
    pub level: Vec<u8>,
    /// Per membership (parallel to `members`) the part of the particle that belongs to the cluster,
    /// m_ic/m_i. The shares of a particle sum to one, to rounding. `None` stands for equal shares.
    pub shares: Option<Vec<f64>>,
}

impl Clusters {
    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Whether there are no clusters.
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }

    /// Where the members of cluster `c` are in `members` and `shares`.
    pub fn slots(&self, c: usize) -> std::ops::Range<usize> {
        self.offsets[c] as usize..self.offsets[c + 1] as usize
    }

    /// The particles of cluster `c`, ascending.
    pub fn members_of(&self, c: usize) -> &[u32] {
        &self.members[self.slots(c)]
    }

    /// How many clusters each particle is in.
    pub fn clusters_per_particle(&self) -> Vec<u32> {
        let particles = self.members.iter().max().map_or(0, |&i| i as usize + 1);
        let mut counts = vec![0; particles];
        self.members.iter().for_each(|&i| counts[i as usize] += 1);
        counts
    }

    /// Per membership, the part of the particle that belongs to the cluster, also where shares are equal.
    pub fn shares_or_equal(&self) -> Vec<f64> {
        self.shares.clone().unwrap_or_else(|| {
            let counts = self.clusters_per_particle();
            self.members.iter().map(|&i| 1.0 / f64::from(counts[i as usize])).collect()
        })
    }

    /// For pictures: per particle, the cluster of the finest scale whose middle is nearest among those it is
    /// in; ties go to the lower number.
    pub fn nearest_clusters(&self, points: &[DVec3]) -> Vec<u32> {
        let mut best = vec![(f64::INFINITY, 0); points.len()];
        for c in (0..self.len()).filter(|&c| self.level[c] == 0) {
            for &i in self.members_of(c) {
                let distance = self.middles[c].distance_squared(points[i as usize]);
                if distance < best[i as usize].0 {
                    best[i as usize] = (distance, c as u32);
                }
            }
        }
        best.into_iter().map(|b| b.1).collect()
    }
}
