//! Contact sheets: the frames of a run side by side, each with its time.

use super::Image;
use super::text::{draw_text, text_size};

/// Frames to show on a sheet of `tiles` out of `count`: evenly spread, the first and the last among them.
pub fn sheet_frames(count: usize, tiles: usize) -> Vec<usize> {
    match (count, tiles) {
        (0, _) | (_, 0) => Vec::new(),
        (_, 1) => vec![count - 1],
        _ if count <= tiles => (0..count).collect(),
        _ => (0..tiles).map(|i| (i * (count - 1) + (tiles - 1) / 2) / (tiles - 1)).collect(),
    }
}

/// Tiles pictures of the same size into rows of `columns` with thin gutters, and prints each time (in seconds) in
/// the corner of its tile.
pub fn contact_sheet(tiles: &[(f64, Image)], columns: usize) -> Image {
    let columns = columns.clamp(1, tiles.len().max(1));
    let rows = tiles.len().div_ceil(columns);
    let size = |side: fn(&Image) -> u32| tiles.iter().map(|(_, image)| side(image)).max().unwrap_or(1);
    let (width, height) = (size(|i| i.width), size(|i| i.height));
    let gutter = (width / 120).max(2);
    let total = |count: usize, side: u32| (count as u32 * (side + gutter)).saturating_add(gutter);
    let mut sheet = Image::filled(total(columns, width), total(rows, height), [255; 3]);
    let scale = (height / 160).max(1);
    for (i, (time, image)) in tiles.iter().enumerate() {
        let (x, y) = (
            gutter + (i % columns) as u32 * (width + gutter),
            gutter + (i / columns) as u32 * (height + gutter),
        );
        sheet.paste(image, x, y);
        let text = format!("{time:.2} s");
        let margin = 5 * scale;
        let corner = image.pixel(margin, margin).unwrap_or([255; 3]);
        let bright = corner.iter().map(|c| u32::from(*c)).sum::<u32>() > 330;
        let ink = if bright { [60, 66, 80] } else { [226, 230, 238] };
        let (wide, _) = text_size(&text, scale);
        let left = i64::from(x + width.saturating_sub(wide + margin));
        draw_text(&mut sheet, left, i64::from(y + margin), &text, scale, ink, 0.85);
    }
    sheet
}
