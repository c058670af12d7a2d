//! Figure 7 of the projective-dynamics paper: volume against strain weights of a solid that is stretched
//! or pressed.

use super::{Definition, Failure, Figure};
use crate::elements::{bounds, places, settled, volume};
use crate::plot::{Panel, Plot, Style};
use crate::view::{boundary, seen};
use pliant::constraints::Limits;
use pliant::{Body, Builder, ConstraintKind, DVec3, Material, Simulation, shapes};

/// Weight of volume over that of strain.
const RATIOS: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];
const CELLS: usize = 6;
/// Long steps to a standstill, and iterations in each.
const STEPS: usize = 20;
const ITERATIONS: u32 = 60;
/// Pa.
const STRAIN: f64 = 1e4;
const CASES: [(&str, f64); 2] = [("stretched by 50 %", 1.5), ("pressed by 40 %", 0.6)];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "volume_weights",
        about: "Volume and waist of a stretched and a pressed cube against weights (figure 7)",
    },
    run,
    metrics: &[
        ("volume_change_soft", |p| change(p, 0, |a, b| a.min(b))),
        ("volume_change_stiff", |p| change(p, RATIOS.len() - 1, |a, b| a.max(b))),
        ("waist_ratio", |p| {
            let waist = p.values(1, CASES[0].0);
            if waist.len() == RATIOS.len() { waist[RATIOS.len() - 1] / waist[0] } else { f64::NAN }
        }),
    ],
};

/// |V/V₀ − 1| at one ratio, of both cases; NaN if one is missing.
fn change(plot: &Plot, at: usize, join: fn(f64, f64) -> f64) -> f64 {
    let of = |case: &str| plot.values(0, case).get(at).map_or(f64::NAN, |v| (v - 1.0).abs());
    let (a, b) = (of(CASES[0].0), of(CASES[1].0));
    if a.is_nan() || b.is_nan() { f64::NAN } else { join(a, b) }
}

/// A cube of a metre whose left and right faces are held `stretch` apart.
fn cube(cells: usize, stretch: f64, ratio: f64) -> Result<Simulation, Failure> {
    let shape = shapes::tet_box([cells; 3], DVec3::ONE, shapes::TetStyle::Five)?;
    let jelly = Material { density: 100.0, young: STRAIN, poisson: 0.0, thickness: 1.0, damping: 0.0 };
    let mut body = Body::new("cube", shape).elastic(jelly);
    body.constraints = vec![
        ConstraintKind::Strain.of_stiffness(STRAIN),
        ConstraintKind::Volume(Limits::new([1.0, 1.0])).of_stiffness(ratio * STRAIN),
    ];
    let faces = (0..body.shape.points.len() as u32)
        .filter(|&i| body.shape.points[i as usize].x.abs() > 0.5 - 1e-9)
        .collect::<Vec<_>>();
    // All of it is stretched at the start, which no tetrahedron is turned inside out by; the faces stay.
    body.stretch = DVec3::new(stretch, 1.0, 1.0);
    body = body.pin(faces);
    body.controls.iterations = ITERATIONS;
    let mut builder = Builder::new().body(body);
    builder.gravity = DVec3::ZERO;
    settled(builder, STEPS)
}

/// Width of the section in the middle, rest is 1.
fn waist(simulation: &Simulation) -> f64 {
    let rest = &simulation.model().bodies()[0].parts.rest().positions;
    let middle = rest.iter().zip(simulation.positions(0)).filter(|(r, _)| r.x.abs() < 1e-9);
    let (low, high) = bounds(middle.map(|(_, x)| x));
    0.5 * (high.y - low.y + high.z - low.z)
}

fn run() -> Result<Plot, Failure> {
    let mut volumes = Panel::new("Volume", "weight of volume / weight of strain", "volume over rest").x_log();
    let mut waists =
        Panel::new("Width in the middle", "weight of volume / weight of strain", "width over rest").x_log();
    let shape = shapes::tet_box([CELLS; 3], DVec3::ONE, shapes::TetStyle::Five)?;
    let outside = boundary(&shape.tetrahedra);
    let mut pictures = Vec::new();
    for (case, stretch) in CASES {
        let (mut v, mut w) = (Vec::new(), Vec::new());
        for ratio in RATIOS {
            let simulation = cube(CELLS, stretch, ratio)?;
            let points = places(&simulation);
            v.push((ratio, volume(&points, &shape.tetrahedra)));
            w.push((ratio, waist(&simulation)));
            if ratio == RATIOS[0] || ratio == RATIOS[4] {
                let note = format!("volume : strain = {ratio}");
                let faces = seen(DVec3::new(0.3, 0.35, 1.0), &points, &outside, 2);
                pictures.push(Panel::faces(format!("Cube {case}"), note, faces));
            }
        }
        volumes = volumes.line(case, Style::Marked, v);
        waists = waists.line(case, Style::Marked, w);
    }
    let mut panels = vec![volumes, waists];
    panels.extend(pictures);
    let title =
        "A cube held at two faces, stretched and pressed: strain constraints with more or less of volume";
    Ok(Plot { panels, ..Plot::new(title) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_constraints_keep_more_of_the_volume_of_a_coarse_cube() {
        let tetrahedra = shapes::tet_box([2; 3], DVec3::ONE, shapes::TetStyle::Five).unwrap().tetrahedra;
        let kept = |ratio| volume(&places(&cube(2, 1.5, ratio).unwrap()), &tetrahedra);
        let (free, stiff) = (kept(0.01), kept(10.0));
        assert!(free > stiff && stiff > 0.9, "{free}, {stiff}");
    }
}
