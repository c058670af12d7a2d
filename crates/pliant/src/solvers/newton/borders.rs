//! What batches add to the Hessian beyond sparse blocks: a rank-one part each, by the Sherman–Morrison formula, and an
//! auxiliary unknown that is a mean of many particles, by a change of variables.
//!
//! A body with several rank-one parts is served in as many rounds.

use crate::constraints::HessianAt;
use crate::dofs::Dof;
use crate::model::BodyModel;
use crate::solvers::unknowns::Unknowns;
use glam::DVec3;

#[derive(Debug, Default)]
pub(super) struct Borders {
    list: Vec<Border>,
    means: Vec<Mean>,
    rounds: Vec<BorderRound>,
}

/// Where the function of a batch's inner unknowns stands.
#[derive(Debug)]
struct Border {
    batch: usize,
    inner: usize,
    gradient: Vec<DVec3>,
}

/// g and its response; s, if there is a function at present, and 1/(s + g·response), or zero.
#[derive(Debug)]
struct BorderRound {
    gradient: Vec<f64>,
    response: Vec<f64>,
    softness: Option<f64>,
    scale: f64,
}

/// An auxiliary unknown c, and the share of each unknown in the mean it stands for.
#[derive(Debug)]
struct Mean {
    unknown: usize,
    shares: Vec<(u32, f64)>,
}

impl Borders {
    pub fn new(
        model: &BodyModel,
        unknowns: &Unknowns,
        with_hessian: &[bool],
        inner: &[usize],
        size: usize,
    ) -> Borders {
        let mut borders = Borders::default();
        for (b, batch) in model.batches.iter().enumerate().filter(|(b, _)| with_hessian[*b]) {
            let Some(hessian) = batch.batch.element_hessian() else { continue };
            if hessian.inner() > 0 {
                let gradient = vec![DVec3::ZERO; hessian.inner()];
                borders.list.push(Border { batch: b, inner: inner[b], gradient });
            }
            if let (Some((particles, weights)), Some(&c)) = (hessian.mean(), unknowns.auxiliary[b].first()) {
                let total: f64 = weights.iter().sum();
                let share = |(i, a): (&u32, &f64)| match unknowns.dofs.get(*i as usize) {
                    Dof::Free(u) => Some((*u, a / total)),
                    _ => None,
                };
                let shares = particles.iter().zip(weights).filter_map(share).collect();
                borders.means.push(Mean { unknown: c as usize, shares });
            }
        }
        let round = || BorderRound {
            gradient: vec![0.0; 3 * size],
            response: vec![0.0; 3 * size],
            softness: None,
            scale: 0.0,
        };
        borders.rounds = borders.list.iter().map(|_| round()).collect();
        borders
    }

    /// There are none at present.
    pub fn forget(&mut self) {
        self.rounds.iter_mut().for_each(|r| r.scale = 0.0);
    }

    /// Takes up the functions as they are; `solve` solves with the matrix without them.
    pub fn update<'v>(
        &mut self,
        model: &BodyModel,
        scales: &[f64],
        at: impl Fn(usize) -> HessianAt<'v>,
        mut solve: impl FnMut(&mut [f64]),
    ) {
        for (border, round) in self.list.iter_mut().zip(&mut self.rounds) {
            round.gradient.fill(0.0);
            let batch = &model.batches[border.batch];
            let found =
                batch.batch.element_hessian().and_then(|c| c.border(at(border.batch), &mut border.gradient));
            // The stiffness scales g gᵀ/s as all else.
            round.softness = found.map(|s| s / scales[border.batch]);
            if found.is_some() {
                let flat = border.gradient.iter().flat_map(|g| g.to_array());
                round.gradient[3 * border.inner..].iter_mut().zip(flat).for_each(|(to, g)| *to = g);
            }
        }
        for r in 0..self.rounds.len() {
            let mut response = std::mem::take(&mut self.rounds[r].response);
            response.copy_from_slice(&self.rounds[r].gradient);
            if self.rounds[r].softness.is_some() {
                solve(&mut response);
                self.correct_before(r, &mut response);
            }
            let round = &mut self.rounds[r];
            let whole = round.softness.map_or(0.0, |s| s + product(&round.gradient, &response));
            round.scale = if whole > 0.0 { whole.recip() } else { 0.0 };
            round.response = response;
        }
    }

    /// Makes the solution without borders one with them.
    pub fn correct(&mut self, x: &mut [f64]) {
        self.correct_before(self.rounds.len(), x);
    }

    fn correct_before(&mut self, rounds: usize, x: &mut [f64]) {
        for round in &self.rounds[..rounds] {
            let by = product(&round.gradient, x) * round.scale;
            x.iter_mut().zip(&round.response).for_each(|(x, r)| *x -= by * r);
        }
    }

    /// With c − mean in place of c: what acts on c acts on the particles as well.
    pub fn gather_means(&self, x: &mut [f64]) {
        for mean in &self.means {
            let of = |axis: usize| x[3 * mean.unknown + axis];
            let pull = [of(0), of(1), of(2)];
            for &(u, share) in &mean.shares {
                (0..3).for_each(|axis| x[3 * u as usize + axis] += share * pull[axis]);
            }
        }
    }

    /// Back to c, which goes along with the mean.
    pub fn spread_means(&self, x: &mut [f64]) {
        for mean in &self.means {
            for axis in 0..3 {
                let along: f64 = mean.shares.iter().map(|&(u, share)| share * x[3 * u as usize + axis]).sum();
                x[3 * mean.unknown + axis] += along;
            }
        }
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
