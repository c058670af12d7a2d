//! Figure 9 of the projective-dynamics paper: a thin cylinder pressed from the top, with three bending
//! weights.

use super::{Definition, Failure, Figure};
use crate::elements::{noise, place, places};
use crate::metrics::largest;
use crate::plot::{Panel, Plot, Style};
use crate::view::seen;
use pliant::{Body, Builder, ConstraintKind, DVec3, Material, Motion, Pins, Selection, Simulation, shapes};
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
        // The least loss from one weight to the next.
        ("waves_lost", |p| {
            let w = p.values(4, WAVES);
            -largest(&w.windows(2).map(|w| -w[0] / w[1]).collect::<Vec<_>>())
        }),
        ("buckle_depth", |p| -largest(&p.values(5, DEPTH).iter().map(|v| -v).collect::<Vec<_>>())),
    ],
};
const DEPTH: &str = "depth of the buckles";

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

fn cylinder(around: usize, rows: usize, bending: f64) -> Result<Simulation, Failure> {
    let material =
        Material { density: 1000.0, young: MEMBRANE / 1e-3, poisson: 0.0, thickness: 1e-3, damping: 5.0 };
    let mut body = Body::new("cylinder", shell(around, rows)).elastic(material);
    body.constraints =
        vec![ConstraintKind::Strain.of_stiffness(MEMBRANE), ConstraintKind::Bending.of_stiffness(bending)];
    body.controls.iterations = 20;
    let down = DVec3::Y * -PRESSED * HEIGHT / (STEPS as f64 / 60.0);
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
    let mut simulation = builder.build()?;
    // Walls that are not quite round let it choose its waves.
    let ends = around..rows * around;
    place(&mut simulation, |i, p| if ends.contains(&i) { p + p.with_y(0.0) * 1e-3 * noise(i) } else { p })?;
    Ok(simulation)
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
    for bending in BENDING {
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
        let note = format!("{:.1} waves around", waves(&power));
        pictures.push(Panel::faces(name, note, seen(DVec3::new(0.0, 0.25, 1.0), &points, &triangles, 4)));
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
}
