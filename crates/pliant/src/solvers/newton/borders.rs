//! What batches add to the Hessian beyond sparse blocks: a rank-one part each, by the Sherman–Morrison formula, and an
//! auxiliary unknown that is a mean of many particles, by a change of variables.
//!
//! Bodies share no unknowns, so one solve serves the borders of all bodies at once; a body with several is served in
//! as many rounds.

use crate::constraints::HessianAt;
use crate::dofs::Dof;
use crate::model::Model;
use crate::solvers::unknowns::Unknowns;
use glam::DVec3;

#[derive(Debug, Default)]
pub(super) struct Borders {
    list: Vec<Border>,
    means: Vec<Mean>,
    rounds: Vec<Round>,
    /// The body of each unknown, and one sum for each body.
    body: Vec<u32>,
    sums: Vec<f64>,
}

/// Where the function of a batch's inner unknowns stands.
#[derive(Debug)]
struct Border {
    batch: usize,
    round: usize,
    inner: usize,
    gradient: Vec<DVec3>,
}

/// g and its response; for each body s, if it has a function at present, and 1/(s + g·response), or zero.
#[derive(Debug)]
struct Round {
    gradient: Vec<f64>,
    response: Vec<f64>,
    softness: Vec<Option<f64>>,
    scale: Vec<f64>,
}

/// An auxiliary unknown c, and the share of each unknown in the mean it stands for.
#[derive(Debug)]
struct Mean {
    unknown: usize,
    shares: Vec<(u32, f64)>,
}

impl Borders {
    pub fn new(model: &Model, unknowns: &Unknowns, curved: &[bool], inner: &[usize], size: usize) -> Borders {
        let mut borders = Borders::default();
        let bodies = model.topology.bodies.len();
        let mut rounds = vec![0; bodies];
        for (b, batch) in model.batches.iter().enumerate().filter(|(b, _)| curved[*b]) {
            let Some(hessian) = batch.batch.curved() else { continue };
            if hessian.inner() > 0 {
                let gradient = vec![DVec3::ZERO; hessian.inner()];
                borders.list.push(Border { batch: b, round: rounds[batch.body], inner: inner[b], gradient });
                rounds[batch.body] += 1;
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
        if borders.list.is_empty() {
            return borders;
        }
        borders.body = vec![0; size];
        for (b, body) in model.topology.bodies.iter().enumerate() {
            for i in body.particles.clone() {
                if let Dof::Free(u) = unknowns.dofs.get(i) {
                    borders.body[*u as usize] = b as u32;
                }
            }
        }
        for (b, batch) in model.batches.iter().enumerate() {
            unknowns.auxiliary[b].iter().for_each(|u| borders.body[*u as usize] = batch.body as u32);
        }
        for border in &borders.list {
            let body = model.batches[border.batch].body as u32;
            borders.body[border.inner..border.inner + border.gradient.len()].fill(body);
        }
        borders.sums = vec![0.0; bodies];
        borders.rounds = (0..rounds.into_iter().max().unwrap_or(0))
            .map(|_| Round {
                gradient: vec![0.0; 3 * size],
                response: vec![0.0; 3 * size],
                softness: vec![None; bodies],
                scale: vec![0.0; bodies],
            })
            .collect();
        borders
    }

    /// There are none at present.
    pub fn forget(&mut self) {
        self.rounds.iter_mut().for_each(|r| r.scale.fill(0.0));
    }

    /// Takes up the functions as they are; `solve` solves with the matrix without them.
    pub fn update<'v>(
        &mut self,
        model: &Model,
        scales: &[f64],
        at: impl Fn(usize) -> HessianAt<'v>,
        mut solve: impl FnMut(&mut [f64]),
    ) {
        for round in &mut self.rounds {
            round.gradient.fill(0.0);
            round.softness.fill(None);
        }
        for border in &mut self.list {
            let batch = &model.batches[border.batch];
            let found = batch.batch.curved().and_then(|c| c.border(at(border.batch), &mut border.gradient));
            if let Some(s) = found {
                let round = &mut self.rounds[border.round];
                // The stiffness scales g gᵀ/s as all else.
                round.softness[batch.body] = Some(s / scales[border.batch]);
                let flat = border.gradient.iter().flat_map(|g| g.to_array());
                round.gradient[3 * border.inner..].iter_mut().zip(flat).for_each(|(to, g)| *to = g);
            }
        }
        for r in 0..self.rounds.len() {
            let mut response = std::mem::take(&mut self.rounds[r].response);
            response.copy_from_slice(&self.rounds[r].gradient);
            if self.rounds[r].softness.iter().any(Option::is_some) {
                solve(&mut response);
                self.correct_before(r, &mut response);
            }
            let Borders { rounds, body, sums, .. } = self;
            let round = &mut rounds[r];
            sums.fill(0.0);
            add_products(body, &round.gradient, &response, sums);
            for ((scale, softness), sum) in round.scale.iter_mut().zip(&round.softness).zip(sums) {
                let whole = softness.map_or(0.0, |s| s + *sum);
                *scale = if whole > 0.0 { whole.recip() } else { 0.0 };
            }
            round.response = response;
        }
    }

    /// Makes the solution without borders one with them.
    pub fn correct(&mut self, x: &mut [f64]) {
        self.correct_before(self.rounds.len(), x);
    }

    fn correct_before(&mut self, rounds: usize, x: &mut [f64]) {
        for round in &self.rounds[..rounds] {
            self.sums.fill(0.0);
            add_products(&self.body, &round.gradient, x, &mut self.sums);
            self.sums.iter_mut().zip(&round.scale).for_each(|(sum, scale)| *sum *= scale);
            for ((x, response), body) in
                x.chunks_exact_mut(3).zip(round.response.chunks_exact(3)).zip(&self.body)
            {
                let by = self.sums[*body as usize];
                x.iter_mut().zip(response).for_each(|(x, r)| *x -= by * r);
            }
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

/// Adds a·b, body by body.
fn add_products(body: &[u32], a: &[f64], b: &[f64], sums: &mut [f64]) {
    for ((a, b), body) in a.chunks_exact(3).zip(b.chunks_exact(3)).zip(body) {
        sums[*body as usize] += a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    }
}
