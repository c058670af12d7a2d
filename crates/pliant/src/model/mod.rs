//! What is simulated, apart from how it moves: the constant side of a simulation.
//!
//! A [`Model`] is [`Topology`] (what there is and what touches what), [`Rest`] (shapes and masses at
//! rest), [`Params`] (step, solvers, planes, pins) and the constraint batches, each shared and never
//! edited in place. An edit makes a new model with the next revision; caches are keyed by identity
//! of these parts, and a [`State`](crate::State) remembers the model it belongs to.

mod basis;
mod input;
mod params;
mod rest;
mod topology;

pub use basis::{ClusterBasis, QuadraticBasis, quadratic_terms};
pub use input::{BodyInput, Input, Moment, Sequence, SequenceError};
pub use params::{
    Acceleration, BodySettings, Goals, HalfSpace, Implicit, Integrator, MassMatrix, Motion, Params, PinGroup,
    WarmStart,
};
pub use rest::{ClusterRest, Rest};
pub use topology::{BodyTopology, ClusterSet, Membership, Topology};

use crate::constraints::ConstraintBatch;
use crate::controls::{BodyControls, Controls};
use std::sync::Arc;

/// A constraint batch and what it belongs to.
#[derive(Clone, Debug)]
pub struct ModelBatch {
    /// The body whose stiffness controls scale the batch.
    pub body: usize,
    /// Which of the body's stiffnesses scales it.
    pub scale: BatchScale,
    /// What it is multiplied by besides: a stiffness given with the constraint, else 1.
    pub factor: f64,
    /// The constraints.
    pub batch: Arc<dyn ConstraintBatch>,
}

/// Which control multiplies the weights of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchScale {
    /// [`BodyControls::stiffness`](crate::BodyControls::stiffness), as k/m in 1/s².
    Stiffness,
    /// [`BodyControls::edge_stiffness`](crate::BodyControls::edge_stiffness).
    EdgeStiffness,
    /// 2μ of the elements' material, Pa: strain of tetrahedra.
    Strain,
    /// 3λ: their volume.
    Volume,
    /// 2μ t, N/m: strain of triangles.
    SheetStrain,
    /// 2λ′ t: their area.
    SheetArea,
    /// D, N m: their bending.
    Bending,
    /// E A, N: strain of edges that are threads.
    Thread,
    /// The batch's own weights are final.
    Own,
}

impl BatchScale {
    /// The number that multiplies the batch's weights at present, with substeps of `h` seconds, for a
    /// body of `heavier` times the mass it was built with. Only ratios to the inertia move a body, and
    /// the inertia stays as built: what does not grow with the mass is divided by it.
    pub(crate) fn value(self, body: &BodyControls, h: f64, heavier: f64) -> f64 {
        let elastic = body.elasticity();
        match self {
            BatchScale::Stiffness => body.stiffness.per_mass(h),
            BatchScale::EdgeStiffness => body.edge_stiffness / heavier,
            BatchScale::Strain => 2.0 * elastic.mu() / heavier,
            BatchScale::Volume => 3.0 * elastic.lambda() / heavier,
            BatchScale::SheetStrain => 2.0 * elastic.mu() * elastic.thickness / heavier,
            BatchScale::SheetArea => 2.0 * elastic.lambda_of_sheet() * elastic.thickness / heavier,
            BatchScale::Bending => elastic.bending() / heavier,
            BatchScale::Thread => elastic.stretching_of_thread() / heavier,
            BatchScale::Own => 1.0 / heavier,
        }
    }
}

/// Which model a state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ModelId {
    /// Counts the edits since the model was built.
    pub revision: u64,
    /// Digest of topology, rest shape and parameters.
    pub fingerprint: u64,
}

/// Everything about the bodies that does not change from step to step.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) topology: Arc<Topology>,
    pub(crate) rest: Arc<Rest>,
    pub(crate) params: Arc<Params>,
    pub(crate) batches: Arc<[ModelBatch]>,
    id: ModelId,
}

impl Model {
    /// Puts the parts together as revision 0. They were checked, and whoever steps relies on it: only the
    /// builder makes models.
    pub(crate) fn new(topology: Topology, rest: Rest, params: Params, batches: Vec<ModelBatch>) -> Model {
        let fingerprint = fingerprint(&topology, &rest, &params, &batches);
        Model {
            topology: Arc::new(topology),
            rest: Arc::new(rest),
            params: Arc::new(params),
            batches: batches.into(),
            id: ModelId { revision: 0, fingerprint },
        }
    }

