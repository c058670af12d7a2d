//! Solids of tetrahedra: sound elements in one part that fill the solid, and a surface that follows them.

use glam::{DMat3, DVec3};
use pliant_geometry::shapes::{Shape, Solid, ball, cuboid, sheet, tets_from_mesh};
use pliant_geometry::{SplitMix64, TetMesh, TriMesh};
use std::collections::BTreeSet;

const SOLIDS: [Solid; 7] = [
    Solid::Cuboid { size: DVec3::new(1.0, 0.7, 0.5) },
    Solid::Ball { radius: 0.5 },
    Solid::Torus { major: 0.6, minor: 0.25 },
    Solid::Cylinder { radius: 0.4, height: 1.0 },
    Solid::Capsule { radius: 0.3, height: 1.2 },
    Solid::GummyBear { height: 1.0 },
    Solid::Bunny { height: 1.0 },
];

fn mesh_of(shape: &Shape) -> TetMesh {
    let (points, tetrahedra) = (shape.points.clone(), shape.tetrahedra.clone());
    TetMesh { points, tetrahedra, regions: Vec::new() }
}

/// Number of parts that faces hold together.
fn parts(mesh: &TetMesh) -> usize {
    let mut root: Vec<usize> = (0..mesh.tetrahedra.len()).collect();
    fn find(root: &mut [usize], mut i: usize) -> usize {
        while root[i] != i {
            root[i] = root[root[i]];
            i = root[i];
        }
        i
    }
    let mut faces = std::collections::BTreeMap::new();
    for (i, &[a, b, c, d]) in mesh.tetrahedra.iter().enumerate() {
        for mut face in [[a, b, c], [a, b, d], [a, c, d], [b, c, d]] {
            face.sort_unstable();
            let other = *faces.entry(face).or_insert(i);
            let (x, y) = (find(&mut root, i), find(&mut root, other));
            root[x] = y;
        }
    }
    (0..root.len()).filter(|&i| root[i] == i).count()
}

fn follows(shape: &Shape, map: impl Fn(DVec3) -> DVec3) -> f64 {
    let moved: Vec<DVec3> = shape.points.iter().map(|&p| map(p)).collect();
    let axis = |i: usize| moved.iter().map(|p| p[i]).collect::<Vec<f64>>();
    let (x, y, z) = (axis(0), axis(1), axis(2));
    let mut vertices = Vec::new();
    shape.skin.apply([&x, &y, &z], &mut vertices);
    let miss = |(v, &rest): (&DVec3, &DVec3)| v.distance(map(rest));
    vertices.iter().zip(&shape.surface.positions).map(miss).fold(0.0, f64::max)
}

