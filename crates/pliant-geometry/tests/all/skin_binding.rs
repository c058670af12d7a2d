//! A fine mesh bound to a body: motions followed exactly, no seams, no collapse, no cracks, whatever it is bound to.

use glam::{DAffine3, DMat3, DQuat, DVec3};
use pliant_geometry::shapes::{self, SolidShape};
use pliant_geometry::{
    ClusterMethod, ClusterSize, Clusters, Covering, Shape, Skin, SkinBinding, SplitMix64, TriMesh,
};
use std::f64::consts::TAU;

const KINDS: [SkinBinding; 3] = [SkinBinding::Particles, SkinBinding::Tetrahedra, SkinBinding::Clusters];

fn apply(skin: &Skin, points: &[DVec3]) -> Vec<DVec3> {
    let [x, y, z]: [Vec<f64>; 3] = [0, 1, 2].map(|k| points.iter().map(|p| p[k]).collect());
    let mut vertices = Vec::new();
    skin.apply([&x, &y, &z], &mut vertices);
    vertices
}

fn random(n: usize, lo: DVec3, hi: DVec3) -> Vec<DVec3> {
    let mut rng = SplitMix64::new(21);
    (0..n).map(|_| lo + (hi - lo) * DVec3::new(rng.unit(), rng.unit(), rng.unit())).collect()
}

fn clusters(points: &[DVec3]) -> Clusters {
    Covering::new(ClusterMethod::KMeans, ClusterSize::Count(points.len() / 25 + 1)).build(points).unwrap()
}

fn bind_to(binding: SkinBinding, shape: &Shape, vertices: &[DVec3]) -> Skin {
    let clusters = clusters(&shape.points);
    let skin = Skin::bind_to(binding, shape, Some(&clusters), vertices).unwrap();
    skin.check(vertices.len(), shape.points.len()).unwrap();
    skin
}

/// A bar along x from −0.5 to 0.5, 0.2 thick, in tetrahedra.
fn bar() -> Shape {
    SolidShape::Cuboid { size: DVec3::new(1.0, 0.2, 0.2) }.build_tets(0.05).unwrap().0
}

/// The surface of a round bar about x, `along` × `around` vertices, with one seam of doubled vertices.
fn tube(length: f64, radius: f64, along: usize, around: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..=along {
        let x = length * (i as f64 / along as f64 - 0.5);
        for j in 0..=around {
            let (s, c) = (TAU * (j % around) as f64 / around as f64).sin_cos();
            mesh.positions.push(DVec3::new(x, radius * c, radius * s));
        }
    }
    grid(&mut mesh.triangles, along, around);
    mesh
}

fn grid(triangles: &mut Vec<[u32; 3]>, rows: usize, columns: usize) {
    for i in 0..rows {
        for j in 0..columns {
            let a = (i * (columns + 1) + j) as u32;
            let b = a + columns as u32 + 1;
            triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
        }
    }
}

/// A torus of `around` × `tube` vertices with both seams doubled, as uv-mapped meshes have them.
fn torus(major: f64, minor: f64, around: usize, tube: usize) -> TriMesh {
    let mut mesh = TriMesh::default();
    for i in 0..=around {
        let (si, ci) = (TAU * (i % around) as f64 / around as f64).sin_cos();
        for j in 0..=tube {
            let (sj, cj) = (TAU * (j % tube) as f64 / tube as f64).sin_cos();
            let r = major + minor * cj;
            mesh.positions.push(DVec3::new(r * ci, minor * sj, r * si));
        }
    }
    grid(&mut mesh.triangles, around, tube);
    mesh
}

fn animation() -> DAffine3 {
    DAffine3::from_mat3_translation(
        DMat3::from_cols(DVec3::new(1.1, 0.3, -0.2), DVec3::new(-0.5, 0.7, 0.1), DVec3::new(0.2, 0.4, 1.6)),
        DVec3::new(3.0, -2.0, 5.0),
    )
}

fn twist(p: DVec3, turns: f64) -> DVec3 {
    DQuat::from_rotation_x(turns * TAU * p.x) * p
}

