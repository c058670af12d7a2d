//! Fans: the corners at a vertex that hang together through edges there; a vertex with two is a pinch.

use super::sides::{EdgeSides, WeldedFaces};
use crate::disjoint_sets::DisjointSets;

/// Joins the corners that meet across edges, at both ends.
pub(crate) fn fans(around: &WeldedFaces<'_>, sides: &EdgeSides) -> DisjointSets {
    let mut fans = inside_faces(around);
    for edge in sides.edges().filter(|e| e.sides.len() > 1) {
        let [a, b] = edge.ends(&edge.sides[0], around);
        for side in &edge.sides[1..] {
            let [c, d] = edge.ends(side, around);
            fans.join(a, c);
            fans.join(b, d);
        }
    }
    fans
}

/// Corners that follow one another at one vertex are of one fan.
pub(crate) fn inside_faces(around: &WeldedFaces<'_>) -> DisjointSets {
    let mut fans = DisjointSets::new(around.faces().corners().len());
    for f in (0..around.faces().len()).filter(|&f| !around.collapsed(f)) {
        for c in around.faces().range(f) {
            let next = around.next(c as u32);
            if around.vertex(c as u32) == around.vertex(next) {
                fans.join(c as u32, next);
            }
        }
    }
    fans
}
