//! Figure 11 of the projective-dynamics paper: a solid moved with 1, 10 and 20 iterations, against the
//! converged solution of Newton's method.

use super::{Definition, Failure, Figure};
use crate::clock::{Ratio, Stopwatch, kind, runs};
use crate::elements::{apart, bounds, places};
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::view::{boundary, seen};
use pliant::shapes::{Shape, SolidShape};
use pliant::{
    Body, Builder, ConstraintKind, DVec3, Material, Motion, Pins, Selection, Simulation, SolverKind,
};

const COUNTS: [u32; 3] = [1, 10, 20];
const NEWTON: &str = "Newton's method";
/// Panel of the times, run by run.
const COSTS: usize = 6;
const TEN: Ratio<'_> = Ratio { panel: COSTS, over: "10 iterations", under: NEWTON };
const TWENTY: Ratio<'_> = Ratio { panel: COSTS, over: "20 iterations", under: "10 iterations" };
/// 7,161 DoF.
const PARTICLES: usize = 2387;
const STEPS: usize = 24;
const RATE: f64 = 30.0;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "against_newton",
        about: "A solid of about 7,161 DoF with 1, 10, 20 iterations against Newton's method (figure 11)",
    },
    run,
    metrics: &[
        ("one_distance", |p| largest(&p.values(0, &named(COUNTS[0])))),
        ("ten_distance", |p| largest(&p.values(0, &named(COUNTS[1])))),
        ("twenty_over_one", |p| {
            largest(&p.values(0, &named(COUNTS[2]))) / largest(&p.values(0, &named(COUNTS[0])))
        }),
        ("ten_cost", |p| TEN.median(p)),
        ("ten_cost_least", |p| TEN.least(p)),
        ("ten_cost_most", |p| TEN.most(p)),
        ("twenty_over_ten_cost", |p| TWENTY.median(p)),
        ("twenty_over_ten_cost_least", |p| TWENTY.least(p)),
        ("twenty_over_ten_cost_most", |p| TWENTY.most(p)),
    ],
};

fn named(iterations: u32) -> String {
    if iterations == 1 { "1 iteration".into() } else { format!("{iterations} iterations") }
}

/// A solid whose feet are shaken.
pub(super) fn shaken_body(shape: &Shape, solver: SolverKind, iterations: u32) -> Body {
    let (low, high) = bounds(shape.points.iter().copied());
    let feet = (0..shape.points.len() as u32)
        .filter(|&i| shape.points[i as usize].y < low.y + 0.12 * (high.y - low.y))
        .collect();
    let jelly = Material { density: 1000.0, young: 1e5, poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("animal", shape.clone()).elastic(jelly).solved_by(solver);
    // Strain alone, as in the paper.
    body.constraints = vec![ConstraintKind::Strain.into()];
    body.controls.iterations = iterations;
    let motion = Motion { sway: DVec3::new(0.1, 0.0, 0.05), frequency: 1.5, ..Motion::REST };
    let select = Selection::Particles(feet);
    body.pins.push(Pins { name: String::new(), select, motion, stiffness: None });
    body
}

fn shaken(shape: &Shape, solver: SolverKind, iterations: u32) -> Result<Simulation, Failure> {
    let mut builder = Builder::new().substeps(1).body(shaken_body(shape, solver, iterations));
    builder.step = 1.0 / RATE;
    Ok(builder.build()?)
}

/// Milliseconds a step of the same motion takes, run by run, all solvers in turn.
fn costs(shape: &Shape) -> Result<Panel, Failure> {
    let mut panel = Panel::new(&format!("Cost ({})", kind()), "run", "milliseconds a step").y_log();
    let solvers = COUNTS.map(|n| (named(n), SolverKind::Projective, n)).into_iter();
    let solvers: Vec<_> = solvers.chain([(NEWTON.into(), SolverKind::Newton, 30)]).collect();
    let mut lines = vec![Vec::new(); solvers.len()];
    for run in 1..=runs() {
        for ((_, solver, iterations), points) in solvers.iter().zip(&mut lines) {
            let mut simulation = shaken(shape, *solver, *iterations)?;
            // The first step makes what is made once.
            simulation.step()?;
            let watch = Stopwatch::start();
            for _ in 1..STEPS {
                simulation.step()?;
            }
            points.push((run as f64, 1e3 * watch.seconds() / (STEPS - 1) as f64));
        }
    }
    for ((name, ..), points) in solvers.into_iter().zip(lines) {
        panel = panel.line(name, Style::Marked, points);
    }
    Ok(panel)
}

fn run() -> Result<Plot, Failure> {
    let solid = SolidShape::GummyBear { height: 1.0 };
    let (shape, _) = solid.build_tets(solid.spacing_for_tet_particles(PARTICLES)?)?;
    let (low, high) = bounds(shape.points.iter().copied());
    let size = (high - low).length();
    let outside = boundary(&shape.tetrahedra);
    let mut newton = shaken(&shape, SolverKind::Newton, 30)?;
    let mut others = Vec::new();
    for iterations in COUNTS {
        others.push((named(iterations), shaken(&shape, SolverKind::Projective, iterations)?, Vec::new()));
    }
    let mut moved = Vec::new();
    for _ in 0..STEPS {
        newton.step()?;
        let (time, goal) = (newton.state().time(), places(&newton));
        for (_, simulation, points) in &mut others {
            simulation.step()?;
            points.push((time, apart(&places(simulation), &goal) / size));
        }
        moved.push((time, apart(&goal, &shape.points) / size));
    }
    let mut distance =
        Panel::new("Distance from Newton's method", "time (s)", "RMS distance / diagonal").y_log();
    let view = DVec3::new(0.2, 0.2, 1.0);
    let mut pictures = Vec::new();
    for (k, (name, simulation, points)) in others.into_iter().enumerate() {
        pictures.push(Panel::faces(name.clone(), "", seen(view, &places(&simulation), &outside, k)));
        distance = distance.line(name, Style::Solid, points);
    }
    pictures.push(Panel::faces("Newton's method, converged", "", seen(view, &places(&newton), &outside, 6)));
    let motion = Panel::new(
        "Motion of the converged solution",
        "time (s)",
        "RMS distance from rest / diagonal",
    )
    .line(NEWTON, Style::Solid, moved);
    let mut panels = vec![distance, motion];
    panels.extend(pictures);
    panels.push(costs(&shape)?);
    let (dof, tets) = (3 * shape.points.len(), shape.tetrahedra.len());
    let title = format!(
        "A gummy bear of {dof} DoF and {tets} strain constraints whose feet are shaken, 30 steps a second"
    );
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_iterations_are_nearer_newtons_step() {
        let (shape, _) = SolidShape::GummyBear { height: 1.0 }.build_tets(0.25).unwrap();
        let step = |solver, iterations| {
            let mut s = shaken(&shape, solver, iterations).unwrap();
            for _ in 0..3 {
                s.step().unwrap();
            }
            places(&s)
        };
        let goal = step(SolverKind::Newton, 60);
        let off = |iterations| apart(&step(SolverKind::Projective, iterations), &goal);
        assert!(off(20) < off(1));
    }
}
