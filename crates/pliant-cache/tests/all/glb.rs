//! GLB exports, read back with the reader of `pliant-geometry`.

use pliant_cache::{Conversion, ExportOptions, FrameSelection, LogReader, LogWriter, export};
use pliant_geometry::{Layer, MeshAttributes, PolyMesh, Polygons, SurfaceMaterial, read_mesh};

fn quiet(_: usize, _: usize) {}

fn at(mesh: &PolyMesh, k: usize) -> Vec<[f32; 3]> {
    let points = mesh.animation.as_ref().map_or(&mesh.positions, |m| &m.samples[k]);
    points.iter().map(|p| p.as_vec3().to_array()).collect()
}

fn close(found: &[[f32; 3]], wanted: &[[f32; 3]]) {
    assert_eq!(found.len(), wanted.len());
    for (a, b) in found.as_flattened().iter().zip(wanted.as_flattened()) {
        // First frame plus difference, each rounded.
        assert!((a - b).abs() <= 2.0 * f32::EPSILON * (1.0 + b.abs()), "{a} {b}");
    }
}

#[test]
fn all_frames_of_all_bodies() {
    let dir = pliant_testing::tempdir().unwrap();
    crate::common::write_log(&dir.path().join("a.plog"), 9, &[], true);
    let reader = LogReader::open(dir.path().join("a.plog")).unwrap();
    let path = dir.path().join("a.glb");
    // The up axis is glTF's whatever is asked for.
    let options = ExportOptions { conversion: Conversion { z_up: true, scale: 1.0 }, ..Default::default() };
    let summary = export(&reader, &path, &options, &mut quiet).unwrap();
    assert_eq!((summary.files, summary.frames, summary.vertices), (1, 9, 64));
    assert_eq!(summary.bytes, std::fs::metadata(&path).unwrap().len());
    for threads in 1..4 {
        let again = dir.path().join("again.glb");
        export(&reader, &again, &ExportOptions { threads, ..Default::default() }, &mut quiet).unwrap();
        assert!(std::fs::read(&again).unwrap() == std::fs::read(&path).unwrap(), "{threads} threads");
    }
    let found = read_mesh(&path).unwrap();
    assert!(found.notes.is_empty(), "{:?}", found.notes);
    let header = reader.header();
    assert_eq!(found.meshes.len(), 3);
    for (mesh, body) in found.meshes.iter().zip(&header.bodies) {
        assert_eq!(mesh.name, *body.name);
        assert_eq!(mesh.triangulated().triangles, body.mesh.triangles);
        if !body.is_point_cloud() {
            assert_eq!(mesh.attributes.materials[0].name, *body.name);
            assert_eq!(mesh.attributes.materials[0].color[..3], body.color);
            assert_eq!(mesh.attributes.normals.values.len(), body.mesh.positions.len());
        }
        let times: Vec<f64> = (0..9).map(|k| f64::from((f64::from(k) / 24.0) as f32)).collect();
        assert_eq!(mesh.animation.as_ref().unwrap().times, times);
    }
    for k in 0..9 {
        let all: Vec<[f32; 3]> = found.meshes.iter().flat_map(|m| at(m, k)).collect();
        close(&all, &crate::common::expected(&reader, k));
    }

    // One frame of one body does not move; times start at zero.
    let frames = FrameSelection { first: Some(4), last: Some(4), step: 1 };
    let options = ExportOptions { frames, body: Some("Materials".into()), ..Default::default() };
    export(&reader, &path, &options, &mut quiet).unwrap();
    let still = read_mesh(&path).unwrap();
    assert!(still.meshes.len() == 1 && still.meshes[0].animation.is_none());
    close(&at(&still.meshes[0], 0), &crate::common::expected(&reader, 4)[44..]);
    let frames = FrameSelection { first: Some(2), last: None, step: 3 };
    export(&reader, &path, &ExportOptions { frames, ..Default::default() }, &mut quiet).unwrap();
    let animation = read_mesh(&path).unwrap().meshes[0].animation.clone().unwrap();
    assert_eq!(animation.times, [0.0, 0.125, 0.25]);
}

#[test]
fn coats_survive() {
    let dir = pliant_testing::tempdir().unwrap();
    let mut header = crate::common::header();
    // The cloth as quads with texture coordinates, in two materials and with hard normals between them.
    let body = &mut header.bodies[1];
    let mut faces = Polygons::default();
    for q in 0..25u32 {
        let a = q % 5 + q / 5 * 6;
        faces.push(&[a, a + 6, a + 7, a + 1]);
    }
    let uvs: Vec<[f32; 2]> = (0..36).map(|v| [(v % 6) as f32 / 5.0, (v / 6) as f32 / 5.0]).collect();
    let named = |name: &str| SurfaceMaterial { name: name.into(), ..Default::default() };
    body.attributes = MeshAttributes {
        uvs: Layer::of_vertices(uvs, &faces),
        normals: Layer {
            values: vec![[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]],
            corners: (0..100).map(|c| u32::from(c >= 40)).collect(),
        },
        colors: vec![[0.5, 0.25, 0.125, 1.0]; 36],
        materials: vec![named("front"), named("back")],
        face_materials: (0..25).map(|f| u32::from(f >= 10)).collect(),
        faces,
    }
    .into();
    let triangles = body.attributes.triangles(&body.mesh.positions);
    std::sync::Arc::make_mut(&mut body.mesh).triangles = triangles;
    let mut writer = LogWriter::create(dir.path().join("a.plog"), &header, false).unwrap();
    for k in 0..3 {
        writer.append_frame(&crate::common::frame(&header, k)).unwrap();
    }
    writer.finish().unwrap();
    let reader = LogReader::open(dir.path().join("a.plog")).unwrap();
    let path = dir.path().join("a.glb");
    export(&reader, &path, &ExportOptions::default(), &mut quiet).unwrap();
    let found = read_mesh(&path).unwrap();
    let cloth = &found.meshes[1];
    let names: Vec<&str> = cloth.attributes.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["front", "back"]);
    assert_eq!(cloth.attributes.face_materials.iter().filter(|&&m| m == 0).count(), 20);
    assert_eq!(cloth.attributes.faces.len(), 50);
    // Six vertices are on both sides of the border.
    assert_eq!(cloth.positions.len(), 42);
    assert!(cloth.attributes.colors.iter().all(|c| *c == [0.5, 0.25, 0.125, 1.0]));
    let uv = |c: usize| cloth.attributes.uvs.values[cloth.attributes.uvs.corners[c] as usize];
    assert!((uv(0)[0] - 0.0).abs() < 1e-6 && (uv(1)[1] - 0.2).abs() < 1e-6, "{:?} {:?}", uv(0), uv(1));
}
