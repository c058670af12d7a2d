//! Bodies that are tied together: they hold, conserve what is to be conserved, and are what one body would be.

use crate::common::*;
use pliant::{
    Body, BodyPoint, Builder, Coupling, CouplingId, DMat3, DVec3, Edit, EditError, Material, Simulation,
    SolverKind, Statistics, Timeline, WorldFrame, shapes,
};

/// A bar of 2×1×1 cells of 5 cm with its middle at a place, of whichever solver.
fn bar(name: &str, solver: SolverKind, at: DVec3) -> Body {
    let shape = shapes::tet_box([2, 1, 1], DVec3::new(0.1, 0.05, 0.05), shapes::TetStyle::Five).unwrap();
    let body = Body::new(name, shape);
    let mut body = match solver {
        SolverKind::Clustered => body.mass(0.25),
        _ => body.elastic(Material { young: 2e5, ..Material::named("rubber").unwrap() }).solved_by(solver),
    };
    if solver == SolverKind::Clustered {
        body.clusters = pliant::Clustering::Count(1);
        body.controls.stiffness = pliant::Stiffness::Frequency(20.0);
    }
    body.controls.iterations = 20;
    body.at(at.x, at.y, at.z)
}

/// The particle of a body nearest to a place.
fn nearest(s: &Simulation, body: usize, to: DVec3) -> u32 {
    let far = |p: DVec3| (p - to).length_squared();
    let (i, _) = s.positions(body).enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1))).unwrap();
    i as u32
}

/// Two bars end to end, tied at two corners of the faces that meet.
fn pair(solvers: [SolverKind; 2], theta: f64, pinned: bool) -> Simulation {
    let [mut a, b] =
        [bar("a", solvers[0], DVec3::new(0.0, 1.0, 0.0)), bar("b", solvers[1], DVec3::new(0.1, 1.0, 0.0))];
    if pinned {
        a = a.pin([0]);
    }
    let mut builder = Builder::new().body(a).body(b);
    builder.implicit.implicitness = theta;
    let mut s = builder.build().unwrap();
    for corner in [DVec3::new(0.05, 0.975, -0.025), DVec3::new(0.05, 0.975, 0.025)] {
        let points = [0, 1].map(|k| BodyPoint::particle(k, nearest(&s, k, corner)));
        s.couple(Coupling::joint(points[0], points[1])).unwrap();
    }
    s
}

/// The ways between points that are tied.
fn ways(s: &Simulation) -> Vec<DVec3> {
    let couplings = s.model().couplings().iter().zip(s.state().couplings());
    let at = |c: &Coupling, rotations: [pliant::DMat3; 2], side: usize| {
        c.sides[side].place(s.state(), rotations[side]).unwrap()
    };
    couplings.map(|(c, m)| at(&c.coupling, m.rotations, 0) - at(&c.coupling, m.rotations, 1)).collect()
}

/// The largest distance of points that are tied.
fn apart(s: &Simulation) -> f64 {
    ways(s).into_iter().map(|w| w.length()).fold(0.0, f64::max)
}

fn energy(s: &Statistics) -> f64 {
    s.kinetic + s.elastic + s.gravity
}

fn every_pair() -> impl Iterator<Item = [SolverKind; 2]> {
    SolverKind::SOFT.into_iter().flat_map(|a| SolverKind::SOFT.map(|b| [a, b]))
}

#[test]
fn any_two_solvers_hold_together() {
    for solvers in every_pair() {
        let mut s = pair(solvers, 1.0, true);
        for _ in 0..30 {
            s.step().unwrap();
            assert!(apart(&s) < 1e-9, "{solvers:?}: {}", apart(&s));
        }
        // It hangs from its pin, and did not fall.
        let lowest = s.positions(1).map(|p| p.y).fold(f64::INFINITY, f64::min);
        assert!((0.6..1.0).contains(&lowest), "{solvers:?}: {lowest}");
    }
}

