//! Best-fit rotations of eight matrices at a time.

use super::{Lanes, M3, V3};

/// The rotations nearest to eight matrices, and the lanes for which they may be trusted.
///
/// Trusted are lanes whose determinant is safely positive, by the criterion of
/// [`nearest_rotation`](crate::nearest_rotation), to which the others (reflected, flat, collapsed or
/// not finite; what they hold here means nothing) must be given. The bits of a trusted lane depend on
/// its own matrix only.
#[inline(always)]
pub fn rotations8<L: Lanes>(l: L, a: &M3<L>) -> (M3<L>, L::M) {
    let ([r], [trusted]) = rotations(l, &[*a]);
    (r, trusted)
}

/// [`rotations8`] of several packs at once, with the same bits: while one waits for a result, another
/// can go on.
#[inline(always)]
pub fn rotations<L: Lanes, const N: usize>(l: L, a: &[M3<L>; N]) -> ([M3<L>; N], [L::M; N]) {
    let mut newton = [Newton::start(l, &a[0]); N];
    for k in 1..N {
        newton[k] = Newton::start(l, &a[k]);
    }
    for _ in 0..MAX_STEPS {
        let mut active = 0;
        for x in &mut newton {
            x.step(l);
            active |= l.bits(x.active);
        }
        if active == 0 {
            break;
        }
    }
    let mut r = [newton[0].x; N];
    let mut trusted = [newton[0].trusted; N];
    for k in 0..N {
        r[k] = newton[k].finish(l);
        trusted[k] = l.mask(l.bits(newton[k].trusted) & !l.bits(newton[k].active));
    }
    (r, trusted)
}

/// Higham's scaled Newton iteration X ← ½(μX + (μX)⁻ᵀ) with the Frobenius norms balanced,
/// μ² = ‖X⁻ᵀ‖/‖X‖. As only the direction of X matters until the end, and X⁻ᵀ is the cofactor
/// matrix C over the determinant, it needs no more than X ← X + sC with s = ‖X‖/‖C‖, and s only
/// roughly: its relative error is damped by the distance still to go.
#[derive(Clone, Copy)]
struct Newton<L: Lanes> {
    x: M3<L>,
    /// ‖X‖²
    n: L::F,
    trusted: L::M,
    active: L::M,
}

impl<L: Lanes> Newton<L> {
    #[inline(always)]
    fn start(l: L, a: &M3<L>) -> Self {
        // Scaling by the largest entry keeps products from over- and underflowing. A zero, infinite or
        // NaN matrix becomes NaN here and fails the comparison below.
        let scale = l.div(l.splat(1.0), largest_entry(l, a));
        let x = [l.scale(scale, a[0]), l.scale(scale, a[1]), l.scale(scale, a[2])];
        // det(X/‖X‖) > 1e-6 without the root: sign(det)·det² > 1e-12·‖X‖⁶.
        let n = sum_squares(l, x);
        let det = l.dot(x[0], l.cross(x[1], x[2]));
        let cube = l.mul(l.mul(n, n), n);
        let trusted = l.gt(l.mul(det, l.abs(det)), l.mul(cube, l.splat(1e-12)));
        Newton { x, n, trusted, active: trusted }
    }

    #[inline(always)]
    fn step(&mut self, l: L) {
        let (x, n) = (self.x, self.n);
        let c = cofactors(l, x);
        let cc = sum_squares(l, c);
        let nc = l.mul(n, cc);
        // A lane that has converged is frozen (s = 0), or its bits would depend on how long the
        // others take.
        let s = l.keep(self.active, l.mul(n, l.rsqrt_rough(nc)));
        // ⟨X, C⟩ = 3 det X is the cosine between the two, which is one for rotations.
        let xc = l.mul(l.dot(x[0], c[0]), l.splat(3.0));
        self.active = l.and(self.active, l.lt(l.mul(xc, xc), l.mul(nc, l.splat(NEAR))));
        self.x = [l.scale_add(s, c[0], x[0]), l.scale_add(s, c[1], x[1]), l.scale_add(s, c[2], x[2])];
        // ‖X + sC‖² = ‖X‖² + s(2⟨X, C⟩ + s‖C‖²)
        self.n = l.mul_add(s, l.mul_add(s, cc, l.add(xc, xc)), n);
    }

    /// The last step squares an error below 1e-8, so it needs no norm of C (it is ‖X‖²/√3 to within the
    /// square of that error), but its lengths right to rounding: R = X/2σ + C/2σ² with σ² = ‖X‖²/3.
    #[inline(always)]
    fn finish(&self, l: L) -> M3<L> {
        let x = self.x;
        let c = cofactors(l, x);
        let f = l.mul(l.splat(0.5 * 3f64.sqrt()), l.rsqrt(self.n));
        let g = l.mul(l.add(f, f), f);
        // Adding to +0 makes all zeros positive, since steps while frozen may turn -0 into +0.
        let zero = [l.splat(0.0); 3];
        let c = [l.scale_add(g, c[0], zero), l.scale_add(g, c[1], zero), l.scale_add(g, c[2], zero)];
        [l.scale_add(f, x[0], c[0]), l.scale_add(f, x[1], c[1]), l.scale_add(f, x[2], c[2])]
    }
}

/// A bound that is never met: the worst conditioned of trusted matrices take five.
const MAX_STEPS: usize = 8;

/// The squared cosine between X and C above which the step in progress and the last one suffice:
/// 1 − cos² ≈ 4/3 ‖E‖² for X = R(I + E), and each of the steps takes E to E²/2.
const NEAR: f64 = 1.0 - 2e-8;

#[inline(always)]
pub(super) fn largest_entry<L: Lanes>(l: L, a: &M3<L>) -> L::F {
    l.max(l.max(largest(l, a[0]), largest(l, a[1])), largest(l, a[2]))
}

#[inline(always)]
pub(super) fn largest<L: Lanes>(l: L, v: V3<L>) -> L::F {
    l.max(l.max(l.abs(v[0]), l.abs(v[1])), l.abs(v[2]))
}

#[inline(always)]
fn cofactors<L: Lanes>(l: L, x: M3<L>) -> M3<L> {
    [l.cross(x[1], x[2]), l.cross(x[2], x[0]), l.cross(x[0], x[1])]
}

#[inline(always)]
fn sum_squares<L: Lanes>(l: L, x: M3<L>) -> L::F {
    l.add(l.add(l.dot(x[0], x[0]), l.dot(x[1], x[1])), l.dot(x[2], x[2]))
}
