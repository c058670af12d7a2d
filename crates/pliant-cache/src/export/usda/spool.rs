//! Frames one after the other in, one attribute after the other out: f32 blocks of all frames in a temporary file.

use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::export::bytes::put_floats;
use crate::{CacheError, OutputFolder, ScratchFile};

/// Blocks of triples, of the same sizes in each frame of a section.
pub(super) struct Spool {
    target: PathBuf,
    file: BufWriter<Box<dyn ScratchFile>>,
    sections: Vec<SpoolSection>,
    frames: usize,
    buffer: Vec<u8>,
}

/// Frames that have the same blocks.
struct SpoolSection {
    /// The first frame, and where it begins in the file.
    frame: usize,
    offset: u64,
    /// Which blocks, rising; where each starts within a frame, in bytes; and where the frame ends.
    blocks: Vec<usize>,
    starts: Vec<u64>,
}

impl SpoolSection {
    fn frame_bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }
}

impl Spool {
    /// Beside `target`.
    pub fn create(folder: &dyn OutputFolder, target: &Path) -> Result<Spool, CacheError> {
        Ok(Spool {
            target: target.to_path_buf(),
            file: BufWriter::with_capacity(1 << 18, folder.scratch(target)?),
            sections: Vec::new(),
            frames: 0,
            buffer: Vec::new(),
        })
    }

    /// Begins a frame with these blocks, each by its number and how many triples it has.
    pub fn begin_frame(&mut self, blocks: &[(usize, usize)]) {
        let mut starts = vec![0];
        for (k, &(_, size)) in blocks.iter().enumerate() {
            starts.push(starts[k] + 12 * size as u64);
        }
        let alike =
            |s: &SpoolSection| s.starts == starts && s.blocks.iter().eq(blocks.iter().map(|(b, _)| b));
        if !self.sections.last().is_some_and(alike) {
            let end = |s: &SpoolSection| s.offset + (self.frames - s.frame) as u64 * s.frame_bytes();
            let offset = self.sections.last().map_or(0, end);
            let blocks = blocks.iter().map(|(b, _)| *b).collect();
            self.sections.push(SpoolSection { frame: self.frames, offset, blocks, starts });
        }
        self.frames += 1;
    }

    /// Appends the next block.
    pub fn put(&mut self, triples: &[[f32; 3]]) -> Result<(), CacheError> {
        self.buffer.clear();
        put_floats(&mut self.buffer, triples.as_flattened());
        self.file
            .write_all(&self.buffer)
            .map_err(|e| CacheError::io(&self.target, "write the temporary file beside it", e))
    }

    /// From writing to reading.
    pub fn rewind(&mut self) -> Result<(), CacheError> {
        self.file.flush().map_err(|e| CacheError::io(&self.target, "write the temporary file beside it", e))
    }

    /// A block of a frame that has it.
    pub fn get(&mut self, frame: usize, block: usize, triples: &mut Vec<[f32; 3]>) -> Result<(), CacheError> {
        triples.clear();
        let section = self.sections.partition_point(|s| s.frame <= frame).saturating_sub(1);
        let section =
            self.sections.get(section).and_then(|s| Some((s, s.blocks.binary_search(&block).ok()?)));
        let Some((section, k)) = section else { return Ok(()) };
        let starts = &section.starts;
        let offset = section.offset + (frame - section.frame) as u64 * section.frame_bytes() + starts[k];
        self.buffer.resize((starts[k + 1] - starts[k]) as usize, 0);
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(&mut self.buffer))
            .map_err(|e| CacheError::io(&self.target, "read the temporary file beside it", e))?;
        triples.extend(
            self.buffer.as_chunks::<4>().0.as_chunks::<3>().0.iter().map(|t| t.map(f32::from_le_bytes)),
        );
        Ok(())
    }
}
