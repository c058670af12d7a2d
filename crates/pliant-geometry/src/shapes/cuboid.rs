//! A box whose outermost particles lie on its faces.

use super::{Shape, TetStyle, tet_box};
use crate::error::positive;
use crate::lattice::{MAX_PARTICLES, lattice_edges, too_many};
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;

/// A box of the given size. Each axis has round(size/spacing) + 1 particles, at least two, so the spacing is
/// adjusted to reach the faces exactly. The surface has a vertex on each particle of the faces.
pub fn cuboid(size: impl Into<DVec3>, spacing: f64) -> Result<Shape, GeometryError> {
    let size = size.into();
    let n = counts(size, spacing)?;
    let step = size / DVec3::new((n[0] - 1) as f64, (n[1] - 1) as f64, (n[2] - 1) as f64);
    let mut shape = Shape::default();
    let mut cells = Vec::with_capacity(n.iter().product());
    // A particle at the rim of an axis stands for half a step of it. From the middle out, so that mirrored
    // particles mirror to the bit.
    let along = |i: usize, axis: usize| (i as f64 - 0.5 * (n[axis] - 1) as f64) * step[axis];
    let share = |i: usize, axis: usize| if i == 0 || i == n[axis] - 1 { 0.5 } else { 1.0 } * step[axis];
    for k in 0..n[2] {
        for j in 0..n[1] {
            for i in 0..n[0] {
                shape.points.push(DVec3::new(along(i, 0), along(j, 1), along(k, 2)));
                shape.measure.push(share(i, 0) * share(j, 1) * share(k, 2));
                cells.push([i as i32, j as i32, k as i32]);
            }
        }
    }
    shape.edges = lattice_edges(&cells);
    (shape.surface, shape.skin) = surface_and_skin(n, &shape.points);
    Ok(shape)
}

/// The same box cut into tetrahedra, five a lattice cell.
pub(super) fn tet_cuboid(size: DVec3, spacing: f64) -> Result<Shape, GeometryError> {
    let n = counts(size, spacing)?;
    let mut shape = tet_box(n.map(|n| n - 1), size, TetStyle::Five)?;
    (shape.surface, shape.skin) = surface_and_skin(n, &shape.points);
    Ok(shape)
}

/// How far beside each edge of the box an extra row of surface vertices runs, in particle steps. It keeps
/// smooth shading from rounding off the edges.
const RIM: f64 = 0.08;

/// The box's surface: a vertex on every outer particle and a row beside every edge, each following the
/// corners of its lattice square by bilinear weights.
fn surface_and_skin(n: [usize; 3], points: &[DVec3]) -> (TriMesh, Skin) {
    // Along each axis the particle before a stop, and how far on it is to the next.
    let stops = n.map(|n| {
        let mut stops: Vec<(usize, f64)> = (0..n).map(|i| (i, 0.0)).collect();
        stops.insert(n - 1, (n - 2, 1.0 - RIM));
        stops.insert(1, (0, RIM));
        stops
    });
    let mut mesh = box_surface([0, 1, 2].map(|axis| stops[axis].len()));
    let mut skin = Skin { offsets: vec![0], ..Skin::default() };
    for p in &mut mesh.positions {
        let at: [(usize, f64); 3] = [0, 1, 2].map(|axis| stops[axis][p[axis] as usize]);
        *p = DVec3::ZERO;
        for corner in 0..8 {
            let mut weight = 1.0;
            let mut index = [0; 3];
            for axis in 0..3 {
                let step = corner >> axis & 1;
                weight *= if step == 1 { at[axis].1 } else { 1.0 - at[axis].1 };
                index[axis] = at[axis].0 + step;
            }
            if weight > 0.0 {
                let particle = (index[2] * n[1] + index[1]) * n[0] + index[0];
                *p += weight * points[particle];
                skin.particles.push(particle as u32);
                skin.weights.push(weight);
            }
        }
        skin.offsets.push(skin.particles.len() as u32);
    }
    (mesh, skin)
}

/// Particles along each axis.
pub(super) fn counts(size: DVec3, spacing: f64) -> Result<[usize; 3], GeometryError> {
    positive("spacing", spacing)?;
    let mut n = [0; 3];
    for (axis, name) in ["width (x)", "height (y)", "depth (z)"].into_iter().enumerate() {
        n[axis] = (positive(name, size[axis])? / spacing).round().clamp(1.0, 1e9) as usize + 1;
    }
    if n.iter().map(|&n| n as f64).product::<f64>() > MAX_PARTICLES as f64 {
        return Err(too_many(DVec3::ZERO, size, spacing));
    }
    Ok(n)
}

/// The boundary of an n-point lattice as triangles, with positions in whole lattice steps.
pub(super) fn box_surface(n: [usize; 3]) -> TriMesh {
    let mut mesh = TriMesh::default();
    let mut vertex = std::collections::BTreeMap::new();
    for k in 0..n[2] {
        for j in 0..n[1] {
            let rim = k == 0 || k == n[2] - 1 || j == 0 || j == n[1] - 1;
            // Inside rows have only their two ends on the boundary.
            let step = if rim { 1 } else { n[0] - 1 };
            for i in (0..n[0]).step_by(step) {
                vertex.insert([i, j, k], mesh.positions.len() as u32);
                mesh.positions.push(DVec3::new(i as f64, j as f64, k as f64));
            }
        }
    }
    for axis in 0..3 {
        let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [0, n[axis] - 1] {
            for j in 0..n[c] - 1 {
                for i in 0..n[b] - 1 {
                    let at = |di: usize, dj: usize| {
                        let mut key = [0; 3];
                        key[axis] = side;
                        key[b] = i + di;
                        key[c] = j + dj;
                        vertex[&key]
                    };
                    let mut quad = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
                    if side == 0 {
                        quad.reverse();
                    }
                    // Diagonals in turn, so that no direction is favoured.
                    let turn = (i + j) % 2;
                    let [p, q, r, s] = std::array::from_fn(|v| quad[(v + turn) % 4]);
                    mesh.triangles.extend([[p, q, r], [p, r, s]]);
                }
            }
        }
    }
    mesh
}
