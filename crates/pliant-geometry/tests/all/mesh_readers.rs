//! Mesh files in: what each format's reader keeps, mends and notes.

use glam::DVec3;
use pliant_geometry::{GeometryError, MeshFile, PolyMesh, read_mesh_through};
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Reads files from memory; the first is the mesh.
fn read(files: &[(&str, &[u8])]) -> Result<MeshFile, Vec<GeometryError>> {
    let mut fetch = |path: &Path| {
        let found = files.iter().find(|(name, _)| path == Path::new("folder").join(name));
        found.map(|(_, bytes)| bytes.to_vec()).ok_or(Error::from(ErrorKind::NotFound))
    };
    let file = read_mesh_through(&Path::new("folder").join(files[0].0), &mut fetch)?;
    file.meshes.iter().for_each(|m| m.check().unwrap());
    Ok(file)
}

fn one(files: &[(&str, &[u8])]) -> (PolyMesh, Vec<String>) {
    let file = read(files).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(file.meshes.len(), 1);
    (file.meshes.into_iter().next().unwrap(), file.notes)
}

fn said(name: &str, bytes: &[u8]) -> Vec<String> {
    read(&[(name, bytes)]).expect_err("refused").iter().map(GeometryError::to_string).collect()
}

fn faces(mesh: &PolyMesh) -> Vec<Vec<u32>> {
    mesh.attributes.faces.iter().map(<[u32]>::to_vec).collect()
}

fn has(notes: &[String], part: &str) -> bool {
    notes.iter().any(|n| n.contains(part))
}

const QUADS: &[u8] = b"mtllib m.mtl\no a thing\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nv 2 1 0\nv 9 9 9\n\
    vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvn 0 0 1\nusemtl red\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl wood\nf 2/1/1 5/2/1 6/3/1 3/4/1\n";

#[test]
fn obj_keeps_polygons_layers_materials_and_loose_vertices() {
    let library = b"newmtl red\nKd 1 0 0.5\nd 0.25\nnewmtl wood\nTr 0.5\nPr 0.9\nPm 0.1\nmap_Kd -s 2 2 -bm 1 my wood.png\n";
    let (mesh, notes) = one(&[("a.obj", QUADS), ("m.mtl", library)]);
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!((mesh.name.as_str(), mesh.positions.len()), ("a thing", 7));
    assert_eq!(faces(&mesh), [[0, 1, 2, 3], [1, 4, 5, 2]]);
    assert_eq!(mesh.attributes.uvs.corners, [0, 1, 2, 3, 0, 1, 2, 3]);
    assert_eq!(mesh.attributes.normals.values, [[0.0, 0.0, 1.0]]);
    assert_eq!(mesh.attributes.face_materials, [0, 1]);
    let [red, wood] = &mesh.attributes.materials[..] else { panic!() };
    assert_eq!((red.name.as_str(), red.color), ("red", [1.0, 0.0, 0.5, 0.25]));
    assert_eq!((wood.color[3], wood.roughness, wood.metallic), (0.5, 0.9, 0.1));
    assert_eq!(wood.texture.as_deref(), Some("my wood.png"));
}

