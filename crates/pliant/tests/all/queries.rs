//! Queries against going through everything: rays, nearest points, balls, boxes, the particles behind a point.

use crate::common::*;
use pliant::{
    Body, BodyId, Builder, ContactRadius, DAffine3, DMat3, DQuat, DVec3, Hit, Hold, Material, Place, Queries,
    Simulation, SurfaceMesh, shapes,
};
use pliant_geometry::{Shape, Skin, SkinBinding, SplitMix64, TriMesh};

/// A bear of particles with a skin.
fn clustered() -> Body {
    let mut bear =
        Body::new("clustered", shapes::gummy_bear(0.6, 0.08).unwrap()).frequency(8.0).at(0.0, 0.5, 0.0);
    bear.velocity = DVec3::new(0.5, -3.0, 0.0);
    bear.spin = DVec3::new(2.0, 3.0, 0.0);
    bear
}

/// A bar of tetrahedra.
fn tetrahedra() -> Body {
    let shape = shapes::tet_box([6, 3, 3], DVec3::new(0.6, 0.3, 0.3), shapes::TetStyle::Five).unwrap();
    let mut bar = Body::new("tetrahedra", shape).elastic(Material::named("jelly").unwrap()).at(1.0, 0.3, 0.2);
    bar.spin = DVec3::new(0.0, 0.0, 4.0);
    bar
}

/// A sheet that falls on an edge.
fn cloth() -> Body {
    let shape = shapes::sheet(0.8, 0.8, 12, 12).unwrap();
    let mut cloth = Body::new("cloth", shape).elastic(Material::named("cotton").unwrap()).at(-1.0, 0.5, 0.0);
    cloth.rotation = DQuat::from_rotation_x(1.0);
    cloth
}

/// Points as balls.
fn cloud() -> Body {
    let at = |k: usize| DVec3::new((k % 5) as f64, (k / 5 % 5) as f64, (k / 25) as f64) * 0.1;
    let mut cloud =
        Body::new("cloud", shapes::from_points((0..125).map(at).collect()).unwrap()).at(0.0, 0.4, 1.0);
    cloud.contact_radius = ContactRadius::Fixed(0.03);
    cloud
}

/// A fine surface around a coarse body.
fn bind(binding: SkinBinding, mut shape: Shape, surface: TriMesh, body: &Body) -> Shape {
    let clusters = body.covering().map(|c| c.build(&shape.points).unwrap());
    shape.skin = Skin::bind_to(binding, &shape, clusters.as_ref(), &surface.positions).unwrap();
    shape.surface = surface;
    shape
}

/// A body whose skin follows the frames of clusters: handles.
fn on_handles() -> Body {
    let mut body = clustered().at(0.0, 0.6, -1.0);
    body.name = "handles".into();
    let fine = shapes::gummy_bear(0.6, 0.05).unwrap().surface;
    body.shape = bind(SkinBinding::Clusters, body.shape.clone(), fine, &body);
    assert!(body.shape.skin.handles.is_some());
    body
}

/// A box that stands off the cloth it rides on.
fn off_cloth() -> Body {
    let mut body = cloth().at(-1.0, 0.6, 1.0);
    body.name = "lifts".into();
    let mut quilt = shapes::cuboid(DVec3::new(0.6, 0.1, 0.6), 0.1).unwrap().surface;
    quilt.positions.iter_mut().for_each(|p| p.y += 0.06);
    body.shape = bind(SkinBinding::Cloth, body.shape.clone(), quilt, &body);
    assert!(body.shape.skin.normal_offsets.is_some());
    body
}

fn world() -> Simulation {
    let mut builder = Builder::new().ground();
    builder.bodies = vec![clustered(), tetrahedra(), cloth(), cloud(), on_handles(), off_cloth()];
    builder.build().unwrap()
}

/// Calls `test` with the bodies as they start, deformed and at rest.
fn at_times(mut test: impl FnMut(&Simulation, &Queries, &mut SplitMix64)) {
    let (mut s, mut queries, mut rng) = (world(), Queries::new(), SplitMix64::new(11));
    for steps in [0, 12, 20, 60] {
        run(&mut s, steps);
        queries.refresh(&s);
        test(&s, &queries, &mut rng);
    }
}

