//! Factors the permuted matrix with faer and packs the factor into panels.

use super::graph::inverse;
use super::kernels::{Block, TILE, Vector8};
use super::layout::PanelShape;
use crate::{NotPositiveDefinite, SymmetricMatrix};
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::matmul::triangular::{BlockStructure, matmul};
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::sparse::linalg::cholesky::{simplicial, supernodal};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Accum, MatMut, MatRef, Par};

/// The symbolic factorisation, and where the entries of the matrix go.
#[derive(Debug)]
pub(super) struct Pattern {
    symbolic: supernodal::SymbolicSupernodalCholesky<usize>,
    /// The lower triangle in the new numbers: compressed columns, and the matrix's entry for each.
    columns: Vec<usize>,
    rows: Vec<usize>,
    entry: Vec<u32>,
}

impl Pattern {
    pub fn of(matrix: &SymmetricMatrix, order: &[u32]) -> Result<Pattern, NotPositiveDefinite> {
        let n = matrix.size;
        let place = inverse(order);
        // (column, row, entry) of the lower triangle; sorted, so that it is also the upper by rows.
        let mut entries: Vec<(u32, u32, u32)> = Vec::with_capacity(matrix.rows.len());
        for j in 0..n {
            for k in matrix.columns[j]..matrix.columns[j + 1] {
                let (a, b) = (place[matrix.rows[k]], place[j]);
                entries.push((a.min(b), a.max(b), k as u32));
            }
        }
        entries.sort_unstable();
        let columns = offsets(n, entries.iter().map(|e| e.0));
        let rows = entries.iter().map(|e| e.1 as usize).collect();
        let entry = entries.iter().map(|e| e.2).collect();
        let upper_columns = offsets(n, entries.iter().map(|e| e.1));
        let mut next = upper_columns.clone();
        let mut upper_rows = vec![0; entries.len()];
        for &(column, row, _) in &entries {
            upper_rows[next[row as usize]] = column as usize;
            next[row as usize] += 1;
        }
        let upper = SymbolicSparseColMatRef::new_checked(n, n, &upper_columns, None, &upper_rows);
        let need = StackReq::or(
            simplicial::prefactorize_symbolic_cholesky_scratch::<usize>(n, entries.len()),
            supernodal::factorize_supernodal_symbolic_cholesky_scratch::<usize>(n),
        );
        let mut memory = MemBuffer::new(need);
        let (mut parent, mut counts) = (vec![0; n], vec![0; n]);
        let tree = simplicial::prefactorize_symbolic_cholesky(
            &mut parent,
            &mut counts,
            upper,
            MemStack::new(&mut memory),
        );
        let symbolic = supernodal::factorize_supernodal_symbolic_cholesky(
            upper,
            tree,
            &counts,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|e| NotPositiveDefinite { reason: format!("{e:?}") })?;
        Ok(Pattern { symbolic, columns, rows, entry })
    }

    /// Factors and fills the panels.
    pub fn fill(
        &self,
        matrix: &SymmetricMatrix,
        shapes: &[PanelShape],
        blocks: &mut [Block],
    ) -> Result<(), NotPositiveDefinite> {
        if let Some(bad) = matrix.values.iter().find(|v| !v.is_finite()) {
            return Err(NotPositiveDefinite { reason: format!("it has an entry {bad}") });
        }
        let n = matrix.size;
        if n == 0 {
            return Ok(());
        }
        let values: Vec<f64> = self.entry.iter().map(|&k| matrix.values[k as usize]).collect();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.columns, None, &self.rows);
        let need = supernodal::factorize_supernodal_numeric_llt_scratch::<usize, f64>(
            &self.symbolic,
            Par::Seq,
            Default::default(),
        );
        let mut factor = vec![0.0; self.symbolic.len_val()];
        supernodal::factorize_supernodal_numeric_llt(
            &mut factor,
            SparseColMatRef::new(pattern, &values),
            Default::default(),
            &self.symbolic,
            Par::Seq,
            MemStack::new(&mut MemBuffer::new(need)),
            Default::default(),
        )
        .map_err(|e| NotPositiveDefinite { reason: format!("{e:?}") })?;
        self.pack(&factor, shapes, blocks)
    }

    fn pack(
        &self,
        factor: &[f64],
        shapes: &[PanelShape],
        blocks: &mut [Block],
    ) -> Result<(), NotPositiveDefinite> {
        let factor = supernodal::SupernodalLltRef::new(&self.symbolic, factor);
        let mut place = vec![u32::MAX; self.symbolic.nrows()];
        let mut source = 0;
        let mut memory = Dense::for_shapes(shapes);
        for shape in shapes {
            let (width, below) = (shape.columns.len(), shape.below.len());
            let (mut triangle, mut under) = memory.clear(width, below);
            for (k, &row) in shape.below.iter().enumerate() {
                place[row as usize] = k as u32;
            }
            for j in shape.columns.clone() {
                while self.symbolic.supernode_end()[source] <= j {
                    source += 1;
                }
                let from = factor.supernode(source);
                let (start, numbers) = (from.start(), from.val());
                let (c, k) = (j - shape.columns.start, j - start);
                // Other supernodes than ours hold the same numbers, and zeros where ours have none.
                let mut put = |row: usize, value: f64| {
                    if row < shape.columns.end {
                        triangle[(row - shape.columns.start, c)] = value;
                    } else if place[row] != u32::MAX {
                        under[(place[row] as usize, c)] = value;
                    }
                };
                for i in k..numbers.ncols() {
                    put(start + i, numbers[(i, k)]);
                }
                for (i, &row) in from.pattern().iter().enumerate() {
                    put(row, numbers[(numbers.ncols() + i, k)]);
                }
            }
            for &row in &shape.below {
                place[row as usize] = u32::MAX;
            }
            let (diagonal, under) = memory.block_form(width, below);
            write(diagonal, under, shape, &mut blocks[shape.block])?;
        }
        Ok(())
    }
}

