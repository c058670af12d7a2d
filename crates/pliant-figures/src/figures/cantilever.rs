//! A clamped beam of tetrahedra under its weight against beam theory: the weights of strain constraints
//! mean Young's modulus.

use super::{Definition, Failure, Figure};
use crate::elements::balance;
use crate::metrics::order;
use crate::plot::{Panel, Plot, Style};
use pliant::{Body, ConstraintKind, DVec3, Material, Simulation, shapes};

/// Cells through the height; ten times as many along.
const CELLS: [usize; 3] = [4, 8, 12];
const LENGTH: f64 = 1.0;
const HEIGHT: f64 = 0.1;
const WIDTH: f64 = 0.05;
const DENSITY: f64 = 1000.0;
const GRAVITY: f64 = 9.81;
/// A thousandth of the length: the small-deflection limit.
const DEFLECTION: f64 = 1e-3;
const TIP: &str = "tetrahedra";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "cantilever",
        about: "A clamped beam of tetrahedra under its weight against beam theory, three meshes",
    },
    run,
    metrics: &[
        ("finest_over_theory", |p| p.points(1, TIP).last().map_or(f64::NAN, |t| t.1)),
        ("order", |p| -order(p.points(2, TIP))),
    ],
};

/// Young's modulus with which w = q L⁴/(8 E I) is [`DEFLECTION`]; q = ρ g b h and I = b h³/12.
fn young() -> f64 {
    DENSITY * GRAVITY * 12.0 * LENGTH.powi(4) / (8.0 * HEIGHT.powi(2) * DEFLECTION)
}

/// What shear adds to the deflection, as a part of it: q L²/(2 κ G A) with κ = 5/6 and G = E/2.
fn shear() -> f64 {
    0.8 * (HEIGHT / LENGTH).powi(2)
}

fn beam(cells: usize) -> Result<Simulation, Failure> {
    let size = DVec3::new(LENGTH, HEIGHT, WIDTH);
    let shape = shapes::tet_box([10 * cells, cells, 2], size, shapes::TetStyle::Five)?;
    let material = Material { density: DENSITY, young: young(), poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("beam", shape).elastic(material);
    // With ν = 0 there is nothing to resist but strain.
    body.constraints = vec![ConstraintKind::Strain.into()];
    let clamped: Vec<u32> = (0..body.shape.points.len() as u32)
        .filter(|&i| body.shape.points[i as usize].x < 1e-9 - 0.5 * LENGTH)
        .collect();
    balance(body.pin(clamped), DVec3::Y * -GRAVITY)
}

/// Mean sinking of the particles of each cross-section, against the length, over the theory's at the tip.
fn sinking(simulation: &Simulation, cells: usize) -> Vec<(f64, f64)> {
    let rest = &simulation.model().bodies()[0].parts.rest().positions;
    let mut sums = vec![(0.0, 0.0); 10 * cells + 1];
    for (r, x) in rest.iter().zip(simulation.positions(0)) {
        let section = ((r.x / LENGTH + 0.5) * (10 * cells) as f64).round() as usize;
        sums[section] = (sums[section].0 + r.y - x.y, sums[section].1 + 1.0);
    }
    let along = |k: usize| LENGTH * k as f64 / (10 * cells) as f64;
    sums.iter().enumerate().map(|(k, (sum, n))| (along(k), sum / n / DEFLECTION)).collect()
}

fn run() -> Result<Plot, Failure> {
    let mut profile =
        Panel::new("Sinking along the beam", "distance from the clamp (m)", "sinking / theory's tip");
    let (mut tips, mut errors) = (Vec::new(), Vec::new());
    for cells in CELLS {
        let line = sinking(&beam(cells)?, cells);
        let tip = line.last().map_or(f64::NAN, |p| p.1);
        tips.push((cells as f64, tip));
        errors.push((cells as f64, (1.0 + shear() - tip).abs()));
        profile = profile.line(format!("{cells} cells high: tip {tip:.4}"), Style::Solid, line);
    }
    let theory =
        |x: f64| (x * x * (6.0 * LENGTH * LENGTH - 4.0 * LENGTH * x + x * x)) / (3.0 * LENGTH.powi(4));
    let line = (0..=50).map(|k| f64::from(k) / 50.0 * LENGTH).map(|x| (x, theory(x))).collect();
    profile = profile.line("Euler and Bernoulli", Style::Guide, line);
    let ends = [CELLS[0] as f64, CELLS[2] as f64];
    let tip = Panel::new("Sinking of the tip", "cells through the height", "sinking / q L⁴ (8 E I)⁻¹")
        .line(TIP, Style::Marked, tips)
        .line("Euler and Bernoulli", Style::Guide, ends.map(|n| (n, 1.0)).to_vec())
        .line("with shear (Timoshenko)", Style::Guide, ends.map(|n| (n, 1.0 + shear())).to_vec());
    let first = errors.first().map_or(f64::NAN, |e| e.1);
    let second = ends.map(|n| (n, first * (ends[0] / n).powi(2))).to_vec();
    let error = Panel::new("Distance from theory with shear", "cells through the height", "relative error")
        .x_log()
        .y_log()
        .line(TIP, Style::Marked, errors)
        .line("second order", Style::Guide, second);
    let title = "A clamped beam, 1 m × 0.1 m × 0.05 m, ν = 0, under its weight: tetrahedra and beam theory";
    Ok(Plot { panels: vec![profile, tip, error], ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linear elements are too stiff, never too soft.
    #[test]
    fn a_coarse_beam_sinks_less_than_theory_says() {
        let line = sinking(&beam(1).unwrap(), 1);
        let tip = line.last().unwrap().1;
        assert!(tip > 0.05 && tip < 1.0, "{tip}");
    }
}
