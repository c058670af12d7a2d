//! The lanes against one particle at a time: every goal, integrator and kind of weight, at every size and
//! place; and the same bits on every instruction set of a kind and for any number of threads.

use crate::common::*;
use pliant::{
    Bits, Body, Builder, Clustering, DMat3, DVec3, Goals, Integrator, Isa, Section, Simulation, Stiffness,
    shapes,
};
use pliant_math::{angular_velocity, inertia_tensor_term};

/// One substep in the words of the papers, relative to the first particle. Goals are by a general
/// least-squares solver, so that nothing here shares a formula with the engine.
struct Scalar<'a> {
    s: &'a Simulation,
    x: Vec<DVec3>,
    v: Vec<DVec3>,
}

struct Cluster {
    members: Vec<(usize, f64, f64)>,
    goals: Vec<DVec3>,
}

impl Scalar<'_> {
    fn new(s: &Simulation) -> Scalar<'_> {
        let origin = s.state().bodies()[0].positions().get(0);
        Scalar {
            s,
            x: s.state().bodies()[0].positions().iter().map(|x| x - origin).collect(),
            v: s.state().bodies()[0].velocities().iter().collect(),
        }
    }

    fn fit(&self) -> Vec<Cluster> {
        let (rest, set) =
            (self.s.model().bodies()[0].parts.rest(), &self.s.model().bodies()[0].parts.topology().clusters);
        let beta = self.s.controls().body(0).unwrap().deformation;
        let fit = |c: usize| {
            let of = |slot: usize| set.members[slot] as usize;
            let members: Vec<(usize, f64, f64)> =
                set.range(c).map(|k| (of(k), rest.share[k], rest.share[k] * rest.mass[of(k)])).collect();
            let r: Vec<DVec3> = members.iter().map(|m| rest.positions.get(m.0)).collect();
            let p: Vec<DVec3> = members.iter().map(|m| self.x[m.0]).collect();
            let m: Vec<f64> = members.iter().map(|m| m.2).collect();
            let mut goals = rigid_fit(&r, &p, &m, rotation(self.s, c));
            let kind = rest.bases[c].goals;
            if kind != Goals::Rigid {
                let fitted = LeastSquares::new(&r, &m, kind == Goals::Quadratic).fit(&p);
                goals.iter_mut().zip(fitted).for_each(|(g, f)| *g = f * beta + *g * (1.0 - beta));
            }
            Cluster { members, goals }
        };
        (0..set.len()).map(fit).collect()
    }

    /// Σ over clusters of share · f(cluster, member, way to the goal).
    fn average(&self, clusters: &[Cluster], f: impl Fn(usize, usize, DVec3) -> DVec3) -> Vec<DVec3> {
        let mut sum = vec![DVec3::ZERO; self.x.len()];
        for (c, cluster) in clusters.iter().enumerate() {
            for (&(i, share, _), goal) in cluster.members.iter().zip(&cluster.goals) {
                sum[i] += f(c, i, *goal - self.x[i]) * share;
            }
        }
        sum
    }

    fn step(&mut self, integrator: Integrator, painted: &[f64]) {
        let rest = self.s.model().bodies()[0].parts.rest();
        let c = *self.s.controls().body(0).unwrap();
        let h = self.s.model().params().substep();
        let (alpha, gravity) = (c.stiffness.alpha(h), self.s.controls().gravity());
        let deformer = integrator == Integrator::Deformer;
        if deformer {
            for i in 0..self.x.len() {
                self.x[i] += self.v[i] * h;
                self.v[i] += gravity * h;
            }
        }
        let clusters = self.fit();
        // A cluster's painted stiffness is the mean of its members', by mass.
        let paint: Vec<f64> = clusters
            .iter()
            .map(|k| {
                let total: f64 = k.members.iter().map(|m| m.2).sum();
                k.members.iter().map(|m| m.2 * painted.get(m.0).unwrap_or(&1.0)).sum::<f64>() / total
            })
            .collect();
        let displacement = self.average(&clusters, |c, _, displacement| displacement * paint[c]);
        let calm = match c.damping > 0.0 {
            true => {
                let rigid: Vec<_> = clusters.iter().map(|k| self.motion(k)).collect();
                let goal = self.average(&clusters, |c, i, _| {
                    let (center, linear, turn) = rigid[c];
                    linear + turn.cross(self.x[i] - center)
                });
                let share = 1.0 - (-c.damping * h).exp();
                (0..self.v.len()).map(|i| (goal[i] - self.v[i]) * share).collect()
            }
            false => vec![DVec3::ZERO; self.v.len()],
        };
        for i in 0..self.x.len() {
            if deformer {
                self.v[i] += displacement[i] * (c.flappiness * alpha / h) + calm[i];
                self.x[i] += displacement[i] * alpha;
            } else {
                self.v[i] += displacement[i] * (alpha / h) + calm[i] + gravity * h;
                self.x[i] += self.v[i] * h;
            }
        }
        for _ in 0..c.iterations {
            let clusters = self.fit();
            let correction = self.average(&clusters, |k, _, displacement| {
                let limit = c.strain_limit * rest.clusters[k].width;
                displacement * (1.0 - (limit / displacement.length()).min(1.0))
            });
            for (i, correction) in correction.iter().enumerate() {
                self.x[i] += *correction * c.relaxation;
                self.v[i] += *correction * (c.relaxation / h);
            }
        }
    }

    /// Centre, velocity and angular velocity of a cluster.
    fn motion(&self, cluster: &Cluster) -> (DVec3, DVec3, DVec3) {
        let total: f64 = cluster.members.iter().map(|m| m.2).sum();
        let mean = |p: &[DVec3]| cluster.members.iter().map(|m| p[m.0] * m.2).sum::<DVec3>() / total;
        let (center, linear) = (mean(&self.x), mean(&self.v));
        let (mut inertia, mut spin) = (DMat3::ZERO, DVec3::ZERO);
        for &(i, _, m) in &cluster.members {
            let d = self.x[i] - center;
            inertia += inertia_tensor_term(m, d);
            spin += d.cross((self.v[i] - linear) * m);
        }
        (center, linear, angular_velocity(inertia, spin))
    }
}

