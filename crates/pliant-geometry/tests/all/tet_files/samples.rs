//! One small mesh in every format that is read.

use pliant_geometry::encode_base64;
use pliant_geometry::{
    GeometryError, TetFile, TetMesh, parse_gmsh, parse_medit, parse_tetgen, parse_vtk, parse_vtu,
};
use std::path::Path;

type Parse = Box<dyn Fn(&[u8]) -> Result<TetFile, GeometryError>>;

/// A file and how it is read.
pub struct Sample {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub parse: Parse,
}

pub const POINTS: [[f64; 3]; 5] =
    [[0.0, 0.0, 0.0], [1.25, 0.0, 0.0], [0.0, 1.5, 0.0], [0.0, 0.0, 1.75], [1.0, 1.0, 1.125]];
pub const TETS: [[u32; 4]; 2] = [[0, 1, 2, 3], [1, 2, 3, 4]];

pub fn wanted() -> TetMesh {
    TetMesh { points: POINTS.map(Into::into).to_vec(), tetrahedra: TETS.to_vec(), regions: Vec::new() }
}

fn sample(
    name: &'static str,
    bytes: impl Into<Vec<u8>>,
    parse: impl Fn(&[u8]) -> Result<TetFile, GeometryError> + 'static,
) -> Sample {
    Sample { name, bytes: bytes.into(), parse: Box::new(parse) }
}

/// The numbers of `rows`, a row a line, each begun by its index counted from `first` if there is one.
fn table<T: ToString, const N: usize>(rows: &[[T; N]], first: Option<usize>, end: &str) -> String {
    let row = |(i, row): (usize, &[T; N])| {
        let index = first.map(|first| (first + i).to_string());
        let words: Vec<String> = index.into_iter().chain(row.iter().map(T::to_string)).collect();
        words.join(" ") + end + "\n"
    };
    rows.iter().enumerate().map(row).collect()
}

fn shifted(by: u32) -> [[u32; 4]; 2] {
    TETS.map(|t| t.map(|i| i + by))
}

pub fn node() -> String {
    format!("# points\n5 3 1 1\n{}# made by hand\n", table(&POINTS, Some(1), " 0.5 1"))
}

pub fn ele() -> String {
    format!("2 4 0\n\n{}# made by hand\n", table(&shifted(1), Some(1), " # one"))
}

pub fn tetgen(node: &[u8], ele: &[u8]) -> Result<TetFile, GeometryError> {
    parse_tetgen(node, ele, [Path::new("it.node"), Path::new("it.ele")])
}

fn bytes_of<const W: usize>(values: impl IntoIterator<Item = [u8; W]>) -> Vec<u8> {
    values.into_iter().flatten().collect()
}

pub fn gmsh2_text() -> String {
    let elements: String = shifted(10)
        .iter()
        .zip(4..)
        .map(|([a, b, c, d], n)| format!("{n} 4 2 0 0 {a} {b} {c} {d}\n"))
        .collect();
    format!(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"all of it\"\n$EndPhysicalNames\n$Nodes\n5\n{}\
         $EndNodes\n$Elements\n3\n1 2 2 0 3 10 11 12\n{elements}$EndElements\n",
        table(&POINTS, Some(10), "")
    )
}

fn gmsh2_binary() -> Vec<u8> {
    let mut file = b"$MeshFormat\n2.2 1 8\n".to_vec();
    file.extend(1i32.to_le_bytes());
    file.extend(b"\n$EndMeshFormat\n$Nodes\n5\n");
    for (tag, p) in (10i32..).zip(POINTS) {
        file.extend(tag.to_le_bytes());
        file.extend(bytes_of(p.map(f64::to_le_bytes)));
    }
    file.extend(b"\n$EndNodes\n$Elements\n3\n");
    file.extend(bytes_of([2i32, 1, 2, 1, 0, 3, 10, 11, 12].map(i32::to_le_bytes)));
    file.extend(bytes_of([4i32, 2, 2].map(i32::to_le_bytes)));
    for (tag, t) in (2i32..).zip(shifted(10)) {
        file.extend(bytes_of([tag, 0, 0].map(i32::to_le_bytes)));
        file.extend(bytes_of(t.map(u32::to_le_bytes)));
    }
    file.extend(b"\n$EndElements\n");
    file
}

