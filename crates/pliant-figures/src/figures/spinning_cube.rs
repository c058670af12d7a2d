//! Figure 2 of the strain-limiting paper: kinetic energy and angular momentum of a rotating cube,
//! shape matching against position-based dynamics.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, mean, tail};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{RED, picture};
use crate::scenes::{RATE, cube, limited, position_based, sample_statistics, weightless};
use pliant::{Clustering, DVec3};
use pliant_cache::render::{Colors, Image, RenderItem};
use std::f64::consts::TAU;

const STEPS: usize = 600;
/// Steps after which the two cubes are drawn: the start, a quarter and a half of a turn, and a whole one.
const DRAWN: [usize; 4] = [0, SECOND / 4, SECOND / 2, SECOND];
/// The paper has red and blue spheres.
const BLUE: [f32; 3] = [0.08, 0.25, 0.75];
const SECOND: usize = RATE as usize;
const ELASTIC: &str = "shape matching, one cluster";
const MANY: &str = "shape matching, 29 clusters";
const PBD: &str = "position-based, one cluster";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "spinning_cube",
        about: "Kinetic energy and angular momentum of a rotating cube (figure 2)",
    },
    run,
    metrics: &[
        ("elastic_kinetic_kept", |p| mean(tail(&p.values(0, ELASTIC), SECOND))),
        ("elastic_momentum_drift", |p| drift(&p.values(1, ELASTIC))),
        ("many_kinetic_kept", |p| mean(tail(&p.values(0, MANY), SECOND))),
        ("many_momentum_drift", |p| drift(&p.values(1, MANY))),
        ("pbd_kinetic_kept", |p| mean(tail(&p.values(0, PBD), SECOND))),
        ("pbd_momentum_kept", |p| mean(tail(&p.values(1, PBD), SECOND))),
    ],
};

/// Largest distance from the start, which is 1.
fn drift(values: &[f64]) -> f64 {
    largest(&values.iter().map(|v| (v - 1.0).abs()).collect::<Vec<_>>())
}

fn run() -> Result<Plot, Failure> {
    let mut kinetic = Panel::new("Kinetic energy", "time (s)", "share of the start");
    let mut momentum = Panel::new("Angular momentum", "time (s)", "share of the start");
    let mut films = [Vec::new(), Vec::new()];
    let (one, many) = (Clustering::Whole, Clustering::Count(29));
    for (name, clusters, gamma, style) in [
        (ELASTIC, one, 0.3, Style::Solid),
        (PBD, one, 0.0, Style::Solid),
        (MANY, many, 0.3, Style::Dashed),
        ("the same without strain limiting", many, f64::INFINITY, Style::Dashed),
        ("position-based, 29 clusters", many, 0.0, Style::Dashed),
    ] {
        let mut body = cube(clusters, 0.5)?;
        body.spin = DVec3::new(0.0, 0.0, TAU);
        let body = if gamma > 0.0 { limited(body, gamma, 5) } else { position_based(body, 5) };
        let mut simulation = weightless(body)?;
        let start = simulation.statistics();
        let mut film: Vec<Vec<DVec3>> = Vec::new();
        let [k, l] = sample_statistics(&mut simulation, STEPS, |sim, s| {
            if name == ELASTIC || name == PBD {
                film.push(sim.positions(0).collect());
            }
            [s.kinetic / start.kinetic, s.angular_momentum.z / start.angular_momentum.z]
        })?;
        match name {
            ELASTIC => films[0] = film,
            PBD => films[1] = film,
            _ => {}
        }
        kinetic = kinetic.line(name, style, k);
        momentum = momentum.line(name, style, l);
    }
    let title =
        "A cube rotating once a second: shape matching (α = 0.5, γ = 0.3) and position-based (α = γ = 0)";
    let mut panels = vec![kinetic, momentum];
    for step in DRAWN {
        let [red, blue] = films.each_ref().map(|film| film.get(step).map_or(&[][..], Vec::as_slice));
        let what = format!("After {} s", step as f64 / RATE);
        let note = "red: shape matching, blue: position-based; pale: the side that began on the right";
        panels.push(Panel::image(what, note, spheres(red, blue)));
    }
    Ok(Plot { panels, ..Plot::new(title) })
}

/// The particles of both cubes, the first on the left. One side of each is pale, to see how far it has turned.
fn spheres(red: &[DVec3], blue: &[DVec3]) -> Image {
    let aside = |points: &[DVec3], x: f64| points.iter().map(|p| *p + DVec3::X * x).collect::<Vec<_>>();
    let (left, right) = (aside(red, -0.9), aside(blue, 0.9));
    let side = cuboid_side(red.len());
    let pale = |c: [f32; 3]| c.map(|v| 0.5 + 0.5 * v);
    let colors = |c: [f32; 3]| side.iter().map(|s| if *s { pale(c) } else { c }).collect::<Vec<_>>();
    let (reds, blues) = (colors(RED), colors(BLUE));
    let item =
        |positions, colors| RenderItem::Points { positions, radius: 0.08, colors: Colors::PerVertex(colors) };
    // Room for any turn, so that all moments have one scale.
    let corner = |k: usize| DVec3::new([-1.7, 1.7][k & 1], [-0.8, 0.8][k >> 1 & 1], [-0.6, 0.6][k >> 2]);
    let frame: Vec<DVec3> = (0..8).map(corner).collect();
    picture(&[item(&left, &reds), item(&right, &blues)], &frame, 0.0, 12.0)
}

/// Which particles of the cube are on its right.
fn cuboid_side(count: usize) -> Vec<bool> {
    let right = cube(Clustering::Whole, 0.0).map(|b| b.shape.points.iter().map(|p| p.x > 0.499).collect());
    right.ok().filter(|list: &Vec<bool>| list.len() == count).unwrap_or_else(|| vec![false; count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_cubes_are_in_the_picture() {
        let points = pliant::shapes::cuboid(DVec3::ONE, 0.2).unwrap().points;
        let image = spheres(&points, &points);
        let count =
            |red: bool| image.rgb.chunks_exact(3).filter(|p| (p[0] > p[2]) == red && p[0] != p[2]).count();
        assert!(count(true) > 10_000 && count(false) > 10_000, "{} {}", count(true), count(false));
    }
}
