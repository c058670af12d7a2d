//! Sheets touch themselves and each other, and never cross.

use pliant::{Body, Builder, DVec3, Material, Simulation, shapes};
use pliant_testing::Crossings;

fn cotton() -> Material {
    Material::named("cotton").unwrap()
}

/// A sheet of `n` by `n` cells that stands upright, its lower edge at a height.
fn upright(name: &str, n: usize, size: f64, at: DVec3) -> Body {
    let sheet = shapes::sheet(size, size, n, n).unwrap();
    let mut body = Body::new(name, sheet).elastic(cotton());
    body.rotation = pliant::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2 - 0.05)
        * pliant::DQuat::from_rotation_z(0.1);
    body.at(at.x, at.y + 0.5 * size, at.z)
}

/// The triangles of all sheets of a simulation, and their particles one after the other.
fn sheets(s: &Simulation) -> (Crossings, impl Fn(&Simulation) -> Vec<[f64; 3]> + use<>) {
    let mut triangles = Vec::new();
    let mut first = 0;
    for body in s.model().bodies() {
        let faces = &body.parts.topology().faces;
        triangles.extend(faces.iter().map(|t| t.map(|i| i + first)));
        first += body.parts.particle_count() as u32;
    }
    let count = s.model().bodies().len();
    let positions = move |s: &Simulation| {
        (0..count).flat_map(|b| s.positions(b).map(|p| p.to_array()).collect::<Vec<_>>()).collect()
    };
    (Crossings::of(triangles), positions)
}

/// Runs and counts the crossings of every frame; tells also the longest edge in terms of its rest length, and what was held back.
fn crossings(s: &mut Simulation, frames: usize) -> (usize, usize) {
    let (surface, positions) = sheets(s);
    let (mut count, mut held) = (0, 0);
    for _ in 0..frames {
        let report = s.step().unwrap();
        held += report.held_back;
        count += surface.count(&positions(s));
    }
    (count, held)
}

#[test]
fn a_falling_sheet_crumples_without_crossing_itself() {
    let body = upright("sheet", 20, 0.5, DVec3::new(0.0, 0.02, 0.0));
    let mut s = Builder::new().ground().body_contact().body(body).build().unwrap();
    let (count, held) = crossings(&mut s, 120);
    println!("{count} crossings, {held} held back, energy {:.2e}", s.statistics().kinetic);
    assert_eq!(count, 0);
}

/// A sheet that lies flat, moving.
fn flat(name: &str, n: usize, size: f64, at: DVec3, velocity: DVec3) -> Body {
    let mut body = Body::new(name, shapes::sheet(size, size, n, n).unwrap()).elastic(cotton());
    body.velocity = velocity;
    body.at(at.x, at.y, at.z)
}

/// Whatever the speed: the patch is caught, and no edge goes through a triangle in any frame.
#[test]
fn a_fast_patch_is_caught_by_a_sheet() {
    for speed in [1.0, 10.0, 100.0] {
        let big = flat("sheet", 16, 0.6, DVec3::ZERO, DVec3::ZERO);
        let edge = |p: &DVec3| p.x.abs() > 0.29 || p.z.abs() > 0.29;
        let held: Vec<u32> =
            (0..big.shape.points.len() as u32).filter(|i| edge(&big.shape.points[*i as usize])).collect();
        let patch = flat("patch", 5, 0.15, DVec3::new(0.013, 0.2, 0.021), -DVec3::Y * speed);
        let mut s = Builder::new().body_contact().body(big.pin(held)).body(patch).build().unwrap();
        let before = s.statistics().momentum;
        let (count, held) = crossings(&mut s, 40);
        let lowest = |b: usize| s.positions(b).map(|p| p.y).fold(f64::INFINITY, f64::min);
        let below = s.positions(1).filter(|p| p.y < lowest(0)).count();
        println!("{speed} m/s: {count} crossings, {held} held back, {below} below, momentum {before:.3}");
        assert_eq!((count, below), (0, 0), "{speed}");
    }
}

/// Sheets with velocities at random, in themselves and each other's way, at any strength.
#[test]
fn tangles_never_cross() {
    for (seed, wild) in [(1, 1.0), (2, 5.0), (3, 25.0)] {
        let mut random = crate::common::Random::new(seed);
        let mut builder = Builder::new().body_contact().ground();
        for k in 0..3 {
            let at = DVec3::new(0.03 * k as f64, 0.1 + 0.03 * k as f64, 0.02 * k as f64);
            builder = builder.body(flat(&format!("sheet {k}"), 10, 0.3, at, DVec3::ZERO));
        }
        let mut s = builder.build().unwrap();
        let mut state = s.state().clone();
        for body in state.bodies_mut() {
            let count = body.velocities().len();
            let mut v = body.velocities_mut();
            (0..count).for_each(|i| v.set(i, random.vector() * wild));
        }
        s.set_state(state).unwrap();
        let (count, held) = crossings(&mut s, 60);
        let strain = s.statistics().max_strain;
        println!("{wild} m/s: {count} crossings, {held} held back, strain {strain:.2}");
        assert_eq!(count, 0, "{wild}");
    }
}

