//! Shapes and masses at rest.

use super::{ClusterBasis, Goals, RigidRest, SequenceSample, Topology};
use crate::points::Points;
use glam::DVec3;
use std::sync::Arc;

/// Mass, centre and reach of a cluster in the rest shape.
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

impl Default for ClusterRest {
    fn default() -> Self {
        ClusterRest { mass: 0.0, center: DVec3::ZERO, width: 0.0, stiffness: 1.0 }
    }
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
    /// How far each particle keeps from what it touches, as what is shown around it reaches that far; of a body that never
    /// deforms, then each of its points of contact.
    pub radius: Vec<f64>,
    /// Per membership, the part of the particle that belongs to the cluster: m_ic = share · m_i.
    /// The shares of a particle sum to one, so clusters and particles have the same centre of mass
    /// and the springs obey Newton's third law (strain-limiting, §2).
    pub share: Vec<f64>,
    /// Centre, width and mass of each cluster, by its number.
    pub clusters: Vec<ClusterRest>,
    /// What fits of each cluster's deformation need.
    pub bases: Vec<ClusterBasis>,
    /// m_ij of neighbours i, j, where mass is spread as the elements' shape functions say; empty otherwise.
    pub coupled_mass: Vec<(u32, u32, f64)>,
    /// What [`BodyControls::tear_strain`](crate::BodyControls::tear_strain) is multiplied by at each particle; empty for 1
    /// everywhere.
    pub toughness: Vec<f64>,
    /// What a body is that never deforms; `None` if it does.
    pub rigid: Option<Arc<RigidRest>>,
    /// Mass the body was built with.
    pub body_mass: f64,
    /// Goals the body asks for.
    pub goals: Goals,
}

impl Rest {
    /// Splits each particle equally among its clusters and measures the clusters.
    pub fn new(topology: &Topology, positions: Points, mass: Vec<f64>, measure: Vec<f64>) -> Rest {
        let equal = |i: &u32| 1.0 / topology.memberships(*i as usize).len() as f64;
        let share = topology.clusters.members.iter().map(equal).collect();
        Rest::with_shares(topology, positions, mass, measure, share)
    }

    /// The rest shape with a share of its mass per membership, as smooth coverings give, in place of equal ones.
    pub fn with_shares(
        topology: &Topology,
        positions: Points,
        mass: Vec<f64>,
        measure: Vec<f64>,
        share: Vec<f64>,
    ) -> Rest {
        let mut rest = Rest {
            clusters: vec![ClusterRest::default(); topology.clusters.len()],
            bases: vec![ClusterBasis::default(); topology.clusters.len()],
            coupled_mass: Vec::new(),
            toughness: Vec::new(),
            rigid: None,
            body_mass: mass.iter().sum(),
            goals: Goals::Rigid,
            radius: vec![0.0; mass.len()],
            positions,
            mass,
            measure,
            share,
        };
        rest.measure_clusters(topology);
        rest
    }

    /// Finds mass, centre, width and basis of the clusters.
    fn measure_clusters(&mut self, topology: &Topology) {
        let first = self.positions.iter().next().unwrap_or(DVec3::ZERO);
        let extent = self.positions.iter().map(|p| (p - first).length()).fold(0.0, f64::max);
        for c in 0..topology.clusters.len() {
            // Offsets from a member, not from the origin: no cancellation for bodies far away.
            let origin = self.members(topology, c).next().map_or(DVec3::ZERO, |(_, r)| r);
            let mass: f64 = self.members(topology, c).map(|(m, _)| m).sum();
            let sum: DVec3 = self.members(topology, c).map(|(m, r)| m * (r - origin)).sum();
            let center = origin + sum / mass;
            let distances = self.members(topology, c).map(|(_, r)| (r - center).length());
            let width = distances.fold(0.0, f64::max);
            // Coincident points differ from their mean by rounding.
            let width = if width > 1e-12 * extent { width } else { 0.0 };
            self.clusters[c] = ClusterRest { mass, center, width, ..self.clusters[c] };
            self.find_basis(topology, c);
        }
    }

    fn find_basis(&mut self, topology: &Topology, c: usize) {
        let mut basis = std::mem::take(&mut self.bases[c]);
        basis.become_of(|| self.members(topology, c), &self.clusters[c], self.goals);
        self.bases[c] = basis;
    }

    /// Gives the body another rest shape of the same particles.
    pub fn reshape(&mut self, topology: &Topology, shape: &SequenceSample<'_>) {
        (0..self.positions.len()).for_each(|i| self.positions.set(i, shape.get(i)));
        self.measure_clusters(topology);
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

    /// Prepares the clusters for the goals the body asks for; clusters of too few points get what they can determine.
    pub fn set_goals(&mut self, topology: &Topology, goals: Goals) {
        self.goals = goals;
        (0..topology.clusters.len()).for_each(|c| self.find_basis(topology, c));
    }

    /// Paints the stiffness: one number from 0 to 1 per particle. Forces within a cluster
    /// only balance if it pulls all its members alike, so each cluster takes the mean of its own.
    pub fn paint_stiffness(&mut self, topology: &Topology, paint: &[f64]) {
        for c in 0..topology.clusters.len() {
            let painted = topology.clusters.range(c).map(|slot| {
                let i = topology.clusters.members[slot] as usize;
                self.share[slot] * self.mass[i] * paint[i]
            });
            self.clusters[c].stiffness = (painted.sum::<f64>() / self.clusters[c].mass).clamp(0.0, 1.0);
        }
    }
}
