//! What all exports share: the chosen frames and bodies, each frame read and skinned once, and then as f32 in the units and axes
//! of each file.

use super::sink::FrameNeeds;
use super::{ExportOptions, ExportSummary, check_body, is_selected};
use crate::export::ResampledLog;
use crate::{BodyPose, CacheError, Epoch, LogBody, LogFrame};
use glam::{DQuat, DVec3};
use pliant_geometry::{FollowingNormals, Polygons, TriMesh};
use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

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

    /// Where a body that never deforms is, for one at rest in the target's units and axes.
    pub(super) fn pose(&self, pose: &BodyPose) -> BodyPose {
        let about = self.direction(DVec3::new(pose.turn.x, pose.turn.y, pose.turn.z));
        let turn = DQuat::from_xyzw(about.x, about.y, about.z, pose.turn.w);
        BodyPose { place: self.position(pose.place), turn }
    }
}

/// The chosen bodies, and their surfaces in any frame by [`ExportStream::load`].
pub(super) struct ExportStream<'a> {
    reader: &'a ResampledLog<'a>,
    /// Places of the chosen frames in the log; never empty.
    pub frames: Vec<usize>,
    /// The bodies that are in any of these frames, in the order they came.
    pub bodies: Vec<StreamBody<'a>>,
    /// Place of a body in `bodies` by its id.
    places: HashMap<u64, usize>,
}

/// A body over all frames.
pub(super) struct StreamBody<'a> {
    pub name: &'a str,
    /// The frames it is in, by their place among the chosen ones; never empty.
    pub lifetime: Range<usize>,
    /// Its meshes in these frames, one after the other; never empty.
    pub versions: Vec<BodyVersion<'a>>,
}

/// A body as long as its topology stays, and what does not change of its surface then.
pub(super) struct BodyVersion<'a> {
    pub body: &'a LogBody,
    /// The first of the chosen frames it is in.
    pub from: usize,
    /// Its faces as the file had them, or its triangles.
    pub faces: Cow<'a, Polygons>,
    /// Made when normals are first asked for.
    following: OnceLock<FollowingNormals>,
    of_last: LastVersionMap,
}

/// For each vertex of a body's last version the one it is in another.
#[derive(Clone)]
enum LastVersionMap {
    Same,
    Vertices(Vec<u32>),
    Unknown,
}

/// What a frame has besides positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NormalPrecision {
    None,
    /// In four decimals: as straight as anyone can see, and half the text.
    Short,
    Full,
}

/// A frame of the log, with the vertices of the bodies' surfaces where these were asked for.
#[derive(Debug)]
pub(super) struct PosedFrame {
    /// Its place in the log, and among the chosen frames.
    pub place: usize,
    pub among: usize,
    pub frame: LogFrame,
    /// The bodies that are there, in the order of the stream's.
    pub bodies: Vec<PosedBody>,
}

/// A body in a frame.
#[derive(Debug)]
pub(super) struct PosedBody {
    /// Which of the stream's bodies it is, and in which version.
    pub body: usize,
    pub version: usize,
    pub vertices: Vec<DVec3>,
    /// Unit normals, one per entry of [`FollowingNormals`]; none for points.
    pub normals: Vec<DVec3>,
    /// Where it is if it never deforms.
    pub pose: Option<BodyPose>,
}

impl PosedFrame {
    /// Bytes of memory it takes, about.
    pub fn size(&self) -> usize {
        let vertices = |b: &PosedBody| size_of::<DVec3>() * (b.vertices.len() + b.normals.len());
        let particles = self.frame.positions[0].len();
        // Positions, velocities, strain, contact.
        self.bodies.iter().map(vertices).sum::<usize>() + 41 * particles + self.frame.stats_json.len()
    }
}

/// A frame as files hold it.
pub(super) struct ConvertedFrame {
    /// Its place among the chosen frames, and its number.
    pub place: usize,
    pub index: u32,
    /// The bodies that are there, in the order of the stream's.
    pub bodies: Vec<ConvertedSurface>,
}

/// The surface of a body in a frame.
pub(super) struct ConvertedSurface {
    /// Which of the stream's bodies it is, and in which version.
    pub body: usize,
    pub version: usize,
    pub points: Vec<[f32; 3]>,
    /// Normals if they were asked for and there are faces: one per vertex, or as `normal_of_corner` says.
    pub normals: Vec<[f32; 3]>,
    /// Instead of both, where the body at rest is, if it moves as one and the format can tell that.
    pub pose: Option<BodyPose>,
}

