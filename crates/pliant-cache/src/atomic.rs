//! Files that appear whole or not at all: written beside their place, then renamed into it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::CacheError;

/// `path` with `suffix` appended to its file name, in the same directory so that a rename stays
/// within one file system.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(suffix);
    path.with_file_name(name)
}

/// Makes a rename durable. Not every system lets a directory be opened, and a failure here only
/// matters together with a power cut, so it is not an error.
pub(crate) fn sync_directory_of(path: &Path) {
    let directory = match path.parent() {
        Some(p) if !p.as_os_str().is_empty() => p,
        _ => Path::new("."),
    };
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
}

/// A buffered file under a temporary name. [`commit`](AtomicFile::commit) moves it into place;
/// dropping it without that removes it, so a failed export leaves what was there before.
pub(crate) struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    /// `None` once committed.
    file: Option<BufWriter<File>>,
    bytes: u64,
}

impl AtomicFile {
    /// Starts `path.tmp`.
    pub(crate) fn create(path: &Path) -> Result<AtomicFile, CacheError> {
        let temporary = beside(path, ".tmp");
        if path.is_dir() {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(CacheError::io(path, "write the file", source));
        }
        let file = File::create(&temporary).map_err(|e| CacheError::io(path, "create the file", e))?;
        Ok(AtomicFile {
            path: path.to_path_buf(),
            temporary,
            file: Some(BufWriter::with_capacity(1 << 18, file)),
            bytes: 0,
        })
    }

    /// Writes all of `data`.
    pub(crate) fn put(&mut self, data: &[u8]) -> Result<(), CacheError> {
        self.bytes += data.len() as u64;
        match &mut self.file {
            Some(file) => file.write_all(data).map_err(|e| CacheError::io(&self.path, "write the file", e)),
            None => Ok(()),
        }
    }

    /// Flushes to disk and renames into place; gives the size in bytes.
    pub(crate) fn commit(mut self) -> Result<u64, CacheError> {
        let fail = |e| CacheError::io(&self.path, "finish the file", e);
        if let Some(writer) = self.file.take() {
            let done = writer
                .into_inner()
                .map_err(|e| e.into_error())
                .and_then(|file| file.sync_all())
                .and_then(|()| fs::rename(&self.temporary, &self.path));
            if let Err(e) = done {
                let _ = fs::remove_file(&self.temporary);
                return Err(fail(e));
            }
            sync_directory_of(&self.path);
        }
        Ok(self.bytes)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if self.file.take().is_some() {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
