//! What a body is in Alembic's terms: a transform, a polygon mesh or points below it, a face set per material.

use super::archive::Object;
use super::bounds::Bounds;
use super::bytes::{put_floats, put_integers};
use super::ogawa::Ogawa;
use super::property::{FRAMES, Pod, Property, Samples, Shape, TIMELESS};
use crate::export::usda::point_width;
use crate::{CacheError, LogBody};

mod metadata {
    //! What properties and objects say of themselves: `key=value;`, sorted by key.
    pub(super) const XFORM: &str = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";
    pub(super) const XFORM_SCHEMA: &str = "schema=AbcGeom_Xform_v3";
    pub(super) const MESH: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;\
                                   schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
    pub(super) const MESH_SCHEMA: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
    pub(super) const POINTS: &str = "schema=AbcGeom_Points_v1;schemaBaseType=AbcGeom_GeomBase_v1;\
                                     schemaObjTitle=AbcGeom_Points_v1:.geom";
    pub(super) const POINTS_SCHEMA: &str = "schema=AbcGeom_Points_v1;schemaBaseType=AbcGeom_GeomBase_v1";
    pub(super) const FACE_SET: &str = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1;\
                                       schemaObjTitle=AbcGeom_FaceSet_v1:.faceset";
    pub(super) const FACE_SET_SCHEMA: &str = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1";
    pub(super) const BOX: &str = "interpretation=box";
    pub(super) const VERTEX_POINT: &str = "geoScope=vtx;interpretation=point";
    pub(super) const VARYING_POINT: &str = "geoScope=var;interpretation=point";
    pub(super) const VARYING: &str = "geoScope=var";
    pub(super) const VERTEX_NORMAL: &str = "arrayExtent=1;geoScope=vtx;interpretation=normal;isGeomParam=true;\
                                            podExtent=3;podName=float32_t";
    pub(super) const WIDTH: &str =
        "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=float32_t";
    pub(super) const COLOR: &str = "arrayExtent=1;geoScope=vtx;interpretation=rgb;isGeomParam=true;\
                                    podExtent=3;podName=float32_t";
}

/// A sample that holds for ever.
fn constant(
    out: &mut Ogawa,
    shape: Shape,
    pod: Pod,
    extent: u8,
    bytes: &[u8],
) -> Result<Samples, CacheError> {
    let mut samples = Samples::new(shape, pod, extent, TIMELESS);
    samples.push_known(out, bytes)?;
    Ok(samples)
}

/// A sample that holds for all frames. Alembic's own writers count these like the positions.
fn held(out: &mut Ogawa, pod: Pod, bytes: &[u8], frames: u32) -> Result<Samples, CacheError> {
    let mut samples = Samples::new(Shape::Array, pod, 1, FRAMES);
    samples.push_known(out, bytes)?;
    samples.hold(frames);
    Ok(samples)
}

/// Bounds over the frames.
pub(super) fn bounds_samples() -> Samples {
    Samples::new(Shape::Scalar, Pod::F64, 6, FRAMES)
}

/// Bounds of everything below an object.
pub(super) fn child_bounds(samples: Samples) -> Property {
    Property::sampled(".childBnds", metadata::BOX, samples)
}

/// The samples of a body that change from frame to frame.
pub(super) struct Motion {
    positions: Samples,
    normals: Samples,
    bounds: Samples,
    bounds_above: Samples,
}

impl Motion {
    pub(super) fn new() -> Motion {
        let triples = || Samples::new(Shape::Array, Pod::F32, 3, FRAMES);
        Motion {
            positions: triples(),
            normals: triples(),
            bounds: bounds_samples(),
            bounds_above: bounds_samples(),
        }
    }

    /// Adds a frame; `buffer` is for reuse.
    pub(super) fn push(
        &mut self,
        out: &mut Ogawa,
        points: &[[f32; 3]],
        normals: Option<&[[f32; 3]]>,
        bounds: &Bounds,
        buffer: &mut Vec<u8>,
    ) -> Result<(), CacheError> {
        put_floats(points.as_flattened(), buffer);
        self.positions.push(out, buffer)?;
        if let Some(normals) = normals {
            put_floats(normals.as_flattened(), buffer);
            self.normals.push(out, buffer)?;
        }
        self.bounds.push(out, &bounds.to_bytes())?;
        self.bounds_above.push_shared(&self.bounds);
        Ok(())
    }
}

