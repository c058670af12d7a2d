//! Writing a log, so that a run killed at any moment loses at most the record being written.

use super::epoch::{Epoch, Meshes, following, next_id};
use super::frame::{LogFrame, PackingContext};
use super::header::{LogBody, LogHeader};
use super::index::{CHECKPOINT_START, Index, LogWarning};
use super::medium::{DiskLog, LogMedium};
use super::packed::PackedLayout;
use super::reader::LogReader;
use super::record::{FORMAT_VERSION, MAGIC, begin, kind, read_payload, seal};
use crate::CacheError;
use crate::atomic::{beside, require_free, require_readable, sync_directory_of, write_target};
use crate::error::usual_remedy;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A log open for appending. If it is a file, it is locked as long as this lives.
pub struct LogWriter {
    /// Its file, or a name for messages.
    path: PathBuf,
    medium: Box<dyn LogMedium>,
    /// Where the last whole record ends.
    end: u64,
    /// The bodies of the present epoch.
    bodies: Vec<LogBody>,
    meshes: Meshes,
    /// Above the id of every body so far.
    next_id: u64,
    /// The bodies of the next frame, if they are others.
    next: Option<Vec<LogBody>>,
    last_frame: Option<u32>,
    /// Where the checkpoint the log was taken up from begins, as long as it is the last record.
    taken_up: Option<u64>,
    /// One record is put together here and handed over in one write.
    buffer: Vec<u8>,
    /// After a failed write the end of the file is not known to be sound.
    broken: bool,
    /// Whether frames are packed, and by what once there is a first.
    compact: bool,
    before: Option<PackingContext>,
}

impl std::fmt::Debug for LogWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("LogWriter");
        shown
            .field("path", &self.path)
            .field("bytes", &self.end)
            .field("last_frame", &self.last_frame)
            .finish()
    }
}

