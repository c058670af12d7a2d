//! Singular value decomposition of a 3×3 matrix by one-sided Jacobi rotations.

use glam::{DMat3, DVec3};

/// A = U · diag(σ) · Vᵀ with σ₀ ≥ σ₁ ≥ σ₂ ≥ 0; U and V orthogonal, of either handedness.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Svd3 {
    /// Left singular vectors as columns.
    pub u: DMat3,
    /// Singular values, largest first.
    pub sigma: DVec3,
    /// Right singular vectors as columns.
    pub v: DMat3,
}

/// The decomposition of any finite matrix, however degenerate.
///
/// One-sided Jacobi orthogonalises the columns of A·V directly, without forming AᵀA, so small
/// singular values keep their relative accuracy.
pub fn svd3(a: DMat3) -> Svd3 {
    let scale = a.to_cols_array().iter().fold(0.0_f64, |m, e| m.max(e.abs()));
    if scale == 0.0 || !scale.is_finite() {
        return Svd3 { u: DMat3::IDENTITY, sigma: DVec3::ZERO, v: DMat3::IDENTITY };
    }
    let a = a * scale.recip();
    let mut w = [a.x_axis, a.y_axis, a.z_axis];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    // Convergence is quadratic: four or five sweeps; the bound only guards against surprises.
    for _ in 0..24 {
        let mut rotated = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (alpha, beta, gamma) = (w[p].length_squared(), w[q].length_squared(), w[p].dot(w[q]));
            if gamma.abs() <= 1e-16 * (alpha * beta).sqrt() || gamma == 0.0 {
                continue;
            }
            rotated = true;
            let zeta = (beta - alpha) / (2.0 * gamma);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = (1.0 + t * t).sqrt().recip();
            let s = c * t;
            (w[p], w[q]) = (w[p] * c - w[q] * s, w[p] * s + w[q] * c);
            (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
        }
        if !rotated {
            break;
        }
    }
    let norms = w.map(|c| c.length());
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
    let sigma = order.map(|i| norms[i]);
    let u = complete_basis(order.map(|i| w[i]), sigma);
    let [v0, v1, v2] = order.map(|i| v[i]);
    Svd3 { u, sigma: DVec3::from_array(sigma) * scale, v: DMat3::from_cols(v0, v1, v2) }
}

/// Unit columns from orthogonal ones of lengths `sigma`, largest first; directions whose length has
/// vanished are completed to an orthonormal basis.
fn complete_basis(w: [DVec3; 3], sigma: [f64; 3]) -> DMat3 {
    let tiny = 1e-200;
    let u0 = if sigma[0] > tiny { w[0] / sigma[0] } else { DVec3::X };
    let u1 =
        if sigma[1] > tiny.max(1e-15 * sigma[0]) { w[1] / sigma[1] } else { u0.any_orthonormal_vector() };
    // Remove what rounding left of u0 in u1; matters when σ₁ ≪ σ₀.
    let u1 = (u1 - u0 * u0.dot(u1)).normalize();
    let u2 = u0.cross(u1);
    let u2 = if sigma[2] > 0.0 && w[2].dot(u2) < 0.0 { -u2 } else { u2 };
    DMat3::from_cols(u0, u1, u2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::tests::random_matrices;

    #[test]
    fn reconstructs_and_is_orthogonal() {
        for a in random_matrices() {
            let Svd3 { u, sigma, v } = svd3(a);
            let back = u * DMat3::from_diagonal(sigma) * v.transpose();
            let size = 1e-300 + sigma.x;
            assert!((back - a).to_cols_array().iter().all(|e| e.abs() <= 1e-14 * size), "{a} {back}");
            for m in [u, v] {
                let e = m * m.transpose() - DMat3::IDENTITY;
                assert!(e.to_cols_array().iter().all(|e| e.abs() < 1e-14), "{a} {e}");
            }
            assert!(sigma.x >= sigma.y && sigma.y >= sigma.z && sigma.z >= 0.0);
        }
    }
}
