//! The Hessian of the objective, in a pattern that is found once: filled, factored and solved anew in every
//! iteration, without sorting or allocating.
//!
//! Elements write their blocks in chunks; then every block of the matrix gathers what the elements have for
//! it, in their order: the same bits for any number of threads.

use crate::constraints::ElementHessian;
use crate::dofs::Dof;
use crate::model::Model;
use crate::points::Points;
use crate::solvers::SolverError;
use crate::solvers::objective::Hands;
use crate::solvers::unknowns::{Inertia, Unknowns};
use crate::team::{Pieces, Team};
use glam::DMat3;
use pliant_linalg::{NotPositiveDefinite, Scratch, SparseSpd, SymmetricBuilder, SymmetricMatrix};

/// Elements, and columns of the matrix, per chunk.
const CHUNK: usize = 256;
/// Marks a block that is wanted the other way round.
const TRANSPOSED: u32 = 1 << 31;

#[derive(Debug)]
pub(super) struct Hessian {
    unknowns: Unknowns,
    /// m/h² by particle.
    inertia: Inertia,
    /// Batches whose elements know their Hessian.
    curved: Vec<bool>,
    /// Inertia, and w AᵀA of all other batches: one number stands for a block that is a multiple of 1.
    constant: SymmetricMatrix,
    /// The same with w AᵀA of all batches, for when the Hessian cannot be factored.
    bound: SymmetricMatrix,
    scales: Vec<f64>,
    chunks: Vec<Chunk>,
    /// Where the blocks of each chunk end.
    block_ends: Vec<usize>,
    blocks: Vec<DMat3>,
    /// For each entry of `constant`, the blocks that add to it.
    slot_ends: Vec<u32>,
    slots: Vec<u32>,
    /// Coordinate c of unknown u is row 3u + c.
    matrix: SymmetricMatrix,
    /// Where its columns begin, and where the values of each chunk of columns end.
    starts: Vec<usize>,
    value_ends: Vec<usize>,
    factor: SparseSpd,
    factor_scratch: Scratch,
    solve_scratch: Scratch,
    column: Vec<f64>,
}

#[derive(Debug)]
struct Chunk {
    batch: usize,
    first: usize,
    elements: usize,
}

impl Hessian {
    pub fn new(model: &Model, unknowns: Unknowns, scales: &[f64], h: f64) -> Result<Hessian, SolverError> {
        let inertia = Inertia::new(model, h);
        let curved: Vec<bool> =
            (0..model.batches.len()).map(|b| unknowns.active[b] && is_curved(model, &unknowns, b)).collect();
        let bound = unknowns.matrix(model, scales, &inertia);
        let mut matrix = spread(&bound);
        let starts = matrix.columns().to_vec();
        fill(&bound, &starts, 0..unknowns.count, matrix.values_mut(), |_| DMat3::ZERO);
        let factor = SparseSpd::factor(&matrix).map_err(factor_error)?;
        let value_ends =
            (0..unknowns.count.div_ceil(CHUNK)).map(|c| starts[3 * ((c + 1) * CHUNK).min(unknowns.count)]);
        let mut hessian = Hessian {
            value_ends: value_ends.collect(),
            starts,
            constant: bound.clone(),
            bound,
            chunks: Vec::new(),
            block_ends: Vec::new(),
            blocks: Vec::new(),
            slot_ends: Vec::new(),
            slots: Vec::new(),
            matrix,
            factor_scratch: factor.factor_scratch(),
            solve_scratch: factor.scratch(),
            factor,
            column: vec![0.0; 3 * unknowns.count],
            unknowns,
            inertia,
            curved,
            scales: Vec::new(),
        };
        hessian.rescale(model, scales);
        hessian.list_blocks(model);
        Ok(hessian)
    }

    /// Other stiffnesses of the same batches.
    pub fn rescale(&mut self, model: &Model, scales: &[f64]) {
        self.scales = scales.to_vec();
        self.bound = self.unknowns.matrix(model, scales, &self.inertia);
        // Without stiffness, but with their places in the pattern.
        let rest: Vec<f64> =
            scales.iter().zip(&self.curved).map(|(s, curved)| if *curved { 0.0 } else { *s }).collect();
        self.constant = self.unknowns.matrix(model, &rest, &self.inertia);
    }