/// Nodes in two blocks, the first with a parameter along its curve; tags with gaps.
pub fn gmsh4_text(volume: i32) -> String {
    let p = POINTS.map(|p| p.map(|x| x.to_string()).join(" "));
    format!(
        "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n{volume} 0 0 0 1 1 1 1 7 0\n$EndEntities\n\
         $Nodes\n2 5 2 400\n1 1 1 2\n2\n3\n{} 0\n{} 1\n3 {volume} 0 3\n50\n6\n400\n{}\n{}\n{}\n$EndNodes\n\
         $Elements\n2 3 1 3\n2 1 2 1\n1 2 3 50\n3 {volume} 4 2\n2 2 3 50 6\n3 3 50 6 400\n$EndElements\n",
        p[0], p[1], p[2], p[3], p[4]
    )
}

fn gmsh4_binary(big: bool) -> Vec<u8> {
    let int = |v: i32| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let size = |v: u64| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let real = |v: f64| if big { v.to_be_bytes() } else { v.to_le_bytes() };
    let mut file = b"$MeshFormat\n4.1 1 8\n".to_vec();
    file.extend(int(1));
    file.extend(b"\n$EndMeshFormat\n$Entities\n");
    file.extend(bytes_of([0, 0, 0, 1].map(size)));
    file.extend(int(0));
    file.extend(bytes_of([0.0; 6].map(real)));
    file.extend(bytes_of([0, 0].map(size)));
    file.extend(b"\n$EndEntities\n$Nodes\n");
    file.extend(bytes_of([1, 5, 1, 5].map(size)));
    file.extend(bytes_of([3, 0, 0].map(int)));
    file.extend(bytes_of([5, 1, 2, 3, 4, 5].map(size)));
    POINTS.iter().for_each(|p| file.extend(bytes_of(p.map(real))));
    file.extend(b"\n$EndNodes\n$Elements\n");
    file.extend(bytes_of([1, 2, 1, 2].map(size)));
    file.extend(bytes_of([3, 0, 4].map(int)));
    file.extend(size(2));
    for (tag, t) in (1..).zip(shifted(1)) {
        file.extend(size(tag));
        file.extend(bytes_of(t.map(|i| size(i.into()))));
    }
    file.extend(b"\n$EndElements\n");
    file
}

pub fn medit() -> String {
    format!(
        "MeshVersionFormatted 2\n# by hand\nDimension\n3\nVertices\n5\n{}Triangles\n1\n1 2 3 0\nCorners 1\n2\n\
         Tetrahedra\n2\n{}End\n",
        table(&POINTS, None, " 0"),
        table(&shifted(1), None, " 0")
    )
}

fn vtk_text() -> String {
    let cells = TETS.map(|[a, b, c, d]| format!("4 {a} {b} {c} {d}")).join("\n");
    format!(
        "# vtk DataFile Version 3.0\ntwo\nASCII\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTIME 1 1 double\n0.5\n\
         POINTS 5 float\n{}METADATA\nINFORMATION 0\n\nCELLS 3 14\n3 0 1 2\n{cells}\nCELL_TYPES 3\n5\n10\n10\n\
         CELL_DATA 3\nSCALARS s float\nLOOKUP_TABLE default\n1 2 3\n",
        table(&POINTS, None, "")
    )
}

fn vtk_binary(since_5: bool) -> Vec<u8> {
    let mut file = b"# vtk DataFile Version 5.1\ntwo\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 ".to_vec();
    let points = POINTS.iter().flatten();
    if since_5 {
        file.extend(b"double\n");
        file.extend(bytes_of(points.map(|x| x.to_be_bytes())));
        file.extend(b"\nCELLS 3 8\nOFFSETS vtktypeint64\n");
        file.extend(bytes_of([0i64, 4, 8].map(i64::to_be_bytes)));
        file.extend(b"\nCONNECTIVITY vtktypeint64\n");
        file.extend(bytes_of(TETS.as_flattened().iter().map(|&i| i64::from(i).to_be_bytes())));
    } else {
        file.extend(b"float\n");
        file.extend(bytes_of(points.map(|&x| (x as f32).to_be_bytes())));
        file.extend(b"\nCELLS 2 10\n");
        for t in TETS {
            file.extend(4u32.to_be_bytes());
            file.extend(bytes_of(t.map(u32::to_be_bytes)));
        }
    }
    file.extend(b"\nCELL_TYPES 2\n");
    file.extend(bytes_of([10i32, 10].map(i32::to_be_bytes)));
    file.push(b'\n');
    file
}

#[derive(Clone, Copy, PartialEq)]
enum Vtu {
    Text,
    Base64,
    ZippedBase64,
    AppendedRaw,
    AppendedBase64,
    ZippedAppendedRaw,
}

fn base64(bytes: &[u8]) -> String {
    String::from_utf8(encode_base64(bytes)).unwrap()
}

