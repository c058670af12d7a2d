//! Singular value decompositions of eight matrices at a time by one-sided Jacobi rotations.

use super::rotations::largest_entry;
use super::{Lanes, M3, V3};

/// A = U · diag(σ) · Vᵀ of eight matrices, U and V right-handed rotations, σ₀ ≥ σ₁ ≥ |σ₂|, and σ₂ of the
/// sign of det A.
#[derive(Clone, Copy)]
pub struct Svd8<L: Lanes> {
    /// Left singular vectors as columns.
    pub u: M3<L>,
    /// Singular values; the last may be negative.
    pub sigma: V3<L>,
    /// Right singular vectors as columns.
    pub v: M3<L>,
}

/// The decompositions of any eight finite matrices, however degenerate, with errors of some 10⁻¹⁵ ‖A‖; of several packs at once,
/// with the same bits: while one waits for a result, another can go on.
///
/// The bits of a lane depend on its own matrix only; a lane that is not finite harms no other. σ
/// overflows where ‖A‖ does.
#[inline(always)]
pub fn svds<L: Lanes, const N: usize>(l: L, a: &[M3<L>; N]) -> [Svd8<L>; N] {
    let mut jacobi = [Jacobi::start(l, &a[0]); N];
    for k in 1..N {
        jacobi[k] = Jacobi::start(l, &a[k]);
    }
    for _ in 0..MAX_SWEEPS {
        for x in &mut jacobi {
            x.turn::<0, 1>(l, false);
        }
        for x in &mut jacobi {
            x.turn::<0, 2>(l, false);
        }
        for x in &mut jacobi {
            x.turn::<1, 2>(l, false);
        }
        let mut done = 0xff;
        for x in &mut jacobi {
            x.freeze(l);
            done &= l.bits(x.done);
        }
        if done == 0xff {
            break;
        }
    }
    let mut result = [jacobi[0].finish(l); N];
    for k in 1..N {
        result[k] = jacobi[k].finish(l);
    }
    result
}

/// A bound that is hardly ever met: convergence is quadratic, and five or six sweeps are usual.
const MAX_SWEEPS: usize = 12;

/// Columns whose product is below this share of their squared lengths are orthogonal, and sorted if it
/// is only by this much that the second is longer: rounding could not do better.
const ORTHOGONAL: f64 = 1e-15;

/// Once all angles of a sweep are below this, what it leaves is of the order of their squares, and of
/// 10⁻⁵ of them, since the angles themselves are only that exact.
const NEAR: f64 = 1e-9;

/// Hestenes' iteration: turn the columns of W = A·V against each other, pair by pair, until they are
/// orthogonal. Without forming AᵀA, small singular values keep their digits.
#[derive(Clone, Copy)]
struct Jacobi<L: Lanes> {
    w: M3<L>,
    v: M3<L>,
    /// What A was divided by.
    scale: L::F,
    /// The largest sine of this sweep.
    widest: L::F,
    done: L::M,
}

impl<L: Lanes> Jacobi<L> {
    #[inline(always)]
    fn start(l: L, a: &M3<L>) -> Self {
        let (zero, one) = (l.splat(0.0), l.splat(1.0));
        // Bounded below so that zero and subnormal matrices have a finite inverse.
        let scale = l.max(largest_entry(l, a), l.splat(1e-300));
        let inverse = l.div(one, scale);
        let a = [l.scale(inverse, a[0]), l.scale(inverse, a[1]), l.scale(inverse, a[2])];

        let (apart, largest) = separate_eigenvector(l, &a);
        let (beside, across) = complete(l, apart);
        let v = [apart, beside, across];
        let w = [combine(l, &a, v[0]), combine(l, &a, v[1]), combine(l, &a, v[2])];
        let mut guess = Jacobi { w, v, scale, widest: zero, done: l.mask(0) };
        guess.turn::<1, 2>(l, true);
        guess.widest = zero;
        guess.w = lead_or_trail(l, largest, guess.w);
        guess.v = lead_or_trail(l, largest, guess.v);
        guess
    }

