//! Files that appear whole or not at all: written beside their place, then renamed into it.

use crate::error::FigureError;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Makes the directory and those above it.
pub fn directory(path: &Path) -> Result<(), FigureError> {
    fs::create_dir_all(path).map_err(|e| FigureError::io(path, "make the directory", e))
}

/// Writes `text` to `path`.
pub fn file(path: &Path, text: &str) -> Result<(), FigureError> {
    // A rename onto a directory fails late and oddly on some systems.
    if path.is_dir() {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(FigureError::io(path, "write the file", source));
    }
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let done = File::create(&temporary)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    done.map_err(|e| {
        let _ = fs::remove_file(&temporary);
        FigureError::io(path, "write the file", e)
    })
}
