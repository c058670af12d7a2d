//! From light to bytes: sRGB in and out, the film curve, and the half-step dither.

use crate::srgb;
use glam::Vec3;
use std::sync::OnceLock;

/// Linear light of an sRGB colour; values that are no colour count as black.
pub(super) fn to_linear(color: [f32; 3]) -> Vec3 {
    Vec3::from(color.map(|c| if c.is_nan() { 0.0 } else { srgb::decode(c.clamp(0.0, 1.0)) }))
}

/// Film curve for each channel: straight in the middle so that colours stay what they were, a short toe for depth
/// in the shadows, and a long shoulder so that highlights roll off instead of clipping.
pub(super) fn filmic(light: Vec3) -> Vec3 {
    const SHOULDER: f32 = 0.62;
    let curve = |x: f32| {
        let x = x.max(0.0);
        let x = x * (x + 0.006) / (x + 0.012);
        if x <= SHOULDER {
            x
        } else {
            let headroom = 1.0 - SHOULDER;
            let over = (x - SHOULDER) / headroom;
            SHOULDER + headroom * over / (1.0 + over)
        }
    };
    Vec3::new(curve(light.x), curve(light.y), curve(light.z))
}

const STEPS: usize = 4096;

fn table() -> &'static [f32] {
    static TABLE: OnceLock<Vec<f32>> = OnceLock::new();
    // Indexed by the square root: even steps in light would be too coarse in the dark.
    TABLE.get_or_init(|| {
        (0..=STEPS + 1).map(|i| 255.0 * srgb::encode((i as f32 / STEPS as f32).powi(2).min(1.0))).collect()
    })
}

/// sRGB byte of a linear value in 0..=1; `threshold` in 0..1 decides which way to round.
pub(super) fn to_byte(linear: f32, threshold: f32) -> u8 {
    let at = linear.clamp(0.0, 1.0).sqrt() * STEPS as f32;
    let table = table();
    let index = at as usize;
    let value = table[index] + (table[index + 1] - table[index]) * (at - index as f32);
    (value + threshold) as u8
}

/// Rounding threshold of a pixel: a fixed pattern without visible structure (interleaved gradient noise).
pub(super) fn threshold(x: u32, y: u32, channel: u32) -> f32 {
    let f = 0.067_110_56 * (x + 5 * channel) as f32 + 0.005_837_15 * (y + 11 * channel) as f32;
    // Not `fract`, which is a function call on plain x86-64.
    let fraction = |v: f32| v - (v as u32) as f32;
    fraction(52.982_918 * fraction(f))
}
