//! A body that follows an animated mesh: through its rest shape, pins and painted weights.

use pliant::{Body, Builder, Clustering, Control, DVec3, Goals, Input, Sequence, Simulation, shapes};

const FPS: f64 = 60.0;

/// A bar of 1 m, from 0 to 1 along x.
fn bar() -> shapes::Shape {
    let mut shape = shapes::cuboid(DVec3::new(1.0, 0.2, 0.2), 0.1).unwrap();
    shape.points.iter_mut().for_each(|p| p.x += 0.5);
    shape
}

/// The bar shifted up by a quarter of a metre after half a second, in one frame.
fn jumping(points: &[DVec3]) -> Sequence {
    let frame = |k: usize| {
        let up = if k < 30 { 0.0 } else { 0.25 };
        points.iter().map(|p| *p + DVec3::Y * up).collect()
    };
    Sequence::new((0..120).map(frame).collect(), FPS).unwrap()
}

fn weightless(body: Body) -> Simulation {
    let mut builder = Builder::new().body(body);
    builder.gravity = DVec3::ZERO;
    builder.build().unwrap()
}

fn mean_y(s: &Simulation) -> f64 {
    let n = s.model().particle_count() as f64;
    s.positions(0).map(|p| p.y).sum::<f64>() / n
}

#[test]
fn held_particles_are_where_the_input_is_and_the_rest_comes_after() {
    let shape = bar();
    let follow: Vec<f64> = shape.points.iter().map(|p| if p.x < 0.05 { 1.0 } else { 0.0 }).collect();
    let held: Vec<usize> = (0..follow.len()).filter(|&i| follow[i] == 1.0).collect();
    let points = shape.points.clone();
    let mut body = Body::new("bar", shape).at(1.0, 2.0, 3.0);
    body.clusters = Clustering::Count(6);
    let sequence = jumping(&points);
    body.input = Some(Input { follow, ..Input::new(sequence.clone()) });
    let mut s = weightless(body);
    let mut lag = 0.0_f64;
    for _ in 0..118 {
        let report = s.step().unwrap();
        let now = sequence.at(report.time);
        let at: Vec<DVec3> = s.positions(0).collect();
        for &i in &held {
            let want = now.get(i) + DVec3::new(1.0, 2.0, 3.0);
            assert!((at[i] - want).length() < 1e-12, "{}", report.time);
        }
        let want: f64 = (0..at.len()).map(|i| now.get(i).y).sum::<f64>() / at.len() as f64;
        lag = lag.max(want + 2.0 - mean_y(&s));
    }
    assert!(lag > 0.1, "the free part must lag behind: {lag}");
    assert!(mean_y(&s) > 2.15, "and follow in the end: {}", mean_y(&s));
}

/// With every particle at the same weight the body answers a jump as a damped spring: x'' = w k (y − x) −
/// w c x'. Low damping overshoots, high damping does not.
#[test]
fn painted_weights_lag_and_overshoot_like_a_damped_spring() {
    let overshoot = |damping: f64| {
        let shape = bar();
        let sequence = jumping(&shape.points);
        let count = shape.points.len();
        let mut body = Body::new("bar", shape);
        body.clusters = Clustering::Whole;
        body.controls.damping = 0.0;
        body.controls.follow = 3.0;
        body.controls.follow_damping = damping;
        body.input = Some(Input { follow: vec![0.5; count], ..Input::new(sequence) });
        let mut s = weightless(body);
        let (mut peak, mut early) = (0.0_f64, 0.0);
        for k in 0..118 {
            s.step().unwrap();
            peak = peak.max(mean_y(&s));
            if k == 31 {
                early = mean_y(&s);
            }
        }
        (peak / 0.25 - 1.0, early)
    };
    // Damping is relative to the input, so a well damped body goes along with the jump itself.
    let ((soft, early), (calm, _)) = (overshoot(2.0), overshoot(60.0));
    assert!(early < 0.125, "no lag: {early}");
    // A spring of weight ½: ω² = ½ (2π 3)², decay ½ c/2; overshoot exp(−π ζ/√(1 − ζ²)).
    let omega = (0.5 * (6.0 * std::f64::consts::PI).powi(2)).sqrt();
    let zeta = 0.5 * 2.0 / (2.0 * omega);
    let expected = (-std::f64::consts::PI * zeta / (1.0 - zeta * zeta).sqrt()).exp();
    println!("overshoot {soft:.3}, a spring's is {expected:.3}; well damped {calm:.4}");
    assert!((soft - expected).abs() < 0.05, "{soft} {expected}");
    assert!(calm < 0.2 * soft, "{calm}");
}

