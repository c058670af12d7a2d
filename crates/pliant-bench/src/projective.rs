//! Iterations of projective dynamics on deformed states.

use crate::timing::best_of;
use crate::{Measurement, Run};
use pliant::{Body, Builder, Clustering, Control, DVec3, shapes};
use std::time::Duration;

pub(crate) fn cloth(run: &mut Run<'_>) -> Result<(), String> {
    let (options, limits) = (run.options, run.limits);
    let threads = options.threads.max(1);
    let shape = shapes::sheet(1.0, 1.0, 80, 80).map_err(|e| e.to_string())?;
    let mut cloth = Body::new("cloth", shape).projective();
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 1000.0;
    cloth.mass = 0.3;
    cloth.velocity = DVec3::new(0.0, 0.0, 0.5);
    let mut builder = Builder::new().substeps(1).body(cloth.pin([0, 80]));
    builder.threads = threads;
    let mut simulation = builder.build().map_err(|e| e.to_string())?;
    let mut failed = None;
    // Deformed states: half a second of swinging first.
    for _ in 0..30 {
        simulation.step().map_err(|e| e.to_string())?;
    }
    // Iterations are timed as the difference between many and few, so that what a step costs besides
    // them drops out.
    let mut seconds = [0.0; 2];
    let counts = [5.0, 25.0];
    for (count, seconds) in counts.iter().zip(&mut seconds) {
        simulation.set(Control::Iterations(0), *count).map_err(|e| e.to_string())?;
        *seconds = best_of(Duration::from_millis(600), || {
            if let Err(e) = simulation.step() {
                failed = Some(e.to_string());
            }
        });
    }
    if let Some(e) = failed {
        return Err(e);
    }
    let each = (seconds[1] - seconds[0]) / (counts[1] - counts[0]);
    // What an iteration must at least move: the factor twice, and per edge two points in, one out.
    let edges = simulation.model().topology().edges.len();
    let bytes = (8 * (2 * simulation.factor_len() + 9 * edges)) as f64;
    let share = bytes / each / limits.bandwidth;
    run.report(Measurement {
        name: "projective/cloth/iteration",
        value: each * 1e3,
        unit: "ms",
        threads,
        share_of_limit: Some(share),
        // Its kernels are compiled for what the build targets.
        isa: "baseline",
        note: format!("{} particles, {edges} edges", simulation.model().particle_count()),
    });
    Ok(())
}
