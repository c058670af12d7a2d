//! Files that lie: refused with the place in the JSON part, without panics and without the memory they claim.

use super::sample::{Sample, base64, messages, read, read_with};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The errors of a triangle with one value of the JSON part replaced.
fn with(pointer: &str, value: Value) -> String {
    let mut sample = Sample::triangle();
    set(&mut sample.json, pointer, value);
    sample.errors()
}

fn set(json: &mut Value, pointer: &str, value: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = json.pointer_mut(parent).unwrap();
    match parent {
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        other => other[key] = value,
    }
}

#[test]
fn lies_about_sizes_name_their_place() {
    let huge = json!(10_000_000_000_u64);
    for (pointer, value, place) in [
        ("/accessors/0/count", huge.clone(), "accessors[0]: 10000000000 elements of 12 bytes"),
        ("/accessors/0/count", json!(u64::MAX), "accessors[0]: 18446744073709551615 elements"),
        ("/accessors/0/count", json!(-1), "accessors[0].count: -1"),
        ("/accessors/0/count", json!(0), "accessors[0].count: an accessor has at least"),
        ("/accessors/0/count", json!("three"), "accessors[0].count: \"three\""),
        ("/accessors/0/byteOffset", json!(u64::MAX), "accessors[0]: 3 elements"),
        ("/accessors/0/componentType", json!(5130), "accessors[0].componentType: 5130"),
        ("/accessors/0/type", json!("VEC9"), "accessors[0]: type VEC9"),
        ("/accessors/0/type", json!("VEC2"), "accessors[0]: 2 components"),
        ("/accessors/0/bufferView", json!(7), "accessors[0].bufferView: 7 is named, but `bufferViews` has 1"),
        ("/bufferViews/0/byteLength", huge.clone(), "bufferViews[0]: 10000000000 bytes"),
        ("/bufferViews/0/byteOffset", json!(u64::MAX), "bufferViews[0]: 36 bytes from byte"),
        ("/bufferViews/0/byteStride", json!(u64::MAX), "bufferViews[0]: elements of 12 bytes have a stride"),
        (
            "/bufferViews/0/byteStride",
            json!(200),
            "accessors[0]: 3 elements of 12 bytes from byte 0, 200 apart",
        ),
        ("/bufferViews/0/buffer", json!(1), "bufferViews[0].buffer: 1"),
        ("/buffers/0/byteLength", huge, "buffers[0].byteLength: 10000000000 bytes are claimed, 36 are there"),
        (
            "/meshes/0/primitives/0/attributes/POSITION",
            json!(5),
            "meshes[0].primitives[0].attributes.POSITION: 5",
        ),
        ("/meshes/0/primitives/0/mode", json!(7), "meshes[0].primitives[0]: 7 is no mode"),
        ("/meshes/0/primitives/0/material", json!(0), "meshes[0].primitives[0].material: 0"),
        ("/nodes/0/mesh", json!(3), "nodes[0].mesh: 3"),
        ("/nodes/0/translation", json!([1, 2]), "nodes[0].translation: 2 numbers"),
        ("/scenes/0/nodes", json!([0, 1]), "scenes[0].nodes[1]: node 1"),
        ("/nodes", json!({}), "nodes: this must be an array"),
        ("/asset/version", json!("1.0"), "asset: glTF version 1.0"),
        ("/extensionsRequired", json!(["KHR_draco_mesh_compression"]), "export without compression"),
        ("/extensionsRequired", json!(["EXT_meshopt_compression"]), "export without compression"),
        ("/extensionsRequired", json!(["VENDOR_cubes"]), "VENDOR_cubes is required"),
    ] {
        let found = with(pointer, value);
        assert!(found.contains(place), "{pointer}: {found}");
    }
    let mut sample = Sample::triangle();
    sample.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    sample.json["meshes"][0]["primitives"][0]["extensions"] = json!({"KHR_draco_mesh_compression": {}});
    assert!(sample.errors().contains("export without compression"));
}

#[test]
fn several_errors_at_once_up_to_a_cap() {
    let mut sample = Sample::triangle();
    for _ in 0..100 {
        let mesh = sample.mesh(json!([{"attributes": {}}, {"attributes": {"POSITION": 9}}]));
        sample.node(json!({"mesh": mesh}));
    }
    let found = sample.errors();
    assert!(found.contains("meshes[1].primitives[0].attributes: `POSITION` is missing"), "{found}");
    assert!(found.contains("meshes[1].primitives[1].attributes.POSITION: 9"), "{found}");
    assert!(found.contains("more errors are not shown"), "{found}");
}

