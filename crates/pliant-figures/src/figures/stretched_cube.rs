//! A cube stretched by 50 %: undamped oscillation of shape matching, and how position-based dynamics
//! stops; with one cluster and with many.

use super::{Definition, Failure, Figure};
use crate::fit::beyond_affine;
use crate::metrics::{head, largest, swing, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, limited, position_based, weightless};
use pliant::{Body, Clustering, DVec3, Simulation};

const SECONDS: usize = 10;
const SECOND: usize = RATE as usize;
const STRETCH: f64 = 0.5;
const ELASTIC: &str = "α = 0.1, γ = 0.3";
const PBD: &str = "position-based (α = 0, γ = 0)";
const MANY: &str = "about 29 clusters";
const ONE: &str = "one cluster";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "stretched_cube",
        about: "Width of a cube stretched by 50 %: oscillating, limited, and position-based",
    },
    run,
    metrics: &[
        ("elastic_swing_kept", |p| {
            let width = p.values(0, ELASTIC);
            swing(tail(&width, SECOND)) / swing(head(&width, SECOND))
        }),
        ("pbd_swing_kept", |p| swing(tail(&p.values(0, PBD), SECOND)) / STRETCH),
        ("local_share", |p| {
            let initial = (STRETCH * STRETCH * 35.0 / 300.0).sqrt();
            (largest(&p.values(2, MANY)) - largest(&p.values(2, ONE))) / initial
        }),
    ],
};

fn settings() -> [(&'static str, f64, f64, Style); 5] {
    [
        (ELASTIC, 0.1, 0.3, Style::Solid),
        ("α = 0.5, γ = 0.3", 0.5, 0.3, Style::Solid),
        ("α = 0.1, γ = 0.1", 0.1, 0.1, Style::Solid),
        ("α = 0, γ = 0.1", 0.0, 0.1, Style::Dashed),
        (PBD, 0.0, 0.0, Style::Dashed),
    ]
}

fn stretched(clusters: Clustering, alpha: f64, gamma: f64) -> Result<Body, Failure> {
    let mut body = cube(clusters, alpha)?;
    body.stretch = DVec3::new(1.0 + STRETCH, 1.0, 1.0);
    // The paper's "3-5 iterations"; the position-based form is the same solver.
    Ok(if alpha == 0.0 && gamma == 0.0 { position_based(body, 5) } else { limited(body, gamma, 5) })
}

/// Distance between the middles of the two end faces: unlike the extent along x, it does not change
/// when the cube turns, which random clusters make it do.
fn width(s: &Simulation) -> f64 {
    let rest = &s.model().bodies()[0].parts.rest().positions;
    let middle = |side: f64| {
        let face = s.positions(0).zip(rest.iter()).filter(|(_, r)| r.x * side > 0.499);
        let (sum, count) = face.fold((DVec3::ZERO, 0.0), |(sum, n), (p, _)| (sum + p, n + 1.0));
        sum / count
    };
    (middle(1.0) - middle(-1.0)).length()
}

fn run() -> Result<Plot, Failure> {
    let mut panels = Vec::new();
    let mut local =
        Panel::new("Part no affine map explains, α = 0.1, γ = 0.3", "time (s)", "RMS distance (m)");
    for (title, name, clusters, view) in [
        ("One cluster, first 2 of 10 s", ONE, Clustering::Whole, 2.0),
        ("About 29 clusters", MANY, Clustering::Count(29), 10.0),
    ] {
        let mut panel = Panel::new(title, "time (s)", "distance of the end faces (m)").view(0.0, view);
        for (label, alpha, gamma, style) in settings() {
            let mut simulation = weightless(stretched(clusters, alpha, gamma)?)?;
            let rest: Vec<DVec3> = simulation.model().bodies()[0].parts.rest().positions.iter().collect();
            let (mut widths, mut beyond) = (Vec::new(), Vec::new());
            for k in 0..=SECONDS * SECOND {
                if k > 0 {
                    simulation.step()?;
                }
                let time = simulation.state().time();
                widths.push((time, width(&simulation)));
                if label == ELASTIC {
                    let now: Vec<DVec3> = simulation.positions(0).collect();
                    beyond.push((time, beyond_affine(&rest, &now)));
                }
            }
            panel = panel.line(label, style, widths);
            if label == ELASTIC {
                local = local.line(name, Style::Solid, beyond);
            }
        }
        panels.push(panel);
    }
    panels.push(local);
    Ok(Plot { panels, ..Plot::new("A cube stretched by 50 % in x, no damping") })
}
