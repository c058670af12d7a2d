//! Figure 9 of the projective-dynamics paper: a thin cylinder pressed from the top, with three bending
//! weights; far beyond the onset of buckling as in the paper, and at the onset, where shell theory says how many waves.

use super::{Definition, Failure, Figure};
use crate::elements::{noise, place, places};
use crate::metrics::{largest, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{GREEN, ORANGE, YELLOW, picture};
use pliant::{
    Acceleration, Body, Builder, ConstraintKind, DVec3, Material, Motion, Pins, Selection, Simulation, shapes,
};
use pliant_cache::render::{Colors, Look, RenderItem};
use std::f64::consts::TAU;

const AROUND: usize = 96;
const ROWS: usize = 40;
const RADIUS: f64 = 0.3;
const HEIGHT: f64 = 0.6;
/// Young's modulus times thickness, N/m.
const MEMBRANE: f64 = 1e4;
/// N m: of a wall of R/300, and ten and a hundred times that.
const BENDING: [f64; 3] = [8.3e-4, 8.3e-3, 8.3e-2];
const PRESSED: f64 = 0.05;
const STEPS: usize = 60;
const WAVES: &str = "waves around";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "buckling",
        about: "A thin cylinder pressed from the top buckles in fewer waves the stiffer it bends (figure 9)",
    },
    run,
    metrics: &[
        ("waves_lost", |p| lost(&p.values(4, WAVES))),
        ("onset_waves_lost", |p| lost(&p.values(ONSET, WAVES))),
        ("buckle_depth", |p| -largest(&p.values(5, DEPTH).iter().map(|v| -v).collect::<Vec<_>>())),
    ],
};
const DEPTH: &str = "depth of the buckles";
/// Panel of the waves at the onset.
const ONSET: usize = 6;
/// Particles around and rows of the cylinders that are watched at the onset: the finest wave along them has six.
const FINE: [usize; 2] = [144, 60];
/// How far they are pressed at most, in critical strains, and in how many steps.
const MOST: f64 = 1.2;
const FINE_STEPS: usize = 48;
/// Out of round by this part of the wall's thickness.
const IMPERFECT: f64 = 0.01;
/// Buckles of this part of the wall's thickness are the onset: ten times what they began with, and far below the
/// thickness, at which they stop growing in proportion.
const BEGUN: f64 = 0.1;

/// The least ratio from one weight to the next.
fn lost(waves: &[f64]) -> f64 {
    smallest(&waves.windows(2).map(|w| w[0] / w[1]).collect::<Vec<_>>())
}

/// Thickness of a wall of this bending stiffness, m.
fn wall(bending: f64) -> f64 {
    (12.0 * bending / MEMBRANE).sqrt()
}

/// Strain at which a perfect cylinder buckles, by shell theory (Lorenz, Timoshenko): 2 √(D / E t) / R.
fn critical(bending: f64) -> f64 {
    2.0 * (bending / MEMBRANE).sqrt() / RADIUS
}

/// An open cylinder of triangles, row after row from the bottom.
fn shell(around: usize, rows: usize) -> shapes::Shape {
    let mut shape = shapes::Shape::default();
    for j in 0..=rows {
        for i in 0..around {
            // Every other row is turned by half a cell: triangles are nearly equilateral.
            let angle = TAU * (i as f64 + 0.5 * (j % 2) as f64) / around as f64;
            let y = HEIGHT * (j as f64 / rows as f64 - 0.5);
            shape.points.push(DVec3::new(RADIUS * angle.cos(), y, RADIUS * angle.sin()));
        }
    }
    let at = |i: usize, j: usize| (j * around + i % around) as u32;
    for j in 0..rows {
        for i in 0..around {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1));
            shape.triangles.extend(if j % 2 == 0 { [[a, c, b], [b, c, d]] } else { [[a, c, d], [a, d, b]] });
        }
    }
    shape.measure = vec![0.0; shape.points.len()];
    for t in &shape.triangles {
        let [a, b, c] = t.map(|i| shape.points[i as usize]);
        t.iter().for_each(|&i| shape.measure[i as usize] += (b - a).cross(c - a).length() / 6.0);
    }
    shape
}

