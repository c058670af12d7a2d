//! Iterations of projective dynamics on deformed states: local step, right-hand side and global step.

use crate::timing::best_of;
use crate::{Measurement, Run};
use pliant::constraints::Limits;
use pliant::model::{BatchScale, ModelBatch, ModelBody};
use pliant::shapes::{self, TetStyle};
use pliant::{Body, Builder, Clustering, ConstraintKind, Control, DVec3, Isa, Material, Simulation};
use std::time::Duration;

/// A scene whose iterations are timed.
struct Case {
    name: &'static str,
    build: fn(usize) -> Result<Simulation, String>,
    /// Numbers an iteration moves per element: positions in, forces out, what the element is at rest.
    per_element: usize,
}

const BEAM: Case = Case { name: "projective/beam/iteration", build: beam, per_element: 34 };
const LIMITED: Case =
    Case { name: "projective/beam_limited/iteration", build: limited_beam, per_element: 34 };
const BAR: Case = Case { name: "projective/bar/iteration", build: bar, per_element: 34 };
const CLOTH: Case = Case { name: "projective/cloth/iteration", build: cloth, per_element: 14 };

/// The 49k-degree-of-freedom scene: what it needs is counted without the held particles.
const VILLAGE: Case =
    Case { name: "projective/village/iteration", build: crate::village::village, per_element: 20 };

/// Many bodies of one prototype, nothing to touch.
const PILE: Case = Case { name: "projective/pile/iteration", build: pile, per_element: 34 };

pub(crate) fn scene(run: &mut Run<'_>) -> Result<(), String> {
    measure(run, &VILLAGE)?;
    measure(run, &PILE)
}

/// 100 cubes of 8³ particles, let go stretched: 171,500 tetrahedra.
fn pile(threads: usize) -> Result<Simulation, String> {
    let mut builder = Builder::new().substeps(1);
    builder.threads = threads;
    for k in 0..100 {
        let mut body = tet_body(&format!("cube {k}"), [7, 7, 7])?.at(f64::from(k), 0.0, 0.0);
        body.pins.clear();
        body.stretch = DVec3::new(1.2, 0.9, 0.95);
        builder = builder.body(body);
    }
    builder.build().map_err(|e| e.to_string())
}

/// How long it takes to prepare 100,000 particles for the first step: a solid and a sheet.
pub(crate) fn setup(run: &mut Run<'_>) -> Result<(), String> {
    let solid = || build(tet_body("solid", [45, 45, 46])?, 1);
    let sheet = || {
        let shape = shapes::sheet(4.0, 4.0, 315, 315).map_err(|e| e.to_string())?;
        let mut body = Body::new("sheet", shape).projective();
        body.clusters = Clustering::None;
        body.controls.edge_stiffness = 1000.0;
        build(body, 1)
    };
    let all: [(_, &dyn Fn() -> Result<Simulation, String>); 2] =
        [("projective/setup/solid", &solid), ("projective/setup/sheet", &sheet)];
    for (name, make) in all
        .into_iter()
        .filter(|(name, _)| run.options.filter.is_empty() || name.contains(&run.options.filter))
    {
        let start = std::time::Instant::now();
        let simulation = make()?;
        run.report(
            Measurement::new(name, (start.elapsed().as_secs_f64(), "s"), simulation.isa().name()).noted(
                format!(
                    "{} particles, {} numbers in the factor",
                    simulation.model().particle_count(),
                    simulation.factor_len()
                ),
            ),
        );
    }
    Ok(())
}

pub(crate) fn solids(run: &mut Run<'_>) -> Result<(), String> {
    for scene in [BEAM, LIMITED, BAR] {
        measure(run, &scene)?;
    }
    Ok(())
}

pub(crate) fn sheet(run: &mut Run<'_>) -> Result<(), String> {
    measure(run, &CLOTH)
}

/// Times a scene on one thread with every instruction set that is wanted, and on two threads with the best.
fn measure(run: &mut Run<'_>, scene: &Case) -> Result<(), String> {
    if !run.wants(scene.name) {
        return Ok(());
    }
    let options = run.options;
    let best = options.isa.unwrap_or(Isa::best());
    let mut runs = vec![(options.threads.max(1), best)];
    if options.threads == 0 {
        runs.push((2, best));
        if options.isa.is_none() && best > Isa::Avx2 {
            runs.extend([(1, Isa::Avx2), (2, Isa::Avx2)]);
        }
    }
    for (threads, isa) in runs {
        let mut simulation = (scene.build)(threads)?;
        simulation.set_isa(isa);
        let each = iteration(&mut simulation)?;
        // What an iteration must at least move: the factor twice, and the elements.
        // Springs without stiffness are in no system.
        let elements = |body: &ModelBody| -> usize {
            let controls = simulation.controls().body(body.id);
            let active = |b: &&ModelBatch| {
                b.scale != BatchScale::EdgeStiffness || controls.is_some_and(|c| c.edge_stiffness > 0.0)
            };
            body.parts.batches().iter().filter(active).map(|b| b.batch.rows().elements()).sum()
        };
        let elements: usize = simulation.model().bodies().iter().map(elements).sum();
        let (factor, rest) = (8 * simulation.factor_len(), 8 * scene.per_element * elements);
        let bytes = (2 * factor + rest) as f64;
        // Each thread goes over its own part, from whichever cache it fits into.
        let limit = threads as f64 * run.limits.reading((factor + rest) as f64 / threads as f64);
        run.report(
            Measurement::new(scene.name, (each * 1e3, "ms"), isa.name())
                .on(threads)
                .limited(bytes / each / limit)
                .noted(format!("{} particles, {elements} elements", simulation.model().particle_count())),
        );
    }
    Ok(())
}

