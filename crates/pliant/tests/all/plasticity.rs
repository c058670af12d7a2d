//! Deformation that stays: when it begins, how fast it goes, how far, and what it keeps.

use crate::common::*;
use pliant::{
    Body, Builder, Clustering, Control, DMat3, DVec3, Goals, Integrator, Section, Simulation, shapes,
};
use pliant_math::svd3;

/// A cube held at all its particles in a stretched shape of the same volume: its strain is known.
fn held(stretch: f64, substeps: u32) -> Simulation {
    let mut body = cube(Clustering::Count(4), 0.5);
    body.stretch = DVec3::new(stretch, stretch.powf(-0.5), stretch.powf(-0.5));
    body.rotation = glam_rotation();
    body.controls.yield_strain = 0.1;
    body.controls.creep = 5.0;
    body.controls.plastic_limit = 9.0;
    let all = 0..body.shape.points.len() as u32;
    Builder::new().body(body.pin(all)).substeps(substeps).build().unwrap()
}

fn glam_rotation() -> pliant::DQuat {
    pliant::DQuat::from_scaled_axis(DVec3::new(0.3, -1.0, 0.5))
}

fn plastic(s: &Simulation) -> Vec<DMat3> {
    s.state().bodies()[0].memory().matrices(Section::Plastic).collect()
}

fn permanent(s: &Simulation) -> f64 {
    plastic(s).iter().map(|p| svd3(*p - DMat3::IDENTITY).sigma.x).fold(0.0, f64::max)
}

#[test]
fn below_yield_nothing_is_permanent() {
    for goals in Goals::ALL {
        for integrator in Integrator::ALL {
            let mut body = cube(Clustering::Count(6), 0.5).goals(goals);
            body.integrator = integrator;
            body.stretch = DVec3::new(1.08, 0.95, 1.0);
            body.spin = DVec3::new(1.0, 2.0, 0.5);
            body.controls.damping = 1.0;
            let elastic = body.clone();
            // Springs overshoot: twice the start is the most there can be.
            body.controls.yield_strain = 0.2;
            let (mut s, mut e) = (weightless(body).build().unwrap(), weightless(elastic).build().unwrap());
            run(&mut s, 200);
            run(&mut e, 200);
            assert!(plastic(&s).iter().all(|p| *p == DMat3::IDENTITY));
            assert_eq!(bits(&s), bits(&e), "{}", goals.name());
        }
    }
    // At the threshold itself.
    for (stretch, flows) in [(1.099, false), (1.101, true)] {
        let mut s = held(stretch, 1);
        run(&mut s, 5);
        assert_eq!(permanent(&s) > 0.0, flows, "{stretch}");
    }
}

/// What flows is (1 − yield/strain) of the stretch beyond P, at the creep rate. In the held shape, P is
/// diagonal in the axes of the stretch; for a stretch along one axis by e^u at constant volume the
/// exact flow is du/dt = creep · (1 − y/ε) ε', with ε = S/e^u − 1 to first order of the step.
#[test]
fn creep_does_not_depend_on_substeps() {
    let after = |substeps: u32| {
        let mut s = held(1.4, substeps);
        run(&mut s, 6);
        let p = plastic(&s).clone();
        let spread = p.iter().map(|q| svd3(*q - p[0]).sigma.x).fold(0.0, f64::max);
        assert!(spread < 1e-12, "all clusters are stretched alike: {spread:e}");
        svd3(p[0]).sigma.x - 1.0
    };
    let exact = after(512);
    let off = [1, 2, 4, 8, 16].map(|n| (after(n) - exact).abs() / exact);
    println!("permanent stretch {exact}; off by {off:.5?} with 1, 2, 4, 8, 16 substeps");
    assert!(exact > 0.05 && off[0] < 0.05, "{off:?}");
    for pair in off.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((0.8..1.3).contains(&order), "first order: {order} of {off:?}");
    }
    // The rate itself, at the start: after a short time t, creep · t of the excess 0.4 − 0.1.
    let mut s = held(1.4, 64);
    s.set(Control::Creep(0.into()), 1e-3).unwrap();
    run(&mut s, 1);
    let rate = (svd3(plastic(&s)[0]).sigma.x - 1.0) * 60.0 / 1e-3;
    let (long, across) = (0.4, 1.4_f64.powf(-0.5) - 1.0);
    // The part that changes no volume: the mean of the three logarithms is taken off.
    let expected = (1.0 - 0.1 / 0.4) * (long - (long + 2.0 * across) / 3.0);
    assert!((rate / expected - 1.0).abs() < 1e-3, "{rate} {expected}");
}

