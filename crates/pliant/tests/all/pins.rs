//! Pins: held exactly or by springs, at rest, on their own motion, or wherever a host puts them.

use crate::common::*;
use pliant::{
    Body, Builder, Clustering, DAffine3, DQuat, DVec3, Motion, Pins, Selection, Simulation, Stiffness, shapes,
};

fn swinging() -> Motion {
    Motion {
        velocity: DVec3::new(0.3, 0.0, 0.0),
        spin: DVec3::new(0.0, 2.0, 0.0),
        pivot: DVec3::new(0.0, 1.0, 0.0),
        sway: DVec3::new(0.0, 0.1, 0.0),
        frequency: 1.5,
        start: 0.25,
        end: 1.0,
    }
}

/// A block whose upper face is held.
fn held(projective: bool, motion: Motion, stiffness: Option<f64>) -> Body {
    let mut body = cube(Clustering::Count(8), 0.3);
    body.controls.damping = 5.0;
    body.controls.drag = 1.0; // stops the pendulum, which damping leaves alone
    if projective {
        body = body.projective();
    }
    let select = Selection::Box(DVec3::new(-1.0, 0.49, -1.0), DVec3::new(1.0, 0.51, 1.0));
    body.pins.push(Pins { name: "top".into(), select, motion, stiffness });
    body
}

fn offsets(s: &Simulation, placement: DAffine3) -> f64 {
    let group = &s.model().bodies()[0].parts.pins()[0];
    let off = |(&i, anchor): (&u32, DVec3)| {
        (s.state().bodies()[0].positions().get(i as usize) - placement.transform_point3(anchor)).length()
    };
    let anchors = s.state().bodies()[0].memory().anchors();
    group.particles.iter().zip(anchors).map(off).fold(0.0, f64::max)
}

#[test]
fn hard_pins_are_exactly_where_their_motion_says() {
    for projective in [false, true] {
        let mut s = Builder::new().substeps(2).body(held(projective, swinging(), None)).build().unwrap();
        assert_eq!(s.model().bodies()[0].parts.pins()[0].particles.len(), 36);
        for _ in 0..90 {
            run(&mut s, 1);
            let off = offsets(&s, swinging().placement(s.state().time()));
            assert!(off < 1e-14, "projective {projective}: off by {off:e}");
        }
        // The motion has ended: the pins rest, and so does the body after a while.
        run(&mut s, 600);
        assert!(s.statistics().kinetic < 1e-4, "projective {projective}: {}", s.statistics().kinetic);
        let hangs = s.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
        assert!((-0.9..-0.4).contains(&hangs), "projective {projective}: hangs down to {hangs}");
    }
}

#[test]
fn a_host_may_hold_pins_anywhere_and_let_go_again() {
    for projective in [false, true] {
        let mut s = Builder::new().substeps(2).body(held(projective, Motion::REST, None)).build().unwrap();
        let placement =
            DAffine3::from_rotation_translation(DQuat::from_rotation_z(0.3), DVec3::new(0.1, 0.2, 0.0));
        s.controls_mut().place_pins(0, 0, Some(placement)).unwrap();
        run(&mut s, 3);
        assert!(offsets(&s, placement) < 1e-14);
        s.controls_mut().place_pins(0, 0, None).unwrap();
        run(&mut s, 3);
        assert!(offsets(&s, DAffine3::IDENTITY) < 1e-14);
        assert!(s.controls_mut().place_pins(0, 1, None).is_err());
        let nowhere = DAffine3::from_translation(DVec3::NAN);
        assert!(s.controls_mut().place_pins(0, 0, Some(nowhere)).is_err());
    }
}

#[test]
fn soft_pins_give_way_in_proportion_to_their_softness() {
    // Constraints are soft: under a load the violation falls as 1/w.
    let sag = |stiffness: f64| {
        let mut body = held(true, Motion::REST, Some(stiffness));
        body.controls.stiffness = Stiffness::Frequency(30.0);
        body.controls.damping = 20.0;
        body.controls.iterations = 30;
        let mut s = Builder::new().substeps(1).body(body).build().unwrap();
        run(&mut s, 600);
        let group = &s.model().bodies()[0].parts.pins()[0];
        let pairs = group.particles.iter().zip(s.state().bodies()[0].memory().anchors());
        pairs.map(|(&i, a)| a.y - s.state().bodies()[0].positions().get(i as usize).y).sum::<f64>() / 36.0
    };
    let (soft, hard) = (sag(20.0), sag(200.0));
    // 36 springs carry a kilogram.
    assert!((soft - 9.81 / (36.0 * 20.0)).abs() < 1e-3 * soft.abs() + 1e-5, "{soft}");
    assert!((soft / hard - 10.0).abs() < 0.1, "{soft} and {hard}");
}

#[test]
fn a_cloth_hangs_from_two_corners_and_follows_them() {
    let mut cloth = Body::new("cloth", shapes::sheet(1.0, 1.0, 20, 20).unwrap()).projective();
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 1000.0;
    cloth.controls.damping = 3.0;
    cloth.mass = 0.3;
    let motion = Motion { velocity: DVec3::new(0.5, 0.0, 0.0), end: 2.0, ..Motion::REST };
    let select = Selection::Particles(vec![0, 20]);
    cloth.pins.push(Pins { name: "corners".into(), select, motion, stiffness: None });
    let mut s = Builder::new().body(cloth).build().unwrap();
    run(&mut s, 600);
    // Two seconds at half a metre per second, then at rest, hanging below its corners.
    let corners: Vec<DVec3> = [0, 20].iter().map(|&i| s.state().bodies()[0].positions().get(i)).collect();
    assert!((corners[0] - DVec3::new(0.5, 0.0, -0.5)).length() < 1e-12, "{}", corners[0]);
    let lowest = s.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
    assert!((-1.2..-0.6).contains(&lowest), "hangs down to {lowest}");
    assert!(s.statistics().max_strain < 0.2, "stretched by {}", s.statistics().max_strain);
}
