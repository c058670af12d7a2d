//! Alembic files read back by a strict reader of the published layout: structure and contents.

use crate::common::{expected, frame, header, write_log};
use crate::ogawa::{Archive, Object};
use glam::DVec3;
use pliant_cache::{
    Conversion, ExportOptions, FrameSelection, LogBody, LogFrame, LogHeader, LogReader, LogWriter, export,
};
use pliant_geometry::{FollowingNormals, Layer, MeshAttributes, Polygons, Skin, SurfaceMaterial, TriMesh};
use std::fs;
use std::path::Path;

const MESH: &str =
    "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
const POINTS: &str =
    "schema=AbcGeom_Points_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_Points_v1:.geom";

fn log_of(directory: &Path, header: &LogHeader, frames: &[LogFrame]) -> LogReader {
    let path = directory.join("a.plog");
    let mut writer = LogWriter::create(&path, header, true).unwrap();
    for frame in frames {
        writer.append_frame(frame).unwrap();
    }
    writer.finish().unwrap();
    LogReader::open(&path).unwrap()
}

fn archive_of(directory: &Path, reader: &LogReader, options: &ExportOptions) -> (Archive, Vec<u8>) {
    let path = directory.join("a.abc");
    let summary = export(reader, &path, options, &mut |_, _| {}).unwrap();
    let bytes = fs::read(&path).unwrap();
    assert_eq!(summary.bytes, bytes.len() as u64);
    (crate::ogawa::read(&bytes), bytes)
}

/// The shape below the transform of a body.
fn shape(archive: &Archive, body: usize) -> &Object {
    let [shape] = &archive.top.children[body].children[..] else {
        panic!("one shape per body");
    };
    shape
}

fn bounds(points: &[[f32; 3]]) -> Vec<f64> {
    let pick = |f: fn(f32, f32) -> f32, start: f32| {
        [0, 1, 2].map(|k| f64::from(points.iter().map(|p| p[k]).fold(start, f)))
    };
    [pick(f32::min, f32::MAX), pick(f32::max, -f32::MAX)].concat()
}

#[test]
fn an_archive_holds_what_the_log_shows() {
    let directory = pliant_testing::tempdir().unwrap();
    write_log(&directory.path().join("a.plog"), 25, &[10], true);
    let reader = LogReader::open(directory.path().join("a.plog")).unwrap();
    let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());

    let names: Vec<&str> = archive.top.children.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["soft_box__1_", "soft_box__1__2", "Materials"]);
    assert_eq!(archive.samplings, [(1, 1.0, vec![0.0]), (25, 1.0 / 24.0, vec![0.0])]);
    assert!(archive.about.contains("_ai_Application=pliant 0.1.0"), "{}", archive.about);
    for k in 0..25 {
        let all = expected(&reader, k);
        assert_eq!(archive.top.properties.part(".childBnds").doubles(k), bounds(&all));
        let mut start = 0;
        for (b, body) in reader.header().bodies.iter().enumerate() {
            let shape = shape(&archive, b);
            let points = &all[start..start + body.mesh.positions.len()];
            start += points.len();
            let geometry = shape.properties.part(".geom");
            assert_eq!(geometry.part("P").floats(k), points.as_flattened(), "body {b}, frame {k}");
            assert_eq!(geometry.part(".selfBnds").doubles(k), bounds(points));
            let xform = archive.top.children[b].properties.part(".xform");
            assert_eq!(xform.part(".childBnds").doubles(k), bounds(points));
        }
    }
    for (b, body) in reader.header().bodies.iter().enumerate().take(2) {
        let shape = shape(&archive, b);
        assert_eq!(shape.metadata, MESH);
        let geometry = shape.properties.part(".geom");
        let clockwise: Vec<u32> = body.mesh.triangles.iter().flat_map(|&[a, b, c]| [c, b, a]).collect();
        assert_eq!(geometry.part(".faceIndices").integers(24), clockwise);
        assert_eq!(geometry.part(".faceCounts").integers(24), vec![3; body.mesh.triangles.len()]);
        let (mut mesh, mut normals) = (Vec::new(), Vec::new());
        body.vertices(&reader.frame(7).unwrap(), &mut mesh);
        TriMesh::vertex_normals(&mesh, &body.mesh.triangles, &mut normals);
        let wanted: Vec<f32> = normals.iter().flat_map(|n| n.as_vec3().to_array()).collect();
        let written = geometry.part("N").floats(7);
        assert_eq!(written.len(), wanted.len());
        assert!(written.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-4), "{written:?} {wanted:?}");
        let colors = geometry.part(".arbGeomParams/Cd").floats(0);
        assert!(colors.as_chunks().0.iter().all(|c| *c == body.color));
        let [set] = &shape.children[..] else { panic!("one face set") };
        assert_eq!(set.name, archive.top.children[b].name);
        let faces: Vec<u32> = (0..body.mesh.triangles.len() as u32).collect();
        assert_eq!(set.properties.part(".faceset/.faces").integers(0), faces);
    }
    let cloud = shape(&archive, 2);
    assert_eq!((cloud.metadata.as_str(), cloud.children.len()), (POINTS, 0));
    let geometry = cloud.properties.part(".geom");
    let ids: Vec<u8> = (0..20u64).flat_map(u64::to_le_bytes).collect();
    assert_eq!(geometry.part(".pointIds").sample(24), ids);
    let widths = geometry.part(".widths").floats(24);
    assert!(widths.len() == 20 && widths[0] > 0.0 && widths.iter().all(|w| *w == widths[0]));
}

