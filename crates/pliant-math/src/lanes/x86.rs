//! AVX2 and AVX-512.
//!
//! The unsafe code of this module is of one kind: calling functions that need instructions which
//! the build does not assume. It is sound because every call needs a value of [`Avx2`] or
//! [`Avx512`], whose only constructor is `detect`, and `detect` asks for the very features enabled
//! in `run`. No pointer is dereferenced but for loads and stores through references to arrays of eight
//! numbers or rows, and of elements of slices at indices checked before; none needs alignment.
#![allow(unsafe_code)]

use super::{Kernel, Lanes, SEED, highest};
use core::arch::x86_64::*;

/// AVX2 and FMA were detected: two registers of four lanes.
#[derive(Clone, Copy, Debug)]
pub struct Avx2(());

impl Avx2 {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Avx2(()))
    }

    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,fma")]
        fn with_features<K: Kernel>(lanes: Avx2, kernel: K) -> K::Output {
            kernel.run(lanes)
        }
        // SAFETY: self is the proof of detection.
        unsafe { with_features(self, kernel) }
    }
}

macro_rules! halves {
    ($($name:ident($($arg:ident: $kind:ident),+) -> $result:ident = $intrinsic:path;)+) => {$(
        #[inline(always)]
        fn $name(self, $($arg: Self::$kind),+) -> Self::$result {
            // SAFETY: self is the proof of detection.
            unsafe { [$intrinsic($($arg[0]),+), $intrinsic($($arg[1]),+)] }
        }
    )+};
}

/// Asks for every cache line of a value.
#[inline(always)]
fn prefetch<T>(soon: &T) {
    let begin = std::ptr::from_ref(soon).cast::<i8>();
    for at in (0..size_of::<T>()).step_by(64) {
        // SAFETY: a prefetch reads nothing and cannot fail; the address lies within the value.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.add(at)) };
    }
}

impl Lanes for Avx2 {
    #[inline(always)]
    fn prefetch<T>(self, soon: &T) {
        prefetch(soon);
    }

    const REGISTERS: usize = 8;
    type F = [__m256d; 2];
    /// All bits of a lane are set where it holds.
    type M = [__m256d; 2];

    halves! {
        add(a: F, b: F) -> F = _mm256_add_pd;
        sub(a: F, b: F) -> F = _mm256_sub_pd;
        mul(a: F, b: F) -> F = _mm256_mul_pd;
        div(a: F, b: F) -> F = _mm256_div_pd;
        mul_add(a: F, b: F, c: F) -> F = _mm256_fmadd_pd;
        neg_mul_add(a: F, b: F, c: F) -> F = _mm256_fnmadd_pd;
        min(a: F, b: F) -> F = _mm256_min_pd;
        max(a: F, b: F) -> F = _mm256_max_pd;
        sqrt(a: F) -> F = _mm256_sqrt_pd;
        lt(a: F, b: F) -> M = _mm256_cmp_pd::<_CMP_LT_OQ>;
        le(a: F, b: F) -> M = _mm256_cmp_pd::<_CMP_LE_OQ>;
        and(a: M, b: M) -> M = _mm256_and_pd;
        or(a: M, b: M) -> M = _mm256_or_pd;
        rsqrt_seed(a: F) -> F = rsqrt_seed4;
        keep(m: M, a: F) -> F = _mm256_and_pd;
    }

    #[inline(always)]
    fn splat(self, v: f64) -> Self::F {
        // SAFETY: self is the proof of detection.
        unsafe { [_mm256_set1_pd(v); 2] }
    }

    #[inline(always)]
    fn load(self, v: &[f64; 8]) -> Self::F {
        // SAFETY: self is the proof of detection; both halves lie within v.
        unsafe { [_mm256_loadu_pd(v.as_ptr()), _mm256_loadu_pd(v.as_ptr().add(4))] }
    }

