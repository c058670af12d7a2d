//! Files that appear whole or not at all: written beside their place, then renamed into it.

use crate::CacheError;
use crate::output::{DiskOutput, OutputFile, OutputFolder};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, SeekFrom};
use std::path::{Path, PathBuf};

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

/// The file that writing to `path` replaces: `path` itself, or what it links to, so that links stay links.
///
/// Refuses what is no regular file: a rename would silently put a file in place of a device or pipe, and
/// opening one may wait for ever.
pub fn write_target(path: &Path) -> Result<PathBuf, CacheError> {
    let target = follow(path).map_err(|e| CacheError::io(path, "follow the link", e))?;
    require_file(&target, path, "write")?;
    Ok(target)
}

/// Refuses to open for reading what is no regular file, or is not there.
pub(crate) fn require_readable(path: &Path, action: &str) -> Result<(), CacheError> {
    fs::metadata(path).map_err(|e| CacheError::io(path, action, e))?;
    require_file(path, path, "read")
}

/// Refuses `at` if it exists and is no regular file; the message speaks of `path`.
fn require_file(at: &Path, path: &Path, action: &str) -> Result<(), CacheError> {
    let Ok(metadata) = fs::metadata(at) else {
        return Ok(());
    };
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        let source = io::Error::from(io::ErrorKind::IsADirectory);
        return Err(CacheError::io(path, &format!("{action} the file"), source));
    }
    Err(CacheError::Io {
        path: path.to_path_buf(),
        action: format!("{action} the file"),
        source: io::Error::other("this is a device, pipe or socket"),
        remedy: "name a regular file".into(),
    })
}

/// Where links lead, also to a file that does not exist yet.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_path_buf();
    // As many links as systems usually follow.
    for _ in 0..40 {
        if !fs::symlink_metadata(&at).is_ok_and(|m| m.file_type().is_symlink()) {
            return Ok(at);
        }
        let next = fs::read_link(&at)?;
        at = at.parent().unwrap_or(Path::new("")).join(next);
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

/// Refuses a temporary name that is taken by something that is not a left-over file.
pub(crate) fn require_free(temporary: &Path) -> Result<(), CacheError> {
    match fs::symlink_metadata(temporary) {
        Ok(m) if !m.is_file() => Err(CacheError::Io {
            path: temporary.to_path_buf(),
            action: "use this name for the unfinished file".into(),
            source: io::Error::other("something that is no regular file has it"),
            remedy: "move it away".into(),
        }),
        _ => Ok(()),
    }
}

/// Writes a whole file, or leaves what was there before.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), CacheError> {
    let mut file = AtomicFile::create(&DiskOutput, path)?;
    file.put(bytes)?;
    file.commit().map(|_| ())
}

/// A file of an [`OutputFolder`] that counts its bytes. [`commit`](AtomicFile::commit) lets it appear; dropped without
/// that it is gone, so a failed export leaves what was there before.
pub(crate) struct AtomicFile {
    path: PathBuf,
    file: Box<dyn OutputFile>,
    bytes: u64,
}

impl AtomicFile {
    /// Begins a file.
    pub(crate) fn create(folder: &dyn OutputFolder, path: &Path) -> Result<AtomicFile, CacheError> {
        Ok(AtomicFile { path: path.to_path_buf(), file: folder.create(path)?, bytes: 0 })
    }

    /// Writes all of `data`.
    pub(crate) fn put(&mut self, data: &[u8]) -> Result<(), CacheError> {
        self.bytes += data.len() as u64;
        self.file.write_all(data).map_err(|e| CacheError::io(&self.path, "write the file", e))
    }

    /// How many bytes have been written: where the next ones go.
    pub(crate) fn position(&self) -> u64 {
        self.bytes
    }

    /// Overwrites bytes that were written before, for formats whose start points to their end.
    ///
    /// # Panics
    /// If that would change the size of the file: a mistake in the format, not in its data.
    pub(crate) fn patch(&mut self, at: u64, data: &[u8]) -> Result<(), CacheError> {
        assert!(at + data.len() as u64 <= self.bytes, "only what has been written can be patched");
        let file = &mut self.file;
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.write_all(data))
            .and_then(|()| file.seek(SeekFrom::Start(self.bytes)))
            .map(|_| ())
            .map_err(|e| CacheError::io(&self.path, "write the file", e))
    }

    /// Lets the file appear and waits until it is safe; gives its size in bytes.
    pub(crate) fn commit(self) -> Result<u64, CacheError> {
        self.place(true)
    }

    /// The same without waiting for the disk, for one file of a series: a power cut may take the last of them,
    /// anything less may not.
    pub(crate) fn commit_one_of_many(self) -> Result<u64, CacheError> {
        self.place(false)
    }

    fn place(self, wait: bool) -> Result<u64, CacheError> {
        let AtomicFile { path, file, bytes } = self;
        file.commit(wait).map_err(|e| CacheError::io(&path, "finish the file", e))?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_changes_only_its_bytes() {
        let directory = pliant_testing::tempdir().unwrap();
        let path = directory.path().join("a");
        let mut file = AtomicFile::create(&DiskOutput, &path).unwrap();
        // Once from the buffer, once on the disk: the buffer holds less than this.
        let mut wanted: Vec<u8> = (0..1_000_000u32).map(|k| k as u8).collect();
        file.put(&wanted[..100]).unwrap();
        file.patch(3, b"abc").unwrap();
        file.put(&wanted[100..]).unwrap();
        file.patch(500_000, b"xyz").unwrap();
        file.put(b"end").unwrap();
        wanted[3..6].copy_from_slice(b"abc");
        wanted[500_000..500_003].copy_from_slice(b"xyz");
        wanted.extend_from_slice(b"end");
        assert_eq!(file.position(), wanted.len() as u64);
        assert_eq!(file.commit().unwrap(), wanted.len() as u64);
        assert!(std::fs::read(&path).unwrap() == wanted);
    }

    #[test]
    #[should_panic(expected = "only what has been written")]
    fn a_patch_cannot_lengthen_the_file() {
        let directory = pliant_testing::tempdir().unwrap();
        let mut file = AtomicFile::create(&DiskOutput, &directory.path().join("a")).unwrap();
        file.put(b"abc").unwrap();
        let _ = file.patch(2, b"xy");
    }
}
