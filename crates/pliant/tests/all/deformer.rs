//! The deformer's integrator: impulses, matching step, and what holds for it whatever is set.

use crate::common::*;
use pliant::solvers::Support;
use pliant::{
    Body, BodyControls, Clustering, Control, DMat3, DVec3, Goals, HalfSpace, Integrator, Simulation, shapes,
};

/// Equation 2 through the front door: one particle on a plane, no gravity. Matching does nothing to it.
#[test]
fn a_particle_meets_a_plane_as_in_equation_two() {
    let n = DVec3::new(0.6, 0.8, 0.0);
    let plane = HalfSpace { normal: n, offset: 0.0, friction: 0.9, restitution: 0.0 };
    let v = DVec3::new(1.0, -2.0, 0.5);
    for (elasticity, friction) in [(0.0, 0.0), (0.3, 0.2), (0.7, 1.0), (1.0, 0.5)] {
        let mut body = Body::new("particle", shapes::from_points(vec![DVec3::ZERO]).unwrap());
        body.clusters = Clustering::Whole;
        body.integrator = Integrator::Deformer;
        body.velocity = v;
        body.mass = 2.5;
        body.controls.restitution = elasticity;
        body.controls.viscous_friction = friction;
        body.controls.damping = 0.0;
        let mut builder = weightless(body.frequency(5.0)).collider(plane);
        builder.step = 0.01;
        let mut s = builder.build().unwrap();
        let report = s.step().unwrap();
        assert_eq!(report.contacts, 1);
        let j_c = -(elasticity + 1.0) * n * n.dot(v);
        let j_f = -friction * (v - n * n.dot(v));
        let off = (s.state().bodies()[0].velocities().get(0) - (v + j_c + j_f)).length();
        assert!(off < 1e-14, "elasticity {elasticity}, friction {friction}: {off:e}");
        assert!(plane.gap(s.state().bodies()[0].positions().get(0)) > -1e-15);
        // It leaves, and nothing more happens to it.
        let leaving = s.state().bodies()[0].velocities().get(0);
        run(&mut s, 10);
        assert!((s.state().bodies()[0].velocities().get(0) - leaving).length() < 1e-14);
    }
}

/// One step by hand: equations 4 and 7 with the old position the report lacks.
#[test]
fn a_step_is_equations_four_and_seven() {
    let mut random = Random::new(21);
    for goals in Goals::ALL {
        let points = random_points(20, 22);
        let mut body = cloud(points.clone(), 23).goals(goals);
        body.integrator = Integrator::Deformer;
        body.controls.stiffness = pliant::Stiffness::Alpha(0.4);
        body.controls.flappiness = 0.7;
        body.controls.deformation = 0.5;
        let mut builder = weightless(body);
        builder.gravity = DVec3::new(1.0, -9.0, 2.0);
        let mut s = builder.build().unwrap();
        let (h, g) = (1.0 / 60.0, DVec3::new(1.0, -9.0, 2.0));
        let rest: Vec<DVec3> = s.model().bodies()[0].parts.rest().positions.iter().collect();
        let mass = s.model().bodies()[0].parts.rest().mass.clone();
        let turn = random.rotation();
        let x: Vec<DVec3> = points.iter().map(|p| turn * *p + random.vector() * 0.2).collect();
        let v: Vec<DVec3> = points.iter().map(|_| random.vector() * 3.0).collect();
        put(&mut s, &x, &v);
        run(&mut s, 1);
        let p: Vec<DVec3> = x.iter().zip(&v).map(|(x, v)| *x + *v * h).collect();
        let fitted = match goals {
            Goals::Rigid => rigid_fit(&rest, &p, &mass, DMat3::IDENTITY),
            _ => LeastSquares::new(&rest, &mass, goals == Goals::Quadratic).fit(&p),
        };
        let rigid = rigid_fit(&rest, &p, &mass, DMat3::IDENTITY);
        for i in 0..p.len() {
            let displacement = fitted[i] * 0.5 + rigid[i] * 0.5 - p[i];
            let (to, speed) = (p[i] + displacement * 0.4, v[i] + g * h + displacement * (0.7 * 0.4 / h));
            assert!((s.state().bodies()[0].positions().get(i) - to).length() < 1e-13, "{}", goals.name());
            assert!((s.state().bodies()[0].velocities().get(i) - speed).length() < 1e-11, "{}", goals.name());
        }
    }
}

