//! Exports: every other format is made from a log, one file of code per format.

mod ahead;
mod alembic;
mod all;
mod bytes;
mod epochs;
mod glb;
mod materials;
mod mdd;
mod names;
mod obj;
mod pc2;
mod picture;
mod ply;
mod point_cache;
mod resampled;
mod sequence;
mod sink;
mod stream;
mod target;
mod usda;
mod vtu;

pub use all::{ExportOutput, export_all};
pub use resampled::ResampledLog;
pub use sequence::{export_files, is_own, is_pattern, without_number};
pub use stream::Conversion;
pub use target::{Target, TargetOptions};

use crate::render::CameraMotion;
use crate::{CacheError, ColorBy, DiskOutput, LogBody, LogReader};
use picture::Picture;
use sink::{ExportOrder, Sink};
use std::path::{Path, PathBuf};

/// Which frames to export, by the frame numbers in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSelection {
    /// First frame number; `None` is the log's first.
    pub first: Option<u32>,
    /// Last frame number, inclusive; `None` is the log's last.
    pub last: Option<u32>,
    /// Every how many frames, counted from the first one; at least 1.
    pub step: u32,
}

impl Default for FrameSelection {
    fn default() -> Self {
        FrameSelection { first: None, last: None, step: 1 }
    }
}

impl FrameSelection {
    /// Positions (for [`ResampledLog::frame`]) of the selected frames; never empty.
    pub fn positions(&self, reader: &ResampledLog<'_>) -> Result<Vec<usize>, CacheError> {
        let place = || reader.path().display().to_string();
        let count = reader.frame_count();
        let (Some(start), Some(end)) =
            (reader.frame_index(0), count.checked_sub(1).and_then(|k| reader.frame_index(k)))
        else {
            return Err(CacheError::invalid(place(), "the log holds no frames", "run the scene (again)"));
        };
        if self.step == 0 {
            return Err(CacheError::invalid(
                place(),
                "every 0 frames is no selection",
                "use a step of at least 1",
            ));
        }
        let first = self.first.unwrap_or(start);
        let last = self.last.unwrap_or(end);
        let selected: Vec<usize> = (0..count)
            .filter(|&k| {
                reader
                    .frame_index(k)
                    .is_some_and(|n| n >= first && n <= last && (n - first).is_multiple_of(self.step))
            })
            .collect();
        if selected.is_empty() {
            return Err(CacheError::invalid(
                place(),
                format!("no frame lies in {first}..={last} with step {}", self.step),
                format!("the log holds frames {start} to {end}"),
            ));
        }
        Ok(selected)
    }
}

/// Which frames and bodies of a log go out, at what rate, in which units and axes, and how pictures of them look.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportOptions {
    /// Which frames of the log go out, from which to which and every how manieth.
    pub frames: FrameSelection,
    /// Frames a second, if not those of the log: what lies between two frames is mixed from them. Frames are then
    /// numbered and chosen at this rate.
    pub frames_per_second: Option<f64>,
    /// Only bodies of this name; `None` is all, in the order they came.
    pub body: Option<String>,
    /// Units and axes of the target.
    pub conversion: Conversion,
    /// For VTU: the surface that pictures show, not the simulated particles and their elements.
    pub surface: bool,
    /// What colours of pictures show; `None` is what the log says. The same for the fields below.
    pub color_by: Option<ColorBy>,
    /// Width of pictures (of one tile of a contact sheet) in pixels.
    pub width: Option<u32>,
    /// Height of pictures in pixels.
    pub height: Option<u32>,
    /// Direction of the camera around the scene, degrees; 0 looks along −z.
    pub azimuth: Option<f64>,
    /// Height of the camera, degrees above the horizon.
    pub elevation: Option<f64>,
    /// Whether the camera goes along with what it shows.
    pub camera: Option<CameraMotion>,
    /// Threads for drawing and for making frames ready; 0 is as many as the machine has. Files do not depend on it.
    pub threads: usize,
}

/// What an export wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportSummary {
    /// The first (often the only) file.
    pub path: PathBuf,
    /// How many files.
    pub files: usize,
    /// How many frames.
    pub frames: usize,
    /// Vertices of all bodies, each as it is at last; 0 for pictures.
    pub vertices: usize,
    /// Bytes in all files together.
    pub bytes: u64,
}

