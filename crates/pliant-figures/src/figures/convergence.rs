//! Figure 12 of the projective-dynamics paper: relative error of a twisting bar against iterations and
//! time, for every solver; also of a cloth.

use super::{Definition, Failure, Figure};
use crate::clock::{Ratio, Stopwatch, kind, runs};
use crate::metrics::median;
use crate::plot::{Panel, Plot, Style};
use pliant::{
    Acceleration, Body, Builder, Clustering, ConstraintKind, DQuat, DVec3, Material, Motion, Pins, Selection,
    Simulation, SolverKind, TracePoint, shapes,
};
use std::f64::consts::FRAC_PI_2;

/// The error down to which curves are compared, as in the paper.
const GOAL: f64 = 1e-10;
/// Panels of times to the goal and of times of an iteration, run by run.
const WHOLE: Ratio<'_> = Ratio { panel: 4, over: PD, under: NEWTON };
const EACH: Ratio<'_> = Ratio { panel: 5, over: NEWTON, under: PD };
/// Steps before the one that is looked at.
const STEPS: usize = 20;
const PD: &str = "projective";
const NEWTON: &str = "Newton";
/// Name, solver, acceleration, most iterations.
const METHODS: [(&str, SolverKind, Acceleration, u32); 5] = [
    (PD, SolverKind::Projective, Acceleration::None, 2000),
    ("projective, L-BFGS", SolverKind::Projective, Acceleration::LBfgs, 400),
    ("projective, Anderson", SolverKind::Projective, Acceleration::Anderson, 400),
    ("XPBD", SolverKind::Xpbd, Acceleration::None, 1000),
    (NEWTON, SolverKind::Newton, Acceleration::None, 60),
];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "convergence",
        about: "Relative error of a twisting bar and a cloth against iterations and time (figure 12)",
    },
    run,
    metrics: &[
        ("newton_iterations_ratio", |p| reached(p, 0, NEWTON) / at_least(p, 0, PD)),
        ("projective_time_ratio", |p| WHOLE.median(p)),
        ("projective_time_ratio_least", |p| WHOLE.least(p)),
        ("projective_time_ratio_most", |p| WHOLE.most(p)),
        ("iterations_per_newton", |p| EACH.median(p)),
        ("iterations_per_newton_least", |p| EACH.least(p)),
        ("iterations_per_newton_most", |p| EACH.most(p)),
        ("cloth_newton_iterations_ratio", |p| reached(p, 2, NEWTON) / at_least(p, 2, PD)),
    ],
};

/// Abscissa at which the error is first below the goal; NaN if it never is.
fn reached(plot: &Plot, panel: usize, name: &str) -> f64 {
    plot.points(panel, name).iter().find(|p| p.1 <= GOAL).map_or(f64::NAN, |p| p.0)
}

/// The same, or where the curve ends if it never is: a bound from below.
fn at_least(plot: &Plot, panel: usize, name: &str) -> f64 {
    let points = plot.points(panel, name);
    points.iter().find(|p| p.1 <= GOAL).or(points.last()).map_or(f64::NAN, |p| p.0)
}

