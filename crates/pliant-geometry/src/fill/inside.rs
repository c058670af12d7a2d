//! Whether a mesh has an inside worth filling: a body, a body with holes, or cloth.

use crate::shapes::{is_closed, weld};
use crate::{TriMesh, Winding, parallel};
use glam::DVec3;

/// Points looked at, about.
const SAMPLES: f64 = 20_000.0;
/// A body is surrounded by its surface but for this part of all directions, on average over its inside. Clothes are
/// open by more; a body of which some triangles are missing by less.
const OPEN: f64 = 0.1;
/// And it fills at least this part of its box.
const LEAST_SHARE: f64 = 0.002;

/// What a mesh winds about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interior {
    /// Volume about which it winds at least half a time, in cubic metres.
    pub volume: f64,
    /// Part of its box that this is.
    pub share: f64,
    /// Mean part of all directions in which a point inside meets the surface: 1 for a closed mesh, less with holes.
    pub surrounded: f64,
}

/// Measures the inside of a mesh on a lattice of some twenty thousand points; indices must be in range and positions
/// finite.
pub fn inside(mesh: &TriMesh) -> Interior {
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let size = hi - lo;
    let nothing = Interior { volume: 0.0, share: 0.0, surrounded: 0.0 };
    if mesh.triangles.is_empty() || size.min_element() <= 0.0 {
        return nothing;
    }
    // As many along each axis as it is long, but at least five: bodies may be flat.
    let spacing = (size.element_product() / SAMPLES).cbrt();
    let counts = (size / spacing).round().max(DVec3::splat(5.0)).min(DVec3::splat(SAMPLES));
    let [nx, ny, nz] = counts.to_array().map(|n| n as usize);
    let mut points = Vec::with_capacity(nx * ny * nz);
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                points.push(lo + size * (DVec3::new(i as f64, j as f64, k as f64) + 0.5) / counts);
            }
        }
    }
    let numbers = Winding::new(mesh).numbers(&points, parallel::thread_count(0));
    let within: Vec<f64> = numbers.into_iter().map(f64::abs).filter(|&w| w > 0.5).collect();
    if within.is_empty() {
        return nothing;
    }
    let share = within.len() as f64 / points.len() as f64;
    // Where parts overlap the mesh winds twice, which does not make up for a hole elsewhere.
    let surrounded = within.iter().map(|&w| 1.0 - (w - w.round()).abs()).sum::<f64>() / within.len() as f64;
    Interior { volume: share * size.element_product(), share, surrounded }
}

/// Whether a mesh is a body to fill rather than cloth: closed around some volume, or so nearly closed that points inside
/// see its surface in nine of ten directions. Vertices in the same place count as one.
pub fn has_inside(mesh: &TriMesh) -> bool {
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let middle = 0.5 * (lo + hi);
    let (mut welded, _) = weld(mesh);
    if is_closed(&welded) {
        // About the middle, so that a thin sheet far away has no volume by rounding.
        welded.positions.iter_mut().for_each(|p| *p -= middle);
        return welded.volume().abs() > 1e-9 * (hi - lo).max_element().powi(3);
    }
    let inside = inside(mesh);
    inside.share > LEAST_SHARE && inside.surrounded > 1.0 - OPEN
}
