//! The prefactored system of thousands of solves: own panels, own kernels, domains for threads.
//!
//! The factor is packed as block LDLᵀ in dense panels ([`kernels`]) and cut into *domains*, parts of
//! the elimination tree that touch each other only through a *top*. A solve is `forward` of every
//! domain, `top_solve`, `backward` of every domain; domains may run in any order or at once, and give
//! the same bits. The cut depends on the matrix only. Nothing here starts a thread.

mod cut;
mod dissect;
mod elimination;
mod graph;
mod kernels;
mod layout;
mod order;
mod pack;
mod supernodes;
#[cfg(test)]
mod tests;

use crate::{NotPositiveDefinite, SymmetricMatrix};
use kernels::{Backward, Block, Forward, Memory};
use layout::PanelShape;
use pack::Pattern;
use pliant_math::lanes::Isa;
use std::ops::Range;
use std::sync::Arc;

/// A sparse symmetric positive definite matrix, ordered, factored and packed for solving.
///
/// Unknowns have numbers of their own here: `order()[new]` is the row of the matrix.
#[derive(Clone, Debug)]
pub struct Panels {
    order: Vec<u32>,
    domains: Vec<Range<usize>>,
    top: Range<usize>,
    /// One for each domain, and the top's.
    blocks: Vec<Block>,
    shapes: Vec<PanelShape>,
    pattern: Arc<Pattern>,
}

/// Working memory of one domain (or the top) for three right-hand sides. Between `forward` and
/// `backward` it holds the domain's half-solved unknowns and what it adds to the top.
#[derive(Clone, Debug)]
pub struct DomainWork(Memory<3>);

/// Working memory of a whole solve on one thread.
#[derive(Clone, Debug)]
pub struct PanelScratch {
    three: Vec<DomainWork>,
    top_three: DomainWork,
    one: Vec<Memory<1>>,
    permuted: Vec<f64>,
}

impl Panels {
    /// Orders, factors and packs `matrix`. `points`, where the unknowns are in space, helps to find
    /// good cuts; it is a hint and any values will do.
    pub fn factor(
        matrix: &SymmetricMatrix,
        points: Option<&[[f64; 3]]>,
    ) -> Result<Panels, NotPositiveDefinite> {
        let graph = graph::Graph::of(matrix);
        let best = order::order(&graph, points.filter(|p| p.len() == matrix.size));
        Panels::of(matrix, &graph, &best)
    }

    /// The order in which [`Panels::factor`] would have the rows, without the work of factoring.
    pub fn good_order(matrix: &SymmetricMatrix, points: Option<&[[f64; 3]]>) -> Vec<u32> {
        let graph = graph::Graph::of(matrix);
        let best = order::order(&graph, points.filter(|p| p.len() == matrix.size));
        layout::layout(&graph, &best.tree, &best.nodes, &best.cut).order
    }

    /// Factors and packs `matrix` with its rows in about this order, each named once: most of the work of
    /// [`Panels::factor`] is to find one.
    pub fn factor_in_order(matrix: &SymmetricMatrix, order: &[u32]) -> Result<Panels, NotPositiveDefinite> {
        let graph = graph::Graph::of(matrix);
        Panels::of(matrix, &graph, &order::Ordering::of(&graph, order))
    }

    fn of(
        matrix: &SymmetricMatrix,
        graph: &graph::Graph,
        best: &order::Ordering,
    ) -> Result<Panels, NotPositiveDefinite> {
        let layout = layout::layout(graph, &best.tree, &best.nodes, &best.cut);
        let pattern = Arc::new(Pattern::of(matrix, &layout.order)?);
        let mut domains = layout.ranges;
        let top = domains.pop().unwrap_or(0..0);
        let mut panels = Panels {
            order: layout.order,
            domains,
            top,
            blocks: layout.blocks,
            shapes: layout.shapes,
            pattern,
        };
        panels.refactor(matrix)?;
        Ok(panels)
    }

    /// Factors another matrix of the same pattern; order, domains and layout stay. After an error the
    /// panels must not be used before another `refactor` succeeds.
    pub fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<(), NotPositiveDefinite> {
        self.pattern.fill(matrix, &self.shapes, &mut self.blocks)
    }

