//! The materials of an export: every different one once, and which body has which.

use crate::LogBody;
use pliant_geometry::SurfaceMaterial;
use std::collections::HashMap;

/// A material and where its colour comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExportMaterial {
    pub material: SurfaceMaterial,
    /// Whether the colours of the vertices are its base colour.
    pub vertex_colors: bool,
}

/// The materials of some bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct MaterialTable {
    /// Every different material once, in order of first use.
    pub materials: Vec<ExportMaterial>,
    /// For each body that was given and each material its faces may name, the place in `materials`; at least one.
    pub of_bodies: Vec<Vec<usize>>,
}

impl MaterialTable {
    pub fn new<'a>(bodies: impl IntoIterator<Item = &'a LogBody>) -> MaterialTable {
        let mut table = MaterialTable::default();
        let mut seen = HashMap::new();
        for body in bodies {
            let attributes = &body.attributes;
            let own = match attributes.materials.is_empty() {
                false => attributes.materials.clone(),
                true => vec![own_material(body)],
            };
            let vertex_colors = attributes.materials.is_empty() && !attributes.colors.is_empty();
            let place = |material: SurfaceMaterial| {
                let export_material = ExportMaterial { material, vertex_colors };
                // f32 has no hash; its text tells all values apart that are not equal.
                *seen.entry(format!("{export_material:?}")).or_insert_with(|| {
                    table.materials.push(export_material);
                    table.materials.len() - 1
                })
            };
            let places = own.into_iter().map(place).collect();
            table.of_bodies.push(places);
        }
        table
    }
}

/// The material of a body that came without: its colour in pictures.
fn own_material(body: &LogBody) -> SurfaceMaterial {
    let [r, g, b] = body.color;
    SurfaceMaterial { name: body.name.to_string(), color: [r, g, b, 1.0], ..SurfaceMaterial::default() }
}

/// The faces of a body by material: for each that is used its place in the body's list, and the faces.
pub(super) fn faces_by_material(body: &LogBody) -> Vec<(usize, Vec<u32>)> {
    let mut faces: Vec<Vec<u32>> = vec![Vec::new(); body.attributes.materials.len().max(1)];
    for (f, &m) in body.attributes.face_materials.iter().enumerate() {
        faces[m as usize].push(f as u32);
    }
    faces.into_iter().enumerate().filter(|(_, f)| !f.is_empty()).collect()
}
