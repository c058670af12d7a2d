//! Which files an export writes: numbered ones where each frame has its own, and those that go beside.

use super::sink::{FrameOutput, FrameWriter};
use super::{ExportSummary, ResampledLog};
use crate::CacheError;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Fewest `#` in a row that stand for a number: one alone may well be part of a name.
const LEAST: usize = 2;
/// Bytes at the start of a file within which its maker is told.
const START: u64 = 512;

/// Whether the name says where the number goes: two or more `#`, one for each digit.
pub fn is_pattern(path: &Path) -> bool {
    place_of_number(&name(path)).is_some()
}

/// The program that wrote a log, as a comment of one line tells it.
pub(super) fn program_in_a_line(reader: &ResampledLog<'_>) -> String {
    reader.header().program.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The file of a frame: with its number in place of the `#`, or behind the name; there it has at least four digits so
/// that files sort by name.
pub(super) fn numbered(path: &Path, frame: u32) -> PathBuf {
    let name = name(path);
    match place_of_number(&name) {
        Some((start, digits)) => {
            let number = format!("{frame:0digits$}");
            path.with_file_name(format!("{}{number}{}", &name[..start], &name[start + digits..]))
        }
        None => {
            let mut name = path.file_stem().map_or_else(OsString::new, OsString::from);
            name.push(format!("_{frame:04}."));
            name.push(path.extension().unwrap_or_default());
            path.with_file_name(name)
        }
    }
}

/// The path without the place of a number, for what goes with all frames; `None` if nothing is left of the name.
pub fn without_number(path: &Path) -> Option<PathBuf> {
    let name = name(path);
    let Some((start, digits)) = place_of_number(&name) else {
        return Some(path.to_path_buf());
    };
    let before = name[..start].trim_end_matches(['_', '-', '.', ' ']);
    let (stem, after) = (before.trim_start_matches('.'), &name[start + digits..]);
    let left = !stem.is_empty() || !after.starts_with('.');
    left.then(|| path.with_file_name(format!("{before}{after}")))
}

/// The material library of an OBJ sequence.
pub(super) fn library(path: &Path) -> PathBuf {
    without_number(path).unwrap_or_else(|| path.with_file_name("materials.obj")).with_extension("mtl")
}

/// All files that an export of these frames to `path` writes, by its extension.
pub fn export_files(path: &Path, frames: impl IntoIterator<Item = u32>) -> Vec<PathBuf> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let all = |path: &Path| frames.into_iter().map(|n| numbered(path, n)).collect::<Vec<_>>();
    match extension.as_str() {
        "obj" => {
            let mut files = all(path);
            files.push(library(path));
            files
        }
        "ply" => all(path),
        "png" if is_pattern(path) => all(path),
        "pvd" | "vtu" => {
            let mut files = all(&path.with_extension("vtu"));
            files.push(path.with_extension("pvd"));
            files
        }
        _ => vec![path.to_path_buf()],
    }
}

/// Whether a file says at its start that this program made it, so that nobody misses it when it is made again.
pub fn is_own(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(START).read_to_end(&mut start));
    let marks: [&[u8]; 4] = [b"# pliant ", b"comment pliant ", b"<!-- pliant ", b"Software\0pliant "];
    read.is_ok() && marks.iter().any(|mark| start.windows(mark.len()).any(|part| part == *mark))
}

/// Files that were made, put into place in the order of their frames.
pub(super) struct FileSeries {
    pub summary: ExportSummary,
}

impl FrameWriter for FileSeries {
    fn put(&mut self, _: usize, made: FrameOutput) -> Result<(), CacheError> {
        let (file, _, _) = made.file()?;
        self.summary.bytes += file.commit_one_of_many()?;
        self.summary.files += 1;
        Ok(())
    }

    fn finish(self: Box<Self>, _: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        Ok(self.summary)
    }
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Where the last run of `#` begins in a name, and how long it is.
fn place_of_number(name: &str) -> Option<(usize, usize)> {
    let mut found = None;
    let mut at = 0;
    while let Some(start) = name[at..].find('#').map(|k| at + k) {
        let digits = name[start..].bytes().take_while(|&b| b == b'#').count();
        if digits >= LEAST {
            found = Some((start, digits));
        }
        at = start + digits;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_where_the_name_says() {
        let of = |path: &str, n: u32| numbered(Path::new(path), n).display().to_string();
        assert_eq!(of("a/bear.obj", 7), "a/bear_0007.obj");
        assert_eq!(of("a/####.png", 7), "a/0007.png");
        assert_eq!(of("a/shot_##_v2.png", 12345), "a/shot_12345_v2.png");
        assert_eq!(of("take#2_###.png", 3), "take#2_003.png");
        assert!(!is_pattern(Path::new("take#2.png")) && !is_pattern(Path::new("##/a.png")));
        let plain = |path: &str| without_number(Path::new(path)).map(|p| p.display().to_string());
        assert_eq!(plain("a/shot_####.png").as_deref(), Some("a/shot.png"));
        assert_eq!(plain("a/####.png"), None);
        assert_eq!(plain("a/bear.gif").as_deref(), Some("a/bear.gif"));
        assert_eq!(library(Path::new("a/####.obj")), Path::new("a/materials.mtl"));
        assert_eq!(library(Path::new("a/b.obj")), Path::new("a/b.mtl"));
    }

    #[test]
    fn every_file_of_an_export_is_known_before_it_is_written() {
        let of = |path: &str| {
            let files = export_files(Path::new(path), 0..2);
            files.iter().map(|p| p.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of("a.obj"), ["a_0000.obj", "a_0001.obj", "a.mtl"]);
        assert_eq!(of("a.vtu"), ["a_0000.vtu", "a_0001.vtu", "a.pvd"]);
        assert_eq!(of("##.png"), ["00.png", "01.png"]);
        assert_eq!(of("a.png"), ["a.png"]);
    }
}
