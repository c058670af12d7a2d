//! VTU series for ParaView: `name.pvd` lists `name_0000.vtu`, `name_0001.vtu`, … with their times.
//!
//! By default the simulation itself: particles with velocity, strain, cluster, contact, mass and body, and the
//! tetrahedra, triangles or edges they make up. With `surface` the mesh that pictures show. Each file has the bodies there
//! are in its frame.

mod file;
mod grid;

use super::ExportSummary;
use super::epochs::PerEpoch;
use super::names::{NameStyle, unique};
use super::sequence::numbered;
use super::sink::{ExportOrder, FrameEncoder, FrameNeeds, FrameOutput, FrameWriter, Sink};
use super::stream::{ExportStream, PosedFrame};
use crate::atomic::AtomicFile;
use crate::{CacheError, LogFrame, OutputFolder};
use file::Appended;
use grid::{Grid, ParticleGrid, SurfaceGrid};
use std::path::PathBuf;

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    match order.options.surface {
        false => begin_series(ParticleGrid::new(&order), order),
        true => begin_series(SurfaceGrid::new(&order), order),
    }
}

/// Something to be shown: grids that stay for an epoch, and what moves on them.
trait GridSource: Sync {
    /// The bodies over all frames; their places are the numbers of the field `body`.
    fn stream(&self) -> &ExportStream<'_>;
    fn needs(&self) -> FrameNeeds;
    /// What stays as long as there are the bodies of the frame at this place in the log.
    fn grid(&self, place: usize) -> Result<Grid, CacheError>;
    /// The points of a frame.
    fn points_of(&self, frame: &PosedFrame) -> Result<Vec<[f32; 3]>, CacheError>;
    /// Points of all bodies, each as it is at last.
    fn points(&self) -> usize;
    fn put_fields(&self, place: usize, frame: &LogFrame, out: &mut Appended);
}

fn begin_series<'a>(scene: impl GridSource + 'a, order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let ExportOrder { reader, stream, path, folder, .. } = order;
    let names: Vec<&str> = stream.bodies.iter().map(|b| b.name).collect();
    let comment = comment(&reader.header().program, &names);
    let list = path.with_extension("pvd");
    let text = format!(
        "<?xml version=\"1.0\"?>\n{comment}<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n  \
         <Collection>\n"
    );
    // Begun first, so that a folder that cannot be written to is known before any work; it appears last.
    let pvd = AtomicFile::create(folder, &list)?;
    let (frames, vertices) = (stream.frames.len(), scene.points());
    let summary = ExportSummary { path: list.clone(), files: frames + 1, frames, vertices, bytes: 0 };
    let parts = list.with_extension("vtu");
    Ok(Sink {
        make: Box::new(VtuFrames { scene, folder, parts, comment, known: PerEpoch::default() }),
        put: Box::new(PvdList { pvd, text, summary }),
    })
}

/// Makes the file of each frame.
struct VtuFrames<'a, S> {
    scene: S,
    folder: &'a dyn OutputFolder,
    parts: PathBuf,
    comment: String,
    known: PerEpoch<Grid>,
}

impl<S: GridSource> FrameEncoder for VtuFrames<'_, S> {
    fn needs(&self) -> FrameNeeds {
        self.scene.needs()
    }

    fn make(&self, posed: &PosedFrame) -> Result<FrameOutput, CacheError> {
        let (place, frame) = (posed.place, &posed.frame);
        let points = self.scene.points_of(posed)?;
        let grid = self.known.get(self.scene.stream().epoch_of(place), || self.scene.grid(place))?;
        let path = numbered(&self.parts, frame.index);
        let mut out = Appended::default();
        out.begin(&self.comment, &grid, frame.time);
        out.point_data();
        self.scene.put_fields(place, frame, &mut out);
        grid.put_fields(&mut out);
        out.points_and_cells(&points, &grid);
        let mut file = AtomicFile::create(self.folder, &path)?;
        out.write(&mut file)?;
        Ok(FrameOutput::File { file, path, time: frame.time })
    }
}

/// The list of the files.
struct PvdList {
    pvd: AtomicFile,
    text: String,
    summary: ExportSummary,
}

impl FrameWriter for PvdList {
    fn put(&mut self, _: usize, made: FrameOutput) -> Result<(), CacheError> {
        let (file, part, time) = made.file()?;
        self.summary.bytes += file.commit_one_of_many()?;
        let name = part.file_name().unwrap_or_default().to_string_lossy();
        self.text += &format!("    <DataSet timestep=\"{time}\" part=\"0\" file=\"{}\"/>\n", escaped(&name));
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        self.text += "  </Collection>\n</VTKFile>\n";
        self.pvd.put(self.text.as_bytes())?;
        self.summary.bytes += self.pvd.commit()?;
        Ok(self.summary)
    }
}

/// Who made it and which body is which: fields hold numbers only.
fn comment(program: &str, names: &[&str]) -> String {
    let names = unique(names.iter().copied(), NameStyle::Text, "body", &[]);
    let bodies: Vec<String> = names.iter().enumerate().map(|(k, name)| format!("{k} {name}")).collect();
    let text = format!("{program}; bodies: {}", bodies.join(", "));
    // Two hyphens would end the comment.
    let text: String = text.chars().map(|c| if c == '-' || c.is_control() { '_' } else { c }).collect();
    format!("<!-- {text} -->\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}
