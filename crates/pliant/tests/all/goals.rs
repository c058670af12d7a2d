//! Goals of clusters: exact where they can be, optimal where they cannot, and defined everywhere.

use crate::common::*;
use pliant::{Body, BodyControls, Clustering, DMat3, DVec3, Goals, Simulation, shapes};

const BETA: f64 = BodyControls::LARGEST_DEFORMATION;

fn parts(s: &Simulation) -> (Vec<DVec3>, Vec<f64>) {
    (
        s.model().bodies()[0].parts.rest().positions.iter().collect(),
        s.model().bodies()[0].parts.rest().mass.clone(),
    )
}

/// Goals of several clusters by the definition: β · least squares + (1 − β) · rigid, averaged by share.
fn expected(s: &Simulation, x: &[DVec3], quadratic: bool, beta: f64) -> Vec<DVec3> {
    let rest = s.model().bodies()[0].parts.rest();
    let set = &s.model().bodies()[0].parts.topology().clusters;
    let mut goals = vec![DVec3::ZERO; x.len()];
    for c in 0..set.len() {
        let slots: Vec<usize> = set.range(c).collect();
        let of = |slot: usize| set.members[slot] as usize;
        let r: Vec<DVec3> = slots.iter().map(|&k| rest.positions.get(of(k))).collect();
        let p: Vec<DVec3> = slots.iter().map(|&k| x[of(k)]).collect();
        let m: Vec<f64> = slots.iter().map(|&k| rest.share[k] * rest.mass[of(k)]).collect();
        let fitted = LeastSquares::new(&r, &m, quadratic).fit(&p);
        let rigid = rigid_fit(&r, &p, &m, DMat3::IDENTITY);
        for (k, &slot) in slots.iter().enumerate() {
            goals[of(slot)] += (fitted[k] * beta + rigid[k] * (1.0 - beta)) * rest.share[slot];
        }
    }
    goals
}

fn grid(n: [usize; 3], spacing: DVec3) -> Vec<DVec3> {
    let mut list = Vec::new();
    for i in 0..n[0] {
        for j in 0..n[1] {
            list.extend((0..n[2]).map(|k| DVec3::new(i as f64, j as f64, k as f64) * spacing));
        }
    }
    list
}

/// Solid, two layers, a sheet across no axis, a line, and random points.
fn clouds() -> Vec<(&'static str, Vec<DVec3>)> {
    let turn = Random::new(5).rotation();
    let turned = |points: Vec<DVec3>| points.into_iter().map(|p| turn * p).collect::<Vec<_>>();
    vec![
        ("solid", grid([4, 5, 3], DVec3::new(0.3, 0.2, 0.4))),
        ("two layers", grid([5, 2, 4], DVec3::new(0.3, 0.1, 0.3))),
        ("sheet", turned(grid([5, 1, 6], DVec3::splat(0.2)))),
        ("line", turned(grid([12, 1, 1], DVec3::splat(0.1)))),
        ("random", random_points(30, 3)),
    ]
}

/// A motion that the mode should follow exactly: rigid, linear or quadratic.
fn motion(goals: Goals, random: &mut Random) -> impl Fn(DVec3) -> DVec3 + use<> {
    let (r, shift) = (random.rotation(), random.vector() * 3.0);
    let linear = if goals == Goals::Rigid { r } else { r * (DMat3::IDENTITY + random.matrix() * 0.3) };
    let bend: [DVec3; 6] = std::array::from_fn(|_| random.vector() * 0.2);
    let quadratic = goals == Goals::Quadratic;
    move |q| {
        let terms = [q.x * q.x, q.y * q.y, q.z * q.z, q.x * q.y, q.y * q.z, q.z * q.x];
        let bent: DVec3 = bend.iter().zip(terms).map(|(b, t)| *b * t).sum();
        linear * q + shift + if quadratic { bent } else { DVec3::ZERO }
    }
}

#[test]
fn noiseless_motions_are_recovered_exactly() {
    let mut random = Random::new(1);
    let mut worst = 0.0_f64;
    for (name, points) in clouds() {
        for goals in Goals::ALL {
            for trial in 0..10 {
                let mut s = weightless(cloud(points.clone(), trial).goals(goals)).build().unwrap();
                let (rest, mass) = parts(&s);
                let f = motion(goals, &mut random);
                let x: Vec<DVec3> = rest.iter().map(|q| f(*q)).collect();
                let found = goals_at(&mut s, &x);
                // What remains is exactly (1 − β) of the deviation from rigid: g = β x + (1 − β) r.
                let rigid = rigid_fit(&rest, &x, &mass, DMat3::IDENTITY);
                let exact: Vec<DVec3> =
                    x.iter().zip(&rigid).map(|(x, r)| *x * BETA + *r * (1.0 - BETA)).collect();
                let off = farthest(&found, &exact);
                worst = worst.max(off);
                assert!(off < 1e-12, "{name}, {}: {off:e}", goals.name());
            }
        }
    }
    println!("noiseless motions: off by at most {worst:e}");
}

