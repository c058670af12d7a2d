//! How the faces hang together: edges, fans, pieces, boundary loops, Euler characteristic and genus.

use super::Findings;
use super::fans::fans;
use super::sides::{EdgeSides, WeldedFaces};
use crate::disjoint_sets::{DisjointSets, OrientedSets};
use glam::DVec3;

/// How faces hang together through the vertices they share.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MeshTopology {
    /// Vertices that faces use.
    pub vertices: usize,
    /// Edges of faces, each once.
    pub edges: usize,
    /// Edges with a face on one side only.
    pub boundary_edges: Findings<[u32; 2]>,
    /// Edges where three or more faces meet.
    pub non_manifold_edges: Findings<[u32; 2]>,
    /// Sides of faces on those edges.
    pub non_manifold_sides: usize,
    /// Whether every edge has an even number of sides.
    pub even: bool,
    /// Edges of two faces that both walk them the same way: one of them is turned over.
    pub inconsistent_edges: Findings<[u32; 2]>,
    /// Vertices where faces meet that share no edge there.
    pub non_manifold_vertices: Findings<u32>,
    /// Closed lines of boundary edges.
    pub boundary_loops: usize,
    /// Length of the longest of them.
    pub longest_loop: f64,
    /// Parts that share no vertex.
    pub pieces: usize,
    /// The largest pieces by number of faces, up to 64.
    pub largest: Vec<MeshPiece>,
}

/// A part of a mesh that shares no vertex with the rest.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MeshPiece {
    /// The face of the smallest number in it, to find it by.
    pub first_face: u32,
    /// Polygons in it, whatever their number of corners.
    pub faces: usize,
    /// Number of vertices its faces use.
    pub vertices: usize,
    /// Euler characteristic: vertices − edges + faces.
    pub euler: i64,
    /// Closed rows of edges that have a face on one side only: holes, and the rim of an open mesh.
    pub boundary_loops: usize,
    /// Edges and vertices of it that are not manifold.
    pub non_manifold: usize,
    /// Whether its faces can be turned so that they agree.
    pub orientable: bool,
    /// Number of handles; `None` where it is not defined: not manifold or not orientable.
    pub genus: Option<u64>,
}

impl MeshTopology {
    /// How many pieces are listed.
    pub(crate) const LISTED: usize = 64;

    /// What keeps the faces from being a closed, consistently oriented surface: a count that repairs must not
    /// raise. An edge where k faces meet counts k, as it would as k edges of open sheets.
    pub fn defects(&self) -> usize {
        self.boundary_edges.count
            + self.non_manifold_sides
            + self.inconsistent_edges.count
            + self.non_manifold_vertices.count
    }

    pub(crate) fn new(around: &WeldedFaces<'_>, positions: &[DVec3]) -> MeshTopology {
        let sides = EdgeSides::new(around, positions.len());
        let mut topology = MeshTopology { even: true, ..MeshTopology::default() };
        let mut pieces = PieceNumbers::new(around, positions.len());
        for edge in sides.edges() {
            let ends = [edge.a, edge.b];
            topology.edges += 1;
            topology.even &= edge.sides.len() % 2 == 0;
            let piece = pieces.at(edge.a);
            piece.euler -= 1;
            match edge.sides.len() {
                1 => topology.boundary_edges.push(ends),
                2 => {
                    if edge.inconsistent(around) {
                        topology.inconsistent_edges.push(ends);
                    }
                }
                n => {
                    topology.non_manifold_edges.push(ends);
                    topology.non_manifold_sides += n;
                    piece.non_manifold += 1;
                }
            }
        }
        if !topology.inconsistent_edges.is_empty() {
            pieces.find_unorientable(around, &sides);
        }
        topology.walk_fans(around, &sides, positions, &mut pieces);
        topology.vertices = pieces.list.iter().map(|p| p.vertices).sum();
        topology.pieces = pieces.list.len();
        topology.largest = pieces.largest();
        topology
    }

