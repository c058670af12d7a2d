//! OFF in: the text format of Geomview with its prefixes for colours, normals and texture coordinates.
//!
//! `[ST][C][N]OFF`, then the counts, then a line per vertex (x y z, normal, colour, texture coordinates, as far as
//! the prefixes say) and a line per face (how many corners, the corners, perhaps a colour). `#` begins a comment.

use super::MeshFile;
use super::color::Coding;
use super::notes::{Notes, POINTS_ONLY};
use super::words::{lines, real, shown, whole, words};
use crate::error::{ErrorList, GeometryError};
use crate::poly::{Layer, MeshAttributes, PolyMesh, Polygons};
use glam::DVec3;

/// What the first word says that vertices have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OffPrefix {
    uvs: bool,
    colors: bool,
    normals: bool,
}

/// The prefixes of a first word; `None` if it is not one of OFF in three dimensions.
fn prefix(word: &[u8]) -> Option<OffPrefix> {
    let rest = word.strip_suffix(b"OFF")?;
    let (uvs, rest) = rest.strip_prefix(b"ST").map_or((false, rest), |r| (true, r));
    let (colors, rest) = rest.strip_prefix(b"C").map_or((false, rest), |r| (true, r));
    let (normals, rest) = rest.strip_prefix(b"N").map_or((false, rest), |r| (true, r));
    rest.is_empty().then_some(OffPrefix { uvs, colors, normals })
}

/// Whether the file begins as OFF does.
pub(super) fn sniff(bytes: &[u8]) -> bool {
    let first = lines(&bytes[..bytes.len().min(1024)])
        .map(|(_, line)| line)
        .find(|line| !line.is_empty() && line[0] != b'#');
    first.and_then(|line| words(line).next()).is_some_and(|word| word.len() < 12 && word.ends_with(b"OFF"))
}

/// Lines that have something on them besides comments.
fn content(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    lines(bytes)
        .map(|(n, line)| (n, line.split(|&b| b == b'#').next().unwrap_or_default().trim_ascii()))
        .filter(|(_, line)| !line.is_empty())
}

pub(super) fn read(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let one = |line: usize, message: String, help: &str| vec![GeometryError::at_line(line, message, help)];
    let mut rows = content(bytes);
    let mut first = rows.next();
    let mut said = OffPrefix::default();
    let mut title = "OFF".to_string();
    if let Some((number, line)) = first {
        let mut parts = words(line);
        let word = parts.next().unwrap_or_default();
        if word.ends_with(b"OFF") {
            title = shown(word);
            said = prefix(word).ok_or_else(|| {
                one(
                    number,
                    format!("`{title}` is an OFF file of another dimension"),
                    "export it as OFF in three dimensions",
                )
            })?;
            if parts.next() == Some(b"BINARY") {
                return Err(one(number, "this is a binary OFF file".into(), "export it as text, or as .ply"));
            }
            // The counts may be on the same line.
            let rest = line[word.len()..].trim_ascii();
            first = if rest.is_empty() { rows.next() } else { Some((number, rest)) };
        }
    }
    let counts = first.map(|(number, line)| (number, words(line).map(whole).collect::<Vec<_>>()));
    let (number, vertices, faces) = match counts {
        Some((n, c)) => match c[..] {
            [Some(v), Some(f), ..] if v >= 0 && f >= 0 => (n, v as u64, f as u64),
            _ => {
                return Err(one(
                    n,
                    "there are no counts".into(),
                    "write `vertices faces edges` after the first line",
                ));
            }
        },
        None => {
            return Err(vec![GeometryError::new(
                "there is nothing in it",
                "check that the export was not empty",
            )]);
        }
    };
    // A vertex takes six bytes at least, a face two.
    if u128::from(vertices) * 6 + u128::from(faces) * 2 > bytes.len() as u128 + 1 {
        return Err(one(
            number,
            format!(
                "the file says {vertices} vertices and {faces} faces, more than its {} bytes can hold",
                bytes.len()
            ),
            "export it again: it was cut off, or is being written, or its counts are wrong",
        ));
    }
    let mut draft = OffDraft { said, ..OffDraft::default() };
    for i in 0..vertices {
        let Some((line, text)) = rows.next() else {
            draft.cut_off("vertex", i, vertices);
            break;
        };
        draft.vertex(line, text);
    }
    for i in 0..faces {
        let Some((line, text)) = rows.next() else {
            draft.cut_off("face", i, faces);
            break;
        };
        draft.face(line, text, vertices);
    }
    if let Some((line, _)) = rows.next() {
        draft.notes.say(format!("what follows the last face is passed over (from line {line} on)"));
    }
    draft.finish(&title)
}

#[derive(Default)]
struct OffDraft {
    said: OffPrefix,
    positions: Vec<DVec3>,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
    colors: Vec<[f64; 4]>,
    faces: Polygons,
    values: Vec<f64>,
    errors: ErrorList,
    notes: Notes,
}

