//! Solids and meshes cut into tetrahedra: lattice cells fitted to a solid, or a lattice cut to a mesh, which is bound to
//! them.

use super::Shape;
use super::field::Field;
use super::from_mesh::{check, is_closed, outwards, weld};
use crate::error::positive;
use crate::lattice::too_few;
use crate::tet_cells::CellBlock;
use crate::{GeometryError, Skin, StuffingOptions, TriMesh, has_inside, sdf, stuff};
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
        shape(&block, spacing, (self.surface)(spacing), &onto)
    }
}

/// A body-centred lattice has two points in each cell: cells this much wider than the spacing have as many points as
/// there are particles with that spacing.
const CELLS_A_SPACING: f64 = 1.26;

/// Cuts the inside of a mesh, closed or nearly so, into tetrahedra with points about `spacing` apart, to which the mesh is
/// bound as it is; the notes say what was left out.
pub fn tets_from_mesh(mesh: TriMesh, spacing: f64) -> Result<(Shape, Vec<String>), GeometryError> {
    check(&mesh)?;
    positive("spacing", spacing)?;
    if !has_inside(&mesh) {
        return Err(GeometryError::new(
            "the mesh is open, so it has no inside to cut into tetrahedra",
            "close its holes, or use it as cloth",
        ));
    }
    let surface = if is_closed(&weld(&mesh).0) { outwards(mesh) } else { mesh };
    let (mut tets, report) = stuff(&surface, CELLS_A_SPACING * spacing, &StuffingOptions::default())?;
    let mut notes = report.notes();
    let (parts, lost) = tets.keep_largest_part();
    if parts > 0 {
        notes.push(format!(
            "{lost} of {} tetrahedra, in {parts} parts, were left out because no face joins them to the rest; a smaller \
             spacing joins thin parts",
            report.tetrahedra
        ));
    }
    let (mut shape, more) = Shape::from_tets(&tets)?;
    notes.extend(more);
    shape.skin = Skin::bind_connected(&shape.points, &shape.edges, &surface.positions);
    shape.surface = surface;
    Ok((shape, notes))
}

fn shape(
    block: &CellBlock,
    spacing: f64,
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
    let (mut shape, more) = Shape::from_tets(&mesh)?;
    notes.extend(more);
    shape.skin = Skin::bind_tets(&shape.points, &shape.tetrahedra, &surface.positions);
    shape.surface = surface;
    Ok((shape, notes))
}
