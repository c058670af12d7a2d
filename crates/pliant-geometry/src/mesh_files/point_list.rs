//! Point lists in: a point a line, perhaps with colours, normals or intensities after it.
//!
//! Numbers are parted by spaces, tabs, commas or semicolons; `#` and `//` begin comments. A first line with one whole
//! number is a count (`.pts`), one with words names the columns (`.csv`). Without names three more columns are
//! normals if they all are of unit length, colours otherwise; a fourth of four or seven is an intensity. Every
//! point has as many columns as the first.

use super::MeshFile;
use super::color::Coding;
use super::notes::Notes;
use super::words::{lines, real, shown, whole};
use crate::error::{ErrorList, GeometryError};
use crate::poly::{MeshAttributes, PolyMesh};
use glam::DVec3;

/// Columns that a point may have.
const MOST: usize = 64;

pub(super) fn read(bytes: &[u8]) -> Result<MeshFile, Vec<GeometryError>> {
    let mut list = PointList::default();
    for (number, line) in lines(bytes) {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let comment = line.windows(2).position(|w| w == b"//").unwrap_or(line.len());
        list.row(number, line[..comment].trim_ascii());
    }
    list.finish()
}

/// The words of a line.
fn columns(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace() || *b == b',' || *b == b';').filter(|w| !w.is_empty())
}

#[derive(Default)]
struct PointList {
    /// Names of columns, in lower case.
    names: Vec<Vec<u8>>,
    /// Count of points that the file begins with, and its line.
    said: Option<(usize, i64)>,
    /// Columns of the first point; 0 before it.
    width: usize,
    positions: Vec<DVec3>,
    /// Three columns after the position, if there are.
    extra: Vec<[f64; 3]>,
    place: ColumnLayout,
    values: Vec<f64>,
    errors: ErrorList,
    notes: Notes,
}

/// Where the numbers of a point are, and which it has.
#[derive(Default)]
struct ColumnLayout {
    position: [usize; 3],
    colors: Option<[usize; 3]>,
    /// Colours or normals, which the numbers tell.
    either: Option<[usize; 3]>,
}

impl PointList {
    fn row(&mut self, number: usize, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        if self.width == 0 && self.heading(number, line) {
            return;
        }
        self.values.clear();
        let mut fault = None;
        for word in columns(line).take(MOST + 1) {
            let value = real(word);
            match value {
                Some(v) if v.is_finite() || self.values.len() > 2 => {}
                Some(_) => fault = fault.or(Some((format!("`{}` is not finite", shown(word)), FINITE))),
                None => fault = fault.or(Some((format!("`{}` is not a number", shown(word)), NUMBER))),
            }
            self.values.push(value.unwrap_or(f64::NAN));
        }
        let n = self.values.len();
        if decimal_commas(line) {
            fault = Some(("the numbers have commas for decimals".into(), "use a point for decimals"));
        } else if fault.is_none() && !(3..=MOST).contains(&n) {
            fault = Some((format!("{n} numbers where a point has 3"), SHAPE));
        } else if fault.is_none() && self.width != 0 && n != self.width {
            fault = Some((format!("{n} numbers where the first point has {}", self.width), SHAPE));
        }
        if let Some((message, help)) = fault {
            return self.errors.push(number, message, help);
        }
        if self.width == 0 {
            self.width = n;
            self.layout();
        }
        let at = |places: [usize; 3]| places.map(|k| self.values[k]);
        let position = DVec3::from_array(at(self.place.position));
        if !position.is_finite() {
            return self.errors.push(number, format!("the point is at {position}"), FINITE);
        }
        self.positions.push(position);
        if let Some(places) = self.place.colors.or(self.place.either) {
            self.extra.push(at(places));
        }
    }

    /// Whether the line is a count or the names of columns.
    fn heading(&mut self, number: usize, line: &[u8]) -> bool {
        let mut words = columns(line);
        if let (Some(word), None, None) = (words.next(), words.next(), self.said) {
            self.said = whole(word).filter(|&n| n >= 0).map(|n| (number, n));
            return self.said.is_some();
        }
        // Words only; "nan" is a number.
        let names = self.names.is_empty()
            && self.errors.is_empty()
            && columns(line).all(|w| real(w).is_none() && w[0].is_ascii_alphabetic() || w[0] == b'"')
            && columns(line).count() > 2;
        if names {
            let bare = |w: &[u8]| w.to_ascii_lowercase().into_iter().filter(|b| *b != b'"').collect();
            self.names = columns(line).map(bare).collect();
        }
        names
    }

