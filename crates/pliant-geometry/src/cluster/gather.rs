//! From balls to clusters: who is inside.

use super::Clusters;
use super::cloud::SymmetricCloud;
use crate::error::GeometryError;
use glam::DVec3;

/// A cluster to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClusterBall {
    /// The particle in the middle or nearest to it.
    pub center: u32,
    pub middle: DVec3,
    pub radius: f64,
}

impl Clusters {
    /// Adds a cluster of everything inside for each ball (strain limiting, equation 3).
    pub(super) fn gather(
        &mut self,
        cloud: &SymmetricCloud<'_>,
        balls: &[ClusterBall],
        level: u8,
    ) -> Result<(), GeometryError> {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        for ball in balls {
            let start = self.members.len();
            cloud.tree.within(ball.middle, cloud.reach(ball.radius), |i| self.members.push(i));
            let Ok(end) = u32::try_from(self.members.len()) else {
                return Err(GeometryError::new(
                    format!("a cluster radius of {} gives more than four billion memberships", ball.radius),
                    "choose a smaller radius: two to four particle spacings is usual",
                ));
            };
            self.members[start..].sort_unstable();
            self.centers.push(ball.center);
            self.middles.push(ball.middle);
            self.reach.push(ball.radius);
            self.level.push(level);
            self.offsets.push(end);
        }
        Ok(())
    }
}
