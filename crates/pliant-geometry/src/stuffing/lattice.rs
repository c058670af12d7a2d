//! The body-centred cubic lattice: corners of cubic cells and their centres, in a box around a middle.

use glam::{DVec3, IVec3};

/// Points are named by doubled coordinates: corners are even, centres odd, and both run from 0 to twice the cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct BccLattice {
    /// Cells along each axis.
    pub cells: IVec3,
    /// Where the middle of the box is.
    pub middle: DVec3,
    /// Width of a cell.
    pub cell: f64,
}

impl BccLattice {
    /// Number of points.
    pub fn len(&self) -> usize {
        self.corners() + count(self.cells)
    }

    fn corners(&self) -> usize {
        count(self.cells + 1)
    }

    /// The index of a point.
    pub fn index(&self, at: IVec3) -> u32 {
        let half = at / 2;
        if at.x % 2 == 0 {
            flat(half, self.cells + 1) as u32
        } else {
            (self.corners() + flat(half, self.cells)) as u32
        }
    }

    /// The point of an index.
    pub fn at(&self, index: u32) -> IVec3 {
        let (index, corners) = (index as usize, self.corners());
        if index < corners {
            2 * unflat(index, self.cells + 1)
        } else {
            2 * unflat(index - corners, self.cells) + 1
        }
    }

    /// Where a point is in space. The middle is added last, so that opposite points are opposite to the bit.
    pub fn position(&self, at: IVec3) -> DVec3 {
        self.middle + (at - self.cells).as_dvec3() * (0.5 * self.cell)
    }

    /// Whether a point is a corner on the box or a centre next to it.
    pub fn at_border(&self, at: IVec3) -> bool {
        at.min_element() < 2 || (2 * self.cells - at).min_element() < 2
    }

    /// The neighbours of a point that come later: along the axes, and from a centre to the corners around it.
    pub fn later_neighbours(&self, at: IVec3) -> impl Iterator<Item = IVec3> + use<'_> {
        let axes = IVec3::AXES.into_iter().map(move |axis| at + 2 * axis);
        let around = if at.x % 2 == 0 { 0 } else { 8 };
        let diagonals = (0..around).map(move |i| at + 2 * octant(i) - 1);
        axes.chain(diagonals).filter(|to| (2 * self.cells - to).min_element() >= 0)
    }

    /// The cells in order, x fastest.
    pub fn each_cell(&self) -> impl Iterator<Item = IVec3> + use<> {
        let cells = self.cells;
        (0..count(cells)).map(move |i| unflat(i, cells))
    }
}

/// One of the eight corners of a unit cube.
pub(super) fn octant(i: i32) -> IVec3 {
    IVec3::new(i & 1, i >> 1 & 1, i >> 2 & 1)
}

pub(super) fn count(size: IVec3) -> usize {
    size.to_array().into_iter().map(|n| n as usize).product()
}

/// The place of a cell in rows along x, then y, then z.
pub(super) fn flat(at: IVec3, size: IVec3) -> usize {
    let [x, y, z] = at.to_array().map(|i| i as usize);
    x + size.x as usize * (y + size.y as usize * z)
}

fn unflat(index: usize, size: IVec3) -> IVec3 {
    let (x, y) = (size.x as usize, size.y as usize);
    IVec3::new((index % x) as i32, (index / x % y) as i32, (index / x / y) as i32)
}

/// The four background tetrahedra about the face that joins the cell at `cell` to the next along an axis: both
/// centres and an edge of the face between them.
pub(super) fn around_face(cell: IVec3, axis: usize) -> [[IVec3; 4]; 4] {
    let (u, v, w) = (IVec3::AXES[axis], IVec3::AXES[(axis + 1) % 3], IVec3::AXES[(axis + 2) % 3]);
    let center = 2 * cell + 1;
    let ring = [v + w, w - v, -v - w, v - w].map(|offset| center + u + offset);
    std::array::from_fn(|i| [center, center + 2 * u, ring[i], ring[(i + 1) % 4]])
}
