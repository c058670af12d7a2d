//! Weights of a blend: least squares over non-negative weights of a given sum, without allocating.

/// Numbers a problem with `count` weights needs: the weights, which come first, right-hand side and matrix.
pub(super) fn scratch_len(count: usize) -> usize {
    count * (count + 2)
}

/// Minimises Σ m (Σₖ wₖ aₖ − b)² over w ≥ 0 with a given sum.
#[derive(Debug)]
pub(super) struct Problem<'a> {
    weights: &'a mut [f64],
    rhs: &'a mut [f64],
    matrix: &'a mut [f64],
}

impl<'a> Problem<'a> {
    /// A problem in `scratch_len(count)` numbers, without terms or weights as yet.
    pub fn new(numbers: &'a mut [f64], count: usize) -> Self {
        numbers.fill(0.0);
        let (weights, others) = numbers.split_at_mut(count);
        let (rhs, matrix) = others.split_at_mut(count);
        Problem { weights, rhs, matrix }
    }

    /// Begins with all the sum in one weight; the result is never worse than that.
    pub fn start_with(&mut self, one: usize, sum: f64) {
        self.weights.fill(0.0);
        self.weights[one] = sum;
    }

    /// Adds a term m (Σₖ wₖ a(k) − b)².
    pub fn add(&mut self, m: f64, a: impl Fn(usize) -> f64, b: f64) {
        let count = self.weights.len();
        for i in 0..count {
            let ma = m * a(i);
            self.rhs[i] += ma * b;
            for j in 0..count {
                self.matrix[i * count + j] += ma * a(j);
            }
        }
    }

    /// Shifts weight between pairs, always the pair that gains most, until none gains: monotone, and defined
    /// for singular matrices too.
    pub fn solve(self) {
        minimise(self.weights, self.matrix, self.rhs);
    }
}

/// Minimises ½ wᵀ Q w − cᵀ w over w ≥ 0, keeping the sum of w as it is.
pub(super) fn minimise(w: &mut [f64], q: &[f64], c: &[f64]) {
    let n = w.len();
    let row = |i: usize| &q[i * n..][..n];
    let slope = |w: &[f64], i: usize| row(i).iter().zip(w).map(|(q, w)| q * w).sum::<f64>() - c[i];
    for _ in 0..100 * n {
        // Slopes are computed afresh: n is small, and updated ones would drift.
        let (mut to, mut from) = ((usize::MAX, f64::INFINITY), (usize::MAX, f64::NEG_INFINITY));
        for i in 0..n {
            let s = slope(w, i);
            if s < to.1 {
                to = (i, s);
            }
            if w[i] > 0.0 && s > from.1 {
                from = (i, s);
            }
        }
        let gain = from.1 - to.1;
        if to.0 == usize::MAX || from.0 == usize::MAX || to.0 == from.0 {
            return;
        }
        let ((i, _), (j, _)) = (to, from);
        let curvature = row(i)[i] + row(j)[j] - 2.0 * row(i)[j];
        let scale = row(i)[i].abs() + row(j)[j].abs() + c[i].abs() + c[j].abs();
        if gain.is_nan() || gain <= 1e-15 * scale {
            return;
        }
        let shift = if curvature > 0.0 { (gain / curvature).min(w[j]) } else { w[j] };
        // What is taken to the last bit is exactly zero, so that it leaves the active set.
        w[i] += shift;
        w[j] = if shift == w[j] { 0.0 } else { w[j] - shift };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_geometry::SplitMix64;

    #[test]
    fn no_other_weights_are_better() {
        let mut rng = SplitMix64::new(7);
        let mut random = || rng.unit();
        for terms in [1, 2, 5, 20] {
            let data: Vec<[f64; 5]> =
                (0..terms).map(|_| std::array::from_fn(|_| random() * 4.0 - 1.0)).collect();
            let value = |w: &[f64]| -> f64 {
                let off = |d: &[f64; 5]| (0..4).map(|k| d[k] * w[k]).sum::<f64>() - d[4];
                data.iter().map(|d| off(d) * off(d)).sum()
            };
            let mut numbers = vec![0.0; scratch_len(4)];
            let mut problem = Problem::new(&mut numbers, 4);
            problem.start_with(0, 1.0);
            data.iter().for_each(|d| problem.add(1.0, |k| d[k], d[4]));
            problem.solve();
            let best = &numbers[..4];
            assert!(best.iter().all(|w| *w >= 0.0) && (best.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            for _ in 0..20_000 {
                let mut other: [f64; 4] = std::array::from_fn(|_| -random().ln());
                let sum: f64 = other.iter().sum();
                let mix = random() * random();
                other.iter_mut().zip(best).for_each(|(o, b)| *o = b + mix * (*o / sum - b));
                assert!(value(best) <= value(&other) + 1e-12);
            }
        }
    }
}
