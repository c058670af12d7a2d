//! Half-spaces: nothing gets in, friction holds and slides as Coulomb says, bounces return their part.

use crate::common::*;
use pliant::shapes::TetStyle;
use pliant::{Body, Builder, Clustering, DQuat, DVec3, HalfSpace, Simulation, SolverKind};

fn block(projective: bool) -> Body {
    let mut body = cube(Clustering::Count(8), 0.3);
    // Low, so that it slides rather than tips; damped, because a block swings on the springs of its
    // lowest layer alone.
    body.shape = pliant::shapes::cuboid(DVec3::new(1.0, 0.3, 1.0), 0.1).unwrap();
    body.controls.damping = 30.0;
    body.controls.iterations = 5;
    body.controls.strain_limit = 0.3;
    if projective {
        body = body.projective();
        body.controls.stiffness = pliant::Stiffness::Frequency(15.0);
    }
    body
}

fn center(s: &Simulation) -> DVec3 {
    let n = s.positions(0).len() as f64;
    s.positions(0).sum::<DVec3>() / n
}

/// A block lying on a slope of the given angle (radians).
fn on_slope(angle: f64, friction: f64, projective: bool) -> Simulation {
    let normal = DVec3::new(angle.sin(), angle.cos(), 0.0);
    let mut body = block(projective);
    body.rotation = DQuat::from_rotation_z(-angle);
    body.position = normal * 0.15;
    let plane = HalfSpace { normal, offset: 0.0, friction, restitution: 0.0 };
    Builder::new().collider(plane).body(body).substeps(2).build().unwrap()
}

#[test]
fn friction_holds_below_its_angle_and_slides_above_with_the_right_acceleration() {
    for projective in [false, true] {
        let friction: f64 = 0.5;
        // tan 20° = 0.36 < 0.5: holds. Some settling by deformation is not sliding.
        let mut s = on_slope(20f64.to_radians(), friction, projective);
        run(&mut s, 120);
        let before = center(&s);
        run(&mut s, 120);
        let crept = (center(&s) - before).length();
        assert!(crept < 2e-3, "projective {projective}: crept {crept} m in 2 s on a slope it should rest on");

        // tan 40° = 0.84 > 0.5: slides with g (sin − μ cos).
        let angle = 40f64.to_radians();
        let mut s = on_slope(angle, friction, projective);
        run(&mut s, 60);
        let v0 = s.statistics().momentum;
        run(&mut s, 60);
        let gained = (s.statistics().momentum - v0).dot(DVec3::new(angle.cos(), -angle.sin(), 0.0));
        let expected = 9.81 * (angle.sin() - friction * angle.cos());
        assert!(
            (gained / expected - 1.0).abs() < 0.1,
            "projective {projective}: slides with {gained} m/s², Coulomb says {expected}"
        );
    }
}

#[test]
fn nothing_is_ever_inside_and_a_dropped_body_comes_to_rest_on_the_ground() {
    for projective in [false, true] {
        let mut body = block(projective).at(0.0, 1.5, 0.0);
        body.rotation = DQuat::from_scaled_axis(DVec3::new(0.4, 0.2, 0.7));
        let mut s = Builder::new().ground().body(body).substeps(2).build().unwrap();
        for _ in 0..600 {
            s.step().unwrap();
            assert!(s.statistics().max_penetration < 1e-12);
        }
        let end = s.statistics();
        assert!(end.kinetic < 1e-3, "projective {projective}: still moving, {} J", end.kinetic);
        assert!((0.1..0.2).contains(&center(&s).y), "centre at {}", center(&s).y);
    }
}

#[test]
fn a_wedge_of_two_planes_keeps_the_body_out_of_both() {
    for projective in [false, true] {
        let plane = |x: f64| HalfSpace {
            normal: DVec3::new(x, 1.0, 0.0).normalize(),
            offset: 0.0,
            friction: 0.2,
            restitution: 0.0,
        };
        let mut s = Builder::new()
            .substeps(1)
            .collider(plane(1.0))
            .collider(plane(-1.0))
            .body(block(projective).at(0.1, 2.0, 0.0))
            .build()
            .unwrap();
        let mut deepest = 0.0_f64;
        for _ in 0..300 {
            s.step().unwrap();
            deepest = deepest.max(s.statistics().max_penetration);
        }
        // Leaving one plane along its normal may enter the other again; what stays is small.
        assert!(deepest < 1e-2, "projective {projective}: {deepest} m inside");
    }
}

