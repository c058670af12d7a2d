//! The objects of an OBJ file as meshes of their own.
//!
//! Objects (`o`) part the file; without any, groups (`g`) do. A name taken up again goes on with the same mesh.
//! A mesh has the vertices its faces use, and those that no face uses where they are declared, all in file
//! order. When there is one mesh only, its vertices are those of the file, untouched.

use super::color::Coding;
use super::notes::POINTS_ONLY;
use super::obj::{NONE, Names, ObjDraft};
use crate::poly::{Layer, MeshAttributes, PolyMesh, Polygons, SurfaceMaterial};
use std::collections::HashMap;

/// The meshes of a file; `library` holds the materials that are known.
pub(super) fn meshes(draft: &mut ObjDraft, library: &HashMap<String, SurfaceMaterial>) -> Vec<PolyMesh> {
    let colors = linear_colors(draft);
    let materials = face_materials(draft);
    let names =
        std::mem::take(if draft.objects.names.is_empty() { &mut draft.groups } else { &mut draft.objects });
    if draft.faces.is_empty() {
        draft.notes.say(POINTS_ONLY);
    }
    let pieces = pieces(draft, &names);
    let mut whole = ObjContext { colors, materials, library, local: vec![NONE; draft.positions.len()] };
    match pieces.as_slice() {
        [only] => vec![whole.untouched(draft, only.name.clone())],
        _ => pieces.into_iter().map(|piece| whole.part(draft, piece)).collect(),
    }
}

/// One object: its faces and vertices, rising.
struct ObjObject {
    name: String,
    faces: Vec<u32>,
    vertices: Vec<u32>,
}

/// The objects that have something in them.
fn pieces(draft: &mut ObjDraft, names: &Names) -> Vec<ObjObject> {
    let own = |name: &str| ObjObject { name: name.into(), faces: Vec::new(), vertices: Vec::new() };
    if names.names.len() < 2 && names.runs.first().is_none_or(|run| run.1 == 0) {
        return vec![own(names.names.first().map_or("", String::as_str))];
    }
    // What comes before the first name is in a piece without one.
    let mut pieces: Vec<ObjObject> =
        std::iter::once("").chain(names.names.iter().map(String::as_str)).map(own).collect();
    let (vertices, faces) = (draft.positions.len() as u32, draft.faces.len() as u32);
    let starts = std::iter::once((0, 0, 0)).chain(names.runs.iter().map(|&(v, f, n)| (v, f, n + 1)));
    let ends = names.runs.iter().map(|&(v, f, _)| (v, f)).chain([(vertices, faces)]);
    let mut used = vec![false; vertices as usize];
    draft.faces.corners().iter().for_each(|&v| used[v as usize] = true);
    for ((v, f, which), (v_end, f_end)) in starts.zip(ends) {
        let piece = &mut pieces[which as usize];
        piece.faces.extend(f..f_end);
        piece.vertices.extend((v..v_end).filter(|&v| !used[v as usize]));
    }
    for piece in &mut pieces {
        for &f in &piece.faces {
            piece.vertices.extend_from_slice(&draft.faces.corners()[draft.faces.range(f as usize)]);
        }
        piece.vertices.sort_unstable();
        piece.vertices.dedup();
    }
    for empty in pieces.iter().skip(1).filter(|p| p.vertices.is_empty()) {
        draft
            .notes
            .count("objects or groups with nothing in them are left out", || format!("`{}`", empty.name));
    }
    pieces.retain(|p| !p.vertices.is_empty());
    for points in pieces.iter().filter(|p| p.faces.is_empty()) {
        draft
            .notes
            .count("objects or groups without faces are point clouds", || format!("`{}`", points.name));
    }
    pieces
}

/// What belongs to the whole file.
struct ObjContext<'a> {
    colors: Vec<[f32; 4]>,
    /// Material of each face; empty if there are none.
    materials: Vec<u32>,
    library: &'a HashMap<String, SurfaceMaterial>,
    /// Vertex of a piece for each vertex of the file, as far as the piece has it.
    local: Vec<u32>,
}

