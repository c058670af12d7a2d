//! The scene file: schema, places in the file, diagnostics, and building a simulation from it.

use pliant_geometry::{Skin, TriMesh};
use std::path::{Path, PathBuf};

/// One problem in a scene, with its place and remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The file, as the user named it.
    pub file: PathBuf,
    /// Line and column, counted from 1; `None` if the whole file is meant.
    pub place: Option<(usize, usize)>,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Whether it is about reading a file (exit code 4) rather than its content (exit code 2).
    pub is_io: bool,
}

/// A scene that was read and checked as far as the file alone allows.
#[derive(Clone, Debug)]
pub struct Scene {
    _private: (),
}

/// What a scene is built into.
#[derive(Debug)]
pub struct BuiltScene {
    /// Ready to step.
    pub simulation: pliant::Simulation,
    /// Per body, in the simulation's order.
    pub bodies: Vec<BuiltBody>,
    /// Frames to simulate after the initial one.
    pub frames: u32,
    /// Frames per second (one step is one frame).
    pub frames_per_second: f64,
    /// Frames between two checkpoints.
    pub checkpoint_every: u32,
    /// Outputs named by the scene, resolved against its folder.
    pub outputs: Vec<PathBuf>,
    /// How pictures are taken.
    pub picture: PictureSettings,
    /// The scene text, for the log.
    pub text: String,
    /// Digest of the scene text and every file it refers to: a resume refuses another.
    pub hash: u64,
    /// Things worth knowing that are no errors (a radius that gives one cluster, …).
    pub notes: Vec<String>,
}

/// What pictures and caches need of a body.
#[derive(Clone, Debug)]
pub struct BuiltBody {
    /// Name.
    pub name: String,
    /// Linear RGB.
    pub color: [f32; 3],
    /// Render mesh at rest.
    pub surface: TriMesh,
    /// How it follows the particles.
    pub skin: Skin,
    /// Jelly, matte or cloth.
    pub look: Look,
}

/// How a body looks in pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Look {
    /// Glossy and translucent.
    #[default]
    Jelly,
    /// Plain.
    Matte,
    /// Thin and two-sided.
    Cloth,
}

/// What colours show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColorBy {
    /// The body's own colour.
    #[default]
    Body,
    /// Relative deformation.
    Strain,
    /// The nearest cluster.
    Cluster,
    /// Speed.
    Speed,
}

/// How pictures are taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PictureSettings {
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// What colours show.
    pub color_by: ColorBy,
    /// Direction of the camera around the scene, degrees; 0 looks along −z.
    pub azimuth: f64,
    /// Height of the camera, degrees above the horizon.
    pub elevation: f64,
}

/// A built-in scene.
#[derive(Clone, Copy, Debug)]
pub struct Demo {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// The scene file.
    pub text: &'static str,
}

/// The built-in scenes, the default one first.
pub const DEMOS: &[Demo] = &[];

impl Scene {
    /// Reads and checks a scene file: every problem at once.
    pub fn load(_path: &Path) -> Result<Scene, Vec<Diagnostic>> {
        Ok(Scene { _private: () })
    }

    /// Checks a scene text; paths in it are relative to `file`'s folder.
    pub fn parse(_text: &str, _file: &Path) -> Result<Scene, Vec<Diagnostic>> {
        Ok(Scene { _private: () })
    }

    /// Builds the simulation: reads meshes, fills shapes, clusters.
    pub fn build(&self, _threads: usize) -> Result<BuiltScene, Vec<Diagnostic>> {
        Err(Vec::new())
    }
}

/// The JSON schema of scene.toml.
pub fn schema() -> String {
    String::new()
}
