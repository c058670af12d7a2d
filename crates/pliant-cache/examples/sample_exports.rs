//! Writes a small log and every export of it into a directory, for `tools/verify_exports.py`.

#[path = "../tests/common/mod.rs"]
mod common;

use pliant_cache::{CacheError, ExportOptions, LogReader, export};
use std::path::PathBuf;

fn main() -> Result<(), CacheError> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out".into()));
    let log = directory.join("sample.plog");
    if let Err(e) = std::fs::create_dir_all(&directory) {
        return Err(CacheError::io(&directory, "create the directory", e));
    }
    let _ = std::fs::remove_file(&log);
    common::write_log(&log, 25, &[10], true);
    let reader = LogReader::open(&log)?;
    for name in ["sample.usda", "sample.abc", "sample.glb", "sample.pc2", "sample.obj"] {
        let done = export(&reader, directory.join(name), &ExportOptions::default(), &mut |_, _| {})?;
        println!("{}: {} files, {} frames", done.path.display(), done.files, done.frames);
    }
    for (k, body) in reader.header().bodies.iter().enumerate() {
        let options = ExportOptions { body: Some(body.name.clone()), ..Default::default() };
        export(&reader, directory.join(format!("body{k}.pc2")), &options, &mut |_, _| {})?;
    }
    Ok(())
}
