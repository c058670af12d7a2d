//! A symmetric sparse matrix, stored as its lower triangle in compressed columns.

/// Collects entries of a symmetric matrix in any order; duplicates add up.
#[derive(Clone, Debug, Default)]
pub struct SymmetricBuilder {
    size: usize,
    entries: Vec<(u32, u32, f64)>,
}

impl SymmetricBuilder {
    /// An empty matrix of `size` rows.
    pub fn new(size: usize) -> Self {
        SymmetricBuilder { size, entries: Vec::new() }
    }

    /// Adds `value` at (i, j) and, implicitly, at (j, i).
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        self.entries.push((i.min(j) as u32, i.max(j) as u32, value));
    }

    /// The matrix, with entries summed in the order of their place and, within one place, of their
    /// arrival, so that the same calls give the same bits.
    pub fn build(mut self) -> SymmetricMatrix {
        self.entries.sort_by_key(|&(column, row, _)| (column, row));
        let mut columns = vec![0usize; self.size + 1];
        let mut rows: Vec<usize> = Vec::with_capacity(self.entries.len());
        let mut values: Vec<f64> = Vec::with_capacity(self.entries.len());
        let mut last = None;
        for (column, row, value) in self.entries {
            if last == Some((column, row)) {
                if let Some(v) = values.last_mut() {
                    *v += value;
                }
                continue;
            }
            last = Some((column, row));
            columns[column as usize + 1] += 1;
            rows.push(row as usize);
            values.push(value);
        }
        for j in 0..self.size {
            columns[j + 1] += columns[j];
        }
        SymmetricMatrix { size: self.size, columns, rows, values }
    }
}

/// The lower triangle of a symmetric matrix in compressed columns.
#[derive(Clone, Debug)]
pub struct SymmetricMatrix {
    pub(crate) size: usize,
    pub(crate) columns: Vec<usize>,
    pub(crate) rows: Vec<usize>,
    pub(crate) values: Vec<f64>,
}

impl SymmetricMatrix {
    /// Number of rows.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Stored entries (of the lower triangle).
    pub fn stored(&self) -> usize {
        self.values.len()
    }

    /// Where each column's entries begin, and after the last where they end.
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The row of each entry, ascending within a column, from the diagonal down.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// The entries, column by column.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The entries to be changed: the pattern stays, and so does an ordering made for it.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// y = A x for one column.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        y.fill(0.0);
        for j in 0..self.size {
            for k in self.columns[j]..self.columns[j + 1] {
                let (i, a) = (self.rows[k], self.values[k]);
                y[i] += a * x[j];
                if i != j {
                    y[j] += a * x[i];
                }
            }
        }
    }
}
