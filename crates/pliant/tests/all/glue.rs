//! Point cloud glue: what is bound to the best-fit frame of particles follows it, pulls at them with force and torque, and
//! stretches nothing.

use crate::common::*;
use pliant::{
    Attachment, Body, BodyFrame, BodyPoint, Builder, Clustering, Control, Coupling, DMat3, DVec3, Edit,
    Material, Motion, Simulation, SolverKind, Timeline, shapes,
};

const KINDS: [SolverKind; 2] = [SolverKind::Clustered, SolverKind::Projective];

/// A block of 2×2×2 cells of 5 cm around a place.
fn block(name: &str, solver: SolverKind, at: DVec3) -> Body {
    let shape = shapes::tet_box([2, 2, 2], DVec3::splat(0.1), shapes::TetStyle::Five).unwrap();
    let body = Body::new(name, shape);
    let mut body = match solver {
        SolverKind::Clustered => body.mass(1.0).frequency(36.0),
        _ => body.elastic(Material { young: 1e5, ..Material::named("rubber").unwrap() }).solved_by(solver),
    };
    if solver == SolverKind::Clustered {
        body.clusters = Clustering::Whole;
    }
    body.controls.iterations = 30;
    body.controls.damping = 0.0;
    body.at(at.x, at.y, at.z)
}

/// The frame at `at` of the particles of a body within a distance of `near`, as they are now.
fn frame(s: &Simulation, body: usize, (near, within): (DVec3, f64), at: DVec3) -> BodyFrame {
    let around = |p: DVec3| (p - near).length() <= within;
    let parents: Vec<(u32, f64)> =
        s.positions(body).enumerate().filter(|(_, p)| around(*p)).map(|(i, _)| (i as u32, 1.0)).collect();
    let rest: Vec<DVec3> = s.positions(body).filter(|p| around(*p)).collect();
    BodyFrame::new(body, &parents, &rest, (at, DMat3::IDENTITY)).unwrap()
}

fn nearest(s: &Simulation, body: usize, to: DVec3) -> u32 {
    let far = |p: DVec3| (p - to).length_squared();
    let (i, _) = s.positions(body).enumerate().min_by(|a, b| far(a.1).total_cmp(&far(b.1))).unwrap();
    i as u32
}

/// Two blocks of any solvers with a gap of 5 cm, the second glued at three corners of its face to the frame of the first.
fn pair(solvers: [SolverKind; 2], pinned: bool) -> Simulation {
    let mut a = block("a", solvers[0], DVec3::ZERO);
    if pinned {
        let points = a.shape.points.iter().enumerate();
        let left: Vec<u32> = points.filter(|(_, p)| p.x < -0.049).map(|(i, _)| i as u32).collect();
        a = a.pin(left);
    }
    let b = block("b", solvers[1], DVec3::new(0.15, 0.0, 0.0));
    let mut s = Builder::new().body(a).body(b).build().unwrap();
    for corner in [DVec3::new(0.1, 0.05, 0.05), DVec3::new(0.1, -0.05, 0.05), DVec3::new(0.1, 0.0, -0.05)] {
        let glued = frame(&s, 0, (DVec3::new(0.05, 0.0, 0.0), 0.075), corner);
        let point = BodyPoint::particle(1, nearest(&s, 1, corner));
        s.couple(Coupling::joint(glued, point)).unwrap();
    }
    s
}

/// The largest distance of what is glued.
fn apart(s: &Simulation) -> f64 {
    let couplings = s.model().couplings().iter().zip(s.state().couplings());
    let off = couplings.filter(|(_, m)| !m.broken).map(|(c, m)| {
        let at = |k: usize| c.coupling.sides[k].place(s.state(), m.rotations[k]).unwrap();
        (at(0) - at(1)).length()
    });
    off.fold(0.0, f64::max)
}

fn every_pair() -> impl Iterator<Item = [SolverKind; 2]> {
    SolverKind::SOFT.into_iter().flat_map(|a| SolverKind::SOFT.map(|b| [a, b]))
}

