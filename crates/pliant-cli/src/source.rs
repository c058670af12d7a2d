//! What the user calls a scene: a file, or the name of a demo.

use crate::failure::Failure;
use pliant_scene::{DEMOS, Demo, Scene};
use std::path::{Path, PathBuf};

/// File formats of meshes, to tell a mesh from a misspelt demo.
const MESHES: [&str; 7] = ["obj", "ply", "stl", "gltf", "glb", "off", "usd"];

/// A scene that was read and checked.
pub struct Source {
    /// Short name, for files.
    pub name: String,
    /// As the user has to type it again.
    pub argument: String,
    pub scene: Scene,
}

/// Finds and reads the scene an argument means.
pub fn find(argument: &str) -> Result<Source, Failure> {
    let path = Path::new(argument);
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if MESHES.contains(&extension.as_str()) {
        return Err(mesh(argument));
    }
    // A folder of a demo's name does not hide the demo; what else is no file is refused as the scene it is not.
    let is_demo = DEMOS.iter().any(|d| d.name == argument);
    if extension != "toml" && !path.is_file() && (is_demo || !path.exists()) {
        return of_demo(demo(argument)?);
    }
    let scene = Scene::load(path)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Source { name: name.to_string(), argument: argument.to_string(), scene })
}

/// A demo as a scene.
pub fn of_demo(demo: &Demo) -> Result<Source, Failure> {
    let file = PathBuf::from(format!("{}.toml", demo.name));
    Ok(Source {
        name: demo.name.to_string(),
        argument: demo.name.to_string(),
        scene: Scene::parse(demo.text, &file)?,
    })
}

/// The demo of a name, or a list of those there are.
pub fn demo(name: &str) -> Result<&'static Demo, Failure> {
    DEMOS.iter().find(|d| d.name == name).ok_or_else(|| {
        let nearest = DEMOS
            .iter()
            .map(|d| (strsim::damerau_levenshtein(&name.to_lowercase(), d.name), d.name))
            .min()
            .filter(|(distance, _)| *distance <= 2.max(name.chars().count() / 3));
        let hint = nearest.map_or_else(String::new, |(_, n)| format!("; did you mean \"{n}\"?"));
        let names: Vec<&str> = DEMOS.iter().map(|d| d.name).collect();
        Failure::usage(format!(
            "there is no file and no demo \"{name}\"{hint}\n  demos: {}\n  help: `pliant demos` says what \
             each is; scene files end in .toml",
            names.join(", ")
        ))
    })
}

/// A bare mesh says nothing about how soft it is or where the ground is.
fn mesh(argument: &str) -> Failure {
    Failure::usage(format!(
        "{argument}: this is a mesh, and a mesh alone cannot be run yet (a later version will)\n  help: put \
         it into a scene, say scene.toml, and run that:\n\n{}\n",
        example(argument)
    ))
}

/// The shortest scene around a mesh: a ground and a body above it.
fn example(file: &str) -> String {
    format!(
        "    [[plane]]\n    [[body]]\n    shape = {{ kind = \"mesh\", file = {file:?} }}\n    position = [0, 1, 0]"
    )
}
