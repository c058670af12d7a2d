//! What this machine can do at all: multiply-adds in registers, and memory traffic.
//!
//! `cargo build --release` targets plain x86-64, so the peak is measured with functions compiled for
//! the wider instruction sets and chosen at run time. The calls are the crate's only `unsafe` code: each
//! is made after the processor was asked for the feature.
#![allow(unsafe_code)]

use crate::Limits;
use crate::timing::best_of;
use std::hint::black_box;
use std::time::Duration;

/// Measures the limits of one thread.
pub(crate) fn measure() -> Limits {
    let (flops, isa) = peak_flops();
    Limits { flops, bandwidth: bandwidth(), caches: SETS.map(|(_, bytes)| (bytes, read_rate(bytes))), isa }
}

/// Sizes of the sets whose reading is measured: what fits into the caches reads many times faster than memory, and
/// most factors do.
pub(crate) const SETS: [(&str, usize); 4] = [
    ("limits/read/256k", 256 << 10),
    ("limits/read/1m", 1 << 20),
    ("limits/read/4m", 4 << 20),
    ("limits/read/16m", 16 << 20),
];

impl Limits {
    /// Bytes per second at which one thread can go over a set of so many bytes again and again.
    pub(crate) fn reading(&self, bytes: f64) -> f64 {
        let fits = self.caches.iter().find(|(size, _)| bytes <= *size as f64);
        fits.map_or(self.bandwidth, |(_, rate)| rate.max(self.bandwidth))
    }
}

macro_rules! sums {
    ($name:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $name(from: &[f64]) -> f64 {
            let mut sum = [0.0f64; 64];
            for part in from.chunks_exact(64) {
                for (s, x) in sum.iter_mut().zip(part) {
                    *s += x;
                }
            }
            sum.iter().sum()
        }
    };
}

#[cfg(target_arch = "x86_64")]
sums!(sums_avx512, "avx512f,avx512vl");
#[cfg(target_arch = "x86_64")]
sums!(sums_avx2, "avx2");
sums!(sums_plain);

/// Reading a set of `bytes` over and over.
fn read_rate(bytes: usize) -> f64 {
    let from = vec![1.0f64; bytes / size_of::<f64>()];
    let rate = |sum: &dyn Fn(&[f64]) -> f64| {
        let seconds = best_of(Duration::from_millis(100), || {
            black_box(sum(black_box(&from)));
        });
        bytes as f64 / seconds
    };
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the features.
            return rate(&|from| unsafe { sums_avx512(from) });
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the features.
            return rate(&|from| unsafe { sums_avx2(from) });
        }
    }
    rate(&sums_plain)
}

/// Independent chains of multiply-adds, enough to fill every pipeline.
const CHAINS: usize = 96;
const ROUNDS: usize = 20_000;

macro_rules! chains {
    ($name:ident $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        fn $name(seed: f64) -> f64 {
            let mut acc = [0.0f64; CHAINS];
            acc.iter_mut().enumerate().for_each(|(i, a)| *a = seed + i as f64);
            let (m, c) = (black_box(0.999_999_9), black_box(1e-7));
            for _ in 0..ROUNDS {
                for a in &mut acc {
                    *a = a.mul_add(m, c);
                }
            }
            acc.iter().sum()
        }
    };
}

#[cfg(target_arch = "x86_64")]
chains!(chains_avx512, "avx512f,avx512vl,fma");
#[cfg(target_arch = "x86_64")]
chains!(chains_avx2, "avx2,fma");

/// The same without fused instructions, for machines that have none.
fn chains_plain(seed: f64) -> f64 {
    let mut acc = [0.0f64; CHAINS];
    acc.iter_mut().enumerate().for_each(|(i, a)| *a = seed + i as f64);
    let (m, c) = (black_box(0.999_999_9), black_box(1e-7));
    for _ in 0..ROUNDS {
        for a in &mut acc {
            *a = *a * m + c;
        }
    }
    acc.iter().sum()
}

fn peak_flops() -> (f64, &'static str) {
    let rate = |f: &dyn Fn(f64) -> f64| {
        let seconds = best_of(Duration::from_millis(200), || {
            black_box(f(black_box(1.0)));
        });
        2.0 * (CHAINS * ROUNDS) as f64 / seconds
    };
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor has the features.
            return (rate(&|s| unsafe { chains_avx512(s) }), "avx512");
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the features.
            return (rate(&|s| unsafe { chains_avx2(s) }), "avx2");
        }
    }
    (rate(&chains_plain), "baseline")
}

/// a = b + s·c over arrays far larger than any cache: two reads and a write (with its read for
/// ownership not counted).
fn bandwidth() -> f64 {
    let n = 24 << 20;
    let (mut a, b, c) = (vec![0.0f64; n], vec![1.0f64; n], vec![2.0f64; n]);
    let s = black_box(0.5);
    let seconds = best_of(Duration::from_millis(400), || {
        for ((a, b), c) in a.iter_mut().zip(&b).zip(&c) {
            *a = b + s * c;
        }
        black_box(&mut a);
    });
    (3 * n * size_of::<f64>()) as f64 / seconds
}
