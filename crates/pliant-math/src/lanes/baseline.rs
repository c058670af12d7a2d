//! Plain Rust: the definition of every operation, and all there is on other processors.

use super::{Bits, Lanes, SEED};

/// No instructions beyond those the build targets, with multiply-adds of one rounding or of two.
#[derive(Clone, Copy, Debug)]
pub struct Plain<const FUSED: bool>;

/// What the build's target does fast: where it cannot multiply and add with one rounding in hardware, that
/// would be a library call per lane, and kernels multiply and then add.
pub type Baseline = Plain<{ cfg!(any(target_feature = "fma", target_arch = "aarch64")) }>;

impl<const FUSED: bool> Plain<FUSED> {
    /// The set of bits it computes with.
    pub const BITS: Bits = if FUSED { Bits::Fused } else { Bits::Unfused };
}

/// All eight lanes written out: closures and loops over them would be most of what the compiler has to do for a kernel.
macro_rules! eight {
    ($k:ident => $lane:expr) => {
        [
            eight!($k = 0, $lane),
            eight!($k = 1, $lane),
            eight!($k = 2, $lane),
            eight!($k = 3, $lane),
            eight!($k = 4, $lane),
            eight!($k = 5, $lane),
            eight!($k = 6, $lane),
            eight!($k = 7, $lane),
        ]
    };
    ($k:ident = $value:literal, $lane:expr) => {{
        let $k = $value;
        $lane
    }};
}

macro_rules! lanewise {
    ($($name:ident($($arg:ident),+) -> $result:ty { $lane:expr })+) => {$(
        #[inline(always)]
        fn $name(self, $($arg: [f64; 8]),+) -> [$result; 8] {
            eight!(k => {
                $(let $arg = $arg[k];)+
                $lane
            })
        }
    )+};
}

impl<const FUSED: bool> Lanes for Plain<FUSED> {
    const REGISTERS: usize = 2;
    type F = [f64; 8];
    type M = [bool; 8];

    lanewise! {
        add(a, b) -> f64 { a + b }
        sub(a, b) -> f64 { a - b }
        mul(a, b) -> f64 { a * b }
        div(a, b) -> f64 { a / b }
        mul_add(a, b, c) -> f64 { Self::BITS.mul_add(a, b, c) }
        neg_mul_add(a, b, c) -> f64 { Self::BITS.mul_add(-a, b, c) }
        min(a, b) -> f64 { if a < b { a } else { b } }
        max(a, b) -> f64 { if a > b { a } else { b } }
        neg(a) -> f64 { -a }
        abs(a) -> f64 { a.abs() }
        sqrt(a) -> f64 { a.sqrt() }
        rsqrt_rough(a) -> f64 { f64::from(1.0 / (a as f32).sqrt()) }
        rsqrt_seed(a) -> f64 { f64::from_bits(SEED.wrapping_sub(a.to_bits() >> 1)) }
        lt(a, b) -> bool { a < b }
        le(a, b) -> bool { a <= b }
    }

    #[inline(always)]
    fn splat(self, v: f64) -> [f64; 8] {
        [v; 8]
    }

    #[inline(always)]
    fn load(self, v: &[f64; 8]) -> [f64; 8] {
        *v
    }

    #[inline(always)]
    fn store(self, v: [f64; 8], to: &mut [f64; 8]) {
        *to = v;
    }

    #[inline(always)]
    fn gather(self, from: &[f64], at: &[u32; 8]) -> [f64; 8] {
        eight!(k => from[at[k] as usize])
    }

    #[inline(always)]
    fn load_transposed(self, from: &[[f64; 4]], at: &[u32; 8]) -> [[f64; 8]; 3] {
        [
            eight!(k => from[at[k] as usize][0]),
            eight!(k => from[at[k] as usize][1]),
            eight!(k => from[at[k] as usize][2]),
        ]
    }

    #[inline(always)]
    fn store_transposed(self, v: [[f64; 8]; 3], to: &mut [[f64; 4]; 8]) {
        *to = eight!(k => [v[0][k], v[1][k], v[2][k], 0.0]);
    }

    #[inline(always)]
    fn mask(self, bits: u8) -> [bool; 8] {
        eight!(k => bits >> k & 1 == 1)
    }

    #[inline(always)]
    fn bits(self, m: [bool; 8]) -> u8 {
        let lane = eight!(k => u8::from(m[k]) << k);
        lane[0] | lane[1] | lane[2] | lane[3] | lane[4] | lane[5] | lane[6] | lane[7]
    }

    #[inline(always)]
    fn and(self, a: [bool; 8], b: [bool; 8]) -> [bool; 8] {
        eight!(k => a[k] & b[k])
    }

    #[inline(always)]
    fn or(self, a: [bool; 8], b: [bool; 8]) -> [bool; 8] {
        eight!(k => a[k] | b[k])
    }

    #[inline(always)]
    fn select(self, m: [bool; 8], a: [f64; 8], b: [f64; 8]) -> [f64; 8] {
        eight!(k => if m[k] { a[k] } else { b[k] })
    }

    #[inline(always)]
    fn keep(self, m: [bool; 8], a: [f64; 8]) -> [f64; 8] {
        self.select(m, a, [0.0; 8])
    }

    #[inline(always)]
    fn sum(self, a: [f64; 8]) -> f64 {
        ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
    }

    #[inline(always)]
    fn sums(self, a: [[f64; 8]; 8]) -> [f64; 8] {
        eight!(k => self.sum(a[k]))
    }
}
