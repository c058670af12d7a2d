//! Particles inside meshes of all kinds: even, of the number asked for, tied together; and what counts as a body.

use super::samples::shirt;
use glam::DVec3;
use pliant_geometry::shapes::{self, Shape, SolidShape, filled};
use pliant_geometry::{
    FillDensity, FillOptions, FillPattern, KdTree, SplitMix64, TriMesh, Winding, has_inside, inside,
};

const PATTERNS: [FillPattern; 3] = [FillPattern::Lattice, FillPattern::Jittered, FillPattern::BlueNoise];

fn bodies() -> Vec<(&'static str, TriMesh)> {
    let solid = |name, solid: SolidShape| (name, solid.build(0.06).expect("valid").surface);
    vec![
        solid("ball", SolidShape::Ball { radius: 0.5 }),
        solid("torus", SolidShape::Torus { major: 0.6, minor: 0.25 }),
        solid("box", SolidShape::Cuboid { size: DVec3::new(1.0, 1.0, 1.0) }),
        solid("bear", SolidShape::GummyBear { height: 1.0 }),
    ]
}

fn with_holes(mesh: &TriMesh, share: f64) -> TriMesh {
    let mut rng = SplitMix64::new(7);
    let triangles = mesh.triangles.iter().copied().filter(|_| rng.unit() >= share).collect();
    TriMesh { triangles, ..mesh.clone() }
}

/// Number of pieces the edges hold together.
fn pieces(shape: &Shape) -> usize {
    let mut piece: Vec<usize> = (0..shape.points.len()).collect();
    loop {
        let before = piece.clone();
        for &[a, b] in &shape.edges {
            let least = piece[a as usize].min(piece[b as usize]);
            (piece[a as usize], piece[b as usize]) = (least, least);
        }
        if piece == before {
            return piece.iter().enumerate().filter(|(i, p)| i == *p).count();
        }
    }
}

/// Distance of each point to its nearest neighbour.
fn gaps(points: &[DVec3]) -> Vec<f64> {
    let tree = KdTree::new(points);
    let mut near = Vec::new();
    let mut gap = |&p: &DVec3| {
        tree.nearest(p, 2, &mut near);
        near[1].0.sqrt()
    };
    points.iter().map(&mut gap).collect()
}

#[test]
fn particles_are_inside_tied_together_and_share_the_volume() {
    for (name, mesh) in bodies() {
        let winding = Winding::new(&mesh);
        for pattern in PATTERNS {
            let what = format!("{name} {pattern:?}");
            let filling = FillOptions { pattern, by: FillDensity::Spacing(0.08), seed: 3 };
            let shape = filled(mesh.clone(), &filling).unwrap_or_else(|e| panic!("{what}: {e}"));
            assert!(shape.points.iter().all(|&p| winding.inside(p)), "{what}");
            assert_eq!(pieces(&shape), 1, "{what}");
            let volume: f64 = shape.measure.iter().sum();
            assert!((volume / mesh.volume() - 1.0).abs() < 1e-9, "{what}");
            assert!((shape.points.len() as f64 * 0.08f64.powi(3) / volume - 1.0).abs() < 0.15, "{what}");
            assert_eq!(shape.skin.len(), shape.surface.positions.len(), "{what}");
            let ties = 2.0 * shape.edges.len() as f64 / shape.points.len() as f64;
            assert!((10.0..26.0).contains(&ties), "{what}: {ties} neighbours");
            assert!(
                shape.edges.iter().all(|e| e[0] < e[1] && (e[1] as usize) < shape.points.len()),
                "{what}"
            );
            assert_eq!(filled(mesh.clone(), &filling).unwrap(), shape, "{what}: the same again");
            let other = filled(mesh.clone(), &FillOptions { seed: 4, ..filling }).unwrap();
            assert_eq!(other.points == shape.points, pattern == FillPattern::Lattice, "{what}: another seed");
        }
    }
}

#[test]
fn a_number_can_be_asked_for() {
    for (name, mesh) in bodies() {
        for pattern in PATTERNS {
            for count in [100, 1500] {
                let filling = FillOptions { pattern, by: FillDensity::Count(count), seed: 1 };
                let got = filled(mesh.clone(), &filling).unwrap().points.len();
                let off = got.abs_diff(count) as f64 / count as f64;
                let bound = if pattern == FillPattern::BlueNoise {
                    0.0
                } else if count < 500 {
                    0.1
                } else {
                    0.06
                };
                assert!(off <= bound, "{name} {pattern:?}: {got}, not {count}");
            }
        }
    }
}

