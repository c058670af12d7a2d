//! The Hessian of the objective, in a pattern that is found once: filled, factored and solved anew in every
//! iteration, without sorting or allocating.
//!
//! Stencils write their blocks in chunks; then every block of the matrix gathers what the stencils have for
//! it, in their order: the same bits for any number of threads.

use super::borders::Borders;
use crate::constraints::{ElementHessian, HessianAt, INNER, View};
use crate::dofs::Dof;
use crate::model::BodyModel;
use crate::solvers::SolverError;
use crate::solvers::objective::Executor;
use crate::solvers::unknowns::{Inertia, Unknowns};
use crate::team::{Pieces, Team};
use glam::{DMat3, DVec3};
use pliant_linalg::{NotPositiveDefinite, Scratch, SparseSpd, SymmetricBuilder, SymmetricMatrix};

/// Stencils, and columns of the matrix, per chunk.
const CHUNK: usize = 256;
/// Marks a block that is wanted the other way round.
const TRANSPOSED: u32 = 1 << 31;

/// Which matrix a step is computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Matrix {
    /// The Hessian.
    True,
    /// Without the elements' negative curvature, since the sum of all was not positive definite.
    Clamped,
    /// The constant M/h² + Σ w AᵀA of projective dynamics.
    Bound,
}

#[derive(Debug)]
pub(super) struct Hessian {
    unknowns: Unknowns,
    /// m/h² by particle.
    inertia: Inertia,
    /// Batches that know their Hessian, and where the inner unknowns of each begin.
    with_hessian: Vec<bool>,
    inner: Vec<usize>,
    /// Inertia, and w AᵀA of all other batches: one number stands for a block that is a multiple of 1.
    constant: SymmetricMatrix,
    /// The same with w AᵀA of all batches.
    bound: SymmetricMatrix,
    scales: Vec<f64>,
    chunks: Vec<StencilChunk>,
    /// Where the blocks of each chunk end.
    block_ends: Vec<usize>,
    blocks: Vec<DMat3>,
    /// For each entry of `constant`, the blocks that add to it.
    slot_ends: Vec<u32>,
    slots: Vec<u32>,
    borders: Borders,
    /// Coordinate c of unknown u is row 3u + c; inner unknowns are the last.
    matrix: SymmetricMatrix,
    /// Where its columns begin, and where the values of each chunk of columns end.
    starts: Vec<usize>,
    value_ends: Vec<usize>,
    factor: SparseSpd,
    factor_scratch: Scratch,
    solve_scratch: Scratch,
    column: Vec<f64>,
    /// What is factored at present.
    present: Matrix,
}

#[derive(Debug)]
struct StencilChunk {
    batch: usize,
    first: usize,
    stencils: usize,
}