#[test]
fn affine_motions_are_followed_exactly() {
    let shape = bar();
    for binding in KINDS {
        // Inside, and up to most of a cell outside; of tetrahedra to a third of one, as what is farther outside only turns.
        let out = if binding == SkinBinding::Tetrahedra { 0.01 } else { 0.03 };
        let half = DVec3::new(0.5, 0.1, 0.1) + out;
        let vertices = random(2000, -half, half);
        let skin = bind_to(binding, &shape, &vertices);
        let moved: Vec<DVec3> = shape.points.iter().map(|&p| animation().transform_point3(p)).collect();
        for (got, rest) in apply(&skin, &moved).iter().zip(&vertices) {
            let want = animation().transform_point3(*rest);
            assert!(got.distance(want) < 1e-10, "{binding:?}: {got} {want} at {rest}");
        }
        for (v, vertex) in vertices.iter().enumerate() {
            let weights = skin.weights_of(v);
            assert!((weights.iter().map(|w| w.1).sum::<f64>() - 1.0).abs() < 1e-11, "{binding:?}");
            // No vertex moves more than five times as far as particles do: they may tremble, it does not jump.
            assert!(weights.iter().map(|w| w.1.abs()).sum::<f64>() < 5.0, "{binding:?} {vertex}");
        }
    }
}

#[test]
fn rigid_motions_of_cloth_are_followed_exactly_on_both_sides() {
    let cloth = shapes::sheet(1.0, 1.0, 9, 9).unwrap();
    // Curved at rest, so that normals differ; vertices off it and beyond its borders.
    let curve = |p: DVec3| p + DVec3::Y * 0.2 * (3.0 * p.x).sin() * (2.0 * p.z).cos();
    let points: Vec<DVec3> = cloth.points.iter().map(|&p| curve(p)).collect();
    let vertices: Vec<DVec3> = random(1500, DVec3::new(-0.56, -0.05, -0.56), DVec3::new(0.56, 0.05, 0.56))
        .iter()
        .map(|&p| curve(p))
        .collect();
    let skin = Skin::bind_cloth(&points, &cloth.triangles, &vertices);
    skin.check(vertices.len(), points.len()).unwrap();
    let turn = DAffine3::from_rotation_translation(DQuat::from_rotation_z(2.0), DVec3::new(1.0, 2.0, -3.0));
    for animation in [DAffine3::IDENTITY, turn] {
        let moved: Vec<DVec3> = points.iter().map(|&p| animation.transform_point3(p)).collect();
        for (got, rest) in apply(&skin, &moved).iter().zip(&vertices) {
            assert!(got.distance(animation.transform_point3(*rest)) < 1e-12, "{got} at {rest}");
        }
    }
    // On the cloth, stretching and shearing as well.
    let flat: Vec<DVec3> = random(300, DVec3::new(-0.55, 0.0, -0.55), DVec3::new(0.55, 0.0, 0.55));
    let moved: Vec<DVec3> = cloth.points.iter().map(|&p| animation().transform_point3(p)).collect();
    let skin = Skin::bind_cloth(&cloth.points, &cloth.triangles, &flat);
    for (got, rest) in apply(&skin, &moved).iter().zip(&flat) {
        assert!(got.distance(animation().transform_point3(*rest)) < 1e-12);
    }
}

/// The sum of the changes of all weights, directly or through handles, from one vertex to the next.
fn largest_change(skin: &Skin) -> f64 {
    let change = |v: usize| {
        let mut all = skin.weights_of(v);
        all.extend(skin.weights_of(v + 1).into_iter().map(|(i, w)| (i, -w)));
        all.sort_by_key(|e| e.0);
        all.chunk_by(|a, b| a.0 == b.0).map(|same| same.iter().map(|e| e.1).sum::<f64>().abs()).sum::<f64>()
    };
    (0..skin.len() - 1).map(change).fold(0.0, f64::max)
}

