//! Wavefront OBJ in: statements to lists of vertices, corners and materials, with every error and its line.
//!
//! Written here rather than taken from a crate because those stop at the first error and drop line numbers.
//! Vertex colours are taken as sRGB, as Blender and MeshLab write them. What an index names is known at the end
//! only, because a face may come before its vertices; `obj_pieces` then parts the lists into objects.

use super::notes::Notes;
use super::words::{lines, name, real, shown, whole, words};
use crate::error::{ErrorList, GeometryError};
use crate::poly::Polygons;
use glam::DVec3;
use std::borrow::Cow;
use std::collections::HashMap;

/// No texture coordinate, normal or material.
pub(super) const NONE: u32 = u32::MAX;

/// An OBJ file before it is parted into objects; all indices count from 0 and through the whole file.
#[derive(Default)]
pub(crate) struct ObjDraft {
    pub positions: Vec<DVec3>,
    /// Red, green, blue as written, for each vertex; empty if no vertex has any, NaN for those that have not.
    pub colors: Vec<[f64; 3]>,
    pub uvs: Vec<[f32; 2]>,
    pub normals: Vec<[f32; 3]>,
    pub faces: Polygons,
    /// Per corner, empty if no corner has any; [`NONE`] for those that have not.
    pub uv_corners: Vec<u32>,
    pub normal_corners: Vec<u32>,
    /// For each face the line of the file it is from, counted from 1.
    pub face_lines: Vec<u32>,
    /// Material of the faces from a face on.
    pub material_runs: Vec<(u32, u32)>,
    pub materials: Vec<String>,
    pub libraries: Vec<String>,
    /// Objects and groups in order of first mention.
    pub objects: Names,
    pub groups: Names,
    pub notes: Notes,
}

/// Names that statements begin and take up again.
#[derive(Default)]
pub(crate) struct Names {
    pub names: Vec<String>,
    index: HashMap<String, u32>,
    /// From which vertex and face on which one is meant.
    pub runs: Vec<(u32, u32, u32)>,
}

impl Names {
    fn begin(&mut self, name: String, vertex: usize, face: usize) {
        let next = self.names.len() as u32;
        let which = *self.index.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.runs.push((vertex as u32, face as u32, which));
    }
}

/// Reads OBJ text; every error at once, up to a cap.
pub(crate) fn draft(bytes: &[u8]) -> Result<ObjDraft, Vec<GeometryError>> {
    let mut reader = ObjReader::default();
    let mut lines = lines(bytes);
    while let Some((number, line)) = lines.next() {
        if line.last() != Some(&b'\\') {
            reader.statement(number, line);
            continue;
        }
        // A backslash at the end joins the next line; errors name the line the statement began on.
        let mut line = Cow::Borrowed(line);
        while line.last() == Some(&b'\\') {
            let joined = line.to_mut();
            joined.pop();
            joined.push(b' ');
            let Some((_, next)) = lines.next() else { break };
            joined.extend_from_slice(next);
        }
        reader.statement(number, &line);
    }
    reader.finish()
}

#[derive(Default)]
struct ObjReader {
    draft: ObjDraft,
    face: Vec<u32>,
    material: HashMap<String, u32>,
    /// Corners that name vertices not yet declared: line and index.
    forward: Vec<(u32, u32)>,
    errors: ErrorList,
}

