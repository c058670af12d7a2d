//! Shapes: closed, outward, of the right volume, symmetric, connected, and refused with a remedy when impossible.

use super::samples::shirt;
use glam::DVec3;
use pliant_geometry::TriMesh;
use pliant_geometry::shapes::{self, Shape, SolidShape};
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::PI;

/// One of each.
pub const SOLIDS: [SolidShape; 7] = [
    SolidShape::Cuboid { size: DVec3::new(1.0, 0.7, 0.5) },
    SolidShape::Ball { radius: 0.5 },
    SolidShape::Torus { major: 0.6, minor: 0.25 },
    SolidShape::Cylinder { radius: 0.4, height: 1.0 },
    SolidShape::Capsule { radius: 0.3, height: 1.2 },
    SolidShape::GummyBear { height: 1.0 },
    SolidShape::Bunny { height: 1.0 },
];

/// Every edge belongs to two triangles that walk it in opposite directions, and the triangles around every
/// vertex make one ring.
fn check_manifold(mesh: &TriMesh, what: &str) {
    let mut walked = BTreeSet::new();
    let mut rings: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
    for &[a, b, c] in &mesh.triangles {
        for [p, q, r] in [[a, b, c], [b, c, a], [c, a, b]] {
            assert!(walked.insert([p, q]), "{what}: edge {p}-{q} is walked twice the same way");
            assert!(rings.entry(p).or_default().insert(q, r).is_none());
        }
    }
    assert!(walked.iter().all(|&[a, b]| walked.contains(&[b, a])), "{what} is open");
    assert_eq!(rings.len(), mesh.positions.len(), "{what} has unused vertices");
    for (vertex, next) in rings {
        let first = *next.keys().next().expect("a triangle");
        let mut at = first;
        let mut steps = 0;
        loop {
            at = next[&at];
            steps += 1;
            if at == first {
                break;
            }
        }
        assert_eq!(steps, next.len(), "{what}: two sheets meet in vertex {vertex}");
    }
}

fn check_shape(shape: &Shape, what: &str) {
    assert_eq!(shape.points.len(), shape.measure.len(), "{what}");
    assert_eq!(shape.skin.len(), shape.surface.positions.len(), "{what}");
    assert!(shape.skin.particles.iter().all(|&i| (i as usize) < shape.points.len()), "{what}");
    assert!(shape.measure.iter().all(|&m| m > 0.0), "{what}");
    let mut sorted = shape.edges.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), shape.edges.len(), "{what}: an edge twice");
    assert!(shape.edges.iter().all(|e| e[0] < e[1] && (e[1] as usize) < shape.points.len()), "{what}");
}

/// Number of pieces the edges hold together.
fn pieces(shape: &Shape) -> usize {
    let mut root: Vec<u32> = (0..shape.points.len() as u32).collect();
    fn find(root: &mut [u32], mut i: u32) -> u32 {
        while root[i as usize] != i {
            root[i as usize] = root[root[i as usize] as usize];
            i = root[i as usize];
        }
        i
    }
    let mut count = shape.points.len();
    for &[a, b] in &shape.edges {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        if a != b {
            root[a as usize] = b;
            count -= 1;
        }
    }
    count
}

#[test]
fn solids_are_closed_outward_connected_and_share_their_volume() {
    for solid in SOLIDS {
        for spacing in [0.2, 0.1, 0.045] {
            let what = format!("{solid:?} at {spacing}");
            let shape = solid.build(spacing).expect("valid");
            check_shape(&shape, &what);
            check_manifold(&shape.surface, &what);
            assert!(shape.surface.volume() > 0.0, "{what} is inside out");
            assert_eq!(solid.count(spacing), Ok(shape.points.len()), "{what}");
            let sum: f64 = shape.measure.iter().sum();
            assert!((sum / shape.surface.volume() - 1.0).abs() < 1e-9, "{what}: {sum}");
            if spacing < 0.15 {
                assert_eq!(pieces(&shape), 1, "{what}");
            }
        }
    }
}

#[test]
fn volumes_are_those_of_the_formulas() {
    let expected = [
        0.35,
        4.0 / 3.0 * PI * 0.125,
        2.0 * PI * PI * 0.6 * 0.0625,
        PI * 0.16,
        PI * 0.09 * 0.6 + 4.0 / 3.0 * PI * 0.027,
    ];
    for (solid, want) in SOLIDS.iter().zip(expected) {
        let shape = solid.build(0.06).expect("valid");
        let got = shape.surface.volume();
        assert!((got / want - 1.0).abs() < 0.01, "{solid:?}: {got}, not {want}");
        // Each particle of a round shape stands for a cell: the lattice too has about the volume.
        let lattice = shape.points.len() as f64 * 0.06f64.powi(3);
        assert!(
            matches!(solid, SolidShape::Cuboid { .. }) || (lattice / want - 1.0).abs() < 0.05,
            "{solid:?}"
        );
    }
}

