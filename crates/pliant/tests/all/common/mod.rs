//! Bodies and measures the engine's tests share.

use pliant::{
    Body, BodyState, Builder, Clustering, CouplingId, DMat3, DVec3, Material, Section, Simulation,
    SolverKind, State, Stiffness, Timeline, shapes,
};
use pliant_geometry::SplitMix64;

/// A cube of edge 1 with 6³ particles, undamped and unlimited; if limited, to the paper's letter.
pub fn cube(clusters: Clustering, alpha: f64) -> Body {
    let mut body = Body::new("cube", shapes::cuboid(DVec3::ONE, 0.2).unwrap());
    body.clusters = clusters;
    body.controls.stiffness = Stiffness::Alpha(alpha);
    body.controls.damping = 0.0;
    body.controls.strain_limit = f64::INFINITY;
    body.controls.iterations = 0;
    body.controls.conserve_momentum = false;
    body
}

/// A world without gravity, in steps of a sixtieth of a second.
pub fn weightless(body: Body) -> Builder {
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::ZERO;
    builder
}

/// Steps `n` times.
pub fn run(simulation: &mut Simulation, n: usize) {
    for _ in 0..n {
        simulation.step().unwrap();
    }
}

/// All positions and velocities as bits.
pub fn bits(simulation: &Simulation) -> Vec<u64> {
    state_bits(simulation.state())
}

/// All positions and velocities of a state as bits.
pub fn state_bits(state: &State) -> Vec<u64> {
    state.bodies().iter().flat_map(body_bits).collect()
}

/// Forty steps of bodies with so many couplings, on so many threads, however they are taken.
pub fn same_bits_of_what_is_tied(make: impl Fn(usize) -> Simulation, couplings: usize) {
    // What history leaves of couplings goes with the bodies.
    let bits = |s: &Simulation| all_bits(s.state());
    let state_bits = all_bits;
    let mut one = make(1);
    run(&mut one, 40);
    let wanted = bits(&one);
    for threads in [2, 7] {
        let mut s = make(threads);
        run(&mut s, 40);
        assert_eq!(bits(&s), wanted, "{threads} threads");
    }
    let mut dropped = make(1);
    for _ in 0..40 {
        dropped.drop_caches();
        dropped.step().unwrap();
    }
    assert_eq!(bits(&dropped), wanted, "dropped caches");
    // A checkpoint carries the couplings to a simulation without them.
    let mut half = make(1);
    run(&mut half, 17);
    let mut other = make(2);
    assert_eq!(other.model().couplings().len(), couplings);
    (0..couplings).for_each(|k| other.uncouple(CouplingId::from(k)).unwrap());
    other.restore(&half.checkpoint()).unwrap();
    assert_eq!(other.model().couplings(), half.model().couplings());
    run(&mut other, 23);
    assert_eq!(bits(&other), wanted, "a checkpoint");
    let mut timeline = Timeline::new(make(1));
    assert_eq!(state_bits(timeline.frame(40).unwrap()), wanted);
}

/// The same with what history has left of all couplings.
fn all_bits(state: &State) -> Vec<u64> {
    let of = |c: &pliant::CouplingMemory| {
        let turned = c.rotations.iter().flat_map(|r| r.to_cols_array());
        let numbers =
            turned.chain(c.force.to_array()).chain([c.stiffness, c.rest, f64::from(u8::from(c.broken))]);
        numbers.map(f64::to_bits).collect::<Vec<u64>>()
    };
    state_bits(state).into_iter().chain(state.couplings().iter().flat_map(of)).collect()
}

/// Positions and velocities of a body as bits.
pub fn body_bits(body: &BodyState) -> Vec<u64> {
    let columns = body.positions().columns().into_iter().chain(body.velocities().columns());
    columns.flatten().map(|v| v.to_bits()).collect()
}

/// Puts the particles of the first body of a state somewhere.
pub fn place(state: &mut State, x: impl IntoIterator<Item = DVec3>) {
    let mut to = state.bodies_mut()[0].positions_mut();
    x.into_iter().enumerate().for_each(|(i, x)| to.set(i, x));
}

/// Masses of all particles with where they are and how fast they move.
fn particles(simulation: &Simulation) -> impl Iterator<Item = (f64, DVec3, DVec3)> + '_ {
    let bodies = simulation.model().bodies().iter().zip(simulation.state().bodies());
    bodies.flat_map(|(model, state)| {
        let moving = state.positions().iter().zip(state.velocities().iter());
        model.parts.rest().mass.iter().zip(moving).map(|(m, (x, v))| (*m, x, v))
    })
}

/// Size of all momenta if they did not cancel: what rounding is measured against.
pub fn momentum_scale(simulation: &Simulation) -> f64 {
    particles(simulation).map(|(m, _, v)| m * v.length()).sum::<f64>() + f64::MIN_POSITIVE
}