#[test]
fn weights_vary_continuously() {
    let shape = bar();
    let steps = 20_000;
    // From outside through the body and out again, and along an edge of it, half a cell off.
    let paths = [
        (DVec3::new(-0.56, -0.13, -0.11), DVec3::new(0.55, 0.125, 0.12)),
        (DVec3::new(-0.55, 0.12, 0.121), DVec3::new(0.55, 0.119, 0.12)),
    ];
    for (from, to) in paths {
        let path: Vec<DVec3> = (0..=steps).map(|i| from.lerp(to, f64::from(i) / f64::from(steps))).collect();
        let step = from.distance(to) / f64::from(steps) / 0.05;
        for binding in KINDS {
            let most = largest_change(&bind_to(binding, &shape, &path));
            assert!(most < 25.0 * step, "{binding:?}: a change of {most} in a step of {step} cells");
        }
    }
    // Over a cloth with ridges and valleys, as high as a quarter of its cells.
    let cloth = shapes::sheet(1.0, 1.0, 9, 9).unwrap();
    let zigzag = |p: DVec3| p + DVec3::Y * 0.08 * f64::from(((p.x + 0.5) * 8.0).round() as i32 % 2);
    let points: Vec<DVec3> = cloth.points.iter().map(|&p| zigzag(p)).collect();
    let (from, to) = (DVec3::new(-0.55, 0.11, -0.31), DVec3::new(0.55, 0.11, 0.27));
    let path: Vec<DVec3> = (0..=steps).map(|i| from.lerp(to, f64::from(i) / f64::from(steps))).collect();
    let most = largest_change(&Skin::bind_cloth(&points, &cloth.triangles, &path));
    assert!(most < 25.0 * from.distance(to) / f64::from(steps) * 8.0, "cloth: a change of {most}");
}

#[test]
fn a_twisted_bar_keeps_its_volume() {
    let shape = bar();
    let mesh = tube(0.96, 0.08, 120, 40);
    let twisted: Vec<DVec3> = shape.points.iter().map(|&p| twist(p, 0.5)).collect();
    for binding in KINDS {
        let skin = bind_to(binding, &shape, &mesh.positions);
        let got = apply(&skin, &twisted);
        for (x, rest) in got.iter().zip(&mesh.positions) {
            let radius = DVec3::new(0.0, x.y, x.z).length();
            // Clusters are several particles across, and blind to what happens within.
            let (thin, most) = if binding == SkinBinding::Clusters { (0.12, 0.012) } else { (0.02, 0.003) };
            assert!((radius / 0.08 - 1.0).abs() < thin, "{binding:?}: radius {radius} at {rest}");
            assert!(x.distance(twist(*rest, 0.5)) < most, "{binding:?}: {x} at {rest}");
        }
    }
}

#[test]
fn cloth_bent_onto_a_cylinder_keeps_its_thickness() {
    // Coarse: 30° from one row of particles to the next.
    let cloth = shapes::sheet(1.0, 0.5, 13, 7).unwrap();
    let radius = 1.0 / TAU;
    let bend = |p: DVec3, height: f64| {
        let (s, c) = (p.x * TAU).sin_cos();
        DVec3::new((radius + height) * s, (radius + height) * c, p.z)
    };
    let height = 0.02;
    let mut vertices = Vec::new();
    for i in 0..=200 {
        for side in [-1.0, 1.0] {
            vertices.push(DVec3::new(0.0045 * f64::from(i) - 0.45, side * height, 0.1));
        }
    }
    let skin = Skin::bind_cloth(&cloth.points, &cloth.triangles, &vertices);
    let bent: Vec<DVec3> = cloth.points.iter().map(|&p| bend(p, 0.0)).collect();
    for (pair, rest) in apply(&skin, &bent).chunks(2).zip(vertices.chunks(2)) {
        let [inner, outer] = [pair[0], pair[1]].map(|p| DVec3::new(p.x, p.y, 0.0).length());
        assert!((outer - inner) / (2.0 * height) > 0.93 && (outer - inner) / (2.0 * height) < 1.05);
        assert!(inner < radius && outer > radius, "{inner} {radius} {outer}");
        for k in 0..2 {
            // A facet of the coarse cloth would be off by up to (1 − cos 15°) of the radius, 0.0054. At its border
            // the cloth's normals know one side only.
            let most = if rest[k].x.abs() < 0.38 { 0.0025 } else { 0.005 };
            assert!(pair[k].distance(bend(rest[k], rest[k].y)) < most, "{} {}", pair[k], rest[k]);
        }
    }
    assert!(vertices.iter().zip(apply(&skin, &cloth.points)).all(|(a, b)| a.distance(b) < 1e-13));
}

