//! Eigenvalues and eigenvectors of a symmetric 3×3 matrix, by Jacobi rotations.

use glam::{DMat3, DVec3};

/// Eigenvalues and the matching unit eigenvectors, in no particular order. Jacobi's method because it is
/// accurate for tiny eigenvalues beside large ones, which is what tells a flat neighbourhood from a thin one.
pub(crate) fn symmetric_eigen(matrix: DMat3) -> (DVec3, [DVec3; 3]) {
    let mut a = matrix.to_cols_array_2d();
    let mut v = DMat3::IDENTITY.to_cols_array_2d();
    for _ in 0..16 {
        let mut rotated = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q].abs() <= f64::EPSILON * 0.25 * (a[p][p].abs() * a[q][q].abs()).sqrt() {
                continue;
            }
            rotated = true;
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            // A ← Jᵀ A J, V ← V J. `v[k]` is kept as the k-th eigenvector.
            for row in &mut a {
                let (x, y) = (row[p], row[q]);
                row[p] = c * x - s * y;
                row[q] = s * x + c * y;
            }
            for k in 0..3 {
                let (x, y) = (a[p][k], a[q][k]);
                a[p][k] = c * x - s * y;
                a[q][k] = s * x + c * y;
                let (x, y) = (v[p][k], v[q][k]);
                v[p][k] = c * x - s * y;
                v[q][k] = s * x + c * y;
            }
            a[p][q] = 0.0;
            a[q][p] = 0.0;
        }
        if !rotated {
            break;
        }
    }
    (DVec3::new(a[0][0], a[1][1], a[2][2]), v.map(DVec3::from_array))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pliant_math::SplitMix64;

    #[test]
    fn eigenpairs_rebuild_the_matrix() {
        let mut rng = SplitMix64::new(1);
        for case in 0..200 {
            let mut column = || DVec3::new(rng.unit() - 0.5, rng.unit() - 0.5, rng.unit() - 0.5);
            let b = DMat3::from_cols(column(), column(), if case % 3 == 0 { DVec3::ZERO } else { column() });
            let m = b * b.transpose();
            let (values, vectors) = symmetric_eigen(m);
            for k in 0..3 {
                assert!((m * vectors[k] - values[k] * vectors[k]).length() < 1e-14);
                assert!((vectors[k].length() - 1.0).abs() < 1e-14);
            }
            assert!(vectors[0].dot(vectors[1]).abs() < 1e-14);
        }
        assert_eq!(symmetric_eigen(DMat3::ZERO).0, DVec3::ZERO);
    }
}
