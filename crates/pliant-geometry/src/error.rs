//! What went wrong with a mesh, a point list or a shape: what, where, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing wrong with a file or with the numbers a shape was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometryError {
    /// What is wrong, with the offending value.
    pub message: String,
    /// The file it was found in, when it came from one.
    pub file: Option<PathBuf>,
    /// Line in the file, counted from 1.
    pub line: Option<usize>,
    /// What to do about it.
    pub help: String,
    /// The file could not be read at all (exit code 4), as opposed to holding bad content (exit code 2).
    pub io: bool,
}

impl GeometryError {
    /// Something wrong with a value; `help` says what to do about it.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> GeometryError {
        GeometryError { message: message.into(), file: None, line: None, help: help.into(), io: false }
    }

    /// The same, at a line of a file (counted from 1).
    pub(crate) fn at_line(line: usize, message: impl Into<String>, help: impl Into<String>) -> GeometryError {
        GeometryError { line: Some(line), ..GeometryError::new(message, help) }
    }

    /// A file that could not be read.
    pub(crate) fn unreadable(path: &Path, why: &std::io::Error) -> GeometryError {
        GeometryError {
            file: Some(path.to_path_buf()),
            io: true,
            ..GeometryError::new(
                format!("cannot read the file: {why}"),
                "check the path and that you may read it; relative paths start at the current folder",
            )
        }
    }

    /// Says in which file the error was found; messages begin with it.
    pub fn in_file(mut self, path: &Path) -> GeometryError {
        self.file = Some(path.to_path_buf());
        self
    }
}

impl fmt::Display for GeometryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        write!(f, "{} (help: {})", self.message, self.help)
    }
}

impl std::error::Error for GeometryError {}

/// Collects errors up to a cap, so that a file wrong on every line does not answer with a million lines.
#[derive(Default)]
pub(crate) struct ErrorList {
    errors: Vec<GeometryError>,
    hidden: usize,
}

impl ErrorList {
    /// How many errors of one file are worth showing at once.
    pub const CAP: usize = 20;

    pub fn push(&mut self, line: usize, message: impl Into<String>, help: impl Into<String>) {
        self.add(GeometryError::at_line(line, message, help));
    }

    /// Takes up an error of a file that has no lines. More than [`CAP`](Self::CAP) are only counted.
    pub fn push_at(&mut self, message: impl Into<String>, help: impl Into<String>) {
        self.add(GeometryError::new(message, help));
    }

    /// Adds an error; one that is there already is not added again.
    pub fn add(&mut self, error: GeometryError) {
        if self.errors.contains(&error) {
            return;
        }
        if self.errors.len() < Self::CAP {
            self.errors.push(error);
        } else {
            self.hidden += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The errors by line, with a last one that counts those not shown.
    pub fn finish(mut self) -> Vec<GeometryError> {
        self.errors.sort_by_key(|e| e.line);
        if self.hidden > 0 {
            self.errors.push(GeometryError::new(
                format!("{} more errors are not shown", self.hidden),
                "correct the ones above first: they often have one cause",
            ));
        }
        self.errors
    }
}

/// The bytes of a file, or the one error that says it cannot be read.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Vec<GeometryError>> {
    read_regular(path).map_err(|why| vec![GeometryError::unreadable(path, &why)])
}

/// Whether a file that another one names is in its folder also when links are followed. What is not there stays: reading
/// it fails by itself.
pub(crate) fn stays_in_folder(file: &Path, named: &Path) -> bool {
    let Ok(led_to) = named.canonicalize() else { return true };
    let folder = |p: &Path| p.parent().map(Path::to_path_buf);
    let here = folder(file).map(|f| if f.as_os_str().is_empty() { PathBuf::from(".") } else { f });
    // A file that is itself a link may have what it names beside what it links to.
    let there = file.canonicalize().ok().as_deref().and_then(folder);
    let inside = |folder: PathBuf| folder.canonicalize().is_ok_and(|f| led_to.starts_with(f));
    here.is_some_and(inside) || there.is_some_and(inside)
}

/// The bytes of a regular file. Anything else is refused: a device or pipe might never end, or never begin.
pub fn read_regular(path: &Path) -> std::io::Result<Vec<u8>> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() {
        return std::fs::read(path);
    }
    Err(match metadata.is_dir() {
        true => std::io::Error::from(std::io::ErrorKind::IsADirectory),
        false => std::io::Error::other("it is a device, pipe or socket, not a regular file"),
    })
}

/// Refuses a point list with a coordinate that is not a number, infinite, or so large that its square is,
/// naming the first such point.
pub(crate) fn all_finite(what: &str, points: &[glam::DVec3]) -> Result<(), GeometryError> {
    match points.iter().position(|p| !(p.is_finite() && p.abs().max_element() < 1e100)) {
        None => Ok(()),
        Some(i) => Err(GeometryError::new(
            format!("{what} {i} is at ({}, {}, {})", points[i].x, points[i].y, points[i].z),
            "every coordinate must be a finite number, of a size one can do sums with",
        )),
    }
}
/// `value` if it is finite and above zero, else an error that names it.
pub(crate) fn positive(name: &str, value: f64) -> Result<f64, GeometryError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(GeometryError::new(
            format!("{name} is {value}"),
            format!("{name} must be a finite number above zero, in metres"),
        ))
    }
}
