//! Sides: every edge of every face, sorted so that the sides of one edge lie together.
//!
//! Sorted arrays instead of maps: eight bytes a side, and a million triangles take a fraction of a second.

use crate::poly::Polygons;

/// Faces whose corners may be renamed (welded) and walked around.
pub(crate) struct WeldedFaces<'a> {
    faces: &'a Polygons,
    /// Another name for each vertex, if any.
    names: Option<&'a [u32]>,
    /// Face of each corner; empty where all are triangles.
    face_of: Vec<u32>,
}

impl<'a> WeldedFaces<'a> {
    pub fn new(faces: &'a Polygons, names: Option<&'a [u32]>) -> WeldedFaces<'a> {
        let mut face_of = Vec::new();
        if !faces.all_triangles() {
            face_of.reserve_exact(faces.corners().len());
            (0..faces.len()).for_each(|f| face_of.resize(faces.range(f).end, f as u32));
        }
        WeldedFaces { faces, names, face_of }
    }

    pub fn faces(&self) -> &'a Polygons {
        self.faces
    }

    /// The vertex of a corner, by its new name.
    pub fn vertex(&self, corner: u32) -> u32 {
        self.name(self.faces.corners()[corner as usize])
    }

    /// The new name of a vertex.
    pub fn name(&self, vertex: u32) -> u32 {
        self.names.map_or(vertex, |names| names[vertex as usize])
    }

    pub fn face(&self, corner: u32) -> u32 {
        if self.face_of.is_empty() { corner / 3 } else { self.face_of[corner as usize] }
    }

    /// The corner after this one in its face.
    pub fn next(&self, corner: u32) -> u32 {
        let range = self.faces.range(self.face(corner) as usize);
        if corner as usize + 1 == range.end { range.start as u32 } else { corner + 1 }
    }

    /// Whether fewer than three different vertices are left of a face: it bounds nothing.
    pub fn collapsed(&self, face: usize) -> bool {
        let mut corners = self.faces.range(face).map(|c| self.vertex(c as u32));
        let Some(a) = corners.next() else { return true };
        let Some(b) = corners.find(|&v| v != a) else { return true };
        !corners.any(|v| v != a && v != b)
    }
}

/// A side of a face on an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EdgeSide {
    /// The larger vertex of the edge.
    other: u32,
    /// The corner that the side leaves from.
    pub corner: u32,
}

/// All sides by edge.
pub(crate) struct EdgeSides {
    /// Where the sides whose smaller vertex is `v` begin.
    starts: Vec<u32>,
    sides: Vec<EdgeSide>,
}

/// An edge and its sides, by corner.
pub(crate) struct SharedEdge<'a> {
    pub a: u32,
    pub b: u32,
    pub sides: &'a [EdgeSide],
}

impl EdgeSides {
    /// The sides of all faces that have not collapsed; sides between equal vertices are left out.
    pub fn new(around: &WeldedFaces<'_>, vertices: usize) -> EdgeSides {
        let mut starts = vec![0_u32; vertices + 1];
        let each = |visit: &mut dyn FnMut(u32, u32, u32)| {
            for f in (0..around.faces.len()).filter(|&f| !around.collapsed(f)) {
                let range = around.faces.range(f);
                let mut before = around.vertex(range.end as u32 - 1);
                let mut corner = range.end as u32 - 1;
                for c in range {
                    let here = around.vertex(c as u32);
                    if here != before {
                        visit(before, here, corner);
                    }
                    (before, corner) = (here, c as u32);
                }
            }
        };
        each(&mut |a, b, _| starts[a.min(b) as usize] += 1);
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut sides = vec![EdgeSide { other: 0, corner: 0 }; end as usize];
        each(&mut |a, b, corner| {
            let place = &mut starts[a.min(b) as usize];
            *place -= 1;
            sides[*place as usize] = EdgeSide { other: a.max(b), corner };
        });
        for v in 0..vertices {
            sides[starts[v] as usize..starts[v + 1] as usize].sort_unstable();
        }
        EdgeSides { starts, sides }
    }

    /// Every edge once, by its vertices.
    pub fn edges(&self) -> impl Iterator<Item = SharedEdge<'_>> {
        (0..self.starts.len() - 1).flat_map(move |a| {
            let mut left = &self.sides[self.starts[a] as usize..self.starts[a + 1] as usize];
            std::iter::from_fn(move || {
                let b = left.first()?.other;
                let (sides, rest) = left.split_at(left.iter().take_while(|s| s.other == b).count());
                left = rest;
                Some(SharedEdge { a: a as u32, b, sides })
            })
        })
    }
}

impl EdgeSides {
    /// Whether there is an edge between two vertices.
    pub fn contains(&self, a: u32, b: u32) -> bool {
        let (a, b) = (a.min(b) as usize, a.max(b));
        let sides = &self.sides[self.starts[a] as usize..self.starts[a + 1] as usize];
        sides.binary_search_by_key(&b, |s| s.other).is_ok()
    }
}

impl SharedEdge<'_> {
    /// Whether a side walks the edge from its smaller to its larger vertex.
    pub fn forward(&self, side: &EdgeSide, around: &WeldedFaces<'_>) -> bool {
        around.vertex(side.corner) == self.a
    }

    /// Whether two faces meet here that walk it the same way.
    pub fn inconsistent(&self, around: &WeldedFaces<'_>) -> bool {
        matches!(self.sides, [s, t] if self.forward(s, around) == self.forward(t, around))
    }

    /// A side's corners at the smaller and the larger vertex.
    pub fn ends(&self, side: &EdgeSide, around: &WeldedFaces<'_>) -> [u32; 2] {
        let next = around.next(side.corner);
        if self.forward(side, around) { [side.corner, next] } else { [next, side.corner] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_of_an_edge_lie_together_and_collapsed_faces_have_none() {
        let mut faces = Polygons::default();
        faces.push(&[0, 1, 2]);
        faces.push(&[2, 1, 4, 3]);
        faces.push(&[1, 2, 2]);
        faces.push(&[]);
        let around = WeldedFaces::new(&faces, None);
        let sides = EdgeSides::new(&around, 5);
        let edges: Vec<_> = sides.edges().map(|e| (e.a, e.b, e.sides.len())).collect();
        assert_eq!(edges, [(0, 1, 1), (0, 2, 1), (1, 2, 2), (1, 4, 1), (2, 3, 1), (3, 4, 1)]);
        let shared = sides.edges().nth(2).unwrap();
        assert!(!shared.inconsistent(&around));
        assert_eq!(shared.sides.iter().map(|s| around.face(s.corner)).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(shared.ends(&shared.sides[1], &around), [4, 3]);
        assert!((0..4).map(|f| around.collapsed(f)).eq([false, false, true, true]));
        // Welding 3 to 2 takes a side off the quad.
        let names = [0, 1, 2, 2, 4];
        let welded = WeldedFaces::new(&faces, Some(&names));
        assert_eq!(EdgeSides::new(&welded, 5).sides.len(), 6);
    }
}
