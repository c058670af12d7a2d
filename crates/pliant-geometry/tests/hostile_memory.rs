//! Small files that claim to be enormous, go in circles or point elsewhere: refused, and with little memory. A
//! program of its own, as the memory of all threads counts.
#![allow(unsafe_code)] // an allocator cannot be written without; this one only counts

mod soundness;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Knows how much memory is in use, and the most that ever was.
struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn more(size: usize) {
    let used = USED.fetch_add(size, Ordering::Relaxed) + size;
    PEAK.fetch_max(used, Ordering::Relaxed);
}

// SAFETY: passes everything on to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        more(layout.size());
        // SAFETY: as promised by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        more(size);
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory that a file of a kilobyte may take.
const ENOUGH: usize = 64 << 20;
/// Memory that one of 64 kB may take.
const ENOUGH_FOR_LARGER: usize = 400 << 20;

/// Ten milliards, and what does not fit 32 and 64 bits.
const CLAIMS: [&str; 4] = ["10000000000", "4294967295", "4294967297", "18446744073709551615"];

fn texts() -> Vec<(&'static str, String)> {
    let mut files = Vec::new();
    for n in CLAIMS {
        let ply = |format: &str, count: &str, list: &str, body: &str| {
            format!(
                "ply\nformat {format} 1.0\nelement vertex {count}\nproperty float x\nproperty float y\nproperty float z\n\
                 element face {list}\nproperty list uint int vertex_indices\nend_header\n{body}"
            )
        };
        for format in ["ascii", "binary_little_endian", "binary_big_endian"] {
            files.push(("ply", ply(format, n, "0", "0 0 0\n")));
            files.push(("ply", ply(format, "1", n, "0 0 0\n3 0 0 0\n")));
            files.push(("ply", ply(format, n, n, "")));
        }
        files.push(("ply", ply("ascii", "3", "1", &format!("0 0 0\n1 0 0\n0 1 0\n{n} 0 1 2\n"))));
        let empty = format!(
            "ply\nformat ascii 1.0\nelement nothing {n}\nelement vertex 1\nproperty float x\nend_header\n0\n"
        );
        files.push(("ply", empty.clone()));
        files.push(("ply", empty.replace("ascii", "binary_little_endian")));
        files.push(("off", format!("OFF\n{n} {n} 0\n0 0 0\n")));
        files.push(("off", format!("OFF\n3 {n} 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")));
        files.push(("off", format!("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n{n} 0 1 2\n")));
        files.push(("xyz", format!("{n}\n1 2 3 4 5 6 7\n")));
        files.push(("obj", format!("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {n}\n")));
        files.push((
            "gmsh",
            format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n}\n1 0 0 0\n$EndNodes\n"),
        ));
        files.push((
            "gmsh",
            format!(
                "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {n} 1 {n}\n3 1 0 {n}\n1\n0 0 0\n$EndNodes\n"
            ),
        ));
        files.push(("medit", format!("MeshVersionFormatted 2\nDimension 3\nVertices\n{n}\n0 0 0 0\nEnd\n")));
        for kind in ["ASCII", "BINARY"] {
            let start = format!("# vtk DataFile Version 3.0\n\n{kind}\nDATASET UNSTRUCTURED_GRID\n");
            files.push(("vtk", format!("{start}POINTS {n} float\n0 0 0\n")));
            files.push(("vtk", format!("{start}POINTS 1 double\n0 0 0\nCELLS {n} {n}\n4 0 0 0 0\n")));
        }
        files.push((
            "vtu",
            format!(
                "<VTKFile type=\"UnstructuredGrid\"><UnstructuredGrid><Piece NumberOfPoints=\"{n}\" NumberOfCells=\"{n}\">\
                 <Points><DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">0 0 0</DataArray></Points>\
                 </Piece></UnstructuredGrid></VTKFile>"
            ),
        ));
        files.push(("tetgen", format!("{n} 3 0 0\n1 0 0 0\n\0{n} 4 0\n1 1 1 1 1\n")));
        files.extend(gltf(n).map(|text| ("gltf", text)));
    }
    for uri in [
        "../a",
        "/etc/passwd",
        "%2e%2e/a",
        "b/%2E%2e/../../a",
        "file:///etc/passwd",
        "..\\\\a",
        "C:/a",
        "//host/a",
    ] {
        files.push(("gltf", document(uri, "36", "36", "3", "")));
        // A material library that cannot be had leaves a mesh with a note, so a fault makes it an error.
        files.push(("obj", format!("mtllib {uri}\nusemtl m\nv 0 0 0\nf 1 2 3\n")));
    }
    let depth = 400;
    files.push(("gltf", format!("{}{}", "[".repeat(depth), "]".repeat(depth))));
    files
}

