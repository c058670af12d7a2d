//! Solids that are tied to others: pendulums with their periods in closed form, momenta, and solids that are led.

use super::*;
use crate::common::*;
use pliant::{BodyPoint, Builder, Clustering, Coupling, DAffine3, Motion, Sequence, shapes};
use std::f64::consts::TAU;

/// A rod of 1 kg along y.
fn rod(name: &str, length: f64) -> Body {
    let size = DVec3::new(0.05, length, 0.04);
    Body { name: name.into(), ..cuboid(size) }
}

/// Its moment of inertia about z through the middle.
fn inertia(length: f64) -> f64 {
    (length * length + 0.05 * 0.05) / 12.0
}

/// A solid that stays where it is, with a point of it at a place.
fn holder() -> Body {
    Body { name: "holder".into(), ..cuboid(DVec3::splat(0.1)).kinematic(Motion::REST) }
}

/// A cloud of two particles that are held, the second at the origin.
fn held_soft() -> Body {
    let shape = shapes::from_points(vec![DVec3::Y, DVec3::ZERO]).unwrap();
    let mut body = Body::new("holder", shape).pin([0, 1]);
    body.clusters = Clustering::Whole;
    body
}

/// The mean time between passages through zero in the same direction.
fn period(values: &[f64], step: f64) -> f64 {
    let crossing = |w: &[f64]| (w[0] < 0.0 && w[1] >= 0.0).then(|| w[0] / (w[0] - w[1]));
    let times: Vec<f64> =
        values.windows(2).enumerate().filter_map(|(k, w)| Some((k as f64 + crossing(w)?) * step)).collect();
    assert!(times.len() > 3, "{} passages", times.len());
    (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64
}

#[test]
fn a_pendulum_swings_with_its_period_from_whatever_holds_it() {
    let (length, off) = (0.6, 0.25);
    let wanted = TAU * ((inertia(length) + off * off) / (9.81 * off)).sqrt();
    for (kind, holder) in
        [("rigid", holder()), ("soft", held_soft()), ("projective", held_soft().projective())]
    {
        let mut body = rod("rod", length);
        let angle = 0.03;
        body.rotation = DQuat::from_rotation_z(angle);
        body.position = body.rotation * DVec3::new(0.0, -off, 0.0);
        let mut s = Builder::new().body(holder).body(body).build().unwrap();
        let held = s.point_of(0, DVec3::ZERO).unwrap_or(BodyPoint::particle(0, 1));
        s.couple(Coupling::joint(held, s.point_of(1, DVec3::ZERO).unwrap())).unwrap();
        let first = s.statistics();
        let (mut angles, mut worst) = (Vec::new(), 0.0_f64);
        for _ in 0..1200 {
            s.step().unwrap();
            angles.push(center(&s, 1).x);
            let pivot = s.placement(1).unwrap().transform_point3(DVec3::Y * off);
            worst = worst.max(pivot.length());
        }
        let found = period(&angles, 1.0 / 60.0);
        let swing = angles[1000..].iter().fold(0.0_f64, |m, a| m.max(a.abs())) / (off * angle);
        println!("{kind}: {found:.5} s of {wanted:.5}, swings {swing:.4} as far, pivot within {worst:.1e} m");
        assert!((found / wanted - 1.0).abs() < 0.002, "{kind}: {found} s instead of {wanted}");
        assert!((swing - 1.0).abs() < 0.01, "{kind}: {swing}");
        assert!(worst < 1e-9, "{kind}: {worst}");
        assert!(s.statistics().kinetic.is_finite() && first.kinetic == 0.0);
    }
}

/// Two rods, the second hung to the end of the first: its two modes.
#[test]
fn a_compound_pendulum_swings_in_its_normal_modes() {
    let (a, b) = (0.6, 0.4);
    // Small angles: M θ̈ + K θ = 0, the first rod held at its end and the second at the other.
    let (l1, l2) = (0.5 * a, 0.5 * b);
    let m = [[inertia(a) + l1 * l1 + a * a, a * l2], [a * l2, inertia(b) + l2 * l2]];
    let k = [9.81 * (l1 + a), 9.81 * l2];
    let (p, q, r) = (m[0][0] * m[1][1] - m[0][1] * m[0][1], m[0][0] * k[1] + m[1][1] * k[0], k[0] * k[1]);
    let root = (q * q - 4.0 * p * r).sqrt();
    for square in [(q - root) / (2.0 * p), (q + root) / (2.0 * p)] {
        // (K − ω² M) θ = 0.
        let ratio = (k[0] - square * m[0][0]) / (square * m[0][1]);
        let first = 0.02 / ratio.abs().max(1.0);
        let angles = [first, first * ratio];
        let turns = angles.map(DQuat::from_rotation_z);
        let end = turns[0] * DVec3::new(0.0, -a, 0.0);
        let (mut one, mut two) = (rod("one", a), rod("two", b));
        (one.rotation, one.position) = (turns[0], 0.5 * end);
        (two.rotation, two.position) = (turns[1], end + turns[1] * DVec3::new(0.0, -l2, 0.0));
        let mut s = Builder::new().body(holder()).body(one).body(two).build().unwrap();
        let points = |s: &Simulation, k: [usize; 2], at: DVec3| k.map(|k| s.point_of(k, at).unwrap());
        for (pair, at) in [([0, 1], DVec3::ZERO), ([1, 2], end)] {
            let [x, y] = points(&s, pair, at);
            s.couple(Coupling::joint(x, y)).unwrap();
        }
        let mut values = Vec::new();
        for _ in 0..900 {
            s.step().unwrap();
            values.push(center(&s, 1).x);
        }
        let (found, wanted) = (period(&values, 1.0 / 60.0), TAU / square.sqrt());
        println!("{found:.5} s of {wanted:.5}, the second rod swings {ratio:.3} as far");
        assert!((found / wanted - 1.0).abs() < 0.005, "{found} s instead of {wanted}");
    }
}

/// Two boxes that are glued or welded, hung by a place off the middle of one of them, are one solid: their moments of inertia about the
/// pivot by the parallel axis theorem, and the period that follows.
#[test]
fn two_glued_solids_swing_as_one() {
    let sizes = [DVec3::new(0.2, 0.5, 0.1), DVec3::new(0.4, 0.12, 0.1)];
    let masses = [1.0, 1.7];
    // Side by side with a gap of a millimetre; and where the first is held.
    let middles = [DVec3::ZERO, DVec3::new(0.301, -0.1, 0.0)];
    let pivot = DVec3::new(-0.05, 0.2, 0.0);
    let total = masses[0] + masses[1];
    let center_of_mass = (middles[0] * masses[0] + middles[1] * masses[1]) / total;
    let own = |k: usize| masses[k] * (sizes[k].x.powi(2) + sizes[k].y.powi(2)) / 12.0;
    let steiner = |k: usize| masses[k] * (middles[k] - pivot).length_squared();
    let inertia: f64 = (0..2).map(|k| own(k) + steiner(k)).sum();
    let below = center_of_mass - pivot;
    let wanted = TAU * (inertia / (total * 9.81 * below.length())).sqrt();
    let angle: f64 = 0.03;
    let turn = DQuat::from_rotation_z(angle) * DQuat::from_rotation_arc(below.normalize(), DVec3::NEG_Y);
    for by in ["glue", "weld", "hinge and weld"] {
        let bodies = [0, 1].map(|k| {
            let mut body = Body { name: k.to_string(), ..cuboid(sizes[k]) }.mass(masses[k]);
            body.rotation = turn;
            body.position = turn * (middles[k] - pivot);
            body
        });
        let [a, b] = bodies;
        let mut s = Builder::new().body(a).body(b).build().unwrap();
        if by == "glue" {
            let glued = s.find_glue(1, 0, &pliant::Glue::default()).unwrap().couplings;
            assert_eq!(glued.len(), 1);
            glued.into_iter().for_each(|c| _ = s.couple(c).unwrap());
        } else {
            let at = turn * (DVec3::new(0.1, -0.1, 0.0) - pivot);
            let [x, y] = [0, 1]
                .map(|k| s.frame_near(k, at, pliant::DMat3::IDENTITY, &pliant::Glue::default()).unwrap());
            s.couple(Coupling::weld(x, y)).unwrap();
        }
        let nail = pliant::WorldFrame { at: DVec3::ZERO, axes: pliant::DMat3::IDENTITY };
        if by == "hinge and weld" {
            let held = s.frame_near(0, DVec3::ZERO, nail.axes, &pliant::Glue::default()).unwrap();
            s.couple(Coupling::hinge(nail, held)).unwrap();
        } else {
            s.couple(Coupling::joint(nail, s.point_of(0, DVec3::ZERO).unwrap())).unwrap();
        }
        let (mut values, mut worst) = (Vec::new(), 0.0_f64);
        let between = |s: &Simulation| s.placement(0).unwrap().inverse() * s.placement(1).unwrap();
        let before = between(&s);
        for _ in 0..1200 {
            s.step().unwrap();
            let middle = (center(&s, 0) * masses[0] + center(&s, 1) * masses[1]) / total;
            values.push(middle.x);
            worst = worst.max(between(&s).translation.distance(before.translation));
        }
        let found = period(&values, 1.0 / 60.0);
        let swing =
            values[1000..].iter().fold(0.0_f64, |m, x| m.max(x.abs())) / (below.length() * angle.sin());
        println!("by {by}: {found:.5} s of {wanted:.5}, swings {swing:.4} as far, within {worst:.1e} m");
        assert!((found / wanted - 1.0).abs() < 0.005, "by {by}: {found} s instead of {wanted}");
        assert!((swing <= 1.0 + 1e-3) && worst < 1e-9, "by {by}: {swing}, {worst} m");
    }
}

/// Solids thrown together: joints in one place take no momentum of any kind.
#[test]
fn joints_keep_all_momenta_of_solids() {
    let mut builder = Builder::new().substeps(2);
    builder.gravity = DVec3::ZERO;
    for k in 0..5 {
        let mut body =
            rod(&format!("rod {k}"), 0.4).at(0.0, 0.4 * f64::from(k), 0.0).mass(1.0 + f64::from(k));
        body.velocity = DVec3::new(0.3 * f64::from(k), 0.0, -0.2);
        body.spin = DVec3::new(3.0, 1.0 + f64::from(k), -2.0);
        builder = builder.body(body);
    }
    let mut s = builder.build().unwrap();
    for k in 0..4_usize {
        let at = DVec3::Y * (0.4 * k as f64 + 0.2);
        let points = [k, k + 1].map(|k| s.point_of(k, at).unwrap());
        s.couple(Coupling::joint(points[0], points[1])).unwrap();
    }
    let before = s.statistics();
    // Velocities that do not fit together are made to in the first step.
    run(&mut s, 1);
    let joined = s.statistics();
    let mut apart = 0.0_f64;
    for _ in 0..300 {
        s.step().unwrap();
        for c in s.model().couplings() {
            let at = |k: usize| c.coupling.sides[k].place(s.state(), pliant::DMat3::IDENTITY).unwrap();
            apart = apart.max(at(0).distance(at(1)));
        }
    }
    let after = s.statistics();
    let linear = (after.momentum - before.momentum).length() / before.momentum.length();
    let angular =
        (after.angular_momentum - before.angular_momentum).length() / before.angular_momentum.length();
    let energy = after.kinetic / joined.kinetic - 1.0;
    println!("momentum {linear:.1e}, angular {angular:.1e}, energy {energy:.1e}, apart {apart:.1e} m");
    assert!(linear < 1e-12 && angular < 1e-9, "{linear} and {angular}");
    assert!(apart < 1e-9, "{apart}");
    assert!(energy.abs() < 0.05, "{energy}");
}

/// A box that one cluster keeps together at once, and one that is rigid: they fall, turn, bounce and slide alike.
#[test]
fn one_stiff_cluster_and_a_rigid_box_move_alike() {
    let size = DVec3::new(0.4, 0.3, 0.5);
    let mut soft = Body::new("soft", shapes::cuboid(size, 0.05).unwrap()).at(0.0, 1.15, 0.0);
    soft.clusters = Clustering::Whole;
    soft.controls.stiffness = pliant::Stiffness::Alpha(1.0);
    (soft.controls.damping, soft.controls.iterations) = (0.0, 0);
    soft.controls.strain_limit = f64::INFINITY;
    let hard = cuboid(size).at(3.0, 1.15, 0.0);
    let both = |rotation: DVec3, spin: DVec3, restitution: f64| {
        let mut bodies = [soft.clone(), hard.clone()];
        for body in &mut bodies {
            body.rotation = DQuat::from_scaled_axis(rotation);
            (body.velocity, body.spin) = (DVec3::new(0.4, 0.0, 0.2), spin);
            body.controls.restitution = restitution;
        }
        let [a, b] = bodies;
        Builder::new().substeps(8).ground().body(a).body(b).build().unwrap()
    };
    // How fast each turns: L = I ω with the inertia of its particles.
    let rates = |s: &Simulation| {
        [0, 1].map(|k| {
            let rest = s.model().bodies()[k].parts.rest();
            let state = &s.state().bodies()[k];
            let each = || rest.mass.iter().zip(state.positions().iter().zip(state.velocities().iter()));
            let total: f64 = rest.mass.iter().sum();
            let middle = each().map(|(m, (x, _))| x * *m).sum::<DVec3>() / total;
            let (mut momentum, mut inertia) = (DVec3::ZERO, pliant::DMat3::ZERO);
            for (m, (x, v)) in each() {
                let r = x - middle;
                momentum += r.cross(v) * *m;
                let outer = pliant::DMat3::from_cols(r * r.x, r * r.y, r * r.z);
                inertia += (pliant::DMat3::IDENTITY * r.length_squared() - outer) * *m;
            }
            inertia.inverse() * momentum
        })
    };
    // How far apart they are, how much they are turned to each other, and how high they are.
    let compare = |s: &Simulation| {
        let rest: Vec<DVec3> = s.model().bodies()[0].parts.rest().positions.iter().collect();
        let x: Vec<DVec3> = s.positions(0).collect();
        let c = x.iter().sum::<DVec3>() / x.len() as f64;
        let turn = horn_rotation(rest.iter().zip(&x).map(|(r, x)| (*r, *x - c)));
        let hard = s.placement(1).unwrap();
        let between = (turn.transpose() * hard.matrix3).to_cols_array();
        let angle = (0.5 * (between[0] + between[4] + between[8] - 1.0)).clamp(-1.0, 1.0).acos();
        let far = (hard.translation - DVec3::X * 3.0).distance(c);
        (far, angle.to_degrees(), [c.y, hard.translation.y])
    };
    // Tumbling in the air. The particles of the lattice are a little heavier at the rim than a solid box is.
    let mut s = both(DVec3::new(0.3, 0.5, 0.1), DVec3::new(1.0, 4.0, 2.0), 0.3);
    run(&mut s, 20);
    let (far, angle, _) = compare(&s);
    let [soft_rate, hard_rate] = rates(&s);
    let rate = (soft_rate - hard_rate).length() / hard_rate.length();
    println!("in the air {far:.1e} m and {angle:.2}° apart, turning {:.2} % apart", 100.0 * rate);
    assert!(far < 1e-10 && angle < 0.5 && rate < 0.01, "{far} m, {angle}° and {rate}");
    // Flat on the ground, turning about the vertical. What meets the ground of a cluster springs back whatever its restitution,
    // so the rigid box is told to; both come up again, and as high.
    let mut s = both(DVec3::ZERO, DVec3::Y * 3.0, 1.0);
    let mut tops = [0.0_f64; 2];
    for frame in 0..75 {
        s.step().unwrap();
        let (.., heights) = compare(&s);
        if frame > 30 {
            (0..2).for_each(|k| tops[k] = tops[k].max(heights[k]));
        }
    }
    // On an edge, without friction.
    let mut bodies = [soft.clone(), hard.clone()];
    for body in &mut bodies {
        body.rotation = DQuat::from_scaled_axis(DVec3::new(0.0, 0.0, 0.75));
        (body.velocity, body.spin) = (DVec3::new(0.4, 0.0, 0.2), DVec3::ZERO);
        (body.controls.restitution, body.controls.friction) = (0.954, Some(0.0));
    }
    let [a, b] = bodies;
    let ice = pliant::HalfSpace { friction: 0.0, ..pliant::HalfSpace::ground() };
    let mut slid = Builder::new().substeps(8).collider(ice).body(a).body(b).build().unwrap();
    run(&mut slid, 45);
    let [of_soft, of_hard] = rates(&slid);
    let off = (of_soft - of_hard).length() / of_hard.length();
    println!("off an edge they turn by {of_soft} and {of_hard} rad/s, {:.0} % apart", 100.0 * off);
    assert!(of_hard.length() > 10.0 && off < 0.2, "{of_soft} and {of_hard}");
    println!("bounce to {tops:?} m");
    assert!((tops[0] - tops[1]).abs() < 0.1 && (tops[1] - 1.15).abs() < 1e-3, "{tops:?}");
}

#[test]
fn a_led_solid_goes_where_it_is_led_and_takes_along_what_is_tied() {
    let motion =
        Motion { velocity: DVec3::X * 0.5, spin: DVec3::Y * 2.0, start: 0.25, end: 1.0, ..Motion::REST };
    let led = Body { name: "led".into(), ..cuboid(DVec3::splat(0.2)).kinematic(motion).at(0.0, 1.0, 0.0) };
    let mut s = Builder::new().ground().body(led).body(rod("rod", 0.4).at(0.0, 0.7, 0.0)).build().unwrap();
    let points = [0, 1].map(|k| s.point_of(k, DVec3::Y * 0.9).unwrap());
    s.couple(Coupling::joint(points[0], points[1])).unwrap();
    for frame in 1..=90_u32 {
        s.step().unwrap();
        let wanted = motion.placement(f64::from(frame) / 60.0) * DAffine3::from_translation(DVec3::Y);
        let off = s.placement(0).unwrap().inverse() * wanted;
        assert!(off.translation.length() < 1e-12 && (off.matrix3.x_axis - DVec3::X).length() < 1e-12);
        let joined = s.placement(1).unwrap().transform_point3(DVec3::Y * 0.2);
        assert!(joined.distance(s.placement(0).unwrap().transform_point3(DVec3::Y * -0.1)) < 1e-9);
    }
    // A host leads it by its pins, and lets it go.
    let turn = DAffine3::from_rotation_translation(DQuat::from_rotation_z(0.5), DVec3::new(0.3, 0.2, 0.1));
    s.controls_mut().place_pins(0, 0, Some(turn)).unwrap();
    run(&mut s, 1);
    let off = s.placement(0).unwrap().inverse() * (turn * DAffine3::from_translation(DVec3::Y));
    assert!(off.translation.length() < 1e-12 && (off.matrix3.y_axis - DVec3::Y).length() < 1e-12);
    s.release(0, 0).unwrap();
    run(&mut s, 240);
    assert!(s.statistics().max_penetration < 1e-9 && center(&s, 0).y < 0.6);
    // And holds it again, all of it.
    assert!(s.hold(0, pliant::Hold::exactly([0, 2])).is_err());
    assert!(s.hold(0, pliant::Hold::by_springs([0, 1, 2, 3], 1e3)).is_err());
    let here = center(&s, 0);
    s.hold(0, pliant::Hold::exactly([0, 1, 2, 3])).unwrap();
    run(&mut s, 30);
    assert!(center(&s, 0).distance(here) < 1e-12);
}

#[test]
fn a_solid_follows_an_animated_mesh() {
    let body = cuboid(DVec3::new(0.2, 0.4, 0.1));
    let rest = body.shape.surface.positions.clone();
    let place = |k: usize| {
        let turn = DQuat::from_scaled_axis(DVec3::new(0.02, 0.05, -0.03) * k as f64);
        DAffine3::from_rotation_translation(turn, DVec3::new(0.01 * k as f64, 1.0, 0.0))
    };
    let frames = (0..40).map(|k| rest.iter().map(|p| place(k).transform_point3(*p)).collect()).collect();
    let body = body.following(&Sequence::new(frames, 60.0).unwrap()).unwrap();
    let mut s = Builder::new().ground().body(body).build().unwrap();
    for k in 1..39 {
        s.step().unwrap();
        let off = s.placement(0).unwrap().inverse() * place(k);
        assert!(
            off.translation.length() < 1e-12 && (off.matrix3.x_axis - DVec3::X).length() < 1e-9,
            "{k}: {off}"
        );
    }
    assert!(cuboid(DVec3::ONE).following(&Sequence::new(vec![vec![DVec3::ONE; 3]], 60.0).unwrap()).is_err());
}
