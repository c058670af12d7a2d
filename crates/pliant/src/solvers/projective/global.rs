//! The linear solve of the global step, spread over a team: domains side by side, then what joins them.

use crate::solvers::objective::{Executor, columns};
use crate::team::Pieces;
use pliant_linalg::{DomainWork, NotPositiveDefinite, Panels, SymmetricMatrix};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Global {
    /// Shared by copies, until one of them gets another matrix.
    panels: Arc<Panels>,
    ends: Vec<usize>,
    work: Vec<DomainWork>,
    top_work: DomainWork,
}

impl Global {
    /// Orders and factors; `points` are where the unknowns are.
    pub fn new(matrix: &SymmetricMatrix, points: &[[f64; 3]]) -> Result<Global, NotPositiveDefinite> {
        Panels::factor(matrix, Some(points)).map(Global::of)
    }

    /// Factors in an order that is known.
    pub fn in_order(matrix: &SymmetricMatrix, order: &[u32]) -> Result<Global, NotPositiveDefinite> {
        Panels::factor_in_order(matrix, order).map(Global::of)
    }

    fn of(panels: Panels) -> Global {
        Global {
            ends: panels.domains().iter().map(|d| d.end).collect(),
            work: (0..panels.domains().len()).map(|d| panels.domain_work(d)).collect(),
            top_work: panels.top_work(),
            panels: Arc::new(panels),
        }
    }

    /// Another matrix of the same pattern.
    pub fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<(), NotPositiveDefinite> {
        Arc::make_mut(&mut self.panels).refactor(matrix)
    }

    /// The row of the matrix that each unknown stands for.
    pub fn order(&self) -> &[u32] {
        self.panels.order()
    }

    /// Numbers in the factor.
    pub fn factor_len(&self) -> usize {
        self.panels.factor_len()
    }

    /// Solves for three columns `to` with the right-hand sides `from`.
    pub fn solve(&mut self, from: &[f64], to: &mut [f64], (team, isa): Executor<'_>) {
        let Global { panels, ends, work, top_work, .. } = self;
        let panels = &**panels;
        let (n, begin) = (panels.size(), panels.top().start);
        let of = |axis: usize, domain: usize| {
            let own = &panels.domains()[domain];
            &from[axis * n + own.start..axis * n + own.end]
        };
        team.split(&mut work[..], 1, |range, work| {
            let d = range.start;
            panels.forward(d, isa, [of(0, d), of(1, d), of(2, d)], &mut work[0]);
        });
        let [(x, x_top), (y, y_top), (z, z_top)] = columns(to).map(|c| c.split_at_mut(begin));
        for (axis, top) in [&mut *x_top, y_top, z_top].into_iter().enumerate() {
            top.copy_from_slice(&from[axis * n + begin..(axis + 1) * n]);
        }
        panels.top_solve(isa, [x_top, y_top, z_top], work.iter(), top_work);
        let top = [&*x_top, &*y_top, &*z_top];
        let [x, y, z] = [x, y, z].map(|c| Pieces(c, ends));
        team.split(((x, y), (z, &mut work[..])), 1, |range, ((x, y), (z, work))| {
            panels.backward(range.start, isa, [x, y, z], top, &mut work[0]);
        });
    }
}
