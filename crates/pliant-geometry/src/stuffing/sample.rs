//! A mesh sampled on a lattice: which points are inside, and where the edges between them pass through it.

use super::field::{CutLattice, EdgeCut};
use super::lattice::{BccLattice, count};
use crate::error::positive;
use crate::{GeometryError, TriMesh, Winding, parallel};
use glam::DVec3;

/// More cells than this around a mesh are refused: memory would be some gigabytes.
const MAX_CELLS: f64 = 8e6;
/// Halvings of an edge whose cut no triangle explains.
const HALVINGS: usize = 26;

/// The lattice around a mesh, with a layer of cells to spare on every side.
pub(super) fn lattice(mesh: &TriMesh, cell: f64) -> Result<BccLattice, GeometryError> {
    positive("cell", cell)?;
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let size = hi - lo;
    let cells = (size / cell).ceil() + 2.0;
    if cells.element_product() > MAX_CELLS {
        let mut enough = (size.element_product() / MAX_CELLS).cbrt().max(size.max_element() / MAX_CELLS);
        while ((size / enough).ceil() + 2.0).element_product() > MAX_CELLS {
            enough *= 1.05;
        }
        return Err(GeometryError::new(
            format!("a cell of {cell} m puts more than {MAX_CELLS:.0e} cells around the mesh"),
            format!("use a cell of {enough:.2e} m or more; lengths are in metres"),
        ));
    }
    Ok(BccLattice { cells: cells.as_ivec3(), middle: 0.5 * (lo + hi), cell })
}

/// The points of the lattice that the mesh winds about; never those at the border of the box, so that every body ends
/// before it.
pub(super) fn inside(lattice: &BccLattice, winding: &Winding, threads: usize) -> Vec<bool> {
    let indices: Vec<u32> = (0..lattice.len() as u32).collect();
    parallel::map(&indices, threads, |&index| {
        let at = lattice.at(index);
        !lattice.at_border(at) && winding.inside(lattice.position(at))
    })
}

/// The edges that lead from inside to outside, cut where they do. In a closed mesh the only triangle on the way is
/// taken at its word.
pub(super) fn cuts(
    lattice: &BccLattice,
    inside: &[bool],
    winding: &Winding,
    closed: bool,
    threads: usize,
) -> Vec<EdgeCut> {
    let edges = CutLattice::edges_to_cut(lattice, inside);
    let position = |index: u32| lattice.position(lattice.at(index));
    let part = |edge: &EdgeCut| cut(winding, position(edge.inside), position(edge.outside), closed);
    let parts = parallel::map(&edges, threads, part);
    edges.into_iter().zip(parts).map(|(edge, part)| EdgeCut { part, ..edge }).collect()
}

/// Where on the way from a point inside to one outside the surface is first left: at the triangle after which the way
/// is outside, else where the winding number passes ½.
fn cut(winding: &Winding, from: DVec3, to: DVec3, closed: bool) -> f64 {
    let inside = |part: f64| winding.inside(from.lerp(to, part));
    let halve = |mut low: f64, mut high: f64| {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            *(if inside(middle) { &mut low } else { &mut high }) = middle;
        }
        high
    };
    let mut hits = Vec::new();
    winding.crossings(from, to, &mut hits);
    match hits[..] {
        [] => halve(0.0, 1.0),
        [only] if closed => only,
        _ => {
            let mut before = 0.0;
            for (i, &hit) in hits.iter().enumerate() {
                let gap = 0.5 * (if i == 0 { 0.0 } else { hits[i - 1] } + hit);
                if !inside(gap) {
                    return if i == 0 { halve(0.0, gap) } else { hits[i - 1] };
                }
                before = hit;
            }
            let gap = 0.5 * (before + 1.0);
            if inside(gap) { halve(gap, 1.0) } else { before }
        }
    }
}

/// The volume the mesh winds about, from the points inside: each stands for half a cell.
pub(super) fn volume(lattice: &BccLattice, inside: &[bool]) -> f64 {
    debug_assert!(count(lattice.cells) > 0);
    inside.iter().filter(|&&inside| inside).count() as f64 * 0.5 * lattice.cell.powi(3)
}
