//! Shapes and masses at rest.

use super::{BodyTopology, ClusterBasis, Goals, Topology};
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
    /// Painted stiffness, 0 to 1: the mass-weighted mean over its members.
    pub stiffness: f64,
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
    /// What fits of each cluster's deformation need.
    pub bases: Vec<ClusterBasis>,
    /// Mass each body was built with.
    pub body_mass: Vec<f64>,
}

impl Rest {
    /// Splits each particle equally among its clusters and measures the clusters.
    pub fn new(topology: &Topology, positions: Points, mass: Vec<f64>, measure: Vec<f64>) -> Rest {
        let set = &topology.clusters;
        let share: Vec<f64> =
            set.members.iter().map(|&i| 1.0 / topology.memberships(i as usize).len() as f64).collect();
        let extent_of = |b: &BodyTopology| {
            let first = b.particles.clone().next().map_or(DVec3::ZERO, |i| positions.get(i));
            b.particles.clone().map(|i| (positions.get(i) - first).length()).fold(0.0, f64::max)
        };
        let of_body = |b: &BodyTopology| std::iter::repeat_n(extent_of(b), b.clusters.len());
        let extents = topology.bodies.iter().flat_map(of_body).chain(std::iter::repeat(0.0));
        let clusters = (0..set.len())
            .zip(extents)
            .map(|(c, extent)| {
                let weights = || set.range(c).map(|s| (set.members[s] as usize, share[s]));
                let total: f64 = weights().map(|(i, w)| w * mass[i]).sum();
                // Offsets from a member, not from the origin: no cancellation for bodies far away.
                let origin = set.particles(c).first().map_or(DVec3::ZERO, |&i| positions.get(i as usize));
                let sum: DVec3 = weights().map(|(i, w)| w * mass[i] * (positions.get(i) - origin)).sum();
                let center = origin + sum / total;
                let width = weights().map(|(i, _)| (positions.get(i) - center).length()).fold(0.0, f64::max);
                // Coincident points differ from their mean by rounding.
                let width = if width > 1e-12 * extent { width } else { 0.0 };
                ClusterRest { mass: total, center, width, stiffness: 1.0 }
            })
            .collect();
        let body_mass = topology.bodies.iter().map(|b| mass[b.particles.clone()].iter().sum()).collect();
        let mut rest = Rest { positions, mass, measure, share, clusters, bases: Vec::new(), body_mass };
        rest.bases = (0..set.len()).map(|c| rest.basis(topology, c, Goals::Rigid)).collect();
        rest
    }

    /// Members of cluster `c` as (split mass, rest position).
    pub fn members<'a>(
        &'a self,
        topology: &'a Topology,
        c: usize,
    ) -> impl Iterator<Item = (f64, DVec3)> + 'a {
        topology.clusters.range(c).map(move |slot| {
            let i = topology.clusters.members[slot] as usize;
            (self.share[slot] * self.mass[i], self.positions.get(i))
        })
    }

    fn basis(&self, topology: &Topology, c: usize, goals: Goals) -> ClusterBasis {
        ClusterBasis::new(|| self.members(topology, c), &self.clusters[c], goals)
    }

    /// Prepares the clusters of body `b` for the goals it asks for; clusters of too few points get what
    /// they can determine.
    pub fn set_goals(&mut self, topology: &Topology, b: usize, goals: Goals) {
        for c in topology.bodies[b].clusters.clone() {
            self.bases[c] = self.basis(topology, c, goals);
        }
    }

    /// Paints the stiffness of body `b`: one number from 0 to 1 per particle. Forces within a cluster
    /// only balance if it pulls all its members alike, so each cluster takes the mean of its own.
    pub fn paint_stiffness(&mut self, topology: &Topology, b: usize, paint: &[f64]) {
        let body = &topology.bodies[b];
        for c in body.clusters.clone() {
            let painted = topology.clusters.range(c).map(|slot| {
                let i = topology.clusters.members[slot] as usize;
                self.share[slot] * self.mass[i] * paint[i - body.particles.start]
            });
            self.clusters[c].stiffness = (painted.sum::<f64>() / self.clusters[c].mass).clamp(0.0, 1.0);
        }
    }
}
