//! The command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args as Group, Parser, Subcommand, ValueEnum};
use pliant_cache::render::CameraMotion;
use pliant_cache::{ColorBy, Conversion, ExportOptions, FrameSelection, Target, TargetOptions};
use std::path::PathBuf;

/// Soft bodies that cannot blow up.
///
/// Without a command: simulates the default demo into ./out/ and says what to do next.
#[derive(Debug, Parser)]
#[command(name = "pliant", version, after_help = CODES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<Command>,
}

const CODES: &str = "Exit codes: 0 done, 2 bad usage or scene, 3 the simulation became non-finite, 4 I/O,\n\
                     130 stopped by Ctrl-C (what was simulated is kept; continue with --resume).";

/// One variant for each command; its fields are the command's own type.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Simulate a scene or demo into a frame log, and export it
    Run(RunArgs),
    /// Turn a frame log into other formats, also the log of a run that was broken off
    Export(ExportArgs),
    /// Check a scene: every error at once, each with its place and remedy
    Check(CheckArgs),
    /// Look a mesh over, repair it, fill it, cut it into tetrahedra, convert it
    Mesh(MeshArgs),
    /// List the built-in scenes, or print one to copy from
    Demos(DemosArgs),
    /// Redraw the papers' figures from our own runs, with verdicts on their claims
    Figures(FiguresArgs),
    /// Measure the kernels against this machine's own limits
    Bench(BenchArgs),
    /// Print the JSON schema of scene files, for editors
    Schema,
}

/// `pliant mesh`
#[derive(Debug, Group)]
#[command(after_help = CODES)]
pub struct MeshArgs {
    /// Mesh (.obj .ply .stl .off .gltf .glb), points (.xyz .txt .pts .csv) or tetrahedra (.msh .mesh .vtk .vtu .node .ele)
    pub file: PathBuf,
    /// What to write, format by extension: surfaces .obj .ply .stl .off .glb, points .xyz .txt .csv, tetrahedra .msh
    /// .vtu .mesh .node; may be given several times
    #[arg(short, long = "output", value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// The report as JSON
    #[arg(long)]
    pub json: bool,
    /// Mend what is wrong: all of weld, degenerate, duplicates, orient, split and small holes; or only those named, also
    /// opposite, tiny and unreferenced
    #[arg(long, value_name = "WHAT,…", num_args = 0..=1, require_equals = true, value_delimiter = ',')]
    pub repair: Option<Vec<Mend>>,
    /// Only the object of this name
    #[arg(long, value_name = "NAME")]
    pub object: Option<String>,
    /// One file for each piece of what hangs together, numbered
    #[arg(long)]
    pub split: bool,
    /// All objects as one
    #[arg(long, conflicts_with = "split")]
    pub join: bool,
    /// Scale by this
    #[arg(long, value_name = "S", value_parser = scale, conflicts_with = "fit")]
    pub scale: Option<f64>,
    /// Scale so that the longest side is this long, and stand it on the ground at the origin
    #[arg(long, value_name = "METRES", value_parser = metres)]
    pub fit: Option<f64>,
    /// The file has z up: turn it so that y is up
    #[arg(long)]
    pub z_up: bool,
    /// Width of the cells that tetrahedra are cut from [default: a thirtieth of the longest side]
    #[arg(long, value_name = "WIDTH", value_parser = metres)]
    pub cell: Option<f64>,
    /// Larger tetrahedra inside
    #[arg(long)]
    pub graded: bool,
    /// Fill with about so many particles, which are written as points
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5_000_000), conflicts_with = "spacing")]
    pub particles: Option<u32>,
    /// Fill with particles so far apart
    #[arg(long, value_name = "METRES", value_parser = metres)]
    pub spacing: Option<f64>,
    /// How particles are arranged
    #[arg(long, value_enum, default_value_t = Sampling::Lattice)]
    pub sampling: Sampling,
    /// Replace files beside an output (materials, numbered pieces) that pliant did not make
    #[arg(long, visible_alias = "overwrite")]
    pub force: bool,
    /// Threads; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

/// A kind of repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mend {
    Weld,
    Degenerate,
    Duplicates,
    Opposite,
    Orient,
    Split,
    Holes,
    Tiny,
    Unreferenced,
}

/// How particles are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sampling {
    Lattice,
    Jittered,
    BlueNoise,
}

