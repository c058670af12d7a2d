//! Colours: from what people write (sRGB) to the linear light pictures are computed in.

use crate::record::SceneValue;

/// Colours of bodies that name none, by index: bright, soft, and told apart by most eyes.
const PALETTE: [&str; 8] =
    ["#e0413f", "#4fa8e0", "#f2a33a", "#6cc24a", "#b076d6", "#3fbfae", "#ef7fae", "#f2d13c"];

/// `#rrggbb` or `#rgb` as sRGB from 0 to 1.
pub(crate) fn parse_hex(text: &str) -> Option<[f64; 3]> {
    let digits = text.strip_prefix('#')?;
    if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let part = |i: usize, n: usize| u8::from_str_radix(&digits[i * n..(i + 1) * n], 16).ok();
    let rgb = match digits.len() {
        3 => [0, 1, 2].map(|i| part(i, 1).map(|v| v * 17)),
        6 => [0, 1, 2].map(|i| part(i, 2)),
        _ => return None,
    };
    let [Some(r), Some(g), Some(b)] = rgb else {
        return None;
    };
    Some([r, g, b].map(|v| f64::from(v) / 255.0))
}

/// The linear colour of a checked `color` value, or of the palette.
pub(crate) fn linear(given: Option<&SceneValue>, body: usize) -> [f32; 3] {
    let srgb = match given {
        Some(SceneValue::Text(hex)) => parse_hex(hex),
        Some(SceneValue::List(_)) => given.map(|c| c.vector().to_array()),
        _ => parse_hex(PALETTE[body % PALETTE.len()]),
    };
    srgb.unwrap_or([0.5; 3]).map(|v| {
        let linear = if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) };
        linear as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_colours() {
        assert_eq!(parse_hex("#ff0000"), Some([1.0, 0.0, 0.0]));
        assert_eq!(parse_hex("#f00"), parse_hex("#ff0000"));
        for bad in ["ff0000", "#ff00", "#gg0000", "#ff00000", "#é0000", ""] {
            assert_eq!(parse_hex(bad), None, "{bad}");
        }
        assert!(PALETTE.iter().all(|c| parse_hex(c).is_some()));
    }

    #[test]
    fn white_stays_white_and_mid_grey_gets_darker() {
        let of = |hex: &str| linear(Some(&SceneValue::Text(hex.into())), 0);
        assert_eq!(of("#ffffff"), [1.0; 3]);
        assert!((of("#808080")[0] - 0.2159).abs() < 1e-3);
    }
}
