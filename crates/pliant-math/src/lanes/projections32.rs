//! The nearest allowed deformation of eight triangles at a time.
//!
//! Like [`projections`](super::projections), for 3×2 deformation gradients, `f[column][row]`. Their singular
//! values are never negative: a triangle in space cannot be inverted. No decomposition is needed: with F =
//! R·S, R of orthonormal columns and S symmetric, a change of singular values is a change of the two
//! coefficients of S = m·I + ρ·D, where D is traceless of unit eigenvalues, and σ = m ± ρ.

use super::projections::{clamp, fibre_change};
use super::rotations::largest;
use super::svd::{complete, pick};
use super::{Lanes, V3};

/// Eight 3×2 matrices, `a[column][row]`.
pub type M32<L> = [V3<L>; 2];

/// The nearest matrices with orthonormal columns; for a collapsed triangle one of them.
#[inline(always)]
pub fn rotation32<L: Lanes>(l: L, f: &M32<L>) -> M32<L> {
    let (zero, one) = (l.splat(0.0), l.splat(1.0));
    let size = l.max(largest(l, f[0]), largest(l, f[1]));
    let some = l.gt(size, zero);
    // Bounded below so that subnormal matrices have a finite inverse.
    let scale = l.div(one, l.max(size, l.splat(1e-300)));
    let a = pick(l, some, l.scale(scale, f[0]), [one, zero, zero]);
    let b = pick(l, some, l.scale(scale, f[1]), [zero, one, zero]);

    let (aa, bb) = (l.dot(a, a), l.dot(b, b));
    let (c, trace) = (l.cross(a, b), l.add(aa, bb));
    let cc = l.dot(c, c);
    let longer = pick(l, l.ge(aa, bb), a, b);
    let e = l.scale(l.rsqrt_wide(l.dot(longer, longer)), longer);
    let n = pick(l, l.gt(cc, l.mul(l.mul(trace, trace), l.splat(1e-28))), c, complete(l, e).0);
    // A sliver's normal is inaccurate, but must not lean toward its length.
    let n = l.scale_add(l.neg(l.dot(e, n)), e, n);
    let n = l.scale(l.rsqrt_wide(l.dot(n, n)), n);

    // F = U diag(σ₀, σ₁) Vᵀ and its cofactors in the plane, U diag(σ₁, σ₀) Vᵀ, add up to (σ₀ + σ₁) U Vᵀ.
    let area = l.max(l.dot(c, n), zero);
    let inverse = l.rsqrt_wide(l.mul_add(l.splat(2.0), area, trace));
    let x = l.scale(inverse, l.scale_add(one, a, l.cross(b, n)));
    let y = l.scale(inverse, l.scale_add(one, b, l.cross(n, a)));
    // What rounding left, squared: R(3I − RᵀR)/2.
    let half = l.splat(-0.5);
    let (p, q) = (l.mul(l.sub(l.dot(x, x), one), half), l.mul(l.sub(l.dot(y, y), one), half));
    let r = l.mul(l.dot(x, y), half);
    [l.scale_add(r, y, l.scale_add(p, x, x)), l.scale_add(r, x, l.scale_add(q, y, y))]
}

/// F = R·S with S = m·I + [p q; q −p], and ρ = √(p² + q²).
struct Polar<L: Lanes> {
    r: M32<L>,
    m: L::F,
    p: L::F,
    q: L::F,
    rho: L::F,
}

impl<L: Lanes> Polar<L> {
    #[inline(always)]
    fn of(l: L, f: &M32<L>) -> Self {
        let r = rotation32(l, f);
        let half = l.splat(0.5);
        let (a, b) = (l.mul(l.dot(r[0], f[0]), half), l.mul(l.dot(r[1], f[1]), half));
        let (p, q) = (l.sub(a, b), l.mul(l.add(l.dot(r[0], f[1]), l.dot(r[1], f[0])), half));
        Polar { r, m: l.add(a, b), p, q, rho: l.sqrt(l.mul_add(p, p, l.mul(q, q))) }
    }

    /// The singular values, the larger first.
    #[inline(always)]
    fn sigma(&self, l: L) -> [L::F; 2] {
        [l.add(self.m, self.rho), l.max(l.sub(self.m, self.rho), l.splat(0.0))]
    }

    /// With other singular values, or F where they are within bounds.
    #[inline(always)]
    fn with(&self, l: L, t: [L::F; 2], within: L::M, f: &M32<L>) -> M32<L> {
        let half = l.splat(0.5);
        let m = l.mul(l.add(t[0], t[1]), half);
        let rho = l.mul(l.sub(t[0], t[1]), half);
        // Equal singular values have no direction: any will do.
        let (some, k) = (l.gt(self.rho, l.splat(0.0)), l.div(rho, self.rho));
        let (p, q) = (l.select(some, l.mul(k, self.p), rho), l.keep(some, l.mul(k, self.q)));
        let [x, y] = self.r;
        [
            pick(l, within, f[0], l.scale_add(q, y, l.scale(l.add(m, p), x))),
            pick(l, within, f[1], l.scale_add(q, x, l.scale(l.sub(m, p), y))),
        ]
    }
}

