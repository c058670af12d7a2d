//! The frame log and everything made from it: scenes and caches for other programs, meshes, fields and pictures.
//!
//! A run appends to a log with [`LogWriter`]; everything else reads it with [`LogReader`], and
//! [`export`] turns it into other formats.

mod atomic;
mod error;
mod export;
mod log;
mod output;
pub mod render;
mod srgb;

pub use atomic::{replace_file, write_target};
pub use error::{CacheError, ErrorKind};
pub use export::{
    Conversion, ExportOptions, ExportOutput, ExportProgress, ExportSummary, FORMATS, Format, FrameSelection,
    ResampledLog, Target, TargetOptions, export, export_all, export_files, is_own, is_pattern,
    without_number,
};
pub use log::{
    BodyPose, ColliderPlace, Epoch, LogBody, LogCollider, LogFrame, LogHeader, LogMedium, LogReader,
    LogSource, LogWarning, LogWriter, MemoryLog, ReopenedLog, SimulatedElements, VersionOrigin, WriteOnlyLog,
};
pub use output::{DiskOutput, MemoryOutput, OutputFile, OutputFolder, ScratchFile};
/// The crate that meshes, skins and looks come from.
pub use pliant_geometry as geometry;
pub use pliant_geometry::{ColorBy, Elements, PictureSettings};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
