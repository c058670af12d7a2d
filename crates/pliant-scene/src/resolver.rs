//! Where the files of a scene come from: the disk, memory, or wherever a host keeps them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Gives the files that a scene names. Paths come as the scene has them, joined to its folder.
pub trait Resolver {
    /// The bytes of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Names of what is in a folder, in any order; of a sequence of numbered meshes only the folder is known.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;
}

/// The file system. What is no regular file is refused: a device or pipe might never end, or never begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Resolver for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        pliant_geometry::read_regular(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let names = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
        // What is no text cannot be meant by a scene, which is one.
        names.filter_map(|name: io::Result<_>| name.map(|n| n.into_string().ok()).transpose()).collect()
    }
}

/// Files in memory, by their paths: for hosts without a file system, and for scenes that come whole.
///
/// ```
/// use pliant_scene::{InMemory, Scene};
///
/// let files = InMemory::from([("parts/tip.xyz", b"0 0 0\n1 0 0\n0 1 0\n0 0 1\n".to_vec())]);
/// let scene = "[[body]]\nshape = { kind = \"points\", file = \"parts/tip.xyz\" }\nclusters = 1\n";
/// let built = Scene::parse(scene, "tip.toml".as_ref())?.build_with(1, &files)?;
/// assert_eq!(built.simulation.model().particle_count(), 4);
/// # Ok::<(), Vec<pliant_scene::Diagnostic>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl InMemory {
    /// Adds a file, in place of one of the same path.
    pub fn insert(&mut self, path: impl AsRef<Path>, bytes: Vec<u8>) {
        self.files.insert(plain(path.as_ref()), bytes);
    }
}

impl<P: AsRef<Path>, const N: usize> From<[(P, Vec<u8>); N]> for InMemory {
    fn from(files: [(P, Vec<u8>); N]) -> InMemory {
        let mut all = InMemory::default();
        files.into_iter().for_each(|(path, bytes)| all.insert(path, bytes));
        all
    }
}

impl Resolver for InMemory {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(&plain(path)).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let folder = plain(folder);
        let inside = self.files.keys().filter(|path| path.parent() == Some(&folder));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_string())).collect())
    }
}

/// The path without detours: there are no links in memory to make `a/../b` anything but `b`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_found_by_any_way_to_them() {
        let files = InMemory::from([("a/b.obj", vec![1]), ("a/c_01.obj", vec![2]), ("d.obj", vec![3])]);
        assert_eq!(files.read(Path::new("./a/../a/b.obj")).ok(), Some(vec![1]));
        assert_eq!(files.list(Path::new("a/")).ok(), Some(vec!["b.obj".into(), "c_01.obj".into()]));
        assert_eq!(files.list(Path::new("")).ok(), Some(vec!["d.obj".into()]));
        assert!(files.read(Path::new("b.obj")).is_err_and(|e| e.kind() == io::ErrorKind::NotFound));
        assert_eq!(plain(Path::new("../x")), Path::new("../x"));
    }
}
