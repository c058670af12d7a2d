//! Faces of any number of corners, one list for all; meshes of triangles need no more than their corners.

use crate::triangulate::triangulate;
use glam::DVec3;

/// Polygons over the vertices of a mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Polygons {
    corners: Vec<u32>,
    /// Where each face ends in `corners`; empty while all faces are triangles.
    ends: Vec<u32>,
}

impl Polygons {
    /// Faces with three corners each.
    pub fn of_triangles(triangles: &[[u32; 3]]) -> Polygons {
        Polygons { corners: triangles.as_flattened().to_vec(), ends: Vec::new() }
    }

    /// The same from all corners in one list, three to a face.
    pub(crate) fn of_corners(corners: Vec<u32>) -> Polygons {
        debug_assert!(corners.len().is_multiple_of(3));
        Polygons { corners, ends: Vec::new() }
    }

    /// Faces given by how many corners each has and all corners in one list.
    ///
    /// `None` if the sizes do not add up to the corners.
    pub fn from_sizes(sizes: &[u32], corners: Vec<u32>) -> Option<Polygons> {
        let total: u64 = sizes.iter().map(|&n| u64::from(n)).sum();
        if total != corners.len() as u64 || u32::try_from(total).is_err() {
            return None;
        }
        let mut end = 0;
        let ends = if sizes.iter().all(|&n| n == 3) {
            Vec::new()
        } else {
            sizes
                .iter()
                .map(|&n| {
                    end += n;
                    end
                })
                .collect()
        };
        Some(Polygons { corners, ends })
    }

    /// Adds a face.
    pub fn push(&mut self, face: &[u32]) {
        if face.len() != 3 && self.ends.is_empty() {
            self.ends = (1..=self.corners.len() as u32 / 3).map(|f| 3 * f).collect();
        }
        let triangles = self.ends.is_empty() && face.len() == 3;
        self.corners.extend_from_slice(face);
        if !triangles {
            self.ends.push(self.corners.len() as u32);
        }
    }

    /// Number of faces.
    pub fn len(&self) -> usize {
        if self.ends.is_empty() { self.corners.len() / 3 } else { self.ends.len() }
    }

    /// Whether there are no faces.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The vertices of all faces' corners, face after face.
    pub fn corners(&self) -> &[u32] {
        &self.corners
    }

    /// Whether all faces are triangles.
    pub(crate) fn all_triangles(&self) -> bool {
        self.ends.is_empty()
    }

    /// Where the corners of a face are in [`Polygons::corners`].
    pub fn range(&self, face: usize) -> std::ops::Range<usize> {
        if self.ends.is_empty() {
            return 3 * face..3 * face + 3;
        }
        let start = if face == 0 { 0 } else { self.ends[face - 1] as usize };
        start..self.ends[face] as usize
    }

    /// The faces as slices of vertices.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|f| &self.corners[self.range(f)])
    }

    /// How many corners each face has.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u32> {
        (0..self.len()).map(|f| self.range(f).len() as u32)
    }

    /// Cuts the faces into triangles of corners (indices into [`Polygons::corners`]); pieces that name a vertex
    /// twice are left out. Concave faces are cut inside, in their best plane.
    pub fn corner_triangles(&self, positions: &[DVec3]) -> Vec<[u32; 3]> {
        self.corner_triangles_with_faces(positions).0
    }

    /// All faces cut into triangles of *corner* indices, and for each triangle the face it is of.
    pub fn corner_triangles_with_faces(&self, positions: &[DVec3]) -> (Vec<[u32; 3]>, Vec<u32>) {
        let mut triangles = Vec::with_capacity(self.corners.len().saturating_sub(2 * self.len()));
        let mut faces = Vec::with_capacity(triangles.capacity());
        for f in 0..self.len() {
            let range = self.range(f);
            let start = range.start as u32;
            let before = triangles.len();
            triangulate(&self.corners[range], positions, &mut triangles);
            triangles[before..].iter_mut().flatten().for_each(|c| *c += start);
            faces.resize(triangles.len(), f as u32);
        }
        (triangles, faces)
    }

    /// Turns every face over, keeping its first corner; tells for each corner which one it was.
    pub fn flip(&mut self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.corners.len() as u32).collect();
        for f in 0..self.len() {
            let range = self.range(f);
            if range.len() > 1 {
                order[range.start + 1..range.end].reverse();
            }
        }
        self.corners = order.iter().map(|&c| self.corners[c as usize]).collect();
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_of_all_sizes_come_back_as_they_went_in() {
        let faces: [&[u32]; 5] = [&[0, 1, 2], &[2, 1, 3], &[0, 2, 3, 4], &[], &[5, 6, 7]];
        let mut polygons = Polygons::default();
        for (n, face) in faces.iter().enumerate() {
            polygons.push(face);
            assert_eq!(polygons.len(), n + 1);
            assert_eq!(polygons.all_triangles(), n < 2);
        }
        assert!(polygons.iter().eq(faces));
        let sizes: Vec<u32> = polygons.sizes().collect();
        assert_eq!(Polygons::from_sizes(&sizes, polygons.corners().to_vec()), Some(polygons.clone()));
        assert_eq!(Polygons::from_sizes(&[3, 4], vec![0; 6]), None);
        let order = polygons.flip();
        assert_eq!(polygons.iter().nth(2), Some(&[0, 4, 3, 2][..]));
        assert_eq!(order[6..10], [6, 9, 8, 7]);
    }

    #[test]
    fn triangles_name_corners_of_their_face() {
        let positions: Vec<DVec3> =
            [[0., 0.], [2., 0.], [1., 0.5], [1., 2.]].map(|[x, y]| DVec3::new(x, y, 0.)).to_vec();
        let mut polygons = Polygons::default();
        polygons.push(&[0, 1, 3]);
        polygons.push(&[0, 2, 1, 3]);
        let (triangles, faces) = polygons.corner_triangles_with_faces(&positions);
        assert_eq!(faces, [0, 1, 1]);
        assert_eq!(triangles[0], [0, 1, 2]);
        assert!(triangles[1..].iter().flatten().all(|&c| (3..7).contains(&c)));
    }
}
