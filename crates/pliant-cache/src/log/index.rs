//! What is where in a log: one scan that verifies every checksum and remembers only offsets.

use super::epoch::{BodyChange, Epoch, Meshes, next_id};
use super::frame::LogFrame;
use super::header::{LogBody, LogHeader};
use super::medium::LogSource;
use super::packed::grid_step;
use super::record::{FILE_START, FORMAT_VERSION, LogRecord, MAGIC, RecordAt, Scanner, kind, read_payload};
use crate::CacheError;
use std::fmt;
use std::io::{self, Read, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Something a user should know about a log that can be used all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogWarning {
    /// The run did not close the log: killed, crashed, out of disk, or still going on.
    BrokenOff {
        /// Number of the last whole frame.
        last_frame: Option<u32>,
        /// Bytes of an unfinished record at the end, which are ignored.
        torn_bytes: u64,
    },
    /// A record is damaged although sound ones follow; reading stops before it.
    Damaged {
        /// Byte offset of the damaged record.
        offset: u64,
        /// How the damage was seen.
        why: String,
        /// How many frames before it can be read.
        frames: usize,
        /// Number of the last of them.
        last_frame: Option<u32>,
    },
}

impl fmt::Display for LogWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogWarning::BrokenOff { last_frame, torn_bytes } => {
                match last_frame {
                    Some(n) => write!(f, "the run was broken off after frame {n}")?,
                    None => write!(f, "the run was broken off before its first frame")?,
                }
                if *torn_bytes > 0 {
                    write!(f, " ({torn_bytes} bytes of an unfinished record are ignored)")?;
                }
                write!(f, "; continue it with --resume")
            }
            LogWarning::Damaged { offset, why, frames, last_frame } => {
                write!(f, "damaged record at byte {offset} ({why}); ")?;
                match last_frame {
                    Some(n) => write!(f, "{frames} frames, up to frame {n}, can still be exported")?,
                    None => write!(f, "no frame before it can be read")?,
                }
                write!(f, "; --resume computes the rest again from the last checkpoint")
            }
        }
    }
}

/// Where a frame is and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameEntry {
    pub(super) index: u32,
    pub(super) time: f64,
    pub(super) record: LogRecord,
}

/// Where an epoch begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct EpochEntry {
    /// How many frames come before it.
    pub(super) frames: usize,
    /// Where its record begins.
    pub(super) offset: u64,
}

/// Where the positions are that a body is packed by: in the first frame of the epoch it came in.
#[derive(Clone, Debug)]
pub(super) struct PackingSource {
    pub(super) epoch: usize,
    /// Which body of that epoch.
    pub(super) place: usize,
    /// For each particle which of that body it was; `None` if it is still the same ones.
    pub(super) particles: Option<Arc<Vec<u32>>>,
    pub(super) step: Option<f64>,
}

/// Result of the scan.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) header: LogHeader,
    pub(super) header_end: u64,
    pub(super) frames: Vec<FrameEntry>,
    /// Never empty: the first is that of the header.
    pub(super) epochs: Vec<Epoch>,
    pub(super) entries: Vec<EpochEntry>,
    /// Of each body of each epoch.
    pub(super) sources: Vec<Vec<PackingSource>>,
    meshes: Meshes,
    next_id: u64,
    /// The last checkpoint and its frame number.
    pub(super) checkpoint: Option<(u32, LogRecord)>,
    /// Whether the run closed the log.
    pub(super) finished: bool,
    pub(super) warning: Option<LogWarning>,
}

/// Bytes of the frame number in front of a checkpoint.
pub(super) const CHECKPOINT_START: usize = 4;

