//! Reading a log: an index on opening, then any frame at any time.

use super::epoch::Epoch;
use super::frame::LogFrame;
use super::header::{LogBody, LogHeader};
use super::index::{CHECKPOINT_START, Index, LogWarning, PackingSource};
use super::medium::LogSource;
use super::packed::{PackedLayout, Reference, carried};
use super::record::{LogRecord, read_payload};
use crate::CacheError;
use crate::atomic::require_readable;
use std::collections::HashMap;
use std::fs::File;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// An open log. Holds the header and the offsets of frames; frames are read when asked for.
pub struct LogReader {
    path: PathBuf,
    /// Reading moves the file's cursor; the lock lets frames be asked for through `&self`.
    file: Mutex<Box<dyn LogSource>>,
    index: Index,
    /// What packed frames of an epoch go by, of the epoch that was last asked for.
    layout: Mutex<Option<(usize, Arc<PackedLayout>)>>,
    /// Where bodies were when they came, by epoch, once it was asked for.
    came: Mutex<HashMap<usize, Arc<Vec<Option<Reference>>>>>,
    /// The controls that were last asked for, and the frame that holds them.
    controls: Mutex<Option<(u32, Arc<Vec<u8>>)>>,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReader").field("path", &self.path).field("index", &self.index).finish()
    }
}

impl LogReader {
    /// Opens a log and verifies it in one pass. A log that was broken off or damaged further on
    /// opens with what comes before; see [`warnings`](LogReader::warnings).
    pub fn open(path: impl AsRef<Path>) -> Result<LogReader, CacheError> {
        let path = path.as_ref();
        require_readable(path, "open the log")?;
        let file = File::open(path).map_err(|e| CacheError::io(path, "open the log", e))?;
        LogReader::of(Box::new(file), path)
    }

    /// A log in memory; `name` is what messages call it.
    pub fn from_bytes(name: impl AsRef<Path>, bytes: Vec<u8>) -> Result<LogReader, CacheError> {
        LogReader::of(Box::new(Cursor::new(bytes)), name)
    }

    /// A log that is read from anything; `name` is what messages call it.
    pub fn of(mut file: Box<dyn LogSource>, name: impl AsRef<Path>) -> Result<LogReader, CacheError> {
        let path = name.as_ref();
        let index = Index::scan(&mut *file, path)?;
        Ok(LogReader {
            path: path.to_path_buf(),
            file: Mutex::new(file),
            index,
            layout: Mutex::new(None),
            came: Mutex::new(HashMap::new()),
            controls: Mutex::new(None),
        })
    }

    /// The path it was opened by, for messages; of a log on another medium, the name it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the log says about itself.
    pub fn header(&self) -> &LogHeader {
        &self.index.header
    }

    /// The stretches of frames with the same bodies, at least one.
    pub fn epochs(&self) -> &[Epoch] {
        &self.index.epochs
    }

    /// Which epoch the `i`-th frame is in.
    pub(crate) fn epoch_of(&self, i: usize) -> usize {
        self.index.epoch_of(i)
    }

    /// The bodies there are in the `i`-th frame.
    pub fn bodies_at(&self, i: usize) -> &[LogBody] {
        &self.index.epochs[self.epoch_of(i)].bodies
    }

    /// How many frames can be read.
    pub fn frame_count(&self) -> usize {
        self.index.frames.len()
    }

    /// Frame number (not position) of the `i`-th frame.
    pub fn frame_index(&self, i: usize) -> Option<u32> {
        self.index.frames.get(i).map(|f| f.index)
    }

    /// Simulated time of the `i`-th frame.
    pub fn frame_time(&self, i: usize) -> Option<f64> {
        self.index.frames.get(i).map(|f| f.time)
    }

    /// Position of the frame with this number.
    pub(crate) fn position_of(&self, frame_index: u32) -> Option<usize> {
        self.index.frames.binary_search_by_key(&frame_index, |f| f.index).ok()
    }

    /// Whether the run that wrote the log closed it.
    pub fn is_finished(&self) -> bool {
        self.index.finished
    }

    /// What a user should know: broken off, damaged.
    pub fn warnings(&self) -> &[LogWarning] {
        self.index.warning.as_slice()
    }

    /// Reads the `i`-th frame.
    pub fn frame(&self, i: usize) -> Result<LogFrame, CacheError> {
        let Some(entry) = self.index.frames.get(i) else {
            return Err(CacheError::invalid(
                self.path.display().to_string(),
                format!("there is no frame at position {i}, the log holds {}", self.frame_count()),
                "ask for one it holds",
            ));
        };
        let payload = self.payload(&entry.record, i)?;
        let wrong = |why| self.damaged(&entry.record, i, format!("frame {}: {why}", entry.index));
        let layout = match LogFrame::is_packed(&payload).map_err(wrong)? {
            true => Some(self.layout(self.epoch_of(i))?),
            false => None,
        };
        let bodies = self.bodies_at(i);
        let mut frame = LogFrame::decode(&payload, bodies, layout.as_deref()).map_err(wrong)?;
        frame.check(bodies).map_err(wrong)?;
        if let Some(number) = LogFrame::controls_of(&payload).map_err(wrong)? {
            frame.controls = self.controls_of(number).map_err(wrong)?.as_ref().clone();
        }
        Ok(frame)
    }

