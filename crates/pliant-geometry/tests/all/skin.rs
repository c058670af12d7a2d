//! Skins: they follow affine motions exactly and stay tame where particles are flat, in line or coincident.

use glam::{DAffine3, DMat3, DVec3};
use pliant_geometry::{Skin, SplitMix64};

fn lattice(n: i32) -> Vec<DVec3> {
    let mut points = Vec::new();
    for x in 0..n {
        for y in 0..n {
            for z in 0..n {
                points.push(DVec3::new(x.into(), y.into(), z.into()) * 0.1);
            }
        }
    }
    points
}

fn random(n: usize, size: f64) -> Vec<DVec3> {
    let mut rng = SplitMix64::new(21);
    (0..n).map(|_| size * DVec3::new(rng.unit(), rng.unit(), rng.unit())).collect()
}

fn apply(skin: &Skin, points: &[DVec3]) -> Vec<DVec3> {
    let [x, y, z]: [Vec<f64>; 3] = [0, 1, 2].map(|k| points.iter().map(|p| p[k]).collect());
    let mut vertices = Vec::new();
    skin.apply([&x, &y, &z], &mut vertices);
    vertices
}

fn check_tame(skin: &Skin, vertices: usize) {
    assert_eq!(skin.len(), vertices);
    for range in skin.offsets.windows(2) {
        let weights = &skin.weights[range[0] as usize..range[1] as usize];
        assert!((1..=32).contains(&weights.len()));
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(weights.iter().map(|w| w.abs()).sum::<f64>() <= 4.0 + 1e-12);
    }
}

fn animation() -> DAffine3 {
    DAffine3::from_mat3_translation(
        DMat3::from_cols(DVec3::new(1.1, 0.3, -0.2), DVec3::new(-0.5, 0.7, 0.1), DVec3::new(0.2, 0.4, 1.6)),
        DVec3::new(3.0, -2.0, 5.0),
    )
}

#[test]
fn affine_motions_are_followed_exactly() {
    let rest = lattice(8);
    // Inside, and up to most of a spacing outside as surfaces around lattices are.
    let vertices: Vec<DVec3> = random(500, 0.84).iter().map(|p| *p - DVec3::splat(0.07)).collect();
    let skin = Skin::bind(&rest, &vertices);
    check_tame(&skin, vertices.len());
    let moved: Vec<DVec3> = rest.iter().map(|&p| animation().transform_point3(p)).collect();
    for (got, rest) in apply(&skin, &moved).iter().zip(&vertices) {
        let want = animation().transform_point3(*rest);
        assert!(got.distance(want) < 1e-10, "{got} {want} at {rest}");
    }
}

#[test]
fn weights_vary_continuously() {
    let rest = random(400, 1.0);
    let bent: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::Y * 0.3 * p.x * p.x).collect();
    let path: Vec<DVec3> = (0..=4000).map(|i| DVec3::new(f64::from(i) / 4000.0, 0.52, 0.47)).collect();
    let moved = apply(&Skin::bind(&rest, &path), &bent);
    let longest = moved.windows(2).map(|p| p[0].distance(p[1])).fold(0.0, f64::max);
    assert!(longest < 5.0 / 4000.0, "a step of {longest} along a path of steps of 0.00025");
}

#[test]
fn sheets_lines_and_points_stay_tame() {
    let sheet: Vec<DVec3> = (0..100).map(|i| DVec3::new(f64::from(i % 10), 0.0, f64::from(i / 10))).collect();
    let line: Vec<DVec3> = (0..30).map(|i| DVec3::new(f64::from(i), 2.0 * f64::from(i), 0.0)).collect();
    let thin: Vec<DVec3> =
        sheet.iter().map(|p| *p + DVec3::Y * 1e-5 * (p.x * 7.0 + p.z * 3.0).sin()).collect();
    let vertices = random(60, 9.0);
    for cloud in [&sheet, &line, &thin, &vec![DVec3::ONE; 50], &vec![DVec3::ONE; 1], &sheet[..3].to_vec()] {
        let skin = Skin::bind(cloud, &vertices);
        check_tame(&skin, vertices.len());
        assert!(apply(&skin, cloud).iter().all(|p| p.is_finite()));
    }
    // Seen along the sheet a vertex is followed exactly; its height above is not known to the particles.
    for (got, rest) in apply(&Skin::bind(&sheet, &vertices), &sheet).iter().zip(&vertices) {
        assert!(got.distance(DVec3::new(rest.x, 0.0, rest.z)) < 1e-10, "{got} {rest}");
    }
}

#[test]
fn without_particles_there_are_no_weights() {
    let skin = Skin::bind(&[], &[DVec3::ONE]);
    assert_eq!((skin.len(), skin.weights.len()), (1, 0));
}

#[test]
fn a_limb_does_not_follow_its_neighbour() {
    // Two bars side by side, nearer than their skins reach, each tied to itself only.
    let bar = |x: f64| {
        (0..60).map(move |i| DVec3::new(x + f64::from(i % 2), f64::from(i / 4), f64::from(i / 2 % 2)))
    };
    let particles: Vec<DVec3> = bar(0.0).chain(bar(2.2)).collect();
    let mut edges = Vec::new();
    for a in 0..120u32 {
        for b in a + 1..120 {
            if a / 60 == b / 60 && particles[a as usize].distance(particles[b as usize]) < 1.8 {
                edges.push([a, b]);
            }
        }
    }
    let vertices: Vec<DVec3> = (0..20).map(|i| DVec3::new(1.3, 0.7 * f64::from(i), 0.4)).collect();
    let follows_other = |skin: &Skin| skin.particles.iter().any(|&i| i >= 60);
    let skin = Skin::bind_connected(&particles, &edges, &vertices);
    check_tame(&skin, vertices.len());
    assert!(!follows_other(&skin));
    assert!(follows_other(&Skin::bind(&particles, &vertices)));
    for (got, rest) in apply(&skin, &particles).iter().zip(&vertices) {
        assert!(got.distance(*rest) < 1e-10);
    }
}