#[test]
fn graphs_that_go_in_circles_or_deep() {
    assert!(with("/nodes/0/children", json!([0])).contains("nodes[0]: the node is reached twice"));
    assert!(with("/scenes/0/nodes", json!([0, 0])).contains("nodes[0]: the node is reached twice"));
    let mut sample = Sample::triangle();
    sample.json["scenes"] = json!([]);
    sample.json["nodes"][0]["children"] = json!([0]);
    assert!(sample.errors().contains("in circles"));
    // A chain of many nodes, the last one with a mesh, all of them moving.
    let mut sample = Sample::triangle();
    let (times, places) = (sample.floats(&[[0.0], [1.0]]), sample.floats(&[[0., 0., 0.], [1., 0., 0.]]));
    let depth = 20_000;
    let mut nodes: Vec<Value> = (1..depth).map(|k| json!({"children": [k]})).collect();
    nodes.push(json!({"mesh": 0}));
    sample.json["nodes"] = nodes.into();
    sample.animate(depth / 2, "translation", "LINEAR", times, places);
    let found = sample.read();
    assert_eq!(found.meshes[0].animation.as_ref().unwrap().samples[1][0].x, 1.0);
}

#[test]
fn a_small_file_cannot_stand_for_endless_memory() {
    // Zeros without bytes.
    let mut sample = Sample::triangle();
    sample.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    sample.json["accessors"][0]["count"] = 4_000_000_000_u64.into();
    assert!(sample.errors().contains("larger than 256 MiB"), "{}", sample.errors());
    // Many instances of a mesh of some size.
    let mut sample = Sample::triangle();
    sample.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    sample.json["accessors"][0]["count"] = 300_000.into();
    for _ in 0..1000 {
        sample.node(json!({"mesh": 0}));
    }
    assert!(sample.errors().contains("larger than 256 MiB"), "{}", sample.errors());
    // Many vertices at many keyframes.
    let mut sample = Sample::triangle();
    sample.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    sample.json["accessors"][0]["count"] = 300_000.into();
    let times: Vec<[f32; 1]> = (0..1000).map(|k| [k as f32]).collect();
    let (times, places) = (sample.floats(&times), sample.floats(&[[0.0_f32; 3]; 1000]));
    sample.animate(0, "translation", "LINEAR", times, places);
    assert!(sample.errors().contains("larger than 256 MiB"), "{}", sample.errors());
    // A target that begins late in a large mesh, many times over.
    let mut sample = Sample::triangle();
    let large = sample.floats(&[[0.0_f32; 3]; 20_000]);
    let (none, one) = (vec![json!({}); 3000], vec![json!({"POSITION": 0}); 3000]);
    sample.json["meshes"][0]["primitives"] = json!([
        {"attributes": {"POSITION": large}, "targets": none}, {"attributes": {"POSITION": 0}, "targets": one}
    ]);
    assert!(sample.errors().contains("larger than 256 MiB"), "{}", sample.errors());
    // A long name used by many.
    let mut sample = Sample::triangle();
    sample.json["meshes"][0]["name"] = "n".repeat(1_000_000).into();
    for _ in 0..2000 {
        sample.node(json!({"mesh": 0}));
    }
    assert!(sample.errors().contains("larger than 256 MiB"));
    // Many targets at many keyframes: no memory, but work.
    let mut sample = Sample::triangle();
    let targets = vec![json!({"POSITION": 0}); 2000];
    sample.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    sample.json["accessors"][0]["count"] = 5000.into();
    sample.json["meshes"][0]["primitives"][0]["targets"] = targets.into();
    let times: Vec<[f32; 1]> = (0..1000).map(|k| [k as f32]).collect();
    let times = sample.floats(&times);
    let weights = sample.accessor("SCALAR", 5121, 2_000_000, &[1; 2_000_000]);
    sample.animate(0, "weights", "LINEAR", times, weights);
    assert!(sample.errors().contains("more work"), "{}", sample.errors());
}

#[test]
fn numbers_that_are_none() {
    let mut sample = Sample::triangle();
    sample.bytes[12..16].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(
        sample.errors().contains("attributes.POSITION: vertex 1 is at (NaN, 0, 0)"),
        "{}",
        sample.errors()
    );
    assert!(with("/nodes/0/scale", json!([1e300, 1, 1])).contains("nodes[0]: vertex 1"));
    let mut sample = Sample::triangle();
    let uvs = sample.floats(&[[f32::NAN, 0.0], [0.0, f32::INFINITY], [0.0, 0.0]]);
    sample.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = uvs.into();
    let found = sample.read();
    assert!(found.notes[0].contains("2 numbers"), "{:?}", found.notes);
    assert!(found.meshes[0].attributes.uvs.values.as_flattened().iter().all(|x| x.is_finite()));
    // Indices and sparse indices out of range, times that fall.
    let mut sample = Sample::triangle();
    let indices = sample.indices(&[0, 1, 3]);
    sample.json["meshes"][0]["primitives"][0]["indices"] = indices.into();
    assert!(sample.errors().contains("primitives[0].indices: corner 2 names vertex 3 of 3"));
    let mut sample = Sample::triangle();
    let (indices, values) = (sample.view(&[3]), sample.view(&[0; 12]));
    sample.json["accessors"][0]["sparse"] = json!({
        "count": 1, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}
    });
    assert!(sample.errors().contains("sparse index 0 names element 3 of 3"));
    sample.json["accessors"][0]["sparse"]["count"] = 10_000_000_000_u64.into();
    assert!(
        sample.errors().contains("accessors[0].sparse.indices: 10000000000 elements"),
        "{}",
        sample.errors()
    );
    let mut sample = Sample::triangle();
    let (times, places) = (sample.floats(&[[1.0], [0.0]]), sample.floats(&[[0.0_f32; 3]; 2]));
    sample.animate(0, "translation", "LINEAR", times, places);
    assert!(sample.errors().contains("the times do not rise"));
}

