//! Many solids that never deform on the ground: balls that roll, boxes that slide and come to rest.

use crate::timing::Window;
use crate::{Measurement, Run};
use pliant::shapes::{Shape, SolidShape};
use pliant::{Body, Builder, DQuat, DVec3, Simulation};
use std::time::Duration;

const BODIES: u32 = 10_000;
const ROW: u32 = 100;
/// Half of the size of each.
const HALF: f64 = 0.05;

/// Bodies of a shape side by side, each with a velocity of its own along the ground.
fn field(shape: &Shape, threads: usize) -> Result<Simulation, String> {
    let mut builder = Builder::new().ground();
    builder.threads = threads;
    builder.bodies.extend((0..BODIES).map(|k| {
        let direction = DVec3::new(f64::from(k * 7919 % 101) - 50.0, 0.0, f64::from(k * 104_729 % 97) - 48.0);
        let mut body = Body::rigid(format!("solid {k}"), shape.clone());
        body.position = DVec3::new(f64::from(k % ROW), HALF, f64::from(k / ROW));
        body.rotation = DQuat::from_rotation_y(f64::from(k % 13));
        body.velocity = direction * 0.01;
        body
    }));
    builder.build().map_err(|e| e.to_string())
}

pub(crate) fn step(run: &mut Run<'_>) -> Result<(), String> {
    let ball = SolidShape::Ball { radius: HALF };
    let cuboid = SolidShape::Cuboid { size: DVec3::splat(2.0 * HALF) };
    let window = Window { warm: 10, timed: 30, budget: Duration::from_millis(2500) };
    for (name, solid, what) in
        [("rigid/balls/step", ball, "balls that roll"), ("rigid/boxes/step", cuboid, "boxes that slide")]
    {
        if !run.wants(name) {
            continue;
        }
        let shape = solid.build_rigid().map_err(|e| e.to_string())?;
        for threads in run.one_and_two() {
            let mut simulation = field(&shape, threads)?;
            let seconds = window.median_frame(&mut simulation)?;
            run.report(
                Measurement::new(name, (seconds * 1e3, "ms"), simulation.isa().name())
                    .on(threads)
                    .noted(format!("{BODIES} {what} on the ground, a step")),
            );
        }
    }
    Ok(())
}
