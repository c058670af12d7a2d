//! The frame log and everything made from it: scenes and caches for other programs, meshes, fields and pictures.
//!
//! A run appends to a log with [`LogWriter`]; everything else reads it with [`LogReader`], and
//! [`export`] turns it into other formats.

mod atomic;
mod error;
mod export;
mod log;
pub mod render;

pub use atomic::{replace_file, write_target};
pub use error::{CacheError, ErrorKind};
pub use export::{
    Conversion, ExportOptions, ExportSummary, FORMATS, Footage, Format, FrameSelection, Placing, Progress,
    Target, export, export_files, is_own, is_pattern, without_number,
};
pub use log::{
    ColorBy, Epoch, FORMAT_VERSION, LogBody, LogFrame, LogHeader, LogPicture, LogPlane, LogReader,
    LogWarning, LogWriter, Origin, Resumed, Simulated,
};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
