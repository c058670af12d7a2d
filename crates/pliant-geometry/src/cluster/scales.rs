//! Clusters of several scales at once, which the strain-limiting paper names as the next thing to try.
//!
//! Small clusters let a body bend finely but pass a push on only from one to the next, so a fine body is
//! limp; a few coarse ones on top tie far parts together.

use super::Clusters;

/// How much larger clusters are from one level to the next.
const FACTOR: f64 = 2.0;

impl Clusters {
    /// The radius of the level after the last, or `None` if the last is a single cluster and there is
    /// nothing coarser.
    pub(super) fn next_scale(&self) -> Option<f64> {
        let last = *self.level.last()?;
        let fine: Vec<f64> =
            self.level.iter().zip(&self.reach).filter(|(l, _)| **l == 0).map(|(_, r)| *r).collect();
        let coarsest = self.level.iter().filter(|l| **l == last).count();
        // From the finest level, so that the way reaches were rounded up does not add up.
        let radius = fine.iter().sum::<f64>() / fine.len() as f64 * FACTOR.powi(i32::from(last) + 1);
        (coarsest > 1 && radius > 0.0).then_some(radius)
    }
}
