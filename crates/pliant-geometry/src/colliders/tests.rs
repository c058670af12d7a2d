use super::*;
use crate::{SplitMix64, TriMesh, Winding, nearest_on_triangle};
use glam::DVec3;

const SHAPES: [Primitive; 4] = [
    Primitive::Ball { radius: 0.7 },
    Primitive::Cuboid { half: DVec3::new(0.5, 0.2, 0.8) },
    Primitive::Capsule { radius: 0.3, half: 0.6 },
    Primitive::Cylinder { radius: 0.5, half: 0.4 },
];

fn random(rng: &mut SplitMix64, size: f64) -> DVec3 {
    (DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0) * size
}

/// Of all triangles, one after the other.
fn brute(mesh: &TriMesh, p: DVec3) -> f64 {
    let corners = |t: &[u32; 3]| t.map(|i| mesh.positions[i as usize]);
    let distance = |t: &[u32; 3]| {
        let c = corners(t);
        let w = nearest_on_triangle(c, p);
        (c[0] * w[0] + c[1] * w[1] + c[2] * w[2]).distance(p)
    };
    mesh.triangles.iter().map(distance).fold(f64::INFINITY, f64::min)
}

fn still(mesh: &ColliderMesh) -> MovingMesh<'_> {
    let at = &mesh.mesh().positions[..];
    MovingMesh { mesh, from: at, to: at, boxes: mesh.boxes(), shares: [0.0, 1.0] }
}

#[test]
fn primitives_tell_distance_normal_and_point() {
    let mut rng = SplitMix64::new(1);
    for shape in SHAPES {
        let mesh = shape.mesh(160);
        let winding = Winding::new(&mesh);
        let (lo, hi) = shape.bounds();
        for _ in 0..300 {
            let p = random(&mut rng, 1.3);
            let near = shape.nearest(p);
            assert!((near.normal.length() - 1.0).abs() < 1e-12);
            assert!((near.point + near.normal * near.gap).distance(p) < 1e-12, "{shape:?} {p}");
            assert!(shape.nearest(near.point).gap.abs() < 1e-12, "{shape:?} {p}");
            assert!(near.point.cmpge(lo - 1e-12).all() && near.point.cmple(hi + 1e-12).all());
            // The mesh of it is a little smaller where it is round.
            assert!((near.gap.abs() - brute(&mesh, p)).abs() < 1e-3, "{shape:?} {p}: {}", near.gap);
            let inside = winding.inside(p);
            assert!(inside == (near.gap < 0.0) || near.gap.abs() < 1e-3, "{shape:?} {p}");
        }
        for p in [DVec3::ZERO, DVec3::Y * 0.1, DVec3::X * 1e-300] {
            let near = shape.nearest(p);
            assert!(near.gap < 0.0 && near.normal.is_finite() && near.point.is_finite(), "{shape:?}");
        }
    }
}

#[test]
fn a_way_enters_a_primitive_where_it_first_touches() {
    let mut rng = SplitMix64::new(2);
    for shape in SHAPES {
        let mut hits = 0;
        for _ in 0..400 {
            let (a, b) = (random(&mut rng, 2.0), random(&mut rng, 0.8));
            if shape.nearest(a).gap <= 0.01 {
                continue;
            }
            let first = (0..=2000).find(|k| shape.nearest(a.lerp(b, f64::from(*k) / 2000.0)).gap < 0.0);
            match (shape.enters(a, b, 1e-9), first) {
                (Some(near), Some(k)) => {
                    hits += 1;
                    assert!(
                        near.point.distance(a.lerp(b, f64::from(k) / 2000.0)) < 5e-3 || grazes(shape, a, b)
                    );
                }
                (None, None) => {}
                _ => assert!(grazes(shape, a, b), "{shape:?} {a} {b}"),
            }
        }
        assert!(hits > 50);
    }
}

