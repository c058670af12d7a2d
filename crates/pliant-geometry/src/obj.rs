//! Wavefront OBJ in: positions and faces, with every error of a file at once and its line.
//!
//! Written here rather than taken from a crate because those stop at the first error and drop line numbers.
//! Texture coordinates, normals, colours, materials and groups are passed over.

use crate::error::{ErrorList, GeometryError, read_bytes};
use crate::mesh::TriMesh;
use crate::points::shorten;
use crate::triangulate::triangulate;
use glam::DVec3;
use std::borrow::Cow;
use std::path::Path;

/// What an OBJ file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObjMesh {
    /// Vertices in file order, and faces cut into triangles. No triangles means a point cloud.
    pub mesh: TriMesh,
    /// Lines of faces that were left out because they name fewer than three different vertices.
    pub degenerate_faces: Vec<usize>,
}

/// Reads an OBJ file; every error at once, up to a cap.
pub fn read_obj(path: &Path) -> Result<ObjMesh, Vec<GeometryError>> {
    let bytes = read_bytes(path)?;
    parse_obj(&bytes).map_err(|errors| errors.into_iter().map(|e| e.in_file(path)).collect())
}

/// Reads OBJ text from memory; every error at once, up to a cap. Bytes, because comments and names in
/// real files are in any encoding.
pub fn parse_obj(bytes: &[u8]) -> Result<ObjMesh, Vec<GeometryError>> {
    let mut reader = Reader::default();
    let mut lines = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).split(|&b| b == b'\n').enumerate();
    while let Some((index, line)) = lines.next() {
        let mut line = Cow::Borrowed(line.trim_ascii_end());
        // A backslash at the end joins the next line; errors name the line the statement began on.
        while line.last() == Some(&b'\\') {
            let joined = line.to_mut();
            joined.pop();
            joined.push(b' ');
            let Some((_, next)) = lines.next() else { break };
            joined.extend_from_slice(next.trim_ascii_end());
        }
        reader.statement(index + 1, &String::from_utf8_lossy(&line));
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    positions: Vec<DVec3>,
    /// Resolved indices of all faces in one list; out of range ones are found at the end, because a face
    /// may come before its vertices.
    corners: Vec<i64>,
    /// Per face: its line and where its corners end.
    faces: Vec<(usize, usize)>,
    errors: ErrorList,
}

impl Reader {
    fn statement(&mut self, line: usize, text: &str) {
        let mut words = text.split('#').next().unwrap_or_default().split_whitespace();
        match words.next() {
            Some("v") => self.vertex(line, words),
            Some("f" | "fo") => self.face(line, words),
            _ => {}
        }
    }

    fn vertex<'a>(&mut self, line: usize, words: impl Iterator<Item = &'a str>) {
        let mut position = [0.0; 3];
        let mut count = 0;
        // Only three: a fourth number is a weight, and three more are a colour, both of no use here.
        for word in words.take(3) {
            match word.parse::<f64>() {
                Ok(value) if value.is_finite() => position[count] = value,
                Ok(_) => self.errors.push(
                    line,
                    format!("vertex coordinate `{word}` is not finite"),
                    "positions must be finite numbers; look for a division by zero where the file was written",
                ),
                Err(_) => self.errors.push(
                    line,
                    format!("vertex coordinate `{}` is not a number", shorten(word)),
                    "write `v x y z`, with a point for decimals",
                ),
            }
            count += 1;
        }
        if count < 3 {
            self.errors.push(line, format!("the vertex has {count} coordinates"), "write `v x y z`");
        }
        // Kept even when wrong, so that the faces after it still count the same and are not blamed.
        self.positions.push(DVec3::from_array(position));
    }

    fn face<'a>(&mut self, line: usize, words: impl Iterator<Item = &'a str>) {
        let start = self.corners.len();
        let mut count = 0;
        for word in words {
            count += 1;
            let index = word.split('/').next().unwrap_or_default();
            match index.parse::<i64>() {
                Ok(0) => self.errors.push(
                    line,
                    "vertex index 0 in a face",
                    "indices start at 1 (or at -1, counting back from the latest vertex); add 1 if the file counts from 0",
                ),
                Ok(i) if i > 0 => self.corners.push(i - 1),
                Ok(i) => match (self.positions.len() as i64).checked_add(i) {
                    Some(resolved) if resolved >= 0 => self.corners.push(resolved),
                    _ => self.errors.push(
                        line,
                        format!("vertex index {i} counts back past the first of {} vertices", self.positions.len()),
                        "negative indices count back from the latest vertex above the face",
                    ),
                },
                Err(_) => self.errors.push(
                    line,
                    format!("`{}` is not a vertex index", shorten(word)),
                    "write faces as `f 1 2 3`, `f 1/1 2/2 3/3`, `f 1//1 2//2 3//3` or `f 1/1/1 2/2/2 3/3/3`",
                ),
            }
        }
        if count < 3 {
            self.errors.push(
                line,
                format!("the face has {count} {}", if count == 1 { "vertex" } else { "vertices" }),
                "a face needs at least 3 vertices; remove the line or write edges as `l a b`",
            );
            self.corners.truncate(start);
        }
        self.faces.push((line, self.corners.len()));
    }

    fn finish(mut self) -> Result<ObjMesh, Vec<GeometryError>> {
        let count = self.positions.len();
        if count == 0 && self.errors.is_empty() {
            return Err(vec![GeometryError::new(
                "there are no vertices in it",
                "an OBJ file has lines `v x y z`; check that this is one and that the export was not empty",
            )]);
        }
        if u32::try_from(count).is_err() {
            return Err(vec![GeometryError::new(
                format!("{count} vertices are more than a mesh can hold (4,294,967,295)"),
                "split the mesh into several files",
            )]);
        }
        let mut start = 0;
        for &(line, end) in &self.faces {
            for &i in &self.corners[start..end] {
                if i >= count as i64 {
                    self.errors.push(
                        line,
                        format!("vertex index {} but the file has {count} vertices", i.saturating_add(1)),
                        "indices start at 1 and name `v` lines; the file may be cut off, or vertices were removed",
                    );
                }
            }
            start = end;
        }
        if !self.errors.is_empty() {
            return Err(self.errors.finish());
        }
        let mut triangles = Vec::new();
        let mut degenerate_faces = Vec::new();
        let mut polygon: Vec<u32> = Vec::new();
        let mut start = 0;
        for &(line, end) in &self.faces {
            polygon.clear();
            polygon.extend(self.corners[start..end].iter().map(|&i| i as u32));
            polygon.dedup();
            while polygon.len() > 1 && polygon.first() == polygon.last() {
                polygon.pop();
            }
            let before = triangles.len();
            triangulate(&polygon, &self.positions, &mut triangles);
            triangles[before..].iter_mut().flatten().for_each(|corner| *corner = polygon[*corner as usize]);
            if triangles.len() == before {
                degenerate_faces.push(line);
            }
            start = end;
        }
        Ok(ObjMesh { mesh: TriMesh { positions: self.positions, triangles }, degenerate_faces })
    }
}
