//! A tree of boxes: which elements may hold a point, and which is nearest to it.

use glam::DVec3;

const LEAF: usize = 4;

/// Elements by the boxes around them.
pub(super) struct BoxTree {
    nodes: Vec<Node>,
    /// Elements in tree order.
    items: Vec<u32>,
}

struct Node {
    lo: DVec3,
    hi: DVec3,
    range: (usize, usize),
    /// Where the second child is; the first follows its parent. Zero for leaves.
    second: usize,
}

impl Node {
    fn distance_squared(&self, p: DVec3) -> f64 {
        p.distance_squared(p.clamp(self.lo, self.hi))
    }
}

impl BoxTree {
    /// Over boxes given by their lowest and highest corners.
    pub fn new(boxes: &[(DVec3, DVec3)]) -> BoxTree {
        let mut tree = BoxTree { nodes: Vec::new(), items: (0..boxes.len() as u32).collect() };
        if !boxes.is_empty() {
            tree.build(boxes, 0, boxes.len());
        }
        tree
    }

    fn build(&mut self, boxes: &[(DVec3, DVec3)], first: usize, end: usize) {
        let group = &mut self.items[first..end];
        let (mut lo, mut hi) = boxes[group[0] as usize];
        let middle = |i: u32| 0.5 * boxes[i as usize].0 + 0.5 * boxes[i as usize].1;
        let (mut low, mut high) = (middle(group[0]), middle(group[0]));
        for &i in group.iter() {
            lo = lo.min(boxes[i as usize].0);
            hi = hi.max(boxes[i as usize].1);
            low = low.min(middle(i));
            high = high.max(middle(i));
        }
        let index = self.nodes.len();
        self.nodes.push(Node { lo, hi, range: (first, end), second: 0 });
        if end - first > LEAF {
            let axis = (high - low).max_position();
            let half = (end - first) / 2;
            let key = |i: u32| middle(i)[axis];
            group.select_nth_unstable_by(half, |&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
            self.build(boxes, first, first + half);
            self.nodes[index].second = self.nodes.len();
            self.build(boxes, first + half, end);
        }
    }

    /// Calls `found` with every element whose leaf is at most `distance` from `p`, and so with each that is.
    pub fn around(&self, p: DVec3, distance: f64, mut found: impl FnMut(u32)) {
        let mut open = vec![0];
        while let Some(index) = open.pop() {
            let Some(node) = self.nodes.get(index) else { continue };
            if node.distance_squared(p) > distance * distance {
                continue;
            }
            if node.second == 0 {
                self.items[node.range.0..node.range.1].iter().for_each(|&i| found(i));
            } else {
                open.extend([node.second, index + 1]);
            }
        }
    }

    /// The least distance from `p`, with `distance` telling that of an element; infinite without elements.
    pub fn least_distance(&self, p: DVec3, distance: impl Fn(u32) -> f64) -> f64 {
        let mut least = f64::INFINITY;
        // The nearer child is on top, so that the other one can mostly be passed over.
        let mut open = vec![(0.0, 0)];
        while let Some((gap, index)) = open.pop() {
            let Some(node) = self.nodes.get(index).filter(|_| gap < least * least) else { continue };
            if node.second == 0 {
                let here = self.items[node.range.0..node.range.1].iter().map(|&i| distance(i));
                least = here.fold(least, f64::min);
                continue;
            }
            let mut children = [index + 1, node.second].map(|c| (self.nodes[c].distance_squared(p), c));
            if children[0].0 < children[1].0 {
                children.swap(0, 1);
            }
            open.extend(children);
        }
        least
    }
}

/// The box around some points.
pub(super) fn around<const N: usize>(corners: [DVec3; N]) -> (DVec3, DVec3) {
    corners.iter().fold((corners[0], corners[0]), |(lo, hi), &p| (lo.min(p), hi.max(p)))
}