    /// Makes columns P and Q orthogonal, the longer first; if not exact, but for 10⁻⁵ of what was missing.
    #[inline(always)]
    fn turn<const P: usize, const Q: usize>(&mut self, l: L, exact: bool) {
        let (zero, one) = (l.splat(0.0), l.splat(1.0));
        let (wp, wq) = (self.w[P], self.w[Q]);
        let (pp, qq, pq) = (l.dot(wp, wp), l.dot(wq, wq), l.dot(wp, wq));
        // tan 2θ = 2 wp·wq / (|wp|² − |wq|²), so with d the difference and g twice the product, d and g
        // over √(d² + g²) are cosine and sine of 2θ. An error in the root leaves that share of g.
        let (d, g) = (l.sub(pp, qq), l.add(pq, pq));
        let dg = l.mul_add(d, d, l.mul(g, g));
        let h = if exact { l.rsqrt_wide(dg) } else { l.rsqrt_wide_rough(dg) };
        // tan θ = sin 2θ / (1 + cos 2θ) = (1 − cos 2θ) / sin 2θ; where the second column is longer, the
        // latter, beyond 45°, so that it becomes the first. Normalised to rounding: c² + s² = 1 matters.
        let (wide, narrow) = (l.mul_add(l.abs(d), h, one), l.mul(g, h));
        let r = l.rsqrt_wide(l.mul_add(wide, wide, l.mul(narrow, narrow)));
        let (wide, narrow) = (l.mul(wide, r), l.mul(narrow, r));
        let noise = l.mul(l.add(pp, qq), l.splat(ORTHOGONAL));
        let sorted = l.ge(d, l.neg(noise));
        let rest = l.or(self.done, l.and(sorted, l.le(l.abs(g), noise)));
        let c = l.select(rest, one, l.select(sorted, wide, narrow));
        let s = l.select(rest, zero, l.select(sorted, narrow, wide));
        self.widest = l.max(l.abs(s), self.widest);
        let minus = l.neg(s);
        self.w[P] = l.scale_add(s, wq, l.scale(c, wp));
        self.w[Q] = l.scale_add(minus, wp, l.scale(c, wq));
        let (vp, vq) = (self.v[P], self.v[Q]);
        self.v[P] = l.scale_add(s, vq, l.scale(c, vp));
        self.v[Q] = l.scale_add(minus, vp, l.scale(c, vq));
    }

    /// After a sweep: a lane that has converged is not turned again, or its bits would depend on how
    /// long the others take.
    #[inline(always)]
    fn freeze(&mut self, l: L) {
        self.done = l.or(self.done, l.le(self.widest, l.splat(NEAR)));
        self.widest = l.splat(0.0);
    }

    /// U from the columns of W, by orthogonalisation, which also completes it where they vanish.
    #[inline(always)]
    fn finish(&self, l: L) -> Svd8<L> {
        let (zero, one, w) = (l.splat(0.0), l.splat(1.0), self.w);
        let n = l.dot(w[0], w[0]);
        // Anything but a zero matrix has been scaled to more than this.
        let some = l.gt(n, l.splat(1e-60));
        let u = l.scale(l.rsqrt_wide(n), w[0]);
        let u0 = pick(l, some, u, [one, zero, zero]);

        let u = l.scale_add(l.neg(l.dot(u0, w[1])), u0, w[1]);
        // Of rank one: any direction orthogonal to the first, by the axis that is far enough from it.
        let spread = l.gt(l.dot(u, u), l.mul(n, l.splat(1e-30)));
        let (other, _) = complete(l, u0);
        let u = pick(l, spread, u, other);
        let u1 = l.scale(l.rsqrt_wide(l.dot(u, u)), u);
        let u2 = l.cross(u0, u1);

        // Sorted to rounding already, here to the bit.
        let s0 = l.dot(u0, w[0]);
        let s1 = l.min(l.max(l.dot(u1, w[1]), zero), s0);
        let s2 = l.max(l.min(l.dot(u2, w[2]), s1), l.neg(s1));
        // Turns by nothing may have changed the sign of a zero: all are made positive.
        Svd8 {
            u: positive(l, [u0, u1, u2]),
            sigma: l.scale_add(self.scale, [s0, s1, s2], [zero; 3]),
            v: positive(l, self.v),
        }
    }
}

