//! Tries orderings and keeps the one with the cheapest solve.

use super::cut::{Cut, cut};
use super::dissect::{Part, dissect};
use super::elimination::Elimination;
use super::graph::Graph;
use super::supernodes::{Supernode, supernodes};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// Below this many unknowns nothing is gained by cuts.
const SMALL: usize = 128;
/// Above this many, fewer candidates are tried.
const LARGE: usize = 30_000;
/// Cuts on top of each other, below which minimum degree takes over.
const DEPTHS: [usize; 7] = [1, 2, 3, 4, 5, 7, 12];

/// An ordering with its panels and domains.
#[derive(Debug)]
pub(super) struct Ordering {
    pub tree: Elimination,
    pub nodes: Vec<Supernode>,
    pub cut: Cut,
}

impl Ordering {
    pub fn of(graph: &Graph, order: &[u32]) -> Ordering {
        let tree = Elimination::of(graph, order);
        let nodes = supernodes(&tree);
        let cut = cut(&nodes);
        Ordering { tree, nodes, cut }
    }
}

/// The cheapest of approximate minimum degree and nested dissections of several depths.
pub(super) fn order(graph: &Graph, points: Option<&[[f64; 3]]>) -> Ordering {
    let mut best = Ordering::of(graph, &minimum_degree(graph));
    if graph.len() < SMALL {
        return best;
    }
    let deepest = if graph.len() < LARGE { &DEPTHS[..] } else { &DEPTHS[DEPTHS.len() - 2..] };
    let whole = dissect(graph, points, DEPTHS[DEPTHS.len() - 1]);
    let mut local = vec![u32::MAX; graph.len()];
    for &depth in deepest {
        let mut order = Vec::with_capacity(graph.len());
        below_cuts(graph, &whole, depth, &mut order, &mut local);
        let candidate = Ordering::of(graph, &order);
        if candidate.cut.cost < best.cut.cost {
            best = candidate;
        }
    }
    best
}

/// Orders the parts below the first `depth` cuts by minimum degree, and separators after them.
fn below_cuts(graph: &Graph, part: &Part, depth: usize, order: &mut Vec<u32>, local: &mut [u32]) {
    match &part.halves {
        Some(halves) if depth > 0 => {
            for half in halves.iter() {
                below_cuts(graph, half, depth - 1, order, local);
            }
            order.extend(&part.vertices);
        }
        _ => {
            let mut vertices = Vec::new();
            part.collect(&mut vertices);
            vertices.sort_unstable();
            let inner = graph.induced(&vertices, local);
            order.extend(minimum_degree(&inner).iter().map(|&k| vertices[k as usize]));
        }
    }
}

/// Approximate minimum degree; the natural order where that fails.
pub(super) fn minimum_degree(graph: &Graph) -> Vec<u32> {
    let n = graph.len();
    let mut columns = vec![0usize; n + 1];
    let mut rows: Vec<usize> = Vec::new();
    for j in 0..n {
        rows.extend(graph.of_vertex(j as u32).iter().map(|&i| i as usize).filter(|&i| i < j));
        columns[j + 1] = rows.len();
    }
    let upper = SymbolicSparseColMatRef::new_checked(n, n, &columns, None, &rows);
    let (mut order, mut place) = (vec![0usize; n], vec![0usize; n]);
    let mut memory = MemBuffer::new(amd::order_scratch::<usize>(n, rows.len()));
    match amd::order(&mut order, &mut place, upper, Default::default(), MemStack::new(&mut memory)) {
        Ok(_) => order.into_iter().map(|v| v as u32).collect(),
        Err(_) => (0..n as u32).collect(),
    }
}