/// A cylinder whose upper rim comes down by a part of its height in so many steps.
fn pressed(shape: shapes::Shape, around: usize, bending: f64, part: f64, steps: usize) -> Builder {
    let rows = shape.points.len() / around - 1;
    let material =
        Material { density: 1000.0, young: MEMBRANE / 1e-3, poisson: 0.0, thickness: 1e-3, damping: 5.0 };
    let mut body = Body::new("cylinder", shape).elastic(material);
    body.constraints =
        vec![ConstraintKind::Strain.of_stiffness(MEMBRANE), ConstraintKind::Bending.of_stiffness(bending)];
    body.controls.iterations = 20;
    let down = DVec3::Y * -part * HEIGHT / (steps as f64 / 60.0);
    for (row, velocity) in [(0, DVec3::ZERO), (rows, down)] {
        let ring = (row * around) as u32..((row + 1) * around) as u32;
        let select = Selection::Particles(ring.collect());
        body.pins.push(Pins {
            name: String::new(),
            select,
            motion: Motion { velocity, ..Motion::REST },
            stiffness: None,
        });
    }
    let mut builder = Builder::new().substeps(1).body(body);
    builder.gravity = DVec3::ZERO;
    builder
}

/// The paper's experiment.
fn cylinder(around: usize, rows: usize, bending: f64) -> Result<Simulation, Failure> {
    let mut simulation = pressed(shell(around, rows), around, bending, PRESSED, STEPS).build()?;
    // Walls that are not quite round let it choose its waves.
    let ends = around..rows * around;
    place(&mut simulation, |i, p| if ends.contains(&i) { p + p.with_y(0.0) * 1e-3 * noise(i) } else { p })?;
    Ok(simulation)
}

/// What is seen of the onset.
struct Onset {
    /// Size of the buckles over the wall's thickness, against the load over the critical one.
    growth: Vec<(f64, f64)>,
    /// Power in each number of waves around when buckles have begun.
    power: Vec<f64>,
}

/// Presses a cylinder that was built a little out of round, step by converged step, until buckles have begun.
///
/// The imperfection belongs to the rest shape. One that is only a displacement, as in the paper's experiment above, is
/// straightened by the first converged steps, and what then buckles has grown from rounding.
fn onset([around, rows]: [usize; 2], bending: f64) -> Result<Onset, Failure> {
    let mut shape = shell(around, rows);
    let inner = around..rows * around;
    for (i, p) in shape.points.iter_mut().enumerate().filter(|(i, _)| inner.contains(i)) {
        *p += p.with_y(0.0).normalize_or_zero() * IMPERFECT * wall(bending) * noise(i);
    }
    let mut builder = pressed(shape, around, bending, MOST * critical(bending), FINE_STEPS);
    builder.implicit.acceleration = Acceleration::LBfgs;
    builder.bodies.iter_mut().for_each(|b| b.controls.iterations = 80);
    let mut simulation = builder.build()?;
    let built = places(&simulation);
    let (mut growth, mut power) = (Vec::new(), Vec::new());
    for step in 1..=FINE_STEPS {
        simulation.step()?;
        // Radial displacements alone, on a round wall: what it was built with is no buckle.
        let out = |p: &DVec3| p.with_y(0.0).length();
        let grown: Vec<DVec3> = places(&simulation)
            .iter()
            .zip(&built)
            .map(|(p, q)| q.with_y(0.0).normalize_or_zero() * (RADIUS + out(p) - out(q)))
            .collect();
        power = spectrum(&grown, around);
        let mean_square = 2.0 * power.iter().sum::<f64>() / (around * around * (rows + 1)) as f64;
        let size = mean_square.sqrt() / wall(bending);
        growth.push((MOST * step as f64 / FINE_STEPS as f64, size));
        if size >= BEGUN {
            return Ok(Onset { growth, power });
        }
    }
    // Nothing buckled: there is no number of waves.
    power.fill(f64::NAN);
    Ok(Onset { growth, power })
}

/// Three panels of the onset: waves against bending, growth against load, and spectra.
fn onsets() -> Result<[Panel; 3], Failure> {
    let mut growth =
        Panel::new("Growth of the buckles", "load over the critical one", "size of buckles / wall").y_log();
    let mut spectra = Panel::new("Waves at the onset", "waves around", "share of the power");
    let mut count = Vec::new();
    for bending in BENDING {
        let name = format!("bending {bending:.1e} N m");
        let onset = onset(FINE, bending)?;
        let total: f64 = onset.power.iter().sum();
        let share = onset.power.iter().enumerate().skip(1).map(|(m, p)| (m as f64, p / total)).collect();
        growth = growth.line(name.clone(), Style::Marked, onset.growth);
        spectra = spectra.line(name, Style::Solid, share);
        count.push((bending, waves(&onset.power)));
    }
    // Theory has no single number: all waves of Koiter's circle are as near, up to half its diameter.
    let most = |d: f64| (d, 0.5 * (MEMBRANE * RADIUS * RADIUS / d).powf(0.25));
    let most = BENDING.map(most).to_vec();
    let count = Panel::new("Waves at the onset", "bending weight (N m)", "waves around, mean by power")
        .x_log()
        .y_log()
        .line(WAVES, Style::Marked, count)
        .line("most by theory, falls by 1.78 each", Style::Guide, most);
    Ok([count, growth, spectra])
}

