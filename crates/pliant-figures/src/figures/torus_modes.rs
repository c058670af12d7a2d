//! Figure 2 of the deformer's report: a torus hits the ground, and only quadratic goals let it twist and bend.
//! Beside it the gummy bear of figure 4, which every mode makes softer.

use super::{Definition, Failure, Figure};
use crate::fit::{beyond_rigid, displacements};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{GREEN, ORANGE, PINK, jelly};
use crate::scenes::{RATE, deformer, sample};
use pliant::shapes::{Shape, gummy_bear, torus};
use pliant::{Body, Builder, Clustering, DQuat, DVec3, Goals, Simulation};

const MAJOR: f64 = 0.3;
const HEIGHT: f64 = 0.5;
const SECONDS: usize = 6;
const SPACING: f64 = 0.03;
/// Of a substep, and substeps of a step of 1/60 s. The ground pushes particles out one by one, and only those that touch it
/// slow the body down: at one substep the same stiffness is 9 Hz, feet that meet the ground at 3 m/s are pressed flat
/// before the rest has stopped, and the underside of the torus comes out at its top.
const STIFFNESS: f64 = 0.8;
const SUBSTEPS: u32 = 6;
/// Shares β of the goals that deform. Torus: nearly all, as what bends is the goal. Bear: so that its head does not become
/// long.
const TORUS_BETA: f64 = 0.95;
const BEAR_BETA: f64 = 0.7;
/// Heights, m: of the middle of what is dropped, and of the feet of what is set down.
const DROPPED: f64 = 0.7;
const SET_DOWN: f64 = 0.03;
/// Steps after which that is drawn.
const SHOWN: usize = 2 * RATE as usize;
/// Of raspberries.
const GUMMY: [f32; 3] = [0.78, 0.06, 0.16];

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
    let (torus, gummy) = (torus(MAJOR, 0.1, SPACING)?, gummy_bear(HEIGHT, SPACING)?);
    let off = |rest: &[DVec3], now: &[DVec3]| beyond_rigid(rest, now) / HEIGHT;
    let (mut rings, mut bears) = (Vec::new(), Vec::new());
    for goals in Goals::ALL {
        let (line, frames) = dropped(&torus, goals, TORUS_BETA, tilt, DROPPED, warp)?;
        rings.push((goals, most(&line), frames));
        ring = ring.line(goals.name(), Style::Solid, line);
        let (line, frames) = dropped(&gummy, goals, BEAR_BETA, DQuat::IDENTITY, DROPPED, off)?;
        bears.push((goals, most(&line), frames));
        bear = bear.line(goals.name(), Style::Solid, line);
    }
    let title = format!(
        "Dropped from 0.45 m, one cluster, {SUBSTEPS} substeps, α_s = 0.8, α_f = 0.8, β = {TORUS_BETA} and {BEAR_BETA}, \
         volume kept"
    );
    let mut panels = vec![ring, bear];
    // As in figure 4, where nothing is thrown about.
    let lowest = gummy.points.iter().map(|p| p.y).fold(f64::MAX, f64::min);
    let (_, frames) = dropped(&gummy, Goals::Quadratic, BEAR_BETA, DQuat::IDENTITY, SET_DOWN - lowest, off)?;
    let points = frames.get(SHOWN).map_or(&[][..], Vec::as_slice);
    let image = jelly(&gummy, points, points, GUMMY, (20.0, 10.0));
    panels.push(Panel::image("Gummy bear, set down", "quadratic goals, after two seconds", image));
    // Each at its own most deformed moment.
    for (what, shape, framess, from) in
        [("Torus", &torus, &rings, (30.0, 18.0)), ("Gummy bear", &gummy, &bears, (20.0, 10.0))]
    {
        for ((goals, step, frames), color) in framess.iter().zip([ORANGE, GREEN, PINK]) {
            let points = frames.get(*step).map_or(&[][..], Vec::as_slice);
            let image = jelly(shape, points, points, color, from);
            let note = format!("most deformed, {:.2} s", *step as f64 / RATE);
            panels.push(Panel::image(format!("{what}, {} goals", goals.name()), note, image));
        }
    }
    Ok(Plot { panels, ..Plot::new(title) })
}

/// The step with the largest value.
fn most(line: &[(f64, f64)]) -> usize {
    (0..line.len()).max_by(|&a, &b| line[a].1.total_cmp(&line[b].1)).unwrap_or(0)
}

/// Places of all particles, step by step.
type Frames = Vec<Vec<DVec3>>;

/// A measure of one body falling on the ground, against time, and the body itself.
fn dropped(
    shape: &Shape,
    goals: Goals,
    beta: f64,
    rotation: DQuat,
    height: f64,
    measure: impl Fn(&[DVec3], &[DVec3]) -> f64,
) -> Result<(Vec<(f64, f64)>, Frames), Failure> {
    let mut body =
        deformer(Body::new("body", shape.clone()).goals(goals).at(0.0, height, 0.0), STIFFNESS, 0.8);
    body.rotation = rotation;
    body.clusters = Clustering::Whole;
    body.controls.deformation = beta;
    let mut simulation = Builder::new().substeps(SUBSTEPS).ground().body(body).build()?;
    let mut frames = Frames::new();
    let now = |s: &Simulation| {
        let points: Vec<DVec3> = s.positions(0).collect();
        let value = measure(&shape.points, &points);
        frames.push(points);
        value
    };
    let line = sample(&mut simulation, SECONDS * RATE as usize, now)?;
    Ok((line, frames))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_bears_stand_on_feet_that_are_flattened_a_little() -> Result<(), Failure> {
        let bear = gummy_bear(HEIGHT, SPACING)?;
        let lowest = bear.points.iter().map(|p| p.y).fold(f64::MAX, f64::min);
        let feet: Vec<usize> =
            (0..bear.points.len()).filter(|&i| bear.points[i].y < lowest + 0.2 * HEIGHT).collect();
        let thick = |points: &[DVec3]| {
            let heights = feet.iter().map(|&i| points[i].y);
            heights.clone().fold(f64::MIN, f64::max) - heights.fold(f64::MAX, f64::min)
        };
        let off = |rest: &[DVec3], now: &[DVec3]| beyond_rigid(rest, now) / HEIGHT;
        for goals in Goals::ALL {
            let (line, frames) = dropped(&bear, goals, BEAR_BETA, DQuat::IDENTITY, DROPPED, off)?;
            let kept = thick(&frames[most(&line)]) / thick(&bear.points);
            assert!((0.5..1.0).contains(&kept), "{}: {kept} of their thickness", goals.name());
        }
        Ok(())
    }
}
