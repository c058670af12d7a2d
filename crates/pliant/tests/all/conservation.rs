//! What each method conserves, and nothing more.

use crate::common::*;
use pliant::{Body, Builder, Clustering, DQuat, DVec3, Goals, shapes};

fn tumbling(clusters: Clustering) -> Body {
    let mut body = cube(clusters, 0.5);
    body.velocity = DVec3::new(1.0, -2.0, 0.5);
    body.spin = DVec3::new(0.3, 4.0, -1.0);
    body.stretch = DVec3::new(1.3, 1.0, 0.9);
    body.position = DVec3::new(3.0, 1.0, -2.0);
    body
}

#[test]
fn clustered_without_limit_conserves_both_momenta_to_rounding() {
    for clusters in [Clustering::Whole, Clustering::Count(29)] {
        for damping in [0.0, 5.0] {
            let mut body = tumbling(clusters);
            body.controls.damping = damping;
            let mut s = weightless(body).build().unwrap();
            let before = s.statistics();
            for _ in 0..10 {
                run(&mut s, 100);
                let now = s.statistics();
                let linear = (now.momentum - before.momentum).length() / momentum_scale(&s);
                let angular = (now.angular_momentum - before.angular_momentum).length() / angular_scale(&s);
                // Rounding of sums over a cluster, 1e-14 a step at most.
                assert!(linear < 1e-14 * s.state().step() as f64, "{clusters:?} linear {linear:e}");
                assert!(angular < 1e-14 * s.state().step() as f64, "{clusters:?} angular {angular:e}");
            }
        }
    }
}

#[test]
fn every_goal_and_painted_stiffness_conserve_both_momenta_to_rounding() {
    // Residuals of a fit are orthogonal to all it can show, turning and shifting among it, and each
    // cluster pulls all its members alike: neither goals nor paint push or turn a body.
    for goals in Goals::ALL {
        for (two_step, painted, limit) in
            [(false, false, 0.0), (false, true, 0.0), (true, true, 0.0), (false, true, 0.05)]
        {
            let mut body = tumbling(Clustering::Count(29)).goals(goals);
            body.two_step = two_step;
            body.controls.deformation = 0.8;
            body.controls.damping = 1.0;
            if painted {
                body.painted_stiffness = (0..216).map(|i| f64::from(i % 7) / 6.0).collect();
            }
            if limit > 0.0 {
                (body.controls.strain_limit, body.controls.iterations) = (limit, 5);
                body.controls.conserve_momentum = true;
            }
            let mut s = weightless(body).build().unwrap();
            let before = s.statistics();
            run(&mut s, 300);
            let now = s.statistics();
            let linear = (now.momentum - before.momentum).length() / momentum_scale(&s);
            let angular = (now.angular_momentum - before.angular_momentum).length() / angular_scale(&s);
            let what = format!("{}, two steps {two_step}, painted {painted}, limit {limit}", goals.name());
            println!("{what}: linear {linear:e}, angular {angular:e}");
            assert!(linear < 1e-14 * 300.0, "{what}: linear {linear:e}");
            assert!(angular < 1e-14 * 300.0, "{what}: angular {angular:e}");
        }
    }
}

#[test]
fn an_active_limit_conserves_neither_exactly() {
    // The paper's limiting scales each particle by its own factor; claiming more would be wrong.
    let mut body = tumbling(Clustering::Count(29));
    body.controls.strain_limit = 0.05;
    body.controls.iterations = 5;
    let mut s = weightless(body).build().unwrap();
    let before = s.statistics();
    run(&mut s, 20);
    let off = (s.statistics().angular_momentum - before.angular_momentum).length() / angular_scale(&s);
    assert!(off > 1e-9, "limiting was not active: {off:e}");
    assert!(off < 0.5, "{off:e}");
}

#[test]
fn a_conserving_limit_conserves_both_to_rounding() {
    for omega in [0.5, 1.0, 1.5] {
        let mut body = tumbling(Clustering::Count(29));
        body.controls.strain_limit = 0.05;
        body.controls.iterations = 5;
        body.controls.relaxation = omega;
        body.controls.conserve_momentum = true;
        let mut s = weightless(body).build().unwrap();
        let before = s.statistics();
        let mut active = 0.0_f64;
        for _ in 0..300 {
            active = active.max(s.step().unwrap().residual);
        }
        let now = s.statistics();
        let linear = (now.momentum - before.momentum).length() / momentum_scale(&s);
        let angular = (now.angular_momentum - before.angular_momentum).length() / angular_scale(&s);
        assert!(active > 1e-3, "limiting was not active: {active:e}");
        assert!(linear < 1e-12 && angular < 1e-12, "ω = {omega}: linear {linear:e}, angular {angular:e}");
        assert!(now.max_strain < 0.5, "ω = {omega}: strain {}", now.max_strain);
    }
}

