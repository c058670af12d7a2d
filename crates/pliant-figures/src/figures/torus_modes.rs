//! Figure 2 of the deformer's report: a torus hits the ground, and only quadratic goals let it twist and bend.
//! Beside it the gummy bear of figure 4, which every mode makes softer.

use super::{Definition, Failure, Figure};
use crate::fit::{beyond_rigid, displacements};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, deformer, grounded, sample};
use pliant::shapes::{Shape, gummy_bear, torus};
use pliant::{Body, Clustering, DQuat, DVec3, Goals, Simulation};

const MAJOR: f64 = 0.3;
const HEIGHT: f64 = 0.5;
const SECONDS: usize = 6;
/// Stiff enough that bodies of half a metre carry themselves at 60 steps a second; softer ones lie down like
/// dough, whatever their goals.
const STIFFNESS: f64 = 0.8;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "torus_modes",
        about: "A torus and a bear hit the ground with rigid, linear and quadratic goals (the report's figures 2 and 4)",
    },
    run,
    metrics: &[
        ("warp_over_linear", |p| peak(p, 0, Goals::Quadratic) / peak(p, 0, Goals::Linear)),
        ("warp", |p| peak(p, 0, Goals::Quadratic)),
        ("warp_left", |p| {
            let warp = p.values(0, Goals::Quadratic.name());
            largest(tail(&warp, RATE as usize)) / largest(&warp)
        }),
        ("softest_step", |p| {
            let [rigid, linear, quadratic] = Goals::ALL.map(|goals| peak(p, 1, goals));
            // The smaller ratio; `f64::min` would forget NaN.
            -largest(&[-(linear / rigid), -(quadratic / linear)])
        }),
    ],
};

fn peak(plot: &Plot, panel: usize, goals: Goals) -> f64 {
    largest(&plot.values(panel, goals.name()))
}

fn run() -> Result<Plot, Failure> {
    let mut ring =
        Panel::new("Torus, falling tilted", "time (s)", "saddle out of its plane, over its radius");
    let mut bear = Panel::new("Gummy bear", "time (s)", "RMS distance from rigid, over its height");
    let tilt = DQuat::from_rotation_z(0.5) * DQuat::from_rotation_x(0.35);
    for goals in Goals::ALL {
        let line = dropped(torus(MAJOR, 0.1, 0.04)?, goals, tilt, warp)?;
        ring = ring.line(goals.name(), Style::Solid, line);
        let line = dropped(gummy_bear(HEIGHT, 0.04)?, goals, DQuat::IDENTITY, |rest, now| {
            beyond_rigid(rest, now) / HEIGHT
        })?;
        bear = bear.line(goals.name(), Style::Solid, line);
    }
    let title = "Dropped from 0.6 m, one cluster, α_s = 0.8, α_f = 0.8, β = 0.5, volume kept";
    Ok(Plot { panels: vec![ring, bear], ..Plot::new(title) })
}

/// A measure of one body falling on the ground, against time.
fn dropped(
    shape: Shape,
    goals: Goals,
    rotation: DQuat,
    measure: impl Fn(&[DVec3], &[DVec3]) -> f64,
) -> Result<Vec<(f64, f64)>, Failure> {
    let rest = shape.points.clone();
    let mut body = deformer(Body::new("body", shape).goals(goals).at(0.0, 0.8, 0.0), STIFFNESS, 0.8);
    body.rotation = rotation;
    body.clusters = Clustering::Whole;
    body.controls.deformation = 0.5;
    let mut simulation = grounded(body)?;
    let now = |s: &Simulation| measure(&rest, &s.positions(0).collect::<Vec<_>>());
    sample(&mut simulation, SECONDS * RATE as usize, now)
}

/// Amplitude of the displacement cos 2θ along the axis of the ring, over its radius: a ring bent about a
/// diameter or twisted like a crisp. Linear maps give cos θ at most.
fn warp(rest: &[DVec3], now: &[DVec3]) -> f64 {
    let (mut a, mut b) = (0.0, 0.0);
    for (r, d) in rest.iter().zip(displacements(rest, now)) {
        let angle = 2.0 * r.z.atan2(r.x);
        a += 2.0 * d.y * angle.cos();
        b += 2.0 * d.y * angle.sin();
    }
    a.hypot(b) / rest.len() as f64 / MAJOR
}
