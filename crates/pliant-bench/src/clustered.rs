//! Goal passes of clustered shape matching.

use crate::timing::best_of;
use crate::{Limits, Measurement, Options};
use pliant::{Body, Builder, Clustering, DVec3, Simulation, Stiffness, shapes};
use std::time::Duration;

/// Operations a membership costs in one pass, counted from the formulas: 3 subtractions, 3 products
/// with the mass, 3 additions and 9 multiply-adds in the sums, and in the goal 3 subtractions, 9
/// multiply-adds, 6 subtractions, the length and the weighted correction (about 14).
const FLOPS: f64 = 3.0 + 3.0 + 3.0 + 18.0 + 3.0 + 18.0 + 6.0 + 14.0;
const ITERATIONS: u32 = 5;

fn scene(shape: shapes::Shape, clusters: Clustering, threads: usize) -> Result<Simulation, String> {
    let mut body = Body::new("bunny", shape);
    body.clusters = clusters;
    body.position.y = 1e3;
    body.stretch = DVec3::new(1.2, 1.0, 0.9);
    body.controls.stiffness = Stiffness::Alpha(0.5);
    body.controls.strain_limit = 0.1;
    body.controls.iterations = ITERATIONS;
    body.controls.damping = 0.0;
    // To the paper's letter: six goal passes a frame and nothing else.
    body.controls.conserve_momentum = false;
    let mut builder = Builder::new().substeps(1).body(body);
    builder.threads = threads;
    builder.build().map_err(|e| e.to_string())
}

fn bunny(options: &Options) -> Result<Simulation, String> {
    let threads = options.threads.max(1);
    if let Some((points, radius)) = &options.points {
        let shape = shapes::from_points(points.clone()).map_err(|e| e.to_string())?;
        return scene(shape, Clustering::Radius(*radius), threads);
    }
    let solid = shapes::Solid::Bunny { height: 1.0 };
    let spacing = solid.spacing_for_count(2020).map_err(|e| e.to_string())?;
    scene(solid.build(spacing).map_err(|e| e.to_string())?, Clustering::Count(26), threads)
}

/// Seconds of a frame of a deformed body, and the memberships it has.
fn frame_seconds(simulation: &mut Simulation, budget: Duration) -> Result<(f64, usize), String> {
    let mut failed = None;
    let seconds = best_of(budget, || {
        if let Err(e) = simulation.step() {
            failed = Some(e.to_string());
        }
    });
    failed.map_or(Ok((seconds, simulation.model().topology().clusters.members.len())), Err)
}

fn pass(
    name: &'static str,
    simulation: &mut Simulation,
    budget: Duration,
    options: &Options,
    limits: &Limits,
) -> Result<Vec<Measurement>, String> {
    let (seconds, memberships) = frame_seconds(simulation, budget)?;
    let threads = options.threads.max(1);
    let each = seconds / (memberships as f64 * f64::from(ITERATIONS + 1));
    let share = FLOPS / each / (limits.flops * threads as f64);
    let value = each * 1e9;
    Ok(vec![Measurement { name, value, unit: "ns", threads, share_of_limit: Some(share), isa: "baseline" }])
}

pub(crate) fn bunny_pass(
    name: &'static str,
    options: &Options,
    limits: &Limits,
) -> Result<Vec<Measurement>, String> {
    pass(name, &mut bunny(options)?, Duration::from_secs(1), options, limits)
}

pub(crate) fn bunny_frame(
    name: &'static str,
    options: &Options,
    limits: &Limits,
) -> Result<Vec<Measurement>, String> {
    let mut simulation = bunny(options)?;
    let (seconds, memberships) = frame_seconds(&mut simulation, Duration::from_secs(1))?;
    let threads = options.threads.max(1);
    let flops = FLOPS * memberships as f64 * f64::from(ITERATIONS + 1);
    let share = flops / seconds / (limits.flops * threads as f64);
    let value = seconds * 1e3;
    Ok(vec![Measurement { name, value, unit: "ms", threads, share_of_limit: Some(share), isa: "baseline" }])
}

pub(crate) fn million_pass(
    name: &'static str,
    options: &Options,
    limits: &Limits,
) -> Result<Vec<Measurement>, String> {
    // A box is filled fastest; spacing 1 and radius 2.3 give about 3.4 memberships a particle.
    let points: Vec<DVec3> = (0..1_000_000)
        .map(|i| DVec3::new(f64::from(i % 100), f64::from(i / 100 % 100), f64::from(i / 10_000)))
        .collect();
    let count = points.len();
    let shape = shapes::Shape { points, measure: vec![1.0; count], ..shapes::Shape::default() };
    let mut simulation = scene(shape, Clustering::Radius(2.3), options.threads.max(1))?;
    pass(name, &mut simulation, Duration::from_secs(3), options, limits)
}