/// Power of the radial displacement in each number of waves around, summed over the rows.
fn spectrum(points: &[DVec3], around: usize) -> Vec<f64> {
    let mut power = vec![0.0; around / 3];
    for (j, row) in points.chunks(around).enumerate() {
        for (m, p) in power.iter_mut().enumerate().skip(1) {
            let (mut c, mut s) = (0.0, 0.0);
            for (i, x) in row.iter().enumerate() {
                let angle = TAU * (i as f64 + 0.5 * (j % 2) as f64) / around as f64;
                let off = x.with_y(0.0).length() - RADIUS;
                c += off * (m as f64 * angle).cos();
                s += off * (m as f64 * angle).sin();
            }
            *p += c * c + s * s;
        }
    }
    power
}

/// Number of waves, averaged with their power.
fn waves(power: &[f64]) -> f64 {
    let moment: f64 = power.iter().enumerate().map(|(m, p)| m as f64 * p).sum();
    moment / power.iter().sum::<f64>()
}

fn run() -> Result<Plot, Failure> {
    let triangles = shell(AROUND, ROWS).triangles;
    let mut pictures = Vec::new();
    let mut spectra = Panel::new("Waves in the wall", "waves around", "share of the power");
    let (mut count, mut depth) = (Vec::new(), Vec::new());
    for (bending, color) in BENDING.into_iter().zip([ORANGE, YELLOW, GREEN]) {
        let mut simulation = cylinder(AROUND, ROWS, bending)?;
        for _ in 0..STEPS {
            simulation.step()?;
        }
        let points = places(&simulation);
        let power = spectrum(&points, AROUND);
        let total: f64 = power.iter().sum();
        let name = format!("bending {bending:.1e} N m");
        let share = power.iter().enumerate().skip(1).map(|(m, p)| (m as f64, p / total)).collect();
        spectra = spectra.line(name.clone(), Style::Solid, share);
        count.push((bending, waves(&power)));
        let offs: Vec<f64> =
            points.iter().map(|p| (p.with_y(0.0).length() - RADIUS).abs() / RADIUS).collect();
        depth.push((bending, 100.0 * largest(&offs)));
        let note =
            format!("{:.1} waves around, {:.1} critical strains", waves(&power), PRESSED / critical(bending));
        let colors = Colors::Uniform(color);
        let item = RenderItem::Mesh { positions: &points, triangles: &triangles, colors, look: Look::Cloth };
        pictures.push(Panel::image(name, note, picture(&[item], &points, 20.0, 15.0)));
    }
    let count = Panel::new("Waves", "bending weight (N m)", "waves around, mean by power").x_log().line(
        WAVES,
        Style::Marked,
        count,
    );
    let depth = Panel::new("Depth", "bending weight (N m)", "largest radial displacement / R (%)")
        .x_log()
        .line(DEPTH, Style::Marked, depth);
    let mut panels = pictures;
    panels.extend([spectra, count, depth]);
    panels.extend(onsets()?);
    let title = format!("A thin cylinder of {} triangles pressed by 5 % of its height", triangles.len());
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_counted() {
        let around = 60;
        let mut points = shell(around, 4).points;
        for p in &mut points {
            let off = 1.0 + 0.01 * (7.0 * p.z.atan2(p.x)).cos();
            *p = DVec3::new(p.x * off, p.y, p.z * off);
        }
        assert!((waves(&spectrum(&points, around)) - 7.0).abs() < 1e-6);
        let mut small = cylinder(12, 4, BENDING[2]).unwrap();
        small.step().unwrap();
    }

    #[test]
    fn a_wall_buckles_at_the_critical_load_of_theory() {
        let onset = onset([48, 24], BENDING[2]).unwrap();
        let (load, size) = *onset.growth.last().unwrap();
        assert!(size >= BEGUN && (0.85..1.15).contains(&load), "{load} {size}");
        let before = onset.growth.iter().find(|p| p.0 > 0.7 * load).unwrap().1;
        assert!(before < 0.3 * BEGUN, "nothing is seen before: {before}");
    }
}