#[test]
fn linear_momentum_is_kept_to_rounding_and_angular_momentum_to_the_order_of_the_step() {
    for solvers in every_pair() {
        let drift = |substeps: u32| {
            let mut s = pair(solvers, 1.0, false);
            s.set(pliant::Control::Gravity, DVec3::ZERO).unwrap();
            s.set_substeps(substeps).unwrap();
            // A mass other than it was built with is felt by the other body.
            let mass = s.controls().body(1).unwrap().mass;
            s.set(pliant::Control::Mass(1.into()), 3.0 * mass).unwrap();
            s.push(1, &[(0, 1.0)], DVec3::new(0.02, 0.05, 0.08)).unwrap();
            let before = s.statistics();
            run(&mut s, 30);
            let after = s.statistics();
            let lost = (after.momentum - before.momentum).length() / before.momentum.length();
            // Newton's steps may be shortened, so that forces are whole only once it has converged.
            let rounding = if solvers.contains(&SolverKind::Newton) { 1e-6 } else { 1e-10 };
            assert!(lost < rounding, "{solvers:?}: {lost}");
            (after.angular_momentum - before.angular_momentum).length() / before.angular_momentum.length()
        };
        let (coarse, fine) = (drift(4), drift(16));
        // Of position based dynamics, whose iterations have no end to come to, only the order is told.
        let (bound, little) = if solvers.contains(&SolverKind::Pbd) { (1.0, 5e-4) } else { (0.05, 1e-9) };
        assert!(coarse < bound && (fine < 0.6 * coarse || fine < little), "{solvers:?}: {coarse} and {fine}");
    }
}

/// Two halves whose faces are tied at all their particles are one bar: the same energies, the same masses.
#[test]
fn tied_halves_move_as_the_whole() {
    let rubber = Material { young: 2e5, ..Material::named("rubber").unwrap() };
    let part = |name: &str, cells: usize, middle: f64, solver: SolverKind| {
        let size = DVec3::new(0.05 * cells as f64, 0.1, 0.1);
        let shape = shapes::tet_box([cells, 2, 2], size, shapes::TetStyle::Five).unwrap();
        let mut body = Body::new(name, shape).elastic(rubber).solved_by(solver).at(middle, 0.3, 0.0);
        body.controls.iterations = if solver == SolverKind::Newton { 60 } else { 1500 };
        body.velocity = DVec3::new(0.0, -2.0, 0.5);
        // Each half would be damped toward a rigid motion of its own.
        body.controls.damping = 0.0;
        body
    };
    for (solver, ground) in [
        (SolverKind::Projective, false),
        (SolverKind::Projective, true),
        (SolverKind::Newton, false),
        (SolverKind::Newton, true),
    ] {
        let build = |bodies: Vec<Body>| {
            let mut builder = Builder::new();
            if ground {
                builder = builder.ground();
            }
            builder.bodies = bodies;
            builder.build().unwrap()
        };
        let pinned = |body: Body| if ground { body } else { body.pin([0, 1, 2]) };
        let mut whole = build(vec![pinned(part("whole", 4, 0.0, solver))]);
        let mut halves = build(vec![pinned(part("left", 2, -0.05, solver)), part("right", 2, 0.05, solver)]);
        let face: Vec<DVec3> = halves.positions(0).filter(|p| p.x.abs() < 1e-9).collect();
        assert_eq!(face.len(), 9);
        for at in face {
            let points = [0, 1].map(|k| BodyPoint::particle(k, nearest(&halves, k, at)));
            halves.couple(Coupling::joint(points[0], points[1])).unwrap();
        }
        let starts: Vec<DVec3> = whole.positions(0).collect();
        for step in 0..12 {
            whole.step().unwrap();
            halves.step().unwrap();
            assert!(apart(&halves) < 1e-9, "{}", apart(&halves));
            if step == 0 {
                continue;
            }
            let mut off = 0.0_f64;
            for (i, at) in whole.positions(0).enumerate() {
                let half = usize::from(starts[i].x > 0.0);
                // By the place at the start, which is that of the same particle.
                let j = (0..halves.positions(half).len())
                    .min_by(|a, b| {
                        let rest = |j: usize| {
                            let own = &halves.model().bodies()[half].parts.rest().positions;
                            (own.get(j) - own.get(0))
                                - (starts[i]
                                    - if half == 0 {
                                        starts[0]
                                    } else {
                                        DVec3::new(0.0, starts[0].y, starts[0].z)
                                    })
                        };
                        rest(*a).length_squared().total_cmp(&rest(*b).length_squared())
                    })
                    .unwrap();
                off = off.max((halves.positions(half).nth(j).unwrap() - at).length());
            }
            assert!(off < 1e-5, "{solver:?}, ground {ground}, step {step}: {off}");
        }
    }
}