#[test]
fn volume_is_kept_and_the_limit_is_never_passed() {
    let mut random = Random::new(5);
    for goals in Goals::ALL {
        for limit in [0.0, 0.1, 0.5, 3.0] {
            let mut body = cube(Clustering::Count(6), 0.3).goals(goals);
            body.controls.yield_strain = 0.02;
            body.controls.creep = 30.0;
            body.controls.plastic_limit = limit;
            body.controls.damping = 1.0;
            let mut s = weightless(body).build().unwrap();
            for _ in 0..8 {
                let map = random.matrix() * 1.5;
                let rest: Vec<DVec3> = s.model().bodies()[0].parts.rest().positions.iter().collect();
                let x: Vec<DVec3> = rest.iter().map(|p| map * *p + random.vector() * 0.2).collect();
                put(&mut s, &x, &vec![DVec3::ZERO; x.len()]);
                for _ in 0..10 {
                    run(&mut s, 1);
                    for p in &plastic(&s) {
                        let sigma = svd3(*p).sigma;
                        assert!((p.determinant() - 1.0).abs() < 1e-12, "{}", p.determinant());
                        assert!(sigma.x <= (1.0 + limit) * (1.0 + 1e-12), "{sigma} beyond {limit}");
                        assert!(sigma.z >= 1.0 / (1.0 + limit) * (1.0 - 1e-12), "{sigma} beyond {limit}");
                        let e = *p - p.transpose();
                        assert!(e.to_cols_array().iter().all(|e| e.abs() < 1e-12), "a stretch only");
                    }
                }
            }
            assert_eq!(permanent(&s) > 1e-3, limit > 0.0);
        }
    }
}

#[test]
fn hardening_raises_the_yield() {
    let end = |hardening: f64| {
        let mut s = held(1.4, 4);
        s.set(Control::Hardening(0.into()), hardening).unwrap();
        run(&mut s, 600);
        let p = plastic(&s)[0];
        // It stops where the remaining strain is what the hardened material bears.
        let stretch = DVec3::new(1.4, 1.4_f64.powf(-0.5), 1.4_f64.powf(-0.5));
        let left = svd3(DMat3::from_diagonal(stretch) * p.inverse() - DMat3::IDENTITY).sigma.x;
        let bears = 0.1 + hardening * permanent(&s);
        assert!((left - bears).abs() < 1e-3, "hardening {hardening}: {left} left, {bears} borne");
        permanent(&s)
    };
    let ends = [0.0, 0.3, 1.0, 5.0].map(end);
    println!("permanent stretch by hardening: {ends:?}");
    assert!(ends.windows(2).all(|p| p[1] < 0.95 * p[0]), "{ends:?}");
}

#[test]
fn a_pressed_body_stays_pressed_and_an_elastic_one_does_not() {
    let press = |plastic: bool, integrator: Integrator| {
        let mut body = Body::new("bar", shapes::cuboid(DVec3::new(1.5, 0.5, 0.5), 0.125).unwrap());
        body.clusters = Clustering::Radius(0.6);
        body.stretch = DVec3::new(0.6, 1.3, 1.3);
        body.integrator = integrator;
        body.controls.damping = 8.0;
        body.controls.strain_limit = f64::INFINITY;
        if plastic {
            (body.controls.yield_strain, body.controls.creep) = (0.05, 60.0);
        }
        let mut s = weightless(body.frequency(6.0)).build().unwrap();
        assert!(s.notes().is_empty(), "{:?}", s.notes());
        run(&mut s, 600);
        (distance_from_rest(&s, 0), s.statistics().max_strain)
    };
    for integrator in Integrator::ALL {
        let ((kept, strain), (back, _)) = (press(true, integrator), press(false, integrator));
        println!("{}: {kept} kept, {back} of an elastic body, strain left {strain}", integrator.name());
        assert!(kept > 0.05 && back < 1e-3, "{kept} {back}");
        assert!(strain < 0.3 * kept, "it rests in its new shape: {strain} against {kept}");
    }
}

#[test]
fn a_checkpoint_in_the_middle_of_the_flow_goes_on_with_the_same_bits() {
    for goals in Goals::ALL {
        let build = || {
            let mut body = cube(Clustering::Count(6), 0.3).goals(goals);
            body.stretch = DVec3::new(1.6, 0.8, 0.9);
            (body.controls.yield_strain, body.controls.creep) = (0.05, 20.0);
            body.controls.hardening = 0.1;
            weightless(body).build().unwrap()
        };
        let mut reference = build();
        run(&mut reference, 3);
        let (bytes, flowed) = (reference.checkpoint(), plastic(&reference));
        run(&mut reference, 10);
        assert!(flowed.iter().zip(&plastic(&reference)).all(|(a, b)| *a != DMat3::IDENTITY && a != b));
        let mut resumed = build();
        resumed.restore(&bytes).unwrap();
        run(&mut resumed, 10);
        assert_eq!(bits(&reference), bits(&resumed));
        assert_eq!(reference.state(), resumed.state());
        // Forgotten, it would go another way.
        let mut forgetful = build();
        forgetful.restore(&bytes).unwrap();
        let mut state = forgetful.state().clone();
        let plastic = &mut state.bodies_mut()[0].memory_mut()[Section::Plastic];
        plastic.as_chunks_mut::<9>().0.fill(DMat3::IDENTITY.to_cols_array());
        forgetful.set_state(state).unwrap();
        run(&mut forgetful, 10);
        assert_ne!(bits(&reference), bits(&forgetful));
    }
}