/// Linear momentum is conserved to rounding: Σ m (g − p) = 0 for every cluster. Angular momentum is
/// not: the matching step moves particles without a velocity, and with Σ m p × (g − p) = 0 it changes
/// Σ m p × v by exactly α_s Σ m (g − p) × v. A body that spins by the angle ω h in a step loses the
/// share α_s (1 − 1/√(1 + (ω h)²)) ≈ α_s (ω h)²/2 of its spin.
#[test]
fn linear_momentum_is_conserved_and_spin_lost_at_a_known_rate() {
    for goals in Goals::ALL {
        for clusters in [Clustering::Whole, Clustering::Count(6)] {
            let mut body = cube(clusters, 0.5).goals(goals);
            body.integrator = Integrator::Deformer;
            body.velocity = DVec3::new(1.0, -2.0, 0.5);
            body.spin = DVec3::new(0.3, 4.0, -1.0);
            body.stretch = DVec3::new(1.3, 1.0, 0.9);
            body.painted_stiffness = (0..216).map(|i| f64::from(i % 7) / 6.0).collect();
            let mut s = weightless(body).build().unwrap();
            let before = s.statistics().momentum;
            run(&mut s, 300);
            let off = (s.statistics().momentum - before).length() / momentum_scale(&s);
            assert!(off < 3e-12, "{} {clusters:?}: {off:e}", goals.name());
        }
    }
    let mut body = cube(Clustering::Whole, 0.5);
    body.integrator = Integrator::Deformer;
    body.spin = DVec3::Y * 6.0;
    body.controls.flappiness = 0.0;
    let mut s = weightless(body).build().unwrap();
    // Of the scheme's own velocities: what is reported is the motion there is.
    let spin = |s: &Simulation| -> DVec3 {
        let (state, mass) = (&s.state().bodies()[0], &s.model().bodies()[0].parts.rest().mass);
        let spin = |i: usize| state.positions().get(i).cross(state.velocities().get(i));
        mass.iter().enumerate().map(|(i, m)| spin(i) * *m).sum()
    };
    let before = spin(&s);
    run(&mut s, 1);
    let lost = 1.0 - spin(&s).y / before.y;
    let turned: f64 = 6.0 / 60.0;
    let predicted = 0.5 * (1.0 - 1.0 / (1.0 + turned * turned).sqrt());
    println!("spin lost in a step: {lost:e}, predicted {predicted:e}");
    // The matching step does not change a cube's length along its axis.
    assert!((lost / predicted - 1.0).abs() < 1e-9, "{lost:e} {predicted:e}");
}

const STEPS: [f64; 5] = [1.0 / 240.0, 1.0 / 60.0, 1.0 / 30.0, 1.0 / 10.0, 1.0 / 4.0];

/// States that solvers fear: scattered, scrambled, inside out, flat, a line, a point, spinning, still.
fn wild_state(rest: &[DVec3], random: &mut Random) -> (Vec<DVec3>, Vec<DVec3>) {
    let n = rest.len();
    let turn = random.rotation();
    let size = 10f64.powf(random.number());
    let mut order: Vec<usize> = (0..n).collect();
    (1..n).for_each(|i| order.swap(i, random.index(i + 1)));
    let s = random.share();
    let map = match random.index(9) {
        0 => DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)),
        1 => -DMat3::IDENTITY * size,
        2 => DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0)),
        3 => DMat3::from_diagonal(DVec3::new(1.0, 0.0, 0.0)),
        4 => DMat3::IDENTITY * (1e-3 * s),
        5 => random.matrix() * size,
        6 => DMat3::from_diagonal(DVec3::new(1.0, s, -s)),
        _ => DMat3::IDENTITY,
    };
    let (scrambled, noise) = (random.index(5) == 0, [0.0, 1e-6, 0.1, 1.0][random.index(4)] * size);
    let x: Vec<DVec3> = (0..n)
        .map(|i| turn * map * rest[if scrambled { order[i] } else { i }] + random.vector() * noise)
        .collect();
    let (spin, grow) = (random.vector() * [0.0, 3.0, 60.0][random.index(3)], random.number() * 10.0);
    let toss = [0.0, 0.1, 5.0][random.index(3)];
    let inward = random.index(3) == 0;
    let v = x
        .iter()
        .map(|x| {
            let all = if inward { *x * grow } else { DVec3::ZERO };
            spin.cross(*x) + random.vector() * toss + all
        })
        .collect();
    (x, v)
}

