//! Small holes are filled with triangles of least area in all (Barequet and Sharir 1995, "Filling gaps in the
//! boundary of a polyhedron").

use super::Holes;
use crate::inspect::fans::fans;
use crate::inspect::on_a_line;
use crate::inspect::sides::{EdgeSides, WeldedFaces};
use crate::inspect::topology::PieceNumbers;
use crate::poly::PolyMesh;
use glam::DVec3;
use std::collections::{HashMap, HashSet};

/// Longer loops are never filled: the work grows with the cube of the edges.
const LONGEST: usize = 256;

/// Fills the holes that are small enough; how many, and with how many triangles.
pub(crate) fn fill(mesh: &PolyMesh, holes: &Holes) -> Option<(PolyMesh, usize, usize)> {
    let faces = &mesh.attributes.faces;
    let around = WeldedFaces::new(faces, None);
    let sides = EdgeSides::new(&around, mesh.positions.len());
    let loops = loops(&around, &sides, holes.edges.min(LONGEST));
    if loops.is_empty() {
        return None;
    }
    let sizes = Sizes::new(&around, &mesh.positions);
    let mut edges = Diagonals { sides: &sides, added: HashSet::new() };
    let mut filled = mesh.clone();
    let (mut count, mut triangles) = (0, 0);
    for corners in &loops {
        let vertices: Vec<u32> = corners.iter().map(|&c| around.vertex(c)).collect();
        let at = |k: usize| mesh.positions[vertices[k % vertices.len()] as usize];
        let length: f64 = (0..vertices.len()).map(|k| at(k).distance(at(k + 1))).sum();
        let mut own = faces.range(around.face(corners[0]) as usize).map(|c| around.vertex(c as u32));
        let sheet = vertices.iter().all(|v| own.clone().any(|w| w == *v));
        // The outline of a single face is no hole in it.
        if sheet || own.next().is_none() || length > holes.share * sizes.of(vertices[0]) {
            continue;
        }
        let Some(cut) = least_area(&vertices, &mesh.positions, &edges) else { continue };
        count += 1;
        triangles += cut.len();
        for t in cut {
            for k in 0..3 {
                edges.added.insert(pair(vertices[t[k]], vertices[t[(k + 1) % 3]]));
            }
            push(&mut filled, mesh, &around, t.map(|k| corners[k]));
        }
    }
    (count > 0).then_some((filled, count, triangles))
}

/// Adds a triangle that takes what lies at these corners of the mesh, and the material of the first one's face.
fn push(filled: &mut PolyMesh, mesh: &PolyMesh, around: &WeldedFaces<'_>, corners: [u32; 3]) {
    let attributes = &mut filled.attributes;
    attributes.faces.push(&corners.map(|c| around.vertex(c)));
    for (layer, from) in [
        (&mut attributes.uvs.corners, &mesh.attributes.uvs.corners),
        (&mut attributes.normals.corners, &mesh.attributes.normals.corners),
    ] {
        if !from.is_empty() {
            layer.extend(corners.map(|c| from[c as usize]));
        }
    }
    if let Some(&material) = mesh.attributes.face_materials.get(around.face(corners[0]) as usize) {
        attributes.face_materials.push(material);
    }
}

