//! A triangle mesh as plain data, and the few measures everything else needs of it.

use glam::DVec3;

/// Triangles over shared vertices, counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Where the vertices are, in metres; triangles name them by index.
    pub positions: Vec<DVec3>,
    /// Vertex indices of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// Area-weighted unit normals per vertex, for `positions` that may differ from the mesh's own
    /// (an animated frame). A vertex without area gets +y.
    pub fn vertex_normals(positions: &[DVec3], triangles: &[[u32; 3]], normals: &mut Vec<DVec3>) {
        normals.clear();
        normals.resize(positions.len(), DVec3::ZERO);
        for t in triangles {
            let [a, b, c] = t.map(|i| positions[i as usize]);
            let n = (b - a).cross(c - a);
            for &i in t {
                normals[i as usize] += n;
            }
        }
        for n in normals {
            *n = n.try_normalize().unwrap_or(DVec3::Y);
        }
    }

    /// Smallest and largest coordinates; `None` for no points.
    pub fn bounds(points: &[DVec3]) -> Option<(DVec3, DVec3)> {
        let first = *points.first()?;
        Some(points.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }

    /// Signed volume enclosed (meaningful for closed meshes; positive when oriented outwards).
    pub fn volume(&self) -> f64 {
        self.triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| self.positions[i as usize]);
                a.dot(b.cross(c)) / 6.0
            })
            .sum()
    }

    /// Every edge once, as (smaller, larger) vertex index, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}