#[test]
fn a_spring_is_as_long_as_its_load_says() {
    for solver in SolverKind::SOFT {
        let [a, b] =
            [bar("a", solver, DVec3::new(0.0, 1.0, 0.0)), bar("b", solver, DVec3::new(0.0, 0.95, 0.0))];
        let particles = a.shape.points.len() as u32;
        let a = a.pin(0..particles);
        let mut s = Builder::new().body(a).body(b).build().unwrap();
        let stiffness = 200.0;
        for (x, z) in [(-0.05, -0.025), (-0.05, 0.025), (0.05, -0.025), (0.05, 0.025)] {
            let corner = DVec3::new(x, 0.975, z);
            let points = [0, 1].map(|k| BodyPoint::particle(k, nearest(&s, k, corner)));
            s.couple(Coupling::spring(points[0], points[1], stiffness, 3.0)).unwrap();
        }
        run(&mut s, 400);
        let mass = s.controls().body(1).unwrap().mass;
        let wanted = mass * 9.81 / (4.0 * stiffness);
        let long = ways(&s).iter().map(|w| w.y).sum::<f64>() / 4.0;
        assert!((long / wanted - 1.0).abs() < 0.02, "{solver:?}: {long} for {wanted}");
        // What the springs hold is in the energy of the whole, not in that of a body.
        let held: f64 = ways(&s).iter().map(|w| 0.5 * stiffness * w.length_squared()).sum();
        let of_bodies: f64 = (0..2).map(|b| s.statistics_of(b).unwrap().elastic).sum();
        let told = s.statistics().elastic - of_bodies;
        assert!((told - held).abs() <= 1e-9 * held, "{solver:?}: {told} for {held}");
    }
}

#[test]
fn what_is_tied_gains_no_energy_by_any_rule() {
    for theta in [1.0, 0.7, 0.5] {
        for solvers in every_pair() {
            let mut s = pair(solvers, theta, true);
            let begin = energy(&s.statistics());
            let scale = s.statistics().gravity.abs();
            let mut most = f64::NEG_INFINITY;
            for _ in 0..40 {
                s.step().unwrap();
                most = most.max(energy(&s.statistics()) - begin);
            }
            // Symplectic Euler's energy swings; position based iterations promise nothing; and without damping of its own
            // the midpoint rule gives back what was lost before (2.5e-4 where a bar swings alone).
            let free = solvers
                .iter()
                .any(|k| matches!(k, SolverKind::Clustered | SolverKind::Xpbd | SolverKind::Pbd));
            let bound = if free {
                0.05
            } else if theta < 1.0 {
                3e-4
            } else {
                1e-6
            };
            assert!(most <= bound * scale, "θ {theta}, {solvers:?}: {} of {scale}", most);
            assert!(apart(&s) < 1e-2);
        }
    }
}

