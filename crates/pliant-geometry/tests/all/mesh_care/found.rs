//! What is found in meshes made by hand and in files with a fault.

use super::known::*;
use crate::samples::{sample_files, shirt};
use glam::DVec3;
use pliant_geometry::{Closedness, PolyMesh, inspect, read_mesh, shapes};

#[test]
fn a_cube_is_a_cube() {
    for (m, count) in [(cube(), 6), (cut(&cube()), 12)] {
        let report = inspect(&m, 2);
        assert_eq!((report.vertices, report.faces, report.defects()), (8, count, 0));
        assert_eq!((report.closedness, report.volume), (Closedness::Closed, Some(1.0)));
        assert_eq!((report.as_is.pieces, report.as_is.boundary_loops, report.crossings.count()), (1, 0, 0));
        let piece = &report.as_is.largest[0];
        assert_eq!((piece.euler, piece.genus, piece.vertices, piece.faces), (2, Some(0), 8, count));
        assert!((report.measures.area - 6.0).abs() < 1e-12);
        assert_eq!(report.bounds, Some([DVec3::ZERO, DVec3::ONE]));
        assert!(report.inside_out.is_empty() && report.coincident.is_empty() && report.near.is_empty());
        assert_eq!(report.welded, report.as_is);
        assert_eq!(report, inspect(&m, 1));
        assert_eq!(report.lines().len(), 6, "{:#?}", report.lines());
    }
}

#[test]
fn faults_of_a_cube_are_counted() {
    let whole = faces(&cube());
    // A face missing.
    let report = inspect(&with_faces(&cube(), &whole[1..]), 2);
    assert_eq!((report.as_is.boundary_edges.count, report.as_is.boundary_loops), (4, 1));
    assert_eq!((report.as_is.longest_loop, report.volume), (4.0, None));
    assert_eq!(report.closedness, Closedness::Open);
    assert_eq!(report.as_is.largest[0].genus, Some(0));
    // A face turned over.
    let mut flipped = whole.clone();
    flipped[2].reverse();
    let report = inspect(&with_faces(&cube(), &flipped), 2);
    assert_eq!((report.as_is.inconsistent_edges.count, report.volume), (4, None));
    assert!(report.as_is.largest[0].orientable);
    // A face twice, and once more turned over.
    let mut double = whole.clone();
    double.push(vec![6, 2, 0, 4]);
    double.push(vec![2, 6, 4, 0]);
    let report = inspect(&with_faces(&cube(), &double), 2);
    assert_eq!(report.face_faults.duplicate.first, [[0, 6]]);
    assert_eq!(report.face_faults.opposite.first, [[0, 7]]);
    assert_eq!((report.as_is.non_manifold_edges.count, report.as_is.non_manifold_sides), (4, 16));
    // All faces turned over.
    let inside: Vec<Vec<u32>> = whole.iter().map(|f| f.iter().rev().copied().collect()).collect();
    let report = inspect(&with_faces(&cube(), &inside), 2);
    assert_eq!((report.inside_out.first.as_slice(), report.volume), (&[0][..], Some(-1.0)));
    // A vertex on an edge that the other face does not know of.
    let mut t = cube();
    t.positions.push(DVec3::new(0.5, 0.0, 0.0));
    let mut list = whole;
    list[2] = vec![0, 8, 1, 5, 4];
    let report = inspect(&with_faces(&t, &list), 2);
    assert_eq!((report.as_is.boundary_edges.count, report.larger, report.as_is.boundary_loops), (3, 1, 1));
    assert_eq!(report.closedness, Closedness::NearlyClosed);
}

