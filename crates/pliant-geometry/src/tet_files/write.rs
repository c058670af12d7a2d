//! Files of tetrahedra out: Gmsh, VTK, Medit and TetGen, with every position to the last bit.

use super::write_binary::{write_gmsh, write_vtu};
use crate::{GeometryError, TetMesh};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes a mesh to a file; the extension says which format: `.msh` (Gmsh 4.1, binary), `.vtu`, `.mesh` (Medit), or
/// `.node`/`.ele` (TetGen), either of which writes both.
pub fn save_tets(path: &Path, mesh: &TetMesh) -> Result<(), GeometryError> {
    let to_file = |path: &Path, write: &dyn Fn(&mut dyn Write) -> Result<(), GeometryError>| {
        let file = std::fs::File::create(path).map_err(|why| unwritable(&why).in_file(path))?;
        let mut out = BufWriter::new(file);
        write(&mut out).map_err(|error| error.in_file(path))?;
        out.flush().map_err(|why| unwritable(&why).in_file(path))
    };
    match extension(path).as_str() {
        "node" | "ele" => {
            let (mut node, mut ele) = (Vec::new(), Vec::new());
            write_tetgen(mesh, &mut node, &mut ele)?;
            let bytes =
                |bytes: Vec<u8>| move |out: &mut dyn Write| out.write_all(&bytes).map_err(|e| unwritable(&e));
            to_file(&path.with_extension("node"), &bytes(node))?;
            to_file(&path.with_extension("ele"), &bytes(ele))
        }
        extension => {
            // An unknown format is refused before an empty file is left behind.
            writer(extension).map_err(|error| error.in_file(path))?;
            to_file(path, &|out| write_tets(extension, mesh, out))
        }
    }
}

/// Writes a mesh in the format that files of this extension have: `msh`, `vtu` or `mesh`. Regions go along; Gmsh knows no
/// mesh without, so that one without them is read back as region 1.
pub fn write_tets(
    extension: &str,
    mesh: &TetMesh,
    out: &mut (impl Write + ?Sized),
) -> Result<(), GeometryError> {
    let write = writer(extension)?;
    check(mesh)?;
    // Through a buffer of a trait object: formats are many, and bytes take longer than calls.
    let mut out = BufWriter::with_capacity(1 << 16, out);
    write(mesh, &mut out).and_then(|()| out.flush()).map_err(|why| unwritable(&why))
}

/// Writes a mesh as TetGen's two files, points counted from 1.
pub fn write_tetgen(
    mesh: &TetMesh,
    node: &mut impl Write,
    ele: &mut impl Write,
) -> Result<(), GeometryError> {
    check(mesh)?;
    let mut write = || -> io::Result<()> {
        writeln!(node, "{} 3 0 0", mesh.points.len())?;
        for (i, p) in mesh.points.iter().enumerate() {
            writeln!(node, "{} {:e} {:e} {:e}", i + 1, p.x, p.y, p.z)?;
        }
        let with_regions = !mesh.regions.is_empty();
        writeln!(ele, "{} 4 {}", mesh.tetrahedra.len(), u8::from(with_regions))?;
        for (i, t) in mesh.tetrahedra.iter().enumerate() {
            let [a, b, c, d] = t.map(|i| i + 1);
            write!(ele, "{} {a} {b} {c} {d}", i + 1)?;
            match mesh.regions.get(i) {
                Some(region) => writeln!(ele, " {region}")?,
                None => writeln!(ele)?,
            }
        }
        Ok(())
    };
    write().map_err(|why| unwritable(&why))
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

type TetWriter = fn(&TetMesh, &mut dyn Write) -> io::Result<()>;

fn writer(extension: &str) -> Result<TetWriter, GeometryError> {
    match extension {
        "msh" => Ok(write_gmsh),
        "vtu" => Ok(write_vtu),
        "mesh" => Ok(write_medit),
        _ => Err(GeometryError::new(
            format!("`.{extension}` is not a format of tetrahedra that is written"),
            "give a .msh (Gmsh), .vtu (VTK), .mesh (Medit) or .node/.ele (TetGen) file",
        )),
    }
}

/// Refuses a mesh that no reader would take back.
fn check(mesh: &TetMesh) -> Result<(), GeometryError> {
    let points = mesh.points.len();
    let astray = |t: &[u32; 4]| t.iter().any(|&i| i as usize >= points);
    if let Some(t) = mesh.tetrahedra.iter().position(astray) {
        return Err(GeometryError::new(
            format!("tetrahedron {t} names points {:?} but there are {points}", mesh.tetrahedra[t]),
            "point indices of tetrahedra count from 0",
        ));
    }
    if !mesh.regions.is_empty() && mesh.regions.len() != mesh.tetrahedra.len() {
        return Err(GeometryError::new(
            format!("there are {} regions for {} tetrahedra", mesh.regions.len(), mesh.tetrahedra.len()),
            "give every tetrahedron a region, or none",
        ));
    }
    crate::error::all_finite("point", &mesh.points)
}

fn write_medit(mesh: &TetMesh, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "MeshVersionFormatted 2\nDimension 3\nVertices\n{}", mesh.points.len())?;
    for p in &mesh.points {
        writeln!(out, "{:e} {:e} {:e} 0", p.x, p.y, p.z)?;
    }
    writeln!(out, "Tetrahedra\n{}", mesh.tetrahedra.len())?;
    for (i, t) in mesh.tetrahedra.iter().enumerate() {
        let [a, b, c, d] = t.map(|i| i + 1);
        writeln!(out, "{a} {b} {c} {d} {}", mesh.regions.get(i).unwrap_or(&0))?;
    }
    writeln!(out, "End")
}

fn unwritable(why: &io::Error) -> GeometryError {
    GeometryError {
        io: true,
        ..GeometryError::new(
            format!("cannot write the file: {why}"),
            "check that the folder exists, that you may write there and that there is room",
        )
    }
}
