//! Colours of files and linear ones: sRGB both ways (IEC 61966-2-1), exact for bytes.

/// Linear light of an sRGB value; values outside 0..=1 are brought there, what is no number is 1.
pub(super) fn linear(srgb: f64) -> f32 {
    let c = if srgb.is_nan() { 1.0 } else { srgb.clamp(0.0, 1.0) };
    (if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }) as f32
}

/// The sRGB value of linear light.
pub(super) fn srgb(linear: f32) -> f64 {
    let c = f64::from(if linear.is_nan() { 1.0 } else { linear.clamp(0.0, 1.0) });
    if c <= 0.003_130_8 { c * 12.92 } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 }
}

/// How the numbers of a colour are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// Linear, 0 to 1.
    Linear,
    /// sRGB, 0 to 1.
    Srgb,
    /// sRGB, 0 to 255.
    Bytes,
    /// sRGB, 0 to 65535.
    Words,
}

impl Coding {
    /// Linear colour and opacity of what a file has; `None` if there is a number that is none.
    pub fn decode(self, [r, g, b, a]: [f64; 4]) -> Option<[f32; 4]> {
        if ![r, g, b, a].iter().all(|c| c.is_finite()) {
            return None;
        }
        let scale = match self {
            Coding::Bytes => 1.0 / 255.0,
            Coding::Words => 1.0 / 65535.0,
            Coding::Linear | Coding::Srgb => 1.0,
        };
        let opacity = (a * scale).clamp(0.0, 1.0) as f32;
        let light =
            |c: f64| if self == Coding::Linear { c.clamp(0.0, 1.0) as f32 } else { linear(c * scale) };
        Some([light(r), light(g), light(b), opacity])
    }
}

/// The bytes that mean exactly these colours, if there are such for all.
pub(super) fn as_bytes(colors: &[[f32; 4]]) -> Option<Vec<[u8; 4]>> {
    let byte = |x: f64| (x * 255.0).round().clamp(0.0, 255.0) as u8;
    colors
        .iter()
        .map(|c| {
            let bytes = [byte(srgb(c[0])), byte(srgb(c[1])), byte(srgb(c[2])), byte(f64::from(c[3]))];
            (Coding::Bytes.decode(bytes.map(f64::from)) == Some(*c)).then_some(bytes)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_other_colours_are_not_bytes() {
        for b in 0..=255_u8 {
            let color = Coding::Bytes.decode([b, 255 - b, 7, b].map(f64::from)).unwrap();
            assert_eq!(as_bytes(&[color]), Some(vec![[b, 255 - b, 7, b]]));
        }
        assert_eq!(as_bytes(&[[0.3, 0.0, 0.0, 1.0]]), None);
        assert_eq!(Coding::Linear.decode([0.25, 2.0, -1.0, 0.5]), Some([0.25, 1.0, 0.0, 0.5]));
        assert_eq!(Coding::Srgb.decode([f64::NAN, 0.0, 0.0, 1.0]), None);
        assert!((srgb(linear(0.5)) - 0.5).abs() < 1e-7);
    }
}
