//! Linear light and sRGB values (IEC 61966-2-1), in f32 as pictures need them.

/// Linear light of an sRGB value in 0..=1.
pub(crate) fn decode(c: f32) -> f32 {
    if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
}

/// The sRGB value (what a colour picker shows) of linear light, which is brought into 0..=1 first.
pub(crate) fn encode(linear: f32) -> f32 {
    let c = linear.clamp(0.0, 1.0);
    if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}