fn random(rng: &mut SplitMix64) -> DVec3 {
    2.0 * DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 1.0
}

/// Every triangle of every body: body, number, corners. Of clouds every particle, with its ball's radius.
type Item = (BodyId, u32, [DVec3; 3], Option<f64>);

fn everything(s: &Simulation) -> Vec<Item> {
    let (mut mesh, mut all) = (SurfaceMesh::default(), Vec::new());
    for body in s.model().bodies() {
        let triangles = s.surface(body.id, &mut mesh).unwrap();
        for (t, corners) in triangles.iter().enumerate() {
            all.push((body.id, t as u32, corners.map(|i| mesh.positions()[i as usize]), None));
        }
        if triangles.is_empty() {
            let radius = &body.parts.rest().radius;
            all.extend(
                (0..).zip(s.positions(body.id)).map(|(i, p)| (body.id, i, [p; 3], Some(radius[i as usize]))),
            );
        }
    }
    all
}

/// By a way of its own: where the line meets the plane of a triangle, by a linear system.
fn meets((_, _, [a, b, c], radius): &Item, origin: DVec3, direction: DVec3) -> Option<f64> {
    if let Some(radius) = radius {
        let t = (*a - origin).dot(direction);
        let half = radius * radius - (origin + t * direction).distance_squared(*a);
        return (half >= 0.0 && t >= half.sqrt()).then(|| t - half.sqrt());
    }
    let x = DMat3::from_cols(*b - *a, *c - *a, -direction).inverse() * (origin - *a);
    (x.x >= 0.0 && x.y >= 0.0 && x.x + x.y <= 1.0 && x.z >= 0.0).then_some(x.z)
}

fn of(hit: &Hit) -> (BodyId, u32) {
    (hit.body, hit.place.index())
}

/// That a hit says of its place what the surface says of it.
fn is_sound(s: &Simulation, hit: &Hit) {
    let mut mesh = SurfaceMesh::default();
    let triangles = s.surface(hit.body, &mut mesh).unwrap();
    assert!((hit.normal.length() - 1.0).abs() < 1e-12);
    match hit.place {
        Place::Triangle { index, weights } => {
            let corners = triangles[index as usize].map(|i| mesh.positions()[i as usize]);
            let point: DVec3 = corners.iter().zip(weights).map(|(c, w)| *c * w).sum();
            assert!(point.distance(hit.point) < 1e-14 && weights.iter().all(|w| *w >= 0.0));
            assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-14);
            let area = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
            assert!(area.normalize().distance(hit.normal) < 1e-9);
        }
        Place::Particle(i) => {
            let center = mesh.positions()[i as usize];
            assert!((hit.point.distance(center) - 0.03).abs() < 1e-9);
            assert!((hit.point - center).normalize().distance(hit.normal) < 1e-9);
        }
    }
}

#[test]
fn rays_meet_what_every_triangle_says() {
    let mut met = std::collections::BTreeMap::new();
    at_times(|s, queries, rng| {
        let all = everything(s);
        let mut hits = Vec::new();
        for _ in 0..400 {
            // At a random triangle of a random body from anywhere, mostly.
            let body = BodyId::from_number(rng.below(6));
            let (from, to) = (all.partition_point(|i| i.0 < body), all.partition_point(|i| i.0 <= body));
            let aim = all[from + rng.below((to - from) as u64) as usize].2[0] + 0.05 * random(rng);
            let (origin, reach) = (3.0 * random(rng) + DVec3::Y, 6.0 * rng.unit());
            let direction = aim - origin;
            let unit = direction.normalize();
            let each = all.iter().filter_map(|item| meets(item, origin, unit).map(|t| (t, (item.0, item.1))));
            let mut expected: Vec<(f64, (BodyId, u32))> = each.filter(|e| e.0 <= reach).collect();
            expected.sort_by(|a, b| a.0.total_cmp(&b.0));
            queries.cast_all(origin, direction, reach, &mut hits);
            assert_eq!(hits.len(), expected.len());
            for (hit, (t, place)) in hits.iter().zip(&expected) {
                assert_eq!(of(hit), *place);
                assert!((hit.distance - t).abs() < 1e-9, "{hit:?} {t}");
                assert!((origin + hit.distance * unit).distance(hit.point) < 1e-9);
                is_sound(s, hit);
                *met.entry(hit.body).or_insert(0) += 1;
            }
            assert_eq!(queries.cast(origin, direction, reach), hits.first().copied());
            let unbounded = queries.cast(origin, direction * 1e-3, f64::INFINITY);
            queries.cast_all(origin, direction, f64::INFINITY, &mut hits);
            assert_eq!(unbounded.map(|h| of(&h)), hits.first().map(of));
        }
    });
    assert!(met.len() == 6 && met.values().all(|n| *n > 50), "{met:?}");
}