/// E of one cluster: ½ β |p − Πp|² + ½ (1 − β) |p − R q|², in masses, with Π the least-squares fit.
/// Because residuals of the fit are orthogonal to it, this is ½ Σ m |p − A q|² + ½ (1 − β) Σ m |(A − R) q|².
struct Energy {
    rest: Vec<DVec3>,
    mass: Vec<f64>,
    fit: Option<LeastSquares>,
}

impl Energy {
    fn new(s: &Simulation, goals: Goals) -> Energy {
        let rest: Vec<DVec3> = s.model().bodies()[0].parts.rest().positions.iter().collect();
        let mass = s.model().bodies()[0].parts.rest().mass.clone();
        let fit = (goals != Goals::Rigid).then(|| LeastSquares::new(&rest, &mass, goals == Goals::Quadratic));
        Energy { rest, mass, fit }
    }

    fn distance(&self, x: &[DVec3], g: &[DVec3]) -> f64 {
        x.iter().zip(g).zip(&self.mass).map(|((x, g), m)| 0.5 * m * (*x - *g).length_squared()).sum()
    }

    /// E of the shape collapsed to a point, with β = 0.
    fn collapsed(&self) -> f64 {
        let total: f64 = self.mass.iter().sum();
        let center = self.rest.iter().zip(&self.mass).map(|(p, m)| *p * *m).sum::<DVec3>() / total;
        self.distance(&self.rest, &vec![center; self.rest.len()])
    }

    /// (E, ½ Σ m v²)
    fn of(&self, s: &Simulation, beta: f64) -> (f64, f64) {
        let x: Vec<DVec3> = s.state().bodies()[0].positions().iter().collect();
        let rigid = self.distance(&x, &rigid_fit(&self.rest, &x, &self.mass, rotation(s, 0)));
        let fitted = self.fit.as_ref().map_or(rigid, |f| self.distance(&x, &f.fit(&x)));
        let beta = if self.fit.is_some() { beta } else { 0.0 };
        let kinetic = (0..x.len())
            .map(|i| 0.5 * self.mass[i] * s.state().bodies()[0].velocities().get(i).length_squared())
            .sum();
        (beta * fitted + (1.0 - beta) * rigid, kinetic)
    }
}

fn one_cluster(goals: Goals, h: f64, points: Vec<DVec3>) -> Simulation {
    let mut body = cloud(points, 31).goals(goals);
    body.integrator = Integrator::Deformer;
    let mut builder = weightless(body);
    builder.step = h;
    builder.build().unwrap()
}

/// Any point of the cube of settings, its corners and edges more often than chance would have it.
/// Sets what a body of this kind reads; the rest is refused.
fn set_where_read(s: &mut Simulation, control: Control, value: f64) {
    if control.effect(s.model()) == Support::Yes {
        s.set(control, value).unwrap();
    }
}

fn settings(s: &mut Simulation, random: &mut Random) -> (f64, f64, f64) {
    let mut pick = |most: f64| match random.index(5) {
        0 => most,
        1 => 0.05 * most,
        2 if most < 1.0 => 0.0,
        _ => random.share() * most,
    };
    let (alpha, flappiness, beta) = (pick(1.0), pick(1.0), pick(BodyControls::LARGEST_DEFORMATION));
    s.set(Control::Alpha(0.into()), alpha).unwrap();
    set_where_read(s, Control::Flappiness(0.into()), flappiness);
    set_where_read(s, Control::Deformation(0.into()), beta);
    (alpha, flappiness, beta)
}