/// A smooth random field of displacements, strong but for most of the body without turning it inside out.
fn crumple(seed: u64) -> impl Fn(DVec3) -> DVec3 {
    let mut rng = SplitMix64::new(seed);
    let mut unit = || DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - DVec3::ONE;
    let waves: Vec<(DVec3, DVec3, f64)> =
        (0..6).map(|k| (unit() * 9.0, unit() * 0.03, f64::from(k))).collect();
    move |p| p + waves.iter().map(|(k, a, phase)| *a * (k.dot(p) + phase).sin()).sum::<DVec3>()
}

#[test]
fn thirty_five_thousand_vertices_ride_on_two_thousand_particles() {
    let solid = SolidShape::Torus { major: 0.35, minor: 0.15 };
    let mesh = torus(0.35, 0.15, 260, 135);
    assert!(mesh.positions.len() > 35_000);
    let spacing = solid.spacing_for_tet_particles(2000).unwrap();
    let (shape, _) = solid.build_tets(spacing).unwrap();
    assert!((1500..2500).contains(&shape.points.len()), "{}", shape.points.len());
    let at = |i: usize, j: usize| i * 136 + j;
    for binding in KINDS {
        let skin = bind_to(binding, &shape, &mesh.positions);
        for seed in 1..4 {
            let field = crumple(seed);
            let moved: Vec<DVec3> = shape.points.iter().map(|&p| field(twist(p, 0.3))).collect();
            let got = apply(&skin, &moved);
            // No cracks: what was in one place stays in one place, to the last bit.
            for i in 0..=260 {
                assert_eq!(got[at(i, 0)], got[at(i, 135)], "{binding:?}");
            }
            for j in 0..=135 {
                assert_eq!(got[at(0, j)], got[at(260, j)], "{binding:?}");
            }
            // Near what the motion itself does, and turned over nowhere that it does not.
            let want: Vec<DVec3> = mesh.positions.iter().map(|&p| field(twist(p, 0.3))).collect();
            let worst = got.iter().zip(&want).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(worst < 0.5 * spacing, "{binding:?}: {worst} off, spacing {spacing}");
            for t in &mesh.triangles {
                let normal = |x: &[DVec3]| {
                    let [a, b, c] = t.map(|i| x[i as usize]);
                    (b - a).cross(c - a)
                };
                assert!(normal(&got).dot(normal(&want)) > 0.0, "{binding:?}: a triangle turned over");
            }
            let volume = |x: &[DVec3]| TriMesh { positions: x.to_vec(), ..mesh.clone() }.volume();
            assert!((volume(&got) / volume(&want) - 1.0).abs() < 0.01, "{binding:?}");
        }
    }
}

#[test]
fn far_features_do_not_swing() {
    // A whisker sticking out of a bar by half its length, and particles that tremble.
    let shape = bar();
    let whisker: Vec<DVec3> = (0..=100).map(|i| DVec3::new(0.1, 0.1 + 0.005 * f64::from(i), 0.02)).collect();
    for binding in KINDS {
        let skin = bind_to(binding, &shape, &whisker);
        let mut rng = SplitMix64::new(2);
        let mut noise = || 0.001 * (DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5);
        let trembling: Vec<DVec3> = shape.points.iter().map(|&p| p + noise()).collect();
        let (rest, moved) = (apply(&skin, &shape.points), apply(&skin, &trembling));
        for (a, b) in rest.iter().zip(&moved) {
            assert!(a.distance(*b) < 0.003, "{binding:?}: {a} moved by {}", a.distance(*b));
        }
        // And it neither shrinks into the body nor bends.
        assert!(rest.iter().zip(&whisker).all(|(a, b)| a.distance(*b) < 1e-12), "{binding:?}");
    }
}

/// The body of a fine mesh that sticks out of a coarse cage: a comb of long teeth on a bar.
fn comb() -> Vec<DVec3> {
    let teeth = (0..9).flat_map(|k| (0..=40).map(move |i| (f64::from(k), f64::from(i))));
    teeth.map(|(k, i)| DVec3::new(0.11 * (k - 4.0), 0.0125 * i, 0.03)).collect()
}

/// Where weights of the nearest tetrahedron that reach outside would carry a vertex.
fn extrapolated(shape: &Shape, moved: &[DVec3], vertex: DVec3) -> DVec3 {
    let weights = |t: &[u32; 4]| {
        let [a, b, c, d] = t.map(|i| shape.points[i as usize]);
        let [u, v, w] = (DMat3::from_cols(b - a, c - a, d - a).inverse() * (vertex - a)).to_array();
        [1.0 - u - v - w, u, v, w]
    };
    let least = |w: [f64; 4]| w.into_iter().fold(f64::MAX, f64::min);
    let best =
        shape.tetrahedra.iter().max_by(|a, b| least(weights(a)).total_cmp(&least(weights(b)))).unwrap();
    best.iter().zip(weights(best)).map(|(i, w)| w * moved[*i as usize]).sum()
}