#[test]
fn names_that_leave_the_folder_and_bad_data() {
    let sample = Sample::triangle();
    let secret: &[(&str, &[u8])] = &[("secret.bin", &sample.bytes), ("/etc/secret.bin", &sample.bytes)];
    for uri in
        ["../secret.bin", "%2e%2e/secret.bin", "/etc/secret.bin", "file:///etc/secret.bin", "http://host/b"]
    {
        let found = messages(read_with("dir/a.gltf", &sample.text(uri), secret));
        assert!(
            found.contains("buffers[0].uri") && found.contains("leads out of the folder"),
            "{uri}: {found}"
        );
    }
    let found = messages(read("a.gltf", &sample.text("data:;base64,AAAA!AAA")));
    assert!(found.contains("buffers[0].uri: byte 4 of the data is no base64"), "{found}");
    let found = messages(read("a.gltf", &sample.text("data:;base64,AAAA")));
    assert!(found.contains("36 bytes are claimed, 3 are there"), "{found}");
    assert!(messages(read("a.gltf", b"{\"asset\": {\"version\": \"2.0\"}}")).contains("shows no mesh"));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(messages(read("a.gltf", deep.as_bytes())).contains("JSON part cannot be read"));
    for cut in [0, 3, 7, 11, 15, 19, 40, 200] {
        assert!(read("a.glb", &sample.glb()[..cut]).is_err());
    }
    let mut old = sample.glb();
    old[4] = 1;
    assert!(messages(read("a.glb", &old)).contains("version 1"));
}

/// A file with some of everything.
fn rich() -> Sample {
    let mut sample = Sample::new();
    let square = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [1., 1., 0.]];
    let positions = sample.floats(&square);
    let normals = sample.floats(&[[0., 0., 1.]; 4]);
    let uvs = sample.floats(&[[0., 0.], [1., 0.], [0., 1.], [1., 1.]]);
    let colors = sample.accessor("VEC4", 5121, 4, &[200; 16]);
    let target = sample.floats(&[[0., 0., 1.]; 4]);
    let indices = sample.indices(&[0, 1, 2, 2, 1, 3]);
    let (at, by) = (sample.view(&[1]), sample.view(&[0; 12]));
    sample.json["accessors"][target]["sparse"] = json!({
        "count": 1, "indices": {"bufferView": at, "componentType": 5121}, "values": {"bufferView": by}
    });
    sample.json["images"] = json!([{"uri": "wood.png"}]);
    sample.json["textures"] = json!([{"source": 0}]);
    sample.json["materials"] =
        json!([{"name": "m", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    let attributes = json!({"POSITION": positions, "NORMAL": normals, "TEXCOORD_0": uvs, "COLOR_0": colors});
    let targets = json!([{"POSITION": target}]);
    let mesh = sample.mesh(json!([
        {"attributes": attributes, "indices": indices, "material": 0, "targets": targets},
        {"attributes": {"POSITION": positions}, "mode": 5, "targets": targets},
        {"attributes": {"POSITION": positions}, "mode": 0, "targets": targets}
    ]));
    let child = sample.node(json!({"mesh": mesh, "scale": [1, -1, 1], "weights": [0.5]}));
    sample.json["scenes"][0]["nodes"] = json!([]);
    let parent = sample.node(json!({"children": [child], "rotation": [0, 1, 0, 0]}));
    let times = sample.floats(&[[0.0], [0.5], [1.0]]);
    let weights = sample.floats(&[[0.0], [1.0], [0.0]]);
    let turns = sample.floats(&[[0., 0., 0., 1.]; 9]);
    sample.animate(child, "weights", "LINEAR", times, weights);
    sample.animate(parent, "rotation", "CUBICSPLINE", times, turns);
    sample
}

/// What is read must be sound, whatever the file says.
fn sound(name: &str, bytes: &[u8]) {
    if let Ok(found) = read(name, bytes) {
        found.meshes.iter().for_each(|m| m.check().unwrap());
    }
}

/// Places of all values in the JSON part.
fn pointers(json: &Value, at: String, out: &mut Vec<String>) {
    match json {
        Value::Object(map) => map.iter().for_each(|(k, v)| pointers(v, format!("{at}/{k}"), out)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(k, v)| pointers(v, format!("{at}/{k}"), out))
        }
        _ => {}
    }
    if !at.is_empty() {
        out.push(at);
    }
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u64..12).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        prop::num::f64::ANY.prop_map(|x| json!(x)),
        prop::sample::select(vec![5120u64, 5121, 5122, 5123, 5125, 5126]).prop_map(Value::from),
        prop::sample::select(vec![
            "SCALAR",
            "VEC2",
            "VEC4",
            "STEP",
            "LINEAR",
            "CUBICSPLINE",
            "scale",
            "weights",
            "data:,"
        ])
        .prop_map(Value::from),
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!([0, 0, 0])),
        Just(json!(true)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_values_never_panic(changes in prop::collection::vec((any::<prop::sample::Index>(), odd_value()), 1..4)) {
        let mut sample = rich();
        for (place, value) in changes {
            let mut places = Vec::new();
            pointers(&sample.json, String::new(), &mut places);
            set(&mut sample.json, place.get(&places[..]).as_str(), value);
        }
        sound("a.glb", &sample.glb());
    }

    #[test]
    fn changed_bytes_never_panic(
        text in any::<bool>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        end in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let sample = rich();
        let mut bytes = match text {
            true => sample.text(&format!("data:;base64,{}", base64(&sample.bytes))),
            false => sample.glb(),
        };
        for (place, byte) in changes {
            *place.get_mut(&mut bytes[..]) = byte;
        }
        let end = end.map_or(bytes.len(), |e| e.index(bytes.len()));
        sound(if text { "a.gltf" } else { "a.glb" }, &bytes[..end]);
    }
}

