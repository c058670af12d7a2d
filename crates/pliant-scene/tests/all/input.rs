//! Bodies that follow animations: point caches, numbered meshes, waggings; and what is said of broken ones.

use pliant::{DVec3, Simulation};
use pliant_scene::{BuiltScene, Diagnostic, Look, Scene};
use std::fs;
use std::path::Path;

/// A strip of four quads, two of its vertices in the same place (a seam), and one that no face names.
const STRIP: &[[f64; 3]] = &[
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 2.0, 0.0],
    [1.0, 2.0, 0.0],
    [0.5, 3.0, 0.0],
];

/// The strip moved to the right, as OBJ text.
fn obj(shift: f64, vertices: usize) -> String {
    let mut text = String::new();
    for [x, y, z] in &STRIP[..vertices] {
        text += &format!("v {} {y} {z}\n", x + shift);
    }
    text + "f 1 2 4 3\nf 5 6 8 7\n"
}

/// The strip moved to the right by each of some ways, as PC2.
fn pc2(rate: f32, shifts: &[f64]) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend(1i32.to_le_bytes());
    bytes.extend((STRIP.len() as i32).to_le_bytes());
    bytes.extend(0f32.to_le_bytes());
    bytes.extend(rate.to_le_bytes());
    bytes.extend((shifts.len() as i32).to_le_bytes());
    for shift in shifts {
        for [x, y, z] in STRIP {
            [x + shift, *y, *z].into_iter().for_each(|v| bytes.extend((v as f32).to_le_bytes()));
        }
    }
    bytes
}

