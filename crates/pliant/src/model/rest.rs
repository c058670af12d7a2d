//! Shapes and masses at rest.

use super::Topology;
use crate::points::Points;
use glam::DVec3;

/// What a cluster is at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterRest {
    /// Σ m_ic over its members.
    pub mass: f64,
    /// Mass-weighted centre r_cm.
    pub center: DVec3,
    /// w_c, the largest distance of a member from the centre (strain-limiting, eq. 5). Zero for a
    /// single point.
    pub width: f64,
}

/// Rest positions, masses, and how particles are shared among clusters.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// Rest positions r_i.
    pub positions: Points,
    /// Masses m_i.
    pub mass: Vec<f64>,
    /// Volume or area each particle stands for.
    pub measure: Vec<f64>,
    /// Per membership, the part of the particle that belongs to the cluster: m_ic = share · m_i.
    /// The shares of a particle sum to one, so clusters and particles have the same centre of mass
    /// and the springs obey Newton's third law (strain-limiting, §2).
    pub share: Vec<f64>,
    /// Per cluster.
    pub clusters: Vec<ClusterRest>,
}

impl Rest {
    /// Splits each particle equally among its clusters and measures the clusters.
    pub fn new(topology: &Topology, positions: Points, mass: Vec<f64>, measure: Vec<f64>) -> Rest {
        let equal = |i: &u32| 1.0 / topology.memberships(*i as usize).len() as f64;
        let share = topology.clusters.members.iter().map(equal).collect();
        Rest::with_shares(topology, positions, mass, measure, share)
    }

    /// The same with shares of one's own, one per membership.
    pub fn with_shares(
        topology: &Topology,
        positions: Points,
        mass: Vec<f64>,
        measure: Vec<f64>,
        share: Vec<f64>,
    ) -> Rest {
        let set = &topology.clusters;
        let clusters = (0..set.len())
            .map(|c| {
                let weights = || set.range(c).map(|s| (set.members[s] as usize, share[s]));
                let total: f64 = weights().map(|(i, w)| w * mass[i]).sum();
                // Offsets from a member, not from the origin: no cancellation for bodies far away.
                let origin = set.particles(c).first().map_or(DVec3::ZERO, |&i| positions.get(i as usize));
                let sum: DVec3 = weights().map(|(i, w)| w * mass[i] * (positions.get(i) - origin)).sum();
                let center = origin + sum / total;
                let width = weights().map(|(i, _)| (positions.get(i) - center).length()).fold(0.0, f64::max);
                ClusterRest { mass: total, center, width }
            })
            .collect();
        Rest { positions, mass, measure, share, clusters }
    }
}
