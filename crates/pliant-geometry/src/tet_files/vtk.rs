//! VTK's legacy `.vtk`: unstructured grids in text and binary, with cells as before and since version 5.

use super::TetFile;
use super::draft::{FilePlace, TetDraft};
use super::scan::{CUT_OFF, Numbers, Scan, not_a, parse};
use super::vtk_cells::VtkCells;
use crate::GeometryError;
use crate::points::shorten;
use glam::DVec3;

/// Reads a legacy VTK grid from memory.
pub fn parse_vtk(bytes: &[u8]) -> Result<TetFile, GeometryError> {
    let mut scan = Scan::new(bytes);
    let numbers = header(&mut scan)?;
    let mut draft = TetDraft::new("point", "cell");
    let mut cells: Option<(Vec<i64>, Vec<i64>, FilePlace)> = None;
    let mut types: Option<Vec<i64>> = None;
    while types.is_none() || cells.is_none() {
        scan.numbers = Numbers::Text;
        let Some(word) = scan.word() else { break };
        match word.to_ascii_uppercase().as_slice() {
            b"POINTS" => {
                let count = number(&mut scan, "point count")?;
                let values = VtkArray::header(&mut scan, numbers)?.reals(
                    &mut scan,
                    "coordinate",
                    count.saturating_mul(3),
                )?;
                for (i, (p, place)) in values.chunks_exact(3).enumerate().map(|(i, p)| (i, split(p))) {
                    draft.point(i as u64, p, place);
                }
            }
            b"CELLS" => cells = Some(read_cells(&mut scan, numbers)?),
            b"CELL_TYPES" => {
                let count = number(&mut scan, "cell count")?;
                let array = VtkArray::of(b"int", &mut scan, numbers)?;
                types = Some(array.ints(&mut scan, "cell type", count)?);
            }
            b"FIELD" => pass_over_field(&mut scan, numbers)?,
            // Ends with an empty line.
            b"METADATA" => {
                scan.rest_of_line();
                while scan.left() > 0 && !scan.rest_of_line().is_empty() {}
            }
            b"POINT_DATA" | b"CELL_DATA" => break,
            _ => {
                let word = shorten(&String::from_utf8_lossy(word));
                let help = "the count above may be too small for what follows it, or the file is damaged";
                return Err(scan.fault(format!("`{word}` where a keyword should be"), help));
            }
        }
    }
    if numbers == Numbers::Text && scan.touches_end() {
        draft.may_be_cut_off();
    }
    match (cells, types) {
        (Some((connectivity, ends, place)), Some(types)) => {
            let (connectivity, ends, types) = (&connectivity[..], &ends[..], &types[..]);
            VtkCells { connectivity, ends, types, first_point: 0, first_cell: 0, place }
                .add_to(&mut draft)?;
        }
        (Some(_), None) => return Err(scan.fault("the file has CELLS but no CELL_TYPES", CUT_OFF)),
        _ => {}
    }
    draft.finish()
}

fn split(p: &[(f64, FilePlace)]) -> (DVec3, FilePlace) {
    (DVec3::new(p[0].0, p[1].0, p[2].0), p[0].1)
}

/// Whether numbers are text or (big-endian) binary.
fn header(scan: &mut Scan) -> Result<Numbers, GeometryError> {
    let save = "save it as a legacy .vtk (or .vtu) unstructured grid";
    if !scan.rest_of_line().starts_with(b"# vtk DataFile Version") {
        return Err(FilePlace::Line(1).error("this is not a legacy VTK file".into(), save));
    }
    scan.rest_of_line();
    let numbers = match scan.word() {
        Some(b"ASCII") => Numbers::Text,
        Some(b"BINARY") => Numbers::BigEndian,
        _ => return Err(scan.fault("the third line says neither ASCII nor BINARY", save)),
    };
    // Some writers put a FIELD with the time before the grid.
    while scan.peek() == Some(b"FIELD") {
        scan.word();
        pass_over_field(scan, numbers)?;
        scan.numbers = Numbers::Text;
    }
    scan.expect("DATASET")?;
    match scan.word() {
        Some(b"UNSTRUCTURED_GRID") => Ok(numbers),
        Some(b"POLYDATA") => Err(scan.fault(
            "the file holds a surface (POLYDATA), not tetrahedra",
            "export the volume mesh, or make tetrahedra of the surface (TetGen, fTetWild, Gmsh)",
        )),
        other => {
            let word = shorten(&String::from_utf8_lossy(other.unwrap_or_default()));
            Err(scan.fault(format!("the file holds `{word}`, not an UNSTRUCTURED_GRID"), save))
        }
    }
}

/// Corners of all cells in one list, where each ends, and where that is in the file.
fn read_cells(scan: &mut Scan, numbers: Numbers) -> Result<(Vec<i64>, Vec<i64>, FilePlace), GeometryError> {
    let (count, size) = (number(scan, "cell count")?, number(scan, "cell list size")?);
    let line = scan.place();
    if scan.peek() == Some(b"OFFSETS") {
        scan.word();
        let offsets = VtkArray::header(scan, numbers)?.ints(scan, "cell offset", count)?;
        scan.numbers = Numbers::Text;
        scan.expect("CONNECTIVITY")?;
        let connectivity = VtkArray::header(scan, numbers)?.ints(scan, "cell corner", size)?;
        return Ok((connectivity, offsets.into_iter().skip(1).collect(), line));
    }
    let array = VtkArray::of(b"int", scan, numbers)?;
    let list = array.ints(scan, "cell list number", size)?;
    let (mut connectivity, mut ends) = (Vec::new(), Vec::new());
    let mut rest = &list[..];
    while let Some((&corners, after)) = rest.split_first() {
        let Some((cell, after)) = usize::try_from(corners).ok().and_then(|n| after.split_at_checked(n))
        else {
            let message = format!("cell {} has {corners} corners, more than the list has left", ends.len());
            return Err(line.error(message, CUT_OFF));
        };
        connectivity.extend_from_slice(cell);
        ends.push(connectivity.len() as i64);
        rest = after;
    }
    if ends.len() as u64 != count {
        let message = format!("the file says {count} cells and lists {}", ends.len());
        return Err(line.error(message, CUT_OFF));
    }
    Ok((connectivity, ends, line))
}

