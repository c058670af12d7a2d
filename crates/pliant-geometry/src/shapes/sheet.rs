//! A rectangular piece of cloth.

use super::Shape;
use crate::error::positive;
use crate::lattice::MAX_PARTICLES;
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;

/// A sheet of `cells_x` × `cells_z` cells in the plane y = 0, seen from above. Vertices are in rows along x,
/// row after row along z. Springs are the cell sides and one diagonal a cell; diagonals alternate like a
/// chessboard, so that the cloth is not stiffer one way than the other.
pub fn sheet(width: f64, depth: f64, cells_x: usize, cells_z: usize) -> Result<Shape, GeometryError> {
    positive("width", width)?;
    positive("depth", depth)?;
    if cells_x == 0 || cells_z == 0 {
        return Err(GeometryError::new(
            format!("a sheet of {cells_x} by {cells_z} cells"),
            "a sheet needs at least one cell each way",
        ));
    }
    let count = (cells_x as f64 + 1.0) * (cells_z as f64 + 1.0);
    if count > MAX_PARTICLES as f64 {
        return Err(GeometryError::new(
            format!("a sheet of {cells_x} by {cells_z} cells has more than {MAX_PARTICLES} particles"),
            "use fewer cells",
        ));
    }
    let (nx, nz) = (cells_x + 1, cells_z + 1);
    let step = [width / cells_x as f64, depth / cells_z as f64];
    let along = |i: usize, n: usize, step: f64| (i as f64 - 0.5 * (n - 1) as f64) * step;
    let share = |i: usize, n: usize| if i == 0 || i == n - 1 { 0.5 } else { 1.0 };
    let mut shape = Shape { skin: Skin::identity(nx * nz), ..Shape::default() };
    for j in 0..nz {
        for i in 0..nx {
            shape.points.push(DVec3::new(along(i, nx, step[0]), 0.0, along(j, nz, step[1])));
            shape.measure.push(share(i, nx) * share(j, nz) * step[0] * step[1]);
        }
    }
    let mut triangles = Vec::with_capacity(2 * cells_x * cells_z);
    for j in 0..cells_z {
        for i in 0..cells_x {
            let a = (j * nx + i) as u32;
            let (b, c, d) = (a + nx as u32, a + nx as u32 + 1, a + 1);
            triangles.extend(if (i + j) % 2 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] });
        }
    }
    shape.triangles = triangles.clone();
    shape.surface = TriMesh { positions: shape.points.clone(), triangles };
    shape.edges = shape.surface.edges();
    Ok(shape)
}
