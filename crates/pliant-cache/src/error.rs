//! What can go wrong with logs and exports, told so that a user knows what to do next.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Whose fault an error is; programs choose their exit code by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The machine: disk full, no permission, file missing, device error.
    Io,
    /// The request or the content of a file: wrong format, other scene, unknown extension.
    Content,
}

/// An error of the frame log or of an export.
#[derive(Debug)]
#[non_exhaustive]
pub enum CacheError {
    /// The operating system refused something.
    Io {
        /// File or directory concerned.
        path: PathBuf,
        /// What was being done, as in "cannot {action}".
        action: String,
        /// The system's answer.
        source: io::Error,
        /// What the user can do.
        remedy: String,
    },
    /// A log would be overwritten without having been told to.
    Exists {
        /// The file in the way.
        path: PathBuf,
    },
    /// Another program is writing this log.
    Locked {
        /// The log.
        path: PathBuf,
    },
    /// The file is something else than a frame log.
    NotALog {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        why: String,
    },
    /// The log was written in another version of the format.
    OtherVersion {
        /// The log.
        path: PathBuf,
        /// Version in the file.
        found: u32,
        /// Version this program reads and writes.
        known: u32,
    },
    /// A record is not what was written.
    Damaged {
        /// The log.
        path: PathBuf,
        /// Byte offset of the damaged record.
        offset: u64,
        /// How that was seen.
        why: String,
        /// How many frames before it can still be read.
        frames: usize,
    },
    /// A run cannot be continued because its log belongs to another scene.
    OtherScene {
        /// The log.
        path: PathBuf,
        /// Scene hash in the log.
        found: u64,
        /// Scene hash asked for.
        wanted: u64,
    },
    /// Data or options that cannot be written or do not fit together.
    Invalid {
        /// Where: file, body, frame, option.
        place: String,
        /// What is wrong, with the value.
        why: String,
        /// What the user can do.
        remedy: String,
    },
    /// No exporter for this file name.
    UnknownFormat {
        /// The file asked for.
        path: PathBuf,
        /// Known extensions, each with what it is.
        known: String,
    },
}

impl CacheError {
    /// Whether the machine or the request is at fault.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CacheError::Io { .. } => ErrorKind::Io,
            _ => ErrorKind::Content,
        }
    }

    /// An I/O error with the remedy that usually fits what the system said.
    pub fn io(path: &Path, action: &str, source: io::Error) -> CacheError {
        let remedy = usual_remedy(&source).to_string();
        CacheError::Io { path: path.to_path_buf(), action: action.to_string(), source, remedy }
    }

    /// Refused data or options.
    pub fn invalid(
        place: impl Into<String>,
        why: impl Into<String>,
        remedy: impl Into<String>,
    ) -> CacheError {
        CacheError::Invalid { place: place.into(), why: why.into(), remedy: remedy.into() }
    }
}

/// What usually helps against an error of the operating system.
pub(crate) fn usual_remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "check that the path is right and its directory exists",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "choose a place you may write to, or change the permissions"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space on the disk and try again",
        io::ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f) and try again",
        io::ErrorKind::IsADirectory => "name a file, not a directory",
        io::ErrorKind::NotADirectory => "a part of the path is a file; choose another path",
        _ => "check the disk and the path, then try again",
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CacheError::Io { path, action, source, remedy } => {
                write!(f, "{}: cannot {action}: {source}; {remedy}", path.display())
            }
            CacheError::Exists { path } => write!(
                f,
                "{}: the file exists and would be lost; continue it with --resume, \
                 choose another name, or allow overwriting",
                path.display()
            ),
            CacheError::Locked { path } => write!(
                f,
                "{}: another program is writing this log; wait for it to end or choose another name",
                path.display()
            ),
            CacheError::NotALog { path, why } => write!(
                f,
                "{}: not a frame log ({why}); give a .plog file written by `pliant run`",
                path.display()
            ),
            CacheError::OtherVersion { path, found, known } => {
                write!(
                    f,
                    "{}: the log has format version {found}, this program knows version {known}; ",
                    path.display()
                )?;
                if found > known {
                    write!(f, "use a newer pliant, or run the scene again with this one")
                } else {
                    write!(f, "use the older pliant that wrote it, or run the scene again")
                }
            }
            CacheError::Damaged { path, offset, why, frames } => {
                write!(f, "{}: damaged record at byte {offset} ({why}); ", path.display())?;
                match frames {
                    0 => write!(f, "no frame before it can be read: run the scene again"),
                    1 => write!(f, "the one frame before it can still be exported"),
                    n => write!(f, "the {n} frames before it can still be exported"),
                }
            }
            CacheError::OtherScene { path, found, wanted } => write!(
                f,
                "{}: the log belongs to another scene (hash {found:016x}, this scene has \
                 {wanted:016x}); undo the change of the scene, or start a new log without --resume",
                path.display()
            ),
            CacheError::Invalid { place, why, remedy } => write!(f, "{place}: {why}; {remedy}"),
            CacheError::UnknownFormat { path, known } => {
                match path.extension() {
                    Some(e) => write!(f, "{}: unknown format \".{}\"", path.display(), e.to_string_lossy())?,
                    None => write!(f, "{}: no extension to tell the format", path.display())?,
                }
                write!(f, "; known are {known}")
            }
        }
    }
}

impl std::error::Error for CacheError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            CacheError::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