/// As [`momentum_scale`], for angular momentum.
pub fn angular_scale(simulation: &Simulation) -> f64 {
    particles(simulation).map(|(m, x, v)| m * x.length() * v.length()).sum::<f64>() + f64::MIN_POSITIVE
}

/// Largest distance of a particle from the best rigid fit of its body's rest shape, over the body's
/// size: 0 for the rest shape wherever it is. Independent of the engine: the fit is by Horn's
/// quaternion method with power iteration.
pub fn distance_from_rest(simulation: &Simulation, body: usize) -> f64 {
    let rest: Vec<DVec3> = simulation.model().bodies()[body].parts.rest().positions.iter().collect();
    let x: Vec<DVec3> = simulation.positions(body).collect();
    let n = rest.len() as f64;
    let (rc, xc) = (rest.iter().sum::<DVec3>() / n, x.iter().sum::<DVec3>() / n);
    let size = rest.iter().map(|r| (*r - rc).length()).fold(0.0, f64::max);
    let r = horn_rotation(rest.iter().zip(&x).map(|(r, x)| (*r - rc, *x - xc)));
    rest.iter().zip(&x).map(|(p, x)| (r * (*p - rc) + xc - *x).length()).fold(0.0, f64::max) / size
}

/// The rotation r → x, by a method the engine does not use.
pub fn horn_rotation(pairs: impl Iterator<Item = (DVec3, DVec3)>) -> DMat3 {
    DMat3::from_quat(pliant_math::horn_rotation(pairs))
}

/// Numbers, vectors and matrices from a seed.
#[derive(Clone)]
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// A number from −1 to 1.
    pub fn number(&mut self) -> f64 {
        self.0.unit() * 2.0 - 1.0
    }

    /// A number from 0 to 1.
    pub fn share(&mut self) -> f64 {
        0.5 * (self.number() + 1.0)
    }

    /// One of the first `n` numbers.
    pub fn index(&mut self, n: usize) -> usize {
        ((self.share() * n as f64) as usize).min(n - 1)
    }

    /// A vector in the cube from −1 to 1.
    pub fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    /// Any rotation.
    pub fn rotation(&mut self) -> DMat3 {
        let axis = (self.vector() + DVec3::splat(1e-3)).normalize();
        DMat3::from_axis_angle(axis, self.number() * std::f64::consts::PI)
    }

    /// A matrix with entries from −1 to 1.
    pub fn matrix(&mut self) -> DMat3 {
        DMat3::from_cols(self.vector(), self.vector(), self.vector())
    }
}

/// A body of one cluster and uneven masses, undamped, unlimited and with all its volume to lose.
pub fn cloud(points: Vec<DVec3>, seed: u64) -> Body {
    let mut random = Random::new(seed);
    let mut shape = shapes::from_points(points).unwrap();
    shape.measure.iter_mut().for_each(|m| *m = 0.2 + random.share());
    let mut body = Body::new("cloud", shape);
    body.clusters = Clustering::Whole;
    body.controls.stiffness = Stiffness::Alpha(1.0);
    body.controls.damping = 0.0;
    body.controls.strain_limit = f64::INFINITY;
    body.controls.iterations = 0;
    body.controls.volume = 0.0;
    body.controls.deformation = pliant::BodyControls::LARGEST_DEFORMATION;
    body
}

/// `n` random points of a cube.
pub fn random_points(n: usize, seed: u64) -> Vec<DVec3> {
    let mut random = Random::new(seed);
    (0..n).map(|_| random.vector()).collect()
}

/// Puts particles to places and gives them velocities.
pub fn put(simulation: &mut Simulation, x: &[DVec3], v: &[DVec3]) {
    let mut state = simulation.state().clone();
    place(&mut state, x.iter().copied());
    let mut to = state.bodies_mut()[0].velocities_mut();
    v.iter().enumerate().for_each(|(i, v)| to.set(i, *v));
    simulation.set_state(state).unwrap();
}

/// The averaged goals of particles at `x`: with α = 1, no velocity and no forces one step of the
/// strain-limited integrator goes there.
pub fn goals_at(simulation: &mut Simulation, x: &[DVec3]) -> Vec<DVec3> {
    put(simulation, x, &vec![DVec3::ZERO; x.len()]);
    run(simulation, 1);
    simulation.state().bodies()[0].positions().iter().collect()
}

/// A general least-squares solver: an orthonormal basis of the functions of the rest position that a
/// weighted fit may use, at the given points. Columns the points do not tell apart are dropped, so that
/// the projection onto it is the fit of any norm, also where the coefficients are not determined.
pub struct LeastSquares {
    columns: Vec<Vec<f64>>,
    root: Vec<f64>,
}