/// `pliant figures`
#[derive(Debug, Group)]
#[cfg_attr(not(feature = "figures"), allow(dead_code))]
pub struct FiguresArgs {
    /// Figures to draw; all if none is named
    pub names: Vec<String>,
    /// Folder for drawings, data, verdicts.md and index.html
    #[arg(short, long = "output", value_name = "DIR", default_value = "figures")]
    pub output: PathBuf,
    /// Replace files of these names that pliant did not make
    #[arg(long, visible_alias = "overwrite")]
    pub force: bool,
    /// Only list the figures
    #[arg(long)]
    pub list: bool,
}

/// `pliant bench`
#[derive(Debug, Group)]
#[cfg_attr(not(feature = "bench"), allow(dead_code))]
pub struct BenchArgs {
    /// One JSON object per line
    #[arg(long)]
    pub json: bool,
    /// Only benchmarks whose name contains this
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,
    /// Threads for the kernels [default: what each benchmark is about, mostly one]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Instruction set for the kernels that have a choice: baseline, avx2 or avx512 [default: the widest]
    #[arg(long, value_name = "NAME", value_parser = isa)]
    pub isa: Option<pliant::Isa>,
    /// Draw time per frame against particles, from the sizes of clustered/scaling
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,
    /// Point list (x y z per line) in place of the built-in bunny
    #[arg(long, value_name = "FILE", requires = "radius")]
    pub points: Option<PathBuf>,
    /// Cluster radius for --points
    #[arg(long, value_name = "R", requires = "points")]
    pub radius: Option<f64>,
    /// Only list the benchmarks
    #[arg(long)]
    pub list: bool,
}

