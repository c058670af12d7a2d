//! What is written reads back: as the same mesh where nothing must be split, as the same surface where it must.

use super::sample::{messages, read};
use glam::DVec3;
use pliant_geometry::{
    Layer, MeshAttributes, PolyMesh, Polygons, SurfaceMaterial, VertexAnimation, write_glb,
};
use proptest::prelude::*;
use serde_json::Value;

fn glb(meshes: &[PolyMesh]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let length = write_glb(&mut bytes, meshes).unwrap();
    assert_eq!(length, bytes.len() as u64);
    assert_eq!(u64::from(u32::from_le_bytes(bytes[8..12].try_into().unwrap())), length);
    bytes
}

fn json_of(glb: &[u8]) -> Value {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&glb[20..20 + length]).unwrap()
}

/// An open box of quads and a lid of another material, with a uv seam and hard normals.
fn case() -> PolyMesh {
    let corner = |i: usize| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2 & 1) as f64);
    let quads: [[u32; 4]; 5] = [[0, 2, 3, 1], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [4, 5, 7, 6]];
    let mut faces = Polygons::default();
    quads.iter().for_each(|q| faces.push(q));
    let normals = [[0., 0., -1.], [0., -1., 0.], [0., 1., 0.], [-1., 0., 0.], [0., 0., 1.]];
    PolyMesh {
        name: "case \"1\" ä".into(),
        positions: (0..8).map(corner).collect(),
        attributes: MeshAttributes {
            uvs: Layer {
                values: vec![[0., 0.], [1., 0.], [1., 1.], [0., 1.]],
                corners: (0..20).map(|c| c % 4).collect(),
            },
            normals: Layer { values: normals.to_vec(), corners: (0..20).map(|c| c / 4).collect() },
            colors: (0..8).map(|i| [i as f32 / 8.0, 0.5, 0.25, 1.0]).collect(),
            materials: vec![
                SurfaceMaterial {
                    name: "wood".into(),
                    color: [0.5, 0.25, 0.125, 1.0],
                    metallic: 0.0,
                    roughness: 0.75,
                    texture: Some("wood grain.png".into()),
                },
                SurfaceMaterial {
                    name: "lid".into(),
                    color: [1.0, 0.0, 0.0, 0.5],
                    metallic: 1.0,
                    ..Default::default()
                },
            ],
            face_materials: vec![0, 0, 0, 0, 1],
            faces,
        },
        animation: None,
    }
}

fn cloud() -> PolyMesh {
    PolyMesh {
        name: "cloud".into(),
        positions: (0..5).map(|i| DVec3::new(f64::from(i), 0.5, -1.0)).collect(),
        attributes: MeshAttributes { colors: vec![[0.5, 0.5, 0.5, 1.0]; 5], ..MeshAttributes::default() },
        animation: None,
    }
}

/// Corners of the triangles of a mesh with all that is on them, sorted.
fn soup(mesh: &PolyMesh) -> Vec<String> {
    let attributes = &mesh.attributes;
    let (triangles, faces) = attributes.faces.corner_triangles_with_faces(&mesh.positions);
    let corner = |c: u32| {
        let v = attributes.faces.corners()[c as usize] as usize;
        let uv = attributes.uvs.corners.get(c as usize).map(|&k| attributes.uvs.values[k as usize]);
        let normal =
            attributes.normals.corners.get(c as usize).map(|&k| attributes.normals.values[k as usize]);
        let normal = normal.map(|n| n.map(|x| x + 0.0));
        format!("{} {uv:?} {normal:?} {:?}", mesh.positions[v], attributes.colors.get(v))
    };
    let material = |f: u32| attributes.material_of(f as usize).map(|m| m.name.clone());
    let mut all: Vec<String> =
        triangles.iter().zip(faces).map(|(t, f)| format!("{:?} {:?}", t.map(corner), material(f))).collect();
    all.sort();
    all
}

#[test]
fn surfaces_survive_with_all_that_is_on_them() {
    let (case, cloud) = (case(), cloud());
    let found = read("a.glb", &glb(&[case.clone(), cloud.clone(), PolyMesh::default()])).unwrap();
    assert_eq!(found.meshes.len(), 2);
    assert_eq!(found.meshes[0].name, case.name);
    assert_eq!(soup(&found.meshes[0]), soup(&case));
    // Split at every edge: four vertices per face.
    assert_eq!(found.meshes[0].positions.len(), 20);
    let mut materials = case.attributes.materials.clone();
    materials[0].texture = Some("wood%20grain.png".into());
    assert_eq!(found.meshes[0].attributes.materials, materials);
    assert_eq!(found.meshes[1].positions, cloud.positions);
    assert_eq!(found.meshes[1].attributes.colors, cloud.attributes.colors);
    assert!(found.meshes[1].attributes.faces.is_empty());
    let json = json_of(&glb(&[case]));
    assert_eq!(json["materials"][1]["alphaMode"], "BLEND");
    assert_eq!(json["images"][0]["uri"], "wood%20grain.png");
}