/// Compressed columns of sorted or unsorted column numbers.
fn offsets(n: usize, columns: impl Iterator<Item = u32>) -> Vec<usize> {
    let mut offsets = vec![0; n + 1];
    for column in columns {
        offsets[column as usize + 1] += 1;
    }
    for k in 0..n {
        offsets[k + 1] += offsets[k];
    }
    offsets
}

/// Dense matrices of one panel, made once for the largest: L_JJ, L_JJ⁻¹, D⁻¹, and L_RJ, −B D⁻¹.
struct Dense {
    squares: [Vec<f64>; 3],
    tall: [Vec<f64>; 2],
}

impl Dense {
    fn for_shapes(shapes: &[PanelShape]) -> Dense {
        let largest = |of: fn(&PanelShape) -> usize| shapes.iter().map(of).max().unwrap_or(0);
        let square = largest(|s| s.columns.len() * s.columns.len());
        let tall = largest(|s| s.columns.len() * s.below.len());
        Dense {
            squares: std::array::from_fn(|_| vec![0.0; square]),
            tall: std::array::from_fn(|_| vec![0.0; tall]),
        }
    }

    /// L_JJ and L_RJ, zero.
    fn clear(&mut self, width: usize, below: usize) -> (MatMut<'_, f64>, MatMut<'_, f64>) {
        let (triangle, under) = (&mut self.squares[0][..width * width], &mut self.tall[0][..below * width]);
        triangle.fill(0.0);
        under.fill(0.0);
        (
            MatMut::from_column_major_slice_mut(triangle, width, width),
            MatMut::from_column_major_slice_mut(under, below, width),
        )
    }

    /// D⁻¹ = WᵀW (its lower triangle) and −B D⁻¹ = −L_RJ W with W = L_JJ⁻¹.
    fn block_form(&mut self, width: usize, below: usize) -> (MatRef<'_, f64>, MatRef<'_, f64>) {
        let Dense { squares: [triangle, inverse, diagonal], tall: [under, scaled] } = self;
        let square = |m| MatMut::from_column_major_slice_mut(m, width, width);
        let tall = |m| MatMut::from_column_major_slice_mut(m, below, width);
        let triangle = square(&mut triangle[..width * width]);
        let mut inverse = square(&mut inverse[..width * width]);
        let mut diagonal = square(&mut diagonal[..width * width]);
        let under = tall(&mut under[..below * width]);
        let mut scaled = tall(&mut scaled[..below * width]);
        inverse.fill(0.0);
        invert_lower_triangular(inverse.as_mut(), triangle.as_ref(), Par::Seq);
        let (rect, lower, upper) =
            (BlockStructure::Rectangular, BlockStructure::TriangularLower, BlockStructure::TriangularUpper);
        let (w, t) = (inverse.as_ref(), inverse.as_ref().transpose());
        matmul(diagonal.as_mut(), lower, Accum::Replace, t, upper, w, lower, 1.0, Par::Seq);
        matmul(scaled.as_mut(), rect, Accum::Replace, under.as_ref(), rect, w, lower, -1.0, Par::Seq);
        (
            MatRef::from_column_major_slice(&self.squares[2][..width * width], width, width),
            MatRef::from_column_major_slice(&self.tall[1][..below * width], below, width),
        )
    }
}

/// Writes a panel: tiles of columns, blocks of eight rows, columns of a block one after the other.
/// Of the diagonal block the lower triangle is given.
fn write(
    diagonal: MatRef<'_, f64>,
    under: MatRef<'_, f64>,
    shape: &PanelShape,
    block: &mut Block,
) -> Result<(), NotPositiveDefinite> {
    let width = shape.columns.len();
    let panel = &block.panels[shape.panel];
    let blocks = panel.blocks as usize;
    let data = &mut block.data[panel.data..][..blocks * width];
    for c in 0..width {
        let tile = c / TILE;
        let (start, columns) = (tile * TILE * blocks, TILE.min(width - tile * TILE));
        let mut finite = true;
        for b in 0..blocks {
            let mut eight = Vector8::ZERO;
            for lane in 0..8 {
                let row = b * 8 + lane;
                eight.0[lane] = match row {
                    _ if row < width => diagonal[(row.max(c), row.min(c))],
                    _ if row < width + under.nrows() => under[(row - width, c)],
                    _ => 0.0,
                };
                finite &= eight.0[lane].is_finite();
            }
            data[start + b * columns + c % TILE] = eight;
        }
        if !finite {
            let reason = format!("column {} of its factor overflows", shape.columns.start + c);
            return Err(NotPositiveDefinite { reason });
        }
    }
    Ok(())
}
