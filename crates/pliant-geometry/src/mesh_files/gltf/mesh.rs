//! A mesh of the file: its primitives joined into one surface with face materials, points into one cloud.

use super::document::Document;
use super::json::{EXPORT_AGAIN, JsonPlace};
use super::material;
use super::primitive::{Mode, PrimitiveVertices, corners, vertex_key};
use crate::error::{ErrorList, GeometryError};
use crate::poly::{Layer, MeshAttributes, Polygons};
use glam::Vec3;
use std::collections::HashMap;

/// Vertices, their displacements and their attributes, in the axes of the mesh.
#[derive(Default)]
pub(super) struct MorphShape {
    pub positions: Vec<[f32; 3]>,
    /// Displacements of each target; empty where it moves nothing.
    pub targets: Vec<Vec<[f32; 3]>>,
    pub attributes: MeshAttributes,
}

/// A mesh as nodes use it.
pub(super) struct GltfMesh<'a> {
    pub name: &'a str,
    /// Weight of each target where the node says nothing else.
    pub weights: Vec<f64>,
    /// A surface, a cloud of points, or both.
    pub shapes: Vec<MorphShape>,
}

/// What a primitive's material is called before the materials of a mesh are numbered.
type MaterialIndex = Option<usize>;

#[derive(Default)]
struct MeshDraft {
    shape: MorphShape,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
    materials: Vec<MaterialIndex>,
    /// Where each of them is in that list.
    numbers: HashMap<MaterialIndex, u32>,
    face_materials: Vec<u32>,
    /// Faces whose vertices have no normals, while others have.
    flat: Vec<bool>,
    /// Where vertices made of the same accessors begin, and whether they have normals.
    blocks: HashMap<Vec<Option<usize>>, (usize, usize, bool)>,
    mended: usize,
}

/// Reads a mesh; `None` if something is wrong, which `errors` then say.
pub(super) fn read<'a>(
    document: &Document<'_>,
    at: JsonPlace<'a>,
    notes: &mut Vec<String>,
    errors: &mut ErrorList,
) -> Option<GltfMesh<'a>> {
    let mut sound = true;
    let mut drafts = [MeshDraft::default(), MeshDraft::default()];
    let (mut targets, mut lines) = (None, 0);
    let primitives = at.list("primitives").map_err(|e| errors.add(e)).ok()?;
    for primitive in primitives.iter() {
        let mut join = || -> Result<(), GeometryError> {
            let mode = Mode::read(&primitive)?;
            let count = primitive.list("targets")?.len();
            if *targets.get_or_insert(count) != count {
                return Err(primitive.fault("other primitives have another number of targets", EXPORT_AGAIN));
            }
            match mode {
                Mode::Lines => lines += 1,
                Mode::Points => drafts[1].join(document, &primitive, mode)?,
                _ => drafts[0].join(document, &primitive, mode)?,
            }
            Ok(())
        };
        if let Err(e) = join() {
            errors.add(e);
            sound = false;
        }
    }
    if lines > 0 {
        notes.push(format!("{}: {lines} primitives of lines are passed over", at.path()));
    }
    let mended: usize = drafts.iter().map(|d| d.mended).sum();
    if mended > 0 {
        notes.push(format!(
            "{}: {mended} numbers of normals, texture coordinates or colours are not finite and became 0",
            at.path()
        ));
    }
    let mut shapes = Vec::new();
    for draft in drafts.into_iter().filter(|d| !d.shape.positions.is_empty()) {
        match draft.finish(document, &at) {
            Ok(shape) => shapes.push(shape),
            Err(e) => {
                errors.add(e);
                sound = false;
            }
        }
    }
    let weights = weights(&at, targets.unwrap_or(0)).map_err(|e| errors.add(e)).ok()?;
    sound.then(|| GltfMesh { name: at.text("name").unwrap_or_default(), weights, shapes })
}

/// The weights a mesh or node gives; zeros if it gives none.
pub(super) fn weights(at: &JsonPlace<'_>, targets: usize) -> Result<Vec<f64>, GeometryError> {
    let list = at.list("weights")?;
    let mut weights = list.iter().map(|w| w.as_number()).collect::<Result<Vec<f64>, _>>()?;
    weights.resize(targets, 0.0);
    Ok(weights)
}