    /// Number of unknowns.
    pub fn size(&self) -> usize {
        self.order.len()
    }

    /// The row of the matrix that each unknown stands for.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The unknowns of each domain, one range after the other from 0.
    pub fn domains(&self) -> &[Range<usize>] {
        &self.domains
    }

    /// The unknowns of the top, after those of the last domain.
    pub fn top(&self) -> Range<usize> {
        self.top.clone()
    }

    /// Numbers stored in the panels, padding included.
    pub fn factor_len(&self) -> usize {
        self.blocks.iter().map(|b| 8 * b.data.len()).sum()
    }

    /// Numbers stored in the panels of each domain and, last, of the top: a measure of their work.
    pub fn lens(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().map(|b| 8 * b.data.len())
    }

    /// Working memory for one domain.
    pub fn domain_work(&self, domain: usize) -> DomainWork {
        DomainWork(Memory::of(&self.blocks[domain]))
    }

    /// Working memory for the top.
    pub fn top_work(&self) -> DomainWork {
        self.domain_work(self.domains.len())
    }

    /// Working memory for [`Panels::solve`] and [`Panels::solve_original`].
    pub fn scratch(&self) -> PanelScratch {
        PanelScratch {
            three: (0..self.domains.len()).map(|d| self.domain_work(d)).collect(),
            top_three: self.top_work(),
            one: self.blocks.iter().map(Memory::of).collect(),
            permuted: vec![0.0; self.size()],
        }
    }

    /// First part of a solve, for one domain: `own` is its part of the right-hand sides.
    pub fn forward(&self, domain: usize, isa: Isa, own: [&[f64]; 3], work: &mut DomainWork) {
        self.forward_block(domain, isa, own, &mut work.0);
    }