fn folder(files: &[(&str, &[u8])]) -> pliant_testing::TempDir {
    let folder = pliant_testing::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// The strip at half its size, moved up by 5 m, all of it held where the input is.
fn scene(input: &str) -> String {
    format!(
        "gravity = [0, 0, 0]\nfps = 10\n[[body]]\nshape = {{ kind = \"vertices\", file = \"strip.obj\", scale = 0.5 }}\n\
         clusters = 1\nposition = [0, 5, 0]\n[body.input]\n{input}\n[[body.paint]]\nchannel = \"follow\"\nvalue = 1\n\
         box = {{ min = [-9, -9, -9], max = [9, 9, 9] }}\n"
    )
}

fn build(folder: &Path, scene: &str) -> Result<BuiltScene, Vec<Diagnostic>> {
    Scene::parse(scene, &folder.join("scene.toml")).unwrap_or_else(|p| panic!("{}", p[0])).build(1)
}

/// How far to the right each step takes the strip; it must stay the strip.
fn shifts(simulation: &mut Simulation, steps: usize) -> Vec<f64> {
    let mut all = Vec::new();
    for _ in 0..steps {
        simulation.step().unwrap();
        let at: Vec<DVec3> = simulation.positions(0).collect();
        let shift = at[0].x;
        for (p, rest) in at.iter().zip(STRIP) {
            let wanted = 0.5 * DVec3::from_array(*rest) + DVec3::new(shift, 5.0, 0.0);
            assert!((*p - wanted).length() < 1e-6, "{p} is not {wanted}");
        }
        all.push((shift * 1e4).round() / 1e4);
    }
    all
}

#[test]
fn every_vertex_is_a_particle_in_its_order() {
    let folder = folder(&[("strip.obj", obj(0.0, 9).as_bytes())]);
    let text = "[[body]]\nshape = { kind = \"vertices\", file = \"strip.obj\" }\ndensity = 3\nclusters = 1\n";
    let built = build(folder.path(), text).unwrap();
    let at: Vec<DVec3> = built.simulation.positions(0).collect();
    assert_eq!(at, STRIP.iter().map(|p| DVec3::from_array(*p)).collect::<Vec<_>>());
    let mass = &built.simulation.model().bodies()[0].parts.rest().mass;
    // The bare vertex weighs what they all do on average.
    assert!((mass[8] / 3.0 - 2.0 / 9.0).abs() < 1e-9, "{mass:?}");
    assert!((mass[..8].iter().sum::<f64>() - 6.0).abs() < 1e-9, "2 m² of 3 kg/m²: {mass:?}");
    assert_eq!(built.bodies[0].look, Look::Matte);
    assert_eq!(built.bodies[0].surface.triangles.len(), 4);
    let skin = &built.bodies[0].skin;
    assert_eq!(*skin, pliant_geometry::Skin::identity(9));
}

#[test]
fn a_point_cache_is_followed_at_its_rate_and_scale() {
    let strip = obj(0.0, 9);
    let cache = pc2(2.0, &[0.0, 2.0, 0.0, -2.0]);
    let folder = folder(&[("strip.obj", strip.as_bytes()), ("walk.pc2", &cache)]);
    // A sample every two frames, of 10 a second.
    let mut built = build(folder.path(), &scene("file = \"walk.pc2\"")).unwrap();
    assert_eq!(shifts(&mut built.simulation, 8), [0.5, 1.0, 0.5, 0.0, -0.5, -1.0, -1.0, -1.0]);
    let mut built = build(folder.path(), &scene("file = \"walk.pc2\"\nrepeat = true\nfps = 20")).unwrap();
    assert_eq!(shifts(&mut built.simulation, 6), [1.0, 0.0, -1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn numbered_meshes_are_followed_in_order_and_change_the_digest() {
    let frames: Vec<String> = [0.0, 1.0, 3.0].map(|s| obj(s, 9)).to_vec();
    let folder = folder(&[
        ("strip.obj", frames[0].as_bytes()),
        ("walk_09.obj", frames[0].as_bytes()),
        ("walk_10.obj", frames[1].as_bytes()),
        ("walk_11.obj", frames[2].as_bytes()),
        // Neither of two digits nor of this name.
        ("walk_100.obj", b"v x"),
        ("walk_aa.obj", b"v x"),
        ("talk_12.obj", b"v x"),
    ]);
    let text = scene("files = \"walk_##.obj\"");
    let mut built = build(folder.path(), &text).unwrap();
    assert_eq!(shifts(&mut built.simulation, 3), [0.5, 1.5, 1.5]);
    fs::write(folder.path().join("walk_11.obj"), obj(4.0, 9)).unwrap();
    assert_ne!(build(folder.path(), &text).unwrap().settings.hash, built.settings.hash);
}

#[test]
fn every_fault_of_a_sequence_is_told_with_its_file() {
    let good = obj(0.0, 9);
    let folder = folder(&[
        ("strip.obj", good.as_bytes()),
        ("walk_1.obj", good.as_bytes()),
        ("walk_2.obj", obj(0.0, 8).as_bytes()),
        ("walk_4.obj", b"v 0 0 x\n"),
        ("walk_8.obj", good.as_bytes()),
    ]);
    let found = build(folder.path(), &scene("files = \"walk_#.obj\"")).unwrap_err();
    let said: Vec<String> = found.iter().map(|p| p.to_string()).collect();
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(said[0].contains("scene.toml:8:9") && said[0].contains("missing in the sequence: 3, 5 to 7"));
    assert!(said[1].contains("walk_2.obj: error: frame 2 has 8 vertices, walk_1.obj has 9"), "{}", said[1]);
    assert!(said[1].contains("scene.toml:8"), "{}", said[1]);
    assert!(said[2].contains("walk_4.obj:1: error:"), "{}", said[2]);
}

#[test]
fn many_bad_frames_are_counted_not_listed() {
    let folder = folder(&[("strip.obj", obj(0.0, 9).as_bytes()), ("w_00.obj", obj(0.0, 9).as_bytes())]);
    for k in 1..50 {
        fs::write(folder.path().join(format!("w_{k:02}.obj")), obj(0.0, 8)).unwrap();
    }
    let found = build(folder.path(), &scene("files = \"w_##.obj\"")).unwrap_err();
    assert_eq!(found.len(), 21);
    assert!(found.iter().any(|p| p.message.starts_with("29 more files")), "{found:?}");
}

#[test]
fn broken_point_caches_are_explained() {
    let good = pc2(1.0, &[0.0, 1.0]);
    let (mut lying, mut worse) = (good.clone(), good.clone());
    lying[28..32].copy_from_slice(&i32::MAX.to_le_bytes());
    worse[16..20].copy_from_slice(&0i32.to_le_bytes());
    let strip = obj(0.0, 9);
    for (bytes, part) in [
        (&good[..good.len() - 5], "2 samples of 9 points, which are 216 bytes; 211 follow"),
        (&lying, "2147483647 samples"),
        (&worse, "0 points"),
        (strip.as_bytes(), "not a PC2 point cache"),
    ] {
        let folder = folder(&[("strip.obj", strip.as_bytes()), ("a.pc2", bytes)]);
        let found = build(folder.path(), &scene("file = \"a.pc2\"")).unwrap_err();
        assert_eq!(found.len(), 1, "{found:?}");
        let said = found[0].to_string();
        assert!(said.contains("a.pc2: error:") && said.contains(part), "{said}");
        assert!(said.contains("scene.toml:8)"), "{said}");
    }
}

#[test]
fn a_sequence_of_other_points_is_refused_and_a_distant_one_noted() {
    let folder = folder(&[
        ("strip.obj", obj(0.0, 8).as_bytes()),
        ("a.pc2", &pc2(1.0, &[0.0])),
        ("far.obj", obj(0.0, 9).as_bytes()),
        ("far.pc2", &pc2(1.0, &[40.0])),
    ]);
    // With the paint's fault too: all at once.
    let text = scene("file = \"a.pc2\"").replace("min = [-9, -9, -9]", "min = [8, 8, 8]");
    let found = build(folder.path(), &text).unwrap_err();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].message.contains("the input has 9 points, the body 8 particles"), "{}", found[0]);
    assert!(found[0].place == Some((8, 8)) && found[0].help.contains("kind = \"vertices\""), "{}", found[0]);
    assert!(found[1].message.contains("no particle is painted"), "{}", found[1]);
    let text = scene("file = \"far.pc2\"").replace("strip.obj", "far.obj");
    let notes = build(folder.path(), &text).unwrap().settings.notes;
    assert!(notes.iter().any(|n| n.contains("begins up to 20.000 m away")), "{notes:?}");
}

/// The turn about the pivot grows along the body, in the world's directions however the body lies.
#[test]
fn a_wagging_turns_about_its_pivot_in_the_world() {
    for bend in [false, true] {
        let text = format!(
            "gravity = [0, 0, 0]\nfps = 64\nsubsteps = 1\nframes = 60\n[[body]]\nshape = {{ kind = \"box\", size = [1, 0.1, 0.1] }}\n\
             spacing = 0.05\nposition = [3, 2, 0]\nrotation = [0, 0, 90]\nclusters = 1\n\
             [body.input]\nwag = {{ pivot = [3, 1.5, 0], angle = 60, bend = {bend} }}\n\
             [[body.paint]]\nchannel = \"follow\"\nvalue = 1\nbox = {{ min = [-9, -9, -9], max = [9, 9, 9] }}\n"
        );
        let scene = Scene::parse(&text, "s.toml".as_ref()).unwrap_or_else(|p| panic!("{}", p[0]));
        let mut simulation = scene.build(1).unwrap_or_else(|p| panic!("{}", p[0])).simulation;
        let start: Vec<DVec3> = simulation.positions(0).collect();
        let far = start.iter().map(|p| p.y - 1.5).fold(0.0, f64::max);
        // A quarter of a period: the whole angle; three quarters: the other way.
        for (steps, side) in [(16, 1.0), (32, -1.0)] {
            for _ in 0..steps {
                simulation.step().unwrap();
            }
            for (p, s) in simulation.positions(0).zip(&start) {
                let share = if bend { (s.y - 1.5) / far } else { 1.0 };
                let (sin, cos) = (side * share * std::f64::consts::FRAC_PI_3).sin_cos();
                let d = *s - DVec3::new(3.0, 1.5, 0.0);
                let wanted = DVec3::new(3.0 + cos * d.x - sin * d.y, 1.5 + sin * d.x + cos * d.y, d.z);
                assert!((p - wanted).length() < 1e-9, "bend {bend}: {s} went to {p}, not {wanted}");
            }
        }
    }
}

#[test]
fn follow_is_a_key_of_materials_and_can_be_keyed() {
    let text = "[materials.m]\nfollow = 7\nfollow_damping = 0.5\n[[body]]\nshape = \"ball\"\nparticles = 60\nmaterial = \"m\"\nfollow_damping = 2\n\
                [body.input]\nwag = { pivot = [0, -1, 0] }\n[[body.paint]]\nchannel = \"follow\"\nvalue = 0.5\n\
                box = { min = [-9, -9, -9], max = [9, 9, 9] }\n[[body.keyframes]]\ncontrol = \"follow\"\nkeys = [[0, 7], [1, 1]]\n";
    let mut simulation = Scene::parse(text, "s".as_ref()).unwrap().build(1).unwrap().simulation;
    let controls =
        |s: &Simulation| (s.controls().body(0).unwrap().follow, s.controls().body(0).unwrap().follow_damping);
    assert_eq!(controls(&simulation), (7.0, 2.0));
    for _ in 0..31 {
        simulation.step().unwrap();
    }
    let keyed = controls(&simulation).0;
    assert!((keyed - 4.0).abs() < 0.11, "half way from 7 to 1: {keyed}");
    // Any step allows the usual value: following is implicit.
    let slow = "fps = 6\nsubsteps = 1\n[[body]]\nshape = \"ball\"\nparticles = 60\n";
    let simulation = Scene::parse(slow, "s".as_ref()).unwrap().build(1).unwrap().simulation;
    assert_eq!(controls(&simulation).0, 4.0);
}

/// What one run exports, another follows: writer and reader of PC2 agree, steps between frames included.
#[test]
fn an_exported_point_cache_can_be_followed() {
    use pliant_cache::{
        ColorBy, ExportOptions, FrameSelection, LogBody, LogFrame, LogHeader, LogReader, PictureSettings,
    };
    let strip = obj(0.0, 9);
    let folder = folder(&[("strip.obj", strip.as_bytes())]);
    let mesh = pliant_geometry::parse_obj(strip.as_bytes()).unwrap().mesh;
    let body = LogBody {
        id: 0,
        version: 0,
        origin: None,
        name: "strip".into(),
        color: [1.0; 3],
        particles: 0..9,
        skin: pliant_geometry::Skin::identity(9).into(),
        mesh: mesh.into(),
        attributes: Default::default(),
        simulated: Default::default(),
        cluster: Default::default(),
        look: pliant_cache::render::Look::Matte,
        rigid: None,
    };
    let picture = PictureSettings {
        width: 64,
        height: 48,
        color_by: ColorBy::Body,
        azimuth: 0.0,
        elevation: 0.0,
        ..Default::default()
    };
    let header = LogHeader {
        program: "test".into(),
        bits: String::new(),
        scene_text: String::new(),
        scene_hash: 1,
        frames_per_second: 10.0,
        bodies: vec![body],
        planes: vec![],
        colliders: vec![],
        picture,
    };
    let log = folder.path().join("a.plog");
    let mut writer = pliant_cache::LogWriter::create(&log, &header, false).unwrap();
    for (index, shift) in [0.0, 9.0, 2.0, 9.0, -4.0].into_iter().enumerate() {
        let axis = |a: usize| STRIP.iter().map(|p| p[a] + if a == 0 { shift } else { 0.0 }).collect();
        let frame = LogFrame {
            index: index as u32,
            time: index as f64 / 10.0,
            positions: [0, 1, 2].map(axis),
            velocity: Default::default(),
            speed: vec![0.0; 9],
            strain: vec![0.0; 9],
            contact: vec![],
            planes: None,
            colliders: Vec::new(),
            poses: Vec::new(),
            stats_json: "{}".into(),
            controls: vec![],
        };
        writer.append_frame(&frame).unwrap();
    }
    writer.finish().unwrap();
    let options =
        ExportOptions { frames: FrameSelection { step: 2, ..Default::default() }, ..Default::default() };
    let reader = LogReader::open(&log).unwrap();
    pliant_cache::export(&reader, folder.path().join("a.pc2"), &options, &mut |_, _| {}).unwrap();
    let mut built = build(folder.path(), &scene("file = \"a.pc2\"")).unwrap();
    assert_eq!(shifts(&mut built.simulation, 4), [0.5, 1.0, -0.5, -2.0]);
}
