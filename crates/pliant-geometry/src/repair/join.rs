//! Several meshes as one, with all that lies on them.

use crate::poly::{Layer, MeshAttributes, PolyMesh, Polygons, SurfaceMaterial, VertexAnimation};
use crate::{FollowingNormals, TriMesh};
use glam::DVec3;

/// Joins meshes: vertices and faces one after another, equal materials made one, different names joined by "+".
///
/// Where only some have texture coordinates, colours or normals, the others get (0, 0), white and smooth normals;
/// where only some move, the others rest, and motions are taken at the times of the first that moves.
pub fn join(meshes: &[PolyMesh]) -> PolyMesh {
    let mut all = PolyMesh { name: names(meshes), ..PolyMesh::default() };
    let any = |has: fn(&MeshAttributes) -> bool| meshes.iter().any(|m| has(&m.attributes));
    let (uvs, normals) = (any(|c| !c.uvs.is_empty()), any(|c| !c.normals.is_empty()));
    let (colors, materials) = (any(|c| !c.colors.is_empty()), any(|c| !c.materials.is_empty()));
    let times = meshes.iter().find_map(|m| m.animation.as_ref()).map(|m| m.times.clone());
    let mut samples = vec![Vec::new(); times.as_ref().map_or(0, Vec::len)];
    let (mut sizes, mut corners) = (Vec::new(), Vec::new());
    for mesh in meshes {
        let shift = all.positions.len() as u32;
        let (from, attributes) = (&mesh.attributes, &mut all.attributes);
        all.positions.extend(&mesh.positions);
        sizes.extend(from.faces.sizes());
        corners.extend(from.faces.corners().iter().map(|v| v + shift));
        if uvs {
            let blank = || Layer { values: vec![[0.0; 2]], corners: vec![0; from.faces.corners().len()] };
            append(&mut attributes.uvs, &from.uvs, blank);
        }
        if normals {
            append(&mut attributes.normals, &from.normals, || smooth(mesh));
        }
        if colors {
            let white = std::iter::repeat_n([1.0; 4], mesh.positions.len() - from.colors.len());
            attributes.colors.extend(from.colors.iter().copied().chain(white));
        }
        if materials && !from.faces.is_empty() {
            let numbers: Vec<u32> = match from.materials.as_slice() {
                [] => vec![number(&mut attributes.materials, &SurfaceMaterial::default())],
                list => list.iter().map(|m| number(&mut attributes.materials, m)).collect(),
            };
            let of = |f: usize| numbers[from.face_materials.get(f).map_or(0, |&m| m as usize)];
            attributes.face_materials.extend((0..from.faces.len()).map(of));
        }
        for (sample, &time) in samples.iter_mut().zip(times.iter().flatten()) {
            sample.extend(at(mesh, time));
        }
    }
    all.attributes.faces = Polygons::from_sizes(&sizes, corners).unwrap_or_default();
    all.animation = times.map(|times| VertexAnimation { times, samples });
    all
}

fn names(meshes: &[PolyMesh]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for mesh in meshes {
        if !mesh.name.is_empty() && names.len() < 16 && !names.contains(&mesh.name.as_str()) {
            names.push(&mesh.name);
        }
    }
    names.join("+")
}

fn append<T: Clone>(layer: &mut Layer<T>, from: &Layer<T>, blank: impl FnOnce() -> Layer<T>) {
    let shift = layer.values.len() as u32;
    let filled = from.is_empty().then(blank);
    let from = filled.as_ref().unwrap_or(from);
    layer.values.extend(from.values.iter().cloned());
    layer.corners.extend(from.corners.iter().map(|i| i + shift));
}

fn smooth(mesh: &PolyMesh) -> Layer<[f32; 3]> {
    let triangles: TriMesh = mesh.triangulated();
    let mut normals = Vec::new();
    FollowingNormals::new(&mesh.attributes, &triangles).at(&mesh.positions, &mut normals);
    let values = normals.iter().map(|n| n.to_array().map(|x| x as f32)).collect();
    Layer::of_vertices(values, &mesh.attributes.faces)
}

/// The number of a material among those so far, added if it is new.
fn number(materials: &mut Vec<SurfaceMaterial>, material: &SurfaceMaterial) -> u32 {
    let place = materials.iter().position(|m| m == material).unwrap_or(materials.len());
    if place == materials.len() {
        materials.push(material.clone());
    }
    place as u32
}

/// Where the vertices are at a time: between samples in a straight line, before and after them at rest.
fn at(mesh: &PolyMesh, time: f64) -> Vec<DVec3> {
    let Some(animation) = mesh.animation.as_ref().filter(|m| !m.samples.is_empty()) else {
        return mesh.positions.clone();
    };
    let after = animation.times.partition_point(|&t| t < time).min(animation.samples.len() - 1);
    let before = after.saturating_sub(1);
    let (from, to) = (animation.times[before], animation.times[after]);
    let part = if to > from { ((time - from) / (to - from)).clamp(0.0, 1.0) } else { 1.0 };
    if part == 1.0 {
        return animation.samples[after].clone();
    }
    animation.samples[before].iter().zip(&animation.samples[after]).map(|(a, b)| a.lerp(*b, part)).collect()
}
