//! Momentum taken back: strain limiting that obeys Newton's third law.
//!
//! The paper moves each particle beyond its limit by a factor of its own, so the corrections of a
//! cluster have a net momentum, and a particle that a plane holds back pushes nothing: limits give way
//! on the ground and set bodies spinning. Here each cluster answers its corrections c_i with the rigid
//! displacement a + b × (x_i − x̄) of the same momentum, taken away from all its members.
//!
//! Angular momentum after a step is Σ m x(t) × v(t + h), because x(t + h) = x(t) + h v(t + h). Lever arms
//! are therefore those of the positions at the *start* of the step, and conservation is exact.

use super::goals::{ClusterFit, beyond_limit};
use crate::model::Model;
use crate::points::Points;
use glam::{DMat3, DVec3};
use pliant_math::{angular_velocity, inertia_tensor_term};

/// The rigid displacement that balances a cluster's corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Balance {
    center: DVec3,
    inertia: DMat3,
    shift: DVec3,
    turn: DVec3,
}

impl Balance {
    /// Centre and inertia of cluster `c` at the start of the substep.
    pub fn begin(model: &Model, c: usize, start: &Points) -> Balance {
        let (set, rest) = (&model.topology.clusters, &model.rest);
        let members = || set.range(c).map(|slot| (set.members[slot] as usize, rest.share[slot]));
        let Some((first, _)) = members().next() else { return Balance::default() };
        let origin = start.get(first);
        let sum: DVec3 = members().map(|(i, share)| (start.get(i) - origin) * (share * rest.mass[i])).sum();
        let center = origin + sum / rest.clusters[c].mass;
        let inertia = members().fold(DMat3::ZERO, |inertia, (i, share)| {
            inertia + inertia_tensor_term(share * rest.mass[i], start.get(i) - center)
        });
        Balance { center, inertia, shift: DVec3::ZERO, turn: DVec3::ZERO }
    }

    /// Finds the displacement for the corrections of one iteration; `free` tells particles that move.
    #[allow(clippy::too_many_arguments)]
    pub fn measure(
        &mut self,
        model: &Model,
        c: usize,
        fit: &ClusterFit,
        gamma: f64,
        start: &Points,
        x: &Points,
        free: impl Fn(usize) -> bool,
    ) {
        let (set, rest) = (&model.topology.clusters, &model.rest);
        let cluster = &rest.clusters[c];
        let (mut push, mut torque) = (DVec3::ZERO, DVec3::ZERO);
        for slot in set.range(c) {
            let i = set.members[slot] as usize;
            let way = fit.way_to_goal(x.get(i), rest.positions.get(i), cluster);
            let (beyond, excess) = beyond_limit(way, gamma, cluster);
            if excess > 0.0 && free(i) {
                let moved = beyond * (rest.share[slot] * rest.mass[i]);
                push += moved;
                torque += (start.get(i) - self.center).cross(moved);
            }
        }
        self.shift = push / cluster.mass;
        self.turn = if torque == DVec3::ZERO { DVec3::ZERO } else { angular_velocity(self.inertia, torque) };
    }

    /// What a member that started the substep at `start` takes back.
    #[inline(always)]
    pub fn reaction(&self, start: DVec3) -> DVec3 {
        self.shift + self.turn.cross(start - self.center)
    }
}
