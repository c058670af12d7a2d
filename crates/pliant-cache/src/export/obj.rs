//! OBJ sequences: `name.obj` becomes `name_0000.obj`, `name_0001.obj`, … by frame number, with one `name.mtl`.
//!
//! One object per body, with its faces, texture coordinates, normals and materials as its file had them; vertex
//! order as in the other exports; each file has the bodies there are in its frame. Numbers are printed with as many digits as it takes to get the same f32 back.

use std::fmt::Write as _;
use std::path::Path;

use super::materials::{Wardrobe, Worn};
use super::names::{Style, unique};
use super::picture::srgb;
use super::sequence::{library as library_file, numbered};
use super::stream::{Loaded, Normals, Room, Stream, Surface, Version};
use super::{ExportOptions, ExportSummary, Progress};
use crate::CacheError;
use crate::atomic::AtomicFile;
use crate::export::Footage;

pub(super) fn write(
    reader: &Footage<'_>,
    path: &Path,
    options: &ExportOptions,
    progress: Progress<'_>,
) -> Result<ExportSummary, CacheError> {
    let stream = Stream::new(reader, options)?;
    let frames = &stream.frames;
    let names = unique(stream.bodies.iter().map(|b| b.name), Style::Word, "body", &[]);
    let (library, materials) = library(&stream);
    let library_path = library_file(path);
    let program: String =
        reader.header().program.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let mut file = AtomicFile::create(&library_path)?;
    // Whose it is: a library of somebody else under this name is not replaced unasked.
    file.put(format!("# {program}, materials\n").as_bytes())?;
    file.put(library.as_bytes())?;
    let mut summary = ExportSummary {
        path: numbered(path, reader.frame_index(frames[0]).unwrap_or(0)),
        files: 1,
        frames: frames.len(),
        vertices: stream.vertex_count(),
        bytes: file.commit()?,
    };
    let library_name = library_path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let make = |(room, text, still): &mut (Room, String, Still), place: usize| {
        let loaded = stream.load(room, place, Normals::Short)?;
        still.fit(&stream, &loaded, stream.epoch_of(place), &materials);
        let mut file = AtomicFile::create(&numbered(path, loaded.frame.index))?;
        text.clear();
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "# {program}, frame {}, time {} s\nmtllib {library_name}",
            loaded.frame.index, loaded.frame.time
        );
        for (surface, still) in loaded.bodies.iter().zip(&still.bodies) {
            let _ = writeln!(text, "o {}", names[surface.body]);
            let b = &stream.bodies[surface.body].versions[surface.version];
            for (v, [x, y, z]) in surface.points.iter().enumerate() {
                let _ = write!(text, "v {x} {y} {z}");
                if let Some(&[r, g, b, _]) = b.body.coat.colors.get(v) {
                    let _ = write!(text, " {} {} {}", srgb(r), srgb(g), srgb(b));
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
        Ok(file)
    };
    stream.each_made(make, |done, file| {
        summary.bytes += file.commit_one_of_many()?;
        summary.files += 1;
        progress(done + 1, frames.len());
        Ok(())
    })?;
    Ok(summary)
}

/// Where the counting of a file stands.
struct Counts {
    vertex: usize,
    uv: usize,
    normal: usize,
}

/// What is the same in all frames of an epoch.
#[derive(Default)]
struct Still {
    epoch: Option<usize>,
    bodies: Vec<StillBody>,
}

impl Still {
    /// Makes it that of another epoch, if it is.
    fn fit(&mut self, stream: &Stream<'_>, loaded: &Loaded, epoch: usize, materials: &[Vec<Vec<String>>]) {
        if self.epoch == Some(epoch) {
            return;
        }
        // OBJ counts from 1 through the whole file.
        let mut first = Counts { vertex: 1, uv: 1, normal: 1 };
        let one = |s: &Surface| {
            StillBody::new(
                &stream.bodies[s.body].versions[s.version],
                &materials[s.body][s.version],
                &mut first,
            )
        };
        (self.epoch, self.bodies) = (Some(epoch), loaded.bodies.iter().map(one).collect());
    }
}

/// The text of a body that is the same in all frames of an epoch.
struct StillBody {
    uvs: String,
    faces: String,
}

impl StillBody {
    fn new(b: &Version<'_>, materials: &[String], first: &mut Counts) -> StillBody {
        let (coat, points) = (&b.body.coat, b.body.mesh.positions.len());
        let mut still = StillBody { uvs: String::new(), faces: String::new() };
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
        for [u, v] in &coat.uvs.values {
            let _ = writeln!(still.uvs, "vt {u} {v}");
        }
        let corners = b.faces.corners();
        let normal_of = b.normal_of_corner().unwrap_or(corners);
        let mut material = "";
        for f in 0..b.faces.len() {
            let which = coat.face_materials.get(f).map_or(0, |&m| m as usize);
            if let Some(used) = materials.get(which).filter(|used| *used != material) {
                let _ = writeln!(still.faces, "usemtl {used}");
                material = used;
            }
            still.faces.push('f');
            for c in b.faces.range(f) {
                let _ = write!(still.faces, " {}/", first.vertex + corners[c] as usize);
                if let Some(&uv) = coat.uvs.corners.get(c) {
                    let _ = write!(still.faces, "{}", first.uv + uv as usize);
                }
                let _ = write!(still.faces, "/{}", first.normal + normal_of[c] as usize);
            }
            still.faces.push('\n');
        }
        first.vertex += points;
        first.uv += coat.uvs.values.len();
        // Every normal is at some corner, except those of vertices without a face.
        let split = |of: &[u32]| of.iter().max().map_or(0, |&n| n as usize + 1);
        first.normal += b.normal_of_corner().map_or(points, split);
        still
    }
}

/// The material library, and for each version of each body the names of its materials in it.
fn library(stream: &Stream<'_>) -> (String, Vec<Vec<Vec<String>>>) {
    let wardrobe = Wardrobe::new(stream.versions().map(|v| v.body));
    let names =
        unique(wardrobe.materials.iter().map(|m| m.material.name.as_str()), Style::Word, "material", &[]);
    let mut text = String::new();
    for (Worn { material, .. }, name) in wardrobe.materials.iter().zip(&names) {
        let [red, green, blue, opacity] = material.color;
        let _ = writeln!(text, "newmtl {name}\nKd {red} {green} {blue}\nd {opacity}");
        let _ = writeln!(text, "Pr {}\nPm {}", material.roughness, material.metallic);
        if let Some(texture) = &material.texture {
            let _ = writeln!(text, "map_Kd {}", texture.replace(char::is_control, "_"));
        }
    }
    let mut of_versions =
        wardrobe.of_bodies.iter().map(|places| places.iter().map(|&m| names[m].clone()).collect());
    let of_bodies = stream.bodies.iter().map(|b| of_versions.by_ref().take(b.versions.len()).collect());
    (text, of_bodies.collect())
}
