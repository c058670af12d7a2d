//! Mesh files out and in again: what each format can hold comes back as it was, bit for bit.

use glam::DVec3;
use pliant_geometry::{
    Layer, MeshAttributes, MeshFile, PolyMesh, Polygons, SplitMix64, SurfaceMaterial, read_mesh_through,
    write_mesh,
};
use std::io::{Error, ErrorKind};
use std::path::Path;

/// Writes and reads again, companions too.
fn round_trip(name: &str, meshes: &[PolyMesh]) -> MeshFile {
    let mut bytes = Vec::new();
    let companions = write_mesh(Path::new(name), meshes, &mut bytes).unwrap();
    let mut fetch = |path: &Path| {
        let file = path.to_string_lossy();
        let beside = companions.iter().find(|c| c.name == file).map(|c| c.bytes.clone());
        if file == name { Ok(bytes.clone()) } else { beside.ok_or(Error::from(ErrorKind::NotFound)) }
    };
    read_mesh_through(Path::new(name), &mut fetch).unwrap_or_else(|e| panic!("{name}: {e:?}"))
}

/// Polygons of all sizes with everything on them; `single` positions are exact in f32.
fn rich(single: bool) -> PolyMesh {
    let mut random = SplitMix64::new(9);
    let mut unit = || random.unit();
    let exact = |p: DVec3| if single { p.as_vec3().as_dvec3() } else { p };
    let positions: Vec<DVec3> =
        (0..12).map(|_| exact(DVec3::new(unit() - 0.5, unit() * 1e-9, unit() * 1e12))).collect();
    let mut faces = Polygons::default();
    for face in [&[0_u32, 1, 2, 3][..], &[3, 2, 4], &[4, 5, 6, 7, 8], &[8, 9, 0]] {
        faces.push(face);
    }
    let corners = faces.corners().len() as u32;
    let uvs = Layer {
        values: (0..corners).map(|_| [unit() as f32, unit() as f32]).collect(),
        corners: (0..corners).collect(),
    };
    let normals =
        (0..4).map(|_| DVec3::new(unit(), unit(), unit()).normalize().as_vec3().to_array()).collect();
    let colors = (0..12).map(|_| [unit() as f32, unit() as f32, unit() as f32, 1.0]).collect();
    let material = |name: &str, texture: Option<&str>| SurfaceMaterial {
        name: name.into(),
        color: [0.1, 0.2, 0.7, 0.3],
        metallic: 0.4,
        roughness: 0.15,
        texture: texture.map(str::to_string),
    };
    PolyMesh {
        name: "a name".into(),
        positions,
        attributes: MeshAttributes {
            normals: Layer {
                values: normals,
                corners: faces.iter().enumerate().flat_map(|(f, p)| vec![f as u32; p.len()]).collect(),
            },
            faces,
            uvs,
            colors,
            materials: vec![material("first one", None), material("wood", Some("wood 1.png"))],
            face_materials: vec![0, 1, 1, 0],
        },
        animation: None,
    }
}

/// The same with one value per vertex, and colours that are bytes.
fn per_vertex(single: bool) -> PolyMesh {
    let mut mesh = rich(single);
    let faces = mesh.attributes.faces.clone();
    mesh.attributes.uvs = Layer::of_vertices((0..12).map(|i| [i as f32 * 0.1, 0.5]).collect(), &faces);
    mesh.attributes.normals =
        Layer::of_vertices((0..12).map(|i| [0.0, f32::from(i % 2_u8), 1.0]).collect(), &faces);
    mesh.attributes.colors = vec![[0.0, 1.0, 0.0, 1.0]; 12];
    mesh
}

#[test]
fn obj_keeps_everything_but_opacity_of_vertices() {
    for single in [false, true] {
        let mesh = rich(single);
        let file = round_trip("m.obj", std::slice::from_ref(&mesh));
        assert_eq!((file.notes, &file.meshes[..]), (vec![], &[mesh][..]));
    }
}

#[test]
fn obj_keeps_objects_apart_and_materials_of_one_name() {
    let mut meshes = [rich(true), rich(true), rich(true)];
    for (k, mesh) in meshes.iter_mut().enumerate() {
        mesh.name = format!("mesh {k}");
        // Vertices that no face uses stay with their object; layers keep used values only.
        mesh.positions.iter_mut().for_each(|p| p.x += k as f64);
    }
    meshes[1].attributes.materials[0].roughness = 1.0;
    meshes[2].attributes.materials.clear();
    meshes[2].attributes.face_materials.clear();
    let file = round_trip("m.obj", &meshes);
    assert_eq!(file.meshes[1].attributes.materials[0].name, "first one.001");
    meshes[1].attributes.materials[0].name = "first one.001".into();
    assert_eq!(file.meshes, meshes);
}

