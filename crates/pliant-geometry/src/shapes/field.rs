//! A shape given by its signed distance, filled with particles.

use super::Shape;
use crate::lattice::{Lattice, too_few};
use crate::{GeometryError, Skin, TriMesh};
use glam::DVec3;

/// A signed distance (negative inside) and a box that holds the shape.
pub(super) struct Field {
    pub distance: Box<dyn Fn(DVec3) -> f64>,
    pub lo: DVec3,
    pub hi: DVec3,
}

impl Field {
    pub fn lattice(&self, spacing: f64) -> Result<Lattice, GeometryError> {
        Lattice::fill(self.lo, self.hi, spacing, &mut |p| (self.distance)(p) < 0.0)
    }

    /// Lattice particles inside, bound to `surface`, whose volume they share evenly.
    pub fn shape(&self, spacing: f64, surface: impl FnOnce() -> TriMesh) -> Result<Shape, GeometryError> {
        let lattice = self.lattice(spacing)?;
        if lattice.len() == 0 {
            return Err(too_few(self.lo, self.hi, spacing));
        }
        let points = lattice.points();
        let surface = surface();
        let edges = lattice.edges();
        let share = surface.volume() / points.len() as f64;
        Ok(Shape {
            measure: vec![share; points.len()],
            skin: Skin::bind_connected(&points, &edges, &surface.positions),
            edges,
            points,
            surface,
            ..Shape::default()
        })
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
pub(super) fn center(mut shape: Shape) -> Shape {
    let mean: DVec3 = shape.points.iter().sum::<DVec3>() / shape.points.len() as f64;
    let shift = DVec3::new(0.0, mean.y, mean.z);
    for p in shape.points.iter_mut().chain(&mut shape.surface.positions) {
        *p -= shift;
    }
    shape
}
