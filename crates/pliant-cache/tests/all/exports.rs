//! Every export read back by code that did not write it, at first, middle and last frame.

use crate::common::{expected, frame, header, write_log};
use pliant_cache::{
    CacheError, ColorBy, ErrorKind, ExportOptions, ExportSummary, FORMATS, FrameSelection, LogReader,
    LogWriter, export,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn options(first: Option<u32>, last: Option<u32>, step: u32) -> ExportOptions {
    ExportOptions { frames: FrameSelection { first, last, step }, ..Default::default() }
}

fn run(reader: &LogReader, path: &Path, options: &ExportOptions) -> Result<ExportSummary, CacheError> {
    let mut calls = Vec::new();
    let result = export(reader, path, options, &mut |done, all| calls.push((done, all)));
    if result.is_ok() {
        let last = calls.last().unwrap();
        assert_eq!(last.0, last.1, "progress ends at the end");
    }
    result
}

/// PC2 from its published description: 32 bytes of header, then samples.
fn read_pc2(path: &Path) -> (f32, f32, Vec<Vec<[f32; 3]>>) {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| -> [u8; 4] { bytes[at..at + 4].try_into().unwrap() };
    assert_eq!(&bytes[..12], b"POINTCACHE2\0");
    assert_eq!(i32::from_le_bytes(word(12)), 1);
    let points = i32::from_le_bytes(word(16)) as usize;
    let samples = i32::from_le_bytes(word(28)) as usize;
    assert_eq!(bytes.len(), 32 + 12 * points * samples);
    let float = |at: usize| f32::from_le_bytes(word(at));
    let data = (0..samples)
        .map(|s| (0..points).map(|p| [0, 1, 2].map(|k| float(32 + 12 * (s * points + p) + 4 * k))).collect())
        .collect();
    (float(20), float(24), data)
}

#[test]
fn pc2_holds_the_vertices() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 9, &[], true);
    let reader = LogReader::open(&log).unwrap();
    let path = dir.path().join("a.pc2");
    let summary = run(&reader, &path, &ExportOptions::default()).unwrap();
    let (start, rate, samples) = read_pc2(&path);
    assert_eq!((start, rate, samples.len()), (0.0, 1.0, 9));
    assert_eq!(
        summary,
        ExportSummary {
            path: path.clone(),
            files: 1,
            frames: 9,
            vertices: 64,
            bytes: fs::metadata(&path).unwrap().len()
        }
    );
    for i in [0, 4, 8] {
        assert_eq!(samples[i], expected(&reader, i));
    }
    // Part of it, and one body only.
    run(&reader, &path, &options(Some(2), Some(8), 3)).unwrap();
    let (start, rate, samples) = read_pc2(&path);
    assert_eq!((start, rate, samples.len()), (2.0, 3.0, 3));
    assert_eq!(samples[1], expected(&reader, 5));
    let body = ExportOptions { body: Some("Materials".into()), ..Default::default() };
    run(&reader, &path, &body).unwrap();
    assert_eq!(read_pc2(&path).2[8], expected(&reader, 8)[44..]);
}

