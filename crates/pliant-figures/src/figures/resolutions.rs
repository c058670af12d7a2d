//! Figure 5 of the projective-dynamics paper: the same body at three resolutions, of continuum elements
//! and of plain edges.

use super::{Definition, Failure, Figure};
use crate::elements::{places, settled};
use crate::metrics::{largest, tail};
use crate::plot::{Panel, Plot, Style};
use crate::rendered::{BODY, FlatTriangles, INK, YELLOW, picture, rods};
use crate::view::boundary;
use pliant::constraints::EdgeStrain;
use pliant::{Body, Builder, Clustering, ConstraintKind, DQuat, DVec3, Material, Simulation, shapes};
use std::collections::BTreeSet;
use std::f64::consts::FRAC_PI_2;

/// Cells along the side of the cloth.
const CLOTH: [usize; 3] = [10, 20, 40];
/// Cells through the height of the beam.
const BEAM: [usize; 3] = [4, 6, 8];
/// Long steps to a standstill, and iterations in each.
const STEPS: usize = 40;
const ITERATIONS: u32 = 40;
const TRIANGLES: &str = "triangles";
const EDGES: &str = "edges, one stiffness for each";
const WEIGHTED: &str = "edges, weighted by their share of the area";

pub const DEFINITION: Definition = Definition {
    figure: Figure {
        name: "resolutions",
        about: "A cloth and a beam at three resolutions; edges for contrast (figure 5)",
    },
    run,
    metrics: &[
        ("cloth_spread", |p| ends(p, 0, CLOTH) - 1.0),
        ("beam_spread", |p| ends(p, 1, BEAM) - 1.0),
        ("triangle_stretch_spread", |p| spread(&p.values(2, TRIANGLES)) - 1.0),
        ("edge_stretch_ratio", |p| spread(&p.values(2, EDGES))),
    ],
};

fn spread(values: &[f64]) -> f64 {
    let sizes: Vec<f64> = values.iter().map(|v| v.abs()).collect();
    largest(&sizes) / -largest(&sizes.iter().map(|v| -v).collect::<Vec<_>>())
}

fn named(cells: usize) -> String {
    format!("{cells} cells")
}

/// Deflections at the free end: the largest over the smallest.
fn ends(plot: &Plot, panel: usize, cells: [usize; 3]) -> f64 {
    spread(&cells.map(|n| tail(&plot.values(panel, &named(n)), 1).first().copied().unwrap_or(f64::NAN)))
}

/// Height against length along the middle, from the held to the free end.
fn profile(simulation: &Simulation) -> Vec<(f64, f64)> {
    let rest = &simulation.model().bodies()[0].parts.rest().positions;
    // The particles nearest the middle line in the rest shape, one for each length.
    let middle = rest.iter().map(|p| p.z.abs() + p.y.abs()).fold(f64::MAX, f64::min);
    let now = places(simulation);
    let mut points: Vec<(f64, DVec3, DVec3)> = rest
        .iter()
        .zip(now)
        .filter(|(r, _)| r.z.abs() + r.y.abs() < middle + 1e-9)
        .map(|(r, x)| (r.x, r, x))
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.into_iter().map(|(_, r, x)| (x.x, x.y - r.y)).collect()
}

fn material(density: f64, young: f64, thickness: f64) -> Material {
    Material { density, young, poisson: 0.0, thickness, damping: 0.0 }
}

fn still(mut body: Body) -> Result<Simulation, Failure> {
    body.controls.iterations = ITERATIONS;
    settled(Builder::new().body(body), STEPS)
}

/// A square cloth of a metre, stiff enough to stand out from where its first fifth is clamped.
fn cloth(cells: usize) -> Result<Simulation, Failure> {
    let mut body =
        Body::new("cloth", shapes::sheet(1.0, 1.0, cells, cells)?).elastic(material(500.0, 1e6, 5e-3));
    // Bending as of a sheet of 400 MPa; as stiff in its plane it would take long to find its balance.
    body.constraints =
        vec![ConstraintKind::Strain.of_stiffness(5e3), ConstraintKind::Bending.of_stiffness(4.0)];
    let held: Vec<u32> = (0..body.shape.points.len() as u32)
        .filter(|&i| body.shape.points[i as usize].x < -0.3 + 1e-9)
        .collect();
    still(body.pin(held))
}

fn tets(cells: usize) -> Result<shapes::Shape, Failure> {
    Ok(shapes::tet_box([5 * cells, cells, 2], DVec3::new(1.0, 0.2, 0.1), shapes::TetStyle::Five)?)
}

/// Places and triangles of a body.
type DrawnMesh = (Vec<DVec3>, Vec<[u32; 3]>);

/// A body with the edges of its triangles, all resolutions through one camera.
fn drawn(what: &str, bodies: &[DrawnMesh], from: (f64, f64), color: [f32; 3]) -> Vec<Panel> {
    let frame: Vec<DVec3> = bodies.iter().flat_map(|b| b.0.iter().copied()).collect();
    bodies.iter().map(|(points, triangles)| one(what, points, triangles, &frame, from, color)).collect()
}

