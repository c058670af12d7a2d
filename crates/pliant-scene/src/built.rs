//! What a scene is built into: the simulation, and what pictures, caches and logs need beside it.

use pliant_geometry::{Elements, Look, MeshAttributes, PictureSettings, Skin, TriMesh};
use std::path::PathBuf;

/// What a scene is built into.
#[derive(Debug)]
#[non_exhaustive]
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
    /// What the scene says beside the simulation.
    pub settings: SceneSettings,
}

/// What a scene says beside the simulation: how long it runs, what is made of it, and what it was read from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SceneSettings {
    /// Frames to simulate after the initial one.
    pub frames: u32,
    /// Frames per second (one step is one frame).
    pub frames_per_second: f64,
    /// Frames between two checkpoints of a log.
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
#[non_exhaustive]
pub struct BuiltCollider {
    /// Linear RGB.
    pub color: [f32; 3],
    /// Its surface in its own coordinates; empty for a plane.
    pub surface: TriMesh,
}

/// What pictures and caches need of a body.
#[derive(Clone, Debug)]
pub struct BuiltBody {
    /// Its name, unique in the scene.
    pub name: String,
    /// Linear RGB.
    pub color: [f32; 3],
    /// Render mesh at rest.
    pub surface: TriMesh,
    /// Polygons, texture coordinates, normals and materials, as its file had them; may be empty.
    pub attributes: MeshAttributes,
    /// How it follows the particles.
    pub skin: Skin,
    /// What its particles make up: of the elements its shape has, those with the most corners.
    pub elements: Elements,
    /// Jelly, matte or cloth.
    pub look: Look,
}