impl Hessian {
    pub fn new(
        model: &BodyModel,
        unknowns: Unknowns,
        scales: &[f64],
        h: f64,
    ) -> Result<Hessian, SolverError> {
        let inertia = Inertia::new(model, h);
        let with_hessian: Vec<bool> = (0..model.batches.len())
            .map(|b| unknowns.active[b] && has_hessian(model, &unknowns, b))
            .collect();
        let mut size = unknowns.count;
        let mut inner = Vec::new();
        for (b, with_hessian) in model.batches.iter().zip(&with_hessian) {
            inner.push(size);
            size += b.batch.element_hessian().filter(|_| *with_hessian).map_or(0, |c| c.inner());
        }
        let bound = with_inner(unknowns.matrix(model, scales, &inertia), size, model, |b| {
            with_hessian[b].then_some((&unknowns, inner[b]))
        });
        let mut matrix = spread(&bound);
        let starts = matrix.columns().to_vec();
        fill(&bound, &starts, 0..size, matrix.values_mut(), |_| DMat3::ZERO);
        let factor = SparseSpd::factor(&matrix).map_err(factor_error)?;
        let value_ends = (0..size.div_ceil(CHUNK)).map(|c| starts[3 * ((c + 1) * CHUNK).min(size)]);
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
            borders: Borders::new(model, &unknowns, &with_hessian, &inner, size),
            matrix,
            factor_scratch: factor.factor_scratch(),
            solve_scratch: factor.scratch(),
            factor,
            column: vec![0.0; 3 * size],
            present: Matrix::Bound,
            unknowns,
            inertia,
            with_hessian,
            inner,
            scales: Vec::new(),
        };
        hessian.rescale(model, scales);
        hessian.list_blocks(model);
        Ok(hessian)
    }

    /// Other stiffnesses of the same batches.
    pub fn rescale(&mut self, model: &BodyModel, scales: &[f64]) {
        self.scales = scales.to_vec();
        // So that the bound is factored anew when it is asked for.
        self.present = Matrix::Clamped;
        // Without stiffness, but with their places in the pattern.
        let rest: Vec<f64> = scales
            .iter()
            .zip(&self.with_hessian)
            .map(|(s, with_hessian)| if *with_hessian { 0.0 } else { *s })
            .collect();
        let size = self.column.len() / 3;
        let (unknowns, inertia) = (&self.unknowns, &self.inertia);
        let extended = |scales: &[f64]| {
            with_inner(unknowns.matrix(model, scales, inertia), size, model, |b| {
                self.with_hessian[b].then_some((unknowns, self.inner[b]))
            })
        };
        let (bound, mut constant) = (extended(scales), extended(&rest));
        // Inner unknowns are apart in the bound, and have nothing but stencils in the Hessian.
        for u in unknowns.count..size {
            let diagonal = constant.columns()[u];
            constant.values_mut()[diagonal] = 0.0;
        }
        // An auxiliary unknown that is a mean, which stencils leave out, keeps its own entry.
        for (b, scale) in scales.iter().enumerate().filter(|(b, _)| self.with_hessian[*b]) {
            let mean = model.batches[b].batch.element_hessian().and_then(|c| c.mean());
            if let (Some((_, weights)), Some(&c)) = (mean, unknowns.auxiliary[b].first()) {
                let diagonal = constant.columns()[c as usize];
                constant.values_mut()[diagonal] += scale * weights.iter().sum::<f64>();
            }
        }
        (self.bound, self.constant) = (bound, constant);
    }

    /// Cuts the stencils into chunks and finds the place of each of their blocks.
    fn list_blocks(&mut self, model: &BodyModel) {
        let mut places: Vec<(u32, u32)> = Vec::new();
        let mut count = 0;
        for b in (0..model.batches.len()).filter(|b| self.with_hessian[*b]) {
            let Some(with_hessian) = model.batches[b].batch.element_hessian() else { continue };
            for first in (0..with_hessian.stencils()).step_by(CHUNK) {
                let stencils = CHUNK.min(with_hessian.stencils() - first);
                for s in first..first + stencils {
                    let row = |k: usize| row_of(&self.unknowns, self.inner[b], with_hessian.column(s, k));
                    for (a, b) in (0..with_hessian.width(s)).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                        if let (Some(u), Some(v)) = (row(a), row(b)) {
                            let mark = if u < v { TRANSPOSED } else { 0 };
                            places.push((self.entry(u.max(v), u.min(v)) as u32, count | mark));
                        }
                        count += 1;
                    }
                }
                self.chunks.push(StencilChunk { batch: b, first, stencils });
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

    /// The entry of `constant` at a place; every pair of a stencil's unknowns has one.
    fn entry(&self, row: usize, column: usize) -> usize {
        let (columns, rows) = (self.constant.columns(), self.constant.rows());
        let first = columns[column];
        first + rows[first..columns[column + 1]].partition_point(|r| *r < row)
    }

    /// Fills the matrix with the Hessian and factors it, from the kind `wanted` on: with the next one if it is not
    /// positive definite. Returns which it was. `view` is what a batch may look at.
    pub fn update<'v>(
        &mut self,
        model: &BodyModel,
        wanted: Matrix,
        executor: Executor<'_>,
        view: impl Fn(usize) -> View<'v> + Sync,
    ) -> Result<Matrix, SolverError> {
        if wanted == Matrix::Bound && self.present == Matrix::Bound {
            return Ok(Matrix::Bound);
        }
        self.present = Matrix::Bound;
        for kind in [Matrix::True, Matrix::Clamped] {
            if wanted == Matrix::Bound || (wanted == Matrix::Clamped && kind == Matrix::True) {
                continue;
            }
            let at =
                |b: usize| HessianAt { view: view(b), clamped: kind == Matrix::Clamped, isa: executor.1 };
            self.fill_blocks(model, &at, executor.0);
            self.gather(executor.0);
            if self.factor.refactor_in(&self.matrix, &mut self.factor_scratch).is_ok() {
                let Hessian { borders, factor, solve_scratch, scales, .. } = self;
                borders.update(model, scales, at, |column| factor.solve(column, solve_scratch));
                self.present = kind;
                return Ok(kind);
            }
        }
        self.borders.forget();
        let columns = 0..self.column.len() / 3;
        fill(&self.bound, &self.starts, columns, self.matrix.values_mut(), |_| DMat3::ZERO);
        self.factor.refactor_in(&self.matrix, &mut self.factor_scratch).map_err(factor_error)?;
        Ok(Matrix::Bound)
    }

    fn fill_blocks<'v>(
        &mut self,
        model: &BodyModel,
        at: &(impl Fn(usize) -> HessianAt<'v> + Sync),
        team: &Team,
    ) {
        let (chunks, scales) = (&self.chunks, &self.scales);
        team.split(Pieces(&mut self.blocks[..], &self.block_ends), 1, |range, mut blocks| {
            let chunk = &chunks[range.start];
            let Some(with_hessian) = model.batches[chunk.batch].batch.element_hessian() else { return };
            let at = at(chunk.batch);
            for s in chunk.first..chunk.first + chunk.stencils {
                let width = with_hessian.width(s);
                let (own, rest) = blocks.split_at_mut(width * (width + 1) / 2);
                with_hessian.hessian(s, at, own);
                own.iter_mut().for_each(|b| *b *= scales[chunk.batch]);
                blocks = rest;
            }
        });
    }

    fn gather(&mut self, team: &Team) {
        let Hessian { constant, slot_ends, slots, blocks, matrix, value_ends, starts, column, .. } = self;
        let n = column.len() / 3;
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
        self.column.fill(0.0);
        for (k, value) in self.column[..3 * n].iter_mut().enumerate() {
            *value = descent[k % 3 * n + k / 3];
        }
        let Hessian { borders, factor, solve_scratch, column, .. } = self;
        let with_hessian = self.present != Matrix::Bound;
        if with_hessian {
            borders.gather_means(column);
        }
        factor.solve(column, solve_scratch);
        if with_hessian {
            borders.correct(column);
            borders.spread_means(column);
        }
        for (k, value) in column[..3 * n].iter().enumerate() {
            step[k % 3 * n + k / 3] = *value;
        }
    }

    pub fn factor_len(&self) -> usize {
        self.factor.factor_len()
    }
}