#[test]
fn ply_keeps_numbers_polygons_and_layers() {
    for single in [false, true] {
        let mesh = rich(single);
        let back = &round_trip("m.ply", std::slice::from_ref(&mesh)).meshes[0];
        assert_eq!(
            (&back.name, &back.positions, &back.attributes.faces),
            (&mesh.name, &mesh.positions, &mesh.attributes.faces)
        );
        assert_eq!(
            (&back.attributes.uvs, &back.attributes.colors),
            (&mesh.attributes.uvs, &mesh.attributes.colors)
        );
        let mesh = per_vertex(single);
        let back = &round_trip("m.ply", std::slice::from_ref(&mesh)).meshes[0];
        assert_eq!(back.attributes.normals.corners, mesh.attributes.normals.corners);
        let at = |attributes: &MeshAttributes, c: usize| {
            let pick = |corners: &[u32]| corners[c] as usize;
            (
                attributes.uvs.values[pick(&attributes.uvs.corners)],
                attributes.normals.values[pick(&attributes.normals.corners)],
            )
        };
        (0..15).for_each(|c| assert_eq!(at(&back.attributes, c), at(&mesh.attributes, c)));
        assert_eq!(back.attributes.colors, mesh.attributes.colors);
        assert_eq!(back.attributes.materials[0].texture.as_deref(), Some("wood 1.png"));
    }
    // Several meshes become one; faces of more than 255 corners are counted in four bytes.
    let circle = (0..300).map(f64::from).map(|i| DVec3::new(i.cos(), i.sin(), 0.0)).collect();
    let mut large = PolyMesh { positions: circle, ..PolyMesh::default() };
    large.attributes.faces.push(&(0..300).collect::<Vec<u32>>());
    let both = round_trip("m.ply", &[rich(true), large]);
    assert_eq!(both.meshes[0].positions.len(), 312);
    assert_eq!(both.meshes[0].attributes.faces.iter().last().unwrap()[..2], [12, 13]);
    let cloud = PolyMesh { positions: vec![DVec3::ONE; 3], ..PolyMesh::default() };
    assert_eq!(round_trip("m.ply", std::slice::from_ref(&cloud)).meshes, [cloud]);
}

#[test]
fn stl_keeps_triangles_in_f32() {
    let mesh = rich(true);
    let file = round_trip("m.stl", std::slice::from_ref(&mesh));
    let (back, want) = (file.meshes[0].triangulated(), mesh.triangulated());
    let corners = |m: &pliant_geometry::TriMesh| -> Vec<DVec3> {
        m.triangles.iter().flatten().map(|&v| m.positions[v as usize]).collect()
    };
    assert_eq!(corners(&back), corners(&want));
    assert_eq!(file.meshes[0].name, "a name");
    assert!(file.notes.is_empty(), "{:?}", file.notes);
}

#[test]
fn off_and_point_lists_keep_numbers() {
    for single in [false, true] {
        let mesh = per_vertex(single);
        let back = &round_trip("m.off", std::slice::from_ref(&mesh)).meshes[0];
        assert_eq!((&back.positions, &back.attributes.faces), (&mesh.positions, &mesh.attributes.faces));
        assert_eq!(back.attributes.colors, mesh.attributes.colors);
        assert_eq!(back.attributes.normals.values[..10], mesh.attributes.normals.values[..10]);
        assert_eq!(back.attributes.uvs.values[..10], mesh.attributes.uvs.values[..10]);
        let mesh = rich(single);
        assert_eq!(
            round_trip("m.off", std::slice::from_ref(&mesh)).meshes[0].attributes.colors,
            mesh.attributes.colors
        );
        for name in ["m.txt", "m.xyz", "m.csv"] {
            assert_eq!(round_trip(name, std::slice::from_ref(&mesh)).meshes[0].positions, mesh.positions);
        }
    }
}

#[test]
fn meshes_that_are_wrong_and_formats_that_are_not_known_are_refused() {
    let mut bytes = Vec::new();
    let error = write_mesh(Path::new("m.fbx"), &[], &mut bytes).unwrap_err();
    assert!(error.to_string().contains("`.fbx`"));
    let wrong = PolyMesh { positions: vec![DVec3::NAN], ..PolyMesh::default() };
    assert!(write_mesh(Path::new("m.ply"), &[wrong], &mut bytes).is_err() && bytes.is_empty());
}