impl Index {
    /// Scans a log from its beginning.
    pub(super) fn scan(file: &mut dyn LogSource, path: &Path) -> Result<Index, CacheError> {
        let io = |e| CacheError::io(path, "read the log", e);
        check_start(file, path)?;
        let mut scanner = Scanner::new(file).map_err(io)?;

        let damaged =
            |offset, why: String| CacheError::Damaged { path: path.to_path_buf(), offset, why, frames: 0 };
        let first = match scanner.at(FILE_START).map_err(io)? {
            RecordAt::LogRecord(r) if r.kind == kind::HEADER => r,
            RecordAt::LogRecord(_) => {
                return Err(damaged(FILE_START, "the first record is no header".into()));
            }
            RecordAt::End => return Err(damaged(FILE_START, "the header is missing".into())),
            RecordAt::Broken(why) => return Err(damaged(FILE_START, format!("the header: {why}"))),
        };
        let payload = read_payload(&mut scanner.file, &first)
            .map_err(io)?
            .ok_or_else(|| damaged(FILE_START, "the header changed while it was read".into()))?;
        let mut meshes = Meshes::default();
        let header = LogHeader::decode(&payload, &mut meshes)
            .map_err(|why| damaged(FILE_START, format!("the header: {why}")))?;

        let bodies = header.bodies.clone();
        let source =
            |(place, body)| PackingSource { epoch: 0, place, particles: None, step: grid_step(body) };
        let mut index = Index {
            sources: vec![bodies.iter().enumerate().map(source).collect()],
            next_id: next_id(0, &bodies),
            epochs: vec![Epoch { first: 0, bodies }],
            entries: vec![EpochEntry { frames: 0, offset: FILE_START }],
            meshes,
            header,
            header_end: first.end(),
            frames: Vec::new(),
            checkpoint: None,
            finished: false,
            warning: None,
        };
        let mut offset = first.end();
        let mut broken = None;
        loop {
            match scanner.at(offset).map_err(io)? {
                RecordAt::End => break,
                RecordAt::Broken(why) => {
                    broken = Some(why);
                    break;
                }
                RecordAt::LogRecord(record) => {
                    if let Err(why) = index.add(&mut scanner, record).map_err(io)? {
                        broken = Some(why);
                        break;
                    }
                    offset = record.end();
                }
            }
        }
        index.warning = match broken {
            Some(why) if scanner.any_record_after(offset).map_err(io)? => Some(LogWarning::Damaged {
                offset,
                why,
                frames: index.frames.len(),
                last_frame: index.last_frame(),
            }),
            None if index.finished => None,
            _ => Some(LogWarning::BrokenOff {
                last_frame: index.last_frame(),
                torn_bytes: scanner.file_length - offset,
            }),
        };
        // A tail after the end mark is no part of the run, but then the file was tampered with.
        index.finished &= index.warning.is_none();
        Ok(index)
    }

    /// Number of the last frame.
    pub(super) fn last_frame(&self) -> Option<u32> {
        self.frames.last().map(|f| f.index)
    }

    /// Takes note of a sound record; the inner error is damage that the checksum did not see.
    fn add(
        &mut self,
        scanner: &mut Scanner<&mut dyn LogSource>,
        record: LogRecord,
    ) -> io::Result<Result<(), String>> {
        let mut start = [0; LogFrame::START];
        self.finished = record.kind == kind::END;
        match record.kind {
            kind::FRAME => {
                let count = scanner.payload_start(&record, &mut start)?;
                let Some((index, time)) = LogFrame::decode_start(&start[..count]) else {
                    return Ok(Err("a frame record without frame number".into()));
                };
                if let Some(last) = self.last_frame().filter(|&last| last >= index) {
                    return Ok(Err(format!("frame {index} follows frame {last}")));
                }
                self.frames.push(FrameEntry { index, time, record });
            }
            kind::EPOCH => {
                let Some(payload) = read_payload(&mut scanner.file, &record)? else {
                    return Ok(Err("it changed while it was read".into()));
                };
                return Ok(self.add_epoch(&payload, &record).map_err(|why| format!("an epoch: {why}")));
            }
            kind::CHECKPOINT => {
                let count = scanner.payload_start(&record, &mut start[..CHECKPOINT_START])?;
                let Some(frame) = start[..count].first_chunk() else {
                    return Ok(Err("a checkpoint without frame number".into()));
                };
                self.checkpoint = Some((u32::from_le_bytes(*frame), record));
            }
            // Kinds of later versions are skipped.
            _ => {}
        }
        Ok(Ok(()))
    }