#[test]
fn any_two_solvers_hold_together_through_the_air_between_them() {
    for solvers in every_pair() {
        let mut s = pair(solvers, true);
        let mut lowest = 0.0_f64;
        for _ in 0..12 {
            s.step().unwrap();
            // What position based sweeps move in their last round, frames turn by.
            let loose = solvers.iter().any(|k| matches!(k, SolverKind::Xpbd | SolverKind::Pbd));
            assert!(apart(&s) < if loose { 1e-6 } else { 1e-9 }, "{solvers:?}: {}", apart(&s));
            lowest = lowest.min(s.positions(1).map(|p| p.y).fold(0.0, f64::min));
        }
        // A cantilever: it bends under the load beyond its end, and does not fall.
        assert!((-0.25..-0.05).contains(&lowest), "{solvers:?}: {lowest}");
    }
}

#[test]
fn what_is_glued_to_a_rigidly_moving_body_moves_rigidly() {
    for solver in KINDS {
        let n = block("led", solver, DVec3::ZERO).shape.points.len() as u32;
        let mut led = block("led", solver, DVec3::ZERO).pin(0..n);
        let motion =
            Motion { velocity: DVec3::new(0.3, 0.1, 0.0), spin: DVec3::new(1.0, 2.0, -3.0), ..Motion::REST };
        led.pins[0].motion = motion;
        let load = block("load", solver, DVec3::new(0.2, 0.05, 0.0));
        let mut s = Builder::new().body(led).body(load).build().unwrap();
        let ends = [DVec3::new(0.15, 0.0, 0.05), DVec3::new(0.15, 0.1, 0.05), DVec3::new(0.15, 0.1, -0.05)];
        let held = ends.map(|at| (nearest(&s, 1, at), at));
        for (particle, at) in held {
            let glued = frame(&s, 0, (DVec3::ZERO, 0.2), at);
            s.couple(Coupling::joint(glued, BodyPoint::particle(1, particle))).unwrap();
        }
        for _ in 0..120 {
            s.step().unwrap();
            for (particle, at) in held {
                let wanted = motion.placement(s.state().time()).transform_point3(at);
                let is = s.positions(1).nth(particle as usize).unwrap();
                assert!((is - wanted).length() < 1e-10, "{solver:?}: {}", (is - wanted).length());
            }
        }
    }
}

#[test]
fn linear_momentum_is_kept_to_rounding_and_angular_momentum_to_the_order_of_the_step() {
    for solvers in [[KINDS[0]; 2], [KINDS[1]; 2], KINDS] {
        let drift = |substeps: u32| {
            let mut s = pair(solvers, false);
            s.set(Control::Gravity, DVec3::ZERO).unwrap();
            s.set_substeps(substeps).unwrap();
            s.push(1, &[(0, 1.0)], DVec3::new(0.2, 0.5, 0.8)).unwrap();
            let before = s.statistics();
            run(&mut s, 30);
            let after = s.statistics();
            let lost = (after.momentum - before.momentum).length() / before.momentum.length();
            assert!(lost < 1e-10, "{solvers:?}: {lost}");
            (after.angular_momentum - before.angular_momentum).length() / before.angular_momentum.length()
        };
        let [coarse, middle, fine] = [4, 8, 16].map(drift);
        let order = (coarse / fine).log2() / 2.0;
        assert!(fine < 1e-9 || order > 0.9, "{solvers:?}: {coarse}, {middle}, {fine}: order {order}");
    }
}

/// A joint that must be where two frames that nothing moves are not both: the least-squares point.
#[test]
fn conflicting_bindings_settle_between() {
    for solver in KINDS {
        let n = block("a", solver, DVec3::ZERO).shape.points.len() as u32;
        let a = block("a", solver, DVec3::ZERO).pin(0..n);
        let b = block("b", solver, DVec3::new(0.4, 0.0, 0.0)).pin(0..n);
        let load = block("load", solver, DVec3::new(0.2, 0.0, 0.0));
        let mut s = Builder::new().body(a).body(b).body(load).build().unwrap();
        let point = BodyPoint::particle(2, nearest(&s, 2, DVec3::new(0.2, 0.05, 0.0)));
        let wanted = [DVec3::new(0.2, 0.06, 0.0), DVec3::new(0.22, 0.05, 0.01), DVec3::new(0.18, 0.05, 0.02)];
        for (k, at) in wanted.into_iter().enumerate() {
            let body = [0, 1, 1][k];
            let middle = DVec3::new([0.0, 0.4][body], 0.0, 0.0);
            let glued = frame(&s, body, (middle, 0.2), at);
            s.couple(Coupling::joint(glued, point)).unwrap();
        }
        run(&mut s, 400);
        let is = s.positions(2).nth(point.particles[0] as usize).unwrap();
        let mean = wanted.iter().sum::<DVec3>() / 3.0;
        assert!((is - mean).length() < 1e-6, "{solver:?}: {is}, not {mean}");
    }
}

