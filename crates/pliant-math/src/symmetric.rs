//! Pseudo-inverses of small symmetric matrices, for least squares that flat and line-like sets leave
//! partly undetermined.

/// What a symmetric, positive semi-definite matrix does where it does anything, undone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PseudoInverse<const N: usize> {
    /// The inverse on the directions the matrix determines, zero on the others.
    pub inverse: [[f64; N]; N],
    /// Projector onto the directions it says nothing about.
    pub null: [[f64; N]; N],
    /// Number of directions it determines.
    pub rank: usize,
}

/// Inverts a symmetric matrix where its eigenvalues exceed `tolerance` times the largest.
pub fn pseudo_inverse<const N: usize>(a: [[f64; N]; N], tolerance: f64) -> PseudoInverse<N> {
    let (values, vectors) = eigen_symmetric(a);
    let largest = values.iter().fold(0.0, |m: f64, v| m.max(*v));
    let mut result = PseudoInverse { inverse: [[0.0; N]; N], null: [[0.0; N]; N], rank: 0 };
    for (value, e) in values.iter().zip(&vectors) {
        let determined = *value > tolerance * largest && *value > 0.0 && value.is_finite();
        result.rank += usize::from(determined);
        let (to, factor) =
            if determined { (&mut result.inverse, value.recip()) } else { (&mut result.null, 1.0) };
        for i in 0..N {
            for j in 0..N {
                to[i][j] += factor * e[i] * e[j];
            }
        }
    }
    result
}

/// Eigenvalues and unit eigenvectors of a symmetric matrix, by Jacobi's rotations: slow for large
/// matrices, and accurate also for the smallest eigenvalues.
pub fn eigen_symmetric<const N: usize>(mut a: [[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    // Rows of `v` become the eigenvectors.
    let mut v = [[0.0; N]; N];
    v.iter_mut().enumerate().for_each(|(i, row)| row[i] = 1.0);
    for _ in 0..30 {
        let mut rotated = false;
        for p in 0..N {
            for q in p + 1..N {
                let off = a[p][q];
                // Below this an entry changes no digit of the eigenvalues.
                if off == 0.0 || off.abs() <= 1e-18 * (a[p][p].abs() * a[q][q].abs()).sqrt() {
                    continue;
                }
                rotated = true;
                let theta = (a[q][q] - a[p][p]) / (2.0 * off);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let c = t.hypot(1.0).recip();
                let s = t * c;
                for row in &mut a {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
                }
                for k in 0..N {
                    (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
                    (v[p][k], v[q][k]) = (c * v[p][k] - s * v[q][k], s * v[p][k] + c * v[q][k]);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    (std::array::from_fn(|i| a[i][i]), v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;
    use crate::rotation::tests::random;

    fn times<const N: usize>(a: &[[f64; N]; N], b: &[[f64; N]; N]) -> [[f64; N]; N] {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..N).map(|k| a[i][k] * b[k][j]).sum()))
    }

    #[test]
    fn inverts_full_rank_and_satisfies_penrose_below() {
        let mut rng = SplitMix64::new(9);
        for rank in [9, 7, 4, 1, 0] {
            let rows: Vec<[f64; 9]> = (0..rank).map(|_| std::array::from_fn(|_| random(&mut rng))).collect();
            let a: [[f64; 9]; 9] =
                std::array::from_fn(|i| std::array::from_fn(|j| rows.iter().map(|r| r[i] * r[j]).sum()));
            let p = pseudo_inverse(a, 1e-10);
            assert_eq!(p.rank, rank);
            // A A⁺ A = A, and A⁺ A + null = 1.
            let aa = times(&times(&a, &p.inverse), &a);
            let one = times(&p.inverse, &a);
            for i in 0..9 {
                for j in 0..9 {
                    assert!((aa[i][j] - a[i][j]).abs() < 1e-9);
                    let unit = f64::from(u8::from(i == j));
                    assert!((one[i][j] + p.null[i][j] - unit).abs() < 1e-7, "{rank}");
                }
            }
        }
    }

    #[test]
    fn eigenvectors_are_orthonormal_and_small_eigenvalues_keep_their_digits() {
        let (values, v) = eigen_symmetric([[1.0, 1e-9, 0.0], [1e-9, 1e-12, 0.0], [0.0, 0.0, 3.0]]);
        let mut sorted = values;
        sorted.sort_by(f64::total_cmp);
        // det/trace of the 2×2 block: (1e-12 − 1e-18) / (1 + …).
        assert!((sorted[0] - (1e-12 - 1e-18)).abs() < 1e-26, "{sorted:?}");
        let vv = times(&v, &std::array::from_fn(|i| std::array::from_fn(|j| v[j][i])));
        for (i, row) in vv.iter().enumerate() {
            for (j, e) in row.iter().enumerate() {
                assert!((e - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
    }

    #[test]
    fn zero_and_non_finite_matrices_have_no_rank() {
        assert_eq!(pseudo_inverse([[0.0; 3]; 3], 1e-10).rank, 0);
        assert_eq!(pseudo_inverse([[f64::NAN; 3]; 3], 1e-10).rank, 0);
    }
}
