//! Volume preservation: dividing by the cube root of the determinant blows a flattened body up; bounded, it
//! does not, and a dropped cube still keeps its volume better.

use super::{Definition, Failure, Figure};
use crate::fit::best_linear;
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, deformer, grounded, sample, weightless};
use pliant::{Body, Clustering, DVec3, Goals, Simulation};

const FORMULA: &str = "the report's goal, by its formula";
const OURS: &str = "largest extent in 2 s, simulated";
const KEPT: &str = "volume kept";
const FREE: &str = "volume free";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "volume_preservation",
        about: "A flattened cube with volume preserved by formula and with a bound; volume of a dropped cube",
    },
    run,
    metrics: &[
        ("formula_stretch", |p| largest(&p.values(0, FORMULA))),
        ("bounded_stretch", |p| largest(&p.values(0, OURS))),
        ("volume_loss_share", |p| loss(p, KEPT) / loss(p, FREE)),
    ],
};

fn loss(plot: &Plot, name: &str) -> f64 {
    largest(&plot.values(1, name).iter().map(|v| 1.0 - v).collect::<Vec<_>>())
}

fn soft(volume: f64) -> Result<Body, Failure> {
    let mut body = deformer(cube(Clustering::Whole, 0.0)?.goals(Goals::Linear), 0.3, 0.8);
    body.controls.deformation = 0.8;
    body.controls.volume = volume;
    Ok(body)
}

fn run() -> Result<Plot, Failure> {
    let mut flat =
        Panel::new("A cube flattened and let go", "height over rest height", "width over rest width")
            .x_log()
            .y_log();
    let (mut formula, mut ours) = (Vec::new(), Vec::new());
    for k in 0..=12 {
        let height = 10f64.powf(-0.5 * f64::from(k));
        // A = diag(1, s, 1), det A = s: the goal A/∛det A is s^(−1/3) wide.
        formula.push((height, height.powf(-1.0 / 3.0)));
        let mut body = soft(1.0)?;
        body.stretch = DVec3::new(1.0, height, 1.0);
        let mut simulation = weightless(body)?;
        let extents = sample(&mut simulation, 2 * RATE as usize, extent)?;
        ours.push((height, largest(&extents.iter().map(|p| p.1).collect::<Vec<_>>())));
    }
    flat = flat.line(FORMULA, Style::Dashed, formula).line(OURS, Style::Marked, ours);
    let title = "A cube dropped from its own height";
    let mut fall = Panel::new(title, "time (s)", "volume of the best linear map over rest");
    for (name, volume) in [(KEPT, 1.0), (FREE, 0.0)] {
        let body = soft(volume)?.at(0.0, 1.5, 0.0);
        let rest = body.shape.points.clone();
        let mut simulation = grounded(body)?;
        let line = sample(&mut simulation, 3 * RATE as usize, |s| {
            best_linear(&rest, &s.positions(0).collect::<Vec<_>>()).determinant()
        })?;
        fall = fall.line(name, Style::Solid, line);
    }
    let title = "Volume preservation, linear goals, α_s = 0.3, α_f = 0.8, β = 0.8";
    Ok(Plot { panels: vec![flat, fall], ..Plot::new(title) })
}

/// Largest extent along an axis.
fn extent(s: &Simulation) -> f64 {
    let (lo, hi) =
        s.positions(0).fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(lo, hi), p| (lo.min(p), hi.max(p)));
    (hi - lo).max_element()
}