fn document(uri: &str, buffer: &str, view: &str, count: &str, more: &str) -> String {
    format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"buffers\":[{{\"uri\":\"{uri}\",\"byteLength\":{buffer}}}],\
         \"bufferViews\":[{{\"buffer\":0,\"byteLength\":{view}}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\"type\":\"VEC3\",\"count\":{count}}}],\
         \"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0}}}}]}}],\
         \"nodes\":[{{\"mesh\":0{more}}}],\"scenes\":[{{\"nodes\":[0]}}]}}"
    )
}

fn gltf(n: &str) -> [String; 6] {
    let inside = "data:;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    [
        document(inside, n, "36", "3", ""),
        document(inside, "36", n, "3", ""),
        document(inside, "36", "36", n, ""),
        // No view at all: zeros without bytes.
        document(inside, "36", "36", n, "").replace("\"bufferView\":0,", ""),
        document(inside, "36", "36", "3", ",\"children\":[0]"),
        document(inside, "36", "36", "3", &format!(",\"children\":[{n}]")),
    ]
}

fn binaries() -> Vec<(&'static str, Vec<u8>)> {
    let mut files = Vec::new();
    for n in [u32::MAX, i32::MAX as u32, 200_000_000, 1_000_000] {
        let [little, big] = [n.to_le_bytes(), n.to_be_bytes()];
        let zeros = |count| vec![0; count];
        files.push(("stl", [zeros(80), little.to_vec(), zeros(900)].concat()));
        let start = |points: [u8; 4], samples: [u8; 4]| {
            [b"POINTCACHE2\0\x01\0\0\0".to_vec(), points.to_vec(), zeros(8), samples.to_vec(), zeros(900)]
                .concat()
        };
        files.extend(
            [start(little, little), start([1, 0, 0, 0], little), start(little, [1, 0, 0, 0])]
                .map(|f| ("pc2", f)),
        );
        files.push(("mdd", [big.to_vec(), big.to_vec(), zeros(900)].concat()));
        files.push(("mdd", [vec![0, 0, 0, 1], big.to_vec(), zeros(900)].concat()));
        // A container that is not as long as it says, and a part of it that is not.
        let glb = |whole: [u8; 4], part: [u8; 4]| {
            [b"glTF\x02\0\0\0".to_vec(), whole.to_vec(), part.to_vec(), b"JSON{}  ".to_vec(), zeros(900)]
                .concat()
        };
        files.extend(
            [glb(little, [4, 0, 0, 0]), glb([0x98, 3, 0, 0], little), glb(little, little)]
                .map(|f| ("glb", f)),
        );
        files.push(("off", [b"OFF BINARY\n".to_vec(), big.to_vec(), big.to_vec(), zeros(900)].concat()));
        let header =
            b"ply\nformat binary_little_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n\
            property float z\nelement face 1\nproperty list uint int vertex_indices\nend_header\n";
        files.push(("ply", [header.to_vec(), zeros(12), little.to_vec(), zeros(500)].concat()));
        for version in ["2.2", "4.1"] {
            let start = format!("$MeshFormat\n{version} 1 8\n\x01\0\0\0\n$EndMeshFormat\n$Nodes\n{n}\n");
            files.push((
                "gmsh",
                [start.into_bytes(), [little.to_vec(), zeros(4)].concat().repeat(60)].concat(),
            ));
        }
        // A raw block that says how long it is once inflated.
        let grid = format!(
            "<VTKFile type=\"UnstructuredGrid\" header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\">\
             <UnstructuredGrid><Piece NumberOfPoints=\"{n}\" NumberOfCells=\"1\"><Points>\
             <DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"appended\" offset=\"0\"/></Points></Piece>\
             </UnstructuredGrid><AppendedData encoding=\"raw\">_"
        );
        files.push(("vtu", [grid.into_bytes(), little.repeat(60)].concat()));
    }
    files
}