#[test]
fn a_tie_breaks_in_the_first_step_whose_force_is_too_much() {
    for solver in KINDS {
        let load = |most: f64| {
            let mut s = pair([solver; 2], true);
            (0..3).for_each(|k| s.uncouple(k.into()).unwrap());
            let point = BodyPoint::particle(1, nearest(&s, 1, DVec3::new(0.1, 0.0, 0.0)));
            let glued = frame(&s, 0, (DVec3::new(0.05, 0.0, 0.0), 0.06), DVec3::new(0.1, 0.0, 0.0));
            s.couple(Coupling::joint(glued, point).breaking_at(most)).unwrap();
            s
        };
        let mut whole = load(f64::INFINITY);
        let mut forces = Vec::new();
        for _ in 0..40 {
            whole.step().unwrap();
            forces.push(whole.state().couplings()[0].force.length());
        }
        let threshold = 0.7 * forces.iter().copied().fold(0.0, f64::max);
        let first = forces.iter().position(|f| *f > threshold).unwrap();
        let mut s = load(threshold);
        for (k, force) in forces.iter().enumerate() {
            s.step().unwrap();
            assert_eq!(s.state().couplings()[0].broken, k >= first, "{solver:?}: step {k}, not {first}");
            if k < first {
                assert_eq!(s.state().couplings()[0].force.length(), *force);
            }
        }
        // It falls like any other body.
        run(&mut s, 30);
        assert!(s.positions(1).all(|p| p.y < -0.2));
        // What is broken stays so, also in a timeline and a checkpoint.
        let checkpoint = s.checkpoint();
        let mut other = load(threshold);
        other.restore(&checkpoint).unwrap();
        run(&mut other, 5);
        run(&mut s, 5);
        assert_eq!(bits(&other), bits(&s));
        let mut timeline = Timeline::new(load(threshold));
        assert_eq!(state_bits(timeline.frame(75).unwrap()), bits(&s));
    }
}

/// A spring whose points come further apart than they may is gone at the end of the step in which they do.
#[test]
fn a_tie_breaks_in_the_first_step_that_stretches_it_too_far() {
    for solver in KINDS {
        let load = |most: f64| {
            let mut s = pair([solver; 2], true);
            (0..3).for_each(|k| s.uncouple(k.into()).unwrap());
            let point = BodyPoint::particle(1, nearest(&s, 1, DVec3::new(0.1, 0.0, 0.0)));
            let glued = frame(&s, 0, (DVec3::new(0.05, 0.0, 0.0), 0.06), DVec3::new(0.1, 0.0, 0.0));
            s.couple(Coupling::spring(glued, point, 150.0, 0.0).breaking_apart(most)).unwrap();
            s
        };
        let mut whole = load(f64::INFINITY);
        let mut stretched = Vec::new();
        for _ in 0..40 {
            whole.step().unwrap();
            stretched.push(apart(&whole));
        }
        let threshold = 0.7 * stretched.iter().copied().fold(0.0, f64::max);
        let first = stretched.iter().position(|far| *far > threshold).unwrap();
        let mut s = load(threshold);
        for k in 0..=first {
            assert_eq!(
                s.step().unwrap().broken,
                usize::from(k == first),
                "{solver:?}: step {k}, not {first}"
            );
        }
        assert!(first > 3 && s.state().couplings()[0].broken, "{solver:?}: {first}");
    }
}

