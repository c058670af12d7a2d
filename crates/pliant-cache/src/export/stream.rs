//! What all geometry exports share: the chosen frames and bodies, each frame as f32 in the target's units and axes.

use std::borrow::Cow;
use std::path::Path;

use glam::DVec3;
use pliant_geometry::{FollowingNormals, Polygons, TriMesh};

use super::{ExportOptions, ExportSummary, Progress, ahead, chosen_bodies};
use crate::atomic::AtomicFile;
use crate::export::Footage;
use crate::{CacheError, LogBody, LogFrame};

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

/// The chosen bodies, and their surfaces in any frame by [`Stream::load`].
pub(super) struct Stream<'a> {
    reader: &'a Footage<'a>,
    /// Places of the chosen frames in the log; never empty.
    pub frames: Vec<usize>,
    /// The chosen bodies, in the order of the scene.
    pub bodies: Vec<StreamBody<'a>>,
    conversion: Conversion,
    threads: usize,
}

/// A body and what does not change of its surface.
pub(super) struct StreamBody<'a> {
    pub body: &'a LogBody,
    /// Its faces as the file had them, or its triangles.
    pub faces: Cow<'a, Polygons>,
    following: FollowingNormals,
}

/// What a frame has besides positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Normals {
    None,
    /// In four decimals: as straight as anyone can see, and half the text.
    Short,
    Full,
}

/// A frame of the log as files hold it.
pub(super) struct Loaded {
    pub frame: LogFrame,
    /// In the order of the stream's bodies.
    pub bodies: Vec<Surface>,
}

/// The surface of a body in a frame.
pub(super) struct Surface {
    pub points: Vec<[f32; 3]>,
    /// Normals if they were asked for and there are faces: one per vertex, or as `normal_of_corner` says.
    pub normals: Vec<[f32; 3]>,
}

/// Room to load frames in, for reuse.
#[derive(Default)]
pub(super) struct Room {
    vertices: Vec<DVec3>,
    directions: Vec<DVec3>,
}

impl StreamBody<'_> {
    /// How many normals a frame has; none for point clouds.
    pub fn normal_count(&self) -> usize {
        if self.body.is_point_cloud() { 0 } else { self.following.count() }
    }

    /// For each corner of the faces its normal; `None` where there is one per vertex.
    pub fn normal_of_corner(&self) -> Option<&[u32]> {
        (!self.body.coat.normals.is_empty()).then(|| self.following.of_corners())
    }
}

impl<'a> Stream<'a> {
    pub fn new(reader: &'a Footage<'a>, options: &ExportOptions) -> Result<Stream<'a>, CacheError> {
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
                    following: FollowingNormals::new(&body.coat, &body.mesh),
                })
                .collect(),
            conversion: options.conversion,
            threads: options.threads,
        })
    }

    /// Vertices of all bodies together.
    pub fn vertex_count(&self) -> usize {
        self.bodies.iter().map(|b| b.body.mesh.positions.len()).sum()
    }

    /// Loads a frame by its place in the log: points of all bodies, and normals if wanted. Refuses what is
    /// no finite f32: a file with NaN in it makes other programs fail in ways that no longer point here.
    pub fn load(&self, room: &mut Room, place: usize, normals: Normals) -> Result<Loaded, CacheError> {
        let frame = self.reader.frame(place)?;
        let mut bodies = Vec::with_capacity(self.bodies.len());
        for b in &self.bodies {
            let mut surface = Surface { points: Vec::new(), normals: Vec::new() };
            self.points(b.body, &frame, room, &mut surface.points)?;
            if normals != Normals::None && !b.body.is_point_cloud() {
                b.following.at(&room.vertices, &mut room.directions);
                let turned = room.directions.iter().map(|&n| self.conversion.direction(n));
                match normals {
                    Normals::Short => surface.normals.extend(turned.map(short_normal)),
                    _ => surface.normals.extend(turned.map(|n| n.as_vec3().to_array())),
                }
            }
            bodies.push(surface);
        }
        Ok(Loaded { frame, bodies })
    }

    /// Calls `each` with every chosen frame, in order.
    pub fn each_frame(
        &self,
        normals: Normals,
        mut each: impl FnMut(usize, Loaded) -> Result<(), CacheError>,
    ) -> Result<(), CacheError> {
        self.each_made(|room, place| self.load(room, place, normals), &mut each)
    }

    /// Calls `each` with what `make` gives for every chosen frame, in order; `make` is called ahead on several
    /// threads, with room of their own and the place of the frame in the log.
    pub fn each_made<S: Default, T: Send>(
        &self,
        make: impl Fn(&mut S, usize) -> Result<T, CacheError> + Sync,
        each: impl FnMut(usize, T) -> Result<(), CacheError>,
    ) -> Result<(), CacheError> {
        ahead::in_order(self.threads, &self.frames, make, each)
    }

    /// The vertices of a body in a frame, as f64 in the room and as files hold them.
    fn points(
        &self,
        body: &LogBody,
        frame: &LogFrame,
        room: &mut Room,
        points: &mut Vec<[f32; 3]>,
    ) -> Result<(), CacheError> {
        body.vertices(frame, &mut room.vertices);
        convert(&room.vertices, self.conversion, points)
            .map_err(|v| not_finite(body, frame.index, v, room.vertices[v]))
    }
}

