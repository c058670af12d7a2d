//! Section 3.3 of the projective-dynamics paper: convergence with different choices of A and B.

use super::{Definition, Failure, Figure};
use crate::plot::{Panel, Plot, Style};
use pliant::constraints::Differences;
use pliant::{Body, Builder, ConstraintKind, DQuat, DVec3, Material, Simulation, shapes};

/// The error to which convergence is counted.
const GOAL: f64 = 1e-3;
const MOST: u32 = 300;
const MEAN: &str = "minus the mean of the corners";
const VERTEX: &str = "minus one corner";
const IDENTITY: &str = "positions themselves";
const CHOICES: [(&str, Differences); 3] =
    [(MEAN, Differences::Mean), (VERTEX, Differences::Vertex), (IDENTITY, Differences::Identity)];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "differences",
        about: "Convergence with differences of corners and with positions themselves (section 3.3)",
    },
    run,
    metrics: &[
        ("identity_over_mean", |p| needed(p, IDENTITY) / needed(p, MEAN)),
        ("identity_over_vertex", |p| needed(p, IDENTITY) / needed(p, VERTEX)),
    ],
};

/// Iterations to the goal; all that were made if it is not reached, which is a lower bound.
fn needed(plot: &Plot, name: &str) -> f64 {
    let points = plot.points(0, name);
    points.iter().find(|p| p.1 <= GOAL).or(points.last()).map_or(f64::NAN, |p| p.0)
}

/// A bent and twisted bar of tetrahedra that want to be rigid.
fn bar(cells: [usize; 3], differences: Differences, iterations: u32) -> Result<Simulation, Failure> {
    let shape = shapes::tet_box(cells, DVec3::new(1.0, 0.25, 0.25), shapes::TetStyle::Five)?;
    let rubber = Material { density: 1000.0, young: 1e5, poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("bar", shape).elastic(rubber);
    body.constraints = vec![ConstraintKind::Rigid(differences).into()];
    body.controls.iterations = iterations;
    let mut builder = Builder::new().substeps(1).body(body);
    builder.step = 1.0 / 30.0;
    builder.gravity = DVec3::ZERO;
    let mut simulation = builder.build()?;
    let twisted = |p: DVec3| DQuat::from_rotation_x(2.0 * p.x) * (p * DVec3::new(1.3, 1.0, 1.0));
    crate::elements::place(&mut simulation, |_, p| twisted(p))?;
    Ok(simulation)
}

fn run() -> Result<Plot, Failure> {
    let mut errors = Panel::new("Error of one step", "iterations", "(ε − ε*) / (ε₀ − ε*)").x_log().y_log();
    for (name, differences) in CHOICES {
        let points = bar([16, 4, 4], differences, MOST)?.trace_step(Box::new(|| 0.0))?.1;
        let mut line: Vec<_> =
            points.iter().skip(1).filter_map(|p| Some((f64::from(p.iteration), p.relative_error?))).collect();
        if let Some(end) = line.iter().position(|p| p.1 < 1e-10) {
            line.truncate(end + 1);
        }
        errors = errors.line(name, Style::Solid, line);
    }
    let goal = [1.0, f64::from(MOST)].map(|x| (x, GOAL)).to_vec();
    let errors = errors.line("counted to here", Style::Guide, goal);
    let title = "A stretched and twisted bar whose tetrahedra want to be rigid: choices of A and B";
    Ok(Plot { panels: vec![errors], ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_choices_descend() {
        for (name, differences) in CHOICES {
            let mut simulation = bar([4, 1, 1], differences, 10).unwrap();
            let points = simulation.trace_step(Box::new(|| 0.0)).unwrap().1;
            assert!(points.last().unwrap().relative_error.unwrap() < 1.0, "{name}");
        }
    }
}