    fn walk_fans(
        &mut self,
        around: &WeldedFaces<'_>,
        sides: &EdgeSides,
        positions: &[DVec3],
        pieces: &mut PieceNumbers,
    ) {
        let mut fans = fans(around, sides);
        // How many fans each vertex has: none, one, or more.
        let mut seen = vec![0_u8; positions.len()];
        for f in (0..around.faces().len()).filter(|&f| !around.collapsed(f)) {
            for c in around.faces().range(f).map(|c| c as u32).filter(|&c| fans.find(c) == c) {
                let count = &mut seen[around.vertex(c) as usize];
                *count = (*count + 1).min(2);
            }
        }
        for v in (0..positions.len() as u32).filter(|&v| seen[v as usize] == 2) {
            self.non_manifold_vertices.push(v);
            pieces.at(v).non_manifold += 1;
        }
        // An open fan ends in two boundary edges, so fans joined by these make up the loops.
        let mut links = Vec::with_capacity(self.boundary_edges.count);
        for edge in sides.edges().filter(|e| e.sides.len() == 1) {
            let [a, b] = edge.ends(&edge.sides[0], around).map(|c| fans.find(c));
            links.push((a, b, edge.a, edge.b));
        }
        drop(fans);
        let mut ends: Vec<u32> = links.iter().flat_map(|&(a, b, ..)| [a, b]).collect();
        ends.sort_unstable();
        ends.dedup();
        let place = |fan: u32| ends.partition_point(|&e| e < fan) as u32;
        let mut loops = DisjointSets::new(ends.len());
        for &(a, b, ..) in &links {
            loops.join(place(a), place(b));
        }
        let mut lengths = vec![0.0; ends.len()];
        for &(a, _, u, v) in &links {
            let length: &mut f64 = &mut lengths[loops.find(place(a)) as usize];
            if *length == 0.0 {
                self.boundary_loops += 1;
                pieces.at(u).boundary_loops += 1;
            }
            // A loop of no length is a loop still.
            *length += positions[u as usize].distance(positions[v as usize]).max(f64::MIN_POSITIVE);
            self.longest_loop = self.longest_loop.max(*length);
        }
    }
}

/// Pieces, numbered in order of their first vertices.
pub(crate) struct PieceNumbers {
    /// Piece of each vertex; `u32::MAX` for those without faces.
    pub of_vertices: Vec<u32>,
    pub list: Vec<MeshPiece>,
}

impl PieceNumbers {
    pub fn new(around: &WeldedFaces<'_>, vertices: usize) -> PieceNumbers {
        let mut sets = DisjointSets::new(vertices);
        let faces = || (0..around.faces().len()).filter(|&f| !around.collapsed(f));
        let mut used = vec![false; vertices];
        for f in faces() {
            let range = around.faces().range(f);
            let first = around.vertex(range.start as u32);
            for c in range {
                let v = around.vertex(c as u32);
                sets.join(first, v);
                used[v as usize] = true;
            }
        }
        let mut pieces = PieceNumbers { of_vertices: vec![u32::MAX; vertices], list: Vec::new() };
        for v in (0..vertices).filter(|&v| used[v]) {
            // The smallest of a set comes first, so it has its number before the others ask.
            let root = sets.find(v as u32) as usize;
            if root == v {
                pieces.of_vertices[v] = pieces.list.len() as u32;
                pieces.list.push(MeshPiece {
                    first_face: u32::MAX,
                    orientable: true,
                    ..MeshPiece::default()
                });
            }
            pieces.of_vertices[v] = pieces.of_vertices[root];
            let piece = pieces.at(v as u32);
            piece.vertices += 1;
            piece.euler += 1;
        }
        for f in faces() {
            let piece = pieces.at(around.vertex(around.faces().range(f).start as u32));
            piece.first_face = piece.first_face.min(f as u32);
            piece.faces += 1;
            piece.euler += 1;
        }
        pieces
    }

    pub fn at(&mut self, vertex: u32) -> &mut MeshPiece {
        &mut self.list[self.of_vertices[vertex as usize] as usize]
    }

    fn find_unorientable(&mut self, around: &WeldedFaces<'_>, sides: &EdgeSides) {
        let mut turns = OrientedSets::new(around.faces().len());
        for edge in sides.edges() {
            if let [s, t] = edge.sides {
                let [f, g] = [s, t].map(|s| around.face(s.corner));
                if !turns.join(f, g, edge.inconsistent(around)) {
                    self.at(edge.a).orientable = false;
                }
            }
        }
    }

    fn largest(mut self) -> Vec<MeshPiece> {
        self.list.sort_by_key(|p| (std::cmp::Reverse(p.faces), p.first_face));
        self.list.truncate(MeshTopology::LISTED);
        for piece in &mut self.list {
            // χ = 2 − 2g − b
            let twice = 2 - piece.boundary_loops as i64 - piece.euler;
            let defined = piece.non_manifold == 0 && piece.orientable && twice >= 0 && twice % 2 == 0;
            piece.genus = defined.then_some(twice as u64 / 2);
        }
        self.list
    }
}