impl Stream<'_> {
    /// Numbers of frames and of vertices for a header that counts in i32; `what` is the file.
    pub fn counts_as_i32(&self, path: &Path, what: &str) -> Result<[i32; 2], CacheError> {
        let count = |name: &str, count: usize| {
            i32::try_from(count).map_err(|_| {
                CacheError::invalid(
                    path.display().to_string(),
                    format!("{count} {name} are more than {what} can count"),
                    "export fewer, or to .usda",
                )
            })
        };
        Ok([count("frames", self.frames.len())?, count("vertices", self.vertex_count())?])
    }

    /// Writes the points of all frames, body after body, in the order of bytes that `bytes` makes.
    pub fn put_all_points(
        &self,
        file: &mut AtomicFile,
        bytes: impl Fn(f32) -> [u8; 4] + Sync,
        progress: Progress<'_>,
    ) -> Result<(), CacheError> {
        let make = |(room, points): &mut (Room, Vec<[f32; 3]>), place: usize| {
            let frame = self.reader.frame(place)?;
            let mut out = Vec::with_capacity(12 * self.vertex_count());
            for b in &self.bodies {
                self.points(b.body, &frame, room, points)?;
                put_floats(&mut out, points.as_flattened(), &bytes);
            }
            Ok(out)
        };
        self.each_made(make, |k, frame| {
            file.put(&frame)?;
            progress(k + 1, self.frames.len());
            Ok(())
        })
    }

    /// What to say of one file with all frames in it.
    pub fn summary(&self, path: &Path, bytes: u64) -> ExportSummary {
        let (frames, vertices) = (self.frames.len(), self.vertex_count());
        ExportSummary { path: path.to_path_buf(), files: 1, frames, vertices, bytes }
    }
}

/// Positions as files hold them, or the first that is no finite f32.
fn convert(vertices: &[DVec3], conversion: Conversion, points: &mut Vec<[f32; 3]>) -> Result<(), usize> {
    points.clear();
    points.extend(vertices.iter().map(|&p| conversion.position(p).as_vec3().to_array()));
    points.iter().position(|p| !p.iter().all(|x| x.is_finite())).map_or(Ok(()), Err)
}

fn not_finite(body: &LogBody, frame: u32, vertex: usize, position: DVec3) -> CacheError {
    CacheError::invalid(
        format!("frame {frame}, body \"{}\", vertex {vertex}", body.name),
        format!("the position {position} is no finite number in f32"),
        "export the frames before it",
    )
}

/// A unit normal in four decimals.
fn short_normal(n: DVec3) -> [f32; 3] {
    // Adding zero turns a negative zero into a plain one.
    n.to_array().map(|c| ((c * 1e4).round() / 1e4 + 0.0) as f32)
}

/// The little-endian bytes of triples, appended.
pub(super) fn put_triples(out: &mut Vec<u8>, triples: &[[f32; 3]]) {
    put_floats(out, triples.as_flattened(), f32::to_le_bytes);
}

/// The bytes of numbers, appended; at once, which is as fast as copying.
pub(super) fn put_floats(out: &mut Vec<u8>, values: &[f32], bytes: impl Fn(f32) -> [u8; 4]) {
    let start = out.len();
    out.resize(start + 4 * values.len(), 0);
    for (to, &value) in out[start..].as_chunks_mut::<4>().0.iter_mut().zip(values) {
        *to = bytes(value);
    }
}

/// Diameter at which the points of a cloud about fill the space they take up at rest.
pub(super) fn point_width(body: &LogBody) -> f32 {
    let count = body.mesh.positions.len().max(1) as f64;
    let Some((low, high)) = TriMesh::bounds(&body.mesh.positions) else {
        return 0.01;
    };
    // Flat and line-like clouds have no volume: take the mean over the axes they have.
    let size = high - low;
    let axes: Vec<f64> = size.to_array().into_iter().filter(|&s| s > 1e-6 * size.max_element()).collect();
    let width = (axes.iter().product::<f64>() / count).powf(1.0 / axes.len().max(1) as f64) as f32;
    if !axes.is_empty() && width.is_finite() && width > 0.0 { width } else { 0.01 }
}
