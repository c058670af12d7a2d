//! Eight numbers at a time, with one of two sets of bits on every instruction set.
//!
//! A kernel is written once, generic over [`Lanes`], and [`Isa::run`] compiles it for each
//! instruction set and picks one at run time. There is one logical width (eight) and sums have one order.
//! Multiply-adds have one rounding where there is an instruction for it (AVX2, AVX-512, NEON) and two where
//! there is none (SSE2, wasm), since there one rounding would cost fifty times as much: these are the two
//! sets of [`Bits`], and within each a result never depends on the machine. Only
//! what the hardware itself leaves open is excepted: a NaN is a NaN everywhere, but its payload and
//! sign may differ.
//!
//! ```
//! use pliant_math::lanes::{Isa, Kernel, Lanes};
//!
//! struct Dot<'a>(&'a [[f64; 8]], &'a [[f64; 8]]);
//!
//! impl Kernel for Dot<'_> {
//!     type Output = f64;
//!     #[inline(always)] // so that it is compiled with the instruction set of its caller
//!     fn run<L: Lanes>(self, l: L) -> f64 {
//!         let mut sum = l.splat(0.0);
//!         for (a, b) in self.0.iter().zip(self.1) {
//!             sum = l.mul_add(l.load(a), l.load(b), sum);
//!         }
//!         l.sum(sum)
//!     }
//! }
//!
//! assert_eq!(Isa::best().run(Dot(&[[0.5; 8]], &[[3.0; 8]])), 12.0);
//! ```
//!
//! Operations on lanes are single instructions only where the code around them ends up inside
//! [`Isa::run`]. Loops and `#[inline(always)]` functions always do; closures, and what takes them
//! (`map`, `fold`, `array::from_fn`), often do not and then cost a call per operation.

mod baseline;
#[cfg(test)]
mod projection_tests;
pub mod projections;
pub mod projections32;
mod rotations;
mod svd;
#[cfg(test)]
mod svd_tests;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use baseline::{Baseline, Plain};
pub use rotations::{rotations, rotations8};
pub(crate) use svd::svds;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{Avx2, Avx512};

/// Three vectors of eight lanes each: eight 3-vectors.
pub type V3<L> = [<L as Lanes>::F; 3];

/// Eight 3×3 matrices, `a[column][row]`.
pub type M3<L> = [V3<L>; 3];

