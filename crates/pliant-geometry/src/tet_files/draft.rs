//! Points and tetrahedra as a file names them, made into a mesh once all are read.

use super::TetFile;
use crate::tet_faults::{TetFault, fault_error};
use crate::{GeometryError, TetMesh};
use glam::DVec3;
use std::collections::BTreeMap;

/// Where in a file something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilePlace {
    Line(usize),
    Byte(usize),
}

impl FilePlace {
    pub fn error(self, message: String, help: impl Into<String>) -> GeometryError {
        match self {
            FilePlace::Line(line) => GeometryError::at_line(line, message, help),
            FilePlace::Byte(byte) => GeometryError::new(format!("byte {byte}: {message}"), help),
        }
    }
}

impl std::fmt::Display for FilePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FilePlace::Line(line) => write!(f, "line {line}"),
            FilePlace::Byte(byte) => write!(f, "byte {byte}"),
        }
    }
}

/// What a file says, word for word.
pub(super) struct TetDraft {
    /// What the format calls a point and an element.
    words: [&'static str; 2],
    points: Vec<DVec3>,
    point_tags: Vec<u64>,
    point_places: Vec<FilePlace>,
    corners: Vec<[u64; 4]>,
    element_tags: Vec<u64>,
    element_places: Vec<FilePlace>,
    regions: Vec<i32>,
    /// Elements of other kinds, by kind.
    others: BTreeMap<&'static str, u64>,
    second_order: usize,
    pub notes: Vec<String>,
}

impl TetDraft {
    pub fn new(point: &'static str, element: &'static str) -> TetDraft {
        TetDraft {
            words: [point, element],
            points: Vec::new(),
            point_tags: Vec::new(),
            point_places: Vec::new(),
            corners: Vec::new(),
            element_tags: Vec::new(),
            element_places: Vec::new(),
            regions: Vec::new(),
            others: BTreeMap::new(),
            second_order: 0,
            notes: Vec::new(),
        }
    }

    pub fn point(&mut self, tag: u64, position: DVec3, place: FilePlace) {
        self.points.push(position);
        self.point_tags.push(tag);
        self.point_places.push(place);
    }

    /// A tetrahedron by the tags of its corners.
    pub fn tet(&mut self, tag: u64, corners: [u64; 4], region: i32, place: FilePlace) {
        self.corners.push(corners);
        self.element_tags.push(tag);
        self.element_places.push(place);
        self.regions.push(region);
    }

    /// The latest tetrahedron has points on its edges too.
    pub fn with_mid_edges(&mut self) {
        self.second_order += 1;
    }

    /// Elements that are not tetrahedra.
    pub fn other(&mut self, kind: &'static str, count: u64) {
        if count > 0 {
            let sum = self.others.entry(kind).or_default();
            *sum = sum.saturating_add(count);
        }
    }

    /// Notes a file whose last number may be cut off.
    pub fn may_be_cut_off(&mut self) {
        self.notes.push(
            "the file ends right after a number, without a line end: if it was cut off, that number is wrong"
                .into(),
        );
    }

    fn others(&self) -> String {
        let kinds: Vec<String> = self.others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        kinds.join(", ")
    }

    /// The mesh, checked and put right, or what is wrong with it.
    pub fn finish(mut self) -> Result<TetFile, GeometryError> {
        if self.corners.is_empty() || self.points.is_empty() {
            return Err(self.no_tetrahedra());
        }
        if self.points.len() >= u32::MAX as usize || self.corners.len() >= u32::MAX as usize {
            let message = format!("{} points are more than a mesh can hold", self.points.len());
            return Err(GeometryError::new(message, "split the mesh into several files"));
        }
        let tetrahedra = self.resolve()?;
        let points = std::mem::take(&mut self.points);
        let mut mesh = TetMesh { points, tetrahedra, regions: std::mem::take(&mut self.regions) };
        if mesh.regions.iter().all(|&r| r == 0) {
            mesh.regions.clear();
        }
        let faults = mesh.faults();
        if let Some(error) = fault_error(&faults, &|fault| self.words_for(fault)) {
            let place = match faults[0] {
                TetFault::Point { point, .. } => self.point_places[point],
                _ => self.element_places[faults[0].element().unwrap_or_default()],
            };
            return Err(match place {
                FilePlace::Line(line) => GeometryError { line: Some(line), ..error },
                FilePlace::Byte(_) => error,
            });
        }
        let mut notes = std::mem::take(&mut self.notes);
        let turned = mesh.orient();
        if turned > 0 {
            notes.push(format!(
                "{turned} of {} tetrahedra were inside out and were turned",
                mesh.tetrahedra.len()
            ));
        }
        if self.second_order > 0 {
            notes.push(format!(
                "{} tetrahedra have points on their edges (10 in all): only the corners are taken",
                self.second_order
            ));
        }
        if !self.others.is_empty() {
            notes.push(format!("elements that are not tetrahedra were passed over: {}", self.others()));
        }
        let dropped = mesh.drop_unreferenced();
        if let Some(&first) = dropped.first() {
            let tag = self.point_tags[first as usize];
            let count = dropped.len();
            notes.push(format!("{count} points that no tetrahedron uses were left out, the first is {tag}"));
        }
        let twins = coincident(&mesh.points);
        if twins > 0 {
            notes.push(format!(
                "{twins} points are in exactly the place of another: the mesh is not joined there"
            ));
        }
        Ok(TetFile { mesh, notes })
    }

