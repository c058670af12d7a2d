//! Ogawa, the container of Alembic: a tree of groups and data blocks, addressed by file position.
//!
//! ```text
//! "Ogawa"  frozen u8 = 0xff  version u16 = 1 (big-endian)  position of the root group u64
//! data:    length u64, bytes
//! group:   count u64, count × child u64 (position; the top bit is set for data)
//! ```
//!
//! Position 0 stands for an empty group or data. Children are written before their groups, so that
//! the only bytes written twice are those of the header: a file without 0xff there was broken off.

use super::digest::AlembicDigest;
use crate::atomic::AtomicFile;
use crate::{CacheError, OutputFolder};
use std::collections::HashMap;
use std::path::Path;

/// What a group holds: a position, and in the top bit whether data or a group is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child(u64);

impl Child {
    const DATA: u64 = 1 << 63;
    pub(super) const EMPTY_GROUP: Child = Child(0);
    pub(super) const EMPTY_DATA: Child = Child(Child::DATA);
}

/// A file being written.
pub(super) struct Ogawa {
    file: AtomicFile,
    /// Samples that may be wanted again, by key and length.
    known: HashMap<(AlembicDigest, usize), Child>,
}

impl Ogawa {
    pub(super) fn create(folder: &dyn OutputFolder, path: &Path) -> Result<Ogawa, CacheError> {
        let mut file = AtomicFile::create(folder, path)?;
        file.put(b"Ogawa\x00\x00\x01")?;
        file.put(&0u64.to_le_bytes())?;
        Ok(Ogawa { file, known: HashMap::new() })
    }

    /// Writes a data block.
    pub(super) fn data(&mut self, bytes: &[u8]) -> Result<Child, CacheError> {
        if bytes.is_empty() {
            return Ok(Child::EMPTY_DATA);
        }
        let child = Child(self.file.position() | Child::DATA);
        self.file.put(&(bytes.len() as u64).to_le_bytes())?;
        self.file.put(bytes)?;
        Ok(child)
    }

    /// Writes a sample: its key, then its bytes. Samples without bytes have no key.
    pub(super) fn sample(&mut self, key: &AlembicDigest, bytes: &[u8]) -> Result<Child, CacheError> {
        if bytes.is_empty() {
            return Ok(Child::EMPTY_DATA);
        }
        let child = Child(self.file.position() | Child::DATA);
        let length = (key.len() + bytes.len()) as u64;
        self.file.put(&length.to_le_bytes())?;
        self.file.put(key)?;
        self.file.put(bytes)?;
        Ok(child)
    }

    /// Writes a sample unless it is known from an earlier call, as faces of bodies alike are.
    pub(super) fn known_sample(&mut self, key: &AlembicDigest, bytes: &[u8]) -> Result<Child, CacheError> {
        if let Some(&child) = self.known.get(&(*key, bytes.len())) {
            return Ok(child);
        }
        let child = self.sample(key, bytes)?;
        self.known.insert((*key, bytes.len()), child);
        Ok(child)
    }

    /// Writes a group of what has been written before.
    pub(super) fn group(&mut self, children: &[Child]) -> Result<Child, CacheError> {
        if children.is_empty() {
            return Ok(Child::EMPTY_GROUP);
        }
        let child = Child(self.file.position());
        let mut bytes = Vec::with_capacity(8 * (children.len() + 1));
        bytes.extend_from_slice(&(children.len() as u64).to_le_bytes());
        for Child(position) in children {
            bytes.extend_from_slice(&position.to_le_bytes());
        }
        self.file.put(&bytes)?;
        Ok(child)
    }

    /// Completes the header and moves the file into place; gives its size.
    pub(super) fn finish(mut self, root: Child) -> Result<u64, CacheError> {
        self.file.patch(8, &root.0.to_le_bytes())?;
        self.file.patch(5, &[0xff])?;
        self.file.commit()
    }
}
