//! What a body is in Alembic's terms: a transform, a polygon mesh or points below it, a face set per material.

use super::archive::Object;
use super::bounds::Bounds;
use super::bytes::{float_bytes, integer_bytes, put_floats};
use super::ogawa::Ogawa;
use super::property::{FRAMES, Pod, Property, Samples, Shape, TIMELESS};
use super::surface::Surface;
use crate::export::stream::{self, StreamBody, point_width};
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
    pub(super) const CORNER_NORMAL: &str = "arrayExtent=1;geoScope=fvr;interpretation=normal;isGeomParam=true;\
                                            podExtent=3;podName=float32_t";
    pub(super) const CORNER_UV: &str = "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;\
                                        podExtent=2;podName=float32_t";
    pub(super) const WIDTH: &str =
        "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=float32_t";
    pub(super) const COLOR: &str = "arrayExtent=1;geoScope=vtx;interpretation=rgb;isGeomParam=true;\
                                    podExtent=3;podName=float32_t";
    pub(super) const COLOR_OPACITY: &str = "arrayExtent=1;geoScope=vtx;interpretation=rgba;isGeomParam=true;\
                                            podExtent=4;podName=float32_t";
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
fn held(out: &mut Ogawa, pod: Pod, extent: u8, bytes: &[u8], frames: u32) -> Result<Samples, CacheError> {
    let mut samples = Samples::new(Shape::Array, pod, extent, FRAMES);
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

    /// Adds a frame of a body; `buffer` is for reuse.
    pub(super) fn push(
        &mut self,
        out: &mut Ogawa,
        surface: &stream::Surface,
        bounds: &Bounds,
        buffer: &mut Vec<u8>,
    ) -> Result<(), CacheError> {
        put_floats(surface.points.as_flattened(), buffer);
        self.positions.push(out, buffer)?;
        if !surface.normals.is_empty() {
            put_floats(surface.normals.as_flattened(), buffer);
            self.normals.push(out, buffer)?;
        }
        self.bounds.push(out, &bounds.to_bytes())?;
        self.bounds_above.push_shared(&self.bounds);
        Ok(())
    }
}

/// A body once all frames are through.
pub(super) struct BodyOut<'a> {
    pub(super) body: &'a StreamBody<'a>,
    pub(super) name: String,
    pub(super) motion: Motion,
    pub(super) frames: u32,
    /// Units of the file per metre.
    pub(super) scale: f64,
}

impl BodyOut<'_> {
    /// The transform of the body with its shape below it; writes what does not change.
    pub(super) fn write(self, out: &mut Ogawa) -> Result<Object, CacheError> {
        let motion = self.motion;
        let mut geometry = vec![Property::sampled(".selfBnds", metadata::BOX, motion.bounds)];
        let cloud = self.body.body.is_point_cloud();
        let children = if cloud {
            geometry.push(Property::sampled("P", metadata::VARYING_POINT, motion.positions));
            points(self.body.body, self.scale, self.frames, out, &mut geometry)?;
            Vec::new()
        } else {
            geometry.push(Property::sampled("P", metadata::VERTEX_POINT, motion.positions));
            mesh(self.body, motion.normals, self.frames, out, &mut geometry)?;
            let sets = Surface::new(self.body).materials(&self.name);
            sets.into_iter().map(|(name, faces)| face_set(name, faces, out)).collect::<Result<_, _>>()?
        };
        geometry.push(color(self.body.body, out)?);
        let (about, schema) = match cloud {
            true => (metadata::POINTS, metadata::POINTS_SCHEMA),
            false => (metadata::MESH, metadata::MESH_SCHEMA),
        };
        let shape = Object {
            name: format!("{}Shape", self.name),
            metadata: about,
            properties: vec![Property::compound(".geom", schema, geometry)],
            children,
        };
        // The identity as a matrix (operation 3, no hint) is what other writers put here.
        let identity: Vec<u8> = (0..16).flat_map(|k| f64::from(u8::from(k % 5 == 0)).to_le_bytes()).collect();
        let xform = vec![
            child_bounds(motion.bounds_above),
            Property::sampled(".inherits", "", constant(out, Shape::Scalar, Pod::Bool, 1, &[1])?),
            Property::sampled(".ops", "", constant(out, Shape::Scalar, Pod::U8, 1, &[0x30])?),
            Property::sampled(".vals", "", constant(out, Shape::Scalar, Pod::F64, 16, &identity)?),
        ];
        Ok(Object {
            name: self.name,
            metadata: metadata::XFORM,
            properties: vec![Property::compound(".xform", metadata::XFORM_SCHEMA, xform)],
            children: vec![shape],
        })
    }
}