#[test]
fn the_file_that_is_changed_is_read() {
    let found = rich().read();
    assert_eq!(found.meshes.len(), 2);
    assert!(found.meshes.iter().all(|m| m.animation.is_some()));
    assert!(found.notes.is_empty(), "{:?}", found.notes);
}

/// A link in the folder of a file is as much a way out of it as `..` in a name.
#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_folder() {
    use std::os::unix::fs::symlink;
    let outside = pliant_testing::tempdir().expect("a folder");
    let inside = pliant_testing::tempdir().expect("a folder");
    let bytes: Vec<u8> = [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0].map(f32::to_le_bytes).concat();
    let text = "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":36,\"uri\":\"a.bin\"}],\
                \"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\"accessors\":[{\"bufferView\":0,\
                \"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],\"meshes\":[{\"primitives\":[{\"attributes\":\
                {\"POSITION\":0}}]}],\"nodes\":[{\"mesh\":0}]}";
    std::fs::write(outside.path().join("a.bin"), &bytes).expect("a file");
    std::fs::write(outside.path().join("a.gltf"), text).expect("a file");
    std::fs::write(inside.path().join("b.gltf"), text).expect("a file");
    symlink(outside.path().join("a.bin"), inside.path().join("a.bin")).expect("a link");
    let refused = pliant_geometry::read_mesh(&inside.path().join("b.gltf")).expect_err("a way out");
    assert!(refused[0].message.contains("leads out of the folder"), "{}", refused[0]);
    // A file that is itself a link has its data beside what it links to, and a link within the folder is fine.
    symlink(outside.path().join("a.gltf"), inside.path().join("c.gltf")).expect("a link");
    assert!(pliant_geometry::read_mesh(&inside.path().join("c.gltf")).is_ok());
    std::fs::remove_file(inside.path().join("a.bin")).expect("removed");
    std::fs::write(inside.path().join("real.bin"), &bytes).expect("a file");
    symlink("real.bin", inside.path().join("a.bin")).expect("a link");
    assert!(pliant_geometry::read_mesh(&inside.path().join("b.gltf")).is_ok());
    // Materials of OBJ files the same; they are a note.
    std::fs::write(outside.path().join("secret.mtl"), "newmtl m\nKd 1 0 0\n").expect("a file");
    symlink(outside.path().join("secret.mtl"), inside.path().join("m.mtl")).expect("a link");
    let obj = "mtllib m.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    std::fs::write(inside.path().join("d.obj"), obj).expect("a file");
    let read = pliant_geometry::read_mesh(&inside.path().join("d.obj")).expect("a mesh");
    assert!(read.notes.iter().any(|n| n.contains("is not in the folder")), "{:?}", read.notes);
}