#[test]
fn several_clusters_recover_a_motion_of_the_whole() {
    let mut random = Random::new(2);
    for goals in Goals::ALL {
        for smooth in [false, true] {
            let mut body = cloud(grid([7, 6, 5], DVec3::splat(0.2)), 4).goals(goals);
            body.clusters = Clustering::Radius(0.5);
            body.cluster_style.smooth = smooth;
            let mut s = weightless(body).build().unwrap();
            assert!(s.model().bodies()[0].parts.topology().clusters.len() > 5);
            let f = motion(goals, &mut random);
            let x: Vec<DVec3> = parts(&s).0.iter().map(|q| f(*q)).collect();
            let found = goals_at(&mut s, &x);
            // Each cluster fits exactly, so only rigid fits of the clusters differ from the particles.
            let rigid = expected(&s, &x, false, 0.0);
            let exact: Vec<DVec3> =
                x.iter().zip(&rigid).map(|(x, r)| *x * BETA + *r * (1.0 - BETA)).collect();
            let off = farthest(&found, &exact);
            assert!(off < 1e-12, "{}, smooth {smooth}: {off:e}", goals.name());
        }
    }
}

#[test]
fn noisy_points_are_fitted_as_a_general_solver_does() {
    let mut random = Random::new(3);
    let mut worst = 0.0_f64;
    for (name, points) in clouds() {
        for goals in [Goals::Linear, Goals::Quadratic] {
            for trial in 0..20 {
                let noise = [1e-3, 0.1, 1.0][trial % 3];
                let mut body = cloud(points.clone(), 100 + trial as u64).goals(goals);
                let beta = [BETA, 0.5, 0.1][trial % 3];
                body.controls.deformation = beta;
                let mut s = weightless(body).build().unwrap();
                let (rest, _) = parts(&s);
                let f = motion(goals, &mut random);
                let x: Vec<DVec3> = rest.iter().map(|q| f(*q) + random.vector() * noise).collect();
                let want = expected(&s, &x, goals == Goals::Quadratic, beta);
                let off = farthest(&goals_at(&mut s, &x), &want);
                worst = worst.max(off);
                assert!(off < 1e-10, "{name}, {}, noise {noise}: {off:e}", goals.name());
            }
        }
    }
    println!("noisy points: off by at most {worst:e}");
}

#[test]
fn several_clusters_fit_noisy_points_optimally() {
    let mut random = Random::new(4);
    for goals in [Goals::Linear, Goals::Quadratic] {
        for smooth in [false, true] {
            let mut body = cloud(grid([7, 6, 5], DVec3::splat(0.2)), 4).goals(goals);
            body.clusters = Clustering::Radius(0.45);
            body.cluster_style.smooth = smooth;
            let mut s = weightless(body).build().unwrap();
            let all = s.model().bodies()[0].parts.rest().bases.iter().all(|b| b.goals == goals);
            assert!(all, "clusters are large enough for what is asked");
            let f = motion(goals, &mut random);
            let x: Vec<DVec3> = parts(&s).0.iter().map(|q| f(*q) + random.vector() * 0.05).collect();
            let want = expected(&s, &x, goals == Goals::Quadratic, BETA);
            let off = farthest(&goals_at(&mut s, &x), &want);
            assert!(off < 1e-10, "{}, smooth {smooth}: {off:e}", goals.name());
        }
    }
}

/// Every mode, in both ways of making goals, with and without volume preservation.
fn modes() -> impl Iterator<Item = (Goals, bool, f64)> {
    Goals::ALL.into_iter().flat_map(|g| {
        [(false, 0.0), (false, 1.0), (true, 0.0), (true, 1.0)].map(|(two_step, v)| (g, two_step, v))
    })
}

