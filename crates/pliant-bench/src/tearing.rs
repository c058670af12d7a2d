//! What a tear costs, in ordinary steps of the body that tears.

use crate::{Measurement, Run};
use pliant::{Body, Builder, Material, Simulation, shapes};
use std::time::Instant;

const CELLS: usize = 60;
const EDGES: usize = 10;
const ROUNDS: usize = 7;

/// A cloth held at two corners, after a few steps.
fn cloth() -> Result<Simulation, String> {
    let shape = shapes::sheet(1.0, 1.0, CELLS, CELLS).map_err(|e| e.to_string())?;
    let material = Material::named("cotton").ok_or("no cotton")?;
    let mut body = Body::new("cloth", shape).elastic(material).pin([0, CELLS as u32]);
    body.controls.iterations = 10;
    // So far that only the edges below break, and all is ready for it.
    body.controls.tear_strain = 1e3;
    let mut simulation = Builder::new().body(body).build().map_err(|e| e.to_string())?;
    for _ in 0..5 {
        simulation.step().map_err(|e| e.to_string())?;
    }
    Ok(simulation)
}

/// A line of edges from the middle of one border inwards.
fn line(simulation: &Simulation) -> Result<Vec<u32>, String> {
    let facets = simulation.model().bodies()[0].parts.facets().ok_or("no facets")?;
    let at = |row: usize| (row * (CELLS + 1) + CELLS / 2) as u32;
    let find = |row: usize| facets.find(&[at(row), at(row + 1)]).map(|f| f as u32).ok_or("no such edge");
    Ok((0..EDGES).map(|k| find(CELLS - 1 - k)).collect::<Result<_, _>>()?)
}

pub(crate) fn ten_edges(run: &mut Run<'_>) -> Result<(), String> {
    let mut simulation = cloth()?;
    let edges = line(&simulation)?;
    let before = simulation.state().clone();
    let mut timed = |tears: bool| -> Result<f64, String> {
        simulation.set_state(before.clone()).map_err(|e| e.to_string())?;
        simulation.step().map_err(|e| e.to_string())?;
        let start = Instant::now();
        if tears {
            simulation.tear(0, &edges).map_err(|e| e.to_string())?;
        }
        simulation.step().map_err(|e| e.to_string())?;
        Ok(start.elapsed().as_secs_f64())
    };
    let (mut plain, mut torn) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(timed(false)?);
        torn.push(timed(true)?);
    }
    let best = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
    let (plain, torn) = (best(&plain), best(&torn));
    run.report(
        Measurement::new("tearing/ten_edges", ((torn - plain) / plain, "steps"), simulation.isa().name())
            .noted(format!(
                "{} particles, a step takes {:.2} ms",
                simulation.model().particle_count(),
                plain * 1e3
            )),
    );
    Ok(())
}
