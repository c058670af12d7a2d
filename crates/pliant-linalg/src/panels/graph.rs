//! The graph of a symmetric matrix: who is coupled to whom.

use crate::SymmetricMatrix;

/// Neighbours of each vertex, ascending, without the vertex itself.
#[derive(Debug)]
pub(super) struct Graph {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
}

impl Graph {
    pub fn of(matrix: &SymmetricMatrix) -> Graph {
        let n = matrix.size;
        let entries = || {
            (0..n).flat_map(|j| {
                matrix.rows[matrix.columns[j]..matrix.columns[j + 1]]
                    .iter()
                    .map(move |&i| (i, j))
                    .filter(|(i, j)| i != j)
            })
        };
        let mut offsets = vec![0; n + 1];
        for (i, j) in entries() {
            offsets[i + 1] += 1;
            offsets[j + 1] += 1;
        }
        for k in 0..n {
            offsets[k + 1] += offsets[k];
        }
        // By columns, first the earlier neighbours and then the later ones: both come in order.
        let mut next = offsets.clone();
        let mut neighbours = vec![0; offsets[n]];
        for (i, j) in entries() {
            neighbours[next[i]] = j as u32;
            next[i] += 1;
        }
        for (i, j) in entries() {
            neighbours[next[j]] = i as u32;
            next[j] += 1;
        }
        Graph { offsets, neighbours }
    }

    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn of_vertex(&self, v: u32) -> &[u32] {
        &self.neighbours[self.offsets[v as usize]..self.offsets[v as usize + 1]]
    }

    /// The part spanned by `vertices`, numbered as they come; `local` is working memory of the size of
    /// the whole graph, filled with `u32::MAX` before and after.
    pub fn induced(&self, vertices: &[u32], local: &mut [u32]) -> Graph {
        for (k, &v) in vertices.iter().enumerate() {
            local[v as usize] = k as u32;
        }
        let mut offsets = Vec::with_capacity(vertices.len() + 1);
        let mut neighbours = Vec::new();
        offsets.push(0);
        for &v in vertices {
            neighbours
                .extend(self.of_vertex(v).iter().map(|&u| local[u as usize]).filter(|&u| u != u32::MAX));
            offsets.push(neighbours.len());
        }
        for &v in vertices {
            local[v as usize] = u32::MAX;
        }
        Graph { offsets, neighbours }
    }
}

/// `inverse[order[k]] = k`
pub(super) fn inverse(order: &[u32]) -> Vec<u32> {
    let mut inverse = vec![0; order.len()];
    for (k, &v) in order.iter().enumerate() {
        inverse[v as usize] = k as u32;
    }
    inverse
}
