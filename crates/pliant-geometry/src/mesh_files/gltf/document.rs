//! What all parts of the reader look things up in: the lists of the JSON part, the bytes of the buffers, and how
//! much may still be made of them.

use super::json::{EXPORT_AGAIN, JsonList, JsonPlace};
use super::uri::{self, UriSource};
use crate::error::{ErrorList, GeometryError, stays_in_folder};
use crate::mesh_files::Fetch;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The top-level lists.
pub(super) struct DocumentLists<'a> {
    pub root: JsonPlace<'a>,
    pub accessors: JsonList<'a>,
    pub views: JsonList<'a>,
    pub buffers: JsonList<'a>,
    pub meshes: JsonList<'a>,
    pub nodes: JsonList<'a>,
    pub scenes: JsonList<'a>,
    pub materials: JsonList<'a>,
    pub textures: JsonList<'a>,
    pub images: JsonList<'a>,
    pub animations: JsonList<'a>,
}

impl<'a> DocumentLists<'a> {
    pub fn new(json: &'a Value) -> Result<DocumentLists<'a>, GeometryError> {
        let root = JsonPlace::root(json);
        if !json.is_object() {
            return Err(root.fault("this must be an object", EXPORT_AGAIN));
        }
        Ok(DocumentLists {
            accessors: root.list("accessors")?,
            views: root.list("bufferViews")?,
            buffers: root.list("buffers")?,
            meshes: root.list("meshes")?,
            nodes: root.list("nodes")?,
            scenes: root.list("scenes")?,
            materials: root.list("materials")?,
            textures: root.list("textures")?,
            images: root.list("images")?,
            animations: root.list("animations")?,
            root,
        })
    }
}

/// The bytes of each buffer, exactly as long as it claims; `None` where that failed.
pub(super) struct Buffers<'a>(Vec<Option<Bytes<'a>>>);

enum Bytes<'a> {
    Here(Cow<'a, [u8]>, usize),
    Fetched(Rc<Vec<u8>>, usize),
}

impl<'a> Buffers<'a> {
    /// Gets all buffers; a file that several of them name is read once.
    pub fn load(
        lists: &DocumentLists<'_>,
        chunk: Option<&'a [u8]>,
        file: &Path,
        fetch: Fetch<'_>,
        errors: &mut ErrorList,
    ) -> Buffers<'a> {
        let mut fetched = HashMap::new();
        let mut load = |index: usize, at: JsonPlace<'_>| -> Result<Bytes<'a>, GeometryError> {
            let length = at.need_count("byteLength")?;
            let enough = |found: usize| match length <= found {
                true => Ok(length),
                false => Err(at.need("byteLength")?.fault(
                    format!("{length} bytes are claimed, {found} are there"),
                    "the data is incomplete: copy or export it again",
                )),
            };
            let Some(text) = at.text("uri") else {
                return match chunk.filter(|_| index == 0) {
                    Some(bytes) => Ok(Bytes::Here(Cow::Borrowed(bytes), enough(bytes.len())?)),
                    None => {
                        Err(at.fault("the buffer has no data", "export without compression, with all data"))
                    }
                };
            };
            let place = at.need("uri")?;
            let help = "keep the data in the same folder as the file, or export as .glb";
            match uri::resolve(text).map_err(|why| place.fault(why, help))? {
                UriSource::Data(bytes) => {
                    let length = enough(bytes.len())?;
                    Ok(Bytes::Here(Cow::Owned(bytes), length))
                }
                UriSource::File(name) => {
                    let beside = file.with_file_name(&name);
                    if !stays_in_folder(file, &beside) {
                        let why = format!(
                            "`{}` is a link that leads out of the folder of the file",
                            name.display()
                        );
                        return Err(place.fault(why, help));
                    }
                    let bytes = through(&mut fetched, &beside, fetch).map_err(|e| GeometryError {
                        message: format!("{}: {}", place.path(), e.message),
                        ..e
                    })?;
                    let length = enough(bytes.len())?;
                    Ok(Bytes::Fetched(bytes, length))
                }
            }
        };
        let load = |(index, at)| load(index, at).map_err(|e| errors.add(e)).ok();
        Buffers(lists.buffers.iter().enumerate().map(load).collect())
    }

    /// The bytes of a buffer that was loaded.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        match self.0.get(index)?.as_ref()? {
            Bytes::Here(bytes, length) => bytes.get(..*length),
            Bytes::Fetched(bytes, length) => bytes.get(..*length),
        }
    }

    /// How many bytes there are in all, files that are named twice counted once: what a file may become depends on
    /// it, and should not on how often it names another.
    pub fn total(&self) -> u64 {
        let mut seen = HashSet::new();
        let mut size = |bytes: &Bytes<'_>| match bytes {
            Bytes::Here(_, length) => *length,
            Bytes::Fetched(bytes, _) if seen.insert(Rc::as_ptr(bytes)) => bytes.len(),
            Bytes::Fetched(..) => 0,
        };
        self.0.iter().flatten().map(|bytes| size(bytes) as u64).sum()
    }
}

