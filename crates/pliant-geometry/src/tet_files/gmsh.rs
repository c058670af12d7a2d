//! Gmsh's `.msh`, versions 2 and 4.1, in text and binary: the sections, and what its element types are.

use super::draft::TetDraft;
use super::scan::{CUT_OFF, Numbers, Scan};
use super::{TetFile, gmsh2, gmsh4};
use crate::GeometryError;
use crate::points::shorten;

/// Reads a Gmsh mesh from memory. Regions are physical groups, or else the numbers of the volumes.
pub fn parse_gmsh(bytes: &[u8]) -> Result<TetFile, GeometryError> {
    let mut scan = Scan::new(bytes);
    let (version, numbers) = format(&mut scan)?;
    let mut draft = TetDraft::new("node", "element");
    let mut physical = gmsh4::Physical::default();
    // Text between sections is allowed and means nothing.
    while let Some(word) = scan.word() {
        if word[0] != b'$' {
            continue;
        }
        let name = &word[1..];
        // Binary numbers begin right after the end of the line.
        if numbers != Numbers::Text && matches!(name, b"Nodes" | b"Elements" | b"Entities") {
            scan.rest_of_line();
        }
        let section = match (version, name) {
            (2, b"Nodes") => gmsh2::nodes(&mut scan, numbers, &mut draft),
            (2, b"Elements") => gmsh2::elements(&mut scan, numbers, &mut draft),
            (2, b"ParametricNodes") => {
                let help = "save it without Mesh.SaveParametric, or as version 4.1";
                return Err(scan.fault("nodes with parameters are not read in files of version 2", help));
            }
            (4, b"Nodes") => in_numbers(&mut scan, numbers, |scan| gmsh4::nodes(scan, &mut draft)),
            (4, b"Elements") => {
                in_numbers(&mut scan, numbers, |scan| gmsh4::elements(scan, &mut draft, &physical))
            }
            (4, b"Entities") => in_numbers(&mut scan, numbers, |scan| gmsh4::entities(scan, &mut physical)),
            _ => {
                let end = [b"$End", name].concat();
                if !scan.skip_past(&end) {
                    let section = shorten(&String::from_utf8_lossy(word));
                    return Err(scan.fault(format!("the section {section} does not end"), CUT_OFF));
                }
                continue;
            }
        };
        section?;
        scan.expect(match name {
            b"Nodes" => "$EndNodes",
            b"Elements" => "$EndElements",
            _ => "$EndEntities",
        })?;
    }
    draft.finish()
}

/// The version (2 or 4) and how numbers are written.
fn format(scan: &mut Scan) -> Result<(u8, Numbers), GeometryError> {
    match scan.word() {
        Some(b"$MeshFormat") => {}
        Some(b"$NOD") => return Err(scan.fault("this is a Gmsh file of version 1", SAVE_AS)),
        _ => return Err(scan.fault("this is not a Gmsh mesh: it does not begin with $MeshFormat", SAVE_AS)),
    }
    scan.reading("format number", 0, 3);
    let (version, binary, width) = (scan.real()?, scan.int()?, scan.int()?);
    let major = match version {
        v if (2.0..3.0).contains(&v) => 2,
        4.1 => 4,
        v => {
            return Err(
                scan.fault(format!("this is a Gmsh file of version {v}; 2 and 4.1 are read"), SAVE_AS)
            );
        }
    };
    let mut numbers = Numbers::Text;
    if binary == 1 {
        if width != 8 {
            return Err(scan.fault(format!("numbers of {width} bytes; those of 8 bytes are read"), SAVE_AS));
        }
        scan.rest_of_line();
        numbers = match scan.take(4)? {
            [1, 0, 0, 0] => Numbers::LittleEndian,
            [0, 0, 0, 1] => Numbers::BigEndian,
            other => {
                let message = format!("the number that tells the byte order is {other:?}, not 1");
                return Err(scan.fault(message, CUT_OFF));
            }
        };
    } else if binary != 0 {
        return Err(scan.fault(format!("a file type of {binary}; 0 is text and 1 is binary"), SAVE_AS));
    }
    scan.expect("$EndMeshFormat")?;
    Ok((major, numbers))
}

const SAVE_AS: &str =
    "save it from Gmsh as version 4.1 or 2.2 (File > Export, or `gmsh -format msh41 -save`)";

/// Reads a part with numbers written this way, and text after it.
pub(super) fn in_numbers(
    scan: &mut Scan,
    numbers: Numbers,
    part: impl FnOnce(&mut Scan) -> Result<(), GeometryError>,
) -> Result<(), GeometryError> {
    scan.numbers = numbers;
    part(scan)?;
    scan.numbers = Numbers::Text;
    Ok(())
}

/// How many nodes an element of this Gmsh type has, and what it is called; `None` for types nobody knows.
pub(super) fn kind(element_type: i64) -> Option<(u64, &'static str)> {
    Some(match element_type {
        1 => (2, "lines"),
        2 => (3, "triangles"),
        3 => (4, "quadrilaterals"),
        4 => (4, "tetrahedra"),
        5 => (8, "hexahedra"),
        6 => (6, "prisms"),
        7 => (5, "pyramids"),
        8 => (3, "lines"),
        9 => (6, "triangles"),
        10 => (9, "quadrilaterals"),
        11 => (10, "tetrahedra"),
        12 => (27, "hexahedra"),
        13 => (18, "prisms"),
        14 => (14, "pyramids"),
        15 => (1, "points"),
        16 => (8, "quadrilaterals"),
        17 => (20, "hexahedra"),
        18 => (15, "prisms"),
        19 => (13, "pyramids"),
        20 => (9, "triangles"),
        21 => (10, "triangles"),
        22 => (12, "triangles"),
        23 => (15, "triangles"),
        24 => (15, "triangles"),
        25 => (21, "triangles"),
        26 => (4, "lines"),
        27 => (5, "lines"),
        28 => (6, "lines"),
        29 => (20, "tetrahedra of third order"),
        30 => (35, "tetrahedra of fourth order"),
        31 => (56, "tetrahedra of fifth order"),
        92 => (64, "hexahedra"),
        93 => (125, "hexahedra"),
        _ => return None,
    })
}

pub(super) fn unknown_type(scan: &Scan, element_type: i64) -> GeometryError {
    scan.fault(format!("elements of type {element_type} are not known"), CUT_OFF)
}