#[test]
fn what_sticks_out_of_its_cage_is_carried_rigidly() {
    let shape = SolidShape::Cuboid { size: DVec3::new(1.0, 0.2, 0.2) }.build_tets(0.1).unwrap().0;
    let mesh = comb();
    let skin = bind_to(SkinBinding::Tetrahedra, &shape, &mesh);
    assert!(skin.rigid_offsets.is_some());
    // Rigid motions exactly, however far outside, and at rest it is where it is.
    let turn = DAffine3::from_rotation_translation(
        DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 2.5),
        DVec3::new(1.0, 2.0, -3.0),
    );
    for motion in [DAffine3::IDENTITY, turn] {
        let moved: Vec<DVec3> = shape.points.iter().map(|&p| motion.transform_point3(p)).collect();
        for (got, rest) in apply(&skin, &moved).iter().zip(&mesh) {
            assert!(got.distance(motion.transform_point3(*rest)) < 1e-12, "{got} at {rest}");
        }
    }
    // Affine ones exactly inside.
    let moved: Vec<DVec3> = shape.points.iter().map(|&p| animation().transform_point3(p)).collect();
    for (got, rest) in apply(&skin, &moved).iter().zip(&mesh).filter(|(_, rest)| rest.y < 0.1) {
        assert!(got.distance(animation().transform_point3(*rest)) < 1e-12, "{got} at {rest}");
    }
    // Twisted, squashed to a tenth, to a plane, to a line, to a point, turned inside out, scrambled: teeth stay as long as they are.
    let flat = |x: f64, y: f64, z: f64| move |p: DVec3| p * DVec3::new(x, y, z);
    let mut rng = SplitMix64::new(4);
    let mut scrambled = || 0.1 * (DVec3::new(rng.unit(), rng.unit(), rng.unit()) * 2.0 - DVec3::ONE);
    let scrambled: Vec<DVec3> = shape.points.iter().map(|&p| p + scrambled()).collect();
    let by = |field: &dyn Fn(DVec3) -> DVec3| shape.points.iter().map(|&p| field(p)).collect::<Vec<_>>();
    let moves = [
        ("twisted", by(&|p| twist(p, 0.75))),
        ("squashed", by(&flat(1.0, 0.1, 1.0))),
        ("stretched", by(&flat(1.0, 10.0, 1.0))),
        ("a plane", by(&flat(1.0, 0.0, 1.0))),
        ("a line", by(&flat(1.0, 0.0, 0.0))),
        ("a point", by(&flat(0.0, 0.0, 0.0))),
        ("inside out", by(&flat(1.0, -1.0, 1.0))),
        ("scrambled", scrambled),
    ];
    let mut worst = [0.0_f64; 2];
    for (name, moved) in &moves {
        let got = apply(&skin, moved);
        for (tooth, rest) in got.chunks(41).zip(mesh.chunks(41)) {
            // The tip from where the tooth leaves the cage.
            let length = |x: &[DVec3]| x[40].distance(x[8]);
            let stretch = length(tooth) / length(rest);
            worst[0] = worst[0].max(stretch);
            assert!(
                stretch.is_finite() && stretch < if *name == "stretched" { 4.0 } else { 1.6 },
                "{name}: {stretch} times as long at {}",
                rest[0]
            );
            // Where elements are mirrored, what is near them is too, and what is far from them is not.
            let least = if *name == "inside out" { 0.3 } else { 0.6 };
            assert!(stretch > least, "{name}: {stretch} times as long at {}", rest[0]);
        }
        // By how much elements are stretched, weights may well stretch.
        for rest in mesh.chunks(41).filter(|_| *name != "stretched") {
            let [foot, tip] = [rest[8], rest[40]].map(|x| extrapolated(&shape, moved, x));
            worst[1] = worst[1].max(foot.distance(tip) / rest[8].distance(rest[40]));
        }
    }
    println!("teeth become {:.2} times as long; by extrapolated weights {:.2} times", worst[0], worst[1]);
    assert!(worst[1] > 2.0 * worst[0], "{worst:?}");
    // From inside to far outside without a jump, on a cage that is twisted and squashed.
    let bent: Vec<DVec3> = shape.points.iter().map(|&p| twist(p, 0.5) * DVec3::new(1.0, 0.4, 1.0)).collect();
    for along in [DVec3::Y, DVec3::new(0.3, 1.0, 0.4)] {
        let steps = 20_000;
        let path: Vec<DVec3> = (0..=steps)
            .map(|i| DVec3::new(0.123, 0.0, 0.017) + along * (0.6 * f64::from(i) / f64::from(steps)))
            .collect();
        let got = apply(&bind_to(SkinBinding::Tetrahedra, &shape, &path), &bent);
        let step = 0.6 * along.length() / f64::from(steps);
        let most = got.windows(2).map(|p| p[0].distance(p[1])).fold(0.0, f64::max);
        assert!(most < 6.0 * step, "a jump of {} steps", most / step);
    }
}