/// Boundary loops of up to so many edges, each as the corners where its sides begin, in the order that faces on
/// the other side would have. Loops that branch or meet themselves are left out.
fn loops(around: &WeldedFaces<'_>, sides: &EdgeSides, longest: usize) -> Vec<Vec<u32>> {
    let mut starts: Vec<u32> =
        sides.edges().filter(|e| e.sides.len() == 1).map(|e| e.sides[0].corner).collect();
    starts.sort_unstable();
    if starts.is_empty() {
        return Vec::new();
    }
    let mut fans = fans(around, sides);
    // The side that leaves from each fan; `None` if there are two.
    let mut leaving: HashMap<u32, Option<u32>> = HashMap::new();
    for &c in &starts {
        leaving.entry(fans.find(c)).and_modify(|side| *side = None).or_insert(Some(c));
    }
    let mut done: HashSet<u32> = HashSet::new();
    let mut found = Vec::new();
    for &start in &starts {
        if !done.insert(start) {
            continue;
        }
        let mut corners = vec![start];
        let closed = loop {
            let end = around.next(corners[corners.len() - 1]);
            match leaving.get(&fans.find(end)) {
                Some(&Some(c)) if c == start => break true,
                Some(&Some(c)) if done.insert(c) => corners.push(c),
                _ => break false,
            }
        };
        let mut vertices: Vec<u32> = corners.iter().map(|&c| around.vertex(c)).collect();
        vertices.sort_unstable();
        let simple = vertices.windows(2).all(|w| w[0] != w[1]);
        if closed && simple && (3..=longest).contains(&corners.len()) {
            corners.reverse();
            found.push(corners);
        }
    }
    found
}

/// Edges that are there already: a diagonal along one would be a third face on it.
struct Diagonals<'a> {
    sides: &'a EdgeSides,
    added: HashSet<[u32; 2]>,
}

impl Diagonals<'_> {
    fn free(&self, a: u32, b: u32) -> bool {
        !self.added.contains(&pair(a, b)) && !self.sides.contains(a, b)
    }
}

fn pair(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The triangles, as places in the loop, that cover it with the least area; `None` if none are sound.
fn least_area(vertices: &[u32], positions: &[DVec3], edges: &Diagonals<'_>) -> Option<Vec<[usize; 3]>> {
    let n = vertices.len();
    let at = |k: usize| positions[vertices[k] as usize];
    let mut cost = vec![f64::INFINITY; n * n];
    let mut middle = vec![0_usize; n * n];
    (0..n - 1).for_each(|i| cost[i * n + i + 1] = 0.0);
    for span in 2..n {
        for i in 0..n - span {
            let k = i + span;
            let outline = span == n - 1;
            if !outline && !edges.free(vertices[i], vertices[k]) {
                continue;
            }
            for j in i + 1..k {
                let parts = cost[i * n + j] + cost[j * n + k];
                if parts.is_finite() && !on_a_line(&[vertices[i], vertices[j], vertices[k]], positions) {
                    let total = parts + (at(j) - at(i)).cross(at(k) - at(i)).length();
                    if total < cost[i * n + k] {
                        cost[i * n + k] = total;
                        middle[i * n + k] = j;
                    }
                }
            }
        }
    }
    if !cost[n - 1].is_finite() {
        return None;
    }
    let mut open = vec![(0, n - 1)];
    let mut triangles = Vec::with_capacity(n - 2);
    while let Some((i, k)) = open.pop() {
        if k > i + 1 {
            let j = middle[i * n + k];
            triangles.push([i, j, k]);
            open.extend([(j, k), (i, j)]);
        }
    }
    Some(triangles)
}

/// The diagonals of the boxes of all pieces.
struct Sizes {
    piece_of: Vec<u32>,
    boxes: Vec<(DVec3, DVec3)>,
}

impl Sizes {
    fn new(around: &WeldedFaces<'_>, positions: &[DVec3]) -> Sizes {
        let pieces = PieceNumbers::new(around, positions.len());
        let mut boxes = vec![(DVec3::INFINITY, DVec3::NEG_INFINITY); pieces.list.len()];
        for (&piece, &p) in pieces.of_vertices.iter().zip(positions) {
            if let Some((lo, hi)) = boxes.get_mut(piece as usize) {
                (*lo, *hi) = (lo.min(p), hi.max(p));
            }
        }
        Sizes { piece_of: pieces.of_vertices, boxes }
    }

    fn of(&self, vertex: u32) -> f64 {
        let (lo, hi) = self.boxes[self.piece_of[vertex as usize] as usize];
        (hi - lo).length()
    }
}
