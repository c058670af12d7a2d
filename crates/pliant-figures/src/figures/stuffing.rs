//! Isosurface stuffing (Labelle and Shewchuk 2007): a bear of tetrahedra cut open, their angles against the bounds
//! that the paper proves, and how its volume converges.

use super::{Definition, Failure, Figure};
use crate::metrics::{largest, line_fit, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, FlatTriangles, INK, YELLOW, picture, rods};
use pliant::DVec3;
use pliant_geometry::shapes::SolidShape;
use pliant_geometry::{StuffingOptions, TetMesh, TriMesh, stuff};
use std::collections::BTreeSet;

const UNIFORM: &str = "uniform";
const GRADED: &str = "graded inside";
const UNIFORM_ENDS: &str = "uniform, smallest and largest";
const GRADED_ENDS: &str = "graded, smallest and largest";
const ERROR: &str = "bear";
/// Panels after the pictures.
const ANGLES: usize = 2;
const VOLUMES: usize = 3;
/// What the paper proves, in degrees.
const BOUNDS: [f64; 2] = [10.7, 164.8];
/// In the pictures, of a bear one metre high.
const CELL: f64 = 0.032;
const CELLS: [f64; 5] = [0.1, 0.07, 0.05, 0.035, 0.025];

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "stuffing",
        about: "A bear of tetrahedra cut open, uniform and graded, with their angles and volume error",
    },
    run,
    metrics: &[
        ("smallest_dihedral", |p| smallest(&ends(p))),
        ("largest_dihedral", |p| largest(&ends(p))),
        ("volume_order", |p| {
            let points = p.points(VOLUMES, ERROR).iter().map(|q| (q.0.ln(), q.1.ln()));
            line_fit(&points.collect::<Vec<_>>()).0
        }),
        ("finest_volume_error", |p| {
            let finest = p.points(VOLUMES, ERROR).iter().min_by(|a, b| a.0.total_cmp(&b.0));
            finest.map_or(f64::NAN, |q| q.1)
        }),
    ],
};

/// Smallest and largest angles of both meshes; not a number if one has none.
fn ends(plot: &Plot) -> Vec<f64> {
    let ends = |name| plot.points(ANGLES, name).iter().map(|p| p.0).collect::<Vec<_>>();
    let (uniform, graded) = (ends(UNIFORM_ENDS), ends(GRADED_ENDS));
    if uniform.is_empty() || graded.is_empty() { vec![f64::NAN] } else { [uniform, graded].concat() }
}

fn run() -> Result<Plot, Failure> {
    let bear = SolidShape::GummyBear { height: 1.0 }.build(0.015)?.surface;
    let mut angles = Panel::new("Dihedral angles", "angle (degrees)", "share of angles, per degree")
        .y_log()
        .view(0.0, 180.0);
    let mut pictures = Vec::new();
    for (name, marks, height) in [(UNIFORM, UNIFORM_ENDS, 2e-7), (GRADED, GRADED_ENDS, 1e-7)] {
        let graded = name == GRADED;
        let (tets, report) = stuff(&bear, CELL, &StuffingOptions { graded, ..StuffingOptions::default() })?;
        let title = format!("{name}: {} tetrahedra of {} points", report.tetrahedra, report.points);
        let note = format!(
            "{} mm cells, cut open; volume off by {:.2} %",
            1e3 * CELL,
            100.0 * report.volume_error()
        );
        pictures.push(opened(&title, &note, &tets));
        let all = dihedral_angles(&tets);
        angles = angles.line(name, Style::Solid, histogram(&all));
        let ends = [smallest(&all), largest(&all)].map(|angle| (angle, height));
        angles = angles.line(marks, Style::Marked, ends.to_vec());
    }
    for bound in BOUNDS {
        let name = format!("proven bound, {bound}°");
        angles = angles.line(name, Style::Guide, vec![(bound, 1e-7), (bound, 0.3)]);
    }
    let mut errors = Vec::new();
    for cell in CELLS {
        let (_, report) =
            stuff(&bear, cell, &StuffingOptions { graded: true, ..StuffingOptions::default() })?;
        errors.push((cell, report.volume_error().abs()));
    }
    let second = |h: f64| (h, errors[0].1 * (h / CELLS[0]).powi(2));
    let volumes = Panel::new("Volume of the tetrahedra", "cell (m)", "|error| of the volume")
        .x_log()
        .y_log()
        .line("second order", Style::Guide, vec![second(CELLS[0]), second(CELLS[CELLS.len() - 1])])
        .line(ERROR, Style::Marked, errors);
    pictures.extend([angles, volumes]);
    Ok(Plot { panels: pictures, ..Plot::new("Tetrahedra of a bear by isosurface stuffing") })
}

/// The tetrahedra behind the middle plane; what was inside the body is yellow.
fn opened(title: &str, note: &str, tets: &TetMesh) -> Panel {
    let sorted = |mut face: [u32; 3]| {
        face.sort_unstable();
        face
    };
    let outside: BTreeSet<[u32; 3]> = tets.boundary().into_iter().map(sorted).collect();
    let middle = |t: &[u32; 4]| t.iter().map(|&i| tets.points[i as usize].z).sum::<f64>() <= 0.0;
    let behind = TetMesh {
        points: tets.points.clone(),
        tetrahedra: tets.tetrahedra.iter().copied().filter(middle).collect(),
        regions: Vec::new(),
    };
    let triangles = behind.boundary();
    let color = |k: usize| if outside.contains(&sorted(triangles[k])) { BODY } else { YELLOW };
    let facets = FlatTriangles::new(&tets.points, &triangles, color);
    let edges = TriMesh { positions: Vec::new(), triangles: triangles.clone() }.edges();
    let items = [facets.item(), rods(&tets.points, &edges, 0.001, INK)];
    Panel::image(title, note, picture(&items, &tets.points, 18.0, 8.0))
}

/// All angles between two faces of a tetrahedron, in degrees.
fn dihedral_angles(tets: &TetMesh) -> Vec<f64> {
    let mut all = Vec::with_capacity(6 * tets.tetrahedra.len());
    for t in &tets.tetrahedra {
        let p = t.map(|i| tets.points[i as usize]);
        for [a, b, c, d] in
            [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]]
        {
            let along = (p[b] - p[a]).normalize_or_zero();
            // The two other corners, seen along the edge.
            let across = |q: DVec3| (q - p[a]) - along * (q - p[a]).dot(along);
            all.push(across(p[c]).angle_between(across(p[d])).to_degrees());
        }
    }
    all
}

/// Share of the angles in each degree that has any.
fn histogram(angles: &[f64]) -> Vec<(f64, f64)> {
    let mut count = [0usize; 180];
    for angle in angles {
        count[(*angle as usize).min(179)] += 1;
    }
    let shares = count.iter().enumerate().filter(|(_, n)| **n > 0);
    shares.map(|(k, n)| (k as f64 + 0.5, *n as f64 / angles.len() as f64)).collect()
}
