//! Still meshes: containers, accessors, primitives, nodes, materials.

use super::sample::{Sample, TRIANGLE, base64, messages, read_with};
use glam::DVec3;
use pliant_geometry::PolyMesh;
use serde_json::json;

fn points(mesh: &PolyMesh) -> Vec<[f64; 3]> {
    mesh.positions.iter().map(|p| p.to_array()).collect()
}

const WIDE: [[f64; 3]; 3] = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]];

#[test]
fn the_same_from_all_containers() {
    let sample = Sample::triangle();
    let glb = sample.read();
    assert_eq!(glb.format, "glTF 2.0, binary");
    assert_eq!((glb.meshes.len(), glb.meshes[0].name.as_str()), (1, "node"));
    assert_eq!(points(&glb.meshes[0]), WIDE);
    assert_eq!(glb.meshes[0].attributes.faces.corners(), [0, 1, 2]);
    let uri = format!("data:application/octet-stream;base64,{}", base64(&sample.bytes));
    let inside = read_with("dir/a.gltf", &sample.text(&uri), &[]).unwrap();
    let beside =
        read_with("dir/a.gltf", &sample.text("sub/a%20b.bin"), &[("dir/sub/a b.bin", &sample.bytes)])
            .unwrap();
    assert_eq!(inside.meshes, glb.meshes);
    assert_eq!(beside.meshes, glb.meshes);
    let missing = messages(read_with("dir/a.gltf", &sample.text("b.bin"), &[]));
    assert!(missing.contains("buffers[0].uri: cannot read") && missing.contains("dir"), "{missing}");
}

#[test]
fn component_types_strides_and_sparse() {
    // Quantised positions: bytes, normalised, every element on a boundary of four.
    let mut sample = Sample::new();
    let bytes: Vec<u8> = [[-128i8, 127, 0, 99], [64, -127, 1, 99], [0, 0, 0, 99]]
        .as_flattened()
        .iter()
        .map(|&b| b as u8)
        .collect();
    let positions = sample.accessor("VEC3", 5120, 3, &bytes);
    sample.json["accessors"][positions]["normalized"] = true.into();
    sample.json["bufferViews"][0]["byteStride"] = 4.into();
    sample.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let mesh = sample.mesh(json!([{"attributes": {"POSITION": positions}, "mode": 0}]));
    sample.node(json!({"mesh": mesh, "scale": [127, 127, 127]}));
    let found = sample.read();
    assert!(found.meshes[0].attributes.faces.is_empty());
    for (p, want) in found.meshes[0].positions.iter().zip([[-127., 127., 0.], [64., -127., 1.], [0.; 3]]) {
        assert!(p.distance(DVec3::from_array(want)) < 1e-5, "{p}");
    }

    // The same numbers as shorts that are not normalised, in every integer type.
    for (component, size) in [(5122, 2), (5123, 2), (5121, 1)] {
        let mut sample = Sample::new();
        let bytes: Vec<u8> = [7u16, 8, 9].iter().flat_map(|v| v.to_le_bytes()[..size].to_vec()).collect();
        let positions = sample.accessor("VEC3", component, 1, &bytes);
        let mesh = sample.mesh(json!([{"attributes": {"POSITION": positions}, "mode": 0}]));
        sample.node(json!({"mesh": mesh}));
        assert_eq!(points(&sample.read().meshes[0]), [[7., 8., 9.]]);
    }

    // Sparse over bytes and over zeros.
    for over_zeros in [false, true] {
        let mut sample = Sample::triangle();
        let (indices, values) = (sample.view(&[1, 2]), sample.view(&[0; 24]));
        let at = sample.bytes.len() - 24;
        sample.bytes[at..at + 4].copy_from_slice(&5f32.to_le_bytes());
        sample.bytes[at + 20..at + 24].copy_from_slice(&6f32.to_le_bytes());
        sample.json["accessors"][0]["sparse"] = json!({
            "count": 2, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}
        });
        if over_zeros {
            sample.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
        }
        assert_eq!(points(&sample.read().meshes[0]), [[0., 0., 0.], [5., 0., 0.], [0., 0., 6.]]);
    }
}

