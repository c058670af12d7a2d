//! What tests of several crates need: folders that go away again, checks of meshes against each other, and of surfaces that go through each other.
//!
//! It depends on next to nothing on purpose: what tests alone depend on must not switch on features of what the engine depends
//! on, or the engine would be compiled once for them and once for the program.

mod crossing;
pub mod meshes;

pub use crossing::Crossings;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, io, process};

/// A new, empty folder, which is removed with all it holds when this is dropped.
#[derive(Debug)]
pub struct TempDir(PathBuf);

impl TempDir {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for TempDir {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // A test that fails to clean up has said what it had to say.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A new folder of its own among the system's temporary files.
pub fn tempdir() -> io::Result<TempDir> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("pliant-test-{}-{number}", process::id()));
        match fs::create_dir(&path) {
            // One that a killed process of the same number left behind.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            made => return made.map(|()| TempDir(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_new_and_go_away_with_what_they_hold() {
        let (a, b) = (tempdir().unwrap(), tempdir().unwrap());
        assert_ne!(a.path(), b.path());
        fs::write(a.path().join("file"), "text").unwrap();
        let path = a.path().to_path_buf();
        drop(a);
        assert!(!path.exists() && b.path().is_dir());
    }
}
