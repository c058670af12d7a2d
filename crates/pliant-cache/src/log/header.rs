//! The header of a log: which scene it is and how particles become pictures and meshes.

use super::attributes;
use super::channel::{LogChannel, find, need, parse, put};
use super::collider::LogCollider;
use super::epoch::{self, Meshes};
use super::frame::LogFrame;
use super::picture;
use super::simulated::SimulatedElements;
use super::skin;
use crate::render::Plane;
use glam::DVec3;
use pliant_geometry::{Look, MeshAttributes, PictureSettings, Skin, TriMesh};
use std::ops::Range;
use std::sync::Arc;

/// What a log says about itself before its first frame.
#[derive(Clone, Debug, PartialEq)]
pub struct LogHeader {
    /// Program and version that wrote the log, such as "pliant 0.1.0".
    pub program: String,
    /// How its multiply-adds were rounded when it was begun, "fused" or "unfused": runs of one kind have the same
    /// bits. Empty if it does not say.
    pub bits: String,
    /// The scene in canonical form, so that a log explains itself.
    pub scene_text: String,
    /// Hash of scene and program behaviour; a run is only resumed when it is the same.
    pub scene_hash: u64,
    /// Frames per second of simulated time.
    pub frames_per_second: f64,
    /// The bodies there are at first, by their ids; later ones come with an [`Epoch`](super::Epoch).
    pub bodies: Vec<LogBody>,
    /// Planes things rest on, for pictures.
    pub planes: Vec<Plane>,
    /// Every other collider the run has or will have, for pictures.
    pub colliders: Vec<LogCollider>,
    /// How pictures are taken.
    pub picture: PictureSettings,
}

/// A body: which particles it owns and how its surface follows them. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct LogBody {
    /// The engine's number of it; no other body of the run ever has it.
    pub id: u64,
    /// Name in the scene. Unique among the bodies there are, but a later body may have the name of one that is gone.
    pub name: Arc<str>,
    /// Counts the meshes it has had: 0 until its topology changes.
    pub version: u32,
    /// Where its particles and vertices were in the version before; `None` in the first, or if that is not known.
    pub origin: Option<Arc<VersionOrigin>>,
    /// Linear red, green, blue in 0..=1.
    pub color: [f32; 3],
    /// Its particles in the arrays of a frame.
    pub particles: Range<u32>,
    /// Render mesh at rest; without triangles the body is a point cloud. What bodies have in common is kept once.
    pub mesh: Arc<TriMesh>,
    /// Attributes of the mesh: polygons, texture coordinates, materials; may be empty.
    pub attributes: Arc<MeshAttributes>,
    /// How mesh vertices follow particles (indices within the body).
    pub skin: Arc<Skin>,
    /// For each particle the index of its nearest cluster, for colouring; may be empty.
    pub cluster: Arc<Vec<u32>>,
    /// What the particles make up, for those who look at the simulation itself; may be empty.
    pub simulated: Arc<SimulatedElements>,
    /// What it is made of, for pictures.
    pub look: Look,
    /// For a body that never deforms, its particles at rest, in the coordinates of its mesh: a frame then holds one pose
    /// of it and no positions. `None` for bodies that deform.
    pub rigid: Option<Arc<Vec<DVec3>>>,
}

/// From one version of a body to the one before: old vertices may be several new ones, along a tear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionOrigin {
    /// For each particle the one it was.
    pub particles: Vec<u32>,
    /// For each vertex of the render mesh the one it was.
    pub vertices: Vec<u32>,
}

/// Planes as a channel.
pub(super) fn put_planes(planes: &[Plane], out: &mut Vec<u8>) {
    let plane = |k: usize| planes.iter().map(|p| p.normal.extend(p.offset)[k]).collect::<Vec<f64>>();
    let [x, y, z, w] = [plane(0), plane(1), plane(2), plane(3)];
    put(out, "planes", &[&x[..], &y, &z, &w]);
}

/// Planes from a channel.
pub(super) fn planes_of(channel: &LogChannel<'_>) -> Result<Vec<Plane>, String> {
    let [x, y, z, w] = channel.planes::<f64, 4>()?;
    let plane = |k: usize| Plane { normal: DVec3::new(x[k], y[k], z[k]), offset: w[k] };
    let planes: Vec<Plane> = (0..x.len()).map(plane).collect();
    match planes.iter().all(|p| p.normal.is_finite() && p.offset.is_finite()) {
        true => Ok(planes),
        false => Err("a plane is not finite".into()),
    }
}

impl LogBody {
    /// Vertex positions of the render mesh in a frame of this body's log.
    ///
    /// # Panics
    /// If the frame belongs to another log and has too few particles.
    pub fn vertices(&self, frame: &LogFrame, vertices: &mut Vec<DVec3>) {
        let range = self.particles.start as usize..self.particles.end as usize;
        let [x, y, z] = &frame.positions;
        self.skin.apply([&x[range.clone()], &y[range.clone()], &z[range]], vertices);
    }

