//! The elimination tree of an ordered graph and the column counts of its Cholesky factor.

use super::graph::{Graph, inverse};

const NONE: u32 = u32::MAX;

/// An ordering whose numbers are a postorder of its elimination tree.
#[derive(Debug)]
pub(super) struct Elimination {
    /// `order[new]` = old.
    pub order: Vec<u32>,
    /// The parent of each column, `u32::MAX` for roots.
    pub parent: Vec<u32>,
    /// Entries of each column of the factor, with the diagonal.
    pub count: Vec<u32>,
}

impl Elimination {
    /// Postorders `order` (which changes nothing about the fill) and counts.
    pub fn of(graph: &Graph, order: &[u32]) -> Elimination {
        let tree = parents(graph, order, &inverse(order));
        let post = postorder(&tree);
        let order: Vec<u32> = post.iter().map(|&k| order[k as usize]).collect();
        let place = inverse(&post);
        let parent: Vec<u32> = post
            .iter()
            .map(|&k| tree[k as usize])
            .map(|p| if p == NONE { NONE } else { place[p as usize] })
            .collect();
        let count = counts(graph, &order, &inverse(&order), &parent);
        Elimination { order, parent, count }
    }
}

/// Liu's algorithm: the root of the tree grown so far becomes a child of the next row coupled to it.
fn parents(graph: &Graph, order: &[u32], place: &[u32]) -> Vec<u32> {
    let mut parent = vec![NONE; order.len()];
    let mut ancestor = vec![NONE; order.len()];
    for (j, &v) in order.iter().enumerate() {
        for &u in graph.of_vertex(v) {
            let mut i = place[u as usize];
            while i < j as u32 {
                let next = std::mem::replace(&mut ancestor[i as usize], j as u32);
                if next == NONE {
                    parent[i as usize] = j as u32;
                }
                i = next; // NONE ends the walk
            }
        }
    }
    parent
}

/// Children before parents, each subtree in one run; children in the order of their numbers.
pub(super) fn postorder(parent: &[u32]) -> Vec<u32> {
    let n = parent.len();
    let (mut first, mut next) = (vec![NONE; n + 1], vec![NONE; n]);
    for k in (0..n).rev() {
        let p = (parent[k] as usize).min(n);
        next[k] = first[p];
        first[p] = k as u32;
    }
    let mut post = Vec::with_capacity(n);
    let mut stack = Vec::new();
    let mut root = first[n];
    while root != NONE {
        stack.push(root);
        while let Some(&top) = stack.last() {
            let child = first[top as usize];
            if child == NONE {
                stack.pop();
                post.push(top);
            } else {
                first[top as usize] = next[child as usize];
                stack.push(child);
            }
        }
        root = next[root as usize];
    }
    post
}

/// Column counts after Gilbert, Ng and Peyton (1994): row i of the factor is a subtree of the
/// elimination tree, counted by its leaves and their lowest common ancestors.
fn counts(graph: &Graph, order: &[u32], place: &[u32], parent: &[u32]) -> Vec<u32> {
    let n = order.len();
    let mut delta = vec![0i64; n];
    let mut first = vec![NONE; n];
    for k in 0..n {
        delta[k] = i64::from(first[k] == NONE);
        let mut j = k as u32;
        while j != NONE && first[j as usize] == NONE {
            first[j as usize] = k as u32;
            j = parent[j as usize];
        }
    }
    let mut last_first = vec![NONE; n];
    let mut last_leaf = vec![NONE; n];
    let mut ancestor: Vec<u32> = (0..n as u32).collect();
    for j in 0..n {
        if parent[j] != NONE {
            delta[parent[j] as usize] -= 1;
        }
        for &u in graph.of_vertex(order[j]) {
            let i = place[u as usize] as usize;
            let seen = last_first[i];
            if i <= j || (seen != NONE && first[j] <= seen) {
                continue;
            }
            last_first[i] = first[j];
            delta[j] += 1;
            let before = std::mem::replace(&mut last_leaf[i], j as u32);
            if before == NONE {
                continue;
            }
            let mut meet = before;
            while meet != ancestor[meet as usize] {
                meet = ancestor[meet as usize];
            }
            let mut s = before;
            while s != meet {
                s = std::mem::replace(&mut ancestor[s as usize], meet);
            }
            delta[meet as usize] -= 1;
        }
        if parent[j] != NONE {
            ancestor[j] = parent[j];
        }
    }
    for j in 0..n {
        if parent[j] != NONE {
            delta[parent[j] as usize] += delta[j];
        }
    }
    delta.into_iter().map(|d| d as u32).collect()
}