#[test]
fn obj_is_read_by_tobj() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 7, &[], true);
    let reader = LogReader::open(&log).unwrap();
    let summary = run(&reader, &dir.path().join("run.obj"), &ExportOptions::default()).unwrap();
    // One of them is the material library.
    assert_eq!((summary.files, summary.frames), (8, 7));
    assert_eq!(summary.path, dir.path().join("run_0000.obj"));
    for i in [0, 3, 6] {
        let path = dir.path().join(format!("run_{i:04}.obj"));
        let (models, _) = tobj::load_obj(&path, &tobj::LoadOptions::default()).unwrap();
        let names: Vec<&str> = models.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["soft_box_\"1\"", "soft_box_\"1\"_2", "Materials"]);
        let want = expected(&reader, i);
        let mut first = 0;
        for (model, body) in models.iter().zip(&reader.header().bodies) {
            // tobj keeps only used vertices, in order of first use: compare corner by corner.
            let got: Vec<[f32; 3]> = model.mesh.positions.as_chunks::<3>().0.to_vec();
            let at = |v: u32| got[v as usize];
            // tobj has no point elements (`p`); the text itself is compared below.
            if !body.is_point_cloud() {
                let corners: Vec<[f32; 3]> = model.mesh.indices.iter().map(|&v| at(v)).collect();
                let wanted: Vec<[f32; 3]> =
                    body.mesh.triangles.as_flattened().iter().map(|&v| want[first + v as usize]).collect();
                assert_eq!(corners, wanted);
                // Normals point away from the faces they belong to.
                let normals = model.mesh.normals.as_chunks::<3>().0;
                let index = |k: usize| match model.mesh.normal_indices.get(k) {
                    Some(&n) => n as usize,
                    None => model.mesh.indices[k] as usize,
                };
                for (k, corner) in corners.as_chunks::<3>().0.iter().enumerate() {
                    let [a, b, c] = corner.map(glam::Vec3::from_array);
                    let face = (b - a).cross(c - a);
                    for j in 0..3 {
                        let n = glam::Vec3::from_array(normals[index(3 * k + j)]);
                        // Written in four decimals.
                        assert!((n.length() - 1.0).abs() < 1e-4);
                        assert!(n.dot(face) > 0.0);
                    }
                }
            }
            first += body.mesh.positions.len();
        }
        // And all vertices in file order, by the text itself.
        let text = fs::read_to_string(&path).unwrap();
        let vertices: Vec<[f32; 3]> = text
            .lines()
            .filter_map(|l| l.strip_prefix("v "))
            .map(|l| {
                let v: Vec<f32> = l.split(' ').map(|x| x.parse().unwrap()).collect();
                v.try_into().unwrap()
            })
            .collect();
        assert_eq!(vertices, want);
    }
}

/// A log whose first body is a box of six quadrangles with everything on it.
fn write_dressed(path: &Path) -> pliant_geometry::MeshAttributes {
    use pliant_geometry::{Layer, MeshAttributes, Polygons, SurfaceMaterial};
    let mut header = header();
    let mut faces = Polygons::default();
    for quad in [[0_u32, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]] {
        faces.push(&quad);
    }
    let side = |f: u32| {
        let mut n = [0.0_f32; 3];
        n[2 - f as usize / 2] = if f.is_multiple_of(2) { -1.0 } else { 1.0 };
        n
    };
    let material = |name: &str, texture: Option<&str>| SurfaceMaterial {
        name: name.into(),
        color: [0.2, 0.4, 0.6, 0.5],
        metallic: 0.25,
        roughness: 0.75,
        texture: texture.map(str::to_string),
    };
    let attributes = MeshAttributes {
        uvs: Layer { values: (0..24).map(|i| [i as f32 / 24.0, 0.5]).collect(), corners: (0..24).collect() },
        normals: Layer { values: (0..6).map(side).collect(), corners: (0..24).map(|c| c / 4).collect() },
        colors: (0..8).map(|v| [if v == 0 { 1.0 } else { 0.0 }, 0.0, 1.0, 1.0]).collect(),
        materials: vec![material("plain", None), material("wood", Some("wood.png"))],
        face_materials: vec![0, 0, 1, 1, 0, 1],
        faces,
    };
    let body = &mut header.bodies[0];
    let triangles = attributes.triangles(&body.mesh.positions);
    std::sync::Arc::make_mut(&mut body.mesh).triangles = triangles;
    body.attributes = attributes.clone().into();
    let mut log = LogWriter::create(path, &header, false).unwrap();
    for i in 0..3 {
        log.append_frame(&frame(&header, i)).unwrap();
    }
    log.finish().unwrap();
    attributes
}

