//! Colliders of scenes: every shape, meshes of files, animated ones, events; and what is refused, with its line.

use pliant::{ColliderShape, DVec3, Primitive};
use pliant_scene::{BuiltScene, Scene};
use std::fs;

const BALL: &str = "substeps = 2\n[[body]]\nshape = { kind = \"ball\", radius = 0.1 }\nparticles = 60\nposition = [0, 0.4, 0]\n";

fn built(text: &str, file: &std::path::Path) -> BuiltScene {
    let scene = Scene::parse(text, file).unwrap_or_else(|p| panic!("{}", p[0]));
    scene.build(1).unwrap_or_else(|p| panic!("{}", p[0]))
}

fn refused(text: &str, file: &std::path::Path) -> Vec<String> {
    match Scene::parse(text, file).and_then(|scene| scene.build(1)) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.iter().map(|p| p.to_string()).collect(),
    }
}

/// A cube of edge 1 as an OBJ of quads, moved by so much; inside out if wanted.
fn cube(by: DVec3, flip: bool) -> String {
    let mut text = String::new();
    for k in 0..8 {
        let at = |bit: u32| if k & bit == 0 { -0.5 } else { 0.5 };
        let p = DVec3::new(at(1), at(2), at(4)) + by;
        text += &format!("v {} {} {}\n", p.x, p.y, p.z);
    }
    for quad in [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]] {
        let mut quad: Vec<String> = quad.iter().map(|i: &i32| i.to_string()).collect();
        if flip {
            quad.reverse();
        }
        text += &format!("f {}\n", quad.join(" "));
    }
    text
}

#[test]
fn every_shape_is_there_and_holds_what_falls_on_it() {
    let folder = pliant_testing::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    fs::write(folder.path().join("cube.obj"), cube(DVec3::ZERO, false)).unwrap();
    for (shape, top) in [
        ("{ kind = \"ball\", radius = 2.0 }", 2.0),
        ("{ kind = \"box\", size = [2, 1, 2] }", 0.5),
        ("{ kind = \"capsule\", radius = 1.0, height = 3.0 }", 1.5),
        ("{ kind = \"cylinder\", radius = 1.0, height = 1.0 }", 0.5),
        ("{ kind = \"mesh\", file = \"cube.obj\", scale = 2.0 }", 1.0),
        ("{ kind = \"mesh\", file = \"cube.obj\", fit = 4.0, origin = \"center\" }", 2.0),
        ("{ kind = \"heights\", rows = [[0.1, 0.1], [0.1, 0.1]], size = [2, 2] }", 0.1),
    ] {
        let text = format!(
            "{BALL}[[collider]]\nname = \"thing\"\nshape = {shape}\nposition = [0, {}, 0]\nfriction = 3\n",
            -top
        );
        let mut built = built(&text, &scene);
        let model = built.simulation.model();
        assert!(model.collider("thing").is_some());
        assert_eq!(built.colliders.len(), 1);
        assert!(!built.colliders[0].surface.triangles.is_empty());
        for _ in 0..40 {
            built.simulation.step_by(&built.events).unwrap();
        }
        let low = built.simulation.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
        assert!(low.abs() < 0.02, "{shape}: lowest at {low}");
    }
}

#[test]
fn it_stands_turns_and_moves_as_it_says() {
    let text = format!(
        "{BALL}[[plane]]\n[[collider]]\nshape = {{ kind = \"box\", size = [1, 2, 3] }}\nposition = [1, 2, 3]\nrotation = [0, 0, 90]\n\
         spin = [0, 1, 0]\nrestitution = 0.5\ncolor = \"#ff0000\"\n"
    );
    let built = built(&text, "s.toml".as_ref());
    let collider = &built.simulation.model().colliders()[1].collider;
    assert_eq!(collider.shape, ColliderShape::Solid(Primitive::Cuboid { half: DVec3::new(0.5, 1.0, 1.5) }));
    assert!(collider.at.transform_point3(DVec3::X).distance(DVec3::new(1.0, 3.0, 3.0)) < 1e-12);
    assert_eq!(collider.motion.pivot, DVec3::new(1.0, 2.0, 3.0), "about itself unless a pivot is given");
    assert_eq!((collider.restitution, collider.friction), (0.5, 0.5));
    assert_eq!(built.colliders[1].color, [1.0, 0.0, 0.0]);
    assert!(built.colliders[0].surface.triangles.is_empty(), "planes have no end to show");
}

