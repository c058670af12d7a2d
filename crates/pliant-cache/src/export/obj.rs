//! OBJ sequences: `name.obj` becomes `name_0000.obj`, `name_0001.obj`, … by frame number, with one `name.mtl`.
//!
//! One object per body, with its faces, texture coordinates, normals and materials as its file had them; vertex
//! order as in the other exports; each file has the bodies there are in its frame. Numbers are printed with as many digits as it takes to get the same f32 back.

use super::ExportSummary;
use super::epochs::PerEpoch;
use super::materials::{ExportMaterial, MaterialTable};
use super::names::{NameStyle, unique};
use super::sequence::{library as library_file, numbered, program_in_a_line};
use super::sink::{ExportOrder, FrameEncoder, FrameNeeds, FrameOutput, Sink};
use super::stream::{
    BodyVersion, Conversion, ConvertedFrame, ConvertedSurface, ExportStream, NormalPrecision, PosedFrame,
    SurfaceOptions,
};
use crate::atomic::AtomicFile;
use crate::export::sequence::FileSeries;
use crate::{CacheError, OutputFolder, srgb};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

pub(super) fn begin<'a>(order: ExportOrder<'a>) -> Result<Sink<'a>, CacheError> {
    let ExportOrder { reader, stream, path, conversion, folder, .. } = order;
    let (library, materials) = library(stream);
    let library_path = library_file(&path);
    let program = program_in_a_line(reader);
    let mut file = AtomicFile::create(folder, &library_path)?;
    // Whose it is: a library of somebody else under this name is not replaced unasked.
    file.put(format!("# {program}, materials\n").as_bytes())?;
    file.put(library.as_bytes())?;
    let summary = ExportSummary {
        path: numbered(&path, reader.frame_index(stream.frames[0]).unwrap_or(0)),
        files: 1,
        frames: stream.frames.len(),
        vertices: stream.vertex_count(),
        bytes: file.commit()?,
    };
    let names = unique(stream.bodies.iter().map(|b| b.name), NameStyle::Word, "body", &[]);
    let library = library_path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let known = PerEpoch::default();
    let make = ObjFrames { stream, path, conversion, folder, program, library, names, materials, known };
    Ok(Sink { make: Box::new(make), put: Box::new(FileSeries { summary }) })
}

/// Makes the file of each frame.
struct ObjFrames<'a> {
    stream: &'a ExportStream<'a>,
    path: PathBuf,
    conversion: Conversion,
    folder: &'a dyn OutputFolder,
    program: String,
    /// The file of materials.
    library: String,
    names: Vec<String>,
    /// For each version of each body the names of its materials.
    materials: Vec<Vec<Vec<String>>>,
    known: PerEpoch<Vec<StaticBody>>,
}

impl FrameEncoder for ObjFrames<'_> {
    fn needs(&self) -> FrameNeeds {
        FrameNeeds { skin: true, normals: true, rigid: true }
    }

    fn make(&self, frame: &PosedFrame) -> Result<FrameOutput, CacheError> {
        let loaded = self
            .stream
            .convert(frame, SurfaceOptions::baked(self.conversion, NormalPrecision::Short, false))?;
        let still = self.still(&loaded, self.stream.epoch_of(frame.place))?;
        let path = numbered(&self.path, frame.frame.index);
        let mut file = AtomicFile::create(self.folder, &path)?;
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "# {}, frame {}, time {} s\nmtllib {}",
            self.program, frame.frame.index, frame.frame.time, self.library
        );
        for (surface, still) in loaded.bodies.iter().zip(still.iter()) {
            let _ = writeln!(text, "o {}", self.names[surface.body]);
            let b = &self.stream.bodies[surface.body].versions[surface.version];
            for (v, [x, y, z]) in surface.points.iter().enumerate() {
                let _ = write!(text, "v {x} {y} {z}");
                if let Some(&[r, g, b, _]) = b.body.attributes.colors.get(v) {
                    let _ = write!(text, " {} {} {}", srgb::encode(r), srgb::encode(g), srgb::encode(b));
                }
                text.push('\n');
            }
            text.push_str(&still.uvs);
            for [x, y, z] in &surface.normals {
                let _ = writeln!(text, "vn {x} {y} {z}");
            }
            text.push_str(&still.faces);
            file.put(text.as_bytes())?;
            text.clear();
        }
        file.put(text.as_bytes())?;
        Ok(FrameOutput::File { file, path, time: frame.frame.time })
    }
}