    /// Cuts the curved elements into chunks and finds the place of each of their blocks.
    fn list_blocks(&mut self, model: &Model) {
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut count = 0;
        for b in (0..model.batches.len()).filter(|b| self.curved[*b]) {
            let batch = &model.batches[b].batch;
            let Some(curved) = batch.curved() else { continue };
            let n = curved.corners();
            for first in (0..batch.rows().elements()).step_by(CHUNK) {
                let elements = CHUNK.min(batch.rows().elements() - first);
                for e in first..first + elements {
                    for (a, b) in (0..n).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                        let corner = |c: usize| self.unknowns.dofs.get(curved.corner(e, c) as usize);
                        if let (Dof::Free(u), Dof::Free(v)) = (corner(a), corner(b)) {
                            let (row, column) = (*u.max(v) as usize, *u.min(v) as usize);
                            let mark = if u < v { TRANSPOSED } else { 0 };
                            places.push((self.entry(row, column) as u32, count | mark));
                        }
                        count += 1;
                    }
                }
                self.chunks.push(Chunk { batch: b, first, elements });
                self.block_ends.push(count as usize);
            }
        }
        // Stable: blocks of one place stay in the order of the elements.
        places.sort_by_key(|(place, _)| *place);
        self.blocks = vec![DMat3::ZERO; count as usize];
        self.slots = places.iter().map(|(_, slot)| *slot).collect();
        self.slot_ends = vec![0; self.constant.stored() + 1];
        places.iter().for_each(|(place, _)| self.slot_ends[*place as usize + 1] += 1);
        (1..self.slot_ends.len()).for_each(|k| self.slot_ends[k] += self.slot_ends[k - 1]);
    }

    /// The entry of `constant` at a place; every pair of an element's unknowns has one.
    fn entry(&self, row: usize, column: usize) -> usize {
        let (columns, rows) = (self.constant.columns(), self.constant.rows());
        let first = columns[column];
        first + rows[first..columns[column + 1]].partition_point(|r| *r < row)
    }

    /// Fills the matrix with the Hessian at `x` and factors it; with the constant bound of it if rounding has
    /// left it indefinite.
    pub fn update(&mut self, model: &Model, x: &Points, hands: Hands<'_>) -> Result<(), SolverError> {
        self.fill_blocks(model, x, hands.0);
        self.gather(hands.0);
        if self.factor.refactor_in(&self.matrix, &mut self.factor_scratch).is_ok() {
            return Ok(());
        }
        let columns = 0..self.unknowns.count;
        fill(&self.bound, &self.starts, columns, self.matrix.values_mut(), |_| DMat3::ZERO);
        self.factor.refactor_in(&self.matrix, &mut self.factor_scratch).map_err(factor_error)
    }

    fn fill_blocks(&mut self, model: &Model, x: &Points, team: &Team) {
        let (chunks, scales) = (&self.chunks, &self.scales);
        team.split(Pieces(&mut self.blocks[..], &self.block_ends), 1, |range, blocks| {
            let chunk = &chunks[range.start];
            let Some(curved) = model.batches[chunk.batch].batch.curved() else { return };
            let n = curved.corners() * (curved.corners() + 1) / 2;
            for (k, blocks) in blocks.chunks_exact_mut(n).take(chunk.elements).enumerate() {
                curved.hessian(chunk.first + k, x, blocks);
                blocks.iter_mut().for_each(|b| *b *= scales[chunk.batch]);
            }
        });
    }

    fn gather(&mut self, team: &Team) {
        let Hessian { constant, slot_ends, slots, blocks, matrix, value_ends, starts, unknowns, .. } = self;
        let n = unknowns.count;
        team.split(Pieces(matrix.values_mut(), value_ends), 1, |range, values| {
            let columns = range.start * CHUNK..((range.start + 1) * CHUNK).min(n);
            fill(constant, starts, columns, values, |entry| {
                let mut sum = DMat3::ZERO;
                for slot in &slots[slot_ends[entry] as usize..slot_ends[entry + 1] as usize] {
                    let block = blocks[(slot & !TRANSPOSED) as usize];
                    sum += if slot & TRANSPOSED == 0 { block } else { block.transpose() };
                }
                sum
            });
        });
    }

    /// Solves for the step from −∇E; columns of x, y and z.
    pub fn solve(&mut self, descent: &[f64], step: &mut [f64]) {
        let n = self.unknowns.count;
        for (k, value) in self.column.iter_mut().enumerate() {
            *value = descent[k % 3 * n + k / 3];
        }
        self.factor.solve(&mut self.column, &mut self.solve_scratch);
        for (k, value) in self.column.iter().enumerate() {
            step[k % 3 * n + k / 3] = *value;
        }
    }

    pub fn factor_len(&self) -> usize {
        self.factor.factor_len()
    }
}

/// Whether a batch's elements know their Hessian, and have unknowns of their own: particles that are
/// combinations of others keep to the bound.
fn is_curved(model: &Model, unknowns: &Unknowns, b: usize) -> bool {
    let batch = &model.batches[b].batch;
    let plain = |c: &dyn ElementHessian| {
        let corners = (0..batch.rows().elements()).flat_map(|e| (0..c.corners()).map(move |k| (e, k)));
        let dof = |(e, k)| unknowns.dofs.get(c.corner(e, k) as usize);
        corners.map(dof).all(|d| matches!(d, Dof::Free(_) | Dof::Fixed))
    };
    batch.curved().is_some_and(plain)
}

/// The pattern of 3×3 blocks for a pattern of numbers.
fn spread(pattern: &SymmetricMatrix) -> SymmetricMatrix {
    let mut builder = SymmetricBuilder::new(3 * pattern.size());
    for v in 0..pattern.size() {
        for &u in &pattern.rows()[pattern.columns()[v]..pattern.columns()[v + 1]] {
            for (a, b) in (0..3).flat_map(|b| (0..3).map(move |a| (a, b))).filter(|(a, b)| u > v || a >= b) {
                builder.add(3 * u + a, 3 * v + b, 0.0);
            }
        }
    }
    builder.build()
}

/// Writes some columns of blocks: a number times 1, and what `more` adds to that entry. `starts` are where
/// the columns of the whole matrix begin, `values` those of these columns.
fn fill(
    numbers: &SymmetricMatrix,
    starts: &[usize],
    columns: std::ops::Range<usize>,
    values: &mut [f64],
    more: impl Fn(usize) -> DMat3,
) {
    let first = starts[3 * columns.start];
    for v in columns {
        let entries = numbers.columns()[v]..numbers.columns()[v + 1];
        for (k, entry) in entries.enumerate() {
            let block = DMat3::from_diagonal(glam::DVec3::splat(numbers.values()[entry])) + more(entry);
            for (b, column) in block.to_cols_array_2d().iter().enumerate() {
                let start = starts[3 * v + b] - first;
                if k == 0 {
                    // The diagonal block, of which the lower triangle is stored.
                    values[start..start + 3 - b].copy_from_slice(&column[b..]);
                } else {
                    let at = start + 3 * k - b;
                    values[at..at + 3].copy_from_slice(column);
                }
            }
        }
    }
}

fn factor_error(e: NotPositiveDefinite) -> SolverError {
    SolverError::Factor(e.to_string())
}
