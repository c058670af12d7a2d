//! Wind and fields: closed forms, momentum, bounds, and the same bits for every number of threads.

use pliant::{Body, Builder, Clustering, Control, DQuat, DVec3, Field, Material, Simulation, shapes};

const AIR: f64 = 1.2;

/// A square metre of cloth, level unless turned, of 0.3 kg.
fn plate() -> Body {
    let mut body = Body::new("plate", shapes::sheet(1.0, 1.0, 6, 6).unwrap()).projective().mass(0.3);
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = 1000.0;
    (body.controls.damping, body.controls.air) = (0.0, AIR);
    body
}

fn facing_x() -> Body {
    Body { rotation: DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2), ..plate() }
}

fn without_gravity() -> Builder {
    let mut builder = Builder::new();
    builder.gravity = DVec3::ZERO;
    builder
}

fn run(s: &mut Simulation, steps: usize) {
    for _ in 0..steps {
        s.step().unwrap();
    }
}

fn momentum(s: &Simulation) -> DVec3 {
    s.statistics().momentum
}

#[test]
fn a_falling_plate_reaches_its_terminal_velocity() {
    let mut s = Builder::new().body(plate()).build().unwrap();
    run(&mut s, 240);
    // m g = ½ air A v²; with k = ½ air A/m, substeps of h overshoot it by ½ g h + O(h²) after gravity acted.
    let (g, h, k) = (9.81, 1.0 / 240.0, 0.5 * AIR / 0.3);
    let expected = 0.5 * g * h + (0.25 * g * g * h * h + g / k).sqrt();
    let fallen = -momentum(&s).y / 0.3;
    assert!((fallen - expected).abs() < 1e-9 * expected, "{fallen} m/s, {expected} expected");
    assert!((fallen - (g / k).sqrt()).abs() < g * h);
}

#[test]
fn the_momentum_given_is_the_integral_of_the_force() {
    // All faces alike: w = W/(1 + k W t) of the wind is left, whatever the steps.
    for substeps in [1, 5] {
        let mut s =
            without_gravity().substeps(substeps).wind(7.0, 0.0, 0.0).body(facing_x()).build().unwrap();
        run(&mut s, 30);
        let (t, k) = (0.5, 0.5 * AIR / 0.3);
        let expected = 7.0 - 7.0 / (1.0 + k * 7.0 * t);
        let p = momentum(&s);
        assert!((p.x / 0.3 - expected).abs() < 1e-9, "{} {expected}", p.x / 0.3);
        assert!(p.y.abs() + p.z.abs() < 1e-9);
    }
}

#[test]
fn no_wind_blows_anything_beyond_itself() {
    for speed in [1e3, 1e9] {
        let mut s = without_gravity().wind(speed, 0.0, 0.0).body(facing_x()).build().unwrap();
        s.set(Control::Air(0.into()), 1e6).unwrap();
        for _ in 0..20 {
            s.step().unwrap();
            let fastest = s.state().bodies()[0].velocities().iter().map(|v| v.x).fold(0.0, f64::max);
            assert!(fastest <= speed * (1.0 + 1e-9), "{fastest} in a wind of {speed}");
        }
        assert!(momentum(&s).x / 0.3 > 0.999 * speed);
    }
}

#[test]
fn still_air_damps_and_no_air_does_nothing() {
    let moving = |air: f64, wind: f64| {
        let mut body = facing_x();
        (body.velocity, body.controls.air) = (DVec3::new(5.0, 2.0, 0.0), air);
        let mut s = without_gravity().wind(wind, 0.0, 0.0).body(body).build().unwrap();
        run(&mut s, 60);
        s
    };
    let p = momentum(&moving(AIR, 0.0)) / 0.3;
    assert!((p.x - 5.0 / (1.0 + 10.0)).abs() < 1e-9 && (p.y - 2.0).abs() < 1e-9, "{p}");
    let free = moving(0.0, 9.0);
    assert!((momentum(&free) / 0.3 - DVec3::new(5.0, 2.0, 0.0)).length() < 1e-12);
    assert!(free.notes().iter().any(|n| n.contains("wind blows on nothing")), "{:?}", free.notes());
    assert!(moving(AIR, 9.0).notes().is_empty());
}

