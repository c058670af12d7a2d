//! What repairs do to meshes made by hand and to files with a fault.

use super::found::brought;
use super::known::*;
use glam::{DAffine3, DQuat, DVec3};
use pliant_geometry::{
    Closedness, Holes, Layer, MeshAttributes, PolyMesh, RepairOptions, SurfaceMaterial, VertexAnimation,
    inspect, join, normalise, repair, split_pieces, transform,
};

fn mended(m: &PolyMesh) -> (PolyMesh, Vec<(usize, &'static str)>) {
    let (mesh, repairs) = repair(m, &RepairOptions::default());
    mesh.check().expect("a sound mesh");
    let again = repair(&mesh, &RepairOptions::default());
    assert!(again.1.is_empty() && again.0 == mesh, "{:?}", again.1);
    (mesh, repairs.iter().map(|r| (r.count, r.what)).collect())
}

/// Every face with vertices of its own, as STL files have them.
fn torn(m: &PolyMesh) -> PolyMesh {
    let positions: Vec<[f64; 3]> =
        m.attributes.faces.corners().iter().map(|&v| m.positions[v as usize].to_array()).collect();
    let list: Vec<Vec<u32>> = (0..m.attributes.faces.len())
        .map(|f| m.attributes.faces.range(f).map(|c| c as u32).collect())
        .collect();
    mesh(&positions, &list)
}

#[test]
fn what_is_whole_stays_as_it_is() {
    for m in [
        cube(),
        cut(&cube()),
        ball(1.0, 9),
        grid(12, 6, false, false),
        grid(12, 6, true, true),
        PolyMesh::default(),
    ] {
        assert_eq!(mended(&m), (m, vec![]));
    }
}

#[test]
fn torn_faces_are_sewn_together() {
    let (m, done) = mended(&torn(&ball(1.0, 9)));
    assert_eq!((m.positions.len(), inspect(&m, 1).defects()), (ball(1.0, 9).positions.len(), 0));
    assert_eq!(done.len(), 1);
    // And turned right, whichever way they were: every third face turned over.
    let mut list = faces(&torn(&ball(1.0, 9)));
    list.iter_mut().step_by(3).for_each(|f| f.reverse());
    let (m, done) = mended(&with_faces(&torn(&ball(1.0, 9)), &list));
    let report = inspect(&m, 1);
    assert_eq!((report.defects(), report.inside_out.count), (0, 0));
    assert!(done.contains(&(54, "faces turned over")), "{done:?}");
    assert!(report.volume.unwrap() > 3.5);
}

#[test]
fn boxes_that_touch_become_boxes() {
    for lo in [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]] {
        let two = both(&cube(), &cuboid(lo, lo.map(|x| x + 1.0)));
        // Apart as they are, in any case: welding does not make pinches.
        assert_eq!(mended(&two), (two.clone(), vec![]));
        // Joined by name, and torn.
        let options = RepairOptions { split: false, ..RepairOptions::default() };
        let pinched = repair(&two, &RepairOptions { weld: Some(0.0), ..RepairOptions::none() }).0;
        assert_eq!(repair(&two, &options).0.positions.len(), 16);
        let (torn, _) = mended(&torn(&two));
        let (split, _) = mended(&pinched);
        for m in [torn, split] {
            let report = inspect(&m, 1);
            assert_eq!((report.as_is.pieces, report.as_is.defects(), m.positions.len()), (2, 0, 16));
            assert_eq!(report.volume, Some(2.0));
        }
    }
}

#[test]
fn sheets_that_meet_in_an_edge_stay_joined() {
    let fin = mesh(
        &[[0.; 3], [0., 0., 1.], [1., 0., 0.], [-1., 0., 0.], [0., 1., 0.]],
        &[[0, 1, 2], [1, 0, 3], [0, 1, 4]],
    );
    assert_eq!(mended(&fin), (fin, vec![]));
}