fn vtu(how: Vtu) -> Vec<u8> {
    let zipped = matches!(how, Vtu::ZippedBase64 | Vtu::ZippedAppendedRaw);
    let encoded = |data: &[u8]| {
        if !zipped {
            let size = (data.len() as u64).to_le_bytes();
            let all = [&size[..], data].concat();
            return (all.clone(), base64(&all));
        }
        // Blocks of 16 bytes, header and data encoded each for itself as VTK does.
        let blocks: Vec<Vec<u8>> =
            data.chunks(16).map(|b| miniz_oxide::deflate::compress_to_vec_zlib(b, 6)).collect();
        let mut header = vec![blocks.len() as u64, 16, data.len() as u64 % 16];
        header.extend(blocks.iter().map(|b| b.len() as u64));
        let (header, blocks) = (bytes_of(header.into_iter().map(u64::to_le_bytes)), blocks.concat());
        ([&header[..], &blocks].concat(), base64(&header) + &base64(&blocks))
    };
    let mut appended = Vec::new();
    let mut array = |attributes: &str, text: String, data: Vec<u8>| {
        let (raw, base64) = encoded(&data);
        let (format, inside) = match how {
            Vtu::Text => ("ascii".to_string(), text),
            Vtu::Base64 | Vtu::ZippedBase64 => ("binary".to_string(), base64),
            _ => {
                let offset = appended.len();
                appended.extend(if how == Vtu::AppendedBase64 { base64.into_bytes() } else { raw });
                (format!("appended\" offset=\"{offset}"), String::new())
            }
        };
        format!("<DataArray {attributes} format=\"{format}\">\n{inside}\n</DataArray>\n")
    };
    let mut file = format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt64\"{}>\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"5\" NumberOfCells=\"2\">\n<Points>\n",
        if zipped { " compressor=\"vtkZLibDataCompressor\"" } else { "" }
    );
    let points = bytes_of(POINTS.iter().flatten().map(|x| x.to_le_bytes()));
    file +=
        &array("type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", table(&POINTS, None, ""), points);
    file += "</Points>\n<Cells>\n";
    let corners = bytes_of(TETS.as_flattened().iter().map(|&i| i64::from(i).to_le_bytes()));
    file += &array("type=\"Int64\" Name=\"connectivity\"", table(&TETS, None, ""), corners);
    file +=
        &array("type=\"Int32\" Name=\"offsets\"", "4 8".into(), bytes_of([4i32, 8].map(i32::to_le_bytes)));
    file += &array("type=\"UInt8\" Name=\"types\"", "10 10".into(), vec![10, 10]);
    file += "</Cells>\n</Piece>\n</UnstructuredGrid>\n";
    let mut file = file.into_bytes();
    if !appended.is_empty() {
        let encoding = if how == Vtu::AppendedBase64 { "base64" } else { "raw" };
        file.extend(format!("<AppendedData encoding=\"{encoding}\">\n_").into_bytes());
        file.extend(appended);
        file.extend(b"\n</AppendedData>\n");
    }
    file.extend(b"</VTKFile>\n");
    file
}

pub fn all() -> Vec<Sample> {
    vec![
        sample("tetgen .node", node(), |bytes| tetgen(bytes, ele().as_bytes())),
        sample("tetgen .ele", ele(), |bytes| tetgen(node().as_bytes(), bytes)),
        sample("gmsh 2.2 text", gmsh2_text(), parse_gmsh),
        sample("gmsh 2.2 binary", gmsh2_binary(), parse_gmsh),
        sample("gmsh 4.1 text", gmsh4_text(4).replace(" 1 7 0", " 1 0 0"), parse_gmsh),
        sample("gmsh 4.1 binary", gmsh4_binary(false), parse_gmsh),
        sample("gmsh 4.1 big-endian", gmsh4_binary(true), parse_gmsh),
        sample("medit", medit(), parse_medit),
        sample("vtk text", vtk_text(), parse_vtk),
        sample("vtk binary", vtk_binary(false), parse_vtk),
        sample("vtk 5 binary", vtk_binary(true), parse_vtk),
        sample("vtu text", vtu(Vtu::Text), parse_vtu),
        sample("vtu base64", vtu(Vtu::Base64), parse_vtu),
        sample("vtu zipped base64", vtu(Vtu::ZippedBase64), parse_vtu),
        sample("vtu appended raw", vtu(Vtu::AppendedRaw), parse_vtu),
        sample("vtu appended base64", vtu(Vtu::AppendedBase64), parse_vtu),
        sample("vtu zipped appended raw", vtu(Vtu::ZippedAppendedRaw), parse_vtu),
    ]
}
