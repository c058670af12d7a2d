//! An 8-bit sRGB picture and the few operations overlays need.

/// A picture: rows from top to bottom, three sRGB bytes a pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Pixels in a row, at least one.
    pub width: u32,
    /// Rows of pixels, the top one first; at least one.
    pub height: u32,
    /// `3 * width * height` bytes.
    pub rgb: Vec<u8>,
}

impl Image {
    /// A picture of one colour.
    pub fn filled(width: u32, height: u32, color: [u8; 3]) -> Image {
        let count = width as usize * height as usize;
        Image { width, height, rgb: color.iter().copied().cycle().take(3 * count).collect() }
    }

    /// The pixel at column `x`, row `y`; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = 3 * (y as usize * self.width as usize + x as usize);
        self.rgb.get(at..at + 3).map(|p| [p[0], p[1], p[2]])
    }

    /// Mixes `color` into a pixel with the given opacity; outside the picture nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, color: [u8; 3], opacity: f32) {
        if x < 0 || y < 0 || x >= i64::from(self.width) || y >= i64::from(self.height) {
            return;
        }
        let at = 3 * (y as usize * self.width as usize + x as usize);
        if let Some(pixel) = self.rgb.get_mut(at..at + 3) {
            for (p, c) in pixel.iter_mut().zip(color) {
                let old = f32::from(*p);
                *p = (old + (f32::from(c) - old) * opacity.clamp(0.0, 1.0)).round() as u8;
            }
        }
    }

    /// Mixes `color` into a rectangle with the given opacity.
    pub(super) fn blend_rect(
        &mut self,
        x: i64,
        y: i64,
        width: i64,
        height: i64,
        color: [u8; 3],
        opacity: f32,
    ) {
        for row in y.max(0)..(y + height).min(i64::from(self.height)) {
            for column in x.max(0)..(x + width).min(i64::from(self.width)) {
                self.blend(column, row, color, opacity);
            }
        }
    }

    /// Copies another picture to column `x`, row `y`, cut at the borders.
    pub(super) fn paste(&mut self, other: &Image, x: u32, y: u32) {
        if x >= self.width {
            return;
        }
        let columns = other.width.min(self.width - x) as usize;
        let rows = other.height.min(self.height.saturating_sub(y));
        for row in 0..rows {
            let from = 3 * row as usize * other.width as usize;
            let to = 3 * ((y + row) as usize * self.width as usize + x as usize);
            if let (Some(source), Some(target)) =
                (other.rgb.get(from..from + 3 * columns), self.rgb.get_mut(to..to + 3 * columns))
            {
                target.copy_from_slice(source);
            }
        }
    }
}
