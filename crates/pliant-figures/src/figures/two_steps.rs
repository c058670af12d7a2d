//! The report makes goals in two steps because "A does not contain any rotational part". A spinning,
//! stretched cube shows whether the blend of both lacks rotation.

use super::{Definition, Failure, Figure};
use crate::fit::{beyond_rigid, turned};
use crate::plot::{Panel, Plot, Style};
use crate::scenes::{RATE, cube, deformer, weightless};
use pliant::{Clustering, DVec3, Goals, Simulation};
use std::f64::consts::TAU;

/// Less than half a turn, beyond which an angle cannot be told from its complement.
const STEPS: usize = 26;
const RIGID: &str = "rigid goals";
const BLEND: &str = "linear, blend";
const TWO: &str = "linear, two steps";

pub const DEFINITION: Definition = Definition {
    figure: Figure { name: "two_steps", about: "Turn and shape of a spinning cube, blend against two steps" },
    run,
    metrics: &[
        ("blend_rotation_missed", |p| missed(p, BLEND)),
        ("two_step_rotation_missed", |p| missed(p, TWO).abs()),
    ],
};

/// The share of its turn a cube did not make.
fn missed(plot: &Plot, name: &str) -> f64 {
    let end = |name: &str| plot.points(0, name).last().map_or(f64::NAN, |p| p.1);
    1.0 - end(name) / end(&due(name))
}

/// The turn its own angular momentum and inertia make: a cube that gets wider turns slower by right.
fn due(name: &str) -> String {
    format!("{name}: angular momentum over inertia")
}

/// Angular velocity about z by angular momentum over inertia.
fn rate(s: &Simulation) -> f64 {
    let (x, v) = (&s.state().bodies()[0].positions(), &s.state().bodies()[0].velocities());
    let n = x.len() as f64;
    let middle = x.iter().sum::<DVec3>() / n;
    let (mut momentum, mut inertia) = (0.0, 0.0);
    for i in 0..x.len() {
        let r = x.get(i) - middle;
        momentum += r.cross(v.get(i)).z;
        inertia += r.x * r.x + r.y * r.y;
    }
    momentum / inertia
}

fn run() -> Result<Plot, Failure> {
    let mut turn = Panel::new("Turn", "time (s)", "angle of the best rigid fit (rad)");
    let mut shape = Panel::new("Deformation", "time (s)", "RMS distance from rigid (m)");
    for (name, goals, two_step, style) in [
        (RIGID, Goals::Rigid, false, Style::Solid),
        (BLEND, Goals::Linear, false, Style::Solid),
        (TWO, Goals::Linear, true, Style::Dashed),
    ] {
        let mut body = deformer(cube(Clustering::Whole, 0.0)?.goals(goals), 0.3, 1.0);
        body.two_step = two_step;
        body.controls.deformation = 0.8;
        body.controls.volume = 0.0;
        body.stretch = DVec3::new(1.2, 0.9, 1.0);
        body.spin = DVec3::new(0.0, 0.0, TAU);
        let rest = body.shape.points.clone();
        let now = |s: &Simulation| s.positions(0).collect::<Vec<_>>();
        let mut simulation = weightless(body)?;
        let (mut angles, mut dues, mut distances) = (vec![(0.0, 0.0)], vec![(0.0, 0.0)], Vec::new());
        let mut angle = 0.0;
        for _ in 0..STEPS {
            // An Euler step goes along the tangent.
            angle += (rate(&simulation) / RATE).atan();
            simulation.step()?;
            let time = simulation.state().time();
            dues.push((time, angle));
            angles.push((time, turned(&rest, &now(&simulation))));
            distances.push((time, beyond_rigid(&rest, &now(&simulation))));
        }
        turn = turn.line(name, style, angles).line(due(name), Style::Guide, dues);
        shape = shape.line(name, style, distances);
    }
    let title = "A stretched cube spinning once a second, deformer, α_s = 0.3, α_f = 1, β = 0.8";
    Ok(Plot { panels: vec![turn, shape], ..Plot::new(title) })
}