/// The nearest T with both singular values in [min, max] (equation 23); F itself if it is. Bounds of every
/// lane: 0 ≤ min ≤ max.
#[inline(always)]
pub fn limit_strain32<L: Lanes>(l: L, f: &M32<L>, min: L::F, max: L::F) -> M32<L> {
    let polar = Polar::of(l, f);
    let s = polar.sigma(l);
    let within = l.and(l.le(s[0], max), l.ge(s[1], min));
    polar.with(l, [clamp(l, s[0], min, max), clamp(l, s[1], min, max)], within, f)
}

/// The nearest T with a product of singular values, the area's ratio, in [min, max] (equations 24 and 25);
/// F itself if it is. Bounds of every lane: 0 ≤ min ≤ max. The area of T is right to rounding.
#[inline(always)]
pub fn limit_area32<L: Lanes>(l: L, f: &M32<L>, min: L::F, max: L::F) -> M32<L> {
    let polar = Polar::of(l, f);
    let s = polar.sigma(l);
    let area = l.mul(s[0], s[1]);
    let within = l.and(l.ge(area, min), l.le(area, max));
    if l.bits(within) == 0xff {
        return *f;
    }
    let target = l.select(l.lt(area, min), min, max);
    polar.with(l, nearest_product(l, s, target, within), within, f)
}

/// A bound rarely met: four steps are usual.
const MAX_STEPS: usize = 48;

/// A relative step below this is the last: convergence is quadratic.
const NEAR: f64 = 1e-7;

/// The nearest t to σ with t₀·t₁ = τ.
///
/// As for volumes: t₀(t₀ − σ₀) = s(s − σ₁) with s = t₁, so t₀ = (σ₀ + r)/2 with r² = (2s − σ₁)² + σ₀² − σ₁².
/// The product s·t₀ increases with s everywhere and is convex above σ₁/2, so there is one solution; below,
/// where the triangle loses most of its area, Newton's iteration starts at the lower end.
#[inline(always)]
fn nearest_product<L: Lanes>(l: L, sigma: [L::F; 2], target: L::F, within: L::M) -> [L::F; 2] {
    let (half, one) = (l.splat(0.5), l.splat(1.0));
    let gap = l.mul(l.sub(sigma[0], sigma[1]), l.add(sigma[0], sigma[1]));
    let middle = l.mul(sigma[1], half);
    let at_middle = l.mul(middle, l.mul(l.add(sigma[0], l.sqrt(gap)), half));
    let upper = l.le(at_middle, target);
    let least = l.div(target, sigma[0]);
    let mut low = l.select(upper, middle, least);
    let mut high = l.select(upper, l.max(l.sqrt(target), middle), middle);
    let mut s = l.select(upper, l.min(sigma[1], high), least);
    let mut done = within;
    for _ in 0..MAX_STEPS {
        let x = l.neg_mul_add(one, sigma[1], l.add(s, s));
        let rr = l.mul_add(x, x, gap);
        let r = l.mul(rr, l.rsqrt_wide(rr));
        let t = l.mul(l.add(sigma[0], r), half);
        let slope = l.mul_add(s, x, l.mul(t, r));
        let change = l.div(l.mul(l.neg_mul_add(s, t, target), r), slope);
        let next = l.add(s, change);
        let bounded = l.max(l.min(next, high), low);
        // Below σ₁/2 the product is not convex and needs a bracket.
        let short = l.lt(l.mul(s, t), target);
        low = l.select(l.or(upper, short), l.select(upper, low, s), low);
        high = l.select(l.or(upper, short), high, s);
        let inside = l.and(l.ge(next, low), l.le(next, high));
        let halved = l.mul(l.add(low, high), half);
        let next = l.select(upper, bounded, l.select(inside, next, halved));
        let moved = l.abs(l.sub(next, s));
        s = l.select(done, s, next);
        done = l.or(done, l.le(moved, l.mul(next, l.splat(NEAR))));
        if l.bits(done) == 0xff {
            break;
        }
    }
    let x = l.neg_mul_add(one, sigma[1], l.add(s, s));
    let t = l.mul(l.add(sigma[0], l.sqrt(l.mul_add(x, x, gap))), half);
    // A zero area leaves nothing to divide by where all has collapsed.
    let other = l.keep(l.gt(target, l.splat(0.0)), l.div(target, t));
    [t, other]
}

/// The nearest T that stretches the unit vector d to a length in [min, max], and leaves the rest. Where F·d
/// vanishes, it points along d in the plane of x and y.
#[inline(always)]
pub fn limit_fibre32<L: Lanes>(l: L, f: &M32<L>, d: [L::F; 2], min: L::F, max: L::F) -> M32<L> {
    let v = l.scale_add(d[1], f[1], l.scale(d[0], f[0]));
    let change = fibre_change(l, v, [d[0], d[1], l.splat(0.0)], min, max);
    [l.scale_add(d[0], change, f[0]), l.scale_add(d[1], change, f[1])]
}
