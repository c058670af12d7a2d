//! Reading a log: an index on opening, then any frame at any time.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::frame::LogFrame;
use super::header::LogHeader;
use super::index::{CHECKPOINT_START, Index, LogWarning};
use super::packed::Layout;
use super::record::{Record, read_payload};
use crate::CacheError;
use crate::atomic::require_readable;

/// An open log. Holds the header and the offsets of frames; frames are read when asked for.
#[derive(Debug)]
pub struct LogReader {
    path: PathBuf,
    /// Reading moves the file's cursor; the lock lets frames be asked for through `&self`.
    file: Mutex<File>,
    index: Index,
    layout: Option<Layout>,
    /// What packed frames go by, once it was asked for.
    first: Mutex<Option<Arc<[Vec<f64>; 3]>>>,
    /// The controls that were last asked for, and the frame that holds them.
    controls: Mutex<Option<(u32, Arc<Vec<u8>>)>>,
}

impl LogReader {
    /// Opens a log and verifies it in one pass. A log that was broken off or damaged further on
    /// opens with what comes before; see [`warnings`](LogReader::warnings).
    pub fn open(path: impl AsRef<Path>) -> Result<LogReader, CacheError> {
        let path = path.as_ref();
        require_readable(path, "open the log")?;
        let mut file = File::open(path).map_err(|e| CacheError::io(path, "open the log", e))?;
        let index = Index::scan(&mut file, path)?;
        Ok(LogReader {
            path: path.to_path_buf(),
            file: Mutex::new(file),
            layout: Layout::of(&index.header),
            index,
            first: Mutex::new(None),
            controls: Mutex::new(None),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the log says about itself.
    pub fn header(&self) -> &LogHeader {
        &self.index.header
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
    pub fn position_of(&self, frame_index: u32) -> Option<usize> {
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
        let first = match LogFrame::is_packed(&payload).map_err(wrong)? {
            true => Some(self.first()?),
            false => None,
        };
        let by = first.as_deref().zip(self.layout.as_ref()).map(|(first, layout)| (layout, first));
        let mut frame = LogFrame::decode(&payload, by).map_err(wrong)?;
        frame.check(self.index.header.particle_count()).map_err(wrong)?;
        if let Some(number) = LogFrame::controls_of(&payload).map_err(wrong)? {
            frame.controls = self.controls_of(number).map_err(wrong)?.as_ref().clone();
        }
        Ok(frame)
    }

    /// Positions of the first frame, which is stored as it is.
    fn first(&self) -> Result<Arc<[Vec<f64>; 3]>, CacheError> {
        let mut known = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(first) = &*known {
            return Ok(first.clone());
        }
        let positions = match self.index.frames.first() {
            Some(entry) => {
                let payload = self.payload(&entry.record, 0)?;
                let frame = LogFrame::decode(&payload, None);
                frame
                    .map_err(|why| self.damaged(&entry.record, 0, format!("the first frame: {why}")))?
                    .positions
            }
            None => Default::default(),
        };
        Ok(known.insert(Arc::new(positions)).clone())
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

    fn payload(&self, record: &Record, frames: usize) -> Result<Vec<u8>, CacheError> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        read_payload(&mut *file, record)
            .map_err(|e| CacheError::io(&self.path, "read the log", e))?
            .ok_or_else(|| self.damaged(record, frames, "it changed after the log was opened".into()))
    }

    fn damaged(&self, record: &Record, frames: usize, why: String) -> CacheError {
        CacheError::Damaged { path: self.path.clone(), offset: record.offset, why, frames }
    }
}