/// Whether a batch knows its Hessian, and its stencils have unknowns of their own: particles that are
/// combinations of others keep to the bound.
fn has_hessian(model: &BodyModel, unknowns: &Unknowns, b: usize) -> bool {
    let plain = |c: &dyn ElementHessian| {
        let columns = (0..c.stencils()).flat_map(|s| (0..c.width(s)).map(move |k| c.column(s, k)));
        let dof = |i: u32| unknowns.dofs.get(i as usize);
        columns.filter(|i| *i < INNER).map(dof).all(|d| matches!(d, Dof::Free(_) | Dof::Fixed))
    };
    model.batches[b].batch.element_hessian().is_some_and(plain)
}

/// The unknown behind a column of a stencil.
fn row_of(unknowns: &Unknowns, inner: usize, column: u32) -> Option<usize> {
    if column >= INNER {
        return Some(inner + (column - INNER) as usize);
    }
    match unknowns.dofs.get(column as usize) {
        Dof::Free(u) => Some(*u as usize),
        _ => None,
    }
}

/// A matrix with room for all stencils of batches that have inner unknowns, which are 1 on the diagonal.
fn with_inner<'u>(
    matrix: SymmetricMatrix,
    size: usize,
    model: &BodyModel,
    of: impl Fn(usize) -> Option<(&'u Unknowns, usize)>,
) -> SymmetricMatrix {
    if size == matrix.size() {
        return matrix;
    }
    let mut builder = SymmetricBuilder::new(size);
    for v in 0..matrix.size() {
        let entries = matrix.columns()[v]..matrix.columns()[v + 1];
        entries.for_each(|k| builder.add(matrix.rows()[k], v, matrix.values()[k]));
    }
    (matrix.size()..size).for_each(|u| builder.add(u, u, 1.0));
    for (b, batch) in model.batches.iter().enumerate() {
        let (Some((unknowns, inner)), Some(with_hessian)) = (of(b), batch.batch.element_hessian()) else {
            continue;
        };
        for s in (0..with_hessian.stencils()).filter(|_| with_hessian.inner() > 0) {
            let row = |k: usize| row_of(unknowns, inner, with_hessian.column(s, k));
            for (a, b) in (0..with_hessian.width(s)).flat_map(|a| (0..=a).map(move |b| (a, b))) {
                if let (Some(u), Some(v)) = (row(a), row(b)) {
                    builder.add(u, v, 0.0);
                }
            }
        }
    }
    builder.build()
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
            let block = DMat3::from_diagonal(DVec3::splat(numbers.values()[entry])) + more(entry);
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
