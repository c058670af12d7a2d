//! Particles in a bear: as a lattice, jittered and as blue noise, with the distances between them.

use super::{Definition, Failure, Figure};
use crate::metrics::{distribution, largest, smallest};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, GREEN, ORANGE, PINK, picture};
use pliant::DVec3;
use pliant_cache::render::{Colors, RenderItem};
use pliant_geometry::shapes::{SolidShape, cuboid, filled};
use pliant_geometry::{FillDensity, FillOptions, FillPattern, KdTree, SplitMix64, TriMesh};
use std::f64::consts::PI;

const LATTICE: &str = "lattice";
const JITTERED: &str = "jittered";
const BLUE: &str = "blue noise";
const COUNT: usize = 2500;
/// For the statistics of pairs, in a cube: many of its particles are far from its sides.
const IN_CUBE: usize = 8000;
/// Panels after the pictures.
const NEAREST: usize = 4;
const PAIRS: usize = 5;
/// Distances of pairs up to this many spacings, in steps of so many.
const REACH: f64 = 3.0;
const STEP: f64 = 0.05;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "filling",
        about: "Particles in a bear as a lattice, jittered and as blue noise, and their distances",
    },
    run,
    metrics: &[
        ("blue_noise_least", |p| smallest(&p.points(NEAREST, BLUE).iter().map(|q| q.0).collect::<Vec<_>>())),
        ("blue_noise_order", |p| {
            let far = p.points(PAIRS, BLUE).iter().filter(|q| q.0 >= 2.0);
            largest(&far.map(|q| (q.1 - 1.0).abs()).collect::<Vec<_>>())
        }),
    ],
};

fn run() -> Result<Plot, Failure> {
    let bear = SolidShape::GummyBear { height: 1.0 }.build(0.03)?.surface;
    let cube = cuboid(DVec3::ONE, 0.1)?.surface;
    let by = |count| FillDensity::Count(count);
    let mut panels = Vec::new();
    let mut nearest = Panel::new(
        "Distance to the nearest particle, in the bear",
        "distance / mean spacing",
        "share of particles with one as near",
    );
    let mut pairs = Panel::new(
        "Pairs at a distance, in a cube, against chance",
        "distance / mean spacing",
        "pair correlation",
    );
    for (name, pattern, color) in [
        (LATTICE, FillPattern::Lattice, BODY),
        (JITTERED, FillPattern::Jittered, ORANGE),
        (BLUE, FillPattern::BlueNoise, GREEN),
    ] {
        let fill =
            |mesh: &TriMesh, count| filled(mesh.clone(), &FillOptions { pattern, by: by(count), seed: 1 });
        let shape = fill(&bear, COUNT)?;
        let spacing = (bear.volume() / shape.points.len() as f64).cbrt();
        let distances: Vec<f64> = nearest_distances(&shape.points).iter().map(|d| d / spacing).collect();
        let title = format!("{name}: {} particles", shape.points.len());
        let note = format!("none nearer than {:.2} of the mean spacing; cut open", distances[0]);
        panels.push(opened(&title, &note, &shape.points, spacing, color));
        let steps = distribution(distances, 400);
        nearest = nearest.line(name, Style::Solid, steps.iter().map(|&(share, d)| (d, share)).collect());
        // A lattice has a few distances only, which would dwarf the others.
        if pattern != FillPattern::Lattice {
            pairs = pairs.line(name, Style::Solid, correlation(&fill(&cube, IN_CUBE)?.points));
        }
    }
    let torn = torn(&bear);
    let shape =
        filled(torn.clone(), &FillOptions { pattern: FillPattern::BlueNoise, by: by(COUNT), seed: 1 })?;
    let spacing = (bear.volume() / shape.points.len() as f64).cbrt();
    let title = format!("{BLUE} in a surface with holes");
    let note = format!(
        "{} of {} triangles removed",
        bear.triangles.len() - torn.triangles.len(),
        bear.triangles.len()
    );
    panels.push(opened(&title, &note, &shape.points, spacing, PINK));
    let pairs = pairs.line("chance", Style::Guide, vec![(0.0, 1.0), (REACH, 1.0)]);
    panels.extend([nearest, pairs]);
    Ok(Plot { panels, ..Plot::new("Filling a bear with particles") })
}

/// The mesh without a tenth of its triangles.
fn torn(mesh: &TriMesh) -> TriMesh {
    let mut rng = SplitMix64::new(17);
    let triangles = mesh.triangles.iter().copied().filter(|_| rng.unit() >= 0.1).collect();
    TriMesh { positions: mesh.positions.clone(), triangles }
}

/// The particles behind the middle plane.
fn opened(title: &str, note: &str, points: &[DVec3], spacing: f64, color: [f32; 3]) -> Panel {
    let behind: Vec<DVec3> = points.iter().copied().filter(|p| p.z <= 0.25 * spacing).collect();
    // Those at the cut stand out.
    let depth = |p: &DVec3| (-p.z / (4.0 * spacing)).clamp(0.0, 0.85) as f32;
    let paler = |p: &DVec3| color.map(|part| part + (0.92 - part) * depth(p));
    let colors: Vec<[f32; 3]> = behind.iter().map(paler).collect();
    let colors = Colors::PerVertex(&colors);
    let item = RenderItem::Points { positions: &behind, radius: 0.42 * spacing, colors };
    Panel::image(title, note, picture(&[item], points, 0.0, 0.0))
}

/// Distance of each point to the nearest other one, from the least.
fn nearest_distances(points: &[DVec3]) -> Vec<f64> {
    let near = |(i, p): (usize, &DVec3)| {
        let others = points.iter().enumerate().filter(|(j, _)| *j != i);
        others.map(|(_, q)| p.distance_squared(*q)).fold(f64::INFINITY, f64::min).sqrt()
    };
    let mut all: Vec<f64> = points.iter().enumerate().map(near).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// Pairs at each distance over how many chance would give, from points of the unit cube far from its sides.
fn correlation(points: &[DVec3]) -> Vec<(f64, f64)> {
    let spacing = (points.len() as f64).cbrt().recip();
    let margin = 0.5 - REACH * spacing;
    let tree = KdTree::new(points);
    let bins = (REACH / STEP).round() as usize;
    let mut count = vec![0.0; bins];
    let mut inner = 0.0;
    for (i, &p) in points.iter().enumerate().filter(|(_, p)| p.abs().max_element() <= margin) {
        inner += 1.0;
        tree.within(p, REACH * spacing, |j| {
            if j != i as u32 {
                let bin = (points[j as usize].distance(p) / spacing / STEP) as usize;
                if let Some(bin) = count.get_mut(bin) {
                    *bin += 1.0;
                }
            }
        });
    }
    let expected = |k: usize| {
        let ball = |r: f64| 4.0 / 3.0 * PI * r.powi(3);
        inner * (ball((k + 1) as f64 * STEP) - ball(k as f64 * STEP))
    };
    count.iter().enumerate().map(|(k, n)| ((k as f64 + 0.5) * STEP, n / expected(k))).collect()
}