/// By a way of its own: the least over corners, edges and the foot on the plane.
fn distance_to((_, _, corners, radius): &Item, p: DVec3) -> f64 {
    let [a, b, c] = *corners;
    if let Some(radius) = radius {
        return (p.distance(a) - radius).max(0.0);
    }
    let on_edge = |a: DVec3, b: DVec3| {
        let t = ((p - a).dot(b - a) / (b - a).length_squared()).clamp(0.0, 1.0);
        p.distance(a + t * (b - a))
    };
    let normal = (b - a).cross(c - a).normalize();
    let foot = p - normal * normal.dot(p - a);
    let inside = [(a, b), (b, c), (c, a)].iter().all(|(a, b)| (*b - *a).cross(foot - *a).dot(normal) >= 0.0);
    let edges = on_edge(a, b).min(on_edge(b, c)).min(on_edge(c, a));
    if inside { edges.min(p.distance(foot)) } else { edges }
}

#[test]
fn the_nearest_point_is_the_nearest_of_all() {
    at_times(|s, queries, rng| {
        let all = everything(s);
        for _ in 0..150 {
            let (p, within) = (1.5 * random(rng) + 0.5 * DVec3::Y, 0.6 * rng.unit());
            let least = all.iter().map(|item| distance_to(item, p)).fold(f64::INFINITY, f64::min);
            let found = queries.nearest(p, f64::INFINITY).unwrap();
            assert!((found.distance - least).abs() < 1e-12, "{found:?} {least}");
            assert!((found.point.distance(p) - found.distance).abs() < 1e-12);
            if found.distance > 0.0 {
                is_sound(s, &found);
            }
            let near = queries.nearest(p, within);
            assert_eq!(near, Some(found).filter(|f| f.distance <= within));
            assert_eq!(queries.nearest(p, found.distance), Some(found), "as far as it is, is near enough");
        }
    });
}

#[test]
fn a_ball_overlaps_what_comes_into_it() {
    let mut several = 0;
    at_times(|s, queries, rng| {
        let all = everything(s);
        let (mut bodies, mut particles) = (Vec::new(), Vec::new());
        for _ in 0..150 {
            let (center, radius) = (1.2 * random(rng) + 0.3 * DVec3::Y, 0.8 * rng.unit());
            let mut expected = Vec::new();
            for body in s.model().bodies() {
                let reach = |i: usize| radius + body.parts.rest().radius[i];
                let inside =
                    |(i, p): (usize, DVec3)| (p.distance(center) <= reach(i)).then_some((body.id, i as u32));
                expected.extend(s.positions(body.id).enumerate().filter_map(inside));
            }
            queries.particles_in_ball(center, radius, &mut particles);
            assert_eq!(particles, expected);
            let surface = all.iter().filter(|item| distance_to(item, center) <= radius).map(|item| item.0);
            let mut expected: Vec<BodyId> = surface.chain(particles.iter().map(|e| e.0)).collect();
            expected.sort_unstable();
            expected.dedup();
            queries.bodies_in_ball(center, radius, &mut bodies);
            assert_eq!(bodies, expected);
            several += usize::from(bodies.len() > 1);
        }
    });
    assert!(several > 20);
}