#[test]
fn obj_sequences_keep_mesh_attributes() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    let attributes = write_dressed(&log);
    let reader = LogReader::open(&log).unwrap();
    run(&reader, &dir.path().join("run.obj"), &ExportOptions::default()).unwrap();
    for i in [0, 1, 2] {
        let file = pliant_geometry::read_mesh(&dir.path().join(format!("run_{i:04}.obj"))).unwrap();
        // Two names are the same without their white space, and are kept apart nevertheless.
        assert_eq!(file.meshes.len(), 3);
        let mesh = &file.meshes[0];
        let got: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.as_vec3().to_array()).collect();
        assert_eq!(got, expected(&reader, i)[..8]);
        assert!(mesh.attributes.faces.iter().eq(attributes.faces.iter()));
        assert_eq!(mesh.attributes.uvs.values, attributes.uvs.values);
        assert_eq!(mesh.attributes.materials, attributes.materials);
        assert_eq!(mesh.attributes.face_materials, attributes.face_materials);
        // sRGB in f32 and back.
        let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6;
        assert!(mesh.attributes.colors.as_flattened().iter().zip(attributes.colors.as_flattened()).all(near));
        // Hard edges: every face has its own normals, which stay with it.
        let normals = &mesh.attributes.normals;
        for (c, &want) in attributes.normals.corners.iter().enumerate() {
            let (got, want) =
                (normals.values[normals.corners[c] as usize], attributes.normals.values[want as usize]);
            let cos: f32 = got.iter().zip(want).map(|(a, b)| a * b).sum();
            assert!(cos > 0.5, "corner {c}: {got:?} {want:?}");
        }
        assert_eq!(normals.values.len(), 24);
        // A body without attributes has a material of its colour.
        assert_eq!(file.meshes[1].attributes.materials[0].color, [0.1, 0.3, 0.9, 1.0]);
        assert_eq!(file.meshes[1].attributes.normals.values.len(), 36);
        assert_eq!(file.meshes[2].positions.len(), 20);
    }
}

#[test]
fn ply_sequences_hold_all_bodies() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    let attributes = write_dressed(&log);
    let reader = LogReader::open(&log).unwrap();
    let summary = run(&reader, &dir.path().join("run.ply"), &ExportOptions::default()).unwrap();
    assert_eq!((summary.files, summary.frames, summary.vertices), (3, 3, 64));
    assert_eq!(summary.path, dir.path().join("run_0000.ply"));
    for i in [0, 1, 2] {
        let path = dir.path().join(format!("run_{i:04}.ply"));
        let file = pliant_geometry::read_mesh(&path).unwrap();
        assert_eq!(file.notes, ["the vertex property `body` is passed over"]);
        let mesh = &file.meshes[0];
        let got: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.as_vec3().to_array()).collect();
        assert_eq!(got, expected(&reader, i));
        assert!(mesh.attributes.faces.iter().take(6).eq(attributes.faces.iter()));
        assert_eq!(mesh.attributes.faces.iter().nth(6).unwrap(), [8, 14, 9]);
        assert_eq!(mesh.attributes.colors[..8], attributes.colors);
        assert!(
            mesh.attributes.colors[8].iter().zip([0.1, 0.3, 0.9, 1.0]).all(|(a, b)| (a - b).abs() < 0.01)
        );
        let unit = |n: &[f32; 3]| (n.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-3;
        assert!(mesh.attributes.normals.values[..44].iter().all(unit));
    }
    // One body alone has no number.
    let body = ExportOptions { body: Some("Materials".into()), ..Default::default() };
    run(&reader, &dir.path().join("cloud.ply"), &body).unwrap();
    let cloud = pliant_geometry::read_mesh(&dir.path().join("cloud_0002.ply")).unwrap();
    assert_eq!((cloud.meshes[0].positions.len(), cloud.meshes[0].attributes.faces.len()), (20, 0));
}

/// Just enough of the USD text grammar to read values back: words, strings, numbers, punctuation.
fn tokens(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut rest = text.strip_prefix("#usda 1.0\n").expect("magic line").chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            _ if c.is_whitespace() => {}
            '"' => {
                let mut s = String::from("\"");
                loop {
                    match rest.next().expect("closed string") {
                        '"' => break,
                        '\\' => s.push(rest.next().unwrap()),
                        c => s.push(c),
                    }
                }
                out.push(s);
            }
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | '=' => out.push(c.into()),
            _ => {
                let mut s = String::from(c);
                while let Some(&c) = rest.peek() {
                    if c.is_whitespace() || "\"()[]{},=".contains(c) {
                        // Brackets of an array type belong to the word.
                        if c != '[' || !s.starts_with(|c: char| c.is_ascii_lowercase()) {
                            break;
                        }
                    }
                    s.push(c);
                    rest.next();
                    if c == '[' {
                        s.push(rest.next().unwrap());
                        break;
                    }
                }
                out.push(s);
            }
        }
    }
    out
}

/// Prim path → attribute → time code → numbers, for all attributes with time samples.
type Samples = BTreeMap<String, BTreeMap<String, BTreeMap<u32, Vec<f32>>>>;

