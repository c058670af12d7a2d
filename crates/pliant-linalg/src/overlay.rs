//! Low-rank changes of a factored system by the Schur complement, the factor untouched.
//!
//! A *tie* is a point Σ wⱼ qⱼ of the unknowns (a particle, or a point of a triangle) on which a force
//! f ∈ R³ acts. With the base matrix B acting on x, y and z alike, the points respond to the forces
//! of all ties through one scalar matrix
//!
//! > u = u₀ + G f, G = S B⁻¹ Sᵀ (ties × ties),
//!
//! whatever the directions of the forces. Soft handles solve (G + C) f = target − u₀ with compliance
//! C; contacts look for forces inside their friction cones. Both then add B⁻¹ Sᵀ f to the solution.

/// Memory the columns kept from step to step may take, in numbers (64 MiB).
const KEPT: usize = 8 << 20;

/// The ties of the present step and their response matrix G.
#[derive(Debug, Default)]
pub struct Overlay {
    offsets: Vec<u32>,
    entries: Vec<(u32, f64)>,
    gram: Vec<f64>,
    column: Vec<f64>,
    /// Columns B⁻¹ eᵢ of unknowns that were ties before, one after the other, and where each is
    /// (counted from 1). Contacts last for many steps; their columns need not be solved for again.
    kept: Vec<f64>,
    slot_of: Vec<u32>,
    slots: usize,
}

impl Overlay {
    /// Memory for `ties` ties of `stencil` entries each over `unknowns` unknowns, so that steps
    /// within that size allocate nothing.
    pub fn with_capacity(ties: usize, stencil: usize, unknowns: usize) -> Overlay {
        let slots = KEPT.checked_div(unknowns).unwrap_or(0).min(2 * ties);
        Overlay {
            offsets: Vec::with_capacity(ties + 1),
            entries: Vec::with_capacity(ties * stencil),
            gram: Vec::with_capacity(ties * ties),
            column: vec![0.0; unknowns],
            kept: Vec::with_capacity(slots * unknowns),
            slot_of: vec![0; unknowns],
            slots,
        }
    }

    /// Forgets the columns of an earlier base matrix; to be called whenever the base changes.
    pub fn forget_columns(&mut self) {
        self.kept.clear();
        self.slot_of.fill(0);
    }

    /// Forgets all ties.
    pub fn clear(&mut self) {
        self.offsets.clear();
        self.entries.clear();
        self.gram.clear();
    }

    /// Adds the tie Σ weight · unknown.
    pub fn push(&mut self, stencil: impl IntoIterator<Item = (u32, f64)>) {
        if self.offsets.is_empty() {
            self.offsets.push(0);
        }
        self.entries.extend(stencil);
        self.offsets.push(self.entries.len() as u32);
    }

    /// Number of ties.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there are no ties.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The unknowns and weights of tie `k`.
    pub fn stencil(&self, k: usize) -> &[(u32, f64)] {
        &self.entries[self.offsets[k] as usize..self.offsets[k + 1] as usize]
    }

    /// Computes G by one solve a tie, or none where its column is still known. Single-column solves
    /// make each column independent of which other ties there are, bit for bit.
    /// `base` solves one column of `n` unknowns in place.
    pub fn prepare(&mut self, n: usize, mut base: impl FnMut(&mut [f64])) {
        let count = self.len();
        self.gram.clear();
        self.gram.resize(count * count, 0.0);
        self.column.resize(n, 0.0);
        self.slot_of.resize(n, 0);
        for k in 0..count {
            let single = match *self.stencil(k) {
                [(i, 1.0)] => Some(i as usize),
                _ => None,
            };
            let kept = single.map_or(0, |i| self.slot_of[i] as usize);
            if kept > 0 {
                self.column.copy_from_slice(&self.kept[(kept - 1) * n..kept * n]);
            } else {
                self.column.fill(0.0);
                let range = self.offsets[k] as usize..self.offsets[k + 1] as usize;
                for &(i, w) in &self.entries[range] {
                    self.column[i as usize] += w;
                }
                base(&mut self.column);
                if let Some(i) = single {
                    self.keep(i);
                }
            }
            for l in 0..count {
                self.gram[k * count + l] = self.point(l, &self.column);
            }
        }
        // Symmetric in exact arithmetic; made so in floating point as well.
        for k in 0..count {
            for l in 0..k {
                let mean = 0.5 * (self.gram[k * count + l] + self.gram[l * count + k]);
                self.gram[k * count + l] = mean;
                self.gram[l * count + k] = mean;
            }
        }
    }

    /// Keeps the present column for later steps; when memory is full, starts over.
    fn keep(&mut self, unknown: usize) {
        if self.slots == 0 {
            return;
        }
        if self.kept.len() == self.slots * self.column.len() {
            self.forget_columns();
        }
        self.kept.extend_from_slice(&self.column);
        self.slot_of[unknown] = (self.kept.len() / self.column.len()) as u32;
    }

    /// Row `k` of G.
    pub fn gram_row(&self, k: usize) -> &[f64] {
        let n = self.len();
        &self.gram[k * n..][..n]
    }

    /// Where tie `k` is, for one coordinate of the unknowns.
    pub fn point(&self, k: usize, unknowns: &[f64]) -> f64 {
        self.stencil(k).iter().map(|&(i, w)| w * unknowns[i as usize]).sum()
    }