type Fetched = HashMap<PathBuf, Rc<Vec<u8>>>;

fn through(fetched: &mut Fetched, path: &Path, fetch: Fetch<'_>) -> Result<Rc<Vec<u8>>, GeometryError> {
    if let Some(bytes) = fetched.get(path) {
        return Ok(bytes.clone());
    }
    let bytes = Rc::new(fetch(path).map_err(|why| GeometryError::unreadable(path, &why))?);
    fetched.insert(path.to_path_buf(), bytes.clone());
    Ok(bytes)
}

/// How much may still be made of a file. Accessors, instances and animations can use the same bytes again and
/// again, so that a small file can stand for more than any memory holds.
pub(super) struct Budget {
    bytes: Cell<u64>,
    work: Cell<u64>,
    file: u64,
}

/// What a file of any size may become.
const FREE_BYTES: u64 = 256 << 20;
/// How many times larger than the file its content may be beyond that.
const BYTES_PER_BYTE: u64 = 64;

impl Budget {
    pub fn new(file: u64) -> Budget {
        let bytes = file.saturating_mul(BYTES_PER_BYTE).saturating_add(FREE_BYTES);
        // A unit of work is some nanoseconds, as is filling a byte or two.
        Budget { bytes: Cell::new(bytes), work: Cell::new(bytes.saturating_mul(2)), file }
    }

    /// Sets bytes aside for `count` things of a size.
    pub fn bytes(&self, at: &JsonPlace<'_>, count: usize, size: usize) -> Result<(), GeometryError> {
        take(&self.bytes, count, size).ok_or_else(|| {
            let help = "export fewer instances, keyframes or vertices, or a part of the scene";
            let times = FREE_BYTES / 1024 / 1024;
            let message = format!(
                "{count} times {size} bytes more would make the content larger than {times} MiB and \
                 {BYTES_PER_BYTE} times the {} bytes of the file",
                self.file
            );
            at.fault(message, help)
        })
    }

    /// Counts `count` times `size` steps of work.
    pub fn work(&self, at: &JsonPlace<'_>, count: usize, size: usize) -> Result<(), GeometryError> {
        take(&self.work, count, size).ok_or_else(|| {
            at.fault(
                format!(
                    "{count} keyframes with {size} steps each are more work than {} bytes of file allow",
                    self.file
                ),
                "bake the animation to fewer keyframes, or leave it out",
            )
        })
    }
}

fn take(left: &Cell<u64>, count: usize, size: usize) -> Option<()> {
    let wanted = (count as u64).checked_mul(size as u64)?;
    left.set(left.get().checked_sub(wanted)?);
    Some(())
}

/// A file that is being read.
pub(super) struct Document<'a> {
    pub lists: DocumentLists<'a>,
    pub buffers: Buffers<'a>,
    pub budget: Budget,
}
