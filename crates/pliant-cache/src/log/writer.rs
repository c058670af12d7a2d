//! Writing a log, so that a run killed at any moment loses at most the record being written.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::frame::{Before, LogFrame};
use super::header::LogHeader;
use super::index::{CHECKPOINT_START, Index, LogWarning};
use super::packed::Layout;
use super::reader::LogReader;
use super::record::{FORMAT_VERSION, MAGIC, Record, begin, kind, read_payload, seal};
use crate::CacheError;
use crate::atomic::{beside, require_free, require_readable, sync_directory_of, write_target};
use crate::error::usual_remedy;

/// A log open for appending. Holds a lock on the file as long as it lives.
#[derive(Debug)]
pub struct LogWriter {
    path: PathBuf,
    file: File,
    /// Where the last whole record ends.
    end: u64,
    particles: usize,
    last_frame: Option<u32>,
    /// Where the checkpoint the log was taken up from begins, as long as it is the last record.
    taken_up: Option<u64>,
    /// One record is put together here and handed over in one write.
    buffer: Vec<u8>,
    /// After a failed write the end of the file is not known to be sound.
    broken: bool,
    layout: Option<Layout>,
    /// Whether frames are packed, and by what once there is a first.
    compact: bool,
    before: Option<Before>,
    /// The first and the last frame that a log taken up again keeps.
    kept: Option<[Record; 2]>,
}

/// A log taken up again by [`LogWriter::resume`].
#[derive(Debug)]
pub struct Resumed {
    /// Appends after the last checkpoint.
    pub writer: LogWriter,
    /// The header of the log.
    pub header: LogHeader,
    /// The last checkpoint: frame number and the engine's bytes. `None`: start from the beginning.
    pub checkpoint: Option<(u32, Vec<u8>)>,
    /// How many frames the log keeps.
    pub kept_frames: usize,
    /// How many frames after the checkpoint were dropped and will be computed again.
    pub dropped_frames: usize,
    /// What was wrong with the log.
    pub warnings: Vec<LogWarning>,
}

impl LogWriter {
    /// Starts a log. An existing file is kept and refused unless `overwrite`; either way it is only
    /// replaced once the new header is on the disk.
    pub fn create(
        path: impl AsRef<Path>,
        header: &LogHeader,
        overwrite: bool,
    ) -> Result<LogWriter, CacheError> {
        let path = path.as_ref();
        header.check().map_err(|why| {
            CacheError::invalid(
                format!("{} (header)", path.display()),
                why,
                "correct the bodies handed to the log",
            )
        })?;
        let path = &write_target(path)?;
        let temporary = beside(path, ".tmp");
        require_free(&temporary)?;
        let (file, end) = Self::create_header(path, &temporary, header, overwrite)?;
        Ok(LogWriter {
            path: path.to_path_buf(),
            file,
            end,
            particles: header.particle_count(),
            last_frame: None,
            taken_up: None,
            buffer: Vec::new(),
            broken: false,
            layout: Layout::of(header),
            compact: false,
            before: None,
            kept: None,
        })
    }

    /// From now on frames are stored in a fraction of their bytes and not to the last digit (see the module): for
    /// pictures and exports, which need no more. To be called before anything is appended; a log that is taken up again
    /// goes on with the bytes of an unbroken one.
    pub fn compact(mut self) -> Result<LogWriter, CacheError> {
        self.compact = true;
        let Some([first, last]) = self.kept else { return Ok(self) };
        let path = self.path.clone();
        let damaged = |record: &Record, why: &str| CacheError::Damaged {
            path: path.clone(),
            offset: record.offset,
            why: why.into(),
            frames: 0,
        };
        let mut read = |record: &Record| {
            let payload = read_payload(&mut self.file, record);
            let payload = payload.map_err(|e| CacheError::io(&path, "read the log", e))?;
            payload.ok_or_else(|| damaged(record, "it changed while it was read"))
        };
        let (start, end) = (read(&first)?, read(&last)?);
        let frame = LogFrame::decode(&start, None).map_err(|why| damaged(&first, &why))?;
        let holder = LogFrame::controls_of(&end).map_err(|why| damaged(&last, &why))?;
        let number = LogFrame::decode_start(&end).map_or(0, |(index, _)| index);
        let controls_of = holder.unwrap_or(number);
        let controls = match holder {
            // Read the usual way: the log is sound up to here.
            Some(_) => {
                let reader = LogReader::open(&self.path)?;
                reader.position_of(controls_of).map(|k| reader.frame(k)).transpose()?.map(|f| f.controls)
            }
            None => LogFrame::own_controls(&end).map_err(|why| damaged(&last, &why))?,
        };
        if let Some(layout) = self.layout.clone() {
            let controls = controls.unwrap_or_default();
            self.before = Some(Before { layout, first: frame.positions, controls, controls_of });
        }
        let sought = self.file.seek(SeekFrom::Start(self.end));
        sought.map_err(|e| CacheError::io(&self.path, "resume the log", e))?;
        Ok(self)
    }