/// What a weld tells of its force is all of it, and what breaks it is that, or its torque at the lever of its frame.
#[test]
fn a_weld_carries_weight_and_torque_and_breaks_by_either() {
    let (mass, length) = (2.0, 0.6);
    let shelf = |most: f64| {
        let size = DVec3::new(length, 0.1, 0.2);
        let solid = shapes::SolidShape::Cuboid { size }.build_rigid().unwrap();
        let body = Body::rigid("shelf", solid).mass(mass).at(0.5 * length, 0.0, 0.0);
        let mut s = Builder::new().body(body).build().unwrap();
        let wall = pliant::WorldFrame { at: DVec3::ZERO, axes: DMat3::IDENTITY };
        let end = s.frame_near(0, DVec3::ZERO, DMat3::IDENTITY, &pliant::Glue::default()).unwrap();
        let lever = end.cloud().size();
        s.couple(Coupling::weld(wall, end).breaking_at(most)).unwrap();
        (s, lever)
    };
    let (mut s, lever) = shelf(f64::INFINITY);
    run(&mut s, 30);
    let force = s.state().couplings()[0].force;
    let (weight, torque) = (mass * 9.81, mass * 9.81 * 0.5 * length);
    println!("{force} of {weight} N, {} N of {lever} m", torque / lever);
    // On the wall, the first of its sides.
    assert!((force - DVec3::NEG_Y * weight).length() < 1e-6 * weight, "{force}");
    // The torque counts for more here.
    assert!(torque / lever > 1.2 * weight);
    for (most, breaks) in [(1.02 * torque / lever, false), (0.98 * torque / lever, true)] {
        let mut s = shelf(most).0;
        run(&mut s, 30);
        assert_eq!(s.state().couplings()[0].broken, breaks, "{most} N");
    }
}

#[test]
fn frames_are_welded_and_hinged() {
    for solvers in [[KINDS[0]; 2], [KINDS[1]; 2], KINDS] {
        for weld in [true, false] {
            let mut s = pair(solvers, true);
            (0..3).for_each(|k| s.uncouple(k.into()).unwrap());
            let at = DVec3::new(0.075, 0.0, 0.0);
            let [a, b] = [0.05, 0.1].map(|x| (DVec3::new(x, 0.0, 0.0), 0.06));
            let sides = [frame(&s, 0, a, at), frame(&s, 1, b, at)];
            let [first, second] = sides.map(Attachment::from);
            let coupling = if weld { Coupling::weld(first, second) } else { Coupling::hinge(first, second) };
            s.couple(coupling).unwrap();
            let mut most = 0.0_f64;
            for _ in 0..60 {
                s.step().unwrap();
                assert!(apart(&s) < 1e-9, "{solvers:?}: {}", apart(&s));
                let turns = s.state().couplings()[0].rotations;
                let relative = turns[1] * turns[0].transpose();
                // Hinges turn about z and nothing else.
                let tipped = (relative * turns[0].z_axis - turns[0].z_axis).length();
                assert!(tipped < 1e-6, "{solvers:?} weld {weld}: {tipped}");
                most = most.max((relative * turns[0].x_axis - turns[0].x_axis).length());
            }
            assert!(if weld { most < 1e-6 } else { most > 0.2 }, "{solvers:?} weld {weld}: {most}");
        }
    }
}

#[test]
fn a_point_is_glued_to_the_world() {
    for solver in SolverKind::SOFT {
        let mut s = Builder::new().body(block("a", solver, DVec3::ZERO)).build().unwrap();
        let corner = DVec3::new(-0.05, 0.05, 0.05);
        let point = BodyPoint::particle(0, nearest(&s, 0, corner));
        let world = pliant::WorldFrame { at: corner, axes: DMat3::IDENTITY };
        s.couple(Coupling::joint(world, point)).unwrap();
        for _ in 0..60 {
            s.step().unwrap();
            assert!(apart(&s) < 1e-9, "{solver:?}: {}", apart(&s));
        }
        assert!(s.positions(0).any(|p| p.y < -0.05));
    }
}

/// Two solvers, a hinge, glue, a joint to the world, and one body that is glued to itself.
fn row(threads: usize) -> Simulation {
    let mut builder = Builder::new().ground();
    for (k, kind) in [KINDS[1], KINDS[0], KINDS[1]].into_iter().enumerate() {
        builder = builder.body(block(&k.to_string(), kind, DVec3::new(0.15 * k as f64, 0.2, 0.0)));
    }
    builder.threads = threads;
    let mut s = builder.build().unwrap();
    let middle = |k: f64| DVec3::new(0.075 + 0.15 * k, 0.2, 0.0);
    for k in 0..2 {
        let sides = [0.0, 0.05].map(|x| (middle(k as f64) + DVec3::X * (x - 0.025), 0.08));
        let (a, b) = (frame(&s, k, sides[0], middle(k as f64)), frame(&s, k + 1, sides[1], middle(k as f64)));
        s.couple(if k == 0 { Coupling::hinge(a, b) } else { Coupling::weld(a, b) }).unwrap();
    }
    let corner = DVec3::new(-0.05, 0.25, 0.05);
    let world = pliant::WorldFrame { at: corner, axes: DMat3::IDENTITY };
    let point = BodyPoint::particle(0, nearest(&s, 0, corner));
    s.couple(Coupling::spring(world, point, 500.0, 1.0)).unwrap();
    let far = DVec3::new(0.35, 0.25, 0.05);
    let own = frame(&s, 2, (DVec3::new(0.25, 0.2, 0.0), 0.08), far);
    let point = BodyPoint::particle(2, nearest(&s, 2, far));
    s.couple(Coupling::spring(own, point, 300.0, 0.5)).unwrap();
    s
}