/// How surfaces are to be converted for a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct SurfaceOptions {
    pub conversion: Conversion,
    pub normals: NormalPrecision,
    /// Whether every body is in its last version, vertices that are yet to be torn apart in the same place: for formats that
    /// have but one topology for all frames.
    pub last: bool,
    /// Whether bodies that never deform are told by their poses.
    pub poses: bool,
}

impl SurfaceOptions {
    /// All surfaces as points.
    pub fn baked(conversion: Conversion, normals: NormalPrecision, last: bool) -> SurfaceOptions {
        SurfaceOptions { conversion, normals, last, poses: false }
    }
}

impl ConvertedSurface {
    fn empty(of: &PosedBody) -> ConvertedSurface {
        let PosedBody { body, version, .. } = *of;
        ConvertedSurface { body, version, points: Vec::new(), normals: Vec::new(), pose: None }
    }
}

impl NormalPrecision {
    /// Appends normals as files hold them.
    fn put(self, directions: &[DVec3], conversion: Conversion, normals: &mut Vec<[f32; 3]>) {
        let turned = directions.iter().map(|&n| conversion.direction(n));
        match self {
            NormalPrecision::Short => normals.extend(turned.map(short_normal)),
            _ => normals.extend(turned.map(|n| n.as_vec3().to_array())),
        }
    }
}

impl<'a> BodyVersion<'a> {
    fn new(body: &'a LogBody, from: usize) -> BodyVersion<'a> {
        BodyVersion {
            body,
            from,
            faces: match body.attributes.faces.is_empty() {
                true => Cow::Owned(Polygons::of_triangles(&body.mesh.triangles)),
                false => Cow::Borrowed(&body.attributes.faces),
            },
            following: OnceLock::new(),
            of_last: LastVersionMap::Same,
        }
    }

    fn following(&self) -> &FollowingNormals {
        self.following.get_or_init(|| FollowingNormals::new(&self.body.attributes, &self.body.mesh))
    }

    /// For each corner of the faces its normal; `None` where there is one per vertex.
    pub fn normal_of_corner(&self) -> Option<&[u32]> {
        (!self.body.attributes.normals.is_empty()).then(|| self.following().of_corners())
    }
}

impl<'a> StreamBody<'a> {
    /// Its version in one of the chosen frames.
    pub fn version_at(&self, frame: usize) -> usize {
        self.versions.partition_point(|v| v.from <= frame).saturating_sub(1)
    }

    /// Its size over time, as (frame number, factor), for programs that know no visibility: nothing until it comes and when
    /// it is gone, changing within a hundredth of a frame. No keys if it is always there.
    pub fn size_keys(&self, numbers: &[u32]) -> Vec<(f64, f64)> {
        const SUDDEN: f64 = 0.01;
        let Range { start, end } = self.lifetime;
        let at = |k: usize| f64::from(numbers[k]);
        let mut keys = Vec::new();
        if start > 0 {
            keys.extend([(at(0), 0.0), (at(start) - SUDDEN, 0.0)]);
        }
        if start > 0 || end < numbers.len() {
            keys.push((at(start), 1.0));
        }
        if end < numbers.len() {
            keys.extend([(at(end) - SUDDEN, 1.0), (at(end), 0.0)]);
        }
        keys
    }

    /// Whether it never deforms, in any of its frames.
    pub fn moves_as_one(&self) -> bool {
        self.versions.len() == 1 && self.first().body.rigid.is_some()
    }

    pub fn first(&self) -> &BodyVersion<'a> {
        &self.versions[0]
    }

    pub fn last(&self) -> &BodyVersion<'a> {
        &self.versions[self.versions.len() - 1]
    }
}

