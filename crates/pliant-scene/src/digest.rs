//! Reads the files a scene refers to, and makes of it and them a 64-bit digest: tells scenes apart, guards nothing against
//! malice.

use crate::resolver::Resolver;
use std::io;
use std::path::{Path, PathBuf};

/// FNV-1a over bytes. Own code, because the value is stored in logs and must never change with a library.
pub(crate) struct InputDigest<'a> {
    resolver: &'a dyn Resolver,
    value: u64,
    /// Every file that was read, and those that such files name without being read (textures).
    files: Vec<PathBuf>,
}

impl<'a> InputDigest<'a> {
    /// Changes when the meaning of scene files does.
    const FORMAT: u64 = 1;

    pub fn new(resolver: &'a dyn Resolver) -> InputDigest<'a> {
        let mut digest = InputDigest { resolver, value: 0xCBF2_9CE4_8422_2325, files: Vec::new() };
        digest.bytes(&InputDigest::FORMAT.to_le_bytes());
        digest
    }

    /// Takes up a text or file with its length, so that moving a byte from one to the next shows.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &b in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.value = (self.value ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3);
        }
    }

    /// Where files come from.
    pub fn resolver(&self) -> &'a dyn Resolver {
        self.resolver
    }

    /// Reads a file and takes it up.
    pub fn read(&mut self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.resolver.read(path)?;
        self.bytes(&bytes);
        self.names(path);
        Ok(bytes)
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