#[test]
fn rotations_are_right_handed_for_every_cloud_in_every_mode() {
    let mut random = Random::new(6);
    let squash: [DMat3; 7] = [
        DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)),
        -DMat3::IDENTITY,
        DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0)),
        DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0)),
        DMat3::from_diagonal(DVec3::new(1.0, 1e-9, -1e-9)),
        DMat3::ZERO,
        DMat3::from_diagonal(DVec3::new(1e-12, -1e-12, 1e-13)),
    ];
    for (name, points) in clouds() {
        for (goals, two_step, volume) in modes() {
            for squash in squash {
                let mut body = cloud(points.clone(), 8).goals(goals);
                body.two_step = two_step;
                body.controls.volume = volume;
                let mut s = weightless(body).build().unwrap();
                let turn = random.rotation();
                let x: Vec<DVec3> = points.iter().map(|p| turn * squash * random.rotation() * *p).collect();
                put(&mut s, &x, &vec![DVec3::ZERO; x.len()]);
                for step in 0..5 {
                    run(&mut s, 1);
                    let r = rotation(&s, 0);
                    let e = r * r.transpose() - DMat3::IDENTITY;
                    let orthonormal = e.to_cols_array().iter().all(|e| e.abs() < 1e-12);
                    let what = format!("{name}, {} {two_step} {volume}, step {step}: {r}", goals.name());
                    assert!(orthonormal && r.determinant() > 0.0, "{what}");
                    assert!(s.state().bodies()[0].positions().first_non_finite().is_none(), "{what}");
                }
            }
        }
    }
}

#[test]
fn tiny_bodies_run_in_every_mode() {
    let clouds: [Vec<DVec3>; 6] = [
        vec![DVec3::Y],
        vec![DVec3::Y, DVec3::Y * 2.0],
        vec![DVec3::Y; 12],
        vec![DVec3::Y, DVec3::Y, DVec3::X],
        vec![DVec3::Y, DVec3::Z, DVec3::X],
        random_points(4, 1).into_iter().map(|p| p + DVec3::Y * 2.0).collect(),
    ];
    for points in clouds {
        for (goals, two_step, volume) in modes() {
            for integrator in pliant::Integrator::ALL {
                let mut body = cloud(points.clone(), 8).goals(goals);
                body.two_step = two_step;
                body.integrator = integrator;
                body.controls.volume = volume;
                body.controls.yield_strain = 0.01;
                body.controls.damping = 1.0;
                body.controls.strain_limit = 0.3;
                body.controls.iterations = 3;
                body.controls.restitution = 0.5;
                let mut builder = pliant::Builder::new().ground().body(body);
                builder.substeps = 1;
                let mut s = builder.build().unwrap();
                run(&mut s, 200);
                let what = format!("{} particles, {} {two_step} {volume}", points.len(), goals.name());
                assert!(s.state().bodies()[0].positions().first_non_finite().is_none(), "{what}");
                let far = s.state().bodies()[0].positions().iter().map(|p| p.length()).fold(0.0, f64::max);
                assert!(far < 10.0, "{what}: {far}");
            }
        }
    }
}

#[test]
fn two_step_goals_that_keep_volume_drive_no_one() {
    // Four particles in free flight: their fit is exact, so that next to nothing but the volume acts on them. From the rest
    // shape, where no goal pulls, all energy is that of the motion.
    let mut worst = 0.0_f64;
    for seed in 0..40 {
        let mut body = cloud(random_points(4, seed), 8).goals(Goals::Linear);
        body.two_step = true;
        body.controls.volume = [1.0, 0.3][seed as usize % 2];
        body.controls.deformation = [BETA, 0.5][seed as usize / 2 % 2];
        body.controls.stiffness = pliant::Stiffness::Alpha(0.3);
        let mut s = weightless(body).build().unwrap();
        let (rest, mass) = parts(&s);
        let mut random = Random::new(seed + 100);
        let v: Vec<DVec3> = rest.iter().map(|_| random.vector()).collect();
        put(&mut s, &rest, &v);
        let kinetic = |s: &Simulation| {
            s.state().bodies()[0]
                .velocities()
                .iter()
                .zip(&mass)
                .map(|(v, m)| 0.5 * m * v.length_squared())
                .sum::<f64>()
        };
        let first = kinetic(&s);
        for _ in 0..600 {
            run(&mut s, 1);
            worst = worst.max(kinetic(&s) / first);
        }
    }
    println!("two-step goals that keep volume: at most {worst} times the energy of the start");
    assert!(worst < 1.2, "{worst}");
}

