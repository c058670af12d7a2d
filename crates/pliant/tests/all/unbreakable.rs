//! Whatever the parameters, a body stays finite, bounded and outside the planes.

use pliant::{Body, Builder, Clustering, DQuat, DVec3, HalfSpace, SolverKind, Stiffness, shapes};
use pliant_geometry::SplitMix64;

struct Random(SplitMix64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0.unit()
    }
    fn range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * self.unit()
    }
    fn vector(&mut self, size: f64) -> DVec3 {
        DVec3::new(self.range(-size, size), self.range(-size, size), self.range(-size, size))
    }
    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[(self.unit() * list.len() as f64) as usize]
    }
}

fn random_scene(seed: u64) -> Builder {
    let mut r = Random(SplitMix64::new(seed));
    let shape = match (r.unit() * 5.0) as u32 {
        0 => shapes::cuboid(DVec3::new(r.range(0.2, 1.0), r.range(0.2, 1.0), 0.5), 0.15),
        1 => shapes::ball(0.4, 0.13),
        2 => shapes::torus(0.4, 0.15, 0.1),
        3 => shapes::sheet(1.0, 0.6, 9, 5),
        _ => shapes::gummy_bear(0.8, 0.12),
    };
    let mut body = Body::new("body", shape.unwrap());
    body.position = DVec3::new(0.0, r.range(0.0, 2.0), 0.0);
    body.rotation = DQuat::from_scaled_axis(r.vector(3.0));
    let wild = r.pick(&[0.1, 1.0, 3.0]);
    body.stretch = DVec3::ONE + r.vector(wild);
    body.velocity = r.vector(10.0);
    body.spin = r.vector(20.0);
    body.mass = 10f64.powf(r.range(-3.0, 3.0));
    body.clusters =
        r.pick(&[Clustering::Whole, Clustering::Count(4), Clustering::Count(12), Clustering::Radius(0.05)]);
    body.seed = seed;
    let c = &mut body.controls;
    c.stiffness = Stiffness::Alpha(r.unit());
    c.strain_limit = r.pick(&[0.0, 0.05, 0.3, 0.5]);
    c.relaxation = r.pick(&[0.0, 0.5, 1.0, 1.5]);
    c.iterations = r.pick(&[1, 3, 5, 20]);
    c.relaxation = c.relaxation.min(pliant::BodyControls::largest_relaxation(c.iterations));
    c.damping = r.pick(&[0.0, 1.0, 100.0]);
    c.drag = r.pick(&[0.0, 1.0]);
    c.restitution = r.pick(&[0.0, 0.5, 1.0]);
    c.friction = r.pick(&[None, Some(0.0), Some(2.0)]);
    if r.unit() < 0.5 {
        let iterations = body.controls.iterations;
        body = body.projective();
        body.controls.iterations = iterations;
        body.controls.edge_stiffness = r.pick(&[0.0, 1.0, 1e6]);
        if r.unit() < 0.3 {
            body.clusters = Clustering::None;
        }
    } else if body.controls.relaxation == 0.0 {
        // Without limiting the explicit integrator may grow without bound, as the paper says.
        body.controls.relaxation = 1.0;
    }
    let mut builder = Builder::new().body(body);
    builder.step = r.pick(&[1.0 / 240.0, 1.0 / 60.0, 1.0 / 24.0]);
    builder.substeps = r.pick(&[1, 2, 5]);
    if r.unit() < 0.8 {
        builder = builder.ground();
    }
    if r.unit() < 0.3 {
        let normal = (r.vector(1.0) + DVec3::Y).normalize();
        builder = builder.collider(HalfSpace {
            normal,
            offset: -1.5,
            friction: r.range(0.0, 1.0),
            restitution: 0.3,
        });
    }
    builder
}

fn survives(seed: u64, steps: usize) {
    scene_survives(seed, random_scene(seed), steps);
}

/// The baselines in place of the projective solver.
#[test]
fn random_scenes_of_the_baselines() {
    for seed in 0..120 {
        let mut builder = random_scene(seed);
        let solver = [SolverKind::Newton, SolverKind::Xpbd, SolverKind::Pbd][seed as usize % 3];
        if builder.bodies[0].solver == SolverKind::Projective {
            builder.bodies[0].solver = solver;
            // PBD makes this part of its corrections: with nothing of them nothing is held.
            let relaxation = &mut builder.bodies[0].controls.relaxation;
            *relaxation = relaxation.max(0.5);
            scene_survives(seed, builder, 60);
        }
    }
}

fn scene_survives(seed: u64, builder: Builder, steps: usize) {
    let one_plane = builder.colliders.len() <= 1;
    let body = &builder.bodies[0];
    // A radius below the spacing makes each particle a cluster of its own, which holds nothing.
    let clustered = matches!(body.clusters, Clustering::Whole | Clustering::Count(_));
    let held = clustered || body.controls.edge_stiffness > 1e3;
    let feeble = body.solver.uses_constraints() && !held;
    let describe = format!("{:?}", builder.bodies[0].controls);
    let mut s = builder.build().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let began_inside = s.statistics().max_penetration;
    for step in 0..steps {
        s.step().unwrap_or_else(|e| panic!("seed {seed}: {e}\n{describe}"));
        if step % 20 == 19 {
            let now = s.statistics();
            // A body of a metre keeps together: nobody strays further than the limit and its own size
            // allow. 50 is far beyond anything sound and far below an explosion.
            // Springs of one newton under a spinning ton may stretch as far as they like.
            let most = if feeble { f64::MAX } else { 50.0 };
            assert!(now.max_strain < most, "seed {seed}, step {step}: strain {}\n{describe}", now.max_strain);
            let inside = now.max_penetration;
            // Out of one plane may be into another; what is left is small and goes away.
            let most = if one_plane { 1e-9 } else { 0.1 };
            // What began inside comes out at its own size a second: bodies here are a metre large.
            let most = most + (began_inside - 0.9 * s.state().time()).max(0.0);
            assert!(inside < most, "seed {seed}, step {step}: {inside} m inside\n{describe}");
        }
    }
}

#[test]
fn random_scenes() {
    (0..80).for_each(|seed| survives(seed, 200));
}

/// The long version: `cargo test --release -p pliant --test all unbreakable:: -- --ignored`.
#[test]
#[ignore = "a soak of a few minutes"]
fn many_random_scenes() {
    (1000..2000).for_each(|seed| survives(seed, 400));
}
