//! The linear solve of the global step, spread over a team: domains side by side, then what joins them.

use crate::solvers::objective::{Hands, columns};
use crate::team::Pieces;
use pliant_linalg::{DomainWork, NotPositiveDefinite, PanelScratch, Panels, SymmetricMatrix};
use pliant_math::lanes::Isa;

#[derive(Debug)]
pub(super) struct Global {
    panels: Panels,
    ends: Vec<usize>,
    work: Vec<DomainWork>,
    top_work: DomainWork,
    scratch: PanelScratch,
}

impl Global {
    /// Orders and factors; `points` are where the unknowns are.
    pub fn new(matrix: &SymmetricMatrix, points: &[[f64; 3]]) -> Result<Global, NotPositiveDefinite> {
        let panels = Panels::factor(matrix, Some(points))?;
        Ok(Global {
            ends: panels.domains().iter().map(|d| d.end).collect(),
            work: (0..panels.domains().len()).map(|d| panels.domain_work(d)).collect(),
            top_work: panels.top_work(),
            scratch: panels.scratch(),
            panels,
        })
    }

    /// Another matrix of the same pattern.
    pub fn refactor(&mut self, matrix: &SymmetricMatrix) -> Result<(), NotPositiveDefinite> {
        self.panels.refactor(matrix)
    }

    /// The row of the matrix that each unknown stands for.
    pub fn order(&self) -> &[u32] {
        self.panels.order()
    }

    /// Numbers in the factor.
    pub fn factor_len(&self) -> usize {
        self.panels.factor_len()
    }

    /// Solves three columns in place.
    pub fn solve(&mut self, all: &mut [f64], (team, isa): Hands<'_>) {
        let Global { panels, ends, work, top_work, .. } = self;
        let panels = &*panels;
        let begin = panels.top().start;
        let [(x, x_top), (y, y_top), (z, z_top)] = columns(all).map(|c| c.split_at_mut(begin));
        let own = |d: usize| panels.domains()[d].clone();
        team.split(&mut work[..], 1, |range, work| {
            let r = own(range.start);
            panels.forward(range.start, isa, [&x[r.clone()], &y[r.clone()], &z[r]], &mut work[0]);
        });
        panels.top_solve(isa, [x_top, y_top, z_top], work.iter(), top_work);
        let top = [&*x_top, &*y_top, &*z_top];
        let [x, y, z] = [x, y, z].map(|c| Pieces(c, ends));
        team.split(((x, y), (z, &mut work[..])), 1, |range, ((x, y), (z, work))| {
            panels.backward(range.start, isa, [x, y, z], top, &mut work[0]);
        });
    }

    /// Solves one column in place.
    pub fn solve_one(&mut self, column: &mut [f64], isa: Isa) {
        self.panels.solve(isa, column, &mut self.scratch);
    }
}
