//! Thinning out random points to blue noise (Yuksel 2015, "Sample elimination for generating Poisson disk sample sets"):
//! again and again the most crowded one goes.

use crate::KdTree;
use glam::DVec3;
use std::collections::BinaryHeap;

/// How fast crowding falls with distance (α of the paper).
const FALL: i32 = 8;
/// How much crowding at the smallest distances counts alike (β and γ of the paper).
const LEVEL: (f64, f64) = (0.65, 1.5);

/// `count` of the points, spread evenly over their `volume`; they keep their order.
pub(super) fn eliminate(points: Vec<DVec3>, count: usize, volume: f64) -> Vec<DVec3> {
    if points.len() <= count {
        return points;
    }
    // Twice the radius of balls that fill the volume as densely as balls can (equation 3).
    let reach = 2.0 * (volume / (4.0 * 2.0f64.sqrt() * count as f64)).cbrt();
    let share = count as f64 / points.len() as f64;
    let least = reach * LEVEL.0 * (1.0 - share.powf(LEVEL.1));
    let crowding = |squared: f64| (1.0 - (squared.sqrt().max(least) / reach).min(1.0)).powi(FALL);
    let tree = KdTree::new(&points);
    let mut near = Vec::new();
    let mut offsets = vec![0];
    let mut weight = vec![0.0; points.len()];
    for (i, &p) in points.iter().enumerate() {
        tree.measured_within(p, reach, |j, squared| {
            if j != i as u32 {
                let by = crowding(squared);
                near.push((j, by as f32));
                weight[i] += f64::from(by as f32);
            }
        });
        offsets.push(near.len());
    }
    // Weights are never negative, so their bits are in the order of their values. An entry whose weight has changed
    // since is out of date.
    let key = |weight: f64| weight.max(0.0).to_bits();
    let mut heap: BinaryHeap<(u64, u32)> =
        weight.iter().enumerate().map(|(i, &w)| (key(w), i as u32)).collect();
    let mut gone = vec![false; points.len()];
    let mut left = points.len();
    while left > count {
        let Some((bits, i)) = heap.pop() else { break };
        let i = i as usize;
        if gone[i] {
            continue;
        }
        if bits != key(weight[i]) {
            heap.push((key(weight[i]), i as u32));
            continue;
        }
        gone[i] = true;
        left -= 1;
        for &(j, by) in &near[offsets[i]..offsets[i + 1]] {
            weight[j as usize] -= f64::from(by);
        }
    }
    let mut gone = gone.into_iter();
    points.into_iter().filter(|_| gone.next() == Some(false)).collect()
}
