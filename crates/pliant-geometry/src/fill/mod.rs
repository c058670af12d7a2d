//! Particles inside a surface of any kind: as a lattice, jittered, or as blue noise; by spacing or by count.
//!
//! Inside is where the mesh winds at least half a time about a point, in either direction: a closed mesh, one with
//! holes, a soup, one turned inside out.

mod blue_noise;
mod eliminate;
mod inside;
mod regular;

pub use inside::{Interior, has_inside, inside};

use crate::error::positive;
use crate::lattice::too_few;
use crate::{GeometryError, TriMesh, Winding, parallel};
use glam::DVec3;

/// How particles are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FillPattern {
    /// Centres of cubic cells about the middle of the mesh.
    Lattice,
    /// The same, each moved at random by up to three tenths of a cell, but not outside.
    Jittered,
    /// At random with even distances: no two nearer than about two thirds of the spacing.
    BlueNoise,
}

/// How many particles there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FillDensity {
    /// Each stands for a cube of this width, in metres.
    Spacing(f64),
    /// So many: exactly for blue noise; for the others as near as a lattice comes, within 6 % from five hundred particles
    /// on and mostly within 2 %.
    Count(usize),
}

/// How to fill a mesh with particles. The same filling gives the same particles, to the bit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillOptions {
    /// How particles are arranged.
    pub pattern: FillPattern,
    /// How many there are.
    pub by: FillDensity,
    /// What chance starts from, where there is any.
    pub seed: u64,
}

/// Particles and what ties them together.
pub(crate) struct FilledPoints {
    pub points: Vec<DVec3>,
    /// Neighbours, each pair once: those that share a lattice cell's edge or diagonal, or are as near as those.
    pub edges: Vec<[u32; 2]>,
    /// Volume each particle stands for.
    pub share: f64,
}

/// What is to be filled.
struct FillRegion {
    winding: Winding,
    lo: DVec3,
    hi: DVec3,
    threads: usize,
}

impl FillRegion {
    fn inside(&self, points: &[DVec3]) -> Vec<bool> {
        parallel::map(points, self.threads, |&p| self.winding.inside(p))
    }

    fn too_few(&self, spacing: f64) -> GeometryError {
        too_few(self.lo, self.hi, spacing)
    }
}

/// Fills what the mesh, whose indices and positions must be sound, winds about; an error if that is nothing.
pub(crate) fn fill(mesh: &TriMesh, filling: &FillOptions) -> Result<FilledPoints, GeometryError> {
    match filling.by {
        FillDensity::Spacing(spacing) => positive("spacing", spacing).map(|_| ())?,
        FillDensity::Count(count) if (1..=crate::lattice::MAX_PARTICLES).contains(&count) => {}
        FillDensity::Count(count) => {
            return Err(GeometryError::new(
                format!("{count} particles were asked for"),
                format!("ask for 1 to {}", crate::lattice::MAX_PARTICLES),
            ));
        }
    }
    let (lo, hi) = TriMesh::bounds(&mesh.positions).unwrap_or_default();
    let region = FillRegion { winding: Winding::new(mesh), lo, hi, threads: parallel::thread_count(0) };
    match filling.pattern {
        FillPattern::BlueNoise => blue_noise::fill(&region, filling.by, filling.seed),
        FillPattern::Lattice => regular::fill(&region, filling.by).map(regular::Regular::filled),
        FillPattern::Jittered => {
            regular::fill(&region, filling.by).map(|cells| cells.jittered(&region, filling.seed))
        }
    }
}
