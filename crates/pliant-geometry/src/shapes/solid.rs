//! The built-in solids by description, for callers that know a particle count rather than a spacing.

use super::Shape;
use super::field::{DistanceField, center_by_volume};
use super::{ball, bunny, capsule, cuboid, cylinder, gummy_bear, torus};
use crate::lattice::MAX_PARTICLES;
use crate::tet_cells::CellBlock;
use crate::{GeometryError, TriMesh};
use glam::DVec3;
use std::cmp::Ordering;

/// A solid and its size, in metres, yet to be filled with particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolidShape {
    /// A box around the origin; [`cuboid()`](super::cuboid()) makes it.
    Cuboid {
        /// Width, height and depth.
        size: DVec3,
    },
    /// A ball around the origin; [`ball()`](super::ball()) makes it.
    Ball {
        /// Radius, m.
        radius: f64,
    },
    /// A ring around the y axis; [`torus()`](super::torus()) makes it.
    Torus {
        /// Distance of the tube's middle from the axis.
        major: f64,
        /// Radius of the tube.
        minor: f64,
    },
    /// A cylinder along the y axis; [`cylinder()`](super::cylinder()) makes it.
    Cylinder {
        /// Radius, m.
        radius: f64,
        /// Height, m.
        height: f64,
    },
    /// A cylinder along the y axis with half balls at its ends; [`capsule()`](super::capsule()) makes it.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Height from tip to tip.
        height: f64,
    },
    /// A bear that stands on the ground and looks along z; [`gummy_bear()`](super::gummy_bear()) makes it.
    GummyBear {
        /// Height from soles to ear tips.
        height: f64,
    },
    /// A bunny that sits on the ground, with thin ears; [`bunny()`](super::bunny()) makes it.
    Bunny {
        /// Height from paws to ear tips.
        height: f64,
    },
}

impl SolidShape {
    /// Fills the solid with particles about `spacing` apart.
    pub fn build(&self, spacing: f64) -> Result<Shape, GeometryError> {
        match *self {
            SolidShape::Cuboid { size } => cuboid::cuboid(size, spacing),
            SolidShape::Ball { radius } => ball::ball(radius, spacing),
            SolidShape::Torus { major, minor } => torus::torus(major, minor, spacing),
            SolidShape::Cylinder { radius, height } => cylinder::cylinder(radius, height, spacing),
            SolidShape::Capsule { radius, height } => capsule::capsule(radius, height, spacing),
            SolidShape::GummyBear { height } => gummy_bear::gummy_bear(height, spacing),
            SolidShape::Bunny { height } => bunny::bunny(height, spacing),
        }
    }

    /// Cuts the solid into tetrahedra of about `spacing`, with the smooth surface of [`build`](SolidShape::build) bound
    /// to them; the notes say what was left out. A cuboid is filled exactly.
    pub fn build_tets(&self, spacing: f64) -> Result<(Shape, Vec<String>), GeometryError> {
        match *self {
            SolidShape::Cuboid { size } => Ok((cuboid::tet_cuboid(size, spacing)?, Vec::new())),
            SolidShape::GummyBear { .. } | SolidShape::Bunny { .. } => {
                let (shape, notes) = self.field()?.tets(spacing)?;
                Ok((center_by_volume(shape), notes))
            }
            _ => self.field()?.tets(spacing),
        }
    }

    /// How many particles [`build_tets`](SolidShape::build_tets) would make.
    pub fn tet_particles(&self, spacing: f64) -> Result<usize, GeometryError> {
        match *self {
            SolidShape::Cuboid { .. } => self.count(spacing),
            _ => {
                let field = self.field()?;
                Ok(CellBlock::new(&field.lattice(spacing)?, &field.distance).nodes.len())
            }
        }
    }

    /// How many particles [`build`](SolidShape::build) would make; far cheaper than building.
    pub fn count(&self, spacing: f64) -> Result<usize, GeometryError> {
        match *self {
            SolidShape::Cuboid { size } => Ok(cuboid::counts(size, spacing)?.iter().product()),
            _ => Ok(self.field()?.lattice(spacing)?.len()),
        }
    }

    /// A spacing that gives about `wanted` particles; the exact number is up to the lattice.
    pub fn spacing_for_count(&self, wanted: usize) -> Result<f64, GeometryError> {
        let extent = self.extent()?;
        spacing_for_count(extent.max_element(), wanted, |spacing| {
            self.affordable(extent, spacing, wanted)?;
            self.count(spacing)
        })
    }

    /// The spacing in metres at which [`build_tets`](SolidShape::build_tets) makes about so many particles; refused where
    /// no spacing does.
    pub fn spacing_for_tet_particles(&self, wanted: usize) -> Result<f64, GeometryError> {
        let extent = self.extent()?;
        spacing_for_count(extent.max_element(), wanted, |spacing| {
            self.affordable(extent, spacing, wanted)?;
            self.tet_particles(spacing)
        })
    }

    /// Its surface for triangles of about `cell`; of a box, that of its lattice.
    pub(super) fn surface(&self, cell: f64) -> Result<TriMesh, GeometryError> {
        Ok((self.field()?.surface)(cell))
    }

