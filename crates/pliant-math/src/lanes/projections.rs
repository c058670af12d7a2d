//! The nearest allowed deformation of eight at a time: rotations, limited strain, volume and fibres.
//!
//! These are the local steps of projective dynamics (appendix A) for 3×3 deformation gradients. Most take
//! several packs at once; two hide latencies well where there are registers for them. The bits of a lane
//! depend on its own matrix only, and every finite F of entries up to 10¹⁵⁰ has a finite projection.

use super::rotations::rotations;
use super::svd::{Svd8, combine, pick, svds};
use super::{Lanes, M3, V3};

/// The rotations nearest to F (equation 23 with both bounds one), also to reflected and collapsed ones.
#[inline(always)]
pub fn rotation<L: Lanes, const N: usize>(l: L, f: &[M3<L>; N]) -> [M3<L>; N] {
    let (mut r, trusted) = rotations(l, f);
    let mut all = 0xff;
    for trusted in &trusted {
        all &= l.bits(*trusted);
    }
    if all != 0xff {
        let svd = svds(l, f);
        for k in 0..N {
            let one = [l.splat(1.0); 3];
            r[k] = pick3(l, trusted[k], r[k], compose(l, &svd[k], one));
        }
    }
    r
}

/// The nearest T with all singular values in [min, max] and det T ≥ 0 (equation 23); F itself if it is.
///
/// Bounds of every lane: 0 ≤ min ≤ max.
#[inline(always)]
pub fn limit_strain<L: Lanes, const N: usize>(
    l: L,
    f: &[M3<L>; N],
    min: &[L::F; N],
    max: &[L::F; N],
) -> [M3<L>; N] {
    let mut t = *f;
    let mut all = 0xff;
    for k in 0..N {
        all &= l.bits(certainly_within(l, &f[k], min[k], max[k]));
    }
    if all != 0xff {
        let svd = svds(l, f);
        for k in 0..N {
            let (s, min, max) = (svd[k].sigma, min[k], max[k]);
            // Sorted, so the first and the last decide.
            let within = l.and(l.le(s[0], max), l.ge(s[2], min));
            // A lane that is certain must have the bits it would have had in other company.
            let within = l.or(within, certainly_within(l, &f[k], min, max));
            let s = [clamp(l, s[0], min, max), clamp(l, s[1], min, max), clamp(l, s[2], min, max)];
            t[k] = pick3(l, within, f[k], compose(l, &svd[k], s));
        }
    }
    t
}

/// Whether a bound that needs no decomposition tells that all singular values are in [min, max].
#[inline(always)]
fn certainly_within<L: Lanes>(l: L, f: &M3<L>, min: L::F, max: L::F) -> L::M {
    // The eigenvalues of FᵀF differ from their mean by at most √(2/3) of its deviator's norm.
    let s = [l.dot(f[0], f[0]), l.dot(f[1], f[1]), l.dot(f[2], f[2])];
    let o = [l.dot(f[1], f[2]), l.dot(f[2], f[0]), l.dot(f[0], f[1])];
    let mean = l.mul(l.add(l.add(s[0], s[1]), s[2]), l.splat(1.0 / 3.0));
    let d = [l.sub(s[0], mean), l.sub(s[1], mean), l.sub(s[2], mean)];
    let spread = l.mul(l.mul_add(l.splat(2.0), l.dot(o, o), l.dot(d, d)), l.splat(2.0 / 3.0));
    let zero = l.splat(0.0);
    let below = l.max(l.neg_mul_add(min, min, mean), zero);
    let above = l.max(l.neg_mul_add(l.splat(1.0), mean, l.mul(max, max)), zero);
    let near = l.min(below, above);
    l.and(l.lt(spread, l.mul(near, near)), l.gt(determinant(l, f), zero))
}

/// The nearest T with determinant in [min, max] (equations 24 and 25); F itself if it is.
///
/// Bounds of every lane: 0 ≤ min ≤ max. The determinant of T is right to rounding even where a search did
/// not converge. It takes fewest steps for bounds near one.
#[inline(always)]
pub fn limit_volume<L: Lanes, const N: usize>(
    l: L,
    f: &[M3<L>; N],
    min: &[L::F; N],
    max: &[L::F; N],
) -> [M3<L>; N] {
    let mut t = *f;
    let mut within = [l.mask(0); N];
    let mut all = 0xff;
    for k in 0..N {
        let det = determinant(l, &f[k]);
        within[k] = l.and(l.ge(det, min[k]), l.le(det, max[k]));
        all &= l.bits(within[k]);
    }
    if all == 0xff {
        return t;
    }
    let svd = svds(l, f);
    let mut search = [Search::grow_or_shrink(l, &svd[0], within[0], min[0], max[0]); N];
    for k in 1..N {
        search[k] = Search::grow_or_shrink(l, &svd[k], within[k], min[k], max[k]);
    }
    run::<L, N, false>(l, &mut search);
    let mut best = [svd[0].sigma; N];
    let mut far = 0;
    for k in 0..N {
        best[k] = search[k].sigma(l);
        far |= l.bits(search[k].far);
    }
    if far != 0 {
        // More than half of a volume is to go: it may be nearer to flatten F than to shrink it.
        let mut flat = search;
        for k in 0..N {
            flat[k] = search[k].flatten(l);
        }
        run::<L, N, true>(l, &mut flat);
        for k in 0..N {
            let other = flat[k].sigma(l);
            let nearer = l.lt(distance(l, other, svd[k].sigma), distance(l, best[k], svd[k].sigma));
            best[k] = pick(l, l.and(search[k].far, nearer), other, best[k]);
        }
    }
    for k in 0..N {
        t[k] = pick3(l, within[k], f[k], compose(l, &svd[k], best[k]));
    }
    t
}

