//! Options of the implicit step: what each promises, as a number.

use crate::common::place;
use pliant::shapes::{self, TetStyle};
use pliant::*;
use std::sync::{Arc, Mutex};

/// A bar of tetrahedra, one end held, twisted by `turns` over its length.
fn bar(cells: [usize; 3], turns: f64, implicit: Implicit, iterations: u32) -> Simulation {
    let size = DVec3::from_array(cells.map(|n| n as f64)) * 0.05;
    let shape = shapes::tet_box(cells, size, TetStyle::Five).unwrap();
    let held: Vec<u32> = (0..shape.points.len() as u32)
        .filter(|&i| shape.points[i as usize].x < -0.5 * size.x + 1e-6)
        .collect();
    let soft = Material { young: 1e5, damping: 0.0, ..Material::named("rubber").unwrap() };
    let mut body = Body::new("bar", shape).elastic(soft).pin(held);
    body.constraints = vec![ConstraintKind::Strain.into()];
    body.controls.iterations = iterations;
    let mut builder = Builder::new().substeps(1).body(body);
    builder.implicit = implicit;
    builder.gravity = DVec3::ZERO;
    let mut s = builder.build().unwrap();
    let mut state = s.state().clone();
    let x: Vec<DVec3> = state.bodies()[0]
        .positions()
        .iter()
        .map(|p| {
            let (sin, cos) = (std::f64::consts::TAU * turns * (p.x / size.x + 0.5)).sin_cos();
            DVec3::new(p.x, p.y * cos - p.z * sin, p.y * sin + p.z * cos)
        })
        .collect();
    place(&mut state, x);
    s.set_state(state).unwrap();
    s
}

fn iterates(s: &mut Simulation) -> Vec<Points> {
    let seen: Arc<Mutex<Vec<Points>>> = Arc::default();
    let sink = seen.clone();
    s.observe_iterations(0, Box::new(move |_, q| sink.lock().unwrap().push(q.clone())));
    s.step().unwrap();
    s.observe_iterations(0, Box::new(|_, _| {}));
    std::mem::take(&mut *seen.lock().unwrap())
}

fn distance(a: &Points, b: &Points) -> f64 {
    a.iter().zip(b.iter()).map(|(a, b)| (a - b).length()).fold(0.0, f64::max)
}

#[test]
fn accelerations_reach_the_same_minimum_in_fewer_iterations() {
    let plain = bar([12, 2, 2], 0.4, Implicit::default(), 3000);
    let target = iterates(&mut { plain }).pop().unwrap();
    let needed = |acceleration| {
        let mut s = bar([12, 2, 2], 0.4, Implicit { acceleration, ..Implicit::default() }, 400);
        let list = iterates(&mut s);
        let last = distance(list.last().unwrap(), &target);
        assert!(acceleration == Acceleration::None || last < 1e-8, "{acceleration:?} ends {last} away");
        list.iter().position(|q| distance(q, &target) < 1e-5).unwrap_or(list.len())
    };
    let counts = [Acceleration::None, Acceleration::LBfgs, Acceleration::Anderson].map(needed);
    println!("iterations to 1e-5 m: plain, L-BFGS, Anderson: {counts:?}");
    assert!(2 * counts[1] < counts[0] && 2 * counts[2] < counts[0], "{counts:?}");
}

#[test]
fn iterations_end_when_they_gain_little() {
    let mut s = bar([12, 2, 2], 0.4, Implicit { tolerance: 1e-3, ..Implicit::default() }, 1000);
    let few = s.step().unwrap().iterations;
    let mut s = bar([12, 2, 2], 0.4, Implicit { tolerance: 1e-6, ..Implicit::default() }, 1000);
    let more = s.step().unwrap().iterations;
    assert!(1 < few && few < more && more < 1000, "{few} {more}");
}

#[test]
fn a_start_at_the_last_positions_damps_more_and_converges_to_the_same() {
    let energy = |warm_start, iterations| {
        let mut s = bar([12, 2, 2], 0.25, Implicit { warm_start, ..Implicit::default() }, iterations);
        for _ in 0..10 {
            s.step().unwrap();
        }
        (s.statistics().kinetic, s.state().bodies()[0].positions().clone())
    };
    let ((fast, _), (slow, _)) = (energy(WarmStart::Prediction, 3), energy(WarmStart::Last, 3));
    assert!(fast > slow, "kinetic energy after few iterations: {fast} from s, {slow} from q");
    let ((_, a), (_, b)) = (energy(WarmStart::Prediction, 1500), energy(WarmStart::Last, 1500));
    assert!(distance(&a, &b) < 1e-6, "{}", distance(&a, &b));
}

#[test]
fn the_midpoint_rule_keeps_energy_and_angular_momentum_that_implicit_euler_loses() {
    let run = |implicitness| {
        let shape = shapes::tet_box([4, 2, 2], DVec3::new(0.4, 0.2, 0.2), TetStyle::Five).unwrap();
        let soft = Material { young: 2e4, damping: 0.0, ..Material::named("rubber").unwrap() };
        let mut body = Body::new("free", shape).elastic(soft);
        body.constraints = vec![ConstraintKind::Strain.into()];
        body.spin = DVec3::new(0.0, 0.0, 3.0);
        body.stretch = DVec3::new(1.1, 1.0, 1.0);
        body.controls.iterations = 300;
        let mut builder = Builder::new().substeps(1).body(body);
        builder.implicit = Implicit { implicitness, ..Implicit::default() };
        builder.gravity = DVec3::ZERO;
        let mut s = builder.build().unwrap();
        let before = s.statistics();
        for _ in 0..120 {
            s.step().unwrap();
        }
        let after = s.statistics();
        let energy = |s: &Statistics| s.kinetic + s.elastic;
        (energy(&after) / energy(&before), after.angular_momentum.z / before.angular_momentum.z)
    };
    let (energy, spin) = run(0.5);
    println!("midpoint: energy x{energy}, angular momentum x{spin}");
    assert!((energy - 1.0).abs() < 0.03 && (spin - 1.0).abs() < 1e-6, "{energy} {spin}");
    let (energy, spin) = run(1.0);
    println!("implicit Euler: energy x{energy}, angular momentum x{spin}");
    assert!(energy < 0.8 && spin < 0.9999, "{energy} {spin}");
    let (between, _) = run(0.6);
    assert!(between > energy && between < 1.03, "{between}");
}

#[test]
fn free_fall_is_exact_at_any_implicitness() {
    for implicitness in [0.5, 0.75, 1.0] {
        let shape = shapes::tet_box([1, 1, 1], DVec3::ONE * 0.1, TetStyle::Five).unwrap();
        let mut builder = Builder::new()
            .substeps(1)
            .body(Body::new("b", shape).elastic(Material::named("rubber").unwrap()));
        builder.implicit.implicitness = implicitness;
        let mut s = builder.build().unwrap();
        let start = s.positions(0).next().unwrap();
        for _ in 0..60 {
            s.step().unwrap();
        }
        // The θ-rule of x″ = −g: x falls by g h² (θ + (n−1)/2) n over n steps... summed exactly.
        let (h, n) = (1.0 / 60.0, 60.0);
        let fallen = 9.81 * h * h * (n * (n - 1.0) / 2.0 + implicitness * n);
        let moved = s.positions(0).next().unwrap() - start;
        assert!(
            (moved.y + fallen).abs() < 1e-11 && moved.x.abs() < 1e-12,
            "θ {implicitness}: {moved} {fallen}"
        );
    }
}