/// Whether a path only just touches.
fn grazes(shape: Primitive, a: DVec3, b: DVec3) -> bool {
    let least = (0..=2000).map(|k| shape.nearest(a.lerp(b, f64::from(k) / 2000.0)).gap);
    least.fold(f64::INFINITY, f64::min).abs() < 2e-2
}

fn bumpy() -> TriMesh {
    let mut mesh = Primitive::Ball { radius: 0.6 }.mesh(24);
    for p in &mut mesh.positions {
        *p *= 1.0 + 0.3 * (7.0 * p.x).sin() * (5.0 * p.y + 3.0 * p.z).cos();
    }
    mesh
}

#[test]
fn the_nearest_point_of_a_mesh_and_its_side_are_those_of_brute_force() {
    let mesh = ColliderMesh::new(bumpy()).expect("sound");
    assert!(mesh.is_closed());
    let pose = still(&mesh);
    let winding = Winding::new(mesh.mesh());
    let mut rng = SplitMix64::new(3);
    for _ in 0..1000 {
        let p = random(&mut rng, 0.8);
        let foot = pose.nearest(p, 1.0, f64::INFINITY).expect("there is a surface");
        assert!((foot.distance - brute(mesh.mesh(), p)).abs() < 1e-14);
        let outside = (p - foot.point).dot(pose.normal(&foot, 1.0)) > 0.0;
        assert_eq!(outside, !winding.inside(p), "{p}");
        assert_eq!(pose.surrounds(p), !outside, "{p}");
        let minima = pose.minima(p, 0.2);
        let least = minima.iter().next().map_or(f64::INFINITY, |f| f.distance);
        assert!(foot.distance > 0.2 || (least - foot.distance).abs() < 1e-14);
        assert_eq!(pose.nearest(p, 1.0, 0.05).is_some(), foot.distance <= 0.05);
    }
}

