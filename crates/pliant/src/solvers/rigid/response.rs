//! A solid as contacts and couplings see it.
//!
//! A force f acts at an arm r from the centre as it was when the substep began, and moves the point that is at the arm s when it
//! ends by h² (f/m + I⁻¹(r × f) × s): blocks of 3×3, of rank six however many points there are. A solid that is alone is solved
//! for with these; where it is tied to others, responses must be symmetric, and both arms are taken in the middle of the
//! substep. Forces are pushed with by finding the whole motion anew, so every round sees what the response before left
//! out.

use super::{Pose, RigidCache, Touch};
use crate::contact::{LookedAt, Nodes, Obstacles, Respond, SolidResponse, SubstepStart};
use crate::model::ContactGroup;
use crate::points::Points;
use crate::team::Team;
use glam::{DMat3, DVec3};

impl RigidCache {
    /// From the centre to a point, as the solid lies at a pose.
    pub(super) fn arm(&self, pose: &Pose, point: usize) -> DVec3 {
        let of_contact = |point: usize| pose.axes * self.rest.contact[point - 4].at;
        match point.checked_sub(self.points) {
            Some(k) => of_contact(self.touches[k].point as usize) + self.touches[k].arm,
            None if point < 4 => pose.arm(&self.rest, point),
            None => of_contact(point),
        }
    }

    /// The same in the middle of the substep.
    fn middle(&self, point: usize) -> DVec3 {
        (self.arm(&self.from, point) + self.arm(&self.to, point)) * 0.5
    }

    /// How a force and a moment move what is at an arm from the centre.
    fn moves(&self, force: DVec3, moment: DVec3, arm: DVec3) -> DVec3 {
        if self.led {
            return DVec3::ZERO;
        }
        (force / self.rest.mass + (self.inverse * moment).cross(arm)) * (self.h * self.h)
    }

    /// How far forces at an arm turn what they move: the root of the greatest eigenvalue of [r]ᵀ I⁻¹ [r], which has rank two.
    fn leverage(&self, arm: DVec3) -> f64 {
        let across = |axis: DVec3| axis.cross(arm);
        let [x, y, z] = DVec3::AXES.map(across);
        let [u, v, w] = [self.inverse * x, self.inverse * y, self.inverse * z];
        // Of [r]ᵀ I⁻¹ [r] by its columns.
        let block = DMat3::from_cols(
            DVec3::new(x.dot(u), y.dot(u), z.dot(u)),
            DVec3::new(x.dot(v), y.dot(v), z.dot(v)),
            DVec3::new(x.dot(w), y.dot(w), z.dot(w)),
        );
        let trace = block.x_axis.x + block.y_axis.y + block.z_axis.z;
        let squares =
            block.x_axis.length_squared() + block.y_axis.length_squared() + block.z_axis.length_squared();
        (0.5 * (trace + (2.0 * squares - trace * trace).max(0.0).sqrt())).sqrt()
    }
}

impl Respond for RigidCache {
    fn is_constant(&self) -> bool {
        self.led
    }

    fn beginning(&self) -> &SubstepStart {
        &self.beginning
    }

    fn touch(&mut self, point: u32, normal: DVec3) -> u32 {
        let radius = self.model.rest().radius[point as usize];
        if radius == 0.0 {
            return point;
        }
        self.touches.push(Touch { point, arm: normal * -radius });
        let start = self.beginning.start.get(point as usize);
        self.beginning.start.push(start);
        (self.points + self.touches.len() - 1) as u32
    }

    fn touch_elsewhere(&mut self, node: u32, normal: DVec3) {
        if let Some(touch) = (node as usize).checked_sub(self.points).and_then(|k| self.touches.get_mut(k)) {
            touch.arm = normal * -self.model.rest().radius[touch.point as usize];
        }
    }

    /// What touches beside a point of contact counts as there, turned along: along its normal that is the same.
    fn end(&self, point: usize) -> DVec3 {
        let of_contact = |point: usize| self.to.place(self.rest.contact[point - 4].at);
        match point.checked_sub(self.points) {
            Some(k) => {
                of_contact(self.touches[k].point as usize) + self.rotation_vector.cross(self.touches[k].arm)
            }
            None if point < 4 => self.to.center + self.to.arm(&self.rest, point),
            None => of_contact(point),
        }
    }

