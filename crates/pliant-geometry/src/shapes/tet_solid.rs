//! Solids cut into tetrahedra: lattice cells fitted to a solid, whose surface is bound to them.

use super::Shape;
use super::field::DistanceField;
use super::tets_in_mesh::LEFT_OUT;
use crate::lattice::too_few;
use crate::tet_cells::CellBlock;
use crate::{GeometryError, Skin, TriMesh, sdf};
use glam::DVec3;

/// How far a lattice point may move to the surface, in cells: a corner of a cell whose centre is just inside is
/// half a space diagonal away.
const REACH: f64 = 0.87;

impl DistanceField {
    /// Tetrahedra of about `spacing` inside, bound to the surface; and what was left out.
    pub fn tets(&self, spacing: f64) -> Result<(Shape, Vec<String>), GeometryError> {
        let lattice = self.lattice(spacing)?;
        if lattice.len() == 0 {
            return Err(too_few(self.lo, self.hi, spacing));
        }
        let onto = |p: DVec3| sdf::project(&self.distance, p, spacing, 4);
        let block = CellBlock::new(&lattice, &self.distance);
        if !is_whole(&block) {
            return Err(self.in_bits(spacing, &block));
        }
        shape(&block, spacing, (self.surface)(spacing), &onto)
    }

    /// What to say of a spacing at which a solid falls to bits.
    fn in_bits(&self, spacing: f64, block: &CellBlock) -> GeometryError {
        let whole = |finer: f64| {
            let lattice = self.lattice(finer).ok()?;
            is_whole(&CellBlock::new(&lattice, &self.distance)).then_some(finer)
        };
        let found = (1..TRIALS).find_map(|k| whole(spacing * FINER.powi(k)));
        let share = block.left_out as f64 / (block.left_out + block.len()) as f64;
        GeometryError::new(
            format!(
                "a spacing of {spacing:.3e} m leaves out {:.1} % of the solid, in parts too thin for it",
                100.0 * share
            ),
            match found {
                Some(spacing) => format!("set spacing = {spacing:.3e} or ask for more particles"),
                None => "set a smaller spacing or ask for more particles".to_string(),
            },
        )
    }
}

/// How a spacing at which a solid holds together is looked for.
const FINER: f64 = 0.9;
const TRIALS: i32 = 20;

/// Whether all cells are in one part, but for some that do not count.
fn is_whole(block: &CellBlock) -> bool {
    block.left_out as f64 <= LEFT_OUT * (block.left_out + block.len()) as f64
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