fn read_samples(text: &str) -> Samples {
    let t = tokens(text);
    let mut found = Samples::new();
    let mut path: Vec<String> = Vec::new();
    let mut pending = None;
    let mut i = 0;
    while i < t.len() {
        if t[i] == "def" {
            pending = t[i + 2].strip_prefix('"').map(String::from);
            i += 3;
        } else if let Some(name) = t[i].strip_suffix(".timeSamples") {
            assert_eq!((t[i + 1].as_str(), t[i + 2].as_str()), ("=", "{"));
            i += 3;
            let times = found.entry(path.join("/")).or_default().entry(name.into()).or_default();
            while t[i] != "}" {
                let code = t[i].strip_suffix(':').expect("a time code").parse().unwrap();
                let mut numbers = Vec::new();
                i += 1;
                while t[i] != "]" {
                    if let Ok(v) = t[i].parse() {
                        numbers.push(v);
                    }
                    i += 1;
                }
                times.insert(code, numbers);
                i += 2;
            }
            i += 1;
        } else {
            match t[i].as_str() {
                "{" => path.push(pending.take().expect("a prim")),
                "}" => drop(path.pop().expect("balanced")),
                _ => {}
            }
            i += 1;
        }
    }
    assert!(path.is_empty(), "balanced");
    found
}

#[test]
fn usda_holds_the_vertices() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 12, &[], true);
    let reader = LogReader::open(&log).unwrap();
    let path = dir.path().join("a.usda");
    run(&reader, &path, &options(Some(1), None, 2)).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let samples = read_samples(&text);
    let prims = ["World/soft_box__1_", "World/soft_box__1__2", "World/Materials_2"];
    assert_eq!(samples.len(), 3);
    for code in [1, 5, 11] {
        let got: Vec<f32> = prims.iter().flat_map(|p| samples[*p]["points"][&code].clone()).collect();
        assert_eq!(got.as_chunks::<3>().0, expected(&reader, code as usize));
    }
    for prim in &prims[..2] {
        assert_eq!(samples[*prim]["normals"].keys().copied().collect::<Vec<_>>(), [1, 3, 5, 7, 9, 11]);
        for (code, points) in &samples[*prim]["points"] {
            assert_eq!(samples[*prim]["normals"][code].len(), points.len());
            let extent = &samples[*prim]["extent"][code];
            for k in 0..3 {
                let axis = || points.iter().skip(k).step_by(3).copied();
                assert_eq!(extent[k], axis().fold(f32::MAX, f32::min));
                assert_eq!(extent[k + 3], axis().fold(f32::MIN, f32::max));
            }
        }
    }
    assert!(!samples["World/Materials_2"].contains_key("normals"));
    for line in [
        "    defaultPrim = \"World\"",
        "    startTimeCode = 1",
        "    endTimeCode = 11",
        "    timeCodesPerSecond = 24",
        "    framesPerSecond = 24",
        "    metersPerUnit = 1",
        "    upAxis = \"Y\"",
        "        displayName = \"soft box \\\"1\\\"\"",
        "        uniform token subdivisionScheme = \"none\"",
    ] {
        assert!(text.lines().any(|l| l == line), "{line}");
    }
}

#[test]
fn the_same_log_gives_the_same_files_and_leaves_no_others() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 4, &[], true);
    let reader = LogReader::open(&log).unwrap();
    for format in ["usda", "pc2", "mdd"] {
        let [a, b] = ["a", "b"].map(|n| dir.path().join(format!("{n}.{format}")));
        run(&reader, &a, &ExportOptions::default()).unwrap();
        run(&reader, &b, &ExportOptions::default()).unwrap();
        assert_eq!(fs::read(a).unwrap(), fs::read(b).unwrap());
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 7);
}

#[test]
fn a_run_broken_off_or_damaged_can_be_exported() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 5, &[], false);
    let mut bytes = fs::read(&log).unwrap();
    bytes.truncate(bytes.len() - 100);
    fs::write(&log, &bytes).unwrap();
    let reader = LogReader::open(&log).unwrap();
    let path = dir.path().join("a.pc2");
    assert_eq!(run(&reader, &path, &ExportOptions::default()).unwrap().frames, 4);
    assert_eq!(read_pc2(&path).2[3], expected(&reader, 3));
}