fn keys(points: &[DVec3], flip: DVec3) -> BTreeSet<[u64; 3]> {
    points.iter().map(|&p| (p * flip + 0.0).to_array().map(f64::to_bits)).collect()
}

#[test]
fn particles_mirror_to_the_bit() {
    for (i, solid) in SOLIDS.iter().enumerate() {
        let points = solid.build(0.083).expect("valid").points;
        let axes: &[DVec3] = if i < 5 { &[DVec3::X, DVec3::Y, DVec3::Z] } else { &[DVec3::X] };
        for &axis in axes {
            let flip = DVec3::ONE - 2.0 * axis;
            assert_eq!(keys(&points, flip), keys(&points, DVec3::ONE), "{solid:?} about {axis}");
        }
    }
}

#[test]
fn figures_are_as_tall_as_asked_and_stand_on_their_centre_of_mass() {
    for height in [0.02, 1.0, 30.0] {
        for solid in [SolidShape::GummyBear { height }, SolidShape::Bunny { height }] {
            let shape = solid.build(0.06 * height).expect("valid");
            let (lo, hi) = TriMesh::bounds(&shape.surface.positions).expect("not empty");
            assert!(((hi.y - lo.y) / height - 1.0).abs() < 5e-3, "{solid:?} is {} tall", hi.y - lo.y);
            let mean: DVec3 = shape.points.iter().sum::<DVec3>() / shape.points.len() as f64;
            assert!(mean.length() < 1e-12 * height, "{mean}");
        }
    }
}