#[test]
fn faults_of_a_cube_are_mended() {
    let whole = faces(&cube());
    let mut list = whole.clone();
    list[2].reverse();
    list.push(whole[3].clone());
    list.push(vec![1, 1, 2]);
    list[5].insert(1, whole[5][0]);
    let (m, mut done) = mended(&with_faces(&cube(), &list));
    done.sort();
    assert_eq!(
        done,
        [(1, "copies dropped"), (1, "faces dropped"), (1, "faces shortened"), (1, "faces turned over")]
    );
    assert_eq!((inspect(&m, 1).defects(), inspect(&m, 1).volume), (0, Some(1.0)));
    // Inside-out.
    let mut inside = cube();
    inside.attributes.flip();
    let (m, done) = mended(&inside);
    assert_eq!((inspect(&m, 1).volume, done), (Some(1.0), vec![(1, "pieces turned outwards")]));
    // A hollow ball inside-out stays hollow.
    let mut hollow = ball(1.0, 9);
    let mut inner = ball(0.5, 9);
    inner.attributes.flip();
    hollow = both(&hollow, &inner);
    assert_eq!(mended(&hollow).0, hollow);
    let volume = inspect(&hollow, 1).volume;
    hollow.attributes.flip();
    assert!((inspect(&mended(&hollow).0, 1).volume.unwrap() - volume.unwrap()).abs() < 1e-12);
}

#[test]
fn holes_are_filled_with_the_material_around() {
    let mut m = ball(1.0, 12);
    let list = faces(&m);
    // Out with one quad and, elsewhere, three in a row.
    let holed: Vec<Vec<u32>> =
        (0..list.len()).filter(|k| ![5, 100, 101, 102].contains(k)).map(|k| list[k].clone()).collect();
    m = with_faces(&m, &holed);
    m.attributes.materials =
        vec![SurfaceMaterial::default(), SurfaceMaterial { name: "skin".into(), ..Default::default() }];
    m.attributes.face_materials = vec![1; holed.len()];
    m.attributes.uvs = Layer::of_vertices(vec![[0.5; 2]; m.positions.len()], &m.attributes.faces);
    let wide = RepairOptions { holes: Some(Holes { edges: 8, share: 1.0 }), ..RepairOptions::default() };
    let (filled, done) = repair(&m, &wide);
    filled.check().unwrap();
    assert_eq!((done[0].count, done[1].count), (2, 8));
    let report = inspect(&filled, 1);
    assert_eq!((report.closedness, report.defects(), report.crossings.count()), (Closedness::Closed, 0, 0));
    assert!(filled.attributes.face_materials.iter().all(|&x| x == 1));
    assert!((report.volume.unwrap() - inspect(&ball(1.0, 12), 1).volume.unwrap()).abs() < 0.02);
    // A sheet keeps its outline; a cube without a face is too open unless asked.
    let sheet = mesh(&[[0.; 3], [1., 0., 0.], [1., 1., 0.]], &[[0, 1, 2]]);
    assert_eq!(repair(&sheet, &wide), (sheet, vec![]));
    let open = with_faces(&cube(), &faces(&cube())[1..]);
    assert_eq!(mended(&open).1, []);
    let any = RepairOptions { holes: Some(Holes { edges: 8, share: 10.0 }), ..RepairOptions::default() };
    assert_eq!(inspect(&repair(&open, &any).0, 1).volume, Some(1.0));
}

#[test]
fn tolerance_tiny_pieces_and_lone_vertices_are_for_the_asking() {
    let mut m = torn(&cube());
    let mut k = 0.0;
    m.positions.iter_mut().for_each(|p| {
        k += 1.0;
        p.x += 1e-7 * k;
    });
    m = both(&m, &cuboid([5.0; 3], [5.001; 3]));
    m.positions.push(DVec3::splat(9.0));
    let options =
        RepairOptions { weld: Some(1e-5), tiny_pieces: 0.01, unreferenced: true, ..RepairOptions::default() };
    let (fixed, done) = repair(&m, &options);
    assert_eq!((fixed.positions.len(), inspect(&fixed, 1).defects()), (8, 0));
    assert_eq!(done.iter().map(|r| r.count).collect::<Vec<_>>(), [16, 1, 1]);
    assert_eq!(repair(&fixed, &options), (fixed, vec![]));
    assert_eq!(mended(&m).0.positions.len(), m.positions.len());
}