#[test]
fn projective_conserves_linear_momentum_and_loses_spin_in_proportion_to_the_step() {
    let loss = |substeps| {
        let mut body = tumbling(Clustering::Count(8)).projective();
        body.stretch = DVec3::ONE;
        let mut builder = weightless(body).substeps(substeps);
        builder.bodies[0].controls.stiffness = pliant::Stiffness::Frequency(20.0);
        builder.bodies[0].controls.iterations = 60;
        let mut s = builder.build().unwrap();
        let before = s.statistics();
        run(&mut s, 60);
        let now = s.statistics();
        let linear = (now.momentum - before.momentum).length() / momentum_scale(&s);
        assert!(linear < 1e-12, "linear {linear:e}");
        let spin = |s: &pliant::Statistics| {
            // About the centre of mass: the orbital part is conserved with the linear momentum.
            s.angular_momentum
        };
        (spin(&now) - spin(&before)).length()
    };
    let (coarse, fine) = (loss(4), loss(16));
    println!("angular momentum lost in a second: {coarse:.4} with h = 1/240, {fine:.4} with h = 1/960");
    let order = (coarse / fine).log(4.0);
    assert!((0.7..1.4).contains(&order), "order {order}: {coarse} {fine}");
}

#[test]
fn projective_conserves_linear_momentum_at_any_number_of_iterations() {
    for iterations in [0, 1, 2, 5] {
        let mut body = tumbling(Clustering::Count(8)).projective();
        body.controls.iterations = iterations;
        body.controls.edge_stiffness = 1e4;
        let mut s = weightless(body).build().unwrap();
        let before = s.statistics().momentum;
        run(&mut s, 100);
        let off = (s.statistics().momentum - before).length() / momentum_scale(&s);
        assert!(off < 1e-12, "{iterations} iterations: {off:e}");
    }
}

#[test]
fn free_fall_is_the_exact_discrete_parabola() {
    for projective in [false, true] {
        let mut body = cube(Clustering::Count(8), 0.5);
        body.velocity = DVec3::new(1.0, 2.0, 3.0);
        body.position = DVec3::new(0.0, 100.0, 0.0);
        if projective {
            body = body.projective();
        }
        let g = DVec3::new(0.0, -9.81, 0.0);
        let mut s = Builder::new().body(body).substeps(2).build().unwrap();
        let start: Vec<DVec3> = s.positions(0).collect();
        let h = 1.0 / 120.0;
        for frame in 1..=60 {
            run(&mut s, 1);
            let n = f64::from(2 * frame);
            // Symplectic and implicit Euler agree on it: xₙ = x₀ + n h v₀ + h² g n (n + 1)/2.
            let moved = DVec3::new(1.0, 2.0, 3.0) * (n * h) + g * (h * h * n * (n + 1.0) / 2.0);
            for (a, b) in start.iter().zip(s.positions(0)) {
                assert!((*a + moved - b).length() < 1e-10, "{projective} frame {frame}");
            }
        }
    }
}

#[test]
fn a_rigidly_moved_rest_shape_stays_at_rest() {
    for projective in [false, true] {
        for clusters in [Clustering::Whole, Clustering::Count(29)] {
            let mut body = cube(clusters, 1.0);
            body.rotation = DQuat::from_scaled_axis(DVec3::new(1.0, 0.4, -2.0));
            body.position = DVec3::new(10.0, -3.0, 7.0);
            body.controls.iterations = 5;
            body.controls.strain_limit = 0.0;
            if projective {
                body = body.projective();
                body.controls.edge_stiffness = 1e5;
            }
            let mut s = weightless(body).build().unwrap();
            let start: Vec<DVec3> = s.positions(0).collect();
            run(&mut s, 1000);
            let moved = start.iter().zip(s.positions(0)).map(|(a, b)| (*a - b).length()).fold(0.0, f64::max);
            // Rounding leaves forces of 1e-15; undamped, they add up with the square of time.
            assert!(moved < 1e-8, "projective {projective} {clusters:?}: moved {moved:e} in 1000 steps");
        }
    }
}