#[test]
fn the_same_bits_for_threads_dropped_caches_checkpoints_and_timelines() {
    same_bits_of_what_is_tied(row, 4);
}

/// All solvers in one row from a pin to a nail that breaks, by welds and hinges with limits and a motor; and beside it a button on a
/// napkin whose corners are led onto a line.
fn everything(threads: usize) -> Simulation {
    let place = |k: usize| DVec3::new(0.15 * k as f64, 0.4, 0.0);
    let mut builder = Builder::new().ground().substeps(2);
    for (k, kind) in SolverKind::SOFT.into_iter().enumerate() {
        let mut body = block(kind.name(), kind, place(k));
        if kind == SolverKind::Clustered {
            body = body.frequency(18.0);
        }
        if k == 0 {
            let points = body.shape.points.iter().enumerate();
            let left: Vec<u32> = points.filter(|(_, p)| p.x < -0.049).map(|(i, _)| i as u32).collect();
            body = body.pin(left);
        }
        builder = builder.body(body);
    }
    let cuboid = |name: &str, size: f64, at: DVec3| {
        let solid = shapes::SolidShape::Cuboid { size: DVec3::splat(size) }.build_rigid().unwrap();
        Body::rigid(name, solid).mass(0.5).at(at.x, at.y, at.z)
    };
    builder = builder.body(cuboid("solid", 0.1, place(5)));
    let (corner, up) = (shapes::sheet(0.4, 0.4, 1, 1).unwrap(), DVec3::new(0.0, 0.5, 1.0));
    let mut napkin = Body::new("napkin", corner.clone()).projective().at(up.x, up.y, up.z);
    napkin.clusters = Clustering::None;
    for (front, velocity) in [(false, 0.0), (true, -1.2)] {
        let points = corner.points.iter().enumerate();
        let held = points.filter(|(_, p)| (p.z > 0.0) == front).map(|(i, _)| i as u32);
        napkin = napkin.pin(held.collect::<Vec<u32>>());
        let motion = &mut napkin.pins.last_mut().unwrap().motion;
        (motion.velocity, motion.end) = (DVec3::Z * velocity, 1.0 / 3.0);
    }
    builder = builder.body(napkin).body(cuboid("button", 0.04, up + DVec3::new(0.0, 0.05, 0.1)));
    builder.threads = threads;
    let mut s = builder.build().unwrap();
    for k in 0..5 {
        let between = 0.5 * (place(k) + place(k + 1));
        let sides = [(k, -0.025), (k + 1, 0.025)];
        let [a, b] = sides.map(|(k, x)| {
            let all = if k == 5 { 1.0 } else { 0.08 };
            frame(&s, k, (between + DVec3::X * x, all), between)
        });
        let coupling = match k {
            1 => Coupling::hinge(a, b).limited(-0.1, 0.2),
            3 => Coupling::hinge(a, b).driven(2.0, 0.05),
            _ => Coupling::weld(a, b),
        };
        s.couple(coupling).unwrap();
    }
    let nail = pliant::WorldFrame { at: place(5), axes: DMat3::IDENTITY };
    let nailed = s.point_of(5, place(5)).unwrap();
    s.couple(Coupling::joint(nail, nailed).breaking_at(25.0)).unwrap();
    let glued = s.find_glue(7, 6, &pliant::Glue::default()).unwrap().couplings;
    glued.into_iter().for_each(|c| _ = s.couple(c).unwrap());
    s
}

