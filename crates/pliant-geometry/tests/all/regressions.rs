//! Files that a fuzzer found a reader to stumble over, and the seeds it starts from: each to its reader, by folder.

use std::fs;
use std::path::{Path, PathBuf};

/// Format and path of every file in `root/FORMAT/`, in order.
fn files(root: &str) -> Vec<(String, PathBuf)> {
    let entries = |folder: &Path| {
        let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        paths
    };
    let format = |folder: &Path| folder.file_name().unwrap().to_string_lossy().into_owned();
    let folders = entries(Path::new(root)).into_iter();
    folders.flat_map(|f| entries(&f).into_iter().map(move |path| (format(&f), path))).collect()
}

#[test]
fn what_broke_a_reader_once_is_answered() {
    for (format, path) in files("tests/regressions") {
        println!("{}", path.display());
        crate::soundness::feed(&format, &fs::read(path).unwrap());
    }
}

#[test]
fn seeds_are_accepted_and_every_truncation_is_answered() {
    // These are read by other crates.
    let elsewhere = |format: &str| ["log", "scene", "checkpoint"].contains(&format);
    for (format, path) in files("../../fuzz/seeds").into_iter().filter(|(format, _)| !elsewhere(format)) {
        let bytes = fs::read(&path).unwrap();
        assert!(crate::soundness::feed(&format, &bytes), "{} is refused", path.display());
        if format != "care" {
            for end in 0..bytes.len() {
                crate::soundness::feed(&format, &bytes[..end]);
            }
        }
    }
}