#[test]
fn restitution_returns_its_part_of_the_speed() {
    // A single particle has no elasticity of its own: it leaves with e times its speed, and rests in
    // the end without jitter.
    for projective in [false, true] {
        let mut body =
            Body::new("grain", pliant::shapes::from_points(vec![DVec3::ZERO]).unwrap()).at(0.0, 1.0, 0.0);
        body.clusters = Clustering::Whole;
        body.controls.restitution = 0.5;
        body = body.frequency(5.0);
        if projective {
            body = body.projective();
        }
        let mut s = Builder::new().substeps(1).ground().body(body).build().unwrap();
        let mut last = 0.0;
        let mut bounces = 0;
        for _ in 0..300 {
            s.step().unwrap();
            let v = s.statistics().momentum.y;
            if v > 1e-9 && last < 0.0 {
                // The implicit step of the bounce adds gravity to the arriving speed first; the explicit one turns it
                // where it was, which is where its energy is.
                let arriving = if projective { last - 9.81 / 60.0 } else { last };
                assert!((v / -arriving - 0.5).abs() < 1e-9, "projective {projective}: {arriving} to {v}");
                bounces += 1;
            }
            last = v;
        }
        assert!(bounces >= 2);
        assert!(s.statistics().kinetic < 1e-20 && s.statistics().max_penetration < 1e-15);
    }
}

#[test]
fn a_cloth_falling_flat_has_more_contacts_than_a_dense_block_takes() {
    let mut cloth =
        Body::new("cloth", pliant::shapes::sheet(1.0, 1.0, 40, 40).unwrap()).projective().at(0.0, 0.2, 0.0);
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 500.0;
    let mut s = Builder::new().substeps(1).ground().body(cloth).build().unwrap();
    for _ in 0..60 {
        let report = s.step().unwrap();
        assert!(s.statistics().max_penetration < 1e-12);
        if s.state().step() > 40 {
            assert!(report.contacts > 1500, "{}", report.contacts);
        }
    }
    assert!(s.statistics().kinetic < 1e-3);
}

/// Whoever solves for it: a bar that falls comes to rest on the ground, none of it below, and stays on a slope that
/// friction holds.
#[test]
fn every_solver_of_constraints_rests_on_the_ground_and_holds_on_a_slope() {
    use pliant::{Material, shapes};
    for solver in SolverKind::SOFT.into_iter().filter(|s| s.uses_constraints()) {
        for tilt in [0.0_f64, 0.2] {
            let cells =
                shapes::tet_box([4, 2, 2], DVec3::new(0.4, 0.2, 0.2), shapes::TetStyle::Five).unwrap();
            let rubber = Material::named("rubber").unwrap();
            let mut body = Body::new("bar", cells).elastic(rubber).solved_by(solver).at(0.0, 0.105, 0.0);
            // Strain alone: XPBD and PBD push particles out of planes, and a body that keeps its volume stiffly hums
            // there.
            body.constraints = vec![pliant::ConstraintKind::Strain.into()];
            body.controls.damping = 5.0;
            let plane = HalfSpace { friction: 0.8, ..HalfSpace::ground() };
            let mut builder = Builder::new().collider(plane).body(body);
            builder.gravity = DVec3::new(tilt.sin(), -tilt.cos(), 0.0) * 9.81;
            let mut s = builder.build().unwrap();
            run(&mut s, 90);
            let before: Vec<DVec3> = s.positions(0).collect();
            run(&mut s, 30);
            let statistics = s.statistics();
            assert!(statistics.max_penetration < 1e-12, "{solver:?}: {}", statistics.max_penetration);
            let crept = farthest(&before, &s.positions(0).collect::<Vec<_>>());
            assert!(crept < 1e-6, "{solver:?}, tilted by {tilt}: {crept}");
            assert!(statistics.max_strain < 0.02, "{solver:?}: {}", statistics.max_strain);
        }
    }
}

