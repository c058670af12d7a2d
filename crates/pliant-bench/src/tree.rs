//! A tree whose branches are glued to each other and carry ornaments: what the glue is of a step. And very many points of one body.

use crate::timing::Window;
use crate::{Measurement, Run};
use pliant::shapes::{self, TetStyle};
use pliant::{Body, BodyPoint, Builder, Coupling, DMat3, DVec3, Glue, Material, Simulation, WorldFrame};
use std::time::Duration;

const BRANCHES: usize = 100;
const LENGTH: f64 = 0.5;
const WIDTH: f64 = 0.05;

/// Branches of 200 tetrahedra, two on each, and a ball on every one; the first is held. Branches lie across each other, which
/// nothing minds: bodies do not collide.
fn tree(glued: bool) -> Result<Simulation, String> {
    let say = |e: pliant_geometry::GeometryError| e.to_string();
    let size = DVec3::new(LENGTH, WIDTH, WIDTH);
    let branch = shapes::tet_box([10, 2, 2], size, TetStyle::Five).map_err(say)?;
    let ball = shapes::tet_box([2, 2, 2], DVec3::splat(0.06), TetStyle::Five).map_err(say)?;
    let rubber = Material::named("rubber").ok_or("there is no rubber")?;
    let wood = Material { young: 1e7, density: 500.0, ..rubber };
    let mut builder = Builder::new().wind(3.0, 0.0, 1.0);
    // Where each branch grows from: the tip of its parent, to one side.
    let depth = |k: usize| (k + 1).ilog2() as f64;
    let root = |k: usize| DVec3::new(depth(k) * LENGTH, 2.0, if k.is_multiple_of(2) { 0.02 } else { -0.02 });
    for k in 0..BRANCHES {
        let at = root(k) + DVec3::X * (0.5 * LENGTH);
        let mut body = Body::new(format!("branch {k}"), branch.clone()).elastic(wood).at(at.x, at.y, at.z);
        body.controls.air = 1.2;
        if k == 0 {
            let near = branch.points.iter().enumerate().filter(|(_, p)| p.x < -0.49 * LENGTH);
            body = body.pin(near.map(|(i, _)| i as u32).collect::<Vec<_>>());
        }
        builder = builder.body(body);
    }
    for k in 0..BRANCHES {
        let at = root(k) + DVec3::new(0.7 * LENGTH, -0.08, 0.0);
        let body = Body::new(format!("ornament {k}"), ball.clone()).elastic(wood).at(at.x, at.y, at.z);
        builder = builder.body(body);
    }
    let mut simulation = builder.build().map_err(|e| e.to_string())?;
    if !glued {
        return Ok(simulation);
    }
    let mut couplings = Vec::new();
    for k in 1..2 * BRANCHES {
        let parent = if k < BRANCHES { (k - 1) / 2 } else { k - BRANCHES };
        // Three points that are not on a line hold a body.
        let own: Vec<DVec3> = simulation.positions(k).collect();
        let outer = |p: &DVec3| if k < BRANCHES { p.x } else { -p.y };
        let least = own.iter().map(outer).fold(f64::INFINITY, f64::min);
        let face = (0..own.len() as u32).filter(|i| outer(&own[*i as usize]) < least + 1e-6);
        let face: Vec<u32> = face.collect();
        let mut glue = Glue::default();
        glue.points = Some(vec![face[0], face[2], face[7]]);
        couplings.extend(simulation.find_glue(k, parent, &glue)?.couplings);
    }
    for coupling in couplings {
        simulation.couple(coupling).map_err(|e| e.to_string())?;
    }
    Ok(simulation)
}

pub(crate) fn step(run: &mut Run<'_>) -> Result<(), String> {
    let window = Window { warm: 20, timed: 30, budget: Duration::from_millis(1500) };
    let mut seconds = [0.0; 2];
    for (glued, seconds) in [true, false].into_iter().zip(&mut seconds) {
        *seconds = window.median_frame(&mut tree(glued)?)?;
    }
    let simulation = tree(true)?;
    let share = 1.0 - seconds[1] / seconds[0];
    for (name, value, unit) in
        [("glue/tree/step", seconds[0] * 1e3, "ms"), ("glue/tree/share", share * 1e2, "%")]
    {
        run.report(Measurement::new(name, (value, unit), simulation.isa().name()).noted(format!(
            "{} particles, {} couplings; {:.2} ms without them",
            simulation.model().particle_count(),
            simulation.model().couplings().len(),
            seconds[1] * 1e3
        )));
    }
    Ok(())
}

/// Particles of a block that are tied to places in the world.
const TIED: usize = 1000;

/// A block that many of its particles hold in place, each tied to where it is.
fn held(ties: usize) -> Result<Simulation, String> {
    let shape =
        shapes::tet_box([24, 8, 8], DVec3::new(0.6, 0.2, 0.2), TetStyle::Five).map_err(|e| e.to_string())?;
    let rubber = Material::named("rubber").ok_or("there is no rubber")?;
    let body = Body::new("block", shape).elastic(Material { young: 2e5, ..rubber });
    let at = body.shape.points.clone();
    let tied = (0..at.len()).step_by(2).take(ties);
    let tie = |i: usize| {
        let to = WorldFrame { at: at[i], axes: DMat3::IDENTITY };
        Coupling::joint(BodyPoint::particle(0, i as u32), to)
    };
    let builder = Builder::new().substeps(1).body(body);
    tied.fold(builder, |builder, i| builder.coupling(tie(i))).build().map_err(|e| e.to_string())
}

pub(crate) fn many(run: &mut Run<'_>) -> Result<(), String> {
    let window = Window { warm: 2, timed: 5, budget: Duration::from_millis(500) };
    let mut simulation = held(TIED)?;
    let seconds = window.median_frame(&mut simulation)?;
    let without = window.median_frame(&mut held(0)?)?;
    run.report(Measurement {
        name: "glue/many",
        value: seconds * 1e3,
        unit: "ms",
        threads: 1,
        share_of_limit: None,
        isa: simulation.isa().name(),
        note: format!(
            "{} particles, {TIED} ties of one body; {:.2} ms without them",
            simulation.model().particle_count(),
            without * 1e3
        ),
    });
    Ok(())
}