    /// What frames of an epoch are packed by.
    pub(super) fn layout(&self, epoch: usize) -> Result<Arc<PackedLayout>, CacheError> {
        let known = self.layout.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, layout)) = known.filter(|(of, _)| *of == epoch) {
            return Ok(layout);
        }
        let (bodies, sources) = (&self.index.epochs[epoch].bodies, &self.index.sources[epoch]);
        let mut parts = Vec::with_capacity(bodies.len());
        for (body, source) in bodies.iter().zip(sources) {
            let reference = match &body.rigid {
                Some(_) => None,
                None => self.reference(source, epoch)?,
            };
            parts.push((body, source.step, reference));
        }
        let layout = Arc::new(PackedLayout::of(parts));
        *self.layout.lock().unwrap_or_else(PoisonError::into_inner) = Some((epoch, layout.clone()));
        Ok(layout)
    }

    /// Where a body was in the first frame it was in, by the particles it has now.
    fn reference(&self, source: &PackingSource, epoch: usize) -> Result<Option<Reference>, CacheError> {
        let came = self.came_in(source.epoch)?;
        Ok(match (&came[source.place], &source.particles) {
            (Some(reference), Some(particles)) => Some(carried(reference, particles)),
            (Some(reference), None) => Some(reference.clone()),
            // In the epoch it comes in it is stored as it is, and nothing else is.
            (None, _) if source.epoch == epoch => None,
            (None, _) => return Err(self.missing(source.epoch)),
        })
    }

    /// Where bodies are that came with an epoch, which are stored as they are in its first frame.
    fn came_in(&self, epoch: usize) -> Result<Arc<Vec<Option<Reference>>>, CacheError> {
        let mut known = self.came.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(came) = known.get(&epoch) {
            return Ok(came.clone());
        }
        let place = self.index.entries[epoch].frames;
        let entry = self.index.frames.get(place).ok_or_else(|| self.missing(epoch))?;
        let payload = self.payload(&entry.record, place)?;
        let bodies = self.index.epochs[epoch].bodies.iter();
        let layout = PackedLayout::of(bodies.map(|body| (body, None, None)));
        let came = LogFrame::whole_positions(&payload, &layout)
            .map_err(|why| self.damaged(&entry.record, place, format!("frame {}: {why}", entry.index)))?;
        let came = Arc::new(came);
        known.insert(epoch, came.clone());
        Ok(came)
    }

    fn missing(&self, epoch: usize) -> CacheError {
        let entry = self.index.entries[epoch];
        let why = "the frame it begins with does not hold all of its bodies".into();
        CacheError::Damaged { path: self.path.clone(), offset: entry.offset, why, frames: entry.frames }
    }

    /// The controls of the `i`-th frame, and the number of the frame that holds them.
    pub(super) fn controls_at(&self, i: usize) -> Result<(Vec<u8>, u32), CacheError> {
        let frame = self.frame(i)?;
        let entry = &self.index.frames[i];
        let holder = LogFrame::controls_of(&self.payload(&entry.record, i)?);
        let holder = holder.map_err(|why| self.damaged(&entry.record, i, why))?;
        Ok((frame.controls, holder.unwrap_or(entry.index)))
    }

    /// The controls that the frame of this number holds itself.
    fn controls_of(&self, number: u32) -> Result<Arc<Vec<u8>>, String> {
        let mut known = self.controls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, controls)) = &*known
            && *of == number
        {
            return Ok(controls.clone());
        }
        let missing = || format!("the frame {number} with its controls is not there");
        let place = self.position_of(number).ok_or_else(missing)?;
        let payload = self.payload(&self.index.frames[place].record, place).map_err(|e| e.to_string())?;
        let controls = Arc::new(LogFrame::own_controls(&payload)?.ok_or_else(missing)?);
        *known = Some((number, controls.clone()));
        Ok(controls)
    }

    /// The last checkpoint: its frame number and the engine's bytes.
    pub fn last_checkpoint(&self) -> Result<Option<(u32, Vec<u8>)>, CacheError> {
        let Some((frame, record)) = self.index.checkpoint else {
            return Ok(None);
        };
        let before = self.index.frames.partition_point(|f| f.index <= frame);
        let mut payload = self.payload(&record, before)?;
        payload.drain(..CHECKPOINT_START.min(payload.len()));
        Ok(Some((frame, payload)))
    }

    fn payload(&self, record: &LogRecord, frames: usize) -> Result<Vec<u8>, CacheError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        read_payload(&mut *file, record)
            .map_err(|e| CacheError::io(&self.path, "read the log", e))?
            .ok_or_else(|| self.damaged(record, frames, "it changed after the log was opened".into()))
    }

    fn damaged(&self, record: &LogRecord, frames: usize, why: String) -> CacheError {
        CacheError::Damaged { path: self.path.clone(), offset: record.offset, why, frames }
    }
}
