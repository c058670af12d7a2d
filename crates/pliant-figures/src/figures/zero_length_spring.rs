//! The paper's single mass on a spring of zero rest length: shape matching oscillates, position-based
//! dynamics stops.
//!
//! In this engine: a body of two particles with the same rest position in one cluster. The first is
//! pinned at the origin and 10¹² times heavier, so the cluster's centre, which is the goal of both, is
//! the anchor to twelve digits.

use super::{Definition, Failure, Figure};
use crate::metrics::{head, largest, swing, tail};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{limited, position_based, weightless};
use pliant::shapes::Shape;
use pliant::{Body, Clustering, DVec3, Stiffness};

const STEPS: usize = 300;
const ELASTIC: &str = "shape matching, α = 0.1";
const PBD: &str = "position-based dynamics";
/// The constraint counts as satisfied below this distance, in metres; the start is at 1.
const SATISFIED: f64 = 1e-9;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "zero_length_spring",
        about: "A mass on a spring of zero length: oscillation against standstill",
    },
    run,
    metrics: &[
        ("elastic_swing_kept", |p| {
            let x = p.values(0, ELASTIC);
            swing(tail(&x, STEPS / 5)) / swing(head(&x, STEPS / 5))
        }),
        ("pbd_speed_after_two_satisfied_steps", |p| {
            let (x, speed) = (p.values(0, PBD), p.values(1, PBD));
            // Satisfied in steps k and k + 1: nothing moves from k + 1 on.
            let satisfied = x.windows(2).position(|w| w.iter().all(|x| x.abs() < SATISFIED));
            satisfied.map_or(f64::NAN, |k| largest(speed.get(k + 1..).unwrap_or(&[])) / largest(&speed))
        }),
    ],
};

/// The mass and its anchor, moved by `alpha`.
fn mass(alpha: f64) -> Body {
    let shape = Shape { points: vec![DVec3::ZERO; 2], measure: vec![1e12, 1.0], ..Shape::default() };
    let mut body = Body::new("mass", shape).pin([0]);
    body.clusters = Clustering::Whole;
    body.controls.stiffness = Stiffness::Alpha(alpha);
    body.controls.damping = 0.0;
    limited(body, f64::INFINITY, 0)
}

fn run() -> Result<Plot, Failure> {
    let mut place = Panel::new("Position of the mass, released at 1 m", "step", "x (m)").view(0.0, 120.0);
    let mut speed = Panel::new("Speed of the mass", "step", "speed (m/s)").view(0.0, 120.0);
    for (name, body, style) in [
        (ELASTIC, mass(0.1), Style::Solid),
        ("shape matching, α = 0.02", mass(0.02), Style::Solid),
        (PBD, position_based(mass(0.0), 1), Style::Dashed),
    ] {
        let mut simulation = weightless(body)?;
        let mut state = simulation.state().clone();
        state.bodies_mut()[0].positions_mut().set(1, DVec3::X);
        simulation.set_state(state)?;
        let (mut x, mut v) = (Vec::new(), Vec::new());
        for k in 0..=STEPS {
            if k > 0 {
                simulation.step()?;
            }
            x.push((k as f64, simulation.state().bodies()[0].positions().get(1).x));
            v.push((k as f64, simulation.state().bodies()[0].velocities().get(1).length()));
        }
        place = place.line(name, style, x);
        speed = speed.line(name, style, v);
    }
    Ok(Plot {
        panels: vec![place, speed],
        ..Plot::new("A mass on a spring of zero rest length (first 120 of 300 steps)")
    })
}
