//! What is simulated, apart from how it moves: the constant side of a simulation.
//!
//! A [`Model`] is a list of bodies and the [`Params`] of the world around them. Every body stands alone, in a numbering of
//! its own: a [`Prototype`] (what it is at rest), and what it alone has (settings, pins, animated input). Copies share
//! their prototype. Nothing of it is edited in place: an edit makes a new model with the next revision, in which
//! everything it did not touch is the same object as before; caches are keyed by identity of these parts.

mod basis;
mod body_id;
mod body_model;
mod input;
mod params;
mod prototype;
mod rest;
mod topology;

pub use basis::{ClusterBasis, QuadraticBasis, quadratic_terms};
pub use body_id::BodyId;
pub use body_model::BodyModel;
pub use input::{Input, Moment, Sequence, SequenceError};
pub use params::{
    Acceleration, BodySettings, Goals, HalfSpace, Implicit, Integrator, MassMatrix, Motion, Params, PinGroup,
    WarmStart,
};
pub use prototype::{BatchScale, ModelBatch, Prototype};
pub use rest::{ClusterRest, Rest};
pub use topology::{ClusterSet, Membership, Topology};

use std::sync::Arc;

/// Which model a state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ModelId {
    /// Counts the edits since the model was built.
    pub revision: u64,
    /// Digest of bodies and parameters.
    pub fingerprint: u64,
}

/// A body of a model.
#[derive(Clone, Debug)]
pub struct ModelBody {
    /// What it is known by, for as long as the simulation lives.
    pub id: BodyId,
    /// Its name, unique among the bodies there are.
    pub name: Arc<str>,
    /// What it is.
    pub parts: BodyModel,
}

/// Everything about the bodies that does not change from step to step.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) bodies: Arc<[ModelBody]>,
    pub(crate) params: Arc<Params>,
    /// The id of the next body.
    next: u64,
    id: ModelId,
}

impl Model {
    /// Puts bodies together as revision 0; their ids follow from their order. They were checked, and whoever steps
    /// relies on it: only the builder makes models.
    pub(crate) fn new(bodies: Vec<(Arc<str>, BodyModel)>, params: Arc<Params>) -> Model {
        let next = bodies.len() as u64;
        let body = |(k, (name, parts))| ModelBody { id: BodyId::from(k), name, parts };
        let bodies: Arc<[ModelBody]> = bodies.into_iter().enumerate().map(body).collect();
        let fingerprint = fingerprint(&bodies, &params);
        Model { bodies, params, next, id: ModelId { revision: 0, fingerprint } }
    }

    /// Other bodies under the same parameters, as the next revision; `next` is the id of the next body to come.
    pub(crate) fn with_bodies(&self, bodies: Vec<ModelBody>, next: u64) -> Model {
        let bodies: Arc<[ModelBody]> = bodies.into();
        let id = ModelId {
            revision: self.id.revision + 1,
            fingerprint: fingerprint(&bodies, &self.params),
        };
        Model { bodies, params: self.params.clone(), next, id }
    }

    /// The same bodies under other parameters that were checked, as the next revision.
    pub(crate) fn with_params(&self, params: Params) -> Model {
        let params = Arc::new(params);
        let under = |b: &ModelBody| ModelBody { parts: b.parts.under(&params), ..b.clone() };
        let bodies: Arc<[ModelBody]> = self.bodies.iter().map(under).collect();
        let id =
            ModelId { revision: self.id.revision + 1, fingerprint: fingerprint(&bodies, &params) };
        Model { bodies, params, next: self.next, id }
    }

    /// The bodies, in the order they came.
    pub fn bodies(&self) -> &[ModelBody] {
        &self.bodies
    }

    /// Step, substeps, planes, fields and keyframes.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Revision and digest.
    pub fn id(&self) -> ModelId {
        self.id
    }

    /// The id the next body will have.
    pub(crate) fn next_id(&self) -> u64 {
        self.next
    }

    /// Number of particles of all bodies.
    pub fn particle_count(&self) -> usize {
        self.bodies.iter().map(|b| b.parts.particle_count()).sum()
    }

    /// Where a body stands in [`Model::bodies`]; `None` if it is gone or never was.
    pub fn index(&self, id: impl Into<BodyId>) -> Option<usize> {
        let id = id.into();
        self.bodies.binary_search_by_key(&id, |b| b.id).ok()
    }

    /// A body; `None` if it is gone or never was.
    pub fn get(&self, id: impl Into<BodyId>) -> Option<&ModelBody> {
        self.index(id).map(|k| &self.bodies[k])
    }

    /// The body of this name.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().find(|b| &*b.name == name).map(|b| b.id)
    }

    /// Whether two models are made of the same parts, so that caches made for one serve the other.
    pub fn same_parts(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.params, &other.params)
            && (Arc::ptr_eq(&self.bodies, &other.bodies)
                || self.bodies.len() == other.bodies.len()
                    && self.bodies.iter().zip(&*other.bodies).all(|(a, b)| a.id == b.id && a.parts.same(&b.parts)))
    }

    /// Whether a state of one has the sizes of a state of the other, body by body, in equal steps of time.
    pub(crate) fn same_sizes(&self, other: &Model) -> bool {
        self.params.step == other.params.step
            && self.bodies.len() == other.bodies.len()
            && self.bodies.iter().zip(&*other.bodies).all(|(a, b)| a.id == b.id && a.parts.same_sizes(&b.parts))
    }
}

fn fingerprint(bodies: &[ModelBody], params: &Params) -> u64 {
    let mut hash = crate::bytes::Digest::default();
    for body in bodies {
        hash.word(body.id.number());
        hash.bytes(body.name.as_bytes());
        body.parts.digest(&mut hash);
    }
    params.digest(&mut hash);
    hash.finish()
}
