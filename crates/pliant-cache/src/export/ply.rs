//! PLY sequences, binary little-endian: `name.ply` becomes `name_0000.ply`, `name_0001.ply`, … by frame number.
//!
//! All bodies are in one file, vertices in the order of the other exports, with one normal and one colour (sRGB) each,
//! texture coordinates where they are one per vertex, and the number of their body if there are several in the run. Each file
//! has the bodies there are in its frame.

use super::ExportSummary;
use super::bytes::put_floats;
use super::epochs::PerEpoch;
use super::sequence::{FileSeries, numbered, program_in_a_line};
use super::sink::{ExportOrder, FrameEncoder, FrameNeeds, FrameOutput, Sink};
use super::stream::{
    BodyVersion, Conversion, ConvertedFrame, ConvertedSurface, ExportStream, NormalPrecision, PosedFrame,
    SurfaceOptions,
};
use crate::atomic::AtomicFile;
use crate::{CacheError, OutputFolder, srgb};
use glam::Vec3;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let ExportOrder { reader, stream, path, conversion, folder, .. } = order;
    let program = program_in_a_line(reader);
    let summary = ExportSummary {
        path: numbered(&path, reader.frame_index(stream.frames[0]).unwrap_or(0)),
        files: 0,
        frames: stream.frames.len(),
        vertices: stream.vertex_count(),
        bytes: 0,
    };
    let make = PlyFrames { stream, path, conversion, folder, program, known: PerEpoch::default() };
    Ok(Sink { make: Box::new(make), put: Box::new(FileSeries { summary }) })
}

/// Makes the file of each frame.
struct PlyFrames<'a> {
    stream: &'a ExportStream<'a>,
    path: PathBuf,
    conversion: Conversion,
    folder: &'a dyn OutputFolder,
    program: String,
    known: PerEpoch<StaticPly>,
}

impl FrameEncoder for PlyFrames<'_> {
    fn needs(&self) -> FrameNeeds {
        FrameNeeds { skin: true, normals: true, rigid: true }
    }

    fn make(&self, frame: &PosedFrame) -> Result<FrameOutput, CacheError> {
        let loaded = self
            .stream
            .convert(frame, SurfaceOptions::baked(self.conversion, NormalPrecision::Full, false))?;
        let epoch = self.stream.epoch_of(frame.place);
        let still = self.known.get(epoch, || StaticPly::new(&self.path, self.stream, &loaded))?;
        let path = numbered(&self.path, frame.frame.index);
        let mut file = AtomicFile::create(self.folder, &path)?;
        let (index, time) = (frame.frame.index, frame.frame.time);
        let mut bytes = b"ply\nformat binary_little_endian 1.0\n".to_vec();
        bytes.extend_from_slice(
            format!("comment {}, frame {index}, time {time} s\n", self.program).as_bytes(),
        );
        bytes.extend_from_slice(still.header.as_bytes());
        let mut tails = still.tails.chunks_exact(still.tail);
        for surface in &loaded.bodies {
            let b = &self.stream.bodies[surface.body].versions[surface.version];
            let normals = vertex_normals(b, surface);
            for (v, &point) in surface.points.iter().enumerate() {
                put_floats(&mut bytes, [point, normals.get(v).copied().unwrap_or_default()].as_flattened());
                bytes.extend_from_slice(tails.next().unwrap_or_default());
            }
        }
        file.put(&bytes)?;
        file.put(&still.faces)?;
        Ok(FrameOutput::File { file, path, time })
    }
}

/// What is the same in all frames of an epoch.
struct StaticPly {
    header: String,
    /// What follows the normal of each vertex, and how many bytes of it each has.
    tails: Vec<u8>,
    tail: usize,
    faces: Vec<u8>,
}

