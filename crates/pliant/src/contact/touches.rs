//! What touches what, as data: told from a state, so that stepping costs nothing for it.

use super::{ColliderTrajectory, Obstacles};
use crate::model::{BodyId, BodyModel, ColliderId, HalfSpace, Model};
use crate::simulation::Simulation;
use crate::state::{BodyState, State};
use glam::DVec3;
use pliant_geometry::colliders::NearestPoint;

/// A particle that touches a collider.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Touch {
    /// The particle, by index within its body; of one that never deforms, the point of contact, counted on from its four
    /// particles.
    pub particle: u32,
    /// What it touches.
    pub collider: ColliderId,
    /// Unit normal, away from the collider.
    pub normal: DVec3,
    /// The point of the collider that is touched.
    pub point: DVec3,
    /// How far the ball of the particle's contact radius is from the collider; negative inside, else about zero.
    pub gap: f64,
}

impl HalfSpace {
    /// Whether a particle of this radius at `x` touches the plane. What was pushed out of one lies on it to rounding.
    #[inline]
    pub fn touches(&self, x: impl Into<DVec3>, radius: f64) -> bool {
        let x = x.into();
        self.gap(x) <= radius + 1e-9 * (1.0 + x.abs().max_element())
    }
}

impl Simulation {
    /// What touches colliders of a body's particles at present, by particle and then by collider; nothing if the body is
    /// gone. [`Touches`] tells the same in memory that is kept.
    pub fn touches(&self, body: impl Into<BodyId>) -> std::vec::IntoIter<Touch> {
        let mut touches = Touches::default();
        touches.look(self, body);
        touches.list.into_iter()
    }

    /// The colliders as they are at present, to be asked how far points are from them.
    pub fn present_colliders(&self) -> PresentColliders {
        PresentColliders::of(&self.model, &self.state)
    }

    /// Velocities of a body's particles, as [`Simulation::velocity`] tells them; none if the body is gone.
    pub fn velocities(&self, body: impl Into<BodyId>) -> impl ExactSizeIterator<Item = DVec3> + '_ {
        let k = self.model.index(body);
        let count = k.map_or(0, |k| self.state.bodies[k].x.len());
        // With no body there is nothing to go through.
        let present = k.map(|k| self.present(k));
        (0..count).map(move |i| present.map_or(DVec3::ZERO, |p| p.velocity(i)))
    }
}

/// Tells what touches, step after step, in memory that is kept by the host.
#[derive(Clone, Debug, Default)]
pub struct Touches {
    around: PresentColliders,
    list: Vec<Touch>,
}

impl Touches {
    /// What touches colliders of a body's particles at present, by particle and then by collider; nothing if the body is
    /// gone. Allocates only to grow.
    pub fn look(&mut self, simulation: &Simulation, body: impl Into<BodyId>) -> &[Touch] {
        let Touches { around, list } = self;
        list.clear();
        let Some(k) = simulation.model.index(body) else { return list };
        around.refresh(&simulation.model, &simulation.state);
        let (parts, state) = (&simulation.model.bodies()[k].parts, &simulation.state.bodies[k]);
        // Most that touch touch one thing.
        list.reserve(parts.point_count());
        for (i, x, radius) in parts.contact_points(state) {
            let (first, particle) = (list.len(), i as u32);
            around.each(x, radius + slack(x), |collider, near| {
                let NearestPoint { normal, point, gap } = near;
                list.push(Touch { particle, collider, normal, point, gap: gap - radius });
            });
            list[first..].sort_unstable_by_key(|t| t.collider);
        }
        list
    }
}

/// What was pushed out of something lies on it to rounding.
fn slack(x: DVec3) -> f64 {
    1e-9 * (1.0 + x.abs().max_element())
}

/// The colliders of a state, standing still where they are.
#[derive(Clone, Debug, Default)]
pub struct PresentColliders {
    course: ColliderTrajectory,
}

impl PresentColliders {
    /// Those of a state of a model.
    pub fn of(model: &Model, state: &State) -> PresentColliders {
        let mut present = PresentColliders::default();
        present.refresh(model, state);
        present
    }

    /// Takes up those of another state, in the memory it has.
    pub fn refresh(&mut self, model: &Model, state: &State) {
        self.course.stand(model, state);
    }

    fn all(&self) -> Obstacles<'_> {
        self.course.substep(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    /// The colliders that a point is in, or no further than `within` from, in ascending order, with how far it is from
    /// each (negative inside), the normal there and the nearest point of its surface.
    pub fn near(&self, x: impl Into<DVec3>, within: f64) -> Vec<(ColliderId, NearestPoint)> {
        let mut found: Vec<(ColliderId, NearestPoint)> = Vec::new();
        self.each(x.into(), within, |collider, near| found.push((collider, near)));
        found.sort_by_key(|(id, _)| *id);
        found
    }

    /// Whether a particle of this radius touches anything.
    pub fn touch(&self, x: impl Into<DVec3>, radius: f64) -> bool {
        let (x, mut any) = (x.into(), false);
        self.each(x, radius + slack(x), |_, _| any = true);
        any
    }

    /// The colliders that some of these points are in, in ascending order, and how deep the deepest is.
    pub fn deepest(&self, points: impl Iterator<Item = impl Into<DVec3>>) -> Vec<(ColliderId, f64)> {
        let mut found: Vec<(ColliderId, f64)> = Vec::new();
        for x in points.map(Into::into) {
            self.each(x, -slack(x), |id, near| match found.iter_mut().find(|(c, _)| *c == id) {
                Some((_, deepest)) => *deepest = deepest.max(-near.gap),
                None => found.push((id, -near.gap)),
            });
        }
        found.sort_by_key(|(id, _)| *id);
        found
    }

    /// How deep a particle of this radius is in the collider it is deepest in; nothing if it is in none.
    pub fn depth(&self, x: impl Into<DVec3>, radius: f64) -> f64 {
        let mut deepest = 0.0_f64;
        self.each(x.into(), radius, |_, near| deepest = deepest.max(radius - near.gap));
        deepest
    }

    fn each(&self, x: DVec3, within: f64, mut each: impl FnMut(ColliderId, NearestPoint)) {
        let all = self.all();
        for o in all.planes {
            let gap = o.end.gap(x);
            if gap <= within {
                let (normal, point) = (o.end.normal, x - o.end.normal * gap);
                each(ColliderId::from_number(o.collider), NearestPoint { gap, normal, point });
            }
        }
        for (solid, form) in all.formed() {
            if let Some(near) = solid.nearest(form, x, within) {
                each(ColliderId::from_number(solid.collider), near);
            }
        }
    }

    /// How many points of a body touch each collider, in ascending order.
    pub(super) fn counts(&self, model: &BodyModel, state: &BodyState, counts: &mut Vec<(ColliderId, usize)>) {
        counts.clear();
        for (_, x, r) in model.contact_points(state) {
            self.each(x, r + slack(x), |id, _| match counts.iter_mut().find(|(c, _)| *c == id) {
                Some((_, count)) => *count += 1,
                None => counts.push((id, 1)),
            });
        }
        counts.sort_unstable_by_key(|(id, _)| *id);
    }
}
