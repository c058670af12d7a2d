//! The constant matrix A of a batch: sparse rows, weights, and which rows make an element.

use crate::bytes::{Reader, Truncated, Writer};
use crate::points::Points;
use glam::DVec3;
use std::ops::Range;

/// Columns from this value on are auxiliary unknowns of the batch, counted from zero.
pub const AUXILIARY: u32 = 1 << 31;

/// Compressed sparse rows. Each row acts on x, y and z alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    element_ends: Vec<u32>,
    row_ends: Vec<u32>,
    columns: Vec<u32>,
    coefficients: Vec<f64>,
    weights: Vec<f64>,
}

/// Collects rows element by element.
#[derive(Debug)]
pub struct RowsBuilder(Rows);

impl Default for RowsBuilder {
    fn default() -> Self {
        RowsBuilder(Rows {
            element_ends: vec![0],
            row_ends: vec![0],
            columns: Vec::new(),
            coefficients: Vec::new(),
            weights: Vec::new(),
        })
    }
}

impl RowsBuilder {
    /// Adds a row of the present element.
    pub fn row(&mut self, weight: f64, entries: impl IntoIterator<Item = (u32, f64)>) -> &mut Self {
        for (column, c) in entries {
            self.0.columns.push(column);
            self.0.coefficients.push(c);
        }
        self.0.row_ends.push(self.0.columns.len() as u32);
        self.0.weights.push(weight);
        self
    }

    /// Ends the element that the rows since the last call belong to; one without rows is allowed.
    pub fn end_element(&mut self) -> &mut Self {
        self.0.element_ends.push(self.0.weights.len() as u32);
        self
    }

    /// The rows that were added, each in the element that was ended after it.
    pub fn build(self) -> Rows {
        self.0
    }
}

impl Rows {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// How many elements the rows are shared out to.
    pub fn elements(&self) -> usize {
        self.element_ends.len() - 1
    }

    /// The rows of consecutive elements.
    pub fn of_elements(&self, elements: Range<usize>) -> Range<usize> {
        self.element_ends[elements.start] as usize..self.element_ends[elements.end] as usize
    }

    /// Column and coefficient of each entry of a row.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + Clone + '_ {
        let range = self.row_ends[row] as usize..self.row_ends[row + 1] as usize;
        self.columns[range.clone()].iter().copied().zip(self.coefficients[range].iter().copied())
    }

    /// The weights w of all rows.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Row · q, with auxiliary unknowns `extra`.
    pub fn apply(&self, row: usize, x: &Points, extra: &Points) -> DVec3 {
        self.row(row)
            .map(|(column, c)| {
                let q = if column < AUXILIARY {
                    x.get(column as usize)
                } else {
                    extra.get((column - AUXILIARY) as usize)
                };
                q * c
            })
            .sum()
    }

    /// The same rows of other particles: one column for each entry.
    pub(super) fn with_columns(&self, columns: Vec<u32>) -> Rows {
        debug_assert_eq!(columns.len(), self.columns.len());
        Rows { columns, ..self.clone() }
    }

    /// Some of the elements, in that order, with their columns renamed: `name(element, column)`.
    pub(super) fn renamed(
        &self,
        elements: impl IntoIterator<Item = usize>,
        name: impl Fn(usize, u32) -> u32,
    ) -> Rows {
        let mut rows = RowsBuilder::default();
        for e in elements {
            for row in self.of_elements(e..e + 1) {
                rows.row(self.weights[row], self.row(row).map(|(column, c)| (name(e, column), c)));
            }
            rows.end_element();
        }
        rows.build()
    }

    pub(crate) fn encode(&self, w: &mut Writer) {
        w.indices(&self.element_ends);
        w.indices(&self.row_ends);
        w.indices(&self.columns);
        w.numbers(&self.coefficients);
        w.numbers(&self.weights);
    }

    pub(crate) fn decode(r: &mut Reader<'_>) -> Result<Rows, Truncated> {
        let rows = Rows {
            element_ends: r.indices()?,
            row_ends: r.indices()?,
            columns: r.indices()?,
            coefficients: r.numbers()?,
            weights: r.numbers()?,
        };
        let ends = |v: &[u32], last: usize| {
            v.first() == Some(&0) && v.is_sorted() && v.last().is_some_and(|&e| e as usize == last)
        };
        let sound = ends(&rows.element_ends, rows.weights.len())
            && ends(&rows.row_ends, rows.columns.len())
            && rows.row_ends.len() == rows.weights.len() + 1
            && rows.columns.len() == rows.coefficients.len();
        if sound { Ok(rows) } else { Err(Truncated) }
    }
}