    /// The same bodies under other parameters that were checked, as the next revision.
    pub(crate) fn with_params(&self, params: Params) -> Model {
        let fingerprint = fingerprint(&self.topology, &self.rest, &params, &self.batches);
        let id = ModelId { revision: self.id.revision + 1, fingerprint };
        Model { params: Arc::new(params), id, ..self.clone() }
    }

    /// Particles, elements, clusters, incidence.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Rest shapes and masses.
    pub fn rest(&self) -> &Rest {
        &self.rest
    }

    /// Step, solvers, planes and pins.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Constraints of the projective solver, in a fixed order.
    pub fn batches(&self) -> &[ModelBatch] {
        &self.batches
    }

    /// Revision and digest.
    pub fn id(&self) -> ModelId {
        self.id
    }

    /// Number of particles.
    pub fn particle_count(&self) -> usize {
        self.rest.mass.len()
    }

    /// How many times the mass it was built with body `b` has at present.
    pub(crate) fn heavier(&self, controls: &Controls, b: usize) -> f64 {
        controls.bodies[b].mass / self.rest.body_mass[b]
    }

    /// What the weights of batch `k` are multiplied by at present.
    pub(crate) fn batch_scale(&self, controls: &Controls, k: usize) -> f64 {
        let b = &self.batches[k];
        let heavier = self.heavier(controls, b.body);
        b.factor * b.scale.value(&controls.bodies[b.body], self.params.substep(), heavier)
    }

    /// Rest shapes at a time: those of bodies with an animated input follow it.
    pub fn rest_at(&self, time: f64) -> std::borrow::Cow<'_, Rest> {
        let mut rest = std::borrow::Cow::Borrowed(&*self.rest);
        for input in self.params.inputs.iter().filter(|i| i.input.reshape) {
            rest.to_mut().reshape(&self.topology, input.body, &input.input.sequence.at(time));
        }
        rest
    }

    /// Index of the body of this name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.topology.bodies.iter().position(|b| b.name == name)
    }

    /// Whether two models share topology, rest shape, parameters and constraints, so that a cache
    /// made for one serves the other.
    pub fn same_parts(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.topology, &other.topology)
            && Arc::ptr_eq(&self.rest, &other.rest)
            && Arc::ptr_eq(&self.params, &other.params)
            && Arc::ptr_eq(&self.batches, &other.batches)
    }

    /// Whether a state of one has the sizes of a state of the other, body by body, in equal steps of time.
    pub(crate) fn same_sizes(&self, other: &Model) -> bool {
        let bodies = |m: &Model| m.topology.bodies.iter().map(|b| b.particles.clone()).collect::<Vec<_>>();
        bodies(self) == bodies(other)
            && self.topology.clusters.len() == other.topology.clusters.len()
            && self.auxiliary_offsets().last() == other.auxiliary_offsets().last()
            && self.params.pins.len() == other.params.pins.len()
            && self.params.step == other.params.step
    }

    /// Where the auxiliary state of each batch begins, then that of the bodies, a number each: the energy that steps with
    /// `implicitness` below 1 have lost lately. The last is the length of all.
    pub fn auxiliary_offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for b in self.batches.iter() {
            offsets.push(offsets[offsets.len() - 1] + b.batch.state_len());
        }
        offsets.push(offsets[offsets.len() - 1] + self.topology.bodies.len());
        offsets
    }
}

fn fingerprint(topology: &Topology, rest: &Rest, params: &Params, batches: &[ModelBatch]) -> u64 {
    let mut hash = crate::bytes::Digest::default();
    for body in &topology.bodies {
        hash.bytes(body.name.as_bytes());
        hash.word(body.solid.into());
        for r in [&body.particles, &body.clusters, &body.edges, &body.faces] {
            hash.word(r.start as u64);
            hash.word(r.end as u64);
        }
    }
    let indices = [
        topology.edges.as_flattened(),
        topology.faces.as_flattened(),
        &topology.clusters.offsets,
        &topology.clusters.members,
    ];
    for list in indices {
        hash.word(list.len() as u64);
        list.iter().for_each(|&i| hash.word(i.into()));
    }
    let [x, y, z] = rest.positions.columns();
    let stiffness: Vec<f64> = rest.clusters.iter().map(|c| c.stiffness).collect();
    for list in [x, y, z, &rest.mass, &rest.measure, &rest.radius, &rest.share, &stiffness] {
        hash.word(list.len() as u64);
        list.iter().for_each(|v| hash.number(*v));
    }
    params.digest(&mut hash);
    for b in batches {
        hash.bytes(b.batch.kind().as_bytes());
        hash.word(b.body as u64);
        hash.word(b.scale as u64);
        hash.number(b.factor);
        hash.bytes(&b.batch.encode());
    }
    hash.finish()
}
