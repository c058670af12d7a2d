//! How thick gelatine is behind a point of the picture: for each body on a coarse grid of its own, smoothed.
//!
//! The length of a view ray inside a closed surface is the sum of the depths where it leaves less the sum of those where
//! it enters. Unlike the distance to the far side, it has no jump where a part of the body begins to cover another. What
//! is left are the steep rims of parts behind others, and gelatine scatters light: the grid is blurred by a few percent of
//! the body's size. Each body has its own grid, so nothing of one gets into another or into what is in front of it.

use super::raster::{LINING, ProjectedTriangle};
use glam::Vec4;

/// Texels for half the diagonal of a body's box.
const TEXELS: f32 = 48.0;
/// How often the grid is blurred; each time adds half a texel to the square of the blur's deviation.
const BLURS: usize = 4;

/// Thickness of one body as seen in the picture.
pub(super) struct Thickness {
    /// First texel's place on a grid over the whole picture.
    origin: [usize; 2],
    per_pixel: f32,
    size: [usize; 2],
    texels: Vec<f32>,
}

/// One texel while it is filled: the sum of signed depths, and how often more the ray went out than in.
#[derive(Clone, Copy, Default)]
struct DepthLayers {
    depth: f32,
    open: i32,
}

impl Thickness {
    /// From the triangles of one body on the picture. `size` is half the body's diagonal, `focal` the pixels for a unit
    /// length at unit depth, `samples` those along a pixel's side, `picture` its size in pixels.
    pub fn new(
        flats: &[ProjectedTriangle],
        size: f32,
        focal: f32,
        samples: f32,
        picture: [u32; 2],
    ) -> Thickness {
        let nearness = flats.iter().map(|flat| flat.inverse[0]).sum::<f32>() / flats.len().max(1) as f32;
        let texel = (size * focal * nearness / TEXELS).max(1.0);
        let scale = 1.0 / (texel * samples);
        let border = 2 * BLURS as i64 + 2;
        let mut range = [[i64::MAX, i64::MIN]; 2];
        for flat in flats {
            for (range, corners) in range.iter_mut().zip([flat.x, flat.y]) {
                for at in corners.map(|v| (v * scale) as i64) {
                    *range = [range[0].min(at - border), range[1].max(at + 1 + border)];
                }
            }
        }
        let [columns, rows] = [0, 1].map(|k| {
            let last = (picture[k] as f32 / texel).ceil() as i64;
            range[k].map(|at| at.clamp(0, last) as usize)
        });
        let size = [columns[1].saturating_sub(columns[0]), rows[1].saturating_sub(rows[0])];
        let mut layers = vec![DepthLayers::default(); size[0] * size[1]];
        for flat in flats {
            let (sign, lining) = if flat.back { (1, LINING) } else { (-1, 0.0) };
            flat.spans(scale, rows, columns[1], |row, left, right, start, per_x| {
                let line = &mut layers[(row - rows[0]) * size[0]..][..size[0]];
                for x in left.max(columns[0])..right {
                    let inverse = (start + (x - left) as f32 * per_x).clamp(flat.low, flat.high);
                    let texel = &mut line[x - columns[0]];
                    texel.depth += sign as f32 * (1.0 / inverse - lining);
                    texel.open += sign;
                }
            });
        }
        let texels = smoothed(&layers, size);
        Thickness { origin: [columns[0], rows[0]], per_pixel: 1.0 / texel, size, texels }
    }

    /// Length of the view ray inside the body at a point of the picture in pixels, in working units.
    pub fn at(&self, px: f32, py: f32) -> f32 {
        let [w, h] = self.size;
        if w < 4 || h < 4 {
            return 0.0;
        }
        let place = |p: f32, k: usize| {
            let f =
                (p * self.per_pixel - 0.5 - self.origin[k] as f32).clamp(1.0, self.size[k] as f32 - 2.001);
            (f as usize, spline(f - (f as usize) as f32))
        };
        let ((x, wx), (y, wy)) = (place(px, 0), place(py, 1));
        let mut sum = 0.0;
        for (j, wy) in wy.to_array().into_iter().enumerate() {
            let start = (y + j - 1) * w + x - 1;
            sum += wy * wx.dot(Vec4::from_slice(&self.texels[start..start + 4]));
        }
        sum
    }
}

/// Weights of four neighbours, `t` of the way from the second to the third: a cubic B-spline, which hides the grid that
/// straight interpolation would show.
pub(super) fn spline(t: f32) -> Vec4 {
    let s = 1.0 - t;
    let (near, far) = (4.0 - 3.0 * t * t * (2.0 - t), 4.0 - 3.0 * s * s * (2.0 - s));
    Vec4::new(s * s * s, near, far, t * t * t) / 6.0
}

/// The depths, blurred. Rays that go in and out of the surface a different number of times (it has a hole there, or the
/// eye is inside) know no thickness and take that of their neighbours.
fn smoothed(layers: &[DepthLayers], [w, h]: [usize; 2]) -> Vec<f32> {
    let mut texels: Vec<(f32, f32)> =
        layers.iter().map(|t| if t.open == 0 { (t.depth.max(0.0), 1.0) } else { (0.0, 0.0) }).collect();
    let mut line = vec![(0.0, 0.0); w.max(h)];
    for _ in 0..BLURS {
        for (stride, length, others, other_stride) in [(1, w, h, w), (w, h, w, 1)] {
            for other in 0..others {
                let at = |i: usize| other * other_stride + i * stride;
                for (i, value) in line[..length].iter_mut().enumerate() {
                    *value = texels[at(i)];
                }
                for i in 0..length {
                    let [a, b, c] = [line[i.saturating_sub(1)], line[i], line[(i + 1).min(length - 1)]];
                    texels[at(i)] = (0.25 * (a.0 + c.0) + 0.5 * b.0, 0.25 * (a.1 + c.1) + 0.5 * b.1);
                }
            }
        }
    }
    texels.into_iter().map(|(sum, weight)| if weight > 0.0 { sum / weight } else { 0.0 }).collect()
}
