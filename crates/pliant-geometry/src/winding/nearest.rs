//! The point of the mesh nearest to another point.

use super::Winding;
use crate::triangle::nearest_on_triangle;
use glam::DVec3;

impl Winding {
    /// The point of the mesh nearest to `p`; `None` for a mesh without triangles.
    pub fn nearest(&self, p: DVec3) -> Option<DVec3> {
        let mut best = (f64::INFINITY, None);
        // The nearer child is on top, so that the other one can mostly be passed over.
        let mut open = vec![(0.0, 0)];
        while let Some((least, index)) = open.pop() {
            let Some(node) = self.nodes.get(index).filter(|_| least < best.0) else { continue };
            if let Some(block) = node.block() {
                for t in self.blocks[block].triangles() {
                    let [u, v, w] = nearest_on_triangle(t, p);
                    let q = u * t[0] + v * t[1] + w * t[2];
                    let distance = q.distance(p);
                    if distance < best.0 {
                        best = (distance, Some(q));
                    }
                }
                continue;
            }
            let gap =
                |child: usize| (self.nodes[child].center.distance(p) - self.nodes[child].radius).max(0.0);
            let mut children = [index + 1, self.nodes[index + 1].after].map(|child| (gap(child), child));
            if children[0].0 < children[1].0 {
                children.swap(0, 1);
            }
            open.extend(children);
        }
        best.1
    }
}
