//! Bodies and measures the engine's tests share.
#![allow(dead_code)]

use pliant::{Body, Builder, Clustering, DMat3, DVec3, Simulation, Stiffness, shapes};

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
    let s = simulation.state();
    s.x.columns().into_iter().chain(s.v.columns()).flatten().map(|v| v.to_bits()).collect()
}

/// Size of all momenta if they did not cancel: what rounding is measured against.
pub fn momentum_scale(simulation: &Simulation) -> f64 {
    let s = simulation.state();
    let m = &simulation.model().rest().mass;
    (0..m.len()).map(|i| m[i] * s.v.get(i).length()).sum::<f64>() + f64::MIN_POSITIVE
}

/// As [`momentum_scale`], for angular momentum.
pub fn angular_scale(simulation: &Simulation) -> f64 {
    let s = simulation.state();
    let m = &simulation.model().rest().mass;
    (0..m.len()).map(|i| m[i] * s.x.get(i).length() * s.v.get(i).length()).sum::<f64>() + f64::MIN_POSITIVE
}

/// Largest distance of a particle from the best rigid fit of its body's rest shape, over the body's
/// size: 0 for the rest shape wherever it is. Independent of the engine: the fit is by Horn's
/// quaternion method with power iteration.
pub fn distance_from_rest(simulation: &Simulation, body: usize) -> f64 {
    let range = simulation.model().topology().bodies[body].particles.clone();
    let rest: Vec<DVec3> = range.clone().map(|i| simulation.model().rest().positions.get(i)).collect();
    let x: Vec<DVec3> = range.map(|i| simulation.state().x.get(i)).collect();
    let n = rest.len() as f64;
    let (rc, xc) = (rest.iter().sum::<DVec3>() / n, x.iter().sum::<DVec3>() / n);
    let size = rest.iter().map(|r| (*r - rc).length()).fold(0.0, f64::max);
    let r = horn_rotation(rest.iter().zip(&x).map(|(r, x)| (*r - rc, *x - xc)));
    rest.iter().zip(&x).map(|(p, x)| (r * (*p - rc) + xc - *x).length()).fold(0.0, f64::max) / size
}

/// The rotation r → x as the dominant eigenvector of Horn's 4×4 matrix.
pub fn horn_rotation(pairs: impl Iterator<Item = (DVec3, DVec3)>) -> DMat3 {
    let mut s = [[0.0; 3]; 3];
    for (r, x) in pairs {
        for (i, row) in s.iter_mut().enumerate() {
            for (j, e) in row.iter_mut().enumerate() {
                *e += r[i] * x[j];
            }
        }
    }
    if s == [[0.0; 3]; 3] {
        return DMat3::IDENTITY;
    }
    let t = s[0][0] + s[1][1] + s[2][2];
    let (a, b, c) = (s[1][2] - s[2][1], s[2][0] - s[0][2], s[0][1] - s[1][0]);
    let mut m = [[t, a, b, c], [a, 0.0, 0.0, 0.0], [b, 0.0, 0.0, 0.0], [c, 0.0, 0.0, 0.0]];
    for i in 0..3 {
        for j in 0..3 {
            m[i + 1][j + 1] = s[i][j] + s[j][i] - if i == j { t } else { 0.0 };
        }
    }
    let shift = m.iter().flatten().map(|v: &f64| v.abs()).sum::<f64>();
    (0..4).for_each(|i| m[i][i] += shift);
    // Squaring the matrix thirty times isolates the largest eigenvalue.
    for _ in 0..60 {
        let mut p = [[0.0; 4]; 4];
        for i in 0..4 {
            for j in 0..4 {
                p[i][j] = (0..4).map(|k| m[i][k] * m[k][j]).sum();
            }
        }
        let scale = p.iter().flatten().fold(0.0_f64, |a, v| a.max(v.abs()));
        p.iter_mut().flatten().for_each(|v| *v /= scale);
        m = p;
    }
    let column = (0..4).max_by(|&a, &b| m[a][a].total_cmp(&m[b][b])).unwrap();
    let q = [m[0][column], m[1][column], m[2][column], m[3][column]];
    let norm = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    DMat3::from_quat(pliant::DQuat::from_xyzw(q[1] / norm, q[2] / norm, q[3] / norm, q[0] / norm))
}
