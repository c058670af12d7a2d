//! What a session is made of: a scene file, a text, a demo, or a mesh that a scene is made around.

use pliant_scene::{DEMOS, Diagnostic, QuickStart, Resolver, Scene};
use std::path::{Path, PathBuf};

/// A scene, wherever it comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SceneSource {
    /// A scene file. Paths in it are relative to its folder.
    File(PathBuf),
    /// A scene text; `file` is what messages call it, and paths in it are relative to that file's folder.
    Text {
        /// TOML, as a scene file has it.
        text: String,
        /// Its name.
        file: PathBuf,
    },
    /// A built-in scene, by its name.
    Demo(String),
    /// A mesh (or points, or tetrahedra) that is dropped on the ground.
    Mesh {
        /// A mesh, points or tetrahedra, in any format that is read.
        file: PathBuf,
        /// What else may be said.
        start: QuickStart,
    },
}

impl SceneSource {
    /// A text without files of its own.
    pub fn text(text: impl Into<String>) -> SceneSource {
        SceneSource::Text { text: text.into(), file: "scene.toml".into() }
    }

    /// Reads and checks the scene: every problem at once. Beside it what is worth knowing of how it was made.
    pub fn load(&self, files: &dyn Resolver) -> Result<(Scene, Vec<String>), Vec<Diagnostic>> {
        match self {
            SceneSource::File(path) => Ok((Scene::load_with(path, files)?, Vec::new())),
            SceneSource::Text { text, file } => Ok((Scene::parse(text, file)?, Vec::new())),
            SceneSource::Demo(name) => {
                let demo = DEMOS.iter().find(|d| d.name == name).ok_or_else(|| no_demo(name))?;
                let file = PathBuf::from(format!("{name}.toml"));
                Ok((Scene::parse(demo.text, &file)?, Vec::new()))
            }
            SceneSource::Mesh { file, start } => {
                let (text, notes) = start.scene_with(file, &file.display().to_string(), files)?;
                // Paths in it are relative to where the mesh's own path is.
                Ok((Scene::parse_around(&text, file)?, notes))
            }
        }
    }
}

impl From<&Path> for SceneSource {
    fn from(path: &Path) -> Self {
        SceneSource::File(path.to_path_buf())
    }
}

fn no_demo(name: &str) -> Vec<Diagnostic> {
    let names: Vec<&str> = DEMOS.iter().map(|d| d.name).collect();
    vec![Diagnostic {
        file: name.into(),
        message: format!("there is no demo \"{name}\""),
        help: format!("there are {}", names.join(", ")),
        ..Diagnostic::default()
    }]
}