#[test]
fn surfaces_follow_their_particles_at_rest() {
    for solid in SOLIDS {
        let shape = solid.build(0.05).expect("valid");
        let [x, y, z]: [Vec<f64>; 3] = [0, 1, 2].map(|k| shape.points.iter().map(|p| p[k]).collect());
        let mut got = Vec::new();
        shape.skin.apply([&x, &y, &z], &mut got);
        let worst = got.iter().zip(&shape.surface.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(worst < 2e-3, "{solid:?}: {worst}");
    }
}

#[test]
fn a_count_can_be_asked_for() {
    for solid in SOLIDS {
        for wanted in [200, 2020] {
            let spacing = solid.spacing_for_count(wanted).expect("valid");
            let got = solid.count(spacing).expect("valid");
            println!("{solid:?}: wanted {wanted}, got {got} at {spacing:.5}");
            assert!(got.abs_diff(wanted) <= wanted / 8, "{solid:?}: wanted {wanted}, got {got}");
        }
    }
    assert!(SolidShape::Ball { radius: 1.0 }.spacing_for_count(0).is_err());
    assert!(SolidShape::Ball { radius: 1.0 }.spacing_for_count(usize::MAX).is_err());
}

#[test]
fn a_cuboid_reaches_its_faces() {
    let shape = shapes::cuboid(DVec3::new(1.0, 0.4, 0.1), 0.1).expect("valid");
    assert_eq!(shape.points.len(), 11 * 5 * 2);
    assert_eq!(shape.points[0], DVec3::new(-0.5, -0.2, -0.05));
    let (lo, hi) = TriMesh::bounds(&shape.surface.positions).expect("not empty");
    let half = DVec3::new(0.5, 0.2, 0.05);
    assert!(lo.distance(-half) < 1e-12 && hi.distance(half) < 1e-12);
    check_manifold(&shape.surface, "cuboid");
    // Along the axes, two diagonals a face square, four a cube.
    let [x, y, z] = [11, 5, 2];
    let axes = (x - 1) * y * z + x * (y - 1) * z + x * y * (z - 1);
    let faces = 2 * ((x - 1) * (y - 1) * z + (x - 1) * y * (z - 1) + x * (y - 1) * (z - 1));
    let cubes = 4 * (x - 1) * (y - 1) * (z - 1);
    assert_eq!(shape.edges.len(), axes + faces + cubes);
    assert_eq!(shapes::cuboid(DVec3::ONE, 100.0).expect("valid").points.len(), 8);
}

#[test]
fn a_sheet_has_the_edges_of_the_paper() {
    let shape = shapes::sheet(2.0, 1.0, 80, 80).expect("valid");
    assert_eq!((shape.points.len(), shape.edges.len()), (81 * 81, 19_360));
    assert_eq!(
        (shape.points[0], shape.points[80]),
        (DVec3::new(-1.0, 0.0, -0.5), DVec3::new(1.0, 0.0, -0.5))
    );
    assert!((shape.measure.iter().sum::<f64>() - 2.0).abs() < 1e-12);
    let mut normals = Vec::new();
    TriMesh::vertex_normals(&shape.surface.positions, &shape.surface.triangles, &mut normals);
    assert!(normals.iter().all(|n| n.distance(DVec3::Y) < 1e-12));
    check_shape(&shape, "sheet");
}

#[test]
fn closed_meshes_are_filled_and_open_ones_are_cloth() {
    let ball = shapes::ball(0.5, 0.1).expect("valid").surface;
    let filled = shapes::from_mesh(ball.clone(), 0.1).expect("valid");
    check_shape(&filled, "ball mesh");
    let lattice: BTreeSet<[i64; 3]> =
        filled.points.iter().map(|p| p.to_array().map(|c| (c * 20.0).round() as i64)).collect();
    let want: BTreeSet<[i64; 3]> = shapes::ball(0.5, 0.1)
        .expect("valid")
        .points
        .iter()
        .map(|p| p.to_array().map(|c| (c * 20.0).round() as i64))
        .collect();
    assert_eq!(lattice, want);
    // Inside out, and cut into separate triangles, it is still the same ball.
    let mut soup = TriMesh::default();
    for t in &ball.triangles {
        let n = soup.positions.len() as u32;
        soup.positions.extend([t[0], t[2], t[1]].map(|i| ball.positions[i as usize]));
        soup.triangles.push([n, n + 1, n + 2]);
    }
    let from_soup = shapes::from_mesh(soup, 0.1).expect("valid");
    assert_eq!(from_soup.points, filled.points);
    assert!(from_soup.surface.volume() > 0.0);
    // Too coarse for any particle: its vertices.
    assert_eq!(shapes::from_mesh(ball.clone(), 10.0).expect("valid").points, ball.positions);
    let cloth = shapes::sheet(1.0, 1.0, 4, 4).expect("valid");
    let open = shapes::from_mesh(cloth.surface.clone(), 0.1).expect("valid");
    assert_eq!((&open.points, &open.edges), (&cloth.points, &cloth.edges));
    assert!((open.measure.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    check_shape(&open, "cloth");
}

#[test]
fn points_are_tied_to_their_neighbours() {
    let points = shapes::cuboid(DVec3::splat(0.4), 0.1).expect("valid");
    let shape = shapes::from_points(points.points.clone()).expect("valid");
    check_shape(&shape, "points");
    let mut want = points.edges.clone();
    want.sort_unstable();
    assert_eq!(shape.edges, want);
    assert!(shape.surface.triangles.is_empty());
    assert_eq!(shapes::from_points(vec![DVec3::ONE; 3]).expect("valid").measure, [1.0; 3]);
    assert!(shapes::from_points(Vec::new()).is_err());
    assert!(shapes::from_points(vec![DVec3::NAN]).is_err());
}

#[test]
fn impossible_shapes_are_refused_with_a_remedy() {
    let bad = [
        shapes::ball(-1.0, 0.1),
        shapes::ball(f64::NAN, 0.1),
        shapes::ball(1.0, 0.0),
        shapes::ball(1.0, f64::INFINITY),
        shapes::ball(1.0, 10.0),
        shapes::ball(1.0, 1e-4),
        shapes::ball(1.0, 1e-300),
        shapes::torus(0.2, 0.3, 0.1),
        shapes::capsule(1.0, 1.5, 0.1),
        shapes::cylinder(1.0, 0.0, 0.1),
        shapes::cuboid(DVec3::new(1.0, 0.0, 1.0), 0.1),
        shapes::cuboid(DVec3::ONE, 1e-3),
        shapes::sheet(1.0, 1.0, 0, 3),
        shapes::sheet(1.0, 1.0, usize::MAX, 3),
        shapes::gummy_bear(0.0, 0.1),
        shapes::bunny(1.0, 5.0),
        shapes::from_mesh(TriMesh::default(), 0.1),
        shapes::from_mesh(TriMesh { positions: vec![DVec3::ZERO], triangles: vec![[0, 1, 2]] }, 0.1),
    ];
    for (i, shape) in bad.into_iter().enumerate() {
        let error = shape.expect_err(&format!("case {i}"));
        assert!(!error.help.is_empty() && !error.io, "{error}");
    }
}

#[test]
fn meshes_become_bodies_and_cloth_keeps_its_vertices() {
    let bear = shapes::gummy_bear(1.0, 0.04).expect("valid").surface;
    for (name, mesh, spacing, closed) in [("bear", bear, 0.08, true), ("shirt", shirt(6), 0.1, false)] {
        let vertices = mesh.positions.clone();
        let shape = shapes::from_mesh(mesh, spacing).expect("valid");
        check_shape(&shape, name);
        assert_eq!(shape.points == vertices, !closed, "{name}");
    }
}
