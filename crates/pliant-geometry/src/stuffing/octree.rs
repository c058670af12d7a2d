//! The background tetrahedra: of one size, or growing inwards over an octree (Labelle and Shewchuk 2007, section 5).
//!
//! Cells grow only where they and all cells they touch are inside with every point in its place, so that whatever is
//! cut or moved is of the finest size, and cells that touch differ by one level at most, over corners too.

use super::field::CutLattice;
use super::lattice::{BccLattice, around_face, count, flat, octant};
use glam::IVec3;

/// The level of the octree's leaf that each of the finest cells is in; its width is 2 to that power cells.
pub(super) struct OctreeLevels {
    cells: IVec3,
    of_cell: Vec<u8>,
}

impl OctreeLevels {
    /// All of the finest size.
    pub fn uniform(lattice: &BccLattice) -> OctreeLevels {
        OctreeLevels { cells: lattice.cells, of_cell: vec![0; count(lattice.cells)] }
    }

    /// As coarse as can be inside.
    pub fn graded(field: &CutLattice) -> OctreeLevels {
        let lattice = &field.lattice;
        let mut levels = OctreeLevels::uniform(lattice);
        let within = |cell: IVec3| {
            let mut points = (0..8).map(|i| 2 * (cell + octant(i))).chain([2 * cell + 1]);
            points.all(|at| field.sign[lattice.index(at) as usize] == 1)
        };
        let mut fine: Vec<bool> = lattice.each_cell().map(within).collect();
        let mut size = lattice.cells;
        for level in 1..=20 {
            let next = size / 2;
            let coarse: Vec<bool> = each(next)
                .map(|block| {
                    let mut around = each(IVec3::splat(4)).map(|offset| 2 * block + offset - 1);
                    around.all(|at| at.min_element() >= 0 && at.cmplt(size).all() && fine[flat(at, size)])
                })
                .collect();
            if !coarse.contains(&true) {
                break;
            }
            for block in each(next).filter(|&block| coarse[flat(block, next)]) {
                for offset in each(IVec3::splat(1 << level)) {
                    levels.of_cell[flat((block << level) + offset, levels.cells)] = level;
                }
            }
            (fine, size) = (coarse, next);
        }
        levels
    }

    fn of(&self, cell: IVec3) -> Option<u8> {
        let there = cell.min_element() >= 0 && cell.cmplt(self.cells).all();
        there.then(|| self.of_cell[flat(cell, self.cells)])
    }

    /// Calls `add` with every background tetrahedron, as points in doubled coordinates.
    pub fn each_tet(&self, mut add: impl FnMut([IVec3; 4])) {
        for cell in each(self.cells) {
            let level = self.of_cell[flat(cell, self.cells)];
            let width = 1 << level;
            if cell % width != IVec3::ZERO {
                continue;
            }
            for axis in 0..3 {
                let step = IVec3::AXES[axis];
                if self.of(cell + width * step) == Some(level) {
                    self.between_equals(cell, axis, level, &mut add);
                }
                for (beyond, side) in [(cell + width * step, step), (cell - step, -step)] {
                    if self.of(beyond).is_some_and(|other| other > level) {
                        towards_larger(cell, beyond, side, width, &mut add);
                    }
                }
            }
        }
    }

    /// Both centres and an edge of the face between them; halves where smaller cells split the edge.
    fn between_equals(&self, cell: IVec3, axis: usize, level: u8, add: &mut impl FnMut([IVec3; 4])) {
        let shrunk = around_face(cell >> level, axis);
        for tet in shrunk.map(|tet| tet.map(|at| at << level)) {
            let [a, b, from, to] = tet;
            let middle = (from + to) / 2;
            let smaller = |i| self.of(middle / 2 - octant(i)).is_some_and(|other| other < level);
            if level > 0 && (0..8).any(smaller) {
                add([a, b, from, middle]);
                add([a, b, middle, to]);
            } else {
                add(tet);
            }
        }
    }
}

/// From a face of a cell to both centres, when the cell beyond it is twice as large: the face is split from the middle
/// of the larger face to the corner of it.
fn towards_larger(cell: IVec3, beyond: IVec3, side: IVec3, width: i32, add: &mut impl FnMut([IVec3; 4])) {
    let center = 2 * cell + width;
    let face = center + width * side;
    let larger = 2 * (beyond - beyond % (2 * width)) + 2 * width;
    let middle = larger - 2 * width * side;
    let corner = 2 * face - middle;
    // The other two corners of the square, each sharing one coordinate with the middle of the larger face.
    let across = corner - middle;
    for axis in (0..3).filter(|&axis| across[axis] != 0) {
        let other = middle + across * IVec3::AXES[axis];
        add([center, middle, other, corner]);
        add([larger, middle, other, corner]);
    }
}

/// All places in a box, x fastest.
fn each(size: IVec3) -> impl Iterator<Item = IVec3> {
    (0..size.z)
        .flat_map(move |z| (0..size.y).flat_map(move |y| (0..size.x).map(move |x| IVec3::new(x, y, z))))
}
