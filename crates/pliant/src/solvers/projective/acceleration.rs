//! Faster convergence from what the last few iterations showed, with the paper's step to fall back on.
//!
//! A projective step is a quasi-Newton step Δq = −B⁻¹∇E with the constant B = M/h² + Σ w AᵀA. Both methods here
//! improve on it at the price of a few inner products: L-BFGS corrects B⁻¹ by pairs of steps and gradient
//! changes (Liu et al. 2017), Anderson's mixing takes the combination of the last iterates whose steps
//! cancel best (Peng et al. 2018). Neither is bound to lower E. Where a step did not, it is undone and the
//! plain step taken from where it began, which is: E never rises from one iterate to the next kept one.

use crate::constraints::PaddedVector;
use crate::model::Acceleration;

/// Steps remembered.
const MEMORY: usize = 6;

/// What the iterations of one substep have shown so far.
#[derive(Clone, Debug)]
pub(super) struct Accelerator {
    method: Acceleration,
    /// Pairs of (step taken, change of −∇E or of the plain step), the newest last; a ring without allocation.
    pairs: Vec<Pair>,
    used: usize,
    /// The last kept iterate: its energy, ways, −∇E and plain step.
    energy: f64,
    displacements: Vec<PaddedVector>,
    descent: Vec<f64>,
    plain: Vec<f64>,
    /// Whether there is a last kept iterate, and whether the step from it was more than the plain one.
    begun: bool,
    accelerated: bool,
    work: Vec<f64>,
}

#[derive(Clone, Debug)]
struct Pair {
    step: Vec<f64>,
    change: Vec<f64>,
    /// For L-BFGS: 1/(step · −change).
    rho: f64,
}

/// What to do with the iterate that was just evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    /// It is no worse than the last: go on from here.
    Keep,
    /// It is worse: return to the last one and take the plain step there.
    Return,
}

impl Accelerator {
    pub fn new(method: Acceleration, unknowns: usize, places: usize) -> Accelerator {
        let (n, kept) = if method == Acceleration::None { (0, 0) } else { (3 * unknowns, places) };
        let pair = Pair { step: vec![0.0; n], change: vec![0.0; n], rho: 0.0 };
        Accelerator {
            method,
            pairs: vec![pair; MEMORY],
            used: 0,
            energy: f64::INFINITY,
            displacements: vec![[0.0; 4]; kept],
            descent: vec![0.0; n],
            plain: vec![0.0; n],
            begun: false,
            accelerated: false,
            work: vec![0.0; n],
        }
    }

    /// Forgets everything, at the start of a substep.
    pub fn begin(&mut self) {
        (self.used, self.begun, self.accelerated, self.energy) = (0, false, false, f64::INFINITY);
    }

    /// Judges the present iterate.
    pub fn judge(&self, energy: f64) -> Acceptance {
        // NaN is worse than anything.
        let worse = self.accelerated && (energy.is_nan() || energy > self.energy);
        if worse { Acceptance::Return } else { Acceptance::Keep }
    }

    /// The ways of the last kept iterate, with its −∇E; what was learned is forgotten.
    pub fn last(&mut self) -> (&[PaddedVector], &[f64]) {
        (self.used, self.accelerated) = (0, false);
        (&self.displacements, &self.descent)
    }

    /// Whether the method wants the plain step of each iterate before it can improve on it.
    pub fn needs_plain(&self) -> bool {
        self.method == Acceleration::Anderson
    }

    /// Takes up an iterate that was kept. For Anderson `plain` is its plain step.
    pub fn learn(
        &mut self,
        energy: f64,
        displacements: &[PaddedVector],
        descent: &[f64],
        plain: &[f64],
        unknowns: usize,
    ) {
        let n = unknowns;
        let anderson = self.needs_plain();
        if self.begun {
            let slot = if self.used == MEMORY {
                self.pairs.rotate_left(1);
                MEMORY - 1
            } else {
                self.used
            };
            let pair = &mut self.pairs[slot];
            for (u, (now, before)) in displacements.iter().zip(&self.displacements).take(n).enumerate() {
                for (axis, (now, before)) in now.iter().zip(before).take(3).enumerate() {
                    pair.step[axis * n + u] = now - before;
                }
            }
            let (now, before) = if anderson { (plain, &self.plain) } else { (descent, &self.descent) };
            for (c, (now, before)) in pair.change.iter_mut().zip(now.iter().zip(before)) {
                *c = now - before;
            }
            // y = −change; a pair without positive curvature would spoil the matrix.
            let curvature = -dot(&pair.step, &pair.change);
            let sound = anderson || curvature > 1e-14 * norms(&pair.step, &pair.change);
            if sound {
                pair.rho = curvature.recip();
                self.used = slot + 1;
            } else if self.used == MEMORY {
                self.used = MEMORY - 1;
            }
        }
        self.energy = energy;
        self.displacements.copy_from_slice(displacements);
        self.descent.copy_from_slice(descent);
        if anderson {
            self.plain.copy_from_slice(plain);
        }
        self.begun = true;
    }

