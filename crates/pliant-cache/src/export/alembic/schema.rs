//! What a body is in Alembic's terms: a transform, a polygon mesh or points below it, a face set per material.

use super::archive::AlembicObject;
use super::bounds::SampleBounds;
use super::ogawa::Ogawa;
use super::property::{AlembicProperty, FRAMES, Pod, PropertySamples, SampleShape, TIMELESS};
use super::surface::AlembicFaces;
use crate::export::bytes::{float_bytes, integer_bytes, put_floats};
use crate::export::stream::{self, BodyVersion, StreamBody, point_width};
use crate::{BodyPose, CacheError};
use glam::{DMat3, DMat4};

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
    shape: SampleShape,
    pod: Pod,
    extent: u8,
    bytes: &[u8],
) -> Result<PropertySamples, CacheError> {
    let mut samples = PropertySamples::new(shape, pod, extent, TIMELESS);
    samples.push_known(out, bytes)?;
    Ok(samples)
}

/// Bounds over the frames of a time sampling.
pub(super) fn bounds_samples(time: u32) -> PropertySamples {
    PropertySamples::new(SampleShape::Scalar, Pod::F64, 6, time)
}

/// Bounds of everything below an object.
pub(super) fn child_bounds(samples: PropertySamples) -> AlembicProperty {
    AlembicProperty::sampled(".childBnds", metadata::BOX, samples)
}

/// The samples of a body that change from frame to frame.
pub(super) struct BodySamples {
    /// The time sampling of its frames.
    time: u32,
    positions: PropertySamples,
    normals: PropertySamples,
    bounds: PropertySamples,
    bounds_above: PropertySamples,
    /// Of one that moves as one, its transform in each frame; all else then holds for ever.
    places: Option<PropertySamples>,
    last: Option<BodyPose>,
}

impl BodySamples {
    pub(super) fn new(time: u32) -> BodySamples {
        let triples = || PropertySamples::new(SampleShape::Array, Pod::F32, 3, time);
        BodySamples {
            time,
            positions: triples(),
            normals: triples(),
            bounds: bounds_samples(time),
            bounds_above: bounds_samples(time),
            places: None,
            last: None,
        }
    }

    /// Of a body that moves as one: its surface at rest, and a transform in the frames of a time sampling.
    pub(super) fn at_rest(
        out: &mut Ogawa,
        time: u32,
        rest: &stream::ConvertedSurface,
    ) -> Result<BodySamples, CacheError> {
        let floats = |triples: &[[f32; 3]]| float_bytes(triples.as_flattened());
        let mut bounds = bounds_samples(TIMELESS);
        bounds.push_known(out, &SampleBounds::of(&rest.points).to_bytes())?;
        let mut bounds_above = bounds_samples(TIMELESS);
        bounds_above.push_shared(&bounds);
        Ok(BodySamples {
            time: TIMELESS,
            positions: constant(out, SampleShape::Array, Pod::F32, 3, &floats(&rest.points))?,
            normals: constant(out, SampleShape::Array, Pod::F32, 3, &floats(&rest.normals))?,
            bounds,
            bounds_above,
            places: Some(PropertySamples::new(SampleShape::Scalar, Pod::F64, 16, time)),
            last: None,
        })
    }

    /// Whether it is told by a transform.
    pub(super) fn is_posed(&self) -> bool {
        self.places.is_some()
    }

    /// Adds a frame of a body that moves as one; before the first of one that comes later it has no size, twice.
    pub(super) fn pose(
        &mut self,
        out: &mut Ogawa,
        pose: &BodyPose,
        comes_later: bool,
    ) -> Result<(), CacheError> {
        let Some(places) = &mut self.places else { return Ok(()) };
        for _ in 0..if self.last.is_none() && comes_later { 2 } else { 0 } {
            places.push(out, &placement(pose, 0.0))?;
        }
        self.last = Some(*pose);
        places.push(out, &placement(pose, 1.0))
    }

    /// Adds a frame of a body; `buffer` is for reuse.
    pub(super) fn push(
        &mut self,
        out: &mut Ogawa,
        surface: &stream::ConvertedSurface,
        bounds: &SampleBounds,
        buffer: &mut Vec<u8>,
    ) -> Result<(), CacheError> {
        buffer.clear();
        put_floats(buffer, surface.points.as_flattened());
        self.positions.push(out, buffer)?;
        buffer.clear();
        put_floats(buffer, surface.normals.as_flattened());
        self.normals.push(out, buffer)?;
        self.bounds.push(out, &bounds.to_bytes())?;
        self.bounds_above.push_shared(&self.bounds);
        Ok(())
    }
}

