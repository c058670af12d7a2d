//! Normals that follow a moving mesh: a file's own normals at rest, hard edges kept, turned with the faces around.
//!
//! The normal n₀ a file gives for a corner differs from the area-weighted one of the faces around, g₀, by
//! what its maker wanted (a bevel, a weighting). When the mesh moves, g₀ becomes g₁ and n₀ is turned by the
//! shortest rotation from g₀ to g₁: at rest the file's normals come out unchanged.

use super::{MeshAttributes, Wedges};
use crate::TriMesh;
use glam::{DQuat, DVec3};

/// What is needed to find the normals of a frame.
#[derive(Clone, Debug, Default)]
pub struct FollowingNormals {
    /// Triangles of vertices, and of wedges for the same; none where there is one wedge per vertex, its own.
    vertex_triangles: Vec<[u32; 3]>,
    wedge_triangles: Vec<[u32; 3]>,
    /// Per wedge: the file's normal, and that of the faces around at rest (unit, or zero).
    rest: Vec<(DVec3, DVec3)>,
    of_corners: Vec<u32>,
    count: usize,
}

impl FollowingNormals {
    /// For a mesh at rest. Without normals in the attributes they are smooth, one per vertex.
    pub fn new(attributes: &MeshAttributes, mesh: &TriMesh) -> FollowingNormals {
        if attributes.normals.is_empty() {
            return FollowingNormals {
                vertex_triangles: mesh.triangles.clone(),
                of_corners: attributes.faces.corners().to_vec(),
                count: mesh.positions.len(),
                ..FollowingNormals::default()
            };
        }
        let wedges = Wedges::by_normals(attributes);
        let corners = attributes.faces.corner_triangles(&mesh.positions);
        let vertex = |c: u32| attributes.faces.corners()[c as usize];
        let mut following = FollowingNormals {
            wedge_triangles: corners.iter().map(|t| t.map(|c| wedges.of_corners[c as usize])).collect(),
            vertex_triangles: corners.iter().map(|t| t.map(vertex)).collect(),
            count: wedges.len(),
            of_corners: wedges.of_corners,
            rest: Vec::new(),
        };
        let mut around = Vec::new();
        following.around(&mesh.positions, &mut around);
        let given = wedges.first_corners.iter().map(|&c| {
            let value = attributes.normals.values[attributes.normals.corners[c as usize] as usize];
            DVec3::from_array(value.map(f64::from)).normalize_or_zero()
        });
        following.rest = given.zip(around).map(|(n, g)| (n, g.normalize_or_zero())).collect();
        following
    }

    /// How many normals a frame has: one per vertex, or more where the file splits them.
    pub fn count(&self) -> usize {
        self.count
    }

    /// For each corner of the faces, which normal it has.
    pub fn of_corners(&self) -> &[u32] {
        &self.of_corners
    }

    /// Unit normals of a frame; +y where there is nothing to tell.
    pub fn at(&self, positions: &[DVec3], normals: &mut Vec<DVec3>) {
        self.around(positions, normals);
        for (k, n) in normals.iter_mut().enumerate() {
            let now = n.normalize_or_zero();
            *n = match self.rest.get(k) {
                Some(&(given, rest)) if given != DVec3::ZERO => {
                    if rest == DVec3::ZERO || now == DVec3::ZERO {
                        given
                    } else {
                        (DQuat::from_rotation_arc(rest, now) * given).normalize_or(DVec3::Y)
                    }
                }
                _ if now == DVec3::ZERO => DVec3::Y,
                _ => now,
            };
        }
    }

    /// Sums of area-weighted normals of the triangles at each wedge.
    fn around(&self, positions: &[DVec3], sums: &mut Vec<DVec3>) {
        sums.clear();
        sums.resize(self.count, DVec3::ZERO);
        let own = self.wedge_triangles.is_empty();
        let wedges = if own { &self.vertex_triangles } else { &self.wedge_triangles };
        for (wedges, vertices) in wedges.iter().zip(&self.vertex_triangles) {
            let [a, b, c] = vertices.map(|v| positions[v as usize]);
            let normal = (b - a).cross(c - a);
            wedges.iter().for_each(|&w| sums[w as usize] += normal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Layer, Polygons};
    use super::*;

    /// Two squares that meet at a right angle, with hard normals, the second one's leaning.
    fn corner() -> (MeshAttributes, TriMesh) {
        let positions: Vec<DVec3> = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 1]]
            .map(|p| DVec3::from_array(p.map(f64::from)))
            .to_vec();
        let mut faces = Polygons::default();
        faces.push(&[0, 1, 2, 3]);
        faces.push(&[0, 3, 5, 4]);
        let lean = 0.5_f32.sqrt();
        let normals =
            Layer { values: vec![[0., 0., 1.], [lean, lean, 0.]], corners: vec![0, 0, 0, 0, 1, 1, 1, 1] };
        let attributes = MeshAttributes { faces, normals, ..MeshAttributes::default() };
        let triangles = attributes.triangles(&positions);
        (attributes, TriMesh { positions, triangles })
    }

    #[test]
    fn at_rest_they_are_the_files_and_turn_with_the_mesh() {
        let (attributes, mesh) = corner();
        let following = FollowingNormals::new(&attributes, &mesh);
        assert_eq!(following.count(), 8);
        let mut normals = Vec::new();
        following.at(&mesh.positions, &mut normals);
        let lean = DVec3::new(0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0);
        for (c, &k) in following.of_corners().iter().enumerate() {
            let want = if c < 4 { DVec3::Z } else { lean };
            assert!(normals[k as usize].distance(want) < 1e-7, "{c}");
        }
        // A turn about the axis both rotation arcs share.
        let turn = DQuat::from_rotation_y(0.7);
        let turned: Vec<DVec3> = mesh.positions.iter().map(|&p| turn * p).collect();
        following.at(&turned, &mut normals);
        assert!(normals[following.of_corners()[0] as usize].distance(turn * DVec3::Z) < 1e-7);
        assert!(normals[following.of_corners()[4] as usize].distance(turn * lean) < 1e-7);
    }

    #[test]
    fn without_normals_they_are_smooth_and_collapse_is_defined() {
        let (mut attributes, mesh) = corner();
        attributes.normals = Layer::default();
        let following = FollowingNormals::new(&attributes, &mesh);
        let mut normals = Vec::new();
        following.at(&mesh.positions, &mut normals);
        let mut want = Vec::new();
        TriMesh::vertex_normals(&mesh.positions, &mesh.triangles, &mut want);
        assert_eq!(normals, want);
        following.at(&[DVec3::ZERO; 6], &mut normals);
        assert!(normals.iter().all(|&n| n == DVec3::Y));
        let (attributes, mesh) = corner();
        FollowingNormals::new(&attributes, &mesh).at(&[DVec3::ZERO; 6], &mut normals);
        assert!(normals.iter().all(|n| n.is_normalized()));
    }
}