    /// Its particles in the arrays of a frame.
    pub(crate) fn range(&self) -> Range<usize> {
        self.particles.start as usize..self.particles.end as usize
    }

    /// Whether the body has no surface and is shown as points.
    pub fn is_point_cloud(&self) -> bool {
        self.mesh.triangles.is_empty()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let vertices = self.mesh.positions.len();
        let Range { start, end } = self.particles;
        if start > end {
            return Err(format!("particle range {start}..{end} ends before it starts"));
        }
        let particles = (end - start) as usize;
        if !self.color.iter().all(|c| c.is_finite()) {
            return Err(format!("color {:?} is not finite", self.color));
        }
        if let Some(v) = self.mesh.positions.iter().position(|p| !p.is_finite()) {
            return Err(format!("rest position of vertex {v} is not finite"));
        }
        for (t, triangle) in self.mesh.triangles.iter().enumerate() {
            if let Some(v) = triangle.iter().find(|&&v| v as usize >= vertices) {
                return Err(format!("triangle {t} uses vertex {v}, but there are only {vertices}"));
            }
        }
        self.attributes.check(vertices)?;
        self.skin.check(vertices, particles)?;
        if !self.cluster.is_empty() && self.cluster.len() != particles {
            return Err(format!("{} cluster indices for {particles} particles", self.cluster.len()));
        }
        if let Some(origin) = &self.origin
            && (origin.particles.len(), origin.vertices.len()) != (particles, vertices)
        {
            return Err(format!(
                "it says where {} particles and {} vertices were, but has {particles} and {vertices}",
                origin.particles.len(),
                origin.vertices.len()
            ));
        }
        if let Some(rest) = &self.rigid
            && !(rest.len() == particles && rest.iter().all(|p| p.is_finite()))
        {
            return Err(format!("it is rigid, with {} particles at rest for {particles}", rest.len()));
        }
        self.simulated.check(particles)
    }

