//! Why points and weights make no cloud that a rotation could be fitted to.

use glam::DVec3;
use std::fmt;

/// One thing wrong with the points or the weights of a cloud.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum CloudFault {
    /// There is not one weight for each point.
    Counts {
        /// How many points there are.
        points: usize,
        /// How many weights.
        weights: usize,
    },
    /// A coordinate is no number, infinite, or so large that its square is.
    Point {
        /// Which point.
        index: usize,
        /// Where it is.
        point: DVec3,
    },
    /// A weight is negative, infinite or no number.
    Weight {
        /// Which point's.
        index: usize,
        /// The weight.
        weight: f64,
    },
    /// All weights are zero.
    NoWeight,
    /// Fewer than three points have a weight.
    TooFew {
        /// How many have.
        count: usize,
    },
    /// All points that have a weight are in one place, to rounding.
    Coincident {
        /// The first of them.
        index: usize,
        /// Where it is.
        point: DVec3,
        /// Their root mean square distance from their mean.
        size: f64,
    },
    /// The points, as their weights count them, lie on a line.
    Collinear {
        /// The point farthest from the mean: the line goes through both.
        index: usize,
        /// Where it is.
        point: DVec3,
        /// Root mean square extent along the line.
        length: f64,
        /// Root mean square distance from the line.
        width: f64,
    },
}

impl fmt::Display for CloudFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            CloudFault::Counts { points, weights } => {
                write!(f, "{points} points but {weights} weights; each point needs one")
            }
            CloudFault::Point { index, point } => {
                write!(f, "point {index} is at {point}, which is no finite number of a usable size")
            }
            CloudFault::Weight { index, weight } => {
                write!(f, "the weight of point {index} is {weight}; weights are numbers from 0")
            }
            CloudFault::NoWeight => write!(f, "all weights are zero; at least three points need one"),
            CloudFault::TooFew { count: 1 } => {
                write!(f, "only 1 point has a weight; a rotation needs three that are not on a line")
            }
            CloudFault::TooFew { count } => {
                write!(f, "only {count} points have a weight; a rotation needs three that are not on a line")
            }
            CloudFault::Coincident { index, point, size } => write!(
                f,
                "all points are in the place of point {index}, {point} (they spread by {size:e}); a rotation needs \
                 three that are not on a line"
            ),
            CloudFault::Collinear { index, point, length, width } => write!(
                f,
                "the points lie on a line through point {index}, {point}: {length:e} along it, {width:e} across; add a \
                 point beside it"
            ),
        }
    }
}

/// All that is wrong with the points and weights of a cloud; never empty.
#[derive(Clone, Debug, PartialEq)]
pub struct CloudError {
    /// What is wrong, in the order of the points.
    pub faults: Vec<CloudFault>,
}

impl fmt::Display for CloudError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if k > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

impl std::error::Error for CloudError {}
