//! Mass that changes while running: forces, energies and stiffness per mass follow.

use crate::common::*;
use pliant::{Body, Builder, Clustering, Control, DVec3, Simulation, shapes};

fn body(projective: bool) -> Body {
    let body = cube(Clustering::Count(6), 0.5);
    if projective { body.projective() } else { body }
}

#[test]
fn a_force_accelerates_by_the_present_mass() {
    for projective in [false, true] {
        let mut s = weightless(body(projective)).build().unwrap();
        let force = DVec3::new(3.0, -1.0, 0.5);
        s.set(Control::Force(0.into()), force).unwrap();
        let mut expected = DVec3::ZERO;
        for mass in [1.0, 4.0, 0.25] {
            s.set(Control::Mass(0.into()), mass).unwrap();
            run(&mut s, 10);
            expected += force / mass * (10.0 / 60.0);
            let off = s.state().bodies()[0]
                .velocities()
                .iter()
                .map(|v| (v - expected).length())
                .fold(0.0, f64::max);
            assert!(off < 1e-9, "projective {projective}, {mass} kg: {off:e}");
            let momentum = s.statistics().momentum;
            assert!((momentum - expected * mass).length() < 1e-9, "{momentum}");
        }
    }
}

#[test]
fn statistics_are_those_of_the_present_mass() {
    for projective in [false, true] {
        let mut body = body(projective);
        body.stretch = DVec3::new(1.2, 1.0, 0.9);
        body.velocity = DVec3::new(1.0, 2.0, 3.0);
        body.spin = DVec3::Z;
        body.position = DVec3::new(0.0, 5.0, 1.0);
        let mut s = Builder::new().substeps(1).body(body).build().unwrap();
        let light = s.statistics();
        s.set(Control::Mass(0.into()), 3.0).unwrap();
        let heavy = s.statistics();
        let pairs = [
            (light.kinetic, heavy.kinetic),
            // The springs' k/m is what is given: three times the mass, three times the k.
            (light.elastic, heavy.elastic),
            (light.gravity, heavy.gravity),
            (light.momentum.y, heavy.momentum.y),
            (light.angular_momentum.x, heavy.angular_momentum.x),
        ];
        for (light, heavy) in pairs {
            assert!(light.abs() > 1e-6 && (heavy / light - 3.0).abs() < 1e-12, "{light} {heavy}");
        }
        assert_eq!(light.max_strain, heavy.max_strain);
    }
}

/// A sheet held at one edge by springs of its own.
fn hanging(built: f64, live: f64, stiffness: f64) -> (Simulation, f64) {
    let mut body = Body::new("cloth", shapes::sheet(1.0, 1.0, 8, 8).unwrap()).projective().mass(built);
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = stiffness;
    // Calm by the end: it swings down first.
    (body.controls.damping, body.controls.drag) = (5.0, 2.0);
    body.controls.iterations = 30;
    let mut s = Builder::new().substeps(1).body(body.pin([0, 1, 2, 3, 4, 5, 6, 7, 8])).build().unwrap();
    s.set(Control::Mass(0.into()), live).unwrap();
    run(&mut s, 900);
    let lowest = s.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
    (s, -lowest)
}

#[test]
fn edges_hold_by_stiffness_over_mass() {
    let (one, sag) = hanging(1.0, 1.0, 400.0);
    let (heavy, more) = hanging(1.0, 3.0, 400.0);
    let (both, same) = hanging(1.0, 3.0, 1200.0);
    let (built, also) = hanging(3.0, 3.0, 1200.0);
    println!("sag {sag}; of three times the mass {more}; and stiffness {same}; built so {also}");
    assert!(more > sag + 1e-3, "heavier bodies sag more: {more} {sag}");
    for other in [&both, &built] {
        let off = one.positions(0).zip(other.positions(0)).map(|(a, b)| (a - b).length()).fold(0.0, f64::max);
        assert!(off < 1e-9, "only k/m counts: {off:e}");
    }
    // Built heavy or made heavy is the same.
    let (other, _) = hanging(3.0, 3.0, 400.0);
    let off = heavy.positions(0).zip(other.positions(0)).map(|(a, b)| (a - b).length()).fold(0.0, f64::max);
    assert!(off < 1e-9, "{off:e}");
}
