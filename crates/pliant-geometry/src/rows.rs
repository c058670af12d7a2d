//! Rows of few weights over many columns (compressed sparse rows): what skins are made of.

use glam::DVec3;
use std::ops::{AddAssign, Mul, Range};

/// A sparse matrix by rows: row k has the entries `offsets[k]..offsets[k + 1]`, each a column and a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseRows {
    /// `offsets[r]..offsets[r + 1]` are the entries of row `r`; no rows may be no offsets or a single zero.
    pub offsets: Vec<u32>,
    /// Column of each entry.
    pub columns: Vec<u32>,
    /// Weight of each entry.
    pub weights: Vec<f64>,
}

impl SparseRows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries of row `r` as (column, weight).
    pub fn row(&self, r: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        entries(&self.offsets, r).map(|k| (self.columns[k], self.weights[k]))
    }

    /// No rows, ready for more.
    pub fn new() -> SparseRows {
        SparseRows { offsets: vec![0], ..SparseRows::default() }
    }

    /// Appends a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        for (column, weight) in row {
            self.columns.push(column);
            self.weights.push(weight);
        }
        self.offsets.push(self.columns.len() as u32);
    }

    /// What does not fit together, if anything does not: offsets that do not rise to the number of entries, a column
    /// not below `columns`, a weight that is not finite.
    pub fn check(&self, columns: usize) -> Result<(), String> {
        check(&self.offsets, &self.columns, &self.weights, columns)
    }

    /// Row `r` times a value per column.
    #[inline]
    pub(crate) fn times<V: RowValue>(&self, r: usize, values: &[V]) -> V {
        product(&self.offsets, &self.columns, &self.weights, r, values)
    }
}

/// Where the entries of row `r` are.
pub(crate) fn entries(offsets: &[u32], r: usize) -> Range<usize> {
    offsets[r] as usize..offsets[r + 1] as usize
}

/// What rows mix: positions, or numbers.
pub(crate) trait RowValue: Copy + Default + AddAssign + Mul<f64, Output = Self> {}

impl RowValue for DVec3 {}
impl RowValue for f64 {}

#[inline]
pub(crate) fn product<V: RowValue>(
    offsets: &[u32],
    columns: &[u32],
    weights: &[f64],
    r: usize,
    values: &[V],
) -> V {
    let range = entries(offsets, r);
    let mut sum = V::default();
    for (&column, &weight) in columns[range.clone()].iter().zip(&weights[range]) {
        sum += values[column as usize] * weight;
    }
    sum
}

pub(crate) fn check(offsets: &[u32], used: &[u32], weights: &[f64], columns: usize) -> Result<(), String> {
    let rising = offsets.windows(2).all(|w| w[0] <= w[1]);
    let last = offsets.last().map_or(0, |&o| o as usize);
    if !rising || offsets.first().is_some_and(|&o| o != 0) || last != used.len() || last != weights.len() {
        return Err(format!("offsets do not fit {} entries and {} weights", used.len(), weights.len()));
    }
    if let Some(c) = used.iter().find(|&&c| c as usize >= columns) {
        return Err(format!("an entry uses {c}, but there are only {columns}"));
    }
    match weights.iter().position(|w| !w.is_finite()) {
        Some(k) => Err(format!("weight {k} is not finite")),
        None => Ok(()),
    }
}

/// Adds to a short row, joining entries of the same column.
pub(crate) fn add(row: &mut Vec<(u32, f64)>, column: u32, weight: f64) {
    match row.iter_mut().find(|e| e.0 == column) {
        Some(entry) => entry.1 += weight,
        None => row.push((column, weight)),
    }
}

/// Sorts entries by column and makes one of those of the same column, with all of their weight.
pub fn merge(entries: &mut Vec<(u32, f64)>) {
    // By weight too, so that sums do not depend on how an unstable sort leaves equals.
    entries.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}
