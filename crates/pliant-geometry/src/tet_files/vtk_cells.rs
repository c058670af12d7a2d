//! Cells of VTK files, old and new: corners in one list, where each cell ends, and what it is.

use super::draft::{FilePlace, TetDraft};
use crate::GeometryError;

/// The cells of one grid as the file gives them.
pub(super) struct VtkCells<'a> {
    pub connectivity: &'a [i64],
    /// Where each cell ends in `connectivity`.
    pub ends: &'a [i64],
    pub types: &'a [i64],
    /// What the point indices of this grid begin at, when several share a file.
    pub first_point: u64,
    /// What its cell numbers begin at.
    pub first_cell: u64,
    pub place: FilePlace,
}

const WRITER: &str = "export it again: a faulty program wrote the file, or it was changed";

impl VtkCells<'_> {
    pub fn add_to(&self, draft: &mut TetDraft) -> Result<(), GeometryError> {
        if self.ends.len() != self.types.len() {
            let message = format!("there are {} cells but {} cell types", self.ends.len(), self.types.len());
            return Err(self.place.error(message, WRITER));
        }
        let mut start = 0;
        for (i, (&end, &cell_type)) in self.ends.iter().zip(self.types).enumerate() {
            let number = self.first_cell + i as u64;
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let Some(corners) = range.and_then(|(start, end)| self.connectivity.get(start..end)) else {
                let message = format!(
                    "cell {number} has its corners from {start} to {end} in a list of {}",
                    self.connectivity.len()
                );
                return Err(self.place.error(message, WRITER));
            };
            start = end;
            let wanted = match cell_type {
                10 => 4,
                24 => 10,
                _ => {
                    draft.other(name(cell_type), 1);
                    continue;
                }
            };
            let &[a, b, c, d, ..] = corners else {
                return Err(self.wrong_count(number, corners.len(), wanted));
            };
            if corners.len() != wanted {
                return Err(self.wrong_count(number, corners.len(), wanted));
            }
            // Negative ones keep their bits: no point has such a number.
            let point = |i: i64| if i < 0 { i as u64 } else { self.first_point.saturating_add(i as u64) };
            draft.tet(number, [a, b, c, d].map(point), 0, self.place);
            if cell_type == 24 {
                draft.with_mid_edges();
            }
        }
        Ok(())
    }

    fn wrong_count(&self, number: u64, count: usize, wanted: usize) -> GeometryError {
        let message = format!("cell {number} is a tetrahedron with {count} points instead of {wanted}");
        self.place.error(message, WRITER)
    }
}

/// What a VTK cell type is called.
fn name(cell_type: i64) -> &'static str {
    match cell_type {
        1 | 2 => "points",
        3 | 4 | 21 | 35 | 68 => "lines",
        5 | 6 | 22 | 34 | 69 => "triangles",
        7 => "polygons",
        8 | 9 | 23 | 28 | 30 | 70 => "quadrilaterals",
        11 | 12 | 25 | 29 | 33 | 72 => "hexahedra",
        13 | 26 | 31 | 32 | 73 => "prisms",
        14 | 27 | 37 | 74 => "pyramids",
        71 | 78 => "tetrahedra of higher order",
        42 => "polyhedra",
        _ => "cells of other types",
    }
}