/// Three bars in a row of different solvers on the ground, and one that is tied to nothing.
fn row(threads: usize) -> Simulation {
    let kinds = [SolverKind::Clustered, SolverKind::Projective, SolverKind::Xpbd, SolverKind::Newton];
    let mut builder = Builder::new().ground();
    for (k, kind) in kinds.into_iter().enumerate() {
        builder = builder.body(bar(kind.name(), kind, DVec3::new(0.1 * k as f64, 0.2, 0.0)));
    }
    builder = builder.body(bar("alone", SolverKind::Projective, DVec3::new(0.0, 0.3, 0.4)));
    builder.threads = threads;
    let mut s = builder.build().unwrap();
    for k in 0..3 {
        let corner = DVec3::new(0.05 + 0.1 * k as f64, 0.225, 0.025);
        let points = [k, k + 1].map(|k| BodyPoint::particle(k, nearest(&s, k, corner)));
        let tie = match k {
            1 => Coupling::spring(points[0], points[1], 500.0, 1.0),
            _ => Coupling::joint(points[0], points[1]),
        };
        s.couple(tie).unwrap();
    }
    s
}

#[test]
fn the_same_bits_for_threads_dropped_caches_checkpoints_and_timelines() {
    same_bits_of_what_is_tied(row, 3);
}

#[test]
fn what_is_not_tied_has_the_bits_it_has_alone() {
    let mut s = row(2);
    let alone = bar("alone", SolverKind::Projective, DVec3::new(0.0, 0.3, 0.4));
    let mut other = Builder::new().ground().body(alone).build().unwrap();
    run(&mut s, 60);
    run(&mut other, 60);
    assert_eq!(body_bits(&s.state().bodies()[4]), body_bits(&other.state().bodies()[0]));
}

#[test]
fn couplings_come_and_go_while_it_runs() {
    let live = || {
        let mut s = row(1);
        run(&mut s, 10);
        s.uncouple(CouplingId::from(1)).unwrap();
        run(&mut s, 10);
        let points = [BodyPoint::particle(1, 3), BodyPoint::mean(4, &[(0, 0.25), (1, 0.75)]).unwrap()];
        s.couple(Coupling::joint(points[0], points[1]).named("late")).unwrap();
        (s, points)
    };
    let (mut s, points) = live();
    assert_eq!(s.model().coupling("late"), Some(CouplingId::from(3)));
    let far = apart(&s);
    assert!(far > 0.1);
    // It comes together at its pace, without a jerk.
    let mut before = far;
    let mut at_sixty = Vec::new();
    for frame in 21..=260 {
        s.step().unwrap();
        let now = apart(&s);
        assert!(now <= before + 1e-9, "{now} after {before}");
        before = now;
        if frame == 60 {
            at_sixty = bits(&s);
        }
    }
    assert!(before < 1e-9, "{before}");
    let fast = s.velocities(1).map(|v| v.length()).fold(0.0, f64::max);
    assert!(fast < 2.0, "{fast}");
    // A timeline makes the same of the same edits.
    let mut timeline = Timeline::new(row(1));
    timeline.edit(10, Edit::Uncouple(CouplingId::from(1))).unwrap();
    let late = Coupling::joint(points[0], points[1]).named("late");
    timeline.edit(20, Edit::Couple(Box::new(late))).unwrap();
    let frame = timeline.frame(60).unwrap();
    assert_eq!(state_bits(frame), at_sixty);
}