impl StaticPly {
    fn new(path: &Path, stream: &ExportStream<'_>, loaded: &ConvertedFrame) -> Result<StaticPly, CacheError> {
        // Numbered over all frames, so that a body keeps its number.
        let bodies: Vec<(usize, &BodyVersion<'_>)> =
            loaded.bodies.iter().map(|s| (s.body, &stream.bodies[s.body].versions[s.version])).collect();
        let bodies = &bodies[..];
        let count: usize = bodies.iter().map(|(_, b)| b.body.mesh.positions.len()).sum();
        if i32::try_from(count).is_err() {
            return Err(CacheError::invalid(
                path.display().to_string(),
                format!("{count} vertices are more than a PLY file can count"),
                "export fewer bodies, or to .usda",
            ));
        }
        let uvs: Vec<_> = bodies
            .iter()
            .map(|(_, b)| b.body.attributes.uvs.by_vertex(&b.faces, b.body.mesh.positions.len(), [0.0; 2]))
            .collect();
        let split =
            bodies.iter().zip(&uvs).any(|((_, b), uv)| !b.body.attributes.uvs.is_empty() && uv.is_none());
        let has_uvs = !split && uvs.iter().any(Option::is_some);
        let several = stream.bodies.len() > 1;
        let byte = |x: f32| (x.clamp(0.0, 1.0) * 255.0).round() as u8;
        let mut still = StaticPly { header: String::new(), tails: Vec::new(), tail: 4, faces: Vec::new() };
        still.tail += if has_uvs { 8 } else { 0 } + if several { 4 } else { 0 };
        for (k, (number, b)) in bodies.iter().enumerate() {
            let [red, green, blue] = b.body.color;
            for v in 0..b.body.mesh.positions.len() {
                if has_uvs {
                    let uv = uvs[k].as_ref().map_or([0.0; 2], |uvs| uvs[v]);
                    uv.iter().for_each(|x| still.tails.extend_from_slice(&x.to_le_bytes()));
                }
                let [r, g, b, a] = *b.body.attributes.colors.get(v).unwrap_or(&[red, green, blue, 1.0]);
                still.tails.extend([
                    byte(srgb::encode(r)),
                    byte(srgb::encode(g)),
                    byte(srgb::encode(b)),
                    byte(a),
                ]);
                if several {
                    still.tails.extend_from_slice(&(*number as i32).to_le_bytes());
                }
            }
        }
        // A byte counts the corners if none has more; most readers want that.
        let small = bodies.iter().flat_map(|(_, b)| b.faces.sizes()).all(|n| n < 256);
        let mut first = 0;
        let mut faces = 0;
        for (_, b) in bodies {
            faces += b.faces.len();
            for face in b.faces.iter() {
                match small {
                    true => still.faces.push(face.len() as u8),
                    false => still.faces.extend_from_slice(&(face.len() as i32).to_le_bytes()),
                }
                face.iter().for_each(|v| still.faces.extend_from_slice(&(first + v).to_le_bytes()));
            }
            first += b.body.mesh.positions.len() as u32;
        }
        still.header = header(stream, bodies, [count, faces], has_uvs, if small { "uchar" } else { "int" });
        Ok(still)
    }
}

fn header(
    stream: &ExportStream<'_>,
    bodies: &[(usize, &BodyVersion<'_>)],
    [vertices, faces]: [usize; 2],
    uvs: bool,
    length: &str,
) -> String {
    let mut header = String::new();
    for (k, b) in bodies {
        header += &format!("comment body {k}: {}\n", b.body.name.replace(char::is_control, " "));
    }
    header += &format!("element vertex {vertices}\n");
    let mut properties = |kind: &str, names: &[&str]| {
        names.iter().for_each(|name| header += &format!("property {kind} {name}\n"));
    };
    properties("float", &["x", "y", "z", "nx", "ny", "nz"]);
    properties("float", if uvs { &["s", "t"] } else { &[] });
    properties("uchar", &["red", "green", "blue", "alpha"]);
    properties("int", if stream.bodies.len() > 1 { &["body"] } else { &[] });
    if faces > 0 {
        header += &format!("element face {faces}\nproperty list {length} int vertex_indices\n");
    }
    header + "end_header\n"
}

/// One normal per vertex: where a body has several, their mean.
fn vertex_normals<'a>(b: &BodyVersion<'_>, surface: &'a ConvertedSurface) -> Cow<'a, [[f32; 3]]> {
    let Some(of_corners) = b.normal_of_corner() else { return surface.normals.as_slice().into() };
    let mut sums = vec![Vec3::ZERO; surface.points.len()];
    for (&v, &n) in b.faces.corners().iter().zip(of_corners) {
        sums[v as usize] += Vec3::from_array(surface.normals[n as usize]);
    }
    sums.into_iter().map(|n| n.normalize_or(Vec3::Y).to_array()).collect()
}