fn pass_over_field(scan: &mut Scan, numbers: Numbers) -> Result<(), GeometryError> {
    scan.word();
    let arrays = number(scan, "field array count")?;
    for i in 0..arrays {
        scan.numbers = Numbers::Text;
        scan.reading("field array", i, arrays);
        scan.word();
        let count = scan.size()?.saturating_mul(scan.size()?);
        // Strings and bits have widths of their own; a field of them before the cells is not seen.
        let array = VtkArray::header(scan, numbers)?;
        scan.numbers = numbers;
        scan.skip(count, array.width as u64)?;
        scan.numbers = Numbers::Text;
    }
    Ok(())
}

fn number(scan: &mut Scan, what: &'static str) -> Result<u64, GeometryError> {
    scan.numbers = Numbers::Text;
    scan.reading(what, 0, 1);
    scan.size()
}

/// How the numbers of an array are written.
struct VtkArray {
    numbers: Numbers,
    width: usize,
    real: bool,
    signed: bool,
}

impl VtkArray {
    /// Reads the type's name, and in binary the end of the line, after which the numbers come.
    fn header(scan: &mut Scan, numbers: Numbers) -> Result<VtkArray, GeometryError> {
        let name = scan.word().unwrap_or_default();
        VtkArray::of(name, scan, numbers)
    }

    fn of(name: &[u8], scan: &mut Scan, numbers: Numbers) -> Result<VtkArray, GeometryError> {
        let (width, real, signed) = match name.to_ascii_lowercase().as_slice() {
            b"float" => (4, true, true),
            b"double" => (8, true, true),
            b"char" => (1, false, true),
            b"unsigned_char" => (1, false, false),
            b"short" => (2, false, true),
            b"unsigned_short" => (2, false, false),
            b"int" => (4, false, true),
            b"unsigned_int" => (4, false, false),
            b"long" | b"vtktypeint64" | b"vtkidtype" => (8, false, true),
            b"unsigned_long" | b"vtktypeuint64" => (8, false, false),
            _ => {
                let name = shorten(&String::from_utf8_lossy(name));
                return Err(scan.fault(format!("`{name}` is not a type of numbers that is read"), CUT_OFF));
            }
        };
        if numbers != Numbers::Text {
            scan.rest_of_line();
        }
        Ok(VtkArray { numbers, width, real, signed })
    }

    fn values<T>(
        &self,
        scan: &mut Scan,
        what: &'static str,
        count: u64,
        text: impl Fn(&[u8]) -> Option<T>,
        binary: impl Fn(&[u8]) -> T,
    ) -> Result<Vec<(T, FilePlace)>, GeometryError> {
        let mut values = Vec::new();
        scan.numbers = self.numbers;
        if self.numbers == Numbers::Text {
            for i in 0..count {
                scan.reading(what, i, count);
                let Some(word) = scan.word() else {
                    return Err(scan.fault(format!("the file ends after {i} of {count} {what}s"), CUT_OFF));
                };
                let value =
                    text(word).ok_or_else(|| not_a(word, "the number that should be here", scan.place()))?;
                values.push((value, scan.place()));
            }
            return Ok(values);
        }
        let FilePlace::Byte(start) = scan.place() else { return Ok(values) };
        scan.reading(what, 0, count);
        let bytes = scan.take(count.saturating_mul(self.width as u64))?;
        values.extend(
            bytes
                .chunks_exact(self.width)
                .enumerate()
                .map(|(i, b)| (binary(b), FilePlace::Byte(start + i * self.width))),
        );
        Ok(values)
    }

    fn reals(
        &self,
        scan: &mut Scan,
        what: &'static str,
        count: u64,
    ) -> Result<Vec<(f64, FilePlace)>, GeometryError> {
        self.values(scan, what, count, parse, |b| match (self.real, b) {
            (true, &[a, b, c, d]) => f32::from_be_bytes([a, b, c, d]).into(),
            (true, &[a, b, c, d, e, f, g, h]) => f64::from_be_bytes([a, b, c, d, e, f, g, h]),
            _ => self.whole(b) as f64,
        })
    }

    fn ints(&self, scan: &mut Scan, what: &'static str, count: u64) -> Result<Vec<i64>, GeometryError> {
        if self.real {
            return Err(scan.fault(format!("each {what} is given as a real number"), CUT_OFF));
        }
        let values = self.values(scan, what, count, parse, |b| self.whole(b))?;
        Ok(values.into_iter().map(|v| v.0).collect())
    }

    /// A big-endian whole number of any width.
    fn whole(&self, bytes: &[u8]) -> i64 {
        let negative = self.signed && bytes.first().is_some_and(|&b| b >= 0x80);
        bytes.iter().fold(if negative { -1 } else { 0 }, |sum, &b| sum << 8 | i64::from(b))
    }
}
