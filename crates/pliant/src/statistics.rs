//! What a state amounts to: energies, momenta, strain, penetration.

use crate::constraints::View;
use crate::controls::Controls;
use crate::model::{BatchScale, BodySettings, Integrator, Model};
use crate::points::Points;
use crate::solvers::{SolverKind, clustered};
use crate::state::State;
use glam::DVec3;

/// Sums over all bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// ½ Σ m v².
    pub kinetic: f64,
    /// Energy of all springs and constraints.
    pub elastic: f64,
    /// −Σ m g·x.
    pub gravity: f64,
    /// Σ m v.
    pub momentum: DVec3,
    /// Σ m x × v, about the origin.
    pub angular_momentum: DVec3,
    /// Largest relative deformation of any particle.
    pub max_strain: f64,
    /// Deepest point inside a half-space, as a positive depth, radii included. Pinned particles do not count: they are
    /// where they are held.
    pub max_penetration: f64,
}

/// What tells how fast particles move where velocities do not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Motion<'a> {
    /// Positions a step ago.
    pub before: Option<&'a Points>,
}

impl Motion<'_> {
    /// The velocity of particle `i`; see [`Simulation::velocity`](crate::Simulation::velocity).
    pub fn of(self, model: &Model, state: &State, i: usize) -> DVec3 {
        let bodies = model.topology.bodies.iter().zip(&model.params.bodies);
        let settings = bodies.into_iter().find(|(body, _)| body.particles.contains(&i));
        self.moving(model, state, i, settings.is_some_and(|(_, settings)| jumps(settings)))
    }

    fn moving(self, model: &Model, state: &State, i: usize, jumps: bool) -> DVec3 {
        match self.before.filter(|_| jumps) {
            Some(before) => (state.x.get(i) - before.get(i)) / model.params.step,
            None => state.v.get(i),
        }
    }
}

/// Whether a body's particles are moved beside their velocities.
fn jumps(settings: &BodySettings) -> bool {
    settings.solver == SolverKind::Clustered && settings.integrator == Integrator::Deformer
}

/// Measures a state and the strain of each particle.
pub(crate) fn measure(
    model: &Model,
    controls: &Controls,
    state: &State,
    motion: Motion<'_>,
    each: &mut Vec<f64>,
) -> Statistics {
    let mut s = Statistics::default();
    let mut pinned = vec![false; model.particle_count()];
    for group in model.params.pins.iter().filter(|g| g.stiffness.is_none()) {
        group.particles.iter().for_each(|&i| pinned[i as usize] = true);
    }
    let bodies = model.topology.bodies.iter().enumerate();
    let particles = bodies.flat_map(|(b, body)| {
        let (heavier, jumps) = (model.heavier(controls, b), jumps(&model.params.bodies[b]));
        body.particles.clone().map(move |i| (i, heavier * model.rest.mass[i], jumps))
    });
    for (i, m, jumps) in particles {
        let (x, v) = (state.x.get(i), motion.moving(model, state, i, jumps));
        // The mass first: of a body light enough v² has no number while its energy has one.
        let momentum = m * v;
        s.kinetic += 0.5 * momentum.dot(v);
        s.gravity -= controls.gravity().dot(m * x);
        s.momentum += momentum;
        s.angular_momentum += x.cross(momentum);
        for plane in model.params.planes.iter().filter(|_| !pinned[i]) {
            s.max_penetration = s.max_penetration.max(model.rest.radius[i] - plane.gap(x));
        }
    }
    s.elastic = clustered::elastic_energy(model, controls, state);
    for_each_batch(model, controls, state, |k, view| {
        let b = &model.batches[k];
        let scale = model.batch_scale(controls, k);
        s.elastic += model.heavier(controls, b.body) * scale * b.batch.energy(view);
    });
    strain(model, controls, state, each);
    s.max_strain = each.iter().copied().fold(0.0, f64::max);
    s
}

/// Relative deformation of each particle, whoever moves it.
pub fn strain(model: &Model, controls: &Controls, state: &State, strain: &mut Vec<f64>) {
    strain.clear();
    strain.resize(model.particle_count(), 0.0);
    clustered::raise_strain(model, controls, state, strain);
    for_each_batch(model, controls, state, |k, view| {
        // Edges without stiffness hold nothing and say nothing.
        let b = &model.batches[k];
        if b.scale != BatchScale::EdgeStiffness || controls.bodies[b.body].edge_stiffness > 0.0 {
            b.batch.raise_strain(view, strain);
        }
    });
}

fn for_each_batch(model: &Model, controls: &Controls, state: &State, mut f: impl FnMut(usize, View<'_>)) {
    let offsets = model.auxiliary_offsets();
    let mut placements = Vec::new();
    controls.placements(model, state.time, &mut placements);
    for (k, b) in model.batches.iter().enumerate() {
        let mut shared = vec![0.0; b.batch.shared_len()];
        b.batch.begin_iteration(&state.x, &mut shared);
        let state_part = &state.auxiliary[offsets[k]..offsets[k + 1]];
        f(k, View { x: &state.x, state: state_part, shared: &shared, placements: &placements });
    }
}