#[test]
fn pinches_and_shared_edges_are_told_apart() {
    // Two cubes that share a vertex, an edge, a face.
    let two = both(&cube(), &cuboid([1.0; 3], [2.0; 3]));
    let report = inspect(&two, 2);
    assert_eq!((report.as_is.pieces, report.welded.pieces, report.coincident.count), (2, 1, 1));
    assert_eq!(report.as_is.non_manifold_vertices.count, 0);
    assert_eq!(report.welded.non_manifold_vertices.first, [7]);
    assert_eq!((report.closedness, report.volume), (Closedness::Closed, Some(2.0)));
    let edge = inspect(&both(&cube(), &cuboid([1.0, 1.0, 0.0], [2.0, 2.0, 1.0])), 2);
    assert_eq!((edge.welded.non_manifold_edges.count, edge.welded.non_manifold_vertices.count), (1, 0));
    assert_eq!((edge.welded.non_manifold_sides, edge.closedness), (4, Closedness::Closed));
    assert_eq!(edge.welded.largest[0].genus, None);
    let face = inspect(&both(&cube(), &cuboid([1.0, 0.0, 0.0], [2.0, 1.0, 1.0])), 2);
    assert_eq!((face.welded.non_manifold_edges.count, face.coincident.count), (4, 4));
    // A bow-tie of two triangles.
    let tie =
        mesh(&[[0.; 3], [1., 0., 0.], [1., 1., 0.], [-1., 0., 0.], [-1., -1., 0.]], &[[0, 1, 2], [0, 3, 4]]);
    let report = inspect(&tie, 2);
    assert_eq!(
        (report.as_is.non_manifold_vertices.first.as_slice(), report.as_is.boundary_loops),
        (&[0][..], 2)
    );
}

#[test]
fn bands_and_bottles() {
    let of = |ring, twist| inspect(&grid(12, 6, ring, twist), 2).as_is;
    let torus = of(false, false);
    assert_eq!((torus.largest[0].euler, torus.largest[0].genus, torus.defects()), (0, Some(1), 0));
    let klein = of(false, true);
    assert_eq!((klein.boundary_edges.count, klein.non_manifold_edges.count), (0, 0));
    assert_eq!(
        (klein.largest[0].euler, klein.largest[0].genus, klein.largest[0].orientable),
        (0, None, false)
    );
    assert_eq!(klein.inconsistent_edges.count, 6);
    let band = of(true, false);
    assert_eq!((band.boundary_loops, band.largest[0].genus, band.defects()), (2, Some(0), 24));
    let moebius = of(true, true);
    assert_eq!((moebius.boundary_loops, moebius.largest[0].orientable), (1, false));
    assert_eq!((moebius.largest[0].euler, moebius.inconsistent_edges.count), (0, 6));
}

#[test]
fn a_ball_in_a_ball_is_a_cavity_or_inside_out() {
    let turned = |mut m: PolyMesh| {
        m.attributes.flip();
        m
    };
    let volume = inspect(&ball(1.0, 12), 2).volume.unwrap();
    assert!((volume - 4.19).abs() < 0.15);
    let hollow = inspect(&both(&ball(1.0, 12), &turned(ball(0.5, 12))), 2);
    assert!(hollow.inside_out.is_empty());
    assert!((hollow.volume.unwrap() - 0.875 * volume).abs() < 1e-9);
    let solid = inspect(&both(&turned(ball(0.5, 8)), &turned(ball(1.0, 12))), 2);
    assert_eq!(solid.inside_out.first, [8 * 16]);
    // A ball with a small hole can still be filled; half a ball is a bowl.
    let list = faces(&ball(1.0, 12));
    let holed = inspect(&with_faces(&ball(1.0, 12), &list[1..]), 2);
    assert_eq!((holed.closedness, holed.as_is.boundary_loops), (Closedness::NearlyClosed, 1));
    let bowl: Vec<Vec<u32>> = list.chunks(12).flat_map(|c| c[..6].to_vec()).collect();
    assert_eq!(inspect(&with_faces(&ball(1.0, 12), &bowl), 2).closedness, Closedness::Open);
}

