//! A mesh that a scene names: read, its object picked, and brought into the body's coordinates.

use crate::diagnostic::Diagnostic;
use crate::digest::InputDigest;
use crate::fit::{self, FitPlan};
use crate::record::Record;
use crate::shape::in_file;
use crate::source::{Located, SourceText};
use glam::{DAffine3, DVec3};
use pliant_geometry::{MeshFile, PolyMesh, join, read_mesh_through, transform};

/// A mesh as the scene describes it.
#[derive(Clone, Debug)]
pub(crate) struct MeshPlan {
    pub file: Located<String>,
    fit: FitPlan,
    object: Option<Located<String>>,
}

/// A mesh in the body's own coordinates.
pub(crate) struct ReadMesh {
    pub mesh: PolyMesh,
    /// From the file's coordinates to the body's.
    pub from_file: DAffine3,
    pub notes: Vec<String>,
}

/// Reads the keys that say which mesh and how large.
pub(crate) fn plan(shape: &Record) -> Option<MeshPlan> {
    let text = |key: &str| {
        let given = shape.given(key)?;
        Some(Located { at: given.at.clone(), it: given.it.text().to_string() })
    };
    Some(MeshPlan { file: text("file")?, fit: fit::plan(shape), object: text("object") })
}

/// Reads the keys of a mesh that goes along with the body's own shape, and is placed as that.
pub(crate) fn render_plan(render: &Record) -> Option<MeshPlan> {
    let text = |key: &str| {
        let given = render.given(key)?;
        Some(Located { at: given.at.clone(), it: given.it.text().to_string() })
    };
    Some(MeshPlan { object: text("object"), ..MeshPlan::of_file(text("file")?) })
}

impl MeshPlan {
    /// All of a file, in its own coordinates.
    pub fn of_file(file: Located<String>) -> MeshPlan {
        MeshPlan { file, fit: FitPlan::default(), object: None }
    }

    /// The mesh in coordinates that are known from another file.
    pub fn read_as(
        &self,
        from_file: DAffine3,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
    ) -> Result<PolyMesh, Vec<Diagnostic>> {
        let meshes = read_file(source, &self.file, digest)?.meshes;
        Ok(transform(&self.pick(meshes, &mut Vec::new(), source)?, from_file))
    }

    /// The mesh, all objects of the file joined unless one is picked.
    pub fn read(
        &self,
        source: &SourceText,
        digest: &mut InputDigest<'_>,
    ) -> Result<ReadMesh, Vec<Diagnostic>> {
        let MeshFile { meshes, notes, .. } = read_file(source, &self.file, digest)?;
        let mut notes: Vec<String> = notes.into_iter().map(|n| format!("{}: {n}", self.file.it)).collect();
        let mesh = self.pick(meshes, &mut notes, source)?;
        let from_file =
            self.fit.placement(&mesh.positions).map_err(|e| in_file(source, &self.file, vec![e]))?;
        Ok(ReadMesh { mesh: transform(&mesh, from_file), from_file, notes })
    }

    fn pick(
        &self,
        meshes: Vec<PolyMesh>,
        notes: &mut Vec<String>,
        source: &SourceText,
    ) -> Result<PolyMesh, Vec<Diagnostic>> {
        let Some(object) = &self.object else {
            if meshes.len() > 1 {
                notes.push(format!(
                    "{}: its {} objects are joined into one body",
                    self.file.it,
                    meshes.len()
                ));
            }
            return Ok(join(&meshes));
        };
        let names: Vec<String> = meshes.iter().map(|m| format!("\"{}\"", m.name)).collect();
        let found = meshes.into_iter().find(|m| m.name == object.it);
        found.ok_or_else(|| {
            let more = if names.len() > 20 { ", and more" } else { "" };
            let help = format!("there are {}{more}", names[..names.len().min(20)].join(", "));
            let text = format!("there is no object \"{}\" in {}", object.it, self.file.it);
            vec![source.problem(&object.at, text, help)]
        })
    }
}

/// What a mesh file holds; it and all files it names are in the digest.
pub(crate) fn read_file(
    source: &SourceText,
    file: &Located<String>,
    digest: &mut InputDigest<'_>,
) -> Result<MeshFile, Vec<Diagnostic>> {
    let path = source.resolve(&file.it);
    let read = read_mesh_through(&path, &mut |p| digest.read(p));
    if let Ok(file) = &read {
        file.textures(&path).iter().for_each(|texture| digest.names(texture));
    }
    read.map_err(|errors| match &errors[..] {
        [e] if e.io && e.file.as_ref() == Some(&path) => {
            let help = "check the path, which is relative to the scene's folder, and that you may read it";
            let text = e.message.replacen("the file", &path.display().to_string(), 1);
            vec![Diagnostic { is_io: true, ..source.problem(&file.at, text, help) }]
        }
        _ => in_file(source, file, errors),
    })
}

/// The vertices of a file of one object, for animations and examples of a body's vertices.
pub(crate) fn read_vertices(
    source: &SourceText,
    file: &Located<String>,
    digest: &mut InputDigest<'_>,
) -> Result<Vec<DVec3>, Vec<Diagnostic>> {
    let meshes = read_file(source, file, digest)?.meshes;
    Ok(meshes.into_iter().flat_map(|m| m.positions).collect())
}