    fn create_header(
        path: &Path,
        temporary: &Path,
        header: &LogHeader,
        overwrite: bool,
    ) -> Result<(File, u64), CacheError> {
        let io = |e| CacheError::io(path, "create the log", e);
        let mut file = claim_temporary(path, temporary)?;
        // The old log is only looked at once the temporary name is ours: from then on no other
        // creator can get between this check and the rename.
        let result = refuse_existing(path, overwrite).and_then(|old| {
            let mut bytes = Vec::new();
            begin(&mut bytes);
            bytes.extend_from_slice(&header.encode());
            seal(&mut bytes, kind::HEADER);
            let mut all = MAGIC.to_vec();
            all.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
            all.extend_from_slice(&0u32.to_le_bytes());
            all.extend_from_slice(&bytes);
            file.write_all(&all).and_then(|()| file.sync_all()).map_err(io)?;
            fs::rename(temporary, path).map_err(io)?;
            drop(old);
            Ok(all.len() as u64)
        });
        match result {
            Ok(end) => {
                sync_directory_of(path);
                Ok((file, end))
            }
            Err(e) => {
                let _ = fs::remove_file(temporary);
                Err(e)
            }
        }
    }

    /// Takes up a log that was broken off (or finished): drops everything after its last
    /// checkpoint, so that the frames computed again have the same bytes at the same place.
    /// Refuses, without touching the file, if it belongs to another scene.
    pub fn resume(path: impl AsRef<Path>, scene_hash: u64) -> Result<Resumed, CacheError> {
        let path = path.as_ref();
        let io = |e| CacheError::io(path, "resume the log", e);
        require_readable(path, "resume the log")?;
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
        lock(&file, path)?;
        let index = Index::scan(&mut file, path)?;
        if index.header.scene_hash != scene_hash {
            return Err(CacheError::OtherScene {
                path: path.to_path_buf(),
                found: index.header.scene_hash,
                wanted: scene_hash,
            });
        }
        let taken_up = index.checkpoint.as_ref().map(|(_, record)| record.offset);
        let (checkpoint, end) = match index.checkpoint {
            Some((frame, record)) => {
                let mut payload =
                    read_payload(&mut file, &record).map_err(io)?.ok_or_else(|| CacheError::Damaged {
                        path: path.to_path_buf(),
                        offset: record.offset,
                        why: "it changed while it was read".into(),
                        frames: index.frames.len(),
                    })?;
                payload.drain(..CHECKPOINT_START.min(payload.len()));
                (Some((frame, payload)), record.end())
            }
            None => (None, index.header_end),
        };
        let kept = index.frames.partition_point(|f| f.record.offset < end);
        file.set_len(end)
            .and_then(|()| file.seek(SeekFrom::Start(end)))
            .and_then(|_| file.sync_all())
            .map_err(io)?;
        Ok(Resumed {
            writer: LogWriter {
                path: path.to_path_buf(),
                file,
                end,
                particles: index.header.particle_count(),
                last_frame: kept.checked_sub(1).map(|k| index.frames[k].index),
                taken_up,
                buffer: Vec::new(),
                broken: false,
                layout: Layout::of(&index.header),
                compact: false,
                before: None,
                kept: kept.checked_sub(1).map(|k| [index.frames[0].record, index.frames[k].record]),
            },
            header: index.header,
            checkpoint,
            kept_frames: kept,
            dropped_frames: index.frames.len() - kept,
            warnings: index.warning.into_iter().collect(),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last frame written.
    pub fn last_frame(&self) -> Option<u32> {
        self.last_frame
    }

    /// Appends a frame. Its number must be larger than the last one's, its positions finite.
    pub fn append_frame(&mut self, frame: &LogFrame) -> Result<(), CacheError> {
        let refuse = |why: String, remedy: &str| {
            let place = format!("{}, frame {}", self.path.display(), frame.index);
            Err(CacheError::invalid(place, why, remedy))
        };
        if let Some(last) = self.last_frame.filter(|&last| last >= frame.index) {
            return refuse(format!("it would follow frame {last}"), "number frames upwards");
        }
        if let Err(why) = frame.check(self.particles) {
            return refuse(why, "hand over all particles of the header");
        }
        if let Some(p) = frame.first_non_finite() {
            return refuse(
                format!("the position of particle {p} is not finite"),
                "use a smaller time step or lower stiffness; frames before it are safe",
            );
        }
        begin(&mut self.buffer);
        frame.encode(&mut self.buffer, self.before.as_ref());
        self.append(kind::FRAME, "write a frame")?;
        self.last_frame = Some(frame.index);
        match &mut self.before {
            Some(before) if before.controls != frame.controls => {
                before.controls.clone_from(&frame.controls);
                before.controls_of = frame.index;
            }
            Some(_) => {}
            None if self.compact => {
                self.before = self.layout.clone().map(|layout| Before {
                    layout,
                    first: frame.positions.clone(),
                    controls: frame.controls.clone(),
                    controls_of: frame.index,
                });
            }
            None => {}
        }
        Ok(())
    }

    /// Appends a checkpoint taken right after the frame of this number, and waits until it and
    /// everything before is on the disk.
    pub fn append_checkpoint(&mut self, frame_index: u32, state: &[u8]) -> Result<(), CacheError> {
        if let Some(last) = self.last_frame.filter(|&last| last != frame_index) {
            return Err(CacheError::invalid(
                format!("{}, checkpoint of frame {frame_index}", self.path.display()),
                format!("the last frame written is {last}"),
                "take checkpoints right after their frame",
            ));
        }
        begin(&mut self.buffer);
        self.buffer.extend_from_slice(&frame_index.to_le_bytes());
        self.buffer.extend_from_slice(state);
        self.append(kind::CHECKPOINT, "write a checkpoint")?;
        self.file.sync_data().map_err(|e| self.failed("write a checkpoint", e))
    }

    /// Cuts off the checkpoint the log was just taken up from. An unbroken run would not have one where
    /// this run happened to stop; without it the finished log has the same bytes.
    pub fn drop_checkpoint(&mut self) -> Result<(), CacheError> {
        let Some(start) = self.taken_up.take() else {
            return Ok(());
        };
        self.file
            .set_len(start)
            .and_then(|()| self.file.seek(SeekFrom::Start(start)))
            .map_err(|e| self.failed("take up the log", e))?;
        self.end = start;
        Ok(())
    }

    /// Closes the log with an end mark.
    pub fn finish(mut self) -> Result<(), CacheError> {
        begin(&mut self.buffer);
        self.append(kind::END, "close the log")?;
        self.file.sync_all().map_err(|e| self.failed("close the log", e))
    }

    /// Seals the record in the buffer and writes it at the end.
    fn append(&mut self, kind: u32, action: &str) -> Result<(), CacheError> {
        if self.broken {
            let source = io::Error::other("an earlier write failed");
            return Err(self.failed(action, source));
        }
        seal(&mut self.buffer, kind);
        if let Err(e) = self.file.write_all(&self.buffer) {
            self.broken = true;
            // Cut the torn record off. If even that fails the reader will do it.
            let _ = self.file.set_len(self.end);
            return Err(self.failed(action, e));
        }
        self.end += self.buffer.len() as u64;
        self.taken_up = None;
        Ok(())
    }

    fn failed(&self, action: &str, source: io::Error) -> CacheError {
        let first = match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free space",
            io::ErrorKind::FileTooLarge => "raise the limit on the size of files (ulimit -f) or free space",
            _ => usual_remedy(&source),
        };
        let safe = match self.last_frame {
            Some(n) => format!("frames up to {n} are safe"),
            None => "no frame was written yet".into(),
        };
        CacheError::Io {
            path: self.path.clone(),
            action: action.into(),
            remedy: format!("{first} and run again with --resume; {safe}"),
            source,
        }
    }
}

/// Takes the lock of a log's writer.
fn lock(file: &File, path: &Path) -> Result<(), CacheError> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(CacheError::Locked { path: path.to_path_buf() }),
        // Some network file systems have no locks; better a log without than none at all.
        Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(e)) => Err(CacheError::io(path, "lock the log", e)),
    }
}

/// An empty, locked file under the temporary name.
fn claim_temporary(path: &Path, temporary: &Path) -> Result<File, CacheError> {
    let io = |e| CacheError::io(path, "create the log", e);
    // Twice: once more after clearing away what a killed creator left behind. A file that is not
    // empty may also be the log of a creator that has just renamed it, so it is never cut short;
    // only the temporary name is removed.
    for _ in 0..2 {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(temporary)
            .map_err(io)?;
        lock(&file, path)?;
        if file.metadata().map_err(io)?.len() == 0 {
            return Ok(file);
        }
        match fs::remove_file(temporary) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(io(e)),
            _ => {}
        }
    }
    Err(CacheError::Locked { path: path.to_path_buf() })
}

/// Refuses to replace a file without permission or one that is being written; gives the locked
/// old file, to be kept until it has been replaced.
fn refuse_existing(path: &Path, overwrite: bool) -> Result<Option<File>, CacheError> {
    match File::open(path) {
        Ok(_) if !overwrite => Err(CacheError::Exists { path: path.to_path_buf() }),
        Ok(old) => lock(&old, path).map(|()| Some(old)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(CacheError::io(path, "create the log", e)),
    }
}
