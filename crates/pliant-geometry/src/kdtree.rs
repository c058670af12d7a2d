//! Neighbour search among points: everything within a distance, or the nearest few.
//!
//! A k-d tree rather than a uniform grid: one far outlier or a thousand coincident points, both found in
//! users' files, cost it nothing, and no cell size has to be guessed.

use glam::DVec3;

/// Ranges of at most this many points are searched one by one.
const LEAF: usize = 8;

/// A balanced tree over points. The points are copied in tree order, which is near in space and in memory.
#[derive(Clone, Debug)]
pub struct KdTree {
    points: Vec<DVec3>,
    original: Vec<u32>,
    /// Split axis of the range whose middle is at this position.
    axis: Vec<u8>,
}

impl KdTree {
    /// Builds the tree; the points must be finite.
    pub fn new(points: &[DVec3]) -> KdTree {
        let mut items: Vec<(DVec3, u32)> = points.iter().enumerate().map(|(i, &p)| (p, i as u32)).collect();
        let mut axis = vec![0; items.len()];
        build(&mut items, &mut axis);
        KdTree {
            points: items.iter().map(|i| i.0).collect(),
            original: items.iter().map(|i| i.1).collect(),
            axis,
        }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Indices of all points in tree order: points near in space come near each other, which keeps passes
    /// over a large cloud in the processor's caches.
    pub fn order(&self) -> &[u32] {
        &self.original
    }

    /// The points in that order.
    pub(crate) fn ordered_points(&self) -> &[DVec3] {
        &self.points
    }

    /// Calls `found` with the index of every point at a distance of at most `radius`, in no useful order.
    pub fn within(&self, center: DVec3, radius: f64, mut found: impl FnMut(u32)) {
        self.measured_within(center, radius, |i, _| found(i));
    }

    /// The same, with the squared distance of each.
    pub(crate) fn measured_within(&self, center: DVec3, radius: f64, mut found: impl FnMut(u32, f64)) {
        let limit = radius * radius;
        // A balanced tree over 2³² points is 32 deep, and each level leaves one range to come back to.
        let mut todo = [(0, 0); 64];
        let mut depth = 0;
        let mut range = (0, self.points.len());
        loop {
            let (lo, hi) = range;
            if hi - lo <= LEAF {
                for i in lo..hi {
                    let distance = self.points[i].distance_squared(center);
                    if distance <= limit {
                        found(self.original[i], distance);
                    }
                }
            } else {
                let mid = lo.midpoint(hi);
                let axis = self.axis[mid] as usize;
                let delta = center[axis] - self.points[mid][axis];
                let distance = self.points[mid].distance_squared(center);
                if distance <= limit {
                    found(self.original[mid], distance);
                }
                let (near, far) =
                    if delta < 0.0 { ((lo, mid), (mid + 1, hi)) } else { ((mid + 1, hi), (lo, mid)) };
                if delta * delta <= limit {
                    todo[depth] = far;
                    depth += 1;
                }
                range = near;
                continue;
            }
            if depth == 0 {
                return;
            }
            depth -= 1;
            range = todo[depth];
        }
    }

    /// The nearest point as (squared distance, index) among those at most as far as `known`, itself such a
    /// pair that is returned if nothing beats it; ties go to the lower index. A good guess saves most of
    /// the search.
    pub(crate) fn nearest_from(&self, center: DVec3, known: (f64, u32)) -> (f64, u32) {
        let mut best = known;
        self.nearest_one_in(center, 0, self.points.len(), &mut best);
        best
    }

    fn nearest_one_in(&self, center: DVec3, lo: usize, hi: usize, best: &mut (f64, u32)) {
        let offer = |i: usize, best: &mut (f64, u32)| {
            let item = (self.points[i].distance_squared(center), self.original[i]);
            if item.0 < best.0 || (item.0 == best.0 && item.1 < best.1) {
                *best = item;
            }
        };
        if hi - lo <= LEAF {
            (lo..hi).for_each(|i| offer(i, best));
            return;
        }
        let mid = lo.midpoint(hi);
        let axis = self.axis[mid] as usize;
        let delta = center[axis] - self.points[mid][axis];
        offer(mid, best);
        let (near, far) = if delta < 0.0 { ((lo, mid), (mid + 1, hi)) } else { ((mid + 1, hi), (lo, mid)) };
        self.nearest_one_in(center, near.0, near.1, best);
        if delta * delta <= best.0 {
            self.nearest_one_in(center, far.0, far.1, best);
        }
    }

    /// The `count` nearest points as (squared distance, index), nearest first; ties go to the lower index.
    /// `best` is cleared first, and is an argument so that its memory serves many searches.
    pub fn nearest(&self, center: DVec3, count: usize, best: &mut Vec<(f64, u32)>) {
        best.clear();
        if count > 0 {
            self.nearest_in(center, count, 0, self.points.len(), best);
        }
    }

    fn nearest_in(&self, center: DVec3, count: usize, lo: usize, hi: usize, best: &mut Vec<(f64, u32)>) {
        if hi - lo <= LEAF {
            for i in lo..hi {
                self.offer(center, count, i, best);
            }
            return;
        }
        let mid = lo.midpoint(hi);
        let axis = self.axis[mid] as usize;
        let delta = center[axis] - self.points[mid][axis];
        self.offer(center, count, mid, best);
        let (near, far) = if delta < 0.0 { ((lo, mid), (mid + 1, hi)) } else { ((mid + 1, hi), (lo, mid)) };
        self.nearest_in(center, count, near.0, near.1, best);
        if best.len() < count || best.last().is_some_and(|worst| delta * delta <= worst.0) {
            self.nearest_in(center, count, far.0, far.1, best);
        }
    }

    fn offer(&self, center: DVec3, count: usize, i: usize, best: &mut Vec<(f64, u32)>) {
        let item = (self.points[i].distance_squared(center), self.original[i]);
        let before = |a: &(f64, u32)| a.0 < item.0 || (a.0 == item.0 && a.1 < item.1);
        if best.len() == count {
            if best.last().is_some_and(before) {
                return;
            }
            best.pop();
        }
        // Lists are short and nearly full most of the time: insertion beats a heap.
        let at = best.iter().rposition(before).map_or(0, |p| p + 1);
        best.insert(at, item);
    }
}

fn build(items: &mut [(DVec3, u32)], axes: &mut [u8]) {
    if items.len() <= LEAF {
        return;
    }
    let first = items[0].0;
    let (lo, hi) = items.iter().fold((first, first), |(lo, hi), i| (lo.min(i.0), hi.max(i.0)));
    let size = hi - lo;
    let axis = if size.x >= size.y && size.x >= size.z {
        0
    } else if size.y >= size.z {
        1
    } else {
        2
    };
    let mid = items.len() / 2;
    items.select_nth_unstable_by(mid, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    axes[mid] = axis as u8;
    let (left, right) = items.split_at_mut(mid);
    let (left_axes, right_axes) = axes.split_at_mut(mid);
    build(left, left_axes);
    build(&mut right[1..], &mut right_axes[1..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;

    fn cloud(n: usize) -> Vec<DVec3> {
        let mut rng = SplitMix64::new(3);
        // Coarse coordinates make ties and coincident points, the hard cases.
        let mut coordinate = || (rng.unit() * 12.0).floor() * 0.25;
        (0..n).map(|_| DVec3::new(coordinate(), coordinate(), coordinate())).collect()
    }

    #[test]
    fn agrees_with_looking_at_every_point() {
        for n in [0, 1, 7, 9, 500] {
            let points = cloud(n);
            let tree = KdTree::new(&points);
            let mut near = Vec::new();
            for q in cloud(40) {
                let mut want: Vec<(f64, u32)> =
                    points.iter().enumerate().map(|(i, p)| (p.distance_squared(q), i as u32)).collect();
                want.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                tree.nearest(q, 20, &mut near);
                assert_eq!(near, want[..20.min(n)]);
                let none = (f64::INFINITY, u32::MAX);
                assert_eq!(tree.nearest_from(q, none), want.first().copied().unwrap_or(none));
                for radius in [0.0, 0.25, 0.8, f64::INFINITY] {
                    let mut got = Vec::new();
                    tree.within(q, radius, |i| got.push(i));
                    got.sort_unstable();
                    let mut all: Vec<u32> =
                        want.iter().filter(|w| w.0 <= radius * radius).map(|w| w.1).collect();
                    all.sort_unstable();
                    assert_eq!(got, all);
                }
            }
        }
    }
}