/// Newton's iteration along the curve of matrices that are nearest for their volume.
///
/// The nearest T shares U and V with F and has positive singular values t sorted like σ (von Neumann's
/// trace inequality), so it remains to minimise Σ(tᵢ − σᵢ)² with t₀t₁t₂ = τ, where tᵢ(tᵢ − σᵢ) is the same
/// for all i. With s = t₂ given, it is s(s − σ₂), and tᵢ = (σᵢ + rᵢ)/2 with rᵢ² = σᵢ² + 4s(s − σ₂) =
/// (2s − σ₂)² + σᵢ² − σ₂²: the other root would have t in another order. For s ≥ σ₂/2 the product s·t₀·t₁
/// is an increasing and convex function of s: Newton's iteration cannot fail, and the solution is unique.
/// Volumes far below that of F may also, or only, be reached at s < σ₂/2.
#[derive(Clone, Copy)]
struct Search<L: Lanes> {
    sigma: V3<L>,
    /// σᵢ² − σ₂²
    gap: [L::F; 2],
    target: L::F,
    s: L::F,
    low: L::F,
    high: L::F,
    /// Less than half of the volume is to remain.
    far: L::M,
    done: L::M,
}

/// A bound rarely met: four steps are usual, and each gains at least a third while far off.
const MAX_STEPS: usize = 48;

/// A relative step below this is the last: convergence is quadratic.
const NEAR: f64 = 1e-7;

impl<L: Lanes> Search<L> {
    #[inline(always)]
    fn grow_or_shrink(l: L, svd: &Svd8<L>, within: L::M, min: L::F, max: L::F) -> Self {
        let s = svd.sigma;
        let zero = l.splat(0.0);
        let det = l.mul(l.mul(s[0], s[1]), s[2]);
        let middle = l.mul(l.add(min, max), l.splat(0.5));
        let grow = l.lt(det, middle);
        let target = l.select(grow, min, max);
        // s³ is less than the product, and the cube root of τ at most (τ + 2)/3.
        let high = l.mul(l.add(target, l.splat(2.0)), l.splat(1.0 / 3.0));
        let low = l.max(l.mul(s[2], l.splat(0.5)), zero);
        let start = l.select(grow, l.max(s[2], zero), l.max(l.min(s[2], high), low));
        Search {
            sigma: s,
            gap: [l.mul(l.sub(s[0], s[2]), l.add(s[0], s[2])), l.mul(l.sub(s[1], s[2]), l.add(s[1], s[2]))],
            target,
            s: start,
            low,
            high: l.select(grow, high, start),
            far: l.gt(l.mul(det, l.splat(0.5)), l.max(target, l.splat(0.0))),
            done: within,
        }
    }

    /// The other branch, from its lower end: no t is larger than its σ. Not convex, so it needs a bracket.
    #[inline(always)]
    fn flatten(&self, l: L) -> Self {
        let low = l.div(self.target, l.mul(self.sigma[0], self.sigma[1]));
        let high = l.mul(self.sigma[2], l.splat(0.5));
        let done = l.mask(!l.bits(self.far));
        Search { s: low, low, high, done, ..*self }
    }

    /// rᵢ and tᵢ.
    #[inline(always)]
    fn others(&self, l: L) -> ([L::F; 2], [L::F; 2]) {
        let x = l.neg_mul_add(l.splat(1.0), self.sigma[2], l.add(self.s, self.s));
        let (a, b) = (l.mul_add(x, x, self.gap[0]), l.mul_add(x, x, self.gap[1]));
        let r = [l.mul(a, l.rsqrt_wide(a)), l.mul(b, l.rsqrt_wide(b))];
        let half = l.splat(0.5);
        (r, [l.mul(l.add(self.sigma[0], r[0]), half), l.mul(l.add(self.sigma[1], r[1]), half)])
    }