    /// Second part, once all domains are through the first: `top` holds its part of the right-hand
    /// sides on entry and of the solution on return, `domains` the work of the domains in order.
    pub fn top_solve<'a>(
        &self,
        isa: Isa,
        top: [&mut [f64]; 3],
        domains: impl IntoIterator<Item = &'a DomainWork>,
        work: &mut DomainWork,
    ) {
        self.gather_top([&*top[0], &*top[1], &*top[2]], domains.into_iter().map(|w| &w.0), &mut work.0);
        self.solve_gathered_three(isa, top, &mut work.0);
    }

    /// Third part, for one domain: writes its part of the solution to `own`; `top` is solved.
    pub fn backward(
        &self,
        domain: usize,
        isa: Isa,
        own: [&mut [f64]; 3],
        top: [&[f64]; 3],
        work: &mut DomainWork,
    ) {
        self.backward_block(domain, isa, own, top, &mut work.0);
    }

    /// Solves A X = B in place for the one or three columns of `columns`, one after the other in memory,
    /// in the order of the unknowns here.
    pub fn solve(&self, isa: Isa, columns: &mut [f64], scratch: &mut PanelScratch) {
        let n = self.size();
        if n == 0 {
            return;
        }
        debug_assert!(columns.len() == n || columns.len() == 3 * n);
        if columns.len() == n {
            return self.solve_one(isa, columns, &mut scratch.one);
        }
        let (x, rest) = columns.split_at_mut(n);
        let (y, z) = rest.split_at_mut(n);
        let PanelScratch { three, top_three, .. } = scratch;
        for (d, work) in three.iter_mut().enumerate() {
            let r = self.domains[d].clone();
            self.forward(d, isa, [&x[r.clone()], &y[r.clone()], &z[r]], work);
        }
        let t = self.top.start;
        let ((x, x_top), (y, y_top), (z, z_top)) = (x.split_at_mut(t), y.split_at_mut(t), z.split_at_mut(t));
        self.top_solve(isa, [&mut *x_top, &mut *y_top, &mut *z_top], three.iter(), top_three);
        for (d, work) in three.iter_mut().enumerate() {
            let r = self.domains[d].clone();
            let own = [&mut x[r.clone()], &mut y[r.clone()], &mut z[r]];
            self.backward(d, isa, own, [&*x_top, &*y_top, &*z_top], work);
        }
    }

    /// Solves A x = b in place for one column in the order of the matrix; the faster, the more zeros b
    /// has.
    pub fn solve_original(&self, isa: Isa, column: &mut [f64], scratch: &mut PanelScratch) {
        let mut permuted = std::mem::take(&mut scratch.permuted);
        for (p, &old) in permuted.iter_mut().zip(&self.order) {
            *p = column[old as usize];
        }
        self.solve(isa, &mut permuted, scratch);
        for (p, &old) in permuted.iter().zip(&self.order) {
            column[old as usize] = *p;
        }
        scratch.permuted = permuted;
    }

    fn solve_one(&self, isa: Isa, column: &mut [f64], memory: &mut [Memory<1>]) {
        let Some((top_memory, memory)) = memory.split_last_mut() else { return };
        for (d, memory) in memory.iter_mut().enumerate() {
            self.forward_block(d, isa, [&column[self.domains[d].clone()]], memory);
        }
        let (column, top) = column.split_at_mut(self.top.start);
        self.gather_top([&*top], memory.iter(), top_memory);
        self.solve_gathered(isa, [&mut *top], top_memory);
        for (d, memory) in memory.iter_mut().enumerate() {
            self.backward_block(d, isa, [&mut column[self.domains[d].clone()]], [&*top], memory);
        }
    }

    fn forward_block<const R: usize>(
        &self,
        domain: usize,
        isa: Isa,
        own: [&[f64]; R],
        memory: &mut Memory<R>,
    ) {
        let block = &self.blocks[domain];
        for (values, own) in memory.values.iter_mut().zip(own) {
            let (mine, carry) = values.split_at_mut(block.own);
            mine.copy_from_slice(own);
            carry.fill(0.0);
        }
        forward(isa, block, memory);
    }

    /// The top's part of the right-hand sides, with what the domains carry into it.
    fn gather_top<'a, const R: usize>(
        &self,
        top: [&[f64]; R],
        domains: impl Iterator<Item = &'a Memory<R>>,
        memory: &mut Memory<R>,
    ) {
        let Some((block, blocks)) = self.blocks.split_last() else { return };
        for (values, top) in memory.values.iter_mut().zip(top) {
            let (mine, padding) = values.split_at_mut(block.own);
            mine.copy_from_slice(top);
            padding.fill(0.0);
        }
        for (from, carry) in blocks.iter().zip(domains) {
            for (values, carry) in memory.values.iter_mut().zip(&carry.values) {
                for (&row, c) in from.boundary.iter().zip(&carry[from.own..]) {
                    values[row as usize] += c;
                }
            }
        }
    }

    #[inline(never)]
    fn solve_gathered_three(&self, isa: Isa, top: [&mut [f64]; 3], memory: &mut Memory<3>) {
        self.solve_gathered(isa, top, memory);
    }

    fn solve_gathered<const R: usize>(&self, isa: Isa, top: [&mut [f64]; R], memory: &mut Memory<R>) {
        let Some(block) = self.blocks.last() else { return };
        forward(isa, block, memory);
        backward(isa, block, memory);
        for (values, top) in memory.values.iter().zip(top) {
            top.copy_from_slice(&values[..block.own]);
        }
    }

    fn backward_block<const R: usize>(
        &self,
        domain: usize,
        isa: Isa,
        own: [&mut [f64]; R],
        top: [&[f64]; R],
        memory: &mut Memory<R>,
    ) {
        let block = &self.blocks[domain];
        for (values, top) in memory.values.iter_mut().zip(top) {
            for (value, &row) in values[block.own..].iter_mut().zip(&block.boundary) {
                *value = top[row as usize];
            }
            values[block.own + block.boundary.len()] = 0.0;
        }
        backward(isa, block, memory);
        for (values, own) in memory.values.iter().zip(own) {
            own.copy_from_slice(&values[..block.own]);
        }
    }
}

// Each kernel is compiled once for one column and once for three, here: inlined wherever a solve begins, in other crates too,
// they would be most of what there is to compile.

#[inline(never)]
fn forward<const R: usize>(isa: Isa, block: &Block, memory: &mut Memory<R>) {
    isa.run(Forward(block, memory));
}

#[inline(never)]
fn backward<const R: usize>(isa: Isa, block: &Block, memory: &mut Memory<R>) {
    isa.run(Backward(block, memory));
}
