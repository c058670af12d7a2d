//! What a VTU series shows: particles with their elements, or the surface that follows them.

use super::GridSource;
use super::file::Appended;
use crate::export::bytes::{put_floats, put_words};
use crate::export::sink::{ExportOrder, FrameNeeds};
use crate::export::stream::{BodyVersion, ExportStream, NormalPrecision, PosedFrame, SurfaceOptions};
use crate::export::{Conversion, ResampledLog};
use crate::{CacheError, LogBody, LogFrame};
use glam::DVec3;

/// VTK's numbers for kinds of cells.
mod cell {
    pub const VERTEX: u8 = 1;
    pub const LINE: u8 = 3;
    pub const TRIANGLE: u8 = 5;
    pub const POLYGON: u8 = 7;
    pub const QUAD: u8 = 9;
    pub const TETRA: u8 = 10;
}

/// A number of VTK's.
pub(super) trait VtkNumber: Copy {
    const NAME: &'static str;
    fn put(values: &[Self], out: &mut Vec<u8>);
}

impl VtkNumber for f32 {
    const NAME: &'static str = "Float32";
    fn put(values: &[f32], out: &mut Vec<u8>) {
        put_floats(out, values);
    }
}

impl VtkNumber for i32 {
    const NAME: &'static str = "Int32";
    fn put(values: &[i32], out: &mut Vec<u8>) {
        put_words(out, values, i32::to_le_bytes);
    }
}

impl VtkNumber for u8 {
    const NAME: &'static str = "UInt8";
    fn put(values: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(values);
    }
}

/// What stays from frame to frame of an epoch.
#[derive(Default)]
pub(super) struct Grid {
    pub points: usize,
    pub connectivity: Vec<i32>,
    /// Where each cell ends in `connectivity`.
    pub offsets: Vec<i32>,
    pub types: Vec<u8>,
    /// Number of the body of each point.
    pub body: Vec<i32>,
    /// Nearest cluster of each point, −1 for none; empty if no body has any.
    cluster: Vec<i32>,
    /// Mass of each point; empty if it is not known of all bodies.
    mass: Vec<f32>,
}

impl Grid {
    fn add_cell(&mut self, kind: u8, corners: &[u32]) {
        let first = self.points as i32;
        self.connectivity.extend(corners.iter().map(|&c| first + c as i32));
        self.offsets.push(self.connectivity.len() as i32);
        self.types.push(kind);
    }

    /// A vertex for each of the points to come: what no cell uses is not drawn.
    fn add_vertices(&mut self, count: usize) {
        (0..count as u32).for_each(|v| self.add_cell(cell::VERTEX, &[v]));
    }

    /// The points of a body by its number, which the cells added since the last one were about.
    fn add_points(&mut self, count: usize, body: usize) {
        self.body.resize(self.body.len() + count, body as i32);
        self.points += count;
    }

    /// Fields that do not change.
    pub fn put_fields(&self, out: &mut Appended) {
        if !self.cluster.is_empty() {
            out.numbers("cluster", &self.cluster);
        }
        if !self.mass.is_empty() {
            out.numbers("mass", &self.mass);
        }
    }

    /// Refuses what 32 bits cannot count, before any of it is made.
    fn check(
        bodies: &[(usize, &LogBody)],
        place: &ResampledLog<'_>,
        corners: impl Fn(&LogBody) -> usize,
    ) -> Result<(), CacheError> {
        let total: u64 = bodies.iter().map(|(_, b)| corners(b) as u64).sum();
        if i32::try_from(total).is_ok() {
            return Ok(());
        }
        Err(CacheError::invalid(
            place.path().display().to_string(),
            format!("{total} corners of cells are more than can be counted"),
            "export one body at a time",
        ))
    }
}

/// The simulated particles and what they make up.
pub(super) struct ParticleGrid<'a> {
    reader: &'a ResampledLog<'a>,
    stream: &'a ExportStream<'a>,
    conversion: Conversion,
    /// Whether any body has clusters, and all have masses.
    clusters: bool,
    masses: bool,
}