#[test]
fn without_deformation_every_mode_is_rigid_to_the_last_bit() {
    let mut random = Random::new(9);
    let mut start = cloud(grid([5, 4, 4], DVec3::splat(0.2)), 3);
    start.clusters = Clustering::Count(5);
    start.controls.stiffness = pliant::Stiffness::Alpha(0.6);
    start.controls.deformation = 0.0;
    start.stretch = DVec3::new(1.3, 0.8, 1.1);
    start.spin = DVec3::new(3.0, 1.0, -2.0);
    for integrator in pliant::Integrator::ALL {
        for volume in [0.0, 1.0] {
            let build = |goals: Goals, two_step: bool| {
                let mut body = start.clone().goals(goals);
                (body.two_step, body.integrator, body.controls.volume) = (two_step, integrator, volume);
                weightless(body).build().unwrap()
            };
            let mut rigid = build(Goals::Rigid, false);
            run(&mut rigid, 30);
            for goals in [Goals::Linear, Goals::Quadratic] {
                let mut s = build(goals, false);
                run(&mut s, 30);
                assert_eq!(bits(&rigid), bits(&s), "{} {}", goals.name(), integrator.name());
                // Two steps find the same rotation a second time, by another way.
                let mut s = build(goals, true);
                run(&mut s, 30);
                let (a, b): (Vec<_>, Vec<_>) = (rigid.positions(0).collect(), s.positions(0).collect());
                let off = farthest(&a, &b);
                assert!(off < 1e-13, "{} {}: {off:e}", goals.name(), integrator.name());
            }
        }
    }
    // Also where rotations are hard to tell.
    for squash in [DVec3::new(-1.0, 1.0, 1.0), DVec3::new(1.0, 1.0, 0.0), DVec3::new(-1.0, 0.3, -0.7)] {
        let points = random_points(20, 77);
        let x: Vec<DVec3> = points.iter().map(|p| *p * squash + random.vector() * 0.01).collect();
        let of = |goals: Goals, two_step: bool| {
            let mut body = cloud(points.clone(), 5).goals(goals);
            (body.two_step, body.controls.deformation) = (two_step, 0.0);
            goals_at(&mut weightless(body).build().unwrap(), &x)
        };
        let rigid = of(Goals::Rigid, false);
        for goals in [Goals::Linear, Goals::Quadratic] {
            assert_eq!(rigid, of(goals, false));
            assert!(farthest(&rigid, &of(goals, true)) < 1e-13);
        }
    }
}

#[test]
fn volume_is_kept_within_its_bound_and_nothing_runs_away() {
    // Stretched uniformly, β A det^(-1/3) + (1 − β) R is the rest shape again.
    let points = random_points(25, 12);
    for size in [0.6, 0.9, 1.1, 1.6] {
        let mut body = cloud(points.clone(), 1).goals(Goals::Linear);
        body.controls.volume = 1.0;
        let mut s = weightless(body).build().unwrap();
        let x: Vec<DVec3> = points.iter().map(|p| *p * size).collect();
        let goals = goals_at(&mut s, &x);
        let (rest, mass) = parts(&s);
        assert!(farthest(&goals, &rigid_fit(&rest, &x, &mass, DMat3::IDENTITY)) < 1e-12, "{size}");
    }
    // Whatever the state, fitted goals stretch no further than they were, or than twice the rest shape.
    let mut random = Random::new(13);
    let mut most = 0.0_f64;
    for trial in 0..600 {
        let goals = [Goals::Linear, Goals::Quadratic][trial % 2];
        let mut body = cloud(points.clone(), 1).goals(goals);
        body.two_step = trial % 3 == 0;
        body.controls.volume = random.share();
        let mut s = weightless(body).build().unwrap();
        let (rest, mass) = parts(&s);
        let squash = DVec3::new(random.number(), random.number(), [0.0, 1e-7, -1.0, 1.0][trial % 4]);
        let map = random.rotation() * DMat3::from_diagonal(squash * 1.5) * random.rotation();
        let x: Vec<DVec3> = points.iter().map(|p| map * *p + random.vector() * 0.1).collect();
        let size = |p: &[DVec3]| {
            let total: f64 = mass.iter().sum();
            let c = p.iter().zip(&mass).map(|(p, m)| *p * *m).sum::<DVec3>() / total;
            (p.iter().zip(&mass).map(|(p, m)| m * (*p - c).length_squared()).sum::<f64>() / total).sqrt()
        };
        let found = goals_at(&mut s, &x);
        most = most.max(size(&found) / size(&rest).max(size(&x)));
    }
    println!("goals with volume kept: up to {most} times the size of the shape");
    assert!(most < 3.5, "{most}");
}

#[test]
fn sheets_and_bodies_of_few_layers_may_bend() {
    // A body of two layers cannot tell z² from a constant; it bends all the same.
    for shape in
        [shapes::cuboid(DVec3::new(1.0, 0.2, 1.0), 0.2).unwrap(), shapes::sheet(1.0, 1.0, 5, 5).unwrap()]
    {
        let n = shape.points.len();
        let mut body = Body::new("slab", shape).goals(Goals::Quadratic);
        body.clusters = Clustering::Whole;
        let s = weightless(body.frequency(5.0)).build().unwrap();
        assert_eq!(s.model().bodies()[0].parts.rest().bases[0].goals, Goals::Quadratic, "{n} particles");
    }
}
