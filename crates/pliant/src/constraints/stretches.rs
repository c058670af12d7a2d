//! Energies of stretches alone: second derivatives of ½ ‖F − T(F)‖² where T only changes the singular values of F.
//!
//! With F = U Σ Vᵀ the energy is a function ψ(σ) with slopes gᵢ = σᵢ − tᵢ. Its second derivative is known mode by mode
//! (Smith et al. 2019): that of ψ between the stretches uᵢvᵢᵀ, (gᵢ + gⱼ)/(σᵢ + σⱼ) for twists, (gᵢ − gⱼ)/(σᵢ − σⱼ) for
//! shears, and gᵢ/σᵢ for tilting a triangle out of its plane. So cutting off negative curvature is exact.

use super::hessian::full_hessian;
use glam::{DMat3, DVec3};
use pliant_math::outer;
use pliant_math::{eigen_symmetric, svd3};

/// How the slopes σ − t(σ) change with σ, given σ, t and whether both bounds are the same; `None` if it is not defined.
pub(super) type Slopes<const D: usize> = fn(&[f64; D], &[f64; D], bool) -> Option<[[f64; D]; D]>;

/// Stretches closer than this, relative to their size, are taken for equal.
const EQUAL: f64 = 1e-7;

/// Curvature of tetrahedra. A reflection counts as a negative smallest stretch, as projections have it.
pub(super) fn curvature3(
    f: [DVec3; 3],
    t: [DVec3; 3],
    (slopes, exact): (Slopes<3>, bool),
    clamped: bool,
) -> [[DMat3; 3]; 3] {
    let s = svd3(DMat3::from_cols(f[0], f[1], f[2]));
    let hand = (s.u.determinant() * s.v.determinant()).signum();
    let sigma = [s.sigma.x, s.sigma.y, s.sigma.z * hand];
    let u = [s.u.x_axis, s.u.y_axis, s.u.z_axis * hand];
    let v = [s.v.x_axis, s.v.y_axis, s.v.z_axis];
    let wanted = DMat3::from_cols(t[0], t[1], t[2]);
    let near = std::array::from_fn(|i| u[i].dot(wanted * v[i]));
    let Some(h) = slopes(&sigma, &near, exact) else { return full_hessian() };
    let mut modes = Modes::new(h, sigma, near, clamped);
    modes.stretch(|i, d| u[i] * v[i][d]);
    for (i, j) in [(0, 1), (1, 2), (2, 0)] {
        modes.pair(i, j, |i, j, d| u[i] * v[j][d]);
    }
    modes.sum
}

/// Curvature of triangles.
pub(super) fn curvature2(
    f: [DVec3; 2],
    t: [DVec3; 2],
    (slopes, exact): (Slopes<2>, bool),
    clamped: bool,
) -> [[DMat3; 2]; 2] {
    let (squares, v) = eigen_symmetric([[f[0].dot(f[0]), f[0].dot(f[1])], [f[0].dot(f[1]), f[1].dot(f[1])]]);
    let sigma = squares.map(|s| s.max(0.0).sqrt());
    let along = [0, 1].map(|i| f[0] * v[i][0] + f[1] * v[i][1]);
    if sigma.iter().any(|s| *s <= 1e-12 * (sigma[0] + sigma[1])) || !squares[0].is_finite() {
        return full_hessian();
    }
    let u = [along[0] / sigma[0], along[1] / sigma[1]];
    let near: [f64; 2] = std::array::from_fn(|i| u[i].dot(t[0] * v[i][0] + t[1] * v[i][1]));
    let Some(h) = slopes(&sigma, &near, exact) else { return full_hessian() };
    let mut modes = Modes::new(h, sigma, near, clamped);
    modes.stretch(|i, d| u[i] * v[i][d]);
    modes.pair(0, 1, |i, j, d| u[i] * v[j][d]);
    let normal = u[0].cross(u[1]).normalize_or_zero();
    for i in 0..2 {
        modes.add((sigma[i] - near[i]) / sigma[i], |d| normal * v[i][d]);
    }
    modes.sum
}

/// The second derivative as a sum over modes.
struct Modes<const D: usize> {
    h: [[f64; D]; D],
    sigma: [f64; D],
    near: [f64; D],
    clamped: bool,
    sum: [[DMat3; D]; D],
}

impl<const D: usize> Modes<D> {
    fn new(h: [[f64; D]; D], sigma: [f64; D], near: [f64; D], clamped: bool) -> Modes<D> {
        Modes { h, sigma, near, clamped, sum: [[DMat3::ZERO; D]; D] }
    }

