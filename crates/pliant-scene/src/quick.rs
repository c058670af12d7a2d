//! A scene around a file: what is simulated if somebody gives a mesh and nothing else, as text to go on from.

use crate::diagnostic::Diagnostic;
use crate::resolver::{Disk, Resolver};
use glam::DVec3;
use pliant_geometry::{
    Fetch, GeometryError, PolyMesh, TriMesh, has_inside, join, read_mesh_through, read_tets_through,
};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What may be said beside the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuickStart {
    /// A material known by name; jelly for what has an inside, cotton for the rest, unless given.
    pub material: Option<String>,
    /// Metres of the longest side; a tenth of a metre unless given.
    pub size: Option<f64>,
    /// About how many particles.
    pub particles: Option<usize>,
    /// Whether z is up in the file.
    pub z_up: bool,
    /// Whether each object of the file is a body of its own.
    pub apart: bool,
    /// A mesh to collide with, in metres, and how the scene names it: what is dropped falls onto the middle of it.
    pub collider: Option<(PathBuf, String)>,
}

/// The size of a toy: jelly this large carries itself.
const SIZE: f64 = 0.1;
/// Particles of a body: enough to bend well at a few milliseconds a frame.
const PARTICLES: usize = 2000;
/// Extensions of tetrahedral meshes.
const TETS: [&str; 6] = ["node", "ele", "msh", "mesh", "vtk", "vtu"];

/// What was found in the file.
struct MeshContents {
    /// The word of the scene for it.
    kind: &'static str,
    /// Objects with a name of their own, their positions and whether they have an inside.
    objects: Vec<MeshObject>,
    notes: Vec<String>,
}

struct MeshObject {
    name: String,
    positions: Vec<DVec3>,
    solid: bool,
}

impl QuickStart {
    /// The text of a scene in which what `path` holds is dropped on the ground. `shown` is how the scene names
    /// the file. Beside it, what is worth knowing.
    pub fn scene(&self, path: &Path, shown: &str) -> Result<(String, Vec<String>), Vec<Diagnostic>> {
        self.scene_with(path, shown, &Disk)
    }

    /// The scene around a mesh that is read through `files` and not from the disk.
    pub fn scene_with(
        &self,
        path: &Path,
        shown: &str,
        files: &dyn Resolver,
    ) -> Result<(String, Vec<String>), Vec<Diagnostic>> {
        let found = self
            .read_contents(path, &mut |p| files.read(p))
            .map_err(|errors| errors.into_iter().map(diagnostic).collect::<Vec<_>>())?;
        if let (Some(material), "points") = (&self.material, found.kind) {
            return Err(vec![Diagnostic {
                file: path.to_path_buf(),
                message: format!("points have no elements for a material to act on, such as \"{material}\""),
                help: "leave the material out: clusters hold points together, as stiff as `frequency` in a \
                       scene says (--save-scene writes one to start from)"
                    .into(),
                ..Diagnostic::default()
            }]);
        }
        let quote = |text: &str| toml::Value::from(text).to_string();
        let size = self.size.unwrap_or(SIZE);
        let mut text = String::from("# Dropped on the ground; change what you like and run it again.\n\n");
        // Writing to a String cannot fail.
        let _ = write!(text, "frames = 150\nsubsteps = 2\n\n[picture]\nelevation = 12\n\n[[plane]]\n");
        let onto = self.onto(&mut text, &mut |p| files.read(p))?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let up = if self.z_up { ", up = \"z\"" } else { "" };
        let file = quote(shown);
        let several = found.objects.len() > 1;
        let (lo, hi) = self.bounds(&found.objects);
        let longest = (hi - lo).max_element();
        for object in &found.objects {
            let name = if several { &object.name } else { stem.as_ref() };
            let _ =
                write!(text, "\n[[body]]\nname = {}\n", quote(if name.is_empty() { "body" } else { name }));
            let kind = found.kind;
            let position = if several {
                // One scale and one place for all, so that they stay where they are to each other.
                let scale = if longest > 0.0 { size / longest } else { 1.0 };
                let only = quote(&object.name);
                let _ = writeln!(
                    text,
                    "shape = {{ kind = \"{kind}\", file = {file}, object = {only}, scale = {scale:?}{up} }}"
                );
                let middle = 0.5 * scale * (lo + hi);
                [-middle.x, 0.25 * size - scale * lo.y, -middle.z]
            } else {
                let _ = writeln!(
                    text,
                    "shape = {{ kind = \"{kind}\", file = {file}, fit = {size:?}, origin = \"base\"{up} }}"
                );
                [0.0, 0.25 * size, 0.0]
            };
            let [x, y, z] = (onto + DVec3::from_array(position)).to_array().map(|c| c + 0.0);
            let _ = writeln!(text, "position = [{x:?}, {y:?}, {z:?}]");
            match (kind, &self.material) {
                ("points", _) => text.push_str("clusters = 12\n"),
                (_, Some(material)) => {
                    let _ = writeln!(text, "material = {}", quote(material));
                }
                (_, None) if object.solid => text.push_str("material = \"jelly\"\n"),
                (_, None) => text.push_str("material = \"cotton\"\n"),
            }
            if kind == "mesh" && object.solid {
                let share = self.particles.unwrap_or(PARTICLES).div_ceil(found.objects.len());
                let _ = writeln!(text, "particles = {share}");
            }
        }
        Ok((text, found.notes))
    }

