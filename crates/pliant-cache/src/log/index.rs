//! What is where in a log: one scan that verifies every checksum and remembers only offsets.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::frame::LogFrame;
use super::header::LogHeader;
use super::record::{FILE_START, FORMAT_VERSION, Found, MAGIC, Record, Scanner, kind, read_payload};
use crate::CacheError;

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
    pub(super) record: Record,
}

/// Result of the scan.
#[derive(Debug)]
pub(super) struct Index {
    pub(super) header: LogHeader,
    pub(super) header_end: u64,
    pub(super) frames: Vec<FrameEntry>,
    /// The last checkpoint and its frame number.
    pub(super) checkpoint: Option<(u32, Record)>,
    /// Whether the run closed the log.
    pub(super) finished: bool,
    pub(super) warning: Option<LogWarning>,
}

/// Bytes of the frame number in front of a checkpoint.
pub(super) const CHECKPOINT_START: usize = 4;

impl Index {
    /// Scans a log from its beginning.
    pub(super) fn scan(file: &mut File, path: &Path) -> Result<Index, CacheError> {
        let io = |e| CacheError::io(path, "read the log", e);
        if file.metadata().map_err(io)?.is_dir() {
            return Err(io(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        check_start(file, path)?;
        let mut scanner = Scanner::new(file).map_err(io)?;

        let damaged =
            |offset, why: String| CacheError::Damaged { path: path.to_path_buf(), offset, why, frames: 0 };
        let first = match scanner.at(FILE_START).map_err(io)? {
            Found::Record(r) if r.kind == kind::HEADER => r,
            Found::Record(_) => {
                return Err(damaged(FILE_START, "the first record is no header".into()));
            }
            Found::End => return Err(damaged(FILE_START, "the header is missing".into())),
            Found::Broken(why) => return Err(damaged(FILE_START, format!("the header: {why}"))),
        };
        let payload = read_payload(&mut scanner.file, &first)
            .map_err(io)?
            .ok_or_else(|| damaged(FILE_START, "the header changed while it was read".into()))?;
        let header =
            LogHeader::decode(&payload).map_err(|why| damaged(FILE_START, format!("the header: {why}")))?;

        let mut index = Index {
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
                Found::End => break,
                Found::Broken(why) => {
                    broken = Some(why);
                    break;
                }
                Found::Record(record) => {
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
    fn add(&mut self, scanner: &mut Scanner<&mut File>, record: Record) -> io::Result<Result<(), String>> {
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
}

/// Checks magic and version.
fn check_start(file: &mut File, path: &Path) -> Result<(), CacheError> {
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
