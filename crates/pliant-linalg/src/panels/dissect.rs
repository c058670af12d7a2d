//! Nested dissection: small sets of vertices whose removal leaves two parts of about equal size.

use super::graph::Graph;

/// Parts smaller than this are not cut further.
const LEAF: usize = 96;
/// Graphs larger than this try fewer cuts: there the setup would take longer than it saves.
const LARGE: usize = 40_000;

/// A part of the graph with its cut, if it has one.
#[derive(Debug)]
pub(super) struct Part {
    /// Vertices of the separator, or all of a part that is not cut.
    pub vertices: Vec<u32>,
    pub halves: Option<Box<[Part; 2]>>,
}

impl Part {
    /// All vertices, in no particular order.
    pub fn collect(&self, into: &mut Vec<u32>) {
        into.extend(&self.vertices);
        self.halves.iter().flat_map(|h| h.iter()).for_each(|half| half.collect(into));
    }
}

/// Dissects the whole graph to at most `depth` cuts on top of each other.
pub(super) fn dissect(graph: &Graph, points: Option<&[[f64; 3]]>, depth: usize) -> Part {
    let mut local = vec![u32::MAX; graph.len()];
    part(graph, points, (0..graph.len() as u32).collect(), depth, &mut local)
}

fn part(
    graph: &Graph,
    points: Option<&[[f64; 3]]>,
    vertices: Vec<u32>,
    depth: usize,
    local: &mut [u32],
) -> Part {
    if depth == 0 || vertices.len() < LEAF {
        return Part { vertices, halves: None };
    }
    let inner = graph.induced(&vertices, local);
    let Some(side) = bisect(&inner, &vertices, points) else { return Part { vertices, halves: None } };
    let of = |s: u8| vertices.iter().zip(&side).filter(|(_, t)| **t == s).map(|(&v, _)| v).collect();
    let (a, b, separator): (Vec<u32>, Vec<u32>, Vec<u32>) = (of(A), of(B), of(S));
    drop((inner, side, vertices));
    let halves = [part(graph, points, a, depth - 1, local), part(graph, points, b, depth - 1, local)];
    Part { vertices: separator, halves: Some(Box::new(halves)) }
}

const A: u8 = 0;
const B: u8 = 1;
const S: u8 = 2;

/// The best of several cuts: along coordinates, and between two far ends of the graph.
fn bisect(graph: &Graph, vertices: &[u32], points: Option<&[[f64; 3]]>) -> Option<Vec<u8>> {
    let along =
        |points: &[[f64; 3]], axis: usize| vertices.iter().map(|&v| points[v as usize][axis]).collect();
    let large = vertices.len() > LARGE;
    let mut keys: Vec<Vec<f64>> = match points {
        Some(points) if large => vec![along(points, longest(vertices, points))],
        Some(points) => (0..3).map(|axis| along(points, axis)).collect(),
        None => Vec::new(),
    };
    if keys.is_empty() || !large {
        keys.push(between_ends(graph));
    }
    let mut best: Option<(f64, Vec<u8>)> = None;
    for key in keys {
        let mut sorted = key.clone();
        let middle = sorted.len() / 2;
        let (_, &mut threshold, _) = sorted.select_nth_unstable_by(middle, f64::total_cmp);
        for inclusive in [false, true] {
            let low = |x: f64| x < threshold || (inclusive && x == threshold);
            let mut side: Vec<u8> = key.iter().map(|&x| if low(x) { A } else { B }).collect();
            separate(graph, &mut side);
            refine(graph, &mut side);
            let Some(score) = score(&side) else { continue };
            if best.as_ref().is_none_or(|(s, _)| score < *s) {
                best = Some((score, side));
            }
        }
    }
    best.map(|(_, side)| side)
}

/// The axis along which the vertices extend the farthest.
fn longest(vertices: &[u32], points: &[[f64; 3]]) -> usize {
    let mut extent = [0.0; 3];
    for (axis, extent) in extent.iter_mut().enumerate() {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for &v in vertices {
            low = low.min(points[v as usize][axis]);
            high = high.max(points[v as usize][axis]);
        }
        *extent = high - low;
    }
    (1..3).fold(0, |best, axis| if extent[axis] > extent[best] { axis } else { best })
}

/// Separator size, the worse the less even the halves are; none if a half is too small to be one.
fn score(side: &[u8]) -> Option<f64> {
    let count = |s: u8| side.iter().filter(|t| **t == s).count();
    let (a, b, s) = (count(A), count(B), count(S));
    let (small, large) = (a.min(b) as f64, a.max(b) as f64);
    (small > 0.25 * large).then(|| (1.0 + s as f64) * (1.0 + large / small))
}

