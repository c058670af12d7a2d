//! Fine surfaces on coarse bodies: 35,000 vertices on about 2,000 particles, bound in every way there is, twisted.

use super::{Definition, Failure, Figure};
use crate::metrics::{distribution, mean};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, RED, carried, picture};
use pliant::{DQuat, DVec3};
use pliant_cache::render::{Colors, Image, Look, RenderItem};
use pliant_geometry::shapes::{SolidShape, sheet, tets_from_mesh};
use pliant_geometry::{ClusterMethod, ClusterSize, Covering, Shape, Skin, SkinBinding, TriMesh};
use std::f64::consts::PI;

const PARTICLES: &str = "on particles";
const TETRAHEDRA: &str = "on tetrahedra";
const CLUSTERS: &str = "on clusters";
const CLOTH: &str = "quilt on cloth";
/// The panel after the pictures.
const OFF: usize = 5;
/// Half the thickness of the quilt.
const THICK: f64 = 0.025;
/// The distance that is all red.
const RED_AT: f64 = 0.2;

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "skin_binding",
        about: "A fine surface bound to particles, tetrahedra, clusters and cloth of a twisted body",
    },
    run,
    metrics: &[
        ("particles_off", |p| off(p, PARTICLES)),
        ("tetrahedra_over_particles", |p| off(p, TETRAHEDRA) / off(p, PARTICLES)),
        ("clusters_over_particles", |p| off(p, CLUSTERS) / off(p, PARTICLES)),
        ("cloth_off", |p| off(p, CLOTH)),
    ],
};

fn off(plot: &Plot, name: &str) -> f64 {
    mean(&plot.values(OFF, name))
}

/// Half a turn over a body one metre high.
fn twist(p: DVec3) -> DVec3 {
    DQuat::from_rotation_y(PI * p.y) * p
}

fn run() -> Result<Plot, Failure> {
    let bear = SolidShape::GummyBear { height: 1.0 }.build(0.0128)?.surface;
    let (shape, _) = tets_from_mesh(bear.clone(), 0.047)?;
    let spacing = (bear.volume() / shape.points.len() as f64).cbrt();
    let clusters = Covering {
        smooth: true,
        ..Covering::new(ClusterMethod::KMeans, ClusterSize::Count(shape.points.len() / 30 + 1))
    }
    .build(&shape.points)?;
    let moved: Vec<DVec3> = shape.points.iter().map(|&p| twist(p)).collect();
    let wanted: Vec<DVec3> = bear.positions.iter().map(|&p| twist(p)).collect();
    let mut panels = vec![Panel::image(
        "Every vertex twisted exactly",
        "what bindings are compared with",
        body(&bear, &wanted, Colors::Uniform(BODY)),
    )];
    let mut distances = Panel::new(
        "Distance from the exact place",
        "share of vertices",
        "distance / spacing (cloth: / half thickness)",
    )
    .y_log();
    for (name, binding) in [
        (PARTICLES, SkinBinding::Particles),
        (TETRAHEDRA, SkinBinding::Tetrahedra),
        (CLUSTERS, SkinBinding::Clusters),
    ] {
        let skin = Skin::bind_to(binding, &shape, Some(&clusters), &bear.positions)?;
        let got = carried(&skin, &moved);
        let off = from(&got, &wanted, spacing);
        let title = format!("{} vertices {name}", bear.positions.len());
        let on = match binding {
            SkinBinding::Tetrahedra => format!("{} tetrahedra", shape.tetrahedra.len()),
            SkinBinding::Clusters => format!("{} clusters", clusters.len()),
            _ => format!("{} particles", shape.points.len()),
        };
        let note = format!("{on}; off by {:.4} of their spacing on average", mean(&off));
        let colors = colored(&off);
        panels.push(Panel::image(title, note, body(&bear, &got, Colors::PerVertex(&colors))));
        distances = distances.line(name, Style::Solid, distribution(off, 200));
    }
    let (panel, off) = quilt()?;
    panels.push(panel);
    panels.push(distances.line(CLOTH, Style::Solid, distribution(off, 200)));
    Ok(Plot {
        panels,
        ..Plot::new("Fine surfaces bound to coarse bodies, twisted; red where off by a fifth of the spacing")
    })
}