fn coated() -> PolyMesh {
    let mut m = torn(&both(&cube(), &cuboid([3.0; 3], [4.0; 3])));
    let normals = (0..12).map(|f| {
        let [a, b, c] = [0, 1, 2].map(|k| m.positions[4 * f + k]);
        (b - a).cross(c - a).normalize().to_array().map(|x| x as f32)
    });
    let of_faces: Vec<u32> = (0..48).map(|c| c / 4).collect();
    m.attributes = MeshAttributes {
        normals: Layer { values: normals.collect(), corners: of_faces.clone() },
        uvs: Layer { values: (0..12).map(|f| [f as f32, 0.5]).collect(), corners: of_faces },
        colors: (0..48).map(|v| [v as f32 / 48.0, 0.0, 0.0, 1.0]).collect(),
        materials: ["a", "b"].map(|n| SurfaceMaterial { name: n.into(), ..Default::default() }).to_vec(),
        face_materials: (0..12).map(|f| f / 6).collect(),
        ..m.attributes
    };
    let later = m.positions.iter().map(|p| *p * 2.0).collect();
    m.animation = Some(VertexAnimation { times: vec![0.0, 1.0], samples: vec![m.positions.clone(), later] });
    m.name = "boxes".into();
    m.check().expect("a sound mesh");
    m
}

#[test]
fn pieces_apart_and_joined_are_the_same() {
    let m = coated();
    let apart = split_pieces(&m);
    assert_eq!(apart.len(), 2);
    apart.iter().for_each(|p| p.check().unwrap());
    assert_eq!((apart[1].positions[0], apart[1].attributes.uvs.values[0]), (DVec3::splat(3.0), [6.0, 0.5]));
    assert_eq!(
        (apart[1].attributes.materials.len(), apart[1].attributes.materials[0].name.as_str()),
        (1, "b")
    );
    assert_eq!(join(&apart), m);
    // Joined with what has less on it.
    let mut bare = cube();
    bare.name = "bare".into();
    let all = join(&[bare, m.clone(), PolyMesh::default()]);
    all.check().unwrap();
    assert_eq!(
        (all.name.as_str(), all.positions.len(), all.attributes.materials.len()),
        ("bare+boxes", 56, 3)
    );
    assert_eq!(all.animation.as_ref().unwrap().samples[1][7], DVec3::ONE);
    assert_eq!(join(&[]), PolyMesh::default());
    // Welding keeps what lies on corners.
    let (welded, _) = mended(&m);
    welded.check().unwrap();
    assert_eq!(
        (welded.positions.len(), &welded.attributes.uvs, &welded.attributes.normals),
        (16, &m.attributes.uvs, &m.attributes.normals)
    );
}

#[test]
fn normals_stay_on_their_faces_through_any_transform() {
    let turn = DAffine3::from_scale_rotation_translation(
        DVec3::new(2.0, -0.5, 1.5),
        DQuat::from_rotation_y(0.4) * DQuat::from_rotation_x(1.0),
        DVec3::new(1.0, 2.0, 3.0),
    );
    for by in [turn, turn * DAffine3::from_scale(DVec3::new(1.0, -1.0, 1.0)), turn * turn] {
        let m = transform(&coated(), by);
        let (whole, _) = mended(&m);
        let volume = 2.0 * by.matrix3.determinant().abs();
        assert!((inspect(&whole, 1).volume.unwrap() - volume).abs() < 1e-9);
        for f in 0..12 {
            let face: Vec<DVec3> = m
                .attributes
                .faces
                .range(f)
                .map(|c| m.positions[m.attributes.faces.corners()[c] as usize])
                .collect();
            let right = (face[1] - face[0]).cross(face[2] - face[0]).normalize();
            let normal = m.attributes.normals.values[m.attributes.normals.corners[4 * f] as usize];
            assert!(right.distance(DVec3::from_array(normal.map(f64::from))) < 1e-6);
        }
    }
    let flat = transform(&coated(), DAffine3::from_scale(DVec3::new(1.0, 0.0, 1.0)));
    flat.check().unwrap();
    assert!(flat.attributes.normals.values.iter().flatten().all(|x| x.is_finite()));
    let standing = inspect(&normalise(&coated(), Some(0.5)), 1);
    let [lo, hi] = standing.bounds.unwrap();
    assert!(lo.distance(DVec3::new(-0.25, 0.0, -0.25)) < 1e-12 && (hi.y - 0.5).abs() < 1e-12);
}

#[test]
fn what_people_bring_is_no_worse_after_repair() {
    for (name, m) in brought() {
        let before = inspect(&m, 2);
        let (fixed, done) = mended(&m);
        let after = inspect(&fixed, 2);
        assert!(after.defects() <= before.defects(), "{name}: {done:?}");
    }
}