/// Operations on eight `f64` at a time. A value of an implementing type is the proof that the
/// processor has its instructions, so [`Isa::run`] hands it out.
pub trait Lanes: Copy + Send + Sync + 'static {
    /// Eight numbers.
    type F: Copy;
    /// Eight booleans.
    type M: Copy;
    /// About how many values fit into registers at once: kernels with more accumulators than that are
    /// faster in several passes.
    const REGISTERS: usize;

    /// Tells the processor that something will be read soon; changes no result.
    #[inline(always)]
    fn prefetch<T>(self, _soon: &T) {}

    /// The same number in all lanes.
    fn splat(self, v: f64) -> Self::F;
    /// Lane k is `v[k]`.
    fn load(self, v: &[f64; 8]) -> Self::F;
    /// Writes lane k to `to[k]`.
    fn store(self, v: Self::F, to: &mut [f64; 8]);
    /// Lane k is `from[at[k]]`. Panics like an index if one is out of range.
    fn gather(self, from: &[f64], at: &[u32; 8]) -> Self::F;
    /// Lane k of the three is x, y and z of `from[at[k]]`, whose fourth number is ignored. Panics like
    /// an index if one is out of range.
    fn load_transposed(self, from: &[[f64; 4]], at: &[u32; 8]) -> [Self::F; 3];
    /// Writes lane k to `to[k]` as (x, y, z, 0).
    fn store_transposed(self, v: [Self::F; 3], to: &mut [[f64; 4]; 8]);

    /// a + b
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// a − b
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// a · b
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// a / b
    fn div(self, a: Self::F, b: Self::F) -> Self::F;
    /// a · b + c, with one rounding or two: see [`Bits`].
    fn mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// c − a · b, rounded as [`Lanes::mul_add`].
    fn neg_mul_add(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// a where a < b, else b: with a NaN on either side, or two zeros, it is b.
    fn min(self, a: Self::F, b: Self::F) -> Self::F;
    /// a where a > b, else b: with a NaN on either side, or two zeros, it is b.
    fn max(self, a: Self::F, b: Self::F) -> Self::F;
    /// −a, also of zeros.
    fn neg(self, a: Self::F) -> Self::F;
    /// |a|
    fn abs(self, a: Self::F) -> Self::F;
    /// √a, correctly rounded; NaN below zero.
    fn sqrt(self, a: Self::F) -> Self::F;
    /// 1/√a with a relative error below 2·10⁻⁷, for a in [10⁻³⁰, 10³⁶].
    ///
    /// By square root and division in `f32`, which are correctly rounded everywhere, unlike the
    /// estimates that processors offer.
    fn rsqrt_rough(self, a: Self::F) -> Self::F;
    /// 1/√a to within 3.5 % for every positive normal number, from its exponent; finite for every finite
    /// number that is not negative.
    fn rsqrt_seed(self, a: Self::F) -> Self::F;

    /// a < b, false for NaN.
    fn lt(self, a: Self::F, b: Self::F) -> Self::M;
    /// a ≤ b, false for NaN.
    fn le(self, a: Self::F, b: Self::F) -> Self::M;
    /// Lane k is bit k.
    fn mask(self, bits: u8) -> Self::M;
    /// Bit k is lane k.
    fn bits(self, m: Self::M) -> u8;
    /// Where both hold.
    fn and(self, a: Self::M, b: Self::M) -> Self::M;
    /// Where either holds.
    fn or(self, a: Self::M, b: Self::M) -> Self::M;
    /// a where m holds, else b.
    fn select(self, m: Self::M, a: Self::F, b: Self::F) -> Self::F;
    /// a where m holds, else +0.
    fn keep(self, m: Self::M, a: Self::F) -> Self::F;

    /// The sum of all lanes, always in the order ((0+4)+(2+6)) + ((1+5)+(3+7)).
    fn sum(self, a: Self::F) -> f64;
    /// Lane k is the sum of all lanes of `a[k]`, with the bits of [`Lanes::sum`].
    fn sums(self, a: [Self::F; 8]) -> Self::F;

    /// a > b, false for NaN.
    #[inline(always)]
    fn gt(self, a: Self::F, b: Self::F) -> Self::M {
        self.lt(b, a)
    }

    /// a ≥ b, false for NaN.
    #[inline(always)]
    fn ge(self, a: Self::F, b: Self::F) -> Self::M {
        self.le(b, a)
    }

    /// 1/√a to within a few units in the last place, for a in [10⁻³⁰, 10³⁶].
    #[inline(always)]
    fn rsqrt(self, a: Self::F) -> Self::F {
        // One step of third order from y: with h = 1 − a·y², 1/√a = y·(1 + h/2 + 3h²/8 + …).
        let y = self.rsqrt_rough(a);
        let h = self.neg_mul_add(self.mul(a, y), y, self.splat(1.0));
        let series = self.mul_add(h, self.splat(0.375), self.splat(0.5));
        self.mul_add(self.mul(y, h), series, y)
    }

    /// 1/√a to within 10⁻⁵, for every positive normal a; finite at zero and for subnormal numbers.
    #[inline(always)]
    fn rsqrt_wide_rough(self, a: Self::F) -> Self::F {
        self.rsqrt_step(a, self.rsqrt_seed(a))
    }

    /// 1/√a to within a few units in the last place, for every positive normal a; finite at zero and for
    /// subnormal numbers. It needs no divider, so it overlaps better with other work than a root.
    #[inline(always)]
    fn rsqrt_wide(self, a: Self::F) -> Self::F {
        self.rsqrt_step(a, self.rsqrt_wide_rough(a))
    }

    /// A step of fourth order from y to 1/√a: with h = 1 − a·y², y·(1 + h/2 + 3h²/8 + 5h³/16 + …).
    #[inline(always)]
    fn rsqrt_step(self, a: Self::F, y: Self::F) -> Self::F {
        let h = self.neg_mul_add(self.mul(a, y), y, self.splat(1.0));
        let series = self.mul_add(h, self.splat(0.3125), self.splat(0.375));
        let series = self.mul_add(h, series, self.splat(0.5));
        self.mul_add(self.mul(y, h), series, y)
    }

    /// a · b of eight vectors.
    #[inline(always)]
    fn dot(self, a: [Self::F; 3], b: [Self::F; 3]) -> Self::F {
        self.mul_add(a[2], b[2], self.mul_add(a[1], b[1], self.mul(a[0], b[0])))
    }

    /// a × b of eight vectors.
    #[inline(always)]
    fn cross(self, a: [Self::F; 3], b: [Self::F; 3]) -> [Self::F; 3] {
        [
            self.neg_mul_add(a[2], b[1], self.mul(a[1], b[2])),
            self.neg_mul_add(a[0], b[2], self.mul(a[2], b[0])),
            self.neg_mul_add(a[1], b[0], self.mul(a[0], b[1])),
        ]
    }

    /// s · a of eight vectors.
    #[inline(always)]
    fn scale(self, s: Self::F, a: [Self::F; 3]) -> [Self::F; 3] {
        [self.mul(s, a[0]), self.mul(s, a[1]), self.mul(s, a[2])]
    }

    /// s · a + b of eight vectors, rounded as [`Lanes::mul_add`].
    #[inline(always)]
    fn scale_add(self, s: Self::F, a: [Self::F; 3], b: [Self::F; 3]) -> [Self::F; 3] {
        [self.mul_add(s, a[0], b[0]), self.mul_add(s, a[1], b[1]), self.mul_add(s, a[2], b[2])]
    }
}