#[test]
fn meshes_follow_animations_from_files() {
    let folder = pliant_testing::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    for k in 0..61 {
        let by = DVec3::Y * 0.3 * f64::from(k) / 60.0;
        fs::write(folder.path().join(format!("lift_{k:03}.obj")), cube(by, false)).unwrap();
    }
    let text = format!(
        "{BALL}[[collider]]\nshape = {{ kind = \"mesh\", file = \"lift_000.obj\" }}\nposition = [0, -0.5, 0]\ninput = {{ files = \"lift_###.obj\" }}\n"
    );
    let mut built = built(&text, &scene);
    for _ in 0..100 {
        built.simulation.step_by(&built.events).unwrap();
    }
    let low = built.simulation.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
    assert!((low - 0.3).abs() < 0.02, "lifted to {low}");
    // Other topologies are told by their frame.
    fs::write(folder.path().join("lift_007.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let told = refused(&text, &scene);
    assert!(told.iter().any(|t| t.contains("frame 7 has 3 vertices")), "{told:?}");
    fs::write(folder.path().join("other.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    fs::remove_file(folder.path().join("lift_007.obj")).unwrap();
    let text =
        text.replace("lift_###", "lift_00#").replace("file = \"lift_000.obj\"", "file = \"other.obj\"");
    let told = refused(&text, &scene);
    assert!(told.iter().any(|t| t.contains("missing")), "{told:?}");
}

#[test]
fn colliders_come_and_go_by_events() {
    let text = format!(
        "{BALL}[[plane]]\noffset = -2\n[[collider]]\nname = \"shelf\"\nshape = {{ kind = \"box\", size = [1, 0.1, 1] }}\nposition = [0, 0.1, 0]\n\
         [[collider]]\nname = \"late\"\nshape = {{ kind = \"ball\" }}\nposition = [3, 0, 0]\n\
         [[event]]\nat = 1.0\ncollider = \"shelf\"\nremove = true\n[[event]]\nat = 0.5\ncollider = \"late\"\nadd = true\n"
    );
    let mut built = built(&text, "s.toml".as_ref());
    assert_eq!((built.simulation.model().colliders().len(), built.colliders.len()), (2, 3));
    for frame in 1..=100 {
        built.simulation.step_by(&built.events).unwrap();
        let count = built.simulation.model().colliders().len();
        let there = match frame {
            ..=30 => 2,
            31..=60 => 3,
            _ => 2,
        };
        assert_eq!(count, there, "frame {frame}");
    }
    let low = built.simulation.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
    assert!(low < -0.5, "fell on when the shelf went, to {low}");
    let told = refused(&text.replace("collider = \"shelf\"", "collider = \"shelv\""), "s.toml".as_ref());
    assert!(
        told[0].contains("no collider named \"shelv\"") && told[0].contains("did you mean \"shelf\""),
        "{told:?}"
    );
}

#[test]
fn what_cannot_be_is_told_with_its_line_all_at_once() {
    let folder = pliant_testing::tempdir().unwrap();
    let scene = folder.path().join("scene.toml");
    fs::write(folder.path().join("flipped.obj"), cube(DVec3::ZERO, true)).unwrap();
    fs::write(folder.path().join("sheet.obj"), "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n").unwrap();
    let text = format!(
        "{BALL}[[collider]]\nshape = {{ kind = \"mesh\", file = \"flipped.obj\" }}\n\
         [[collider]]\nshape = {{ kind = \"mesh\", file = \"sheet.obj\", thickness = 0 }}\n\
         [[collider]]\nshape = {{ kind = \"mesh\", file = \"nowhere.obj\" }}\n"
    );
    let told = refused(&text, &scene);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(
        told[0].contains("scene.toml:7")
            && told[0].contains("inside out")
            && told[0].contains("turn its faces"),
        "{told:?}"
    );
    assert!(told[1].contains("scene.toml:9") && told[1].contains("too little for an open mesh"), "{told:?}");
    assert!(told[2].contains("nowhere.obj"), "{told:?}");
    let text = format!(
        "{BALL}[[collider]]\nshape = {{ kind = \"ball\", radius = 0 }}\n[[collider]]\nshape = \"box\"\nfriction = -1\n\
         [[collider]]\nshape = {{ kind = \"capsule\", radius = 0.2, height = 0.1 }}\n\
         [[collider]]\nshape = {{ kind = \"heights\", rows = [[0, 1], [0, 1, 2]] }}\n\
         [[collider]]\nshape = \"ball\"\ninput = {{ wag = {{ angle = 3 }} }}\n[[collider]]\nshape = \"bowl\"\n"
    );
    let told = refused(&text, &scene);
    for (line, part) in [
        (7, "cannot be 0"),
        (10, "cannot be -1"),
        (12, "at least twice the radius"),
        (14, "row 2 has 3 heights"),
        (17, "has no animation"),
        (19, "cannot be \"bowl\""),
    ] {
        let place = format!("scene.toml:{line}");
        assert!(told.iter().any(|t| t.contains(&place) && t.contains(part)), "{line} {part}: {told:#?}");
    }
}

#[test]
fn a_body_that_starts_inside_is_told() {
    let text = format!(
        "{BALL}[[collider]]\nname = \"rock\"\nshape = {{ kind = \"ball\", radius = 0.2 }}\nposition = [0, 0.3, 0]\n"
    );
    let built = built(&text, "s.toml".as_ref());
    assert!(
        built.settings.notes.iter().any(|n| n.contains("deep in collider `rock`")),
        "{:?}",
        built.settings.notes
    );
}