/// In a corner every wall is told, and on an edge that sticks out only the edge.
#[test]
fn places_that_are_locally_nearest_are_told_once_each() {
    let block = |flip: bool| {
        let mut mesh = welded(Primitive::Cuboid { half: DVec3::ONE }.mesh(8));
        if flip {
            mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        mesh
    };
    let solid = ColliderMesh::new(block(false)).expect("sound");
    let corner = still(&solid).minima(DVec3::new(0.9, 0.95, 0.98), 0.2);
    assert_eq!(corner.iter().count(), 3, "three walls, from inside");
    let edge = still(&solid).minima(DVec3::new(1.05, 1.03, 0.2), 0.2);
    assert_eq!(edge.iter().count(), 1, "the edge, from outside");
    let face = still(&solid).minima(DVec3::new(0.97, 1.02, 0.2), 0.2);
    assert_eq!(face.iter().count(), 1, "only the face, though the edge is near");
    let told = ColliderMesh::new(block(true)).expect_err("inside out");
    assert!(told[0].to_string().contains("inside out"), "{told:?}");
}

/// The same vertices where faces meet.
fn welded(mesh: TriMesh) -> TriMesh {
    let mut positions: Vec<DVec3> = Vec::new();
    let mut index = |p: DVec3| {
        let found = positions.iter().position(|q| *q == p);
        found.unwrap_or_else(|| {
            positions.push(p);
            positions.len() - 1
        }) as u32
    };
    let corners = mesh.triangles.iter().map(|t| t.map(|i| index(mesh.positions[i as usize]))).collect();
    TriMesh { triangles: corners, positions }
}

/// A path from outside to inside crosses a closed mesh, one from outside to outside crosses it only if it passes through.
#[test]
fn paths_that_cross_a_mesh_are_found() {
    let mesh = ColliderMesh::new(bumpy()).expect("sound");
    let pose = still(&mesh);
    let winding = Winding::new(mesh.mesh());
    let mut rng = SplitMix64::new(4);
    let mut crossed = 0;
    for _ in 0..2000 {
        let (a, b) = (random(&mut rng, 0.9), random(&mut rng, 0.9));
        let inside = |s: f64| winding.inside(a.lerp(b, s));
        if inside(0.0) {
            continue;
        }
        let enters = (1..=400).map(|k| f64::from(k) / 400.0).find(|s| inside(*s));
        match (pose.crossing(a, b), enters) {
            (Some(c), Some(s)) => {
                crossed += 1;
                assert!(c.share <= s && c.normal.dot(b - a) < 0.0);
                assert!(c.foot.point.distance(a.lerp(b, c.share)) < 1e-12);
            }
            (Some(c), None) => {
                assert!(!inside(c.share + 1e-3) || c.share + 1.0 / 400.0 > 1.0 || c.share < 1.0)
            }
            (None, None) => {}
            (None, Some(s)) => panic!("passed at {s} of {a} to {b}"),
        }
    }
    assert!(crossed > 300);
}

/// A net of two triangles whose common edge is hit exactly, moving, from both sides.
#[test]
fn nothing_passes_between_two_triangles_nor_through_ones_that_move() {
    let positions = vec![DVec3::ZERO, DVec3::X, DVec3::new(1.0, 0.0, 1.0), DVec3::Z];
    let sheet = TriMesh { positions, triangles: vec![[0, 2, 1], [0, 3, 2]] };
    let mesh = ColliderMesh::new(sheet).expect("sound");
    assert!(!mesh.is_closed());
    let up: Vec<DVec3> = mesh.mesh().positions.iter().map(|p| *p + DVec3::new(0.0, 2.0 + p.x, 0.0)).collect();
    let mut boxes = Vec::new();
    mesh.fit(&mesh.mesh().positions, &up, &mut boxes);
    let moving =
        MovingMesh { mesh: &mesh, from: &mesh.mesh().positions, to: &up, boxes: &boxes, shares: [0.0, 1.0] };
    let mut rng = SplitMix64::new(5);
    for k in 0..1000 {
        let along = rng.unit();
        let at = if k % 2 == 0 { DVec3::new(along, 0.0, along) } else { DVec3::new(along, 0.0, rng.unit()) };
        let (above, below) = (at + DVec3::Y * rng.unit().max(1e-6), at - DVec3::Y * rng.unit().max(1e-6));
        for (a, b) in [(above, below), (below, above)] {
            let c = still(&mesh).crossing(a, b).expect("it passes through");
            assert!(c.normal.dot(a - b) > 0.0);
            assert!(still(&mesh).crossing(a, a.lerp(b, 0.0)).is_none());
        }
        // The sheet comes up and overtakes what stands still above it, or falls.
        let c = moving.crossing(above, above - DVec3::Y * 0.1).expect("it is overtaken");
        assert!(c.normal.y > 0.0);
        assert!(moving.crossing(below, below).is_none(), "it leaves behind what is below");
    }
}

#[test]
fn heights_are_a_solid_ground() {
    let (columns, rows) = (5, 4);
    let heights: Vec<f64> = (0..columns * rows).map(|k| 0.3 * f64::from(k as u32 % 3)).collect();
    let ground = ColliderMesh::heights(columns, &heights, [0.5, 0.25], 1.0).expect("sound");
    assert!(ground.is_closed());
    let volume = ground.mesh().volume();
    assert!(volume > 2.0 * 0.75 && volume < 2.0 * 0.75 * 1.6, "{volume}");
    let winding = Winding::new(ground.mesh());
    assert!(winding.inside(DVec3::new(0.1, -0.1, 0.1)) && !winding.inside(DVec3::new(0.1, 0.7, 0.1)));
    let faults = ColliderMesh::heights(5, &heights[..7], [0.0, 1.0], -1.0).expect_err("three faults");
    assert_eq!(faults.len(), 2);
    assert!(ColliderMesh::heights(2, &[0.0, f64::NAN, 0.0, 0.0], [1.0; 2], 1.0).is_err());
}