/// A log taken up again by [`LogWriter::resume`].
#[derive(Debug)]
#[non_exhaustive]
pub struct ReopenedLog {
    /// Appends after the last checkpoint.
    pub writer: LogWriter,
    /// What the log was begun with: its bodies, frame rate and scene.
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
        let mut meshes = Meshes::default();
        let start = encoded_start(path, header, &mut meshes)?;
        let path = &write_target(path)?;
        let temporary = beside(path, ".tmp");
        require_free(&temporary)?;
        let file = Self::create_header(path, &temporary, &start, overwrite)?;
        let medium = Box::new(DiskLog { path: path.to_path_buf(), file });
        Ok(LogWriter::of(path, medium, start.len() as u64, header.bodies.clone(), meshes))
    }

    /// Starts a log on anything that takes bytes; `name` is what messages call it.
    pub fn begin(
        mut medium: Box<dyn LogMedium>,
        name: impl AsRef<Path>,
        header: &LogHeader,
    ) -> Result<LogWriter, CacheError> {
        let name = name.as_ref();
        let mut meshes = Meshes::default();
        let start = encoded_start(name, header, &mut meshes)?;
        medium.write_all(&start).map_err(|e| CacheError::io(name, "begin the log", e))?;
        Ok(LogWriter::of(name, medium, start.len() as u64, header.bodies.clone(), meshes))
    }

    fn of(
        path: &Path,
        medium: Box<dyn LogMedium>,
        end: u64,
        bodies: Vec<LogBody>,
        meshes: Meshes,
    ) -> LogWriter {
        LogWriter {
            path: path.to_path_buf(),
            medium,
            end,
            next_id: next_id(0, &bodies),
            bodies,
            meshes,
            next: None,
            last_frame: None,
            taken_up: None,
            buffer: Vec::new(),
            broken: false,
            compact: false,
            before: None,
        }
    }

    /// From now on frames are stored in a fraction of their bytes and not to the last digit (see the module): for
    /// pictures and exports, which need no more. To be called before anything is appended; a log that is taken up again
    /// goes on with the bytes of an unbroken one.
    pub fn compact(mut self) -> Result<LogWriter, CacheError> {
        self.compact = true;
        if self.last_frame.is_none() {
            return Ok(self);
        }
        self.before = Some(self.packed_by()?);
        Ok(self)
    }

    /// What the next frame is packed by, from the log: it is sound up to here.
    fn packed_by(&self) -> Result<PackingContext, CacheError> {
        let reader = self.reader()?;
        let last = reader.frame_count().saturating_sub(1);
        let (controls, controls_of) = reader.controls_at(last)?;
        let layout = PackedLayout::clone(&*reader.layout(reader.epoch_of(last))?);
        Ok(PackingContext { layout, controls, controls_of })
    }

    /// Reads what is in the log so far.
    pub fn reader(&self) -> Result<LogReader, CacheError> {
        let source = self.medium.source();
        LogReader::of(source.map_err(|e| CacheError::io(&self.path, "read the log", e))?, &self.path)
    }

    /// Whether frames that were written can be forgotten again.
    pub fn can_forget(&self) -> bool {
        self.medium.can_cut()
    }

    /// Forgets everything after the frame of this number, which is to be in the log: frames, epochs and checkpoints,
    /// also one of that frame. A medium that cannot be cut refuses, and nothing changes.
    pub fn forget_after(&mut self, frame: u32) -> Result<(), CacheError> {
        let mut source =
            self.medium.source().map_err(|e| CacheError::io(&self.path, "cut the log back", e))?;
        let mut index = Index::scan(&mut *source, &self.path)?;
        let known = index.frames.iter().find(|f| f.index == frame);
        let Some(end) = known.map(|f| f.record.end()) else {
            return Err(CacheError::invalid(
                self.path.display().to_string(),
                format!("frame {frame} is not in the log"),
                "go back to a frame it holds, or begin another log",
            ));
        };
        self.medium.cut(end).map_err(|e| CacheError::io(&self.path, "cut the log back", e))?;
        index.cut(end);
        (self.end, self.last_frame, self.taken_up, self.next) = (end, Some(frame), None, None);
        (self.bodies, self.meshes, self.next_id) = index.into_bodies();
        if self.compact {
            self.before = Some(self.packed_by()?);
        }
        Ok(())
    }

    fn create_header(
        path: &Path,
        temporary: &Path,
        start: &[u8],
        overwrite: bool,
    ) -> Result<File, CacheError> {
        let io = |e| CacheError::io(path, "create the log", e);
        let mut file = claim_temporary(path, temporary)?;
        // The old log is only looked at once the temporary name is ours: from then on no other
        // creator can get between this check and the rename.
        let result = refuse_existing(path, overwrite).and_then(|old| {
            file.write_all(start).and_then(|()| file.sync_all()).map_err(io)?;
            fs::rename(temporary, path).map_err(io)?;
            drop(old);
            Ok(())
        });
        match result {
            Ok(()) => {
                sync_directory_of(path);
                Ok(file)
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
    pub fn resume(path: impl AsRef<Path>, scene_hash: u64) -> Result<ReopenedLog, CacheError> {
        let path = path.as_ref();
        let io = |e| CacheError::io(path, "resume the log", e);
        require_readable(path, "resume the log")?;
        let file = OpenOptions::new().read(true).write(true).open(path).map_err(io)?;
        lock(&file, path)?;
        LogWriter::resume_on(Box::new(DiskLog { path: path.to_path_buf(), file }), path, scene_hash)
    }

    /// Goes on with a log on another medium than a file, with the checks of [`resume`](LogWriter::resume); `name` is what
    /// messages call it.
    pub fn resume_on(
        mut medium: Box<dyn LogMedium>,
        name: impl AsRef<Path>,
        scene_hash: u64,
    ) -> Result<ReopenedLog, CacheError> {
        let path = name.as_ref();
        let io = |e| CacheError::io(path, "resume the log", e);
        let mut source = medium.source().map_err(io)?;
        let mut index = Index::scan(&mut *source, path)?;
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
                    read_payload(&mut source, &record).map_err(io)?.ok_or_else(|| CacheError::Damaged {
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
        let frames = index.frames.len();
        index.cut(end);
        let kept = index.frames.len();
        drop(source);
        medium.cut(end).and_then(|()| medium.sync()).map_err(io)?;
        let (header, warnings) = (index.header.clone(), index.warning.take().into_iter().collect());
        let last_frame = index.last_frame();
        let (bodies, meshes, next_id) = index.into_bodies();
        Ok(ReopenedLog {
            writer: LogWriter {
                next_id,
                last_frame,
                taken_up,
                ..LogWriter::of(path, medium, end, bodies, meshes)
            },
            header,
            checkpoint,
            kept_frames: kept,
            dropped_frames: frames - kept,
            warnings,
        })
    }

    /// The path it writes to, for messages; of a log on another medium, the name it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of the last frame written.
    pub fn last_frame(&self) -> Option<u32> {
        self.last_frame
    }

    /// The bodies of the last frame (of the header, if there is none): what stays of them is given to
    /// [`begin_epoch`](LogWriter::begin_epoch) again.
    pub fn bodies(&self) -> &[LogBody] {
        &self.bodies
    }

    /// From the next frame on there are these bodies, by rising ids: those that stay as they are in
    /// [`bodies`](LogWriter::bodies), the next version of one that changed, and new ones with ids of their own. Where
    /// their particles are in the frames follows from their order; of the ranges they come with only the lengths count.
    pub fn begin_epoch(&mut self, bodies: Vec<LogBody>) -> Result<(), CacheError> {
        let refuse = |why: String| {
            let place = format!("{}, bodies after frame {:?}", self.path.display(), self.last_frame);
            CacheError::invalid(place, why, "correct the bodies handed to the log")
        };
        if self.last_frame.is_none() {
            return Err(refuse("there is no frame yet; the header has the first bodies".into()));
        }
        self.next = Some(following(&self.bodies, self.next_id, bodies).map_err(refuse)?);
        Ok(())
    }

    /// Writes the record of the bodies that come with frame `first`.
    fn append_epoch(&mut self, first: u32) -> Result<(), CacheError> {
        let Some(bodies) = self.next.take() else { return Ok(()) };
        let epoch = Epoch { first, bodies };
        begin(&mut self.buffer);
        self.buffer.extend_from_slice(&epoch.encode(&self.bodies, &mut self.meshes));
        self.append(kind::EPOCH, "write which bodies there are")?;
        if let Some(before) = &mut self.before {
            before.layout = before.layout.next(&self.bodies, &epoch.bodies);
        }
        self.next_id = next_id(self.next_id, &epoch.bodies);
        self.bodies = epoch.bodies;
        Ok(())
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
        let bodies = self.next.as_ref().unwrap_or(&self.bodies);
        if let Err(why) = frame.check(bodies) {
            return refuse(why, "hand over all particles of the bodies there are");
        }
        if let Some(p) = frame.first_non_finite() {
            return refuse(
                format!("the position of particle {p} is not finite"),
                "use a smaller time step or lower stiffness; frames before it are safe",
            );
        }
        self.append_epoch(frame.index)?;
        begin(&mut self.buffer);
        frame.encode(&mut self.buffer, &self.bodies, self.before.as_ref());
        self.append(kind::FRAME, "write a frame")?;
        self.last_frame = Some(frame.index);
        if self.compact {
            let PackingContext { layout, controls, controls_of } =
                self.before.get_or_insert_with(|| PackingContext {
                    layout: PackedLayout::first(&self.bodies),
                    controls: frame.controls.clone(),
                    controls_of: frame.index,
                });
            layout.learn(&frame.positions);
            if *controls != frame.controls {
                controls.clone_from(&frame.controls);
                *controls_of = frame.index;
            }
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
        self.medium.sync().map_err(|e| self.failed("write a checkpoint", e))
    }

    /// Cuts off the checkpoint the log was just taken up from. An unbroken run would not have one where
    /// this run happened to stop; without it the finished log has the same bytes.
    pub fn drop_checkpoint(&mut self) -> Result<(), CacheError> {
        let Some(start) = self.taken_up.take() else {
            return Ok(());
        };
        self.medium.cut(start).map_err(|e| self.failed("take up the log", e))?;
        self.end = start;
        Ok(())
    }

    /// Closes the log with an end mark.
    pub fn finish(mut self) -> Result<(), CacheError> {
        begin(&mut self.buffer);
        self.append(kind::END, "close the log")?;
        self.medium.sync().map_err(|e| self.failed("close the log", e))
    }

    /// Seals the record in the buffer and writes it at the end.
    fn append(&mut self, kind: u32, action: &str) -> Result<(), CacheError> {
        if self.broken {
            let source = io::Error::other("an earlier write failed");
            return Err(self.failed(action, source));
        }
        seal(&mut self.buffer, kind);
        if let Err(e) = self.medium.write_all(&self.buffer) {
            self.broken = true;
            // Cut the torn record off. If even that fails the reader will do it.
            let _ = self.medium.cut(self.end);
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

/// The first bytes of a log, up to the end of its header.
fn encoded_start(path: &Path, header: &LogHeader, meshes: &mut Meshes) -> Result<Vec<u8>, CacheError> {
    header.check().map_err(|why| {
        CacheError::invalid(
            format!("{} (header)", path.display()),
            why,
            "correct the bodies handed to the log",
        )
    })?;
    let mut record = Vec::new();
    begin(&mut record);
    record.extend_from_slice(&header.encode(meshes));
    seal(&mut record, kind::HEADER);
    let mut all = MAGIC.to_vec();
    all.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
    all.extend_from_slice(&0u32.to_le_bytes());
    all.extend_from_slice(&record);
    Ok(all)
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