/// A body once all frames are through.
pub(super) struct BodyOut<'a> {
    pub(super) body: &'a StreamBody<'a>,
    pub(super) name: String,
    pub(super) motion: BodySamples,
    /// Its transform over time, if it is not always there and does not move as one.
    pub(super) sizes: Option<PropertySamples>,
    /// The time sampling of its transform, if that has one of its own.
    pub(super) placed: Option<u32>,
    pub(super) frames: u32,
    /// Units of the file per metre.
    pub(super) scale: f64,
}

impl BodyOut<'_> {
    /// The transform of the body with its shape below it; writes what does not change from frame to frame.
    pub(super) fn write(self, out: &mut Ogawa) -> Result<AlembicObject, CacheError> {
        let held = StaticProperties { body: self.body, time: self.motion.time };
        let always = self.placed.is_none();
        let mut motion = self.motion;
        let places = leave(&mut motion, self.body.lifetime.end < self.frames as usize, out)?;
        let moved = places.is_some();
        let mut geometry = vec![AlembicProperty::sampled(".selfBnds", metadata::BOX, motion.bounds)];
        let cloud = self.body.versions.iter().all(|v| v.body.is_point_cloud());
        let children = if cloud {
            geometry.push(AlembicProperty::sampled("P", metadata::VARYING_POINT, motion.positions));
            held.points(self.scale, out, &mut geometry)?;
            Vec::new()
        } else {
            geometry.push(AlembicProperty::sampled("P", metadata::VERTEX_POINT, motion.positions));
            held.mesh(motion.normals, out, &mut geometry)?;
            held.face_sets(&self.name, out)?
        };
        geometry.push(held.color(out)?);
        let (about, schema) = match cloud {
            true => (metadata::POINTS, metadata::POINTS_SCHEMA),
            false => (metadata::MESH, metadata::MESH_SCHEMA),
        };
        let shape = AlembicObject {
            name: format!("{}Shape", self.name),
            metadata: about,
            properties: vec![AlembicProperty::compound(".geom", schema, geometry)],
            children,
        };
        let values = match (places, self.placed, self.sizes) {
            (Some(places), Some(time), _) => places.timed(time),
            (Some(places), None, _) => places,
            (None, _, Some(sizes)) => sizes,
            (None, _, None) => constant(out, SampleShape::Scalar, Pod::F64, 16, &matrix(1.0))?,
        };
        let mut xform = vec![
            child_bounds(motion.bounds_above),
            AlembicProperty::sampled(
                ".inherits",
                "",
                constant(out, SampleShape::Scalar, Pod::Bool, 1, &[1])?,
            ),
            AlembicProperty::sampled(".ops", "", constant(out, SampleShape::Scalar, Pod::U8, 1, &[0x30])?),
            AlembicProperty::sampled(".vals", "", values),
        ];
        if !always || moved {
            let moving = match moved {
                true => integer_bytes((0..15).filter(|k| k % 4 < 3)),
                false => integer_bytes([0, 5, 10].into_iter()),
            };
            let moving = constant(out, SampleShape::Array, Pod::U32, 1, &moving)?;
            let is_not = constant(out, SampleShape::Scalar, Pod::Bool, 1, &[1])?;
            xform.push(AlembicProperty::sampled(".animChans", "", moving));
            xform.push(AlembicProperty::sampled("isNotConstantIdentity", "", is_not));
        }
        let mut properties = vec![AlembicProperty::compound(".xform", metadata::XFORM_SCHEMA, xform)];
        if !always {
            let mut visible = PropertySamples::new(SampleShape::Scalar, Pod::I8, 1, FRAMES);
            for k in 0..self.frames as usize {
                visible.push(out, &[self.body.lifetime.contains(&k).into()])?;
            }
            properties.push(AlembicProperty::sampled("visible", "", visible));
        }
        Ok(AlembicObject { name: self.name, metadata: metadata::XFORM, properties, children: vec![shape] })
    }
}

/// The transforms of a body that moves as one; one that goes keeps its place until then and has no size from there on.
fn leave(
    motion: &mut BodySamples,
    goes: bool,
    out: &mut Ogawa,
) -> Result<Option<PropertySamples>, CacheError> {
    let Some(mut places) = motion.places.take() else { return Ok(None) };
    if let (true, Some(last)) = (goes, &motion.last) {
        places.push(out, &placement(last, 1.0))?;
        places.push(out, &placement(last, 0.0))?;
    }
    Ok(Some(places))
}

