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

/// Frames to show on a sheet of `tiles`, denser where more happens: `change[k]` says how much does between frame
/// `k` and the one before. Half of the spread is even, so that no long part of a run is left out.
pub(crate) fn busy_frames(change: &[f64], tiles: usize) -> Vec<usize> {
    let count = change.len();
    let even = sheet_frames(count, tiles);
    let total: f64 = change.iter().skip(1).filter(|c| c.is_finite()).sum();
    if count <= tiles || tiles < 3 || total.is_nan() || total <= 0.0 || total.is_infinite() {
        return even;
    }
    // How far along each frame is: half by its time, half by what happened until then.
    let mut along = Vec::with_capacity(count);
    let mut happened = 0.0;
    for (k, c) in change.iter().enumerate() {
        happened += if k > 0 && c.is_finite() { *c } else { 0.0 };
        along.push(0.5 * k as f64 / (count - 1) as f64 + 0.5 * happened / total);
    }
    let mut shown: Vec<usize> = Vec::with_capacity(tiles);
    for i in 0..tiles {
        let wanted = i as f64 / (tiles - 1) as f64;
        let nearest = along.partition_point(|a| *a < wanted - 1e-12);
        // Each frame once, with enough left for the tiles to come.
        let first = shown.last().map_or(0, |k| k + 1);
        shown.push(nearest.clamp(first, count - (tiles - i)));
    }
    shown
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_parts_get_more_tiles() {
        let mut change = vec![0.0; 101];
        change[20..30].fill(1.0);
        let shown = busy_frames(&change, 12);
        assert_eq!((shown.len(), shown[0], shown[11]), (12, 0, 100));
        assert!(shown.windows(2).all(|w| w[0] < w[1]), "{shown:?}");
        assert!(shown.iter().filter(|k| (19..31).contains(*k)).count() >= 5, "{shown:?}");
        assert!(shown.windows(2).all(|w| w[1] - w[0] <= 20), "nothing is left out: {shown:?}");
        // All at one moment, at either end, or nothing at all.
        for busy in [0, 1, 50, 100] {
            let mut change = vec![0.0; 101];
            change[busy] = 1.0;
            let shown = busy_frames(&change, 12);
            assert!(shown.windows(2).all(|w| w[0] < w[1]), "{shown:?}");
            assert_eq!((shown.len(), shown[0], shown[11]), (12, 0, 100), "{shown:?}");
        }
        for change in [vec![0.0; 101], vec![f64::NAN; 101], vec![f64::MAX; 101]] {
            assert_eq!(busy_frames(&change, 12), sheet_frames(101, 12));
        }
        assert_eq!(busy_frames(&[1.0; 5], 12), [0, 1, 2, 3, 4]);
        assert!(busy_frames(&[], 12).is_empty());
    }
}
