//! Pictures: `.gif` and `.apng` are animations in real time, `.png` is a contact sheet, `####.png` a picture of each frame.
//!
//! The camera is fitted to what the bodies cover over all frames, or follows them smoothly, and the scale of colours is
//! fitted to the values they reach, so that neither jumps while the animation plays.

mod body;
mod files;
mod labels;
mod plan;
mod scene;

use super::sequence::is_pattern;
use super::sink::FrameNeeds;
use super::stream::{ExportStream, PosedFrame};
use super::{ExportOptions, ExportSummary, ResampledLog};
use crate::render::frame_stride;
use crate::{CacheError, OutputFolder};
use files::{write_apng, write_gif, write_sequence, write_sheet};
use scene::PictureScene;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

pub(super) use plan::{PicturePlan, PicturePlanner};

/// What pictures need of a frame.
pub(super) const SKIN: FrameNeeds = FrameNeeds { skin: true, normals: false, rigid: true };
/// Tiles of a contact sheet, and how many in a row.
const TILES: (usize, usize) = (12, 4);
/// Most pictures a second of an animated PNG that does not ask for a rate: more doubles its size and is hardly seen.
const SMOOTH: f64 = 30.0;

/// A kind of picture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Picture {
    /// An animation in few colours.
    Gif,
    /// An animation in all colours.
    Apng,
    /// A contact sheet, or a picture of each frame.
    Png,
}

/// What a picture file is made of: shared with all others of the same frames.
pub(super) struct PictureJob<'a> {
    pub reader: &'a ResampledLog<'a>,
    pub stream: &'a ExportStream<'a>,
    pub options: &'a ExportOptions,
    pub folder: &'a dyn OutputFolder,
    /// Frames that are already skinned, by their place.
    pub kept: &'a HashMap<usize, Arc<PosedFrame>>,
}

impl Picture {
    /// Places of the frames that are drawn, as far as that is known before they were looked at, and how many there will be.
    pub fn frames(
        self,
        path: &Path,
        reader: &ResampledLog<'_>,
        options: &ExportOptions,
        all: &[usize],
    ) -> PictureFrames {
        let stride = match self {
            Picture::Gif => frame_stride(rate(reader, options)).0,
            // A rate that was asked for is kept.
            Picture::Apng if options.frames_per_second.is_some() => 1,
            Picture::Apng => (rate(reader, options) / SMOOTH - 1e-9).ceil().max(1.0) as usize,
            Picture::Png if is_pattern(path) => 1,
            Picture::Png => {
                return PictureFrames { places: Vec::new(), count: all.len().min(TILES.0), stride: 1 };
            }
        };
        let places: Vec<usize> = all.iter().copied().step_by(stride).collect();
        PictureFrames { count: places.len(), places, stride }
    }

    /// Whether the frames it shows are chosen by how much happens in them.
    pub fn is_sheet(self, path: &Path) -> bool {
        self == Picture::Png && !is_pattern(path)
    }

    /// Draws and writes the file. `step` is called with each frame drawn.
    pub fn write(
        self,
        path: &Path,
        job: &PictureJob<'_>,
        plan: &PicturePlan,
        step: &mut dyn FnMut(),
    ) -> Result<ExportSummary, CacheError> {
        let drawn = self.frames(path, job.reader, job.options, &job.stream.frames);
        let seconds = drawn.stride as f64 / rate(job.reader, job.options);
        let mut scene = PictureScene::new(job, plan, self != Picture::Gif);
        match self {
            Picture::Gif => write_gif(path, &mut scene, &drawn.places, seconds, step),
            Picture::Apng => write_apng(path, &mut scene, &drawn.places, seconds, step),
            Picture::Png if is_pattern(path) => write_sequence(path, &mut scene, &drawn.places, step),
            Picture::Png => write_sheet(path, &mut scene, plan, step),
        }
    }
}

/// The frames of a picture file.
pub(super) struct PictureFrames {
    pub places: Vec<usize>,
    pub count: usize,
    /// Every how many frames.
    stride: usize,
}

/// Frames a second of what was chosen.
fn rate(reader: &ResampledLog<'_>, options: &ExportOptions) -> f64 {
    reader.frames_per_second() / f64::from(options.frames.step.max(1))
}