#[test]
fn a_solid_meets_air_from_outside_only() {
    let cube = |wind: f64| {
        let shape = shapes::tet_box([3, 3, 3], DVec3::ONE, shapes::TetStyle::Five).unwrap();
        let rubber = Material::named("rubber").unwrap();
        let mut body = Body::new("cube", shape).elastic(Material { density: 1.0, ..rubber });
        body.controls.air = AIR;
        let mut s = without_gravity().wind(wind, 0.0, 0.0).body(body).build().unwrap();
        s.step().unwrap();
        assert_eq!(s.model().bodies()[0].parts.topology().faces.len(), 6 * 9 * 2);
        momentum(&s).x
    };
    // One face of a square metre; k is that of the surface particles' mass, hence the small wind.
    let (force, t) = (0.5 * AIR * 0.01_f64.powi(2), 1.0 / 60.0);
    let given = cube(0.01);
    assert!((given / (force * t) - 1.0).abs() < 0.01, "{given} {}", force * t);
    assert!((cube(-0.01) + given).abs() < 1e-6 * given);
}

#[test]
fn fields_move_every_body_alike() {
    let push = Field::Uniform {
        min: DVec3::splat(-50.0),
        max: DVec3::splat(50.0),
        acceleration: DVec3::new(0.0, 3.0, 1.0),
        falloff: 1.0,
    };
    let ball = shapes::ball(0.2, 0.08).unwrap();
    let mut s = without_gravity()
        .field(push)
        .body(Body::new("clustered", ball.clone()))
        .body(Body::new("projective", ball).projective().at(1.0, 0.0, 0.0))
        .build()
        .unwrap();
    run(&mut s, 60);
    for v in s.state().bodies()[0].velocities().iter() {
        assert!((v - DVec3::new(0.0, 3.0, 1.0)).length() < 1e-9, "{v}");
    }
    let bad = Field::Attractor { center: DVec3::ZERO, strength: 1.0, radius: -1.0 };
    let refused = Builder::new().field(bad).body(plate()).build().unwrap_err();
    assert!(refused.to_string().contains("attractor"), "{refused}");
}

#[test]
fn threads_and_dropped_caches_do_not_change_bits() {
    let run = |threads: usize, drop: bool| {
        let mut builder = Builder::new()
            .wind(12.0, 1.0, 0.0)
            .field(Field::Turbulence { strength: 3.0, size: 0.4, rate: 1.0 })
            .body(facing_x().pin([0, 6]))
            .body(Body::new("ball", shapes::ball(0.2, 0.05).unwrap()).at(2.0, 0.0, 0.0));
        builder.gusts = 1.0;
        builder.threads = threads;
        let mut s = builder.build().unwrap();
        for _ in 0..15 {
            if drop {
                s.drop_caches();
            }
            s.step().unwrap();
        }
        s.checkpoint()
    };
    let one = run(1, false);
    assert!(one == run(2, false) && one == run(7, true));
}

#[test]
fn gusts_come_and_go_within_bounds() {
    let mut builder = without_gravity().wind(10.0, 0.0, 0.0).body(plate());
    builder.gusts = 1.0;
    let s = builder.build().unwrap();
    let (mut least, mut most, mut last) = (f64::MAX, f64::MIN, None);
    for k in 0..60_000 {
        let now = pliant::wind(s.controls(), DVec3::new(0.3, 1.0, -0.2), f64::from(k) * 1e-3);
        assert!(last.is_none_or(|l: DVec3| l.distance(now) < 0.2), "it jumps at {k} ms");
        assert!((0.0..=20.0).contains(&now.x) && now.y.abs().max(now.z.abs()) <= 4.0, "{now}");
        (least, most, last) = (least.min(now.x), most.max(now.x), Some(now));
    }
    assert!(least < 4.0 && most > 16.0, "{least} {most}");
}

#[test]
fn other_faces_or_fields_are_another_model() {
    let id = |b: Builder| b.build().unwrap().model().id();
    let attractor = |strength: f64| Field::Attractor { center: DVec3::ZERO, strength, radius: 1.0 };
    let plain = id(Builder::new().body(plate()));
    let one = id(Builder::new().body(plate()).field(attractor(1.0)));
    assert!(plain != one && one != id(Builder::new().body(plate()).field(attractor(2.0))));
    let mut bare = plate();
    bare.shape.triangles.pop();
    assert_ne!(plain, id(Builder::new().body(bare)));
}