    #[inline(always)]
    fn step<const BRACKET: bool>(&mut self, l: L) {
        let s = self.s;
        let (r, t) = self.others(l);
        // The product's derivative is t₀t₁ + s(2s − σ₂)(t₁/r₀ + t₀/r₁).
        let (tt, rr) = (l.mul(t[0], t[1]), l.mul(r[0], r[1]));
        let x = l.neg_mul_add(l.splat(1.0), self.sigma[2], l.add(s, s));
        let slope = l.mul_add(l.mul(s, x), l.mul_add(t[0], r[0], l.mul(t[1], r[1])), l.mul(tt, rr));
        let change = l.div(l.mul(l.neg_mul_add(s, tt, self.target), rr), slope);
        let next = l.add(s, change);
        let next = if BRACKET {
            let short = l.lt(l.mul(s, tt), self.target);
            self.low = l.select(short, s, self.low);
            self.high = l.select(short, self.high, s);
            let inside = l.and(l.ge(next, self.low), l.le(next, self.high));
            l.select(inside, next, l.mul(l.add(self.low, self.high), l.splat(0.5)))
        } else {
            // Where the slope is undefined, from the upper end.
            l.max(l.min(next, self.high), self.low)
        };
        self.s = l.select(self.done, s, next);
        let moved = l.abs(l.sub(next, s));
        self.done = l.or(self.done, l.le(moved, l.mul(next, l.splat(NEAR))));
    }

    /// With the last from the product of the others, the volume is right to rounding whatever s is.
    #[inline(always)]
    fn sigma(&self, l: L) -> V3<L> {
        let (_, t) = self.others(l);
        // A zero volume leaves nothing to divide by where all has collapsed.
        let last = l.div(self.target, l.mul(t[0], t[1]));
        [t[0], t[1], l.keep(l.gt(self.target, l.splat(0.0)), last)]
    }
}

#[inline(always)]
fn run<L: Lanes, const N: usize, const BRACKET: bool>(l: L, search: &mut [Search<L>; N]) {
    for _ in 0..MAX_STEPS {
        let mut done = 0xff;
        for x in &mut *search {
            x.step::<BRACKET>(l);
            done &= l.bits(x.done);
        }
        if done == 0xff {
            break;
        }
    }
}

/// The nearest T that stretches the unit vector d to a length in [min, max], and leaves the rest: F + (t −
/// F·d)dᵀ. Where F·d vanishes, t points along d.
#[inline(always)]
pub fn limit_fibre<L: Lanes>(l: L, f: &M3<L>, d: V3<L>, min: L::F, max: L::F) -> M3<L> {
    let change = fibre_change(l, combine(l, f, d), d, min, max);
    [l.scale_add(d[0], change, f[0]), l.scale_add(d[1], change, f[1]), l.scale_add(d[2], change, f[2])]
}

/// From v to the nearest vector of a length in [min, max]; along `rest` if v vanishes.
#[inline(always)]
pub(super) fn fibre_change<L: Lanes>(l: L, v: V3<L>, rest: V3<L>, min: L::F, max: L::F) -> V3<L> {
    let n = l.dot(v, v);
    // Below, the square underflows.
    let some = l.gt(n, l.splat(1e-300));
    let inverse = l.rsqrt_wide(n);
    let length = l.mul(n, inverse);
    let factor = l.mul_add(clamp(l, length, min, max), inverse, l.splat(-1.0));
    let within = l.and(l.ge(length, min), l.le(length, max));
    let factor = l.select(within, l.splat(0.0), factor);
    pick(l, some, l.scale(factor, v), l.scale_add(min, rest, l.scale(l.splat(-1.0), v)))
}

/// U · diag(s) · Vᵀ
#[inline(always)]
fn compose<L: Lanes>(l: L, svd: &Svd8<L>, s: V3<L>) -> M3<L> {
    let us = [l.scale(s[0], svd.u[0]), l.scale(s[1], svd.u[1]), l.scale(s[2], svd.u[2])];
    let v = &svd.v;
    [
        combine(l, &us, [v[0][0], v[1][0], v[2][0]]),
        combine(l, &us, [v[0][1], v[1][1], v[2][1]]),
        combine(l, &us, [v[0][2], v[1][2], v[2][2]]),
    ]
}

#[inline(always)]
fn determinant<L: Lanes>(l: L, f: &M3<L>) -> L::F {
    l.dot(f[0], l.cross(f[1], f[2]))
}

#[inline(always)]
fn distance<L: Lanes>(l: L, a: V3<L>, b: V3<L>) -> L::F {
    let d = [l.sub(a[0], b[0]), l.sub(a[1], b[1]), l.sub(a[2], b[2])];
    l.dot(d, d)
}

#[inline(always)]
pub(super) fn clamp<L: Lanes>(l: L, v: L::F, min: L::F, max: L::F) -> L::F {
    l.min(l.max(v, min), max)
}

#[inline(always)]
fn pick3<L: Lanes>(l: L, m: L::M, a: M3<L>, b: M3<L>) -> M3<L> {
    [pick(l, m, a[0], b[0]), pick(l, m, a[1], b[1]), pick(l, m, a[2], b[2])]
}
