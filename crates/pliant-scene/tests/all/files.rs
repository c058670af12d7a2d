//! Scenes that refer to other files: meshes, points, outputs, and their digest.

use pliant_scene::{Look, Scene};
use std::fs;
use std::path::Path;

const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n\
                    f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

fn folder(files: &[(&str, &str)]) -> pliant_testing::TempDir {
    let folder = pliant_testing::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

#[test]
fn a_closed_mesh_is_filled_and_weighs_its_volume() {
    let scene = "[[body]]\nshape = { kind = \"mesh\", file = \"cube.obj\", scale = 0.2 }\nparticles = 500\n";
    let folder = folder(&[("cube.obj", CUBE), ("scene.toml", scene)]);
    let built = Scene::load(&folder.path().join("scene.toml")).unwrap().build(1).unwrap();
    let particles = built.simulation.model().particle_count();
    assert!((400..=650).contains(&particles), "{particles}");
    let mass: f64 = built.simulation.model().bodies()[0].parts.rest().mass.iter().sum();
    assert!((mass - 8.0).abs() < 1e-9, "{mass} kg of 0.008 m³ of water");
    assert_eq!(built.bodies[0].look, Look::Jelly);
    assert_eq!(built.bodies[0].name, "mesh");
}

#[test]
fn an_open_mesh_is_a_shell_and_says_so() {
    let open = CUBE.lines().take(13).collect::<Vec<_>>().join("\n");
    let scene = "[[body]]\nshape = { kind = \"mesh\", file = \"open.obj\" }\ndensity = 2\n";
    let folder = folder(&[("open.obj", &open), ("scene.toml", scene)]);
    let built = Scene::load(&folder.path().join("scene.toml")).unwrap().build(1).unwrap();
    let mass: f64 = built.simulation.model().bodies()[0].parts.rest().mass.iter().sum();
    assert!((mass - 10.0).abs() < 1e-9, "{mass} kg of 5 m²");
    assert_eq!(built.bodies[0].look, Look::Cloth);
    assert!(
        built.settings.notes.iter().any(|n| n.contains("the mesh is open")),
        "{:?}",
        built.settings.notes
    );
}

#[test]
fn points_are_particles() {
    let points: String = (0..27).map(|i| format!("{} {} {}\n", i % 3, i / 3 % 3, i / 9)).collect();
    let scene = "[[body]]\nshape = { kind = \"points\", file = \"p.txt\", scale = 0.1 }\nclusters = 1\n";
    let folder = folder(&[("p.txt", &points), ("scene.toml", scene)]);
    let built = Scene::load(&folder.path().join("scene.toml")).unwrap().build(1).unwrap();
    assert_eq!(built.simulation.model().particle_count(), 27);
    assert_eq!(built.bodies[0].look, Look::Matte);
}

#[test]
fn problems_of_a_mesh_carry_its_name_and_line() {
    let scene = "[[body]]\nshape = { kind = \"mesh\", file = \"bad.obj\" }\n[[body]]\nshape = { kind = \"points\", file = \"bad.txt\" }\n";
    let folder = folder(&[
        ("bad.obj", "v 0 0 0\nv 0 x 0\nf 1 2 9\n"),
        ("bad.txt", "1 2 3\n1 2\n"),
        ("scene.toml", scene),
    ]);
    let problems = Scene::load(&folder.path().join("scene.toml")).unwrap().build(1).unwrap_err();
    let found: Vec<_> = problems
        .iter()
        .map(|p| (p.file.file_name().and_then(|n| n.to_str()).unwrap_or(""), p.place.map(|p| p.0)))
        .collect();
    assert_eq!(found, [("bad.obj", Some(2)), ("bad.obj", Some(3)), ("bad.txt", Some(2))]);
    assert!(problems[0].to_string().contains("bad.obj:2: error:"), "{}", problems[0]);
    assert!(problems[0].help.contains("scene.toml:2"), "{}", problems[0].help);
    assert!(problems.iter().all(|p| !p.is_io));
}

#[test]
fn an_unreadable_or_binary_scene_is_explained() {
    let problems = Scene::load(Path::new("/no/such/scene.toml")).unwrap_err();
    assert!(problems[0].is_io && problems[0].message.contains("cannot read"));
    let folder = folder(&[]);
    fs::write(folder.path().join("x.toml"), b"fps = 60\n# caf\xe9\n").unwrap();
    let problems = Scene::load(&folder.path().join("x.toml")).unwrap_err();
    assert_eq!(problems[0].place, Some((2, 6)));
    assert!(!problems[0].is_io && problems[0].message.contains("UTF-8"));
}

#[test]
fn outputs_are_relative_to_the_scene() {
    let text = "[output]\nfiles = [\"a.gif\", \"/tmp/b.usda\", \"../c.pc2\"]\ncheckpoint_every = 7\n[[body]]\nshape = \"ball\"\nparticles = 50\n";
    let built = Scene::parse(text, "some/where/s.toml".as_ref()).unwrap().build(1).unwrap();
    let paths: Vec<_> = built.settings.outputs.iter().filter_map(|p| p.to_str()).collect();
    assert_eq!(paths, ["some/where/a.gif", "/tmp/b.usda", "some/where/../c.pc2"]);
    assert_eq!(built.settings.checkpoint_every, 7);
    assert_eq!(built.settings.text, text);
}

#[test]
fn the_digest_changes_with_the_text_and_every_file() {
    let scene = "[[body]]\nshape = { kind = \"mesh\", file = \"cube.obj\" }\nparticles = 60\n";
    let folder = folder(&[("cube.obj", CUBE), ("scene.toml", scene)]);
    let hash = |text: &str| {
        let scene = Scene::parse(text, &folder.path().join("scene.toml")).unwrap();
        scene.build(1).unwrap().settings.hash
    };
    let first = hash(scene);
    assert_eq!(first, hash(scene));
    assert_ne!(first, hash(&format!("{scene}# a comment\n")));
    fs::write(folder.path().join("cube.obj"), format!("{CUBE}# changed\n")).unwrap();
    assert_ne!(first, hash(scene));
}

/// What is said about a scene of one body whose shape is of this kind, from a file of this name and text.
fn told(kind: &str, name: &str, text: &str) -> Vec<pliant_scene::Diagnostic> {
    let scene = format!("[[body]]\nshape = {{ kind = \"{kind}\", file = \"{name}\" }}\n");
    let folder = folder(&[(name, text), ("scene.toml", &scene)]);
    let scene = Scene::load(&folder.path().join("scene.toml")).unwrap();
    scene.build(1).map(|_| ()).unwrap_err()
}

#[test]
fn files_that_hold_no_mesh_are_told_in_one_sentence() {
    for (kind, name, text, message, help) in [
        ("points", "a.fbx", "Kaydara FBX Binary", "an FBX file", ".glb"),
        ("mesh", "a.usda", "#usda 1.0\n", "a USD file", ".obj"),
        ("mesh", "A.GLB", "glTF", "12 bytes", "incomplete"),
        ("vertices", "a.pc2", "POINTCACHE2\0", "a PC2 point cache", "that mesh"),
    ] {
        let found = told(kind, name, text);
        assert_eq!(found.len(), 1, "{name}: {found:?}");
        assert!(found[0].message.contains(message) && found[0].help.contains(help), "{}", found[0]);
        assert!(!found[0].is_io && found[0].help.contains("scene.toml:2"), "{}", found[0]);
    }
}

#[test]
fn meshes_of_all_formats_are_bodies() {
    let off = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n";
    let ply = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n\
               element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    for (name, text, keys, particles) in [
        ("a.off", off, "fit = 0.5, origin = \"base\", up = \"z\"", 100),
        ("a.ply", ply, "scale = 2.0", 3),
        ("cube.obj", CUBE, "fit = 1.0", 100),
    ] {
        let shape = format!("shape = {{ kind = \"mesh\", file = \"{name}\", {keys} }}");
        let scene = format!("[[body]]\n{shape}\nparticles = 100\nsampling = \"blue_noise\"\n");
        let folder = folder(&[(name, text), ("scene.toml", &scene)]);
        let built = Scene::load(&folder.path().join("scene.toml")).unwrap().build(1);
        let built = built.unwrap_or_else(|e| panic!("{name}: {e:?}"));
        assert_eq!(built.simulation.model().particle_count(), particles, "{name}");
        assert!(!built.bodies[0].attributes.faces.is_empty(), "{name}");
    }
}

#[test]
fn a_finer_mesh_is_shown_and_rides_along() {
    let fine =
        "o lid\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\no rest\nv 0 0 1\nf 1 2 4\n";
    for (skin, works) in [("particles", true), ("clusters", true), ("tetrahedra", false)] {
        let scene = format!(
            "[[body]]\nshape = {{ kind = \"mesh\", file = \"cube.obj\", scale = 0.5 }}\nparticles = 60\n\
             render = {{ file = \"fine.obj\", object = \"lid\" }}\nskin = \"{skin}\"\n"
        );
        let folder = folder(&[("cube.obj", CUBE), ("fine.obj", fine), ("scene.toml", &scene)]);
        let built = Scene::load(&folder.path().join("scene.toml")).unwrap().build(1);
        let Ok(built) = built else {
            let told = built.err().unwrap_or_default();
            assert!(!works && told[0].place.map(|p| p.0) == Some(5), "{told:?}");
            continue;
        };
        let body = &built.bodies[0];
        assert!(works && body.attributes.uvs.values.len() == 3 && body.surface.positions.len() == 3);
        let at_rest = built.simulation.positions(0).collect::<Vec<_>>();
        let axis = |k: usize| at_rest.iter().map(|p| p[k]).collect::<Vec<f64>>();
        let (x, y, z) = (axis(0), axis(1), axis(2));
        let mut shown = Vec::new();
        body.skin.apply([&x, &y, &z], &mut shown);
        for (shown, rest) in shown.iter().zip(&body.surface.positions) {
            assert!(shown.distance(*rest) < 1e-9, "{skin}: {shown} {rest}");
        }
    }
}

#[test]
fn errors_that_are_not_shown_are_counted_last() {
    let found = told("points", "p.txt", &"1 2\n".repeat(30));
    let lines: Vec<_> = found.iter().filter_map(|p| p.place).map(|p| p.0).collect();
    assert_eq!(lines, (1..=20).collect::<Vec<usize>>());
    assert!(found.last().unwrap().message.starts_with("10 more errors"), "{:?}", found.last());
}
