//! Animated PNG: all colours, exact times, and of each picture only the part that changed.

use super::Image;
use std::io::{self, Write};

/// Longest side of a fraction of a second in the file.
const PARTS: f64 = 10_000.0;

/// Writes an animation of `count` pictures that repeats for ever, each shown for `seconds`; only one picture is held at
/// a time beside the one before.
pub fn write_apng<W: Write, E: From<io::Error>>(
    out: W,
    count: usize,
    seconds: f64,
    mut picture: impl FnMut(usize) -> Result<Image, E>,
) -> Result<(), E> {
    let wrong = |e: png::EncodingError| E::from(io::Error::from(e));
    let frames = u32::try_from(count).ok().filter(|n| *n > 0);
    let Some(frames) = frames else {
        return Err(E::from(io::Error::other(
            "an animation needs at least one picture, and a number of them",
        )));
    };
    let mut shown = picture(0)?;
    let mut encoder = png::Encoder::new(out, shown.width, shown.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_animated(frames, 0).map_err(wrong)?;
    let (parts, of) = delay(seconds);
    encoder.set_frame_delay(parts, of).map_err(wrong)?;
    let mut writer = encoder.write_header().map_err(wrong)?;
    writer.write_image_data(&shown.rgb).map_err(wrong)?;
    for k in 1..count {
        let next = picture(k)?;
        if (next.width, next.height) != (shown.width, shown.height) {
            return Err(E::from(io::Error::other("the pictures of an animation have different sizes")));
        }
        let (x, y, width, height) = changed(&shown, &next);
        // The part before must not stick out while the one is changed and not yet the other.
        writer.set_frame_position(0, 0).map_err(wrong)?;
        writer.set_frame_dimension(width, height).map_err(wrong)?;
        writer.set_frame_position(x, y).map_err(wrong)?;
        writer.write_image_data(&part(&next, x, y, width, height)).map_err(wrong)?;
        shown = next;
    }
    writer.finish().map_err(wrong)
}

/// Seconds as a fraction of 16 bits: exact where they are a few of a whole number of parts.
fn delay(seconds: f64) -> (u16, u16) {
    for count in 1..=64u16 {
        let parts = f64::from(count) / seconds;
        if (1.0..=f64::from(u16::MAX)).contains(&parts) && (parts - parts.round()).abs() < 1e-9 * parts {
            return (count, parts.round() as u16);
        }
    }
    ((seconds * PARTS).round().clamp(1.0, f64::from(u16::MAX)) as u16, PARTS as u16)
}

/// The smallest part outside of which two pictures are the same; never empty, as the format wants a pixel at least.
fn changed(a: &Image, b: &Image) -> (u32, u32, u32, u32) {
    let row = 3 * a.width as usize;
    let rows: Vec<usize> =
        (0..a.height as usize).filter(|y| a.rgb[y * row..][..row] != b.rgb[y * row..][..row]).collect();
    let (Some(&top), Some(&bottom)) = (rows.first(), rows.last()) else {
        return (0, 0, 1, 1);
    };
    let (mut left, mut right) = (a.width as usize, 0);
    for y in rows {
        let pixels = |i: &Image, x: usize| [0, 1, 2].map(|c| i.rgb[y * row + 3 * x + c]);
        let differs = |x: &usize| pixels(a, *x) != pixels(b, *x);
        left = (0..left).find(differs).unwrap_or(left);
        right = (right..a.width as usize).rev().find(differs).map_or(right, |x| x + 1);
    }
    (left as u32, top as u32, (right - left) as u32, (bottom + 1 - top) as u32)
}

fn part(image: &Image, x: u32, y: u32, width: u32, height: u32) -> Vec<u8> {
    let row = 3 * image.width as usize;
    let start = |k: u32| (y + k) as usize * row + 3 * x as usize;
    (0..height).flat_map(|k| image.rgb[start(k)..][..3 * width as usize].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_exact_where_they_can_be() {
        assert_eq!(delay(1.0 / 24.0), (1, 24));
        assert_eq!(delay(2.0 / 60.0), (1, 30));
        assert_eq!(delay(1001.0 / 30000.0), (334, 10_000));
        assert_eq!(delay(3.0), (3, 1));
    }

    /// What was written is read back by a decoder, drawn over what was shown, and is each picture again.
    #[test]
    fn pictures_come_back() {
        let size = (40u32, 30u32);
        let pictures: Vec<Image> = (0..5u32)
            .map(|k| {
                let mut image = Image { width: size.0, height: size.1, rgb: vec![200; 3 * 40 * 30] };
                // The third is the second again.
                let k = if k == 2 { 1 } else { k };
                // The last goes back, so that parts move both ways.
                let k = if k == 4 { 0 } else { k };
                for (i, p) in image.rgb.iter_mut().enumerate() {
                    let (x, y) = (i / 3 % 40, i / 120);
                    if (x as u32).abs_diff(5 + 7 * k) < 4 && (y as u32).abs_diff(8 + 3 * k) < 3 {
                        *p = (i * 7 % 256) as u8;
                    }
                }
                image
            })
            .collect();
        let mut bytes = Vec::new();
        write_apng(&mut bytes, 5, 1.0 / 24.0, |k| Ok::<_, io::Error>(pictures[k].clone())).unwrap();
        let mut reader = png::Decoder::new(io::Cursor::new(&bytes)).read_info().unwrap();
        let control = reader.info().animation_control.unwrap();
        assert_eq!((control.num_frames, control.num_plays), (5, 0));
        let mut canvas = vec![0; 3 * 40 * 30];
        for picture in &pictures {
            let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut buffer).unwrap();
            let frame = *reader.info().frame_control().unwrap();
            assert_eq!((frame.delay_num, frame.delay_den), (1, 24));
            for y in 0..frame.height as usize {
                let to = 3 * ((frame.y_offset as usize + y) * 40 + frame.x_offset as usize);
                let wide = 3 * frame.width as usize;
                canvas[to..to + wide].copy_from_slice(&buffer[y * wide..(y + 1) * wide]);
            }
            assert!(canvas == picture.rgb);
        }
    }
}
