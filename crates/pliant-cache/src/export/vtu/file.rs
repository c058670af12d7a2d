//! One VTU file: a head of XML that names arrays by their place, and the arrays as raw bytes behind it.

use super::grid::{Grid, VtkNumber};
use crate::CacheError;
use crate::atomic::AtomicFile;
use crate::export::bytes::put_floats;
use std::fmt::Write as _;

/// A file in the making; kept from frame to frame for its memory.
#[derive(Default)]
pub(super) struct Appended {
    head: String,
    /// Every array: its length in bytes as u64, then its bytes.
    data: Vec<u8>,
    ends: String,
}

impl Appended {
    /// Everything before the fields of points.
    pub fn begin(&mut self, comment: &str, grid: &Grid, time: f64) {
        self.data.clear();
        self.ends.clear();
        self.head.clear();
        let _ = write!(
            self.head,
            "<?xml version=\"1.0\"?>\n{comment}<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" \
             byte_order=\"LittleEndian\" header_type=\"UInt64\">\n  <UnstructuredGrid>\n    <FieldData>\n      \
             <DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{time}</DataArray>\n    \
             </FieldData>\n    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
            grid.points,
            grid.types.len(),
        );
    }

    /// From here on arrays are fields of points.
    pub fn point_data(&mut self) {
        self.head.push_str("      <PointData>\n");
    }

    /// An array of so many components; `put` appends its bytes.
    fn array(&mut self, name: &str, kind: &str, components: usize, put: impl FnOnce(&mut Vec<u8>)) {
        let _ = writeln!(
            self.head,
            "        <DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" \
             format=\"appended\" offset=\"{}\"/>",
            self.data.len()
        );
        let at = self.data.len();
        self.data.extend([0; 8]);
        put(&mut self.data);
        let length = (self.data.len() - at - 8) as u64;
        self.data[at..at + 8].copy_from_slice(&length.to_le_bytes());
    }

    /// One number each.
    pub fn numbers<T: VtkNumber>(&mut self, name: &str, values: &[T]) {
        self.array(name, T::NAME, 1, |out| T::put(values, out));
    }

    /// Three numbers each.
    pub fn triples(&mut self, name: &str, values: &[[f32; 3]]) {
        self.array(name, "Float32", 3, |out| put_floats(out, values.as_flattened()));
    }

    /// Everything after the fields.
    pub fn points_and_cells(&mut self, points: &[[f32; 3]], grid: &Grid) {
        self.numbers("body", &grid.body);
        self.head.push_str("      </PointData>\n      <Points>\n");
        self.triples("Points", points);
        self.head.push_str("      </Points>\n      <Cells>\n");
        self.numbers("connectivity", &grid.connectivity);
        self.numbers("offsets", &grid.offsets);
        self.numbers("types", &grid.types);
        self.head.push_str(
            "      </Cells>\n    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_",
        );
        self.ends.push_str("\n  </AppendedData>\n</VTKFile>\n");
    }

    pub fn write(&self, file: &mut AtomicFile) -> Result<(), CacheError> {
        file.put(self.head.as_bytes())?;
        file.put(&self.data)?;
        file.put(self.ends.as_bytes())
    }
}