/// The eigenvector of AᵀA whose eigenvalue is farther from the others, and where that is the largest, else
/// the smallest. Of unit length for every finite A; right to rounding times the condition of AᵀA, which is
/// but a guess for small singular values.
#[inline(always)]
fn separate_eigenvector<L: Lanes>(l: L, a: &M3<L>) -> (V3<L>, L::M) {
    let (zero, one) = (l.splat(0.0), l.splat(1.0));
    // With m a third of the trace, AᵀA − mI is scaled to B with tr B² = 6, whose characteristic polynomial
    // is x³ − 3x − det B.
    let s = [l.dot(a[0], a[0]), l.dot(a[1], a[1]), l.dot(a[2], a[2])];
    let o = [l.dot(a[1], a[2]), l.dot(a[2], a[0]), l.dot(a[0], a[1])];
    let m = l.mul(l.add(l.add(s[0], s[1]), s[2]), l.splat(1.0 / 3.0));
    let d = [l.sub(s[0], m), l.sub(s[1], m), l.sub(s[2], m)];
    let size = l.mul_add(l.splat(2.0), l.dot(o, o), l.dot(d, d));
    let scale = l.mul(l.rsqrt_wide(size), l.splat(6f64.sqrt()));
    let (d, o) = (l.scale(scale, d), l.scale(scale, o));
    let minor = l.neg_mul_add(o[0], o[0], l.mul(d[1], d[2]));
    let det = l.mul(d[0], minor);
    let det = l.mul_add(o[2], l.neg_mul_add(o[2], d[2], l.mul(o[0], o[1])), det);
    let det = l.mul_add(o[1], l.neg_mul_add(o[1], d[1], l.mul(o[0], o[2])), det);

    // The separate one is 2 cos(acos(|r|)/3) with r = det B / 2, of the sign of r: turn B so that it is
    // positive. A polynomial within 3e-5, then Newton's step, and another with the same slope.
    let largest = l.ge(det, zero);
    let sign = l.select(largest, one, l.splat(-1.0));
    let (d, o) = (l.scale(sign, d), l.scale(sign, o));
    let det = l.min(l.abs(det), l.splat(2.0));
    let r = l.mul(det, l.splat(0.5));
    let mut x = l.splat(COSINE[0]);
    for c in &COSINE[1..] {
        x = l.mul_add(x, r, l.splat(*c));
    }
    let three = l.splat(3.0);
    let slope = l.div(one, l.mul_add(l.mul(three, x), x, l.neg(three)));
    for _ in 0..2 {
        let f = l.neg_mul_add(l.neg_mul_add(x, x, three), x, l.neg(det));
        x = l.neg_mul_add(f, slope, x);
    }

    // Its eigenvector is every column of the adjugate of B − xI; the longest has the largest diagonal.
    let d = [l.sub(d[0], x), l.sub(d[1], x), l.sub(d[2], x)];
    let c = [
        l.neg_mul_add(o[0], o[0], l.mul(d[1], d[2])),
        l.neg_mul_add(o[1], o[1], l.mul(d[2], d[0])),
        l.neg_mul_add(o[2], o[2], l.mul(d[0], d[1])),
    ];
    let f = [
        l.neg_mul_add(o[0], d[0], l.mul(o[1], o[2])),
        l.neg_mul_add(o[1], d[1], l.mul(o[2], o[0])),
        l.neg_mul_add(o[2], d[2], l.mul(o[0], o[1])),
    ];
    let second = l.gt(c[1], c[0]);
    let e = pick(l, second, [f[2], c[1], f[0]], [c[0], f[2], f[1]]);
    let third = l.gt(c[2], l.max(c[0], c[1]));
    let e = pick(l, third, [f[1], f[0], c[2]], e);
    // Where all eigenvalues are equal, B may be as good as zero: then any direction will do.
    let n = l.dot(e, e);
    let clear = l.gt(n, l.splat(1e-3));
    let e = l.scale(l.rsqrt_wide(n), e);
    (pick(l, clear, e, [one, zero, zero]), largest)
}

/// 2 cos(acos(r)/3) for r in [0, 1], within 3e-5; highest power first.
const COSINE: [f64; 5] = [-0.008129, 0.035009, -0.091714, 0.332753, 1.732069];

/// Two unit vectors that complete one to a right-handed frame.
#[inline(always)]
pub(super) fn complete<L: Lanes>(l: L, u: V3<L>) -> (V3<L>, V3<L>) {
    // Orthogonal to u and to the axis of x or y, whichever is far enough from u.
    let by_x = l.lt(l.abs(u[0]), l.splat(0.6));
    let zero = l.splat(0.0);
    let a = pick(l, by_x, [zero, u[2], l.neg(u[1])], [l.neg(u[2]), zero, u[0]]);
    let a = l.scale(l.rsqrt_wide(l.dot(a, a)), a);
    (a, l.cross(u, a))
}

/// A · v
#[inline(always)]
pub(super) fn combine<L: Lanes>(l: L, a: &M3<L>, v: V3<L>) -> V3<L> {
    l.scale_add(v[2], a[2], l.scale_add(v[1], a[1], l.scale(v[0], a[0])))
}

/// The first column as it is or last, keeping the handedness.
#[inline(always)]
fn lead_or_trail<L: Lanes>(l: L, lead: L::M, m: M3<L>) -> M3<L> {
    [pick(l, lead, m[0], m[1]), pick(l, lead, m[1], m[2]), pick(l, lead, m[2], m[0])]
}

/// Zeros of either sign become positive.
#[inline(always)]
fn positive<L: Lanes>(l: L, m: M3<L>) -> M3<L> {
    let (one, zero) = (l.splat(1.0), [l.splat(0.0); 3]);
    [l.scale_add(one, m[0], zero), l.scale_add(one, m[1], zero), l.scale_add(one, m[2], zero)]
}

/// a where m holds, else b.
#[inline(always)]
pub(super) fn pick<L: Lanes>(l: L, m: L::M, a: V3<L>, b: V3<L>) -> V3<L> {
    [l.select(m, a[0], b[0]), l.select(m, a[1], b[1]), l.select(m, a[2], b[2])]
}
