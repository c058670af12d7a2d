//! Where the elimination tree is cut into domains that threads solve apart, and a top they share.

use super::supernodes::{Supernode, costs};
use std::cmp::Reverse;

/// At most so many domains.
pub(super) const DOMAINS: usize = 16;
/// Splits looked at beyond the forest's own roots.
const SPLITS: usize = 96;
/// A top and two meetings of the threads must be worth it (in the unit of the costs).
const MEETING: u64 = 12_000;

/// Supernodes by domain, and what that costs.
#[derive(Debug)]
pub(super) struct Cut {
    /// The domain of each supernode; `domains` for those of the top.
    pub domain: Vec<u32>,
    pub domains: usize,
    /// Solve on one thread plus solve on two: by this orderings are compared.
    pub cost: u64,
}

/// Cuts by work alone, so that it is the same for every number of threads: the heaviest subtree is
/// split, its root moved to the top, until two threads (and next, eight) have the least to wait for.
pub(super) fn cut(nodes: &[Supernode]) -> Cut {
    let work = costs(nodes);
    let total: u64 = work.iter().sum();
    let mut below = work.clone();
    let mut children: Vec<Vec<u32>> = vec![Vec::new(); nodes.len()];
    let mut pieces = Vec::new();
    for (k, node) in nodes.iter().enumerate() {
        match node.parent {
            u32::MAX => pieces.push(k as u32),
            p => {
                below[p as usize] += below[k];
                children[p as usize].push(k as u32);
            }
        }
    }
    let weigh = |pieces: &[u32], top: u64| {
        let bins = bins(pieces, &below);
        let loads: Vec<u64> = bins.iter().map(|b| b.iter().map(|&p| below[p as usize]).sum()).collect();
        let carried: u64 = pieces.iter().map(|&p| 12 * u64::from(nodes[p as usize].below)).sum();
        let meeting = if bins.len() > 1 { MEETING } else { 0 };
        let alone = top + carried + meeting;
        (alone + makespan(&loads, 2), alone + makespan(&loads, 8))
    };
    let mut top = 0;
    let (mut best, mut best_pieces) = (u64::MAX, Vec::new());
    let mut best_two = total;
    for _ in 0..SPLITS {
        pieces.sort_by_key(|&p| (Reverse(below[p as usize]), p));
        let (two, eight) = weigh(&pieces, top);
        if two + eight / 8 < best {
            best = two + eight / 8;
            best_two = two;
            best_pieces.clone_from(&pieces);
        }
        // Below a small part of the whole, nothing is left to even out.
        let Some(&heaviest) = pieces.first().filter(|&&p| 64 * below[p as usize] > total) else { break };
        let heaviest = heaviest as usize;
        pieces.remove(0);
        top += work[heaviest];
        if top > total / 2 {
            break;
        }
        pieces.extend(&children[heaviest]);
    }
    let bins = bins(&best_pieces, &below);
    let mut domain = vec![bins.len() as u32; nodes.len()];
    for (d, bin) in bins.iter().enumerate() {
        for &p in bin {
            domain[p as usize] = d as u32;
        }
    }
    for k in (0..nodes.len()).rev() {
        let p = nodes[k].parent;
        if p != u32::MAX && domain[p as usize] < bins.len() as u32 {
            domain[k] = domain[p as usize];
        }
    }
    Cut { domain, domains: bins.len(), cost: total + best_two }
}

/// Shares pieces, heaviest first, over the domains: each to the one with the least so far.
fn bins(pieces: &[u32], weight: &[u64]) -> Vec<Vec<u32>> {
    let mut bins = vec![(0u64, Vec::new()); pieces.len().min(DOMAINS)];
    for &p in pieces {
        if let Some(bin) = bins.iter_mut().min_by_key(|(load, _)| *load) {
            bin.0 += weight[p as usize].max(1);
            bin.1.push(p);
        }
    }
    bins.into_iter().map(|(_, members)| members).collect()
}

/// The time of the busiest of `threads` threads.
fn makespan(loads: &[u64], threads: usize) -> u64 {
    let mut sorted = loads.to_vec();
    sorted.sort_unstable_by_key(|&l| Reverse(l));
    let mut busy = vec![0u64; threads];
    for load in sorted {
        if let Some(least) = busy.iter_mut().min() {
            *least += load;
        }
    }
    busy.into_iter().max().unwrap_or(0)
}
