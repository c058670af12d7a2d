//! What a state amounts to: energies, momenta, strain, penetration.

use crate::constraints::View;
use crate::contact::PresentColliders;
use crate::controls::LiveControls;
use crate::memory::Section;
use crate::model::{BatchScale, BodyModel, Integrator};
use crate::points::Points;
use crate::solvers::{SolverKind, clustered};
use crate::state::BodyState;
use glam::DVec3;

/// Sums over bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
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
    /// Deepest point inside a collider, as a positive depth, radii included. Pinned particles do not count: they are
    /// where they are held.
    pub max_penetration: f64,
}

impl Statistics {
    /// Takes up another body.
    pub(crate) fn add(&mut self, other: &Statistics) {
        self.kinetic += other.kinetic;
        self.elastic += other.elastic;
        self.gravity += other.gravity;
        self.momentum += other.momentum;
        self.angular_momentum += other.angular_momentum;
        self.max_strain = self.max_strain.max(other.max_strain);
        self.max_penetration = self.max_penetration.max(other.max_penetration);
    }
}

/// A body at some time.
#[derive(Clone, Copy)]
pub(crate) struct Present<'a> {
    pub model: &'a BodyModel,
    pub controls: LiveControls<'a>,
    pub state: &'a BodyState,
    pub time: f64,
    /// Positions a step ago: they tell how fast particles move where velocities do not.
    pub before: Option<&'a Points>,
}

impl Present<'_> {
    /// The velocity of particle `i`; see [`Simulation::velocity`](crate::Simulation::velocity).
    pub fn velocity(&self, i: usize) -> DVec3 {
        match self.before.filter(|_| jumps(self.model)) {
            Some(before) => (self.state.x.get(i) - before.get(i)) / self.model.params.step,
            None => self.state.v.get(i),
        }
    }

    /// Measures the body, with what is around it, and the strain of each particle.
    pub fn measure(&self, around: &PresentColliders, each: &mut [f64]) -> Statistics {
        let Present { model, controls, state, .. } = *self;
        let mut s = Statistics::default();
        let mut pinned = vec![false; model.particle_count()];
        for group in model.pins.iter().filter(|g| g.stiffness.is_none()) {
            group.particles.iter().for_each(|&i| pinned[i as usize] = true);
        }
        let mass_ratio = model.mass_ratio(controls.body);
        for (i, m) in model.rest().mass.iter().enumerate() {
            let (x, v) = (state.x.get(i), self.velocity(i));
            let m = mass_ratio * m;
            // The mass first: of a body light enough v² has no number while its energy has one.
            let momentum = m * v;
            s.kinetic += 0.5 * momentum.dot(v);
            s.gravity -= controls.world.gravity.dot(m * x);
            s.momentum += momentum;
            s.angular_momentum += x.cross(momentum);
        }
        let held = |i: usize| pinned.get(i).copied().unwrap_or(pinned[0]);
        for (_, x, radius) in model.contact_points(state).filter(|(i, ..)| !held(*i)) {
            s.max_penetration = s.max_penetration.max(around.depth(x, radius));
        }
        if model.solver() == SolverKind::Clustered {
            s.elastic = clustered::elastic_energy(model, controls, state, self.time);
        }
        self.for_each_batch(|k, view| {
            let scale = model.batch_scale(controls.body, k);
            s.elastic += mass_ratio * scale * model.batches[k].batch.energy(view);
        });
        self.strain(each);
        s.max_strain = each.iter().copied().fold(0.0, f64::max);
        s
    }

    /// Relative deformation of each particle, whoever moves it.
    pub fn strain(&self, strain: &mut [f64]) {
        let Present { model, controls, state, time, .. } = *self;
        strain.fill(0.0);
        if model.solver() == SolverKind::Clustered {
            clustered::raise_strain(model, controls, state, time, strain);
        }
        self.for_each_batch(|k, view| {
            // Edges without stiffness hold nothing and say nothing.
            let b = &model.batches[k];
            if b.scale != BatchScale::EdgeStiffness || controls.body.edge_stiffness > 0.0 {
                b.batch.raise_strain(view, strain);
            }
        });
    }

    fn for_each_batch(&self, mut f: impl FnMut(usize, View<'_>)) {
        let Present { model, controls, state, time, .. } = *self;
        let offsets = model.memory_offsets();
        let mut targets = Vec::new();
        controls.targets(model, &state.memory, time, &mut targets);
        for (k, b) in model.batches.iter().enumerate() {
            let mut shared = vec![0.0; b.batch.shared_len()];
            b.batch.begin_iteration(&state.x, &mut shared);
            let own = &state.memory[Section::Batches][offsets[k]..offsets[k + 1]];
            f(k, View { x: &state.x, state: own, shared: &shared, targets: &targets });
        }
    }
}

/// Whether a body's particles are moved beside their velocities.
fn jumps(model: &BodyModel) -> bool {
    model.kind.matching().is_some_and(|m| m.integrator == Integrator::Deformer)
}
