//! VTU series for ParaView: `name.pvd` lists `name_0000.vtu`, `name_0001.vtu`, … with their times.
//!
//! By default the simulation itself: particles with velocity, strain, cluster, contact, mass and body, and the
//! tetrahedra, triangles or edges they make up. With `surface` the mesh that pictures show. Each file has the bodies there
//! are in its frame.

mod file;
mod grid;

use std::path::Path;

use file::Appended;
use grid::{Grid, Particles, Surface};

use super::names::{Style, unique};
use super::sequence::numbered;
use super::stream::{Room, Stream};
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

/// Something to be shown: grids that stay for an epoch, and what moves on them.
trait Scene: Sync {
    /// The bodies over all frames; their places are the numbers of the field `body`.
    fn stream(&self) -> &Stream<'_>;
    /// What stays as long as there are the bodies of the frame at this place in the log.
    fn grid(&self, place: usize) -> Result<Grid, CacheError>;
    /// The frame at this place in the log and its points.
    fn load(&self, room: &mut Room, place: usize) -> Result<(LogFrame, Vec<[f32; 3]>), CacheError>;
    /// Points of all bodies, each as it is at last.
    fn points(&self) -> usize;
    fn put_fields(&self, place: usize, frame: &LogFrame, out: &mut Appended);
}

fn write_series(
    scene: impl Scene,
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let frames = &scene.stream().frames;
    let names: Vec<&str> = scene.stream().bodies.iter().map(|b| b.name).collect();
    let comment = comment(&reader.header().program, &names);
    let list = path.with_extension("pvd");
    // Begun first, so that a folder that cannot be written to is known before any work; it appears last.
    let mut pvd = AtomicFile::create(&list)?;
    let mut text = format!(
        "<?xml version=\"1.0\"?>\n{comment}<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  \
         <Collection>\n"
    );
    let mut bytes = 0;
    let make = |(room, out, known): &mut (Room, Appended, Option<(usize, Grid)>), place: usize| {
        let (frame, points) = scene.load(room, place)?;
        let epoch = reader.epoch_of(place);
        let grid = match known.take().filter(|(of, _)| *of == epoch) {
            Some((_, grid)) => grid,
            None => scene.grid(place)?,
        };
        let part = numbered(&list.with_extension("vtu"), frame.index);
        out.begin(&comment, &grid, frame.time);
        out.point_data();
        scene.put_fields(place, &frame, out);
        grid.put_fields(out);
        out.points_and_cells(&points, &grid);
        *known = Some((epoch, grid));
        let mut file = AtomicFile::create(&part)?;
        out.write(&mut file)?;
        Ok((part, frame.time, file))
    };
    ahead::in_order(options.threads, frames, make, |done, (part, time, file)| {
        bytes += file.commit_one_of_many()?;
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        text += &format!("    <DataSet timestep=\"{time}\" part=\"0\" file=\"{}\"/>\n", escaped(&name));
        progress(done + 1, frames.len());
        Ok(())
    })?;
    text += "  </Collection>\n</VTKFile>\n";
    pvd.put(text.as_bytes())?;
    bytes += pvd.commit()?;
    let vertices = scene.points();
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
