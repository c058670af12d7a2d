//! Cycles of bindings: what carries is carried. Nothing moves by it, momentum is kept, and what is glued stays together.

use crate::common::*;
use pliant::shapes::SolidShape;
use pliant::{Body, Builder, Clustering, DQuat, DVec3, Glue, Material, Simulation, SolverKind, shapes};
use std::f64::consts::TAU;

/// A block of 10 cm of any solver.
fn block(name: &str, solver: SolverKind) -> Body {
    if solver == SolverKind::Rigid {
        let solid = SolidShape::Cuboid { size: DVec3::splat(0.1) }.build_rigid().unwrap();
        return Body::rigid(name, solid).mass(1.0);
    }
    let shape = shapes::tet_box([2, 2, 2], DVec3::splat(0.1), shapes::TetStyle::Five).unwrap();
    let body = Body::new(name, shape);
    let mut body = match solver {
        SolverKind::Clustered => Body { clusters: Clustering::Whole, ..body.frequency(18.0) },
        _ => body.elastic(Material { young: 1e5, ..Material::named("rubber").unwrap() }).solved_by(solver),
    };
    body.controls.iterations = 20;
    body.controls.damping = 0.0;
    body.mass(1.0)
}

/// Glues points of a body to another, as they lie.
fn glue(s: &mut Simulation, from: usize, to: usize, how: &Glue) {
    let glued = s.find_glue(from, to, how).unwrap().couplings;
    assert!(!glued.is_empty());
    glued.into_iter().for_each(|c| _ = s.couple(c).unwrap());
}

/// Bodies around the y axis, without gravity, each of a solver of its own, and each glued to the next; the last to the first.
fn ring(solvers: &[SolverKind]) -> Simulation {
    let mut builder = Builder::new().substeps(2);
    let n = solvers.len();
    for (k, solver) in solvers.iter().enumerate() {
        let turn = DQuat::from_rotation_y(TAU * k as f64 / n as f64);
        let mut body = block(&k.to_string(), *solver);
        let at = turn * DVec3::X * if n == 2 { 0.06 } else { 0.13 };
        (body.rotation, body.position) = (turn, at);
        builder = builder.body(body);
    }
    builder.gravity = DVec3::ZERO;
    let mut s = builder.build().unwrap();
    (0..n).for_each(|k| glue(&mut s, k, (k + 1) % n, &Glue::default()));
    s
}

/// The front of a sheet that is bent almost to a ring: three places, each of which hangs on particles around the next.
fn own_ring(solver: SolverKind) -> Simulation {
    let mut sheet = shapes::sheet(0.9, 0.2, 18, 4).unwrap();
    for p in &mut sheet.points {
        let angle = p.x / 0.9 * TAU * 0.9;
        *p = DVec3::new(0.14 * angle.sin(), p.z, 0.14 * angle.cos());
    }
    sheet.surface.positions.clone_from(&sheet.points);
    let mut cloth = Body::new("cloth", sheet).elastic(Material::named("cotton").unwrap()).solved_by(solver);
    cloth.controls.damping = 0.0;
    let mut builder = Builder::new().substeps(2).body(cloth);
    builder.gravity = DVec3::ZERO;
    let mut s = builder.build().unwrap();
    // Columns of the middle row; parents lie within two columns of the next one.
    let places = [2_u32, 9, 16];
    for k in 0..3 {
        let next = places[(k + 1) % 3];
        let near = (0..95_u32).filter(|i| (i % 19).abs_diff(next) <= 2).collect();
        let mut how = Glue::default();
        (how.points, how.parents) = (Some(vec![2 * 19 + places[k]]), Some(near));
        glue(&mut s, 0, 0, &how);
    }
    s
}

fn apart(s: &Simulation) -> f64 {
    let ways = s.model().couplings().iter().zip(s.state().couplings()).map(|(c, m)| {
        let [a, b] = [0, 1].map(|k| c.coupling.sides[k].place(s.state(), m.rotations[k]).unwrap());
        a.distance(b)
    });
    ways.fold(0.0, f64::max)
}

/// Rests where it is; and once its first body is thrown keeps momentum, gains no more than a share of its energy, and stays together to
/// so many metres.
fn stays_and_moves(mut s: Simulation, what: &str, (gain, together): (f64, f64)) {
    let all = |s: &Simulation| -> Vec<DVec3> {
        (0..s.model().bodies().len()).flat_map(|b| s.positions(b).collect::<Vec<_>>()).collect()
    };
    let before = all(&s);
    run(&mut s, 60);
    let moved = before.iter().zip(all(&s)).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
    assert!(moved < 1e-9, "{what}: moved by {moved} m at rest");
    let mut state = s.state().clone();
    let x: Vec<DVec3> = s.positions(0).collect();
    let mut v = state.bodies_mut()[0].velocities_mut();
    let thrown = |x: DVec3| DVec3::new(0.1, 0.2, -0.15) + DVec3::new(1.0, 2.0, -1.5).cross(x);
    x.iter().enumerate().for_each(|(i, x)| v.set(i, thrown(*x)));
    s.set_state(state).unwrap();
    let energy = |s: &Simulation| s.statistics().kinetic + s.statistics().elastic;
    let (begin, momentum) = (energy(&s), s.statistics().momentum);
    let (mut most, mut lost, mut off) = (0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..90 {
        s.step().unwrap();
        most = most.max(energy(&s) / begin - 1.0);
        lost = lost.max((s.statistics().momentum - momentum).length() / momentum.length());
        off = off.max(apart(&s));
    }
    println!("{what}: energy {most:+.1e}, momentum {lost:.1e}, {off:.1e} m apart");
    assert!(most <= gain, "{what}: gains {most} of its energy");
    assert!(lost < 1e-10, "{what}: loses {lost} of its momentum");
    assert!(off < together, "{what}: {off} m apart");
}

#[test]
fn rings_of_bodies_that_carry_each_other_rest_and_move_as_one() {
    // Rings of rigid bodies alone are let go: their last weld holds what the others hold already.
    for solver in SolverKind::SOFT {
        stays_and_moves(ring(&[solver; 3]), &format!("three of {}", solver.name()), (1e-9, 1e-10));
        stays_and_moves(ring(&[solver; 2]), &format!("two of {}", solver.name()), (1e-9, 1e-10));
    }
    // Beside solids soft bodies take fewer rounds.
    let mixed = [SolverKind::Clustered, SolverKind::Rigid, SolverKind::Projective];
    stays_and_moves(ring(&mixed), "three solvers", (1e-9, 1e-7));
}

#[test]
fn a_cloth_that_carries_itself_in_a_ring_rests_and_moves() {
    for solver in [SolverKind::Projective, SolverKind::Newton, SolverKind::Xpbd] {
        // Sweeps that end early leave stretch behind, which is energy.
        let gain = if solver == SolverKind::Xpbd { 0.3 } else { 1e-9 };
        stays_and_moves(own_ring(solver), solver.name(), (gain, 1e-10));
    }
}
