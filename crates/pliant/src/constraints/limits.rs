//! Two bounds on a ratio to the shape at rest.

use super::Properties;
use crate::bytes::{Reader, Truncated, Writer};

/// Smallest and largest ratio allowed; 1 is the rest shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The smallest, at least 0.
    pub min: f64,
    /// The largest, at least `min`.
    pub max: f64,
}

/// What stands for no upper bound: finite, so that nothing computed from it is not.
const UNBOUNDED: f64 = 1e100;

impl Limits {
    /// Bounds; an infinite upper one is none.
    pub fn new([min, max]: [f64; 2]) -> Limits {
        Limits { min, max: max.min(UNBOUNDED) }
    }

    /// The properties of a set of gradients within these limits.
    pub(super) fn properties(&self) -> Properties {
        Properties {
            rigid_invariant: true,
            exact_nearest: true,
            rest_is_free: self.min <= 1.0 && self.max >= 1.0,
            sees_reflection: false,
        }
    }

    pub(super) fn encode(&self, w: &mut Writer) {
        w.number(self.min);
        w.number(self.max);
    }

    pub(super) fn decode(r: &mut Reader<'_>) -> Result<Limits, Truncated> {
        Ok(Limits { min: r.number()?, max: r.number()? })
    }
}