    /// The sides of its box.
    pub(super) fn extent(&self) -> Result<DVec3, GeometryError> {
        match *self {
            SolidShape::Cuboid { size } => {
                cuboid::counts(size, size.max_element())?;
                Ok(size)
            }
            _ => {
                let field = self.field()?;
                Ok(field.hi - field.lo)
            }
        }
    }

    /// Refuses to count at a spacing at which a box this large has far more cells than particles are wanted: a search
    /// for thirty particles in a ring a million times as wide as thick would look at milliards of empty cells.
    fn affordable(&self, extent: DVec3, spacing: f64, wanted: usize) -> Result<(), GeometryError> {
        if matches!(self, SolidShape::Cuboid { .. }) {
            return Ok(());
        }
        let cells = (extent / spacing).ceil() + 2.0;
        let most = (SEARCHED * wanted as f64).max(SEARCHED_AT_LEAST);
        if cells.x * cells.y * cells.z > most {
            return Err(GeometryError::new(
                format!("a spacing of {spacing} m has more cells than are searched for {wanted} particles"),
                "ask for more particles, or give a spacing",
            ));
        }
        Ok(())
    }

    fn field(&self) -> Result<DistanceField, GeometryError> {
        match *self {
            SolidShape::Cuboid { size } => Ok(DistanceField {
                distance: Box::new(move |p| (p.abs() - 0.5 * size).max_element()),
                // Boxes have their own surface, with a vertex on each particle of the faces.
                surface: Box::new(|_| TriMesh::default()),
                lo: -0.5 * size,
                hi: 0.5 * size,
            }),
            SolidShape::Ball { radius } => ball::field(radius),
            SolidShape::Torus { major, minor } => torus::field(major, minor),
            SolidShape::Cylinder { radius, height } => cylinder::field(radius, height),
            SolidShape::Capsule { radius, height } => capsule::field(radius, height),
            SolidShape::GummyBear { height } => gummy_bear::field(height),
            SolidShape::Bunny { height } => bunny::field(height),
        }
    }
}

/// Cells looked at for each particle that is wanted, while looking for a spacing: as in a ring four hundred times as
/// wide as its tube is thick.
const SEARCHED: f64 = 1000.0;
/// How many may be looked at for the fewest.
const SEARCHED_AT_LEAST: f64 = 1e6;

/// A spacing at which `count` particles of something about `size` metres large come nearest to `wanted`.
///
/// `count` tells the number at a spacing, or an error if there are too many.
pub fn spacing_for_count(
    size: f64,
    wanted: usize,
    mut count: impl FnMut(f64) -> Result<usize, GeometryError>,
) -> Result<f64, GeometryError> {
    crate::error::positive("size", size)?;
    if wanted == 0 || wanted > MAX_PARTICLES {
        return Err(GeometryError::new(
            format!("{wanted} particles were asked for"),
            format!("ask for 1 to {MAX_PARTICLES} particles"),
        ));
    }
    let mut best = (usize::MAX, size, 0);
    // A body that is wrong at any spacing is wrong at the first.
    count(size)?;
    let mut tried = |spacing: f64| {
        let Ok(got) = count(spacing) else {
            // The search may look at spacings that nobody asked for.
            return Ordering::Greater;
        };
        if got.abs_diff(wanted) < best.0 {
            best = (got.abs_diff(wanted), spacing, got);
        }
        // A millionth particle more or less is not worth the time another count takes.
        if got.abs_diff(wanted) <= wanted / 100_000 * 100 { Ordering::Equal } else { got.cmp(&wanted) }
    };
    // Downwards in gentle steps: trying a spacing much too small would cost more than all the rest.
    let mut coarse = size;
    let mut fine = size;
    while tried(fine).is_lt() {
        coarse = fine;
        fine *= 0.75;
    }
    for _ in 0..40 {
        let middle = 0.5 * (coarse + fine);
        match tried(middle) {
            Ordering::Equal => break,
            Ordering::Less => coarse = middle,
            Ordering::Greater => fine = middle,
        }
    }
    if best.2 == 0 {
        return Err(GeometryError::new(
            format!("the shape is too thin for its size to be filled with {wanted} particles"),
            "make it thicker or smaller, ask for more particles, or give a `spacing` that is at most its thickness",
        ));
    }
    if best.0 > wanted.max(1000) / 2 {
        return Err(GeometryError::new(
            format!("the shape cannot be filled with {wanted} particles"),
            "ask for fewer; a thin shape in a large box takes far fewer than a solid one",
        ));
    }
    Ok(best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_may_look_at_spacings_that_are_too_fine() {
        let cubes = |spacing: f64, most: usize| {
            let n = (1.0 / spacing).powi(3) as usize;
            if n <= most { Ok(n) } else { Err(GeometryError::new("too fine", "")) }
        };
        let spacing = spacing_for_count(1.0, MAX_PARTICLES, |s| cubes(s, MAX_PARTICLES)).expect("a spacing");
        assert!((spacing * 171.0 - 1.0).abs() < 1e-2, "{spacing}");
        // What cannot be had is told in the words of the question.
        let refused = spacing_for_count(1.0, 2_000_000, |s| cubes(s, 500_000)).expect_err("no spacing");
        assert!(refused.message.contains("2000000 particles"), "{refused}");
    }
}
