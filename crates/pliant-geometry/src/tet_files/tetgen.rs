//! TetGen's pair of files: points in `.node`, tetrahedra in `.ele`.

use super::TetFile;
use super::draft::{FilePlace, TetDraft};
use super::scan::{CUT_OFF, Scan, not_a, parse};
use crate::GeometryError;
use glam::DVec3;
use std::path::Path;

/// Reads the two files of a TetGen mesh from memory; `paths` are named in errors. Points may count from 0 or 1, or
/// be in any order.
pub fn parse_tetgen(node: &[u8], ele: &[u8], paths: [&Path; 2]) -> Result<TetFile, GeometryError> {
    let mut draft = TetDraft::new("point", "tetrahedron");
    nodes(node, &mut draft).map_err(|error| error.in_file(paths[0]))?;
    elements(ele, &mut draft).map_err(|error| error.in_file(paths[1]))?;
    draft.finish().map_err(|error| {
        let of_points = error.message.starts_with("point");
        error.in_file(paths[usize::from(!of_points)])
    })
}

fn nodes(bytes: &[u8], draft: &mut TetDraft) -> Result<(), GeometryError> {
    let mut scan = Scan::new(bytes);
    let [count, dimension] = header(&mut scan, "points, dimension, attributes and markers")?;
    if dimension != 3 {
        let message = format!("the points have {dimension} dimensions");
        return Err(scan_header_fault(message, "a mesh of tetrahedra has points in 3 dimensions"));
    }
    rows(&mut scan, "point", count, draft, |draft, line, words| {
        let [tag, x, y, z, ..] = words else {
            return Err(short(line, words.len(), "a point has its number and x y z"));
        };
        let position = DVec3::new(number(x, line)?, number(y, line)?, number(z, line)?);
        draft.point(number(tag, line)?, position, FilePlace::Line(line));
        Ok(())
    })
}

fn elements(bytes: &[u8], draft: &mut TetDraft) -> Result<(), GeometryError> {
    let mut scan = Scan::new(bytes);
    let [count, corners] = header(&mut scan, "tetrahedra, points of each and attributes")?;
    if corners != 4 && corners != 10 {
        let message = format!("the elements have {corners} points each");
        return Err(scan_header_fault(message, "a tetrahedron has 4, or 10 with points on its edges"));
    }
    rows(&mut scan, "tetrahedron", count, draft, |draft, line, words| {
        let Some((tag, rest)) = words.split_first().filter(|(_, rest)| rest.len() as u64 >= corners) else {
            return Err(short(line, words.len(), "a tetrahedron has its number and its points"));
        };
        let (points, attributes) = rest.split_at(corners as usize);
        // Attributes are real numbers by the format, but regions are what they are used for.
        let region = attributes.first().map_or(Ok(0.0), |word| number::<f64>(word, line))?;
        let mut tags = [0; 4];
        for (tag, word) in tags.iter_mut().zip(points) {
            *tag = number(word, line)?;
        }
        draft.tet(number(tag, line)?, tags, region as i32, FilePlace::Line(line));
        if corners == 10 {
            draft.with_mid_edges();
        }
        Ok(())
    })
}

/// The first two numbers of the first line; the rest do not matter, for every row is on a line of its own.
fn header(scan: &mut Scan, what: &str) -> Result<[u64; 2], GeometryError> {
    let Some((line, words)) = scan.line_of_words() else {
        return Err(scan_header_fault("the file is empty".into(), format!("its first line gives {what}")));
    };
    let [first, second, ..] = words[..] else {
        return Err(GeometryError::at_line(
            line,
            "the first line has one number",
            format!("it gives {what}; is this a TetGen file?"),
        ));
    };
    Ok([number(first, line)?, number(second, line)?])
}

/// Reads so many rows, notes lines after them, and whether the last number may be cut off.
fn rows(
    scan: &mut Scan,
    what: &str,
    count: u64,
    draft: &mut TetDraft,
    mut row: impl FnMut(&mut TetDraft, usize, &[&[u8]]) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    for done in 0..count {
        let Some((line, words)) = scan.line_of_words() else {
            let message = format!("the file ends after {done} of {count} rows, each a {what}");
            return Err(scan.fault(message, CUT_OFF));
        };
        row(draft, line, &words)?;
    }
    if count > 0 && scan.touches_end() {
        draft.may_be_cut_off();
    }
    let mut after = 0;
    while scan.line_of_words().is_some() {
        after += 1;
    }
    if after > 0 {
        draft.notes.push(format!(
            "{after} lines after the last {what} were passed over: the first line says {count}"
        ));
    }
    Ok(())
}

fn number<T: std::str::FromStr>(word: &[u8], line: usize) -> Result<T, GeometryError> {
    parse(word).ok_or_else(|| not_a(word, "the number that should be here", FilePlace::Line(line)))
}

fn short(line: usize, count: usize, help: &str) -> GeometryError {
    GeometryError::at_line(line, format!("the line has {count} numbers only"), help)
}

fn scan_header_fault(message: String, help: impl Into<String>) -> GeometryError {
    GeometryError::at_line(1, message, help)
}
