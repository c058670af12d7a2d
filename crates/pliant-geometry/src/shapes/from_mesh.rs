//! A body from a triangle mesh: filled if it is closed, its own vertices if it is open.

use super::Shape;
use crate::error::all_finite;
use crate::fill::{FillDensity, FillOptions, FillPattern, fill};
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;
use std::collections::BTreeMap;

/// Fills a closed mesh with particles about `spacing` apart; an open one (cloth), or one with no room for a
/// particle, is simulated by its vertices, tied along its edges, each standing for a third of the area around it.
///
/// Vertices in exactly the same place count as one, so seams that an exporter cut open for texture
/// coordinates hold. A mesh turned inside out is turned back. Vertex order is kept.
pub fn from_mesh(mesh: TriMesh, spacing: f64) -> Result<Shape, GeometryError> {
    check(&mesh)?;
    let (welded, vertex_of) = weld(&mesh);
    if !is_closed(&welded) {
        return Ok(of_vertices(mesh, welded, vertex_of));
    }
    let surface = outwards(mesh);
    let filling = FillOptions { pattern: FillPattern::Lattice, by: FillDensity::Spacing(spacing), seed: 0 };
    match fill(&surface, &filling) {
        Ok(filled) => {
            let share = surface.volume() / filled.points.len() as f64;
            Ok(of_particles(surface, filled.points, filled.edges, share))
        }
        // Too small a spacing is a mistake, too large a one leaves the vertices.
        Err(error) if error.message.contains("leaves no particle") => {
            Ok(of_vertices(surface, welded, vertex_of))
        }
        Err(error) => Err(error),
    }
}

/// Fills whatever the mesh winds about at least half a time, in either direction, with particles: closed meshes, ones
/// with holes, soups. Refused if there is no room for a particle; whether a mesh is a body or cloth is for
/// [`has_inside`](crate::has_inside) to say.
///
/// The particles share the volume of a closed mesh, or else the volume of the lattice cells inside.
pub fn filled(mesh: TriMesh, filling: &FillOptions) -> Result<Shape, GeometryError> {
    check(&mesh)?;
    let closed = is_closed(&weld(&mesh).0);
    let surface = if closed { outwards(mesh) } else { mesh };
    let filled = fill(&surface, filling)?;
    let exact = surface.volume() / filled.points.len() as f64;
    // A closed mesh that crosses itself counts some of its volume twice, or against itself.
    let share = if closed && (exact / filled.share - 1.0).abs() < 0.3 { exact } else { filled.share };
    Ok(of_particles(surface, filled.points, filled.edges, share))
}

/// Particles of equal shares, bound to the surface that shows them.
pub(super) fn of_particles(surface: TriMesh, points: Vec<DVec3>, edges: Vec<[u32; 2]>, share: f64) -> Shape {
    Shape {
        measure: vec![share; points.len()],
        skin: Skin::bind_connected(&points, &edges, &surface.positions),
        edges,
        points,
        surface,
        ..Shape::default()
    }
}

/// A thin shell of a mesh, closed or open: particles are its vertices, elements its triangles.
pub fn shell(mesh: TriMesh) -> Result<Shape, GeometryError> {
    check(&mesh)?;
    let surface = if is_closed(&weld(&mesh).0) { outwards(mesh) } else { mesh };
    let (welded, vertex_of) = weld(&surface);
    Ok(of_vertices(surface, welded, vertex_of))
}

pub(crate) fn check(mesh: &TriMesh) -> Result<(), GeometryError> {
    if mesh.positions.is_empty() {
        return Err(GeometryError::new("the mesh has no vertices", "give a mesh with at least one vertex"));
    }
    all_finite("vertex", &mesh.positions)?;
    let count = mesh.positions.len();
    match mesh.triangles.iter().position(|t| t.iter().any(|&i| i as usize >= count)) {
        None => Ok(()),
        Some(t) => Err(GeometryError::new(
            format!("triangle {t} names vertices {:?} but there are {count}", mesh.triangles[t]),
            "vertex indices of triangles count from 0",
        )),
    }
}

/// The mesh with vertices in the same place made one, and for each old vertex its new one.
pub(crate) fn weld(mesh: &TriMesh) -> (TriMesh, Vec<u32>) {
    let mut seen = BTreeMap::new();
    let mut welded = TriMesh::default();
    let mut vertex_of = Vec::with_capacity(mesh.positions.len());
    for &p in &mesh.positions {
        // Adding zero makes −0 and 0 the same place.
        let vertex = *seen.entry((p + 0.0).to_array().map(f64::to_bits)).or_insert_with(|| {
            welded.positions.push(p);
            welded.positions.len() as u32 - 1
        });
        vertex_of.push(vertex);
    }
    let corners = mesh.triangles.iter().map(|t| t.map(|i| vertex_of[i as usize]));
    welded.triangles = corners.filter(|[a, b, c]| a != b && b != c && c != a).collect();
    (welded, vertex_of)
}

/// Whether every edge is walked as often one way as the other: then the mesh bounds a volume.
pub(crate) fn is_closed(mesh: &TriMesh) -> bool {
    let mut walked: BTreeMap<[u32; 2], i32> = BTreeMap::new();
    for &[a, b, c] in &mesh.triangles {
        for [from, to] in [[a, b], [b, c], [c, a]] {
            *walked.entry([from.min(to), from.max(to)]).or_default() += if from < to { 1 } else { -1 };
        }
    }
    !walked.is_empty() && walked.values().all(|&w| w == 0)
}

pub(crate) fn outwards(mut mesh: TriMesh) -> TriMesh {
    if mesh.volume() < 0.0 {
        mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    }
    mesh
}

/// Particles at the welded vertices.
fn of_vertices(surface: TriMesh, welded: TriMesh, vertex_of: Vec<u32>) -> Shape {
    let mut measure = vec![0.0; welded.positions.len()];
    for t in &welded.triangles {
        let [a, b, c] = t.map(|i| welded.positions[i as usize]);
        let third = (b - a).cross(c - a).length() / 6.0;
        t.iter().for_each(|&i| measure[i as usize] += third);
    }
    // A vertex without a face still needs some mass to be simulated: the usual share, or one for bare points.
    let area: f64 = measure.iter().sum();
    let usual = if area > 0.0 { area / measure.len() as f64 } else { 1.0 };
    measure.iter_mut().filter(|m| **m <= 0.0).for_each(|m| *m = usual);
    Shape {
        edges: welded.edges(),
        points: welded.positions,
        measure,
        skin: Skin { particles: vertex_of, ..Skin::identity(surface.positions.len()) },
        surface,
        triangles: welded.triangles,
        ..Shape::default()
    }
}
