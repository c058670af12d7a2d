use super::*;
use crate::shapes;
use pliant_math::SplitMix64;
use proptest::prelude::*;
use std::f64::consts::PI;

/// Solid angle of a triangle seen from `p`, one arctangent each (van Oosterom and Strackee 1983).
fn solid_angle(t: &[DVec3; 3], p: DVec3) -> f64 {
    let [a, b, c] = t.map(|q| q - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let above = a.dot(b.cross(c));
    let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if above == 0.0 { 0.0 } else { 2.0 * above.atan2(below) }
}

fn brute(mesh: &TriMesh, p: DVec3) -> f64 {
    let angle = |t: &[u32; 3]| solid_angle(&t.map(|i| mesh.positions[i as usize]), p);
    mesh.triangles.iter().map(angle).sum::<f64>() / (4.0 * PI)
}

fn soup(corners: &[DVec3]) -> TriMesh {
    let triangles = (0..corners.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    TriMesh { positions: corners.to_vec(), triangles }
}

/// A sphere of radius 1 whose triangles are kept where `keep` says so of their middle.
fn sphere(keep: impl Fn(DVec3) -> bool) -> TriMesh {
    let mut mesh = shapes::ball(1.0, 0.05).expect("valid").surface;
    let positions = &mesh.positions;
    let middle = |t: &[u32; 3]| t.iter().map(|&i| positions[i as usize]).sum::<DVec3>() / 3.0;
    mesh.triangles.retain(|t| keep(middle(t)));
    mesh
}

fn cube() -> TriMesh {
    shapes::cuboid(DVec3::ONE, 0.25).expect("valid").surface
}

/// The corner of a box seen from its far end: an eighth of all directions for a triangle of unit vectors.
#[test]
fn a_triangle_fills_its_part_of_the_sky() {
    let octant = Winding::new(&soup(&[DVec3::X, DVec3::Y, DVec3::Z]));
    assert!((octant.number(DVec3::ZERO) - 0.125).abs() < 1e-15);
    // From above a corner of a right angle: the rectangle a × b at height h, halved for a = b.
    let (a, h) = (3.0, 2.0);
    let flat = Winding::new(&soup(&[DVec3::ZERO, DVec3::X * a, DVec3::Y * a]));
    let twin = Winding::new(&soup(&[DVec3::new(a, a, 0.0), DVec3::Y * a, DVec3::X * a]));
    let eye = DVec3::Z * h;
    let rectangle = (a * a / (h * (2.0 * a * a + h * h).sqrt())).atan() / (4.0 * PI);
    let seen = flat.number(eye) + twin.number(eye);
    assert!((seen + rectangle).abs() < 1e-15, "{seen} {rectangle}");
}

#[test]
fn a_cube_winds_once_inside_and_in_parts_on_its_surface() {
    let cube = Winding::new(&cube());
    let half = 0.5;
    let places = [
        (DVec3::ZERO, 1.0),
        (DVec3::new(0.3, -0.2, 0.41), 1.0),
        (DVec3::new(0.499, 0.1, 0.1), 1.0),
        (DVec3::new(0.501, 0.1, 0.1), 0.0),
        (DVec3::new(3.0, 0.1, 0.1), 0.0),
        (DVec3::new(half, 0.1, 0.05), 0.5),
        (DVec3::new(half, half, 0.05), 0.25),
        (DVec3::splat(-half), 0.125),
        (DVec3::new(half, half, -half), 0.125),
    ];
    for (p, want) in places {
        let got = cube.number(p);
        assert!((got - want).abs() < 1e-4, "{p}: {got}, not {want}");
    }
}

/// A cap of a sphere seen from the middle fills (1 − cos θ)/2 of the sky; from outside its edge closes the sphere.
#[test]
fn caps_of_a_sphere_are_their_part_of_it() {
    for height in [0.9, 0.5, 0.0, -0.6] {
        // The true edge is jagged: what matters is the sum over the triangles that are there.
        let cap = sphere(|m| m.y > height);
        let got = Winding::new(&cap).number(DVec3::ZERO);
        assert!((got - brute(&cap, DVec3::ZERO)).abs() < 1e-3, "{height}: {got}");
        assert!((got - 0.5 * (1.0 - height)).abs() < 0.02, "{height}: {got}");
    }
    // An open hemisphere with a flat edge: a half from the middle of its edge, and almost 1 under its roof.
    let open = Winding::new(&sphere(|m| m.y > 0.0));
    assert!((open.number(DVec3::ZERO) - 0.5).abs() < 0.01);
    assert!(open.number(DVec3::Y * 0.95) > 0.8 && open.number(DVec3::Y * 1.05) < 0.0);
}

#[test]
fn far_groups_are_within_a_thousandth_and_threads_do_not_matter() {
    let meshes = [
        shapes::gummy_bear(1.0, 0.05).expect("valid").surface,
        shapes::torus(0.6, 0.25, 0.04).expect("valid").surface,
        cube(),
        sphere(|m| m.x + m.y * m.z > -0.4),
    ];
    let mut rng = SplitMix64::new(11);
    let points: Vec<DVec3> =
        (0..1500).map(|_| (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5) * 2.6).collect();
    for mesh in meshes {
        let winding = Winding::new(&mesh);
        let numbers = winding.numbers(&points, 1);
        for (&p, &got) in points.iter().zip(&numbers) {
            let want = brute(&mesh, p);
            assert!((got - want).abs() < 1e-3, "{p}: {got}, not {want}");
        }
        for threads in [2, 3, 7] {
            assert_eq!(winding.numbers(&points, threads), numbers);
        }
    }
}

#[test]
fn points_on_corners_edges_and_flat_triangles_have_a_number() {
    let mut rng = SplitMix64::new(5);
    let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
    for size in [1e-150, 1e-60, 1.0, 1e60, 9e99] {
        let mut corners: Vec<DVec3> = (0..60).map(|_| random() * size).collect();
        corners.extend([corners[0]; 3]);
        corners.extend([corners[1], corners[2], corners[1].midpoint(corners[2])]);
        let winding = Winding::new(&soup(&corners));
        for t in corners.chunks(3) {
            let middle = (t[0] + t[1] + t[2]) / 3.0;
            for p in [t[0], t[0].midpoint(t[1]), middle, middle * 1e3, DVec3::ZERO, -middle * 1e50] {
                let number = winding.number(p);
                assert!(number.abs() <= 12.0, "{size:e} {p}: {number}");
            }
        }
    }
    assert_eq!(Winding::new(&TriMesh::default()).number(DVec3::ZERO), 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// A soup winds about a point as its triangles do one by one, from whole turns to small parts.
    #[test]
    fn soups_are_the_sum_of_their_triangles(seed in any::<u64>(), count in 1usize..200, reach in 0.02f64..3.0) {
        let mut rng = SplitMix64::new(seed);
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
        let mut corners = Vec::new();
        for _ in 0..count {
            let at = random();
            corners.extend([at, at + random() * reach, at + random() * reach]);
        }
        let mesh = soup(&corners);
        let winding = Winding::new(&mesh);
        let scale: f64 = mesh.triangles.iter().map(|t| {
            let [a, b, c] = t.map(|i| corners[i as usize]);
            (b - a).cross(c - a).length()
        }).sum::<f64>().max(1.0);
        for _ in 0..40 {
            let p = random() * 2.0;
            let (got, want) = (winding.number(p), brute(&mesh, p));
            prop_assert!((got - want).abs() < 1e-3 * scale, "{got}, not {want}");
        }
    }
}

fn nearest(t: &[DVec3], p: DVec3) -> DVec3 {
    let [u, v, w] = crate::nearest_on_triangle([t[0], t[1], t[2]], p);
    u * t[0] + v * t[1] + w * t[2]
}

/// Against a search through weights of the corners, for points all around triangles, flat ones too.
#[test]
fn the_nearest_point_of_a_triangle_is_nearest() {
    let mut rng = SplitMix64::new(4);
    for round in 0..300 {
        let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - DVec3::ONE;
        let (a, b, p) = (random(), random(), random() * 2.0);
        let c = if round % 10 == 0 { a.lerp(b, 0.3) } else { random() };
        let got = nearest(&[a, b, c], p).distance(p);
        let steps = 60;
        let grid = (0..=steps).flat_map(|i| (0..=steps - i).map(move |j| (i, j)));
        let at =
            |(i, j): (i32, i32)| a + ((b - a) * f64::from(i) + (c - a) * f64::from(j)) / f64::from(steps);
        let least = grid.map(|ij| at(ij).distance(p)).fold(f64::INFINITY, f64::min);
        assert!(got <= least + 1e-12 && got > least - 0.06, "{round}: {got} {least}");
    }
}

#[test]
fn the_nearest_point_of_a_mesh_is_that_of_its_nearest_triangle() {
    let mut rng = SplitMix64::new(9);
    let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit());
    let corners: Vec<DVec3> = (0..300).map(|i| random() * 0.3 + f64::from(i / 30) * 0.2).collect();
    let winding = Winding::new(&soup(&corners));
    for _ in 0..200 {
        let p = random() * 3.0 - 0.5;
        let each = corners.chunks(3).map(|t| nearest(t, p).distance(p));
        let least = each.fold(f64::INFINITY, f64::min);
        assert_eq!(winding.nearest(p).map(|q| q.distance(p)), Some(least));
    }
    assert_eq!(Winding::new(&TriMesh::default()).nearest(DVec3::ZERO), None);
}

/// A line through a closed mesh passes as often in as out, where the numbers on both sides say so.
#[test]
fn crossings_of_a_line_are_where_the_number_changes() {
    let winding = Winding::new(&shapes::torus(0.6, 0.25, 0.05).expect("valid").surface);
    let mut rng = SplitMix64::new(2);
    let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
    let mut found = Vec::new();
    let mut total = 0;
    for _ in 0..300 {
        let (from, to) = (random(), random());
        winding.crossings(from, to, &mut found);
        total += found.len();
        let ends = [0.0, 1.0];
        let marks: Vec<f64> = ends[..1].iter().chain(&found).chain(&ends[1..]).copied().collect();
        let sides: Vec<bool> = marks
            .windows(2)
            .filter(|w| w[1] - w[0] > 1e-9)
            .map(|w| winding.inside(from.lerp(to, 0.5 * (w[0] + w[1]))))
            .collect();
        assert!(sides.windows(2).all(|w| w[0] != w[1]), "{from} {to}: {marks:?} {sides:?}");
    }
    assert!(total > 200);
}

/// What the expansion leaves out falls with the fifth power of the distance: no term of it is wrong.
#[test]
fn the_expansion_is_of_third_order() {
    let mut rng = SplitMix64::new(8);
    let mut random = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - 1.0;
    let corners: Vec<DVec3> = (0..24).map(|_| random()).collect();
    let mesh = soup(&corners);
    let winding = Winding::new(&mesh);
    let miss = |distance: f64| {
        let mut rng = SplitMix64::new(3);
        let mut sum = 0.0;
        for _ in 0..50 {
            let direction = (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5).normalize();
            let p = direction * distance;
            sum += (winding.number(p) - brute(&mesh, p)).abs();
        }
        sum
    };
    let ratio = miss(10.0) / miss(20.0);
    assert!((24.0..40.0).contains(&ratio), "{ratio}");
}
