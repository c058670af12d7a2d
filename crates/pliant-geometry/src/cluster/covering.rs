//! What to cluster by: the options, and putting the parts together.

use super::Clusters;
use super::cloud::SymmetricCloud;
use super::farthest::{Until, farthest};
use super::fit::fit_radius;
use super::gather::ClusterBall;
use super::kmeans::kmeans;
use super::scatter::{file_order, random_order, scatter};
use super::shares::level_weights;
use crate::error::GeometryError;
use glam::DVec3;

/// How much larger than the mean cell the balls of k-means are. Just around the cells, a particle is in 1.4 to 1.7
/// clusters, and bodies held together by so little fold; with this it is in about as many as with random
/// balls, 2 to 2.5. One radius for all, where cells allow it, makes masses more even than one for each.
const BEYOND_CELLS: f64 = 1.2;

/// How the centres of clusters are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClusterMethod {
    /// Random particles among the uncovered (strain limiting, section 2).
    #[default]
    Random,
    /// The last uncovered particle each time, as the paper's own program does.
    FileOrder,
    /// The particle farthest from all centres so far: evenly spread, and no seed matters.
    Farthest,
    /// Means of compact cells: the roundest and most even clusters, in exactly the number asked for.
    KMeans,
}

/// How large clusters are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ClusterSize {
    /// One cluster of everything.
    Whole,
    /// Balls of this radius, in metres. For [`ClusterMethod::KMeans`] at least this radius, in the number that
    /// [`ClusterMethod::Farthest`] needs.
    Radius(f64),
    /// This many, at most one for each particle that is at a place of its own. Exactly so for
    /// [`ClusterMethod::Farthest`] and [`ClusterMethod::KMeans`] without symmetry; otherwise as near as can be.
    Count(usize),
}

/// How a cloud of points is covered by overlapping clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covering {
    /// How centres are chosen.
    pub method: ClusterMethod,
    /// How large clusters are.
    pub size: ClusterSize,
    /// Scales, each of twice the radius of the one before; 1 for a single scale. Fewer are made if one of
    /// them is a single cluster: there is nothing coarser.
    pub levels: u32,
    /// The part of every particle's mass that clusters of all coarser scales carry together.
    pub coarse_share: f64,
    /// Whether shares fall smoothly to zero at the rim of a cluster.
    pub smooth: bool,
    /// Whether the clusters keep the mirror planes of the cloud (see [`super::Symmetry`]). Centres then come in
    /// orbits of mirror images.
    pub symmetric: bool,
    /// How much further clusters reach than it takes to cover the cloud, as a part of their radius.
    pub overlap: f64,
    /// Seed of [`ClusterMethod::Random`].
    pub seed: u64,
}

impl Covering {
    /// A plain covering: one scale, equal shares, no symmetry, no more overlap than comes by itself, seed 1.
    pub const fn new(method: ClusterMethod, size: ClusterSize) -> Covering {
        Covering {
            method,
            size,
            levels: 1,
            coarse_share: 0.25,
            smooth: false,
            symmetric: false,
            overlap: 0.0,
            seed: 1,
        }
    }

    /// Makes the clusters.
    pub fn build(&self, points: &[DVec3]) -> Result<Clusters, GeometryError> {
        self.check()?;
        let cloud = SymmetricCloud::new(points, self.symmetric)?;
        let mut clusters = Clusters::default();
        clusters.gather(&cloud, &self.balls(&cloud, self.size, 0), 0)?;
        for level in 1..self.levels {
            let Some(radius) = clusters.next_scale() else { break };
            clusters.gather(&cloud, &self.balls(&cloud, ClusterSize::Radius(radius), level), level as u8)?;
        }
        let levels = clusters.level.last().map_or(0, |l| usize::from(*l) + 1);
        if self.smooth || levels > 1 {
            clusters.share_out(points, self.smooth, &level_weights(levels, self.coarse_share));
        }
        Ok(clusters)
    }

    /// The balls of one level.
    fn balls(&self, cloud: &SymmetricCloud<'_>, size: ClusterSize, level: u32) -> Vec<ClusterBall> {
        let n = cloud.points.len();
        let size = match size {
            ClusterSize::Count(1) => ClusterSize::Whole,
            ClusterSize::Count(wanted) => ClusterSize::Count(wanted.min(n)),
            other => other,
        };
        let ordered = |order: Vec<u32>| {
            let radius = match size {
                ClusterSize::Whole => f64::INFINITY,
                ClusterSize::Radius(radius) => radius,
                ClusterSize::Count(wanted) => fit_radius(cloud, wanted, &order),
            };
            scatter(cloud, radius, &order).into_iter().map(|m| cloud.ball(m, radius)).collect()
        };
        let until = match size {
            ClusterSize::Whole => Until::Covered(f64::INFINITY),
            ClusterSize::Radius(radius) => Until::Covered(radius),
            ClusterSize::Count(wanted) => Until::Count(wanted),
        };
        let mut balls: Vec<ClusterBall> = match self.method {
            ClusterMethod::Random => ordered(random_order(n, self.seed.wrapping_add(u64::from(level)))),
            ClusterMethod::FileOrder => ordered(file_order(n)),
            ClusterMethod::Farthest => {
                let spread = farthest(cloud, until);
                spread.middles.iter().map(|&m| cloud.ball(m, spread.radius)).collect()
            }
            ClusterMethod::KMeans => {
                let spread = farthest(cloud, until);
                let mut balls = kmeans(cloud, &spread);
                let mean = balls.iter().map(|b| b.radius).sum::<f64>() / balls.len() as f64;
                let least =
                    if matches!(size, ClusterSize::Count(_)) { BEYOND_CELLS * mean } else { spread.radius };
                balls.iter_mut().for_each(|b| b.radius = b.radius.max(least));
                balls
            }
        };
        balls.iter_mut().for_each(|b| b.radius *= 1.0 + self.overlap);
        balls
    }

    fn check(&self) -> Result<(), GeometryError> {
        let fault = |message: String, help: &str| Err(GeometryError::new(message, help));
        match self.size {
            ClusterSize::Radius(radius) if radius.is_nan() || radius <= 0.0 => {
                return fault(
                    format!("the cluster radius is {radius}"),
                    "give a radius above zero, in metres; two to four particle spacings is usual",
                );
            }
            ClusterSize::Count(0) => {
                return fault("0 clusters were asked for".into(), "ask for at least one");
            }
            _ => {}
        }
        if !(1..=16).contains(&self.levels) {
            return fault(
                format!("{} levels of clusters were asked for", self.levels),
                "ask for 1 to 16: each is twice as coarse as the one before",
            );
        }
        if !(self.overlap.is_finite() && (0.0..=10.0).contains(&self.overlap)) {
            return fault(
                format!("the overlap of clusters is {}", self.overlap),
                "give 0 to 10: how much further clusters reach, as a part of their radius",
            );
        }
        // Each level must keep some mass: a cluster without mass has no centre.
        if !(0.01..=0.99).contains(&self.coarse_share) {
            return fault(
                format!("the share of the coarse clusters is {}", self.coarse_share),
                "give 0.01 to 0.99; for no coarse clusters ask for one level",
            );
        }
        Ok(())
    }
}
