//! VTU series for ParaView: `name.pvd` lists `name_0000.vtu`, `name_0001.vtu`, … with their times.
//!
//! By default the simulation itself: particles with velocity, strain, cluster, contact, mass and body, and the
//! tetrahedra, triangles or edges they make up. With `surface` the mesh that pictures show.

mod file;
mod grid;

use std::path::Path;

use file::Appended;
use grid::{Grid, Particles, Surface};

use super::names::{Style, unique};
use super::sequence::numbered;
use super::stream::Room;
use super::{ExportOptions, ExportSummary, Progress, ahead};
use crate::atomic::AtomicFile;
use crate::export::Footage;
use crate::{CacheError, LogFrame};

pub(super) fn write(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    match options.surface {
        false => write_series(Particles::new(reader, options)?, reader, path, options, progress),
        true => write_series(Surface::new(reader, options)?, reader, path, options, progress),
    }
}

/// Something to be shown: a grid that stays and what moves on it.
trait Scene: Sync {
    fn grid(&self) -> &Grid;
    /// Names of the bodies, by their number in the field `body`.
    fn names(&self) -> Vec<&str>;
    /// The frame at this place in the log and its points.
    fn load(&self, room: &mut Room, place: usize) -> Result<(LogFrame, Vec<[f32; 3]>), CacheError>;
    fn put_fields(&self, frame: &LogFrame, out: &mut Appended);
}

fn write_series(
    scene: impl Scene,
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let frames = options.frames.positions(reader)?;
    let comment = comment(&reader.header().program, &scene.names());
    let list = path.with_extension("pvd");
    // Begun first, so that a folder that cannot be written to is known before any work; it appears last.
    let mut pvd = AtomicFile::create(&list)?;
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n{comment}<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  \
         <Collection>\n"
    );
    let mut bytes = 0;
    let make = |(room, out): &mut (Room, Appended), place: usize| {
        let (frame, points) = scene.load(room, place)?;
        let part = numbered(&list.with_extension("vtu"), frame.index);
        out.begin(&comment, scene.grid(), frame.time);
        out.point_data();
        scene.put_fields(&frame, out);
        out.points_and_cells(&points, scene.grid());
        let mut file = AtomicFile::create(&part)?;
        out.write(&mut file)?;
        Ok((part, frame.time, file))
    };
    ahead::in_order(options.threads, &frames, make, |done, (part, time, file)| {
        bytes += file.commit_one_of_many()?;
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        text += &format!("    <DataSet timestep=\"{time}\" part=\"0\" file=\"{}\"/>\n", escaped(&name));
        progress(done + 1, frames.len());
        Ok(())
    })?;
    text += "  </Collection>\n</VTKFile>\n";
    pvd.put(text.as_bytes())?;
    bytes += pvd.commit()?;
    let vertices = scene.grid().points;
    Ok(ExportSummary { path: list, files: frames.len() + 1, frames: frames.len(), vertices, bytes })
}

/// Who made it and which body is which: fields hold numbers only.
fn comment(program: &str, names: &[&str]) -> String {
    let names = unique(names.iter().copied(), Style::Text, "body", &[]);
    let bodies: Vec<String> = names.iter().enumerate().map(|(k, name)| format!("{k} {name}")).collect();
    let text = format!("{program}; bodies: {}", bodies.join(", "));
    // Two hyphens would end the comment.
    let text: String = text.chars().map(|c| if c == '-' || c.is_control() { '_' } else { c }).collect();
    format!("<!-- {text} -->\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}