/// Called with (steps done, steps in all) while an export goes on.
pub type ExportProgress<'a> = &'a mut dyn FnMut(usize, usize);

/// A format that can be exported to.
pub struct Format {
    /// File name extension in lower case, without the dot.
    pub extension: &'static str,
    /// What it is, for lists.
    pub about: &'static str,
    kind: FormatKind,
}

/// How a format is written.
#[derive(Clone, Copy)]
enum FormatKind {
    /// Frame by frame, from surfaces or particles.
    Geometry(for<'a> fn(ExportOrder<'a>) -> Result<Sink<'a>, CacheError>),
    /// Drawn, once all frames have been looked at.
    Picture(Picture),
}

impl Format {
    const fn geometry(
        extension: &'static str,
        about: &'static str,
        begin: for<'a> fn(ExportOrder<'a>) -> Result<Sink<'a>, CacheError>,
    ) -> Format {
        Format { extension, about, kind: FormatKind::Geometry(begin) }
    }

    const fn picture(extension: &'static str, about: &'static str, picture: Picture) -> Format {
        Format { extension, about, kind: FormatKind::Picture(picture) }
    }

    /// The format of a file, by its extension.
    pub(crate) fn of(path: &Path) -> Result<&'static Format, CacheError> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        FORMATS.iter().find(|f| f.extension == extension).ok_or_else(|| CacheError::UnknownFormat {
            path: path.to_path_buf(),
            known: FORMATS
                .iter()
                .map(|f| format!(".{} ({})", f.extension, f.about))
                .collect::<Vec<_>>()
                .join(", "),
        })
    }
}

/// All formats. A new one is a file beside this one and a line here.
pub const FORMATS: &[Format] = &[
    Format::geometry("usda", "animated USD scene (Blender, Houdini, usdview)", usda::begin),
    Format::geometry("abc", "animated Alembic archive (Maya, Houdini, Blender, Unreal)", alembic::begin),
    Format::geometry("glb", "animated glTF (browsers, Blender, game engines)", glb::begin),
    Format::geometry("usdz", "the same as a package in one file", usda::begin_package),
    Format::geometry("pc2", "PC2 point cache (Blender's Mesh Cache modifier)", pc2::begin),
    Format::geometry("mdd", "MDD point cache (Maya, Houdini, Blender)", mdd::begin),
    Format::geometry("pvd", "VTU files with fields, and a list of them (ParaView)", vtu::begin),
    Format::geometry("vtu", "the same", vtu::begin),
    Format::geometry("obj", "a numbered sequence of OBJ meshes", obj::begin),
    Format::geometry("ply", "a numbered sequence of binary PLY meshes", ply::begin),
    Format::picture("gif", "animation that plays in real time", Picture::Gif),
    Format::picture(
        "png",
        "contact sheet of twelve frames, or with ## in its name a picture of each",
        Picture::Png,
    ),
    Format::picture("apng", "animated PNG in all colours, in real time", Picture::Apng),
];

/// Exports frames of a log to `path`, in the format of its extension.
pub fn export(
    reader: &LogReader,
    path: impl AsRef<Path>,
    options: &ExportOptions,
    progress: ExportProgress<'_>,
) -> Result<ExportSummary, CacheError> {
    let output = ExportOutput { path: path.as_ref().to_path_buf(), conversion: options.conversion };
    let mut done = export_all(reader, &[output], options, &DiskOutput, progress);
    done.pop().unwrap_or_else(|| Err(CacheError::invalid("export", "nothing was made", "please report this")))
}

/// Which bodies an export is about: all, or those of a name.
fn is_selected(body: &LogBody, options: &ExportOptions) -> bool {
    options.body.as_deref().is_none_or(|wanted| &*body.name == wanted)
}

/// Refuses a name that no body of the log has.
fn check_body(reader: &ResampledLog<'_>, options: &ExportOptions) -> Result<(), CacheError> {
    let Some(wanted) = &options.body else { return Ok(()) };
    let mut names: Vec<&str> = Vec::new();
    for body in reader.log().epochs().iter().flat_map(|e| &e.bodies) {
        if *body.name == **wanted {
            return Ok(());
        }
        if !names.contains(&&*body.name) {
            names.push(&body.name);
        }
    }
    Err(CacheError::invalid(
        reader.path().display().to_string(),
        format!("there is no body \"{wanted}\""),
        format!("the log holds: {}", names.join(", ")),
    ))
}