impl ObjContext<'_> {
    /// The file as one mesh.
    fn untouched(&mut self, draft: &mut ObjDraft, name: String) -> PolyMesh {
        let mut attributes = MeshAttributes {
            faces: std::mem::take(&mut draft.faces),
            uvs: Layer {
                values: std::mem::take(&mut draft.uvs),
                corners: std::mem::take(&mut draft.uv_corners),
            },
            normals: Layer {
                values: std::mem::take(&mut draft.normals),
                corners: std::mem::take(&mut draft.normal_corners),
            },
            colors: std::mem::take(&mut self.colors),
            ..MeshAttributes::default()
        };
        complete(&mut attributes.uvs, [0.0; 2]);
        complete(&mut attributes.normals, [0.0; 3]);
        let materials = std::mem::take(&mut self.materials);
        self.name_materials(draft, &mut attributes, materials);
        PolyMesh { name, positions: std::mem::take(&mut draft.positions), attributes, animation: None }
    }

    /// A piece as its own mesh.
    fn part(&mut self, draft: &ObjDraft, piece: ObjObject) -> PolyMesh {
        for (new, &old) in piece.vertices.iter().enumerate() {
            self.local[old as usize] = new as u32;
        }
        let mut faces = Polygons::default();
        let mut face = Vec::new();
        let (mut uv_corners, mut normal_corners, mut materials) = (Vec::new(), Vec::new(), Vec::new());
        for &f in &piece.faces {
            let range = draft.faces.range(f as usize);
            face.clear();
            face.extend(draft.faces.corners()[range.clone()].iter().map(|&v| self.local[v as usize]));
            faces.push(&face);
            uv_corners.extend_from_slice(draft.uv_corners.get(range.clone()).unwrap_or_default());
            normal_corners.extend_from_slice(draft.normal_corners.get(range).unwrap_or_default());
            materials.extend(self.materials.get(f as usize));
        }
        let mut attributes = MeshAttributes {
            faces,
            uvs: compact(&draft.uvs, uv_corners),
            normals: compact(&draft.normals, normal_corners),
            ..MeshAttributes::default()
        };
        if !self.colors.is_empty() {
            attributes.colors = piece.vertices.iter().map(|&v| self.colors[v as usize]).collect();
        }
        complete(&mut attributes.uvs, [0.0; 2]);
        complete(&mut attributes.normals, [0.0; 3]);
        self.name_materials(draft, &mut attributes, materials);
        let positions = piece.vertices.iter().map(|&v| draft.positions[v as usize]).collect();
        PolyMesh { name: piece.name, positions, attributes, animation: None }
    }

    /// Materials in order of first use by the faces.
    fn name_materials(&self, draft: &ObjDraft, attributes: &mut MeshAttributes, mut of_faces: Vec<u32>) {
        if of_faces.iter().all(|&m| m == NONE) {
            return;
        }
        let mut seen: HashMap<u32, u32> = HashMap::new();
        for m in &mut of_faces {
            let next = seen.len() as u32;
            let file = *m;
            *m = *seen.entry(file).or_insert(next);
            if *m == next {
                let name = draft.materials.get(file as usize).cloned().unwrap_or_default();
                let known = self.library.get(&name).cloned();
                attributes
                    .materials
                    .push(known.unwrap_or(SurfaceMaterial { name, ..SurfaceMaterial::default() }));
            }
        }
        if attributes.materials.len() > 1 {
            attributes.face_materials = of_faces;
        }
    }
}

/// The values that corners name, in file order, and nothing else.
fn compact<T: Copy>(values: &[T], mut corners: Vec<u32>) -> Layer<T> {
    let mut used: Vec<u32> = corners.iter().copied().filter(|&i| i != NONE).collect();
    used.sort_unstable();
    used.dedup();
    if used.is_empty() {
        return Layer::default();
    }
    for i in corners.iter_mut().filter(|i| **i != NONE) {
        *i = used.partition_point(|u| u < i) as u32;
    }
    Layer { values: used.into_iter().map(|i| values[i as usize]).collect(), corners }
}

/// Corners without a value get one that says nothing: a layer is for all corners or none.
fn complete<T>(layer: &mut Layer<T>, nothing: T) {
    if layer.corners.is_empty() {
        layer.values.clear();
    } else if layer.corners.contains(&NONE) {
        let last = layer.values.len() as u32;
        layer.values.push(nothing);
        layer.corners.iter_mut().filter(|i| **i == NONE).for_each(|i| *i = last);
    }
}

/// The material of every face, [`NONE`] where there is none; empty if no face has any.
fn face_materials(draft: &ObjDraft) -> Vec<u32> {
    let faces = draft.faces.len();
    let mut of_faces = Vec::new();
    if draft.material_runs.iter().all(|run| run.1 == NONE || run.0 as usize >= faces) {
        return of_faces;
    }
    let mut current = NONE;
    for &(face, material) in &draft.material_runs {
        of_faces.resize(face as usize, current);
        current = material;
    }
    of_faces.resize(faces, current);
    of_faces
}

/// Colours of all vertices; numbers above 1 mean that the file counts to 255.
fn linear_colors(draft: &mut ObjDraft) -> Vec<[f32; 4]> {
    let colors = std::mem::take(&mut draft.colors);
    let most = colors.iter().flatten().fold(0.0, |most: f64, &c| most.max(c));
    let coding = if most > 1.0 { Coding::Bytes } else { Coding::Srgb };
    if most > 1.0 {
        draft.notes.say("vertex colours go beyond 1 and are taken as 0 to 255");
    }
    let color = |[r, g, b]: [f64; 3]| {
        let opaque = if coding == Coding::Bytes { 255.0 } else { 1.0 };
        coding.decode([r, g, b, opaque]).unwrap_or([1.0; 4])
    };
    colors.into_iter().map(color).collect()
}
