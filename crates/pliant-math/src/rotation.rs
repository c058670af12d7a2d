//! The rotation nearest to a matrix (orthogonal Procrustes problem), defined for every input.

use crate::products::cross_matrix;
use crate::svd::{Svd3, svd3};
use glam::{DMat3, DVec3};

/// Below this gap between the best and the next best rotation, relative to the largest singular
/// value, rotations count as equally good.
const TIE: f64 = 1e-10;

/// The right-handed rotation R maximising tr(RᵀA), which for A = Σ m (x − x_cm)(r − r_cm)ᵀ is the
/// best-fit rotation from rest shape r to current shape x (strain-limiting, eq. 1).
///
/// Reflected (det A < 0) and singular matrices are ordinary input. Where several rotations are
/// equally good (points on a line, a single point, a mirrored cube) the one nearest to `previous`
/// is taken; a zero or non-finite A returns `previous` itself.
pub fn nearest_rotation(a: DMat3, previous: DMat3) -> DMat3 {
    let norm = frobenius(a);
    if norm == 0.0 || !norm.is_finite() {
        return previous;
    }
    let a = a * norm.recip();
    // With ‖A‖ = 1 the determinant is at most 3^(−3/2) ≈ 0.19. Newton's iteration needs it safely
    // positive: on reflections it converges to a reflection, on singular matrices it divides by zero.
    if a.determinant() > 1e-6
        && let Some(r) = polar_newton(a)
    {
        return r;
    }
    by_svd(a, previous)
}

fn frobenius(a: DMat3) -> f64 {
    // Scaling by the largest entry first keeps the squares from over- and underflowing.
    let max = a.to_cols_array().iter().fold(0.0_f64, |m, e| m.max(e.abs()));
    if max == 0.0 || !max.is_finite() {
        return max;
    }
    let b = a * max.recip();
    max * (b.x_axis.length_squared() + b.y_axis.length_squared() + b.z_axis.length_squared()).sqrt()
}

/// Higham's scaled Newton iteration X ← ½(μX + (μX)⁻ᵀ) for the polar factor of a matrix with
/// positive determinant; quadratic once near, so the last step is exact to rounding.
pub(crate) fn polar_newton(a: DMat3) -> Option<DMat3> {
    let mut x = a;
    for _ in 0..16 {
        let (c0, c1, c2) = (x.y_axis.cross(x.z_axis), x.z_axis.cross(x.x_axis), x.x_axis.cross(x.y_axis));
        let det = x.x_axis.dot(c0);
        // X⁻ᵀ is the cofactor matrix over the determinant.
        let inv = det.recip();
        let (norm_x, norm_y) =
            (sum_squares(x.x_axis, x.y_axis, x.z_axis), sum_squares(c0, c1, c2) * inv * inv);
        let mu = (norm_y / norm_x).sqrt().sqrt();
        let (f, g) = (0.5 * mu, 0.5 * inv / mu);
        let next = DMat3::from_cols(x.x_axis * f + c0 * g, x.y_axis * f + c1 * g, x.z_axis * f + c2 * g);
        let d = next - x;
        let change = sum_squares(d.x_axis, d.y_axis, d.z_axis);
        x = next;
        if change < 1e-20 {
            // The step just taken squares this error: converged to rounding.
            return Some(x);
        }
        if !change.is_finite() {
            return None;
        }
    }
    None
}

fn sum_squares(a: DVec3, b: DVec3, c: DVec3) -> f64 {
    a.length_squared() + b.length_squared() + c.length_squared()
}

fn by_svd(a: DMat3, previous: DMat3) -> DMat3 {
    let s = svd3(a);
    let hand = (s.u.determinant() * s.v.determinant()).signum();
    // Turning the two weakest directions against each other costs σ₁ ± σ₂: the gap to the next best.
    let gap = s.sigma.y + hand * s.sigma.z;
    if gap > TIE * s.sigma.x {
        return from_svd(&s);
    }
    // A pull toward the previous frame, far below any real signal, breaks the tie.
    let r = from_svd(&svd3(a + previous * (10.0 * TIE * s.sigma.x)));
    if s.sigma.x - s.sigma.y <= 1e-3 * s.sigma.x {
        return r;
    }
    // Along the strongest direction there is no tie: the pull must not be felt there, or points on a
    // line would miss their goals by as much.
    turn_onto(r * s.v.x_axis, s.u.x_axis) * r
}

fn from_svd(s: &Svd3) -> DMat3 {
    let hand = (s.u.determinant() * s.v.determinant()).signum();
    // A reflection is undone in the direction that matters least.
    let u = DMat3::from_cols(s.u.x_axis, s.u.y_axis, s.u.z_axis * hand);
    u * s.v.transpose()
}

