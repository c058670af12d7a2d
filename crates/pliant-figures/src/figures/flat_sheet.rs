//! A flat sheet, for which no linear map is determined across it, crumpled into a ball: it must come back flat
//! and never explode.

use super::{Definition, Failure, Figure};
use crate::fit::beyond_rigid;
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, weightless};
use pliant::shapes::sheet;
use pliant::{Body, ClusterMethod, ClusterStyle, Clustering, DVec3, Goals, Simulation, Stiffness};

const SECONDS: usize = 6;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "flat_sheet",
        about: "A crumpled flat sheet with rigid, linear and quadratic goals: size and shape",
    },
    run,
    metrics: &[
        ("peak_extent", |p| worst(p, 0, largest)),
        ("shape_left", |p| {
            worst(p, 1, |v| match v {
                [first, .., last] => last / first,
                _ => f64::NAN,
            })
        }),
    ],
};

fn label(goals: Goals, one: bool) -> String {
    format!("{}, {}", goals.name(), if one { "one cluster" } else { "12 clusters" })
}

fn all() -> impl Iterator<Item = (Goals, bool)> {
    Goals::ALL.into_iter().flat_map(|goals| [true, false].map(|one| (goals, one)))
}

fn worst(plot: &Plot, panel: usize, of: impl Fn(&[f64]) -> f64) -> f64 {
    let each = all().map(|(goals, one)| of(&plot.values(panel, &label(goals, one))));
    largest(&each.collect::<Vec<_>>())
}

fn run() -> Result<Plot, Failure> {
    let mut extent = Panel::new("Size", "time (s)", "largest extent over rest");
    let mut shape = Panel::new("Shape", "time (s)", "RMS distance from flat and rigid (m)").y_log();
    for (goals, one) in all() {
        let mut body = Body::new("sheet", sheet(1.0, 1.0, 16, 16)?).goals(goals);
        body.clusters = if one { Clustering::Whole } else { Clustering::Count(12) };
        body.cluster_style =
            ClusterStyle { method: ClusterMethod::KMeans, overlap: 0.3, ..ClusterStyle::default() };
        body.controls.stiffness = Stiffness::Alpha(0.2);
        body.controls.damping = 5.0;
        let rest = body.shape.points.clone();
        let mut simulation = weightless(body)?;
        crumple(&mut simulation)?;
        let (mut sizes, mut shapes) = (Vec::new(), Vec::new());
        for step in 0..=SECONDS * RATE as usize {
            if step > 0 {
                simulation.step()?;
            }
            let now: Vec<DVec3> = simulation.positions(0).collect();
            let middle = now.iter().sum::<DVec3>() / now.len() as f64;
            let radius = now.iter().map(|p| p.distance(middle)).fold(0.0, f64::max);
            sizes.push((simulation.state().time(), radius / 0.5f64.sqrt()));
            shapes.push((simulation.state().time(), beyond_rigid(&rest, &now)));
        }
        let style = if one { Style::Solid } else { Style::Dashed };
        extent = extent.line(label(goals, one), style, sizes);
        shape = shape.line(label(goals, one), style, shapes);
    }
    let title = "A sheet crumpled into a ball, no gravity, α = 0.2, γ = 0.3, β = 0.5";
    Ok(Plot { panels: vec![extent, shape], ..Plot::new(title) })
}

/// Folds the sheet by waves into a ball of a third of its size.
fn crumple(simulation: &mut Simulation) -> Result<(), Failure> {
    let mut state = simulation.state().clone();
    let mut x = state.bodies_mut()[0].positions_mut();
    for i in 0..x.len() {
        let p = x.get(i);
        let folded = DVec3::new((9.0 * p.x + 2.0 * p.z).sin(), (7.0 * p.x * p.z).cos(), (11.0 * p.z).sin());
        x.set(i, 0.15 * folded + 0.02 * DVec3::new((57.0 * p.z).sin(), (91.0 * p.x).sin(), 0.0));
    }
    simulation.set_state(state)?;
    Ok(())
}
