//! Columns of like structure joined into panels, wide enough to be fast.

use super::elimination::Elimination;

const NONE: u32 = u32::MAX;

/// Columns that are eliminated together.
#[derive(Clone, Debug)]
pub(super) struct Supernode {
    /// Columns, ascending, as numbers of the [`Elimination`].
    pub columns: Vec<u32>,
    /// Rows below the columns.
    pub below: u32,
    /// The supernode of the first row below, `u32::MAX` for roots.
    pub parent: u32,
}

/// What a panel of `width` columns and `below` rows below takes in a solve of three right-hand sides,
/// in about a fifth of a nanosecond: passes over its vectors (which come from the second-level cache or
/// beyond, and crowd out others there), sums of its tiles, indexed rows, and a start.
fn cost(width: u64, below: u64) -> u64 {
    let (tiles, rows) = (width.div_ceil(8), (width + below).div_ceil(8));
    let blocks = rows + rows - width / 8;
    (10 * width + 4 * tiles) * blocks + 8 * below + 100 * tiles + 50
}

/// The panels of an ordering, children before parents.
///
/// A child is merged into its parent where that makes the solve cheaper: columns with few rows below
/// cost more for their indices than for their numbers.
pub(super) fn supernodes(tree: &Elimination) -> Vec<Supernode> {
    let mut nodes: Vec<Supernode> = Vec::new();
    let mut node_of = vec![NONE; tree.order.len()];
    for (j, node) in node_of.iter_mut().enumerate() {
        let joins = j > 0 && tree.parent[j - 1] == j as u32 && tree.count[j - 1] == tree.count[j] + 1;
        match nodes.last_mut() {
            Some(last) if joins => {
                last.columns.push(j as u32);
                last.below -= 1;
            }
            _ => nodes.push(Supernode { columns: vec![j as u32], below: tree.count[j] - 1, parent: NONE }),
        }
        *node = nodes.len() as u32 - 1;
    }
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    let (mut merged, mut list) = (vec![false; nodes.len()], Vec::new());
    for p in 0..nodes.len() {
        let last = nodes[p].columns[nodes[p].columns.len() - 1] as usize;
        if tree.parent[last] != NONE {
            nodes[p].parent = node_of[tree.parent[last] as usize];
            children[nodes[p].parent as usize].push(p as u32);
        }
        // The children that lose the least first.
        list.clear();
        list.append(&mut children[p]);
        list.sort_by_key(|&c| std::cmp::Reverse(nodes[c as usize].below));
        let mut width = nodes[p].columns.len() as u64;
        let below = u64::from(nodes[p].below);
        let mut k = 0;
        while k < list.len() {
            let c = list[k] as usize;
            let (own, rows) = (nodes[c].columns.len() as u64, u64::from(nodes[c].below));
            if cost(own + width, below) < cost(width, below) + cost(own, rows) {
                merged[c] = true;
                width += own;
                let columns = std::mem::take(&mut nodes[c].columns);
                nodes[p].columns.extend(columns);
                list.swap_remove(k);
                list.append(&mut children[c]);
            } else {
                k += 1;
            }
        }
        for &c in &list {
            nodes[c as usize].parent = p as u32;
        }
        children[p].append(&mut list);
    }
    compact(nodes, &merged)
}

/// Without the supernodes that were merged into their parents.
fn compact(nodes: Vec<Supernode>, merged: &[bool]) -> Vec<Supernode> {
    let mut number = vec![NONE; nodes.len()];
    let mut next = 0;
    for k in 0..nodes.len() {
        if !merged[k] {
            number[k] = next;
            next += 1;
        }
    }
    let left = nodes.into_iter().zip(merged).filter(|(_, merged)| !**merged);
    left.map(|(mut node, _)| {
        node.columns.sort_unstable();
        if node.parent != NONE {
            node.parent = number[node.parent as usize];
        }
        node
    })
    .collect()
}

/// What each supernode costs in a solve.
pub(super) fn costs(nodes: &[Supernode]) -> Vec<u64> {
    nodes.iter().map(|s| cost(s.columns.len() as u64, u64::from(s.below))).collect()
}