#[test]
fn bad_requests_are_answered_with_what_would_work() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 3, &[], true);
    let reader = LogReader::open(&log).unwrap();
    let refused = |name: &str, options: &ExportOptions| {
        let e = run(&reader, &dir.path().join(name), options).unwrap_err();
        (e.kind(), e.to_string())
    };
    for name in ["a.fbx", "a"] {
        let (kind, text) = refused(name, &ExportOptions::default());
        assert_eq!(kind, ErrorKind::Content);
        for format in FORMATS {
            assert!(text.contains(&format!(".{}", format.extension)), "{text}");
        }
    }
    let (_, text) = refused("a.pc2", &options(Some(7), None, 1));
    assert!(text.contains("frames 0 to 2"), "{text}");
    assert_eq!(refused("a.pc2", &options(None, None, 0)).0, ErrorKind::Content);
    let nobody = ExportOptions { body: Some("x".into()), ..Default::default() };
    let (_, text) = refused("a.usda", &nobody);
    assert!(text.contains("soft box"), "{text}");
    for format in FORMATS {
        let name = format!("no/such/directory/a.{}", format.extension);
        assert_eq!(refused(&name, &ExportOptions::default()).0, ErrorKind::Io);
    }
    // A log without frames.
    let empty = dir.path().join("empty.plog");
    LogWriter::create(&empty, &header(), false).unwrap().finish().unwrap();
    let reader = LogReader::open(&empty).unwrap();
    let e = run(&reader, &dir.path().join("a.pc2"), &ExportOptions::default()).unwrap_err();
    assert!(e.to_string().contains("no frames"), "{e}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing left behind");
}

#[test]
fn positions_that_are_no_f32_are_refused_and_the_old_file_kept() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    let header = header();
    let mut writer = LogWriter::create(&log, &header, false).unwrap();
    for i in 0..3 {
        let mut frame = frame(&header, i);
        if i == 2 {
            frame.positions[0][50] = 1e300;
        }
        writer.append_frame(&frame).unwrap();
    }
    writer.finish().unwrap();
    let reader = LogReader::open(&log).unwrap();
    for name in ["a.usda", "a.pc2"] {
        let path = dir.path().join(name);
        fs::write(&path, b"old").unwrap();
        let e = run(&reader, &path, &ExportOptions::default()).unwrap_err();
        let text = e.to_string();
        assert!(text.contains("frame 2, body \"Materials\", vertex 2"), "{text}");
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

#[test]
fn pictures_show_the_run_and_do_not_depend_on_threads() {
    let dir = pliant_testing::tempdir().unwrap();
    let log = dir.path().join("a.plog");
    write_log(&log, 30, &[], true);
    let reader = LogReader::open(&log).unwrap();
    let draw = |name: &str, options: &ExportOptions| {
        let path = dir.path().join(name);
        let done = run(&reader, &path, options).unwrap();
        (done, fs::read(path).unwrap())
    };
    for color_by in [None, Some(ColorBy::Body), Some(ColorBy::Strain), Some(ColorBy::Cluster)] {
        let options = ExportOptions { color_by, threads: 1, ..Default::default() };
        let (done, sheet) = draw("a.png", &options);
        assert_eq!((done.files, done.frames), (1, 12));
        let other = ExportOptions { threads: 3, ..options };
        assert_eq!(draw("a.png", &other).1, sheet);
    }
    let (done, animation) = draw("a.gif", &ExportOptions::default());
    // 24 frames a second are slow enough to show each.
    assert_eq!(done.frames, 30);
    assert_eq!(done.bytes, animation.len() as u64);
    let size = |k: usize| u16::from_le_bytes([animation[k], animation[k + 1]]);
    assert_eq!((&animation[..6], size(6), size(8)), (&b"GIF89a"[..], 64, 48));
    let wide = ExportOptions { width: Some(100), body: Some("Materials".into()), ..Default::default() };
    assert_ne!(draw("b.gif", &wide).1, animation);
    for (width, elevation) in
        [(Some(0), None), (Some(1 << 20), None), (None, Some(f64::NAN)), (None, Some(90.0))]
    {
        let options = ExportOptions { width, elevation, ..Default::default() };
        let e = run(&reader, &dir.path().join("c.png"), &options).unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Content, "{e}");
    }
    assert!(!dir.path().join("c.png").exists());
}
