//! Numbers the unknowns by domain and lays the panels out, all before any number is known.

use super::cut::Cut;
use super::elimination::Elimination;
use super::graph::{Graph, inverse};
use super::kernels::{Block, Panel, Vector8};
use super::supernodes::Supernode;
use std::ops::Range;

/// The columns of a panel and the rows below, in the final numbers of the unknowns.
#[derive(Clone, Debug)]
pub(super) struct PanelShape {
    pub columns: Range<usize>,
    pub below: Vec<u32>,
    /// The block that holds it and its place there.
    pub block: usize,
    pub panel: usize,
}

/// What depends on the pattern alone.
#[derive(Debug)]
pub(super) struct PanelLayout {
    /// `order[new]` = old.
    pub order: Vec<u32>,
    pub shapes: Vec<PanelShape>,
    /// The unknowns of each block: domains from 0 on, the top last.
    pub ranges: Vec<Range<usize>>,
    /// Panels to be filled with numbers.
    pub blocks: Vec<Block>,
}

pub(super) fn layout(graph: &Graph, tree: &Elimination, nodes: &[Supernode], cut: &Cut) -> PanelLayout {
    let mut sequence: Vec<usize> = (0..nodes.len()).collect();
    sequence.sort_by_key(|&k| cut.domain[k]); // stable: children stay before parents
    let columns = sequence.iter().flat_map(|&k| &nodes[k].columns);
    let order: Vec<u32> = columns.map(|&c| tree.order[c as usize]).collect();
    let mut ranges = vec![0..0; cut.domains + 1];
    let shapes = shapes(graph, nodes, cut, &sequence, &order, &mut ranges);
    let blocks = ranges
        .iter()
        .enumerate()
        .map(|(d, range)| block(&shapes, d, range, ranges[cut.domains].start))
        .collect();
    PanelLayout { order, shapes, ranges, blocks }
}

/// Rows of a panel: what its columns are coupled to in the matrix, and what its children leave.
fn shapes(
    graph: &Graph,
    nodes: &[Supernode],
    cut: &Cut,
    sequence: &[usize],
    order: &[u32],
    ranges: &mut [Range<usize>],
) -> Vec<PanelShape> {
    let place = inverse(order);
    let mut inherited: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    let mut seen = vec![u32::MAX; order.len()];
    let mut in_block = vec![0; ranges.len()];
    let mut shapes: Vec<PanelShape> = Vec::with_capacity(nodes.len());
    let (mut start, mut last) = (0, 0);
    for (s, &k) in sequence.iter().enumerate() {
        let node = &nodes[k];
        let end = start + node.columns.len();
        let mut below = Vec::with_capacity(node.below as usize);
        let mut take = |row: u32| {
            if row as usize >= end && std::mem::replace(&mut seen[row as usize], s as u32) != s as u32 {
                below.push(row);
            }
        };
        for &v in &order[start..end] {
            graph.of_vertex(v).iter().for_each(|&u| take(place[u as usize]));
        }
        for child in std::mem::take(&mut inherited[k]) {
            shapes[child].below.iter().for_each(|&row| take(row));
        }
        below.sort_unstable();
        debug_assert_eq!(below.len(), node.below as usize);
        if node.parent != u32::MAX {
            inherited[node.parent as usize].push(s);
        }
        let block = cut.domain[k] as usize;
        for range in &mut ranges[last + 1..=block.max(last)] {
            *range = start..start;
        }
        last = block;
        ranges[block].end = end;
        shapes.push(PanelShape { columns: start..end, below, block, panel: in_block[block] });
        in_block[block] += 1;
        start = end;
    }
    for range in &mut ranges[last + 1..] {
        *range = start..start;
    }
    shapes
}

/// The empty panels of one block.
fn block(shapes: &[PanelShape], number: usize, range: &Range<usize>, top: usize) -> Block {
    let mine = || shapes.iter().filter(|s| s.block == number);
    let mut boundary: Vec<u32> = mine()
        .flat_map(|s| &s.below)
        .filter(|&&row| row as usize >= range.end)
        .map(|&row| row - top as u32)
        .collect();
    boundary.sort_unstable();
    boundary.dedup();
    let own = range.len();
    let local = |row: usize| match row < range.end {
        true => (row - range.start) as u32,
        false => (own + boundary.partition_point(|&b| (b as usize) < row - top)) as u32,
    };
    let padding = (own + boundary.len()) as u32;
    let mut block = Block { own, ..Block::default() };
    let mut vectors = 0;
    for shape in mine() {
        let width = shape.columns.len();
        let all = shape.columns.clone().chain(shape.below.iter().map(|&row| row as usize));
        let rows: Vec<u32> = all.map(local).collect();
        let blocks = rows.len().div_ceil(8);
        block.panels.push(Panel {
            first: local(shape.columns.start),
            width: width as u32,
            rows: block.rows.len() as u32,
            blocks: blocks as u32,
            data: vectors,
        });
        for part in rows.chunks(8) {
            let mut padded = [padding; 8];
            padded[..part.len()].copy_from_slice(part);
            block.rows.push(padded);
        }
        vectors += blocks * width;
        block.tallest = block.tallest.max(blocks);
    }
    block.data = vec![Vector8::ZERO; vectors];
    block.boundary = boundary;
    block
}
