//! The prefactored system: sparse Cholesky by faer behind a type of our own.

use crate::SymmetricMatrix;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side};

/// The matrix could not be factored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotPositiveDefinite {
    /// What went wrong, in the factorisation's words.
    pub reason: String,
}

impl std::fmt::Display for NotPositiveDefinite {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the system matrix is not positive definite: {}", self.reason)
    }
}

impl std::error::Error for NotPositiveDefinite {}

/// Working memory of the solves, made once so that solving allocates nothing.
pub struct Scratch(MemBuffer);

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

/// A sparse symmetric positive definite matrix, ordered (approximate minimum degree) and factored.
#[derive(Debug)]
pub struct SparseSpd {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

impl SparseSpd {
    /// Orders and factors `matrix`.
    pub fn factor(matrix: &SymmetricMatrix) -> Result<SparseSpd, NotPositiveDefinite> {
        let n = matrix.size;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &matrix.columns, None, &matrix.rows);
        let symbolic = factorize_symbolic_cholesky(
            pattern,
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|e| NotPositiveDefinite { reason: format!("{e:?}") })?;
        let mut spd = SparseSpd { values: vec![0.0; symbolic.len_val()], symbolic };
        spd.refactor(matrix)?;
        Ok(spd)
    }

    /// Factors another matrix of the same pattern, keeping the ordering.
    pub fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<(), NotPositiveDefinite> {
        self.refactor_in(matrix, &mut self.factor_scratch())
    }

    /// Factors another matrix of the same pattern in memory made once by [`SparseSpd::factor_scratch`]; allocates
    /// nothing. Fails, as [`refactor`](SparseSpd::refactor) does, where it is not positive definite.
    pub fn refactor_in(
        &mut self,
        matrix: &SymmetricMatrix,
        scratch: &mut Scratch,
    ) -> Result<(), NotPositiveDefinite> {
        if let Some(bad) = matrix.values.iter().find(|v| !v.is_finite()) {
            return Err(NotPositiveDefinite { reason: format!("it has an entry {bad}") });
        }
        let n = matrix.size;
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &matrix.columns, None, &matrix.rows);
        let a = SparseColMatRef::new(pattern, &matrix.values);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.values,
                a,
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut scratch.0),
                Default::default(),
            )
            .map(drop)
            .map_err(|e| NotPositiveDefinite { reason: format!("{e:?}") })
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.symbolic.nrows()
    }

    /// Numbers stored in the factor.
    pub fn factor_len(&self) -> usize {
        self.values.len()
    }

    /// Memory for factoring.
    pub fn factor_scratch(&self) -> Scratch {
        Scratch(MemBuffer::new(
            self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
        ))
    }

    /// Memory for solves with up to three columns.
    pub fn scratch(&self) -> Scratch {
        let need = |columns| self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
        Scratch(MemBuffer::new(StackReq::or(need(1), need(3))))
    }

    /// Solves A X = B in place for the columns of `rhs`, one after the other in memory; their number
    /// is 1 or 3 and follows from the length.
    pub fn solve(&self, rhs: &mut [f64], scratch: &mut Scratch) {
        let n = self.size();
        if n == 0 {
            return;
        }
        let columns = rhs.len() / n;
        debug_assert!(rhs.len() == columns * n && (columns == 1 || columns == 3));
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, n, columns),
            Par::Seq,
            MemStack::new(&mut scratch.0),
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::{SparseSpd, SymmetricBuilder};

    pub(crate) fn grid_laplacian(n: usize, shift: f64) -> SymmetricBuilder {
        let mut m = SymmetricBuilder::new(n * n);
        for y in 0..n {
            for x in 0..n {
                let i = y * n + x;
                m.add(i, i, shift);
                for j in [(x + 1 < n).then_some(i + 1), (y + 1 < n).then_some(i + n)].into_iter().flatten() {
                    m.add(i, i, 1.0);
                    m.add(j, j, 1.0);
                    m.add(i, j, -1.0);
                }
            }
        }
        m
    }

    #[test]
    fn solves_three_columns_to_rounding() {
        let a = grid_laplacian(20, 0.01).build();
        let spd = SparseSpd::factor(&a).unwrap();
        let n = a.size();
        let x: Vec<f64> = (0..3 * n).map(|i| ((i * 37) % 101) as f64 / 50.0 - 1.0).collect();
        let mut b = vec![0.0; 3 * n];
        for c in 0..3 {
            a.multiply(&x[c * n..][..n], &mut b[c * n..][..n]);
        }
        spd.solve(&mut b, &mut spd.scratch());
        assert!(x.iter().zip(&b).all(|(x, b)| (x - b).abs() < 1e-11));
    }

    #[test]
    fn refuses_what_is_not_positive_definite() {
        let mut m = SymmetricBuilder::new(2);
        m.add(0, 0, 1.0);
        m.add(1, 1, -1.0);
        assert!(SparseSpd::factor(&m.build()).is_err());
        let mut m = SymmetricBuilder::new(1);
        m.add(0, 0, f64::NAN);
        assert!(SparseSpd::factor(&m.build()).is_err());
    }

    #[test]
    fn an_empty_system_is_solved_by_nothing() {
        let spd = SparseSpd::factor(&SymmetricBuilder::new(0).build()).unwrap();
        spd.solve(&mut [], &mut spd.scratch());
    }
}
