//! Single pictures as PNG files.

use super::Image;
use std::io::Write;

/// Writes a picture as an 8-bit sRGB PNG.
pub fn write_png(image: &Image, out: impl Write) -> std::io::Result<()> {
    write_png_by(image, None, out)
}

/// The same with the name of the program that made it.
pub(crate) fn write_png_by(image: &Image, program: Option<&str>, out: impl Write) -> std::io::Result<()> {
    let mut encoder = png::Encoder::new(out, image.width, image.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    if let Some(program) = program {
        // The format has Latin 1 only.
        let plain = program.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
        encoder.add_text_chunk("Software".into(), plain).map_err(std::io::Error::from)?;
    }
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
