//! Writes a small run with everything awkward in it to all formats: what `tools/verify_exports.py` looks at.
//!
//! `cargo run -p pliant-cache --example dressed -- FOLDER`
#![allow(clippy::unwrap_used)] // an example may panic

#[path = "../tests/common/mod.rs"]
mod common;

use pliant_cache::{ExportOptions, FORMATS, LogReader, export};
use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::args().nth(1).expect("a folder"));
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("dressed.plog");
    common::write_dressed(&log, 13);
    let reader = LogReader::open(&log).unwrap();
    for format in FORMATS {
        let path = folder.join("dressed").with_extension(format.extension);
        let done = export(&reader, &path, &ExportOptions::default(), &mut |_, _| {}).unwrap();
        println!("{} ({} bytes)", done.path.display(), done.bytes);
    }
}