    /// Improves on the plain step. `step` holds −∇E for L-BFGS, which `solve` turns into B⁻¹ of it; for
    /// Anderson it holds the plain step already.
    pub fn improve(&mut self, step: &mut [f64], solve: impl FnOnce(&mut [f64])) {
        self.accelerated = self.used > 0;
        match self.method {
            Acceleration::None => solve(step),
            Acceleration::LBfgs => self.two_loops(step, solve),
            Acceleration::Anderson => self.mix(step),
        }
    }

    /// The two-loop recursion, with B⁻¹ in its middle.
    fn two_loops(&mut self, step: &mut [f64], solve: impl FnOnce(&mut [f64])) {
        let mut weights = [0.0; MEMORY];
        for (pair, weight) in self.pairs[..self.used].iter().zip(&mut weights).rev() {
            *weight = pair.rho * dot(&pair.step, step);
            add(step, *weight, &pair.change); // q −= a y, and y = −change
        }
        solve(step);
        for (pair, weight) in self.pairs[..self.used].iter().zip(&weights) {
            let b = -pair.rho * dot(&pair.change, step);
            add(step, weight - b, &pair.step);
        }
    }

    /// Least squares over the changes of the plain step, by normal equations with a little damping.
    #[allow(clippy::needless_range_loop)] // both triangles of the matrix at once
    fn mix(&mut self, step: &mut [f64]) {
        let k = self.used;
        let mut gram = [[0.0; MEMORY]; MEMORY];
        let mut right = [0.0; MEMORY];
        for i in 0..k {
            right[i] = dot(&self.pairs[i].change, step);
            for j in 0..=i {
                gram[i][j] = dot(&self.pairs[i].change, &self.pairs[j].change);
                gram[j][i] = gram[i][j];
            }
        }
        let Some(gamma) = solve_small(gram, right, k) else { return };
        self.work.copy_from_slice(step);
        for (pair, gamma) in self.pairs[..k].iter().zip(gamma) {
            add(&mut self.work, -gamma, &pair.step);
            add(&mut self.work, -gamma, &pair.change);
        }
        step.copy_from_slice(&self.work);
    }
}

/// Cholesky of a small damped matrix; `None` if it is singular all the same.
fn solve_small(mut a: [[f64; MEMORY]; MEMORY], mut b: [f64; MEMORY], k: usize) -> Option<[f64; MEMORY]> {
    let size = (0..k).map(|i| a[i][i]).fold(0.0, f64::max);
    for i in 0..k {
        a[i][i] += 1e-12 * size;
        for j in 0..=i {
            let sum: f64 = a[i][j] - (0..j).map(|l| a[i][l] * a[j][l]).sum::<f64>();
            a[i][j] = if i == j { sum.sqrt() } else { sum / a[j][j] };
        }
        if a[i][i].is_nan() || a[i][i] <= 0.0 {
            return None;
        }
    }
    for i in 0..k {
        b[i] = (b[i] - (0..i).map(|l| a[i][l] * b[l]).sum::<f64>()) / a[i][i];
    }
    for i in (0..k).rev() {
        b[i] = (b[i] - (i + 1..k).map(|l| a[l][i] * b[l]).sum::<f64>()) / a[i][i];
    }
    Some(b)
}

/// a · b in an order of its own that suits vectors: eight sums, then their sum.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a, a_end) = a.as_chunks::<8>();
    let (b, b_end) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let end: f64 = a_end.iter().zip(b_end).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + end
}

fn norms(a: &[f64], b: &[f64]) -> f64 {
    (dot(a, a) * dot(b, b)).sqrt()
}

/// to += factor · from
fn add(to: &mut [f64], factor: f64, from: &[f64]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}
