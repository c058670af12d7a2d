//! Figure 4 of the projective-dynamics paper: how stretchy a hanging cloth is after different numbers of
//! iterations, position based and projective.

use super::{Definition, Failure, Figure};
use crate::elements::{apart, places};
use crate::metrics::{largest, mean, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::sample;
use crate::view::seen;
use pliant::{Body, Builder, Clustering, DQuat, DVec3, Simulation, SolverKind, shapes};
use std::f64::consts::FRAC_PI_2;

/// 81 × 81 particles and 19,360 edges, as in the paper.
const CELLS: usize = 80;
const COUNTS: [u32; 4] = [2, 5, 10, 20];
const STEPS: usize = 75;
/// Steps at the end over which the stretch is averaged.
const LATE: usize = 25;
const SIDE: f64 = 2.0;
const PBD: &str = "position based";
const PD: &str = "projective";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "cloth_iterations",
        about: "Stretch of a hanging cloth of 19,360 edges against iterations (figure 4)",
    },
    run,
    metrics: &[
        ("pbd_spread", |p| spread(&p.values(2, PBD))),
        ("projective_spread", |p| spread(&p.values(2, PD))),
    ],
};

/// The largest over the smallest.
fn spread(values: &[f64]) -> f64 {
    largest(values) / -largest(&values.iter().map(|v| -v).collect::<Vec<_>>())
}

/// A vertical cloth held by its upper corners.
fn cloth(cells: usize, solver: SolverKind, iterations: u32) -> Result<Simulation, Failure> {
    let mut body = Body::new("cloth", shapes::sheet(SIDE, SIDE, cells, cells)?).solved_by(solver);
    body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
    body.clusters = Clustering::None;
    body.controls.edge_stiffness = 200.0;
    body.controls.damping = 2.0;
    body.controls.iterations = iterations;
    Ok(Builder::new().substeps(1).body(body.pin([0, cells as u32])).build()?)
}

/// Mean stretch of the edges, rest is 0.
fn stretch(s: &Simulation) -> f64 {
    let (topology, rest) =
        (s.model().bodies()[0].parts.topology(), &s.model().bodies()[0].parts.rest().positions);
    let ratio = |&[i, j]: &[u32; 2]| {
        let (i, j) = (i as usize, j as usize);
        (s.state().bodies()[0].positions().get(i) - s.state().bodies()[0].positions().get(j)).length()
            / (rest.get(i) - rest.get(j)).length()
            - 1.0
    };
    topology.edges.iter().map(ratio).sum::<f64>() / topology.edges.len() as f64
}

fn run() -> Result<Plot, Failure> {
    let mut panels = Vec::new();
    let mut ends =
        Panel::new("Stretch at the end", "iterations in each step", "mean stretch of edges (%)").x_log();
    let mut pictures = Vec::new();
    for (title, name, solver) in
        [("Position based", PBD, SolverKind::Pbd), ("Projective", PD, SolverKind::Projective)]
    {
        let mut panel = Panel::new(title, "time (s)", "mean stretch of edges (%)");
        let mut points = Vec::new();
        let mut first = Vec::new();
        for iterations in COUNTS {
            let mut simulation = cloth(CELLS, solver, iterations)?;
            let series = sample(&mut simulation, STEPS, |s| 100.0 * stretch(s))?;
            let values: Vec<f64> = series.iter().map(|p| p.1).collect();
            points.push((f64::from(iterations), mean(tail(&values, LATE))));
            panel = panel.line(format!("{iterations} iterations"), Style::Solid, series);
            if iterations == COUNTS[0] {
                first = places(&simulation);
            } else if iterations == COUNTS[3] {
                let last = places(&simulation);
                // Every other particle is enough for a picture.
                let half = CELLS as u32 / 2;
                let finer = |i: u32| i % (half + 1) * 2 + i / (half + 1) * 2 * (CELLS as u32 + 1);
                let triangles = shapes::sheet(SIDE, SIDE, CELLS / 2, CELLS / 2)?.triangles;
                let triangles: Vec<[u32; 3]> = triangles.iter().map(|t| t.map(finer)).collect();
                let off = 100.0 * apart(&first, &last) / SIDE;
                // Side by side, at one scale.
                let both: Vec<DVec3> =
                    first.iter().copied().chain(last.iter().map(|p| *p + DVec3::X * 1.25 * SIDE)).collect();
                let n = first.len() as u32;
                let all: Vec<[u32; 3]> =
                    triangles.iter().copied().chain(triangles.iter().map(|t| t.map(|i| i + n))).collect();
                let heading = format!("{title}: {} and {} iterations", COUNTS[0], COUNTS[3]);
                let note = format!("{off:.1} % of the side apart, root mean square");
                pictures.push(Panel::faces(heading, note, seen(DVec3::new(0.15, 0.1, 1.0), &both, &all, 0)));
            }
        }
        ends = ends.line(name, Style::Marked, points);
        panels.push(panel);
    }
    panels.push(ends);
    panels.extend(pictures);
    let title =
        "A cloth of 81 × 81 particles (19,683 DoF, 19,360 edges) held by two corners, 60 steps a second";
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cloth_is_as_large_as_the_papers_and_a_small_one_stretches() {
        let shape = shapes::sheet(SIDE, SIDE, CELLS, CELLS).unwrap();
        assert_eq!((3 * shape.points.len(), shape.edges.len()), (19_683, 19_360));
        let mut simulation = cloth(6, SolverKind::Projective, 5).unwrap();
        assert!(stretch(&simulation).abs() < 1e-12);
        sample(&mut simulation, 5, |_| 0.0).unwrap();
        assert!(stretch(&simulation) > 1e-4);
    }
}