type Deform = fn(DVec3, &mut Random) -> DVec3;

/// What is done to the rest shape before the first step.
const STATES: [(&str, Deform); 4] = [
    ("shaken", |p, r| p + r.vector() * 0.1),
    ("scattered", |p, r| p * 0.1 + r.vector()),
    ("mirrored", |p, r| p * DVec3::new(-1.0, 1.1, 0.9) + r.vector() * 0.05),
    ("flat", |p, r| p * DVec3::new(1.2, 1.0, 0.0) + r.vector() * DVec3::new(0.1, 0.1, 0.0)),
];

/// Points in a box, some of them twice.
fn points() -> Vec<DVec3> {
    let mut points = random_points(60, 17);
    points.extend_from_within(..7);
    points
}

/// Largest difference after single steps, relative to the larger of body and state.
fn difference(body: &Body, size: f64, away: f64, seed: u64, isa: Isa) -> f64 {
    let mut random = Random::new(seed);
    let mut body = body.clone();
    body.shape.points.iter_mut().for_each(|p| *p *= size);
    if let Clustering::Radius(r) = &mut body.clusters {
        *r *= size;
    }
    let (integrator, painted) = (body.integrator, body.painted_stiffness.clone());
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::new(0.0, -9.81, 1.0) * size;
    let mut s = builder.build().unwrap();
    s.set_isa(isa);
    let mut worst = 0.0_f64;
    for (name, deform) in STATES {
        let (turn, offset) = (random.rotation(), DVec3::new(1.0, -0.7, 0.3) * away);
        let rest: Vec<DVec3> = s.model().bodies()[0].parts.rest().positions.iter().collect();
        let x: Vec<DVec3> =
            rest.iter().map(|p| turn * deform(*p / size, &mut random) * size + offset).collect();
        let v: Vec<DVec3> = x.iter().map(|_| random.vector() * size).collect();
        put(&mut s, &x, &v);
        for _ in 0..2 {
            let mut scalar = Scalar::new(&s);
            scalar.step(integrator, &painted);
            let (moved, speed) = (std::mem::take(&mut scalar.x), std::mem::take(&mut scalar.v));
            let origin = s.state().bodies()[0].positions().get(0);
            run(&mut s, 1);
            let scale = moved.iter().map(|p| p.length()).fold(size, f64::max);
            let ulp = 2.0 * f64::EPSILON * (away + size);
            for i in 0..moved.len() {
                let off = (s.state().bodies()[0].positions().get(i) - origin - moved[i]).length();
                // Far away positions are rounded where they are stored, and nowhere else.
                worst = worst.max((off - if away > 0.0 { 2.0 * ulp } else { 0.0 }).max(0.0) / scale);
                worst = worst
                    .max((s.state().bodies()[0].velocities().get(i) - speed[i]).length() / (60.0 * scale));
            }
            assert!(worst < 1e-12, "{name}, size {size:e}, {away:e} away: {worst:e}");
        }
    }
    worst
}

