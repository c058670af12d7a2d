//! Writes four small logs and every export of them into a directory, for `tools/verify_exports.py`: one with plain
//! bodies and odd names (`sample`), one whose bodies wear something (`dressed`), one in which bodies come, go and are torn
//! (`changing`), one of rigid bodies (`posed`), both with what has to be seen in each frame as `.json`; and a mesh of tetrahedra in two regions (`tets`)
//! in every format there is for those.

#[path = "../tests/common/mod.rs"]
mod common;

use pliant_cache::{CacheError, ExportOptions, FORMATS, LogBody, LogReader, export};
use pliant_geometry::{GeometryError, StuffingOptions, save_tets, shapes, stuff};
use std::path::{Path, PathBuf};

fn main() -> Result<(), CacheError> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "out".into()));
    if let Err(e) = std::fs::create_dir_all(&directory) {
        return Err(CacheError::io(&directory, "create the directory", e));
    }
    let [sample, dressed, changing, posed] =
        ["sample.plog", "dressed.plog", "changing.plog", "posed.plog"].map(|name| directory.join(name));
    let _ = std::fs::remove_file(&sample);
    common::write_log(&sample, 25, &[10], true);
    common::write_dressed(&dressed, 13);
    common::changing::write_changing(&changing, &[], false);
    common::posed::write_posed(&posed);
    for log in [&changing, &posed] {
        let truth = log.with_extension("json");
        std::fs::write(&truth, told(&LogReader::open(log)?)?)
            .map_err(|e| CacheError::io(&truth, "write what is to be seen", e))?;
    }
    for log in [sample, dressed, changing, posed] {
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

/// What is to be seen in each frame, as JSON: bodies with their names, faces and points, and where vertices come from.
fn told(reader: &LogReader) -> Result<String, CacheError> {
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    let mut frames = Vec::new();
    for i in 0..reader.frame_count() {
        let frame = reader.frame(i)?;
        let body = |body: &LogBody| {
            let mut vertices = Vec::new();
            body.vertices(&frame, &mut vertices);
            let points = vertices.iter().map(|p| format!("{:?}", p.as_vec3().to_array())).collect();
            let faces = match body.attributes.faces.is_empty() {
                true => body.mesh.triangles.iter().map(|t| format!("{t:?}")).collect(),
                false => body.attributes.faces.iter().map(|f| format!("{f:?}")).collect(),
            };
            let origin = body.origin.as_ref().map_or("null".into(), |o| format!("{:?}", o.vertices));
            format!(
                "{{\"id\":{},\"name\":{:?},\"version\":{},\"particles\":{},\"origin\":{origin},\"faces\":{},\"points\":{}}}",
                body.id,
                body.name,
                body.version,
                body.particles.len(),
                list(faces),
                list(points)
            )
        };
        let bodies = reader.bodies_at(i).iter().map(body).collect();
        frames.push(format!("{{\"number\":{},\"bodies\":{}}}", frame.index, list(bodies)));
    }
    Ok(format!("{{\"rate\":{},\"frames\":{}}}", reader.header().frames_per_second, list(frames)))
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
