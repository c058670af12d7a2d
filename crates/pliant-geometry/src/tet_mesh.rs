//! A tetrahedral mesh as plain data, and the few measures everything else needs of it.

use crate::TriMesh;
use glam::{DMat3, DVec3};

/// Tetrahedra over shared points, positively oriented: det[b−a, c−a, d−a] > 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Where the points are, in metres; tetrahedra name them by index.
    pub points: Vec<DVec3>,
    /// Corners of each tetrahedron.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Region (material, physical group) of each tetrahedron; empty if there are none.
    pub regions: Vec<i32>,
}

/// The faces of a positively oriented tetrahedron, counter-clockwise seen from outside.
pub(crate) fn outward_faces([a, b, c, d]: [u32; 4]) -> [[u32; 3]; 4] {
    [[a, c, b], [a, b, d], [a, d, c], [b, c, d]]
}

impl TetMesh {
    /// The edge vectors b−a, c−a, d−a of a tetrahedron as columns. All indices must be in range here and below;
    /// [`faults`](TetMesh::faults) says whether they are.
    pub(crate) fn edge_matrix(&self, [a, b, c, d]: [u32; 4]) -> DMat3 {
        let [a, b, c, d] = [a, b, c, d].map(|i| self.points[i as usize]);
        DMat3::from_cols(b - a, c - a, d - a)
    }

    /// Signed volume of each tetrahedron.
    pub fn volumes(&self) -> Vec<f64> {
        self.tetrahedra.iter().map(|&t| self.edge_matrix(t).determinant() / 6.0).collect()
    }

    /// Volume each point stands for: a quarter of each tetrahedron at it.
    pub(crate) fn nodal_volumes(&self) -> Vec<f64> {
        let mut nodal = vec![0.0; self.points.len()];
        for (t, volume) in self.tetrahedra.iter().zip(self.volumes()) {
            t.iter().for_each(|&i| nodal[i as usize] += 0.25 * volume);
        }
        nodal
    }

    /// Turns inverted tetrahedra by swapping their last two corners; returns how many there were.
    pub(crate) fn orient(&mut self) -> usize {
        let mut turned = 0;
        for i in 0..self.tetrahedra.len() {
            if self.edge_matrix(self.tetrahedra[i]).determinant() < 0.0 {
                self.tetrahedra[i].swap(2, 3);
                turned += 1;
            }
        }
        turned
    }

    /// Faces that belong to one tetrahedron alone, outwards, in the order of the tetrahedra.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        let mut faces: Vec<([u32; 3], usize)> = Vec::with_capacity(4 * self.tetrahedra.len());
        for (i, &t) in self.tetrahedra.iter().enumerate() {
            for (f, mut face) in outward_faces(t).into_iter().enumerate() {
                face.sort_unstable();
                faces.push((face, 4 * i + f));
            }
        }
        faces.sort_unstable();
        let mut alone: Vec<usize> =
            faces.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0].1).collect();
        alone.sort_unstable();
        alone.into_iter().map(|at| outward_faces(self.tetrahedra[at / 4])[at % 4]).collect()
    }

    /// The boundary as a mesh of its own, and for each of its vertices the point it is.
    pub fn surface(&self) -> (TriMesh, Vec<u32>) {
        let mut triangles = self.boundary();
        let mut used: Vec<u32> = triangles.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        let mut vertex_of = vec![0; self.points.len()];
        for (vertex, &point) in used.iter().enumerate() {
            vertex_of[point as usize] = vertex as u32;
        }
        triangles.iter_mut().flatten().for_each(|i| *i = vertex_of[*i as usize]);
        (TriMesh { positions: used.iter().map(|&i| self.points[i as usize]).collect(), triangles }, used)
    }

    /// Every edge once, as (smaller, larger) point index, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .tetrahedra
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b], [a, c], [a, d], [b, c], [b, d], [c, d]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Points that no tetrahedron uses.
    pub fn unreferenced(&self) -> Vec<u32> {
        let mut used = vec![false; self.points.len()];
        self.tetrahedra.iter().flatten().for_each(|&i| used[i as usize] = true);
        (0..self.points.len() as u32).filter(|&i| !used[i as usize]).collect()
    }

    /// Removes points that no tetrahedron uses and returns which they were; the others keep their order.
    pub(crate) fn drop_unreferenced(&mut self) -> Vec<u32> {
        let dropped = self.unreferenced();
        if !dropped.is_empty() {
            let mut new_index = vec![0; self.points.len()];
            let mut gone = dropped.iter().peekable();
            let mut kept = Vec::with_capacity(self.points.len() - dropped.len());
            for (i, &p) in self.points.iter().enumerate() {
                if gone.next_if(|&&g| g as usize == i).is_none() {
                    new_index[i] = kept.len() as u32;
                    kept.push(p);
                }
            }
            self.points = kept;
            self.tetrahedra.iter_mut().flatten().for_each(|i| *i = new_index[*i as usize]);
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit() -> TetMesh {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
        TetMesh { points, tetrahedra: vec![[0, 1, 2, 3]], regions: Vec::new() }
    }

    #[test]
    fn a_corner_of_the_unit_cube_is_a_sixth_and_bounded_outwards() {
        let mesh = unit();
        assert_eq!(mesh.volumes(), [1.0 / 6.0]);
        assert_eq!(mesh.nodal_volumes(), [1.0 / 24.0; 4]);
        assert_eq!(mesh.edges().len(), 6);
        let (surface, _) = mesh.surface();
        assert!((surface.volume() - 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn orient_turns_what_is_inside_out() {
        let mut mesh = unit();
        mesh.tetrahedra.push([1, 0, 2, 3]);
        assert_eq!(mesh.orient(), 1);
        assert!(mesh.volumes().iter().all(|&v| v > 0.0));
        assert_eq!(mesh.orient(), 0);
    }

    #[test]
    fn unreferenced_points_go_and_the_rest_keep_their_order() {
        let mut mesh = unit();
        mesh.points.insert(2, DVec3::splat(9.0));
        mesh.points.push(DVec3::splat(8.0));
        mesh.tetrahedra = vec![[0, 1, 3, 4]];
        assert_eq!(mesh.drop_unreferenced(), [2, 5]);
        assert_eq!(mesh, unit());
    }
}