fn from(got: &[DVec3], wanted: &[DVec3], unit: f64) -> Vec<f64> {
    got.iter().zip(wanted).map(|(a, b)| a.distance(*b) / unit).collect()
}

/// Pale where a vertex is in its place, red where it is off.
fn colored(off: &[f64]) -> Vec<[f32; 3]> {
    let mix = |d: &f64| {
        let t = (d / RED_AT).clamp(0.0, 1.0) as f32;
        [0, 1, 2].map(|k| BODY[k] + t * (RED[k] - BODY[k]))
    };
    off.iter().map(mix).collect()
}

fn body(mesh: &TriMesh, positions: &[DVec3], colors: Colors<'_>) -> Image {
    drawn(mesh, positions, colors, (25.0, 10.0))
}

fn drawn(mesh: &TriMesh, positions: &[DVec3], colors: Colors<'_>, from: (f64, f64)) -> Image {
    let item = RenderItem::Mesh { positions, triangles: &mesh.triangles, colors, look: Look::Matte };
    picture(&[item], positions, from.0, from.1)
}

/// A quilt on a cloth, and how far its vertices are from their heights on the exact surface.
fn quilt() -> Result<(Panel, Vec<f64>), Failure> {
    let cloth: Shape = sheet(1.0, 1.0, 44, 44)?;
    let mesh = quilt_mesh(130);
    let skin = Skin::bind_to(SkinBinding::Cloth, &cloth, None, &mesh.positions)?;
    let moved: Vec<DVec3> = cloth.points.iter().map(|&p| helicoid(p)).collect();
    let wanted: Vec<DVec3> = mesh.positions.iter().map(|&p| helicoid(p)).collect();
    let got = carried(&skin, &moved);
    let off = from(&got, &wanted, THICK);
    let title = format!("{} vertices of a {CLOTH}", mesh.positions.len());
    let note = format!(
        "{} particles; off by {:.4} of half its thickness on average",
        cloth.points.len(),
        mean(&off)
    );
    let colors = colored(&off);
    Ok((Panel::image(title, note, drawn(&mesh, &got, Colors::PerVertex(&colors), (20.0, 35.0))), off))
}

/// A sheet in the plane y = 0 twisted about x by half a turn, with heights along its normals.
fn helicoid(p: DVec3) -> DVec3 {
    let (s, c) = (PI * p.x).sin_cos();
    let along = DVec3::new(1.0, p.z * PI * c, -p.z * PI * s);
    let across = DVec3::new(0.0, s, c);
    DVec3::new(p.x, p.z * s, p.z * c) + p.y * across.cross(along).normalize_or(DVec3::Y)
}

/// Top and bottom of a stitched quilt of one square metre, with rounded hems.
fn quilt_mesh(n: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for side in [1.0, -1.0] {
        let first = mesh.positions.len() as u32;
        for k in 0..(n + 1) * (n + 1) {
            let (u, v) = (f64::from(k / (n + 1)) / f64::from(n), f64::from(k % (n + 1)) / f64::from(n));
            let hem = (30.0 * u.min(v).min(1.0 - u).min(1.0 - v)).min(1.0);
            let stitch = 0.75 + 0.25 * (40.0 * u).sin() * (40.0 * v).sin();
            mesh.positions.push(DVec3::new(u - 0.5, side * THICK * hem.sqrt() * stitch, v - 0.5));
        }
        for q in 0..n * n {
            let a = first + q / n * (n + 1) + q % n;
            let b = a + n + 1;
            let two = [[a, a + 1, b + 1], [a, b + 1, b]];
            mesh.triangles.extend(two.map(|[a, b, c]| if side > 0.0 { [a, b, c] } else { [a, c, b] }));
        }
    }
    mesh
}