/// How far a quantity went beyond its start, over many runs: as a factor of it, and in units of what
/// the collapse of the body would take.
#[derive(Debug, Default)]
struct Growth {
    factor: f64,
    collapses: f64,
}

/// Runs a sweep over all goals and steps: `trials` wild states of `steps` steps each.
///
/// # What holds, and why
/// Let |·| be the norm of the masses and E as in [`Energy`]. |p|²/2 − E is convex: E is half a squared
/// distance from a linear space, which is convex with a Hessian of at most the masses, and half a squared
/// distance from the rigid shapes, ½ min |p − R q|² = ½|p|² + ½|q|² − max ⟨p, R q⟩. So g = p − ∇E and,
/// for every d, E(p + d) ≤ E(p) + ⟨∇E, d⟩ + ½|d|². A step from (p, v) is p₁ = p + h v, then
/// p₂ = p₁ − α_s ∇E₁, v₂ = v − α_f α_s ∇E₁ / h. With c = α_f α_s / h² and V = ½|v|² + c E,
///
/// V₂ − V ≤ c N − c α_s (1 − α_f/2 − α_s/2) |∇E₁|²,   N = E(p₁) − E(p) − ⟨∇E₁, h v⟩.
///
/// N ≤ 0 wherever E is convex along the way. Inserting E gives N ≤ (1 − β) (⟨(R − R₁) q, p⟩ − ½|h v|²):
/// energy can only be gained where the rotation jumps, in collapsed, flat or inverted shapes, and only
/// as much as there is to fall from them: some (1 − β) c |q|²/2, which is V of the shape collapsed to a
/// point. It is that, not the start, the gain is measured in: a state just about to fall may have
/// any fraction of it. Elsewhere V falls or stays, for all α_s, α_f ≤ 1, all β and any step.
fn worst_growth(trials: usize, steps: usize, seed: u64) -> Growth {
    let mut random = Random::new(seed);
    let flat = random_points(24, 33).iter().map(|p| *p * DVec3::new(1.0, 0.3, 0.1)).collect();
    let shapes: [Vec<DVec3>; 2] = [random_points(14, 32), flat];
    let mut worst = Growth::default();
    for goals in Goals::ALL {
        for h in STEPS {
            for points in &shapes {
                let mut s = one_cluster(goals, h, points.clone());
                let energy = Energy::new(&s, goals);
                for _ in 0..trials {
                    let (x, v) = wild_state(points, &mut random);
                    put(&mut s, &x, &v);
                    let (alpha, flappiness, beta) = settings(&mut s, &mut random);
                    let c = alpha * flappiness / (h * h);
                    let value = |s: &Simulation| {
                        let (e, kinetic) = energy.of(s, beta);
                        kinetic + c * e
                    };
                    let start = value(&s);
                    let mut most = 0.0_f64;
                    for _ in 0..steps {
                        run(&mut s, 1);
                        most = most.max(value(&s));
                    }
                    let beta = if goals == Goals::Rigid { 0.0 } else { beta };
                    let collapse = (1.0 - beta) * c * energy.collapsed();
                    let collapses = (most - start) / (collapse + 1e-12 * start + f64::MIN_POSITIVE);
                    // A start that is nothing but rounding has no factor.
                    let factor = if start > 1e-9 * collapse { most / start } else { 0.0 };
                    if collapses > worst.collapses.max(0.01) || factor > worst.factor.max(1.01) {
                        let name = goals.name();
                        print!("{name} h {h:.4} α {alpha:.3} α_f {flappiness:.3} β {beta:.3}: ");
                        println!("{factor:.4} times the start, {collapses:.4} collapses");
                    }
                    worst.collapses = worst.collapses.max(collapses);
                    worst.factor = worst.factor.max(factor);
                }
            }
        }
    }
    worst
}

/// The soak below, 48 million steps, finds 2.94 collapses and a factor of 3.12.
const MOST_COLLAPSES: f64 = 4.0;
const LARGEST_FACTOR: f64 = 4.0;

