//! Meshes: looked over, mended, filled, cut, converted, and run without a scene.

use crate::common::Place;

/// A cube of quads with a wall missing, a face twice and a vertex nobody uses.
const CRATE: &str = "o crate\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nv 0 0 1\nv 1 0 1\nv 0 1 1\nv 1 1 1\nv 5 5 5\n\
                     f 1 3 4 2\nf 5 6 8 7\nf 1 2 6 5\nf 3 7 8 4\nf 1 5 7 3\nf 1 5 7 3\n";

/// A closed octahedron.
const GEM: &str = "v 1 0 0\nv -1 0 0\nv 0 1 0\nv 0 -1 0\nv 0 0 1\nv 0 0 -1\nf 1 3 5\nf 3 2 5\nf 2 4 5\nf 4 1 5\n\
                   f 3 1 6\nf 2 3 6\nf 4 2 6\nf 1 4 6\n";

#[test]
fn a_broken_mesh_is_told_mended_and_written() {
    let place = Place::new();
    place.write("crate.obj", CRATE);
    let told = place.fine(&["mesh", "crate.obj"]).out;
    for part in ["9 vertices, 6 faces (6 quads)", "1 piece", "4 open edges", "--repair would mend"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = place.fine(&["mesh", "crate.obj", "--json"]).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["objects"][0]["duplicate_faces"]["same"]["count"], 1);
    assert_eq!(json["objects"][0]["unreferenced_vertices"]["first"], serde_json::json!([8]));
    let told = place.fine(&["mesh", "crate.obj", "--repair=duplicates,unreferenced", "-o", "mended.ply"]).out;
    assert!(told.contains("repaired:") && told.contains("wrote mended.ply  (8 vertices, 5 faces"), "{told}");
    let again = place.fine(&["mesh", "mended.ply"]).out;
    assert!(again.contains("8 vertices, 5 faces (5 quads)"), "{again}");
}

#[test]
fn every_surface_format_leads_to_every_other() {
    let place = Place::new();
    place.write("gem.obj", GEM);
    let mut from = "gem.obj".to_string();
    for to in ["a.ply", "a.glb", "a.off", "a.stl", "b.obj"] {
        place.fine(&["mesh", &from, "-o", to]);
        from = to.into();
    }
    let end = place.fine(&["mesh", "b.obj"]).out;
    assert!(end.contains("6 vertices, 8 faces (8 triangles)") && end.contains("closed"), "{end}");
    place.fine(&["mesh", "gem.obj", "-o", "z.obj", "--z-up", "--fit", "0.5"]);
    let end = place.fine(&["mesh", "z.obj"]).out;
    assert!(end.contains("size 0.5 x 0.5 x 0.5, centre (0, 0.25, 0)"), "{end}");
}

#[test]
fn insides_are_filled_and_cut_into_tetrahedra() {
    let place = Place::new();
    place.write("gem.obj", GEM);
    let fill = ["mesh", "gem.obj", "--particles", "500", "--sampling", "blue-noise", "-o", "gem.xyz"];
    assert!(place.fine(&fill).out.contains("filled with 500 particles"));
    assert!(place.fine(&["mesh", "gem.xyz"]).out.contains("500 vertices, 0 faces"));
    let told = place
        .fine(&["mesh", "gem.obj", "--cell", "0.2", "-o", "gem.msh", "-o", "gem.node", "-o", "gem.vtu"])
        .out;
    for part in ["tetrahedra", "dihedral angles", "% against the mesh's 1.333333", "wrote gem.ele"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let counts = |file: &str| {
        let told = place.fine(&["mesh", file]).out;
        told.lines().nth(1).and_then(|l| l.split(", dihedral").next().map(String::from)).unwrap_or_default()
    };
    assert!(counts("gem.msh").ends_with("points"), "{}", counts("gem.msh"));
    assert_eq!(counts("gem.msh"), counts("gem.vtu"));
    assert_eq!(counts("gem.msh"), counts("gem.node"));
    // Their boundary is a surface like any other.
    place.fine(&["mesh", "gem.msh", "-o", "boundary.stl"]);
    assert!(place.fine(&["mesh", "boundary.stl"]).out.contains("closed"));
    place.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    place.fails(&["mesh", "open.obj", "-o", "open.msh"], 2, &["open.obj", "inside"]);
    assert!(!place.has("open.msh"));
}

#[test]
fn mistakes_are_answered_and_nothing_is_harmed() {
    let place = Place::new();
    place.write("gem.obj", GEM);
    place.fails(&["mesh", "no.obj"], 4, &["no.obj"]);
    place.fails(&["mesh", "gem.obj", "-o", "gem.obj"], 2, &["replace the mesh"]);
    place.fails(&["mesh", "gem.obj", "-o", "a.fbx", "-o", "b.gltf"], 2, &["a.fbx", "b.gltf", ".glb"]);
    place.fails(&["mesh", "gem.obj", "--object", "hat"], 2, &["no object \"hat\""]);
    place.fails(&["mesh", "gem.obj", "--cell", "1e-9", "-o", "a.msh"], 2, &["gem.obj", "cell"]);
    place.fails(&["mesh", "gem.obj", "--cell=-1"], 2, &["--cell"]);
    place.write("bad.obj", "v 0 0\nf 1 2\nv 0 nan 0\n");
    place.fails(&["mesh", "bad.obj"], 2, &["bad.obj:1:", "bad.obj:2:", "bad.obj:3:"]);
    assert_eq!(place.names(), ["bad.obj", "gem.obj", "s.toml"]);
}

#[test]
fn a_mesh_runs_without_a_scene_and_leaves_one_to_go_on_from() {
    let place = Place::new();
    place.write("models/gem.obj", GEM);
    let run = ["run", "models/gem.obj", "--material", "rubber", "--particles", "150", "--frames", "8"];
    place.fine(&[&run[..], &["-o", "a.usda", "-o", "a.glb", "--save-scene", "scenes/gem.toml"]].concat());
    assert!(place.has("a.usda") && place.has("a.glb") && place.has("a.plog"));
    // The scene is the same run.
    place.fine(&["run", "scenes/gem.toml", "--frames", "8", "-o", "b.pc2"]);
    place.fine(&["export", "a.plog", "-o", "c.pc2"]);
    assert_eq!(std::fs::read(place.path("b.pc2")).ok(), std::fs::read(place.path("c.pc2")).ok());
    place.fails(&["run", "models/gem.obj", "--material", "wood"], 2, &["wood", "jelly"]);
    place.write("cloud.xyz", "0 0 0\n0.1 0 0\n0 0.1 0\n0 0 0.1\n0.1 0.1 0.1\n");
    place.fails(&["run", "cloud.xyz", "--material", "jelly"], 2, &["cloud.xyz", "no elements", "clusters"]);
    place.fails(&["run", "s.toml", "--material", "jelly"], 2, &["--material", "scene"]);
    place.fails(&["run", "models/gem.obj", "--save-scene", "scenes/gem.toml"], 2, &["already"]);
    place.fails(&["run", "thing.obj"], 4, &["thing.obj"]);
}
