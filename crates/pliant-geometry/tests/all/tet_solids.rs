//! Solids of tetrahedra: sound elements in one part that fill the solid, and a surface that follows them.

use crate::shapes::SOLIDS;
use glam::{DMat3, DQuat, DVec3};
use pliant_geometry::shapes::{
    Shape, SolidShape, ball, cuboid, sheet, tets_from_mesh, tets_from_mesh_within,
};
use pliant_geometry::{SplitMix64, TetMesh, TriMesh};
use std::collections::BTreeSet;

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

/// How far the surface misses a motion: vertices that stand in the tetrahedra or close to them, and those that turn with what is near.
fn misses(shape: &Shape, map: impl Fn(DVec3) -> DVec3) -> [f64; 2] {
    let moved: Vec<DVec3> = shape.points.iter().map(|&p| map(p)).collect();
    let axis = |i: usize| moved.iter().map(|p| p[i]).collect::<Vec<f64>>();
    let (x, y, z) = (axis(0), axis(1), axis(2));
    let mut vertices = Vec::new();
    shape.skin.apply([&x, &y, &z], &mut vertices);
    let mut most = [0.0_f64; 2];
    for (v, (at, rest)) in vertices.iter().zip(&shape.surface.positions).enumerate() {
        let turns = shape.skin.rigid_offsets.as_ref().is_some_and(|r| r.vertices.row(v).next().is_some());
        let miss = &mut most[usize::from(turns)];
        *miss = miss.max(at.distance(map(*rest)));
    }
    most
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
        let [miss, _] = misses(shape, |p| linear * p + shift);
        assert!(miss < 1e-10, "{what}: the surface misses an affine motion by {miss}");
        let turn = DQuat::from_scaled_axis(random() * 3.0);
        let all = misses(shape, |p| turn * p + shift);
        assert!(all.iter().all(|miss| *miss < 1e-10), "{what}: the surface misses a rigid motion by {all:?}");
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
    let (shape, _) = SolidShape::Cuboid { size }.build_tets(0.1).unwrap();
    let plain = cuboid(size, 0.1).unwrap();
    assert_eq!((shape.points.len(), shape.surface.triangles), (plain.points.len(), plain.surface.triangles));
    assert_eq!(shape.tetrahedra.len(), 10 * 7 * 5 * 5);
    assert!((shape.measure.iter().sum::<f64>() / size.element_product() - 1.0).abs() < 1e-12);
}

#[test]
fn the_outer_points_of_a_ball_lie_on_it() {
    let (shape, _) = SolidShape::Ball { radius: 0.5 }.build_tets(0.05).unwrap();
    let outer: BTreeSet<u32> = mesh_of(&shape).boundary().into_iter().flatten().collect();
    let off = |&i: &u32| (shape.points[i as usize].length() - 0.5).abs();
    let on = outer.iter().filter(|i| off(i) < 1e-6).count();
    assert!(on * 2 > outer.len(), "{on} of {}", outer.len());
    assert!(outer.iter().all(|i| off(i) < 0.3 * 0.05));
}

#[test]
fn figures_mirror_to_the_bit_and_stand_on_their_centre_of_mass() {
    for solid in [SolidShape::GummyBear { height: 1.0 }, SolidShape::Bunny { height: 1.0 }] {
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

/// Both meshes in one.
fn together(mut a: TriMesh, b: TriMesh) -> TriMesh {
    let first = a.positions.len() as u32;
    a.positions.extend(b.positions);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|i| i + first)));
    a
}

fn moved(mut mesh: TriMesh, by: DVec3) -> TriMesh {
    mesh.positions.iter_mut().for_each(|p| *p += by);
    mesh
}

/// A cup with walls and a bottom of the thickness, turned about the y axis.
fn cup(radius: f64, height: f64, thickness: f64) -> TriMesh {
    let inner = radius - thickness;
    let mut line = vec![[0.0, 0.0]];
    let mut to = |end: [f64; 2], steps: usize| {
        let start = line[line.len() - 1];
        line.extend((1..=steps).map(|k| {
            let part = k as f64 / steps as f64;
            [0, 1].map(|i| start[i] + part * (end[i] - start[i]))
        }));
    };
    to([radius, 0.0], 8);
    to([radius, height], 16);
    to([inner, height], 1);
    to([inner, thickness], 16);
    to([0.0, thickness], 8);
    let round = 64;
    let mut mesh = TriMesh::default();
    let at = |k: usize, i: usize| (k * round + i % round) as u32;
    for &[r, y] in &line {
        for i in 0..round {
            let angle = std::f64::consts::TAU * i as f64 / round as f64;
            mesh.positions.push(DVec3::new(r * angle.cos(), y, r * angle.sin()));
        }
    }
    for k in 1..line.len() {
        for i in 0..round {
            let [a, b, c, d] = [at(k - 1, i), at(k - 1, i + 1), at(k, i + 1), at(k, i)];
            mesh.triangles.extend([[a, c, b], [a, d, c]]);
        }
    }
    // The rings on the axis are points.
    let flat = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.positions[i as usize]);
        (b - a).cross(c - a).length() > 1e-12
    };
    mesh.triangles = mesh.triangles.iter().copied().filter(flat).collect();
    mesh
}

