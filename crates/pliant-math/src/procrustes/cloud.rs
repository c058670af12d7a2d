//! A weighted cloud of points at rest: what never changes about a best-fit transform.

use super::{CloudError, CloudFault};
use crate::symmetric::eigen_symmetric;
use glam::DVec3;

/// Coordinates beyond this, and sizes below its inverse, would over- or underflow when squared.
const HUGE: f64 = 1e140;

/// Clouds thinner than this share of their length are lines: the rotation about them could not be told from
/// rounding (its condition is the inverse square of this).
const THIN: f64 = 1e-4;

/// Points at rest, as weighted offsets from their mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Cloud {
    mean: DVec3,
    weights: Vec<f64>,
    offsets: Vec<DVec3>,
    size: f64,
    stiffness: f64,
}

impl Cloud {
    /// A cloud of points, one weight for each: not negative, and not all zero. Only their ratios matter. Flat clouds
    /// are fine; at least three points that are not on a line must have a weight.
    pub fn new(points: &[DVec3], weights: &[f64]) -> Result<Cloud, CloudError> {
        let faults = faults_one_by_one(points, weights);
        if !faults.is_empty() {
            return Err(CloudError { faults });
        }
        // By the largest first: the sum of very large weights may be infinite.
        let largest = weights.iter().fold(0.0, |m: f64, w| m.max(*w));
        let sum: f64 = weights.iter().map(|w| w / largest).sum();
        let weights: Vec<f64> = weights.iter().map(|w| w / largest / sum).collect();

        // About the mean of what is left of the mean: Σ wᵢ vᵢ = 0 to rounding of the cloud's size, not of its distance.
        let origin = points[0];
        let about = origin + weighted_mean(&weights, |i| points[i] - origin);
        let rest = weighted_mean(&weights, |i| points[i] - about);
        let offsets: Vec<DVec3> = points.iter().map(|p| (p - about) - rest).collect();
        let mut cloud = Cloud { mean: about + rest, weights, offsets, size: 0.0, stiffness: 0.0 };
        cloud.measure(points).map_err(|fault| CloudError { faults: vec![fault] })?;
        Ok(cloud)
    }

    /// Finds out how large the cloud is, and whether it is more than a line.
    fn measure(&mut self, points: &[DVec3]) -> Result<(), CloudFault> {
        let counted = |i: &usize| self.weights[*i] > 0.0;
        let distance = |i: usize| self.offsets[i].abs().max_element();
        let all = 0..points.len();
        let farthest =
            all.clone().filter(counted).fold(0, |m, i| if distance(i) > distance(m) { i } else { m });
        // Nothing finer than this can be said of points so far from the origin.
        let rounding = 4.0 * f64::EPSILON * points[farthest].abs().max_element();
        let scale = distance(farthest);
        let mut covariance = [[0.0; 3]; 3];
        if scale > 0.0 {
            for (w, v) in self.weights.iter().zip(&self.offsets) {
                let v = *v / scale;
                for (i, row) in covariance.iter_mut().enumerate() {
                    for (j, entry) in row.iter_mut().enumerate() {
                        *entry += w * v[i] * v[j];
                    }
                }
            }
        }
        let (mut values, _) = eigen_symmetric(covariance);
        values.sort_by(|a, b| b.total_cmp(a));
        let [first, second, third] = values.map(|v| v.max(0.0));
        let size = scale * (first + second + third).sqrt();
        if size <= rounding.max(HUGE.recip()) {
            let index = all.clone().find(counted).unwrap_or(0);
            return Err(CloudFault::Coincident { index, point: points[index], size });
        }
        let (length, width) = (scale * first.sqrt(), scale * (second + third).sqrt());
        if width <= rounding.max(THIN * length) {
            return Err(CloudFault::Collinear { index: farthest, point: points[farthest], length, width });
        }
        self.size = size;
        self.stiffness = width * width;
        Ok(())
    }

    /// How many points there are, those without weight among them.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Never: a cloud has three points or more.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The weights, whose sum is one.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Where the points are at rest, from their weighted mean.
    pub fn offsets(&self) -> &[DVec3] {
        &self.offsets
    }

    /// The weighted mean of the points at rest.
    pub fn mean(&self) -> DVec3 {
        self.mean
    }

    /// Root mean square distance of the points from their mean, at rest.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The condition of the fit at rest, see [`Fit::condition`](super::Fit::condition): 1.5 for a ball, 2 for a disc, large for
    /// what is nearly a line.
    pub fn condition(&self) -> f64 {
        self.size * self.size / self.stiffness
    }

    /// The smallest eigenvalue of K at rest, the sum of the two smaller eigenvalues of the covariance.
    pub(super) fn stiffness(&self) -> f64 {
        self.stiffness
    }

    /// The weighted mean Σ wᵢ aᵢ of anything the points have: positions, velocities.
    pub fn average(&self, of: impl Fn(usize) -> DVec3) -> DVec3 {
        // From the first on, so that what all have in common is not rounded.
        let first = of(0);
        first + weighted_mean(&self.weights, |i| of(i) - first)
    }
}

/// Σ wᵢ aᵢ
fn weighted_mean(weights: &[f64], of: impl Fn(usize) -> DVec3) -> DVec3 {
    weights.iter().enumerate().fold(DVec3::ZERO, |sum, (i, w)| sum + of(i) * *w)
}

/// What can be said of points and weights without looking at how they lie.
fn faults_one_by_one(points: &[DVec3], weights: &[f64]) -> Vec<CloudFault> {
    let mut faults = Vec::new();
    if points.len() != weights.len() {
        faults.push(CloudFault::Counts { points: points.len(), weights: weights.len() });
    }
    for (index, &point) in points.iter().enumerate() {
        // Also false for NaN.
        if !(point.x.abs() <= HUGE && point.y.abs() <= HUGE && point.z.abs() <= HUGE) {
            faults.push(CloudFault::Point { index, point });
        }
    }
    for (index, &weight) in weights.iter().enumerate() {
        if !(weight >= 0.0 && weight.is_finite()) {
            faults.push(CloudFault::Weight { index, weight });
        }
    }
    if faults.is_empty() {
        match weights.iter().filter(|w| **w > 0.0).count() {
            0 if !weights.is_empty() => faults.push(CloudFault::NoWeight),
            count @ 0..3 => faults.push(CloudFault::TooFew { count }),
            _ => {}
        }
    }
    faults
}
