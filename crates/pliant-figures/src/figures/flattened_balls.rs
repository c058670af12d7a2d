//! Balls pressed flat between two planes and let go (projective-dynamics, section 7.2 and the video).

use super::{Definition, Failure, Figure};
use crate::elements::{bounds, volume};
use crate::fit::beyond_rigid;
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::view::{boundary, seen};
use pliant::shapes::SolidShape;
use pliant::{Body, Builder, DVec3, HalfSpace, Material, Simulation};

const RADIUS: f64 = 0.25;
const BALLS: usize = 3;
/// Steps of pressing, lying flat, and rest.
const PRESS: usize = 40;
const FLAT: usize = 10;
const FREE: usize = 90;
const SHAPE: &str = "distance from the rest shape";
const VOLUME: &str = "volume";
const HEIGHT: &str = "height";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "flattened_balls",
        about: "Balls pressed flat between two planes and let go (section 7.2)",
    },
    run,
    metrics: &[
        ("flattened_to", |p| -largest(&p.values(0, HEIGHT).iter().map(|v| -v).collect::<Vec<_>>())),
        ("volume_recovered", |p| {
            let all = p.values(0, VOLUME);
            // A run that went through NaN did not recover.
            if largest(&all).is_nan() { f64::NAN } else { tail(&all, 1).first().copied().unwrap_or(f64::NAN) }
        }),
        ("shape_left", |p| {
            let all = p.values(1, SHAPE);
            largest(tail(&all, 1)) / largest(&all)
        }),
    ],
};

/// Where the upper plane is in each step, as a part of the diameter; `None` is away.
fn gap(step: usize) -> Option<f64> {
    match step {
        s if s < PRESS => Some(1.0 - (s + 1) as f64 / PRESS as f64),
        s if s < PRESS + FLAT => Some(0.0),
        _ => None,
    }
}

const GROUND: HalfSpace = HalfSpace { normal: DVec3::Y, offset: 0.0, friction: 0.0, restitution: 0.0 };

/// The plane that presses, so high above the ground.
fn above(gap: f64) -> HalfSpace {
    HalfSpace { normal: DVec3::NEG_Y, offset: -2.0 * RADIUS * gap, ..GROUND }
}

/// Balls side by side on the ground; also their tetrahedra.
fn balls(count: usize, spacing: f64) -> Result<(Simulation, Vec<[u32; 4]>), Failure> {
    let (shape, _) = SolidShape::Ball { radius: RADIUS }.build_tets(spacing)?;
    let (low, _) = bounds(shape.points.iter().copied());
    let tetrahedra = shape.tetrahedra.clone();
    let jelly = Material { density: 1000.0, young: 5e4, poisson: 0.3, thickness: 1.0, damping: 3.0 };
    let mut builder = Builder::new().substeps(1);
    for k in 0..count {
        let x = 2.6 * RADIUS * (k as f64 - 0.5 * (count - 1) as f64);
        builder =
            builder.body(Body::new(format!("ball {k}"), shape.clone()).elastic(jelly).at(x, -low.y, 0.0));
    }
    builder = builder.collider(GROUND).collider(above(1.0));
    // On the ground weight would flatten them a little, and for good.
    builder.gravity = DVec3::ZERO;
    Ok((builder.build()?, tetrahedra))
}

fn run() -> Result<Plot, Failure> {
    let (mut simulation, tetrahedra) = balls(BALLS, 0.07)?;
    let rest: Vec<DVec3> = simulation.positions(0).collect();
    let full = volume(&rest, &tetrahedra);
    let outside = boundary(&tetrahedra);
    let (mut height, mut width) = (Vec::new(), Vec::new());
    let (mut kept, mut off) = (Vec::new(), Vec::new());
    let mut pictures = Vec::new();
    let steps = PRESS + FLAT + FREE;
    for step in 0..steps {
        match gap(step) {
            Some(gap) => simulation.change_collider(1.into(), above(gap))?,
            None if simulation.model().colliders().len() > 1 => simulation.remove_collider(1.into())?,
            None => {}
        }
        simulation.step()?;
        let time = simulation.state().time();
        let points: Vec<DVec3> = simulation.positions(0).collect();
        let (low, high) = bounds(points.iter().copied());
        height.push((time, (high.y - low.y) / (2.0 * RADIUS)));
        width.push((time, (high.x - low.x) / (2.0 * RADIUS)));
        kept.push((time, volume(&points, &tetrahedra) / full));
        off.push((time, beyond_rigid(&rest, &points) / RADIUS));
        let shown = [(PRESS / 2, "half pressed"), (PRESS + FLAT - 1, "flat"), (steps - 1, "let go")];
        if let Some((_, name)) = shown.iter().find(|s| s.0 == step) {
            let mut all = Vec::new();
            for b in 0..BALLS {
                let points: Vec<DVec3> = simulation.positions(b).collect();
                all.extend(seen(DVec3::new(0.0, 0.25, 1.0), &points, &outside, b));
            }
            pictures.push(Panel::faces(*name, format!("{time:.2} s"), all));
        }
    }
    let sizes = Panel::new("Height and volume of a ball", "time (s)", "over rest")
        .line(HEIGHT, Style::Solid, height)
        .line(VOLUME, Style::Dashed, kept);
    let shape =
        Panel::new("Shape", "time (s)", "RMS distance / radius").y_log().line(SHAPE, Style::Solid, off);
    let width = Panel::new("Width of a ball", "time (s)", "over rest").line("width", Style::Solid, width);
    let mut panels = vec![sizes, shape, width];
    panels.extend(pictures);
    let title =
        format!("Balls of {} tetrahedra pressed flat between two planes and let go", tetrahedra.len());
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_ball_survives_being_flat() {
        let (mut simulation, _) = balls(1, 0.2).unwrap();
        for g in [0.5, 0.0, 0.0] {
            simulation.change_collider(1.into(), above(g)).unwrap();
            simulation.step().unwrap();
        }
        assert!(simulation.state().bodies()[0].positions().first_non_finite().is_none());
    }
}