/// 4,320 DoF and 4,130 tetrahedra (the paper: 4,290 and 4,099), one end turning.
fn bar(
    cells: [usize; 3],
    solver: SolverKind,
    acceleration: Acceleration,
    iterations: u32,
) -> Result<Simulation, Failure> {
    let size = DVec3::new(1.18, 0.04, 0.14);
    let shape = shapes::tet_box(cells, size, shapes::TetStyle::Five)?;
    let rubber = Material { density: 1000.0, young: 1e5, poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("bar", shape).elastic(rubber).solved_by(solver);
    body.constraints = vec![ConstraintKind::Strain.into()];
    body.controls.iterations = iterations;
    for side in [-1.0, 1.0] {
        let end = (0..body.shape.points.len() as u32)
            .filter(|&i| body.shape.points[i as usize].x * side > 0.5 * size.x - 1e-9)
            .collect();
        let spin = if side > 0.0 { DVec3::X * 3.0 } else { DVec3::ZERO };
        let motion = Motion { spin, ..Motion::REST };
        let select = Selection::Particles(end);
        body.pins.push(Pins { name: String::new(), select, motion, stiffness: None });
    }
    build(body, acceleration)
}

fn build(body: Body, acceleration: Acceleration) -> Result<Simulation, Failure> {
    let mut builder = Builder::new().substeps(1).body(body);
    builder.step = 1.0 / 30.0;
    builder.implicit.acceleration = acceleration;
    Ok(builder.build()?)
}

/// A cloth of edges that swings from its upper edge, which keeps it taut.
fn cloth(
    cells: usize,
    solver: SolverKind,
    acceleration: Acceleration,
    iterations: u32,
) -> Result<Simulation, Failure> {
    let mut body = Body::new("cloth", shapes::sheet(1.0, 1.0, cells, cells)?).solved_by(solver);
    body.rotation = DQuat::from_rotation_x(0.8 * FRAC_PI_2);
    body.clusters = Clustering::None;
    body.mass = 0.2;
    body.controls.edge_stiffness = 1e3;
    body.controls.damping = 0.0;
    body.controls.iterations = iterations;
    build(body.pin(0..=cells as u32), acceleration)
}

/// The same step, from the places and velocities of `from`, by another solver.
fn traced(mut simulation: Simulation, from: &Simulation) -> Result<Vec<TracePoint>, Failure> {
    let (mut state, other) = (simulation.state().clone(), from.state());
    state.bodies_mut().clone_from_slice(other.bodies());
    state.begin_at(other.step(), simulation.model());
    simulation.set_state(state)?;
    let watch = Stopwatch::start();
    Ok(simulation.trace_step(Box::new(move || watch.seconds()))?.1)
}

type Make<'a> = &'a dyn Fn(SolverKind, Acceleration, u32) -> Result<Simulation, Failure>;

/// Every method's step, so many times, all methods in turn: what disturbs a run disturbs all of them.
fn races(make: Make<'_>, runs: usize) -> Result<Vec<Vec<Vec<TracePoint>>>, Failure> {
    let mut from = make(SolverKind::Projective, Acceleration::None, 20)?;
    for _ in 0..STEPS {
        from.step()?;
    }
    let mut all: Vec<Vec<_>> = METHODS.iter().map(|_| Vec::new()).collect();
    for run in 0..runs {
        for (list, (name, solver, acceleration, most)) in all.iter_mut().zip(METHODS) {
            // Only the two that are compared are timed again.
            if run == 0 || name == PD || name == NEWTON {
                list.push(traced(make(solver, acceleration, most)?, &from)?);
            }
        }
    }
    Ok(all)
}

/// Errors against iterations and time; the error does not depend on the run, the time is the median.
fn panels(body: &str, races: &[Vec<Vec<TracePoint>>]) -> [Panel; 2] {
    let error = "(ε − ε*) / (ε₀ − ε*)";
    let mut by_count = Panel::new(&format!("{body}: iterations"), "iterations", error).x_log().y_log();
    let title = format!("{body}: {} here", kind());
    let mut by_time = Panel::new(&title, "milliseconds", error).x_log().y_log();
    for ((name, ..), runs) in METHODS.into_iter().zip(races) {
        let Some(points) = runs.first() else { continue };
        let line = |panel: Panel, x: &dyn Fn(usize, &TracePoint) -> f64| {
            // Far below the goal there is only rounding.
            let mut seen: Vec<_> = points
                .iter()
                .enumerate()
                .skip(1)
                .filter_map(|(k, p)| Some((x(k, p), p.relative_error?.max(0.01 * GOAL))))
                .collect();
            if let Some(end) = seen.iter().position(|p| p.1 <= GOAL) {
                seen.truncate(end + 1);
            }
            panel.line(name, if name == NEWTON { Style::Marked } else { Style::Solid }, seen)
        };
        by_count = line(by_count, &|_, p| f64::from(p.iteration));
        by_time = line(by_time, &|k, _| {
            1e3 * median(runs.iter().filter_map(|r| r.get(k)).map(|p| p.seconds).collect())
        });
    }
    [by_count, by_time]
}

/// Milliseconds to the goal, and of an iteration on the way there, run by run.
fn costs(races: &[Vec<Vec<TracePoint>>]) -> [Panel; 2] {
    let mut whole =
        Panel::new(&format!("Bar: {} to an error of 10⁻¹⁰", kind()), "run", "milliseconds").y_log();
    let mut each = Panel::new(&format!("Bar: {} of an iteration", kind()), "run", "milliseconds").y_log();
    for ((name, ..), runs) in METHODS.into_iter().zip(races).filter(|(m, _)| m.0 == PD || m.0 == NEWTON) {
        let end = |points: &Vec<TracePoint>| {
            points.iter().find(|p| p.relative_error.is_some_and(|e| e <= GOAL)).copied()
        };
        // A run that does not arrive has no time.
        let at = |f: &dyn Fn(TracePoint) -> f64| -> Vec<(f64, f64)> {
            let value = |points| 1e3 * end(points).map_or(f64::NAN, f);
            runs.iter().enumerate().map(|(k, points)| (k as f64 + 1.0, value(points))).collect()
        };
        whole = whole.line(name, Style::Marked, at(&|p| p.seconds));
        each = each.line(name, Style::Marked, at(&|p| p.seconds / f64::from(p.iteration)));
    }
    [whole, each]
}

fn run() -> Result<Plot, Failure> {
    let bars = races(&|s, a, n| bar([59, 2, 7], s, a, n), runs())?;
    let [count, time] = panels("Bar", &bars);
    let [cloth_count, cloth_time] = panels("Cloth", &races(&|s, a, n| cloth(37, s, a, n), 1)?);
    let [whole, each] = costs(&bars);
    let title =
        "One step of a twisting bar (4,320 DoF, 4,130 tetrahedra) and of a cloth (4,332 DoF, 4,181 edges)";
    Ok(Plot { panels: vec![count, time, cloth_count, cloth_time, whole, each], ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_the_papers_within_a_percent_and_all_methods_descend() {
        let shape = shapes::tet_box([59, 2, 7], DVec3::ONE, shapes::TetStyle::Five).unwrap();
        assert_eq!((3 * shape.points.len(), shape.tetrahedra.len()), (4320, 4130));
        let make = |s, a, n| bar([8, 1, 2], s, a, n);
        let mut from = make(SolverKind::Projective, Acceleration::None, 5).unwrap();
        from.step().unwrap();
        for (name, solver, acceleration, _) in METHODS {
            let points = traced(make(solver, acceleration, 6).unwrap(), &from).unwrap();
            let last = points.last().unwrap().relative_error.unwrap();
            // Few iterations of position based dynamics may lead uphill.
            assert!(last < if solver == SolverKind::Xpbd { 10.0 } else { 1.0 }, "{name}: {last}");
        }
    }
}
