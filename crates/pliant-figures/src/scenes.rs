//! Bodies and runs several figures share.

use crate::figures::Failure;
use pliant::{Body, Builder, Clustering, DVec3, Integrator, Simulation, Statistics, Stiffness, shapes};

/// Steps a second, as in the paper ("we typically set the timestep to the framerate (60 Hz)").
pub const RATE: f64 = 60.0;

/// The paper's cube: edge 1, 6³ particles, no damping, no limit.
pub fn cube(clusters: Clustering, alpha: f64) -> Result<Body, Failure> {
    let mut body = Body::new("cube", shapes::cuboid(DVec3::ONE, 0.2)?);
    body.clusters = clusters;
    body.controls.stiffness = Stiffness::Alpha(alpha);
    body.controls.damping = 0.0;
    Ok(limited(body, f64::INFINITY, 0))
}

/// The same body with limit γ and so many iterations, to the paper's letter.
pub fn limited(mut body: Body, gamma: f64, iterations: u32) -> Body {
    body.controls.strain_limit = gamma;
    body.controls.iterations = iterations;
    body.controls.conserve_momentum = false;
    body
}

/// The position-based form of the same body: no springs, equality constraints (section 3).
pub fn position_based(mut body: Body, iterations: u32) -> Body {
    body.controls.stiffness = Stiffness::Alpha(0.0);
    limited(body, 0.0, iterations)
}

/// The same body moved by the deformer's two-part update to the report's letter: no limit, no damping.
pub fn deformer(mut body: Body, stiffness: f64, flappiness: f64) -> Body {
    body.integrator = Integrator::Deformer;
    body.controls.stiffness = Stiffness::Alpha(stiffness);
    body.controls.flappiness = flappiness;
    body.controls.damping = 0.0;
    limited(body, f64::INFINITY, 0)
}

/// A simulation of one body over the ground.
pub fn grounded(body: Body) -> Result<Simulation, Failure> {
    Ok(Builder::new().substeps(1).ground().body(body).build()?)
}

/// A simulation of one body without gravity.
pub fn weightless(body: Body) -> Result<Simulation, Failure> {
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::ZERO;
    Ok(builder.build()?)
}

/// Steps `n` times and samples a number against time in seconds, first before any step.
pub fn sample(
    simulation: &mut Simulation,
    n: usize,
    mut f: impl FnMut(&Simulation) -> f64,
) -> Result<Vec<(f64, f64)>, Failure> {
    let mut points = vec![(simulation.state().time(), f(simulation))];
    for _ in 0..n {
        simulation.step()?;
        points.push((simulation.state().time(), f(simulation)));
    }
    Ok(points)
}

/// As [`sample`], for several numbers of the statistics at once.
pub fn sample_statistics<const K: usize>(
    simulation: &mut Simulation,
    n: usize,
    mut f: impl FnMut(&Simulation, &Statistics) -> [f64; K],
) -> Result<[Vec<(f64, f64)>; K], Failure> {
    let mut series: [Vec<(f64, f64)>; K] = std::array::from_fn(|_| Vec::with_capacity(n + 1));
    for k in 0..=n {
        if k > 0 {
            simulation.step()?;
        }
        let time = simulation.state().time();
        for (list, value) in series.iter_mut().zip(f(simulation, &simulation.statistics())) {
            list.push((time, value));
        }
    }
    Ok(series)
}

/// Every abscissa times `factor`, as for steps from seconds.
pub fn scale_x(points: Vec<(f64, f64)>, factor: f64) -> Vec<(f64, f64)> {
    points.into_iter().map(|(x, y)| (x * factor, y)).collect()
}
