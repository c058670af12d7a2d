//! Writes two small logs and every export of them into a directory, for `tools/verify_exports.py`: one with plain
//! bodies and odd names (`sample`), one whose bodies wear something (`dressed`); and a mesh of tetrahedra in two regions
//! (`tets`) in every format there is for those.

#[path = "../tests/common/mod.rs"]
mod common;

use pliant_cache::{CacheError, ExportOptions, FORMATS, LogReader, export};
use pliant_geometry::{GeometryError, StuffingOptions, save_tets, shapes, stuff};
use std::path::{Path, PathBuf};

fn main() -> Result<(), CacheError> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out".into()));
    if let Err(e) = std::fs::create_dir_all(&directory) {
        return Err(CacheError::io(&directory, "create the directory", e));
    }
    let [sample, dressed] = ["sample.plog", "dressed.plog"].map(|name| directory.join(name));
    let _ = std::fs::remove_file(&sample);
    common::write_log(&sample, 25, &[10], true);
    common::write_dressed(&dressed, 13);
    for log in [sample, dressed] {
        let reader = LogReader::open(&log)?;
        for format in FORMATS {
            let path = log.with_extension(format.extension);
            let done = export(&reader, path, &ExportOptions::default(), &mut |_, _| {})?;
            println!("{}: {} files, {} frames", done.path.display(), done.files, done.frames);
        }
        for (k, body) in reader.header().bodies.iter().enumerate() {
            let options = ExportOptions { body: Some(body.name.to_string()), ..Default::default() };
            export(&reader, log.with_file_name(format!("body{k}.pc2")), &options, &mut |_, _| {})?;
        }
    }
    write_tets(&directory).map_err(|e| CacheError::invalid("tets", e.message, e.help))
}

/// A torus of tetrahedra, its two halves in regions of their own.
fn write_tets(directory: &Path) -> Result<(), GeometryError> {
    let torus = shapes::torus(0.3, 0.1, 0.05)?.surface;
    let (mut tets, _) = stuff(&torus, 0.08, &StuffingOptions::default())?;
    let side = |t: &[u32; 4]| if tets.points[t[0] as usize].x < 0.0 { 1 } else { 7 };
    tets.regions = tets.tetrahedra.iter().map(side).collect();
    for extension in ["msh", "vtu", "mesh", "ele"] {
        let path = directory.join("tets").with_extension(extension);
        save_tets(&path, &tets)?;
        println!("{}: {} tetrahedra", path.display(), tets.tetrahedra.len());
    }
    Ok(())
}
