//! Colours with a purpose: bodies and clusters that can be told apart, and maps for numbers with their legend.

use super::Image;
use super::text::{draw_text, format_number, text_size};
use crate::srgb;

/// Colours for the first bodies of a scene: gummy-bear tones of similar weight, neighbours in the list far apart.
const BODIES: [[f32; 3]; 12] = [
    [0.93, 0.26, 0.30], // raspberry
    [0.16, 0.62, 0.86], // sky
    [0.98, 0.70, 0.16], // honey
    [0.27, 0.72, 0.45], // lime leaf
    [0.60, 0.40, 0.86], // grape
    [0.97, 0.47, 0.20], // orange
    [0.12, 0.70, 0.70], // lagoon
    [0.94, 0.44, 0.64], // rose
    [0.58, 0.76, 0.20], // apple
    [0.29, 0.42, 0.84], // blueberry
    [0.80, 0.56, 0.36], // caramel
    [0.75, 0.30, 0.62], // plum
];

/// The colour of the n-th body (sRGB).
pub fn body_color(index: usize) -> [f32; 3] {
    BODIES.get(index).copied().unwrap_or_else(|| categorical(index))
}

/// The n-th of endlessly many colours: hues a golden angle apart, so that consecutive ones differ strongly, in
/// three bands of lightness (sRGB).
pub fn categorical(index: usize) -> [f32; 3] {
    let hue = (index as f64 * 0.618_033_988_749_895 + 0.02).fract() as f32;
    let lightness = [0.70, 0.60, 0.79][index % 3];
    let chroma = [0.145, 0.15, 0.115][index / 3 % 3];
    oklch(lightness, chroma, hue)
}

/// sRGB from lightness, chroma and hue (in turns) of the perceptual space Oklab, pulled into range by less chroma.
fn oklch(lightness: f32, chroma: f32, hue: f32) -> [f32; 3] {
    let (sin, cos) = (hue * std::f32::consts::TAU).sin_cos();
    let mut chroma = chroma;
    loop {
        let (a, b) = (chroma * cos, chroma * sin);
        let l = (lightness + 0.396_337_78 * a + 0.215_803_76 * b).powi(3);
        let m = (lightness - 0.105_561_346 * a - 0.063_854_17 * b).powi(3);
        let s = (lightness - 0.089_484_18 * a - 1.291_485_5 * b).powi(3);
        let linear = [
            4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
            -1.268_438 * l + 2.609_757_4 * m - 0.341_319_38 * s,
            -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
        ];
        if chroma < 1e-3 || linear.iter().all(|c| (0.0..=1.0).contains(c)) {
            return linear.map(srgb::encode);
        }
        chroma *= 0.95;
    }
}

/// Assigns each node of a graph (clusters and which of them touch) a colour index such that neighbours differ,
/// greedily in order; feed the result to [`categorical`].
pub(crate) fn neighbour_colors(count: usize, edges: &[[u32; 2]]) -> Vec<usize> {
    let mut around: Vec<Vec<usize>> = vec![Vec::new(); count];
    for [a, b] in edges.iter().map(|e| e.map(|v| v as usize)) {
        if a < count && b < count && a != b {
            around[a].push(b);
            around[b].push(a);
        }
    }
    let mut colors = vec![usize::MAX; count];
    for node in 0..count {
        let taken: Vec<usize> = around[node].iter().map(|n| colors[*n]).collect();
        // Start each search elsewhere: a greedy colouring from zero would use only a handful of colours.
        colors[node] = (node % 12..).find(|c| !taken.contains(c)).unwrap_or(node);
    }
    colors
}

/// A colour scale for numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorMap {
    /// Dark violet over green to yellow, perceptually even; for strain and other amounts.
    #[default]
    Viridis,
    /// Dark blue over violet and orange to pale yellow; for speed.
    Plasma,
    /// Blue over pale grey to red, for signed values around the middle.
    Diverging,
}

