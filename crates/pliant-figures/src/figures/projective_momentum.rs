//! What projective dynamics conserves: linear momentum to rounding, angular momentum up to a loss in
//! proportion to the step, and to stopping early.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, order};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube};
use pliant::{Builder, Clustering, DVec3, Simulation, Stiffness};

const STEPS: usize = 60;
const SUBSTEPS: [u32; 6] = [1, 2, 4, 8, 16, 32];
const CONVERGED: &str = "60 iterations";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "projective_momentum",
        about: "Momenta of a tumbling cube under projective dynamics, against time and step",
    },
    run,
    metrics: &[
        ("linear_drift", |p| {
            let all: Vec<f64> = LINEAR.iter().map(|(name, _)| largest(&p.values(0, name))).collect();
            largest(&all)
        }),
        ("angular_loss", |p| {
            let coarse = p.points(1, CONVERGED).iter().find(|l| l.0 == 1.0 / RATE);
            coarse.map_or(f64::NAN, |l| l.1)
        }),
        ("angular_order", |p| order(p.points(1, CONVERGED))),
    ],
};

const LINEAR: [(&str, u32); 3] = [("1 iteration", 1), ("5 iterations", 5), (CONVERGED, 60)];

/// A cube tumbling at its rest shape, far from the origin.
fn tumbling(substeps: u32, iterations: u32) -> Result<Simulation, Failure> {
    let mut body = cube(Clustering::Count(8), 0.0)?.projective();
    body.velocity = DVec3::new(1.0, -2.0, 0.5);
    body.spin = DVec3::new(0.3, 4.0, -1.0);
    body.controls.stiffness = Stiffness::Frequency(20.0);
    body.controls.iterations = iterations;
    let mut builder = Builder::new().body(body).substeps(substeps);
    builder.gravity = DVec3::ZERO;
    Ok(builder.build()?)
}

/// Angular momentum about the centre of mass.
fn spin(s: &Simulation) -> DVec3 {
    let (mass, state) = (&s.model().bodies()[0].parts.rest().mass, &s.state().bodies()[0]);
    let (x, v) = (state.positions(), state.velocities());
    let total: f64 = mass.iter().sum();
    let center = (0..mass.len()).map(|i| x.get(i) * mass[i]).sum::<DVec3>() / total;
    (0..mass.len()).map(|i| (x.get(i) - center).cross(v.get(i)) * mass[i]).sum()
}

fn run() -> Result<Plot, Failure> {
    let title = "Linear momentum at 60 steps a second";
    let mut linear = Panel::new(title, "step", "change / Σ m ‖v‖").y_log();
    for (name, iterations) in LINEAR {
        let mut simulation = tumbling(1, iterations)?;
        let before = simulation.statistics().momentum;
        let mut points = Vec::new();
        for k in 1..=STEPS {
            simulation.step()?;
            let (mass, v) = (
                &simulation.model().bodies()[0].parts.rest().mass,
                &simulation.state().bodies()[0].velocities(),
            );
            let scale: f64 = mass.iter().zip(v.iter()).map(|(m, v)| m * v.length()).sum();
            points.push((k as f64, (simulation.statistics().momentum - before).length() / scale));
        }
        linear = linear.line(name, Style::Solid, points);
    }

    let title = "Angular momentum lost in one second";
    let mut angular = Panel::new(title, "time step h (s)", "loss over its start").x_log().y_log();
    // The lines coincide; the broken one lies on top to show it.
    for (name, iterations, style) in [(CONVERGED, 60, Style::Marked), ("1 iteration", 1, Style::Dashed)] {
        let mut points = Vec::new();
        for substeps in SUBSTEPS {
            let mut simulation = tumbling(substeps, iterations)?;
            let before = spin(&simulation);
            for _ in 0..STEPS {
                simulation.step()?;
            }
            let loss = (spin(&simulation) - before).length() / before.length();
            points.push((1.0 / RATE / f64::from(substeps), loss));
        }
        angular = angular.line(name, style, points);
    }
    // Through the finest converged point, with slope one.
    if let Some(&(h, loss)) = angular.lines.first().and_then(|l| l.points.last()) {
        angular = angular.line("slope 1", Style::Guide, vec![(h, loss), (1.0 / RATE, loss / h / RATE)]);
    }
    Ok(Plot {
        panels: vec![linear, angular],
        ..Plot::new("A tumbling cube under projective dynamics, 20 Hz, no gravity")
    })
}