#[test]
fn boxes_hold_everything_tightly() {
    at_times(|s, queries, _| {
        let (mut mesh, mut whole) = (SurfaceMesh::default(), Vec::new());
        for body in s.model().bodies() {
            s.surface(body.id, &mut mesh).unwrap();
            let mut points: Vec<DVec3> =
                mesh.positions().iter().copied().chain(s.positions(body.id)).collect();
            if &*body.name == "cloud" {
                points = points.into_iter().flat_map(|p| [p - 0.03, p + 0.03]).collect();
            }
            assert_eq!(queries.bounds(body.id), TriMesh::bounds(&points));
            whole.extend(points);
        }
        assert_eq!(queries.bounds_of_all(), TriMesh::bounds(&whole));
    });
}

#[test]
fn the_particles_behind_a_point_make_it_and_can_be_pushed_and_held() {
    let (mut s, mut queries, mut rng) = (world(), Queries::new(), SplitMix64::new(2));
    let (mut weights, mut particles, mut seen) = (Vec::new(), Vec::new(), [0; 6]);
    run(&mut s, 25);
    queries.refresh(&s);
    for _ in 0..300 {
        let Some(hit) = queries.nearest(1.5 * random(&mut rng) + 0.5 * DVec3::Y, 1.0) else { continue };
        assert!(queries.weights(&hit, &mut weights));
        let x: Vec<DVec3> = s.positions(hit.body).collect();
        let mean: DVec3 = weights.iter().map(|(i, w)| x[*i as usize] * *w).sum();
        assert!((weights.iter().map(|e| e.1).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(weights.windows(2).all(|w| w[0].0 < w[1].0));
        let off = mean.distance(hit.point);
        let name = s.model().get(hit.body).unwrap().name.to_string();
        match name.as_str() {
            // Carried by the cloth below: 1 to 11 centimetres above it, and wherever a fold leads.
            "lifts" => assert!((0.005..0.13).contains(&off), "{off}"),
            // The point is on the ball around the particle, or in it.
            "cloud" => assert!(off < 0.03 + 1e-12 && weights.len() == 1),
            _ => assert!(off < 1e-12, "{name}: {off}"),
        }
        assert!(queries.grip(&hit, &mut weights, &mut particles));
        assert!(particles.len() <= weights.len());
        seen[hit.body.number() as usize] += 1;
    }
    assert!(seen.iter().all(|n| *n > 5), "{seen:?}");
    for body in 0..6 {
        let center = s.positions(body).sum::<DVec3>() / s.positions(body).len() as f64;
        // From above, and past what may be in the way.
        let mut hits = Vec::new();
        queries.cast_all(center + DVec3::Y * 9.0, DVec3::new(1e-3, -1.0, 2e-3), 20.0, &mut hits);
        let Some(hit) = hits.iter().find(|h| h.body == body.into()) else { panic!("body {body}") };
        queries.weights(hit, &mut weights);
        let before = s.statistics().momentum;
        s.push(body, &weights, DVec3::new(0.0, 0.0, 0.01)).unwrap();
        assert!((s.statistics().momentum - before - DVec3::new(0.0, 0.0, 0.01)).length() < 1e-9);
        queries.grip(hit, &mut weights, &mut particles);
        s.hold(body, Hold::exactly(particles.iter().copied())).unwrap();
    }
    run(&mut s, 5);
}

#[test]
fn queries_follow_whatever_happens_to_bodies() {
    let (mut s, mut kept) = (world(), Queries::new());
    let mut rng = SplitMix64::new(8);
    let check = |s: &Simulation, kept: &mut Queries, rng: &mut SplitMix64| {
        kept.refresh(s);
        let mut fresh = Queries::new();
        fresh.refresh(s);
        let mut found = 0;
        for _ in 0..200 {
            let origin = 3.0 * random(rng);
            let direction = DVec3::Y * 0.3 + random(rng) - origin;
            let hit = kept.cast(origin, direction, 9.0);
            assert_eq!(hit, fresh.cast(origin, direction, 9.0));
            found += usize::from(hit.is_some());
        }
        assert_eq!(kept.bounds_of_all(), fresh.bounds_of_all());
        found
    };
    assert!(check(&s, &mut kept, &mut rng) > 20);
    let saved = s.checkpoint();
    run(&mut s, 10);
    check(&s, &mut kept, &mut rng);
    s.restore(&saved).unwrap();
    check(&s, &mut kept, &mut rng);
    s.teleport(1, DAffine3::from_translation(DVec3::new(0.3, 0.2, -0.4))).unwrap();
    check(&s, &mut kept, &mut rng);
    s.remove(0).unwrap();
    s.remove(3).unwrap();
    check(&s, &mut kept, &mut rng);
    assert_eq!((kept.bounds(0), kept.bounds(77)), (None, None));
    let mut again = clustered();
    again.position = DVec3::new(0.5, 1.5, 0.0);
    let id = s.add(again).unwrap();
    s.hold(id, Hold::exactly([0])).unwrap();
    run(&mut s, 3);
    assert!(check(&s, &mut kept, &mut rng) > 20);
    // Of another simulation with the same numbers.
    let mut other = Builder::new().body(cloth()).build().unwrap();
    check(&other, &mut kept, &mut rng);
    other.remove(0).unwrap();
    assert_eq!(check(&other, &mut kept, &mut rng), 0);
}

#[test]
fn equals_are_told_apart_by_body_and_then_by_triangle() {
    let sheet = || Body::new("a", shapes::sheet(1.0, 1.0, 8, 8).unwrap());
    let mut twin = sheet();
    twin.name = "b".into();
    let s = Builder::new().body(sheet()).body(twin).build().unwrap();
    let mut queries = Queries::new();
    queries.refresh(&s);
    let (mut mesh, mut hits) = (SurfaceMesh::default(), Vec::new());
    let triangles = s.surface(0, &mut mesh).unwrap();
    // Exactly at every vertex many triangles meet, of both bodies.
    for (v, p) in mesh.positions().iter().enumerate() {
        let first = triangles.iter().position(|t| t.contains(&(v as u32))).unwrap() as u32;
        let above = *p + DVec3::Y;
        let near = queries.nearest(above, 2.0).unwrap();
        assert_eq!((of(&near), near.distance), ((0.into(), first), 1.0));
        let met = queries.cast(above, DVec3::NEG_Y, 2.0).unwrap();
        assert_eq!((of(&met), met.distance), ((0.into(), first), 1.0));
        queries.cast_all(above, DVec3::NEG_Y, 1.0, &mut hits);
        let around = triangles.iter().filter(|t| t.contains(&(v as u32))).count();
        assert_eq!(hits.len(), 2 * around, "exactly as far as asked for, and watertight");
        assert!(hits.windows(2).all(|h| of(&h[0]) < of(&h[1])));
    }
}

#[test]
fn what_is_no_question_has_no_answer() {
    let mut queries = Queries::new();
    let (mut hits, mut bodies, mut particles, mut weights) =
        (Vec::new(), vec![3.into()], Vec::new(), Vec::new());
    let mut finds = |queries: &Queries, origin: DVec3, direction: DVec3, far: f64| {
        queries.cast_all(origin, direction, far, &mut hits);
        assert_eq!(queries.cast(origin, direction, far), hits.first().copied());
        hits.len()
    };
    // Before it was refreshed, and of an empty world.
    let mut s = Builder::new().body(cloth()).build().unwrap();
    s.remove(0).unwrap();
    for round in 0..2 {
        assert_eq!(finds(&queries, DVec3::ZERO, DVec3::X, f64::INFINITY), 0);
        assert_eq!(queries.nearest(DVec3::ZERO, f64::INFINITY), None);
        queries.bodies_in_ball(DVec3::ZERO, f64::INFINITY, &mut bodies);
        assert!(bodies.is_empty() && queries.bounds_of_all().is_none());
        if round == 0 {
            queries.refresh(&s);
        }
    }
    s.add(clustered()).unwrap();
    s.add(cloud()).unwrap();
    queries.refresh(&s);
    let from = DVec3::new(0.0, 9.0, 0.0);
    assert!(finds(&queries, from, DVec3::NEG_Y, f64::INFINITY) > 0);
    for direction in [DVec3::ZERO, DVec3::NAN, DVec3::NEG_INFINITY] {
        assert_eq!(finds(&queries, from, direction, f64::INFINITY), 0);
    }
    for far in [f64::NAN, -1.0, f64::NEG_INFINITY, 0.0] {
        assert_eq!(finds(&queries, from, DVec3::NEG_Y, far), 0);
        assert_eq!(queries.nearest(from, far), None);
    }
    for origin in [DVec3::NAN, DVec3::INFINITY, DVec3::splat(1e300)] {
        assert_eq!(finds(&queries, origin, DVec3::NEG_Y, f64::INFINITY), 0);
    }
    for nowhere in [DVec3::NAN, DVec3::INFINITY] {
        assert_eq!(queries.nearest(nowhere, f64::INFINITY), None);
    }
    for (center, radius) in [(DVec3::NAN, 1.0), (DVec3::ZERO, f64::NAN), (DVec3::ZERO, -1.0), (from, 0.1)] {
        queries.bodies_in_ball(center, radius, &mut bodies);
        queries.particles_in_ball(center, radius, &mut particles);
        assert!(bodies.is_empty() && particles.is_empty());
    }
    queries.bodies_in_ball(from, f64::INFINITY, &mut bodies);
    queries.particles_in_ball(from, f64::INFINITY, &mut particles);
    assert_eq!((bodies.len(), particles.len()), (2, s.model().particle_count()));
    // Hits of what is gone, or never was.
    let hit = queries.cast(from, DVec3::NEG_Y, 20.0).unwrap();
    let changed = |change: fn(&mut Hit)| {
        let mut bad = hit;
        change(&mut bad);
        bad
    };
    for bad in [
        changed(|hit| hit.body = 99.into()),
        changed(|hit| hit.place = Place::Particle(u32::MAX)),
        changed(|hit| hit.place = Place::Triangle { index: u32::MAX, weights: [1.0, 0.0, 0.0] }),
    ] {
        assert!(!queries.weights(&bad, &mut weights) && weights.is_empty());
        assert!(!queries.grip(&bad, &mut weights, &mut Vec::new()));
    }
}

#[test]
fn clouds_without_size_are_hit_by_the_least_radius() {
    let mut points = cloud();
    points.contact_radius = ContactRadius::Shown;
    let s = Builder::new().body(points).build().unwrap();
    let mut exact = Queries::new();
    exact.refresh(&s);
    let p = s.positions(0).nth(7).unwrap();
    let past = p + DVec3::new(0.003, 0.001, 5.0);
    assert_eq!(exact.cast(past, DVec3::NEG_Z, 9.0), None);
    let mut thick = Queries::new().least_radius(0.01);
    thick.refresh(&s);
    let hit = thick.cast(past, DVec3::NEG_Z, 9.0).unwrap();
    assert!((hit.point.xy_distance(p) - 0.01).abs() < 1e-9);
    let mut none = Queries::new().least_radius(f64::NAN);
    none.refresh(&s);
    assert_eq!(none.cast(past, DVec3::NEG_Z, 9.0), None);
    let nearest = exact.nearest(past, 9.0).unwrap();
    assert!(nearest.point == s.positions(0).nth(nearest.place.index() as usize).unwrap());
}

trait Far {
    fn xy_distance(self, centre: DVec3) -> f64;
}

impl Far for DVec3 {
    /// From the nearest of the cloud's points in its column.
    fn xy_distance(self, centre: DVec3) -> f64 {
        (0..5)
            .map(|k| self.distance(DVec3::new(centre.x, centre.y, 1.0 + 0.1 * f64::from(k))))
            .fold(9.0, f64::min)
    }
}