/// [`Lanes::rsqrt_seed`]: halving the bits halves the exponent, and the constant, which turns its sign and
/// balances the errors, is the well-known one for `f64`.
const SEED: u64 = 0x5FE6_EB50_C7B5_37A9;

/// The largest of eight indices: one check of it is a check of all.
#[inline(always)]
fn highest(at: &[u32; 8]) -> usize {
    let pair = |i: usize, j: usize| at[i].max(at[j]);
    pair(0, 1).max(pair(2, 3)).max(pair(4, 5).max(pair(6, 7))) as usize
}

/// A computation to be compiled once per instruction set.
pub trait Kernel {
    /// What it returns.
    type Output;
    /// Implementations, and generic functions they call, must be `#[inline(always)]`: code that is
    /// not inlined into the caller is compiled without its instructions.
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// How kernels round a multiply-add. All instruction sets of one kind give the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bits {
    /// The product is rounded, then the sum: SSE2 and wasm, where one rounding would cost a library call.
    Unfused,
    /// One rounding: AVX2, AVX-512, NEON.
    Fused,
}

impl Bits {
    /// a · b + c as kernels of this kind round it, for what is computed beside them. Fused bits cost a library
    /// call where the build's target has no instruction for them.
    #[inline(always)]
    pub fn mul_add(self, a: f64, b: f64, c: f64) -> f64 {
        match self {
            Bits::Unfused => a * b + c,
            Bits::Fused => a.mul_add(b, c),
        }
    }

    /// In lower case, for files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Bits::Unfused => "unfused",
            Bits::Fused => "fused",
        }
    }
}

/// An instruction set; a later one includes the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// What the build targets: SSE2 on x86-64, NEON on ARM.
    Baseline,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 F, DQ and VL.
    Avx512,
}

impl Isa {
    /// The widest this processor has.
    pub fn best() -> Isa {
        Isa::available().max().unwrap_or(Isa::Baseline)
    }

    /// All that this processor has, from the narrowest.
    pub fn available() -> impl Iterator<Item = Isa> {
        [Isa::Baseline, Isa::Avx2, Isa::Avx512].into_iter().filter(|isa| match isa {
            Isa::Baseline => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().is_some(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        })
    }

    /// In lower case, for reports and options.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Baseline => "baseline",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    /// The set of bits it computes with.
    pub fn bits(self) -> Bits {
        match self {
            Isa::Baseline => Baseline::BITS,
            Isa::Avx2 | Isa::Avx512 => Bits::Fused,
        }
    }

    /// Runs a kernel with this instruction set, or the next best that the processor has.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if self >= Isa::Avx512
                && let Some(lanes) = Avx512::detect()
            {
                return lanes.run(kernel);
            }
            if self >= Isa::Avx2
                && let Some(lanes) = Avx2::detect()
            {
                return lanes.run(kernel);
            }
        }
        kernel.run(Plain::<{ matches!(Baseline::BITS, Bits::Fused) }>)
    }
}