#[test]
fn all_solvers_solids_limits_motors_breaks_and_collapses_have_the_same_bits() {
    let mut s = everything(1);
    let (mut broken, mut collapsed) = (Vec::new(), Vec::new());
    for k in 0..40 {
        let report = s.step().unwrap();
        broken.extend((0..report.broken).map(|_| k));
        collapsed.extend((0..report.collapsed).map(|_| k));
        let told: Vec<_> = s.mishaps().filter(|(_, m)| *m == pliant::Mishap::Broke).collect();
        assert_eq!(told.len(), report.broken);
    }
    println!("broken in {broken:?}, collapsed in {collapsed:?}");
    assert!(broken.len() == 1 && (3..37).contains(&broken[0]), "{broken:?}");
    assert!(collapsed.len() == 1 && (18..22).contains(&collapsed[0]), "{collapsed:?}");
    same_bits_of_what_is_tied(everything, 7);
}

#[test]
fn glue_comes_and_goes_in_a_timeline_as_it_does_live() {
    let mut s = row(1);
    let far = DVec3::new(-0.05, 0.15, -0.05);
    let late = || {
        let s = row(1);
        let own = frame(&s, 0, (DVec3::new(0.0, 0.2, 0.0), 0.08), far);
        Coupling::joint(own, BodyPoint::particle(0, nearest(&s, 0, far))).named("late")
    };
    run(&mut s, 10);
    s.uncouple(0.into()).unwrap();
    run(&mut s, 10);
    s.couple(late()).unwrap();
    run(&mut s, 20);
    let mut timeline = Timeline::new(row(1));
    timeline.edit(10, Edit::Uncouple(0.into())).unwrap();
    timeline.edit(20, Edit::Couple(Box::new(late()))).unwrap();
    assert_eq!(state_bits(timeline.frame(40).unwrap()), bits(&s));
}

/// A body whose parents have collapsed to a line goes on with numbers, and the glue holds what it can.
#[test]
fn parents_on_a_line_stay_finite() {
    for solver in KINDS {
        let mut s = pair([solver; 2], false);
        s.set(Control::Gravity, DVec3::ZERO).unwrap();
        let mut state = s.state().clone();
        let x = state.bodies_mut()[0].positions_mut();
        x.y.fill(0.0);
        x.z.fill(0.0);
        s.set_state(state).unwrap();
        let before = s.statistics().elastic;
        run(&mut s, 60);
        assert!(s.positions(0).chain(s.positions(1)).all(|p| p.is_finite()));
        // No more than squashing it took, and most of that is damped away.
        let after = s.statistics().kinetic;
        assert!(after < 0.1 * before, "{solver:?}: {after} J of {before}");
    }
}

/// Parents that an animation leads onto a line and back: that is told once for each coupling, numbers stay numbers, and what
/// is glued is in its place again afterwards.
#[test]
fn parents_that_collapse_while_it_runs_are_told_once_and_come_back() {
    for solver in [SolverKind::Projective, SolverKind::Newton, SolverKind::Xpbd] {
        let mut led = block("a", SolverKind::Clustered, DVec3::ZERO);
        let squeezed = |k: u32| match k {
            10..20 => (f64::from(20 - k)) / 10.0,
            20..30 => 0.0,
            30..40 => f64::from(k - 30) / 10.0,
            _ => 1.0,
        };
        let points = led.shape.points.clone();
        let at =
            |k: u32| points.iter().map(|p| DVec3::new(p.x, p.y * squeezed(k), p.z * squeezed(k))).collect();
        let sequence = pliant::Sequence::new((0..200).map(at).collect(), 60.0).unwrap();
        let follow = vec![1.0; points.len()];
        led.input = Some(pliant::Input { follow, ..pliant::Input::new(sequence) });
        let button = block("b", solver, DVec3::new(0.15, 0.0, 0.0));
        let mut s = Builder::new().body(led).body(button).build().unwrap();
        for corner in [DVec3::new(0.1, 0.05, 0.05), DVec3::new(0.1, -0.05, 0.05), DVec3::new(0.1, 0.0, -0.05)]
        {
            let glued = frame(&s, 0, (DVec3::new(0.05, 0.0, 0.0), 0.075), corner);
            let point = BodyPoint::particle(1, nearest(&s, 1, corner));
            s.couple(Coupling::joint(glued, point)).unwrap();
        }
        let mut told = 0;
        for k in 0..180 {
            let collapsed = s.step().unwrap().collapsed;
            assert!(collapsed == 0 || (15..25).contains(&k), "{solver:?}: {collapsed} told in step {k}");
            told += collapsed;
            assert!(s.positions(0).chain(s.positions(1)).all(|p| p.is_finite()), "{solver:?}: step {k}");
        }
        assert_eq!(told, 3, "{solver:?}");
        assert!(apart(&s) < 1e-6, "{solver:?}: {}", apart(&s));
        assert!(s.statistics().kinetic < 10.0, "{solver:?}: {}", s.statistics().kinetic);
    }
}

