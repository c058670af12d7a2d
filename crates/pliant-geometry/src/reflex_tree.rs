//! Which corners of a polygon lie in a triangle: a kd-tree of those that are not convex, which only become fewer.

use robust::{Coord, orient2d};

pub(crate) type Point = Coord<f64>;

const LEAF: usize = 8;
const NONE: u32 = u32::MAX;

struct ReflexNode {
    min: [f64; 2],
    max: [f64; 2],
    /// Its corners in `order`.
    range: (u32, u32),
    /// The first of two children; [`NONE`] for a leaf.
    children: u32,
    parent: u32,
    /// Corners in it that are still there.
    left: u32,
}

/// Corners that can lie in an ear.
pub(crate) struct ReflexTree {
    nodes: Vec<ReflexNode>,
    order: Vec<u32>,
    /// Leaf of each corner; [`NONE`] for those that are not in the tree (any more).
    leaf: Vec<u32>,
}

impl ReflexTree {
    /// Of the given corners of a polygon.
    pub fn new(points: &[Point], corners: Vec<u32>) -> ReflexTree {
        let all = (0, corners.len() as u32);
        let mut tree = ReflexTree { nodes: Vec::new(), order: corners, leaf: vec![NONE; points.len()] };
        tree.add(points, all, NONE);
        let mut next = 0;
        while next < tree.nodes.len() {
            tree.split(points, next);
            next += 1;
        }
        tree
    }

    fn add(&mut self, points: &[Point], range: (u32, u32), parent: u32) {
        let (mut min, mut max) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for &i in &self.order[range.0 as usize..range.1 as usize] {
            let p = points[i as usize];
            min = [min[0].min(p.x), min[1].min(p.y)];
            max = [max[0].max(p.x), max[1].max(p.y)];
        }
        self.nodes.push(ReflexNode { min, max, range, children: NONE, parent, left: range.1 - range.0 });
    }

    fn split(&mut self, points: &[Point], node: usize) {
        let ReflexNode { min, max, range: (start, end), .. } = self.nodes[node];
        let corners = &mut self.order[start as usize..end as usize];
        if corners.len() <= LEAF {
            corners.iter().for_each(|&i| self.leaf[i as usize] = node as u32);
            return;
        }
        let wide = max[0] - min[0] >= max[1] - min[1];
        let key = |i: u32| if wide { points[i as usize].x } else { points[i as usize].y };
        let half = corners.len() / 2;
        corners.select_nth_unstable_by(half, |&i, &j| key(i).total_cmp(&key(j)).then(i.cmp(&j)));
        let middle = start + half as u32;
        self.nodes[node].children = self.nodes.len() as u32;
        self.add(points, (start, middle), node as u32);
        self.add(points, (middle, end), node as u32);
    }

    /// Takes a corner out, if it is there.
    pub fn remove(&mut self, corner: u32) {
        let mut node = std::mem::replace(&mut self.leaf[corner as usize], NONE);
        while node != NONE {
            self.nodes[node as usize].left -= 1;
            node = self.nodes[node as usize].parent;
        }
    }

    /// Whether `blocks` says so of any corner in the closed triangle, which is counter-clockwise.
    pub fn any_in(&self, points: &[Point], triangle: [Point; 3], blocks: impl Fn(u32) -> bool) -> bool {
        let mut open = vec![0_u32];
        while let Some(n) = open.pop() {
            let node = &self.nodes[n as usize];
            if node.left == 0 || outside(node, &triangle) {
                continue;
            }
            if node.children != NONE {
                open.extend([node.children, node.children + 1]);
                continue;
            }
            for &i in &self.order[node.range.0 as usize..node.range.1 as usize] {
                if self.leaf[i as usize] != NONE && contains(&triangle, points[i as usize]) && blocks(i) {
                    return true;
                }
            }
        }
        false
    }
}

/// Whether the closed triangle holds the point; exact.
fn contains(&[a, b, c]: &[Point; 3], p: Point) -> bool {
    orient2d(a, b, p) >= 0.0 && orient2d(b, c, p) >= 0.0 && orient2d(c, a, p) >= 0.0
}

/// Whether a node lies wholly beyond one side of the triangle, or of its box; never if it only may.
fn outside(node: &ReflexNode, triangle: &[Point; 3]) -> bool {
    let [a, b, c] = *triangle;
    if a.x.max(b.x).max(c.x) < node.min[0]
        || a.x.min(b.x).min(c.x) > node.max[0]
        || a.y.max(b.y).max(c.y) < node.min[1]
        || a.y.min(b.y).min(c.y) > node.max[1]
    {
        return true;
    }
    [(a, b), (b, c), (c, a)].into_iter().any(|(p, q)| {
        let (ex, ey) = (q.x - p.x, q.y - p.y);
        // The corner of the box farthest to the inner side.
        let x = if ey > 0.0 { node.min[0] } else { node.max[0] };
        let y = if ex > 0.0 { node.max[1] } else { node.min[1] };
        let (up, across) = (ex * (y - p.y), ey * (x - p.x));
        // Rounding of the differences and products stays far below this.
        up - across < -1e-14 * (up.abs() + across.abs())
    })
}
