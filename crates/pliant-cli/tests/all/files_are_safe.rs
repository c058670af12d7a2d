//! No output destroys an input, another output, or what somebody else made; limits of the system are told.

use crate::common::Place;
use std::fs;

/// A closed octahedron with a material.
const GEM: &str = "mtllib gem.mtl\nusemtl glass\nv 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\n\
                   f 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\nf 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";
const GLASS: &str = "newmtl glass\nKd 0.2 0.5 0.9\nmap_Kd glass.png\n";

/// A folder with a mesh, its materials, the same as GLB, and a scene of them.
fn gallery() -> Place {
    let place = Place::new();
    place.write("gem.obj", GEM);
    place.write("gem.mtl", GLASS);
    place.write("glass.png", "a picture");
    place.fine(&["mesh", "gem.obj", "-o", "gem.glb"]);
    place.write(
        "gem.toml",
        "frames = 2\n[[body]]\nshape = { kind = \"mesh\", file = \"gem.glb\", fit = 0.1 }\nparticles = 60\n\
         render = \"gem.obj\"\n",
    );
    place
}

#[test]
fn an_output_never_replaces_an_input() {
    let place = gallery();
    let before = place.read("gem.glb");
    let run = |words: &[&str], told: &[&str]| {
        let mut all = vec!["run"];
        all.extend(words);
        place.fails(&all, 2, told);
        all.push("--force");
        place.fails(&all, 2, told);
    };
    let short = ["--frames", "2", "--particles", "60"];
    run(&[&["gem.glb", "-o", "gem.glb"], &short[..]].concat(), &["gem.glb", "replace the mesh"]);
    run(&[&["gem.glb", "-o", "./gem.glb"], &short[..]].concat(), &["./gem.glb", "replace the mesh"]);
    run(&["gem.toml", "-o", "gem.glb"], &["gem.glb", "replace a file of the scene"]);
    run(&["gem.toml", "-o", "x.usda", "--stats", "gem.obj"], &["the statistics would replace a file"]);
    run(&["gem.toml", "-o", "x.usda", "--log", "gem.mtl"], &["the log would replace a file"]);
    run(&["gem.toml", "-o", "glass.png"], &["glass.png", "replace a file of the scene"]);
    // The materials that go with an OBJ sequence of the same name.
    run(&[&["gem.obj", "-o", "gem.obj"], &short[..]].concat(), &["gem.mtl", "replace the mesh"]);
    place.fails(&["mesh", "gem.glb", "-o", "gem.obj"], 2, &["gem.mtl", "--force"]);
    place.fails(&["mesh", "gem.obj", "-o", "sub/../gem.obj"], 2, &["would replace the mesh"]);
    assert_eq!(place.read("gem.glb"), before);
    assert_eq!(place.read("gem.mtl"), GLASS.as_bytes());
    assert_eq!(place.read("glass.png"), b"a picture");
    assert_eq!(place.read("gem.obj"), GEM.as_bytes());
    assert!(!place.names().iter().any(|n| n.ends_with(".plog")), "nothing was begun: {:?}", place.names());
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_same_file() {
    let place = gallery();
    std::os::unix::fs::symlink("gem.glb", place.path("soft.glb")).expect("a link");
    fs::hard_link(place.path("gem.glb"), place.path("hard.glb")).expect("a link");
    let before = place.read("gem.glb");
    for link in ["soft.glb", "hard.glb"] {
        place.fails(&["run", "gem.toml", "-o", link], 2, &[link, "gem.glb", "replace a file of the scene"]);
        place.fails(&["mesh", "gem.glb", "-o", link], 2, &["would replace the mesh"]);
    }
    // A log behind a link, and two links to what is not there yet.
    place.fine(&["run", "s.toml", "-q", "--frames", "1", "--log", "s.plog"]);
    fs::hard_link(place.path("s.plog"), place.path("log.usda")).expect("a link");
    place.fails(&["export", "s.plog", "-o", "log.usda"], 2, &["log.usda", "replace the log"]);
    std::os::unix::fs::symlink("new.gif", place.path("a.gif")).expect("a link");
    place.fails(&["export", "s.plog", "-o", "a.gif", "-o", "new.gif"], 2, &["named twice"]);
    assert_eq!(place.read("gem.glb"), before);
}

#[test]
fn one_file_has_one_name() {
    let place = Place::new();
    place.fails(&["run", "s.toml", "-o", "x.glb", "-o", "./x.glb"], 2, &["./x.glb", "twice"]);
    place.fails(&["run", "s.toml", "-o", "x.glb", "-o", "no/../x.glb"], 2, &["twice"]);
    place.fails(&["run", "s.toml", "-o", "x.obj", "-o", "x_####.obj"], 2, &["x_0000.obj", "twice"]);
    place.fails(&["run", "s.toml", "-o", "x.pvd", "-o", "x.vtu"], 2, &["twice"]);
    place.fails(&["run", "s.toml", "-o", "x.gif", "--stats", "./x.gif"], 2, &["mixed up"]);
    place.fails(&["run", "s.toml", "--stats", "t", "--trace", "./t"], 2, &["mixed up"]);
    assert_eq!(place.names(), ["s.toml"], "nothing was begun");
}

#[test]
fn what_goes_beside_an_output_replaces_nothing_of_others() {
    let place = Place::new();
    place.fine(&["run", "s.toml", "-q", "--frames", "2", "--log", "s.plog"]);
    place.write("m2.mtl", "newmtl mine\n");
    place.write("m3_0001.ply", "mine");
    place.write("m4_0002.vtu", "mine");
    let cases = [("m2.obj", "m2.mtl"), ("m3.ply", "m3_0001.ply"), ("m4.pvd", "m4_0002.vtu")];
    for (output, beside) in cases {
        let mine = place.read(beside);
        place.fails(&["export", "s.plog", "-o", output], 2, &[output, beside, "--force"]);
        place.fails(&["run", "s.toml", "--frames", "2", "-o", output], 2, &[output, beside, "--force"]);
        assert_eq!(place.read(beside), mine, "{beside}");
        place.fine(&["export", "s.plog", "-q", "-o", output, "--force"]);
        assert_ne!(place.read(beside), mine, "{beside}");
        // What we made ourselves may be made again.
        place.fine(&["export", "s.plog", "-q", "-o", output]);
    }
    // Meshes too.
    place.write("gem.obj", GEM);
    place.write("gem.mtl", GLASS);
    place.write("a.mtl", "newmtl mine\n");
    place.fails(&["mesh", "gem.obj", "-o", "a.obj"], 2, &["a.mtl", "--force"]);
    assert_eq!(place.read("a.mtl"), b"newmtl mine\n");
    place.fine(&["mesh", "gem.obj", "-o", "a.obj", "--force"]);
    place.fine(&["mesh", "gem.obj", "-o", "a.obj"]);
    place.write("t.ele", "mine");
    place.fails(&["mesh", "gem.obj", "-o", "t.node", "--cell", "0.5"], 2, &["t.ele", "--force"]);
    assert_eq!(place.read("t.ele"), b"mine");
}

#[cfg(feature = "figures")]
#[test]
fn folders_of_figures_are_not_written_over() {
    let place = Place::new();
    place.write("figs/index.html", "my own page");
    place.fails(&["figures", "nothing_such", "-o", "figs"], 2, &["figs/index.html", "--force"]);
    assert_eq!(place.read("figs/index.html"), b"my own page");
}

#[cfg(all(feature = "figures", feature = "bench"))]
#[test]
fn a_drawing_of_speed_spares_its_points_and_wants_a_folder() {
    let place = Place::new();
    place.write("p.svg", "0 0 0\n1 0 0\n");
    let words =
        ["bench", "--filter", "scaling/1k", "--points", "p.svg", "--radius", "1", "--plot", "./p.svg"];
    place.fails(&words, 2, &["the drawing would replace the list of points"]);
    let ran = place.fails(&["bench", "--filter", "scaling/1k", "--plot", "no/a.svg"], 4, &["no/a.svg"]);
    assert_eq!(ran.out, "", "before measuring");
}

#[test]
fn folders_that_are_made_are_told() {
    let place = Place::new();
    let ran = place.fine(&["run", "s.toml", "--frames", "1", "-o", "new/deep/a.usda"]);
    assert!(ran.err.contains("note: made the folder new/deep"), "{}", ran.err);
    let ran = place.fine(&["export", "new/deep/a.plog", "-o", "newer/a.usda"]);
    assert!(ran.err.contains("note: made the folder newer"), "{}", ran.err);
    let ran = place.fine(&["export", "new/deep/a.plog", "-o", "newer/b.usda"]);
    assert_eq!(ran.err, "");
    // Not when something else is wrong.
    place.fails(&["run", "s.toml", "-o", "typo/a.usda", "-o", "./typo/a.usda"], 2, &["twice"]);
    assert!(!place.has("typo"));
}

/// Under a limit on file sizes a program is killed without a word unless it takes the signal.
#[cfg(unix)]
#[test]
fn a_limit_on_file_sizes_is_told() {
    let place = Place::new();
    for (words, file) in [("run s.toml --log a.plog", "a.plog"), ("run s.toml -o b.usda", "b.plog")] {
        let ran = place.limited(words, 64, false);
        assert_eq!(ran.code, Some(4), "{}", ran.err);
        assert!(ran.err.contains(file) && ran.err.contains("ulimit -f"), "{}", ran.err);
    }
}

/// Squares of what is still finite may be beyond all numbers; JSON has none for that, and no reader wants null.
#[test]
fn statistics_are_numbers_whatever_the_mass() {
    let place = Place::new();
    for (mass, force) in [("1e-300", "0"), ("1e-300", "1e-140"), ("1e-299", "1e9")] {
        place.write(
            "w.toml",
            &format!(
                "frames = 20\ngravity = [0, 0, 0]\n[[body]]\nshape = \"ball\"\nparticles = 30\nmass = {mass}\n\
                 force = [{force}, 0, 0]\n"
            ),
        );
        let ran = place.pliant(&["run", "w.toml", "--stats", "w.jsonl", "--force"]);
        assert!(matches!(ran.code, Some(0 | 3)), "{}", ran.err);
        let text = String::from_utf8(place.read("w.jsonl")).expect("text");
        assert!(text.lines().count() > 1);
        for line in text.lines() {
            let stats: serde_json::Value = serde_json::from_str(line).expect("JSON");
            for key in ["kinetic", "elastic", "gravity", "max_strain", "residual"] {
                assert!(stats[key].is_f64(), "{key} at a mass of {mass}: {line}");
            }
            assert!(!line.contains("null"), "{line}");
        }
    }
}

#[test]
fn a_crowd_of_objects_is_looked_over_as_one() {
    let place = Place::new();
    let nodes = vec!["{\"mesh\":0}"; 1500].join(",");
    let data = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    place.write(
        "crowd.gltf",
        &format!(
            "{{\"asset\":{{\"version\":\"2.0\"}},\"buffers\":[{{\"byteLength\":36,\"uri\":\"data:;base64,{data}\"}}],\
             \"bufferViews\":[{{\"buffer\":0,\"byteLength\":36}}],\"accessors\":[{{\"bufferView\":0,\
             \"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}}],\"meshes\":[{{\"primitives\":[{{\"attributes\":\
             {{\"POSITION\":0}}}}]}}],\"nodes\":[{nodes}]}}"
        ),
    );
    let told = place.fine(&["mesh", "crowd.gltf"]).out;
    assert!(told.contains("its 1500 objects are taken as one") && told.contains("4500 vertices"), "{told}");
}

/// Searches for a spacing end, with what to do.
#[test]
fn a_sliver_of_a_shape_is_refused_soon() {
    let place = Place::new();
    for (shape, particles) in [
        ("{ kind = \"torus\", major = 1e6 }", 30),
        ("{ kind = \"capsule\", radius = 1e-6 }", 1500),
        ("{ kind = \"capsule\", radius = 1e-6 }", 30),
        ("{ kind = \"cylinder\", radius = 1e-6, height = 1.0 }", 100),
    ] {
        for elements in ["", "material = \"jelly\"\n"] {
            let text = format!("[[body]]\nshape = {shape}\nparticles = {particles}\n{elements}");
            place.write("thin.toml", &text);
            place.fails(&["check", "thin.toml"], 2, &["thin.toml:", "too thin", "particles", "spacing"]);
        }
    }
}
