//! Lattice cells cut into tetrahedra that share the cells' corners.

use crate::lattice::Lattice;
use crate::shapes::TetStyle;
use crate::tet_mesh::TetMesh;
use glam::DVec3;

/// Cells joined by faces into one part, and their corners.
pub(crate) struct CellBlock {
    cells: Vec<[i32; 3]>,
    spacing: f64,
    /// Corners of the cells in whole steps, sorted by z, then y, then x.
    pub nodes: Vec<[i32; 3]>,
    /// Cells that were left out because they hang on the rest by an edge or a corner at most.
    pub left_out: usize,
}

/// Order of cells and corners.
fn key(c: &[i32; 3]) -> [i32; 3] {
    [c[2], c[1], c[0]]
}

fn find(sorted: &[[i32; 3]], c: [i32; 3]) -> Option<usize> {
    sorted.binary_search_by_key(&key(&c), key).ok()
}

/// The corner of a cell, numbered by bits: 1 for +x, 2 for +y, 4 for +z.
fn corner(cell: [i32; 3], bits: u8) -> [i32; 3] {
    [cell[0] + i32::from(bits & 1), cell[1] + i32::from(bits >> 1 & 1), cell[2] + i32::from(bits >> 2)]
}

impl CellBlock {
    /// The largest part of the lattice that is joined by faces (the first, of equally large ones). Cells that meet
    /// at an edge alone, a hinge, are joined first by whichever cell between them lies deeper; `depth` is a
    /// cell's distance from the surface, negative inside.
    pub fn new(lattice: &Lattice, depth: &dyn Fn(DVec3) -> f64) -> CellBlock {
        let spacing = lattice.spacing();
        let all =
            join_hinges(lattice.cells(), &|c| depth((DVec3::from_array(c.map(f64::from)) + 0.5) * spacing));
        let cells = largest_part(&all);
        let mut nodes: Vec<[i32; 3]> =
            cells.iter().flat_map(|&c| (0..8).map(move |bits| corner(c, bits))).collect();
        nodes.sort_unstable_by_key(key);
        nodes.dedup();
        CellBlock { left_out: all.len() - cells.len(), cells, spacing, nodes }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Five tetrahedra a cell. A block symmetric about a coordinate plane gets symmetric ones: mirrored cells are
    /// of the other colour of the chessboard, whose cut is the mirrored one.
    pub fn tetrahedra(&self) -> TetMesh {
        let node = |at: [i32; 3]| find(&self.nodes, at).map_or(0, |i| i as u32);
        let mut mesh = TetMesh::default();
        mesh.points.extend(self.nodes.iter().map(|n| DVec3::from_array(n.map(f64::from)) * self.spacing));
        for &cell in &self.cells {
            let corners: [u32; 8] = std::array::from_fn(|bits| node(corner(cell, bits as u8)));
            let cut = TetStyle::Five.cut(cell);
            mesh.tetrahedra.extend(cut.iter().map(|t| t.map(|bits| corners[usize::from(bits)])));
        }
        mesh
    }
}

/// How often cells are looked over for hinges: one that is put in may make another.
const ROUNDS: usize = 4;

fn join_hinges(cells: &[[i32; 3]], depth: &dyn Fn([i32; 3]) -> f64) -> Vec<[i32; 3]> {
    let mut cells = cells.to_vec();
    for _ in 0..ROUNDS {
        let mut more = Vec::new();
        for &cell in &cells {
            for (a, b, side) in [(0, 1, 1), (0, 1, -1), (1, 2, 1), (1, 2, -1), (2, 0, 1), (2, 0, -1)] {
                let (mut p, mut q) = (cell, cell);
                p[a] += 1;
                q[b] += side;
                let mut across = p;
                across[b] += side;
                let is_in = |c: [i32; 3]| find(&cells, c).is_some();
                if !is_in(across) || is_in(p) || is_in(q) {
                    continue;
                }
                let (of_p, of_q) = (depth(p), depth(q));
                // Both where they are alike, so that what is symmetric stays so.
                let alike = (of_p - of_q).abs() <= 1e-9 * of_p.abs();
                more.extend(
                    [(p, of_p <= of_q), (q, of_q <= of_p)].into_iter().filter(|c| alike || c.1).map(|c| c.0),
                );
            }
        }
        if more.is_empty() {
            break;
        }
        cells.extend(more);
        cells.sort_unstable_by_key(key);
        cells.dedup();
    }
    cells
}

fn largest_part(cells: &[[i32; 3]]) -> Vec<[i32; 3]> {
    let mut part = vec![usize::MAX; cells.len()];
    let mut sizes = Vec::new();
    let mut open = Vec::new();
    for first in 0..cells.len() {
        if part[first] != usize::MAX {
            continue;
        }
        let mut size = 0;
        open.push(first);
        part[first] = sizes.len();
        while let Some(at) = open.pop() {
            size += 1;
            for (axis, step) in [(0, -1), (0, 1), (1, -1), (1, 1), (2, -1), (2, 1)] {
                let mut beside = cells[at];
                beside[axis] += step;
                if let Some(next) = find(cells, beside).filter(|&next| part[next] == usize::MAX) {
                    part[next] = sizes.len();
                    open.push(next);
                }
            }
        }
        sizes.push(size);
    }
    let largest = (0..sizes.len()).rev().max_by_key(|&p| sizes[p]).unwrap_or_default();
    cells.iter().zip(&part).filter(|(_, p)| **p == largest).map(|(&c, _)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hinges_are_joined_by_the_deeper_cell() {
        let cells = [[0, 0, 0], [1, 1, 0]];
        assert_eq!(join_hinges(&cells, &|c| f64::from(c[0])), [[0, 0, 0], [0, 1, 0], [1, 1, 0]]);
        assert_eq!(join_hinges(&cells, &|_| 0.0).len(), 4);
    }

    #[test]
    fn parts_that_touch_at_an_edge_are_left_out() {
        let cells = [[0, 0, 0], [1, 0, 0], [2, 1, 0], [3, 1, 0], [4, 1, 0], [1, 1, 1]];
        assert_eq!(largest_part(&cells), [[2, 1, 0], [3, 1, 0], [4, 1, 0]]);
        assert_eq!(largest_part(&[]), Vec::<[i32; 3]>::new());
    }
}