/// The transform to a pose, by a size, as a matrix whose rows are the axes and the place.
fn placement(pose: &BodyPose, size: f64) -> Vec<u8> {
    let axes = DMat3::from_quat(pose.turn) * size;
    let matrix = DMat4::from_mat3(axes)
        + DMat4::from_cols_array_2d(&[
            [0.0; 4],
            [0.0; 4],
            [0.0; 4],
            [pose.place.x, pose.place.y, pose.place.z, 0.0],
        ]);
    matrix.to_cols_array().into_iter().flat_map(f64::to_le_bytes).collect()
}

/// A transform that changes nothing but size, as a matrix (operation 3, no hint), which is what other writers put there.
fn matrix(size: f64) -> Vec<u8> {
    let value = |k: usize| match k {
        15 => 1.0,
        0 | 5 | 10 => size,
        _ => 0.0,
    };
    (0..16).flat_map(|k| value(k).to_le_bytes()).collect()
}

/// The transform of a body by its size over time; `None` without keys.
pub(super) fn sizes(
    out: &mut Ogawa,
    keys: &[(f64, f64)],
    time: u32,
) -> Result<Option<PropertySamples>, CacheError> {
    let mut samples = PropertySamples::new(SampleShape::Scalar, Pod::F64, 16, time);
    for (_, size) in keys {
        samples.push(out, &matrix(*size))?;
    }
    Ok((!keys.is_empty()).then_some(samples))
}

/// What a body keeps as long as its topology stays.
struct StaticProperties<'a> {
    body: &'a StreamBody<'a>,
    time: u32,
}