impl ObjReader {
    fn statement(&mut self, line: usize, text: &[u8]) {
        let space = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (keyword, rest) = text.split_at(space);
        let values = || rest.split(|&b| b == b'#').next().unwrap_or_default();
        match keyword {
            b"" => {}
            b"v" => self.vertex(line, values()),
            b"f" | b"fo" => self.polygon(line, values()),
            b"vt" => {
                let [u, v, _] = self.layer_values(line, values(), "texture coordinates");
                self.draft.uvs.push([u, v]);
            }
            b"vn" => {
                let normal = self.layer_values(line, values(), "normals");
                self.draft.normals.push(normal);
            }
            b"o" | b"g" => {
                let names = if keyword == b"o" { &mut self.draft.objects } else { &mut self.draft.groups };
                names.begin(own_name(rest), self.draft.positions.len(), self.draft.faces.len());
            }
            b"usemtl" => {
                let own = own_name(rest);
                // How programs write that there is none.
                let none = ["", "none", "None", "(null)"].contains(&own.as_str());
                let which = if none {
                    NONE
                } else {
                    let next = self.draft.materials.len() as u32;
                    *self.material.entry(own).or_insert_with_key(|own| {
                        self.draft.materials.push(own.clone());
                        next
                    })
                };
                self.draft.material_runs.push((self.draft.faces.len() as u32, which));
            }
            b"mtllib" => self.draft.libraries.push(own_name(rest)),
            b"l" | b"p" => {
                let kind = if keyword == b"l" { "lines (`l`)" } else { "points (`p`)" };
                self.draft.notes.count(&format!("{kind} are passed over"), || format!("line {line}"));
            }
            b"vp" | b"cstype" | b"deg" | b"bmat" | b"step" | b"curv" | b"curv2" | b"surf" | b"parm"
            | b"trim" | b"hole" | b"scrv" | b"sp" | b"end" | b"con" => {
                self.draft
                    .notes
                    .count("free-form curves and surfaces are passed over: convert them to polygons", || {
                        format!("line {line}")
                    });
            }
            // Smoothing and display state that says nothing about the mesh.
            b"s" | b"mg" | b"bevel" | b"c_interp" | b"d_interp" | b"lod" | b"shadow_obj" | b"trace_obj"
            | b"ctech" | b"stech" | b"maplib" | b"usemap" => {}
            _ if keyword[0] == b'#' => {}
            _ => self.draft.notes.count("statements that are not of OBJ are passed over", || {
                format!("`{}` at line {line}", shown(keyword))
            }),
        }
    }

    fn vertex(&mut self, line: usize, text: &[u8]) {
        let mut position = [0.0; 3];
        let mut count = 0;
        let mut words = words(text);
        for word in words.by_ref().take(3) {
            match real(word) {
                Some(value) if value.is_finite() => position[count] = value,
                Some(_) => self.errors.push(
                    line,
                    format!("vertex coordinate `{}` is not finite", shown(word)),
                    "positions must be finite numbers; look for a division by zero where the file was written",
                ),
                None => self.errors.push(
                    line,
                    format!("vertex coordinate `{}` is not a number", shown(word)),
                    "write `v x y z`, with a point for decimals",
                ),
            }
            count += 1;
        }
        if count < 3 {
            self.errors.push(line, format!("the vertex has {count} coordinates"), "write `v x y z`");
        }
        let mut more = [0.0; 4];
        let mut extra = 0;
        for (word, slot) in words.zip(&mut more) {
            *slot = real(word).unwrap_or(f64::NAN);
            extra += 1;
        }
        // Four numbers are a position and a weight, six a position and a colour, seven all three.
        if let Some(color) = more.get(extra - 3 * usize::from(extra > 2)..extra).filter(|c| c.len() == 3) {
            if color.iter().any(|c| !c.is_finite()) {
                self.draft
                    .notes
                    .count("vertex colours that are no numbers are dropped: white instead", || {
                        format!("line {line}")
                    });
            }
            self.draft.colors.resize(self.draft.positions.len(), [f64::NAN; 3]);
            self.draft.colors.push([color[0], color[1], color[2]]);
        }
        // Kept even when wrong, so that the faces after it still count the same and are not blamed.
        self.draft.positions.push(DVec3::from_array(position));
    }

    /// Up to three numbers; what is none is 0 and noted, because the mesh is whole without.
    fn layer_values(&mut self, line: usize, text: &[u8], what: &str) -> [f32; 3] {
        let mut values = [0.0; 3];
        for (slot, word) in values.iter_mut().zip(words(text)) {
            *slot = real(word).map_or(f32::NAN, |v| v as f32);
        }
        if values.iter().any(|v| !v.is_finite()) {
            let kind = format!("{what} that are no finite numbers are taken as 0");
            self.draft.notes.count(&kind, || format!("line {line}"));
            return [0.0; 3];
        }
        values
    }