/// The smallest rotation from one unit vector onto another that is near to it.
fn turn_onto(from: DVec3, to: DVec3) -> DMat3 {
    let w = from.cross(to);
    let cross = cross_matrix(w);
    DMat3::IDENTITY + cross + cross * cross * (1.0 + from.dot(to)).recip()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::SplitMix64;
    use glam::DQuat;

    /// A number from −1 to 1.
    pub(crate) fn random(rng: &mut SplitMix64) -> f64 {
        rng.unit() * 2.0 - 1.0
    }

    pub(crate) fn random_matrix(rng: &mut SplitMix64) -> DMat3 {
        DMat3::from_cols_array(&std::array::from_fn(|_| random(rng)))
    }

    pub(crate) fn random_rotation(rng: &mut SplitMix64) -> DMat3 {
        let q = DQuat::from_xyzw(random(rng), random(rng), random(rng), random(rng) + 1e-3);
        DMat3::from_quat(q.normalize())
    }

    /// ConditionBatch, reflected, flat, line-like, zero, tiny and huge matrices.
    pub(crate) fn random_matrices() -> Vec<DMat3> {
        let mut rng = SplitMix64::new(7);
        let mut list = vec![DMat3::ZERO, DMat3::IDENTITY, -DMat3::IDENTITY];
        for k in 0..400 {
            let (u, v) = (random_rotation(&mut rng), random_rotation(&mut rng));
            let d = match k % 8 {
                0 => DVec3::new(1.0, 1.0, 0.0),
                1 => DVec3::new(1.0, 0.0, 0.0),
                2 => DVec3::new(-1.0, 1.0, 1.0),
                3 => DVec3::new(1.0, 1e-9, -1e-9),
                4 => DVec3::new(2.0, 2.0, 2.0),
                5 => DVec3::new(1.0, 1e-8, 1e-14),
                6 => DVec3::new(1.0, 0.5, -0.2),
                _ => DVec3::new(random(&mut rng), random(&mut rng), random(&mut rng)),
            };
            list.push(u * DMat3::from_diagonal(d) * v * 10f64.powi([0, -100, 100][k % 3]));
            list.push(random_matrix(&mut rng));
        }
        list
    }

    fn trace_of_product(r: DMat3, a: DMat3) -> f64 {
        r.x_axis.dot(a.x_axis) + r.y_axis.dot(a.y_axis) + r.z_axis.dot(a.z_axis)
    }

    #[test]
    fn is_a_right_handed_rotation_and_no_other_is_better() {
        let mut rng = SplitMix64::new(3);
        for a in random_matrices() {
            let previous = random_rotation(&mut rng);
            let r = nearest_rotation(a, previous);
            let e = r * r.transpose() - DMat3::IDENTITY;
            assert!(e.to_cols_array().iter().all(|e| e.abs() < 1e-13), "{a} {e}");
            assert!(r.determinant() > 0.9);
            let norm = frobenius(a);
            let best = trace_of_product(r, a);
            for size in [1.0, 0.1, 1e-3] {
                for _ in 0..40 {
                    let axis = DVec3::new(random(&mut rng), random(&mut rng), random(&mut rng));
                    let other = DMat3::from_quat(DQuat::from_scaled_axis(axis * 3.0 * size)) * r;
                    // Ties are broken by a pull of 10·TIE, which may cost as much of the optimum.
                    let worse = trace_of_product(other, a);
                    assert!(worse <= best + 30.0 * TIE * norm, "{a}: {best} {worse}");
                }
            }
        }
    }

    #[test]
    fn recovers_the_rotation_of_a_stretched_frame() {
        let mut rng = SplitMix64::new(11);
        for _ in 0..200 {
            let r = random_rotation(&mut rng);
            let v = random_rotation(&mut rng);
            let stretch = DVec3::new(0.1, 1.0, 10.0) * 0.5 + DVec3::splat(random(&mut rng).abs());
            let a = r * v * DMat3::from_diagonal(stretch) * v.transpose();
            let e = nearest_rotation(a, DMat3::IDENTITY) - r;
            assert!(e.to_cols_array().iter().all(|e| e.abs() < 1e-13));
        }
    }

    #[test]
    fn ties_follow_the_previous_frame() {
        let mut rng = SplitMix64::new(5);
        for _ in 0..100 {
            let p = random_rotation(&mut rng);
            // A mirrored cube, a line and a point: the previous frame is itself a minimiser.
            let mirrored = p * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
            let line = p * DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0));
            for a in [mirrored, line, DMat3::ZERO] {
                let e = nearest_rotation(a, p) - p;
                assert!(e.to_cols_array().iter().all(|e| e.abs() < 1e-6), "{a} {e}");
            }
        }
    }

    #[test]
    fn a_line_is_turned_exactly() {
        let mut rng = SplitMix64::new(6);
        for _ in 0..100 {
            let (r, v) = (random_rotation(&mut rng), random_rotation(&mut rng));
            for d in [DVec3::X, DVec3::new(1.0, 1e-14, 0.0), DVec3::new(1.0, 0.5, -0.5)] {
                let turned = nearest_rotation(r * v * DMat3::from_diagonal(d) * v.transpose(), v);
                assert!((turned * v.x_axis - r * v.x_axis).length() < 1e-13);
            }
        }
    }

    #[test]
    fn non_finite_input_keeps_the_previous_frame() {
        let p = random_rotation(&mut SplitMix64::new(1));
        let a = DMat3::from_diagonal(DVec3::new(f64::NAN, 1.0, 1.0));
        assert_eq!(nearest_rotation(a, p), p);
        assert_eq!(nearest_rotation(DMat3::from_diagonal(DVec3::INFINITY), p), p);
    }
}
