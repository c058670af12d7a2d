//! Smooth noise in space: the same bits everywhere, bounded, without memory.
//!
//! Random values at whole coordinates, from a hash, with quintic blends between them (Perlin 2002): twice
//! continuously differentiable, and no sine of any system's library in it.

use glam::{DMat3, DVec3};

/// A vector whose components are between −1 and 1, and its derivatives: column k is that along axis k.
pub(crate) fn noise(p: DVec3) -> (DVec3, DMat3) {
    let cell = p.floor();
    let f = p - cell;
    // Beyond these, whole numbers no longer tell places apart, and the cast saturates.
    let cell = cell.to_array().map(|c| c as i64);
    let [fade, slope] = [f.to_array().map(fade), f.to_array().map(fade_slope)];
    let (mut value, mut derivative) = (DVec3::ZERO, DMat3::ZERO);
    for corner in 0..8_usize {
        let bit = |axis: usize| corner >> axis & 1;
        let at: [i64; 3] = std::array::from_fn(|axis| cell[axis].wrapping_add(bit(axis) as i64));
        let weight: [f64; 3] = std::array::from_fn(|a| if bit(a) == 1 { fade[a] } else { 1.0 - fade[a] });
        let change: [f64; 3] = std::array::from_fn(|a| if bit(a) == 1 { slope[a] } else { -slope[a] });
        let random = random(at);
        value += random * (weight[0] * weight[1] * weight[2]);
        derivative.x_axis += random * (change[0] * weight[1] * weight[2]);
        derivative.y_axis += random * (weight[0] * change[1] * weight[2]);
        derivative.z_axis += random * (weight[0] * weight[1] * change[2]);
    }
    (value, derivative)
}

/// 6t⁵ − 15t⁴ + 10t³.
fn fade(t: f64) -> f64 {
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

fn fade_slope(t: f64) -> f64 {
    30.0 * t * t * (t - 1.0) * (t - 1.0)
}

/// Three numbers between −1 and 1 of a whole place.
fn random(at: [i64; 3]) -> DVec3 {
    let mut z = 0_u64;
    for c in at {
        // SplitMix64, a coordinate a round.
        z = z.wrapping_add(c as u64).wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
    }
    let part = |shift: u32| ((z >> shift & 0x1F_FFFF) as f64 / f64::from(1 << 20)) - 1.0;
    DVec3::new(part(0), part(21), part(42))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_bounded_smooth_and_its_derivatives_are_right() {
        let mut p = DVec3::new(-3.7, 12.2, 0.4);
        let (mut mean, mut square) = (DVec3::ZERO, 0.0);
        for _ in 0..4000 {
            p += DVec3::new(0.137, -0.211, 0.093);
            let (value, slope) = noise(p);
            assert!(value.abs().max_element() <= 1.0);
            mean += value / 4000.0;
            square += value.length_squared() / 12_000.0;
            for axis in 0..3 {
                let e = DVec3::AXES[axis] * 1e-5;
                let measured = (noise(p + e).0 - noise(p - e).0) / 2e-5;
                assert!((measured - slope.col(axis)).length() < 1e-4, "{p} {axis}");
            }
        }
        assert!(mean.length() < 0.1 && (0.02..0.3).contains(&square), "{mean} {square}");
        // Whatever the place, a number.
        for p in [DVec3::splat(1e300), DVec3::splat(-1e19), DVec3::ZERO] {
            assert!(noise(p).0.is_finite() && noise(p).1.is_finite());
        }
    }
}
