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
use crate::poly::{MeshAttributes, PolyMesh, Polygons};
use crate::triangle::unit_normal;
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

fn contradicts(normal: DVec3, corners: [DVec3; 3]) -> bool {
    normal.normalize_or_zero().dot(unit_normal(corners)) < -0.1
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
        return Err(vec![no_triangles()]);
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
    let attributes = MeshAttributes { faces: Polygons::of_corners(corners), ..MeshAttributes::default() };
    let mesh = PolyMesh { name: title, positions, attributes, animation: None };
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
struct StlSolid {
    name: String,
    merger: Merger,
    faces: Polygons,
}

fn ascii(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let mut reader = AsciiReader::default();
    let mut last = 0;
    for (number, line) in lines(bytes) {
        let mut words = words(line);
        let keyword = words.next().unwrap_or_default().to_ascii_lowercase();
        last = if keyword.is_empty() { last } else { number };
        reader.statement(number, &keyword, line, words);
    }
    reader.finish(last)
}

/// An ASCII file being read.
#[derive(Default)]
struct AsciiReader {
    notes: Notes,
    errors: ErrorList,
    meshes: Vec<PolyMesh>,
    solid: StlSolid,
    /// Whether the solid is yet to end.
    inside: bool,
    /// Normal of the latest facet.
    normal: DVec3,
    /// Line and corners of the facet that is open.
    open: Option<(usize, Vec<DVec3>)>,
}

impl AsciiReader {
    fn statement<'a>(
        &mut self,
        number: usize,
        keyword: &[u8],
        line: &[u8],
        words: impl Iterator<Item = &'a [u8]>,
    ) {
        match keyword {
            b"" | b"outer" | b"endloop" => {}
            b"solid" => {
                self.end_solid();
                self.solid.name = name(&line[5..]);
                self.inside = true;
            }
            b"endsolid" => {
                self.end_solid();
                self.inside = false;
            }
            b"facet" => {
                let mut values = words.skip(1).map(|w| real(w).filter(|x| x.is_finite()).unwrap_or(0.0));
                let mut next = || values.next().unwrap_or(0.0);
                self.normal = DVec3::new(next(), next(), next());
                self.open = Some((number, Vec::with_capacity(3)));
            }
            b"vertex" => self.vertex(number, words),
            b"endfacet" => self.end_facet(),
            other => self.errors.push(
                number,
                format!("`{}` is no word of STL", shown(other)),
                "the file is damaged there",
            ),
        }
    }

    fn vertex<'a>(&mut self, number: usize, words: impl Iterator<Item = &'a [u8]>) {
        let mut position = [0.0; 3];
        let mut count = 0;
        for word in words.take(3) {
            match real(word).filter(|x| x.is_finite()) {
                Some(value) => position[count] = value,
                None => self.errors.push(number, format!("`{}` is no finite number", shown(word)), NAN),
            }
            count += 1;
        }
        if count < 3 {
            let message = format!("the vertex has {count} coordinates");
            self.errors.push(number, message, "write `vertex x y z`");
        }
        match &mut self.open {
            Some((_, corners)) => corners.push(DVec3::from_array(position)),
            None => self.errors.push(
                number,
                "a vertex outside of a facet",
                "write `facet normal x y z` before it",
            ),
        }
    }

    fn end_facet(&mut self) {
        let Some((begun, corners)) = self.open.take() else { return };
        let &[a, b, c, ..] = corners.as_slice() else {
            let message = format!("the facet has {} vertices", corners.len());
            self.errors.push(begun, message, "a facet has three");
            return;
        };
        if contradicts(self.normal, [a, b, c]) {
            self.notes.count(CONTRADICTED, || format!("line {begun}"));
        }
        let face: Vec<u32> = corners.iter().map(|&p| self.solid.merger.vertex(p)).collect();
        self.solid.faces.push(&face);
    }

    fn end_solid(&mut self) {
        let StlSolid { name, merger, faces } = std::mem::take(&mut self.solid);
        if !faces.is_empty() {
            let attributes = MeshAttributes { faces, ..MeshAttributes::default() };
            self.meshes.push(PolyMesh { name, positions: merger.positions, attributes, animation: None });
        } else if !name.is_empty() {
            let example = || format!("`{}`", shown(name.as_bytes()));
            self.notes.count("solids without triangles are left out", example);
        }
    }

    /// The meshes; `last` is the last line that says anything.
    fn finish(mut self, last: usize) -> Result<MeshFile, Vec<GeometryError>> {
        if self.inside {
            self.notes.say("the file ends without `endsolid`");
        }
        if let Some((begun, _)) = self.open {
            let help = "export it again: it was cut off, or is being written";
            self.errors.push(last, format!("the file ends within the facet of line {begun}"), help);
        }
        self.end_solid();
        if !self.errors.is_empty() {
            return Err(self.errors.finish());
        }
        if self.meshes.is_empty() {
            return Err(vec![no_triangles()]);
        }
        Ok(MeshFile { format: "STL, ASCII".into(), meshes: self.meshes, notes: self.notes.finish() })
    }
}

fn no_triangles() -> GeometryError {
    GeometryError::new("there are no triangles in it", "check that the export was not empty")
}
