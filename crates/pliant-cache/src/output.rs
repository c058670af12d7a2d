//! Where exports put their files: a disk, where each appears whole or not at all, or memory.

use crate::CacheError;
use crate::atomic::{beside, require_free, sync_directory_of, write_target};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Cursor, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Where exports put their files.
pub trait OutputFolder: Sync {
    /// Begins a file. It is there once it is committed, and not at all if it is dropped before.
    fn create(&self, path: &Path) -> Result<Box<dyn OutputFile>, CacheError>;

    /// Begins something to write and read again while the file at `path` is made; gone when it is dropped.
    fn scratch(&self, path: &Path) -> Result<Box<dyn ScratchFile>, CacheError>;
}

/// A file that is being written.
pub trait OutputFile: Write + Seek + Send {
    /// Lets it appear. With `wait` it is safe from a power cut then, which takes time.
    fn commit(self: Box<Self>, wait: bool) -> io::Result<()>;
}

/// Something to write and read again.
pub trait ScratchFile: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> ScratchFile for T {}

/// The file system: files are written beside their place, under a name with `.tmp`, and renamed into it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskOutput;

/// An unfinished file, removed if nobody wants it.
struct DiskFile {
    path: PathBuf,
    temporary: TemporaryFile,
    file: BufWriter<File>,
}

/// Removes its file in the end.
struct TemporaryFile(Option<PathBuf>);

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

impl OutputFolder for DiskOutput {
    fn create(&self, path: &Path) -> Result<Box<dyn OutputFile>, CacheError> {
        let path = write_target(path)?;
        let temporary = beside(&path, ".tmp");
        require_free(&temporary)?;
        let file = File::create(&temporary).map_err(|e| CacheError::io(&path, "create the file", e))?;
        let file = BufWriter::with_capacity(1 << 18, file);
        Ok(Box::new(DiskFile { path, temporary: TemporaryFile(Some(temporary)), file }))
    }

    fn scratch(&self, path: &Path) -> Result<Box<dyn ScratchFile>, CacheError> {
        let path = beside(&write_target(path)?, ".spool.tmp");
        require_free(&path)?;
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        let file = file.map_err(|e| CacheError::io(&path, "create the temporary file", e))?;
        Ok(Box::new(DiskScratch { file, _temporary: TemporaryFile(Some(path)) }))
    }
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for DiskFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        // Seeking empties the buffer first, so older bytes cannot overtake what is written there.
        self.file.seek(to)
    }
}

impl OutputFile for DiskFile {
    fn commit(self: Box<Self>, wait: bool) -> io::Result<()> {
        let DiskFile { path, mut temporary, file } = *self;
        let file = file.into_inner().map_err(|e| e.into_error())?;
        if wait {
            file.sync_all()?;
        }
        if let Some(from) = &temporary.0 {
            fs::rename(from, &path)?;
            temporary.0 = None;
        }
        if wait {
            sync_directory_of(&path);
        }
        Ok(())
    }
}

/// A temporary file on a disk.
struct DiskScratch {
    file: File,
    _temporary: TemporaryFile,
}

impl Read for DiskScratch {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.file.read(to)
    }
}

impl Write for DiskScratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for DiskScratch {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Files in memory, by the paths they were asked for under. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryOutput(Arc<Mutex<BTreeMap<PathBuf, Vec<u8>>>>);

impl MemoryOutput {
    /// Takes all files out, by their paths.
    pub fn take(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct MemoryFile {
    path: PathBuf,
    files: MemoryOutput,
    bytes: Cursor<Vec<u8>>,
}

impl OutputFolder for MemoryOutput {
    fn create(&self, path: &Path) -> Result<Box<dyn OutputFile>, CacheError> {
        let (path, files) = (path.to_path_buf(), self.clone());
        Ok(Box::new(MemoryFile { path, files, bytes: Cursor::default() }))
    }

    fn scratch(&self, _: &Path) -> Result<Box<dyn ScratchFile>, CacheError> {
        Ok(Box::new(Cursor::new(Vec::new())))
    }
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for MemoryFile {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

impl OutputFile for MemoryFile {
    fn commit(self: Box<Self>, _: bool) -> io::Result<()> {
        let MemoryFile { path, files, bytes } = *self;
        files.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path, bytes.into_inner());
        Ok(())
    }
}
