//! What all geometry exports share: the chosen frames and bodies, each frame as f32 in the target's units and axes.

use std::borrow::Cow;

use glam::DVec3;
use pliant_geometry::{FollowingNormals, Polygons};

use super::{ExportOptions, chosen_bodies};
use crate::{CacheError, LogBody, LogFrame, LogReader};

/// Metres, y up, to what another program expects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    /// Units of the target per metre.
    pub scale: f64,
    /// Whether z is up there: (x, y, z) becomes (x, −z, y), right-handed as before.
    pub z_up: bool,
}

impl Default for Conversion {
    fn default() -> Self {
        Conversion { scale: 1.0, z_up: false }
    }
}

impl Conversion {
    /// A direction in the target's axes.
    pub fn direction(&self, d: DVec3) -> DVec3 {
        if self.z_up { DVec3::new(d.x, -d.z, d.y) } else { d }
    }

    /// A position in the target's units and axes.
    pub fn position(&self, p: DVec3) -> DVec3 {
        // Not multiplied by one, so that the usual export has the log's own numbers.
        if self.scale == 1.0 { self.direction(p) } else { self.direction(p) * self.scale }
    }
}

/// The chosen bodies, moved from frame to frame by [`Stream::load`].
pub(super) struct Stream<'a> {
    reader: &'a LogReader,
    /// Places of the chosen frames in the log; never empty.
    pub frames: Vec<usize>,
    /// The chosen bodies, in the order of the scene.
    pub bodies: Vec<StreamBody<'a>>,
    conversion: Conversion,
}

/// A body and its surface in the loaded frame.
pub(super) struct StreamBody<'a> {
    pub body: &'a LogBody,
    /// Its faces as the file had them, or its triangles.
    pub faces: Cow<'a, Polygons>,
    /// Vertices of the loaded frame.
    pub points: Vec<[f32; 3]>,
    /// Normals of the loaded frame, if they were asked for and there are faces: one per vertex, or as
    /// `normal_of_corner` says.
    pub normals: Vec<[f32; 3]>,
    following: FollowingNormals,
    vertices: Vec<DVec3>,
    directions: Vec<DVec3>,
}

impl StreamBody<'_> {
    /// For each corner of the faces its normal; `None` where there is one per vertex.
    pub fn normal_of_corner(&self) -> Option<&[u32]> {
        (!self.body.coat.normals.is_empty()).then(|| self.following.of_corners())
    }
}

impl<'a> Stream<'a> {
    pub fn new(reader: &'a LogReader, options: &ExportOptions) -> Result<Stream<'a>, CacheError> {
        let bodies = chosen_bodies(reader, options)?;
        Ok(Stream {
            reader,
            frames: options.frames.positions(reader)?,
            bodies: bodies
                .into_iter()
                .map(|body| StreamBody {
                    body,
                    faces: match body.coat.faces.is_empty() {
                        true => Cow::Owned(Polygons::of_triangles(&body.mesh.triangles)),
                        false => Cow::Borrowed(&body.coat.faces),
                    },
                    points: Vec::new(),
                    normals: Vec::new(),
                    following: FollowingNormals::new(&body.coat, &body.mesh),
                    vertices: Vec::new(),
                    directions: Vec::new(),
                })
                .collect(),
            conversion: options.conversion,
        })
    }

    /// Vertices of all bodies together.
    pub fn vertex_count(&self) -> usize {
        self.bodies.iter().map(|b| b.body.mesh.positions.len()).sum()
    }

    /// Loads a frame by its place in the log: points of all bodies, and normals if wanted. Refuses what is
    /// no finite f32: a file with NaN in it makes other programs fail in ways that no longer point here.
    pub fn load(&mut self, place: usize, normals: bool) -> Result<LogFrame, CacheError> {
        let frame = self.reader.frame(place)?;
        let conversion = self.conversion;
        for b in &mut self.bodies {
            b.body.vertices(&frame, &mut b.vertices);
            b.points.clear();
            b.points.extend(b.vertices.iter().map(|&p| conversion.position(p).as_vec3().to_array()));
            if let Some(v) = b.points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
                return Err(CacheError::invalid(
                    format!("frame {}, body \"{}\", vertex {v}", frame.index, b.body.name),
                    format!("the position {} is no finite number in f32", b.vertices[v]),
                    "export the frames before it",
                ));
            }
            if normals && !b.body.is_point_cloud() {
                b.following.at(&b.vertices, &mut b.directions);
                b.normals.clear();
                b.normals.extend(b.directions.iter().map(|&n| short_normal(conversion.direction(n))));
            }
        }
        Ok(frame)
    }
}

/// A unit normal in four decimals: as straight as anyone can see, and half the text.
fn short_normal(n: DVec3) -> [f32; 3] {
    // Adding zero turns a negative zero into a plain one.
    n.to_array().map(|c| ((c * 1e4).round() / 1e4 + 0.0) as f32)
}

/// The little-endian bytes of triples, appended.
pub(super) fn put_triples(out: &mut Vec<u8>, triples: &[[f32; 3]]) {
    out.reserve(12 * triples.len());
    for value in triples.as_flattened() {
        out.extend_from_slice(&value.to_le_bytes());
    }
}
