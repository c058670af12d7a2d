//! Renderings inside an SVG: PNG as a data address, so that a figure stays one file.

use pliant_cache::render::{Image, encode_png};
use std::fmt::Write;

/// A rendering and where it is shown.
pub struct PlacedImage<'a> {
    image: &'a Image,
    /// Left, top, width, height.
    place: [f64; 4],
}

impl<'a> PlacedImage<'a> {
    /// As large as fits, in the middle.
    pub fn inside(image: &'a Image, [left, top, width, height]: [f64; 4]) -> PlacedImage<'a> {
        let (w, h) = (f64::from(image.width.max(1)), f64::from(image.height.max(1)));
        let scale = (width / w).min(height / h);
        let (w, h) = (w * scale, h * scale);
        PlacedImage { image, place: [left + 0.5 * (width - w), top + 0.5 * (height - h), w, h] }
    }
}

/// Adds the renderings on top of a finished drawing.
pub fn embed(svg: &mut String, images: &[PlacedImage<'_>]) -> std::io::Result<()> {
    let Some(end) = svg.rfind("</svg>") else { return Ok(()) };
    svg.truncate(end);
    for PlacedImage { image, place: [x, y, width, height] } in images {
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "<image x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             href=\"data:image/png;base64,{}\"/>",
            base64(&encode_png(image)?)
        );
    }
    svg.push_str("</svg>\n");
    Ok(())
}

/// Four letters for three bytes (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for part in bytes.chunks(3) {
        let byte = |k: usize| u32::from(part.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= part.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_has_the_letters_of_the_standard() {
        // The examples of RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn a_rendering_fits_its_place_and_keeps_its_shape() {
        let image = Image::filled(200, 100, [255; 3]);
        let placed = PlacedImage::inside(&image, [10.0, 20.0, 100.0, 100.0]);
        assert_eq!(placed.place, [10.0, 45.0, 100.0, 50.0]);
        let mut svg = "<svg></svg>\n".to_string();
        embed(&mut svg, &[placed]).unwrap();
        assert!(svg.starts_with("<svg><image x=\"10.0\"") && svg.ends_with("/>\n</svg>\n"), "{svg}");
    }
}