#[test]
fn obj_libraries_are_optional_and_stay_in_the_folder() {
    let (mesh, notes) = one(&[("a.obj", QUADS)]);
    assert!(
        mesh.attributes.materials[1].name == "wood" && has(&notes, "`m.mtl` cannot be read"),
        "{notes:?}"
    );
    for outside in ["/etc/m.mtl", "../m.mtl", "x/../../m.mtl", "C:\\m.mtl", "..\\m.mtl"] {
        let text = String::from_utf8_lossy(QUADS).replace("m.mtl", outside);
        let (_, notes) = one(&[("a.obj", text.as_bytes())]);
        assert!(has(&notes, "not in the folder"), "{notes:?}");
    }
    let (mesh, notes) = one(&[("a.obj", QUADS), ("m.mtl", b"Kd 1\nnewmtl red\nKd x\n\xff\xfe\nd nan\n")]);
    assert!(has(&notes, "(2 times, first: line 3)"), "{notes:?}");
    assert_eq!(mesh.attributes.materials[0].color, [0.8, 0.8, 0.8, 1.0]);
    let text = String::from_utf8_lossy(QUADS).replace("m.mtl", "my m.mtl");
    let (mesh, _) = one(&[("a.obj", text.as_bytes()), ("my m.mtl", b"newmtl red\nKd 0 1 0")]);
    assert_eq!(mesh.attributes.materials[0].color, [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn obj_objects_have_their_own_vertices_in_file_order() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 7 7 7\no one\nf 4 2 1\no two\nv 8 8 8\nf 3 2 1\no one\nf 1 2 3\n";
    let file = read(&[("a.obj", text)]).unwrap();
    let names: Vec<&str> = file.meshes.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["", "one", "two"]);
    assert_eq!(file.meshes[0].positions, [DVec3::splat(7.0)]);
    assert_eq!(faces(&file.meshes[1]), [[3, 1, 0], [0, 1, 2]]);
    assert_eq!(file.meshes[2].positions, [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::splat(8.0)]);
    assert!(has(&file.notes, "point clouds"));
    // Groups part the file only where there are no objects.
    let grouped = b"g a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\ng b\nf 3 2 1\n";
    assert_eq!(read(&[("a.obj", grouped)]).unwrap().meshes.len(), 2);
    let both = [b"o all\n".as_slice(), grouped].concat();
    assert_eq!(read(&[("a.obj", &both)]).unwrap().meshes.len(), 1);
}

#[test]
fn obj_mends_layers_and_colours_and_says_so() {
    let text = b"v 0 0 0 1 0 0\nv 1 0 0 nan nan nan\nv 0 1 0\nvt 0.5 0.5\nvn 0 0 1\nvn nan 0 0\nf 1/1/1 2/7/1 3\nl 1 2\np 1\nwhat 1\n";
    let (mesh, notes) = one(&[("a.obj", text)]);
    assert_eq!(mesh.attributes.colors, [[1.0, 0.0, 0.0, 1.0], [1.0; 4], [1.0; 4]]);
    assert_eq!(mesh.attributes.uvs.corners, [0, 1, 1]);
    assert_eq!(mesh.attributes.normals.values[mesh.attributes.normals.corners[2] as usize], [0.0; 3]);
    for part in ["colours", "texture coordinate indices", "normals", "lines", "points (`p`)", "not of OBJ"] {
        assert!(has(&notes, part), "{part}: {notes:?}");
    }
    let bytes = one(&[("a.obj", b"v 0 0 0 255 0 0\nv 1 0 0 0 0 0\nv 0 1 0 0 0 0\n")]);
    assert!(
        bytes.0.attributes.colors[0] == [1.0, 0.0, 0.0, 1.0]
            && has(&bytes.1, "0 to 255")
            && has(&bytes.1, "no faces")
    );
}

const PLY: &[u8] = b"ply\nformat ascii 1.0\ncomment TextureFile a.png\ncomment TextureFile b.png\nelement thing 2\n\
    property list uchar float w\nelement vertex 4\nproperty float x\nproperty double y\nproperty float z\n\
    property float quality\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty float nx\n\
    property float ny\nproperty float nz\nelement face 2\nproperty list uchar int vertex_indices\n\
    property list uchar float texcoord\nproperty int texnumber\nend_header\n2 1 2\n0\n0 0 0 5 255 0 0 0 0 1\n\
    1 0 0 5 0 255 0 0 0 1\n1 1 0 5 0 0 255 0 0 1\n0 1 0 5 255 255 255 0 0 1\n4 0 1 2 3 8 0 0 1 0 1 1 0 1 1\n\
    3 0 1 2 6 0 0 1 0 1 1 0\n";

/// The same file in binary.
fn binary_ply(big: bool) -> Vec<u8> {
    let text = String::from_utf8(PLY.to_vec()).unwrap();
    let (head, body) = text.split_once("end_header\n").unwrap();
    let order = if big { "binary_big_endian" } else { "binary_little_endian" };
    let mut bytes = format!("{}end_header\n", head.replace("ascii", order)).into_bytes();
    let mut put = |value: &str, kind: char| {
        let v: f64 = value.parse().unwrap();
        let mut b = match kind {
            'b' => vec![v as u8],
            'i' => (v as i32).to_le_bytes().to_vec(),
            'f' => (v as f32).to_le_bytes().to_vec(),
            _ => v.to_le_bytes().to_vec(),
        };
        if big {
            b.reverse();
        }
        bytes.extend(b);
    };
    for (row, line) in body.lines().enumerate() {
        let words: Vec<&str> = line.split(' ').collect();
        let kinds: String = match row {
            0 => "bff".into(),
            1 => "b".into(),
            2..=5 => "fdffbbbfff".into(),
            6 => format!("biiiib{}i", "f".repeat(8)),
            _ => format!("biiib{}i", "f".repeat(6)),
        };
        words.iter().zip(kinds.chars()).for_each(|(w, k)| put(w, k));
    }
    bytes
}

#[test]
fn ply_is_the_same_in_text_and_both_binary_orders() {
    let (mesh, notes) = one(&[("a.ply", PLY)]);
    assert_eq!(faces(&mesh), [vec![0, 1, 2, 3], vec![0, 1, 2]]);
    assert_eq!(mesh.attributes.colors[1], [0.0, 1.0, 0.0, 1.0]);
    assert_eq!(mesh.attributes.normals.values.len(), 4);
    assert_eq!(mesh.attributes.uvs.corners, [0, 1, 2, 3, 0, 1, 2]);
    assert_eq!(mesh.attributes.face_materials, [1, 0]);
    assert_eq!(mesh.attributes.materials[1].texture.as_deref(), Some("b.png"));
    assert!(has(&notes, "`thing`") && has(&notes, "`quality`"), "{notes:?}");
    for big in [false, true] {
        assert_eq!(one(&[("a.ply", &binary_ply(big))]), (mesh.clone(), notes.clone()));
    }
}

#[test]
fn ply_strips_points_and_float_colours() {
    let strips = b"ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n\
        property float red\nproperty float green\nproperty float blue\nproperty float alpha\nelement tristrips 1\n\
        property list int int vertex_indices\nend_header\n0 0 0 .5 .5 .5 1\n1 0 0 0 0 0 1\n0 1 0 0 0 0 1\n1 1 0 0 0 0 1\n\
        0 2 0 0 0 0 .5\n8 0 1 2 3 -1 2 3 4\n";
    let (mesh, _) = one(&[("a.ply", strips)]);
    assert_eq!(faces(&mesh), [[0, 1, 2], [2, 1, 3], [2, 3, 4]]);
    assert_eq!((mesh.attributes.colors[0], mesh.attributes.colors[4][3]), ([0.5, 0.5, 0.5, 1.0], 0.5));
    let cloud = b"ply\r\nformat ascii 1.0\r\nelement vertex 1\r\nproperty float x\r\nproperty float y\r\nproperty float z\r\n\
        element face 0\r\nproperty list uchar int vertex_index\r\nend_header\r\n1 2 3\r\n";
    let (mesh, notes) = one(&[("a.ply", cloud)]);
    assert!(mesh.positions == [DVec3::new(1.0, 2.0, 3.0)] && has(&notes, "point cloud"));
}

#[test]
fn ply_headers_that_lie_are_refused() {
    let lie = |from: &str, to: &str| said("a.ply", String::from_utf8_lossy(PLY).replace(from, to).as_bytes());
    assert!(lie("vertex 4", "vertex 4000000000000")[0].contains("4000000000000 of element `vertex`"));
    assert!(lie("vertex 4", "vertex 18446744073709551615")[0].contains("no count"));
    assert!(lie("face 2", "face 99999999")[0].contains("element `face`"));
    assert!(lie("format ascii", "format klingon")[0].contains("klingon"));
    assert!(lie("property double y", "property quad y")[0].contains("a.ply:9: `quad` is no type"));
    assert!(lie("3 0 1 2 6", "3 0 1 9 6")[0].contains("face 1 names vertex 9, but there are 4"));
    assert!(lie("3 0 1 2 6", "200 0 1 2 6")[0].contains("length 200"));
    assert!(lie("1 1 0 5", "1 inf 0 5")[0].contains("vertex 2"));
    assert!(lie("1 1 0 5 0 0 255 0 0 1\n", "1 1 0\n")[0].contains(":27: the line ends too early"));
    assert!(has(&said("a.ply", &PLY[..100]), "header does not end"));
    let binary = binary_ply(false);
    assert!(said("a.ply", &binary[..binary.len() - 2])[0].contains("ends here"));
}

fn binary_stl(triangles: &[[[f32; 3]; 4]]) -> Vec<u8> {
    let mut bytes = b"solid but binary".to_vec();
    bytes.resize(80, 0);
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for t in triangles {
        t.iter().flatten().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend([0, 0]);
    }
    bytes
}

const O: [f32; 3] = [0.0; 3];
const X: [f32; 3] = [1.0, 0.0, 0.0];
const Y: [f32; 3] = [-0.0, 1.0, 0.0];
const Z: [f32; 3] = [0.0, 0.0, 1.0];

#[test]
fn stl_merges_equal_positions_and_trusts_the_order_of_corners() {
    let bytes = binary_stl(&[[Z, O, X, Y], [Z, O, Y, X]]);
    let (mesh, notes) = one(&[("a.stl", &bytes)]);
    assert_eq!(mesh.positions, [DVec3::ZERO, DVec3::X, DVec3::Y]);
    assert_eq!(faces(&mesh), [[0, 1, 2], [0, 2, 1]]);
    assert!(has(&notes, "the other way") && has(&notes, "triangle 1"), "{notes:?}");
    let longer = [&bytes[..], b"trailing"].concat();
    assert!(has(&one(&[("a.stl", &longer)]).1, "8 bytes after"));
    assert!(said("a.stl", &bytes[..150])[0].contains("says 2 triangles; there are 1 in"));
    assert!(said("a.stl", &binary_stl(&[[Z, O, X, [f32::NAN; 3]]]))[0].contains("triangle 0"));
    let text = b"solid one\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
        endsolid one\nsolid two\n facet normal 0 0 0\n outer loop\n vertex 0 0 1\n vertex 1e0 0 1\n vertex 0 1 1\n endloop\n endfacet\nendsolid\n";
    let file = read(&[("a.stl", text)]).unwrap();
    let names: Vec<&str> = file.meshes.iter().map(|m| m.name.as_str()).collect();
    assert_eq!((names, file.meshes[1].positions.len()), (vec!["one", "two"], 3));
    let bad = said("a.stl", b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0\nvertex 1 q 0\nendloop\nendfacet\nfacet normal 0 0 1\n");
    assert_eq!(bad.len(), 4, "{bad:?}");
}

#[test]
fn off_with_all_its_prefixes() {
    let (mesh, _) =
        one(&[("a.off", b"# hello\nOFF # c\n4 1 0\n0 0 0\n1 0 0 # c\n\n1 1 0\n0 1 0\n4 0 1 2 3\n")]);
    assert_eq!((mesh.positions.len(), faces(&mesh)), (4, vec![vec![0, 1, 2, 3]]));
    let (mesh, notes) = one(&[("a.off", b"STCNOFF 3 1 0\n0 0 0 0 0 1 255 0 0 255 .5 .5\n1 0 0 0 0 1 0 0 0 255 1 1\n0 1 0 0 0 1 0 0 0 0 0 0\n3 0 1 2 1 0 0\n")]);
    assert_eq!(mesh.attributes.colors, [[1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0], [0.0; 4]]);
    assert_eq!(
        (mesh.attributes.uvs.values[0], mesh.attributes.normals.values[2]),
        ([0.5, 0.5], [0.0, 0.0, 1.0])
    );
    assert!(has(&notes, "colours of faces"));
    assert!(
        said("a.off", b"OFF\n99999999999 5 0\n0 0 0\n")[0].contains(":2: the file says 99999999999 vertices")
    );
    assert!(said("a.off", b"OFF\n1 1 0\n0 0 0\n3 0 0 1\n")[0].contains(":4:"));
    assert!(said("a.off", b"OFF BINARY\n")[0].contains("binary OFF"));
    assert!(said("a.off", b"4OFF\n")[0].contains("dimension"));
    assert!(said("a.off", b"OFF\n2 0 0\n0 0 0\n #padding\n")[0].contains("vertex 2 of 2"));
}

#[test]
fn point_lists_have_columns() {
    let (mesh, notes) = one(&[("a.pts", b"2\n1 2 3 77 255 0 0\n4 5 6 78 0 0 255\n")]);
    assert_eq!(mesh.attributes.colors[1], [0.0, 0.0, 1.0, 1.0]);
    assert!(mesh.positions.len() == 2 && has(&notes, "1 more columns"));
    let (mesh, notes) = one(&[("a.xyz", b"1 2 3 0 0 1\n4 5 6 0.6 0.8 0\n")]);
    assert!(mesh.attributes.colors.is_empty() && has(&notes, "unit length"));
    let (mesh, _) = one(&[("a.csv", b"\"r\";g;b;x;y;z\n255;0;0;1;2;3\n")]);
    assert_eq!(
        (mesh.positions[0], mesh.attributes.colors[0]),
        (DVec3::new(1.0, 2.0, 3.0), [1.0, 0.0, 0.0, 1.0])
    );
    assert!(said("a.txt", b"1,5 2,5 3,5\n")[0].contains("commas for decimals"));
    assert!(said("a.txt", b"1 2 3\n1 2 3 4\n1 2\n")[0].contains(":2: 4 numbers where the first point has 3"));
    assert!(said("a.txt", b"hello\nworld\n")[0].contains("`hello` is not a number"));
}

#[test]
fn names_that_say_nothing_or_the_wrong_thing() {
    let stl = binary_stl(&[[Z, O, X, Y]]);
    let file = read(&[("a.ply", &stl)]).unwrap();
    assert!(file.format == "STL, binary" && has(&file.notes, "named .ply but its content is .stl"));
    for (name, bytes, format) in [
        ("a", QUADS, "OBJ"),
        ("a.txt", QUADS, "OBJ"),
        ("a.dat", PLY, "PLY, ASCII"),
        ("b", b"OFF\n1 0 0\n0 0 0\n", "OFF"),
        ("c.dat", b"1 2 3\n4 5 6\n", "points"),
    ] {
        let file = read(&[(name, bytes)]).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(file.format, format);
        assert!(!file.notes.is_empty());
    }
    assert!(said("a.obj", b"POINTCACHE2\0....")[0].contains("PC2 point cache"));
    assert!(said("a.fbx", b"Kaydara FBX Binary  ")[0].contains("an FBX file"));
    assert!(said("a.weird", b"what is this")[0].contains("`.weird` is not"));
    assert!(said("a", b"\0\0")[0].contains("no extension"));
}

#[test]
fn a_library_is_read_once_however_often_it_is_named() {
    let text = "mtllib m.mtl\n".repeat(1000) + "usemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let mut fetched = 0;
    let mut fetch = |path: &Path| {
        fetched += 1;
        Ok(if path.ends_with("m.mtl") {
            b"newmtl red\nKd 1 0 0\n".to_vec()
        } else {
            text.clone().into_bytes()
        })
    };
    let file = read_mesh_through(Path::new("a.obj"), &mut fetch).unwrap();
    assert_eq!(file.meshes[0].attributes.materials[0].color, [1.0, 0.0, 0.0, 1.0]);
    assert_eq!(fetched, 2);
}
