//! What colliders cost: a soft body and a cloth on meshes of a thousand and a hundred thousand triangles, and on a box.

use crate::{Measurement, Run};
use pliant::{
    Body, Builder, Collider, ColliderMesh, DAffine3, DVec3, Material, Primitive, Simulation, shapes,
};
use std::time::Instant;

const STEPS: usize = 60;

/// A wavy ground of about so many triangles under a block of about 500 particles.
fn on_mesh(triangles: usize) -> Result<Simulation, String> {
    let n = ((triangles / 2) as f64).sqrt().round() as usize + 1;
    let height = |k: usize| {
        let (x, z) = ((k % n) as f64 / n as f64, (k / n) as f64 / n as f64);
        0.02 * (20.0 * x).sin() * (16.0 * z).cos()
    };
    let heights: Vec<f64> = (0..n * n).map(height).collect();
    let spacing = 2.0 / (n - 1) as f64;
    let mesh = ColliderMesh::heights(n, &heights, [spacing; 2], 0.5).map_err(|e| format!("{e:?}"))?;
    built(Collider::mesh(mesh, DAffine3::IDENTITY))
}

fn built(ground: Collider) -> Result<Simulation, String> {
    let shape = shapes::tet_box([12, 3, 12], DVec3::new(0.6, 0.15, 0.6), shapes::TetStyle::Five)
        .map_err(|e| e.to_string())?;
    let jelly = Material::named("jelly").ok_or("no jelly")?;
    let mut body = Body::new("block", shape).elastic(jelly).at(0.0, 0.11, 0.0);
    body.controls.iterations = 10;
    let mut simulation = Builder::new().collider(ground).body(body).build().map_err(|e| e.to_string())?;
    for _ in 0..STEPS / 2 {
        simulation.step().map_err(|e| e.to_string())?;
    }
    Ok(simulation)
}

pub(crate) fn step(run: &mut Run<'_>) -> Result<(), String> {
    let cuboid = Collider::solid(
        Primitive::Cuboid { half: DVec3::new(1.0, 0.5, 1.0) },
        DAffine3::from_translation(DVec3::Y * -0.5),
    );
    for (name, scene) in [
        ("contact/collider/plane", built(Collider::ground())),
        ("contact/collider/box", built(cuboid)),
        ("contact/collider/mesh_1k", on_mesh(1_000)),
        ("contact/collider/mesh_100k", on_mesh(100_000)),
    ] {
        if !run.wants(name) {
            continue;
        }
        let mut simulation = scene?;
        let mut times = Vec::with_capacity(STEPS);
        for _ in 0..STEPS {
            let start = Instant::now();
            simulation.step().map_err(|e| e.to_string())?;
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        run.report(
            Measurement::new(name, (1e3 * times[times.len() / 2], "ms"), simulation.isa().name()).noted(
                format!(
                    "a step of a block of {} particles that lies on it",
                    simulation.model().particle_count()
                ),
            ),
        );
    }
    Ok(())
}
