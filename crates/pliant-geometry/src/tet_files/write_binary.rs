//! The formats with numbers in binary: Gmsh 4.1, and VTK's XML grid in base64.

use crate::base64;
use crate::{TetMesh, TriMesh};
use std::io::{self, Write};

/// Gmsh's type of a tetrahedron, and VTK's.
const TETRAHEDRON: (i32, u8) = (4, 10);

/// Gmsh 4.1: a volume for each region, which is its physical group; tetrahedra keep their order, so that each run of one
/// region is a block.
pub(super) fn write_gmsh(mesh: &TetMesh, out: &mut dyn Write) -> io::Result<()> {
    let mut regions = mesh.regions.clone();
    regions.sort_unstable();
    regions.dedup();
    let volume_of = |region: i32| regions.binary_search(&region).map_or(1, |at| at as i32 + 1);
    out.write_all(b"$MeshFormat\n4.1 1 8\n")?;
    int(out, 1)?;
    out.write_all(b"\n$EndMeshFormat\n$Entities\n")?;
    for count in [0, 0, 0, regions.len().max(1)] {
        size(out, count)?;
    }
    let (lo, hi) = TriMesh::bounds(&mesh.points).unwrap_or_default();
    for volume in 0..regions.len().max(1) {
        int(out, volume as i32 + 1)?;
        for bound in [lo, hi] {
            reals(out, bound.to_array())?;
        }
        size(out, usize::from(!regions.is_empty()))?;
        if let Some(&region) = regions.get(volume) {
            int(out, region)?;
        }
        size(out, 0)?;
    }
    out.write_all(b"\n$EndEntities\n$Nodes\n")?;
    let points = mesh.points.len();
    for count in [1, points, points.min(1), points] {
        size(out, count)?;
    }
    for number in [3, 1, 0] {
        int(out, number)?;
    }
    size(out, points)?;
    for tag in 1..=points {
        size(out, tag)?;
    }
    for p in &mesh.points {
        reals(out, p.to_array())?;
    }
    out.write_all(b"\n$EndNodes\n$Elements\n")?;
    let tets = mesh.tetrahedra.len();
    let runs: Vec<(i32, usize)> = match mesh.regions[..] {
        [] => vec![(1, tets)],
        _ => mesh.regions.chunk_by(|a, b| a == b).map(|run| (volume_of(run[0]), run.len())).collect(),
    };
    for count in [runs.len(), tets, tets.min(1), tets] {
        size(out, count)?;
    }
    let mut numbered = mesh.tetrahedra.iter().enumerate();
    for (volume, count) in runs {
        for number in [3, volume, TETRAHEDRON.0] {
            int(out, number)?;
        }
        size(out, count)?;
        for (i, t) in numbered.by_ref().take(count) {
            size(out, i + 1)?;
            for point in t {
                size(out, *point as usize + 1)?;
            }
        }
    }
    out.write_all(b"\n$EndElements\n")
}

/// VTK's XML grid of version 1.0; regions are an array over the cells.
pub(super) fn write_vtu(mesh: &TetMesh, out: &mut dyn Write) -> io::Result<()> {
    let (points, cells) = (mesh.points.len(), mesh.tetrahedra.len());
    writeln!(
        out,
        "<?xml version=\"1.0\"?>\n\
         <VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
         <UnstructuredGrid>\n<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"{cells}\">\n<Points>"
    )?;
    let coordinates = mesh.points.iter().flat_map(|p| p.to_array()).flat_map(f64::to_le_bytes);
    array(out, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", coordinates)?;
    writeln!(out, "</Points>\n<Cells>")?;
    let corners = mesh.tetrahedra.as_flattened().iter().flat_map(|&i| i64::from(i).to_le_bytes());
    array(out, "type=\"Int64\" Name=\"connectivity\"", corners)?;
    array(out, "type=\"Int64\" Name=\"offsets\"", (1..=cells as i64).flat_map(|i| (4 * i).to_le_bytes()))?;
    array(out, "type=\"UInt8\" Name=\"types\"", std::iter::repeat_n(TETRAHEDRON.1, cells))?;
    writeln!(out, "</Cells>")?;
    if !mesh.regions.is_empty() {
        writeln!(out, "<CellData>")?;
        array(out, "type=\"Int32\" Name=\"region\"", mesh.regions.iter().flat_map(|r| r.to_le_bytes()))?;
        writeln!(out, "</CellData>")?;
    }
    writeln!(out, "</Piece>\n</UnstructuredGrid>\n</VTKFile>")
}

/// One array: its length in bytes and its bytes, in base64 together.
fn array(out: &mut dyn Write, attributes: &str, bytes: impl Iterator<Item = u8>) -> io::Result<()> {
    let mut all = vec![0; 8];
    all.extend(bytes);
    let length = (all.len() - 8) as u64;
    all[..8].copy_from_slice(&length.to_le_bytes());
    writeln!(out, "<DataArray {attributes} format=\"binary\">")?;
    out.write_all(&base64::encode(&all))?;
    writeln!(out, "\n</DataArray>")
}

fn int(out: &mut dyn Write, value: i32) -> io::Result<()> {
    out.write_all(&value.to_le_bytes())
}

fn size(out: &mut dyn Write, value: usize) -> io::Result<()> {
    out.write_all(&(value as u64).to_le_bytes())
}

fn reals(out: &mut dyn Write, values: [f64; 3]) -> io::Result<()> {
    values.into_iter().try_for_each(|value| out.write_all(&value.to_le_bytes()))
}