/// Blue noise has no two points near each other, and no large holes either; chance has both.
#[test]
fn blue_noise_is_even() {
    for (name, mesh) in bodies() {
        let shape = filled(
            mesh.clone(),
            &FillOptions { pattern: FillPattern::BlueNoise, by: FillDensity::Count(2000), seed: 5 },
        );
        let points = shape.unwrap().points;
        let spacing = (mesh.volume() / 2000.0).cbrt();
        let gaps = gaps(&points);
        let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        assert!(least > 0.6 * spacing, "{name}: {}", least / spacing);
        assert!(mean > 0.75 * spacing && mean < spacing, "{name}: {}", mean / spacing);
        // Every place inside has a particle near.
        let (tree, winding) = (KdTree::new(&points), Winding::new(&mesh));
        let mut rng = SplitMix64::new(1);
        let mut near = Vec::new();
        for _ in 0..2000 {
            let p = DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
            if winding.inside(p) {
                tree.nearest(p, 1, &mut near);
                assert!(near[0].0.sqrt() < 1.25 * spacing, "{name}: {}", near[0].0.sqrt() / spacing);
            }
        }
    }
}

/// Blue noise has next to no power at long waves, where chance has as much as everywhere (structure factor 1).
#[test]
fn the_spectrum_of_blue_noise_is_empty_at_long_waves() {
    let mesh = shapes::cuboid(DVec3::ONE, 0.25).unwrap().surface;
    let filling = FillOptions { pattern: FillPattern::BlueNoise, by: FillDensity::Count(2000), seed: 2 };
    let points = filled(mesh, &filling).unwrap().points;
    let power = |wave: DVec3| {
        let wave = wave * std::f64::consts::TAU;
        let (sin, cos) = points.iter().fold((0.0, 0.0), |(s, c), p| {
            let phase = wave.dot(*p);
            (s + phase.sin(), c + phase.cos())
        });
        (sin * sin + cos * cos) / points.len() as f64
    };
    // Whole waves in the box, so that its shape has no share in them.
    let mean = |range: std::ops::Range<i32>| {
        let (mut sum, mut count) = (0.0, 0);
        for x in -12..=12 {
            for y in -12..=12 {
                for z in 0..=12 {
                    let wave = DVec3::new(f64::from(x), f64::from(y), f64::from(z));
                    let length = wave.length().round() as i32;
                    if range.contains(&length) {
                        sum += power(wave);
                        count += 1;
                    }
                }
            }
        }
        sum / f64::from(count)
    };
    let (long, short) = (mean(1..6), mean(11..13));
    assert!(long < 0.4 && short > 0.7, "{long} {short}");
}

#[test]
fn clothes_are_cloth_and_bodies_are_bodies_with_holes_too() {
    for (name, mesh) in bodies() {
        assert!(has_inside(&mesh), "{name}");
        assert!((inside(&mesh).volume / mesh.volume() - 1.0).abs() < 0.05, "{name}: {:?}", inside(&mesh));
        let holed = with_holes(&mesh, 0.03);
        assert!(has_inside(&holed), "{name} with holes: {:?}", inside(&holed));
        let mut turned = holed.clone();
        turned.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        assert!(has_inside(&turned), "{name} inside out");
        for pattern in PATTERNS {
            let shape =
                filled(holed.clone(), &FillOptions { pattern, by: FillDensity::Spacing(0.1), seed: 0 })
                    .unwrap();
            let volume: f64 = shape.measure.iter().sum();
            assert!((volume / mesh.volume() - 1.0).abs() < 0.12, "{name} {pattern:?}: {volume}");
        }
    }
    assert!(!has_inside(&shapes::sheet(1.0, 1.0, 5, 5).unwrap().surface));
    assert!(!has_inside(&TriMesh::default()));
    // Half a ball is a bowl.
    let mut bowl = shapes::ball(0.5, 0.1).unwrap().surface;
    let positions = bowl.positions.clone();
    bowl.triangles.retain(|t| t.iter().all(|&i| positions[i as usize].y < 0.05));
    assert!(!has_inside(&bowl), "{:?}", inside(&bowl));
    assert!(!has_inside(&shirt(6)), "{:?}", inside(&shirt(6)));
}

#[test]
fn what_cannot_be_filled_is_refused() {
    let ball = shapes::ball(0.5, 0.1).unwrap().surface;
    let sheet = shapes::sheet(1.0, 1.0, 5, 5).unwrap().surface;
    for pattern in PATTERNS {
        for by in [
            FillDensity::Spacing(0.0),
            FillDensity::Spacing(f64::NAN),
            FillDensity::Spacing(1e-9),
            FillDensity::Spacing(9.0),
            FillDensity::Count(0),
        ] {
            assert!(
                filled(ball.clone(), &FillOptions { pattern, by, seed: 0 }).is_err(),
                "{pattern:?} {by:?}"
            );
        }
        assert!(
            filled(ball.clone(), &FillOptions { pattern, by: FillDensity::Count(usize::MAX), seed: 0 })
                .is_err()
        );
        for by in [FillDensity::Spacing(0.1), FillDensity::Count(100)] {
            assert!(
                filled(sheet.clone(), &FillOptions { pattern, by, seed: 0 }).is_err(),
                "{pattern:?} {by:?}"
            );
            assert!(filled(TriMesh::default(), &FillOptions { pattern, by, seed: 0 }).is_err());
        }
    }
}