/// How much nearer each vertex is to one far end than to the other; components one after the other.
fn between_ends(graph: &Graph) -> Vec<f64> {
    let n = graph.len();
    let mut key = vec![f64::NAN; n];
    let (mut from, mut to) = (vec![u32::MAX; n], vec![u32::MAX; n]);
    let mut queue = Vec::with_capacity(n);
    let mut offset = 0.0;
    for start in 0..n as u32 {
        if !key[start as usize].is_nan() {
            continue;
        }
        // Two sweeps find an end that is about as far from another as can be.
        let end = sweep(graph, start, &mut to, &mut queue);
        queue.iter().for_each(|&v| to[v as usize] = u32::MAX);
        let other = sweep(graph, end, &mut from, &mut queue);
        sweep(graph, other, &mut to, &mut queue);
        let length = f64::from(from[other as usize]);
        for &v in &queue {
            key[v as usize] = offset + length + f64::from(from[v as usize]) - f64::from(to[v as usize]);
        }
        offset += 2.0 * length + 1.0;
    }
    key
}

/// Distances from `start` within its component, listed in `queue`; returns the last vertex reached.
fn sweep(graph: &Graph, start: u32, distance: &mut [u32], queue: &mut Vec<u32>) -> u32 {
    queue.clear();
    queue.push(start);
    distance[start as usize] = 0;
    let mut next = 0;
    while next < queue.len() {
        let v = queue[next];
        next += 1;
        for &u in graph.of_vertex(v) {
            if distance[u as usize] == u32::MAX {
                distance[u as usize] = distance[v as usize] + 1;
                queue.push(u);
            }
        }
    }
    queue[queue.len() - 1]
}

/// Moves a smallest set of vertices that touches every edge between A and B into the separator: a
/// minimum vertex cover of a bipartite graph, from a maximum matching (König).
fn separate(graph: &Graph, side: &mut [u8]) {
    let cut = |side: &[u8], v: u32, other: u8| graph.of_vertex(v).iter().any(|&u| side[u as usize] == other);
    let left: Vec<u32> =
        (0..side.len() as u32).filter(|&v| side[v as usize] == A && cut(side, v, B)).collect();
    let mut mate = vec![u32::MAX; side.len()];
    for &v in &left {
        if let Some(&u) =
            graph.of_vertex(v).iter().find(|&&u| side[u as usize] == B && mate[u as usize] == u32::MAX)
        {
            mate[v as usize] = u;
            mate[u as usize] = v;
        }
    }
    // Augmenting paths by breadth-first search from all free left vertices, until there are none.
    let mut reached = vec![u32::MAX; side.len()];
    let mut queue: Vec<(u32, u32)> = Vec::new();
    loop {
        reached.fill(u32::MAX);
        queue.clear();
        queue.extend(left.iter().filter(|&&v| mate[v as usize] == u32::MAX).map(|&v| (v, v)));
        let mut used = vec![false; side.len()];
        let (mut next, mut grown) = (0, false);
        while next < queue.len() {
            let (v, root) = queue[next];
            next += 1;
            if used[root as usize] {
                continue;
            }
            for &u in graph.of_vertex(v) {
                if side[u as usize] != B || reached[u as usize] != u32::MAX {
                    continue;
                }
                reached[u as usize] = v;
                if mate[u as usize] == u32::MAX {
                    // Flip the path back to its root.
                    let mut at = u;
                    loop {
                        let from = reached[at as usize];
                        let before = mate[from as usize];
                        mate[at as usize] = from;
                        mate[from as usize] = at;
                        if before == u32::MAX {
                            break;
                        }
                        at = before;
                    }
                    used[root as usize] = true;
                    grown = true;
                    break;
                }
                queue.push((mate[u as usize], root));
            }
        }
        if !grown {
            break;
        }
    }
    // What alternating paths from free vertices reach on the right, and do not on the left, covers.
    let mut visited = vec![false; side.len()];
    queue.iter().for_each(|&(v, _)| visited[v as usize] = true);
    for &v in &left {
        if !visited[v as usize] {
            side[v as usize] = S;
        }
    }
    for (u, r) in reached.iter().enumerate() {
        if *r != u32::MAX {
            side[u] = S;
        }
    }
}

/// Moves vertices of the separator to a side where that shrinks it, or evens the halves at no cost.
fn refine(graph: &Graph, side: &mut [u8]) {
    let mut size = [0usize; 3];
    side.iter().for_each(|&s| size[s as usize] += 1);
    let mut separator: Vec<u32> = (0..side.len() as u32).filter(|&v| side[v as usize] == S).collect();
    for _ in 0..8 {
        let mut moved = false;
        let mut k = 0;
        while k < separator.len() {
            let v = separator[k];
            let mut across = [0usize; 2];
            for &u in graph.of_vertex(v) {
                if side[u as usize] != S {
                    across[1 - side[u as usize] as usize] += 1;
                }
            }
            // Going to side t pulls the neighbours on the other side into the separator.
            let t = if (across[0], size[0]) <= (across[1], size[1]) { 0 } else { 1 };
            let evens = size[t] + 1 < size[1 - t];
            if across[t] == 0 || (across[t] == 1 && evens) {
                side[v as usize] = t as u8;
                size[t] += 1;
                separator.swap_remove(k);
                for &u in graph.of_vertex(v) {
                    if side[u as usize] == 1 - t as u8 {
                        side[u as usize] = S;
                        size[1 - t] -= 1;
                        separator.push(u);
                    }
                }
                moved = true;
            } else {
                k += 1;
            }
        }
        if !moved {
            break;
        }
    }
}
