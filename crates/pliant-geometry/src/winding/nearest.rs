//! The point of the mesh nearest to another point.

use super::Winding;
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
                for t in &self.blocks[block].triangles() {
                    let q = nearest_on_triangle(t, p);
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

/// The point of a triangle nearest to `p` (Ericson 2005, "Real-time collision detection", 5.1.5).
pub(super) fn nearest_on_triangle(&[a, b, c]: &[DVec3; 3], p: DVec3) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let dots = |q: DVec3| (ab.dot(p - q), ac.dot(p - q));
    let ((d1, d2), (d3, d4), (d5, d6)) = (dots(a), dots(b), dots(c));
    let (in_a, in_b, in_c) = (d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2);
    let part = |above: f64, below: f64| if below > 0.0 { (above / below).clamp(0.0, 1.0) } else { 0.0 };
    if d1 <= 0.0 && d2 <= 0.0 {
        a
    } else if d3 >= 0.0 && d4 <= d3 {
        b
    } else if d6 >= 0.0 && d5 <= d6 {
        c
    } else if in_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        a + ab * part(d1, d1 - d3)
    } else if in_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        a + ac * part(d2, d2 - d6)
    } else if in_a <= 0.0 && d4 >= d3 && d5 >= d6 {
        b + (c - b) * part(d4 - d3, d4 - d3 + d5 - d6)
    } else {
        let whole = in_a + in_b + in_c;
        a + ab * part(in_b, whole) + ac * part(in_c, whole)
    }
}