impl OffDraft {
    fn cut_off(&mut self, what: &str, index: u64, of: u64) {
        self.errors.push_at(
            format!("the file ends before {what} {} of {of}", index + 1),
            "export it again: it was cut off, or is being written, or its counts are wrong",
        );
    }

    fn vertex(&mut self, line: usize, text: &[u8]) {
        self.values.clear();
        for word in words(text) {
            let value = real(word).unwrap_or_else(|| {
                self.errors.push(line, format!("`{}` is not a number", shown(word)), "write `x y z`");
                0.0
            });
            self.values.push(value);
        }
        let said = self.said;
        let needed =
            3 + 3 * usize::from(said.normals) + 3 * usize::from(said.colors) + 2 * usize::from(said.uvs);
        let n = self.values.len();
        if n < needed {
            let message = format!("{n} numbers where a vertex has {needed}");
            self.errors.push(line, message, "see that the first word of the file says what vertices have");
            self.values.resize(needed, 0.0);
        }
        let v = &self.values;
        let position = DVec3::new(v[0], v[1], v[2]);
        if !position.is_finite() {
            let help =
                "positions must be finite numbers; look for a division by zero where the file was written";
            self.errors.push(line, format!("the vertex is at {position}"), help);
        }
        self.positions.push(position);
        let mut at = 3;
        let real = |x: f64| if (x as f32).is_finite() { x as f32 } else { 0.0 };
        if said.normals {
            self.normals.push([real(v[3]), real(v[4]), real(v[5])]);
            at += 3;
        }
        if said.colors {
            let alpha = v.get(at + 3).filter(|_| n > needed).copied().unwrap_or(f64::INFINITY);
            self.colors.push([v[at], v[at + 1], v[at + 2], alpha]);
            at += 3 + usize::from(n > needed);
        }
        if said.uvs {
            self.uvs.push([real(v[at]), real(v[at + 1])]);
            at += 2;
        }
        if n > at {
            self.notes.count("numbers after those of the vertex are passed over", || format!("line {line}"));
        }
    }

    fn face(&mut self, line: usize, text: &[u8], vertices: u64) {
        let mut parts = words(text);
        let size = parts.next().unwrap_or_default();
        let Some(n) = whole(size).filter(|&n| n >= 0) else {
            return self.errors.push(
                line,
                format!("`{}` is no number of corners", shown(size)),
                "write `3 a b c`",
            );
        };
        let mut face = Vec::new();
        for word in parts.by_ref().take(usize::try_from(n).unwrap_or(usize::MAX)) {
            match whole(word).and_then(|i| u64::try_from(i).ok()).filter(|&i| i < vertices) {
                Some(i) if u32::try_from(i).is_ok() => face.push(i as u32),
                _ => self.errors.push(
                    line,
                    format!("the face names vertex `{}` of {vertices}", shown(word)),
                    "vertices count from 0; the file may be damaged",
                ),
            }
        }
        if parts.next().is_some() {
            self.notes.count("colours of faces are passed over", || format!("line {line}"));
        }
        if n < 3 {
            self.notes.count("faces with fewer than three corners are left out", || format!("line {line}"));
        } else if self.errors.is_empty() && face.len() as i64 != n {
            let message = format!("the face has {} corners where it says {n}", face.len());
            self.errors.push(line, message, "write all corners of a face on one line");
        } else {
            self.faces.push(&face);
        }
    }

    fn finish(mut self, title: &str) -> Result<MeshFile, Vec<GeometryError>> {
        if !self.errors.is_empty() {
            return Err(self.errors.finish());
        }
        if self.positions.is_empty() {
            return Err(vec![GeometryError::new(
                "there are no vertices in it",
                "check that the export was not empty",
            )]);
        }
        let faces = self.faces;
        let mut attributes = MeshAttributes::default();
        if faces.is_empty() {
            self.notes.say(POINTS_ONLY);
        } else {
            if self.said.normals {
                attributes.normals = Layer::of_vertices(self.normals, &faces);
            }
            if self.said.uvs {
                attributes.uvs = Layer::of_vertices(self.uvs, &faces);
            }
        }
        // Geomview counts colours to 1, linear; other programs to 255.
        let bytes = self.colors.iter().any(|c| c.iter().any(|&x| x > 1.0 && x.is_finite()));
        let (coding, opaque) = if bytes { (Coding::Bytes, 255.0) } else { (Coding::Linear, 1.0) };
        for (i, [r, g, b, a]) in self.colors.into_iter().enumerate() {
            let color = coding.decode([r, g, b, if a == f64::INFINITY { opaque } else { a }]);
            attributes.colors.push(color.unwrap_or_else(|| {
                let kind = "vertex colours that are no numbers are dropped: white instead";
                self.notes.count(kind, || format!("vertex {i}"));
                [1.0; 4]
            }));
        }
        attributes.faces = faces;
        let mesh = PolyMesh { name: String::new(), positions: self.positions, attributes, animation: None };
        Ok(MeshFile { format: title.into(), meshes: vec![mesh], notes: self.notes.finish() })
    }
}