    fn polygon(&mut self, line: usize, text: &[u8]) {
        self.face.clear();
        let start = self.draft.faces.corners().len();
        let mut count = 0;
        for word in words(text) {
            count += 1;
            let mut parts = word.split(|&b| b == b'/');
            let Some(vertex) = self.vertex_index(line, word, parts.next().unwrap_or_default()) else {
                continue;
            };
            let corner = start + self.face.len();
            self.face.push(vertex);
            let layers = [
                (&mut self.draft.uv_corners, self.draft.uvs.len(), "texture coordinate"),
                (&mut self.draft.normal_corners, self.draft.normals.len(), "normal"),
            ];
            for ((corners, declared, what), part) in layers.into_iter().zip(parts) {
                if part.is_empty() {
                    continue;
                }
                let index = match whole(part) {
                    Some(i) if i > 0 => u32::try_from(i - 1).ok(),
                    Some(i) if i < 0 => (declared as i64).checked_add(i).and_then(|i| u32::try_from(i).ok()),
                    _ => None,
                };
                if index.is_none() {
                    let kind = format!("{what} indices that name nothing are left out");
                    self.draft.notes.count(&kind, || format!("line {line}"));
                }
                corners.resize(corner, NONE);
                corners.push(index.unwrap_or(NONE));
            }
        }
        if count < 3 {
            self.errors.push(
                line,
                format!("the face has {count} {}", if count == 1 { "vertex" } else { "vertices" }),
                "a face needs at least 3 vertices; remove the line or write edges as `l a b`",
            );
            self.draft.uv_corners.truncate(start);
            self.draft.normal_corners.truncate(start);
            return;
        }
        self.draft.faces.push(&self.face);
        self.draft.face_lines.push(line as u32);
    }

    fn vertex_index(&mut self, line: usize, word: &[u8], index: &[u8]) -> Option<u32> {
        let declared = self.draft.positions.len();
        match whole(index) {
            Some(0) => self.errors.push(
                line,
                "vertex index 0 in a face",
                "indices start at 1 (or at -1, counting back from the latest vertex); add 1 if the file counts from 0",
            ),
            Some(i) if i > 0 => match u32::try_from(i - 1) {
                Ok(i) if (i as usize) < declared => return Some(i),
                Ok(i) => {
                    self.forward.push((line as u32, i));
                    return Some(i);
                }
                Err(_) => self.forward.push((line as u32, NONE)),
            },
            Some(i) => match (declared as i64).checked_add(i).filter(|&i| i >= 0) {
                Some(resolved) => return Some(resolved as u32),
                None => self.errors.push(
                    line,
                    format!("vertex index {i} counts back past the first of {declared} vertices"),
                    "negative indices count back from the latest vertex above the face",
                ),
            },
            None => self.errors.push(
                line,
                format!("`{}` is not a vertex index", shown(word)),
                "write faces as `f 1 2 3`, `f 1/1 2/2 3/3`, `f 1//1 2//2 3//3` or `f 1/1/1 2/2/2 3/3/3`",
            ),
        }
        None
    }

    fn finish(mut self) -> Result<ObjDraft, Vec<GeometryError>> {
        let count = self.draft.positions.len();
        if count == 0 && self.errors.is_empty() {
            return Err(vec![GeometryError::new(
                "there are no vertices in it",
                "an OBJ file has lines `v x y z`; check that this is one and that the export was not empty",
            )]);
        }
        let corners = self.draft.faces.corners().len();
        if u32::try_from(count.max(corners)).is_err() {
            return Err(vec![GeometryError::new(
                format!(
                    "{count} vertices with {corners} corners of faces are more than a mesh can hold (4,294,967,295)"
                ),
                "split the mesh into several files",
            )]);
        }
        for &(line, i) in self.forward.iter().filter(|f| f.1 as usize >= count) {
            let shown = if i == NONE { "beyond 32 bits".to_string() } else { (u64::from(i) + 1).to_string() };
            self.errors.push(
                line as usize,
                format!("vertex index {shown} but the file has {count} vertices"),
                "indices start at 1 and name `v` lines; the file may be cut off, or vertices were removed",
            );
        }
        if !self.errors.is_empty() {
            return Err(self.errors.finish());
        }
        let draft = &mut self.draft;
        if !draft.colors.is_empty() {
            draft.colors.resize(count, [f64::NAN; 3]);
        }
        let layers = [
            (&mut draft.uv_corners, draft.uvs.len(), "texture coordinate"),
            (&mut draft.normal_corners, draft.normals.len(), "normal"),
        ];
        for (layer, values, what) in layers {
            if layer.is_empty() {
                continue;
            }
            layer.resize(corners, NONE);
            for (c, i) in layer.iter_mut().enumerate().filter(|(_, i)| **i != NONE && **i as usize >= values)
            {
                *i = NONE;
                let kind = format!("{what} indices that name nothing are left out");
                draft.notes.count(&kind, || format!("corner {c}"));
            }
            if layer.iter().all(|&i| i == NONE) {
                layer.clear();
            }
        }
        Ok(self.draft)
    }
}

/// A name to the end of the line; a comment after it begins with a space.
fn own_name(rest: &[u8]) -> String {
    let comment = rest.windows(2).position(|w| w[0].is_ascii_whitespace() && w[1] == b'#');
    name(&rest[..comment.unwrap_or(rest.len())])
}
