//! Renderings inside an SVG: PNG as a data address, so that a figure stays one file.

use pliant_cache::render::{Image, encode_png};
use pliant_geometry::encode_base64;
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
            String::from_utf8_lossy(&encode_base64(&encode_png(image)?))
        );
    }
    svg.push_str("</svg>\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