#[test]
fn clusters_and_particles_have_the_same_centre_of_mass() {
    let shape = shapes::gummy_bear(1.0, 0.08).unwrap();
    for radius in [0.15, 0.3, 10.0] {
        let mut body = Body::new("bear", shape.clone());
        body.clusters = Clustering::Radius(radius);
        let s = Builder::new().body(body).build().unwrap();
        let rest = &s.model().bodies()[0].parts.rest();
        let particles: DVec3 = (0..rest.mass.len()).map(|i| rest.positions.get(i) * rest.mass[i]).sum();
        let clusters: DVec3 = rest.clusters.iter().map(|c| c.center * c.mass).sum();
        let mass: f64 = rest.clusters.iter().map(|c| c.mass).sum();
        assert!((mass - 1.0).abs() < 1e-12);
        assert!((particles - clusters).length() < 1e-12);
    }
}

#[test]
fn without_limiting_it_is_mullers_integrator_and_without_springs_position_based() {
    // Iterations = 0, ω = 0 and γ = ∞ are the same to the last bit.
    let build = |iterations, omega, gamma| {
        let mut body = tumbling(Clustering::Count(29));
        body.controls.iterations = iterations;
        body.controls.relaxation = omega;
        body.controls.strain_limit = gamma;
        weightless(body).build().unwrap()
    };
    let mut a = build(0, 1.0, 0.1);
    let mut b = build(5, 0.0, 0.1);
    let mut c = build(5, 1.0, f64::INFINITY);
    for s in [&mut a, &mut b, &mut c] {
        run(s, 50);
    }
    assert_eq!(bits(&a), bits(&b));
    assert_eq!(bits(&a), bits(&c));
    // One step of Müller's integrator by hand, for one cluster: v += α (g − x)/h, x += h v.
    let mut body = tumbling(Clustering::Whole);
    body.position = DVec3::ZERO;
    let mut s = weightless(body).build().unwrap();
    let (x, v): (Vec<_>, Vec<_>) = (
        s.state().bodies()[0].positions().iter().collect(),
        s.state().bodies()[0].velocities().iter().collect(),
    );
    let mass = s.model().bodies()[0].parts.rest().mass.clone();
    let rest: Vec<_> = s.model().bodies()[0].parts.rest().positions.iter().collect();
    let total: f64 = mass.iter().sum();
    let center = |p: &[DVec3]| p.iter().zip(&mass).map(|(p, m)| *p * *m).sum::<DVec3>() / total;
    let (xc, rc) = (center(&x), center(&rest));
    let weighted = rest.iter().zip(&x).zip(&mass).map(|((r, x), m)| ((*r - rc) * *m, *x - xc));
    let turn = horn_rotation(weighted);
    run(&mut s, 1);
    for i in 0..x.len() {
        let goal = turn * (rest[i] - rc) + xc;
        let expected_v = v[i] + (goal - x[i]) * (0.5 * 60.0);
        assert!((s.state().bodies()[0].velocities().get(i) - expected_v).length() < 1e-9);
        assert!((s.state().bodies()[0].positions().get(i) - (x[i] + expected_v / 60.0)).length() < 1e-11);
    }
    // α = 0 and γ = 0: x moves by its velocity, then to the goals; v is what x moved.
    let mut body = tumbling(Clustering::Whole);
    body.position = DVec3::ZERO;
    body.controls.stiffness = pliant::Stiffness::Alpha(0.0);
    body.controls.strain_limit = 0.0;
    body.controls.iterations = 1;
    let mut s = weightless(body).build().unwrap();
    let moved: Vec<_> = x.iter().zip(&v).map(|(x, v)| *x + *v / 60.0).collect();
    let mc = center(&moved);
    let turn = horn_rotation(rest.iter().zip(&moved).zip(&mass).map(|((r, x), m)| ((*r - rc) * *m, *x - mc)));
    run(&mut s, 1);
    for i in 0..x.len() {
        let goal = turn * (rest[i] - rc) + mc;
        assert!((s.state().bodies()[0].positions().get(i) - goal).length() < 1e-11);
        assert!((s.state().bodies()[0].velocities().get(i) - (goal - x[i]) * 60.0).length() < 1e-9);
    }
}
