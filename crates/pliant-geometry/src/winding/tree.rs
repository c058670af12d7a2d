//! The tree of triangle groups: halves of halves along the longest axis, leaves of one block.

use super::Winding;
use super::block::{TriangleBlock, WIDTH};
use super::moments::Moments;
use glam::DVec3;

/// A group is seen as its expansion from this many of its radii away.
const FAR: f64 = 3.5;

/// A group of triangles; its children follow it.
pub(super) struct WindingNode {
    pub center: DVec3,
    pub radius: f64,
    moments: Moments,
    /// The first node after the group's own.
    pub after: usize,
    /// The block of a leaf.
    block: u32,
}

impl WindingNode {
    pub fn block(&self) -> Option<usize> {
        (self.block != u32::MAX).then_some(self.block as usize)
    }

    /// The solid angle of the group if `p` is far enough from it.
    pub fn far(&self, p: DVec3) -> Option<f64> {
        let away = self.center - p;
        let squared = away.length_squared();
        if squared > FAR * FAR * self.radius * self.radius {
            let inverse = 1.0 / squared.sqrt();
            return Some(self.moments.solid_angle(away * inverse, self.radius * inverse));
        }
        None
    }
}

pub(super) fn build(mut triangles: Vec<[DVec3; 3]>) -> Winding {
    let mut winding = Winding { blocks: Vec::new(), nodes: Vec::new() };
    if !triangles.is_empty() {
        group(&mut winding, &mut triangles);
    }
    winding
}

fn group(winding: &mut Winding, triangles: &mut [[DVec3; 3]]) {
    let middle = |t: &[DVec3; 3]| (t[0] + t[1] + t[2]) / 3.0;
    let mut area = 0.0;
    let (mut weighted, mut plain) = (DVec3::ZERO, DVec3::ZERO);
    let (mut min, mut max) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for t in triangles.iter() {
        let size = (t[1] - t[0]).cross(t[2] - t[0]).length();
        let m = middle(t);
        area += size;
        weighted += m * size;
        plain += m;
        min = min.min(m);
        max = max.max(m);
    }
    // Flat and tiny triangles may have no area to weigh them by, huge ones one too large to multiply with.
    let mean = weighted / area;
    let center = if mean.is_finite() { mean } else { plain / triangles.len() as f64 };
    let radius = triangles.iter().flatten().map(|p| p.distance(center)).fold(0.0, f64::max);
    let moments = Moments::new(triangles, center, radius);
    let index = winding.nodes.len();
    winding.nodes.push(WindingNode { center, radius, moments, after: 0, block: u32::MAX });
    if triangles.len() <= WIDTH {
        winding.nodes[index].block = winding.blocks.len() as u32;
        winding.blocks.push(TriangleBlock::new(triangles));
    } else {
        let size = max - min;
        let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        // Whole blocks to the first half, so that all but the last are full.
        let half = (triangles.len() / 2).next_multiple_of(WIDTH);
        triangles.select_nth_unstable_by(half.min(triangles.len() - 1), |a, b| {
            middle(a)[axis].total_cmp(&middle(b)[axis])
        });
        let (left, right) = triangles.split_at_mut(half);
        group(winding, left);
        group(winding, right);
    }
    winding.nodes[index].after = winding.nodes.len();
}
