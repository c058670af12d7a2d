//! A bar that swings with something light glued on, and with the same particles held to it one by one: glue leaves the bar as
//! soft as it was.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, swing};
use crate::plot::{Panel, Plot, Style};
use pliant::shapes::{TetStyle, tet_box};
use pliant::{
    Body, BodyFrame, BodyPoint, Builder, Clustering, Coupling, DMat3, DVec3, Material, Simulation,
    SolverKind, Stiffness,
};

const BARE: &str = "nothing on it";
const GLUED: &str = "a button glued on";
const HELD: &str = "each parent held to the button";
const STEPS: usize = 120;
/// Of the button over that of the bar.
const MASS: f64 = 1e-3;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "glue_stiffness",
        about: "A swinging bar with something light glued on, and with its particles held one by one",
    },
    run,
    metrics: &[("changed_by_glue", |p| changed(p, GLUED)), ("changed_by_holding", |p| changed(p, HELD))],
};

/// The largest difference from the bare bar, over how far that swings.
fn changed(plot: &Plot, name: &str) -> f64 {
    let (bare, other) = (plot.values(0, BARE), plot.values(0, name));
    if bare.len() != other.len() {
        return f64::NAN;
    }
    let off: Vec<f64> = bare.iter().zip(&other).map(|(a, b)| (a - b).abs()).collect();
    largest(&off) / swing(&bare)
}

/// A clamped bar of 40 × 5 × 5 cm, and with `button` a light block above its middle that touches nothing.
fn scene(button: bool) -> Result<Simulation, Failure> {
    let shape = tet_box([16, 2, 2], DVec3::new(0.4, 0.05, 0.05), TetStyle::Five)?;
    let clamped = (0_u32..).zip(&shape.points).filter(|(_, p)| p.x < -0.199).map(|(i, _)| i);
    let clamped: Vec<u32> = clamped.collect();
    let rubber = Material { density: 1000.0, young: 4e5, poisson: 0.3, thickness: 1.0, damping: 0.0 };
    let mut bar = Body::new("bar", shape).elastic(rubber).pin(clamped);
    (bar.controls.iterations, bar.controls.damping) = (30, 0.0);
    let mut builder = Builder::new().substeps(4).body(bar.solved_by(SolverKind::Projective));
    if button {
        let block = tet_box([1, 1, 1], DVec3::splat(0.04), TetStyle::Five)?;
        let mut block = Body::new("button", block).mass(MASS).at(-0.1, 0.07, 0.0);
        block.clusters = Clustering::Whole;
        block.controls.stiffness = Stiffness::Alpha(1.0);
        block.controls.damping = 0.0;
        builder = builder.body(block);
    }
    Ok(builder.build()?)
}

/// The parents: all of the bar from a quarter of its length to the next quarter's middle, where it bends.
fn parents(s: &Simulation) -> Vec<(u32, DVec3)> {
    (0_u32..).zip(s.positions(0)).filter(|(_, p)| (-0.176..-0.024).contains(&p.x)).collect()
}

fn frame(body: usize, of: &[(u32, DVec3)], at: DVec3) -> Result<BodyFrame, Failure> {
    let parents: Vec<(u32, f64)> = of.iter().map(|(i, _)| (*i, 1.0)).collect();
    let rest: Vec<DVec3> = of.iter().map(|(_, p)| *p).collect();
    Ok(BodyFrame::new(body, &parents, &rest, (at, DMat3::IDENTITY))?)
}

fn glued() -> Result<Simulation, Failure> {
    let mut s = scene(true)?;
    let on = parents(&s);
    let own: Vec<(u32, DVec3)> = (0_u32..).zip(s.positions(1)).collect();
    let middle = own.iter().map(|(_, p)| *p).sum::<DVec3>() / own.len() as f64;
    s.couple(Coupling::weld(frame(0, &on, middle)?, frame(1, &own, middle)?))?;
    Ok(s)
}

/// The same parents, each held by a stiff spring to its place beside the button.
fn held() -> Result<Simulation, Failure> {
    let mut s = scene(true)?;
    let own: Vec<(u32, DVec3)> = (0_u32..).zip(s.positions(1)).collect();
    for (i, at) in parents(&s) {
        s.couple(Coupling::spring(frame(1, &own, at)?, BodyPoint::particle(0, i), 1e5, 0.0))?;
    }
    Ok(s)
}

/// How far the end of the bar has sunk against time, under its weight from rest.
fn fall(mut s: Simulation) -> Result<Vec<(f64, f64)>, Failure> {
    let tips: Vec<usize> = s.positions(0).enumerate().filter(|(_, p)| p.x > 0.199).map(|(i, _)| i).collect();
    let height = |s: &Simulation| {
        let y: Vec<f64> = s.positions(0).map(|p| p.y).collect();
        tips.iter().map(|i| y[*i]).sum::<f64>() / tips.len() as f64
    };
    let mut line = vec![(0.0, height(&s))];
    for _ in 0..STEPS {
        s.step()?;
        line.push((s.state().time(), height(&s)));
    }
    Ok(line)
}

fn run() -> Result<Plot, Failure> {
    let mut panel = Panel::new("End of a clamped bar under its weight", "time (s)", "height (m)");
    let cases = [
        (BARE, scene(false)?, Style::Solid),
        (GLUED, glued()?, Style::Dashed),
        (HELD, held()?, Style::Solid),
    ];
    for (name, simulation, style) in cases {
        panel = panel.line(name, style, fall(simulation)?);
    }
    Ok(Plot { panels: vec![panel], ..Plot::new("A bar with a thousandth of its mass glued on") })
}