const VIRIDIS: [[f32; 3]; 9] = [
    [0.267, 0.005, 0.329],
    [0.279, 0.175, 0.483],
    [0.230, 0.322, 0.546],
    [0.173, 0.449, 0.558],
    [0.128, 0.567, 0.551],
    [0.158, 0.684, 0.502],
    [0.369, 0.789, 0.383],
    [0.678, 0.864, 0.190],
    [0.993, 0.906, 0.144],
];
const PLASMA: [[f32; 3]; 9] = [
    [0.050, 0.030, 0.528],
    [0.299, 0.010, 0.632],
    [0.492, 0.012, 0.658],
    [0.659, 0.134, 0.588],
    [0.798, 0.280, 0.470],
    [0.907, 0.412, 0.363],
    [0.975, 0.557, 0.254],
    [0.993, 0.739, 0.154],
    [0.940, 0.975, 0.131],
];
const DIVERGING: [[f32; 3]; 7] = [
    [0.130, 0.290, 0.640],
    [0.290, 0.520, 0.800],
    [0.600, 0.760, 0.900],
    [0.900, 0.900, 0.900],
    [0.950, 0.690, 0.580],
    [0.860, 0.390, 0.330],
    [0.640, 0.110, 0.180],
];

impl ColorMap {
    /// The colour (sRGB) at `t` in 0..=1; outside the nearest end, grey for NaN.
    pub fn at(self, t: f64) -> [f32; 3] {
        let table: &[[f32; 3]] = match self {
            ColorMap::Viridis => &VIRIDIS,
            ColorMap::Plasma => &PLASMA,
            ColorMap::Diverging => &DIVERGING,
        };
        if t.is_nan() {
            return [0.5; 3];
        }
        let at = t.clamp(0.0, 1.0) as f32 * (table.len() - 1) as f32;
        let index = (at as usize).min(table.len() - 2);
        let (a, b, f) = (table[index], table[index + 1], at - index as f32);
        [0, 1, 2].map(|k| a[k] + (b[k] - a[k]) * f)
    }
}

/// Colours of values on the scale `range = (min, max)`.
pub fn map_colors(values: &[f64], range: (f64, f64), map: ColorMap) -> Vec<[f32; 3]> {
    let span = range.1 - range.0;
    let place = |v: f64| {
        if span.abs() > 0.0 { (v - range.0) / span } else { 0.5 }
    };
    values.iter().map(|v| map.at(place(*v))).collect()
}

/// Draws a colour bar with its ends and a label into the lower left corner of a picture.
pub fn draw_legend(image: &mut Image, map: ColorMap, range: (f64, f64), label: &str) {
    let scale = (image.width.min(image.height) / 320).max(1);
    let s = i64::from(scale);
    let (bar, thick) = (i64::from(image.width).min(150 * s) * 4 / 5, 8 * s);
    let (low, high) = (format_number(range.0), format_number(range.1));
    let high_width = i64::from(text_size(&high, scale).0);
    let margin = 10 * s;
    let (x, y) = (margin, i64::from(image.height) - margin - 7 * s - 4 * s - thick);
    // Dark letters on a bright picture and the other way round.
    let under = image.pixel(x.max(0) as u32, y.max(0) as u32).unwrap_or([255; 3]);
    let bright = under.iter().map(|c| u32::from(*c)).sum::<u32>() > 330;
    let ink = if bright { [52, 58, 70] } else { [226, 230, 238] };
    image.blend_rect(x - 1, y - 1, bar + 2, thick + 2, ink, 0.55);
    for column in 0..bar {
        let t = column as f64 / (bar - 1).max(1) as f64;
        let color = map.at(t).map(|c| (c * 255.0).round() as u8);
        image.blend_rect(x + column, y, 1, thick, color, 1.0);
    }
    let below = y + thick + 4 * s;
    draw_text(image, x, below, &low, scale, ink, 0.95);
    draw_text(image, x + bar - high_width, below, &high, scale, ink, 0.95);
    draw_text(image, x, y - 11 * s, label, scale, ink, 0.95);
}
