//! What a command reads and what it writes, looked at before it begins: no output may replace an input, nor be another
//! output under a second name, nor stand in the place of a file beside it that somebody else made.

use crate::failure::Failure;
use crate::outputs;
use pliant_cache::{export_files, is_own, write_target};
use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Files beside an output that are named when they are in the way; there may be one for each frame.
const SHOWN: usize = 3;

/// What tells a file from all others, however it is written: links and hard links lead to the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// Device and number of a file that is there.
    #[cfg(unix)]
    Node(u64, u64),
    /// The path, with everything followed that can be.
    Place(PathBuf),
}

impl Identity {
    /// Of a file that may or may not be there.
    pub fn of(path: &Path) -> Identity {
        #[cfg(unix)]
        if let Ok(metadata) = fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return Identity::Node(metadata.dev(), metadata.ino());
        }
        // A link that leads nowhere yet will lead to the file that is made.
        let path = write_target(path).unwrap_or_else(|_| path.to_path_buf());
        let path = std::path::absolute(&path).unwrap_or(path);
        let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
        let Some((part, mut place)) = there else { return Identity::Place(path) };
        for component in path.strip_prefix(part).unwrap_or(Path::new("")).components() {
            match component {
                Component::ParentDir => {
                    place.pop();
                }
                Component::Normal(name) => place.push(name),
                _ => {}
            }
        }
        Identity::Place(place)
    }
}

/// A file and what it is, in words.
struct ClaimedFile {
    path: PathBuf,
    what: String,
}

/// The files of a command.
pub struct Files {
    read: HashMap<Identity, ClaimedFile>,
    written: HashMap<Identity, ClaimedFile>,
    problems: Vec<String>,
    /// Files of others may be replaced where that was said.
    force: bool,
}

impl Files {
    /// None yet.
    pub fn new(force: bool) -> Files {
        Files { read: HashMap::new(), written: HashMap::new(), problems: Vec::new(), force }
    }

    /// A file that is read; never replaced, whatever is said.
    pub fn reads(&mut self, path: &Path, what: &str) {
        self.read.insert(Identity::of(path), ClaimedFile { path: path.to_path_buf(), what: what.into() });
    }

    /// A file the user named to be written.
    pub fn writes(&mut self, path: &Path, what: &str) {
        // What is written to a device is not kept: it may be named as often as one likes.
        if !outputs::is_device(path) {
            let problem = self.claim(path, what);
            self.problems.extend(problem);
        }
    }

    /// All files that an export of these frames writes, of which the user named at most one.
    pub fn exports(&mut self, path: &Path, frames: impl IntoIterator<Item = u32>) {
        let mut foreign: Vec<PathBuf> = Vec::new();
        let mut clashes = 0;
        for file in export_files(path, frames) {
            let named = file == path;
            if let Some(problem) = self.claim(&file, "this output") {
                clashes += 1;
                if clashes <= SHOWN {
                    self.problems.push(problem);
                }
            } else if !named && fs::symlink_metadata(&file).is_ok() && !is_own(&file) {
                foreign.push(file);
            }
        }
        self.foreign(path, &foreign);
    }

    /// Files that go beside `path`, which the user named; none of them may be somebody else's.
    pub fn beside(&mut self, path: &Path, files: &[PathBuf]) {
        let problems: Vec<String> = files.iter().filter_map(|f| self.claim(f, "this output")).collect();
        self.problems.extend(problems);
        let there = |f: &&PathBuf| fs::symlink_metadata(f).is_ok() && !is_own(f);
        let foreign: Vec<PathBuf> = files.iter().filter(there).cloned().collect();
        self.foreign(path, &foreign);
    }

    fn foreign(&mut self, path: &Path, files: &[PathBuf]) {
        if files.is_empty() || self.force {
            return;
        }
        let names: Vec<String> = files.iter().take(SHOWN).map(|f| f.display().to_string()).collect();
        let more = match files.len().saturating_sub(SHOWN) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let (is, they) = if files.len() == 1 { ("is", "it was") } else { ("are", "they were") };
        self.problems.push(format!(
            "{}: {}{more} {is} there already and would be replaced, and {they} not made by pliant; name another output, \
             or replace what is there with --force",
            path.display(),
            names.join(", "),
        ));
    }

    /// Takes a file to be written; says what is wrong with that.
    fn claim(&mut self, path: &Path, what: &str) -> Option<String> {
        let identity = Identity::of(path);
        let shown = path.display();
        // The same file under another name is easier to believe if that is told.
        let also = |known: &ClaimedFile| match known.path == path {
            true => String::new(),
            false => format!(" ({})", known.path.display()),
        };
        if let Some(known) = self.read.get(&identity) {
            let text = format!("{shown}: {what} would replace {}{}", known.what, also(known));
            return Some(format!("{text}, which is read; give each file its own name"));
        }
        if let Some(known) = self.written.get(&identity) {
            let text = match known.what == what {
                true => format!("{shown}: named twice{}; give each output its own name", also(known)),
                false => format!(
                    "{shown}: {what} would get mixed up with {}{}; give each file its own name",
                    known.what,
                    also(known)
                ),
            };
            return Some(text);
        }
        self.written.insert(identity, ClaimedFile { path: path.to_path_buf(), what: what.into() });
        None
    }

    /// What is wrong with them all, at once.
    pub fn finish(self) -> Result<(), Failure> {
        match self.problems.is_empty() {
            true => Ok(()),
            false => Err(Failure::all(Failure::USAGE, self.problems)),
        }
    }
}
