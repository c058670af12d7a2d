//! A shirt's front on its other front, held by glue and by stiff springs: how far it comes apart, whether its layers stay in
//! order, and what a step costs until it is as exact (section 5 of "The Point Cloud Glue").

use super::{Definition, Failure, Figure};
use crate::clock::{Ratio, Stopwatch, kind, runs};
use crate::metrics::{largest, mean, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::shirt::{GAP, Hold, Ruler, shirt};
use pliant::{Points, SolverKind};
use std::sync::{Arc, Mutex};

/// Spring constants, N/m; the weakest holds the weight of the front a few millimetres low.
const STIFF: [f64; 4] = [1e2, 1e3, 1e4, 1e5];
const GLUE: &str = "glue";
const STEPS: usize = 45;
const APART: usize = 0;
const ORDER: usize = 1;
const ITERATIONS: usize = 2;
const COSTS: usize = 3;
/// Error of a substep, over that of its prediction, that counts as converged.
const CONVERGED: f64 = 1e-4;
const MOST: u32 = 120;
/// Steps whose iterations are counted.
const WATCHED: usize = 5;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "glue_springs",
        about: "A shirt's front held by glue and by stiff springs: how far apart, in order, and at what cost",
    },
    run,
    metrics: &[
        ("apart_by_glue", |p| largest(&p.values(APART, GLUE)) / GAP),
        ("apart_by_springs", |p| smallest(&STIFF.map(|k| largest(&p.values(APART, &named(k))))) / GAP),
        ("order_by_glue", |p| smallest(&p.values(ORDER, GLUE)) / GAP),
        ("order_by_springs", |p| largest(&STIFF.map(|k| smallest(&p.values(ORDER, &named(k))))) / GAP),
        ("iterations_of_springs", |p| {
            largest(&p.values(ITERATIONS, "springs")) / largest(&p.values(ITERATIONS, GLUE))
        }),
        ("cost", |p| COST.median(p)),
        ("cost_least", |p| COST.least(p)),
        ("cost_most", |p| COST.most(p)),
    ],
};

const COST: Ratio<'_> = Ratio { panel: COSTS, over: GLUE, under: "springs of 1e4 N/m" };

fn named(stiffness: f64) -> String {
    format!("springs of {stiffness:.0e} N/m")
}

fn cases() -> Vec<(String, Hold)> {
    let springs = STIFF.iter().map(|k| (named(*k), Hold::Springs(*k)));
    [(GLUE.to_string(), Hold::Glue)].into_iter().chain(springs).collect()
}

/// How many of Newton's iterations a substep takes until its error stays so small a part of that of the prediction, on average.
fn iterations(hold: Hold) -> Result<f64, Failure> {
    let mut s = shirt(hold, false, SolverKind::Newton, MOST)?;
    let substeps: Arc<Mutex<Vec<Vec<Points>>>> = Arc::default();
    let sink = substeps.clone();
    let watch = move |iteration: u32, x: &Points| {
        let Ok(mut all) = sink.lock() else { return };
        if iteration == 0 {
            all.push(Vec::new());
        }
        all.last_mut().into_iter().for_each(|list| list.push(x.clone()));
    };
    s.observe_iterations(0, Box::new(watch));
    for _ in 0..WATCHED {
        s.step()?;
    }
    let all = substeps.lock().map_err(|_| "the observer failed")?;
    let off = |a: &Points, b: &Points| a.iter().zip(b.iter()).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
    let taken = all.iter().filter_map(|list| {
        let (first, exact) = (list.first()?, list.last()?);
        let most = CONVERGED * off(first, exact);
        list.iter().rposition(|x| off(x, exact) > most).map(|k| k as f64 + 1.0)
    });
    Ok(mean(&taken.collect::<Vec<f64>>()))
}

fn run() -> Result<Plot, Failure> {
    let ruler = Ruler::new()?;
    let mut apart =
        Panel::new("How far the front comes apart", "time (s)", "distance from its place (m)").y_log();
    let mut order = Panel::new("Is the lower layer below the upper", "time (s)", "least distance below (m)");
    let mut taken = [Vec::new(), Vec::new()];
    for (name, hold) in cases() {
        let mut s = shirt(hold, false, SolverKind::Projective, 60)?;
        let (mut off, mut below) = (Vec::new(), Vec::new());
        for _ in 0..STEPS {
            s.step()?;
            let (far, least) = ruler.measure(&s);
            // A logarithm wants a floor.
            off.push((s.state().time(), far.max(1e-17)));
            below.push((s.state().time(), least));
        }
        apart = apart.line(&name, Style::Solid, off);
        order = order.line(&name, Style::Solid, below);
        let count = iterations(hold)?;
        match hold {
            Hold::Springs(stiffness) => taken[1].push((stiffness, count)),
            _ => taken[0].extend([STIFF[0], STIFF[STIFF.len() - 1]].map(|k| (k, count))),
        }
    }
    let [by_glue, by_springs] = taken;
    let title = "Newton iterations until a step is exact to 1e-4";
    let needed = Panel::new(title, "stiffness of the springs (N/m)", "iterations")
        .x_log()
        .y_log()
        .line(GLUE, Style::Dashed, by_glue)
        .line("springs", Style::Marked, by_springs);
    Ok(Plot {
        panels: vec![apart, order, needed, costs()?],
        ..Plot::new("A front held by glue and by springs")
    })
}

/// Milliseconds of a step, run by run, with ten iterations for all.
fn costs() -> Result<Panel, Failure> {
    let cases = cases();
    let mut lines = vec![Vec::new(); cases.len()];
    for run in 1..=runs() {
        for ((_, hold), points) in cases.iter().zip(&mut lines) {
            let mut s = shirt(*hold, false, SolverKind::Projective, 10)?;
            s.step()?;
            let watch = Stopwatch::start();
            for _ in 0..10 {
                s.step()?;
            }
            points.push((run as f64, 1e3 * watch.seconds() / 10.0));
        }
    }
    let mut panel = Panel::new(&format!("Cost of ten iterations ({})", kind()), "run", "milliseconds a step");
    for ((name, _), points) in cases.into_iter().zip(lines) {
        panel = panel.line(name, Style::Marked, points);
    }
    Ok(panel)
}
