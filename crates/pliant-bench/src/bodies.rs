//! What it costs to build many copies of a body, and that one comes or goes while they run.

use crate::{Measurement, Run};
use pliant::shapes::Shape;
use pliant::{Body, Builder, DVec3, Simulation};
use std::time::Instant;

const BODIES: u32 = 1000;
const ROUNDS: u32 = 100;

fn copy(shape: &Shape, k: u32) -> Body {
    let mut body = Body::new(format!("body {k}"), shape.clone());
    body.position = DVec3::new(f64::from(k % 40), 0.1, f64::from(k / 40)) * 2.0;
    body
}

pub(crate) fn coming_and_going(run: &mut Run<'_>) -> Result<(), String> {
    let shape = crate::clustered::lattice_shape([10, 5, 10], 0.1);
    let mut builder = Builder::new().ground();
    // What a caller has made before is not the engine's time.
    builder.bodies.extend((0..BODIES).map(|k| copy(&shape, k)));
    let start = Instant::now();
    let mut simulation = builder.build().map_err(|e| e.to_string())?;
    let built = start.elapsed().as_secs_f64();
    let (mut added, mut removed) = (0.0_f64, 0.0_f64);
    for k in 0..ROUNDS {
        let body = copy(&shape, BODIES + k);
        let start = Instant::now();
        let id = simulation.add(body).map_err(|e| e.to_string())?;
        added = added.max(start.elapsed().as_secs_f64());
        let start = Instant::now();
        simulation.remove(id).map_err(|e| e.to_string())?;
        removed = removed.max(start.elapsed().as_secs_f64());
    }
    report(run, &simulation, "bodies/build", (built, "s"));
    report(run, &simulation, "bodies/add", (added * 1e3, "ms"));
    report(run, &simulation, "bodies/remove", (removed * 1e3, "ms"));
    Ok(())
}

fn report(
    run: &mut Run<'_>,
    simulation: &Simulation,
    name: &'static str,
    (value, unit): (f64, &'static str),
) {
    run.report(
        Measurement::new(name, (value, unit), simulation.isa().name())
            .noted(format!("{BODIES} bodies, {} particles", simulation.model().particle_count())),
    );
}
