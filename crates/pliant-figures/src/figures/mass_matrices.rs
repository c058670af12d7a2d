//! Lumped against consistent mass (section 8 of the projective-dynamics paper): the same motion of a solid and of a
//! cloth with both.

use super::against_newton::shaken_body;
use super::{Definition, Failure, Figure};
use crate::elements::{apart, bounds, places};
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{GREEN, ORANGE, carried, picture};
use pliant::shapes::{Shape, SolidShape};
use pliant::{
    Body, Builder, ConstraintKind, DQuat, DVec3, MassMatrix, Material, Motion, Pins, Selection, Simulation,
    SolverKind, shapes,
};
use pliant_cache::render::{Colors, Look, RenderItem};
use std::f64::consts::FRAC_PI_2;

const SECONDS: f64 = 2.0;
const RATE: f64 = 60.0;
const ITERATIONS: u32 = 20;
const PARTICLES: usize = 1200;
const CELLS: usize = 24;
const APART: &str = "lumped from consistent";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "mass_matrices",
        about: "A bear and a cloth moved with lumped and with consistent mass (section 8)",
    },
    run,
    metrics: &[
        ("solid_distance", |p| largest(&p.values(0, APART))),
        ("cloth_distance", |p| largest(&p.values(1, APART))),
    ],
};

fn build(body: Body, mass: MassMatrix) -> Result<Simulation, Failure> {
    let mut builder = Builder::new().substeps(1).body(body);
    builder.step = 1.0 / RATE;
    builder.implicit.mass = mass;
    Ok(builder.build()?)
}

/// A cloth on two hooks that are moved to and fro.
fn cloth(cells: usize) -> Result<Body, Failure> {
    let cotton = Material { density: 300.0, young: 2e5, poisson: 0.0, thickness: 1e-3, damping: 0.5 };
    let mut body = Body::new("cloth", shapes::sheet(1.0, 1.0, cells, cells)?).elastic(cotton);
    body.constraints = vec![ConstraintKind::Strain.into(), ConstraintKind::Bending.of_stiffness(1e-3)];
    body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
    body.controls.iterations = ITERATIONS;
    let motion = Motion { sway: DVec3::new(0.0, 0.0, 0.15), frequency: 0.75, ..Motion::REST };
    let select = Selection::Particles(vec![0, cells as u32]);
    body.pins.push(Pins { name: String::new(), select, motion, stiffness: None });
    Ok(body)
}

/// Two motions of a body.
struct Compared {
    /// Their distance over the diagonal, against time.
    apart: Vec<(f64, f64)>,
    /// Both where they are furthest apart.
    shown: [Vec<DVec3>; 2],
}

/// Moves a body with both masses.
fn compare(body: impl Fn() -> Result<Body, Failure>, steps: usize) -> Result<Compared, Failure> {
    let mut lumped = build(body()?, MassMatrix::Lumped)?;
    let mut consistent = build(body()?, MassMatrix::Consistent)?;
    let (low, high) = bounds(lumped.positions(0));
    let mut points = Vec::new();
    let (mut worst, mut shown) = (f64::NEG_INFINITY, [places(&lumped), places(&consistent)]);
    for _ in 0..steps {
        lumped.step()?;
        consistent.step()?;
        let both = [places(&lumped), places(&consistent)];
        let off = apart(&both[0], &both[1]) / (high - low).length();
        points.push((lumped.state().time(), off));
        if off > worst {
            (worst, shown) = (off, both);
        }
    }
    Ok(Compared { apart: points, shown })
}

fn run() -> Result<Plot, Failure> {
    let solid = SolidShape::GummyBear { height: 1.0 };
    let (shape, _) = solid.build_tets(solid.spacing_for_tet_particles(PARTICLES)?)?;
    let steps = (SECONDS * RATE) as usize;
    let bear = |shape: &Shape| shaken_body(shape, SolverKind::Projective, ITERATIONS);
    let bears = compare(|| Ok(bear(&shape)), steps)?;
    let cloths = compare(|| cloth(CELLS), steps)?;
    let panel = |title: &str, points| {
        Panel::new(title, "time (s)", "RMS distance / diagonal").y_log().line(APART, Style::Solid, points)
    };
    let sheet = shapes::sheet(1.0, 1.0, CELLS, CELLS)?.triangles;
    let mut panels =
        vec![panel("Gummy bear, feet shaken", bears.apart), panel("Cloth, hooks shaken", cloths.apart)];
    for (what, both, triangles, look, from) in [
        (
            "bear",
            &bears.shown.map(|b| carried(&shape.skin, &b)),
            shape.surface.triangles.clone(),
            Look::Jelly,
            (20.0, 10.0),
        ),
        ("cloth", &cloths.shown, sheet, Look::Cloth, (35.0, 10.0)),
    ] {
        for ((name, color), positions) in [("lumped", ORANGE), ("consistent", GREEN)].into_iter().zip(both) {
            let colors = Colors::Uniform(color);
            let item = RenderItem::Mesh { positions, triangles: &triangles, colors, look };
            // One frame for both, so that a difference would be seen.
            let image = picture(&[item], &both.concat(), from.0, from.1);
            panels.push(Panel::image(
                format!("The {what}, {name} mass"),
                "where they are furthest apart",
                image,
            ));
        }
    }
    let title = format!(
        "A bear of {} tetrahedra and a cloth of {} triangles with lumped and with consistent mass",
        shape.tetrahedra.len(),
        2 * CELLS * CELLS
    );
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_masses_are_not_the_same() {
        let off = compare(|| cloth(4), 10).unwrap().apart;
        let most = largest(&off.iter().map(|p| p.1).collect::<Vec<_>>());
        assert!(most > 1e-9, "consistent mass does nothing: {most}");
    }
}