/// Six squares with texture coordinates, hard normals, vertex colours and two materials on the first body,
/// and faces that are none.
fn dressed() -> LogHeader {
    let mut header = header();
    let mut faces = Polygons::default();
    for face in [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        faces.push(&face);
        faces.push(&face[..2]);
    }
    let (mut uvs, mut normals) = (Layer::default(), Layer::default());
    for f in 0..faces.len() as u32 {
        let side = f / 2;
        let axis = [2, 2, 1, 1, 0, 0][side as usize];
        let mut normal = [0.0; 3];
        normal[axis] = if side % 2 == 0 { -1.0 } else { 1.0 };
        normals.values.push(normal);
        for c in 0..faces.range(f as usize).len() as u32 {
            normals.corners.push(f);
            uvs.corners.push(uvs.values.len() as u32);
            uvs.values.push([f as f32 + c as f32 / 8.0, 1.0 - c as f32 / 4.0]);
        }
    }
    let material = |name: &str| SurfaceMaterial { name: name.into(), ..Default::default() };
    header.bodies[0].attributes = MeshAttributes {
        face_materials: (0..faces.len() as u32).map(|f| if f < 8 { 2 } else { 0 }).collect(),
        faces,
        uvs,
        normals,
        colors: (0..8).map(|k| [k as f32 / 8.0, 0.5, 0.25, 1.0]).collect(),
        materials: vec![material("rubber/red"), material("unused"), material("rubber red")],
    }
    .into();
    header
}

#[test]
fn polygons_and_what_is_on_them_survive() {
    let directory = pliant_testing::tempdir().unwrap();
    let header = dressed();
    let attributes = &header.bodies[0].attributes;
    let frames: Vec<LogFrame> = (0..3).map(|k| frame(&header, k)).collect();
    let reader = log_of(directory.path(), &header, &frames);
    let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let shape = shape(&archive, 0);
    let geometry = shape.properties.part(".geom");
    let indices = geometry.part(".faceIndices").integers(2);
    assert_eq!(geometry.part(".faceCounts").integers(2), [4; 6], "faces of two corners are none");
    let uv_of = geometry.part("uv/.indices").integers(2);
    let uvs = geometry.part("uv/.vals").floats(2);
    let normal_of = geometry.part("N/.indices").integers(2);
    let normals = geometry.part("N/.vals").floats(2);
    assert_eq!((uv_of.len(), normal_of.len()), (24, 24));
    let mut body = Vec::new();
    let mut wanted = Vec::new();
    reader.header().bodies[0].vertices(&reader.frame(2).unwrap(), &mut body);
    let following = FollowingNormals::new(attributes, &header.bodies[0].mesh);
    following.at(&body, &mut wanted);
    for side in 0..6 {
        let range = attributes.faces.range(2 * side);
        for (k, corner) in range.rev().enumerate() {
            let at = 4 * side + k;
            assert_eq!(indices[at], attributes.faces.corners()[corner]);
            let uv = attributes.uvs.values[attributes.uvs.corners[corner] as usize];
            assert_eq!(uvs[2 * uv_of[at] as usize..][..2], uv);
            let normal = wanted[following.of_corners()[corner] as usize].as_vec3().to_array();
            let written = &normals[3 * normal_of[at] as usize..][..3];
            assert!(written.iter().zip(normal).all(|(a, b)| (a - b).abs() < 1e-4));
        }
    }
    let sets: Vec<_> = shape.children.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(sets, ["rubber_red", "rubber_red_2"]);
    let faces = |k: usize| shape.children[k].properties.part(".faceset/.faces").integers(0);
    assert_eq!((faces(0), faces(1)), (vec![4, 5], vec![0, 1, 2, 3]));
    assert_eq!(geometry.part(".arbGeomParams/Cd").floats(0), attributes.colors.as_flattened());
}