fn variants() -> Vec<Body> {
    let mut list = Vec::new();
    for goals in Goals::ALL {
        for integrator in Integrator::ALL {
            for kind in 0..4 {
                let mut body = cloud(points(), 18).goals(goals);
                body.integrator = integrator;
                body.clusters = [Clustering::Whole, Clustering::Radius(1.2)][usize::from(kind > 0)];
                body.cluster_style.smooth = kind == 2;
                body.controls.stiffness = Stiffness::Alpha(0.4);
                body.controls.flappiness = 0.6;
                body.controls.deformation = 0.7;
                body.controls.conserve_momentum = false;
                if kind >= 2 {
                    body.painted_stiffness = (0..67).map(|i| f64::from(i % 5) / 4.0).collect();
                    body.controls.damping = 3.0;
                }
                if kind == 3 {
                    (body.controls.strain_limit, body.controls.iterations) = (0.2, 3);
                }
                list.push(body);
            }
        }
    }
    list
}

/// An instruction set of each set of bits that this machine has.
fn of_each_kind() -> Vec<Isa> {
    let widest = |bits: Bits| Isa::available().filter(|isa| isa.bits() == bits).max();
    [Bits::Unfused, Bits::Fused].into_iter().filter_map(widest).collect()
}

#[test]
fn lanes_are_one_particle_at_a_time_to_rounding() {
    let mut worst = 0.0_f64;
    for (k, body) in variants().iter().enumerate() {
        for (size, away) in [(1.0, 0.0), (1e-6, 0.0), (1e6, 0.0), (1.0, 1e6), (1e-3, 10.0)] {
            for isa in of_each_kind() {
                worst = worst.max(difference(body, size, away, k as u64, isa));
            }
        }
    }
    println!("lanes differ from scalars by at most {worst:e}");
}

