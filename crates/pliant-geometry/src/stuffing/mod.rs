//! Tetrahedra inside any surface, by isosurface stuffing (Labelle and Shewchuk 2007): a body-centred cubic lattice,
//! cut where it meets the surface, with angles between 10.7° and 164.8° whatever the surface is.
//!
//! Inside is where the mesh winds at least half a time about a point, so holes, crossings and loose triangles do no
//! harm.

mod field;
mod lattice;
mod octree;
mod pinches;
mod report;
mod sample;
mod stencils;

pub use report::StuffingReport;

use crate::shapes::{check, is_closed, weld};
use crate::{GeometryError, TetMesh, TriMesh, Winding, parallel};
use field::CutLattice;
use octree::OctreeLevels;
use stencils::StencilMesh;

/// How to cut a mesh into tetrahedra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StuffingOptions {
    /// Larger tetrahedra inside; those at the surface are of the cell size all the same.
    pub graded: bool,
    /// Threads to work on; the result is the same for any number.
    pub threads: usize,
}

impl Default for StuffingOptions {
    fn default() -> StuffingOptions {
        StuffingOptions { graded: false, threads: parallel::thread_count(0) }
    }
}

/// Cuts the inside of a mesh into tetrahedra of about the width `cell`, twelve to each cube of that width.
///
/// The boundary of the result is watertight: each of its edges belongs to two of its faces. Its vertices lie on the
/// mesh, except over holes, where it is halfway around. Parts thinner than a cell may be lost; the report counts them.
///
/// ```
/// use pliant_geometry::{StuffingOptions, shapes, stuff};
///
/// let ball = shapes::ball(0.5, 0.1)?.surface;
/// let (tets, report) = stuff(&ball, 0.1, &StuffingOptions::default())?;
/// assert!(tets.volumes().iter().all(|&volume| volume > 0.0));
/// assert!(report.quality.smallest_dihedral > 10.7 && report.volume_error().abs() < 0.05);
/// # Ok::<(), pliant_geometry::GeometryError>(())
/// ```
pub fn stuff(
    mesh: &TriMesh,
    cell: f64,
    options: &StuffingOptions,
) -> Result<(TetMesh, StuffingReport), GeometryError> {
    check(mesh)?;
    let lattice = sample::lattice(mesh, cell)?;
    let closed = is_closed(&weld(mesh).0);
    let threads = options.threads;
    let winding = Winding::new(mesh);
    let inside = sample::inside(&lattice, &winding, threads);
    let cuts = sample::cuts(&lattice, &inside, &winding, closed, threads);
    let estimate = sample::volume(&lattice, &inside);
    let field = CutLattice::new(lattice, &inside, cuts);
    let levels = if options.graded { OctreeLevels::graded(&field) } else { OctreeLevels::uniform(&lattice) };
    let mut filler = StencilMesh::new(&field);
    levels.each_tet(|tet| filler.add(tet));
    let mut tets = filler.mesh;
    let taken = tets.open_pinched_edges();
    tets.drop_unreferenced();
    let parted = tets.part_at_points();
    if tets.tetrahedra.is_empty() {
        return Err(nothing_inside(mesh, cell));
    }
    let signed = mesh.volume().abs();
    // A closed mesh that crosses itself counts some of its volume twice, or against itself.
    let exact = closed && (signed / estimate - 1.0).abs() < 0.3;
    let volume = if exact { signed } else { estimate };
    let report = StuffingReport::measure(&tets, (mesh, &winding), (volume, cell), [taken, parted], threads);
    Ok((tets, report))
}

fn nothing_inside(mesh: &TriMesh, cell: f64) -> GeometryError {
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let fits = (hi - lo).min_element() / 4.0;
    if fits > 0.0 && fits < cell {
        return GeometryError::new(
            format!("a cell of {cell} m leaves no tetrahedron inside the mesh"),
            format!("use a cell of {fits:.2e} m or less; lengths are in metres"),
        );
    }
    GeometryError::new(
        format!(
            "the mesh winds about no point of a lattice with cells of {cell} m, so it has no inside there"
        ),
        "close its holes, use a smaller cell if it is thin, or use it as cloth",
    )
}

#[cfg(test)]
mod tests;
