//! The distance of every particle to the nearest centre, kept up to date while centres are added.
//!
//! A tree of boxes over the particles in the k-d tree's order, each of which knows its farthest particle. A new
//! centre changes only boxes that are nearer to it than their farthest particle is to its centre, so the k-th
//! centre costs about n/k; and the farthest particle of all is at the root.

use super::cloud::SymmetricCloud;
use glam::DVec3;

/// Particles of a box that is not split.
const LEAF: usize = 16;

/// A box of particles `from..to` in tree order.
struct DistanceNode {
    lo: DVec3,
    hi: DVec3,
    from: u32,
    to: u32,
    /// The second part; the first is the next node. Zero for a box that is not split.
    second: u32,
    /// The farthest particle: squared distance to its nearest centre, and index; ties go to the lower index.
    far: (f64, u32),
}

pub(super) struct Distances<'a> {
    points: &'a [DVec3],
    index: &'a [u32],
    /// Squared, in tree order.
    nearest: Vec<f64>,
    nodes: Vec<DistanceNode>,
}

fn farther(a: (f64, u32), b: (f64, u32)) -> (f64, u32) {
    if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

impl<'a> Distances<'a> {
    /// No centres yet: all infinite.
    pub fn new(cloud: &'a SymmetricCloud<'_>) -> Distances<'a> {
        let points = cloud.tree.ordered_points();
        let mut all = Distances {
            points,
            index: cloud.tree.order(),
            nearest: vec![f64::INFINITY; points.len()],
            nodes: Vec::with_capacity(4 * points.len() / LEAF + 1),
        };
        all.split(0, points.len());
        all
    }

    fn split(&mut self, from: usize, to: usize) {
        let at = self.nodes.len();
        let part = &self.points[from..to];
        let (lo, hi) = part.iter().fold((part[0], part[0]), |(lo, hi), p| (lo.min(*p), hi.max(*p)));
        let who = self.index[from..to].iter().copied().min().unwrap_or(0);
        let far = (f64::INFINITY, who);
        self.nodes.push(DistanceNode { lo, hi, from: from as u32, to: to as u32, second: 0, far });
        if to - from > LEAF {
            let mid = from.midpoint(to);
            self.split(from, mid);
            self.nodes[at].second = self.nodes.len() as u32;
            self.split(mid, to);
        }
    }

    /// The particle farthest from all centres, as (squared distance, index).
    pub fn farthest(&self) -> (f64, u32) {
        self.nodes[0].far
    }

    /// Takes a new centre into account.
    pub fn add(&mut self, center: DVec3) {
        self.add_in(0, center);
    }

    fn add_in(&mut self, at: usize, center: DVec3) {
        let node = &self.nodes[at];
        if center.distance_squared(center.clamp(node.lo, node.hi)) >= node.far.0 {
            return;
        }
        let second = node.second as usize;
        self.nodes[at].far = if second == 0 {
            let range = node.from as usize..node.to as usize;
            let mut far = (-1.0, 0);
            for k in range {
                self.nearest[k] = self.nearest[k].min(self.points[k].distance_squared(center));
                far = farther(far, (self.nearest[k], self.index[k]));
            }
            far
        } else {
            self.add_in(at + 1, center);
            self.add_in(second, center);
            farther(self.nodes[at + 1].far, self.nodes[second].far)
        };
    }

    /// The mean of all particles within `radius` of `center` that are farther than that from every centre.
    pub fn mean_uncovered(&self, center: DVec3, radius: f64) -> Option<DVec3> {
        let mut sum = (DVec3::ZERO, 0.0);
        self.sum_uncovered(0, center, radius * radius, &mut sum);
        (sum.1 > 0.0).then(|| center + sum.0 / sum.1)
    }

    fn sum_uncovered(&self, at: usize, center: DVec3, limit: f64, sum: &mut (DVec3, f64)) {
        let node = &self.nodes[at];
        if node.far.0 <= limit || center.distance_squared(center.clamp(node.lo, node.hi)) > limit {
            return;
        }
        if node.second == 0 {
            for k in node.from as usize..node.to as usize {
                let offset = self.points[k] - center;
                if self.nearest[k] > limit && offset.length_squared() <= limit {
                    *sum = (sum.0 + offset, sum.1 + 1.0);
                }
            }
        } else {
            self.sum_uncovered(at + 1, center, limit, sum);
            self.sum_uncovered(node.second as usize, center, limit, sum);
        }
    }
}
