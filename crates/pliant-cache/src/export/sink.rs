//! What a geometry format is while it is written: part of the work of a frame on any thread, the rest in order.

use super::stream::{ConvertedFrame, ExportStream, NormalPrecision, PosedFrame, SurfaceOptions};
use super::{Conversion, ExportOptions, ExportSummary};
use crate::atomic::AtomicFile;
use crate::export::ResampledLog;
use crate::{CacheError, OutputFolder};
use std::path::PathBuf;

/// What a format begins with; all that is borrowed outlives it.
pub(super) struct ExportOrder<'a> {
    pub reader: &'a ResampledLog<'a>,
    pub stream: &'a ExportStream<'a>,
    pub path: PathBuf,
    pub options: &'a ExportOptions,
    /// Units and axes of this file, which go before those of the options.
    pub conversion: Conversion,
    pub folder: &'a dyn OutputFolder,
}

/// A format that has begun.
pub(super) struct Sink<'a> {
    pub make: Box<dyn FrameEncoder + 'a>,
    pub put: Box<dyn FrameWriter + 'a>,
}

/// What a format makes of a frame by itself; called ahead on several threads.
pub(super) trait FrameEncoder: Sync {
    /// What has to be known of the frames.
    fn needs(&self) -> FrameNeeds;
    fn make(&self, frame: &PosedFrame) -> Result<FrameOutput, CacheError>;
}

/// What is done of a frame beyond reading it from the log, once for all formats.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FrameNeeds {
    /// Vertices of the render meshes.
    pub skin: bool,
    /// Their normals; only with the skin.
    pub normals: bool,
    /// Both also of bodies that never deform, of which some formats take the pose instead.
    pub rigid: bool,
}

/// What a format does with its frames in order.
pub(super) trait FrameWriter {
    /// Takes the `k`-th frame.
    fn put(&mut self, k: usize, made: FrameOutput) -> Result<(), CacheError>;
    /// Completes the file once all frames are in. `step` is called now and then.
    fn finish(self: Box<Self>, step: &mut dyn FnMut()) -> Result<ExportSummary, CacheError>;
    /// How often `step` is called.
    fn steps(&self) -> usize {
        0
    }
}

/// A frame on its way into a file.
pub(super) enum FrameOutput {
    /// As files hold it.
    SurfaceEncoder(ConvertedFrame),
    /// As bytes to append.
    Bytes(Vec<u8>),
    /// A file of its own, complete but for its name.
    File { file: AtomicFile, path: PathBuf, time: f64 },
}

impl FrameOutput {
    /// A step that got something else than its own other half makes is a mistake in the code.
    pub fn surfaces(self) -> Result<ConvertedFrame, CacheError> {
        match self {
            FrameOutput::SurfaceEncoder(loaded) => Ok(loaded),
            _ => Err(mixed_up()),
        }
    }

    pub fn bytes(self) -> Result<Vec<u8>, CacheError> {
        match self {
            FrameOutput::Bytes(bytes) => Ok(bytes),
            _ => Err(mixed_up()),
        }
    }

    pub fn file(self) -> Result<(AtomicFile, PathBuf, f64), CacheError> {
        match self {
            FrameOutput::File { file, path, time } => Ok((file, path, time)),
            _ => Err(mixed_up()),
        }
    }
}

fn mixed_up() -> CacheError {
    CacheError::invalid("export", "a frame reached another format than it was made for", "please report this")
}

/// The usual half: points and normals in the units and axes of the file.
pub(super) struct SurfaceEncoder<'a> {
    pub stream: &'a ExportStream<'a>,
    pub options: SurfaceOptions,
}

impl FrameEncoder for SurfaceEncoder<'_> {
    fn needs(&self) -> FrameNeeds {
        let SurfaceOptions { normals, poses, .. } = self.options;
        FrameNeeds { skin: true, normals: normals != NormalPrecision::None, rigid: !poses }
    }

    fn make(&self, frame: &PosedFrame) -> Result<FrameOutput, CacheError> {
        self.stream.convert(frame, self.options).map(FrameOutput::SurfaceEncoder)
    }
}
