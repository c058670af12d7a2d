//! STL in, binary and text: triangles whose corners at the same position become one vertex.
//!
//! The format has no vertices, only three positions per triangle. Positions that are equal, bit for bit (zero has one
//! sign here), are merged, so that neighbours are neighbours; vertices are in order of first use. The order of
//! corners says which side is outside; the facet normals are only compared with it.

use super::MeshFile;
use super::merge::Merge;
use super::notes::Notes;
use super::words::{lines, name, real, shown, words};
use crate::error::{ErrorList, GeometryError};
use crate::poly::{Coat, PolyMesh, Polygons};
use glam::DVec3;

const HEADER: usize = 84;
const TRIANGLE: usize = 50;
const POINT: usize = 12;

/// What bytes make of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stl {
    Text,
    Binary,
}

/// Which STL it is, by content: binary files may begin with "solid" too. `None` if it is neither for sure.
pub(super) fn sniff(bytes: &[u8]) -> Option<Stl> {
    if count(bytes).is_some_and(|n| HEADER as u64 + TRIANGLE as u64 * n == bytes.len() as u64 && n > 0) {
        return Some(Stl::Binary);
    }
    let start = bytes.trim_ascii_start();
    let first = &start[..start.len().min(1024)];
    let word = |w: &[u8]| first.windows(w.len()).any(|x| x.eq_ignore_ascii_case(w));
    let solid = first.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    (solid && (word(b"facet") || word(b"endsolid"))).then_some(Stl::Text)
}

fn count(bytes: &[u8]) -> Option<u64> {
    bytes.get(80..HEADER).map(|b| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]])))
}

/// Reads a file, whose memory serves as working space.
pub(super) fn read(bytes: Vec<u8>) -> Result<MeshFile, Vec<GeometryError>> {
    let start = bytes.trim_ascii_start();
    let solid = start.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    let text = start.iter().take(1024).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace() || *b > 127);
    match sniff(&bytes) {
        Some(Stl::Binary) => binary(bytes),
        Some(Stl::Text) => ascii(&bytes),
        None if solid && text => ascii(&bytes),
        None => binary(bytes),
    }
}

/// Vertices by position.
#[derive(Default)]
struct Merger {
    positions: Vec<DVec3>,
    merge: Merge,
}

impl Merger {
    fn vertex(&mut self, p: DVec3) -> u32 {
        // Adding zero makes a negative zero a plain one.
        let p = p + DVec3::ZERO;
        let bits = |p: DVec3| p.to_array().map(f64::to_bits);
        let which = self.merge.number(&bits(p), |n| bits(self.positions[n as usize]));
        if which as usize == self.positions.len() {
            self.positions.push(p);
        }
        which
    }
}

fn contradicts(normal: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let own = (b - a).cross(c - a).normalize_or_zero();
    normal.normalize_or_zero().dot(own) < -0.1
}

const CONTRADICTED: &str =
    "facet normals point the other way than the order of corners says: the order is kept";
const NAN: &str = "positions must be finite numbers; look for a division by zero where the file was written";

fn binary(mut bytes: Vec<u8>) -> Result<MeshFile, Vec<GeometryError>> {
    let Some(count) = count(&bytes) else {
        return Err(vec![GeometryError::new(
            format!("this is no STL file: it has {} bytes and does not begin with `solid`", bytes.len()),
            "a binary STL file has a header of 84 bytes; check that the export was not cut off or empty",
        )]);
    };
    let body = bytes.len() - HEADER;
    let whole = (body / TRIANGLE) as u64;
    if whole < count {
        return Err(vec![GeometryError::new(
            format!("the header says {count} triangles; there are {whole} in the file"),
            "export it again: it was cut off, or is being written, or it is no STL file",
        )]);
    }
    if count == 0 {
        return Err(vec![GeometryError::new(
            "there are no triangles in it",
            "check that the export was not empty",
        )]);
    }
    if count > u64::from(u32::MAX / 3) {
        return Err(vec![GeometryError::new(
            format!("{count} triangles have more corners than can be counted"),
            "split the mesh into several files",
        )]);
    }
    let count = count as usize;
    let mut notes = Notes::default();
    if count * TRIANGLE < body {
        notes.say(format!("{} bytes after the last triangle are passed over", body - count * TRIANGLE));
    }
    let title = bytes[..80].split(|&b| b == 0).next().unwrap_or_default();
    let readable = title.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
    let title = if readable { name(title) } else { String::new() };
    let mut errors = ErrorList::default();
    let mut merge = Merge::default();
    let mut corners: Vec<u32> = Vec::with_capacity(3 * count);
    for t in 0..count {
        let facet = HEADER + t * TRIANGLE;
        let places = [12, 24, 36].map(|at| point(&bytes, facet + at));
        let triangle = places.map(position);
        if let Some(bad) = triangle.iter().find(|p| !p.is_finite()) {
            errors.push_at(format!("a corner of triangle {t} is at {bad}"), NAN);
        }
        if contradicts(position(point(&bytes, facet)), triangle) {
            notes.count(CONTRADICTED, || format!("triangle {t}"));
        }
        if bytes[facet + 48..facet + 50] != [0, 0] {
            notes.count("attribute bytes (colours in some programs) are passed over", || {
                format!("triangle {t}")
            });
        }
        // The vertices are kept at the start of the file's own bytes, which have been read that far: those of all
        // triangles up to this one are shorter than the triangles.
        for place in places {
            let next = merge.count();
            let vertex = merge.number(&place, |n| point(&bytes, POINT * n as usize));
            if vertex == next {
                let at = POINT * vertex as usize;
                bytes[at..at + POINT].copy_from_slice(place.map(u32::to_le_bytes).as_flattened());
            }
            corners.push(vertex);
        }
    }
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    let vertices = merge.count() as usize;
    drop(merge);
    bytes.truncate(POINT * vertices);
    bytes.shrink_to_fit();
    let positions = (0..vertices).map(|v| position(point(&bytes, POINT * v))).collect();
    let coat = Coat { faces: Polygons::of_corners(corners), ..Coat::default() };
    let mesh = PolyMesh { name: title, positions, coat, motion: None };
    Ok(MeshFile { format: "STL, binary".into(), meshes: vec![mesh], notes: notes.finish() })
}