    #[inline(always)]
    fn store(self, v: Self::F, to: &mut [f64; 8]) {
        // SAFETY: self is the proof of detection; both halves lie within `to`.
        unsafe {
            _mm256_storeu_pd(to.as_mut_ptr(), v[0]);
            _mm256_storeu_pd(to.as_mut_ptr().add(4), v[1]);
        }
    }

    #[inline(always)]
    fn gather(self, from: &[f64], at: &[u32; 8]) -> Self::F {
        let from = &from[..=highest(at)];
        // SAFETY: self is the proof of detection; no index is above the highest, which is in range.
        let at = |k: usize| unsafe { *from.get_unchecked(at[k] as usize) };
        // Loads one by one: the gather instruction of AVX2 is no faster.
        unsafe { [_mm256_setr_pd(at(0), at(1), at(2), at(3)), _mm256_setr_pd(at(4), at(5), at(6), at(7))] }
    }

    #[inline(always)]
    fn load_transposed(self, from: &[[f64; 4]], at: &[u32; 8]) -> [Self::F; 3] {
        let from = &from[..=highest(at)];
        // SAFETY: self is the proof of detection; no index is above the highest, which is in range.
        unsafe {
            let row = |k: usize| _mm256_loadu_pd(from.get_unchecked(at[k] as usize).as_ptr());
            let low = columns4([row(0), row(1), row(2), row(3)]);
            let high = columns4([row(4), row(5), row(6), row(7)]);
            [[low[0], high[0]], [low[1], high[1]], [low[2], high[2]]]
        }
    }

    #[inline(always)]
    fn store_transposed(self, v: [Self::F; 3], to: &mut [[f64; 4]; 8]) {
        // SAFETY: self is the proof of detection; each row holds four numbers.
        unsafe {
            for half in 0..2 {
                let rows = rows4([v[0][half], v[1][half], v[2][half]]);
                for k in 0..4 {
                    _mm256_storeu_pd(to[4 * half + k].as_mut_ptr(), rows[k]);
                }
            }
        }
    }

    #[inline(always)]
    fn neg(self, a: Self::F) -> Self::F {
        let sign = self.splat(-0.0);
        // SAFETY: self is the proof of detection.
        unsafe { [_mm256_xor_pd(sign[0], a[0]), _mm256_xor_pd(sign[1], a[1])] }
    }

    #[inline(always)]
    fn abs(self, a: Self::F) -> Self::F {
        let sign = self.splat(-0.0);
        // SAFETY: self is the proof of detection.
        unsafe { [_mm256_andnot_pd(sign[0], a[0]), _mm256_andnot_pd(sign[1], a[1])] }
    }

    #[inline(always)]
    fn rsqrt_rough(self, a: Self::F) -> Self::F {
        // SAFETY: self is the proof of detection.
        unsafe {
            // One register of eight: the divider is the bottleneck.
            let single = _mm256_set_m128(_mm256_cvtpd_ps(a[1]), _mm256_cvtpd_ps(a[0]));
            let y = _mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(single));
            [_mm256_cvtps_pd(_mm256_castps256_ps128(y)), _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(y))]
        }
    }

    #[inline(always)]
    fn mask(self, bits: u8) -> Self::M {
        // SAFETY: self is the proof of detection.
        unsafe {
            let bits = _mm256_set1_epi64x(i64::from(bits));
            let (low, high) = (_mm256_set_epi64x(8, 4, 2, 1), _mm256_set_epi64x(128, 64, 32, 16));
            [
                _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(bits, low), low)),
                _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(bits, high), high)),
            ]
        }
    }

    #[inline(always)]
    fn bits(self, m: Self::M) -> u8 {
        // SAFETY: self is the proof of detection.
        unsafe { (_mm256_movemask_pd(m[0]) | _mm256_movemask_pd(m[1]) << 4) as u8 }
    }

    #[inline(always)]
    fn select(self, m: Self::M, a: Self::F, b: Self::F) -> Self::F {
        // SAFETY: self is the proof of detection.
        unsafe { [_mm256_blendv_pd(b[0], a[0], m[0]), _mm256_blendv_pd(b[1], a[1], m[1])] }
    }

    #[inline(always)]
    fn sum(self, a: Self::F) -> f64 {
        // SAFETY: self is the proof of detection.
        unsafe { sum4(_mm256_add_pd(a[0], a[1])) }
    }

    #[inline(always)]
    fn sums(self, a: [Self::F; 8]) -> Self::F {
        // SAFETY: self is the proof of detection.
        unsafe { [four_sums([a[0], a[1], a[2], a[3]]), four_sums([a[4], a[5], a[6], a[7]])] }
    }
}

