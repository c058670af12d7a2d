//! Counts where edges go through triangles, by trying all pairs; nothing of the engine's contact is in it.

use pliant::DVec3;

/// Triangles of one body or several, with their edges.
pub struct Surface {
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

impl Surface {
    pub fn new(triangles: impl IntoIterator<Item = [u32; 3]>) -> Surface {
        let triangles: Vec<[u32; 3]> = triangles.into_iter().collect();
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        Surface { triangles, edges }
    }

    /// The edges that go through triangles they have no vertex of.
    pub fn crossings(&self, x: &[DVec3]) -> usize {
        let at = |i: u32| x[i as usize];
        let mut boxes: Vec<(f64, f64, DVec3, DVec3, [u32; 3])> = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(at);
                let (lo, hi) = (a.min(b).min(c), a.max(b).max(c));
                (lo.x, hi.x, lo, hi, *t)
            })
            .collect();
        boxes.sort_by(|a, b| a.0.total_cmp(&b.0));
        let widest = boxes.iter().map(|b| b.1 - b.0).fold(0.0, f64::max);
        let mut count = 0;
        for &[p, q] in &self.edges {
            let (a, b) = (at(p), at(q));
            let (lo, hi) = (a.min(b), a.max(b));
            let first = boxes.partition_point(|t| t.0 < lo.x - widest);
            for (_, _, low, high, t) in boxes[first..].iter().take_while(|t| t.0 <= hi.x) {
                if lo.cmple(*high).all() && low.cmple(hi).all() && !t.contains(&p) && !t.contains(&q) {
                    count += usize::from(pierces([a, b], t.map(at)));
                }
            }
        }
        count
    }
}

/// Whether a segment goes through a triangle, by the signs of volumes.
fn pierces([p, q]: [DVec3; 2], [a, b, c]: [DVec3; 3]) -> bool {
    let volume = |u: DVec3, v: DVec3, w: DVec3, z: DVec3| (v - u).cross(w - u).dot(z - u);
    if (volume(a, b, c, p) > 0.0) == (volume(a, b, c, q) > 0.0) {
        return false;
    }
    let around = [volume(p, q, a, b) > 0.0, volume(p, q, b, c) > 0.0, volume(p, q, c, a) > 0.0];
    around == [true; 3] || around == [false; 3]
}

#[test]
fn a_segment_through_a_triangle_is_seen() {
    let t = [DVec3::ZERO, DVec3::X, DVec3::Y];
    let down = |x: f64, y: f64| [DVec3::new(x, y, 1.0), DVec3::new(x, y, -1.0)];
    assert!(pierces(down(0.2, 0.2), t) && !pierces(down(0.7, 0.7), t));
    assert!(!pierces([DVec3::new(0.2, 0.2, 1.0), DVec3::new(0.2, 0.2, 0.5)], t));
    let both = Surface::new([[0, 1, 2], [3, 4, 5]]);
    let mut x = t.to_vec();
    x.extend([DVec3::new(0.2, 0.2, 1.0), DVec3::new(0.2, 0.2, -1.0), DVec3::new(3.0, 0.2, 0.0)]);
    assert!(both.crossings(&x) > 0);
    x[4].z = 0.5;
    assert_eq!(both.crossings(&x), 0);
}
