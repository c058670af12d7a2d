//! Clusters that keep the mirror planes of a body keep it from turning (strain-limiting, §2: "an axis
//! aligned scale of a cube can induce rotations").

use crate::common::*;
use pliant::{Body, ClusterMethod, Clustering, DVec3, Simulation, Stiffness, shapes};

/// The body's best-fit rotation, in radians.
fn angle(s: &Simulation) -> f64 {
    let (rest, mass) =
        (&s.model().bodies()[0].parts.rest().positions, &s.model().bodies()[0].parts.rest().mass);
    let total: f64 = mass.iter().sum();
    let (mut rest_center, mut center) = (DVec3::ZERO, DVec3::ZERO);
    for (i, m) in mass.iter().enumerate() {
        rest_center += rest.get(i) * (m / total);
        center += s.state().bodies()[0].positions().get(i) * (m / total);
    }
    let pair =
        |i: usize| ((rest.get(i) - rest_center) * mass[i], s.state().bodies()[0].positions().get(i) - center);
    let r = horn_rotation((0..mass.len()).map(pair));
    // From the antisymmetric part, which is accurate for the smallest angles.
    let axis = DVec3::new(r.y_axis.z - r.z_axis.y, r.z_axis.x - r.x_axis.z, r.x_axis.y - r.y_axis.x);
    (0.5 * axis.length()).atan2(0.5 * (r.x_axis.x + r.y_axis.y + r.z_axis.z - 1.0))
}

/// Stretched to twice its length along x and let go. The strain limit matters: without it the stretched state
/// is unstable, as a column is under a load, and rounding grows by itself.
fn stretched(shape: &shapes::Shape, count: usize, method: ClusterMethod, symmetric: bool, seed: u64) -> Body {
    let mut body = Body::new("body", shape.clone());
    body.clusters = Clustering::Count(count);
    body.cluster_style.method = method;
    body.cluster_style.symmetric = symmetric;
    body.seed = seed;
    body.stretch = DVec3::new(2.0, 1.0, 1.0);
    body.controls.stiffness = Stiffness::Alpha(0.5);
    body.controls.strain_limit = 0.3;
    body.controls.damping = 0.0;
    body
}

/// Largest angle by which the body turned in `steps` steps, and its number of clusters.
fn turned(body: Body, steps: usize) -> (f64, usize) {
    let mut s = weightless(body).build().unwrap();
    let mut largest = 0.0_f64;
    for _ in 0..steps {
        s.step().unwrap();
        largest = largest.max(angle(&s));
    }
    (largest, s.model().bodies()[0].parts.topology().clusters.len())
}

#[test]
fn a_box_of_symmetric_clusters_does_not_turn_when_stretched() {
    let cube = shapes::cuboid(DVec3::ONE, 0.1).unwrap();
    let slab = shapes::cuboid(DVec3::new(1.0, 0.7, 0.4), 0.1).unwrap();
    for (name, shape) in [("cube", &cube), ("slab", &slab)] {
        for method in [ClusterMethod::Random, ClusterMethod::Farthest, ClusterMethod::KMeans] {
            let (before, _) = turned(stretched(shape, 36, method, false, 1), 300);
            let (after, clusters) = turned(stretched(shape, 36, method, true, 1), 1000);
            println!(
                "{name}, {method:?}, {clusters} clusters: {before:.1e} rad before, {after:.1e} rad symmetric"
            );
            assert!(clusters >= 29, "{name}, {method:?}: {clusters} clusters");
            assert!(before > 1e-3, "{name}, {method:?}: nothing turns without symmetry: {before:e}");
            assert!(after < 1e-10, "{name}, {method:?}: turned by {after:e}");
        }
    }
}

#[test]
fn a_body_with_one_mirror_plane_turns_less() {
    // The bear keeps one plane: it may still turn about the axis across it.
    let bear = shapes::gummy_bear(1.0, 0.06).unwrap();
    let bunny = shapes::bunny(1.0, 0.06).unwrap();
    let mean = |shape: &shapes::Shape, method: ClusterMethod, symmetric: bool| {
        let seeds = if method == ClusterMethod::Random { 1..=4 } else { 1..=1 };
        let n = seeds.clone().count() as f64;
        seeds.map(|seed| turned(stretched(shape, 29, method, symmetric, seed), 300).0).sum::<f64>() / n
    };
    for (name, shape) in [("bear", &bear), ("bunny", &bunny)] {
        let random = mean(shape, ClusterMethod::Random, false);
        let kept = mean(shape, ClusterMethod::Random, true);
        println!(
            "{name}: random {random:.1e} rad, random symmetric {kept:.1e} rad, {:.1} times less",
            random / kept
        );
        for method in [ClusterMethod::Farthest, ClusterMethod::KMeans] {
            println!(
                "    {method:?} {:.1e}, symmetric {:.1e}",
                mean(shape, method, false),
                mean(shape, method, true)
            );
        }
        if name == "bear" {
            assert!(kept < 0.7 * random, "{name}: {random} then {kept}");
        }
    }
}

#[test]
fn every_style_of_clusters_conserves_momentum() {
    for (levels, smooth, symmetric) in [(1, true, false), (3, false, false), (4, true, true)] {
        let mut body =
            stretched(&shapes::cuboid(DVec3::ONE, 0.2).unwrap(), 29, ClusterMethod::KMeans, symmetric, 1);
        body.cluster_style.levels = levels;
        body.cluster_style.smooth = smooth;
        body.spin = DVec3::new(0.3, 1.0, -0.5);
        let mut s = weightless(body).build().unwrap();
        let (topology, rest) = (s.model().bodies()[0].parts.topology(), s.model().bodies()[0].parts.rest());
        for i in 0..rest.mass.len() {
            let sum: f64 = topology.memberships(i).iter().map(|m| rest.share[m.slot as usize]).sum();
            assert!((sum - 1.0).abs() < 1e-14);
        }
        let clusters: f64 = rest.clusters.iter().map(|c| c.mass).sum();
        assert!((clusters - 1.0).abs() < 1e-13, "{clusters}");
        let before = s.statistics();
        run(&mut s, 200);
        let after = s.statistics();
        let scale = angular_scale(&s);
        assert!((after.angular_momentum - before.angular_momentum).length() < 1e-11 * scale);
        assert!((after.momentum - before.momentum).length() < 1e-12 * momentum_scale(&s));
    }
}

#[test]
fn styles_out_of_range_are_refused_by_name() {
    let shape = shapes::cuboid(DVec3::ONE, 0.5).unwrap();
    let mut body = stretched(&shape, 4, ClusterMethod::Random, false, 1);
    body.cluster_style.levels = 0;
    body.cluster_style.overlap = f64::NAN;
    body.cluster_style.coarse_share = 1.0;
    let errors = weightless(body).build().unwrap_err().0;
    let fields: Vec<&str> = errors.iter().map(|e| e.field).collect();
    assert_eq!(fields, ["cluster_levels", "overlap", "coarse_share"]);
}