    fn no_tetrahedra(&self) -> GeometryError {
        let surface =
            self.others.keys().any(|kind| ["triangles", "quadrilaterals", "polygons"].contains(kind));
        let solid = self.others.keys().any(|kind| ["hexahedra", "prisms", "pyramids"].contains(kind));
        let message = match (self.points.is_empty(), solid, surface) {
            (true, ..) if self.corners.is_empty() => {
                "there are no points and no tetrahedra in it".to_string()
            }
            (true, ..) => "there are tetrahedra but no points in it".to_string(),
            (_, true, _) => format!("has no tetrahedra, only {}", self.others()),
            (_, _, true) => format!("has no tetrahedra, only {}: this is a surface", self.others()),
            _ => "there are no tetrahedra in it".to_string(),
        };
        let help = match (solid, surface) {
            (true, _) => "cut the cells into tetrahedra, or mesh again with tetrahedra",
            (_, true) => {
                "export the volume mesh, make tetrahedra of the surface (TetGen, fTetWild, Gmsh), or save it as \
                 .obj and have it filled with particles"
            }
            _ => "check that the export holds the volume mesh and was not empty",
        };
        GeometryError::new(message, help)
    }

    /// Corners as indices of points; `u32::MAX` where the file has no such point.
    fn resolve(&self) -> Result<Vec<[u32; 4]>, GeometryError> {
        let tags = &self.point_tags;
        let first = tags.first().copied().unwrap_or_default();
        let in_turn = tags.iter().enumerate().all(|(i, &tag)| tag.wrapping_sub(first) == i as u64);
        let mut sorted: Vec<(u64, u32)> = Vec::new();
        if !in_turn {
            sorted = tags.iter().zip(0..).map(|(&tag, i)| (tag, i)).collect();
            sorted.sort_unstable();
            if let Some(pair) = sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let [a, b] = [pair[0].1, pair[1].1].map(|i| self.point_places[i as usize]);
                let message = format!("{} {} is given twice (first at {a})", self.words[0], pair[0].0);
                return Err(b.error(message, "give every point a number of its own"));
            }
        }
        let index = |tag: u64| {
            if in_turn {
                let i = tag.wrapping_sub(first);
                return if i < tags.len() as u64 { i as u32 } else { u32::MAX };
            }
            sorted.binary_search_by_key(&tag, |s| s.0).map_or(u32::MAX, |at| sorted[at].1)
        };
        Ok(self.corners.iter().map(|t| t.map(index)).collect())
    }

    fn words_for(&self, fault: &TetFault) -> String {
        let [point_word, element_word] = self.words;
        let element =
            |e: usize| format!("{element_word} {} ({})", self.element_tags[e], self.element_places[e]);
        let point = |p: usize| format!("{point_word} {} ({})", self.point_tags[p], self.point_places[p]);
        let TetFault::OutOfRange { element: e, .. } = *fault else {
            return fault.named(&element, &point);
        };
        // Tags may have gaps, so a range would not say which there are; a run from 0 or 1 is worth naming.
        let missing = |tag: &&u64| !self.point_tags.contains(tag);
        let tag = self.corners[e].iter().find(missing).copied().unwrap_or_default();
        let (low, high) = (self.point_tags.iter().min(), self.point_tags.iter().max());
        let (low, high) = (low.copied().unwrap_or_default(), high.copied().unwrap_or_default());
        // Negative numbers of the file were kept by their bits.
        let tag = tag as i64;
        format!("{} names {point_word} {tag}, which the file does not have ({low} to {high})", element(e))
    }
}

/// How many points are in exactly the place of an earlier one.
fn coincident(points: &[DVec3]) -> usize {
    let mut places: Vec<[u64; 3]> = points.iter().map(|&p| (p + 0.0).to_array().map(f64::to_bits)).collect();
    places.sort_unstable();
    places.windows(2).filter(|pair| pair[0] == pair[1]).count()
}
