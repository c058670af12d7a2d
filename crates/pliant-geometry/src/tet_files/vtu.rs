//! VTK's XML `.vtu`: unstructured grids of one or several pieces.

use super::TetFile;
use super::draft::{FilePlace, TetDraft};
use super::scan::CUT_OFF;
use super::vtk_cells::VtkCells;
use super::vtu_arrays::{VtuArray, VtuEncoding};
use super::xml::{Tag, Xml};
use crate::GeometryError;
use crate::points::shorten;
use glam::DVec3;

/// One part of a grid, its arrays not read yet.
struct VtuPiece<'a> {
    points: u64,
    cells: u64,
    line: usize,
    coordinates: Option<VtuArray<'a>>,
    cell_arrays: Vec<VtuArray<'a>>,
}

/// Reads a VTK XML grid from memory. Several pieces become one mesh.
pub fn parse_vtu(bytes: &[u8]) -> Result<TetFile, GeometryError> {
    let mut xml = Xml::new(bytes);
    let mut encoding = None;
    let mut pieces: Vec<VtuPiece> = Vec::new();
    let mut section = String::new();
    while let Some(tag) = xml.tag()? {
        match &*tag.name {
            "VTKFile" => encoding = Some(file_encoding(&tag)?),
            "Piece" => pieces.push(VtuPiece {
                points: tag.count("NumberOfPoints")?,
                cells: tag.count("NumberOfCells")?,
                line: tag.line,
                coordinates: None,
                cell_arrays: Vec::new(),
            }),
            "DataArray" => {
                let text = if tag.empty { &[][..] } else { xml.text() };
                let Some(piece) = pieces.last_mut() else { continue };
                match section.as_str() {
                    "Points" => piece.coordinates = Some(coordinates(&tag, text)?),
                    "Cells" => piece.cell_arrays.push(VtuArray::new(&tag, text)?),
                    _ => {}
                }
            }
            "AppendedData" => {
                let base64 = tag.attribute("encoding") == Some("base64");
                let rest = xml.rest();
                let data = rest.iter().position(|&b| b == b'_').map_or(&[][..], |at| &rest[at + 1..]);
                if let Some(encoding) = &mut encoding {
                    encoding.appended = Some((data, base64));
                }
                break;
            }
            "Points" | "Cells" | "PointData" | "CellData" | "FieldData" => section = tag.name.to_string(),
            name if name[..].starts_with('/') && name[1..] == section => section.clear(),
            _ => {}
        }
    }
    let Some(encoding) = encoding else {
        let help = "save it as a .vtu (or .vtk) unstructured grid";
        return Err(GeometryError::new("this is not a VTK XML file: there is no <VTKFile>", help));
    };
    if !bytes.trim_ascii_end().ends_with(b"</VTKFile>") {
        return Err(GeometryError::new("the file does not end with </VTKFile>", CUT_OFF));
    }
    encoding.allow(bytes.len());
    let mut draft = TetDraft::new("point", "cell");
    let (mut first_point, mut first_cell) = (0, 0);
    for piece in &pieces {
        piece.add_to(&mut draft, &encoding, first_point, first_cell, pieces.len() > 1)?;
        // Each was compared with the values that are there, so the sums cannot run over.
        first_point += piece.points;
        first_cell += piece.cells;
    }
    draft.finish()
}

fn file_encoding<'a>(tag: &Tag) -> Result<VtuEncoding<'a>, GeometryError> {
    let wrong = |message: String, help: &str| Err(GeometryError::at_line(tag.line, message, help));
    match tag.attribute("type").unwrap_or_default() {
        "UnstructuredGrid" => {}
        "PolyData" => {
            return wrong(
                "the file holds a surface (PolyData), not tetrahedra".into(),
                "export the volume mesh, or make tetrahedra of the surface (TetGen, fTetWild, Gmsh)",
            );
        }
        other => {
            let message = format!("the file holds `{}`, not an UnstructuredGrid", shorten(other));
            return wrong(message, "save it as a .vtu (or .vtk) unstructured grid");
        }
    }
    let zlib = match tag.attribute("compressor") {
        None | Some("") => false,
        Some("vtkZLibDataCompressor") => true,
        Some(other) => {
            let message = format!("the data is compressed by {}", shorten(other));
            return wrong(message, "save it uncompressed, or compressed by ZLib");
        }
    };
    let size_width = if tag.attribute("header_type") == Some("UInt64") { 8 } else { 4 };
    let big_endian = tag.attribute("byte_order") == Some("BigEndian");
    Ok(VtuEncoding::new(big_endian, size_width, zlib))
}

fn coordinates<'a>(tag: &Tag, text: &'a [u8]) -> Result<VtuArray<'a>, GeometryError> {
    match tag.attribute("NumberOfComponents") {
        Some("3") => VtuArray::new(tag, text),
        other => {
            let message = format!("the points have {} coordinates each", shorten(other.unwrap_or("1")));
            Err(GeometryError::at_line(tag.line, message, "points of a grid have 3"))
        }
    }
}

impl VtuPiece<'_> {
    fn add_to(
        &self,
        draft: &mut TetDraft,
        encoding: &VtuEncoding,
        first_point: u64,
        first_cell: u64,
        several: bool,
    ) -> Result<(), GeometryError> {
        let missing = |what: &str| {
            let message = format!("the piece has no {what}");
            GeometryError::at_line(self.line, message, "export it again: the file was changed or is damaged")
        };
        if self.points == 0 && self.cells == 0 {
            return Ok(());
        }
        let array = self.coordinates.as_ref().ok_or_else(|| missing("points"))?;
        let values = array.reals(encoding)?;
        agree(array.line, "coordinates", self.points.saturating_mul(3), values.len())?;
        for (i, p) in (0..).zip(values.chunks_exact(3)) {
            draft.point(first_point + i, DVec3::new(p[0], p[1], p[2]), FilePlace::Line(array.line));
        }
        let cells = |name: &str| {
            let array = self.cell_arrays.iter().find(|a| a.name == name).ok_or_else(|| missing(name))?;
            Ok((array.ints(encoding)?, array.line))
        };
        let (connectivity, line) = cells("connectivity")?;
        let (ends, ends_line) = cells("offsets")?;
        let (types, types_line) = cells("types")?;
        agree(ends_line, "offsets", self.cells, ends.len())?;
        agree(types_line, "types", self.cells, types.len())?;
        // Past the end of one piece begin the points of the next, which are not meant.
        if let Some(&corner) = connectivity.iter().find(|&&c| c >= 0 && c as u64 >= self.points && several) {
            let message = format!("a cell names point {corner} but its piece has {} points", self.points);
            return Err(GeometryError::at_line(line, message, "points count from 0 in each piece"));
        }
        let (connectivity, ends, types) = (&connectivity[..], &ends[..], &types[..]);
        VtkCells { connectivity, ends, types, first_point, first_cell, place: FilePlace::Line(line) }
            .add_to(draft)
    }
}

fn agree(line: usize, what: &str, wanted: u64, got: usize) -> Result<(), GeometryError> {
    if wanted == got as u64 {
        return Ok(());
    }
    let message = format!("the piece should have {wanted} {what} and has {got}");
    Err(GeometryError::at_line(line, message, CUT_OFF))
}
