//! Figure 8 of the projective-dynamics paper: cars that deform as their examples show when they hit a wall.

use super::{Definition, Failure, Figure};
use crate::elements::places;
use crate::fit::displacements;
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::view::{boundary, seen};
use pliant::constraints::ExampleWeights;
use pliant::{Body, Builder, ConstraintKind, DVec3, HalfSpace, Material, Simulation, shapes};
use std::sync::Arc;

const STEPS: usize = 30;
const SPEED: f64 = 6.0;
/// What the examples show.
const EXAMPLES: [&str; 3] = ["squashed", "bent", "sheared"];
const PLAIN: &str = "squashed, but strain instead of the example";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "example_cars",
        about: "Cars that deform as their examples show when they hit a wall (figure 8)",
    },
    run,
    metrics: &[
        // The worst of the three, each at its best.
        ("likeness", |p| {
            let best = EXAMPLES.map(|e| -largest(&p.values(0, e)));
            -largest(&best)
        }),
        ("amount", |p| {
            let most = EXAMPLES.map(|e| -largest(&p.values(1, e)));
            -largest(&most)
        }),
    ],
};

/// A box with a cabin.
fn car(cells: [usize; 3]) -> Result<shapes::Shape, Failure> {
    let mut shape = shapes::tet_box(cells, DVec3::new(1.0, 0.3, 0.45), shapes::TetStyle::Five)?;
    for p in &mut shape.points {
        let roof = (1.0 - (p.x / 0.32).powi(4)).max(0.0);
        p.y += 0.2 * roof * (p.y / 0.15).max(0.0);
    }
    Ok(shape)
}

/// The car as an example has it.
fn example(name: &str, p: DVec3) -> DVec3 {
    match name {
        "squashed" => p * DVec3::new(0.6, 1.35, 1.15),
        "bent" => DVec3::new(0.75 * p.x, p.y + 0.9 * p.x * p.x, p.z),
        _ => DVec3::new(0.85 * p.x + 0.6 * p.y, p.y, p.z),
    }
}

/// A car on its way to the wall x = 0.
fn crash(shape: &shapes::Shape, name: &str, guided: bool) -> Result<Simulation, Failure> {
    let rubber = Material { density: 300.0, young: 1e5, poisson: 0.0, thickness: 1.0, damping: 0.5 };
    let mut body = Body::new(name, shape.clone()).elastic(rubber).at(-0.65, 0.0, 0.0);
    body.velocity = DVec3::X * SPEED;
    let shapes: Arc<[Vec<DVec3>]> = Arc::new([shape.points.iter().map(|p| example(name, *p)).collect()]);
    body.constraints = vec![if guided {
        ConstraintKind::Examples(shapes, ExampleWeights::Common).into()
    } else {
        ConstraintKind::Strain.into()
    }];
    body.controls.iterations = 20;
    let wall = HalfSpace { normal: DVec3::NEG_X, offset: 0.0, friction: 0.0, restitution: 0.0 };
    let mut builder = Builder::new().substeps(1).collider(wall).body(body);
    builder.gravity = DVec3::ZERO;
    Ok(builder.build()?)
}

fn run() -> Result<Plot, Failure> {
    let shape = car([12, 3, 4])?;
    let outside = boundary(&shape.tetrahedra);
    let mut likeness = Panel::new("Likeness to the example", "time (s)", "cosine of both deformations");
    let mut amount = Panel::new("Amount of the example", "time (s)", "1 is the example");
    let (mut pictures, mut shown) = (Vec::new(), Vec::new());
    let cases = EXAMPLES.map(|e| (e, e, true)).into_iter().chain([(PLAIN, EXAMPLES[0], false)]);
    for (k, (line, name, guided)) in cases.enumerate() {
        let goal: Vec<DVec3> = shape.points.iter().map(|p| example(name, *p)).collect();
        let goal_moves = displacements(&shape.points, &goal);
        let mut simulation = crash(&shape, name, guided)?;
        let (mut cosines, mut amounts) = (Vec::new(), Vec::new());
        let mut most = (0.0, places(&simulation));
        for _ in 0..STEPS {
            simulation.step()?;
            let (time, now) = (simulation.state().time(), places(&simulation));
            let moves = displacements(&shape.points, &now);
            let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(p, q)| p.dot(*q)).sum::<f64>();
            let (along, own, all) =
                (dot(&moves, &goal_moves), dot(&moves, &moves), dot(&goal_moves, &goal_moves));
            amounts.push((time, along / all));
            // Before the crash there is no deformation to compare.
            if own > 1e-4 * all {
                cosines.push((time, along / (own * all).sqrt()));
            }
            if along / all > most.0 {
                most = (along / all, now);
            }
        }
        likeness = likeness.line(line, if guided { Style::Solid } else { Style::Dashed }, cosines);
        amount = amount.line(line, if guided { Style::Solid } else { Style::Dashed }, amounts);
        let view = DVec3::new(0.5, 0.35, 1.0);
        let note = format!("at its most: {:.2} of the example", most.0);
        pictures.push(Panel::faces(format!("In the crash: {line}"), note, seen(view, &most.1, &outside, k)));
        if guided {
            shown.push(Panel::faces(format!("Example: {name}"), "", seen(view, &goal, &outside, k)));
        }
    }
    let mut panels = vec![likeness, amount];
    panels.extend(pictures);
    panels.extend(shown.into_iter().take(2));
    let title = "Cars of 720 tetrahedra hit a wall at 6 m/s and deform as their examples show";
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_car_survives_the_crash() {
        let shape = car([4, 1, 2]).unwrap();
        let mut simulation = crash(&shape, "bent", true).unwrap();
        for _ in 0..4 {
            simulation.step().unwrap();
        }
        assert!(simulation.state().bodies()[0].positions().first_non_finite().is_none());
    }
}