impl LeastSquares {
    /// The functions 1, x, y, z, and with `quadratic` the six products.
    pub fn new(rest: &[DVec3], mass: &[f64], quadratic: bool) -> LeastSquares {
        let center = rest.iter().sum::<DVec3>() / rest.len() as f64;
        let width = rest.iter().map(|r| (*r - center).length()).fold(f64::MIN_POSITIVE, f64::max);
        let functions: [fn(DVec3) -> f64; 10] = [
            |_| 1.0,
            |q| q.x,
            |q| q.y,
            |q| q.z,
            |q| q.x * q.x,
            |q| q.y * q.y,
            |q| q.z * q.z,
            |q| q.x * q.y,
            |q| q.y * q.z,
            |q| q.z * q.x,
        ];
        let root: Vec<f64> = mass.iter().map(|m| m.sqrt()).collect();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for f in &functions[..if quadratic { 10 } else { 4 }] {
            let mut column: Vec<f64> =
                rest.iter().zip(&root).map(|(r, w)| w * f((*r - center) / width)).collect();
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let before = dot(&column, &column).sqrt();
            // Gram–Schmidt, three times over: orthogonal to rounding.
            for _ in 0..3 {
                for other in &columns {
                    let along = dot(&column, other);
                    column.iter_mut().zip(other).for_each(|(c, o)| *c -= along * o);
                }
            }
            let size = dot(&column, &column).sqrt();
            if size > 1e-9 * before && size > 1e-9 * dot(&root, &root).sqrt() {
                column.iter_mut().for_each(|c| *c /= size);
                columns.push(column);
            }
        }
        LeastSquares { columns, root }
    }

    /// The fitted values of `x` at its own points.
    pub fn fit(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut fitted = vec![DVec3::ZERO; x.len()];
        for column in &self.columns {
            let along: DVec3 = (0..x.len()).map(|i| x[i] * (self.root[i] * column[i])).sum();
            fitted.iter_mut().zip(column).for_each(|(f, c)| *f += along * *c);
        }
        fitted.iter().zip(&self.root).map(|(f, w)| *f / *w).collect()
    }
}

/// The best rigid fit of `rest` to `x`, evaluated at its points.
pub fn rigid_fit(rest: &[DVec3], x: &[DVec3], mass: &[f64], previous: DMat3) -> Vec<DVec3> {
    let total: f64 = mass.iter().sum();
    let mean = |p: &[DVec3]| p.iter().zip(mass).map(|(p, m)| *p * *m).sum::<DVec3>() / total;
    let (rc, xc) = (mean(rest), mean(x));
    let mut a = DMat3::ZERO;
    for i in 0..x.len() {
        let (p, q) = ((x[i] - xc) * mass[i], rest[i] - rc);
        a += DMat3::from_cols(p * q.x, p * q.y, p * q.z);
    }
    let r = pliant_math::nearest_rotation(a, previous);
    rest.iter().map(|p| r * (*p - rc) + xc).collect()
}

/// Largest distance of two lists of points.
pub fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (*a - *b).length()).fold(0.0, f64::max)
}

/// The last rotation of a cluster of the first body.
pub fn rotation(simulation: &Simulation, cluster: usize) -> DMat3 {
    let mut all = simulation.state().bodies()[0].memory().matrices(Section::Rotations);
    all.nth(cluster).unwrap()
}

/// A flat block that rests on y = 0, as each solver would have one.
pub fn block(solver: SolverKind) -> Body {
    match solver.uses_constraints() {
        true => {
            let shape =
                shapes::tet_box([3, 2, 3], DVec3::new(0.3, 0.1, 0.3), shapes::TetStyle::Five).unwrap();
            let rubber = Material { young: 2e5, ..Material::named("rubber").unwrap() };
            let mut body = Body::new("block", shape).elastic(rubber).solved_by(solver).at(0.0, 0.05, 0.0);
            body.controls.iterations = 30;
            body
        }
        false => {
            let mut body = Body::new("block", shapes::cuboid(DVec3::new(0.4, 0.12, 0.4), 0.04).unwrap());
            body.clusters = Clustering::Whole;
            body.controls.damping = 30.0;
            body.controls.stiffness = Stiffness::Frequency(15.0);
            body.at(0.0, 0.06, 0.0)
        }
    }
}

/// The digest at the end of a checkpoint: FNV-1a over words, mixed.
pub fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325u64;
    let mut word = |w: u64| {
        hash = (hash ^ w).wrapping_mul(0x0100_0000_01B3);
        hash ^= hash >> 29;
    };
    word(bytes.len() as u64);
    bytes.iter().for_each(|&b| word(b.into()));
    hash
}
