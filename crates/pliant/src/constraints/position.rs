//! Soft pins: particles want to be at given, possibly moving, places (projective-dynamics §6).

use super::{ConstraintBatch, Properties, Rows, RowsBuilder, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::PointsMut;
use std::ops::Range;

/// A batch of springs of rest length zero to where the particles of a pin group are wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    rows: Rows,
    /// Where the group's targets begin among those of all groups.
    first: u32,
}

impl Position {
    /// Springs of `stiffness` (N/m) from `particles` to [`View::targets`] from number `first` on.
    pub fn new(particles: &[u32], first: usize, stiffness: f64) -> Position {
        Position::shared(particles, first, stiffness, &vec![1.0; particles.len()])
    }

    /// The same with a share of the stiffness for each particle.
    pub(crate) fn shared(particles: &[u32], first: usize, stiffness: f64, shares: &[f64]) -> Position {
        let mut rows = RowsBuilder::default();
        for (&i, share) in particles.iter().zip(shares) {
            rows.row(stiffness * share, [(i, 1.0)]).end_element();
        }
        Position { rows: rows.build(), first: first as u32 }
    }
}

impl ConstraintBatch for Position {
    fn kind(&self) -> &'static str {
        "position"
    }

    fn rows(&self) -> &Rows {
        &self.rows
    }

    fn project(&self, elements: Range<usize>, view: View<'_>, p: &mut PointsMut<'_>) {
        for (k, e) in elements.enumerate() {
            p.set(k, view.targets.get(self.first as usize + e).copied().unwrap_or_default());
        }
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: false, exact_nearest: true, rest_is_free: true, sees_reflection: true }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.rows.encode(&mut w);
        w.word(self.first.into());
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Position, Truncated> {
        let mut r = Reader(bytes);
        let rows = Rows::decode(&mut r)?;
        let first = u32::try_from(r.word()?).map_err(|_| Truncated)?;
        Ok(Position { rows, first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;
    use crate::points::Points;
    use glam::DVec3;

    #[test]
    fn conforms() {
        let rest: Points = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.5, 0.0)].into_iter().collect();
        // In these checks every particle is wanted where it is at rest.
        conformance::check(&Position::new(&[1, 2], 1, 30.0), &rest).unwrap();
    }
}