/// Seconds per iteration, as the difference between many and few, so that what a step costs besides them
/// drops out.
fn iteration(simulation: &mut Simulation) -> Result<f64, String> {
    // Deformed states: half a second of motion first.
    for _ in 0..30 {
        simulation.step().map_err(|e| e.to_string())?;
    }
    let mut failed = None;
    let mut seconds = [0.0; 2];
    let counts = [5.0, 45.0];
    let start = simulation.state().clone();
    for (count, seconds) in counts.iter().zip(&mut seconds) {
        for b in 0..simulation.model().bodies().len() {
            simulation.set(Control::Iterations(b.into()), *count).map_err(|e| e.to_string())?;
        }
        simulation.set_state(start.clone()).map_err(|e| e.to_string())?;
        *seconds = best_of(Duration::from_millis(400), || {
            if let Err(e) = simulation.step() {
                failed = Some(e.to_string());
            }
        });
    }
    match failed {
        Some(e) => Err(e),
        None => Ok((seconds[1] - seconds[0]) / (counts[1] - counts[0])),
    }
}

fn build(body: Body, threads: usize) -> Result<Simulation, String> {
    let mut builder = Builder::new().substeps(1).body(body);
    builder.threads = threads;
    builder.build().map_err(|e| e.to_string())
}

/// A solid of five tetrahedra a cell of 2 cm, held where x is least.
fn tet_body(name: &str, cells: [usize; 3]) -> Result<Body, String> {
    let size = DVec3::from_array(cells.map(|n| n as f64)) * 0.02;
    let shape = shapes::tet_box(cells, size, TetStyle::Five).map_err(|e| e.to_string())?;
    let least = shape.points.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    let held: Vec<u32> =
        (0..shape.points.len() as u32).filter(|&i| shape.points[i as usize].x < least + 1e-6).collect();
    let soft = Material { young: 2e5, ..Material::NAMED[0].1 };
    let mut body = Body::new(name, shape).elastic(soft).pin(held);
    body.constraints = vec![ConstraintKind::Strain.into()];
    Ok(body)
}

/// 56×5×6 cells, one end fixed, sagging: 8,400 tetrahedra.
fn beam(threads: usize) -> Result<Simulation, String> {
    build(tet_body("beam", [56, 5, 6])?, threads)
}

/// The same with singular values kept between 0.95 and 1.05: a full decomposition each.
fn limited_beam(threads: usize) -> Result<Simulation, String> {
    let mut body = tet_body("beam", [56, 5, 6])?;
    body.constraints = vec![ConstraintKind::StrainLimit(Limits::new([0.95, 1.05])).of_stiffness(1.5e5)];
    build(body, threads)
}

/// 59×2×7 cells, twisted by a turn over its length and let go: 4,130 tetrahedra.
fn bar(threads: usize) -> Result<Simulation, String> {
    let mut simulation = build(tet_body("bar", [59, 2, 7])?, threads)?;
    let mut state = simulation.state().clone();
    let mut x = state.bodies_mut()[0].positions_mut();
    for i in 0..x.len() {
        let p = x.get(i);
        let turn = std::f64::consts::TAU * (p.x + 0.59) / 1.18;
        x.set(i, DVec3::new(p.x, p.y * turn.cos() - p.z * turn.sin(), p.y * turn.sin() + p.z * turn.cos()));
    }
    simulation.set_state(state).map_err(|e| e.to_string())?;
    Ok(simulation)
}

/// 81×81 vertices hung by two corners: 19,360 edges, structural and one diagonal a cell.
fn cloth(threads: usize) -> Result<Simulation, String> {
    let shape = shapes::sheet(1.0, 1.0, 80, 80).map_err(|e| e.to_string())?;
    let mut cloth = Body::new("cloth", shape).projective();
    cloth.clusters = Clustering::None;
    cloth.controls.edge_stiffness = 1000.0;
    cloth.mass = 0.3;
    cloth.velocity = DVec3::new(0.0, 0.0, 0.5);
    build(cloth.pin([0, 80]), threads)
}
