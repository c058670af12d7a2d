//! Tetrahedra: boxes of them fill their box exactly and fit together; bodies of them keep the promises of `Shape`.

use glam::DVec3;
use pliant_geometry::shapes::{Shape, TetStyle, from_mesh, sheet, tet_box};
use pliant_geometry::{TetMesh, TriMesh};
use std::collections::BTreeMap;

fn mesh_of(shape: &Shape) -> TetMesh {
    let (points, tetrahedra) = (shape.points.clone(), shape.tetrahedra.clone());
    TetMesh { points, tetrahedra, regions: Vec::new() }
}

/// Each face by its corners from the smallest on, and how often it is walked this way round.
fn walked(mesh: &TetMesh) -> BTreeMap<[u32; 3], usize> {
    let mut faces = BTreeMap::new();
    for &[a, b, c, d] in &mesh.tetrahedra {
        for face in [[a, c, b], [a, b, d], [a, d, c], [b, c, d]] {
            let first = (1..3).fold(0, |least, i| if face[i] < face[least] { i } else { least });
            *faces.entry([face[first], face[(first + 1) % 3], face[(first + 2) % 3]]).or_default() += 1;
        }
    }
    faces
}

fn area(surface: &TriMesh) -> f64 {
    let corner = |i: u32| surface.positions[i as usize];
    let area = |t: &[u32; 3]| (corner(t[1]) - corner(t[0])).cross(corner(t[2]) - corner(t[0])).length() / 2.0;
    surface.triangles.iter().map(area).sum()
}

#[test]
fn boxes_of_tetrahedra_fill_the_box_and_fit_together() {
    let size = DVec3::new(2.8, 0.5, 0.6);
    for style in [TetStyle::Five, TetStyle::Six] {
        for cells in [[1, 1, 1], [4, 3, 2], [5, 4, 3], [56, 5, 6], [59, 2, 7]] {
            let [nx, ny, nz] = cells;
            let shape = tet_box(cells, size, style).unwrap();
            let mesh = mesh_of(&shape);
            let each = if style == TetStyle::Five { 5 } else { 6 };
            assert_eq!(shape.points.len(), (nx + 1) * (ny + 1) * (nz + 1));
            assert_eq!(shape.tetrahedra.len(), each * nx * ny * nz);
            let cell = size.element_product() / (nx * ny * nz) as f64;
            let volumes = mesh.volumes();
            assert!(volumes.iter().all(|&v| v > cell / 6.0 * 0.999));
            assert!((volumes.iter().sum::<f64>() / size.element_product() - 1.0).abs() < 1e-12);
            assert!((shape.measure.iter().sum::<f64>() / size.element_product() - 1.0).abs() < 1e-12);

            let faces = walked(&mesh);
            assert!(faces.values().all(|&times| times == 1));
            let outer = faces.keys().filter(|&&[a, b, c]| !faces.contains_key(&[a, c, b])).count();
            assert_eq!(outer, shape.surface.triangles.len());
            assert_eq!(outer, 4 * (nx * ny + ny * nz + nz * nx));
            let mut edges: BTreeMap<[u32; 2], i32> = BTreeMap::new();
            for &[a, b, c] in &shape.surface.triangles {
                for [from, to] in [[a, b], [b, c], [c, a]] {
                    *edges.entry([from.min(to), from.max(to)]).or_default() += if from < to { 1 } else { -1 };
                }
            }
            assert!(edges.values().all(|&balance| balance == 0));
            assert!((shape.surface.volume() / size.element_product() - 1.0).abs() < 1e-12);
            let exact = 2.0 * (size.x * size.y + size.y * size.z + size.z * size.x);
            assert!((area(&shape.surface) / exact - 1.0).abs() < 1e-12);
            for (vertex, &p) in shape.surface.positions.iter().enumerate() {
                assert_eq!(shape.points[shape.skin.particles[vertex] as usize], p);
            }
        }
    }
}

#[test]
fn the_bench_beam_has_the_counts_of_the_paper() {
    let beam = tet_box([56, 5, 6], DVec3::new(5.6, 0.5, 0.6), TetStyle::Five).unwrap();
    assert_eq!((beam.tetrahedra.len(), beam.points.len()), (8400, 2394));
}

#[test]
fn boxes_refuse_nothing_and_too_much() {
    for (cells, size) in [
        ([0, 1, 1], DVec3::ONE),
        ([1, 1, usize::MAX], DVec3::ONE),
        ([1, 1, 1], DVec3::new(1.0, 0.0, 1.0)),
        ([1, 1, 1], DVec3::new(1.0, f64::NAN, 1.0)),
    ] {
        assert!(!tet_box(cells, size, TetStyle::Five).unwrap_err().help.is_empty());
    }
}

#[test]
fn bodies_of_tetrahedra_say_what_was_put_right() {
    let points = [DVec3::ZERO, DVec3::X, DVec3::splat(7.0), DVec3::Y, DVec3::Z];
    let mesh = TetMesh { points: points.to_vec(), tetrahedra: vec![[0, 3, 1, 4]], regions: vec![1] };
    let (shape, notes) = Shape::from_tets(&mesh).unwrap();
    assert_eq!(shape.points.len(), 4);
    assert!(notes[0].contains("1 of 1") && notes[1].contains("the first is 2"), "{notes:?}");
    assert!(mesh_of(&shape).volumes()[0] > 0.0 && shape.surface.volume() > 0.0);
    assert_eq!(shape.edges.len(), 6);
    let flat = TetMesh { tetrahedra: vec![[0, 1, 3, 4], [0, 1, 1, 2]], ..mesh };
    assert!(Shape::from_tets(&flat).unwrap_err().message.contains("tetrahedron 1 names point 1 twice"));
    assert!(Shape::from_tets(&TetMesh::default()).is_err());
}

#[test]
fn cloth_has_its_triangles_as_elements() {
    let cloth = sheet(1.0, 1.0, 3, 2).unwrap();
    assert_eq!((cloth.triangles.len(), cloth.tetrahedra.len()), (12, 0));
    let open = from_mesh(cloth.surface.clone(), 0.1).unwrap();
    assert_eq!(open.triangles, cloth.triangles);
}