/// `pliant run`
#[derive(Debug, Group)]
#[command(after_help = CODES)]
pub struct RunArgs {
    /// Scene file (.toml), name of a demo, or a mesh (.obj .ply .stl .off .gltf .glb, tetrahedra, points), which is
    /// dropped on the ground
    pub scene: String,
    /// What to make of the run, format by extension: .usda .usdz .abc .glb .pc2 .mdd
    /// .pvd .obj .ply .gif .apng .png, ####.png for a picture of each frame; may be given several times.
    /// Replaces the outputs the scene names
    #[arg(short, long = "output", value_name = "FILE")]
    pub output: Vec<PathBuf>,
    /// Frames to simulate after the initial one; the scene's own number if not given
    // The range is that of `frames` in scenes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub frames: Option<u32>,
    /// Threads; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Instruction set: fused ones (avx2, avx512) share one set of bits, baseline has the other, which is also that of
    /// browsers [default: the best of this processor]
    #[arg(long, value_name = "NAME", value_parser = isa)]
    pub isa: Option<pliant::Isa>,
    /// Write energies, momenta and timings, one JSON object per line and frame
    #[arg(long, value_name = "FILE")]
    pub stats: Option<PathBuf>,
    /// Write the solvers' error after each iteration of the first steps, as CSV: (E - E*)/(E0 - E*) with E the
    /// objective of an implicit step, and E* its minimum
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// How many steps to trace; each is solved to the end by Newton's method as well
    #[arg(long, value_name = "N", default_value_t = 10, requires = "trace", value_parser = clap::value_parser!(u32).range(1..))]
    pub trace_steps: u32,
    /// Continue a run that was broken off, or a finished one with a larger --frames
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// The frame log [default: beside the first output, or SCENE.plog]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Replace the log of an unfinished run, or whatever else is in its place, and files of others beside an output
    #[arg(long, visible_alias = "overwrite")]
    pub force: bool,
    /// Print nothing but problems
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub mesh: MeshRunArgs,
    #[command(flatten)]
    pub placing: PlacingArgs,
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// What can be said about a mesh that is run without a scene.
#[derive(Clone, Debug, Default, Group)]
#[command(next_help_heading = "A mesh without a scene")]
pub struct MeshRunArgs {
    /// What it is made of: rubber, jelly, foam, cotton, silk, denim, leather, paper, steel_sheet, muscle
    /// [default: jelly, or cotton if it has no inside]
    #[arg(long, value_name = "NAME")]
    pub material: Option<String>,
    /// Its longest side, in metres [default: 0.1]
    #[arg(long, value_name = "METRES", value_parser = metres)]
    pub fit: Option<f64>,
    /// About how many particles [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=5_000_000))]
    pub particles: Option<u32>,
    /// The file has z up, not y
    #[arg(long)]
    pub z_up: bool,
    /// Make each object of the file a body of its own
    #[arg(long)]
    pub apart: bool,
    /// A mesh to fall onto, in metres: a table, stairs, a bowl
    #[arg(long, value_name = "MESH")]
    pub collider: Option<PathBuf>,
    /// Write the scene this amounts to, to go on from
    #[arg(long, value_name = "FILE.toml")]
    pub save_scene: Option<PathBuf>,
}

impl MeshRunArgs {
    /// An option that was given, to name in a message.
    pub fn first_given(&self) -> Option<&'static str> {
        [
            (self.material.is_some(), "--material"),
            (self.fit.is_some(), "--fit"),
            (self.particles.is_some(), "--particles"),
            (self.z_up, "--z-up"),
            (self.apart, "--apart"),
            (self.collider.is_some(), "--collider"),
            (self.save_scene.is_some(), "--save-scene"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }
}

/// `pliant export`
#[derive(Debug, Group)]
pub struct ExportArgs {
    /// Frame log (.plog) of a run
    pub log: PathBuf,
    /// What to make, format by extension: .usda .usdz .abc .glb .pc2 .mdd
    /// .pvd .obj .ply .gif .apng .png, ####.png for a picture of each frame; may be given several times
    #[arg(short, long = "output", value_name = "FILE", required = true)]
    pub output: Vec<PathBuf>,
    /// First frame, counted at --fps if that is given
    #[arg(long, value_name = "N")]
    pub first: Option<u32>,
    /// Last frame
    #[arg(long, value_name = "N")]
    pub last: Option<u32>,
    /// Only every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub step: u32,
    /// Only this body
    #[arg(long, value_name = "NAME")]
    pub body: Option<String>,
    /// Replace files beside an output (numbered frames, materials) that pliant did not make
    #[arg(long, visible_alias = "overwrite")]
    pub force: bool,
    /// Threads for pictures; the result does not depend on it [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print nothing but problems
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub placing: PlacingArgs,
    #[command(flatten)]
    pub picture: PictureArgs,
}

/// What the files are for.
#[derive(Clone, Copy, Debug, Default, Group)]
#[command(next_help_heading = "Geometry")]
pub struct PlacingArgs {
    /// Units and axes as this program expects them: blender, maya, houdini, unreal, unity or paraview
    #[arg(long = "for", value_name = "PROGRAM", value_parser = target)]
    pub target: Option<Target>,
    /// Units of the files per metre, such as 100 for centimetres
    #[arg(long, value_name = "S", value_parser = scale)]
    pub scale: Option<f64>,
    /// Which axis of the files is up
    #[arg(long, value_enum, value_name = "AXIS")]
    pub up: Option<Up>,
    /// Frames a second of the files, such as 24 for a Blender scene as it comes [default: those of the run]; frames
    /// between two that were simulated are mixed from them
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub fps: Option<f64>,
    /// In .vtu files the surface that pictures show, not the simulated particles and their elements
    #[arg(long)]
    pub surface: bool,
}

impl PlacingArgs {
    /// Units and axes of a file.
    pub fn placing(&self) -> TargetOptions {
        TargetOptions { target: self.target, scale: self.scale, z_up: self.up.map(|up| matches!(up, Up::Z)) }
    }
}

/// An axis that may be up.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Up {
    Y,
    Z,
}

/// How pictures are taken, where it should differ from what the scene says.
#[derive(Clone, Debug, Default, Group)]
#[command(next_help_heading = "Pictures")]
pub struct PictureArgs {
    /// What colours show
    #[arg(long, value_parser = word(ColorBy::NAMES, ColorBy::named))]
    pub color_by: Option<ColorBy>,
    /// Size in pixels, of one tile in a contact sheet
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub size: Option<(u32, u32)>,
    /// Direction of the camera around the scene, in degrees
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = azimuth)]
    pub azimuth: Option<f64>,
    /// Height of the camera, in degrees above the horizon
    #[arg(long, value_name = "DEGREES", allow_hyphen_values = true, value_parser = elevation)]
    pub elevation: Option<f64>,
    /// Whether the camera goes along with what moves; auto follows what would be small
    #[arg(long, value_parser = word(CameraMotion::NAMES, CameraMotion::named))]
    pub camera: Option<CameraMotion>,
}