    /// Decides what the columns are, by their names or their number.
    fn layout(&mut self) {
        let find = |names: [[&[u8]; 2]; 3]| {
            let place = |[a, b]: [&[u8]; 2]| self.names.iter().position(|n| n == a || n == b);
            match names.map(place) {
                [Some(x), Some(y), Some(z)] if x.max(y).max(z) < self.width => Some([x, y, z]),
                _ => None,
            }
        };
        let named = find([[b"x", b"points:0"], [b"y", b"points:1"], [b"z", b"points:2"]]);
        let known = if let Some(position) = named {
            let colors = find([[b"r", b"red"], [b"g", b"green"], [b"b", b"blue"]]);
            self.place = ColumnLayout { position, colors, either: None };
            3 + 3 * usize::from(self.place.colors.is_some())
        } else {
            self.place = ColumnLayout { position: [0, 1, 2], colors: None, either: None };
            match self.width {
                6 => self.place.either = Some([3, 4, 5]),
                7 => self.place.colors = Some([4, 5, 6]),
                _ => {}
            }
            if matches!(self.width, 6 | 7) { 6 } else { 3 }
        };
        if self.width > known {
            self.notes.say(format!("{} more columns are passed over", self.width - known));
        }
    }

    fn finish(mut self) -> Result<MeshFile, Vec<GeometryError>> {
        if !self.errors.is_empty() {
            return Err(self.errors.finish());
        }
        if self.positions.is_empty() {
            let help = "write one point a line as `x y z`";
            return Err(vec![GeometryError::new("there are no points in it", help)]);
        }
        if let Some((line, said)) = self.said.filter(|s| s.1 != self.positions.len() as i64) {
            let have = self.positions.len();
            let message = format!("line {line} says {said} points; there are {have}");
            if said > have as i64 {
                let help = "export it again: it was cut off, or is being written; or correct the count";
                return Err(vec![GeometryError::new(message, help)]);
            }
            self.notes.say(message);
        }
        let unit = |v: &[f64; 3]| (DVec3::from_array(*v).length() - 1.0).abs() < 1e-2;
        if self.place.either.is_some() && self.extra.iter().all(unit) {
            self.notes.say("three columns are of unit length: normals, which a point cloud does not keep");
            self.extra.clear();
        }
        let bytes = self.extra.iter().flatten().any(|&c| c > 1.0);
        let (coding, opaque) = if bytes { (Coding::Bytes, 255.0) } else { (Coding::Linear, 1.0) };
        let mut colors = Vec::with_capacity(self.extra.len());
        if self.extra.iter().flatten().any(|c| c.is_finite() && !(0.0..=255.0).contains(c)) {
            self.notes.say("three columns are neither normals nor colours and are passed over");
            self.extra.clear();
        }
        for (i, &[r, g, b]) in self.extra.iter().enumerate() {
            colors.push(coding.decode([r, g, b, opaque]).unwrap_or_else(|| {
                let kind = "colours that are no numbers are dropped: white instead";
                self.notes.count(kind, || format!("point {i}"));
                [1.0; 4]
            }));
        }
        let attributes = MeshAttributes { colors, ..MeshAttributes::default() };
        let mesh = PolyMesh { name: String::new(), positions: self.positions, attributes, animation: None };
        Ok(MeshFile { format: "points".into(), meshes: vec![mesh], notes: self.notes.finish() })
    }
}

/// Whether a line is three numbers with commas for decimals: `1,5 2,5 3,5` is not six numbers.
fn decimal_commas(line: &[u8]) -> bool {
    let mut count = 0;
    line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).all(|word| {
        count += 1;
        let inner = word.strip_suffix(b";").unwrap_or(word);
        let mut parts = inner.split(|&b| b == b',');
        let digits = |p: Option<&[u8]>| p.is_some_and(|p| whole(p).is_some());
        digits(parts.next()) && digits(parts.next()) && parts.next().is_none()
    }) && count == 3
}

const FINITE: &str =
    "coordinates must be finite numbers; look for a division by zero where the file was written";
const NUMBER: &str = "write one point a line as `x y z`, and begin comments with `#`";
const SHAPE: &str = "write one point a line as `x y z`, or `x y z r g b`, all lines alike; use a point, not a comma, for decimals";
