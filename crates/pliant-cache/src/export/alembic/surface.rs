//! The faces of a body in the order of the file.

use crate::LogBody;
use crate::export::names::{NameStyle, unique};
use crate::export::stream::BodyVersion;
use pliant_geometry::Polygons;
use std::collections::BTreeMap;

/// Faces as Alembic wants them: clockwise seen from outside, so the corners of each are taken in reverse.
/// Those of fewer than three corners are left out; not every reader survives them.
pub(super) struct AlembicFaces<'a> {
    body: &'a LogBody,
    faces: &'a Polygons,
}

impl<'a> AlembicFaces<'a> {
    pub(super) fn new(version: &'a BodyVersion<'a>) -> AlembicFaces<'a> {
        AlembicFaces { body: version.body, faces: &version.faces }
    }

    /// The faces of the body that are written, in order.
    fn kept(&self) -> impl Iterator<Item = usize> {
        (0..self.faces.len()).filter(|&f| self.faces.range(f).len() >= 3)
    }

    /// How many corners each face has.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u32> {
        self.kept().map(|f| self.faces.range(f).len() as u32)
    }

    /// Something of each corner, such as its vertex, from a list in the order of the body.
    pub(super) fn of_corners(&self, values: &[u32]) -> impl Iterator<Item = u32> {
        self.kept().flat_map(|f| self.faces.range(f).rev().map(|c| values[c]))
    }

    /// The vertex of each corner.
    pub(super) fn vertices(&self) -> impl Iterator<Item = u32> {
        self.of_corners(self.faces.corners())
    }

    /// Names of materials and the faces that have them; without materials, all faces under `name`.
    pub(super) fn materials(&self, name: &str) -> Vec<(String, Vec<u32>)> {
        let attributes = &self.body.attributes;
        let mut faces: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (written, f) in self.kept().enumerate() {
            let material = attributes.face_materials.get(f).map_or(0, |&m| m as usize);
            faces.entry(material).or_default().push(written as u32);
        }
        let names = faces.keys().map(|&m| attributes.materials.get(m).map_or(name, |m| m.name.as_str()));
        let names = unique(names, NameStyle::Part, "material", &[]);
        names.into_iter().zip(faces.into_values()).collect()
    }
}
