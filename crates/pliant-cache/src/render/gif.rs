//! Animated GIFs, written frame by frame: one palette, still dither, and only what changed.

use super::Image;
use super::quantize::{Ditherer, Palette};
use gif::{DisposalMethod, Encoder, EncodingError, Frame, Repeat};
use std::borrow::Cow;
use std::fmt;
use std::io::Write;

/// Why a GIF could not be written.
#[derive(Debug)]
#[non_exhaustive]
pub enum GifError {
    /// The sink failed.
    Io(std::io::Error),
    /// The encoder refused the data.
    Encoding(String),
    /// GIF sides are 1 to 65535 pixels.
    Size(u32, u32),
    /// A frame has another size than the animation.
    Frame {
        /// Size of the animation.
        expected: (u32, u32),
        /// Size of the frame.
        found: (u32, u32),
    },
}

impl fmt::Display for GifError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            GifError::Io(error) => write!(f, "{error}"),
            GifError::Encoding(reason) => write!(f, "GIF encoder: {reason}"),
            GifError::Size(width, height) => {
                write!(f, "{width}x{height} is no size for a GIF (each side 1 to 65535)")
            }
            GifError::Frame { expected, found } => {
                write!(f, "frame of {}x{} in an animation of {}x{}", found.0, found.1, expected.0, expected.1)
            }
        }
    }
}

impl std::error::Error for GifError {}

impl From<std::io::Error> for GifError {
    fn from(error: std::io::Error) -> GifError {
        GifError::Io(error)
    }
}

impl From<EncodingError> for GifError {
    fn from(error: EncodingError) -> GifError {
        match error {
            EncodingError::Io(error) => GifError::Io(error),
            other => GifError::Encoding(other.to_string()),
        }
    }
}

/// Which simulation frames to show, and for how long, so that a GIF plays in real time: every `stride`-th frame for
/// `delay` hundredths of a second.
///
/// GIF knows only hundredths, and browsers slow down delays below two, so 60 frames per second become every third
/// frame at 20 pictures per second. Where no stride fits exactly, give `GifWriter` the exact `stride / fps` seconds:
/// it spreads the rest over the frames.
pub fn frame_stride(fps: f64) -> (usize, u16) {
    if !(fps.is_finite() && fps > 0.0) {
        return (1, 4);
    }
    let mut best: Option<(f64, usize, u16)> = None;
    // From 40 pictures per second downwards: more is not seen, and browsers may not keep up.
    let first = (0.025 * fps).ceil().max(1.0);
    for step in 0..64 {
        let stride = first + f64::from(step);
        let exact = 100.0 * stride / fps;
        // Not below 18 pictures per second, unless the source itself is slower.
        if exact > 5.5 && step > 0 {
            break;
        }
        let delay = exact.round().clamp(2.0, 65535.0);
        let error = ((exact - delay) / exact).abs();
        if best.is_none_or(|(least, ..)| error + 1e-9 < least) {
            best = Some((error, stride as usize, delay as u16));
        }
    }
    best.map_or((1, 4), |(_, stride, delay)| (stride, delay))
}

const UNCHANGED: u8 = 255;
/// A pixel whose channels all moved less than this from what is shown is left alone; too small to see, and it saves
/// the faint far ends of soft shadows from being sent again with every frame.
const TOLERANCE: i16 = 2;

/// Writes an animation to a stream.
pub(crate) struct GifWriter<W: Write> {
    encoder: Encoder<W>,
    ditherer: Ditherer,
    size: (u32, u32),
    seconds: f64,
    frames: u64,
    /// Hundredths of a second given out so far.
    spent: u64,
    /// What the viewer has on the screen: colours asked for and palette indices.
    shown: Vec<u8>,
    canvas: Vec<u8>,
}