impl<'a> ExportStream<'a> {
    pub fn new(
        reader: &'a ResampledLog<'a>,
        options: &ExportOptions,
    ) -> Result<ExportStream<'a>, CacheError> {
        check_body(reader, options)?;
        let mut stream = ExportStream {
            reader,
            frames: options.frames.positions(reader)?,
            bodies: Vec::new(),
            places: HashMap::new(),
        };
        let mut epoch = None;
        for k in 0..stream.frames.len() {
            let now = reader.epoch_of(stream.frames[k]);
            let bodies = reader.bodies_at(stream.frames[k]).iter().filter(|b| is_selected(b, options));
            for body in bodies {
                match stream.places.get(&body.id) {
                    Some(&b) => {
                        let known = &mut stream.bodies[b];
                        known.lifetime.end = k + 1;
                        if epoch != Some(now) && known.last().body.version != body.version {
                            known.versions.push(BodyVersion::new(body, k));
                        }
                    }
                    None => {
                        stream.places.insert(body.id, stream.bodies.len());
                        let versions = vec![BodyVersion::new(body, k)];
                        stream.bodies.push(StreamBody { name: &body.name, lifetime: k..k + 1, versions });
                    }
                }
            }
            epoch = Some(now);
        }
        stream.find_origins();
        Ok(stream)
    }

    /// Refuses a body that is in none of the frames: there would be nothing in the file.
    pub fn check_body_there(&self, options: &ExportOptions) -> Result<(), CacheError> {
        match &options.body {
            Some(name) if self.bodies.is_empty() => Err(CacheError::invalid(
                self.reader.path().display().to_string(),
                format!("body \"{name}\" is in none of the frames asked for"),
                "choose other frames, or another body",
            )),
            _ => Ok(()),
        }
    }

    /// Tells each version which of its vertices those of the last one are.
    fn find_origins(&mut self) {
        let epochs = self.reader.log().epochs();
        for body in self.bodies.iter_mut().filter(|b| b.versions.len() > 1) {
            let last = body.last().body;
            let of =
                |e: &'a Epoch| e.bodies.binary_search_by_key(&last.id, |b| b.id).ok().map(|k| &e.bodies[k]);
            let mut map = LastVersionMap::Vertices((0..last.mesh.positions.len() as u32).collect());
            let mut version = last;
            // Backwards, also through versions that no chosen frame shows.
            for before in epochs.iter().rev().filter_map(of).filter(|b| b.version < last.version) {
                if before.version == version.version {
                    continue;
                }
                map = match (map, &version.origin) {
                    (LastVersionMap::Vertices(map), Some(origin)) => {
                        LastVersionMap::Vertices(map.iter().map(|&v| origin.vertices[v as usize]).collect())
                    }
                    _ => LastVersionMap::Unknown,
                };
                version = before;
                let shown = body.versions.iter_mut().find(|v| v.body.version == before.version);
                if let Some(shown) = shown {
                    shown.of_last = map.clone();
                }
            }
        }
    }

    /// Vertices of all bodies together, each in its last version.
    pub fn vertex_count(&self) -> usize {
        self.bodies.iter().map(|b| b.last().body.mesh.positions.len()).sum()
    }

    /// All versions of all bodies.
    pub fn versions(&self) -> impl Iterator<Item = &BodyVersion<'a>> {
        self.bodies.iter().flat_map(|b| &b.versions)
    }

    /// Reads a frame by its place in the log and skins its bodies, as far as that is needed.
    pub fn pose(&self, place: usize, needs: FrameNeeds) -> Result<PosedFrame, CacheError> {
        let frame = self.reader.frame(place)?;
        let among = self.frames.binary_search(&place).unwrap_or(0);
        let mut bodies = Vec::with_capacity(self.bodies.len());
        // Where its particles are is the epoch's to say.
        for (b, body, pose) in self.poses_at(place, &frame) {
            let version = self.bodies[b].version_at(among);
            let mut posed = PosedBody { body: b, version, vertices: Vec::new(), normals: Vec::new(), pose };
            let as_one = !needs.rigid && self.bodies[b].moves_as_one();
            if needs.skin && !as_one {
                body.vertices(&frame, &mut posed.vertices);
            }
            if needs.normals && !as_one && !body.is_point_cloud() {
                self.bodies[b].versions[version].following().at(&posed.vertices, &mut posed.normals);
            }
            bodies.push(posed);
        }
        Ok(PosedFrame { place, among, frame, bodies })
    }

    /// A frame in the units and axes of a file. Refuses what is no finite f32: a file with NaN in it makes other programs fail
    /// in ways that no longer point here.
    pub fn convert(&self, posed: &PosedFrame, options: SurfaceOptions) -> Result<ConvertedFrame, CacheError> {
        let SurfaceOptions { conversion, normals, last, poses } = options;
        let mut bodies = Vec::with_capacity(posed.bodies.len());
        for own in &posed.bodies {
            let known = &self.bodies[own.body];
            if let (true, true, Some(pose)) = (poses, known.moves_as_one(), &own.pose) {
                let pose = conversion.pose(pose);
                if !pose.place.as_vec3().is_finite() {
                    return Err(not_finite(known.first().body, posed.frame.index, 0, pose.place));
                }
                let mut surface = ConvertedSurface::empty(own);
                surface.pose = Some(pose);
                bodies.push(surface);
                continue;
            }
            let shown = &known.versions[own.version];
            let wanted = normals != NormalPrecision::None && !shown.body.is_point_cloud();
            if last && matches!(shown.of_last, LastVersionMap::Unknown) {
                return Err(unknown_change(self.reader, shown.body));
            }
            let mut surface = ConvertedSurface::empty(own);
            let (mut vertices, mut directions) = (Cow::Borrowed(&own.vertices), Cow::Borrowed(&own.normals));
            if let (true, LastVersionMap::Vertices(map)) = (last, &shown.of_last) {
                let moved = |from: &[DVec3]| map.iter().map(|&v| from[v as usize]).collect::<Vec<DVec3>>();
                vertices = Cow::Owned(moved(&own.vertices));
                match (wanted, known.last().normal_of_corner()) {
                    (false, _) => {}
                    (true, None) => directions = Cow::Owned(moved(&own.normals)),
                    (true, Some(_)) => {
                        let mut now = Vec::new();
                        known.last().following().at(&vertices, &mut now);
                        directions = Cow::Owned(now);
                    }
                }
                surface.version = known.versions.len() - 1;
            }
            convert(&vertices, conversion, &mut surface.points)
                .map_err(|v| not_finite(shown.body, posed.frame.index, v, vertices[v]))?;
            if wanted {
                normals.put(&directions, conversion, &mut surface.normals);
            }
            bodies.push(surface);
        }
        Ok(ConvertedFrame { place: posed.among, index: posed.frame.index, bodies })
    }

    /// The surface at rest of a body that moves as one, which its poses take to where it is.
    pub fn at_rest(&self, body: usize, options: SurfaceOptions) -> Result<ConvertedSurface, CacheError> {
        let version = self.bodies[body].first();
        let rest = &version.body.mesh.positions;
        let mut surface =
            ConvertedSurface { body, version: 0, points: Vec::new(), normals: Vec::new(), pose: None };
        convert(rest, options.conversion, &mut surface.points)
            .map_err(|v| not_finite(version.body, 0, v, rest[v]))?;
        if options.normals != NormalPrecision::None && !version.body.is_point_cloud() {
            let mut directions = Vec::new();
            version.following().at(rest, &mut directions);
            options.normals.put(&directions, options.conversion, &mut surface.normals);
        }
        Ok(surface)
    }

    /// The chosen bodies in the frame of a place, each with its place in `bodies` and its pose if it never deforms.
    fn poses_at(&self, place: usize, frame: &LogFrame) -> Vec<(usize, &'a LogBody, Option<BodyPose>)> {
        let mut poses = frame.poses.iter();
        let posed = self.reader.bodies_at(place).iter().map(|body| {
            let pose = body.rigid.as_ref().and_then(|_| poses.next().copied());
            (body, pose)
        });
        posed.filter_map(|(body, pose)| Some((*self.places.get(&body.id)?, body, pose))).collect()
    }

    /// The chosen bodies in the frame of a place, each with its place in `bodies`.
    pub fn bodies_at(&self, place: usize) -> Vec<(usize, &'a LogBody)> {
        let bodies = self.reader.bodies_at(place).iter();
        bodies.filter_map(|body| Some((*self.places.get(&body.id)?, body))).collect()
    }

    /// The same as versions.
    pub fn versions_at(&self, place: usize) -> impl Iterator<Item = (usize, &BodyVersion<'a>)> {
        let among = self.frames.binary_search(&place).unwrap_or(0);
        let version = move |(b, _)| {
            let body: &StreamBody<'a> = &self.bodies[b];
            (b, &body.versions[body.version_at(among)])
        };
        self.bodies_at(place).into_iter().map(version)
    }

    /// Which epoch of the log the frame of a place is in.
    pub fn epoch_of(&self, place: usize) -> usize {
        self.reader.epoch_of(place)
    }
}

fn unknown_change(reader: &ResampledLog<'_>, body: &LogBody) -> CacheError {
    CacheError::invalid(
        format!("{}, body \"{}\"", reader.path().display(), body.name),
        "its topology changes and the log does not tell which vertex becomes which, as this format must know",
        "export to .usda, .abc or .obj, or only the frames before or after the change",
    )
}

impl ExportStream<'_> {
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