/// What is seen rests on what is seen: the surface around the particles, not the particles, lies on the ground.
#[test]
fn the_shown_surface_rests_on_the_ground() {
    for (name, shape) in [
        ("bear", pliant::shapes::gummy_bear(0.3, 0.03).unwrap()),
        ("ball", pliant::shapes::ball(0.1, 0.025).unwrap()),
        ("tetrahedra", pliant::shapes::SolidShape::Ball { radius: 0.1 }.build_tets(0.03).unwrap().0),
    ] {
        let (skin, rest) = (shape.skin.clone(), shape.surface.clone());
        let mut body = Body::new(name, shape).at(0.0, 0.3, 0.0);
        if name == "tetrahedra" {
            body = body.elastic(pliant::Material::named("rubber").unwrap());
        }
        let mut s = Builder::new().ground().body(body).build().unwrap();
        let mut shown = Vec::new();
        let mut deepest = 0.0_f64;
        for _ in 0..300 {
            s.step().unwrap();
            skin.apply(s.state().bodies()[0].positions().columns(), &mut shown);
            deepest = deepest.max(shown.iter().map(|p| -p.y).fold(f64::NEG_INFINITY, f64::max));
        }
        let lowest = shown.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert_eq!(shown.len(), rest.positions.len());
        println!("{name}: deepest {deepest}, rests at {lowest}");
        assert!(deepest < 4e-3, "{name} sank in by {deepest} m");
        assert!(lowest.abs() < 2e-3, "{name} rests at {lowest} m");
    }
}

/// A block that slides at 5 m/s is braked by μ g and stays on the ground: the nearest point of the friction cone, in
/// place of a shortened tangent, would throw it into the air.
#[test]
fn a_fast_block_is_braked_by_friction_and_stays_down() {
    let friction = 0.3;
    let rubber = pliant::Material { young: 1e6, ..pliant::Material::named("rubber").unwrap() };
    for (solver, implicitness, normal_offsets, off) in [
        (SolverKind::Projective, 1.0, 1e-5, 0.01),
        (SolverKind::Projective, 0.5, 1e-5, 0.01),
        (SolverKind::Newton, 1.0, 1e-5, 0.01),
        (SolverKind::Newton, 0.5, 1e-5, 0.01),
        // Its iterations do not converge on what is stiff: the block trembles.
        (SolverKind::Xpbd, 1.0, 1e-3, 0.05),
    ] {
        let shape = pliant::shapes::tet_box([4, 1, 4], DVec3::new(0.4, 0.08, 0.4), TetStyle::Five).unwrap();
        let mut body = Body::new("block", shape).elastic(rubber).solved_by(solver).at(0.0, 0.04, 0.0);
        body.velocity = DVec3::X * 5.0;
        body.controls.iterations = 20;
        let mut builder = Builder::new().collider(HalfSpace { friction, ..HalfSpace::ground() }).body(body);
        builder.implicit.implicitness = implicitness;
        let mut s = builder.substeps(2).build().unwrap();
        // It sags a little first.
        run(&mut s, 20);
        let before = s.statistics().momentum.x;
        for _ in 0..20 {
            s.step().unwrap();
            let low = s.positions(0).map(|p| p.y).fold(f64::INFINITY, f64::min);
            assert!(
                (-1e-9..normal_offsets).contains(&low),
                "{solver:?} θ {implicitness}: {low} above the ground"
            );
        }
        let mass = s.controls().body(0).unwrap().mass;
        let braked = (before - s.statistics().momentum.x) / (mass * 20.0 / 60.0);
        let expected = friction * 9.81;
        assert!(
            (braked / expected - 1.0).abs() < off,
            "{solver:?} θ {implicitness}: {braked}, not {expected}"
        );
    }
}
