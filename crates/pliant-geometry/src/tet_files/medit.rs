//! Medit's `.mesh`, in text, as written by Mmg, fTetWild, TetGen and many others.

use super::TetFile;
use super::draft::TetDraft;
use super::scan::{CUT_OFF, Scan};
use crate::GeometryError;
use glam::DVec3;

/// Reads a Medit mesh from memory.
pub fn parse_medit(bytes: &[u8]) -> Result<TetFile, GeometryError> {
    // The binary kind begins with the number 1 (either way round) where text begins with a keyword.
    if bytes.starts_with(&[1, 0, 0, 0]) || bytes.starts_with(&[0, 0, 0, 1]) {
        return Err(GeometryError::new(
            "this is the binary kind of Medit file (.meshb), which is not read",
            "save it as text (.mesh), or as .msh, .vtk or .vtu",
        ));
    }
    let mut scan = Scan::new(bytes);
    scan.comments = true;
    let mut draft = TetDraft::new("vertex", "tetrahedron");
    if scan.word() != Some(b"MeshVersionFormatted") {
        return Err(scan.fault(
            "this is not a Medit mesh: it does not begin with MeshVersionFormatted",
            "several programs use .mesh; save as Medit .mesh, .msh, .vtk or .vtu",
        ));
    }
    scan.reading("header number", 0, 2);
    scan.int()?;
    let mut dimension = 3;
    let mut ended = false;
    while let Some(word) = scan.word() {
        match word {
            b"End" => {
                ended = true;
                break;
            }
            b"Dimension" => dimension = scan.int()?,
            b"Vertices" => vertices(&mut scan, &mut draft, dimension)?,
            b"Tetrahedra" => tetrahedra(&mut scan, &mut draft, false)?,
            b"TetrahedraP2" => tetrahedra(&mut scan, &mut draft, true)?,
            b"Triangles" => others(&mut scan, &mut draft, "triangles")?,
            b"Quadrilaterals" => others(&mut scan, &mut draft, "quadrilaterals")?,
            b"Hexahedra" => others(&mut scan, &mut draft, "hexahedra")?,
            b"Prisms" => others(&mut scan, &mut draft, "prisms")?,
            b"Pyramids" => others(&mut scan, &mut draft, "pyramids")?,
            keyword if keyword[0].is_ascii_alphabetic() => pass_over_numbers(&mut scan),
            _ => {
                let word = crate::points::shorten(&String::from_utf8_lossy(word));
                let message = format!("`{word}` where a keyword should be");
                return Err(scan.fault(message, "the count above may be too small for what follows it"));
            }
        }
    }
    if !ended && scan.touches_end() {
        draft.may_be_cut_off();
    }
    draft.finish()
}

fn vertices(scan: &mut Scan, draft: &mut TetDraft, dimension: i64) -> Result<(), GeometryError> {
    if dimension != 3 {
        let message = format!("the mesh has {dimension} dimensions");
        return Err(scan.fault(message, "tetrahedra have vertices in 3 dimensions"));
    }
    scan.reading("count", 0, 1);
    let count = scan.size()?;
    for i in 0..count {
        scan.reading("vertex", i, count);
        let x = scan.real()?;
        let place = scan.place();
        let position = DVec3::new(x, scan.real()?, scan.real()?);
        // The reference may be any number; nothing here needs it.
        scan.real()?;
        draft.point(i + 1, position, place);
    }
    Ok(())
}

fn tetrahedra(scan: &mut Scan, draft: &mut TetDraft, mid_edges: bool) -> Result<(), GeometryError> {
    scan.reading("count", 0, 1);
    let count = scan.size()?;
    for i in 0..count {
        scan.reading("tetrahedron", i, count);
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = scan.size()?;
        }
        let place = scan.place();
        if mid_edges {
            scan.skip(6, 8)?;
        }
        let region = scan.int()?;
        draft.tet(i + 1, corners, region.clamp(i32::MIN.into(), i32::MAX.into()) as i32, place);
        if mid_edges {
            draft.with_mid_edges();
        }
    }
    Ok(())
}

fn others(scan: &mut Scan, draft: &mut TetDraft, kind: &'static str) -> Result<(), GeometryError> {
    scan.reading("count", 0, 1);
    let count = scan.size()?;
    if count > scan.left() as u64 {
        return Err(scan.fault(format!("{count} {kind} are more than the file has room for"), CUT_OFF));
    }
    draft.other(kind, count);
    pass_over_numbers(scan);
    Ok(())
}

/// To the next keyword.
fn pass_over_numbers(scan: &mut Scan) {
    while let Some(word) = scan.peek() {
        let not_a_number = word.eq_ignore_ascii_case(b"nan") || word.eq_ignore_ascii_case(b"inf");
        if word[0].is_ascii_alphabetic() && !not_a_number {
            return;
        }
        scan.word();
    }
}
