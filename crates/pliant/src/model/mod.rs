//! What is simulated, apart from how it moves: the constant side of a simulation.
//!
//! A [`Model`] is a list of bodies, a list of colliders, a list of what ties bodies together ([`Coupling`]) and the [`Params`] of
//! the world around them. Every body stands alone, in a numbering of its own: a [`Prototype`] (what it is at rest), and what it alone has (kind, pins, animated input). Copies share
//! their prototype. Nothing of it is edited in place: an edit makes a new model with the next revision, in which
//! everything it did not touch is the same object as before; caches are keyed by identity of these parts.

mod basis;
mod body_frame;
mod body_id;
mod body_model;
mod collider;
mod collision;
mod coupling;
mod hinge_drive;
mod input;
mod params;
mod prototype;
mod rest;
mod rigid;
mod shown;
mod topology;
mod touch_surface;

pub(crate) use basis::quadratic_terms;
pub use basis::{ClusterBasis, QuadraticBasis};
pub use body_frame::BodyFrame;
pub use body_id::BodyId;
pub use body_model::BodyModel;
pub use collider::{Collider, ColliderId, ColliderShape, ModelCollider};
pub(crate) use collider::{between, is_rigid, primitive_of, primitive_parts};
pub use collision::ContactFilter;
pub(crate) use collision::{CollisionShape, Stencil, TouchPoint};
pub use coupling::{Attachment, BodyPoint, Coupling, CouplingId, CouplingKind, ModelCoupling, WorldFrame};
pub use hinge_drive::Motor;
pub use input::{Input, Sequence, SequenceError, SequenceSample};
pub use params::{
    Acceleration, BodyKind, Goals, HalfSpace, Implicit, Integrator, MassMatrix, Matching, Motion, Params,
    PinGroup, WarmStart,
};
pub(crate) use prototype::Source;
pub use prototype::{BatchScale, ModelBatch, Prototype};
pub use rest::{ClusterRest, Rest};
pub(crate) use rigid::{CORNERS, along_axes, corners};
pub use rigid::{ContactGroup, RigidRest};
pub use shown::Shown;
pub use topology::{ClusterSet, Membership, Topology};
pub(crate) use touch_surface::TouchSurface;

use crate::bytes::Digest;
use std::sync::Arc;

/// Which model a state belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ModelId {
    /// Counts the edits since the model was built.
    pub revision: u64,
    /// Digest of bodies and parameters.
    pub fingerprint: u64,
}

/// A body under the id and name it has in a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ModelBody {
    /// What it is known by, for as long as the simulation lives.
    pub id: BodyId,
    /// Its name, unique among the bodies there are.
    pub name: Arc<str>,
    /// What solvers see of it.
    pub parts: BodyModel,
}

impl ModelBody {
    fn digest(&self) -> u64 {
        let mut hash = Digest::default();
        hash.word(self.id.number());
        hash.bytes(self.name.as_bytes());
        self.parts.digest(&mut hash);
        hash.finish()
    }
}

/// Everything about the bodies that does not change from step to step.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) bodies: Arc<Vec<ModelBody>>,
    pub(crate) colliders: Arc<Vec<ModelCollider>>,
    pub(crate) couplings: Arc<Vec<ModelCoupling>>,
    pub(crate) params: Arc<Params>,
    /// The ids of the next body, of the next collider and of the next coupling.
    next: u64,
    next_collider: u64,
    next_coupling: u64,
    id: ModelId,
    /// What it was before all edits.
    built: Arc<Built>,
}

/// A model as it was built: what whoever has the scene has, too.
#[derive(Debug)]
pub(crate) struct Built {
    pub bodies: Vec<ModelBody>,
    pub colliders: Arc<Vec<ModelCollider>>,
    pub couplings: Arc<Vec<ModelCoupling>>,
    pub params: Arc<Params>,
}

/// The lists of a model, each in ascending order of its ids and with the number of the next one to come.
pub(crate) struct Lists {
    pub bodies: (Vec<ModelBody>, u64),
    pub colliders: (Arc<Vec<ModelCollider>>, u64),
    pub couplings: (Arc<Vec<ModelCoupling>>, u64),
}