/// The bits of the three numbers at a place in the file; zero has one sign.
fn point(bytes: &[u8], at: usize) -> [u32; 3] {
    [at, at + 4, at + 8].map(|k| {
        let bits = u32::from_le_bytes([bytes[k], bytes[k + 1], bytes[k + 2], bytes[k + 3]]);
        if f32::from_bits(bits) == 0.0 { 0 } else { bits }
    })
}

fn position(bits: [u32; 3]) -> DVec3 {
    DVec3::from_array(bits.map(|b| f64::from(f32::from_bits(b))))
}

/// A solid being read.
#[derive(Default)]
struct Solid {
    name: String,
    merger: Merger,
    faces: Polygons,
}

fn ascii(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let mut notes = Notes::default();
    let mut errors = ErrorList::default();
    let mut meshes = Vec::new();
    let mut solid = Solid::default();
    let mut normal = DVec3::ZERO;
    // Corners of the facet that is open, and its line.
    let mut open: Option<(usize, Vec<DVec3>)> = None;
    let mut inside = false;
    let mut last = 0;
    for (number, line) in lines(bytes) {
        let mut parts = words(line);
        let keyword = parts.next().unwrap_or_default().to_ascii_lowercase();
        last = if keyword.is_empty() { last } else { number };
        match keyword.as_slice() {
            b"" | b"outer" | b"endloop" => {}
            b"solid" => {
                keep(&mut solid, &mut meshes, &mut notes);
                solid.name = name(&line[5..]);
                inside = true;
            }
            b"endsolid" => {
                keep(&mut solid, &mut meshes, &mut notes);
                inside = false;
            }
            b"facet" => {
                let mut values = parts.skip(1).map(|w| real(w).filter(|x| x.is_finite()).unwrap_or(0.0));
                let mut next = || values.next().unwrap_or(0.0);
                normal = DVec3::new(next(), next(), next());
                open = Some((number, Vec::with_capacity(3)));
            }
            b"vertex" => {
                let mut position = [0.0; 3];
                let mut count = 0;
                for word in parts.take(3) {
                    match real(word).filter(|x| x.is_finite()) {
                        Some(value) => position[count] = value,
                        None => errors.push(number, format!("`{}` is no finite number", shown(word)), NAN),
                    }
                    count += 1;
                }
                if count < 3 {
                    errors.push(
                        number,
                        format!("the vertex has {count} coordinates"),
                        "write `vertex x y z`",
                    );
                }
                match &mut open {
                    Some((_, corners)) => corners.push(DVec3::from_array(position)),
                    None => errors.push(
                        number,
                        "a vertex outside of a facet",
                        "write `facet normal x y z` before it",
                    ),
                }
            }
            b"endfacet" => {
                let Some((begun, corners)) = open.take() else { continue };
                if let &[a, b, c, ..] = corners.as_slice() {
                    if contradicts(normal, [a, b, c]) {
                        notes.count(CONTRADICTED, || format!("line {begun}"));
                    }
                    let face: Vec<u32> = corners.iter().map(|&p| solid.merger.vertex(p)).collect();
                    solid.faces.push(&face);
                } else {
                    errors.push(
                        begun,
                        format!("the facet has {} vertices", corners.len()),
                        "a facet has three",
                    );
                }
            }
            other => errors.push(
                number,
                format!("`{}` is no word of STL", shown(other)),
                "the file is damaged there",
            ),
        }
    }
    if inside {
        notes.say("the file ends without `endsolid`");
    }
    if let Some((begun, _)) = open {
        let help = "export it again: it was cut off, or is being written";
        errors.push(last, format!("the file ends within the facet of line {begun}"), help);
    }
    keep(&mut solid, &mut meshes, &mut notes);
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    if meshes.is_empty() {
        return Err(vec![GeometryError::new(
            "there are no triangles in it",
            "check that the export was not empty",
        )]);
    }
    Ok(MeshFile { format: "STL, ASCII".into(), meshes, notes: notes.finish() })
}

/// Ends a solid.
fn keep(solid: &mut Solid, meshes: &mut Vec<PolyMesh>, notes: &mut Notes) {
    let Solid { name, merger, faces } = std::mem::take(solid);
    if !faces.is_empty() {
        let coat = Coat { faces, ..Coat::default() };
        meshes.push(PolyMesh { name, positions: merger.positions, coat, motion: None });
    } else if !name.is_empty() {
        notes.count("solids without triangles are left out", || format!("`{}`", shown(name.as_bytes())));
    }
}
