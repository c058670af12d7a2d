//! What a scene is built into: the simulation, and what pictures, caches and logs need beside it.

use pliant_geometry::{Coat, Skin, TriMesh};
use std::path::PathBuf;

/// What a scene is built into.
#[derive(Debug)]
pub struct BuiltScene {
    /// Ready to step.
    pub simulation: pliant::Simulation,
    /// What happens at which frame; see [`pliant::Simulation::step_by`].
    pub events: pliant::Schedule,
    /// Per body, by the number of its id: those that are there from the start, then those that events add, as they come.
    pub bodies: Vec<BuiltBody>,
    /// Per collider, by the number of its id: those that are there from the start, then those that events add, as they
    /// come.
    pub colliders: Vec<BuiltCollider>,
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
    /// Files the scene is made of beside its own text: those that were read, and textures they name. No output may
    /// replace one of them.
    pub inputs: Vec<PathBuf>,
    /// Things worth knowing that are no errors (a radius that gives one cluster, …).
    pub notes: Vec<String>,
}

/// What pictures need of a collider.
#[derive(Clone, Debug)]
pub struct BuiltCollider {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Its surface in its own coordinates; empty for a plane.
    pub surface: TriMesh,
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
    /// What it wears, as its file had it; may be empty.
    pub coat: Coat,
    /// How it follows the particles.
    pub skin: Skin,
    /// What its particles make up.
    pub elements: BuiltElements,
    /// Jelly, matte or cloth.
    pub look: Look,
}

/// What the particles of a body make up (indices within the body): of those its shape has, the ones with the
/// most corners.
#[derive(Clone, Debug, Default)]
pub struct BuiltElements {
    /// Tetrahedra of solids.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Triangles of cloth and shells.
    pub triangles: Vec<[u32; 3]>,
    /// Neighbour pairs of threads and of solids that are not cut into tetrahedra.
    pub edges: Vec<[u32; 2]>,
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
    /// Plain, and not what the picture is about: a table, a press, a line.
    Prop,
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
    /// Whether the camera goes along with what it shows.
    pub camera: CameraMotion,
}

/// Whether the camera goes along with what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameraMotion {
    /// Where things would be small otherwise.
    Auto,
    /// It stands where all of the run is in the picture.
    Fixed,
    /// Always.
    Follow,
}
