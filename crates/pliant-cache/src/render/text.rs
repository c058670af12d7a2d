//! Small labels drawn into a picture.

use super::Image;
use super::font::glyph;

/// Width and height in pixels of a line of text, without the tails of letters below it.
pub(crate) fn text_size(text: &str, scale: u32) -> (u32, u32) {
    let count = text.chars().count() as u32;
    ((count * 6).saturating_sub(1) * scale, 7 * scale)
}

/// Draws a line of text with its upper left corner at column `x`, row `y`; each dot is `scale` pixels wide.
///
/// Parts outside the picture are cut off.
pub(crate) fn draw_text(
    image: &mut Image,
    x: i64,
    y: i64,
    text: &str,
    scale: u32,
    color: [u8; 3],
    opacity: f32,
) {
    let scale = i64::from(scale.max(1));
    for (i, c) in text.chars().enumerate() {
        for (column, bits) in glyph(c).iter().enumerate() {
            for row in (0..8).filter(|row| bits >> row & 1 == 1) {
                let left = x + (6 * i as i64 + column as i64) * scale;
                image.blend_rect(left, y + row * scale, scale, scale, color, opacity);
            }
        }
    }
}

/// A number in few characters: four significant digits at most, powers of ten where they are shorter.
pub(super) fn format_number(value: f64) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    if value == 0.0 {
        return "0".into();
    }
    let decade = value.abs().log10().floor() as i32;
    if !(-3..6).contains(&decade) {
        return format!("{value:.1e}");
    }
    let digits = (2 - decade).max(0) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}