/// Numbers and sizes of the points of a cloud.
fn points(
    body: &LogBody,
    scale: f64,
    frames: u32,
    out: &mut Ogawa,
    geometry: &mut Vec<Property>,
) -> Result<(), CacheError> {
    let count = body.mesh.positions.len();
    let ids: Vec<u8> = (0..count as u64).flat_map(u64::to_le_bytes).collect();
    let width = (f64::from(point_width(body)) * scale) as f32;
    let widths = float_bytes(&vec![width; count]);
    let ids = held(out, Pod::U64, 1, &ids, frames)?;
    geometry.push(Property::sampled(".pointIds", metadata::VARYING, ids));
    let widths = held(out, Pod::F32, 1, &widths, frames)?;
    geometry.push(Property::sampled(".widths", metadata::WIDTH, widths));
    Ok(())
}

/// The faces of a mesh and what is on their corners.
fn mesh(
    body: &StreamBody<'_>,
    normals: Samples,
    frames: u32,
    out: &mut Ogawa,
    geometry: &mut Vec<Property>,
) -> Result<(), CacheError> {
    let surface = Surface::new(body);
    let indices = held(out, Pod::I32, 1, &integer_bytes(surface.vertices()), frames)?;
    geometry.push(Property::sampled(".faceIndices", "", indices));
    let counts = held(out, Pod::I32, 1, &integer_bytes(surface.sizes()), frames)?;
    geometry.push(Property::sampled(".faceCounts", "", counts));
    let uvs = &body.body.coat.uvs;
    if !uvs.is_empty() {
        let values = held(out, Pod::F32, 2, &float_bytes(uvs.values.as_flattened()), frames)?;
        let of_corners = held(out, Pod::U32, 1, &integer_bytes(surface.of_corners(&uvs.corners)), frames)?;
        geometry.push(indexed("uv", metadata::CORNER_UV, values, of_corners));
    }
    geometry.push(match body.normal_of_corner() {
        None => Property::sampled("N", metadata::VERTEX_NORMAL, normals),
        Some(which) => {
            let of_corners = held(out, Pod::U32, 1, &integer_bytes(surface.of_corners(which)), frames)?;
            indexed("N", metadata::CORNER_NORMAL, normals, of_corners)
        }
    });
    Ok(())
}

/// Values that corners share, and which each corner has.
fn indexed(name: &'static str, metadata: &'static str, values: Samples, of_corners: Samples) -> Property {
    let parts =
        vec![Property::sampled(".vals", metadata, values), Property::sampled(".indices", "", of_corners)];
    Property::compound(name, metadata, parts)
}

/// Faces that share a material; that they are named is all Alembic itself knows of materials.
fn face_set(name: String, faces: Vec<u32>, out: &mut Ogawa) -> Result<Object, CacheError> {
    let unknown = Bounds::EMPTY.to_bytes();
    let faces = integer_bytes(faces.into_iter());
    let parts = vec![
        Property::sampled(".selfBnds", metadata::BOX, constant(out, Shape::Scalar, Pod::F64, 6, &unknown)?),
        Property::sampled(".faces", "", constant(out, Shape::Array, Pod::I32, 1, &faces)?),
    ];
    Ok(Object {
        name,
        metadata: metadata::FACE_SET,
        properties: vec![Property::compound(".faceset", metadata::FACE_SET_SCHEMA, parts)],
        children: Vec::new(),
    })
}

/// Colours of the vertices, under the name Houdini and others look for. The body's own is repeated for each
/// of them: Blender takes any other colour for one per vertex that is too short.
fn color(body: &LogBody, out: &mut Ogawa) -> Result<Property, CacheError> {
    let (metadata, extent, bytes) = match body.coat.colors.is_empty() {
        true => {
            let colors = vec![body.color; body.mesh.positions.len()];
            (metadata::COLOR, 3, float_bytes(colors.as_flattened()))
        }
        false => (metadata::COLOR_OPACITY, 4, float_bytes(body.coat.colors.as_flattened())),
    };
    let color = Property::sampled("Cd", metadata, constant(out, Shape::Array, Pod::F32, extent, &bytes)?);
    Ok(Property::compound(".arbGeomParams", "", vec![color]))
}
