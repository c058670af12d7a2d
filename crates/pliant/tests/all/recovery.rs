//! Bodies come back to their rest shape from anything: mirrored, flattened, collapsed, scrambled.

use crate::common::*;
use pliant::{Body, Clustering, DVec3, Simulation};
use pliant_geometry::SplitMix64;

/// Steps after which every case must be back within 1 % of the rest shape.
const STEPS: usize = 400;

/// Where particle i with rest position p is put.
type Deformation = Box<dyn Fn(usize, DVec3) -> DVec3>;

fn cases() -> Vec<(&'static str, Deformation)> {
    let scatter = |i: usize| {
        let mut rng = SplitMix64::new(i as u64);
        DVec3::new(rng.unit(), rng.unit(), rng.unit()) - 0.5
    };
    vec![
        ("mirrored", Box::new(|_, p| p * DVec3::new(-1.0, 1.0, 1.0))),
        ("inside out", Box::new(|_, p| -p)),
        ("flattened", Box::new(|_, p| p * DVec3::new(1.0, 0.0, 1.0))),
        ("on a line", Box::new(|_, p| p * DVec3::new(0.0, 1.0, 0.0))),
        ("in a point", Box::new(|_, _| DVec3::new(0.3, 0.2, 0.1))),
        ("scrambled", Box::new(move |i, _| scatter(i) * 2.0)),
    ]
}

fn deform(s: &mut Simulation, f: &dyn Fn(usize, DVec3) -> DVec3) {
    let mut state = s.state().clone();
    let x: Vec<DVec3> = (0..state.bodies()[0].positions().len())
        .map(|i| f(i, s.model().bodies()[0].parts.rest().positions.get(i)))
        .collect();
    place(&mut state, x);
    let mut v = state.bodies_mut()[0].velocities_mut();
    (0..v.len()).for_each(|i| v.set(i, DVec3::ZERO));
    s.set_state(state).unwrap();
}

fn recovers(body: Body, what: &str) {
    for (name, f) in cases() {
        let mut s = weightless(body.clone()).build().unwrap();
        deform(&mut s, &*f);
        let mut back = None;
        for step in 1..=STEPS {
            s.step().unwrap_or_else(|e| panic!("{what}, {name}: {e}"));
            let off = distance_from_rest(&s, 0);
            back = if off < 0.01 { back.or(Some(step)) } else { None };
        }
        let off = distance_from_rest(&s, 0);
        println!("{what}, {name}: within 1 % from step {back:?} on, {off:.2e} after {STEPS}");
        assert!(back.is_some(), "{what}, {name}: {:.2} % off after {STEPS} steps", 100.0 * off);
    }
}

#[test]
fn clustered_bodies_recover() {
    for clusters in [Clustering::Whole, Clustering::Count(12)] {
        let mut body = cube(clusters, 0.3);
        body.controls.damping = 10.0;
        // Limiting a scrambled body sets it spinning, and spin stretches; air stops it.
        body.controls.drag = 2.0;
        body.controls.strain_limit = 0.3;
        body.controls.iterations = 5;
        recovers(body, &format!("clustered, {clusters:?}"));
    }
}

#[test]
fn projective_bodies_with_clusters_recover() {
    for clusters in [Clustering::Whole, Clustering::Count(12)] {
        let mut body = cube(clusters, 0.3).projective();
        body.controls.damping = 10.0;
        recovers(body, &format!("projective, {clusters:?}"));
    }
}

#[test]
fn edges_alone_cannot_tell_a_mirror_image() {
    let mut body = cube(Clustering::None, 0.0).projective();
    body.controls.edge_stiffness = 1e4;
    body.controls.damping = 10.0;
    let mut s = weightless(body).build().unwrap();
    deform(&mut s, &|_, p| p * DVec3::new(-1.0, 1.0, 1.0));
    run(&mut s, 100);
    assert!(distance_from_rest(&s, 0) > 0.5, "the mirrored framework is at rest as it is");
    assert!(s.statistics().elastic < 1e-12);
}

#[test]
fn a_collapsed_body_comes_back_the_way_it_was_turned() {
    // In a point every rotation fits as well; the last well-defined one is remembered in the state.
    for projective in [false, true] {
        let turn = pliant::DQuat::from_scaled_axis(DVec3::new(0.3, 2.0, -0.5));
        let mut body = cube(Clustering::Whole, 0.3);
        body.rotation = turn;
        body.controls.damping = 10.0;
        if projective {
            body = body.projective();
        }
        let mut s = weightless(body).build().unwrap();
        run(&mut s, 3);
        deform(&mut s, &|_, _| DVec3::ONE);
        run(&mut s, 200);
        let rest = s.model().bodies()[0].parts.rest().positions.iter();
        let r = horn_rotation(rest.zip(s.positions(0)).map(|(r, x)| (r, x - DVec3::ONE)));
        let off =
            (r - pliant::DMat3::from_quat(turn)).to_cols_array().iter().fold(0.0_f64, |m, e| m.max(e.abs()));
        assert!(distance_from_rest(&s, 0) < 0.01, "projective {projective}");
        assert!(off < 1e-6, "projective {projective}: turned otherwise by {off}");
    }
}