impl<'a> ParticleGrid<'a> {
    pub fn new(order: &ExportOrder<'a>) -> ParticleGrid<'a> {
        let (reader, stream, conversion) = (order.reader, order.stream, order.conversion);
        let clusters = stream.versions().any(|v| !v.body.cluster.is_empty());
        let masses = stream.versions().all(|v| v.body.simulated.masses.len() == v.body.particles.len());
        ParticleGrid { reader, stream, conversion, clusters, masses }
    }

    /// What a frame holds of the shown particles, body after body.
    fn shown<T: Copy>(&self, place: usize, of_all: &[T]) -> Vec<T> {
        let bodies = self.stream.bodies_at(place);
        let ranges = bodies.iter().map(|(_, b)| b.particles.start as usize..b.particles.end as usize);
        ranges.flat_map(|r| of_all.get(r).unwrap_or(&[])).copied().collect()
    }
}

impl GridSource for ParticleGrid<'_> {
    fn stream(&self) -> &ExportStream<'_> {
        self.stream
    }

    fn needs(&self) -> FrameNeeds {
        FrameNeeds::default()
    }

    fn points(&self) -> usize {
        self.stream.bodies.iter().map(|b| b.last().body.particles.len()).sum()
    }

    fn grid(&self, place: usize) -> Result<Grid, CacheError> {
        let bodies = self.stream.bodies_at(place);
        Grid::check(&bodies, self.reader, |b| {
            let s = &b.simulated.elements;
            4 * s.tetrahedra.len() + 3 * s.triangles.len() + 2 * s.edges.len() + b.particles.len()
        })?;
        let mut grid = Grid::default();
        for &(number, body) in &bodies {
            let count = body.particles.len();
            let elements = &body.simulated.elements;
            elements.tetrahedra.iter().for_each(|e| grid.add_cell(cell::TETRA, e));
            elements.triangles.iter().for_each(|e| grid.add_cell(cell::TRIANGLE, e));
            elements.edges.iter().for_each(|e| grid.add_cell(cell::LINE, e));
            if elements.tetrahedra.is_empty() && elements.triangles.is_empty() && elements.edges.is_empty() {
                grid.add_vertices(count);
            }
            grid.add_points(count, number);
            if self.clusters {
                grid.cluster.extend(body.cluster.iter().map(|&c| i32::try_from(c).unwrap_or(-1)));
                grid.cluster.resize(grid.points, -1);
            }
            if self.masses {
                grid.mass.extend(&body.simulated.masses);
            }
        }
        Ok(grid)
    }

    fn points_of(&self, posed: &PosedFrame) -> Result<Vec<[f32; 3]>, CacheError> {
        let frame = &posed.frame;
        let [x, y, z] = &frame.positions;
        let mut points = Vec::new();
        for (_, body) in self.stream.bodies_at(posed.place) {
            for i in body.particles.start as usize..body.particles.end as usize {
                let p = self.conversion.position(DVec3::new(x[i], y[i], z[i])).as_vec3();
                if !p.is_finite() {
                    return Err(CacheError::invalid(
                        format!(
                            "frame {}, body \"{}\", particle {}",
                            frame.index,
                            body.name,
                            i - body.particles.start as usize
                        ),
                        format!("the position ({}, {}, {}) is no finite number in f32", x[i], y[i], z[i]),
                        "export the frames before it",
                    ));
                }
                points.push(p.to_array());
            }
        }
        Ok(points)
    }

    fn put_fields(&self, place: usize, frame: &LogFrame, out: &mut Appended) {
        let [u, v, w] = frame.velocity.each_ref().map(|axis| self.shown(place, axis));
        if !frame.velocity[0].is_empty() {
            out.triples("velocity", &converted(self.conversion, &u, &v, &w));
        } else if !frame.speed.is_empty() {
            out.numbers("speed", &self.shown(place, &frame.speed));
        }
        if !frame.strain.is_empty() {
            out.numbers("strain", &self.shown(place, &frame.strain));
        }
        if !frame.contact.is_empty() {
            out.numbers("contact", &self.shown(place, &frame.contact));
        }
    }
}

fn converted(conversion: Conversion, u: &[f32], v: &[f32], w: &[f32]) -> Vec<[f32; 3]> {
    let one = |i: usize| {
        conversion.position(DVec3::new(u[i].into(), v[i].into(), w[i].into())).as_vec3().to_array()
    };
    (0..u.len()).map(one).collect()
}

/// The meshes that pictures show.
pub(super) struct SurfaceGrid<'a> {
    reader: &'a ResampledLog<'a>,
    stream: &'a ExportStream<'a>,
    conversion: Conversion,
}

impl<'a> SurfaceGrid<'a> {
    pub fn new(order: &ExportOrder<'a>) -> SurfaceGrid<'a> {
        SurfaceGrid { reader: order.reader, stream: order.stream, conversion: order.conversion }
    }

    /// A field of particles as the vertices have it.
    fn mixed(&self, place: usize, of_all: &[f32]) -> Vec<f32> {
        let mut out = Vec::new();
        for (_, body) in self.stream.bodies_at(place) {
            let own = &of_all[body.particles.start as usize..body.particles.end as usize];
            out.extend(body.skin.mix(own).into_iter().map(|x| x as f32));
        }
        out
    }
}

impl GridSource for SurfaceGrid<'_> {
    fn stream(&self) -> &ExportStream<'_> {
        self.stream
    }

    fn needs(&self) -> FrameNeeds {
        FrameNeeds { skin: true, normals: false, rigid: true }
    }

    fn points(&self) -> usize {
        self.stream.vertex_count()
    }

    fn grid(&self, place: usize) -> Result<Grid, CacheError> {
        let bodies = self.stream.bodies_at(place);
        Grid::check(&bodies, self.reader, |b| {
            b.attributes.faces.corners().len() + 3 * b.mesh.triangles.len() + b.mesh.positions.len()
        })?;
        let mut grid = Grid::default();
        for (number, shown) in self.stream.versions_at(place) {
            let BodyVersion { body, faces, .. } = shown;
            let count = body.mesh.positions.len();
            if body.is_point_cloud() {
                grid.add_vertices(count);
            } else {
                for face in faces.iter() {
                    let kind = match face.len() {
                        3 => cell::TRIANGLE,
                        4 => cell::QUAD,
                        _ => cell::POLYGON,
                    };
                    grid.add_cell(kind, face);
                }
            }
            grid.add_points(count, number);
        }
        Ok(grid)
    }

    fn points_of(&self, frame: &PosedFrame) -> Result<Vec<[f32; 3]>, CacheError> {
        let loaded = self
            .stream
            .convert(frame, SurfaceOptions::baked(self.conversion, NormalPrecision::None, false))?;
        Ok(loaded.bodies.iter().flat_map(|b| &b.points).copied().collect())
    }

    fn put_fields(&self, place: usize, frame: &LogFrame, out: &mut Appended) {
        let [u, v, w] = &frame.velocity;
        if !u.is_empty() {
            let [u, v, w] = [u, v, w].map(|axis| self.mixed(place, axis));
            out.triples("velocity", &converted(self.conversion, &u, &v, &w));
        }
        if !frame.strain.is_empty() {
            out.numbers("strain", &self.mixed(place, &frame.strain));
        }
    }
}