#[test]
fn what_cannot_be_tied_is_refused_and_told() {
    let mut s = row(1);
    let point = |body: usize, i: u32| BodyPoint::particle(body, i);
    let refused = |s: &mut Simulation, c: Coupling| s.couple(c).unwrap_err().to_string();
    let text = refused(&mut s, Coupling::joint(point(0, 999), point(9, 0)));
    assert!(text.contains("no particle 999") && text.contains("no body 9"), "{text}");
    let text = refused(&mut s, Coupling::joint(point(0, 1), point(0, 1)));
    assert!(text.contains("to itself"), "{text}");
    let text = refused(&mut s, Coupling::spring(point(0, 1), point(1, 1), f64::NAN, -1.0));
    assert!(text.contains("stiffness") && text.contains("damping"), "{text}");
    let crooked = BodyPoint { weights: [0.5, 0.4, 0.0, 0.0], ..point(1, 0) };
    let text = refused(&mut s, Coupling::joint(point(0, 1), crooked));
    assert!(text.contains("sum to 1"), "{text}");
    let before = s.model().id();
    let text = s.remove(1).unwrap_err().to_string();
    assert!(text.contains("projective") && text.contains("couplings 0, 1"), "{text}");
    assert!(matches!(s.uncouple(CouplingId::from(7)), Err(EditError::NoCoupling { .. })));
    assert_eq!(s.model().id(), before);
    s.uncouple(CouplingId::from(0)).unwrap();
    assert!(s.uncouple(CouplingId::from(0)).unwrap_err().to_string().contains("was removed"));
}

/// What is tied twice, what cannot move on either side, and a body tied to itself.
#[test]
fn ties_that_others_imply_or_that_nothing_can_follow_do_no_harm() {
    for solver in SolverKind::SOFT {
        let held = bar("held", solver, DVec3::new(0.0, 1.0, 0.0)).pin([0, 1, 2, 3]);
        let other = bar("other", solver, DVec3::new(0.12, 1.0, 0.0)).pin([0]);
        let mut s = Builder::new().body(held).body(other).build().unwrap();
        let point = BodyPoint::particle;
        for _ in 0..3 {
            s.couple(Coupling::joint(point(0, 11), point(1, 8))).unwrap();
        }
        s.couple(Coupling::joint(point(0, 0), point(1, 0))).unwrap();
        s.couple(Coupling::joint(point(1, 4), point(1, 9))).unwrap();
        run(&mut s, 200);
        let moved = s.positions(1).map(|p| p.length()).fold(0.0, f64::max);
        assert!(moved < 2.0, "{solver:?}: {moved}");
        let kinetic = s.statistics().kinetic;
        // What contradicts each other keeps position based dynamics busy, which has no force to balance it by.
        let most = match solver {
            SolverKind::Projective | SolverKind::Newton => 0.1,
            SolverKind::Pbd => 10.0,
            _ => 1.0,
        };
        assert!(kinetic < most, "{solver:?}: {kinetic} J");
    }
}

/// A thousand particles of one body tied to places in the world: all hold.
#[test]
fn a_thousand_ties_of_one_body_hold() {
    let shape = shapes::tet_box([24, 8, 8], DVec3::new(0.6, 0.2, 0.2), shapes::TetStyle::Five).unwrap();
    let mut body =
        Body::new("block", shape).elastic(Material { young: 2e5, ..Material::named("rubber").unwrap() });
    body.controls.iterations = 10;
    let at = body.shape.points.clone();
    let builder = Builder::new().substeps(1).body(body);
    let tied: Vec<usize> = (0..at.len()).step_by(2).take(1000).collect();
    assert_eq!(tied.len(), 1000);
    // Every third to where it is not: drawn there at the pace of what begins apart.
    let place = |k: usize| at[tied[k]] + if k.is_multiple_of(3) { DVec3::Y * 1e-3 } else { DVec3::ZERO };
    let tie = |k: usize| {
        let to = WorldFrame { at: place(k), axes: DMat3::IDENTITY };
        Coupling::joint(BodyPoint::particle(0, tied[k] as u32), to)
    };
    let mut s = (0..tied.len()).fold(builder, |builder, k| builder.coupling(tie(k))).build().unwrap();
    run(&mut s, 3);
    let far = |k: usize| s.positions(0).nth(tied[k]).unwrap().distance(place(k));
    let worst = (0..tied.len()).map(far).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{worst} m from its place");
}
