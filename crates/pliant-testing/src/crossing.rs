//! Counts where edges go through triangles, by trying all pairs: nothing of the engine's contact is in it.

type Point = [f64; 3];

/// Triangles of one body or several, with their edges.
pub struct Crossings {
    triangles: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
}

/// A triangle and the box around it.
struct Boxed {
    corners: [u32; 3],
    low: Point,
    high: Point,
}

impl Crossings {
    /// Of triangles by the numbers of their corners.
    pub fn of(triangles: impl IntoIterator<Item = [u32; 3]>) -> Crossings {
        let triangles: Vec<[u32; 3]> = triangles.into_iter().collect();
        let sides = triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let mut edges: Vec<[u32; 2]> = sides.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        Crossings { triangles, edges }
    }

    /// How many edges go through a triangle that they have no corner of, with the corners at these places.
    pub fn count(&self, places: &[Point]) -> usize {
        let at = |i: u32| places[i as usize];
        let mut boxes: Vec<Boxed> = self.triangles.iter().map(|t| Boxed::around(*t, &t.map(at))).collect();
        boxes.sort_by(|a, b| a.low[0].total_cmp(&b.low[0]));
        let widest = boxes.iter().map(|b| b.high[0] - b.low[0]).fold(0.0, f64::max);
        let mut count = 0;
        for &[p, q] in &self.edges {
            let edge = Boxed::around([p, q, q], &[at(p), at(q)]);
            let first = boxes.partition_point(|t| t.low[0] < edge.low[0] - widest);
            for t in boxes[first..].iter().take_while(|t| t.low[0] <= edge.high[0]) {
                let apart = t.corners.contains(&p) || t.corners.contains(&q) || !t.meets(&edge);
                count += usize::from(!apart && pierces([at(p), at(q)], t.corners.map(at)));
            }
        }
        count
    }
}

impl Boxed {
    fn around(corners: [u32; 3], points: &[Point]) -> Boxed {
        let bound =
            |k: usize, pick: fn(f64, f64) -> f64| points[1..].iter().fold(points[0][k], |v, p| pick(v, p[k]));
        let (low, high) =
            (std::array::from_fn(|k| bound(k, f64::min)), std::array::from_fn(|k| bound(k, f64::max)));
        Boxed { corners, low, high }
    }

    fn meets(&self, other: &Boxed) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }
}

/// Whether a segment goes through a triangle, by the signs of volumes.
fn pierces([p, q]: [Point; 2], [a, b, c]: [Point; 3]) -> bool {
    if (volume(a, b, c, p) > 0.0) == (volume(a, b, c, q) > 0.0) {
        return false;
    }
    let around = [volume(p, q, a, b) > 0.0, volume(p, q, b, c) > 0.0, volume(p, q, c, a) > 0.0];
    around == [true; 3] || around == [false; 3]
}

/// Six times the volume of a tetrahedron, with a sign.
fn volume(a: Point, b: Point, c: Point, d: Point) -> f64 {
    let [u, v, w] = [b, c, d].map(|p| [p[0] - a[0], p[1] - a[1], p[2] - a[2]]);
    (u[1] * v[2] - u[2] * v[1]) * w[0]
        + (u[2] * v[0] - u[0] * v[2]) * w[1]
        + (u[0] * v[1] - u[1] * v[0]) * w[2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_through_a_triangle_is_seen() {
        let t = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let down = |x: f64, y: f64, end: f64| [[x, y, 1.0], [x, y, end]];
        assert!(pierces(down(0.2, 0.2, -1.0), t) && !pierces(down(0.7, 0.7, -1.0), t));
        assert!(!pierces(down(0.2, 0.2, 0.5), t));
        let both = Crossings::of([[0, 1, 2], [3, 4, 5]]);
        let mut places = [t[0], t[1], t[2], [0.2, 0.2, 1.0], [0.2, 0.2, -1.0], [3.0, 0.2, 0.0]];
        assert!(both.count(&places) > 0);
        places[4][2] = 0.5;
        assert_eq!(both.count(&places), 0);
    }
}
