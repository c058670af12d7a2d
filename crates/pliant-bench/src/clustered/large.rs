//! One cluster of 50,000 particles, as the deformer has them: a step is one fit and one goal for each.

use super::{FLOPS, body, build, lattice_shape, memberships, note};
use crate::timing::Window;
use crate::{Measurement, Run};
use pliant::{Builder, Clustering, Goals, Integrator};

/// Names with the goals and the operations of a membership. Quadratic fits sum 3×9 products in place of 3×3
/// and form six products of coordinates; their goals multiply by as large a matrix.
const KINDS: [(&str, Goals, f64); 3] = [
    ("clustered/large/rigid", Goals::Rigid, FLOPS),
    ("clustered/large/linear", Goals::Linear, FLOPS),
    ("clustered/large/quadratic", Goals::Quadratic, FLOPS + 2.0 * 36.0 + 6.0),
];

pub(crate) fn large(run: &mut Run<'_>) -> Result<(), String> {
    let (options, limits) = (run.options, run.limits);
    let threads = options.threads.max(1);
    for (name, goals, flops) in KINDS {
        if !run.wants(name) {
            continue;
        }
        let mut body = body(lattice_shape([50, 50, 20], 0.02), Clustering::Whole);
        body.goals = goals;
        body.integrator = Integrator::Deformer;
        body.controls.strain_limit = f64::INFINITY;
        let mut simulation = build(Builder::new().body(body), threads, options)?;
        let seconds = Window::SHORT.median_frame(&mut simulation)?;
        let done = flops * memberships(&simulation) / seconds;
        run.report(
            Measurement::new(name, (seconds * 1e3, "ms"), simulation.isa().name())
                .on(threads)
                .limited(done / (limits.flops * threads as f64))
                .noted(note(&simulation)),
        );
    }
    Ok(())
}
