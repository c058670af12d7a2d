//! A small dense system with a symmetric positive matrix, in memory that is kept.

/// Pivots below this part of their diagonal are those of rows that others imply.
const DEPENDENT: f64 = 1e-12;

/// The lower half of a symmetric matrix, row by row, and then its factor L Lᵀ.
#[derive(Clone, Debug, Default)]
pub(super) struct DenseSpd {
    size: usize,
    lower: Vec<f64>,
}

impl DenseSpd {
    pub fn reserve(&mut self, size: usize) {
        self.lower.reserve((size * (size + 1) / 2).saturating_sub(self.lower.len()));
    }

    /// Begins a matrix of zeros.
    pub fn begin(&mut self, size: usize) {
        self.size = size;
        self.lower.clear();
        self.lower.resize(size * (size + 1) / 2, 0.0);
    }

    /// Sets the number at (i, j); what is above the diagonal is not stored.
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        if j <= i {
            self.lower[i * (i + 1) / 2 + j] = value;
        }
    }

    /// Factors the matrix. A row that depends on those before it gets nothing: its unknown is zero, and so it answers for
    /// what is tied twice, or cannot move at all.
    pub fn factor(&mut self) {
        for i in 0..self.size {
            let (above, row) = self.lower.split_at_mut(i * (i + 1) / 2);
            for j in 0..i {
                let other = &above[j * (j + 1) / 2..][..=j];
                let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                row[j] = if other[j] > 0.0 { (row[j] - sum) / other[j] } else { 0.0 };
            }
            let whole = row[i];
            let left = whole - row[..i].iter().map(|a| a * a).sum::<f64>();
            row[i] = if left > DEPENDENT * whole { left.sqrt() } else { 0.0 };
        }
    }

    /// Solves for a right-hand side, in its place.
    pub fn solve(&self, side: &mut [f64]) {
        let row = |i: usize| &self.lower[i * (i + 1) / 2..][..=i];
        for i in 0..self.size {
            let own = row(i);
            let sum: f64 = own[..i].iter().zip(&side[..i]).map(|(a, b)| a * b).sum();
            side[i] = if own[i] > 0.0 { (side[i] - sum) / own[i] } else { 0.0 };
        }
        for i in (0..self.size).rev() {
            let own = row(i);
            side[i] = if own[i] > 0.0 { side[i] / own[i] } else { 0.0 };
            let at = side[i];
            side[..i].iter_mut().zip(own).for_each(|(s, l)| *s -= l * at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AᵀA of numbers without a pattern, with a row that is twice another if `twice`.
    fn made(size: usize, twice: bool) -> Vec<Vec<f64>> {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17) as f64 * 0.77).sin();
        let mut rows: Vec<Vec<f64>> =
            (0..size).map(|i| (0..size + 2).map(|j| entry(i, j)).collect()).collect();
        if twice {
            rows[size - 2] = rows[1].iter().map(|v| 2.0 * v).collect();
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        rows.iter().map(|a| rows.iter().map(|b| dot(a, b)).collect()).collect()
    }

    #[test]
    fn solves_also_where_rows_depend_on_each_other() {
        for (size, twice) in [(1, false), (2, false), (7, false), (7, true)] {
            let matrix = made(size, twice);
            let mut system = DenseSpd::default();
            system.begin(size);
            for (i, row) in matrix.iter().enumerate() {
                row.iter().enumerate().for_each(|(j, v)| system.set(i, j, *v));
            }
            system.factor();
            // A right-hand side that has a solution.
            let wanted: Vec<f64> = (0..size).map(|i| (i as f64 * 1.3).cos()).collect();
            let times = |x: &[f64]| -> Vec<f64> {
                matrix.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
            };
            let side = times(&wanted);
            let mut found = side.clone();
            system.solve(&mut found);
            let off = times(&found).iter().zip(&side).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-9, "{size} {twice}: {off}");
        }
    }

    #[test]
    fn what_cannot_move_gets_no_force() {
        let mut system = DenseSpd::default();
        system.begin(2);
        system.set(1, 1, 4.0);
        system.factor();
        let mut side = [3.0, 8.0];
        system.solve(&mut side);
        assert_eq!(side, [0.0, 2.0]);
    }
}
