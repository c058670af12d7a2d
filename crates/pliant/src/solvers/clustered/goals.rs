//! Goal positions: the best-fit rigid motion of each cluster, and what it says about its particles.

use crate::controls::Controls;
use crate::model::{ClusterRest, Model};
use crate::points::Points;
use crate::solvers::SolverKind;
use crate::state::State;
use glam::{DMat3, DVec3};
use pliant_math::nearest_rotation;

/// Best-fit rigid motion of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ClusterFit {
    pub rotation: DMat3,
    /// A member's position, and the centre of mass x_cm relative to it. Kept apart because their sum
    /// would round to the distance from the origin, a bias that never averages out.
    pub origin: DVec3,
    pub center: DVec3,
}

impl Default for ClusterFit {
    fn default() -> Self {
        ClusterFit { rotation: DMat3::IDENTITY, origin: DVec3::ZERO, center: DVec3::ZERO }
    }
}

impl ClusterFit {
    /// The way g_ic − x_i to the goal g_ic = R (r_i − r_cm) + x_cm (strain-limiting, eq. 2). Its
    /// rounding is that of the cluster's size, not of its distance from the origin: a body at rest far
    /// away stays at rest.
    #[inline(always)]
    pub fn way_to_goal(&self, x: DVec3, rest: DVec3, cluster: &ClusterRest) -> DVec3 {
        self.rotation * (rest - cluster.center) - (x - self.origin - self.center)
    }
}

/// Lines 9 and 10 of algorithm 2 as a correction: how far along its way to the goal a particle must go
/// to be within γ cluster widths of it, and its excess over the limit in widths; zero within.
#[inline(always)]
pub(super) fn beyond_limit(way: DVec3, gamma: f64, cluster: &ClusterRest) -> (DVec3, f64) {
    let (distance, limit) = (way.length(), gamma * cluster.width);
    if distance > limit {
        (way * (1.0 - limit / distance), (distance - limit) / cluster.width)
    } else {
        (DVec3::ZERO, 0.0)
    }
}

/// Line 6 of algorithm 2 for cluster `c`: one pass over its members. About the rest centre Σ m r = 0,
/// so the unknown mean of x drops out of the covariance and need not be known first.
pub(super) fn fit_clusters(model: &Model, c: usize, x: &Points, previous: DMat3) -> ClusterFit {
    let (set, rest) = (&model.topology.clusters, &model.rest);
    let cluster = &rest.clusters[c];
    let slots = set.range(c);
    let Some(&first) = set.members.get(slots.start) else {
        return ClusterFit { rotation: previous, ..ClusterFit::default() };
    };
    // Offsets from a member keep the sums small for bodies far from the origin.
    let origin = x.get(first as usize);
    let (mut sum, mut a0, mut a1, mut a2) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
    for slot in slots {
        let i = set.members[slot] as usize;
        let d = (x.get(i) - origin) * (rest.share[slot] * rest.mass[i]);
        let r = rest.positions.get(i) - cluster.center;
        sum += d;
        a0 += d * r.x;
        a1 += d * r.y;
        a2 += d * r.z;
    }
    ClusterFit {
        rotation: nearest_rotation(DMat3::from_cols(a0, a1, a2), previous),
        origin,
        center: sum / cluster.mass,
    }
}

fn for_each_membership(model: &Model, state: &State, mut f: impl FnMut(usize, usize, f64, f64)) {
    let (set, rest) = (&model.topology.clusters, &model.rest);
    for (body, _) in model
        .topology
        .bodies
        .iter()
        .zip(&model.params.bodies)
        .filter(|(_, s)| s.solver == SolverKind::Clustered)
    {
        for c in body.clusters.clone() {
            let fit = fit_clusters(model, c, &state.x, state.frames[c]);
            for slot in set.range(c) {
                let i = set.members[slot] as usize;
                let way = fit.way_to_goal(state.x.get(i), rest.positions.get(i), &rest.clusters[c]);
                f(c, i, rest.share[slot] * rest.mass[i], way.length());
            }
        }
    }
}

/// Raises each particle's strain to the largest β = ‖x − g_ic‖ / w_c of its clusters (eq. 4).
pub fn raise_strain(model: &Model, state: &State, strain: &mut [f64]) {
    for_each_membership(model, state, |c, i, _, distance| {
        let width = model.rest.clusters[c].width;
        if width > 0.0 {
            strain[i] = strain[i].max(distance / width);
        }
    });
}

/// Energy ½ k/m Σ m_ic ‖x − g_ic‖² of the springs, with k/m = α/h².
pub fn elastic_energy(model: &Model, controls: &Controls, state: &State) -> f64 {
    let h = model.params.substep();
    let mut body_of_cluster = model.topology.bodies.iter().enumerate();
    let (mut b, mut end) = body_of_cluster.next().map_or((0, 0), |(b, body)| (b, body.clusters.end));
    let mut total = 0.0;
    for_each_membership(model, state, |c, _, mass, distance| {
        while c >= end {
            let Some((next, body)) = body_of_cluster.next() else {
                return;
            };
            (b, end) = (next, body.clusters.end);
        }
        let k = controls.bodies[b].stiffness.alpha(h) / (h * h);
        total += 0.5 * k * model.heavier(controls, b) * mass * distance * distance;
    });
    total
}
