//! How the coordinates of a file become those of a body: which way up, how large, and about which origin.

use crate::record::Record;
use glam::{DAffine3, DMat3, DVec3};
use pliant_geometry::{GeometryError, TriMesh};

/// The keys `scale` or `fit`, `up` and `origin` of a shape from a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FitPlan {
    size: FitSize,
    /// Whether z is up in the file.
    z_up: bool,
    origin: FitOrigin,
}

#[derive(Clone, Copy, Debug)]
enum FitSize {
    /// Metres per unit of the file.
    Scale(f64),
    /// Metres of the longest side.
    Fit(f64),
}

/// What is put at the body's origin.
#[derive(Clone, Copy, Debug)]
enum FitOrigin {
    File,
    Center,
    /// The middle of the lowest side of its box.
    Base,
}

impl Default for FitPlan {
    fn default() -> FitPlan {
        FitPlan { size: FitSize::Scale(1.0), z_up: false, origin: FitOrigin::File }
    }
}

/// Reads the keys.
pub(crate) fn plan(shape: &Record) -> FitPlan {
    FitPlan {
        size: match shape.given("fit") {
            Some(longest) => FitSize::Fit(longest.it.number()),
            None => FitSize::Scale(shape.number("scale")),
        },
        z_up: shape.text("up") == "z",
        origin: match shape.text("origin").as_str() {
            "center" => FitOrigin::Center,
            "base" => FitOrigin::Base,
            _ => FitOrigin::File,
        },
    }
}

impl FitPlan {
    /// From the file's coordinates to the body's, for what the file holds.
    pub fn placement(&self, positions: &[DVec3]) -> Result<DAffine3, GeometryError> {
        let upright =
            if self.z_up { DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y) } else { DMat3::IDENTITY };
        let turned: Vec<DVec3> = positions.iter().map(|&p| upright * p).collect();
        let (lo, hi) = TriMesh::bounds(&turned).unwrap_or_default();
        let longest = (hi - lo).max_element();
        let scale = match self.size {
            FitSize::Scale(scale) => scale,
            FitSize::Fit(wanted) => wanted / longest,
        };
        if !scale.is_finite() {
            let text = format!("what is {longest} units large cannot be scaled to fit");
            return Err(GeometryError::new(text, "give points that are not all in one place, or `scale`"));
        }
        let middle = 0.5 * (lo + hi);
        let origin = match self.origin {
            FitOrigin::File => DVec3::ZERO,
            FitOrigin::Center => middle,
            FitOrigin::Base => DVec3::new(middle.x, lo.y, middle.z),
        };
        Ok(DAffine3::from_mat3_translation(upright * scale, -scale * origin))
    }
}
