//! A solid as contacts and couplings see it.
//!
//! A force f at r from the centre, both where the substep began, moves the point at s by h² (f/m + I⁻¹(r × f) × s): blocks of 3×3,
//! the same in all rounds, and of rank six however many points there are. What follows of it is the motion found anew with all
//! impulses, so the next round sees what the response leaves out, the turning of the arms within the substep.

use super::{RigidCache, Touch};
use crate::contact::{Nodes, Respond, SubstepStart};
use crate::points::Points;
use crate::team::Team;
use glam::{DMat3, DVec3};

impl RigidCache {
    /// From the centre to a point, where the substep began.
    pub(super) fn arm(&self, point: usize) -> DVec3 {
        let of_contact = |point: usize| self.from.axes * self.rest.contact[point - 4].at;
        match point.checked_sub(self.points) {
            Some(k) => of_contact(self.touches[k].point as usize) + self.touches[k].arm,
            None if point < 4 => self.from.arm(&self.rest, point),
            None => of_contact(point),
        }
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
    fn is_scalar(&self) -> bool {
        false
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
            Some(k) => of_contact(self.touches[k].point as usize) + self.way.cross(self.touches[k].arm),
            None if point < 4 => self.to.center + self.to.arm(&self.rest, point),
            None => of_contact(point),
        }
    }

    fn ends(&self, to: &mut Points) {
        (0..to.len()).for_each(|i| to.set(i, self.end(i)));
    }

    fn free_end(&self, point: usize) -> DVec3 {
        self.end(point) - self.moves(self.force, self.moment, self.arm(point))
    }

    fn prepare(&mut self, nodes: &Nodes, _: &Team) -> bool {
        let mut arms = std::mem::take(&mut self.arms);
        arms.clear();
        arms.extend(nodes.particles().iter().map(|i| self.arm(*i as usize)));
        self.arms = arms;
        false
    }

    fn respond(&mut self, nodes: &mut Nodes, _: &Team) {
        // Couplings ask for more nodes than there were when it was prepared: theirs are the first.
        let (force, moment) = self.resultant(nodes);
        for k in 0..nodes.len() {
            let moved = self.moves(force, moment, self.arms[k]);
            nodes.set_movement(k, moved);
        }
    }

    /// ‖C_ab‖ ≤ h² (1/m + σ_a σ_b), which is exact for a = b.
    fn reach(&mut self, nodes: &mut Nodes, _: &Team) {
        let (mut sum, mut levered) = (0.0, 0.0);
        for (k, weight) in nodes.weights.iter().enumerate() {
            sum += weight;
            levered += weight * self.leverage(self.arms[k]);
        }
        let square = if self.led { 0.0 } else { self.h * self.h };
        for k in 0..nodes.len() {
            let bound = sum / self.rest.mass + levered * self.leverage(self.arms[k]);
            nodes.set_movement(k, DVec3::X * (square * bound));
        }
    }

    fn push(&mut self, nodes: &Nodes, _: &Team) {
        if self.led {
            return;
        }
        (self.force, self.moment) = self.resultant(nodes);
        self.now.velocity = self.free.velocity + self.force * (self.h / self.rest.mass);
        self.now.turning = self.free.turning + self.moment * self.h;
        let was = self.to;
        self.to = self.moved_by(&self.now);
        self.way = self.way();
        let turned = [self.to.axes.x_axis - was.axes.x_axis, self.to.axes.y_axis - was.axes.y_axis];
        let turned = turned[0].length() + turned[1].length();
        self.moved = self.to.center.distance(was.center) / self.beginning.size + turned;
    }
}

impl RigidCache {
    /// The force of all nodes, and its moment about the centre where the substep began.
    fn resultant(&self, nodes: &Nodes) -> (DVec3, DVec3) {
        let zero = (DVec3::ZERO, DVec3::ZERO);
        self.arms.iter().enumerate().take(nodes.len()).fold(zero, |(force, moment), (k, arm)| {
            let f = nodes.force(k);
            (force + f, moment + arm.cross(f))
        })
    }
}
