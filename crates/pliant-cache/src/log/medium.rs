//! What a log is written to and read from: a file, memory, or anything that takes bytes.

use crate::atomic::require_readable;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What the bytes of a log are read from.
pub trait LogSource: Read + Seek + Send {}

impl<T: Read + Seek + Send> LogSource for T {}

/// What a log is appended to.
pub trait LogMedium: Write + Send {
    /// Whether it can be cut.
    fn can_cut(&self) -> bool {
        true
    }

    /// Cuts off everything from byte `end` on; what is written next goes there.
    fn cut(&mut self, end: u64) -> io::Result<()>;
    /// Waits until everything written is safe, as far as the medium knows what that is.
    fn sync(&mut self) -> io::Result<()>;
    /// Reads what was written so far, apart from the writing.
    fn source(&self) -> io::Result<Box<dyn LogSource>>;
}

/// A file, locked for as long as this lives.
#[derive(Debug)]
pub(super) struct DiskLog {
    pub(super) path: PathBuf,
    pub(super) file: File,
}

impl Write for DiskLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl LogMedium for DiskLog {
    fn cut(&mut self, end: u64) -> io::Result<()> {
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end)).map(|_| ())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn source(&self) -> io::Result<Box<dyn LogSource>> {
        // A file of its own: a copy of the handle would share the place where the next bytes go.
        require_readable(&self.path, "read the log").map_err(io::Error::other)?;
        Ok(Box::new(File::open(&self.path)?))
    }
}

/// A log in memory. Clones share their bytes, so that one can be written while another is read.
///
/// ```
/// use pliant_cache::{LogHeader, LogReader, LogWriter, MemoryLog};
///
/// let log = MemoryLog::default();
/// # let header = LogHeader { program: "test 1".into(), bits: String::new(), scene_text: String::new(), scene_hash: 7,
/// #     frames_per_second: 60.0, bodies: vec![], planes: vec![], colliders: vec![], picture: Default::default() };
/// LogWriter::begin(Box::new(log.clone()), "run", &header)?.finish()?;
/// assert!(LogReader::from_bytes("run", log.bytes())?.is_finished());
/// # Ok::<(), pliant_cache::CacheError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryLog(Arc<Mutex<Vec<u8>>>);

impl MemoryLog {
    /// A log that already holds the bytes of another one, for [`LogWriter::resume_on`](super::LogWriter::resume_on) to
    /// append to.
    pub fn of(bytes: Vec<u8>) -> MemoryLog {
        MemoryLog(Arc::new(Mutex::new(bytes)))
    }

    /// A copy of what was written so far.
    pub fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many bytes that is.
    pub fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Write for MemoryLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl LogMedium for MemoryLog {
    fn cut(&mut self, end: u64) -> io::Result<()> {
        let end = usize::try_from(end).unwrap_or(usize::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).truncate(end);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn source(&self) -> io::Result<Box<dyn LogSource>> {
        Ok(Box::new(SharedBytes { log: self.clone(), at: 0 }))
    }
}

/// Reads a log in memory that may still grow.
struct SharedBytes {
    log: MemoryLog,
    at: u64,
}

impl Read for SharedBytes {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let bytes = self.log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let left = usize::try_from(self.at).ok().and_then(|at| bytes.get(at..)).unwrap_or(&[]);
        let count = left.len().min(to.len());
        to[..count].copy_from_slice(&left[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for SharedBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, by) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::Current(by) => (self.at, by),
            SeekFrom::End(by) => (self.log.len() as u64, by),
        };
        let before = || io::Error::new(io::ErrorKind::InvalidInput, "a place before the first byte");
        self.at = from.checked_add_signed(by).ok_or_else(before)?;
        Ok(self.at)
    }
}

/// A log written to something that takes bytes one after the other, such as a pipe or a socket: it can neither be cut back
/// (so edits of frames that were written are refused) nor read again.
#[derive(Debug)]
pub struct WriteOnlyLog<W>(pub W);

impl<W: Write> Write for WriteOnlyLog<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write + Send> LogMedium for WriteOnlyLog<W> {
    fn can_cut(&self) -> bool {
        false
    }

    fn cut(&mut self, _: u64) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "what was written to a stream cannot be taken back"))
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn source(&self) -> io::Result<Box<dyn LogSource>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "what was written to a stream cannot be read again"))
    }
}
