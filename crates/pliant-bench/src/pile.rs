//! A hundred soft bodies piled up on the ground, touching each other: a step.

use crate::timing::Window;
use crate::{Measurement, Run};
use pliant::shapes::{self, SolidShape, TetStyle};
use pliant::{Body, Builder, DVec3, Material, Simulation, Stiffness};
use std::time::Duration;

const EDGE: f64 = 0.1;

/// Blocks of 512 particles in four layers of five by five, each over the gaps of the layer below.
fn pile(clustered: bool, threads: usize) -> Result<Simulation, String> {
    let say = |e: pliant_geometry::GeometryError| e.to_string();
    let size = DVec3::splat(EDGE);
    let shape = match clustered {
        true => SolidShape::Cuboid { size }.build(EDGE / 7.0).map_err(say)?,
        false => shapes::tet_box([7, 7, 7], size, TetStyle::Five).map_err(say)?,
    };
    let rubber = Material::named("rubber").ok_or("there is no rubber")?;
    let mut builder = Builder::new().ground().body_contact().substeps(if clustered { 4 } else { 1 });
    builder.threads = threads;
    for k in 0..100 {
        let (i, j, level) = (f64::from(k % 5), f64::from(k / 5 % 5), f64::from(k / 25));
        let (shift, apart) = (0.05 * (level % 2.0), 1.02 * EDGE);
        let at = DVec3::new(apart * i + shift, 0.505 * EDGE + 1.01 * EDGE * level, apart * j + shift);
        let mut body = Body::new(format!("block {k}"), shape.clone());
        if clustered {
            body.controls.stiffness = Stiffness::Frequency(40.0);
            (body.controls.iterations, body.controls.strain_limit) = (3, 0.1);
            body.cluster_style.symmetric = true;
            body.mass = 1.0;
        } else {
            body = body.elastic(Material { young: 1e5, density: 1000.0, ..rubber });
            body.controls.iterations = 10;
        }
        body.controls.damping = 5.0;
        builder = builder.body(body.at(at.x, at.y, at.z));
    }
    builder.build().map_err(|e| e.to_string())
}

pub(crate) fn step(run: &mut Run<'_>) -> Result<(), String> {
    let window = Window { warm: 12, timed: 8, budget: Duration::from_millis(4000) };
    for (name, clustered, what) in [
        ("contact/pile/step", false, "10 iterations of projective dynamics"),
        ("contact/pile_clustered/step", true, "four substeps of clustered matching with 3 iterations"),
    ] {
        if !run.wants(name) {
            continue;
        }
        for threads in run.one_and_two() {
            let mut simulation = pile(clustered, threads)?;
            let seconds = window.median_frame(&mut simulation)?;
            let contacts = simulation.step().map_err(|e| e.to_string())?.contacts;
            run.report(
                Measurement::new(name, (seconds * 1e3, "ms"), simulation.isa().name())
                    .on(threads)
                    .noted(format!("100 blocks in a pile with {contacts} contacts, {what}, a step")),
            );
        }
    }
    Ok(())
}
