//! From true colour to 255 colours: one palette for a whole animation, and dithering that stands still.

use super::Image;
use std::collections::HashMap;

/// The colours of an animation; the last index of a GIF (255) stays free for "unchanged".
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Palette {
    colors: Vec<[u8; 3]>,
}

/// A colour of the histogram: its place in a space where distances are about what the eye sees, and its weight.
#[derive(Clone, Copy)]
struct Cell {
    at: [f32; 3],
    weight: f32,
}

/// Channel weights: the eye is keenest on green.
const KEEN: [f32; 3] = [0.75, 1.0, 0.60];

fn spot(color: [u8; 3]) -> [f32; 3] {
    [0, 1, 2].map(|k| f32::from(color[k]) * KEEN[k])
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum()
}

impl Palette {
    /// Most colours a palette holds.
    pub const SIZE: usize = 255;

    /// The best colours for some sample frames of an animation: median cut, then a few rounds of k-means.
    pub fn from_images<'a>(images: impl IntoIterator<Item = &'a Image>) -> Palette {
        let mut counts = vec![0u32; 1 << 18];
        for image in images {
            for p in image.rgb.chunks_exact(3) {
                let key = (p[0] as usize >> 2) << 12 | (p[1] as usize >> 2) << 6 | p[2] as usize >> 2;
                counts[key] += 1;
            }
        }
        let cells: Vec<Cell> = counts
            .iter()
            .enumerate()
            .filter(|(_, n)| **n > 0)
            .map(|(key, n)| {
                let color = [key >> 12, key >> 6 & 63, key & 63].map(|c| (c << 2 | c >> 4) as u8);
                // The root keeps a large smooth backdrop from taking all colours away from a small body.
                Cell { at: spot(color), weight: (*n as f32).sqrt() }
            })
            .collect();
        let mut centers = median_cut(cells.clone(), Palette::SIZE);
        for _ in 0..4 {
            centers = refine(&cells, &centers);
        }
        let mut colors: Vec<[u8; 3]> = centers
            .iter()
            .map(|c| [0, 1, 2].map(|k| (c[k] / KEEN[k]).round().clamp(0.0, 255.0) as u8))
            .collect();
        // By brightness: neighbours in the table then look alike, and the order does not depend on the cutting.
        colors.sort_by_key(|c| (2 * u32::from(c[0]) + 4 * u32::from(c[1]) + u32::from(c[2]), *c));
        colors.dedup();
        if colors.is_empty() {
            colors.push([0; 3]);
        }
        Palette { colors }
    }

    /// sRGB bytes of each entry, at most 256 of them, in the order that indices count.
    pub fn colors(&self) -> &[[u8; 3]] {
        &self.colors
    }

    fn nearest(&self, at: [f32; 3]) -> u8 {
        let mut best = (f32::MAX, 0);
        for (i, color) in self.colors.iter().enumerate() {
            let d = distance(spot(*color), at);
            if d < best.0 {
                best = (d, i);
            }
        }
        best.1 as u8
    }
}