    fn add_epoch(&mut self, payload: &[u8], record: &LogRecord) -> Result<(), String> {
        let (before, sources) =
            (&self.epochs[self.epochs.len() - 1].bodies, &self.sources[self.sources.len() - 1]);
        let epoch = Epoch::decode(payload, before, self.next_id, &mut self.meshes)?;
        if self.entries.last().is_some_and(|e| e.frames == self.frames.len()) {
            return Err("there is no frame of the one before it".into());
        }
        if let Some(last) = self.last_frame().filter(|&last| last >= epoch.first) {
            return Err(format!("it begins with frame {} after frame {last}", epoch.first));
        }
        let number = self.epochs.len();
        let source = |(place, body): (usize, &LogBody)| match (BodyChange::of(body, before), &body.origin) {
            (BodyChange::Kept(k), _) => sources[k].clone(),
            (BodyChange::Changed(k), Some(origin)) => {
                let particles = match &sources[k].particles {
                    Some(map) => Arc::new(origin.particles.iter().map(|&i| map[i as usize]).collect()),
                    None => Arc::new(origin.particles.clone()),
                };
                PackingSource { particles: Some(particles), step: grid_step(body), ..sources[k] }
            }
            _ => PackingSource { epoch: number, place, particles: None, step: grid_step(body) },
        };
        let sources = epoch.bodies.iter().enumerate().map(source).collect();
        self.sources.push(sources);
        self.next_id = next_id(self.next_id, &epoch.bodies);
        self.entries.push(EpochEntry { frames: self.frames.len(), offset: record.offset });
        self.epochs.push(epoch);
        Ok(())
    }

    /// Which epoch the frame of this place is in.
    pub(super) fn epoch_of(&self, place: usize) -> usize {
        self.entries.partition_point(|e| e.frames <= place).saturating_sub(1)
    }

    /// Forgets everything at or after a byte; the checkpoints are the caller's.
    pub(super) fn cut(&mut self, end: u64) {
        self.frames.truncate(self.frames.partition_point(|f| f.record.offset < end));
        let epochs = self.entries.partition_point(|e| e.offset < end).max(1);
        self.entries.truncate(epochs);
        self.epochs.truncate(epochs);
        self.sources.truncate(epochs);
        self.meshes = Meshes::of(self.epochs.iter().map(|e| &e.bodies[..]));
        self.next_id = self.epochs.iter().fold(0, |id, e| next_id(id, &e.bodies));
    }

    /// What a writer that goes on after it has to know: the bodies, the meshes that are stored, the next id.
    pub(super) fn into_bodies(mut self) -> (Vec<LogBody>, Meshes, u64) {
        let bodies = self.epochs.pop().map_or_else(Vec::new, |e| e.bodies);
        (bodies, self.meshes, self.next_id)
    }
}

/// Checks magic and version.
fn check_start(file: &mut dyn LogSource, path: &Path) -> Result<(), CacheError> {
    let not_a_log = |why: &str| CacheError::NotALog { path: path.to_path_buf(), why: why.into() };
    let mut start = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| file.take(FILE_START).read_to_end(&mut start))
        .map_err(|e| CacheError::io(path, "read the log", e))?;
    if start.is_empty() {
        return Err(not_a_log("the file is empty"));
    }
    if !start.starts_with(&MAGIC) {
        return Err(not_a_log("its first bytes are not those of a log"));
    }
    let Some(version) = start.get(8..12) else {
        return Err(not_a_log("it ends within the first bytes"));
    };
    let found = u32::from_le_bytes([version[0], version[1], version[2], version[3]]);
    if found != FORMAT_VERSION {
        return Err(CacheError::OtherVersion { path: path.to_path_buf(), found, known: FORMAT_VERSION });
    }
    if (start.len() as u64) < FILE_START {
        return Err(not_a_log("it ends within the first bytes"));
    }
    Ok(())
}