impl MeshDraft {
    fn join(&mut self, document: &Document<'_>, at: &JsonPlace<'_>, mode: Mode) -> Result<(), GeometryError> {
        let key = vertex_key(at)?;
        let (start, count, has_normals) = match self.blocks.get(&key) {
            // A cloud twice over would show every point once.
            Some(&block) => block,
            None => {
                let block = self.append(document, at, PrimitiveVertices::read(document, at)?)?;
                self.blocks.insert(key, block);
                block
            }
        };
        if mode == Mode::Points {
            return Ok(());
        }
        let material = at.refer("material", &document.lists.materials)?.map(|(index, _)| index);
        let number = *self.numbers.entry(material).or_insert_with(|| {
            self.materials.push(material);
            self.materials.len() as u32 - 1
        });
        let run = corners(document, at, count)?;
        document.budget.bytes(at, run.len(), 32)?;
        let triangles = mode.triangles(&run).into_iter().map(|t| t.map(|v| v + start as u32));
        self.triangles.extend(triangles);
        if self.triangles.len() > u32::MAX as usize / 3 {
            return Err(at.fault("the mesh has more corners than can be counted", "split it"));
        }
        self.face_materials.resize(self.triangles.len(), number);
        self.flat.resize(self.triangles.len(), !has_normals);
        Ok(())
    }

    fn append(
        &mut self,
        document: &Document<'_>,
        at: &JsonPlace<'_>,
        found: PrimitiveVertices,
    ) -> Result<(usize, usize, bool), GeometryError> {
        let (start, count) = (self.shape.positions.len(), found.positions.len());
        if u32::try_from(start + count).is_err() {
            return Err(at.fault("the mesh has more vertices than can be counted", "split it"));
        }
        let has_normals = found.normals.is_some();
        self.shape.positions.extend(found.positions);
        lay(&mut self.normals, start, found.normals, [0.0; 3]);
        // v is down in the file.
        let up = |uvs: Vec<[f32; 2]>| uvs.into_iter().map(|[u, v]| [u, 1.0 - v]).collect();
        lay(&mut self.uvs, start, found.uvs.map(up), [0.0; 2]);
        lay(&mut self.shape.attributes.colors, start, found.colors, [1.0; 4]);
        // Targets may begin late: the zeros before that are memory too.
        let begun = self.shape.targets.iter().map(Vec::len).chain(std::iter::repeat(0));
        let late = begun.zip(&found.targets).filter(|(_, new)| new.is_some()).map(|(len, _)| start - len);
        document.budget.bytes(at, late.sum(), 12)?;
        self.shape.targets.resize(found.targets.len(), Vec::new());
        for (all, new) in self.shape.targets.iter_mut().zip(found.targets) {
            lay(all, start, new, [0.0; 3]);
        }
        self.mended += found.mended;
        Ok((start, count, has_normals))
    }

    fn finish(self, document: &Document<'_>, at: &JsonPlace<'_>) -> Result<MorphShape, GeometryError> {
        let MeshDraft { mut shape, mut normals, mut uvs, triangles, materials, face_materials, flat, .. } =
            self;
        let count = shape.positions.len();
        fill(&mut normals, count, [0.0; 3]);
        fill(&mut uvs, count, [0.0; 2]);
        fill(&mut shape.attributes.colors, count, [1.0; 4]);
        let short = shape.targets.iter().filter(|t| !t.is_empty()).map(|t| count - t.len()).sum();
        document.budget.bytes(at, short, 12)?;
        shape.targets.iter_mut().for_each(|t| fill(t, count, [0.0; 3]));
        let faces = Polygons::of_triangles(&triangles);
        if !uvs.is_empty() && !triangles.is_empty() {
            shape.attributes.uvs = Layer::of_vertices(uvs, &faces);
        }
        if !normals.is_empty() && !triangles.is_empty() {
            let mut layer = Layer::of_vertices(normals, &faces);
            let corners = layer.corners.as_chunks_mut::<3>().0;
            for ((corners, triangle), _) in
                corners.iter_mut().zip(&triangles).zip(flat).filter(|(_, flat)| *flat)
            {
                *corners = [layer.values.len() as u32; 3];
                let [a, b, c] = triangle.map(|v| Vec3::from(shape.positions[v as usize]));
                layer.values.push((b - a).cross(c - a).normalize_or_zero().to_array());
            }
            shape.attributes.normals = layer;
        }
        if materials.iter().any(Option::is_some) {
            for index in &materials {
                let place = index.and_then(|i| document.lists.materials.at(i));
                let found =
                    place.map_or_else(|| Ok(material::unnamed()), |m| material::read(document, &m))?;
                document.budget.bytes(at, 1, material::size(&found))?;
                shape.attributes.materials.push(found);
            }
            if materials.len() > 1 {
                shape.attributes.face_materials = face_materials;
            }
        }
        shape.attributes.faces = faces;
        Ok(shape)
    }
}

/// Appends the values of vertices from `start` on; those before that had none get `usual`.
fn lay<T: Copy>(all: &mut Vec<T>, start: usize, new: Option<Vec<T>>, usual: T) {
    if let Some(new) = new {
        all.resize(start, usual);
        all.extend(new);
    }
}

/// Makes a list that has any values as long as the others.
fn fill<T: Copy>(all: &mut Vec<T>, count: usize, usual: T) {
    if !all.is_empty() {
        all.resize(count, usual);
    }
}
