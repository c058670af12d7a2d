//! The built-in solids by description, for callers that know a particle count rather than a spacing.

use super::{Shape, field::Field};
use super::{ball, bunny, capsule, cuboid, cylinder, gummy_bear, torus};
use crate::GeometryError;
use crate::lattice::MAX_PARTICLES;
use glam::DVec3;

/// A solid and its size, in metres, yet to be filled with particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solid {
    /// See [`cuboid()`](super::cuboid()).
    Cuboid {
        /// Width, height and depth.
        size: DVec3,
    },
    /// See [`ball()`](super::ball()).
    Ball {
        /// Radius.
        radius: f64,
    },
    /// See [`torus()`](super::torus()).
    Torus {
        /// Distance of the tube's middle from the axis.
        major: f64,
        /// Radius of the tube.
        minor: f64,
    },
    /// See [`cylinder()`](super::cylinder()).
    Cylinder {
        /// Radius.
        radius: f64,
        /// Height.
        height: f64,
    },
    /// See [`capsule()`](super::capsule()).
    Capsule {
        /// Radius.
        radius: f64,
        /// Height from tip to tip.
        height: f64,
    },
    /// See [`gummy_bear()`](super::gummy_bear()).
    GummyBear {
        /// Height from soles to ear tips.
        height: f64,
    },
    /// See [`bunny()`](super::bunny()).
    Bunny {
        /// Height from paws to ear tips.
        height: f64,
    },
}

impl Solid {
    /// Fills the solid with particles about `spacing` apart.
    pub fn build(&self, spacing: f64) -> Result<Shape, GeometryError> {
        match *self {
            Solid::Cuboid { size } => cuboid::cuboid(size, spacing),
            Solid::Ball { radius } => ball::ball(radius, spacing),
            Solid::Torus { major, minor } => torus::torus(major, minor, spacing),
            Solid::Cylinder { radius, height } => cylinder::cylinder(radius, height, spacing),
            Solid::Capsule { radius, height } => capsule::capsule(radius, height, spacing),
            Solid::GummyBear { height } => gummy_bear::gummy_bear(height, spacing),
            Solid::Bunny { height } => bunny::bunny(height, spacing),
        }
    }

    /// How many particles [`build`](Solid::build) would make; far cheaper than building.
    pub fn count(&self, spacing: f64) -> Result<usize, GeometryError> {
        match *self {
            Solid::Cuboid { size } => Ok(cuboid::counts(size, spacing)?.iter().product()),
            _ => Ok(self.field()?.lattice(spacing)?.len()),
        }
    }

    /// A spacing that gives about `wanted` particles; the exact number is up to the lattice.
    pub fn spacing_for_count(&self, wanted: usize) -> Result<f64, GeometryError> {
        let size = match *self {
            Solid::Cuboid { size } => {
                cuboid::counts(size, size.max_element())?;
                size
            }
            _ => {
                let field = self.field()?;
                field.hi - field.lo
            }
        };
        spacing_for_count(size.max_element(), wanted, |spacing| self.count(spacing))
    }

    fn field(&self) -> Result<Field, GeometryError> {
        match *self {
            Solid::Cuboid { size } => Ok(Field {
                distance: Box::new(move |p| (p.abs() - 0.5 * size).max_element()),
                lo: -0.5 * size,
                hi: 0.5 * size,
            }),
            Solid::Ball { radius } => ball::field(radius),
            Solid::Torus { major, minor } => torus::field(major, minor),
            Solid::Cylinder { radius, height } => cylinder::field(radius, height),
            Solid::Capsule { radius, height } => capsule::field(radius, height),
            Solid::GummyBear { height } => gummy_bear::field(height),
            Solid::Bunny { height } => bunny::field(height),
        }
    }
}

/// A spacing at which `count` particles of something about `size` metres large come nearest to `wanted`.
///
/// `count` tells the number at a spacing; its errors (too many particles) end the search and are returned.
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
    let mut best = (usize::MAX, size);
    let mut tried = |spacing: f64| -> Result<std::cmp::Ordering, GeometryError> {
        let got = count(spacing)?;
        if got.abs_diff(wanted) < best.0 {
            best = (got.abs_diff(wanted), spacing);
        }
        Ok(got.cmp(&wanted))
    };
    // Downwards in gentle steps: trying a spacing much too small would cost more than all the rest.
    let mut coarse = size;
    let mut fine = size;
    while tried(fine)?.is_lt() {
        coarse = fine;
        fine *= 0.75;
    }
    for _ in 0..40 {
        let middle = 0.5 * (coarse + fine);
        match tried(middle)? {
            std::cmp::Ordering::Equal => break,
            std::cmp::Ordering::Less => coarse = middle,
            std::cmp::Ordering::Greater => fine = middle,
        }
    }
    Ok(best.1)
}
