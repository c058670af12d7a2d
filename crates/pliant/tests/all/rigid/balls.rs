//! Balls by themselves: they roll and bounce as any solid does, and rest as it does.

use super::*;
use crate::common::*;
use pliant::{Builder, Collider, Control, DAffine3, Edit, HalfSpace, Motion, Primitive};

/// A ball thrown at a ground and walls, one of which moves; where any solid is to meet them, a collider far away that is no
/// plane sees to it that this is no special ball.
fn thrown(case: u32, special: bool) -> Simulation {
    let number = |rate: f64| (f64::from(case) * rate).sin();
    let mut body = Body::rigid("ball", SolidShape::Ball { radius: 0.1 }.build_rigid().unwrap()).mass(2.0);
    body.position = DVec3::new(0.2 * number(0.3), 0.3, 0.2 * number(1.1));
    body.velocity = DVec3::new(2.0 * number(1.7), number(0.9), 2.0 * number(2.3));
    body.spin = DVec3::new(20.0 * number(2.9), 20.0 * number(3.7), 20.0 * number(5.1));
    body.controls.restitution = [0.0, 0.5, 0.9][case as usize % 3];
    body.controls.drag = 0.1 * f64::from(case % 2);
    let plane = |normal: DVec3, offset: f64| HalfSpace {
        normal: normal.normalize(),
        offset,
        friction: [0.0, 0.3, 1.2][case as usize / 3 % 3],
        restitution: 0.0,
    };
    let pushing = Motion { velocity: DVec3::new(0.3, 0.0, 0.0), ..Motion::REST };
    let mut builder = Builder::new()
        .substeps(1 + case % 4)
        .collider(plane(DVec3::Y, 0.0))
        .collider(Collider::from(plane(DVec3::new(1.0, 0.2, 0.1), -0.5)).moving(pushing))
        .collider(plane(DVec3::new(-1.0, 0.1, 0.0), -0.5))
        .collider(plane(DVec3::new(0.1, 0.1, 1.0), -0.5))
        .body(body);
    if !special {
        let far = DAffine3::from_translation(DVec3::new(0.0, 500.0, 0.0));
        builder = builder.collider(Collider::solid(Primitive::Ball { radius: 0.1 }, far));
    }
    builder.build().unwrap()
}

#[test]
fn a_ball_by_itself_moves_as_any_solid_does() {
    let mut worst = 0.0_f64;
    for case in 0..60 {
        let (mut ball, mut solid) = (thrown(case, true), thrown(case, false));
        // A ball later jammed between wall and ground with a friction of 1.2 (case 6) has more than one answer to both.
        for frame in 0..40 {
            if frame == 10 && case % 5 == 0 {
                for s in [&mut ball, &mut solid] {
                    s.set(Control::Mass(0.into()), 5.0).unwrap();
                    s.set(Control::Force(0.into()), DVec3::new(0.5, 0.0, -1.0)).unwrap();
                }
            }
            if frame == 20 && case % 7 == 0 {
                // Forces on particles, not on all of it: they turn it as well.
                let forces = vec![DVec3::X, DVec3::ZERO, DVec3::new(0.0, 0.5, -0.5), DVec3::ZERO];
                ball.edit(&Edit::Forces(0.into(), forces.clone())).unwrap();
                solid.edit(&Edit::Forces(0.into(), forces)).unwrap();
            }
            run(&mut ball, 1);
            run(&mut solid, 1);
            let apart = ball.positions(0).zip(solid.positions(0)).map(|(a, b)| a.distance(b));
            let faster = ball.velocities(0).zip(solid.velocities(0)).map(|(a, b)| a.distance(b) / 10.0);
            let off = apart.chain(faster).fold(0.0, f64::max);
            assert!(off < 1e-10, "case {case}, frame {frame}: {off}");
            worst = worst.max(off);
        }
        assert!(ball.statistics().max_penetration < 1e-10);
    }
    println!("60 throws: within {worst:.1e} of any solid");
}

/// What is shown of a ball that is watched is where it goes, and watching changes nothing.
#[test]
fn watching_a_ball_changes_nothing() {
    let (mut watched, mut alone) = (thrown(4, true), thrown(4, true));
    let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let sink = seen.clone();
    watched.observe_iterations(0, Box::new(move |_, x| sink.lock().unwrap().push(x.clone())));
    run(&mut watched, 20);
    run(&mut alone, 20);
    assert_eq!(bits(&watched), bits(&alone));
    let seen = seen.lock().unwrap();
    let last: &pliant::Points = &seen[seen.len() - 1];
    assert!(last.iter().zip(alone.positions(0)).all(|(a, b)| a.distance(b) < 1e-14));
}