#[test]
fn units_and_axes_are_those_asked_for() {
    let directory = pliant_testing::tempdir().unwrap();
    write_log(&directory.path().join("a.plog"), 2, &[], true);
    let reader = LogReader::open(directory.path().join("a.plog")).unwrap();
    let conversion = Conversion { scale: 100.0, z_up: true };
    let options = ExportOptions { conversion, ..Default::default() };
    let (archive, _) = archive_of(directory.path(), &reader, &options);
    let (plain, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let points = |archive: &Archive| shape(archive, 2).properties.part(".geom/P").floats(1);
    for (p, q) in points(&plain).as_chunks::<3>().0.iter().zip(points(&archive).as_chunks::<3>().0) {
        let turned = [p[0], -p[2], p[1]];
        assert!(turned.iter().zip(q).all(|(a, b)| (100.0 * a - b).abs() < 1e-4), "{p:?} {q:?}");
    }
    let width = |archive: &Archive| shape(archive, 2).properties.part(".geom/.widths").floats(1)[0];
    assert!((100.0 * width(&plain) - width(&archive)).abs() < 1e-4);
}

#[test]
fn what_rests_is_written_once() {
    let directory = pliant_testing::tempdir().unwrap();
    let header = header();
    // Rest, then motion in frames 30 to 32 with a pause, then rest.
    let states = |k: u32| match k {
        0..30 => 0,
        30 => 1,
        31 => 1,
        _ => 2,
    };
    let frames: Vec<LogFrame> =
        (0..300).map(|k| LogFrame { index: k, ..frame(&header, states(k)) }).collect();
    let reader = log_of(directory.path(), &header, &frames);
    let (archive, bytes) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let positions = shape(&archive, 0).properties.part(".geom/P");
    assert_eq!((positions.count, positions.changed, positions.stored.len()), (300, (30, 32), 4));
    assert_eq!(positions.stored[1].0, positions.stored[2].0, "a repeated sample shares its bytes");
    for k in [0, 29, 30, 31, 32, 299] {
        assert_eq!(positions.floats(k), expected(&reader, k)[..8].as_flattened(), "frame {k}");
    }
    assert!(bytes.len() < 40_000, "{} bytes", bytes.len());

    // Motion to the end after rest, and rest to the end after motion.
    for (states, changed) in [([0, 0, 0, 1, 2], (3, 4)), ([0, 1, 2, 2, 2], (1, 2)), ([0, 0, 0, 0, 1], (4, 4))]
    {
        let frames: Vec<LogFrame> =
            (0..5).map(|k| LogFrame { index: k as u32, ..frame(&header, states[k]) }).collect();
        let reader = log_of(directory.path(), &header, &frames);
        let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
        let positions = shape(&archive, 0).properties.part(".geom/P");
        assert_eq!(positions.changed, changed);
        for k in 0..5 {
            assert_eq!(
                positions.floats(k),
                expected(&reader, k)[..8].as_flattened(),
                "{states:?}, frame {k}"
            );
        }
    }

    let still: Vec<LogFrame> = (0..300).map(|k| LogFrame { index: k, ..frame(&header, 0) }).collect();
    let reader = log_of(directory.path(), &header, &still);
    let (archive, smaller) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let positions = shape(&archive, 0).properties.part(".geom/P");
    assert_eq!((positions.count, positions.changed, positions.stored.len()), (300, (0, 0), 1));
    assert!(smaller.len() < bytes.len());
}

#[test]
fn bodies_alike_share_their_faces() {
    let directory = pliant_testing::tempdir().unwrap();
    let mut header = header();
    let twin = LogBody { id: 3, particles: 68..80, ..header.bodies[0].clone() };
    header.bodies.push(twin);
    // The twin is where the first body is.
    let positions = frame(&header, 0).positions.map(|mut axis| {
        axis.copy_within(0..12, 68);
        axis
    });
    let both = LogFrame { positions, ..frame(&header, 0) };
    let reader = log_of(directory.path(), &header, &[both]);
    let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let place = |b| shape(&archive, b).properties.part(".geom/.faceIndices").stored[0].0;
    assert_eq!(place(0), place(3));
    let hash = |b: usize| &archive.top.children[b].hashes;
    assert_eq!(hash(0)[0], hash(3)[0], "equal properties have equal hashes");
    assert_ne!(hash(0)[0], hash(1)[0]);
    assert_ne!(hash(0)[1], hash(1)[1]);
}

#[test]
fn empty_and_tiny_bodies_are_sound() {
    let directory = pliant_testing::tempdir().unwrap();
    let mut header = header();
    for (body, (start, count)) in header.bodies.iter_mut().zip([(0, 0), (0, 1), (1, 3)]) {
        body.particles = start..start + count;
        std::sync::Arc::make_mut(&mut body.mesh).positions =
            (0..count).map(|k| DVec3::splat(f64::from(k))).collect();
        std::sync::Arc::make_mut(&mut body.mesh).triangles =
            if count == 3 { vec![[0, 1, 2]] } else { vec![] };
        body.skin = Skin::identity(count as usize).into();
        body.cluster = Default::default();
    }
    let full = frame(&crate::common::header(), 0);
    let reader = log_of(directory.path(), &header, &[full]);
    let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let empty = shape(&archive, 0).properties.part(".geom");
    assert_eq!(empty.part("P").floats(0), [0.0; 0]);
    assert_eq!(empty.part(".selfBnds").doubles(0)[..4], [f64::MAX, f64::MAX, f64::MAX, -f64::MAX]);
    let one = shape(&archive, 1).properties.part(".geom");
    assert!(one.part("P").single && one.part("P").floats(0).len() == 3);
    assert_eq!(shape(&archive, 2).metadata, MESH);
    // Flat to a line: a normal all the same, and no NaN.
    assert!(shape(&archive, 2).properties.part(".geom/N").floats(0).iter().all(|v| v.is_finite()));

    header.bodies.clear();
    let reader = log_of(directory.path(), &header, &[frame(&crate::common::header(), 0)]);
    let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
    assert!(archive.top.children.is_empty());
}

#[test]
fn times_are_those_of_the_frames() {
    let directory = pliant_testing::tempdir().unwrap();
    let header = header();
    let frames: Vec<LogFrame> = (5..=20).map(|k| frame(&header, k)).collect();
    let reader = log_of(directory.path(), &header, &frames);
    let select = |first, last, step| ExportOptions {
        frames: FrameSelection { first, last, step },
        body: Some("soft box \"1\"".into()),
        ..Default::default()
    };
    let (archive, _) = archive_of(directory.path(), &reader, &select(Some(6), Some(15), 3));
    assert_eq!(archive.samplings[1], (4, 3.0 / 24.0, vec![6.0 / 24.0]));
    assert_eq!(archive.top.children.len(), 1);
    let positions = shape(&archive, 0).properties.part(".geom/P");
    assert_eq!((positions.count, positions.time), (4, 1));
    assert_eq!(positions.floats(2), expected(&reader, 7)[..8].as_flattened());

    let (archive, _) = archive_of(directory.path(), &reader, &select(Some(20), None, 1));
    assert_eq!(archive.samplings[1], (1, 1.0 / 24.0, vec![20.0 / 24.0]));

    // Frames with gaps: each has its own time.
    let gaps = [frames[0].clone(), frames[1].clone(), frames[4].clone()];
    let reader = log_of(directory.path(), &header, &gaps);
    let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let times = [5.0, 6.0, 9.0].map(|k| k / 24.0).to_vec();
    assert_eq!(archive.samplings[1], (3, f64::MAX / 32.0, times));
}

#[test]
fn what_is_no_number_is_refused_and_the_old_file_kept() {
    let directory = pliant_testing::tempdir().unwrap();
    let header = header();
    let mut frames: Vec<LogFrame> = (0..3).map(|k| frame(&header, k)).collect();
    frames[2].positions[1][50] = 1e300;
    let reader = log_of(directory.path(), &header, &frames);
    let path = directory.path().join("a.abc");
    fs::write(&path, "old").unwrap();
    let error = export(&reader, &path, &ExportOptions::default(), &mut |_, _| {}).unwrap_err().to_string();
    assert!(
        error.contains("frame 2") && error.contains("\"Materials\"") && error.contains("vertex 2"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn many_frames_need_wider_counts() {
    let directory = pliant_testing::tempdir().unwrap();
    let mut header = header();
    header.bodies.truncate(1);
    for count in [255, 256, 65_536] {
        let frames: Vec<LogFrame> = (0..count)
            .map(|k| LogFrame {
                index: k,
                time: 0.0,
                positions: [vec![f64::from(k); 12], vec![0.0; 12], vec![f64::from(k % 2); 12]],
                ..Default::default()
            })
            .collect();
        let reader = log_of(directory.path(), &header, &frames);
        let (archive, _) = archive_of(directory.path(), &reader, &ExportOptions::default());
        let positions = shape(&archive, 0).properties.part(".geom/P");
        assert_eq!((positions.count, positions.changed), (count as usize, (1, count as usize - 1)));
    }
}

#[test]
fn the_same_log_gives_the_same_bytes() {
    let directory = pliant_testing::tempdir().unwrap();
    write_log(&directory.path().join("a.plog"), 9, &[], true);
    let reader = LogReader::open(directory.path().join("a.plog")).unwrap();
    let (_, first) = archive_of(directory.path(), &reader, &ExportOptions::default());
    let (_, second) = archive_of(directory.path(), &reader, &ExportOptions::default());
    assert_eq!(first, second);
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}
