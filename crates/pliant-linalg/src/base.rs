//! What the overlay needs of a factored matrix.

use crate::{PanelScratch, Panels, Scratch, SparseSpd};
use pliant_math::lanes::Isa;

/// A factored symmetric positive definite matrix.
pub trait Base {
    /// Working memory of a solve.
    type Scratch;

    /// Number of unknowns.
    fn size(&self) -> usize;

    /// Solves A x = b in place for one column, in the order of the matrix's rows.
    fn solve_column(&self, column: &mut [f64], scratch: &mut Self::Scratch);
}

impl Base for SparseSpd {
    type Scratch = Scratch;

    fn size(&self) -> usize {
        self.size()
    }

    fn solve_column(&self, column: &mut [f64], scratch: &mut Scratch) {
        self.solve(column, scratch);
    }
}

impl Base for Panels {
    type Scratch = PanelScratch;

    fn size(&self) -> usize {
        self.size()
    }

    fn solve_column(&self, column: &mut [f64], scratch: &mut PanelScratch) {
        self.solve_original(Isa::best(), column, scratch);
    }
}
