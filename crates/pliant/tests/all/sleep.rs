//! Islands that have come to rest sleep, cost nothing, and wake when something they would feel changes.

use crate::common::{bits, run};
use pliant::shapes::{self, SolidShape, TetStyle};
use pliant::{Body, Builder, Control, DVec3, Material, Simulation, SolverKind};

fn cube(name: &str, solver: SolverKind) -> Body {
    let size = DVec3::splat(0.1);
    let mut body = match solver {
        SolverKind::Rigid => Body::rigid(name, SolidShape::Cuboid { size }.build_rigid().unwrap()),
        SolverKind::Clustered => Body::new(name, SolidShape::Cuboid { size }.build(0.1 / 6.0).unwrap()),
        _ => {
            let rubber = Material { young: 1e6, density: 1000.0, ..Material::named("rubber").unwrap() };
            let body =
                Body::new(name, shapes::tet_box([2, 2, 2], size, TetStyle::Five).unwrap()).elastic(rubber);
            if solver == SolverKind::Projective { body } else { body.solved_by(solver) }
        }
    };
    (body.mass, body.controls.damping) = (1.0, 20.0);
    body
}

/// A stack, and one far away in the air that falls late.
fn build(solver: SolverKind, threads: usize) -> Simulation {
    let mut builder = Builder::new().ground().body_contact().sleeping_below(5e-3);
    builder.threads = threads;
    for k in 0..2 {
        builder = builder.body(cube(&format!("cube {k}"), solver).at(0.0, 0.051 + 0.102 * f64::from(k), 0.0));
    }
    builder.body(cube("late", SolverKind::Rigid).at(0.03, 8.0, 0.02)).build().unwrap()
}

#[test]
fn a_stack_sleeps_and_wakes_when_it_is_hit() {
    // Clusters of this stiffness never come to rest: explicit steps take nothing from their swinging.
    for solver in SolverKind::ALL.into_iter().filter(|s| *s != SolverKind::Clustered) {
        let mut s = build(solver, 1);
        let (mut asleep_at, mut woken_at) = (None, None);
        let mut lying = Vec::new();
        for step in 0..110 {
            let report = s.step().unwrap();
            if report.asleep == 2 && asleep_at.is_none() {
                (asleep_at, lying) = (Some(step), s.positions(0).collect());
                assert!(s.velocities(0).all(|v| v == DVec3::ZERO), "{solver:?}");
            }
            if asleep_at.is_some() && report.asleep == 0 && woken_at.is_none() {
                woken_at = Some(step);
                let now: Vec<DVec3> = s.positions(0).collect();
                // What slept did not move by a bit until then.
                assert!(now.iter().zip(&lying).all(|(p, q)| p.distance(*q) < 1e-3), "{solver:?}");
            }
        }
        println!("{solver:?}: asleep at {asleep_at:?}, woken at {woken_at:?}");
        assert!(asleep_at.is_some_and(|at| at < 75), "{solver:?}: {asleep_at:?}");
        assert!(woken_at.is_some(), "{solver:?}");
    }
}

#[test]
fn sleep_has_the_same_bits_however_it_is_come_to() {
    let steps = 100;
    let mut s = build(SolverKind::Projective, 1);
    run(&mut s, steps);
    let wanted = bits(&s);
    for threads in [2, 7] {
        let mut s = build(SolverKind::Projective, threads);
        run(&mut s, steps);
        assert!(bits(&s) == wanted, "{threads} threads");
    }
    let mut half = build(SolverKind::Projective, 2);
    run(&mut half, 65);
    assert_eq!(half.step().unwrap().asleep, 2);
    let mut other = build(SolverKind::Projective, 1);
    other.restore(&half.checkpoint()).unwrap();
    for _ in 66..steps {
        other.drop_caches();
        other.step().unwrap();
    }
    assert!(bits(&other) == wanted);
}

/// A push, another value, another gravity, a floor that goes or moves: each wakes.
#[test]
fn what_is_felt_wakes() {
    let asleep = || {
        let mut builder = Builder::new().ground().body_contact().sleeping_below(5e-3);
        let mut tray = pliant::Collider::solid(
            pliant::Primitive::Cuboid { half: DVec3::new(0.5, 0.05, 0.5) },
            pliant::DAffine3::from_translation(DVec3::new(3.0, 0.05, 0.0)),
        );
        tray.name = "tray".into();
        builder = builder.collider(tray).body(cube("one", SolverKind::Projective).at(0.0, 0.0501, 0.0));
        let mut s = builder.body(cube("other", SolverKind::Rigid).at(3.0, 0.1501, 0.0)).build().unwrap();
        run(&mut s, 60);
        assert_eq!(s.step().unwrap().asleep, 2);
        s
    };
    let (one, other) = (0, 1);
    let mut s = asleep();
    let id = s.model().bodies()[one].id;
    s.push(id, &[(0, 1.0)], DVec3::Y * 0.1).unwrap();
    assert_eq!(s.step().unwrap().asleep, 0, "an edit wakes everybody");
    let mut s = asleep();
    let id = s.model().bodies()[other].id;
    s.controls_mut().set(Control::Restitution(id), 0.5).unwrap();
    assert_eq!(s.step().unwrap().asleep, 1, "another restitution");
    let mut s = asleep();
    s.controls_mut().set(Control::GravityMagnitude, 5.0).unwrap();
    assert_eq!(s.step().unwrap().asleep, 0, "gravity");
    let mut s = asleep();
    let tray = s.model().colliders()[1].id;
    let lower = pliant::DAffine3::from_translation(DVec3::new(3.0, -0.05, 0.0));
    s.place_collider(tray, Some(lower)).unwrap();
    assert_eq!(s.step().unwrap().asleep, 1, "what moves nearby");
    run(&mut s, 30);
    let height = s.positions(other).map(|p| p.y).sum::<f64>() / 4.0;
    assert!((height - 0.05).abs() < 1e-2, "{height}");
    let mut s = asleep();
    s.remove_collider(tray).unwrap();
    assert_eq!(s.step().unwrap().asleep, 0, "a floor that goes");
    let mut s = asleep();
    s.add(cube("new", SolverKind::Projective).at(0.02, 0.2, 0.0)).unwrap();
    s.step().unwrap();
    run(&mut s, 20);
    assert!(s.positions(2).map(|p| p.y).fold(f64::INFINITY, f64::min) > 0.09, "what falls on it is held");
}