    /// Adds what the body falls onto; returns the middle of its top.
    fn onto(&self, text: &mut String, fetch: Fetch<'_>) -> Result<DVec3, Vec<Diagnostic>> {
        let Some((path, shown)) = &self.collider else { return Ok(DVec3::ZERO) };
        let told = |errors: Vec<GeometryError>| errors.into_iter().map(diagnostic).collect::<Vec<_>>();
        let positions = join(&read_mesh_through(path, fetch).map_err(told)?.meshes).positions;
        let (lo, hi) = TriMesh::bounds(&positions).unwrap_or_default();
        let file = toml::Value::from(shown.as_str()).to_string();
        let _ = write!(text, "\n[[collider]]\nshape = {{ kind = \"mesh\", file = {file} }}\n");
        Ok(DVec3::new(0.5 * (lo.x + hi.x), hi.y, 0.5 * (lo.z + hi.z)))
    }

    fn read_contents(&self, path: &Path, fetch: Fetch<'_>) -> Result<MeshContents, Vec<GeometryError>> {
        let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        if TETS.contains(&extension.as_str()) {
            let file = read_tets_through(path, fetch).map_err(|e| vec![e])?;
            let object = MeshObject { name: String::new(), positions: file.mesh.points, solid: true };
            return Ok(MeshContents { kind: "tets", objects: vec![object], notes: Vec::new() });
        }
        // What the readers have to say is told when the scene is built.
        let mut notes = Vec::new();
        let mut meshes = read_mesh_through(path, fetch)?.meshes;
        let named = |m: &PolyMesh| !m.name.is_empty();
        let unique = |all: &[PolyMesh]| {
            let mut names: Vec<&str> = all.iter().map(|m| m.name.as_str()).collect();
            names.sort_unstable();
            names.windows(2).all(|pair| pair[0] != pair[1])
        };
        if self.apart && !(meshes.iter().all(named) && unique(&meshes)) {
            notes.push("its objects have no names of their own and are joined".into());
            meshes = vec![join(&meshes)];
        } else if !self.apart {
            meshes = vec![join(&meshes)];
        }
        let cloud = meshes.iter().all(|m| m.attributes.faces.is_empty());
        let objects = meshes.into_iter().map(|mesh| MeshObject {
            solid: has_inside(&mesh.triangulated()),
            name: mesh.name,
            positions: mesh.positions,
        });
        Ok(MeshContents { kind: if cloud { "points" } else { "mesh" }, objects: objects.collect(), notes })
    }

    /// The box of all objects, y up.
    fn bounds(&self, objects: &[MeshObject]) -> (DVec3, DVec3) {
        let upright = |&p: &DVec3| if self.z_up { DVec3::new(p.x, p.z, -p.y) } else { p };
        let all: Vec<DVec3> = objects.iter().flat_map(|o| o.positions.iter().map(upright)).collect();
        TriMesh::bounds(&all).unwrap_or_default()
    }
}

/// An error of a file that no scene names.
fn diagnostic(e: GeometryError) -> Diagnostic {
    Diagnostic {
        file: e.file.unwrap_or_default(),
        place: e.line.map(|l| (l, 0)),
        message: e.message,
        help: e.help,
        is_io: e.io,
        ..Diagnostic::default()
    }
}
