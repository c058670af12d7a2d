//! Where a line between two points passes through the mesh.

use super::Winding;
use glam::DVec3;

impl Winding {
    /// The parts of the way from `from` to `to`, sorted, at which it passes through triangles. A line in the plane
    /// of a triangle does not pass through it; one through an edge may pass through both its triangles or, by
    /// rounding, through neither.
    pub fn crossings(&self, from: DVec3, to: DVec3, found: &mut Vec<f64>) {
        found.clear();
        let along = to - from;
        let squared = along.length_squared();
        self.visit(|node| {
            let away = node.center - from;
            let part = if squared > 0.0 { (away.dot(along) / squared).clamp(0.0, 1.0) } else { 0.0 };
            if (away - part * along).length_squared() > node.radius * node.radius {
                return false;
            }
            if let Some(block) = node.block() {
                found.extend(self.blocks[block].triangles().iter().filter_map(|t| crossing(t, from, along)));
            }
            true
        });
        found.sort_unstable_by(f64::total_cmp);
    }
}

/// Where in 0 to 1 a line passes through a triangle (Möller and Trumbore 1997).
fn crossing(&[a, b, c]: &[DVec3; 3], from: DVec3, along: DVec3) -> Option<f64> {
    let (ab, ac, start) = (b - a, c - a, from - a);
    let across = along.cross(ac);
    let determinant = ab.dot(across);
    let around = start.cross(ab);
    let (u, v) = (start.dot(across) / determinant, along.dot(around) / determinant);
    let part = ac.dot(around) / determinant;
    let hit = u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&part);
    // In the plane of the triangle the determinant is 0 and everything else infinite or not a number.
    (hit && determinant != 0.0).then_some(part)
}
