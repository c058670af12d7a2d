//! A collider as bodies meet it in a substep: where it is at both ends, and how its surface moves between.

use crate::controls::Controls;
use crate::model::{HalfSpace, Model, ModelCollider, between};
use crate::state::State;
use glam::{DAffine3, DMat3, DVec3};

/// A collider in a substep.
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

    /// A collider on its way from one placement to another.
    pub(crate) fn moving(of: &ModelCollider, from: &DAffine3, to: &DAffine3) -> Obstacle {
        let (start, end) = (of.collider.half_space(from), of.collider.half_space(to));
        let still = Obstacle { collider: of.id.number(), start, ..Obstacle::still(end) };
        if from == to {
            return still;
        }
        let back = *from * to.inverse();
        Obstacle { turn: DMat3::IDENTITY - back.matrix3, shift: -back.translation, ..still }
    }

    /// Whether nothing of it moves in the substep.
    pub fn is_still(&self) -> bool {
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

/// Fills `all` with the colliders in every substep of the step to come, substep after substep, and `ends` with where
/// they are after it. What a host leads goes evenly from where it was to where it is wanted.
pub(crate) fn plan_step(
    (model, state, controls): (&Model, &State, &Controls),
    all: &mut Vec<Obstacle>,
    ends: &mut Vec<DAffine3>,
) {
    all.clear();
    ends.clone_from(&state.colliders);
    if model.colliders().is_empty() {
        return;
    }
    let (step, substeps) = (model.params.step, model.params.substeps);
    let begin = state.step as f64 * step;
    for k in 1..=substeps {
        let share = f64::from(k) / f64::from(substeps);
        for ((of, end), (began, wanted)) in
            model.colliders().iter().zip(ends.iter_mut()).zip(state.colliders.iter().zip(&controls.colliders))
        {
            let to = match wanted {
                Some(wanted) => between(began, wanted, share),
                None => of.collider.motion.placement(begin + step * share),
            };
            all.push(Obstacle::moving(of, end, &to));
            *end = to;
        }
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
        let obstacle = Obstacle::moving(&of, &from, &to);
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
        assert!(Obstacle::moving(&of, &from, &from).is_still());
        assert!(!obstacle.is_still());
    }
}
