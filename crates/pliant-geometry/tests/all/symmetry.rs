//! Mirror planes are found, and symmetric coverings keep them.

use glam::{DQuat, DVec3};
use pliant_geometry::{
    ClusterMethod, ClusterSize, Clusters, Covering, MirrorPlane, SplitMix64, Symmetry, shapes,
};
use std::collections::BTreeMap;

fn normals(planes: &[MirrorPlane]) -> Vec<DVec3> {
    planes.iter().map(|p| p.normal).collect()
}

fn turned(points: &[DVec3]) -> Vec<DVec3> {
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7);
    points.iter().map(|p| turn * *p + DVec3::new(3.0, -2.0, 1.0)).collect()
}

#[test]
fn planes_of_known_shapes_are_found_in_any_position() {
    let slab = shapes::cuboid(DVec3::new(1.0, 0.8, 0.6), 0.1).unwrap().points;
    let cube = shapes::cuboid(DVec3::ONE, 0.2).unwrap().points;
    let bear = shapes::gummy_bear(1.0, 0.05).unwrap().points;
    for (points, planes) in [(&slab, 3), (&cube, 9), (&bear, 1)] {
        for points in [points.clone(), turned(points)] {
            let found = Symmetry::detect(&points);
            assert_eq!(found.planes.len(), planes, "{:?}", normals(&found.planes));
            assert!(found.planes.iter().all(|p| p.error < 1e-13 && p.matched == 1.0));
        }
    }
    assert_eq!(normals(&Symmetry::detect(&bear).planes), [DVec3::X]);
    assert_eq!(normals(&Symmetry::detect(&slab).planes), [DVec3::X, DVec3::Y, DVec3::Z]);
}

#[test]
fn clouds_without_symmetry_have_none_and_near_ones_are_said() {
    let mut rng = SplitMix64::new(2);
    let mut noise = |size: f64| DVec3::new(rng.unit(), rng.unit(), rng.unit()) * size;
    let random: Vec<DVec3> = (0..500).map(|_| noise(1.0) * DVec3::new(1.0, 0.5, 0.2)).collect();
    assert!(Symmetry::detect(&random).planes.is_empty());
    let cube = shapes::cuboid(DVec3::ONE, 0.1).unwrap().points;
    let shaken: Vec<DVec3> = cube.iter().map(|p| *p + noise(0.02)).collect();
    let found = Symmetry::detect(&shaken);
    assert!(found.planes.is_empty());
    assert!(found.near.len() >= 3 && found.near[0].normal == DVec3::X, "{:?}", found.near);
    assert!(found.near.iter().all(|p| p.error > 1e-4 && p.matched > 0.97));
    // One particle missing is no symmetry; one of two at a place missing is none either.
    assert!(Symmetry::detect(&cube[1..]).planes.len() < 9);
    let double: Vec<DVec3> = cube.iter().chain([&cube[0]]).copied().collect();
    let found = normals(&Symmetry::detect(&double).planes);
    assert!(!found.contains(&DVec3::X), "{found:?}");
}

#[test]
fn degenerate_clouds_have_planes_without_trouble() {
    assert_eq!(Symmetry::detect(&[]), Symmetry::default());
    for points in [vec![DVec3::ONE], vec![DVec3::ONE; 5], vec![DVec3::ZERO, DVec3::X]] {
        assert!(Symmetry::detect(&points).planes.len() >= 3);
    }
}

/// The particle each is mapped to.
fn permutation(points: &[DVec3], plane: &MirrorPlane) -> Vec<u32> {
    let key = |p: DVec3| (p * 1e7).to_array().map(|v| v.round() as i64);
    let index: BTreeMap<_, u32> = points.iter().enumerate().map(|(i, p)| (key(*p), i as u32)).collect();
    let image = |p: &DVec3| index[&key(plane.reflection().transform_point3(*p))];
    points.iter().map(image).collect()
}

/// Member lists with their shares, sorted.
fn content(clusters: &Clusters, rename: impl Fn(u32) -> u32) -> Vec<Vec<(u32, f64)>> {
    let mut all: Vec<Vec<(u32, f64)>> = (0..clusters.len())
        .map(|c| {
            let share = |s: usize| clusters.shares.as_ref().map_or(0.0, |all| all[s]);
            let mut list: Vec<_> =
                clusters.slots(c).map(|s| (rename(clusters.members[s]), share(s))).collect();
            list.sort_by_key(|m| m.0);
            list
        })
        .collect();
    // Clusters of the same particles can differ in their shares.
    let key = |m: &(u32, f64)| (m.0, (m.1 * 1e6).round() as i64);
    all.sort_by_key(|list| {
        (list.iter().map(|m| m.0).collect::<Vec<_>>(), list.iter().map(key).collect::<Vec<_>>())
    });
    all
}

#[test]
fn symmetric_coverings_map_onto_themselves() {
    let odd = shapes::cuboid(DVec3::ONE, 0.1).unwrap().points;
    let even = shapes::cuboid(DVec3::new(1.0, 0.6, 0.6), 0.2).unwrap().points;
    let ball = shapes::ball(1.0, 0.2).unwrap().points;
    let bear = shapes::gummy_bear(1.0, 0.08).unwrap().points;
    let askew = turned(&even);
    for (name, points) in [("odd", odd), ("even", even), ("ball", ball), ("bear", bear), ("askew", askew)] {
        let planes = Symmetry::detect(&points).planes;
        let mut kept: Vec<MirrorPlane> = Vec::new();
        for plane in planes {
            if kept.iter().all(|k| k.normal.dot(plane.normal).abs() < 1e-9) {
                kept.push(plane);
            }
        }
        assert!(!kept.is_empty());
        let mirrors: Vec<Vec<u32>> = kept.iter().map(|p| permutation(&points, p)).collect();
        for method in
            [ClusterMethod::Random, ClusterMethod::FileOrder, ClusterMethod::Farthest, ClusterMethod::KMeans]
        {
            // Radii at which many particles of the lattices lie exactly on a rim.
            let sizes = [0.2, 0.4, 0.2 * 2f64.sqrt(), 0.33, 0.6, 5.0].map(ClusterSize::Radius);
            for size in sizes.into_iter().chain([8, 29, 60].map(ClusterSize::Count)) {
                for (levels, smooth) in [(1, false), (3, true)] {
                    let plain = Covering::new(method, size);
                    let what = Covering { symmetric: true, levels, smooth, ..plain };
                    let clusters = what.build(&points).unwrap();
                    let own = content(&clusters, |i| i);
                    for (k, mirror) in mirrors.iter().enumerate() {
                        let mirrored = content(&clusters, |i| mirror[i as usize]);
                        let normal = kept[k].normal;
                        for (a, b) in own.iter().zip(&mirrored) {
                            let members = a.iter().map(|m| m.0).eq(b.iter().map(|m| m.0));
                            assert!(members, "{name}: {what:?} is not symmetric across {normal}");
                            let near = a.iter().zip(b).all(|(a, b)| (a.1 - b.1).abs() < 1e-7);
                            assert!(near, "{name}: shares of {what:?} are not symmetric across {normal}");
                        }
                    }
                }
            }
        }
    }
}
