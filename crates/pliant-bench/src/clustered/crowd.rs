//! Many bodies at once: 1,000 boxes of 10×5×10 particles with 5 clusters each over a ground plane.
//!
//! They are let go stretched from heights between 0 and 2 m, so that after the warm-up of half a second
//! some fall, some land and some rest. Everything a body has by default (limiting that keeps momentum,
//! γ = 0.3, damping) but α = 0.5; 5 iterations in one substep.

use super::{FLOPS, ITERATIONS, PASSES, build, lattice_shape, memberships, note};
use crate::timing::Window;
use crate::{Measurement, Run};
use pliant::{Body, Builder, ClusterMethod, Clustering, DVec3, Stiffness};

const BODIES: u32 = 1000;

pub(crate) fn crowd(run: &mut Run<'_>) -> Result<(), String> {
    let (options, limits) = (run.options, run.limits);
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let threads = if options.threads == 0 { processors.min(2) } else { options.threads };
    let shape = lattice_shape([10, 5, 10], 0.1);
    let mut builder = Builder::new().ground();
    for k in 0..BODIES {
        let mut body = Body::new(format!("body {k}"), shape.clone());
        body.clusters = Clustering::Count(5);
        body.cluster_style.method = ClusterMethod::FileOrder;
        body.position = DVec3::new(f64::from(k % 40), f64::from(k * 7 % 20) / 20.0, f64::from(k / 40)) * 2.0;
        body.stretch = DVec3::new(1.2, 1.0, 0.9);
        body.controls.stiffness = Stiffness::Alpha(0.5);
        body.controls.iterations = ITERATIONS;
        builder = builder.body(body);
    }
    let mut simulation = build(builder, threads, options)?;
    let seconds = Window { warm: 30, timed: 60, ..Window::LONG }.median_frame(&mut simulation)?;
    let done = FLOPS * memberships(&simulation) * PASSES / seconds;
    run.report(
        Measurement::new("clustered/crowd/step", (seconds * 1e3, "ms"), simulation.isa().name())
            .on(threads)
            .limited(done / (limits.flops * threads as f64))
            .noted(format!("{BODIES} bodies; {}", note(&simulation))),
    );
    Ok(())
}