impl StaticProperties<'_> {
    /// A sample for each version, held for all of its frames. Alembic's own writers count these like the positions.
    fn samples(
        &self,
        out: &mut Ogawa,
        pod: Pod,
        extent: u8,
        bytes: impl Fn(&BodyVersion<'_>) -> Vec<u8>,
    ) -> Result<PropertySamples, CacheError> {
        let mut samples = PropertySamples::new(SampleShape::Array, pod, extent, self.time);
        let StreamBody { versions, lifetime, .. } = self.body;
        for (k, version) in versions.iter().enumerate() {
            samples.push_known(out, &bytes(version))?;
            let until = versions.get(k + 1).map_or(lifetime.end, |next| next.from);
            if self.time != TIMELESS {
                samples.hold((until - lifetime.start) as u32);
            }
        }
        Ok(samples)
    }

    /// The same for what needs no time as long as there is but one version.
    fn lasting(
        &self,
        out: &mut Ogawa,
        pod: Pod,
        extent: u8,
        bytes: impl Fn(&BodyVersion<'_>) -> Vec<u8>,
    ) -> Result<PropertySamples, CacheError> {
        match &self.body.versions[..] {
            [only] => constant(out, SampleShape::Array, pod, extent, &bytes(only)),
            _ => self.samples(out, pod, extent, bytes),
        }
    }

    /// Numbers and sizes of the points of a cloud.
    fn points(
        &self,
        scale: f64,
        out: &mut Ogawa,
        geometry: &mut Vec<AlembicProperty>,
    ) -> Result<(), CacheError> {
        let count = |v: &BodyVersion<'_>| v.body.mesh.positions.len();
        let ids = |v: &BodyVersion<'_>| (0..count(v) as u64).flat_map(u64::to_le_bytes).collect();
        let widths = |v: &BodyVersion<'_>| {
            let width = (f64::from(point_width(v.body)) * scale) as f32;
            float_bytes(&vec![width; count(v)])
        };
        let ids = self.samples(out, Pod::U64, 1, ids)?;
        geometry.push(AlembicProperty::sampled(".pointIds", metadata::VARYING, ids));
        let widths = self.samples(out, Pod::F32, 1, widths)?;
        geometry.push(AlembicProperty::sampled(".widths", metadata::WIDTH, widths));
        Ok(())
    }

    /// The faces of a mesh and what is on their corners.
    fn mesh(
        &self,
        normals: PropertySamples,
        out: &mut Ogawa,
        geometry: &mut Vec<AlembicProperty>,
    ) -> Result<(), CacheError> {
        let versions = &self.body.versions;
        let indices = self.samples(out, Pod::I32, 1, |v| integer_bytes(AlembicFaces::new(v).vertices()))?;
        geometry.push(AlembicProperty::sampled(".faceIndices", "", indices));
        let counts = self.samples(out, Pod::I32, 1, |v| integer_bytes(AlembicFaces::new(v).sizes()))?;
        geometry.push(AlembicProperty::sampled(".faceCounts", "", counts));
        if versions.iter().any(|v| !v.body.attributes.uvs.is_empty()) {
            let values = |v: &BodyVersion<'_>| float_bytes(v.body.attributes.uvs.values.as_flattened());
            let values = self.samples(out, Pod::F32, 2, values)?;
            let of_corners = |v: &BodyVersion<'_>| match &v.body.attributes.uvs.corners[..] {
                [] => Vec::new(),
                corners => integer_bytes(AlembicFaces::new(v).of_corners(corners)),
            };
            let of_corners = self.samples(out, Pod::U32, 1, of_corners)?;
            geometry.push(indexed("uv", metadata::CORNER_UV, values, of_corners));
        }
        geometry.push(match versions.iter().any(|v| v.normal_of_corner().is_some()) {
            false => AlembicProperty::sampled("N", metadata::VERTEX_NORMAL, normals),
            true => {
                let of_corners = |v: &BodyVersion<'_>| {
                    let which = v.normal_of_corner().unwrap_or(v.faces.corners());
                    integer_bytes(AlembicFaces::new(v).of_corners(which))
                };
                let of_corners = self.samples(out, Pod::U32, 1, of_corners)?;
                indexed("N", metadata::CORNER_NORMAL, normals, of_corners)
            }
        });
        Ok(())
    }

    /// Faces that share a material; that they are named is all Alembic itself knows of materials.
    fn face_sets(&self, name: &str, out: &mut Ogawa) -> Result<Vec<AlembicObject>, CacheError> {
        let of_version = |v: &BodyVersion<'_>| AlembicFaces::new(v).materials(name);
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.body.versions.iter().flat_map(of_version) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let set = |name: String| {
            let unknown = SampleBounds::EMPTY.to_bytes();
            let bounds = constant(out, SampleShape::Scalar, Pod::F64, 6, &unknown)?;
            let faces = self.lasting(out, Pod::I32, 1, |v| {
                let own = of_version(v).into_iter().find(|(of, _)| *of == name);
                integer_bytes(own.map_or(Vec::new(), |(_, faces)| faces).into_iter())
            })?;
            let parts = vec![
                AlembicProperty::sampled(".selfBnds", metadata::BOX, bounds),
                AlembicProperty::sampled(".faces", "", faces),
            ];
            Ok(AlembicObject {
                name,
                metadata: metadata::FACE_SET,
                properties: vec![AlembicProperty::compound(".faceset", metadata::FACE_SET_SCHEMA, parts)],
                children: Vec::new(),
            })
        };
        names.into_iter().map(set).collect()
    }

    /// Colours of the vertices, under the name Houdini and others look for. The body's own is repeated for each
    /// of them: Blender takes any other colour for one per vertex that is too short.
    fn color(&self, out: &mut Ogawa) -> Result<AlembicProperty, CacheError> {
        let (metadata, samples) =
            match self.body.versions.iter().all(|v| !v.body.attributes.colors.is_empty()) {
                true => {
                    let bytes = |v: &BodyVersion<'_>| float_bytes(v.body.attributes.colors.as_flattened());
                    (metadata::COLOR_OPACITY, self.lasting(out, Pod::F32, 4, bytes)?)
                }
                false => {
                    let bytes = |v: &BodyVersion<'_>| {
                        float_bytes(vec![v.body.color; v.body.mesh.positions.len()].as_flattened())
                    };
                    (metadata::COLOR, self.lasting(out, Pod::F32, 3, bytes)?)
                }
            };
        let color = AlembicProperty::sampled("Cd", metadata, samples);
        Ok(AlembicProperty::compound(".arbGeomParams", "", vec![color]))
    }
}

/// Values that corners share, and which each corner has.
fn indexed(
    name: &'static str,
    metadata: &'static str,
    values: PropertySamples,
    of_corners: PropertySamples,
) -> AlembicProperty {
    let parts = vec![
        AlembicProperty::sampled(".vals", metadata, values),
        AlembicProperty::sampled(".indices", "", of_corners),
    ];
    AlembicProperty::compound(name, metadata, parts)
}
