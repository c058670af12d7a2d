//! What a body is made of, and what belongs to what.

use std::ops::Range;

/// Overlapping sets of particles, compressed: cluster c has members `offsets[c]..offsets[c + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterSet {
    /// Where each cluster's members begin; one more entry than clusters.
    pub offsets: Vec<u32>,
    /// Particle indices, ascending within a cluster.
    pub members: Vec<u32>,
}

impl ClusterSet {
    /// Number of clusters.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memberships of cluster `c`, as indices into `members`.
    #[inline(always)]
    pub fn range(&self, c: usize) -> Range<usize> {
        self.offsets[c] as usize..self.offsets[c + 1] as usize
    }

    /// The particles of cluster `c`.
    #[inline(always)]
    pub fn particles(&self, c: usize) -> &[u32] {
        &self.members[self.range(c)]
    }
}

/// One cluster of a particle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// Which cluster it is a member of.
    pub cluster: u32,
    /// Index into [`ClusterSet::members`].
    pub slot: u32,
}

/// Elements, clusters and the incidence of particles and clusters.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// Springs between particles.
    pub edges: Vec<[u32; 2]>,
    /// What air pushes: triangles of sheets and shells, the boundary of tetrahedra, outwards.
    pub faces: Vec<[u32; 3]>,
    /// Per particle, one over the number of its faces; 0 if it is on none.
    pub face_share: Vec<f64>,
    /// Elements of solids cut into tetrahedra; of sheets and shells the faces are the elements.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Whether the faces bound a solid, so that air meets them from outside only.
    pub solid: bool,
    /// Which particles each cluster has, with their shares.
    pub clusters: ClusterSet,
    /// Which clusters a particle is in: entries `incidence_offsets[i]..incidence_offsets[i + 1]`.
    pub incidence_offsets: Vec<u32>,
    /// The clusters of all particles, ascending per particle. Goals are gathered along these lists,
    /// in this order, which makes the average over clusters the same for any number of threads.
    pub incidence: Vec<Membership>,
}

impl Topology {
    /// Adds the incidence lists and shares that follow from faces and clusters over `particles` particles.
    pub fn new(
        edges: Vec<[u32; 2]>,
        faces: Vec<[u32; 3]>,
        solid: bool,
        clusters: ClusterSet,
        particles: usize,
    ) -> Topology {
        let mut face_share = vec![0.0; particles];
        faces.iter().flatten().for_each(|&i| face_share[i as usize] += 1.0);
        face_share.iter_mut().filter(|n| **n > 0.0).for_each(|n| *n = 1.0 / *n);
        let mut offsets = vec![0u32; particles + 1];
        for &i in &clusters.members {
            offsets[i as usize + 1] += 1;
        }
        for i in 0..particles {
            offsets[i + 1] += offsets[i];
        }
        let mut cursor = offsets.clone();
        let mut incidence = vec![Membership { cluster: 0, slot: 0 }; clusters.members.len()];
        for c in 0..clusters.len() {
            for slot in clusters.range(c) {
                let place = &mut cursor[clusters.members[slot] as usize];
                incidence[*place as usize] = Membership { cluster: c as u32, slot: slot as u32 };
                *place += 1;
            }
        }
        let tetrahedra = Vec::new();
        Topology {
            edges,
            faces,
            face_share,
            tetrahedra,
            solid,
            clusters,
            incidence_offsets: offsets,
            incidence,
        }
    }

    /// The clusters particle `i` is in.
    #[inline(always)]
    pub fn memberships(&self, i: usize) -> &[Membership] {
        &self.incidence[self.incidence_offsets[i] as usize..self.incidence_offsets[i + 1] as usize]
    }
}