    fn ends(&self, to: &mut Points) {
        (0..to.len()).for_each(|i| to.set(i, self.end(i)));
    }

    /// Of many points of contact only those are looked at whose group comes near a plane.
    fn look(&self, obstacles: Obstacles<'_>, reach: f64, to: &mut Points, near: &mut LookedAt) {
        if self.rest.groups.is_empty() || !obstacles.solids.is_empty() {
            self.ends(to);
            return near.take_all(to.len());
        }
        let meets = |group: &&ContactGroup| {
            let at = self.to.place(group.center);
            obstacles.planes.iter().any(|p| p.end.gap(at) - group.radius < reach)
        };
        let groups = self.rest.groups.iter().filter(meets);
        near.take(groups.flat_map(|g| &g.points).map(|point| point + 4));
        for i in (0..near.len()).map(|k| near.get(k)) {
            to.set(i, self.end(i));
        }
    }

    fn free_end(&self, point: usize) -> DVec3 {
        self.end(point) - self.moves(self.held.0, self.held.1, self.middle(point))
    }

    fn prepare(&mut self, nodes: &Nodes, _: &Team) -> bool {
        let mut arms = std::mem::take(&mut self.arms);
        arms.clear();
        arms.extend(
            nodes
                .particles()
                .iter()
                .map(|i| [self.arm(&self.from, *i as usize), self.arm(&self.to, *i as usize)]),
        );
        self.arms = arms;
        let ends = [&self.from, &self.to].map(|pose| pose.inverse_inertia(&self.rest));
        self.inverse = (ends[0] + ends[1]) * 0.5;
        let loads = self.loads.iter().copied().zip(&self.arms);
        self.held = resultant(loads.map(|(f, arms)| (middle(arms), f)));
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        let loads = self.arms.iter().enumerate().take(nodes.len());
        let (force, moment) = resultant(loads.map(|(k, arms)| (middle(arms), nodes.force(k))));
        for k in 0..nodes.len() {
            let moved = self.moves(force, moment, middle(&self.arms[k]));
            nodes.set_movement(k, moved);
        }
    }

    /// ‖C_ab‖ ≤ h² (1/m + σ_a σ_b), which is exact for a = b.
    fn reach(&mut self, nodes: &mut Nodes, _: &Team) {
        let (mut sum, mut levered) = (0.0, 0.0);
        for (weight, arms) in nodes.weights.iter().zip(&self.arms) {
            sum += weight;
            levered += weight * self.leverage(middle(arms));
        }
        let square = if self.led { 0.0 } else { self.h * self.h };
        for k in 0..nodes.len() {
            let bound = sum / self.rest.mass + levered * self.leverage(middle(&self.arms[k]));
            nodes.set_movement(k, DVec3::X * (square * bound));
        }
    }

    fn is_solid(&self) -> bool {
        !self.led
    }

    fn solid(&self) -> SolidResponse<'_> {
        let square = self.h * self.h;
        let (per_mass, per_inertia) = (square / self.rest.mass, self.inverse * square);
        SolidResponse { per_mass, per_inertia, arms: &self.arms }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        if self.led {
            return;
        }
        self.loads.clear();
        self.loads.extend((0..nodes.len()).map(|k| nodes.force(k)));
        let loads = self.loads.iter().copied().zip(&self.arms);
        let (force, moment) = resultant(loads.map(|(f, arms)| (arms[0], f)));
        self.now.velocity = self.free.velocity + force * (self.h / self.rest.mass);
        self.now.angular_momentum = self.free.angular_momentum + moment * self.h;
        let was = self.to;
        self.to = self.moved_by(&self.now);
        self.rotation_vector = self.rotation_vector();
        let turned = [self.to.axes.x_axis - was.axes.x_axis, self.to.axes.y_axis - was.axes.y_axis];
        let turned = turned[0].length() + turned[1].length();
        self.moved = self.to.center.distance(was.center) / self.beginning.size + turned;
    }
}

/// The arm of a force in the middle of the substep.
fn middle(arms: &[DVec3; 2]) -> DVec3 {
    (arms[0] + arms[1]) * 0.5
}

/// The sum of forces, and of their moments at these arms.
fn resultant(loads: impl Iterator<Item = (DVec3, DVec3)>) -> (DVec3, DVec3) {
    loads.fold((DVec3::ZERO, DVec3::ZERO), |(force, moment), (arm, f)| (force + f, moment + arm.cross(f)))
}
