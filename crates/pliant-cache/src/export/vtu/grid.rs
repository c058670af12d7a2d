//! What a VTU series shows: particles with their elements, or the surface that follows them.

use super::Scene;
use super::file::Appended;
use crate::export::Footage;
use crate::export::stream::{Normals, Room, Stream, put_floats};
use crate::export::{Conversion, ExportOptions, chosen_bodies};
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
pub(super) trait Number: Copy {
    const NAME: &'static str;
    fn put(values: &[Self], out: &mut Vec<u8>);
}

impl Number for f32 {
    const NAME: &'static str = "Float32";
    fn put(values: &[f32], out: &mut Vec<u8>) {
        put_floats(out, values, f32::to_le_bytes);
    }
}

impl Number for i32 {
    const NAME: &'static str = "Int32";
    fn put(values: &[i32], out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + 4 * values.len(), 0);
        for (to, value) in out[start..].as_chunks_mut::<4>().0.iter_mut().zip(values) {
            *to = value.to_le_bytes();
        }
    }
}

impl Number for u8 {
    const NAME: &'static str = "UInt8";
    fn put(values: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(values);
    }
}

/// What stays from frame to frame.
#[derive(Default)]
pub(super) struct Grid {
    pub points: usize,
    pub connectivity: Vec<i32>,
    /// Where each cell ends in `connectivity`.
    pub offsets: Vec<i32>,
    pub types: Vec<u8>,
    /// Number of the body of each point.
    pub body: Vec<i32>,
    bodies: i32,
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

    /// The points of a body, which the cells added since the last one were about.
    fn add_points(&mut self, count: usize) {
        self.body.resize(self.body.len() + count, self.bodies);
        self.bodies += 1;
        self.points += count;
    }

    /// Refuses what 32 bits cannot count, before any of it is made.
    fn check(
        bodies: &[&LogBody],
        place: &Footage<'_>,
        corners: impl Fn(&LogBody) -> usize,
    ) -> Result<(), CacheError> {
        let total: u64 = bodies.iter().map(|b| corners(b) as u64).sum();
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
pub(super) struct Particles<'a> {
    reader: &'a Footage<'a>,
    bodies: Vec<&'a LogBody>,
    conversion: Conversion,
    grid: Grid,
    /// Nearest cluster of each particle, −1 for none; empty if no body has any.
    cluster: Vec<i32>,
    /// Mass of each particle; empty if it is not known of all bodies.
    mass: Vec<f32>,
}

impl<'a> Particles<'a> {
    pub fn new(reader: &'a Footage<'a>, options: &ExportOptions) -> Result<Particles<'a>, CacheError> {
        let bodies = chosen_bodies(reader, options)?;
        Grid::check(&bodies, reader, |b| {
            let s = &b.simulated;
            4 * s.tetrahedra.len() + 3 * s.triangles.len() + 2 * s.edges.len() + b.particles.len()
        })?;
        let mut grid = Grid::default();
        for body in &bodies {
            let count = body.particles.len();
            let simulated = &body.simulated;
            simulated.tetrahedra.iter().for_each(|e| grid.add_cell(cell::TETRA, e));
            simulated.triangles.iter().for_each(|e| grid.add_cell(cell::TRIANGLE, e));
            simulated.edges.iter().for_each(|e| grid.add_cell(cell::LINE, e));
            if simulated.tetrahedra.is_empty() && simulated.triangles.is_empty() && simulated.edges.is_empty()
            {
                grid.add_vertices(count);
            }
            grid.add_points(count);
        }
        let mut cluster = Vec::new();
        if bodies.iter().any(|b| !b.cluster.is_empty()) {
            for body in &bodies {
                let end = cluster.len() + body.particles.len();
                cluster.extend(body.cluster.iter().map(|&c| i32::try_from(c).unwrap_or(-1)));
                cluster.resize(end, -1);
            }
        }
        let known = bodies.iter().all(|b| b.simulated.masses.len() == b.particles.len());
        let mass = if known {
            bodies.iter().flat_map(|b| &b.simulated.masses).copied().collect()
        } else {
            Vec::new()
        };
        Ok(Particles { reader, bodies, conversion: options.conversion, grid, cluster, mass })
    }