impl Model {
    /// Puts bodies, colliders and couplings together as revision 0; their ids follow from their order. They were checked,
    /// and whoever steps relies on it: only the builder makes models.
    pub(crate) fn new(
        bodies: Vec<(Arc<str>, BodyModel)>,
        colliders: Vec<Collider>,
        couplings: Vec<Coupling>,
        params: Arc<Params>,
    ) -> Model {
        let next = [bodies.len(), colliders.len(), couplings.len()].map(|n| n as u64);
        let with_id = |(k, collider)| ModelCollider { id: ColliderId::from(k), collider };
        let colliders = Arc::new(colliders.into_iter().enumerate().map(with_id).collect::<Vec<_>>());
        let with_id = |(k, coupling)| ModelCoupling { id: CouplingId::from(k), coupling };
        let couplings = Arc::new(couplings.into_iter().enumerate().map(with_id).collect::<Vec<_>>());
        let body = |(k, (name, parts))| ModelBody { id: BodyId::from(k), name, parts };
        let bodies: Vec<ModelBody> = bodies.into_iter().enumerate().map(body).collect();
        // A list of its own: the first edit would have to copy a shared one.
        let built = Arc::new(Built {
            bodies: bodies.clone(),
            colliders: colliders.clone(),
            couplings: couplings.clone(),
            params: params.clone(),
        });
        let lists = Lists {
            bodies: (bodies, next[0]),
            colliders: (colliders, next[1]),
            couplings: (couplings, next[2]),
        };
        Model::with_history(lists, params, 0, built)
    }

    /// What edits have made of the lists that were built.
    pub(crate) fn with_history(lists: Lists, params: Arc<Params>, revision: u64, built: Arc<Built>) -> Model {
        let Lists { bodies, colliders, couplings } = lists;
        let mut model = Model {
            bodies: Arc::new(bodies.0),
            colliders: colliders.0,
            couplings: couplings.0,
            params,
            next: bodies.1,
            next_collider: colliders.1,
            next_coupling: couplings.1,
            id: ModelId { revision, fingerprint: 0 },
            built,
        };
        model.id.fingerprint = model.fingerprint();
        model
    }

    /// The same model after so many edits, with other ids for bodies, colliders and couplings to come.
    pub(crate) fn counted(self, [next, next_collider, next_coupling]: [u64; 3], revision: u64) -> Model {
        let id = ModelId { revision, ..self.id };
        Model { next, next_collider, next_coupling, id, ..self }
    }

    /// Takes the place of a model: edits are told from what that was built as, and no id is given twice.
    pub(crate) fn in_place_of(self, other: &Model) -> Model {
        Model {
            built: other.built.clone(),
            next: self.next.max(other.next),
            next_collider: self.next_collider.max(other.next_collider),
            next_coupling: self.next_coupling.max(other.next_coupling),
            ..self
        }
    }

    /// The same bodies under other parameters that were checked, as the next revision.
    pub(crate) fn with_params(&self, params: Params) -> Model {
        let params = Arc::new(params);
        let under = |b: &ModelBody| ModelBody { parts: b.parts.under(&params), ..b.clone() };
        let bodies = Arc::new(self.bodies.iter().map(under).collect());
        let mut model = Model { bodies, params, ..self.clone() };
        (model.id.revision, model.id.fingerprint) = (self.id.revision + 1, model.fingerprint());
        model
    }

    /// Makes room for so many bodies more, if nobody else has this model.
    pub(crate) fn reserve(&mut self, more: usize) {
        if let Some(bodies) = Arc::get_mut(&mut self.bodies) {
            bodies.reserve(more);
        }
    }

    /// Adds a body that was checked, as the next revision; returns its id.
    pub(crate) fn add(&mut self, name: Arc<str>, parts: BodyModel) -> BodyId {
        let id = BodyId::from_number(self.next);
        let body = ModelBody { id, name, parts };
        self.id.revision += 1;
        self.id.fingerprint = self.id.fingerprint.wrapping_add(body.digest());
        self.next += 1;
        Arc::make_mut(&mut self.bodies).push(body);
        id
    }

    /// Removes the body of this place, as the next revision.
    pub(crate) fn remove(&mut self, index: usize) -> ModelBody {
        let body = Arc::make_mut(&mut self.bodies).remove(index);
        self.id.revision += 1;
        self.id.fingerprint = self.id.fingerprint.wrapping_sub(body.digest());
        body
    }

