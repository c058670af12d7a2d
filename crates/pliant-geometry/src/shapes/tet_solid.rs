//! Solids and closed meshes cut into tetrahedra: lattice cells fitted to the surface, which is bound to them.

use super::Shape;
use super::field::Field;
use super::from_mesh::{check, is_closed, outwards, weld};
use crate::lattice::{Lattice, too_few};
use crate::tet_cells::CellBlock;
use crate::winding::Winding;
use crate::{GeometryError, Skin, TriMesh, sdf};
use glam::DVec3;

/// How far a lattice point may move to the surface, in cells: a corner of a cell whose centre is just inside is
/// half a space diagonal away.
const REACH: f64 = 0.87;

impl Field {
    /// Tetrahedra of about `spacing` inside, bound to the surface; and what was left out.
    pub fn tets(&self, spacing: f64) -> Result<(Shape, Vec<String>), GeometryError> {
        let lattice = self.lattice(spacing)?;
        if lattice.len() == 0 {
            return Err(too_few(self.lo, self.hi, spacing));
        }
        let onto = |p: DVec3| sdf::project(&self.distance, p, spacing, 4);
        let block = CellBlock::new(&lattice, &self.distance);
        shape(&block, spacing, DVec3::ZERO, (self.surface)(spacing), &onto)
    }
}

/// Cuts the inside of a closed mesh into tetrahedra of about `spacing`, to which the mesh is bound as it is; the
/// notes say what was left out.
pub fn tets_from_mesh(mesh: TriMesh, spacing: f64) -> Result<(Shape, Vec<String>), GeometryError> {
    check(&mesh)?;
    if !is_closed(&weld(&mesh).0) {
        return Err(GeometryError::new(
            "the mesh is open, so it has no inside to cut into tetrahedra",
            "close its holes, or use it as cloth",
        ));
    }
    let surface = outwards(mesh);
    let (lo, hi) = TriMesh::bounds(&surface.positions).unwrap_or_default();
    // The lattice is about the middle of the mesh, so that a symmetric mesh gets symmetric tetrahedra.
    let middle = 0.5 * (lo + hi);
    let winding = Winding::new(&surface);
    let lattice =
        Lattice::fill(lo - middle, hi - middle, spacing, &mut |p| winding.number(p + middle) > 0.5)?;
    if lattice.len() == 0 {
        return Err(too_few(lo, hi, spacing));
    }
    let block = CellBlock::new(&lattice, &|p| 0.5 - winding.number(p + middle));
    let onto = |p: DVec3| winding.nearest(p + middle).map_or(p, |q| q - middle);
    shape(&block, spacing, middle, surface, &onto)
}

fn shape(
    block: &CellBlock,
    spacing: f64,
    origin: DVec3,
    surface: TriMesh,
    onto: &dyn Fn(DVec3) -> DVec3,
) -> Result<(Shape, Vec<String>), GeometryError> {
    let mut notes = Vec::new();
    if block.left_out > 0 {
        notes.push(format!(
            "{} of {} cells were left out because no face joins them to the rest; a smaller spacing joins thin parts",
            block.left_out,
            block.left_out + block.len()
        ));
    }
    let mut mesh = block.tetrahedra();
    mesh.snap(REACH * spacing, onto);
    mesh.points.iter_mut().for_each(|p| *p += origin);
    let (mut shape, more) = Shape::from_tets(&mesh)?;
    notes.extend(more);
    shape.skin = Skin::bind_tets(&shape.points, &shape.tetrahedra, &surface.positions);
    shape.surface = surface;
    Ok((shape, notes))
}