    /// Adds `value` times a mode, of which the columns are given.
    fn add(&mut self, value: f64, column: impl Fn(usize) -> DVec3) {
        let value = if self.clamped { value.max(0.0) } else { value };
        for (d, row) in self.sum.iter_mut().enumerate() {
            for (e, block) in row.iter_mut().enumerate() {
                *block += outer(column(d) * value, column(e));
            }
        }
    }

    /// The part of ψ, over its own eigenvectors.
    fn stretch(&mut self, column: impl Fn(usize, usize) -> DVec3) {
        let (values, vectors) = eigen_symmetric(self.h);
        for (value, vector) in values.into_iter().zip(&vectors) {
            self.add(value, |d| (0..D).map(|i| column(i, d) * vector[i]).sum());
        }
    }

    /// Twist and shear of two axes.
    fn pair(&mut self, i: usize, j: usize, column: impl Fn(usize, usize, usize) -> DVec3) {
        let (gi, gj) = (self.sigma[i] - self.near[i], self.sigma[j] - self.near[j]);
        let (sum, gap) = (self.sigma[i] + self.sigma[j], self.sigma[i] - self.sigma[j]);
        let size = self.sigma[i].abs() + self.sigma[j].abs();
        // Two stretches that cancel: the nearest rotation jumps there, and no number is right.
        let twist = if sum.abs() > 1e-12 * size { (gi + gj) / sum } else { 1.0 };
        let shear = if gap.abs() > EQUAL * size {
            (gi - gj) / gap
        } else {
            0.5 * (self.h[i][i] + self.h[j][j]) - self.h[i][j]
        };
        let half = std::f64::consts::FRAC_1_SQRT_2;
        self.add(twist, |d| (column(i, j, d) - column(j, i, d)) * half);
        self.add(shear, |d| (column(i, j, d) + column(j, i, d)) * half);
    }
}

/// Stretches that want to be 1.
pub(super) fn rigid_slopes<const D: usize>(_: &[f64; D], _: &[f64; D], _: bool) -> Option<[[f64; D]; D]> {
    let mut h = [[0.0; D]; D];
    (0..D).for_each(|i| h[i][i] = 1.0);
    Some(h)
}

/// Stretches that want to be within bounds: those that were moved resist.
pub(super) fn limit_slopes<const D: usize>(
    sigma: &[f64; D],
    near: &[f64; D],
    exact: bool,
) -> Option<[[f64; D]; D]> {
    let mut h = [[0.0; D]; D];
    (0..D).filter(|&i| exact || moved(sigma[i], near[i])).for_each(|i| h[i][i] = 1.0);
    Some(h)
}

/// Whether a projection has changed a stretch, and rounding has not.
fn moved(sigma: f64, near: f64) -> bool {
    (sigma - near).abs() > 1e-13 * sigma.abs().max(near.abs())
}

/// Stretches whose product wants to be within bounds. The nearest t = σ + λ c(t), with c the slopes of the product,
/// moves on the surface of constant product: (1 − λ ∂c) dt = dσ + c dλ with c·dt = 0.
pub(super) fn product_slopes<const D: usize>(
    sigma: &[f64; D],
    near: &[f64; D],
    exact: bool,
) -> Option<[[f64; D]; D]> {
    if !exact && (0..D).all(|i| !moved(sigma[i], near[i])) {
        return Some([[0.0; D]; D]);
    }
    let without = |skip: &[usize]| -> f64 { (0..D).filter(|k| !skip.contains(k)).map(|k| near[k]).product() };
    let c: [f64; D] = std::array::from_fn(|i| without(&[i]));
    let squared: f64 = c.iter().map(|c| c * c).sum();
    let lambda = (0..D).map(|i| c[i] * (near[i] - sigma[i])).sum::<f64>() / squared;
    let m: [[f64; D]; D] = std::array::from_fn(|i| {
        std::array::from_fn(|j| if i == j { 1.0 } else { -lambda * without(&[i, j]) })
    });
    let (values, vectors) = eigen_symmetric(m);
    if !lambda.is_finite() || values.iter().any(|v| v.abs() < 1e-12) {
        return None;
    }
    let inverse: [[f64; D]; D] = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            values.iter().zip(&vectors).map(|(value, v)| v[i] * v[j] / value).sum::<f64>()
        })
    });
    let follows: [f64; D] = std::array::from_fn(|i| (0..D).map(|j| inverse[i][j] * c[j]).sum());
    let along: f64 = follows.iter().zip(&c).map(|(f, c)| f * c).sum();
    let h = std::array::from_fn(|i| {
        std::array::from_fn(|j| f64::from(u8::from(i == j)) - inverse[i][j] + follows[i] * follows[j] / along)
    });
    let finite = h.iter().flatten().all(|v: &f64| v.is_finite());
    finite.then_some(h)
}
