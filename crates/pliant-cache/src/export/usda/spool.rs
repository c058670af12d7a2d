//! Frames one after the other in, one attribute after the other out: f32 blocks of all frames in a temporary file.

use crate::export::bytes::put_floats;
use crate::{BodyPose, CacheError, OutputFolder, ScratchFile};
use glam::{DQuat, DVec3};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Triples that a pose takes: 56 bytes, and four that say nothing.
pub(super) const POSE: usize = 5;

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

    /// Appends a pose as a block of [`POSE`] triples: its seven numbers in f64, place before turn, and no more.
    pub fn put_pose(&mut self, pose: &BodyPose) -> Result<(), CacheError> {
        self.buffer.clear();
        let numbers = pose.place.to_array().into_iter().chain(pose.turn.to_array());
        numbers.for_each(|x| self.buffer.extend_from_slice(&x.to_le_bytes()));
        self.buffer.resize(12 * POSE, 0);
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
        if self.read(frame, block)? {
            let triple = |t: &[[u8; 4]; 3]| t.map(f32::from_le_bytes);
            triples.extend(self.buffer.as_chunks::<4>().0.as_chunks::<3>().0.iter().map(triple));
        }
        Ok(())
    }

    /// The pose that a block of a frame is; `None` if the frame does not have it.
    pub fn get_pose(&mut self, frame: usize, block: usize) -> Result<Option<BodyPose>, CacheError> {
        if !self.read(frame, block)? || self.buffer.len() != 12 * POSE {
            return Ok(None);
        }
        let x: Vec<f64> = self.buffer.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        let turn = DQuat::from_xyzw(x[3], x[4], x[5], x[6]);
        Ok(Some(BodyPose { place: DVec3::new(x[0], x[1], x[2]), turn }))
    }

    /// Reads a block into the buffer; whether the frame has it.
    fn read(&mut self, frame: usize, block: usize) -> Result<bool, CacheError> {
        let section = self.sections.partition_point(|s| s.frame <= frame).saturating_sub(1);
        let section =
            self.sections.get(section).and_then(|s| Some((s, s.blocks.binary_search(&block).ok()?)));
        let Some((section, k)) = section else { return Ok(false) };
        let starts = &section.starts;
        let offset = section.offset + (frame - section.frame) as u64 * section.frame_bytes() + starts[k];
        self.buffer.resize((starts[k + 1] - starts[k]) as usize, 0);
        let file = self.file.get_mut();
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(&mut self.buffer))
            .map_err(|e| CacheError::io(&self.target, "read the temporary file beside it", e))?;
        Ok(true)
    }
}
