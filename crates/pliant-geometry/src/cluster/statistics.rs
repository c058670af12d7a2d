//! Numbers that tell a good covering from a bad one.

use super::Clusters;
use crate::disjoint_sets::DisjointSets;
use std::fmt;

/// Smallest, mean and largest of some numbers, and how far they are spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ValueSpread {
    /// The least of all values; zero if there are none.
    pub min: f64,
    /// The arithmetic mean; 0 of no values.
    pub mean: f64,
    /// The greatest of all values; zero if there are none.
    pub max: f64,
    /// Standard deviation over the mean: 0 if all are equal.
    pub deviation: f64,
}

impl ValueSpread {
    fn of(values: &[f64]) -> ValueSpread {
        if values.is_empty() {
            return ValueSpread::default();
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        ValueSpread {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean,
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            deviation: if mean > 0.0 { variance.sqrt() / mean } else { 0.0 },
        }
    }
}

/// What a covering is like.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClusterStatistics {
    /// How many particles the covering was made for: each is in at least one cluster.
    pub particles: usize,
    /// Clusters, of all scales.
    pub clusters: usize,
    /// Clusters of each scale, the finest first.
    pub levels: Vec<usize>,
    /// Pairs of a particle and a cluster it is in: what a pass of the solver costs.
    pub memberships: usize,
    /// How many clusters the particles are members of.
    pub clusters_per_particle: ValueSpread,
    /// How many particles clusters have.
    pub members_per_cluster: ValueSpread,
    /// Σ share of a cluster's members: its mass, where all particles weigh one. Its deviation is the mass
    /// lumping the strain-limiting paper warns of.
    pub mass_per_cluster: ValueSpread,
    /// Connected parts: clusters that share a particle hold together, parts fall apart.
    pub parts: usize,
    /// Clusters of a single particle, which hold nothing together.
    pub alone: usize,
}

impl Clusters {
    /// Counts and spreads.
    pub fn statistics(&self) -> ClusterStatistics {
        let counts = self.clusters_per_particle();
        let shares = self.shares_or_equal();
        let masses: Vec<f64> = (0..self.len()).map(|c| shares[self.slots(c)].iter().sum()).collect();
        let sizes: Vec<f64> = (0..self.len()).map(|c| self.slots(c).len() as f64).collect();
        let mut levels = vec![0; self.level.last().map_or(0, |l| usize::from(*l) + 1)];
        self.level.iter().for_each(|l| levels[usize::from(*l)] += 1);
        ClusterStatistics {
            particles: counts.len(),
            clusters: self.len(),
            levels,
            memberships: self.members.len(),
            clusters_per_particle: ValueSpread::of(&counts.iter().map(|c| f64::from(*c)).collect::<Vec<_>>()),
            members_per_cluster: ValueSpread::of(&sizes),
            mass_per_cluster: ValueSpread::of(&masses),
            parts: self.parts(counts.len()),
            alone: sizes.iter().filter(|s| **s == 1.0).count(),
        }
    }

    /// Connected components of the clusters, two of which are joined by a particle in both.
    fn parts(&self, particles: usize) -> usize {
        let mut sets = DisjointSets::new(self.len());
        let mut owner = vec![u32::MAX; particles];
        for c in 0..self.len() as u32 {
            for &i in self.members_of(c as usize) {
                let first = owner[i as usize];
                if first == u32::MAX {
                    owner[i as usize] = c;
                } else {
                    sets.join(first, c);
                }
            }
        }
        sets.count()
    }
}

impl ClusterStatistics {
    /// What its author may not have expected of this covering, if anything.
    pub fn note(&self) -> Option<String> {
        let (particles, clusters) = (self.particles, self.clusters);
        if particles > 1 && clusters == 1 {
            Some("one cluster holds everything: the body stretches as a whole and does not bend".into())
        } else if particles > 1 && self.alone == clusters {
            Some(
                "every cluster is a single particle: nothing holds them together; use a larger radius".into(),
            )
        } else if self.parts > 1 {
            let parts = self.parts;
            Some(format!("the clusters are in {parts} parts that do not overlap: the body falls apart"))
        } else if self.alone > 0 {
            let alone = self.alone;
            Some(format!("{alone} of {clusters} clusters are a single particle and hold nothing"))
        } else {
            None
        }
    }
}

impl fmt::Display for ClusterStatistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: usize| if n == 1 { "" } else { "s" };
        write!(f, "{} cluster{} over {} particles", self.clusters, plural(self.clusters), self.particles)?;
        if self.levels.len() > 1 {
            let levels: Vec<String> = self.levels.iter().map(usize::to_string).collect();
            write!(f, " in {} scales ({})", self.levels.len(), levels.join(" + "))?;
        }
        writeln!(f, ", {} memberships, {} part{}", self.memberships, self.parts, plural(self.parts))?;
        let rows = [
            ("clusters per particle", self.clusters_per_particle),
            ("particles per cluster", self.members_per_cluster),
            ("mass per cluster, in particles", self.mass_per_cluster),
        ];
        for (what, s) in rows {
            let ValueSpread { min, mean, max, deviation } = s;
            writeln!(
                f,
                "  {what}: {mean:.2} on average ({min:.4} to {max:.4}), spread {:.0} %",
                100.0 * deviation
            )?;
        }
        match self.note() {
            Some(note) => writeln!(f, "  note: {note}"),
            None => Ok(()),
        }
    }
}
