//! Edits that keep what lies on the faces: fewer faces or corners, faces turned over, other vertices.

use crate::poly::{Layer, MeshAttributes, PolyMesh, Polygons};
use glam::DVec3;

/// Faces picked from those of a mesh, by their corners.
#[derive(Default)]
pub(crate) struct FaceSubset {
    sizes: Vec<u32>,
    corners: Vec<u32>,
    faces: Vec<u32>,
}

impl FaceSubset {
    /// Adds a face of the mesh with these of its corners.
    pub fn push(&mut self, face: usize, corners: impl IntoIterator<Item = u32>) {
        let before = self.corners.len();
        self.corners.extend(corners);
        self.sizes.push((self.corners.len() - before) as u32);
        self.faces.push(face as u32);
    }

    /// The mesh with these faces instead of its own.
    pub fn of(self, mesh: &PolyMesh) -> PolyMesh {
        let gather = |of: &[u32], by: &[u32]| -> Vec<u32> {
            if of.is_empty() { Vec::new() } else { by.iter().map(|&i| of[i as usize]).collect() }
        };
        let attributes = &mesh.attributes;
        let faces = polygons(&self.sizes, gather(attributes.faces.corners(), &self.corners));
        let attributes = MeshAttributes {
            faces,
            uvs: Layer {
                values: attributes.uvs.values.clone(),
                corners: gather(&attributes.uvs.corners, &self.corners),
            },
            normals: Layer {
                values: attributes.normals.values.clone(),
                corners: gather(&attributes.normals.corners, &self.corners),
            },
            colors: attributes.colors.clone(),
            materials: attributes.materials.clone(),
            face_materials: gather(&attributes.face_materials, &self.faces),
        };
        PolyMesh { attributes, ..without_faces(mesh) }
    }
}

/// The mesh without those faces.
pub(crate) fn drop_faces(mesh: &PolyMesh, dropped: &[bool]) -> PolyMesh {
    let mut picked = FaceSubset::default();
    for f in (0..mesh.attributes.faces.len()).filter(|&f| !dropped[f]) {
        picked.push(f, mesh.attributes.faces.range(f).map(|c| c as u32));
    }
    picked.of(mesh)
}

/// Turns faces over, each about its first corner; normals that would look away from their face are turned too.
pub(crate) fn turn_faces(mesh: &PolyMesh, turned: &[bool]) -> PolyMesh {
    let mut picked = FaceSubset::default();
    for (f, &turned) in turned.iter().enumerate() {
        let range = mesh.attributes.faces.range(f);
        let (first, rest) = (range.start as u32, range.start as u32 + 1..range.end as u32);
        match turned && !range.is_empty() {
            true => picked.push(f, std::iter::once(first).chain(rest.rev())),
            false => picked.push(f, range.map(|c| c as u32)),
        }
    }
    let mut mesh = picked.of(mesh);
    turn_normals(&mut mesh, turned);
    mesh
}

fn turn_normals(mesh: &mut PolyMesh, turned: &[bool]) {
    let attributes = &mut mesh.attributes;
    if attributes.normals.is_empty() {
        return;
    }
    let mut opposite = vec![u32::MAX; attributes.normals.values.len()];
    for f in (0..attributes.faces.len()).filter(|&f| turned[f]) {
        let range = attributes.faces.range(f);
        let face = newell(&attributes.faces.corners()[range.clone()], &mesh.positions);
        for corner in &mut attributes.normals.corners[range] {
            let value = attributes.normals.values[*corner as usize];
            if DVec3::from_array(value.map(f64::from)).dot(face) < 0.0 {
                let other = &mut opposite[*corner as usize];
                if *other == u32::MAX {
                    *other = attributes.normals.values.len() as u32;
                    attributes.normals.values.push(value.map(|x| -x));
                }
                *corner = *other;
            }
        }
        // Values added have no opposites yet; they belong to faces that are turned already.
    }
}

/// Twice the area of a face, along its normal.
pub(crate) fn newell(face: &[u32], positions: &[DVec3]) -> DVec3 {
    let Some(&first) = face.first() else { return DVec3::ZERO };
    let at = |k: usize| positions[face[k % face.len()] as usize] - positions[first as usize];
    (0..face.len()).map(|k| at(k).cross(at(k + 1))).sum()
}

/// The same faces over other vertices, one for each corner.
pub(crate) fn rename_corners(mesh: &PolyMesh, corners: Vec<u32>) -> PolyMesh {
    let sizes: Vec<u32> = mesh.attributes.faces.sizes().collect();
    let mut mesh = mesh.clone();
    mesh.attributes.faces = polygons(&sizes, corners);
    mesh
}

/// Appends copies of vertices.
pub(crate) fn copy_vertices(mesh: &mut PolyMesh, copied: &[u32]) {
    fn extend<T: Copy>(list: &mut Vec<T>, copied: &[u32]) {
        if !list.is_empty() {
            let copies: Vec<T> = copied.iter().map(|&v| list[v as usize]).collect();
            list.extend(copies);
        }
    }
    extend(&mut mesh.positions, copied);
    extend(&mut mesh.attributes.colors, copied);
    mesh.animation.iter_mut().flat_map(|m| &mut m.samples).for_each(|s| extend(s, copied));
}

/// Leaves out vertices that no face uses, where `keep` is false; the others keep their order.
pub(crate) fn keep_vertices(mesh: &PolyMesh, keep: &[bool]) -> PolyMesh {
    fn kept<T: Copy>(list: &[T], keep: &[bool]) -> Vec<T> {
        list.iter().zip(keep).filter(|(_, k)| **k).map(|(x, _)| *x).collect()
    }
    let mut next = 0;
    let names: Vec<u32> = keep
        .iter()
        .map(|&k| {
            next += u32::from(k);
            next.wrapping_sub(1)
        })
        .collect();
    let corners = mesh.attributes.faces.corners().iter().map(|&v| names[v as usize]).collect();
    let mut mesh = rename_corners(mesh, corners);
    mesh.positions = kept(&mesh.positions, keep);
    mesh.attributes.colors = kept(&mesh.attributes.colors, keep);
    mesh.animation.iter_mut().flat_map(|m| &mut m.samples).for_each(|s| *s = kept(s, keep));
    mesh
}

/// Which vertices faces use.
pub(crate) fn used(mesh: &PolyMesh) -> Vec<bool> {
    let mut used = vec![false; mesh.positions.len()];
    mesh.attributes.faces.corners().iter().for_each(|&v| used[v as usize] = true);
    used
}

/// Everything but the attributes.
pub(crate) fn without_faces(mesh: &PolyMesh) -> PolyMesh {
    PolyMesh {
        name: mesh.name.clone(),
        positions: mesh.positions.clone(),
        attributes: MeshAttributes::default(),
        animation: mesh.animation.clone(),
    }
}

/// Faces by sizes that fit the corners.
fn polygons(sizes: &[u32], corners: Vec<u32>) -> Polygons {
    Polygons::from_sizes(sizes, corners).unwrap_or_default()
}