#[test]
fn boxes_through_one_another_cross_in_known_pairs() {
    // A bar through two faces of a cube, away from all diagonals: its four long faces, of two triangles each, go
    // through two faces of the cube.
    let bar = cuboid([0.6, 0.1, -1.0], [0.7, 0.2, 2.0]);
    let m = both(&cut(&cube()), &cut(&bar));
    let report = inspect(&m, 2);
    assert_eq!((report.crossings.adjacent.count, report.crossings.complete), (0, true));
    assert_eq!(report.crossings.apart.count, 16);
    assert!(report.crossings.apart.first.iter().all(|&[a, b]| a < 12 && b >= 12));
    // With quads the same, by faces.
    let quads = inspect(&both(&cube(), &bar), 2);
    assert_eq!(quads.crossings.apart.count, 16);
}

#[test]
fn meshes_without_sense_have_a_report() {
    let empty = inspect(&PolyMesh::default(), 2);
    assert_eq!((empty.closedness, empty.bounds, empty.volume), (Closedness::Nothing, None, None));
    let point = inspect(&mesh(&[[1.0; 3]; 4], &[vec![0, 1, 2], vec![], vec![3], vec![0, 0, 1, 2]]), 2);
    assert_eq!((point.face_faults.repeated.count, point.face_faults.zero_area.count), (3, 1));
    assert_eq!((point.coincident.count, point.measures.shortest_edge), (3, 0.0));
    let mut wrong = cube();
    wrong.positions.truncate(5);
    assert!(inspect(&wrong, 2).fault.unwrap().contains("of 5"));
    let mut far = cube();
    far.positions[3].x = 1e200;
    assert!(inspect(&far, 2).fault.is_some());
    far.positions[3].x = 1e50;
    let report = inspect(&far, 2);
    assert!(report.fault.is_none() && report.measures.area.is_finite() && report.volume.unwrap().is_finite());
    assert!(report.lines().iter().all(|l| !l.contains("NaN")));
}

/// The sample files that can be read, a bear and a shirt, by name.
pub fn brought() -> Vec<(String, PolyMesh)> {
    let mut all: Vec<(String, PolyMesh)> = sample_files()
        .iter()
        .filter_map(|path| Some((path.file_name()?.to_string_lossy().into_owned(), read_mesh(path).ok()?)))
        .flat_map(|(name, file)| file.meshes.into_iter().map(move |m| (name.clone(), m)))
        .collect();
    assert_eq!(all.len(), 8, "of twelve, four are refused");
    for (name, tri) in [("bear", shapes::gummy_bear(1.0, 0.05).unwrap().surface), ("shirt", shirt(6))] {
        all.push((name.into(), of_triangles(&tri)));
    }
    all
}

fn closedness(brought: &[(String, PolyMesh)], name: &str) -> Closedness {
    let (_, mesh) = brought.iter().find(|(n, _)| n == name).unwrap();
    inspect(mesh, 2).closedness
}

#[test]
fn what_people_bring_is_told_apart() {
    let all = brought();
    for name in ["bear", "nan_colour.obj", "negative_indices.obj", "apart.obj"] {
        assert_eq!(closedness(&all, name), Closedness::Closed, "{name}");
    }
    for name in ["shirt", "empty_group.obj", "bent_pentagon.obj", "wall_with_hole.obj"] {
        assert_eq!(closedness(&all, name), Closedness::Open, "{name}");
    }
    assert_eq!(closedness(&all, "soup.stl"), Closedness::Soup);
    assert_eq!(closedness(&all, "points.ply"), Closedness::Nothing);
    let bear = &all.iter().find(|(name, _)| name == "bear").unwrap().1;
    let report = inspect(bear, 2);
    assert!(report.welded.pieces == 1 && report.volume.unwrap() > 0.0, "{report:?}");
    let shirt = &all.iter().find(|(name, _)| name == "shirt").unwrap().1;
    assert_eq!(inspect(shirt, 2).as_is.boundary_loops, 4, "neck, cuffs and hem");
}