/// AVX-512 F, DQ and VL were detected: one register of eight lanes.
#[derive(Clone, Copy, Debug)]
pub struct Avx512(());

impl Avx512 {
    #[inline]
    pub(super) fn detect() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        (wide && Avx2::detect().is_some()).then_some(Avx512(()))
    }

    #[inline]
    pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512vl")]
        fn with_features<K: Kernel>(lanes: Avx512, kernel: K) -> K::Output {
            kernel.run(lanes)
        }
        // SAFETY: self is the proof of detection.
        unsafe { with_features(self, kernel) }
    }
}

macro_rules! whole {
    ($($name:ident($($arg:ident: $kind:ty),+) -> $result:ty { $value:expr })+) => {$(
        #[inline(always)]
        fn $name(self, $($arg: $kind),+) -> $result {
            // SAFETY: self is the proof of detection.
            unsafe { $value }
        }
    )+};
}

impl Lanes for Avx512 {
    #[inline(always)]
    fn prefetch<T>(self, soon: &T) {
        prefetch(soon);
    }

    const REGISTERS: usize = 32;
    type F = __m512d;
    type M = __mmask8;

    whole! {
        splat(v: f64) -> __m512d { _mm512_set1_pd(v) }
        load(v: &[f64; 8]) -> __m512d { _mm512_loadu_pd(v.as_ptr()) }
        store(v: __m512d, to: &mut [f64; 8]) -> () { _mm512_storeu_pd(to.as_mut_ptr(), v) }
        add(a: __m512d, b: __m512d) -> __m512d { _mm512_add_pd(a, b) }
        sub(a: __m512d, b: __m512d) -> __m512d { _mm512_sub_pd(a, b) }
        mul(a: __m512d, b: __m512d) -> __m512d { _mm512_mul_pd(a, b) }
        div(a: __m512d, b: __m512d) -> __m512d { _mm512_div_pd(a, b) }
        mul_add(a: __m512d, b: __m512d, c: __m512d) -> __m512d { _mm512_fmadd_pd(a, b, c) }
        neg_mul_add(a: __m512d, b: __m512d, c: __m512d) -> __m512d { _mm512_fnmadd_pd(a, b, c) }
        min(a: __m512d, b: __m512d) -> __m512d { _mm512_min_pd(a, b) }
        max(a: __m512d, b: __m512d) -> __m512d { _mm512_max_pd(a, b) }
        neg(a: __m512d) -> __m512d { _mm512_xor_pd(_mm512_set1_pd(-0.0), a) }
        abs(a: __m512d) -> __m512d { _mm512_abs_pd(a) }
        sqrt(a: __m512d) -> __m512d { _mm512_sqrt_pd(a) }
        rsqrt_rough(a: __m512d) -> __m512d {
            _mm512_cvtps_pd(_mm256_div_ps(_mm256_set1_ps(1.0), _mm256_sqrt_ps(_mm512_cvtpd_ps(a))))
        }
        rsqrt_seed(a: __m512d) -> __m512d {
            _mm512_castsi512_pd(_mm512_sub_epi64(
                _mm512_set1_epi64(SEED as i64),
                _mm512_srli_epi64::<1>(_mm512_castpd_si512(a)),
            ))
        }
        lt(a: __m512d, b: __m512d) -> __mmask8 { _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b) }
        le(a: __m512d, b: __m512d) -> __mmask8 { _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b) }
        select(m: __mmask8, a: __m512d, b: __m512d) -> __m512d { _mm512_mask_blend_pd(m, b, a) }
        keep(m: __mmask8, a: __m512d) -> __m512d { _mm512_maskz_mov_pd(m, a) }
        sum(a: __m512d) -> f64 {
            sum4(_mm256_add_pd(_mm512_castpd512_pd256(a), _mm512_extractf64x4_pd::<1>(a)))
        }
        sums(a: [__m512d; 8]) -> __m512d { eight_sums(a) }
    }

    #[inline(always)]
    fn gather(self, from: &[f64], at: &[u32; 8]) -> __m512d {
        let from = &from[..=highest(at)];
        // SAFETY: self is the proof of detection; no index is above the highest, which is in range, and
        // they are widened without sign.
        unsafe {
            let at = _mm512_cvtepu32_epi64(_mm256_loadu_si256(at.as_ptr().cast()));
            _mm512_i64gather_pd::<8>(at, from.as_ptr())
        }
    }

    #[inline(always)]
    fn load_transposed(self, from: &[[f64; 4]], at: &[u32; 8]) -> [__m512d; 3] {
        let from = &from[..=highest(at)];
        // SAFETY: self is the proof of detection; no index is above the highest, which is in range.
        unsafe {
            let row = |k: usize| _mm256_loadu_pd(from.get_unchecked(at[k] as usize).as_ptr());
            // Row k below and row k + 4 above; then pairs of rows, 128 bits at a time: (x, z) and (y, pad).
            let two = |k: usize| _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(row(k)), row(k + 4));
            let (a, b, c, d) = (two(0), two(1), two(2), two(3));
            let (xz, xz_next) = (_mm512_unpacklo_pd(a, b), _mm512_unpacklo_pd(c, d));
            let (y, y_next) = (_mm512_unpackhi_pd(a, b), _mm512_unpackhi_pd(c, d));
            let first = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let second = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            [
                _mm512_permutex2var_pd(xz, first, xz_next),
                _mm512_permutex2var_pd(y, first, y_next),
                _mm512_permutex2var_pd(xz, second, xz_next),
            ]
        }
    }

    #[inline(always)]
    fn store_transposed(self, v: [__m512d; 3], to: &mut [[f64; 4]; 8]) {
        // SAFETY: self is the proof of detection; the eight rows are four times eight numbers.
        unsafe {
            let zero = _mm512_setzero_pd();
            // xy holds (x, y) of rows 0, 2, 4, 6, and of rows 1, 3, 5, 7; z the last two numbers of each.
            let xy = [_mm512_unpacklo_pd(v[0], v[1]), _mm512_unpackhi_pd(v[0], v[1])];
            let z = [_mm512_unpacklo_pd(v[2], zero), _mm512_unpackhi_pd(v[2], zero)];
            let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            for odd in 0..2 {
                for (order, first) in [(low, odd), (high, odd + 4)] {
                    let rows = _mm512_permutex2var_pd(xy[odd], order, z[odd]);
                    _mm256_storeu_pd(to[first].as_mut_ptr(), _mm512_castpd512_pd256(rows));
                    _mm256_storeu_pd(to[first + 2].as_mut_ptr(), _mm512_extractf64x4_pd::<1>(rows));
                }
            }
        }
    }

    #[inline(always)]
    fn mask(self, bits: u8) -> __mmask8 {
        bits
    }

    #[inline(always)]
    fn bits(self, m: __mmask8) -> u8 {
        m
    }

    #[inline(always)]
    fn and(self, a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }

    #[inline(always)]
    fn or(self, a: __mmask8, b: __mmask8) -> __mmask8 {
        a | b
    }
}