/// The rest shape itself is animated: a free body takes the pose without being held anywhere, and keeps
/// its momentum while it does.
#[test]
fn a_free_body_takes_the_poses_of_its_input() {
    for goals in Goals::ALL {
        let shape = bar();
        let points = shape.points.clone();
        let bent = |angle: f64| -> Vec<DVec3> {
            let turn = |p: &DVec3| {
                let a = angle * p.x;
                DVec3::new(a.cos() * p.x - a.sin() * p.y, a.sin() * p.x + a.cos() * p.y, p.z)
            };
            points.iter().map(turn).collect()
        };
        let frames = (0..60).map(|k| bent(f64::from(k) / 59.0)).collect();
        let mut body = Body::new("bar", shape);
        body.goals = goals;
        body.clusters = Clustering::Count(5);
        body.controls.damping = 20.0;
        body.controls.deformation = 0.3;
        body.controls.volume = 0.0;
        body.velocity = DVec3::X;
        body.input = Some(Input::new(Sequence::new(frames, FPS).unwrap()));
        let mut s = weightless(body);
        let before = s.statistics();
        for _ in 0..180 {
            s.step().unwrap();
        }
        let now = s.statistics();
        assert!(now.max_strain < 0.02, "{goals:?}: it has not taken the pose: {}", now.max_strain);
        let off = (now.momentum - before.momentum).length();
        assert!(off < 1e-11, "{goals:?}: momentum {off:e}");
        let (a, b): (Vec<DVec3>, Vec<DVec3>) = (s.positions(0).collect(), bent(1.0));
        let size = |v: &[DVec3]| (v[0] - v[v.len() - 1]).length();
        assert!((size(&a) - size(&b)).abs() < 0.02, "{goals:?}: {} {}", size(&a), size(&b));
        assert!((size(&b) - size(&points)).abs() > 0.02, "the pose must differ for this to say anything");
    }
}

#[test]
fn a_still_input_changes_no_bits_beyond_rounding() {
    let mut plain = Body::new("bar", bar());
    plain.stretch = DVec3::new(1.2, 1.0, 1.0);
    let mut with = plain.clone();
    with.input = Some(Input::new(Sequence::new(vec![bar().points], FPS).unwrap()));
    let (mut a, mut b) = (weightless(plain), weightless(with));
    for _ in 0..60 {
        a.step().unwrap();
        b.step().unwrap();
    }
    for (a, b) in a.positions(0).zip(b.positions(0)) {
        assert!((a - b).length() < 1e-9);
    }
}

#[test]
fn threads_caches_and_live_values_leave_the_same_bits() {
    let run = |threads: usize, drop: bool| {
        let shape = bar();
        let sequence = jumping(&shape.points).repeating();
        let follow = shape.points.iter().map(|p| (1.0 - 2.0 * p.x).clamp(0.0, 1.0)).collect();
        let mut body = Body::new("bar", shape);
        body.goals = Goals::Quadratic;
        body.clusters = Clustering::Count(4);
        body.input = Some(Input { follow, ..Input::new(sequence) });
        let mut builder = Builder::new().ground().body(body);
        builder.threads = threads;
        let mut s = builder.build().unwrap();
        for k in 0..50 {
            if k == 20 {
                s.set(Control::Follow(0.into()), 6.0).unwrap();
            }
            if drop {
                s.drop_caches();
            }
            s.step().unwrap();
        }
        s.checkpoint()
    };
    let first = run(1, false);
    assert!(first == run(2, false) && first == run(7, true));
}

#[test]
fn wrong_inputs_are_refused_with_what_to_do() {
    let shape = bar();
    let n = shape.points.len();
    let mut body = Body::new("bar", shape.clone());
    body.input = Some(Input {
        follow: vec![2.0; n - 1],
        ..Input::new(Sequence::new(vec![vec![DVec3::ZERO; n + 1]], FPS).unwrap())
    });
    let errors = Builder::new().body(body).build().unwrap_err().to_string();
    for part in ["sequence has", "follow weights", "weight 2.0 of particle 0"] {
        assert!(errors.contains(part), "{errors}");
    }
    let mut body = Body::new("bar", shape.clone()).projective();
    body.input = Some(Input::new(Sequence::new(vec![shape.points], FPS).unwrap()));
    let errors = Builder::new().body(body).build().unwrap_err().to_string();
    assert!(errors.contains("animated inputs") && errors.contains("clustered"), "{errors}");
}
