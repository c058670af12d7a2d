//! GLB: one animated file with bodies, names, materials and colours, for browsers, Blender and game engines.
//!
//! A body that never deforms is a node that moves. Of all others every frame after the first is a morph target; see `write_glb` of `pliant-geometry` for how they are
//! played. Frames go from the log to the file a few at a time, in one pass: the bounds that the JSON part must tell are
//! put in place at the end. glTF is y up in metres by its specification and programs convert on import, so the units
//! and the up axis asked for are not looked at. Time starts at zero with the first frame exported.
//!
//! Morph targets have one topology: a body that is torn has that of its last version in all frames, with vertices that are
//! yet to be torn apart in the same place. A body that comes or goes has no size while it is not there.
//!
//! Browsers keep all frames on the graphics card and some cards take no more than about a thousand of them: for long
//! runs export every second or fourth frame.

use super::ExportSummary;
use super::sink::{ExportOrder, FrameOutput, FrameWriter, Sink, SurfaceEncoder};
use super::stream::{
    BodyVersion, Conversion, ConvertedSurface, ExportStream, NormalPrecision, StreamBody, SurfaceOptions,
};
use crate::atomic::AtomicFile;
use crate::{BodyPose, CacheError};
use pliant_geometry::{GeometryError, Glb, GlbNormals, GlbSurface, MeshAttributes, SurfaceMaterial};
use std::path::{Path, PathBuf};

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let ExportOrder { reader, stream, path, folder, .. } = order;
    let frames = &stream.frames;
    let number = |k: usize| f64::from(reader.frame_index(k).unwrap_or(0));
    let rate = reader.frames_per_second();
    let times: Vec<f64> = frames.iter().map(|&k| (number(k) - number(frames[0])) / rate).collect();
    let attributes: Vec<MeshAttributes> =
        stream.bodies.iter().map(|b| complete_attributes(b.last())).collect();
    let options = SurfaceOptions {
        poses: true,
        // Always metres and y up.
        ..SurfaceOptions::baked(Conversion::default(), NormalPrecision::Full, true)
    };
    let at_rest = |(b, body): (usize, &StreamBody<'_>)| {
        body.moves_as_one().then(|| stream.at_rest(b, options)).transpose()
    };
    let rests: Vec<Option<ConvertedSurface>> =
        stream.bodies.iter().enumerate().map(at_rest).collect::<Result<_, _>>()?;
    let surfaces: Vec<GlbSurface<'_>> = stream
        .bodies
        .iter()
        .zip(attributes.iter().zip(&rests))
        .map(|(b, (attributes, rest))| GlbSurface {
            rest: rest.as_ref().map(|rest| [&rest.points[..], &rest.normals]),
            name: b.name,
            attributes,
            positions: &b.last().body.mesh.positions,
            normals: match b.last().normal_of_corner() {
                _ if b.last().body.is_point_cloud() => GlbNormals::None,
                Some(of_corners) => GlbNormals::OfCorners(of_corners),
                None => GlbNormals::OfVertices,
            },
            times: &times[b.lifetime.clone()],
            begin: b.lifetime.start,
            shown: [Some(times[b.lifetime.start]).filter(|t| *t > 0.0), times.get(b.lifetime.end).copied()],
        })
        .collect();
    let glb = Glb::new(&surfaces).map_err(|e| refused(&path, e))?;
    let mut file = AtomicFile::create(folder, &path)?;
    file.put(&glb.head())?;
    glb.fixed(|bytes| file.put(bytes))?;
    let normals = if glb.has_normals() { NormalPrecision::Full } else { NormalPrecision::None };
    let options = SurfaceOptions { normals, ..options };
    Ok(Sink {
        make: Box::new(SurfaceEncoder { stream, options }),
        put: Box::new(GlbBody { stream, path, glb, file, bytes: Vec::new() }),
    })
}

fn refused(path: &Path, e: GeometryError) -> CacheError {
    CacheError::invalid(path.display().to_string(), e.message, e.help)
}

/// The file after its head.
struct GlbBody<'a> {
    stream: &'a ExportStream<'a>,
    path: PathBuf,
    glb: Glb,
    file: AtomicFile,
    bytes: Vec<u8>,
}

impl FrameWriter for GlbBody<'_> {
    fn put(&mut self, k: usize, made: FrameOutput) -> Result<(), CacheError> {
        for surface in &made.surfaces()?.bodies {
            if let Some(BodyPose { place, turn }) = surface.pose {
                let (place, turn) = (place.as_vec3().to_array(), turn.as_quat().to_array());
                self.glb.pose(surface.body, place, turn).map_err(|e| refused(&self.path, e))?;
                continue;
            }
            let own = k - self.stream.bodies[surface.body].lifetime.start;
            self.glb
                .frame(own, surface.body, &surface.points, &surface.normals, &mut self.bytes)
                .map_err(|e| refused(&self.path, e))?;
            self.file.put(&self.bytes)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: &mut dyn FnMut()) -> Result<ExportSummary, CacheError> {
        let GlbBody { glb, file, .. } = &mut *self;
        glb.poses(|bytes| file.put(bytes))?;
        self.file.patch(0, &self.glb.head())?;
        Ok(self.stream.summary(&self.path, self.file.commit()?))
    }
}

/// The attributes of a body with faces and a material, those of its mesh and colour where it has none.
fn complete_attributes(b: &BodyVersion<'_>) -> MeshAttributes {
    let mut attributes = MeshAttributes::clone(&b.body.attributes);
    if attributes.faces.is_empty() {
        attributes.faces = b.faces.clone().into_owned();
    }
    if attributes.materials.is_empty() {
        let [red, green, blue] = b.body.color;
        // Vertex colours are multiplied with that of the material.
        let color = if attributes.colors.is_empty() { [red, green, blue, 1.0] } else { [1.0; 4] };
        attributes.materials =
            vec![SurfaceMaterial { name: b.body.name.to_string(), color, ..SurfaceMaterial::default() }];
    }
    attributes
}