/// (0+2) + (1+3), as [`Lanes::sum`] wants it of the sum of both halves.
#[inline]
#[target_feature(enable = "avx2")]
fn sum4(a: __m256d) -> f64 {
    let pair = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd::<1>(a));
    _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)))
}

/// Sums of four vectors, each in the order of [`Lanes::sum`].
#[inline]
#[target_feature(enable = "avx2")]
fn four_sums([a, b, c, d]: [[__m256d; 2]; 4]) -> __m256d {
    // (0+4, 1+5, 2+6, 3+7) of each; then even and odd sums of two vectors side by side.
    let [a, b, c, d] = [
        _mm256_add_pd(a[0], a[1]),
        _mm256_add_pd(b[0], b[1]),
        _mm256_add_pd(c[0], c[1]),
        _mm256_add_pd(d[0], d[1]),
    ];
    let ac = _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(a, c), _mm256_permute2f128_pd::<0x31>(a, c));
    let bd = _mm256_add_pd(_mm256_permute2f128_pd::<0x20>(b, d), _mm256_permute2f128_pd::<0x31>(b, d));
    _mm256_add_pd(_mm256_unpacklo_pd(ac, bd), _mm256_unpackhi_pd(ac, bd))
}

/// Sums of eight vectors, each in the order of [`Lanes::sum`].
#[inline]
#[target_feature(enable = "avx512f")]
fn eight_sums(a: [__m512d; 8]) -> __m512d {
    // Two vectors at a time: (0+4, 1+5, 2+6, 3+7) of the first, then of the second.
    let [ac, eg, bd, fh] =
        [add_halves(a[0], a[2]), add_halves(a[4], a[6]), add_halves(a[1], a[3]), add_halves(a[5], a[7])];
    // Four at a time: even and odd sums side by side.
    let (even, odd) = (add_quarters(ac, eg), add_quarters(bd, fh));
    _mm512_add_pd(_mm512_unpacklo_pd(even, odd), _mm512_unpackhi_pd(even, odd))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_halves(a: __m512d, b: __m512d) -> __m512d {
    _mm512_add_pd(_mm512_shuffle_f64x2::<0b01_00_01_00>(a, b), _mm512_shuffle_f64x2::<0b11_10_11_10>(a, b))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add_quarters(a: __m512d, b: __m512d) -> __m512d {
    _mm512_add_pd(_mm512_shuffle_f64x2::<0b10_00_10_00>(a, b), _mm512_shuffle_f64x2::<0b11_01_11_01>(a, b))
}

/// [`Lanes::rsqrt_seed`] of four.
#[inline]
#[target_feature(enable = "avx2")]
fn rsqrt_seed4(a: __m256d) -> __m256d {
    let half = _mm256_srli_epi64::<1>(_mm256_castpd_si256(a));
    _mm256_castsi256_pd(_mm256_sub_epi64(_mm256_set1_epi64x(SEED as i64), half))
}

/// x, y and z of four rows.
#[inline]
#[target_feature(enable = "avx2")]
fn columns4(rows: [__m256d; 4]) -> [__m256d; 3] {
    let (xz, xz_next) = (_mm256_unpacklo_pd(rows[0], rows[1]), _mm256_unpacklo_pd(rows[2], rows[3]));
    let (y, y_next) = (_mm256_unpackhi_pd(rows[0], rows[1]), _mm256_unpackhi_pd(rows[2], rows[3]));
    [
        _mm256_permute2f128_pd::<0x20>(xz, xz_next),
        _mm256_permute2f128_pd::<0x20>(y, y_next),
        _mm256_permute2f128_pd::<0x31>(xz, xz_next),
    ]
}

/// Four rows (x, y, z, 0).
#[inline]
#[target_feature(enable = "avx2")]
fn rows4(v: [__m256d; 3]) -> [__m256d; 4] {
    let zero = _mm256_setzero_pd();
    let (even, odd) = (_mm256_unpacklo_pd(v[0], v[1]), _mm256_unpackhi_pd(v[0], v[1]));
    let (even_end, odd_end) = (_mm256_unpacklo_pd(v[2], zero), _mm256_unpackhi_pd(v[2], zero));
    [
        _mm256_permute2f128_pd::<0x20>(even, even_end),
        _mm256_permute2f128_pd::<0x20>(odd, odd_end),
        _mm256_permute2f128_pd::<0x31>(even, even_end),
        _mm256_permute2f128_pd::<0x31>(odd, odd_end),
    ]
}
