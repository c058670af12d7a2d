//! Single pictures as PNG files.

use super::Image;
use std::io::Write;

/// Writes a picture as an 8-bit sRGB PNG.
pub fn write_png(image: &Image, out: impl Write) -> std::io::Result<()> {
    let mut encoder = png::Encoder::new(out, image.width, image.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    let mut writer = encoder.write_header().map_err(std::io::Error::from)?;
    writer.write_image_data(&image.rgb).map_err(std::io::Error::from)?;
    writer.finish().map_err(std::io::Error::from)
}

/// The bytes of a picture as a PNG file.
pub fn encode_png(image: &Image) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_png(image, &mut bytes)?;
    Ok(bytes)
}
