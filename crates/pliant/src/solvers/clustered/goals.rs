//! Goals one particle at a time: what statistics are made of, and the reference the lanes are held to.

use super::fit::{Fit, GoalMethod, Sums, fit, to_rotate};
use crate::controls::{BodyControls, LiveControls};
use crate::memory::Section;
use crate::model::{BodyModel, Goals, Rest, quadratic_terms};
use crate::state::BodyState;
use glam::{DMat3, DVec3};
use pliant_math::nearest_rotation;

/// A cluster's goals, relative to a member: their rounding is that of the cluster's size.
pub(super) struct ClusterFit {
    pub origin: DVec3,
    pub fit: Fit,
}

/// The goals of cluster `c` in a state.
fn fit_cluster(
    model: &BodyModel,
    rest: &Rest,
    controls: &BodyControls,
    state: &BodyState,
    c: usize,
) -> ClusterFit {
    let set = &model.topology().clusters;
    let (cluster, basis) = (&rest.clusters[c], &rest.bases[c]);
    let origin = set.particles(c).first().map_or(DVec3::ZERO, |&i| state.x.get(i as usize));
    let mut sums = Sums::ZERO;
    for slot in set.range(c) {
        let i = set.members[slot] as usize;
        let x = (state.x.get(i) - origin) * (rest.share[slot] * rest.mass[i]);
        let q = rest.positions.get(i) - cluster.center;
        sums.first += x;
        sums.covariance += DMat3::from_cols(x * q.x, x * q.y, x * q.z);
        if basis.goals == Goals::Quadratic {
            let terms = quadratic_terms(q / cluster.width);
            sums.quadratic.iter_mut().zip(terms).for_each(|(sum, t)| *sum += x * t);
        }
    }
    let plastic = &state.memory.matrix(Section::Plastic, c);
    let rotation = nearest_rotation(to_rotate(&sums, plastic), state.memory.matrix(Section::Rotations, c));
    let making = GoalMethod::of(model.kind.matching().unwrap_or_default());
    let fit = fit(&sums, cluster, basis, rotation, plastic, making, controls);
    ClusterFit { origin, fit }
}

/// Calls `f(cluster, rest shape, its fit)` for every cluster of a body at a time.
fn for_each_cluster(
    model: &BodyModel,
    controls: &BodyControls,
    state: &BodyState,
    time: f64,
    mut f: impl FnMut(usize, &Rest, &ClusterFit),
) {
    let rest = model.rest_at(time);
    for c in 0..model.topology().clusters.len() {
        f(c, &rest, &fit_cluster(model, &rest, controls, state, c));
    }
}

/// Displacements g − x of the members of cluster `c` to their goals, as (particle, split mass, displacement).
fn displacements<'a>(
    model: &'a BodyModel,
    rest: &'a Rest,
    state: &'a BodyState,
    c: usize,
    cluster: &'a ClusterFit,
) -> impl Iterator<Item = (usize, f64, DVec3)> + 'a {
    let set = &model.topology().clusters;
    set.range(c).map(move |slot| {
        let i = set.members[slot] as usize;
        let goal = cluster.fit.goal(&rest.clusters[c], &rest.bases[c], rest.positions.get(i));
        (i, rest.share[slot] * rest.mass[i], goal - (state.x.get(i) - cluster.origin))
    })
}

/// Raises each particle's strain to the largest β = ‖x − g_ic‖ / w_c of its clusters (eq. 4).
pub fn raise_strain(
    model: &BodyModel,
    controls: LiveControls<'_>,
    state: &BodyState,
    time: f64,
    strain: &mut [f64],
) {
    for_each_cluster(model, controls.body, state, time, |c, rest, cluster| {
        let width = rest.clusters[c].width;
        if width > 0.0 {
            for (i, _, displacement) in displacements(model, rest, state, c, cluster) {
                strain[i] = strain[i].max(displacement.length() / width);
            }
        }
    });
}

/// Energy of the springs with k/m = α/h²: ½ k/m (Σ m |x − g*|² + (1 − β) Σ m |g* − r*|²), where g* is the
/// best-fit deformation and r* the best rigid motion; their gradient is k/m · m (x − g). For rigid goals
/// the two are the same and this is ½ k/m Σ m |x − g|².
pub fn elastic_energy(model: &BodyModel, controls: LiveControls<'_>, state: &BodyState, time: f64) -> f64 {
    let h = model.params.substep();
    let body = controls.body;
    let mut total = 0.0;
    for_each_cluster(model, body, state, time, |c, all, cluster| {
        let (rest, basis) = (&all.clusters[c], &all.bases[c]);
        let k = body.stiffness.alpha(h) / (h * h) * model.mass_ratio(body) * rest.stiffness;
        let to_goal: f64 = displacements(model, all, state, c, cluster)
            .map(|(_, m, displacement)| m * displacement.length_squared())
            .sum();
        // |x − g|² = |x − g*|² + (1 − β)² |g* − r*|², with g − r* = β (g* − r*).
        let beta = body.deformation;
        let mut between = 0.0;
        if basis.goals != Goals::Rigid && beta > 0.0 {
            let rigid = Fit {
                linear: cluster.fit.rotation * state.memory.matrix(Section::Plastic, c),
                quadratic: [DVec3::ZERO; 6],
                offset: DVec3::ZERO,
                ..cluster.fit
            };
            for (m, r) in all.members(model.topology(), c) {
                let apart = cluster.fit.goal(rest, basis, r) - rigid.goal(rest, basis, r);
                between += m * apart.length_squared();
            }
            between *= (1.0 - beta) / beta;
        }
        total += 0.5 * k * (to_goal + between);
    });
    total
}