fn check(shape: &Shape, what: &str) {
    let mesh = mesh_of(shape);
    assert_eq!(mesh.faults(), [], "{what}");
    assert!(mesh.volumes().iter().all(|&v| v > 0.0), "{what}");
    assert!(mesh.unreferenced().is_empty() && parts(&mesh) == 1, "{what}");
    // Cosine of 10 degrees.
    assert!(mesh.sharpest_dihedral_cosine() < 0.9848, "{what}: {}", mesh.sharpest_dihedral_cosine());
    assert_eq!((shape.measure.len(), shape.skin.len()), (shape.points.len(), shape.surface.positions.len()));
    assert!((shape.measure.iter().sum::<f64>() / mesh.volumes().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut rng = SplitMix64::new(3);
    for _ in 0..3 {
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - DVec3::ONE;
        let (linear, shift) = (DMat3::from_cols(random(), random(), random()), random());
        let miss = follows(shape, |p| linear * p + shift);
        assert!(miss < 1e-10, "{what}: the surface misses an affine motion by {miss}");
    }
}

#[test]
fn solids_are_sound_in_one_part_and_fill_their_volume() {
    for (spacing, bound) in [(0.1, 0.08), (0.07, 0.03), (0.05, 0.02)] {
        for solid in SOLIDS {
            let what = format!("{solid:?} at {spacing}");
            let (shape, notes) = solid.build_tets(spacing).unwrap_or_else(|e| panic!("{what}: {e}"));
            check(&shape, &what);
            assert_eq!(notes, [""; 0], "{what}");
            let share = shape.measure.iter().sum::<f64>() / shape.surface.volume();
            assert!((share - 1.0).abs() < bound, "{what}: {share} of the volume");
            assert_eq!(solid.tet_particles(spacing), Ok(shape.points.len()), "{what}");
        }
    }
}

#[test]
fn a_cuboid_of_tetrahedra_is_exact() {
    let size = DVec3::new(1.0, 0.7, 0.5);
    let (shape, _) = Solid::Cuboid { size }.build_tets(0.1).unwrap();
    let plain = cuboid(size, 0.1).unwrap();
    assert_eq!((shape.points.len(), shape.surface.triangles), (plain.points.len(), plain.surface.triangles));
    assert_eq!(shape.tetrahedra.len(), 10 * 7 * 5 * 5);
    assert!((shape.measure.iter().sum::<f64>() / size.element_product() - 1.0).abs() < 1e-12);
}

#[test]
fn the_outer_points_of_a_ball_lie_on_it() {
    let (shape, _) = Solid::Ball { radius: 0.5 }.build_tets(0.05).unwrap();
    let outer: BTreeSet<u32> = mesh_of(&shape).boundary().into_iter().flatten().collect();
    let off = |&i: &u32| (shape.points[i as usize].length() - 0.5).abs();
    let on = outer.iter().filter(|i| off(i) < 1e-6).count();
    assert!(on * 2 > outer.len(), "{on} of {}", outer.len());
    assert!(outer.iter().all(|i| off(i) < 0.3 * 0.05));
}

#[test]
fn figures_mirror_to_the_bit_and_stand_on_their_centre_of_mass() {
    for solid in [Solid::GummyBear { height: 1.0 }, Solid::Bunny { height: 1.0 }] {
        let (shape, _) = solid.build_tets(0.06).unwrap();
        let keys = |flip: f64| -> BTreeSet<[u64; 3]> {
            let key = |p: &DVec3| [p.x * flip + 0.0, p.y, p.z].map(f64::to_bits);
            shape.points.iter().map(key).collect()
        };
        assert_eq!(keys(1.0), keys(-1.0), "{solid:?}");
        let mass: f64 = shape.measure.iter().sum();
        let center: DVec3 = shape.points.iter().zip(&shape.measure).map(|(&p, &m)| p * (m / mass)).sum();
        assert!(center.length() < 1e-12, "{solid:?}: {center}");
    }
}

#[test]
fn a_number_of_particles_can_be_asked_for() {
    for solid in SOLIDS {
        let spacing = solid.spacing_for_tet_particles(1500).unwrap();
        let got = solid.build_tets(spacing).unwrap().0.points.len();
        assert!(got.abs_diff(1500) < 300, "{solid:?}: {got}");
    }
}

#[test]
fn closed_meshes_are_cut_and_open_ones_refused() {
    let mut surface = ball(0.5, 0.1).unwrap().surface;
    surface.positions.iter_mut().for_each(|p| *p += DVec3::new(3.0, -2.0, 1.0));
    let (shape, notes) = tets_from_mesh(surface.clone(), 0.08).unwrap();
    check(&shape, "a ball as a mesh");
    assert!(notes.is_empty() && shape.surface == surface);
    let share = shape.measure.iter().sum::<f64>() / surface.volume();
    assert!((share - 1.0).abs() < 0.03, "{share}");
    assert!(tets_from_mesh(sheet(1.0, 1.0, 2, 2).unwrap().surface, 0.1).is_err());
    assert!(tets_from_mesh(surface, 5.0).is_err());
    assert!(tets_from_mesh(TriMesh::default(), 0.1).is_err());
}

#[test]
fn parts_that_no_face_joins_are_left_out_and_said() {
    let mut two = cuboid(DVec3::splat(0.5), 0.1).unwrap().surface;
    let small = cuboid(DVec3::splat(0.3), 0.1).unwrap().surface;
    let first = two.positions.len() as u32;
    two.positions.extend(small.positions.iter().map(|&p| p + DVec3::X));
    two.triangles.extend(small.triangles.iter().map(|t| t.map(|i| i + first)));
    let (shape, notes) = tets_from_mesh(two, 0.05).unwrap();
    assert_eq!(parts(&mesh_of(&shape)), 1);
    assert!(notes.len() == 1 && notes[0].contains("were left out"), "{notes:?}");
}
