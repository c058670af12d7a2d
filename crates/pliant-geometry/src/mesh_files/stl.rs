//! STL in, binary and text: triangles whose corners at the same position become one vertex.
//!
//! The format has no vertices, only three positions per triangle. Positions that are equal, bit for bit (zero has one
//! sign here), are merged, so that neighbours are neighbours; vertices are in order of first use. The order of
//! corners says which side is outside; the facet normals are only compared with it.

use super::MeshFile;
use super::notes::Notes;
use super::words::{lines, name, real, shown, words};
use crate::error::{ErrorList, GeometryError};
use crate::poly::{Coat, PolyMesh, Polygons};
use glam::DVec3;
use std::collections::HashMap;

const HEADER: usize = 84;
const TRIANGLE: usize = 50;

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

pub(super) fn read(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let start = bytes.trim_ascii_start();
    let solid = start.get(..5).is_some_and(|w| w.eq_ignore_ascii_case(b"solid"));
    let text = start.iter().take(1024).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace() || *b > 127);
    match sniff(bytes) {
        Some(Stl::Binary) => binary(bytes),
        Some(Stl::Text) => ascii(bytes),
        None if solid && text => ascii(bytes),
        None => binary(bytes),
    }
}

/// Vertices by position.
#[derive(Default)]
struct Merger {
    positions: Vec<DVec3>,
    index: HashMap<[u64; 3], u32>,
}

impl Merger {
    fn vertex(&mut self, p: DVec3) -> u32 {
        let next = self.positions.len() as u32;
        // Adding zero makes a negative zero a plain one.
        let p = p + DVec3::ZERO;
        let which = *self.index.entry(p.to_array().map(f64::to_bits)).or_insert(next);
        if which == next {
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

fn binary(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let Some(count) = count(bytes) else {
        return Err(vec![GeometryError::new(
            format!("this is no STL file: it has {} bytes and does not begin with `solid`", bytes.len()),
            "a binary STL file has a header of 84 bytes; check that the export was not cut off or empty",
        )]);
    };
    let body = &bytes[HEADER..];
    let whole = (body.len() / TRIANGLE) as u64;
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
    let mut notes = Notes::default();
    let used = count as usize * TRIANGLE;
    if used < body.len() {
        notes.say(format!("{} bytes after the last triangle are passed over", body.len() - used));
    }
    let mut errors = ErrorList::default();
    let mut merger = Merger::default();
    let mut corners: Vec<u32> = Vec::with_capacity(3 * count as usize);
    for (t, facet) in body[..used].chunks_exact(TRIANGLE).enumerate() {
        let real = |at: usize| {
            f64::from(f32::from_le_bytes([facet[at], facet[at + 1], facet[at + 2], facet[at + 3]]))
        };
        let vector = |at: usize| DVec3::new(real(at), real(at + 4), real(at + 8));
        let triangle = [vector(12), vector(24), vector(36)];
        if let Some(bad) = triangle.iter().find(|p| !p.is_finite()) {
            errors.push_at(format!("a corner of triangle {t} is at {bad}"), NAN);
        }
        if contradicts(vector(0), triangle) {
            notes.count(CONTRADICTED, || format!("triangle {t}"));
        }
        if facet[48] != 0 || facet[49] != 0 {
            notes.count("attribute bytes (colours in some programs) are passed over", || {
                format!("triangle {t}")
            });
        }
        corners.extend(triangle.map(|p| merger.vertex(p)));
    }
    if !errors.is_empty() {
        return Err(errors.finish());
    }
    let title = bytes[..80].split(|&b| b == 0).next().unwrap_or_default();
    let readable = title.iter().all(|b| b.is_ascii_graphic() || *b == b' ');
    let title = if readable { name(title) } else { String::new() };
    let sizes = vec![3; count as usize];
    let faces = Polygons::from_sizes(&sizes, corners).unwrap_or_default();
    let coat = Coat { faces, ..Coat::default() };
    let mesh = PolyMesh { name: title, positions: merger.positions, coat, motion: None };
    Ok(MeshFile { format: "STL, binary".into(), meshes: vec![mesh], notes: notes.finish() })
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