#[test]
fn every_piece_of_a_mesh_becomes_tetrahedra_of_one_body() {
    // The ball nearly touches the box, and yet neither follows the other.
    let cube = cuboid(DVec3::splat(0.5), 0.1).unwrap().surface;
    let round = moved(ball(0.15, 0.03).unwrap().surface, DVec3::X * 0.402);
    let of_cube = cube.positions.len();
    let both = together(cube.clone(), round.clone());
    let (shape, notes) = tets_from_mesh(both.clone(), 0.04).unwrap();
    assert!(mesh_of(&shape).volumes().iter().all(|&v| v > 0.0));
    assert_eq!(parts(&mesh_of(&shape)), 2);
    assert!(notes.is_empty(), "{notes:?}");
    let share = shape.measure.iter().sum::<f64>() / (cube.volume() + round.volume());
    assert!((share - 1.0).abs() < 0.02, "{share}");
    let (mut points, mut seen) = (shape.points.clone(), Vec::new());
    points.iter_mut().filter(|p| p.x > 0.2501).for_each(|p| p.x += 1.0);
    let [x, y, z] = [0, 1, 2].map(|k| points.iter().map(|p| p[k]).collect::<Vec<f64>>());
    shape.skin.apply([&x, &y, &z], &mut seen);
    for (v, (now, was)) in seen.iter().zip(&both.positions).enumerate() {
        let want = if v < of_cube { *was } else { *was + DVec3::X };
        assert!(now.distance(want) < 1e-9, "vertex {v}: {now} instead of {want}");
    }
}

#[test]
fn a_ball_in_a_hollow_stays_and_overlapping_pieces_become_one() {
    let hollow = |r: f64| {
        let mut inner = ball(r, 0.1).unwrap().surface;
        inner.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        inner
    };
    let shell = together(ball(0.5, 0.05).unwrap().surface, hollow(0.35));
    let (shape, notes) = tets_from_mesh(together(shell, ball(0.2, 0.05).unwrap().surface), 0.04).unwrap();
    assert_eq!((parts(&mesh_of(&shape)), notes.len()), (2, 0), "{notes:?}");
    let overlapping = together(
        cuboid(DVec3::splat(0.5), 0.1).unwrap().surface,
        moved(ball(0.2, 0.05).unwrap().surface, DVec3::X * 0.3),
    );
    assert_eq!(parts(&mesh_of(&tets_from_mesh(overlapping, 0.05).unwrap().0)), 1);
}

#[test]
fn a_thin_cup_is_refused_with_the_spacing_that_does_or_made_finer() {
    let cup = cup(0.04, 0.05, 0.005);
    let volume = cup.volume();
    assert!(volume > 0.0);
    let refused = tets_from_mesh(cup.clone(), 0.01).unwrap_err();
    assert!(refused.message.contains("leaves out"), "{refused}");
    let spacing = refused.help.split_once("spacing = ").unwrap().1;
    let spacing: f64 = spacing.split_once(',').unwrap().0.parse().unwrap();
    let (shape, _) = tets_from_mesh(cup.clone(), spacing).unwrap();
    assert_eq!(parts(&mesh_of(&shape)), 1);
    let whole = |shape: &Shape| {
        let share = shape.measure.iter().sum::<f64>() / volume;
        assert!((share - 1.0).abs() < 0.07, "{share} of its volume");
    };
    whole(&shape);
    // By number it is refined on its own, and says so.
    let (shape, notes) = tets_from_mesh_within(cup.clone(), 0.01, 30_000).unwrap();
    assert_eq!(parts(&mesh_of(&shape)), 1);
    assert!(notes.iter().any(|n| n.contains("thin")) && shape.points.len() < 30_000, "{notes:?}");
    whole(&shape);
    let refused = tets_from_mesh_within(cup, 0.01, 500).unwrap_err();
    assert!(refused.help.contains("particles"), "{refused}");
}

#[test]
fn a_coarse_ball_or_box_leaves_nothing_out() {
    for spacing in [0.05, 0.1, 0.2, 0.3] {
        tets_from_mesh(ball(0.5, 0.05).unwrap().surface, spacing).unwrap();
        tets_from_mesh(cuboid(DVec3::new(1.0, 0.7, 0.9), 0.1).unwrap().surface, spacing).unwrap();
    }
}

/// Small tetrahedra in rows, none touching another.
fn crowd(count: usize) -> TriMesh {
    let mut mesh = TriMesh { positions: Vec::new(), triangles: Vec::new() };
    for k in 0..count {
        let at = DVec3::new((k % 100) as f64, (k / 100 % 100) as f64, (k / 10_000) as f64) * 1.5;
        let first = mesh.positions.len() as u32;
        mesh.positions.extend([DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z].map(|p| p + at));
        mesh.triangles.extend([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]].map(|t| t.map(|i| i + first)));
    }
    mesh
}

#[test]
fn a_crowd_of_pieces_is_refused_before_it_is_compared_piece_by_piece() {
    // Every two of three hundred thousand would take hours.
    let refused = tets_from_mesh_within(crowd(300_000), 3.0, 0).unwrap_err();
    assert!(refused.message.contains("300000 separate pieces"), "{}", refused.message);
    // What is possible is cut, each piece on its own.
    let (shape, _) = tets_from_mesh_within(crowd(12), 0.2, 100_000).unwrap();
    assert_eq!(parts(&mesh_of(&shape)), 12);
}
