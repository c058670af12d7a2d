//! A shape given by its signed distance, filled with particles.

use super::Shape;
use super::from_mesh::of_particles;
use crate::lattice::{Lattice, too_few};
use crate::{GeometryError, TriMesh};
use glam::DVec3;

/// A signed distance (negative inside), a box that holds the shape, and its surface.
pub(super) struct DistanceField {
    pub distance: Box<dyn Fn(DVec3) -> f64>,
    /// The surface to show for particles of a spacing.
    pub surface: Box<dyn Fn(f64) -> TriMesh>,
    pub lo: DVec3,
    pub hi: DVec3,
}

impl DistanceField {
    pub fn lattice(&self, spacing: f64) -> Result<Lattice, GeometryError> {
        Lattice::fill(self.lo, self.hi, spacing, &mut |p| (self.distance)(p) < 0.0)
    }

    /// Lattice particles inside, bound to the surface, whose volume they share evenly.
    pub fn shape(&self, spacing: f64) -> Result<Shape, GeometryError> {
        let lattice = self.lattice(spacing)?;
        if lattice.len() == 0 {
            return Err(too_few(self.lo, self.hi, spacing));
        }
        let surface = (self.surface)(spacing);
        let share = surface.volume() / lattice.len() as f64;
        Ok(of_particles(surface, lattice.points(), lattice.edges(), share))
    }
}

/// Width of surface triangles for a shape of the given size: finer than the spacing, but never so coarse that
/// round things look cut, nor so fine that the picture is all the work. Bodies of a few dozen particles come by the
/// thousand and are seen small: their surfaces may be coarser.
pub(super) fn visual_cell(spacing: f64, size: f64) -> f64 {
    let coarsest = (0.25 * spacing).clamp(size / 34.0, size / 16.0);
    (0.7 * spacing).clamp(size / 200.0, coarsest)
}

/// Moves a shape so that its particles' centre of mass is at the origin. The x coordinate is left alone:
/// figures are symmetric in it, to the bit.
pub(super) fn center(shape: Shape) -> Shape {
    let mean: DVec3 = shape.points.iter().sum::<DVec3>() / shape.points.len() as f64;
    center_about(shape, mean)
}

/// The same for particles that stand for different volumes.
pub(super) fn center_by_volume(shape: Shape) -> Shape {
    let weighted: DVec3 = shape.points.iter().zip(&shape.measure).map(|(&p, &m)| p * m).sum();
    let mean = weighted / shape.measure.iter().sum::<f64>();
    center_about(shape, mean)
}

fn center_about(mut shape: Shape, mean: DVec3) -> Shape {
    let shift = DVec3::new(0.0, mean.y, mean.z);
    for p in shape.points.iter_mut().chain(&mut shape.surface.positions) {
        *p -= shift;
    }
    shape
}
