//! Soft pins: particles want to be at given, possibly moving, places (projective-dynamics §6).

use super::{ConstraintBatch, Properties, Rows, RowsBuilder, View};
use crate::bytes::{Reader, Truncated, Writer};
use crate::points::{Points, PointsMut};
use std::ops::Range;

/// A batch of springs of rest length zero to the places of one pin group.
#[derive(Clone, Debug, PartialEq)]
pub struct Position {
    rows: Rows,
    anchors: Points,
    group: u32,
}

impl Position {
    /// Springs of `stiffness` (N/m) from `particles` to `anchors`, carried along by pin group `group`.
    pub fn new(particles: &[u32], anchors: Points, group: usize, stiffness: f64) -> Position {
        let mut rows = RowsBuilder::default();
        for &i in particles {
            rows.row(stiffness, [(i, 1.0)]).end_element();
        }
        Position { rows: rows.build(), anchors, group: group as u32 }
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
        let placement = view.placements.get(self.group as usize).copied().unwrap_or_default();
        for (k, e) in elements.enumerate() {
            p.set(k, placement.transform_point3(self.anchors.get(e)));
        }
    }

    fn properties(&self) -> Properties {
        Properties { rigid_invariant: false, exact_nearest: true, rest_is_free: true, sees_reflection: true }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.rows.encode(&mut w);
        w.word(self.group.into());
        self.anchors.columns().into_iter().for_each(|c| w.numbers(c));
        w.0
    }

    fn decode(bytes: &[u8]) -> Result<Position, Truncated> {
        let mut r = Reader(bytes);
        let rows = Rows::decode(&mut r)?;
        let group = u32::try_from(r.word()?).map_err(|_| Truncated)?;
        let anchors = r.points()?;
        let fits = anchors.columns().iter().all(|c| c.len() == rows.elements());
        if fits { Ok(Position { rows, anchors, group }) } else { Err(Truncated) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraints::conformance;
    use glam::DVec3;

    #[test]
    fn conforms() {
        let rest: Points = [DVec3::ZERO, DVec3::X, DVec3::new(0.2, 1.5, 0.0)].into_iter().collect();
        let anchors = [rest.get(0), rest.get(2)].into_iter().collect();
        conformance::check(&Position::new(&[0, 2], anchors, 0, 30.0), &rest).unwrap();
    }
}
