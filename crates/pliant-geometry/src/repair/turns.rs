//! Orientation: faces turned so that neighbours agree, and closed pieces so that they look outwards.

use super::edit::turn_faces;
use crate::disjoint_sets::OrientedSets;
use crate::inspect::shells::Shells;
use crate::inspect::sides::{EdgeSides, WeldedFaces};
use crate::poly::PolyMesh;

/// Turns as few faces as needed for neighbours to agree. Patches that cannot agree (Möbius) are left as they are.
pub(crate) fn agree(mesh: &PolyMesh) -> Option<(PolyMesh, usize)> {
    let faces = &mesh.attributes.faces;
    let around = WeldedFaces::new(faces, None);
    let sides = EdgeSides::new(&around, mesh.positions.len());
    if !sides.edges().any(|e| e.inconsistent(&around)) {
        return None;
    }
    let mut sets = OrientedSets::new(faces.len());
    let mut contradicted = Vec::new();
    for edge in sides.edges() {
        if let [s, t] = edge.sides {
            let [f, g] = [s, t].map(|s| around.face(s.corner));
            if !sets.join(f, g, edge.inconsistent(&around)) {
                contradicted.push(f);
            }
        }
    }
    let mut unorientable = vec![false; faces.len()];
    contradicted.iter().for_each(|&f| unorientable[sets.find(f).0 as usize] = true);
    // More turned than not: the others are turned instead.
    let mut balance = vec![0_i64; faces.len()];
    for f in 0..faces.len() {
        let (root, turned) = sets.find(f as u32);
        balance[root as usize] += if turned { 1 } else { -1 };
    }
    let turned: Vec<bool> = (0..faces.len())
        .map(|f| {
            let (root, turned) = sets.find(f as u32);
            !unorientable[root as usize] && turned == (balance[root as usize] <= 0)
        })
        .collect();
    let count = turned.iter().filter(|t| **t).count();
    (count > 0).then(|| (turn_faces(mesh, &turned), count))
}

/// Turns closed pieces that are inside-out, with what lies inside them: cavities stay cavities. How many pieces.
pub(crate) fn outward(mesh: &PolyMesh) -> Option<(PolyMesh, usize)> {
    let faces = &mesh.attributes.faces;
    let around = WeldedFaces::new(faces, None);
    // Fans about the first corners: turned over, they are the same triangles, so a piece is never turned twice.
    let fan = |f: &[u32]| -> Vec<[u32; 3]> {
        let middle = f.windows(2).skip(1).map(|w| [f[0], w[0], w[1]]);
        middle.filter(|[a, b, c]| a != b && b != c && c != a).collect()
    };
    let triangles: Vec<[u32; 3]> = faces.iter().flat_map(fan).collect();
    let shells = Shells::new(&around, &mesh.positions, &triangles);
    let mut wrong = shells.inside_out(&mesh.positions);
    if wrong.is_empty() {
        return None;
    }
    wrong.extend(shells.within(&wrong, &mesh.positions));
    let mut pieces: Vec<u32> = wrong.iter().map(|&i| shells.list[i].piece).collect();
    pieces.sort_unstable();
    pieces.dedup();
    let turned: Vec<bool> = faces
        .iter()
        .map(|f| f.first().is_some_and(|&v| pieces.binary_search(&shells.piece_of[v as usize]).is_ok()))
        .collect();
    Some((turn_faces(mesh, &turned), pieces.len()))
}