fn one(
    what: &str,
    points: &[DVec3],
    triangles: &[[u32; 3]],
    frame: &[DVec3],
    from: (f64, f64),
    color: [f32; 3],
) -> Panel {
    let facets = FlatTriangles::new(points, triangles, |_| color);
    let edges: BTreeSet<[u32; 2]> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| [a.min(b), a.max(b)])
        .collect();
    let edges: Vec<[u32; 2]> = edges.into_iter().collect();
    let image = picture(&[facets.item(), rods(points, &edges, 0.0016, INK)], frame, from.0, from.1);
    Panel::image(format!("{what} of {} triangles", triangles.len()), "at rest, held on the left", image)
}

/// A beam of a metre, a fifth as high, clamped at its end.
fn beam(cells: usize) -> Result<Simulation, Failure> {
    let mut body = Body::new("beam", tets(cells)?).elastic(material(1000.0, 1e6, 1.0));
    body.constraints = vec![ConstraintKind::Strain.into()];
    let held: Vec<u32> = (0..body.shape.points.len() as u32)
        .filter(|&i| body.shape.points[i as usize].x < -0.5 + 1e-9)
        .collect();
    still(body.pin(held))
}

/// How much longer (%) a cloth of a metre and 0.2 kg gets that hangs from its upper edge.
fn hanging(cells: usize, kind: &str) -> Result<f64, Failure> {
    let shape = shapes::sheet(1.0, 1.0, cells, cells)?;
    let edges = shape.edges.clone();
    let mut body = Body::new("cloth", shape).elastic(material(200.0, 2e4, 1e-3));
    body.rotation = DQuat::from_rotation_x(FRAC_PI_2);
    body.constraints = if kind == TRIANGLES { vec![ConstraintKind::Strain.into()] } else { Vec::new() };
    if kind == WEIGHTED {
        body.clusters = Clustering::None;
        body.controls.edge_stiffness = 20.0;
    }
    body.controls.iterations = ITERATIONS;
    let mut builder = Builder::new().body(body.pin(0..=cells as u32));
    if kind == EDGES {
        // Together as stiff as 20 N/m over the area with the coarsest mesh.
        let coarsest = shapes::sheet(1.0, 1.0, CLOTH[0], CLOTH[0])?.edges.len();
        let weights = vec![20.0 / coarsest as f64; edges.len()];
        builder = builder.constraint(move |rest| EdgeStrain::lengths(&edges, rest, &weights));
    }
    let simulation = settled(builder, STEPS)?;
    let lower = places(&simulation).split_off(cells * (cells + 1));
    let middle = lower.iter().map(|p| p.y).sum::<f64>() / lower.len() as f64;
    Ok(100.0 * (-0.5 - middle))
}

fn run() -> Result<Plot, Failure> {
    let mut panels = vec![
        Panel::new("Clamped cloth of triangles with bending", "length (m)", "deflection (m)"),
        Panel::new("Clamped beam of tetrahedra", "length (m)", "deflection (m)"),
    ];
    let (mut cloths, mut beams) = (Vec::new(), Vec::new());
    for (k, cells) in CLOTH.into_iter().enumerate() {
        let cloth = cloth(cells)?;
        let triangles = shapes::sheet(1.0, 1.0, cells, cells)?.triangles;
        cloths.push((places(&cloth), triangles));
        let line = profile(&cloth);
        panels[0] = std::mem::take(&mut panels[0]).line(named(cells), style(k), line);
    }
    for (k, cells) in BEAM.into_iter().enumerate() {
        let beam = beam(cells)?;
        let outside = boundary(&tets(cells)?.tetrahedra);
        beams.push((places(&beam), outside));
        let line = profile(&beam);
        panels[1] = std::mem::take(&mut panels[1]).line(named(cells), style(k), line);
    }
    let mut stretch = Panel::new("Hanging cloth", "cells along its side", "longer by (%)").x_log().y_log();
    for kind in [TRIANGLES, WEIGHTED, EDGES] {
        let points: Result<Vec<_>, Failure> =
            CLOTH.into_iter().map(|n| Ok((n as f64, hanging(n, kind)?))).collect();
        stretch = stretch.line(kind, Style::Marked, points?);
    }
    panels.push(stretch);
    panels.extend(drawn("Cloth", &cloths, (35.0, 25.0), BODY));
    panels.extend(drawn("Beam", &beams, (25.0, 15.0), YELLOW));
    Ok(Plot { panels, ..Plot::new("The same bodies at three resolutions, at rest under gravity") })
}

fn style(k: usize) -> Style {
    [Style::Solid, Style::Dashed, Style::Marked][k % 3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_cloth_hangs_longer() {
        assert!(hanging(3, TRIANGLES).unwrap() > 0.1);
        assert!(hanging(3, EDGES).unwrap() > 0.1);
    }
}