/// With gravity g and a plane, H = V + Σ m g y over what it may be: its start; what the explicit Euler
/// step of equation 4 adds to whatever falls, ½ m (g h)² a step, and m g times the depth it takes a
/// particle into a plane before that pushes it out; and the energy of a collapse and of standing up
/// again, m g times the width. The collapse counts in full, |q|²/(2 h²), not α_f α_s of it: with little
/// flappiness the matching step holds a particle up without its velocity knowing, which grows until the
/// Euler step alone takes it to the plane, at some |q|/h.
fn worst_above_plane(trials: usize, steps: usize, seed: u64) -> f64 {
    let mut random = Random::new(seed);
    let points = random_points(14, 32);
    let gravity = 9.81;
    let mut worst = 0.0_f64;
    for goals in Goals::ALL {
        for h in STEPS {
            let mut body = cloud(points.clone(), 31).goals(goals);
            body.integrator = Integrator::Deformer;
            let mut builder = weightless(body).ground();
            (builder.step, builder.gravity) = (h, DVec3::NEG_Y * gravity);
            let mut s = builder.build().unwrap();
            let energy = Energy::new(&s, goals);
            let width = s.model().bodies()[0].parts.rest().clusters[0].width;
            for _ in 0..trials {
                let (mut x, v) = wild_state(&points, &mut random);
                let lowest = x.iter().map(|x| x.y).fold(f64::MAX, f64::min);
                x.iter_mut().for_each(|x| x.y -= lowest);
                put(&mut s, &x, &v);
                let (alpha, flappiness, beta) = settings(&mut s, &mut random);
                let elasticity = [0.0, 1.0, random.share()][random.index(3)];
                s.set(Control::Restitution(0.into()), elasticity).unwrap();
                set_where_read(&mut s, Control::ViscousFriction(0.into()), random.share());
                let c = alpha * flappiness / (h * h);
                let value = |s: &Simulation| {
                    let (e, kinetic) = energy.of(s, beta);
                    kinetic + c * e + s.statistics().gravity
                };
                let start = value(&s);
                for n in 1..=steps {
                    run(&mut s, 1);
                    let euler = n as f64 * (gravity * h).powi(2);
                    let allowed = start + energy.collapsed() / (h * h) + gravity * width + euler;
                    let ratio = value(&s) / allowed;
                    if ratio > worst.max(1.0) {
                        let name = goals.name();
                        print!("{name} h {h:.4} α {alpha:.3} α_f {flappiness:.3} β {beta:.3} ");
                        println!("elasticity {elasticity:.2} step {n}: {ratio:.4}");
                    }
                    worst = worst.max(ratio);
                    assert!(s.statistics().max_penetration < 1e-9 * (1.0 + allowed));
                }
            }
        }
    }
    worst
}

#[test]
fn one_cluster_on_a_plane_stays_bounded() {
    let worst = worst_above_plane(40, 200, 44);
    println!("H was at most {worst} of what it may be");
    assert!(worst < 1.5, "{worst}");
}

#[test]
#[ignore = "a long soak"]
fn soak_one_cluster_on_a_plane_stays_bounded() {
    let worst = worst_above_plane(1500, 400, 45);
    println!("H was at most {worst} of what it may be");
    assert!(worst < 1.5, "{worst}");
}

#[test]
fn one_cluster_gains_no_energy_but_by_falling_from_a_collapse() {
    let worst = worst_growth(600, 100, 41);
    println!("V gained at most {worst:?}");
    assert!(worst.collapses < MOST_COLLAPSES && worst.factor < LARGEST_FACTOR, "{worst:?}");
}

/// `cargo test --release -p pliant --test all deformer:: -- --ignored` takes a few minutes.
#[test]
#[ignore = "a long soak"]
fn soak_one_cluster_gains_no_energy() {
    let worst = worst_growth(8000, 200, 42);
    println!("V gained at most {worst:?}");
    assert!(worst.collapses < MOST_COLLAPSES && worst.factor < LARGEST_FACTOR, "{worst:?}");
}

/// The soaks find 5.7 with volume kept and 5.5 for several clusters.
const WIDEST: f64 = 8.0;