    /// As bytes; of one with a mesh the log already holds only what is its own and the number of that mesh.
    pub(super) fn encode(&self, known_mesh: Option<u32>) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, "id", &[&[self.id][..]]);
        put(&mut out, "name", &[self.name.as_bytes()]);
        if self.version > 0 {
            put(&mut out, "version", &[&[self.version][..]]);
        }
        if let Some(origin) = &self.origin {
            put(&mut out, "origin_particles", &[&origin.particles[..]]);
            put(&mut out, "origin_vertices", &[&origin.vertices[..]]);
        }
        put(&mut out, "color", &[&self.color[..]]);
        put(&mut out, "particles", &[&[self.particles.start, self.particles.end][..]]);
        if !self.cluster.is_empty() {
            put(&mut out, "cluster", &[&self.cluster[..]]);
        }
        put(&mut out, "look", &[self.look.name().as_bytes()]);
        if let Some(rest) = &self.rigid {
            let column = |k: usize| rest.iter().map(|p| p[k]).collect::<Vec<f64>>();
            put(&mut out, "rigid", &[&column(0)[..], &column(1), &column(2)]);
        }
        if let Some(number) = known_mesh {
            put(&mut out, "mesh", &[&[number][..]]);
            return out;
        }
        let mesh = &self.mesh;
        let plane = |k: usize| mesh.positions.iter().map(|p| p[k]).collect::<Vec<f64>>();
        let [x, y, z] = [plane(0), plane(1), plane(2)];
        put(&mut out, "rest", &[&x[..], &y, &z]);
        let corner = |k: usize| mesh.triangles.iter().map(|t| t[k]).collect::<Vec<u32>>();
        let [a, b, c] = [corner(0), corner(1), corner(2)];
        put(&mut out, "triangles", &[&a[..], &b, &c]);
        skin::encode(&mut out, &self.skin);
        if !self.attributes.is_empty() {
            put(&mut out, "coat", &[&attributes::encode(&self.attributes)[..]]);
        }
        if !self.simulated.is_empty() {
            put(&mut out, "simulated", &[&self.simulated.encode()[..]]);
        }
        out
    }

    /// From bytes; a mesh that is stored here is added to those the log holds.
    pub(super) fn decode(payload: &[u8], meshes: &mut Meshes) -> Result<LogBody, String> {
        let channels = parse(payload)?;
        let color = need(&channels, "color")?.values::<f32>()?;
        let color = <[f32; 3]>::try_from(color).map_err(|_| "the color has not three parts")?;
        let range = need(&channels, "particles")?.values::<u32>()?;
        let [start, end] = range[..] else {
            return Err("the particle range has not two ends".into());
        };
        let list = |name| find(&channels, name).map(LogChannel::values::<u32>).transpose();
        let origin = match (list("origin_particles")?, list("origin_vertices")?) {
            (Some(particles), Some(vertices)) => Some(Arc::new(VersionOrigin { particles, vertices })),
            _ => None,
        };
        let mut body = LogBody {
            id: need(&channels, "id")?.value()?,
            name: need(&channels, "name")?.text()?.into(),
            version: find(&channels, "version").map_or(Ok(0), LogChannel::value)?,
            origin,
            color,
            particles: start..end,
            cluster: Arc::new(list("cluster")?.unwrap_or_default()),
            look: match find(&channels, "look") {
                // A look this version does not know is shown as the default one.
                Some(c) => Look::named(&c.text()?).unwrap_or_default(),
                None => Look::default(),
            },
            rigid: match find(&channels, "rigid") {
                Some(c) => {
                    let [x, y, z] = c.planes::<f64, 3>()?;
                    Some(Arc::new((0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect()))
                }
                None => None,
            },
            mesh: Arc::default(),
            attributes: Arc::default(),
            skin: Arc::default(),
            simulated: Arc::default(),
        };
        match find(&channels, "mesh").map(LogChannel::value::<u32>).transpose()? {
            Some(number) => meshes.give(number, &mut body)?,
            None => {
                body.decode_mesh(&channels)?;
                meshes.add(&body);
            }
        }
        Ok(body)
    }

    /// Takes up the mesh and what goes with it.
    fn decode_mesh(&mut self, channels: &[LogChannel<'_>]) -> Result<(), String> {
        let [x, y, z] = need(channels, "rest")?.planes::<f64, 3>()?;
        let [a, b, c] = need(channels, "triangles")?.planes::<u32, 3>()?;
        let mesh = TriMesh {
            positions: (0..x.len()).map(|i| DVec3::new(x[i], y[i], z[i])).collect(),
            triangles: (0..a.len()).map(|i| [a[i], b[i], c[i]]).collect(),
        };
        let attributes = find(channels, "coat")
            .map_or(Ok(MeshAttributes::default()), |c| attributes::decode(&c.values::<u8>()?))?;
        let simulated = find(channels, "simulated")
            .map_or(Ok(SimulatedElements::default()), |c| SimulatedElements::decode(&c.values::<u8>()?))?;
        (self.mesh, self.attributes) = (mesh.into(), attributes.into());
        (self.skin, self.simulated) = (skin::decode(channels)?.into(), simulated.into());
        Ok(())
    }
}

impl LogHeader {
    /// Number of particles a frame of these bodies has to hold.
    pub fn particle_count(&self) -> usize {
        self.bodies.iter().map(|b| b.particles.end as usize).max().unwrap_or(0)
    }

    /// Checks that everything fits together, so that nobody downstream has to.
    pub(super) fn check(&self) -> Result<(), String> {
        let fps = self.frames_per_second;
        if !(fps.is_finite() && fps > 0.0) {
            return Err(format!("{fps} frames per second is not a positive number"));
        }
        for (k, plane) in self.planes.iter().enumerate() {
            if !plane.normal.is_finite() || !plane.offset.is_finite() {
                return Err(format!("plane {k} is not finite"));
            }
        }
        self.colliders.iter().try_for_each(LogCollider::check)?;
        epoch::check_first(&self.bodies)
    }

    /// As bytes; the meshes of its bodies are added to those the log holds.
    pub(super) fn encode(&self, meshes: &mut Meshes) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, "program", &[self.program.as_bytes()]);
        if !self.bits.is_empty() {
            put(&mut out, "bits", &[self.bits.as_bytes()]);
        }
        put(&mut out, "scene_text", &[self.scene_text.as_bytes()]);
        put(&mut out, "scene_hash", &[&[self.scene_hash][..]]);
        put(&mut out, "frames_per_second", &[&[self.frames_per_second][..]]);
        put_planes(&self.planes, &mut out);
        self.colliders.iter().for_each(|collider| collider.put(&mut out));
        picture::encode(&self.picture, &mut out);
        for body in &self.bodies {
            put(&mut out, "body", &[&meshes.encode(body)[..]]);
        }
        out
    }

    pub(super) fn decode(payload: &[u8], meshes: &mut Meshes) -> Result<LogHeader, String> {
        let channels = parse(payload)?;
        let mut bodies: Vec<LogBody> = Vec::new();
        for channel in channels.iter().filter(|c| c.name == "body") {
            bodies.push(LogBody::decode(&channel.values::<u8>()?, meshes)?);
        }
        let header = LogHeader {
            program: need(&channels, "program")?.text()?,
            bits: find(&channels, "bits").map_or(Ok(String::new()), |c| c.text())?,
            scene_text: need(&channels, "scene_text")?.text()?,
            scene_hash: need(&channels, "scene_hash")?.value()?,
            frames_per_second: need(&channels, "frames_per_second")?.value()?,
            bodies,
            planes: planes_of(need(&channels, "planes")?)?,
            colliders: channels
                .iter()
                .filter(|c| c.name == "solid")
                .map(LogCollider::get)
                .collect::<Result<_, _>>()?,
            picture: picture::decode(&channels)?,
        };
        header.check()?;
        Ok(header)
    }
}