#[test]
fn the_same_bits_on_every_instruction_set_of_a_kind_and_for_any_number_of_threads() {
    let build = |goals, integrator, two_step, threads| {
        let mut body = Body::new("bear", shapes::gummy_bear(0.6, 0.05).unwrap()).at(0.0, 0.4, 0.0);
        body.clusters = Clustering::Radius(0.2);
        body.goals = goals;
        body.integrator = integrator;
        body.two_step = two_step;
        body.velocity = DVec3::new(0.5, -3.0, 0.0);
        body.spin = DVec3::new(3.0, 1.0, 0.0);
        body.painted_stiffness = (0..body.shape.points.len()).map(|i| (i % 3) as f64 / 2.0).collect();
        body.cluster_style.smooth = two_step;
        body.controls.restitution = 0.3;
        body.controls.yield_strain = 0.02;
        body.controls.strain_limit = 0.1;
        let mut builder = Builder::new().ground().body(body.frequency(10.0)).substeps(2);
        builder.threads = threads;
        builder.build().unwrap()
    };
    let all = |s: &Simulation| {
        let memory = s.state().bodies()[0].memory();
        let matrices = memory[Section::Rotations].iter().chain(&memory[Section::Plastic]);
        bits(s).into_iter().chain(matrices.map(|v| v.to_bits())).collect::<Vec<u64>>()
    };
    for goals in Goals::ALL {
        for integrator in Integrator::ALL {
            for two_step in [false, true] {
                let of_kind = of_each_kind().into_iter().map(|isa| {
                    let mut reference = build(goals, integrator, two_step, 1);
                    reference.set_isa(isa);
                    run(&mut reference, 6);
                    assert!(
                        reference.state().bodies()[0]
                            .memory()
                            .matrices(Section::Plastic)
                            .any(|p| p != DMat3::IDENTITY)
                    );
                    (isa.bits(), all(&reference))
                });
                let expected: Vec<(Bits, Vec<u64>)> = of_kind.collect();
                for isa in Isa::available() {
                    let expected = &expected.iter().find(|(bits, _)| *bits == isa.bits()).unwrap().1;
                    for threads in [1, 2, 7] {
                        let mut s = build(goals, integrator, two_step, threads);
                        s.set_isa(isa);
                        for _ in 0..6 {
                            s.drop_caches();
                            run(&mut s, 1);
                        }
                        assert_eq!(s.isa(), isa);
                        let what = format!("{} {} {isa:?} {threads}", goals.name(), integrator.name());
                        assert!(all(&s) == *expected, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_checkpoint_tells_its_set_of_bits_and_goes_on_in_another() {
    let build = || {
        let mut body = Body::new("bear", shapes::gummy_bear(0.3, 0.04).unwrap()).at(0.0, 0.4, 0.0);
        body.spin = DVec3::new(3.0, 1.0, 0.0);
        Builder::new().ground().body(body).build().unwrap()
    };
    let kinds = of_each_kind();
    let ends: Vec<Vec<DVec3>> = kinds
        .iter()
        .map(|&isa| {
            let mut s = build();
            s.set_isa(isa);
            run(&mut s, 5);
            let mut other = build();
            // Said, not refused: it goes on with what this machine has.
            assert_eq!(other.restore(&s.checkpoint()), Ok(isa.bits()));
            assert_eq!(other.bits(), Isa::best().bits());
            run(&mut other, 5);
            other.state().bodies()[0].positions().iter().collect()
        })
        .collect();
    // The sets differ by rounding, and only by that.
    let off = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max);
    for pair in ends.windows(2) {
        let off = off(&pair[0], &pair[1]);
        assert!(off > 0.0 && off < 1e-12, "{off:e}");
    }
}

#[test]
fn a_switch_of_instruction_sets_leaves_nothing_of_the_other_kind_behind() {
    let build = || {
        let mut body = cloud(points(), 18).goals(Goals::Quadratic);
        body.clusters = Clustering::Radius(1.2);
        body.velocity = DVec3::X;
        Builder::new().substeps(1).body(body.frequency(8.0)).build().unwrap()
    };
    for isa in of_each_kind() {
        let (mut straight, mut switched) = (build(), build());
        straight.set_isa(isa);
        // Other caches are made first.
        of_each_kind().into_iter().for_each(|other| {
            switched.set_isa(other);
            let start = switched.state().clone();
            run(&mut switched, 1);
            switched.set_state(start).unwrap();
        });
        switched.set_isa(isa);
        run(&mut straight, 4);
        run(&mut switched, 4);
        assert_eq!(bits(&straight), bits(&switched), "{}", isa.name());
    }
}