/// `pliant check`
#[derive(Debug, Group)]
pub struct CheckArgs {
    /// Scene file (.toml) or name of a demo
    pub scene: String,
}

/// `pliant demos`
#[derive(Debug, Group)]
pub struct DemosArgs {
    /// Print the scene file of this demo
    pub name: Option<String>,
}

impl PictureArgs {
    /// Options of an export of all frames.
    pub fn options(&self, threads: usize) -> ExportOptions {
        ExportOptions {
            frames: FrameSelection::default(),
            frames_per_second: None,
            body: None,
            conversion: Conversion::default(),
            surface: false,
            color_by: self.color_by,
            width: self.size.map(|s| s.0),
            height: self.size.map(|s| s.1),
            azimuth: self.azimuth,
            elevation: self.elevation,
            camera: self.camera,
            threads,
        }
    }
}

/// The number of threads asked for, or as many as the machine has.
pub fn threads(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get()), usize::from)
}

fn size(text: &str) -> Result<(u32, u32), String> {
    text.split_once(['x', 'X', '×'])
        .and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)))
        .filter(|(w, h)| (16..=8192).contains(w) && (16..=8192).contains(h))
        .ok_or_else(|| "give width x height in pixels, each 16 to 8192, such as 640x480".into())
}

/// One of the words of a list, which help and errors show.
fn word<T: Clone + Send + Sync + 'static>(
    names: &'static [&'static str],
    named: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |word| named(&word).ok_or("unknown word"))
}

fn metres(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|m: &f64| *m > 0.0 && *m <= 1e6);
    number.ok_or_else(|| "give metres, above 0 and up to 1e6".into())
}

/// An instruction set that this processor has.
fn isa(text: &str) -> Result<pliant::Isa, String> {
    let available: Vec<pliant::Isa> = pliant::Isa::available().collect();
    available.iter().copied().find(|isa| isa.name() == text).ok_or_else(|| {
        let names: Vec<&str> = available.iter().map(|isa| isa.name()).collect();
        format!("this processor has {}", names.join(", "))
    })
}

fn target(text: &str) -> Result<Target, String> {
    Target::ALL.into_iter().find(|t| t.name() == text.trim().to_lowercase()).ok_or_else(|| {
        let names = Target::ALL.map(Target::name);
        format!("known are {}", names.join(", "))
    })
}

fn rate(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|r: &f64| (0.01..=100_000.0).contains(r));
    number.ok_or_else(|| "give frames a second, from 0.01 to 100000, such as 24".into())
}

fn scale(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|s: &f64| (1e-6..=1e6).contains(s))
        .ok_or_else(|| "give a number from 0.000001 to 1000000, such as 100 for centimetres".into())
}

fn azimuth(text: &str) -> Result<f64, String> {
    degrees(text, 360.0)
}

fn elevation(text: &str) -> Result<f64, String> {
    degrees(text, 89.0)
}

fn degrees(text: &str, most: f64) -> Result<f64, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|d: &f64| d.abs() <= most)
        .ok_or_else(|| format!("give degrees from -{most} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn instruction_sets_are_those_of_this_processor() {
        for known in pliant::Isa::available() {
            assert_eq!(isa(known.name()), Ok(known));
        }
        assert!(isa("avx3").is_err_and(|e| e.contains("baseline")));
    }

    #[test]
    fn programs_and_scales_are_those_that_are_known() {
        for known in Target::ALL {
            assert_eq!(target(known.name()), Ok(known));
        }
        assert!(target("zbrush").is_err_and(|e| e.contains("blender")));
        assert_eq!(scale("100"), Ok(100.0));
        for bad in ["0", "-1", "nan", "inf", "1e9", "cm"] {
            assert!(scale(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_are_two_numbers_with_an_x() {
        assert_eq!(size("640x480"), Ok((640, 480)));
        for bad in ["640", "x", "0x480", "640x99999", "-1x5"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert_eq!(elevation("-12.5"), Ok(-12.5));
        for bad in ["nan", "inf", "90", "up"] {
            assert!(elevation(bad).is_err(), "{bad}");
        }
    }
}