#[test]
fn strips_fans_and_indices() {
    let grid: Vec<[f32; 3]> = (0..6).map(|i| [(i / 2) as f32, (i % 2) as f32, 0.0]).collect();
    let faces = |mode: u32, indices: Option<&[u16]>| {
        let mut sample = Sample::new();
        let positions = sample.floats(&grid);
        let mut primitive = json!({"attributes": {"POSITION": positions}, "mode": mode});
        if let Some(indices) = indices {
            primitive["indices"] = sample.indices(indices).into();
        }
        let mesh = sample.mesh(json!([primitive]));
        sample.node(json!({"mesh": mesh}));
        sample.read().meshes[0].attributes.faces.corners().to_vec()
    };
    assert_eq!(faces(4, None), [0, 1, 2, 3, 4, 5]);
    assert_eq!(faces(5, Some(&[0, 2, 1, 3])), [0, 2, 1, 2, 3, 1]);
    // Strips joined by triangles without area.
    assert_eq!(faces(5, Some(&[0, 2, 1, 1, 3, 3, 5, 4])), [0, 2, 1, 3, 4, 5]);
    assert_eq!(faces(6, Some(&[0, 2, 3, 1])), [2, 3, 0, 3, 1, 0]);
    for (component, bytes) in [(5121, vec![2u8, 1, 0]), (5125, vec![2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0])] {
        let mut sample = Sample::triangle();
        let indices = sample.accessor("SCALAR", component, 3, &bytes);
        sample.json["meshes"][0]["primitives"][0]["indices"] = indices.into();
        assert_eq!(sample.read().meshes[0].attributes.faces.corners(), [2, 1, 0]);
    }
}

#[test]
fn primitives_become_one_mesh_with_materials() {
    let mut sample = Sample::new();
    let a = sample.floats(&TRIANGLE);
    let b = sample.floats(&TRIANGLE.map(|[x, y, _]| [x, y, 1.0]));
    let normals = sample.floats(&[[0., 0., 2.]; 3]);
    let uvs = sample.accessor("VEC2", 5121, 3, &[0, 0, 255, 255, 0, 255]);
    sample.json["accessors"][uvs]["normalized"] = true.into();
    let colors = sample.floats(&[[0.25, 0.5, 0.75]; 3]);
    let reversed = sample.indices(&[2, 1, 0]);
    sample.json["images"] = json!([{"uri": "wood.png"}, {"name": "inside", "bufferView": 0}]);
    sample.json["textures"] = json!([{"source": 0}, {"source": 1}]);
    sample.json["materials"] = json!([
        {"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 0.5], "metallicFactor": 0,
            "roughnessFactor": 0.25, "baseColorTexture": {"index": 0}}, "alphaMode": "BLEND"},
        {"name": "bare", "pbrMetallicRoughness": {"baseColorTexture": {"index": 1}, "baseColorFactor": [1, 1, 1, 0]}}
    ]);
    let mesh = sample.mesh(json!([
        {"attributes": {"POSITION": a, "NORMAL": normals, "TEXCOORD_0": uvs}, "material": 1},
        {"attributes": {"POSITION": b, "COLOR_0": colors}, "material": 0},
        // The same vertices once more.
        {"attributes": {"POSITION": b, "COLOR_0": colors}, "indices": reversed},
        {"attributes": {"POSITION": a}, "mode": 0},
        {"attributes": {"POSITION": a}, "mode": 1}
    ]));
    sample.node(json!({"mesh": mesh}));
    let found = sample.read();
    assert!(found.notes[0].contains("lines"), "{:?}", found.notes);
    let [surface, cloud] = &found.meshes[..] else { panic!() };
    assert_eq!((cloud.positions.len(), cloud.attributes.faces.len()), (3, 0));
    let attributes = &surface.attributes;
    surface.check().unwrap();
    assert_eq!(surface.name, "mesh");
    assert_eq!(surface.positions.len(), 6);
    assert_eq!(attributes.faces.corners(), [0, 1, 2, 3, 4, 5, 5, 4, 3]);
    let names: Vec<&str> = attributes.materials.iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["bare", "red", ""]);
    assert_eq!(attributes.face_materials, [0, 1, 2]);
    assert_eq!(attributes.materials[0].texture.as_deref(), Some("inside"));
    assert_eq!((attributes.materials[0].color, attributes.materials[0].metallic), ([1.0; 4], 1.0));
    assert_eq!(attributes.materials[1].texture.as_deref(), Some("wood.png"));
    assert_eq!((attributes.materials[1].color, attributes.materials[1].roughness), ([1., 0., 0., 0.5], 0.25));
    let uv = |c: usize| attributes.uvs.values[attributes.uvs.corners[c] as usize];
    assert_eq!([uv(0), uv(1), uv(2)], [[0., 1.], [1., 0.], [0., 0.]]);
    let normal = |c: usize| attributes.normals.values[attributes.normals.corners[c] as usize];
    // Given (and made unit), flat, flat of the reversed face.
    assert_eq!([normal(0), normal(3), normal(6)], [[0., 0., 1.], [0., 0., 1.], [0., 0., -1.]]);
    assert_eq!(attributes.colors[0], [1.0; 4]);
    assert_eq!(attributes.colors[3], [0.25, 0.5, 0.75, 1.0]);
}

