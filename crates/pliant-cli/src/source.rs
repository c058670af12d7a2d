//! What the user calls a scene: a file, the name of a demo, or a mesh that a scene is made around.

use crate::args::MeshRunArgs;
use crate::failure::Failure;
use crate::terminal;
use pliant::Material;
use pliant_scene::Demo;
use pliant_scene::nearest_word;
use pliant_session::{DEMOS, Disk, QuickStart, Scene, SceneSource};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// File formats of meshes, tetrahedra and points: what a scene is made around.
const MESHES: [&str; 17] = [
    "obj", "ply", "stl", "off", "gltf", "glb", "xyz", "pts", "txt", "csv", "node", "ele", "msh", "mesh",
    "vtk", "vtu", "usd",
];

/// A scene that was read and checked.
pub struct SceneArgument {
    /// Short name, for files.
    pub name: String,
    /// As the user has to type it again.
    pub argument: String,
    /// The file it was read from; demos have none.
    pub file: Option<PathBuf>,
    /// Whether that is a mesh, around which a scene was made.
    pub is_mesh: bool,
    /// Where that scene was saved.
    pub saved: Option<PathBuf>,
    pub scene: Scene,
}

/// Finds and reads the scene an argument means; around a mesh one is made.
pub fn find(argument: &str, mesh: &MeshRunArgs) -> Result<SceneArgument, Failure> {
    let path = Path::new(argument);
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if MESHES.contains(&extension.as_str()) {
        return around(argument, mesh);
    }
    if let Some(option) = mesh.first_given() {
        return Err(Failure::usage(format!(
            "{argument}: {option} is for a mesh that is run without a scene; a scene says it itself"
        )));
    }
    // A folder of a demo's name does not hide the demo; what else is no file is refused as the scene it is not.
    let is_demo = DEMOS.iter().any(|d| d.name == argument);
    if extension != "toml" && !path.is_file() && (is_demo || !path.exists()) {
        return of_demo(demo(argument)?);
    }
    let (scene, _) = SceneSource::File(path.to_path_buf()).load(&Disk)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (name, argument) = (name.to_string(), argument.to_string());
    Ok(SceneArgument { name, argument, file: Some(path.to_path_buf()), is_mesh: false, saved: None, scene })
}

/// A demo as a scene.
pub fn of_demo(demo: &Demo) -> Result<SceneArgument, Failure> {
    let (scene, _) = SceneSource::Demo(demo.name.to_string()).load(&Disk)?;
    Ok(SceneArgument {
        name: demo.name.to_string(),
        argument: demo.name.to_string(),
        file: None,
        is_mesh: false,
        saved: None,
        scene,
    })
}

/// The demo of a name, or a list of those there are.
pub fn demo(name: &str) -> Result<&'static Demo, Failure> {
    DEMOS.iter().find(|d| d.name == name).ok_or_else(|| {
        let meant = nearest_word(name, DEMOS.iter().map(|d| d.name));
        let hint = meant.map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
        let names: Vec<&str> = DEMOS.iter().map(|d| d.name).collect();
        Failure::usage(format!(
            "there is no file and no demo \"{name}\"{hint}\n  demos: {}\n  help: `pliant demos` says what \
             each is; scene files end in .toml",
            names.join(", ")
        ))
    })
}

/// A scene made around a mesh, and saved if that was asked for.
fn around(argument: &str, mesh: &MeshRunArgs) -> Result<SceneArgument, Failure> {
    let path = Path::new(argument);
    if let Some(name) = mesh.material.as_deref().filter(|name| Material::named(name).is_none()) {
        let names: Vec<&str> = Material::NAMED.map(|m| m.0).to_vec();
        let meant = nearest_word(name, names.iter().copied());
        let hint = meant.map_or_else(String::new, |n| format!("; did you mean \"{n}\"?"));
        return Err(Failure::usage(format!(
            "--material: there is no material \"{name}\"{hint}\n  help: there are {}",
            names.join(", ")
        )));
    }
    let quick = QuickStart {
        material: mesh.material.clone(),
        size: mesh.fit,
        particles: mesh.particles.map(|n| n as usize),
        z_up: mesh.z_up,
        apart: mesh.apart,
        collider: mesh.collider.as_ref().map(|c| (c.clone(), c.to_string_lossy().into_owned())),
    };
    if let Some(file) = &mesh.save_scene {
        let collider = mesh.collider.as_ref().map(|c| (c.clone(), seen_from(file, c)));
        let named = QuickStart { collider, ..quick.clone() };
        save(file, &named.scene(path, &seen_from(file, path))?.0)?;
    }
    let (scene, notes) = SceneSource::Mesh { file: path.to_path_buf(), start: quick.clone() }.load(&Disk)?;
    notes.iter().for_each(|note| terminal::problem(&format!("note: {note}")));
    let name = path.file_stem().unwrap_or_default().to_string_lossy().to_string();
    Ok(SceneArgument {
        name,
        argument: argument.to_string(),
        file: Some(path.to_path_buf()),
        is_mesh: true,
        saved: mesh.save_scene.clone(),
        scene,
    })
}

fn save(file: &Path, text: &str) -> Result<(), Failure> {
    // Also where a link leads nowhere yet.
    if fs::symlink_metadata(file).is_ok() {
        return Err(Failure::usage(format!(
            "--save-scene: there is a file {} already; name another, or remove it",
            file.display()
        )));
    }
    let io = |e| Failure::new(Failure::IO, format!("--save-scene: cannot write {}: {e}", file.display()));
    if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(io)?;
    }
    fs::write(file, text).map_err(io)?;
    terminal::problem(&format!("scene: {}", file.display()));
    Ok(())
}

/// How a scene in `scene` names the file at `path`, both as seen from the folder the program is in.
fn seen_from(scene: &Path, path: &Path) -> String {
    let plain = |p: &Path| p.components().all(|c| matches!(c, Component::Normal(_)));
    let folder = scene.parent().unwrap_or(Path::new(""));
    let seen = if path.is_absolute() || folder.as_os_str().is_empty() {
        path.to_path_buf()
    } else if plain(folder) {
        let up: PathBuf = folder.components().map(|_| "..").collect();
        up.join(path)
    } else {
        std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
    };
    seen.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_scene_finds_its_mesh() {
        let seen = |scene: &str, path: &str| seen_from(Path::new(scene), Path::new(path));
        assert_eq!(seen("bear.toml", "models/bear.obj"), "models/bear.obj");
        assert_eq!(seen("scenes/new/bear.toml", "models/bear.obj"), "../../models/bear.obj");
        assert_eq!(seen("bear.toml", "/models/bear.obj"), "/models/bear.obj");
        assert!(Path::new(&seen("../bear.toml", "bear.obj")).is_absolute());
    }
}