#[test]
fn what_cannot_be_glued_is_refused_and_told() {
    let mut s = pair([SolverKind::Projective; 2], false);
    let rest = [DVec3::ZERO, DVec3::X, 2.0 * DVec3::X];
    let line = BodyFrame::new(0, &[(0, 1.0), (1, 1.0), (2, 1.0)], &rest, (DVec3::ZERO, DMat3::IDENTITY));
    assert!(line.unwrap_err().to_string().contains("line"));
    let far = DVec3::new(0.1, 0.0, 0.0);
    let own = || frame(&s, 0, (DVec3::ZERO, 0.2), far);
    let point = BodyPoint::particle(1, 0);
    let frameless = Coupling::weld(own(), point);
    let outside = Coupling::joint(own(), BodyPoint::particle(1, 900));
    let world = pliant::WorldFrame { at: far, axes: DMat3::ZERO };
    let crooked = Coupling::joint(world, point);
    let rotation = DMat3::IDENTITY;
    let nothing = [0.0, 0.1].map(|x| pliant::WorldFrame { at: DVec3::X * x, axes: rotation });
    let brittle = Coupling::joint(own(), point).breaking_at(-1.0).breaking_apart(f64::NAN);
    let mut told = |c: Coupling| s.couple(c).unwrap_err().to_string();
    assert!(told(frameless).contains("BodyFrame"));
    assert!(told(outside).contains("no particle 900"));
    assert!(told(crooked).contains("rotation"));
    assert!(told(Coupling::joint(nothing[0], nothing[1])).contains("the world to itself"));
    let text = told(brittle);
    assert!(text.contains("-1 N") && text.contains("NaN m"), "{text}");
}

/// A rigid button a little off a cloth that hangs: welded to the frame of what lies behind it, whichever solver moves the cloth, it stays
/// on its side and its weight is felt.
#[test]
fn a_rigid_button_is_welded_to_the_cloth() {
    for solver in [SolverKind::Projective, SolverKind::Newton, SolverKind::Xpbd] {
        let sheet = shapes::sheet(0.3, 0.3, 8, 8).unwrap();
        let top: Vec<u32> = (0..9).collect();
        let mut cloth =
            Body::new("cloth", sheet).elastic(Material::named("cotton").unwrap()).solved_by(solver).pin(top);
        cloth.controls.iterations = 20;
        let size = DVec3::new(0.03, 0.006, 0.03);
        let solid = shapes::SolidShape::Cuboid { size }.build_rigid().unwrap();
        let button = Body::rigid("button", solid).mass(0.01).at(0.0, 0.01, 0.0);
        let mut s = Builder::new().body(cloth).body(button).build().unwrap();
        let glued = s.find_glue(1, 0, &pliant::Glue::default()).unwrap();
        assert_eq!(glued.couplings.len(), 1);
        assert!(glued.condition < 10.0 && (6..=10).contains(&glued.parents.0), "{glued:?}");
        s.couple(glued.couplings[0].clone()).unwrap();
        let parents: Vec<u32> = match &glued.couplings[0].sides[0] {
            Attachment::Frame(frame) => frame.parents().to_vec(),
            other => panic!("{other:?}"),
        };
        for _ in 0..90 {
            s.step().unwrap();
            let (off, loose) = (apart(&s), solver == SolverKind::Xpbd);
            assert!(off < if loose { 1e-6 } else { 1e-9 }, "{solver:?}: {off}");
            // As far from the plane of its parents as it was.
            let x: Vec<DVec3> = s.positions(0).collect();
            let middle = parents.iter().map(|i| x[*i as usize]).sum::<DVec3>() / parents.len() as f64;
            let at = s.positions(1).sum::<DVec3>() / 4.0;
            let turned = s.state().couplings()[0].rotations[0] * DVec3::Y;
            let height = turned.dot(at - middle);
            assert!((0.005..0.015).contains(&height), "{solver:?}: {height}");
        }
        assert!(s.positions(1).all(|p| p.y < -0.02), "{solver:?}: it hangs");
    }
}
