//! Wedges: vertices split where faces disagree about texture coordinates or normals, as graphics cards want them.

use super::MeshAttributes;
use std::collections::HashMap;

/// Every different (vertex, texture coordinate, normal) among the corners once, in order of first use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wedges {
    /// Vertex of each wedge.
    pub vertices: Vec<u32>,
    /// A corner at which each wedge occurs: where to look up its values.
    pub first_corners: Vec<u32>,
    /// Wedge of each corner.
    pub of_corners: Vec<u32>,
}

impl Wedges {
    /// Splits by texture coordinates and normals.
    pub fn new(attributes: &MeshAttributes) -> Wedges {
        Wedges::by(attributes, &[&attributes.uvs.corners, &attributes.normals.corners])
    }

    /// Splits by normals alone.
    pub(super) fn by_normals(attributes: &MeshAttributes) -> Wedges {
        Wedges::by(attributes, &[&attributes.normals.corners])
    }

    fn by(attributes: &MeshAttributes, layers: &[&[u32]]) -> Wedges {
        let mut seen = HashMap::new();
        let mut wedges = Wedges::default();
        for (c, &vertex) in attributes.faces.corners().iter().enumerate() {
            let value = |k: usize| layers.get(k).and_then(|l| l.get(c)).copied().unwrap_or(0);
            let wedge = *seen.entry((vertex, value(0), value(1))).or_insert_with(|| {
                wedges.vertices.push(vertex);
                wedges.first_corners.push(c as u32);
                wedges.vertices.len() as u32 - 1
            });
            wedges.of_corners.push(wedge);
        }
        wedges
    }

    /// Number of wedges.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }
}
