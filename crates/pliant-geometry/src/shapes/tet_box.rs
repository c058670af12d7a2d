//! A box of lattice cells, each cut into tetrahedra that match their neighbours'.

use super::Shape;
use crate::error::positive;
use crate::lattice::MAX_PARTICLES;
use crate::{GeometryError, TetMesh};
use glam::DVec3;

/// How a cell is cut into tetrahedra.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TetStyle {
    /// One large tetrahedron in the middle and four at corners; cells alternate like a chessboard, so that
    /// faces match and no direction is favoured.
    #[default]
    Five,
    /// Six around one space diagonal (Kuhn 1960), all of one shape and the same in every cell.
    Six,
}

/// Corners of a cell are numbered by bits: 1 for +x, 2 for +y, 4 for +z.
const FIVE_EVEN: [[u8; 4]; 5] = [[0, 5, 3, 6], [0, 1, 3, 5], [0, 3, 2, 6], [0, 6, 4, 5], [3, 5, 7, 6]];
const FIVE_ODD: [[u8; 4]; 5] = [[1, 2, 4, 7], [0, 1, 2, 4], [1, 3, 2, 7], [1, 4, 5, 7], [2, 6, 4, 7]];
/// From corner 0 to corner 7 along the axes in every order.
const SIX: [[u8; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

impl TetStyle {
    /// The tetrahedra of the cell at `at`, as cell corners, positively oriented.
    pub(crate) fn cut(self, at: [i32; 3]) -> &'static [[u8; 4]] {
        match self {
            TetStyle::Five if (at[0] ^ at[1] ^ at[2]) & 1 == 0 => &FIVE_EVEN,
            TetStyle::Five => &FIVE_ODD,
            TetStyle::Six => &SIX,
        }
    }
}

/// A box of the given size about the origin, of `cells` along x, y and z. Particles are the corners of the cells,
/// in rows along x, then y, then z; the surface is the boundary of the tetrahedra.
pub fn tet_box(cells: [usize; 3], size: impl Into<DVec3>, style: TetStyle) -> Result<Shape, GeometryError> {
    Ok(Shape::from_tets(&mesh(cells, size.into(), style)?)?.0)
}

fn mesh(cells: [usize; 3], size: DVec3, style: TetStyle) -> Result<TetMesh, GeometryError> {
    for (axis, name) in ["width (x)", "height (y)", "depth (z)"].into_iter().enumerate() {
        positive(name, size[axis])?;
    }
    let [nx, ny, nz] = cells;
    if nx == 0 || ny == 0 || nz == 0 {
        let message = format!("a box of {nx} by {ny} by {nz} cells");
        return Err(GeometryError::new(message, "a box needs at least one cell each way"));
    }
    if cells.iter().map(|&n| n as f64 + 1.0).product::<f64>() > MAX_PARTICLES as f64 {
        return Err(GeometryError::new(
            format!("a box of {nx} by {ny} by {nz} cells has more than {MAX_PARTICLES} particles"),
            "use fewer cells",
        ));
    }
    // From the middle out, so that mirrored particles mirror to the bit.
    let along = |i: usize, axis: usize| {
        let n = cells[axis] as f64;
        (2.0 * i as f64 - n) / (2.0 * n) * size[axis]
    };
    let mut mesh = TetMesh::default();
    for k in 0..=nz {
        for j in 0..=ny {
            mesh.points.extend((0..=nx).map(|i| DVec3::new(along(i, 0), along(j, 1), along(k, 2))));
        }
    }
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let corner = |bits: u8| {
                    let bits = usize::from(bits);
                    let (x, y, z) = (i + (bits & 1), j + (bits >> 1 & 1), k + (bits >> 2));
                    ((z * (ny + 1) + y) * (nx + 1) + x) as u32
                };
                let cut = style.cut([i as i32, j as i32, k as i32]);
                mesh.tetrahedra.extend(cut.iter().map(|t| t.map(corner)));
            }
        }
    }
    Ok(mesh)
}
