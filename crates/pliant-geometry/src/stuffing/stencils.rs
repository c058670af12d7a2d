//! What is inside of a background tetrahedron, as up to three tetrahedra (Labelle and Shewchuk 2007, figure 3).
//!
//! Where two tetrahedra share a face that is cut into a triangle and a quadrilateral, both must split the
//! quadrilateral the same way, so the way depends on the face alone.

use super::field::CutLattice;
use crate::TetMesh;
use glam::IVec3;

/// A mesh under construction: lattice points and cuts get their number when they are first used.
pub(super) struct StencilMesh<'a> {
    field: &'a CutLattice,
    point_number: Vec<u32>,
    cut_number: Vec<u32>,
    pub mesh: TetMesh,
}

#[derive(Clone, Copy)]
enum StencilCorner {
    Point(u32),
    EdgeCut(u32),
}

/// A corner of a background tetrahedron.
#[derive(Clone, Copy)]
struct Vertex {
    at: IVec3,
    index: u32,
    sign: i8,
}

impl<'a> StencilMesh<'a> {
    pub fn new(field: &'a CutLattice) -> StencilMesh<'a> {
        let (points, cuts) = (field.sign.len(), field.cuts.len());
        let mesh = TetMesh::default();
        StencilMesh { field, point_number: vec![u32::MAX; points], cut_number: vec![u32::MAX; cuts], mesh }
    }

    /// Adds what is inside of a background tetrahedron.
    pub fn add(&mut self, corners: [IVec3; 4]) {
        let mut vertices = corners.map(|at| {
            let index = self.field.lattice.index(at);
            Vertex { at, index, sign: self.field.sign[index as usize] }
        });
        // Inside first, outside last; the sort is stable, so the order of the corners still decides ties.
        vertices.sort_by_key(|v| -v.sign);
        let [a, b, c, d] = vertices;
        let point = |v: Vertex| StencilCorner::Point(v.index);
        let cut = |v: Vertex, w: Vertex| StencilCorner::EdgeCut(self.field.cut(v.index, w.index));
        match [a.sign, b.sign, c.sign, d.sign] {
            [-1 | 0, ..] => {}
            [.., 0 | 1] => self.push([point(a), point(b), point(c), point(d)]),
            [_, -1 | 0, ..] => {
                let other = |v: Vertex| if v.sign == 0 { point(v) } else { cut(a, v) };
                self.push([point(a), other(b), other(c), other(d)]);
            }
            [_, _, 0, _] => {
                let (from, to) = if from_first(a, b, d) { (a, b) } else { (b, a) };
                let diagonal = (point(from), cut(to, d));
                let last = [point(to), cut(from, d)];
                last.into_iter().for_each(|last| self.push([diagonal.0, diagonal.1, point(c), last]));
            }
            [_, _, 1, _] => {
                let diagonals = [from_first(a, b, d), from_first(b, c, d), from_first(c, a, d)];
                self.prism([point(a), point(b), point(c)], [cut(a, d), cut(b, d), cut(c, d)], diagonals);
            }
            _ => {
                // The quadrilateral between the four cuts is on the surface: split so that the prism can be.
                let (first, last) = (from_first(a, b, c), from_first(b, a, d));
                let diagonals = [first, !first || !last, last];
                let (near, far) = ([point(a), cut(a, c), cut(a, d)], [point(b), cut(b, c), cut(b, d)]);
                self.prism(near, far, diagonals);
            }
        }
    }

    /// Three tetrahedra between two triangles. The diagonal of the side from corner i to the next one begins at
    /// corner i of the first triangle if `diagonals[i]`, else at the next one; not all three may be alike.
    fn prism(&mut self, near: [StencilCorner; 3], far: [StencilCorner; 3], diagonals: [bool; 3]) {
        for i in 0..3 {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            // Two diagonals begin at near[i], which thus sees all of the far triangle.
            if diagonals[i] && !diagonals[k] {
                self.push([near[i], far[0], far[1], far[2]]);
                let middle = if diagonals[j] { [near[j], far[k]] } else { [near[k], far[j]] };
                let (first, last) = if diagonals[j] { (near[k], far[j]) } else { (near[j], far[k]) };
                self.push([near[i], middle[0], middle[1], first]);
                self.push([near[i], middle[0], middle[1], last]);
                return;
            }
        }
    }

    fn push(&mut self, corners: [StencilCorner; 4]) {
        let numbers = corners.map(|corner| self.number(corner));
        let volume = self.mesh.edge_matrix(numbers).determinant();
        let [a, b, c, d] = numbers;
        self.mesh.tetrahedra.push(if volume < 0.0 { [a, b, d, c] } else { numbers });
    }

    fn number(&mut self, corner: StencilCorner) -> u32 {
        let (number, position) = match corner {
            StencilCorner::Point(i) => (&mut self.point_number[i as usize], self.field.point_position(i)),
            StencilCorner::EdgeCut(i) => (&mut self.cut_number[i as usize], self.field.cut_position(i)),
        };
        if *number == u32::MAX {
            *number = self.mesh.points.len() as u32;
            self.mesh.points.push(position);
        }
        *number
    }
}

/// Whether the quadrilateral left of the face `p`, `q`, `outside` is split from `p` to the cut next to `q`.
fn from_first(p: Vertex, q: Vertex, outside: Vertex) -> bool {
    let long = |v: Vertex, w: Vertex| v.at.x % 2 == w.at.x % 2;
    if long(p, q) {
        // The parity rule: of the ends of a long edge exactly one has an even number of coordinates larger than
        // the third corner's.
        return p.at.cmpgt(outside.at).bitmask().count_ones().is_multiple_of(2);
    }
    // Else the diagonal ends at the cut of the long edge.
    long(q, outside)
}
