//! The nearest allowed deformation, one at a time: what the local step of projective dynamics asks.
//!
//! The plain twins of [`lanes::projections`](crate::lanes::projections): slower, and written so that they
//! can be checked by reading. Bounds are 0 ≤ min ≤ max throughout.

use crate::svd::{Svd3, svd3};
use glam::{DMat3, DVec2, DVec3};

/// The nearest rotation; among equally near ones, one of them.
pub fn rotation(f: DMat3) -> DMat3 {
    compose(&signed_svd(f), DVec3::ONE)
}

/// The nearest T with all singular values in [min, max] and det T ≥ 0 (projective dynamics, eq. 23).
pub fn limit_strain(f: DMat3, min: f64, max: f64) -> DMat3 {
    let svd = signed_svd(f);
    if svd.sigma.x <= max && svd.sigma.z >= min {
        return f;
    }
    compose(&svd, svd.sigma.clamp(DVec3::splat(min), DVec3::splat(max)))
}

/// The nearest T with determinant in [min, max] (projective dynamics, eqs. 24 and 25).
pub fn limit_volume(f: DMat3, min: f64, max: f64) -> DMat3 {
    let det = f.determinant();
    if det >= min && det <= max {
        return f;
    }
    let svd = signed_svd(f);
    let s = svd.sigma.to_array();
    compose(&svd, DVec3::from_array(nearest_product(s, det, if det < min { min } else { max })))
}

/// The nearest matrix with orthonormal columns; for a collapsed triangle, one of them.
pub fn rotation32(f: [DVec3; 2]) -> [DVec3; 2] {
    columns32(compose(&svd32(f), DVec3::ONE))
}

/// The nearest T with both singular values in [min, max].
pub fn limit_strain32(f: [DVec3; 2], min: f64, max: f64) -> [DVec3; 2] {
    let svd = svd32(f);
    if svd.sigma.x <= max && svd.sigma.y >= min {
        return f;
    }
    columns32(compose(&svd, svd.sigma.clamp(DVec3::splat(min), DVec3::splat(max))))
}

/// The nearest T with a product of singular values, the ratio of areas, in [min, max].
pub fn limit_area32(f: [DVec3; 2], min: f64, max: f64) -> [DVec3; 2] {
    let svd = svd32(f);
    let area = svd.sigma.x * svd.sigma.y;
    if area >= min && area <= max {
        return f;
    }
    let target = if area < min { min } else { max };
    let [x, y] = nearest_product([svd.sigma.x, svd.sigma.y], area, target);
    columns32(compose(&svd, DVec3::new(x, y, 0.0)))
}

/// The nearest T that stretches the unit vector d to a length in [min, max]; along d where F·d vanishes.
pub fn limit_fibre(f: DMat3, d: DVec3, min: f64, max: f64) -> DMat3 {
    let change = fibre_change(f * d, d, min, max);
    DMat3::from_cols(f.x_axis + change * d.x, f.y_axis + change * d.y, f.z_axis + change * d.z)
}

/// [`limit_fibre`] of a triangle; where F·d vanishes, along d in the plane of x and y.
pub fn limit_fibre32(f: [DVec3; 2], d: DVec2, min: f64, max: f64) -> [DVec3; 2] {
    let change = fibre_change(f[0] * d.x + f[1] * d.y, d.extend(0.0), min, max);
    [f[0] + change * d.x, f[1] + change * d.y]
}

fn fibre_change(v: DVec3, rest: DVec3, min: f64, max: f64) -> DVec3 {
    let length = v.length();
    if length <= 1e-150 { rest * min - v } else { v * (length.clamp(min, max) / length - 1.0) }
}

/// The t nearest to σ (sorted, the last perhaps negative) with product τ.
///
/// At a stationary point tᵢ(tᵢ − σᵢ) is the same for all i. Given the last, s, the others are the larger
/// roots of that quadratic, or t would not be sorted like σ, and exchanging two would bring it nearer. See
/// [`lanes::projections`](crate::lanes::projections) for the two branches of s.
fn nearest_product<const N: usize>(sigma: [f64; N], product: f64, target: f64) -> [f64; N] {
    let last = sigma[N - 1];
    let at = |s: f64| -> [f64; N] {
        let mut t = sigma.map(|v| 0.5 * (v + ((2.0 * s - last).powi(2) + (v - last) * (v + last)).sqrt()));
        t[N - 1] = s;
        t
    };
    let volume = |s: f64| at(s).iter().product::<f64>();
    let others = |s: f64| at(s)[..N - 1].iter().product::<f64>();
    let feasible = |s: f64| {
        let mut t = at(s);
        t[N - 1] = if target > 0.0 { target / others(s) } else { 0.0 };
        t
    };
    let distance = |t: &[f64; N]| t.iter().zip(&sigma).map(|(t, s)| (t - s) * (t - s)).sum::<f64>();

    // Above last/2 the product increases.
    let (mut low, mut high) = (last.max(0.0) * 0.5, target.powf(1.0 / N as f64).max(last));
    for _ in 0..200 {
        let s = 0.5 * (low + high);
        if volume(s) < target { low = s } else { high = s }
    }
    let shrunk = feasible(high);
    if product <= 2.0 * target || last <= 0.0 {
        return shrunk;
    }
    // Below, s ← τ/(t₀t₁) climbs from the left to the first solution, if there is one.
    let mut s = 0.0;
    for _ in 0..1000 {
        s = (target / others(s)).min(0.5 * last);
    }
    let flattened = feasible(s);
    if distance(&flattened) < distance(&shrunk) { flattened } else { shrunk }
}

/// With U and V right-handed, and the last singular value of the sign of the determinant.
pub(crate) fn signed_svd(a: DMat3) -> Svd3 {
    let Svd3 { mut u, mut sigma, mut v } = svd3(a);
    for m in [&mut u, &mut v] {
        if m.determinant() < 0.0 {
            m.z_axis = -m.z_axis;
            sigma.z = -sigma.z;
        }
    }
    Svd3 { u, sigma, v }
}

/// Of a 3×2 matrix, as that of a 3×3 one with a zero column, which V leaves alone.
fn svd32(f: [DVec3; 2]) -> Svd3 {
    // FᵀF of a 3×2 matrix has a closed form, but for small singular values it has fewer digits.
    let svd = svd3(DMat3::from_cols(f[0], f[1], DVec3::ZERO));
    // The null vector z must be last, also among several of a collapsed triangle.
    if svd.v.z_axis.z.abs() > 0.5 {
        return svd;
    }
    let x = if svd.v.x_axis.z.abs() > 0.5 { DVec3::X } else { svd.v.x_axis };
    Svd3 { u: svd.u, sigma: svd.sigma, v: DMat3::from_cols(x, DVec3::Z.cross(x), DVec3::Z) }
}

fn compose(svd: &Svd3, s: DVec3) -> DMat3 {
    svd.u * DMat3::from_diagonal(s) * svd.v.transpose()
}

fn columns32(m: DMat3) -> [DVec3; 2] {
    [m.x_axis, m.y_axis]
}
