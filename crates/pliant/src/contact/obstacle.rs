//! A plane as bodies meet it in a substep: where it is at both ends, and how its surface moves between.

use crate::model::{HalfSpace, ModelCollider};
use glam::{DAffine3, DMat3, DVec3};

/// A plane in a substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// The collider's number.
    pub collider: u64,
    /// Where it is when the substep begins.
    pub start: HalfSpace,
    /// Where it is at the end, which is what bodies are kept out of.
    pub end: HalfSpace,
    /// How far the point of it that ends at x moves in the substep: turn x + shift.
    turn: DMat3,
    shift: DVec3,
}

impl Obstacle {
    /// One that stands still.
    pub fn still(plane: HalfSpace) -> Obstacle {
        Obstacle { collider: 0, start: plane, end: plane, turn: DMat3::ZERO, shift: DVec3::ZERO }
    }

    /// A collider that moves from one placement to another; `None` if it is no plane.
    pub(crate) fn moving(of: &ModelCollider, from: &DAffine3, to: &DAffine3) -> Option<Obstacle> {
        let (start, end) = (of.collider.half_space(from)?, of.collider.half_space(to)?);
        let still = Obstacle { collider: of.id.number(), start, ..Obstacle::still(end) };
        if from == to {
            return Some(still);
        }
        let back = *from * to.inverse();
        Some(Obstacle { turn: DMat3::IDENTITY - back.matrix3, shift: -back.translation, ..still })
    }

    /// Whether nothing of it moves in the substep.
    #[cfg(test)]
    fn is_still(&self) -> bool {
        self.turn == DMat3::ZERO && self.shift == DVec3::ZERO
    }

    /// How far the point of it that ends at `at` moves in the substep.
    #[inline(always)]
    pub fn moves(&self, at: DVec3) -> DVec3 {
        self.turn * at + self.shift
    }

    /// The same in coordinates relative to a point.
    pub(crate) fn seen_from(&self, origin: DVec3) -> Obstacle {
        let relative = |p: &HalfSpace| HalfSpace { offset: -p.gap(origin), ..*p };
        let (start, end) = (relative(&self.start), relative(&self.end));
        Obstacle { start, end, shift: self.moves(origin), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Collider, ColliderId};

    #[test]
    fn its_surface_moves_as_its_placement_does() {
        let slope = HalfSpace { normal: DVec3::new(0.6, 0.8, 0.0), offset: 0.3, ..HalfSpace::ground() };
        let of = ModelCollider { id: ColliderId::from(3), collider: Collider::from(slope) };
        let from = DAffine3::from_rotation_translation(glam::DQuat::from_rotation_z(0.3), DVec3::X);
        let to = DAffine3::from_rotation_translation(glam::DQuat::from_rotation_x(0.7), DVec3::Y * 2.0);
        let obstacle = Obstacle::moving(&of, &from, &to).unwrap();
        for local in [DVec3::new(0.5, 0.0, 1.0), DVec3::new(-0.3, 0.6, 0.2)] {
            let (a, b) = (from.transform_point3(local), to.transform_point3(local));
            assert!((obstacle.moves(b) - (b - a)).length() < 1e-14);
            assert!((obstacle.start.gap(a) - slope.gap(local)).abs() < 1e-14);
            assert!((obstacle.end.gap(b) - slope.gap(local)).abs() < 1e-14);
            let origin = DVec3::new(1.0, -2.0, 0.5);
            let seen = obstacle.seen_from(origin);
            assert!((seen.moves(b - origin) - (b - a)).length() < 1e-14);
            assert!((seen.end.gap(b - origin) - slope.gap(local)).abs() < 1e-14);
            assert!((seen.start.gap(a - origin) - slope.gap(local)).abs() < 1e-14);
        }
        assert!(Obstacle::moving(&of, &from, &from).unwrap().is_still());
        assert!(!obstacle.is_still());
    }
}