impl<W: Write> GifWriter<W> {
    /// Starts an animation that repeats for ever; every frame stays for `seconds`, rounded to hundredths such that
    /// the whole plays in the right time.
    pub fn new(
        out: W,
        width: u32,
        height: u32,
        palette: &Palette,
        seconds: f64,
    ) -> Result<GifWriter<W>, GifError> {
        let side = |s: u32| u16::try_from(s).ok().filter(|s| *s > 0);
        let (Some(w), Some(h)) = (side(width), side(height)) else {
            return Err(GifError::Size(width, height));
        };
        let mut table: Vec<u8> = palette.colors().iter().flatten().copied().collect();
        // A full table, so that index 255 exists.
        table.resize(3 * 256, 0);
        let mut encoder = Encoder::new(out, w, h, &table)?;
        encoder.set_repeat(Repeat::Infinite)?;
        Ok(GifWriter {
            encoder,
            ditherer: Ditherer::new(palette.clone()),
            size: (width, height),
            seconds: if seconds.is_finite() { seconds.clamp(0.0, 600.0) } else { 0.04 },
            frames: 0,
            spent: 0,
            shown: Vec::new(),
            canvas: Vec::new(),
        })
    }

    /// Appends a frame.
    pub fn push(&mut self, image: &Image) -> Result<(), GifError> {
        let found = (image.width, image.height);
        let count = self.size.0 as usize * self.size.1 as usize;
        if found != self.size || image.rgb.len() != 3 * count {
            return Err(GifError::Frame { expected: self.size, found });
        }
        let width = self.size.0 as usize;
        let fresh = self.canvas.is_empty();
        if fresh {
            self.canvas = vec![UNCHANGED; count];
            self.shown = image.rgb.clone();
        }
        let mut indices = vec![UNCHANGED; count];
        let (mut low, mut high) = ([usize::MAX; 2], [0usize; 2]);
        for (at, color) in image.rgb.chunks_exact(3).enumerate() {
            let shown = &mut self.shown[3 * at..3 * at + 3];
            let near = |(a, b): (&u8, &u8)| (i16::from(*a) - i16::from(*b)).abs() <= TOLERANCE;
            if !fresh && shown.iter().zip(color).all(near) {
                continue;
            }
            shown.copy_from_slice(color);
            let (x, y) = (at % width, at / width);
            let index = self.ditherer.index([color[0], color[1], color[2]], x as u32, y as u32);
            if index != self.canvas[at] {
                self.canvas[at] = index;
                indices[at] = index;
                low = [low[0].min(x), low[1].min(y)];
                high = [high[0].max(x), high[1].max(y)];
            }
        }
        if low[0] == usize::MAX {
            // Nothing changed: a single transparent pixel keeps the time.
            (low, high) = ([0; 2], [0; 2]);
        }
        let (w, h) = (high[0] - low[0] + 1, high[1] - low[1] + 1);
        let rows = indices.chunks_exact(width).skip(low[1]).take(h);
        let buffer: Vec<u8> = rows.flat_map(|row| &row[low[0]..low[0] + w]).copied().collect();
        self.frames += 1;
        let due = (self.frames as f64 * self.seconds * 100.0).round() as u64;
        let delay = due.saturating_sub(self.spent).clamp(2, 65535);
        self.spent += delay;
        let frame = Frame {
            delay: delay as u16,
            dispose: DisposalMethod::Keep,
            transparent: Some(UNCHANGED),
            left: low[0] as u16,
            top: low[1] as u16,
            width: w as u16,
            height: h as u16,
            buffer: Cow::Owned(buffer),
            ..Frame::default()
        };
        Ok(self.encoder.write_frame(&frame)?)
    }

    /// Ends the file and gives the sink back.
    pub fn finish(self) -> Result<W, GifError> {
        let mut out = self.encoder.into_inner()?;
        out.flush()?;
        Ok(out)
    }
}

/// Writes an animation of `count` frames, each shown for `seconds`, drawing them on demand: a few first for the
/// palette, then all in order. Only one frame is held at a time.
pub fn write_gif<W: Write, E: From<GifError>>(
    out: W,
    count: usize,
    seconds: f64,
    mut frame: impl FnMut(usize) -> Result<Image, E>,
) -> Result<W, E> {
    let samples = super::sheet_frames(count, 6).into_iter().map(&mut frame).collect::<Result<Vec<_>, E>>()?;
    let Some(size) = samples.first().map(|image| (image.width, image.height)) else {
        return Err(E::from(GifError::Encoding("an animation needs at least one frame".into())));
    };
    let palette = Palette::from_images(&samples);
    drop(samples);
    let mut writer = GifWriter::new(out, size.0, size.1, &palette, seconds)?;
    for i in 0..count {
        writer.push(&frame(i)?)?;
    }
    Ok(writer.finish()?)
}