    /// Gives the body of this place other parts, as the next revision.
    pub(crate) fn replace(&mut self, index: usize, parts: BodyModel) {
        let body = &mut Arc::make_mut(&mut self.bodies)[index];
        let before = body.digest();
        body.parts = parts;
        let change = body.digest().wrapping_sub(before);
        self.id.revision += 1;
        self.id.fingerprint = self.id.fingerprint.wrapping_add(change);
    }

    /// Gives the body of this place the parts that tearing, or going back before it, makes of it. No new revision: model and
    /// state go together by what was built and edited, and the state says what is torn.
    pub(crate) fn tear(&mut self, index: usize, parts: BodyModel) {
        Arc::make_mut(&mut self.bodies)[index].parts = parts;
    }

    /// A sum over the bodies, so that one that comes or goes changes it without a look at all others.
    fn fingerprint(&self) -> u64 {
        let mut hash = Digest::default();
        self.params.digest(&mut hash, &self.colliders);
        self.couplings.iter().for_each(|c| c.digest(&mut hash));
        let world = hash.finish();
        self.bodies.iter().fold(world, |sum, body| sum.wrapping_add(body.digest()))
    }

    /// The bodies, in the order they came.
    pub fn bodies(&self) -> &[ModelBody] {
        &self.bodies
    }

    /// Their ids, in the order they came.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = BodyId> + '_ {
        self.bodies().iter().map(|b| b.id)
    }

    /// The colliders, in the order they came.
    pub fn colliders(&self) -> &[ModelCollider] {
        &self.colliders
    }

    /// Where a collider stands in [`Model::colliders`]; `None` if it is gone or never was.
    pub fn collider_index(&self, id: ColliderId) -> Option<usize> {
        self.colliders.binary_search_by_key(&id, |c| c.id).ok()
    }

    /// The id of the collider of this name; `None` if there is none.
    pub fn collider(&self, name: &str) -> Option<ColliderId> {
        self.colliders.iter().find(|c| c.collider.name == name).map(|c| c.id)
    }

    /// The id the next collider will have.
    pub(crate) fn next_collider(&self) -> ColliderId {
        ColliderId::from_number(self.next_collider)
    }

    /// Other colliders that were checked, as the next revision; `next` is the number of the next one to come. No body
    /// is touched by it.
    pub(crate) fn with_colliders(&self, colliders: Vec<ModelCollider>, next: u64) -> Model {
        let mut model = Model { colliders: Arc::new(colliders), next_collider: next, ..self.clone() };
        (model.id.revision, model.id.fingerprint) = (self.id.revision + 1, model.fingerprint());
        model
    }

    /// Step, substeps, fields and keyframes.
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

    /// What it was before all edits.
    pub(crate) fn built(&self) -> &Arc<Built> {
        &self.built
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

    /// The id of the body of this name; `None` if there is none.
    pub fn body(&self, name: &str) -> Option<BodyId> {
        self.bodies.iter().find(|b| &*b.name == name).map(|b| b.id)
    }

    /// Whether two models are made of the same parts, so that caches made for one serve the other.
    pub fn same_parts(&self, other: &Model) -> bool {
        Arc::ptr_eq(&self.params, &other.params)
            && self.colliders == other.colliders
            && self.couplings == other.couplings
            && (Arc::ptr_eq(&self.bodies, &other.bodies)
                || self.bodies.len() == other.bodies.len()
                    && self
                        .bodies
                        .iter()
                        .zip(other.bodies.iter())
                        .all(|(a, b)| a.id == b.id && a.parts.same(&b.parts)))
    }

    /// Whether a state of one has the sizes of a state of the other, body by body, in equal steps of time.
    pub(crate) fn same_sizes(&self, other: &Model) -> bool {
        let colliders = |m: &Model| m.colliders.iter().map(|c| c.id).collect::<Vec<_>>();
        self.params.step == other.params.step
            && colliders(self) == colliders(other)
            && self.bodies.len() == other.bodies.len()
            && self
                .bodies
                .iter()
                .zip(other.bodies.iter())
                .all(|(a, b)| a.id == b.id && a.parts.same_sizes(&b.parts))
    }
}
