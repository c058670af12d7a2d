//! A 64-bit digest of a scene and the files it refers to: tells scenes apart, guards nothing against malice.

use std::path::{Path, PathBuf};

/// FNV-1a over bytes. Own code, because the value is stored in logs and must never change with a library.
#[derive(Clone, Debug)]
pub(crate) struct Digest {
    value: u64,
    /// Every file that was read, and those that such files name without being read (textures).
    files: Vec<PathBuf>,
}

impl Digest {
    /// Changes when the meaning of scene files does.
    const FORMAT: u64 = 1;

    pub fn new() -> Digest {
        let mut digest = Digest { value: 0xCBF2_9CE4_8422_2325, files: Vec::new() };
        digest.bytes(&Digest::FORMAT.to_le_bytes());
        digest
    }

    /// Takes up a text or file with its length, so that moving a byte from one to the next shows.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &b in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.value = (self.value ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// Takes note of a file that belongs to the scene, whatever is in it.
    pub fn names(&mut self, path: &Path) {
        self.files.push(path.to_path_buf());
    }

    /// The value, and the files.
    pub fn finish(self) -> (u64, Vec<PathBuf>) {
        (self.value, self.files)
    }
}