    /// What a frame holds of the shown particles, body after body.
    fn shown<T: Copy>(&self, of_all: &[T]) -> Vec<T> {
        let ranges = self.bodies.iter().map(|b| b.particles.start as usize..b.particles.end as usize);
        ranges.flat_map(|r| of_all.get(r).unwrap_or(&[])).copied().collect()
    }
}

impl Scene for Particles<'_> {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn names(&self) -> Vec<&str> {
        self.bodies.iter().map(|b| b.name.as_str()).collect()
    }

    fn load(&self, _: &mut Room, place: usize) -> Result<(LogFrame, Vec<[f32; 3]>), CacheError> {
        let frame = self.reader.frame(place)?;
        let [x, y, z] = &frame.positions;
        let mut points = Vec::with_capacity(self.grid.points);
        for body in &self.bodies {
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
        Ok((frame, points))
    }

    fn put_fields(&self, frame: &LogFrame, out: &mut Appended) {
        let [u, v, w] = frame.velocity.each_ref().map(|axis| self.shown(axis));
        if !u.is_empty() {
            out.triples("velocity", &converted(self.conversion, &u, &v, &w));
        } else if !frame.speed.is_empty() {
            out.numbers("speed", &self.shown(&frame.speed));
        }
        if !frame.strain.is_empty() {
            out.numbers("strain", &self.shown(&frame.strain));
        }
        if !frame.contact.is_empty() {
            out.numbers("contact", &self.shown(&frame.contact));
        }
        if !self.cluster.is_empty() {
            out.numbers("cluster", &self.cluster);
        }
        if !self.mass.is_empty() {
            out.numbers("mass", &self.mass);
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
pub(super) struct Surface<'a> {
    stream: Stream<'a>,
    conversion: Conversion,
    grid: Grid,
}

impl<'a> Surface<'a> {
    pub fn new(reader: &'a Footage<'a>, options: &ExportOptions) -> Result<Surface<'a>, CacheError> {
        let stream = Stream::new(reader, options)?;
        let bodies: Vec<&LogBody> = stream.bodies.iter().map(|b| b.body).collect();
        Grid::check(&bodies, reader, |b| {
            b.coat.faces.corners().len() + 3 * b.mesh.triangles.len() + b.mesh.positions.len()
        })?;
        let mut grid = Grid::default();
        for shown in &stream.bodies {
            let count = shown.body.mesh.positions.len();
            if shown.body.is_point_cloud() {
                grid.add_vertices(count);
            } else {
                for face in shown.faces.iter() {
                    let kind = match face.len() {
                        3 => cell::TRIANGLE,
                        4 => cell::QUAD,
                        _ => cell::POLYGON,
                    };
                    grid.add_cell(kind, face);
                }
            }
            grid.add_points(count);
        }
        Ok(Surface { stream, conversion: options.conversion, grid })
    }

    /// A field of particles as the vertices have it.
    fn mixed(&self, of_all: &[f32]) -> Vec<f32> {
        let mut out = Vec::with_capacity(self.grid.points);
        for shown in &self.stream.bodies {
            let body = shown.body;
            let own = &of_all[body.particles.start as usize..body.particles.end as usize];
            out.extend(body.skin.mix(own).into_iter().map(|x| x as f32));
        }
        out
    }
}

impl Scene for Surface<'_> {
    fn grid(&self) -> &Grid {
        &self.grid
    }

    fn names(&self) -> Vec<&str> {
        self.stream.bodies.iter().map(|b| b.body.name.as_str()).collect()
    }

    fn load(&self, room: &mut Room, place: usize) -> Result<(LogFrame, Vec<[f32; 3]>), CacheError> {
        let loaded = self.stream.load(room, place, Normals::None)?;
        let points = loaded.bodies.iter().flat_map(|b| &b.points).copied().collect();
        Ok((loaded.frame, points))
    }

    fn put_fields(&self, frame: &LogFrame, out: &mut Appended) {
        let [u, v, w] = &frame.velocity;
        if !u.is_empty() {
            let [u, v, w] = [u, v, w].map(|axis| self.mixed(axis));
            out.triples("velocity", &converted(self.conversion, &u, &v, &w));
        }
        if !frame.strain.is_empty() {
            out.numbers("strain", &self.mixed(&frame.strain));
        }
    }
}