/// Largest spread (root of the mean square distance from the centre) that a body reaches, over what the start allows: its
/// own size, the body's, and the way its velocities could take it in the time the springs need to answer.
fn widest(s: &mut Simulation, steps: usize) -> f64 {
    let mass = s.model().bodies()[0].parts.rest().mass.clone();
    let total: f64 = mass.iter().sum();
    let rms = |p: &dyn Fn(usize) -> DVec3| {
        let c = (0..mass.len()).map(|i| p(i) * mass[i]).sum::<DVec3>() / total;
        ((0..mass.len()).map(|i| mass[i] * (p(i) - c).length_squared()).sum::<f64>() / total).sqrt()
    };
    let rest = rms(&|i| s.model().bodies()[0].parts.rest().positions.get(i));
    let alpha = s.controls().body(0).unwrap().stiffness.alpha(1.0);
    let BodyControls { deformation: beta, flappiness, .. } = *s.controls().body(0).unwrap();
    let speed = rms(&|i| s.state().bodies()[0].velocities().get(i));
    // A mode that keeps β of its stretch is pulled back a = (1 − β) α of the way in each step. It turns
    // where all its velocity is used up, or, with little flappiness, stays where that balances it.
    let pull = (alpha * (1.0 - beta)).max(1e-9);
    let reach = speed * s.model().params().substep() / pull.max((pull * flappiness).sqrt());
    let allowed = rest + rms(&|i| s.state().bodies()[0].positions().get(i)) + reach;
    let mut most = 0.0_f64;
    for _ in 0..steps {
        run(s, 1);
        most = most.max(rms(&|i| s.state().bodies()[0].positions().get(i)));
    }
    most / allowed
}

/// With volume kept no energy bounds anything; the bound on the stretch does.
fn widest_with_volume(trials: usize, steps: usize, seed: u64) -> f64 {
    let mut random = Random::new(seed);
    let mut worst = 0.0_f64;
    let points = random_points(20, 34);
    for goals in Goals::ALL {
        for h in STEPS {
            for two_step in [false, true] {
                let mut body = cloud(points.clone(), 31).goals(goals);
                body.integrator = Integrator::Deformer;
                body.two_step = two_step;
                let mut builder = weightless(body);
                builder.step = h;
                let mut s = builder.build().unwrap();
                for _ in 0..trials {
                    let (x, v) = wild_state(&points, &mut random);
                    put(&mut s, &x, &v);
                    let (alpha, flappiness, beta) = settings(&mut s, &mut random);
                    let volume = [1.0, 0.5, random.share()][random.index(3)];
                    set_where_read(&mut s, Control::Volume(0.into()), volume);
                    let width = widest(&mut s, steps);
                    if width > worst {
                        let name = goals.name();
                        print!("{name} {two_step} h {h:.4} α {alpha:.3} α_f {flappiness:.3} β {beta:.3} ");
                        println!("volume {volume:.2}: {width:.4}");
                    }
                    worst = worst.max(width);
                }
            }
        }
    }
    worst
}

#[test]
fn one_cluster_stays_together_with_volume_kept() {
    let worst = widest_with_volume(60, 200, 51);
    println!("spread to at most {worst} times what the start allows");
    assert!(worst < WIDEST, "{worst}");
}

#[test]
#[ignore = "a long soak"]
fn soak_one_cluster_stays_together_with_volume_kept() {
    let worst = widest_with_volume(2000, 300, 52);
    println!("spread to at most {worst} times what the start allows");
    assert!(worst < WIDEST, "{worst}");
}