    /// Adds Sᵀ f to a right-hand side, one coordinate.
    pub fn scatter(&self, forces: &[f64], rhs: &mut [f64]) {
        for (k, f) in forces.iter().enumerate() {
            for &(i, w) in self.stencil(k) {
                rhs[i as usize] += w * f;
            }
        }
    }

    /// Forces of soft ties: solves (G + diag(compliance)) f = target − u₀ for one coordinate, where
    /// `gap` holds target − u₀ on entry and the forces on return. A tie of stiffness k has
    /// compliance 1/k; zero makes it rigid.
    pub fn solve_soft(&self, compliance: &[f64], gap: &mut [f64]) {
        let n = self.len();
        // Dense Cholesky: ties are few, and G + C is positive definite when ties are independent.
        let mut l = self.gram.clone();
        for (k, c) in compliance.iter().enumerate() {
            l[k * n + k] += c;
        }
        for j in 0..n {
            for k in 0..j {
                let f = l[j * n + k];
                for i in j..n {
                    l[i * n + j] -= l[i * n + k] * f;
                }
            }
            // Dependent rigid ties leave a vanishing pivot; they carry no force of their own.
            let pivot = l[j * n + j];
            let inv = if pivot > 1e-14 * self.gram[j * n + j] { pivot.sqrt().recip() } else { 0.0 };
            for i in j..n {
                l[i * n + j] *= inv;
            }
        }
        let divide = |a: f64, d: f64| if d > 0.0 { a / d } else { 0.0 };
        for i in 0..n {
            let s: f64 = (0..i).map(|k| l[i * n + k] * gap[k]).sum();
            gap[i] = divide(gap[i] - s, l[i * n + i]);
        }
        for i in (0..n).rev() {
            let s: f64 = (i + 1..n).map(|k| l[k * n + i] * gap[k]).sum();
            gap[i] = divide(gap[i] - s, l[i * n + i]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Panels, SparseSpd, SymmetricBuilder};
    use pliant_math::lanes::Isa;

    fn base(n: usize, extra: &[(Vec<(u32, f64)>, f64)]) -> SymmetricBuilder {
        let mut m = SymmetricBuilder::new(n);
        for i in 0..n {
            m.add(i, i, 0.5 + i as f64 / n as f64);
            if i > 0 {
                m.add(i, i, 2.0);
                m.add(i - 1, i - 1, 2.0);
                m.add(i, i - 1, -2.0);
            }
        }
        for (stencil, k) in extra {
            for (a, &(i, wi)) in stencil.iter().enumerate() {
                for &(j, wj) in &stencil[..=a] {
                    m.add(i as usize, j as usize, k * wi * wj);
                }
            }
        }
        m
    }

    #[test]
    fn base_and_overlay_equal_a_fresh_factor() {
        let factor = SparseSpd::factor(&base(60, &[]).build()).unwrap();
        let mut scratch = factor.scratch();
        equals_a_fresh_factor(|column| factor.solve(column, &mut scratch));
        let panels = Panels::factor(&base(60, &[]).build(), None).unwrap();
        let mut scratch = panels.scratch();
        equals_a_fresh_factor(|column| panels.solve_original(Isa::best(), column, &mut scratch));
    }

    fn equals_a_fresh_factor(mut solve: impl FnMut(&mut [f64])) {
        let n = 60;
        let ties = vec![
            (vec![(3, 1.0)], 50.0),
            (vec![(20, 0.25), (21, 0.75)], 1e4),
            (vec![(7, 1.0), (40, -1.0)], 3.0),
            (vec![(59, 1.0)], 1e-3),
        ];
        let targets = [1.0, -2.0, 0.3, 5.0];
        let b: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();

        let fresh = SparseSpd::factor(&base(n, &ties).build()).unwrap();
        let mut expected = b.clone();
        for ((stencil, k), t) in ties.iter().zip(targets) {
            for &(i, w) in stencil {
                expected[i as usize] += k * w * t;
            }
        }
        fresh.solve(&mut expected, &mut fresh.scratch());

        let mut overlay = Overlay::with_capacity(4, 2, n);
        for (stencil, _) in &ties {
            overlay.push(stencil.iter().copied());
        }
        overlay.prepare(n, &mut solve);
        let mut q = b.clone();
        solve(&mut q);
        let mut f: Vec<f64> = targets.iter().enumerate().map(|(k, t)| t - overlay.point(k, &q)).collect();
        let compliance: Vec<f64> = ties.iter().map(|(_, k)| 1.0 / k).collect();
        overlay.solve_soft(&compliance, &mut f);
        let mut got = b;
        overlay.scatter(&f, &mut got);
        solve(&mut got);
        for (e, g) in expected.iter().zip(&got) {
            assert!((e - g).abs() < 1e-10, "{e} {g}");
        }
    }

    #[test]
    fn rigid_ties_meet_their_targets_and_doubled_ones_do_no_harm() {
        let factor = SparseSpd::factor(&base(30, &[]).build()).unwrap();
        let mut scratch = factor.scratch();
        let mut overlay = Overlay::default();
        overlay.push([(5, 1.0)]);
        overlay.push([(5, 1.0)]);
        overlay.push([(25, 1.0)]);
        overlay.prepare(factor.size(), |column| factor.solve(column, &mut scratch));
        let mut f = [0.5, 0.5, -1.0];
        overlay.solve_soft(&[0.0; 3], &mut f);
        let mut q = vec![0.0; 30];
        overlay.scatter(&f, &mut q);
        factor.solve(&mut q, &mut scratch);
        assert!((q[5] - 0.5).abs() < 1e-12 && (q[25] + 1.0).abs() < 1e-12);
    }
}