/// The transform of a body with its shape below it; writes what does not change.
pub(super) fn body_object(
    body: &LogBody,
    name: String,
    motion: Motion,
    frames: u32,
    out: &mut Ogawa,
) -> Result<Object, CacheError> {
    let shape_name = format!("{name}Shape");
    let above = child_bounds(motion.bounds_above);
    let bounds = Property::sampled(".selfBnds", metadata::BOX, motion.bounds);
    let shape = if body.is_point_cloud() {
        points(body, shape_name, bounds, motion.positions, frames, out)?
    } else {
        mesh(body, &name, shape_name, bounds, motion.positions, motion.normals, frames, out)?
    };
    // The identity as a matrix (operation 3, no hint) is what other writers put here.
    let identity: Vec<u8> = (0..16).flat_map(|k| f64::from(u8::from(k % 5 == 0)).to_le_bytes()).collect();
    let xform = vec![
        above,
        Property::sampled(".inherits", "", constant(out, Shape::Scalar, Pod::Bool, 1, &[1])?),
        Property::sampled(".ops", "", constant(out, Shape::Scalar, Pod::U8, 1, &[0x30])?),
        Property::sampled(".vals", "", constant(out, Shape::Scalar, Pod::F64, 16, &identity)?),
    ];
    Ok(Object {
        name,
        metadata: metadata::XFORM,
        properties: vec![Property::compound(".xform", metadata::XFORM_SCHEMA, xform)],
        children: vec![shape],
    })
}

fn points(
    body: &LogBody,
    name: String,
    bounds: Property,
    positions: Samples,
    frames: u32,
    out: &mut Ogawa,
) -> Result<Object, CacheError> {
    let count = body.mesh.positions.len();
    let ids: Vec<u8> = (0..count as u64).flat_map(u64::to_le_bytes).collect();
    let mut widths = Vec::new();
    put_floats(&vec![point_width(body); count], &mut widths);
    let geometry = vec![
        bounds,
        Property::sampled("P", metadata::VARYING_POINT, positions),
        Property::sampled(".pointIds", metadata::VARYING, held(out, Pod::U64, &ids, frames)?),
        Property::sampled(".widths", metadata::WIDTH, held(out, Pod::F32, &widths, frames)?),
        color(body, out)?,
    ];
    Ok(Object {
        name,
        metadata: metadata::POINTS,
        properties: vec![Property::compound(".geom", metadata::POINTS_SCHEMA, geometry)],
        children: Vec::new(),
    })
}

#[allow(clippy::too_many_arguments)]
fn mesh(
    body: &LogBody,
    body_name: &str,
    name: String,
    bounds: Property,
    positions: Samples,
    normals: Samples,
    frames: u32,
    out: &mut Ogawa,
) -> Result<Object, CacheError> {
    let triangles = &body.mesh.triangles;
    // Alembic's faces are clockwise seen from outside.
    let (mut indices, mut counts) = (Vec::new(), Vec::new());
    put_integers(triangles.iter().flat_map(|&[a, b, c]| [c, b, a]), &mut indices);
    put_integers(triangles.iter().map(|_| 3), &mut counts);
    let geometry = vec![
        bounds,
        Property::sampled("P", metadata::VERTEX_POINT, positions),
        Property::sampled(".faceIndices", "", held(out, Pod::I32, &indices, frames)?),
        Property::sampled(".faceCounts", "", held(out, Pod::I32, &counts, frames)?),
        Property::sampled("N", metadata::VERTEX_NORMAL, normals),
        color(body, out)?,
    ];
    let faces = 0..triangles.len() as u32;
    Ok(Object {
        name,
        metadata: metadata::MESH,
        properties: vec![Property::compound(".geom", metadata::MESH_SCHEMA, geometry)],
        children: vec![face_set(body_name.to_string(), faces, out)?],
    })
}

/// Faces that share a material; that they are named is all Alembic itself knows of materials.
fn face_set(name: String, faces: impl Iterator<Item = u32>, out: &mut Ogawa) -> Result<Object, CacheError> {
    let mut bytes = Vec::new();
    put_integers(faces, &mut bytes);
    let unknown = Bounds::EMPTY.to_bytes();
    let parts = vec![
        Property::sampled(".selfBnds", metadata::BOX, constant(out, Shape::Scalar, Pod::F64, 6, &unknown)?),
        Property::sampled(".faces", "", constant(out, Shape::Array, Pod::I32, 1, &bytes)?),
    ];
    Ok(Object {
        name,
        metadata: metadata::FACE_SET,
        properties: vec![Property::compound(".faceset", metadata::FACE_SET_SCHEMA, parts)],
        children: Vec::new(),
    })
}

/// The colour of the body, under the name Houdini and others look for. One per vertex although they are
/// equal: Blender takes any other colour for one per vertex that is too short.
fn color(body: &LogBody, out: &mut Ogawa) -> Result<Property, CacheError> {
    let mut bytes = Vec::new();
    put_floats(vec![body.color; body.mesh.positions.len()].as_flattened(), &mut bytes);
    let color = Property::sampled("Cd", metadata::COLOR, constant(out, Shape::Array, Pod::F32, 3, &bytes)?);
    Ok(Property::compound(".arbGeomParams", "", vec![color]))
}