/// A sheet falls over a soft cube and a rigid one, and lies on both.
#[test]
fn a_sheet_lies_on_what_is_soft_and_on_what_is_rigid() {
    use pliant::shapes::{SolidShape, TetStyle};
    let size = DVec3::splat(0.2);
    let soft = shapes::tet_box([4, 4, 4], size, TetStyle::Five).unwrap();
    let rubber = Material { young: 1e6, density: 1000.0, ..Material::named("rubber").unwrap() };
    let rigid = SolidShape::Cuboid { size }.build_rigid().unwrap();
    let clustered = SolidShape::Cuboid { size }.build(0.2 / 6.0).unwrap();
    for (kind, cube) in [
        ("soft", Body::new("cube", soft).elastic(rubber)),
        ("rigid", Body::rigid("cube", rigid).density(1000.0)),
        ("clustered", Body::new("cube", clustered).density(1000.0)),
    ] {
        let cloth = flat("cloth", 20, 0.5, DVec3::new(0.01, 0.23, 0.02), DVec3::ZERO);
        let cube = cube.at(0.0, 0.1005, 0.0);
        let mut s = Builder::new().ground().body_contact().body(cloth).body(cube).build().unwrap();
        let mut deepest = 0.0_f64;
        for _ in 0..90 {
            s.step().unwrap();
            let inside = |p: DVec3| (0.099 - p.x.abs()).min(0.199 - p.y).min(0.099 - p.z.abs());
            deepest = s.positions(0).map(inside).fold(deepest, f64::max);
        }
        let top = s.positions(0).filter(|p| p.x.abs() < 0.08 && p.z.abs() < 0.08).map(|p| p.y);
        let (low, high) = top.fold((f64::INFINITY, 0.0_f64), |(l, h), y| (l.min(y), h.max(y)));
        println!("{kind}: on top from {low:.4} to {high:.4}, deepest {deepest:.4}");
        // A clustered cube sinks a little into itself.
        let least = if kind == "clustered" { 0.17 } else { 0.197 };
        assert!(low > least && high < 0.215, "{kind}: {low} {high}");
        assert!(deepest < 0.002 || kind == "clustered", "{kind}: {deepest}");
    }
}

#[test]
fn sheets_have_the_same_bits_for_any_threads_and_without_caches() {
    let build = |threads: usize| {
        let mut builder = Builder::new().ground().body_contact();
        builder.threads = threads;
        builder
            .body(upright("one", 10, 0.3, DVec3::new(0.0, 0.01, 0.0)))
            .body(upright("other", 8, 0.3, DVec3::new(0.02, 0.02, 0.03)))
            .build()
            .unwrap()
    };
    let mut s = build(1);
    crate::common::run(&mut s, 50);
    let wanted = crate::common::bits(&s);
    for threads in [2, 7] {
        let mut s = build(threads);
        crate::common::run(&mut s, 50);
        assert!(crate::common::bits(&s) == wanted, "{threads} threads");
    }
    let mut dropped = build(2);
    crate::common::run(&mut dropped, 20);
    let saved = dropped.checkpoint();
    let mut dropped = build(1);
    dropped.restore(&saved).unwrap();
    for _ in 20..50 {
        dropped.drop_caches();
        dropped.step().unwrap();
    }
    assert!(crate::common::bits(&dropped) == wanted);
}

/// What touches itself keeps its momenta as far as nothing was held back.
#[test]
fn a_sheet_that_crumples_keeps_its_momentum() {
    let mut body = flat("sheet", 12, 0.3, DVec3::ZERO, DVec3::ZERO);
    body.controls.iterations = 20;
    let mut builder = Builder::new().body_contact().body(body);
    builder.gravity = DVec3::ZERO;
    let mut s = builder.build().unwrap();
    let mut state = s.state().clone();
    let body = &mut state.bodies_mut()[0];
    let places: Vec<DVec3> = body.positions().iter().collect();
    let mut v = body.velocities_mut();
    // It crumples from all sides.
    let mut random = crate::common::Random::new(7);
    let inwards = |p: &DVec3| DVec3::new(-20.0 * p.x, 0.0, -15.0 * p.z);
    places.iter().enumerate().for_each(|(i, p)| v.set(i, inwards(p) + random.vector()));
    s.set_state(state).unwrap();
    let before = s.statistics().momentum;
    let (surface, positions) = sheets(&s);
    let (mut taken, mut crossed, mut touched) = (0.0, 0, 0);
    for _ in 0..60 {
        let report = s.step().unwrap();
        taken += report.held_back_momentum;
        touched += report.contacts;
        crossed += surface.count(&positions(&s));
    }
    let lost = (s.statistics().momentum - before).length();
    println!("{touched} touched, {crossed} crossed, lost {lost:.2e}, held back {taken:.2e}");
    assert!(touched > 20 && crossed == 0);
    assert!(lost <= taken + 1e-10 * before.length(), "{lost} {taken}");
}