fn median_cut(cells: Vec<Cell>, count: usize) -> Vec<[f32; 3]> {
    let mut boxes = vec![cells];
    let spread = |cells: &[Cell]| -> (f32, usize) {
        let total: f32 = cells.iter().map(|c| c.weight).sum();
        let mut best = (0.0, 0);
        for k in 0..3 {
            let mean = cells.iter().map(|c| c.weight * c.at[k]).sum::<f32>() / total.max(1e-9);
            let variance: f32 = cells.iter().map(|c| c.weight * (c.at[k] - mean).powi(2)).sum();
            if variance > best.0 {
                best = (variance, k);
            }
        }
        best
    };
    let mut spreads = vec![spread(&boxes[0])];
    while boxes.len() < count {
        let Some((index, (value, axis))) =
            spreads.iter().copied().enumerate().max_by(|a, b| a.1.0.total_cmp(&b.1.0).then(b.0.cmp(&a.0)))
        else {
            break;
        };
        if value <= 0.0 {
            break;
        }
        let mut cells = std::mem::take(&mut boxes[index]);
        cells.sort_by(|a, b| a.at[axis].total_cmp(&b.at[axis]));
        let total: f32 = cells.iter().map(|c| c.weight).sum();
        let mean = cells.iter().map(|c| c.weight * c.at[axis]).sum::<f32>() / total;
        let cut = cells.partition_point(|c| c.at[axis] <= mean).clamp(1, cells.len() - 1);
        let upper = cells.split_off(cut);
        spreads[index] = spread(&cells);
        spreads.push(spread(&upper));
        boxes[index] = cells;
        boxes.push(upper);
    }
    boxes.iter().filter(|cells| !cells.is_empty()).map(|cells| mean_of(cells)).collect()
}

fn mean_of(cells: &[Cell]) -> [f32; 3] {
    let total: f32 = cells.iter().map(|c| c.weight).sum();
    [0, 1, 2].map(|k| cells.iter().map(|c| c.weight * c.at[k]).sum::<f32>() / total.max(1e-9))
}

fn refine(cells: &[Cell], centers: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let mut sums = vec![([0.0f32; 3], 0.0f32); centers.len()];
    for cell in cells {
        let mut best = (f32::MAX, 0);
        for (i, center) in centers.iter().enumerate() {
            let d = distance(*center, cell.at);
            if d < best.0 {
                best = (d, i);
            }
        }
        let sum = &mut sums[best.1];
        (0..3).for_each(|k| sum.0[k] += cell.weight * cell.at[k]);
        sum.1 += cell.weight;
    }
    let moved = sums.iter().zip(centers);
    moved.map(|((sum, weight), old)| if *weight > 0.0 { sum.map(|s| s / weight) } else { *old }).collect()
}

/// Mixtures tried for a colour; with the 8×8 pattern below each is used for eight of 64 pixels.
const MIX: usize = 8;

/// Bayer's 8×8 order. It belongs to the pixel and not to the frame, so what does not move does not flicker.
fn order(x: u32, y: u32) -> usize {
    // The lowest bits of x and y decide most: neighbours get thresholds that are far apart.
    let (mut value, a, b) = (0, x ^ y, y);
    for bit in 0..3 {
        value |= (b >> bit & 1) << (5 - 2 * bit) | (a >> bit & 1) << (4 - 2 * bit);
    }
    value as usize
}

/// Turns colours into palette indices.
pub(super) struct Ditherer {
    palette: Palette,
    known: HashMap<u32, [u8; MIX]>,
}

impl Ditherer {
    pub fn new(palette: Palette) -> Ditherer {
        Ditherer { palette, known: HashMap::new() }
    }

    /// Index for a colour at a pixel (Knoll's pattern dithering: the pattern picks from a mixture of palette colours
    /// whose average is the colour asked for).
    pub fn index(&mut self, color: [u8; 3], x: u32, y: u32) -> u8 {
        let key = u32::from(color[0]) << 16 | u32::from(color[1]) << 8 | u32::from(color[2]);
        let palette = &self.palette;
        let mix = self.known.entry(key).or_insert_with(|| {
            let wanted = spot(color);
            let mut debt = [0.0f32; 3];
            let mut mix = [0u8; MIX];
            for slot in &mut mix {
                // Less than the full debt: far-fetched colours would sparkle.
                let index = palette.nearest([0, 1, 2].map(|k| wanted[k] + 0.75 * debt[k]));
                let got = spot(palette.colors[index as usize]);
                (0..3).for_each(|k| debt[k] += wanted[k] - got[k]);
                *slot = index;
            }
            // The palette is sorted by brightness.
            mix.sort_unstable();
            mix
        });
        mix[order(x & 7, y & 7) * MIX / 64]
    }
}