#[test]
fn motion_survives_and_shared_times_are_written_once() {
    let moved = |mesh: &PolyMesh, times: &[f64]| {
        let sample = |t: &f64| {
            mesh.positions.iter().map(|p| *p * (1.0 + t) + DVec3::new(*t, 0.0, p.x * t * t)).collect()
        };
        let animation =
            VertexAnimation { times: times.to_vec(), samples: times.iter().map(sample).collect() };
        PolyMesh { animation: Some(animation), ..mesh.clone() }
    };
    let times = [0.0, 0.25, 0.5, 1.5];
    let meshes = [moved(&case(), &times), moved(&cloud(), &times), moved(&cloud(), &[0.0, 2.0]), cloud()];
    let bytes = glb(&meshes);
    let found = read("a.glb", &bytes).unwrap();
    assert_eq!(found.meshes.len(), 4);
    for (found, written) in found.meshes.iter().zip(&meshes) {
        let Some(animation) = &written.animation else {
            assert!(found.animation.is_none());
            continue;
        };
        let read = found.animation.as_ref().unwrap();
        assert_eq!(read.times, animation.times);
        for (k, sample) in read.samples.iter().enumerate() {
            let at = |mesh: &PolyMesh, positions: &[DVec3]| PolyMesh {
                positions: positions.to_vec(),
                ..mesh.clone()
            };
            let (mut a, mut b) = (at(found, sample), at(written, &animation.samples[k]));
            a.attributes.normals = Layer::default();
            b.attributes.normals = Layer::default();
            assert_eq!(soup(&a), soup(&b), "sample {k}");
        }
    }
    let json = json_of(&bytes);
    assert_eq!(json["animations"].as_array().unwrap().len(), 1);
    assert_eq!(json["animations"][0]["channels"].as_array().unwrap().len(), 3);
    assert_eq!(json["animations"][0]["samplers"].as_array().unwrap().len(), 2);
    // Normals of targets are differences: they add up to those of the frame.
    let target = &json["meshes"][0]["primitives"][0]["targets"][2];
    assert!(target["NORMAL"].is_u64());
    // Bounds are those of the numbers, exactly.
    for accessor in
        json["accessors"].as_array().unwrap().iter().filter(|a| a["type"] == "VEC3" && !a["min"].is_null())
    {
        let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let whole = |v: &Value| v.as_u64().unwrap() as usize;
        let json_length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let start = 28 + json_length + whole(&view["byteOffset"]) + whole(&accessor["byteOffset"]);
        let numbers: Vec<f64> = bytes[start..start + 12 * whole(&accessor["count"])]
            .chunks(4)
            .map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())))
            .collect();
        for axis in 0..3 {
            let values = || numbers.iter().skip(axis).step_by(3).copied();
            assert_eq!(accessor["min"][axis].as_f64().unwrap(), values().fold(f64::INFINITY, f64::min));
            assert_eq!(accessor["max"][axis].as_f64().unwrap(), values().fold(f64::NEG_INFINITY, f64::max));
        }
    }
}

#[test]
fn long_runs_store_few_weights() {
    let times: Vec<f64> = (0..1100).map(|k| f64::from(k) / 32.0).collect();
    let samples = times.iter().map(|t| vec![DVec3::new(*t, 1.0, t * t)]).collect();
    let long = PolyMesh {
        positions: vec![DVec3::ZERO],
        animation: Some(VertexAnimation { times, samples }),
        ..PolyMesh::default()
    };
    let bytes = glb(std::slice::from_ref(&long));
    assert!(bytes.len() < 1_000_000, "{}", bytes.len());
    let found = read("a.glb", &bytes).unwrap();
    assert_eq!(found.meshes[0].animation, long.animation);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let write = |mesh: PolyMesh| write_glb(&mut Vec::new(), &[mesh]).unwrap_err().message;
    let mut far = cloud();
    far.positions[2].x = 1e300;
    assert!(write(far).contains("no finite number"));
    let mut torn = case();
    torn.attributes.face_materials.pop();
    assert!(write(torn).contains("4 materials for 5 faces"));
    let samples = vec![cloud().positions; 2];
    let still = PolyMesh { animation: Some(VertexAnimation { times: vec![1.0, 1.0], samples }), ..cloud() };
    assert!(write(still).contains("do not rise"));
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    assert!(write_glb(&mut Full, &[cloud()]).unwrap_err().io);
    assert!(messages(read("a.glb", &glb(&[]))).contains("shows no mesh"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Triangles of random vertices, without layers and in any number of materials.
    #[test]
    fn soups_round_trip(
        points in prop::collection::vec(prop::array::uniform3(-1e3f32..1e3), 3..40),
        corners in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u32..3), 1..60),
    ) {
        let triangles: Vec<[u32; 3]> =
            corners.iter().map(|(a, b, c, _)| [a, b, c].map(|i| i.index(points.len()) as u32)).collect();
        let mesh = PolyMesh {
            positions: points.iter().map(|p| DVec3::from_array(p.map(f64::from))).collect(),
            attributes: MeshAttributes {
                faces: Polygons::of_triangles(&triangles),
                materials: ["a", "b", "c"].map(|n| SurfaceMaterial { name: n.into(), ..Default::default() }).to_vec(),
                face_materials: corners.iter().map(|c| c.3).collect(),
                ..MeshAttributes::default()
            },
            ..PolyMesh::default()
        };
        let found = read("a.glb", &glb(std::slice::from_ref(&mesh))).unwrap();
        prop_assert_eq!(soup(&found.meshes[0]), soup(&mesh));
    }
}
