//! Faces that are none and faces that are there twice are dropped, where that opens nothing.

use super::edit::{FaceSubset, drop_faces};
use crate::inspect::sides::{EdgeSides, WeldedFaces};
use crate::inspect::{copies, on_a_line};
use crate::poly::PolyMesh;

/// Faces with fewer than three different vertices, by their names, are dropped, and corners that repeat the one
/// before them are left out. How many faces were dropped and how many shortened.
pub(crate) fn drop_collapsed(mesh: &PolyMesh, names: &[u32]) -> Option<(PolyMesh, usize, usize)> {
    let faces = &mesh.attributes.faces;
    let around = WeldedFaces::new(faces, Some(names));
    let (mut dropped, mut shortened) = (0, 0);
    let mut picked = FaceSubset::default();
    for f in 0..faces.len() {
        if around.collapsed(f) {
            dropped += 1;
            continue;
        }
        let range = faces.range(f);
        let fresh = |&c: &u32| around.vertex(c) != around.vertex(around.next(c));
        let kept: Vec<u32> = range.clone().map(|c| c as u32).filter(fresh).collect();
        shortened += usize::from(kept.len() < range.len());
        picked.push(f, kept);
    }
    (dropped + shortened > 0).then(|| (picked.of(mesh), dropped, shortened))
}

/// Faces without area that close nothing: no edge of theirs has just one other face.
pub(crate) fn drop_flat(mesh: &PolyMesh) -> Option<(PolyMesh, usize)> {
    let faces = &mesh.attributes.faces;
    let mut flat: Vec<bool> = faces.iter().map(|f| on_a_line(f, &mesh.positions)).collect();
    if flat.contains(&true) {
        let around = WeldedFaces::new(faces, None);
        for edge in EdgeSides::new(&around, mesh.positions.len()).edges().filter(|e| e.sides.len() == 2) {
            edge.sides.iter().for_each(|s| flat[around.face(s.corner) as usize] = false);
        }
    }
    let count = flat.iter().filter(|f| **f).count();
    (count > 0).then(|| (drop_faces(mesh, &flat), count))
}

/// Copies of earlier faces, walked the same way, or either way.
pub(crate) fn drop_copies(mesh: &PolyMesh, either_way: bool) -> Option<(PolyMesh, usize)> {
    let mut dropped = vec![false; mesh.attributes.faces.len()];
    let found = copies(&mesh.attributes.faces).into_iter().filter(|&[_, _, same]| same == 1 || either_way);
    let count = found.map(|[_, later, _]| dropped[later as usize] = true).count();
    (count > 0).then(|| (drop_faces(mesh, &dropped), count))
}