/// A grid whose pieces all name the same bytes, which become a thousand times as many.
fn piled_up() -> Vec<u8> {
    let points = 1_000_000;
    let deflated = |data: &[u8]| {
        let block = miniz_oxide::deflate::compress_to_vec_zlib(data, 9);
        let sizes = [1, data.len() as u32, 0, block.len() as u32].map(u32::to_le_bytes);
        [sizes.as_flattened(), &block].concat()
    };
    let coordinates = deflated(&vec![0; 24 * points]);
    let array = |name: &str, kind: &str, offset: usize| {
        format!(
            "<DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"3\" format=\"appended\" offset=\"{offset}\"/>"
        )
    };
    let end = coordinates.len();
    let piece = format!(
        "<Piece NumberOfPoints=\"{points}\" NumberOfCells=\"0\"><Points>{}</Points><Cells>{}{}{}</Cells></Piece>",
        array("Points", "Float64", 0),
        array("connectivity", "Int64", end),
        array("offsets", "Int64", end),
        array("types", "UInt8", end)
    );
    let text = format!(
        "<VTKFile type=\"UnstructuredGrid\" header_type=\"UInt32\" compressor=\"vtkZLibDataCompressor\">\
         <UnstructuredGrid>{}</UnstructuredGrid><AppendedData encoding=\"raw\">_",
        piece.repeat(60)
    );
    [text.into_bytes(), coordinates, vec![0; 16], b"</AppendedData></VTKFile>".to_vec()].concat()
}

/// A thousand buffers that are one file, and zeros that are in none of them.
fn named_often() -> Vec<u8> {
    let text = document("a.bin", "20000", "36", "50000000", "").replace("\"bufferView\":0,", "");
    let buffer = "{\"uri\":\"a.bin\",\"byteLength\":20000}";
    let text = text.replace(buffer, &[buffer; 1000].join(","));
    [text.into_bytes(), vec![0; 20_001]].concat()
}

/// One test, so that no other one's memory is counted.
#[test]
fn small_files_with_great_claims_are_refused_with_little_memory() {
    let mut files = binaries();
    files.extend(texts().into_iter().map(|(format, text)| (format, text.into_bytes())));
    // It must be refused for what it is, and not for a slip in writing it.
    let why = pliant_geometry::parse_vtu(&piled_up()).unwrap_err().message;
    assert!(why.contains("far larger than its size warrants"), "{why}");
    let small = files.into_iter().map(|(format, bytes)| (format, bytes, 1500, ENOUGH));
    let larger = [("vtu", piled_up()), ("gltf", named_often())];
    let larger = larger.into_iter().map(|(format, bytes)| (format, bytes, 1 << 16, ENOUGH_FOR_LARGER));
    for (format, bytes, most, enough) in small.chain(larger) {
        assert!(bytes.len() < most, "{format}: {} bytes", bytes.len());
        let before = USED.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let accepted = soundness::feed(format, &bytes);
        let peak = PEAK.load(Ordering::Relaxed) - before;
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
        assert!(!accepted, "{format}: accepted {shown}");
        assert!(peak < enough, "{format}: {} MB for {shown}", peak >> 20);
    }
}
