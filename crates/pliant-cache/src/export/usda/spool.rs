//! Frames one after the other in, one attribute after the other out: f32 blocks of all frames in a temporary file.

use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::CacheError;
use crate::atomic::{beside, require_free, write_target};
use crate::export::stream::put_triples;

/// Blocks of triples: as many in each frame, of the same sizes. The file is removed when this is dropped.
pub(super) struct Spool {
    target: PathBuf,
    path: PathBuf,
    file: BufWriter<File>,
    /// Where each block starts within a frame, in bytes; and where the frame ends.
    starts: Vec<u64>,
    buffer: Vec<u8>,
}

impl Spool {
    /// Beside `target`, with `sizes` triples in the blocks of every frame.
    pub fn create(target: &Path, sizes: &[usize]) -> Result<Spool, CacheError> {
        let path = beside(&write_target(target)?, ".spool.tmp");
        require_free(&path)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .map_err(|e| CacheError::io(&path, "create the temporary file", e))?;
        let mut starts = vec![0];
        for (k, &size) in sizes.iter().enumerate() {
            starts.push(starts[k] + 12 * size as u64);
        }
        Ok(Spool {
            target: target.to_path_buf(),
            path,
            file: BufWriter::with_capacity(1 << 18, file),
            starts,
            buffer: Vec::new(),
        })
    }

    /// Appends the next block.
    pub fn put(&mut self, triples: &[[f32; 3]]) -> Result<(), CacheError> {
        self.buffer.clear();
        put_triples(&mut self.buffer, triples);
        self.file
            .write_all(&self.buffer)
            .map_err(|e| CacheError::io(&self.target, "write the temporary file beside it", e))
    }

    /// From writing to reading.
    pub fn rewind(&mut self) -> Result<(), CacheError> {
        self.file.flush().map_err(|e| CacheError::io(&self.target, "write the temporary file beside it", e))
    }

    /// A block of a frame.
    pub fn get(&mut self, frame: usize, block: usize, triples: &mut Vec<[f32; 3]>) -> Result<(), CacheError> {
        let frame_bytes = self.starts.last().copied().unwrap_or(0);
        let offset = frame as u64 * frame_bytes + self.starts[block];
        self.buffer.resize((self.starts[block + 1] - self.starts[block]) as usize, 0);
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(&mut self.buffer))
            .map_err(|e| CacheError::io(&self.path, "read the temporary file", e))?;
        triples.clear();
        triples.extend(
            self.buffer.as_chunks::<4>().0.as_chunks::<3>().0.iter().map(|t| t.map(f32::from_le_bytes)),
        );
        Ok(())
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