/// Several clusters disagree, and without limits nothing bounds what they do; with limits they stay.
fn widest_of_several(trials: usize, steps: usize, seed: u64) -> f64 {
    let mut random = Random::new(seed);
    let mut worst = 0.0_f64;
    let shape = shapes::cuboid(DVec3::new(1.0, 0.6, 0.6), 0.2).unwrap();
    for integrator in Integrator::ALL {
        for goals in Goals::ALL {
            for h in STEPS {
                let mut body = Body::new("bar", shape.clone()).goals(goals);
                body.clusters = Clustering::Radius(0.5);
                body.integrator = integrator;
                body.controls.damping = 0.0;
                body.controls.stiffness = pliant::Stiffness::Alpha(0.5);
                (body.controls.strain_limit, body.controls.iterations) = (0.3, 5);
                let mut builder = weightless(body);
                builder.step = h;
                let mut s = builder.build().unwrap();
                for _ in 0..trials {
                    let (x, v) = wild_state(&shape.points, &mut random);
                    put(&mut s, &x, &v);
                    let (alpha, flappiness, beta) = settings(&mut s, &mut random);
                    let volume = [0.0, 1.0, random.share()][random.index(3)];
                    set_where_read(&mut s, Control::Volume(0.into()), volume);
                    let width = widest(&mut s, steps);
                    if width > worst {
                        let (name, kind) = (goals.name(), integrator.name());
                        print!("{name} {kind} h {h:.4} α {alpha:.3} α_f {flappiness:.3} β {beta:.3}: ");
                        println!("{width:.4}");
                    }
                    worst = worst.max(width);
                }
            }
        }
    }
    worst
}

#[test]
fn several_clusters_stay_together_with_limits() {
    let worst = widest_of_several(8, 100, 61);
    println!("spread to at most {worst} times what the start allows");
    assert!(worst < WIDEST, "{worst}");
}

#[test]
#[ignore = "a long soak"]
fn soak_several_clusters_stay_together_with_limits() {
    let worst = widest_of_several(200, 300, 62);
    println!("spread to at most {worst} times what the start allows");
    assert!(worst < WIDEST, "{worst}");
}

/// With flappiness f the matching step gives a particle only a part of its way as velocity, so a body that lies
/// still keeps velocities of h g / f. What is reported is the motion there is: none.
#[test]
fn a_body_that_lies_still_reports_no_motion() {
    let mut body = Body::new("torus", shapes::torus(0.2, 0.08, 0.04).unwrap()).at(0.0, 0.09, 0.0);
    body.integrator = Integrator::Deformer;
    body.clusters = Clustering::Whole;
    body.mass = 2.0;
    body.controls.stiffness = pliant::Stiffness::Alpha(0.5);
    (body.controls.flappiness, body.controls.damping) = (0.05, 0.0);
    // On its lowest ring of particles: flat, so that it does not rock.
    body.contact_radius = pliant::ContactRadius::Fixed(0.0);
    let mut s = pliant::Builder::new().ground().body(body).build().unwrap();
    run(&mut s, 300);
    let x = s.state().bodies()[0].positions().clone();
    run(&mut s, 1);
    let moved = (0..x.len())
        .map(|i| (s.state().bodies()[0].positions().get(i) - x.get(i)).length())
        .fold(0.0, f64::max);
    assert!(moved < 1e-12, "it lies still: {moved:e}");
    let stored: f64 =
        (0..x.len()).map(|i| s.state().bodies()[0].velocities().get(i).length()).fold(0.0, f64::max);
    let expected = s.model().params().substep() * 9.81 / 0.05;
    assert!((stored - expected).abs() < 1e-9, "the scheme's own velocities: {stored}, not {expected}");
    let found = s.statistics();
    assert!(found.kinetic < 1e-20 && found.momentum.length() < 1e-10, "{found:?}");
    assert!(
        found.angular_momentum.length() < 1e-10 && s.velocity(0, 0).unwrap().length() < 1e-10,
        "{found:?}"
    );
    // In flight the two agree but for the half step between them.
    let mut body = Body::new("ball", shapes::ball(0.2, 0.06).unwrap());
    body.integrator = Integrator::Deformer;
    body.velocity = DVec3::new(1.0, 2.0, 0.0);
    let mut s = weightless(body.frequency(5.0)).build().unwrap();
    assert!((s.statistics().momentum - DVec3::new(1.0, 2.0, 0.0)).length() < 1e-12, "before any step");
    run(&mut s, 20);
    assert!((s.statistics().momentum - DVec3::new(1.0, 2.0, 0.0)).length() < 1e-9);
}
