//! A solver of your own, outside the engine: leapfrog over the engine's constraints, masses and state.
//!
//! ```text
//! cargo run --release -p pliant --example custom_solver
//! ```
//!
//! The trait of the solvers is private: they answer to contacts, edits and tears in the middle of a substep. One more
//! is added in the engine (ARCHITECTURE.md, "Where to add what"). Public is what a solver reads and writes: constraints with
//! energy and gradient, masses, state. So you can move bodies yourself and go on using meshes, statistics and checkpoints;
//! contacts, pins and damping are then up to you. Here the engine's Newton's method tells whether the result is right.

use pliant::constraints::View;
use pliant::model::{BatchScale, BodyModel};
use pliant::{Body, Builder, DVec3, Elasticity, Material, Points, Simulation, SolverKind, shapes};
use std::error::Error;

/// Explicit steps in a frame: stiffer material or smaller elements need more, or it blows up.
const SUBSTEPS: u32 = 32;

/// A bar of jelly, half a metre long, and the particles of the end that is held.
fn bar() -> Result<(Body, Vec<u32>), Box<dyn Error>> {
    let shape = shapes::tet_box([10, 2, 2], DVec3::new(0.5, 0.1, 0.1), shapes::TetStyle::Five)?;
    let held = (0..shape.points.len() as u32).filter(|i| shape.points[*i as usize].x < -0.24).collect();
    let material = Material { damping: 0.0, young: 5e4, ..Material::named("jelly").ok_or("no jelly")? };
    Ok((Body::new("bar", shape).elastic(material), held))
}

/// Adds the forces of all constraints of a body. Their weights are those of a body of unit stiffness; the material scales them.
fn add_forces(body: &BodyModel, material: Elasticity, x: &Points, forces: &mut Points) {
    for batch in body.batches() {
        let scale = match batch.scale {
            BatchScale::Strain => 2.0 * material.mu(),
            BatchScale::Volume => 3.0 * material.lambda(),
            other => unreachable!("the bar has strain and volume, not {other:?}"),
        };
        let view = View { x, state: &[], shared: &[], targets: &[] };
        let mut gradient = Points::zeros(x.len());
        batch.batch.add_gradient(view, &mut gradient);
        for (i, g) in gradient.iter().enumerate() {
            forces.set(i, forces.get(i) - g * (scale * batch.factor));
        }
    }
}

/// Moves the first body on by one step: v += h f/m, x += h v, again and again. The state goes back into the simulation.
fn step(simulation: &mut Simulation, held: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut state = simulation.state().clone();
    let (model, gravity) = (simulation.model(), simulation.controls().gravity());
    let body = &model.bodies()[0];
    let material = simulation.controls().body(body.id).ok_or("the body is gone")?.elasticity();
    let h = model.params().step / f64::from(SUBSTEPS);
    let (mut x, mut v) = (state.bodies()[0].positions().clone(), state.bodies()[0].velocities().clone());
    for _ in 0..SUBSTEPS {
        let mut forces = Points::zeros(x.len());
        add_forces(&body.parts, material, &x, &mut forces);
        for (i, mass) in body.parts.rest().mass.iter().enumerate() {
            let free = !held.contains(&(i as u32));
            v.set(i, if free { v.get(i) + (gravity + forces.get(i) / *mass) * h } else { DVec3::ZERO });
            x.set(i, x.get(i) + v.get(i) * h);
        }
    }
    state.begin_at(state.step() + 1, model);
    for i in 0..x.len() {
        state.bodies_mut()[0].positions_mut().set(i, x.get(i));
        state.bodies_mut()[0].velocities_mut().set(i, v.get(i));
    }
    Ok(simulation.set_state(state)?)
}

/// The lowest point after each of some frames: by us, and by the engine.
fn compare(frames: usize) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    let (body, held) = bar()?;
    let mut ours = Builder::new().body(body.clone()).build()?;
    let mut builder = Builder::new().body(body.solved_by(SolverKind::Newton).pin(held.clone())).substeps(8);
    builder.implicit.implicitness = 0.5; // the midpoint rule, which damps as little as leapfrog does
    let mut newton = builder.build()?;
    let lowest = |s: &Simulation| s.positions(0).map(|p| p.y).fold(f64::MAX, f64::min);
    let frame = |_| {
        step(&mut ours, &held)?;
        newton.step()?;
        Ok([lowest(&ours), lowest(&newton)])
    };
    (0..frames).map(frame).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    for (frame, [ours, newton]) in compare(60)?.into_iter().enumerate().skip(9).step_by(10) {
        println!(
            "frame {:2}: lowest point at {ours:.4} m by us, {newton:.4} m by Newton's method",
            frame + 1
        );
    }
    Ok(())
}

#[test]
fn the_example_agrees_with_newton() {
    let heights = compare(40).expect("the example must run");
    let swing = heights.iter().map(|h| h[1]).fold(f64::MAX, f64::min) + 0.05;
    assert!(swing < -0.03, "it sags visibly: {swing}");
    for (frame, [ours, newton]) in heights.into_iter().enumerate() {
        assert!((ours - newton).abs() < 0.004 * swing.abs(), "frame {frame}: {ours} against {newton}");
    }
}
