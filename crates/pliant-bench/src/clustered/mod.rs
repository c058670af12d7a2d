//! Clustered shape matching.
//!
//! Bodies hang in free fall, stretched by (1.2, 1, 0.9) and let go, with α = 0.5, γ = 0.1 and 5 iterations
//! in one substep: 6 goal passes a frame. Clusters are made in file order as the paper's own program does,
//! because that gives its numbers: 26 clusters and 6,807 memberships on its bunny of 2,020 particles.

mod bunny;
mod crowd;
mod large;
mod lattice;

pub(crate) use bunny::bunny;
pub(crate) use crowd::crowd;
pub(crate) use large::large;
pub(crate) use lattice::{SIZES, lattice};

use crate::{Limits, Measurement, Options};
use pliant::model::ClusterSet;
use pliant::{Body, Builder, ClusterMethod, Clustering, DVec3, Simulation, Stiffness, shapes};

/// Operations a membership costs in one pass, counted from the formulas: 3 subtractions, 3 products
/// with the mass, 3 additions and 9 multiply-adds in the sums, and in the goal 3 subtractions, 9
/// multiply-adds, 6 subtractions, the length and the weighted correction (about 14).
const FLOPS: f64 = 3.0 + 3.0 + 3.0 + 18.0 + 3.0 + 18.0 + 6.0 + 14.0;
const ITERATIONS: u32 = 5;
const PASSES: f64 = ITERATIONS as f64 + 1.0;

/// The body all scenes but the crowd begin with.
fn body(shape: shapes::Shape, clusters: Clustering) -> Body {
    let mut body = Body::new("body", shape);
    body.clusters = clusters;
    body.cluster_style.method = ClusterMethod::FileOrder;
    body.position.y = 1e3;
    body.stretch = DVec3::new(1.2, 1.0, 0.9);
    body.controls.stiffness = Stiffness::Alpha(0.5);
    body.controls.strain_limit = 0.1;
    body.controls.iterations = ITERATIONS;
    body.controls.damping = 0.0;
    // To the paper's letter: six goal passes a frame and nothing else.
    body.controls.conserve_momentum = false;
    body
}

/// A simulation in one substep with the instruction set asked for.
fn build(mut builder: Builder, threads: usize, options: &Options) -> Result<Simulation, String> {
    builder.substeps = 1;
    builder.threads = threads;
    let mut simulation = builder.build().map_err(|e| e.to_string())?;
    if let Some(isa) = options.isa {
        simulation.set_isa(isa);
    }
    Ok(simulation)
}

fn memberships(simulation: &Simulation) -> f64 {
    clusters(simulation).map(|c| c.members.len()).sum::<usize>() as f64
}

fn clusters(simulation: &Simulation) -> impl Iterator<Item = &ClusterSet> {
    simulation.model().bodies().iter().map(|b| &b.parts.topology().clusters)
}

/// What there is, for the reader of a number.
fn note(simulation: &Simulation) -> String {
    format!(
        "{} particles, {} clusters, {} memberships",
        simulation.model().particle_count(),
        clusters(simulation).map(ClusterSet::len).sum::<usize>(),
        memberships(simulation)
    )
}

/// A frame of goal passes as time per membership and pass.
fn pass(
    name: &'static str,
    simulation: &Simulation,
    seconds: f64,
    threads: usize,
    limits: &Limits,
) -> Measurement {
    let each = seconds / (memberships(simulation) * PASSES);
    Measurement::new(name, (each * 1e9, "ns"), simulation.isa().name())
        .on(threads)
        .limited(FLOPS / each / (limits.flops * threads as f64))
        .noted(note(simulation))
}

/// The same frame as a whole.
fn frame(
    name: &'static str,
    simulation: &Simulation,
    seconds: f64,
    threads: usize,
    limits: &Limits,
) -> Measurement {
    let per_pass = pass(name, simulation, seconds, threads, limits);
    Measurement { value: seconds * 1e3, unit: "ms", ..per_pass }
}

/// Particles on a cubic lattice, the quickest of shapes to make.
pub(crate) fn lattice_shape(counts: [u32; 3], spacing: f64) -> shapes::Shape {
    let [nx, ny, nz] = counts;
    let at = |i: u32| DVec3::new(f64::from(i % nx), f64::from(i / nx % ny), f64::from(i / (nx * ny)));
    let points: Vec<DVec3> = (0..nx * ny * nz).map(|i| spacing * at(i)).collect();
    let measure = vec![spacing.powi(3); points.len()];
    shapes::Shape { points, measure, ..shapes::Shape::default() }
}