#[test]
fn degenerate_bodies_are_defined() {
    let vertices = random(50, DVec3::splat(-1.0), DVec3::splat(2.0));
    let flat: Vec<DVec3> = (0..25).map(|i| DVec3::new(f64::from(i % 5), 0.0, f64::from(i / 5))).collect();
    let all_flat: Vec<[u32; 4]> = (0..20).map(|i| [i, i + 1, i + 2, i + 5]).collect();
    let slivers: Vec<[u32; 3]> = (0..20).map(|i| [i, i + 1, i + 2]).collect();
    let clouds = [flat.clone(), vec![DVec3::ONE; 25], vec![DVec3::ONE], Vec::new()];
    for points in &clouds {
        let whole = Covering::new(ClusterMethod::Farthest, ClusterSize::Count(2)).build(points);
        let mut skins = vec![
            Skin::bind_tets(points, &all_flat, &vertices),
            Skin::bind_tets(points, &[[0, 0, 0, 0]], &vertices),
            Skin::bind_tets(points, &[], &vertices),
            Skin::bind_cloth(points, &slivers, &vertices),
            Skin::bind_cloth(points, &[[0, 0, 0], [1, 2, 1]], &vertices),
            Skin::bind_cloth(points, &[], &vertices),
        ];
        skins.extend(whole.iter().map(|c| Skin::bind_clusters(points, &[], c, &vertices)));
        for (k, skin) in skins.iter().enumerate() {
            skin.check(vertices.len(), points.len()).unwrap();
            let got = apply(skin, points);
            assert!(got.iter().all(|p| p.is_finite()), "{k}");
            for v in 0..vertices.len() {
                let sum: f64 = skin.weights_of(v).iter().map(|w| w.1).sum();
                assert!(points.is_empty() || (sum - 1.0).abs() < 1e-9, "{k}: {sum}");
            }
        }
    }
    // A single triangle or tetrahedron among points that nothing uses.
    let mut points = flat;
    points[7].y = 1.0;
    for skin in [
        Skin::bind_tets(&points, &[[0, 1, 5, 7]], &vertices),
        Skin::bind_cloth(&points, &[[0, 1, 5]], &vertices),
    ] {
        skin.check(vertices.len(), points.len()).unwrap();
        assert!(apply(&skin, &points).iter().all(|p| p.is_finite()));
    }
}

#[test]
fn bodies_are_asked_only_for_what_they_have() {
    let particles = shapes::ball(0.5, 0.2).unwrap();
    let vertices = [DVec3::ZERO];
    assert_eq!(SkinBinding::usual(&particles), SkinBinding::Particles);
    assert_eq!(SkinBinding::usual(&bar()), SkinBinding::Tetrahedra);
    assert_eq!(SkinBinding::usual(&shapes::sheet(1.0, 1.0, 3, 3).unwrap()), SkinBinding::Cloth);
    for binding in [SkinBinding::Tetrahedra, SkinBinding::Cloth, SkinBinding::Clusters] {
        let refused = Skin::bind_to(binding, &particles, None, &vertices).unwrap_err();
        assert!(refused.message.contains("has none"), "{refused}");
    }
    assert!(Skin::bind_to(SkinBinding::Particles, &particles, None, &[DVec3::NAN]).is_err());
}
