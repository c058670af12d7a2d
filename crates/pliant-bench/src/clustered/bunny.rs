//! The paper's bunny: a body that fits into the caches.

use super::{body, build, frame, note, pass};
use crate::timing::{Window, median};
use crate::{Measurement, Options, Run};
use pliant::{Builder, Clustering, Control, DVec3, Isa, Simulation, shapes};
use std::time::Instant;

/// Our own bunny, so that the bench runs anywhere, or the point list given. In file order with "26
/// clusters", ours gets 26 and 6,765 memberships.
fn scene(options: &Options, conserving: bool) -> Result<Simulation, String> {
    let (shape, clusters) = match &options.points {
        Some((points, radius)) => {
            let shape = shapes::from_points(points.clone()).map_err(|e| e.to_string())?;
            (shape, Clustering::Radius(*radius))
        }
        None => {
            let solid = shapes::SolidShape::Bunny { height: 1.0 };
            let spacing = solid.spacing_for_count(2020).map_err(|e| e.to_string())?;
            (solid.build(spacing).map_err(|e| e.to_string())?, Clustering::Count(26))
        }
    };
    let mut bunny = body(shape, clusters);
    bunny.controls.conserve_momentum = conserving;
    build(Builder::new().body(bunny), options.threads.max(1), options)
}

pub(crate) fn bunny(run: &mut Run<'_>) -> Result<(), String> {
    let (options, limits) = (run.options, run.limits);
    let threads = options.threads.max(1);
    let mut simulation = scene(options, false)?;
    let usual = simulation.isa();
    if run.wants("clustered/bunny/pass") {
        // The widest first: it is what users get.
        let mut all: Vec<Isa> = options.isa.map_or_else(|| Isa::available().collect(), |isa| vec![isa]);
        all.reverse();
        for isa in all {
            simulation.set_isa(isa);
            let seconds = Window::SHORT.median_frame(&mut simulation)?;
            run.report(pass("clustered/bunny/pass", &simulation, seconds, threads, limits));
        }
        simulation.set_isa(usual);
    }
    if run.wants("clustered/bunny/frame") {
        let seconds = Window::SHORT.median_frame(&mut simulation)?;
        run.report(frame("clustered/bunny/frame", &simulation, seconds, threads, limits));
    }
    if run.wants("clustered/bunny/conserving") {
        let mut conserving = scene(options, true)?;
        let seconds = Window::SHORT.median_frame(&mut conserving)?;
        run.report(pass("clustered/bunny/conserving", &conserving, seconds, threads, limits));
    }
    if run.wants("clustered/live/change") {
        let value = change(&mut simulation)?;
        run.report(
            Measurement::new("clustered/live/change", (value, "ratio"), simulation.isa().name())
                .on(threads)
                .noted(note(&simulation)),
        );
    }
    Ok(())
}

/// Setting five controls and the step after that, over a step without. The two alternate, so that state
/// and machine are the same for both, and the values hardly differ, so that the motion is too.
fn change(simulation: &mut Simulation) -> Result<f64, String> {
    let mut ratios = Vec::new();
    let start = simulation.state().clone();
    let (mut frames, mut plain, mut changed) = (0u32, Vec::new(), Vec::new());
    // Each round judges for itself: whatever disturbs one as a whole drops out of its quotient.
    for _ in 0..30 {
        plain.clear();
        changed.clear();
        for k in 0..120 {
            let begin = Instant::now();
            if k % 2 == 1 {
                frames += 1;
                set(simulation, 1e-9 * f64::from(frames))?;
            }
            simulation.step().map_err(|e| e.to_string())?;
            let seconds = begin.elapsed().as_secs_f64();
            // The first quarter warms up.
            if k >= 30 {
                if k % 2 == 1 { &mut changed } else { &mut plain }.push(seconds);
            }
        }
        ratios.push(median(&mut changed) / median(&mut plain));
        simulation.set_state(start.clone()).map_err(|e| e.to_string())?;
    }
    Ok(median(&mut ratios))
}

fn set(simulation: &mut Simulation, difference: f64) -> Result<(), String> {
    for (control, value) in [
        (Control::Alpha(0.into()), 0.5),
        (Control::StrainLimit(0.into()), 0.1),
        (Control::Relaxation(0.into()), 1.0),
        (Control::Mass(0.into()), 1.0),
    ] {
        simulation.set(control, value + difference).map_err(|e| e.to_string())?;
    }
    let gravity = DVec3::new(0.0, -9.81 - difference, 0.0);
    simulation.set(Control::Gravity, gravity).map_err(|e| e.to_string())?;
    Ok(())
}