impl ObjFrames<'_> {
    /// What is the same in all frames of an epoch.
    fn still(&self, loaded: &ConvertedFrame, epoch: usize) -> Result<Arc<Vec<StaticBody>>, CacheError> {
        self.known.get(epoch, || {
            // OBJ counts from 1 through the whole file.
            let mut first = Counts { vertex: 1, uv: 1, normal: 1 };
            let one = |s: &ConvertedSurface| {
                let version = &self.stream.bodies[s.body].versions[s.version];
                StaticBody::new(version, &self.materials[s.body][s.version], &mut first)
            };
            Ok(loaded.bodies.iter().map(one).collect())
        })
    }
}

/// Where the counting of a file stands.
struct Counts {
    vertex: usize,
    uv: usize,
    normal: usize,
}

/// The text of a body that is the same in all frames of an epoch.
struct StaticBody {
    uvs: String,
    faces: String,
}

impl StaticBody {
    fn new(b: &BodyVersion<'_>, materials: &[String], first: &mut Counts) -> StaticBody {
        let (attributes, points) = (&b.body.attributes, b.body.mesh.positions.len());
        let mut still = StaticBody { uvs: String::new(), faces: String::new() };
        if b.body.is_point_cloud() {
            // Several to a line: readers without point elements warn once per line. Not too many either, since
            // some have a limit on the length of lines.
            for v in 0..points {
                still.faces.push_str(if v % 64 == 0 { "p" } else { "" });
                let _ = write!(still.faces, " {}", first.vertex + v);
                still.faces.push_str(if v % 64 == 63 || v + 1 == points { "\n" } else { "" });
            }
            first.vertex += points;
            return still;
        }
        for [u, v] in &attributes.uvs.values {
            let _ = writeln!(still.uvs, "vt {u} {v}");
        }
        let corners = b.faces.corners();
        let normal_of = b.normal_of_corner().unwrap_or(corners);
        let mut material = "";
        for f in 0..b.faces.len() {
            let which = attributes.face_materials.get(f).map_or(0, |&m| m as usize);
            if let Some(used) = materials.get(which).filter(|used| *used != material) {
                let _ = writeln!(still.faces, "usemtl {used}");
                material = used;
            }
            still.faces.push('f');
            for c in b.faces.range(f) {
                let _ = write!(still.faces, " {}/", first.vertex + corners[c] as usize);
                if let Some(&uv) = attributes.uvs.corners.get(c) {
                    let _ = write!(still.faces, "{}", first.uv + uv as usize);
                }
                let _ = write!(still.faces, "/{}", first.normal + normal_of[c] as usize);
            }
            still.faces.push('\n');
        }
        first.vertex += points;
        first.uv += attributes.uvs.values.len();
        // Every normal is at some corner, except those of vertices without a face.
        let split = |of: &[u32]| of.iter().max().map_or(0, |&n| n as usize + 1);
        first.normal += b.normal_of_corner().map_or(points, split);
        still
    }
}

/// The material library, and for each version of each body the names of its materials in it.
fn library(stream: &ExportStream<'_>) -> (String, Vec<Vec<Vec<String>>>) {
    let table = MaterialTable::new(stream.versions().map(|v| v.body));
    let names =
        unique(table.materials.iter().map(|m| m.material.name.as_str()), NameStyle::Word, "material", &[]);
    let mut text = String::new();
    for (ExportMaterial { material, .. }, name) in table.materials.iter().zip(&names) {
        let [red, green, blue, opacity] = material.color;
        let _ = writeln!(text, "newmtl {name}\nKd {red} {green} {blue}\nd {opacity}");
        let _ = writeln!(text, "Pr {}\nPm {}", material.roughness, material.metallic);
        if let Some(texture) = &material.texture {
            let _ = writeln!(text, "map_Kd {}", texture.replace(char::is_control, "_"));
        }
    }
    let mut of_versions =
        table.of_bodies.iter().map(|places| places.iter().map(|&m| names[m].clone()).collect());
    let of_bodies = stream.bodies.iter().map(|b| of_versions.by_ref().take(b.versions.len()).collect());
    (text, of_bodies.collect())
}