#[test]
fn transforms_go_down_the_tree_and_mirrors_keep_the_outside() {
    let mut sample = Sample::new();
    let positions = sample.floats(&TRIANGLE);
    let normals = sample.floats(&[[0., 0.6, 0.8]; 3]);
    let mesh = sample.mesh(json!([{"attributes": {"POSITION": positions, "NORMAL": normals}}]));
    let half = 0.5_f64.sqrt();
    sample.json["nodes"] = json!([
        {"name": "up", "translation": [0, 0, 5], "rotation": [0, 0, half, half], "children": [1, 2]},
        {"name": "mirror", "mesh": mesh, "scale": [-1, 1, 1]},
        {"mesh": mesh, "matrix": [2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 7, 0, 0, 1]},
        {"name": "hidden", "mesh": mesh}
    ]);
    sample.json["scenes"][0]["nodes"] = json!([0]);
    let found = sample.read();
    assert!(found.notes[0].contains("1 nodes with meshes are not in the scene"), "{:?}", found.notes);
    let [mirror, matrix] = &found.meshes[..] else { panic!() };
    // x to −x, then a quarter turn about z: −x to −y.
    assert!(mirror.positions[1].distance(DVec3::new(0., -1., 5.)) < 1e-12, "{}", mirror.positions[1]);
    assert_eq!(mirror.attributes.faces.len(), 1);
    let turned = mirror.triangulated().triangles[0].map(|v| mirror.positions[v as usize]);
    let outside = (turned[1] - turned[0]).cross(turned[2] - turned[0]);
    assert!(outside.z > 0.0, "the face still looks up: {outside}");
    let normal = DVec3::from_array(mirror.attributes.normals.values[0].map(f64::from));
    assert!(normal.distance(DVec3::new(-0.6, 0., 0.8)) < 1e-6, "{normal}");
    assert_eq!((mirror.name.as_str(), matrix.name.as_str()), ("mirror", "mesh"));
    assert!(matrix.positions[1].distance(DVec3::new(0., 9., 5.)) < 1e-12, "{}", matrix.positions[1]);

    // Without scenes, roots are found; without nodes, meshes are read as they are.
    sample.json["scenes"] = json!([]);
    assert_eq!(sample.read().meshes.len(), 3);
    sample.json["nodes"] = json!([]);
    let alone = sample.read();
    assert_eq!(points(&alone.meshes[0]), WIDE);
}

#[test]
fn skinned_meshes_stay_as_modelled() {
    let mut sample = Sample::triangle();
    sample.json["nodes"][0]["skin"] = 0.into();
    sample.json["nodes"][0]["translation"] = json!([1, 2, 3]);
    let found = sample.read();
    assert_eq!(points(&found.meshes[0]), WIDE);
    assert!(found.notes[0].contains("bind pose"), "{:?}", found.notes);
}
