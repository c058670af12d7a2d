//! Pieces apart: every connected part a mesh of its own; tiny ones dropped.

use super::edit::{drop_faces, keep_vertices, used};
use crate::disjoint_sets::DisjointSets;
use crate::inspect::sides::WeldedFaces;
use crate::inspect::weld::same_places;
use crate::poly::{PolyMesh, VertexAnimation};
use glam::DVec3;

/// The piece of each face, numbered in order of first faces; and how many. Vertices in the same place hold pieces
/// together, so texture seams cut nothing.
fn pieces_of_faces(mesh: &PolyMesh) -> (Vec<u32>, usize) {
    let mut sets = DisjointSets::new(mesh.positions.len());
    let names = same_places(mesh, 0.0);
    for (v, &first) in names.iter().enumerate() {
        sets.join(v as u32, first);
    }
    let around = WeldedFaces::new(&mesh.attributes.faces, Some(&names));
    // Faces of two vertices hold nothing together.
    for (_, face) in mesh.attributes.faces.iter().enumerate().filter(|&(f, _)| !around.collapsed(f)) {
        face.iter().for_each(|&v| _ = sets.join(face[0], v));
    }
    let mut numbers = vec![u32::MAX; mesh.positions.len()];
    let mut count = 0;
    let mut last = 0;
    let of = mesh.attributes.faces.iter().map(|face| {
        // A face without corners goes with the one before it.
        let Some(&v) = face.first() else { return last };
        let number = &mut numbers[sets.find(v) as usize];
        if *number == u32::MAX {
            *number = count;
            count += 1;
        }
        last = *number;
        last
    });
    (of.collect(), count as usize)
}

/// A mesh for every piece, in order of their first faces, with what lies on them. Vertices without faces are in
/// none; a mesh of points alone, or of one piece, is given back whole.
pub fn split_pieces(mesh: &PolyMesh) -> Vec<PolyMesh> {
    let (of, count) = pieces_of_faces(mesh);
    if count <= 1 {
        return vec![mesh.clone()];
    }
    let mut order: Vec<u32> = (0..of.len() as u32).collect();
    order.sort_by_key(|&f| of[f as usize]);
    let mut fresh = Renumbering {
        vertices: Renumbered::new(mesh.positions.len()),
        uvs: Renumbered::new(mesh.attributes.uvs.values.len()),
        normals: Renumbered::new(mesh.attributes.normals.values.len()),
        materials: Renumbered::new(mesh.attributes.materials.len()),
    };
    order.chunk_by(|&f, &g| of[f as usize] == of[g as usize]).map(|faces| fresh.piece(mesh, faces)).collect()
}

struct Renumbering {
    vertices: Renumbered,
    uvs: Renumbered,
    normals: Renumbered,
    materials: Renumbered,
}

impl Renumbering {
    fn piece(&mut self, mesh: &PolyMesh, list: &[u32]) -> PolyMesh {
        let attributes = &mesh.attributes;
        let mut own: Vec<u32> = Vec::new();
        let corners = |f: u32| attributes.faces.range(f as usize);
        list.iter().for_each(|&f| own.extend(&attributes.faces.corners()[corners(f)]));
        // Vertices keep their order.
        own.sort_unstable();
        own.dedup();
        own.iter().for_each(|&v| _ = self.vertices.name(v));
        let mut piece = PolyMesh { name: mesh.name.clone(), ..PolyMesh::default() };
        let mut vertices = Vec::new();
        let kept = &mut piece.attributes;
        for &f in list {
            vertices.clear();
            vertices.extend(attributes.faces.corners()[corners(f)].iter().map(|&v| self.vertices.name(v)));
            kept.faces.push(&vertices);
            for (new, old, names) in [
                (&mut kept.uvs.corners, &attributes.uvs.corners, &mut self.uvs),
                (&mut kept.normals.corners, &attributes.normals.corners, &mut self.normals),
            ] {
                if !old.is_empty() {
                    new.extend(old[corners(f)].iter().map(|&i| names.name(i)));
                }
            }
            if let Some(&m) = attributes.face_materials.get(f as usize) {
                kept.face_materials.push(self.materials.name(m));
            }
        }
        if attributes.face_materials.is_empty() && !attributes.materials.is_empty() {
            self.materials.name(0);
        }
        let named = self.vertices.take();
        piece.positions = gather(&mesh.positions, &named);
        kept.colors =
            if attributes.colors.is_empty() { Vec::new() } else { gather(&attributes.colors, &named) };
        kept.uvs.values = gather(&attributes.uvs.values, &self.uvs.take());
        kept.normals.values = gather(&attributes.normals.values, &self.normals.take());
        kept.materials = gather(&attributes.materials, &self.materials.take());
        piece.animation = mesh.animation.as_ref().map(|m| VertexAnimation {
            times: m.times.clone(),
            samples: m.samples.iter().map(|s| gather(s, &named)).collect(),
        });
        piece
    }
}

fn gather<T: Clone>(list: &[T], named: &[u32]) -> Vec<T> {
    named.iter().map(|&i| list[i as usize].clone()).collect()
}

/// New numbers in order of first use.
struct Renumbered {
    numbers: Vec<u32>,
    named: Vec<u32>,
}

impl Renumbered {
    fn new(len: usize) -> Renumbered {
        Renumbered { numbers: vec![u32::MAX; len], named: Vec::new() }
    }

    fn name(&mut self, i: u32) -> u32 {
        let number = &mut self.numbers[i as usize];
        if *number == u32::MAX {
            *number = self.named.len() as u32;
            self.named.push(i);
        }
        *number
    }

    /// What has a number, in order; forgets all numbers.
    fn take(&mut self) -> Vec<u32> {
        self.named.iter().for_each(|&i| self.numbers[i as usize] = u32::MAX);
        std::mem::take(&mut self.named)
    }
}

/// Drops pieces whose box has a diagonal below that share of the whole box's, and their vertices; how many.
pub(crate) fn drop_tiny(mesh: &PolyMesh, share: f64) -> Option<(PolyMesh, usize)> {
    let (of, count) = pieces_of_faces(mesh);
    let nothing = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let mut boxes = vec![nothing; count];
    for (face, &piece) in mesh.attributes.faces.iter().zip(&of) {
        for &v in face {
            let (lo, hi) = &mut boxes[piece as usize];
            let p = mesh.positions[v as usize];
            (*lo, *hi) = (lo.min(p), hi.max(p));
        }
    }
    let (lo, hi) = boxes.iter().fold(nothing, |(lo, hi), b| (lo.min(b.0), hi.max(b.1)));
    let least = share.min(1.0) * (hi - lo).length();
    let tiny: Vec<bool> = boxes.iter().map(|(lo, hi)| (*hi - *lo).length() < least).collect();
    let dropped: Vec<bool> = of.iter().map(|&p| tiny.get(p as usize).is_some_and(|&t| t)).collect();
    if !dropped.contains(&true) {
        return None;
    }
    let before = used(mesh);
    let left = drop_faces(mesh, &dropped);
    let keep: Vec<bool> = used(&left).iter().zip(before).map(|(&now, before)| now || !before).collect();
    Some((keep_vertices(&left, &keep), tiny.iter().filter(|t| **t).count()))
}
